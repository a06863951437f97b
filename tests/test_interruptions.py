"""Kills, Ctrl-C and names that clash: no orphans, no lost work, no leftovers, no input overwritten."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gough
from cases import command
from cases.errors import refusal
from cases.mjcf import stewart
from cases.studies import SWEEP
from gough.base.files import new_folder, replacing
from gough.data.motion_files import write_motion
from gough.data.paper_motions import paper_motion
from gough.errors import FileError
from gough.exchange.urdf import export_urdf
from gough.simulation.result import Simulation
from gough.studies.plan import read_plan
from gough.studies.store import read_study
from gough.studies.workers import Job, processes

SIMULATION = """
robot = "kim-ryu-2002"
duration = 0.05
[motion]
name = "kim-ryu-2002/circle-40rpm"
[controller]
kind = "computed torque"
frequency = 30.0
"""
PATIENCE = 20.0


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C is heard, also where the tests were started in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def children(parent):
    """Processes that a process has started, and theirs."""
    found = []
    for one in os.listdir("/proc"):
        if one.isdigit():
            try:
                with open(f"/proc/{one}/stat") as file:
                    above = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if above == parent:
                found += [int(one), *children(int(one))]
    return found


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.second_tier_from(1)
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="asks Linux for its processes")
@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_of_a_study_end_with_it(tmp_path, killed):
    file = tmp_path / "s.toml"
    file.write_text(SWEEP.format(points=200).replace("part = 50", "part = 4"))
    words = [sys.executable, "-m", "gough", "study", str(file), "--jobs", "2"]
    study = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 6 * PATIENCE
    while not list((tmp_path).glob("s.zarr/seal/[0-9]*")):
        assert time.monotonic() < end
        assert study.poll() is None
        time.sleep(0.05)
    started = children(study.pid)
    assert len(started) >= 2
    study.send_signal(killed)
    said = study.communicate(timeout=PATIENCE)  # nobody holds the pipes
    assert study.returncode in (-killed, 128 + killed), said
    end = time.monotonic() + PATIENCE
    while any(map(alive, started)):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "Traceback" not in said[1]
    again = command.run("study", file, "--jobs", 1)
    assert again.returncode == 0, again.stderr
    assert read_study(tmp_path / "s.zarr").attrs["finished"] == 1.0
    assert not list(tmp_path.rglob("*.unfinished"))


def holds(process, library):
    """Whether a process has loaded a library; not, if it is gone."""
    try:
        with open(f"/proc/{process}/maps") as file:
            return library in file.read()
    except OSError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="asks Linux for its processes")
def test_ctrl_c_of_a_terminal_while_workers_start_is_one_line(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(SWEEP.format(points=200))
    words = [sys.executable, "-m", "gough", "study", str(file), "--jobs", "2"]
    study = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    end = time.monotonic() + 6 * PATIENCE
    while not any(holds(one, "_multiarray_umath") for one in children(study.pid)):
        assert time.monotonic() < end
        assert study.poll() is None
        time.sleep(0.005)
    os.killpg(study.pid, signal.SIGINT)
    said = study.communicate(timeout=2 * PATIENCE)[1]
    assert study.returncode == 130
    assert " ".join(said.split()).endswith("s.zarr; the same command goes on"), said
    assert said.count("\n") == 1, said


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="has no such clock")
def test_a_study_that_is_given_up_does_not_wait_for_the_parts_under_way(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(SWEEP.format(points=50))
    plan = read_plan(file)
    long = Job(0, np.tile([10.0, 0.7], (200_000, 1)))

    def late(number, frame):
        raise TimeoutError

    def begin():
        with processes(plan, 1) as work:
            signal.setitimer(signal.ITIMER_REAL, 2.0)
            next(iter(work([long])))

    before = signal.signal(signal.SIGALRM, late)
    try:
        with pytest.raises(TimeoutError):
            begin()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert multiprocessing.active_children() == []


def test_ctrl_c_while_a_simulation_is_saved_waits(tmp_path, monkeypatch):
    true_save = Simulation.save

    def save(self, path):
        os.kill(os.getpid(), signal.SIGINT)
        true_save(self, path)

    monkeypatch.setattr(Simulation, "save", save)
    (tmp_path / "s.toml").write_text(SIMULATION)
    answer = command.run("simulate", "s.toml", cwd=tmp_path)
    assert answer.returncode == 130
    assert "s.nc is written" in " ".join(answer.stderr.split())
    assert (tmp_path / "s.nc").stat().st_size > 1000


def test_ctrl_c_twice_does_not_wait(tmp_path, monkeypatch):
    def save(self, path):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError

    monkeypatch.setattr(Simulation, "save", save)
    (tmp_path / "s.toml").write_text(SIMULATION)
    assert command.run("simulate", "s.toml", cwd=tmp_path).returncode == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    code = "import sys, os\nfrom gough.base.files import replacing\n"
    code += "with replacing(sys.argv[1]): os.kill(os.getpid(), 9)"
    target = tmp_path / "out.nc"
    subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out-")
    with replacing(target) as first:
        first.write_text("one")
        with replacing(target) as second:  # of a process that is alive nothing is removed
            second.write_text("two")
        assert target.read_text() == "two"
    assert target.read_text() == "one"
    assert list(tmp_path.iterdir()) == [target]


WRITING = """
import os, pathlib, signal
from gough.__main__ import main
signal.signal(signal.SIGHUP, signal.{heard})
true = pathlib.Path.{instant}
def struck(*given, **options):
    for number in {numbers}:
        os.kill(os.getpid(), number)
    return true(*given, **options)
pathlib.Path.{instant} = struck
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="has no such signal")
@pytest.mark.parametrize("numbers", [(1,), (15,), (1, 15), (15, 1, 15)])
@pytest.mark.parametrize("words", ["new hexapod -o h.toml", "export washout kim-ryu-2002 -o w"])
def test_a_closed_terminal_ends_a_command_that_clears_away_what_it_wrote(tmp_path, words, numbers):
    code = WRITING.format(instant="chmod", numbers=numbers, heard="SIG_DFL")
    started = [sys.executable, "-c", code, *words.split()]
    ended = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (128 + numbers[0], "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="has no such signal")
def test_two_signals_that_come_together_are_one(tmp_path):
    """Python sees them when a long sum has ended, the second while the first is heeded."""
    code = WRITING.format(instant="chmod", numbers=(), heard="SIG_DFL")
    both = "os.system('(sleep 0.1; kill -15 %d; kill -1 %d) &' % (2 * (os.getpid(),)))"
    code = code.replace("    return", f"    {both}\n    sum(range(2 * 10**7))\n    return")
    started = [sys.executable, "-c", code, "new", "hexapod", "-o", "h.toml"]
    ended = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode in (129, 143), ended.stderr) == (True, "")
    assert list(tmp_path.iterdir()) == []


DESTROYING = """
import os, pathlib, time
from gough.__main__ import main
class Struck:
    def __del__(self):
        os.kill(os.getpid(), {number})
def chmod(*given, **options):
    Struck()
    time.sleep(20)
pathlib.Path.chmod = chmod
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_meets_a_destructor_is_not_lost(tmp_path, number):
    code = DESTROYING.format(number=int(number))
    started = [sys.executable, "-c", code, "new", "hexapod", "-o", "h.toml"]
    begun = time.monotonic()
    ended = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (128 + number, "")
    assert time.monotonic() - begun < 20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="has no such signal")
def test_nohup_is_heeded(tmp_path):
    code = WRITING.format(instant="chmod", numbers=(1,), heard="SIG_IGN")
    started = [sys.executable, "-c", code, "new", "hexapod", "-o", "h.toml"]
    assert subprocess.run(started, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "h.toml").exists()


@pytest.mark.parametrize("writer", [replacing, new_folder])
def test_ctrl_c_just_when_a_file_was_made_leaves_nothing(tmp_path, monkeypatch, writer):
    def struck(handle):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("gough.base.files._lock", struck)
    with pytest.raises(KeyboardInterrupt), writer(tmp_path / "out"):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def motion(tmp_path):
    write_motion(paper_motion("kim-ryu-2002/circle-40rpm").sample(5), tmp_path / "m.csv")
    return tmp_path / "m.csv"


def test_no_command_overwrites_what_it_reads(motion):
    before = motion.read_bytes()
    link = motion.with_name("link.csv")
    link.symlink_to(motion)
    for words in (
        ("forces", "kim-ryu-2002", motion, "-o", motion),
        ("forces", "kim-ryu-2002", motion, "-o", link),
        ("forces", "kim-ryu-2002", "m.csv", "-o", "./m.csv"),
        ("kinematics", "kim-ryu-2002", motion, "-o", motion),
        ("clamp", "kim-ryu-2002", motion, "-o", motion),
    ):
        said = command.refused(*words, cwd=motion.parent)
        assert "would be overwritten" in said
    same = ("forces", "kim-ryu-2002", "m.csv", "-o", "a.csv", "--plot", "a.csv")
    command.refused(*same, cwd=motion.parent)
    assert motion.read_bytes() == before


def test_no_command_overwrites_what_its_robot_is_made_of(tmp_path):
    text = stewart()
    bodies = text.index("<worldbody")
    (tmp_path / "main.xml").write_text(f'{text[:bodies]}<include file="part.xml"/></mujoco>')
    (tmp_path / "part.xml").write_text("<mujoco>" + text[bodies:])
    kim = gough.load("kim-ryu-2002")
    export_urdf(kim, tmp_path / "u.urdf")
    (tmp_path / "u.yaml").rename(tmp_path / "robot.yaml")
    (tmp_path / "r.toml").write_text(kim.edited({"platform.mesh": "box.stl"}).text, "utf-8")
    (tmp_path / "box.stl").write_bytes(b"solid x")
    (tmp_path / "plot.png").mkdir()
    before = {one: one.read_bytes() for one in tmp_path.iterdir() if one.is_file()}
    for words in (
        ("export", "mjcf", "main.xml", "-o", "part.xml"),
        ("export", "urdf", "u.urdf", "-o", "robot.urdf"),
        ("export", "fmu", "r.toml", "-o", "r.toml"),
        ("workspace", "r.toml", "-o", "box.stl"),
        ("retime", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "plot.csv"),
        ("cue", "kim-ryu-2002", "v.csv", "-o", "plot.csv"),
    ):
        said = command.refused(*words, cwd=tmp_path)
        assert any(one in said for one in ("would be overwritten", "must end in", "a folder")), said
    assert {one: one.read_bytes() for one in tmp_path.iterdir() if one.is_file()} == before


@pytest.mark.parametrize("words", [
    ("forces", "kim-ryu-2002", "m.csv", "-o", "a.csv", "--plot", "a.jpeg"),
    ("export", "fmu", "kim-ryu-2002", "-o", "a.zip"),
    ("export", "fmu", "kim-ryu-2002", "-o", "nowhere/a.fmu"),
    ("calibrate", "kim-ryu-2002", "m.csv", "--report", "a.txt"),
    ("identify", "kim-ryu-2002", "m.csv", "--report", "a.txt"),
    ("identify", "kim-ryu-2002", "m.csv", "-o", "a.csv"),
    ("retime", "kim-ryu-2002", "m.csv", "-o", "a.csv", "--plot", "a.jpeg"),
    ("cue", "kim-ryu-2002", "m.csv", "-o", "a.txt"),
    ("clamp", "kim-ryu-2002", "m.csv", "-o", "a.txt"),
    ("convert", "m.xml", "-o", "a.txt"),
    ("forces", "kim-ryu-2002", "m.csv", "-o", "a.xls"),
    ("forces", "kim-ryu-2002", "m.csv", "-o", "a.csv", "--plot", "nowhere/a.png"),
    ("simulate", "s.toml", "--plot", "a.jpeg"),
    ("simulate", "s.toml", "-o", "a.png"),
    ("size", "kim-ryu-2002", "m.csv", "--lead", "0.01", "--plot", "a.csv"),
    ("study", "s.toml", "--plot", "a.txt"),
    ("draw", "kim-ryu-2002", "-o", "a"),
    ("postures", "kim-ryu-2002", "-o", "a.bmp"),
    ("singularities", "kim-ryu-2002", "-o", "a.bmp"),
])  # fmt: skip
def test_a_bad_name_is_refused_before_anything_runs(motion, monkeypatch, words):
    def never(*_, **__):
        raise AssertionError("ran")

    monkeypatch.setattr("gough.robot.load", never)
    monkeypatch.setattr("gough.simulation.config.read_config", never)
    monkeypatch.setattr("gough.studies.plan.read_plan", never)
    said = command.refused(*words, cwd=motion.parent)
    assert "must end in" in said or "does not exist" in said
    assert list(motion.parent.iterdir()) == [motion]


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    with refusal(FileError, "exist"), replacing(tmp_path / "no" / "a.csv"):
        pass
