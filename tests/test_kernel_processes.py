"""Kernels on disk and many processes: shared, killed while writing, all at once."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from cases.robots import run_by
from gough import Motion

COMMON = """
    import hashlib, json, os, random, signal, sys, time
    import numpy as np
    import gough
    from gough.engine.run import cache as disk, compiled
    from gough.model.execution import trace

    robot = gough.load("kim-ryu-2002")
    motion = gough.Motion([[0.02, -0.01, 0.81], [0.0, 0.0, 0.8]], None, [0.1, 0.2, 0.3])

    def forces(robot):
        compiled._kernels.clear()
        robot.__dict__.pop("executor", None)
        found = robot.inverse_dynamics(motion, friction=False).forces
        (bound,) = robot.executor._ready.values()
        return found, bound.kernel.from_disk
"""


def run(script, folder, *arguments):
    """What a script prints as JSON in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(COMMON) + textwrap.dedent(script)]
        + [str(one) for one in arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "GOUGH_CACHE": str(folder)},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def expected_forces(robot):
    motion = Motion([[0.02, -0.01, 0.81], [0.0, 0.0, 0.8]], None, [0.1, 0.2, 0.3])
    return run_by("numpy", robot).inverse_dynamics(motion, friction=False).forces


def test_the_next_process_loads_what_the_first_one_made(tmp_path, kim):
    script = """
        start = time.perf_counter()
        found, from_disk = forces(robot)
        print(json.dumps([found.tolist(), from_disk, time.perf_counter() - start]))
    """
    (cold, made, compile_time), (warm, loaded, load_time) = (
        run(script, tmp_path) for _ in range(2)
    )
    assert (made, loaded) == (False, True)
    assert cold == warm  # to the last bit
    np.testing.assert_allclose(cold, expected_forces(kim), rtol=1e-11)
    print(f"first answer cold {compile_time:.3f} s, cached {load_time:.3f} s")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_while_writing(tmp_path, kim):
    """A child writes its kernel in slow pieces and is killed at a random moment, again and again."""
    script = """
        class Slow:
            def __init__(self, handle, mode):
                self.handle = handle
            def __enter__(self):
                return self
            def __exit__(self, *_):
                os.close(self.handle)
            def write(self, data):
                for start in range(0, len(data), 1024):
                    os.write(self.handle, data[start : start + 1024])
                    time.sleep(0.002)

        rng, folder, rounds = random.Random(5), disk.folder(), []
        inverse_dynamics = gough.mechanics.programs.inverse_dynamics
        program = trace(inverse_dynamics, robot.mechanism, {"wrench": (6,)})
        code = disk._compile(program)
        disk._compile = lambda *_: code  # only the writing matters here
        for _ in range(12):
            child = os.fork()
            if child == 0:
                os.fdopen = Slow
                forces(robot)
                os._exit(0)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and not list(folder.glob("*")):
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.07))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            names = [path.name for path in folder.iterdir() if path.name != disk.SECRET]
            left = sorted(name[:9] for name in names if not name.endswith(".kernel"))
            found, from_disk = forces(robot)
            rounds.append([found.tolist(), from_disk, left])
            for path in folder.iterdir():
                path.unlink()
        print(json.dumps(rounds))
    """
    right = expected_forces(kim)
    rounds = run(script, tmp_path)
    for found, _, left in rounds:
        np.testing.assert_allclose(found, right, rtol=1e-11)
        # what a killed process was writing stays behind under its temporary name, and is never read
        assert left in ([], [".writing-"])
    assert any(left for *_, left in rounds)
    assert not all(from_disk for _, from_disk, _ in rounds)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_eight_processes_at_once_on_an_empty_cache(tmp_path, kim):
    script = """
        start, results = time.monotonic() + 0.5, []
        for _ in range(8):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                time.sleep(max(0.0, start - time.monotonic()))
                found, from_disk = forces(robot)
                again, _ = forces(robot)
                os.write(writing, json.dumps([found.tolist(), again.tolist(), from_disk]).encode())
                os._exit(0)
            os.close(writing)
            results.append((child, reading))
        answers = []
        for child, reading in results:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            answers.append([status, *json.loads(os.read(reading, 100000))])
        files = sorted(path.suffix or path.name for path in disk.folder().iterdir())
        print(json.dumps([answers, files, forces(robot)[1]]))
    """
    answers, files, from_disk = run(script, tmp_path)
    right = expected_forces(kim)
    assert len(answers) == 8
    for status, found, again, _ in answers:
        assert status == 0
        assert found == again == answers[0][1]
        np.testing.assert_allclose(found, right, rtol=1e-11)
    assert files == [".kernel", "secret"]
    assert from_disk


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_forked_in_the_midst_of_other_calls_answers(tmp_path):
    script = """
        import threading
        one, few = motion[0], gough.Motion(np.tile([0.0, 0.0, 0.8], (5, 1)))
        wanted = [robot.inverse_dynamics(m, friction=False).forces for m in (one, few)]

        def call():
            while True:
                for m in (one, few):
                    robot.inverse_dynamics(m, friction=False)

        for _ in range(3):
            threading.Thread(target=call, daemon=True).start()
        time.sleep(0.1)
        ends = []
        for _ in range(20):
            child = os.fork()
            if not child:
                signal.alarm(20)
                found = [robot.inverse_dynamics(m, friction=False).forces for m in (one, few)]
                os._exit(0 if all(map(np.array_equal, found, wanted)) else 1)
            ends.append(os.waitpid(child, 0)[1])
            if ends[-1]:
                break
        print(json.dumps(ends), flush=True)
        os._exit(0)
    """
    assert run(script, tmp_path) == [0] * 20
