"""What needs a process of its own: time to compile and to load, time and memory by size.

`python -m benchmarks.processes compile ROBOT PROGRAM` and `… sizes ROBOT` print JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import REPOSITORY

SIZES = tuple(10**k for k in range(8))
PART = 100_000
"""Largest batch of one call; larger sizes go through in parts."""


def compile_times(robot: str, program: str, repeats: int = 2) -> dict[str, float]:
    """Best seconds until a program is ready: compiled in an empty cache, and loaded from it."""
    best = {"cold": float("inf"), "cached": float("inf")}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("cold", "cached", "cached"):
                found = _ask("compile", robot, program, GOUGH_CACHE=folder)
                if found["from_disk"] != (kind == "cached"):
                    raise SystemExit(f"the kernel cache does not work: {kind} but {found}")
                best[kind] = min(best[kind], found["seconds"])
    return best


def size_times(robot: str) -> list[dict[str, float]]:
    """Seconds and peak memory of inverse dynamics by number of states, smallest first."""
    found: list[dict[str, float]] = _ask("sizes", robot)
    return found


def _ask(*arguments: str, **environment: str) -> Any:
    command = [sys.executable, "-m", "benchmarks.processes", *arguments]
    env = {**os.environ, **environment}
    result = subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(result.stderr)
    return json.loads(result.stdout)


def _compile(name: str, program: str) -> dict[str, Any]:
    import gough
    from benchmarks import ours
    from gough.engine.run.compiled import CompiledExecutor
    from gough.mechanics import programs
    from gough.model.execution import fields_of

    robot = gough.load(name).rigid
    machine = robot.mechanism
    function, inputs = getattr(programs, program), ours.inputs(robot, program)
    start = time.perf_counter()
    bound = CompiledExecutor(machine, fields_of(machine)).bind(function, inputs)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "from_disk": bound.kernel.from_disk}


def _sizes(name: str) -> list[dict[str, float]]:
    import gough
    from gough import Motion
    from gough.show.speed import states

    robot = gough.load(name).rigid
    rows = []
    robot.inverse_dynamics(robot.home[np.newaxis], friction=False)
    rng = np.random.default_rng(1)
    for size in SIZES:
        part = min(size, PART)
        motion = states(robot, part)
        repeats = max(1, min(200, 300_000 // size))
        seconds = float("inf")
        for _ in range(repeats):
            total = 0.0
            for done in range(0, size, part):
                count = min(part, size - done)
                shift = rng.uniform(-0.01, 0.01, 3)
                # new states on the fly: none of the data lives longer than its part
                moved = motion[:count]
                moved = Motion._of({**moved._fields(), "position": moved.position + shift})
                start = time.perf_counter()
                robot.inverse_dynamics(moved, friction=False)
                total += time.perf_counter() - start
            seconds = min(seconds, total)
        rows.append({"states": size, "seconds": seconds, "bytes": _peak_memory()})
    return rows


def _peak_memory() -> int:
    """Largest memory of this process so far, bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count the parent's memory at the fork
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    task, *rest = sys.argv[1:]
    print(json.dumps(_compile(*rest) if task == "compile" else _sizes(*rest)))
