"""The engine where something is missing: no LLVM, another process, an interrupt."""

import io
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from rich.console import Console

import gough
from cases.common import impossible_bodies
from cases.engine import conditions
from cases.errors import refusal
from gough import Motion
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.engine.run.threads import at_most, spread
from gough.errors import InputError
from gough.show import installation as doctor
from oracles.random_robot import random_robot, toml_text

pytestmark = impossible_bodies


def test_an_unknown_engine_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "abc")
    with refusal(InputError, "llvm", "numpy", "abc", "GOUGH_ENGINE"):
        gough.load("kim-ryu-2002").inverse_kinematics(gough.load("kim-ryu-2002").home)


def test_numpy_on_request(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert isinstance(gough.load("kim-ryu-2002").executor, NumPyExecutor)
    monkeypatch.setenv("GOUGH_ENGINE", "llvm")
    assert isinstance(gough.load("kim-ryu-2002").executor, CompiledExecutor)


def test_robots_of_very_many_legs_do_not_wait_for_a_compiler():
    data = random_robot(np.random.default_rng(0), "UPS", 200)
    robot = gough.Robot.from_text(toml_text(data), "many legs")
    assert isinstance(robot.executor, NumPyExecutor)
    forces = robot.inverse_dynamics(robot.home).forces
    moved = robot.direct_dynamics(robot.home, forces)
    np.testing.assert_allclose([moved.linear, moved.angular], 0, atol=1e-9)


ASK = """
    import json, numpy as np, gough
    robot = gough.load("kim-ryu-2002")
    motion = gough.Motion([0.01, 0.02, 0.8], None, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    motion = gough.Motion.stack([motion, motion.replace(position=[0, 0, 0.82])])
    forces = robot.inverse_dynamics(motion).forces
    print(json.dumps([type(robot.executor).__name__, forces.tolist()]))
"""


def in_a_process(before="", timeout=60, **environment):
    """What ASK prints in a new process after some other lines."""
    script = textwrap.dedent(before) + textwrap.dedent(ASK)
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


BROKEN = """
    import sys, pathlib, tempfile
    place = pathlib.Path(tempfile.mkdtemp())
    (place / "llvmlite").mkdir()
    (place / "llvmlite" / "__init__.py").write_text("raise {error}")
    sys.path.insert(0, str(place))
"""


@pytest.mark.parametrize(
    "before",
    [
        "import sys; sys.modules['llvmlite'] = None",
        BROKEN.format(error="ImportError('no')"),
        BROKEN.format(error="OSError('libLLVM.so: cannot open shared object file')"),
    ],
    ids=["missing", "not importable", "library missing"],
)
def test_without_llvmlite_the_equations_run_on_numpy(before):
    engine, forces = in_a_process(before)
    assert engine == "NumPyExecutor"
    robot = gough.load("kim-ryu-2002")
    motion = Motion([0.01, 0.02, 0.8], None, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    motion = Motion.stack([motion, motion.replace(position=[0, 0, 0.82])])
    expected = robot.inverse_dynamics(motion).forces
    allowed = 1e-12 * conditions(robot, motion).max() * np.abs(expected).max()
    assert np.max(np.abs(np.array(forces) - expected)) < allowed


def test_doctor_says_which_engine_runs_and_why(monkeypatch):
    def engine(report=None):
        (found,) = [one for one in report or doctor.report() if one.what == "engine"]
        return found

    found = doctor.report()
    assert all(one.ok for one in found), found
    assert [one.what for one in found].count("self-check") == 2
    assert engine(found).finding.startswith("LLVM")
    monkeypatch.setattr(doctor, "CHECKED", ())
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert engine().finding == "NumPy, because GOUGH_ENGINE=numpy"
    monkeypatch.delenv("GOUGH_ENGINE")
    monkeypatch.setenv("GOUGH_THREADS", "many")
    (threads,) = [one for one in doctor.report() if one.what == "threads"]
    assert not threads.ok
    assert "not 'many'" in threads.finding
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    missing = engine()
    assert missing.finding == "NumPy, because llvmlite is not installed"
    assert "pip install llvmlite" in missing.advice
    console = Console(file=io.StringIO(), width=80)
    assert not doctor.print_report(console)
    assert "→ pip install llvmlite" in console.file.getvalue()


def test_doctor_ticks_only_what_is_well(monkeypatch):
    findings = [
        doctor.Finding("engine", "LLVM"),
        doctor.Finding("extra c", "incomplete: cffi", "pip install cffi"),
        doctor.Finding("threads", "not a number", "unset it", ok=False),
    ]
    monkeypatch.setattr(doctor, "report", lambda: findings)
    console = Console(file=io.StringIO(), width=80)
    assert not doctor.print_report(console)
    lines = console.file.getvalue().splitlines()
    marks = {line.split()[1]: line[0] for line in lines if not line.startswith(" ")}
    assert marks == {"engine": "✓", "extra": "–", "threads": "✗"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_computes_large_batches_too():
    script = """
        import os, numpy as np, gough
        robot = gough.load("kim-ryu-2002")
        many = gough.Motion(np.tile(robot.home.position, (20000, 1)), None)
        expected = robot.inverse_kinematics(many).q
        child = os.fork()
        if child == 0:
            right = np.array_equal(robot.inverse_kinematics(many).q, expected)
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    process = subprocess.Popen(
        command, env={**os.environ, "GOUGH_THREADS": "2"}, start_new_session=True
    )
    try:
        assert process.wait(timeout=12) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="needs glibc's memory settings")
def test_an_interrupted_batch_leaves_memory_alone():
    """Ctrl-C, again and again, while threads compute; freed arrays leave the address space at once."""
    script = """
        import random, signal, time, gough
        from gough.show.speed import states
        robot = gough.load("kim-ryu-2002")
        motion = states(robot, 200_000)
        expected = robot.inverse_dynamics(motion, friction=False).forces
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        rng, end, interrupts = random.Random(1), time.monotonic() + 2, 0
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.002, 0.03))
                robot.inverse_dynamics(motion, friction=False)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupts += 1
        assert interrupts > 3
        assert (robot.inverse_dynamics(motion, friction=False).forces == expected).all()
    """
    settings = {"GOUGH_THREADS": "4", "MALLOC_MMAP_THRESHOLD_": "100000"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    result = subprocess.run(
        command, env={**os.environ, **settings}, timeout=60, check=False, capture_output=True
    )
    assert result.returncode == 0, result.stderr[-300:]


def test_an_interrupt_at_any_instruction_leaves_threads_that_work():
    """Before each instruction of the caller in turn, in the standard library's Python too."""
    script = """
        import sys
        from gough.engine.run.threads import at_most, spread

        def squares():
            return spread(lambda start: start * start, range(6))

        def interrupted(at):
            met = 0
            def trace(frame, event, argument):
                nonlocal met
                frame.f_trace_opcodes = True
                if event == "opcode":
                    met += 1
                    if met == at:
                        raise KeyboardInterrupt
                return trace
            try:
                sys.settrace(trace)
                squares()
            except KeyboardInterrupt:
                return True
            finally:
                sys.settrace(None)
            return False

        with at_most(2):
            expected = squares()
            at = 1
            while interrupted(at):
                assert squares() == expected == [0, 1, 4, 9, 16, 25], at
                at += 1
        print(at)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    result = subprocess.run(command, timeout=60, check=False, capture_output=True)
    assert result.returncode == 0, result.stderr[-300:]
    assert int(result.stdout) > 100


def ended(script):
    """What a script of its own prints, which must come to its end."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    result = subprocess.run(command, timeout=60, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr[-2000:]
    return result.stdout


def test_batches_end_also_where_python_ends():
    """Callbacks that were there before gough run after its threads have ended."""
    script = """
        import atexit
        atexit.register(lambda: squares())

        from gough.engine.run.threads import at_most, spread

        def squares():
            with at_most(2):
                print(spread(lambda start: start * start, range(4)), flush=True)

        squares()
    """
    assert ended(script) == 2 * "[0, 1, 4, 9]\n"


def test_a_part_of_a_batch_may_have_parts():
    script = """
        from gough.engine.run.threads import at_most, spread

        def row(start):
            with at_most(2):
                return spread(lambda column: start + column, range(3))

        with at_most(2):
            print(spread(row, range(4)))
    """
    assert ended(script) == "[[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]\n"


def test_batches_do_without_threads_that_are_not_to_be_had():
    script = """
        import threading
        from gough.engine.run.threads import at_most, spread

        def refused(self):
            raise RuntimeError("can't start new thread")

        threading.Thread.start = refused
        with at_most(4):
            print(spread(lambda start: start * start, range(4)))
    """
    assert ended(script) == "[0, 1, 4, 9]\n"


def test_an_interrupt_goes_before_errors_of_other_parts():
    def work(start):
        raise KeyboardInterrupt if start == 3 else ValueError(start)

    with pytest.raises(KeyboardInterrupt), at_most(2):
        spread(work, range(6))

    def late(start):
        if start:
            raise ValueError(start)

    with pytest.raises(ValueError, match="1"), at_most(2):
        spread(late, range(6))
