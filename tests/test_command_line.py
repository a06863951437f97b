"""The command line as a user meets it: answers on stdout, trouble in one line with exit code 2."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import xarray

import gough
from cases.command import run
from cases.nonsense import NONSENSE
from gough.cli import terminal
from gough.cli.terminal import strict
from gough.data.motion_files import write_motion
from gough.data.motion_names import MOTIONS
from gough.data.paper_motions import paper_motion
from gough.show import demo, reproduction, speed
from gough.show.sheets.operations import HEADINGS


def test_list_names_every_robot_and_motion(tmp_path):
    result = run("list", cwd=tmp_path)
    assert result.returncode == 0
    for name in (*gough.catalogue(), *MOTIONS):
        assert name in result.stdout


@pytest.mark.second_tier_from(4)
@pytest.mark.parametrize("name", gough.catalogue())
def test_show_prints_a_sheet(name, tmp_path):
    result = run("show", name, cwd=tmp_path)
    assert result.returncode == 0
    assert "condition number" in result.stdout
    assert "…" not in result.stdout  # nothing cut off at 80 columns
    warned = result.stderr.count("no real body has these inertial parameters")
    assert warned == 0


@pytest.mark.parametrize("suffix", [".csv", ".nc"])
def test_kinematics_of_a_motion_file(tmp_path, suffix):
    robot = gough.load("kim-ryu-2002")
    motion = paper_motion("kim-ryu-2002/circle-40rpm").sample(11)
    write_motion(motion, tmp_path / f"path{suffix}")
    result = run("kinematics", robot.name, f"path{suffix}", "-o", f"legs{suffix}", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    q = robot.inverse_kinematics(motion).q
    if suffix == ".nc":
        with xarray.open_dataset(tmp_path / "legs.nc", engine="scipy") as found:
            np.testing.assert_allclose(found["q"].values, q, rtol=0, atol=1e-14)
    else:
        table = np.genfromtxt(tmp_path / "legs.csv", delimiter=",", skip_header=1)
        np.testing.assert_allclose(table[:, 1:7], q, rtol=0, atol=1e-14)


def test_forces_contributions_and_reactions(tmp_path):
    motion = "kim-ryu-2002/circle-20rpm"
    result = run(
        "forces", "kim-ryu-2002", motion, "-o", "f.nc", "--contributions", "--reactions",
        "--samples", "21", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    forces = gough.load("kim-ryu-2002").inverse_dynamics(paper_motion(motion).sample(21)).forces
    with xarray.open_dataset(tmp_path / "f.nc", engine="scipy") as found:
        np.testing.assert_allclose(found["force"].values, forces, rtol=1e-12)
        parts = sum(found[name].values for name in found if name.startswith("force_"))
        np.testing.assert_allclose(parts, forces, rtol=1e-10)
        assert found["guide"].dims == ("time", "leg", "axis")
        assert found["guide"].attrs["units"] == "N"
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_without_friction_the_forces_are_smaller_at_the_start(tmp_path):
    for flag in ("--friction", "--no-friction"):
        name = f"f{flag}.csv"
        motion = "kim-ryu-2002/circle-20rpm"
        assert run("forces", "kim-ryu-2002", motion, "-o", name, flag, cwd=tmp_path).returncode == 0
    rubbing, smooth = (
        np.genfromtxt(tmp_path / f"f{flag}.csv", delimiter=",", skip_header=1)
        for flag in ("--friction", "--no-friction")
    )
    assert np.abs(rubbing[:, 1:7] - smooth[:, 1:7]).max() > 1.0


def test_limits_that_a_motion_exceeds_are_warnings(tmp_path):
    tight = gough.load("kim-ryu-2002").edited({"legs.limits.stroke": [0.2, 0.25]})
    tight.save(tmp_path / "tight.toml")
    result = run(
        "kinematics", "tight.toml", "kim-ryu-2002/circle-20rpm", "-o", "legs.csv", cwd=tmp_path
    )
    assert result.returncode == 0
    assert "stroke" in result.stderr
    assert "leg 1" in result.stderr


def test_draw_writes_a_picture(tmp_path):
    assert run("draw", "sinatra-xi-staicu-2009", "-o", "robot.svg", cwd=tmp_path).returncode == 0
    assert "<svg" in (tmp_path / "robot.svg").read_text()


def test_postures_that_cannot_be_drawn_are_not_printed_either(tmp_path):
    words = ("postures", "shyam-heliostat-2017", "--quick", "-o", "postures.png")
    ended = run(*words, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "are no rods" in ended.stderr


def test_schema_is_the_published_one(tmp_path, pytestconfig):
    result = run("schema", cwd=tmp_path)
    published = pytestconfig.rootpath / "docs" / "robot.schema.json"
    assert json.loads(result.stdout) == json.loads(published.read_text("utf-8"))


def bad_files(folder):
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "words.toml").write_text("this is not TOML")
    (folder / "typo.toml").write_text(
        gough.load("kim-ryu-2002").text.replace("length =", "lenght =")
    )
    with (folder / "huge.toml").open("wb") as file:
        file.truncate(100_000_000)
    (folder / "path.csv").write_text("time [s],x [kg]\n0,1\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "kim-ryu-2003"], ["kim-ryu-2003", "kim-ryu-2002"]),
        (["show", "nowhere.toml"], ["nowhere.toml"]),
        (["show", "binary.toml"], ["binary.toml", "not a text file"]),
        (["show", "words.toml"], ["words.toml", "not TOML"]),
        (["show", "typo.toml"], ["lenght", "length"]),
        (["show", "huge.toml"], ["huge.toml", "100 MB"]),
        (["forces", "kim-ryu-2002", "path.csv", "-o", "f.csv"], ["path.csv", "kg"]),
        (["forces", "kim-ryu-2002", "no.csv", "-o", "f.csv"], ["no.csv"]),
        (["forces", "kim-ryu-2002", "kim/circle", "-o", "f.csv"], ["kim/circle", "kim-ryu-2002/"]),
        (["forces", "dietmaier-1998", "kim-ryu-2002/circle-20rpm", "-o", "f.csv"], ["masses"]),
        (["kinematics", "sinatra-xi-staicu-2009", "kim-ryu-2002/circle-20rpm", "-o", "f.csv"], ["leg"]),
        (["kinematics", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "f.xls"], [".csv"]),
        (["kinematics", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "no/f.csv"], ["no"]),
        (["draw", "kim-ryu-2002", "-o", "robot.bmp"], [".png"]),
        (["retime", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "f.csv"], ["nothing limits"]),
        (["cue", "kim-ryu-2002", "no.csv", "-o", "f.csv"], ["no.csv"]),
        (["cue", "kim-ryu-2002", "path.csv", "-o", "f.csv"], ["path.csv", "ax"]),
        (["clamp", "kim-ryu-2002", "no.csv", "-o", "f.csv"], ["no.csv"]),
        (["room", "chablat-orthoglide-2003", "--pivot", "0,0,1"], ["pivot"]),
        (["draw", "kim-ryu-2002", "path.csv", "--units", "mmm"], ["'mmm'", "mm"]),
        (["draw", "kim-ryu-2002", "path.csv", "--units", "mm,inch"], ["mm and inch"]),
        (["draw", "kim-ryu-2002", "path.csv", "--map", "X=x"], ["'X'", "'x'"]),
        (["draw", "kim-ryu-2002", "path.csv", "--map", "x"], ["L1=q1"]),
        (["pose", "kim-ryu-2002", "path.csv", "-o", "m.csv"], ["path.csv", "kg"]),
        (["pose", "kim-ryu-2002", "path.csv", "-o", "m.csv", "--offset", "1,2"], ["--offset", "6"]),
        (["stiffness", "kim-ryu-2002", "--measured", "path.csv"], ["path.csv", "kg"]),
        (["stiffness", "kim-ryu-2002", "--stiffness", "1e7", "--save", "k.toml"], ["--measured"]),
        (["reproduce", "kim-2002"], ["kim-ryu-2002"]),
    ],
)  # fmt: skip
def test_trouble_is_one_line_and_exit_code_2(arguments, words, tmp_path):
    bad_files(tmp_path)
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0]


@pytest.fixture
def gough_here(tmp_path, monkeypatch):
    """The command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments):
        found = run(*arguments, cwd=tmp_path)
        return found.returncode, found.stdout, found.stderr

    return call


def test_causes_and_joints_are_tables_of_their_own(gough_here, tmp_path):
    """What a .nc has in one file; a table of the forces stays a table that a person reads."""
    words = [
        "kim-ryu-2002",
        "kim-ryu-2002/circle-20rpm",
        "--samples",
        "5",
        "--contributions",
        "--reactions",
    ]
    assert gough_here("forces", *words, "-o", "f.nc")[0] == 0
    assert gough_here("forces", *words, "-o", "f.csv")[0] == 0
    columns = {
        path.stem: path.read_text("utf-8").partition("\n")[0].split(",")
        for path in tmp_path.glob("*.csv")
    }
    assert {*columns} == {"f", "f-contributions", "f-reactions"}
    assert len(columns["f"]) == 13
    assert all(names[0] == "time [s]" for names in columns.values())
    with xarray.open_dataset(tmp_path / "f.nc", engine="scipy") as whole:
        wide = sum(one.size // 5 for one in whole.data_vars.values())
    assert sum(map(len, columns.values())) == wide + 3
    code, _, trouble = gough_here(
        "forces", words[0], "f-reactions.csv", "-o", "f.csv", "--reactions"
    )
    assert (code, trouble.count("\n")) == (2, 1)


def test_limits_come_first_and_have_a_code_of_their_own(gough_here, tmp_path):
    narrow = gough.load("kim-ryu-2002").edited({"legs.limits.speed": 0.05})
    narrow.save(tmp_path / "narrow.toml")
    words = ["narrow.toml", "kim-ryu-2002/circle-20rpm", "--samples", "5"]
    for command in ("forces", "kinematics"):
        code, _, trouble = gough_here(command, *words, "-o", "f.csv")
        assert (code, "speed" in trouble) == (0, True)
        assert gough_here(command, *words, "-o", "f.csv", "--strict")[0] == 3
        kim = ["kim-ryu-2002", *words[1:]]
        assert gough_here(command, *kim, "-o", "f.csv", "--strict")[0] == 0


def test_a_wrong_sort_of_file_names_the_command_that_reads_it(gough_here, tmp_path):
    gough.load("kim-ryu-2002").save(tmp_path / "robot.toml")
    (tmp_path / "run.toml").write_text("robot = 'r'\n[controller]\nkind = 'legs pd'\n")
    (tmp_path / "study.toml").write_text("robot = 'r'\nmotions = ['m.csv']\n")
    (tmp_path / "study.zarr").mkdir()
    (tmp_path / "motion.csv").write_text("time [s],x [mm],y [mm],z [mm]\n0,0,0,800\n")
    (tmp_path / "encoders.csv").write_text("time,q1 [m],q2 [m]\n0,1,1\n")
    for words, told in (
        ("show motion.csv", "is a motion, not a robot file; it is read by: gough forces"),
        ("show run.toml", "is a simulation file, not a robot file; it is read by: gough simulate"),
        ("draw study.toml -o d.png", "it is read by: gough study study.toml"),
        ("report study.zarr", "it is read by: gough study STUDY.toml -o study.zarr"),
        ("simulate robot.toml", "is a robot file, not a simulation file"),
        ("study run.toml", "is a simulation file, not a study file"),
        ("forces kim-ryu-2002 robot.toml -o f.csv", "is a robot file, not a motion"),
        ("forces kim-ryu-2002 encoders.csv -o f.csv", "gough pose ROBOT encoders.csv"),
        ("pose kim-ryu-2002 motion.csv -o p.csv", "is a motion, not a log of encoders"),
        ("identify kim-ryu-2002 encoders.csv", "is a log of encoders, not a log with forces"),
    ):
        code, _, trouble = gough_here(*words.split())
        assert code == 2
        assert told in " ".join(trouble.split()), words


def test_progress_is_lines_where_no_terminal_shows_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "PAUSE", 0.0)
    with terminal.progress_bar() as bar:
        task = bar.add_task("half", total=4)
        bar.update(task, completed=2)
    assert re.fullmatch(r"half: 50 %, \d+ s\n", capsys.readouterr().err)


@pytest.mark.parametrize("arguments", NONSENSE, ids=lambda one: " ".join(one)[:60] or "-")
def test_nonsense_is_one_line_and_exit_code_2(arguments, gough_here, tmp_path):
    for ending in ("", ".csv", ".png", ".html", ".xml", ".urdf"):
        (tmp_path / f"folder{ending}").mkdir()
    for ending in ("csv", "xml", "urdf"):
        (tmp_path / f"empty.{ending}").touch()
    code, text, trouble = gough_here(*arguments)
    assert code == 2, text
    assert text == ""
    lines = trouble.splitlines()
    assert len(lines) == 1, trouble
    assert lines[0].startswith("gough: ")
    assert len(lines[0]) < 6000
    assert "Traceback" not in trouble


@pytest.mark.parametrize(
    "arguments",
    [
        ["forces", "nothing", "nothing", "-o", "no/f.csv"],
        ["workspace", "nothing", "-o", "no/w.png"],
        ["stiffness", "nothing", "-o", "no/s.png"],
        ["size", "nothing", "nothing", "-o", "no/s.csv"],
        ["simulate", "nothing.toml", "-o", "no/r.nc"],
        ["study", "nothing.toml", "--plot", "no/s.png"],
        ["identify", "nothing", "nothing.csv", "--report", "no/r.html"],
        ["calibrate", "nothing", "nothing.csv", "-o", "no/c.toml"],
    ],
    ids=lambda one: one[0],
)
def test_a_result_without_a_folder_is_refused_before_all_else(arguments, gough_here):
    code, text, trouble = gough_here(*arguments)
    assert (code, text) == (2, "")
    assert trouble.endswith(": folder no does not exist\n")


def test_interrupted_while_the_command_line_is_loaded(monkeypatch):
    class Interrupt:
        def find_spec(self, name, *_):
            if name == "gough.cli.app":
                raise KeyboardInterrupt

    from gough import __main__

    monkeypatch.delitem(sys.modules, "gough.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Interrupt(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 130


@pytest.mark.parametrize("command", ["show", "singularities", "draw"])
def test_names_with_brackets_are_printed_as_they_are(command, gough_here, tmp_path):
    name = "[/bold] [red]x[/]"
    gough.load("kim-ryu-2002").edited({"name": name}).save(tmp_path / "[b].toml")
    code, text, trouble = gough_here(
        command, "[b].toml", *(["-o", "[b].png"] * (command == "draw"))
    )
    assert (code, trouble) == (0, "")
    assert (name if command != "draw" else "[b].png") in text


def test_what_steers_a_terminal_stays_out_of_messages(gough_here):
    trouble = gough_here("show", "\x1b[31mred\a")[2]
    assert "red" in trouble
    assert trouble.strip().isprintable()


def test_the_nearest_command_and_option_are_named(gough_here):
    assert "forces" in gough_here("frces")[2]
    assert "--json" in gough_here("show", "kim-ryu-2002", "--jon")[2]
    assert "see gough forces --help" in gough_here("forces")[2]


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["list"], {"robots", "motions"}),
        (["show", "kim-ryu-2002"], {"name", "kind", "legs", "geometry", "bodies", "limits", "home"}),
        (["show", "dietmaier-1998"], {"name", "bodies", "home"}),
        (["doctor"], {"ok", "findings"}),
        (["modes", "long-khalil-martinet-2014"], {"mass", "frequencies", "modes"}),
        (["singularities", "kim-ryu-2002"], {"condition", "distance", "kind"}),
        (["kinematics", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "k.csv", "--samples", "3"],
         {"output", "samples", "ok", "violations"}),
        (["forces", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "f.csv", "--samples", "3"],
         {"output", "picture", "samples", "largest_force", "largest_power", "ok", "violations"}),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)  # fmt: skip
def test_json_is_strict_and_has_its_keys(arguments, keys, gough_here):
    code, text, _ = gough_here(*arguments, "--json")
    found = json.loads(text, parse_constant=refuse)
    assert code == (0 if found.get("ok", True) or arguments[0] != "doctor" else 1)
    assert keys <= {*found}


def test_json_of_operation_counts(gough_here, monkeypatch):
    row = dict.fromkeys(HEADINGS, 7) | {
        "robot": "[x]",
        "model": "direct",
        "solver": "ldl",
        "paper": None,
    }
    monkeypatch.setattr("gough.show.sheets.operations.operation_rows", lambda _: [row])
    assert json.loads(gough_here("ops", "kim-ryu-2002", "--json")[1]) == {"counts": [row]}
    text = gough_here("ops", "kim-ryu-2002")[1]
    assert "[x]" in text
    assert "direct, LDLᵀ" in text


def test_json_of_a_sheet_has_the_numbers(gough_here):
    robot = gough.load("kim-ryu-2002")
    found = json.loads(gough_here("show", "kim-ryu-2002", "--json")[1])
    home = found["home"]
    np.testing.assert_array_equal(home["q"], robot.inverse_kinematics(robot.home).q)
    np.testing.assert_array_equal(home["forces"], robot.inverse_dynamics(robot.home).forces)
    assert found["limits"]["force"] == [None] * 6  # unlimited
    assert found["bodies"]["platform"][0]["mass"] == pytest.approx(10.7673, abs=1e-4)


def test_json_keeps_finite_numbers_and_drops_the_rest():
    data = {
        "a": [1.5, np.inf, np.nan],
        "b": np.arange(2),
        "c": (True, None, 10**30),
        "d": np.float64(2),
    }
    wanted = {"a": [1.5, None, None], "b": [0, 1], "c": [True, None, 10**30], "d": 2.0}
    assert strict(data) == wanted


def test_limits_in_json(tmp_path, gough_here):
    tight = gough.load("kim-ryu-2002").edited({"legs.limits.stroke": [0.2, 0.25]})
    tight.save(tmp_path / "tight.toml")
    motion = "kim-ryu-2002/circle-20rpm"
    code, text, trouble = gough_here("kinematics", "tight.toml", motion, "-o", "k.nc", "--json")
    found = json.loads(text)
    assert (code, found["ok"]) == (0, False)
    first = found["violations"][0]
    assert (first["leg"], first["limit"]) == (1, "stroke")
    assert first["excess"] > 0
    assert trouble.count("warning: leg") == len(found["violations"])
    with xarray.open_dataset(tmp_path / "k.nc", engine="scipy") as result:
        assert "leg 1: stroke" in result.attrs["limits"]
        assert result.attrs["history"].startswith("gough kinematics tight.toml")


def in_a_terminal(command, folder, **variables):
    """What a command prints to a terminal of 80 columns."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gough", *command],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **variables},
    ):  # fmt: skip
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 65536):
                text += part
    os.close(ours)
    return text


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_colours_only_where_wanted(tmp_path):
    assert b"\x1b[" in in_a_terminal(["list"], tmp_path)
    plain = in_a_terminal(["list"], tmp_path, NO_COLOR="1")
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]", plain)  # bold is no colour
    assert "\x1b" not in run("list", cwd=tmp_path).stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a shell's pipes")
def test_a_closed_pipe_is_quiet(tmp_path):
    command = [sys.executable, "-m", "gough", "schema"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        process.stdout.close()
        trouble = process.stderr.read()
    assert trouble == b""
    assert process.returncode == 1


def test_interrupts_are_quiet(gough_here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gough.show.sheets.robot.print_sheet", interrupted)
    assert gough_here("show", "kim-ryu-2002") == (130, "", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate 8 PB"), "out of memory: Unable to allocate 8 PB"),
        (OSError(28, "No space left on device", "f.csv"), "f.csv: No space left on device"),
    ],
)
def test_what_the_system_refuses_is_one_line(error, words, gough_here, monkeypatch):
    def refused(*_):
        raise error

    monkeypatch.setattr("gough.show.sheets.robot.print_sheet", refused)
    assert gough_here("show", "kim-ryu-2002") == (2, "", f"gough: {words}\n")


@pytest.mark.second_tier
def test_demo_page(gough_here, tmp_path, monkeypatch):
    claim = reproduction.Claim("a <claim>", "its words", "ours", "agrees")
    paper = reproduction.Reproduction("kim-ryu-2002", "A & B", "s", [claim], [], ["n"])
    times = speed.Speed("6-UPS", "inverse dynamics", 2e-7, 2e-5, None)
    monkeypatch.setattr("gough.show.demo.run", lambda *_: [paper])
    monkeypatch.setattr(
        "gough.show.demo.measure", lambda _: [times, times._replace(pinocchio=3e-6)]
    )
    (tmp_path / "demo").mkdir()
    code, text, _ = gough_here("demo")
    assert code == 0
    assert "made in" in text
    assert text.count("  gough ") == 3  # next, try
    page = (tmp_path / "demo" / "index.html").read_text("utf-8")
    assert page.index(demo.QUESTION) < page.index("Papers, reproduced")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(demo.CODE, {})
    force, power, rate = map(float, said.getvalue().split())
    for shown in (f"{force:.1f} N", f"{power:.1f} W", f"{rate:.3f} m/s"):
        assert shown in page
    assert 'href="all.html#kim-ryu-2002">A &amp; B</a>' in page
    assert "3000" in page
    assert "http" not in re.sub(r'src="[^"]*"', "", page)
