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
from benchmarks.section import Section, time_text

SIZES = tuple(10**k for k in range(8))
PART = 100_000
"""Largest batch of one call; larger sizes go through in parts."""
SLOWEST = tuple(
    (robot, program)
    for robot in ("zoppi-exechon-2010", "shah-3rrr-2012")
    for program in ("inverse_dynamics", "direct_dynamics")
)
"""Robots of the catalogue whose programs are the longest."""
Ready = dict[tuple[str, str], dict[str, float]]


def compile_times(robot: str, program: str, repeats: int = 2) -> dict[str, float]:
    """Best seconds until a program is ready: compiled in an empty cache, and loaded from it."""
    best = {"cold": float("inf"), "cached": float("inf")}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("cold", "cached"):
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
        best = {"seconds": float("inf"), "alone": float("inf")}
        for _ in range(repeats):
            total = dict.fromkeys(best, 0.0)
            for done in range(0, size, part):
                count = min(part, size - done)
                shift = rng.uniform(-0.01, 0.01, 3)
                # new states on the fly: none of the data lives longer than its part
                moved = motion[:count]
                moved = Motion._of({**moved._fields(), "position": moved.position + shift})
                for name, threads in (("seconds", None), ("alone", 1)):
                    start = time.perf_counter()
                    robot.inverse_dynamics(moved, friction=False, threads=threads)
                    total[name] += time.perf_counter() - start
            best = {name: min(best[name], total[name]) for name in best}
        rows.append({"states": size, **best, "bytes": _peak_memory()})
    return rows


def ready_section(ready: Ready) -> Section:
    """Programs that take long to compile."""
    rows = [
        (
            f"{robot}, {program.replace('_', ' ')}",
            time_text(found["cold"]),
            time_text(found["cached"]),
        )
        for (robot, program), found in ready.items()
    ]
    text = (
        "The longest programs of the catalogue, each in a process of its own: compiled, and from the "
        "cache. Goals: 1 s and 5 ms."
    )
    return Section("Ready", text, ("", "compiled", "from the cache"), rows)


def size_section(robot: str, sizes: list[dict[str, float]]) -> Section:
    """Time and memory by number of states."""
    rows = [
        (
            f"{row['states']:,.0f}".replace(",", " "),
            time_text(row["seconds"]),
            time_text(row["seconds"] / row["states"]),
            f"{row['alone'] / row['seconds']:.2f}",
            f"{row['bytes'] / 1e6:.0f} MB",
        )
        for row in sizes
    ]
    headers = ("states", "time", "time a state", "× faster than one thread", "peak memory")
    text = (
        "`robot.inverse_dynamics` on all cores, with all checks, and in turn on one thread. More than "
        f"{PART:,} states go through in parts of that many, made on the fly (which is not timed). "
        "Goals: memory flat and time linear, two threads 1.8 times as fast as one."
    ).replace(f"{PART:,}", f"{PART:,}".replace(",", " "))
    return Section(f"Sizes: inverse dynamics, {robot}", text, headers, rows)


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
