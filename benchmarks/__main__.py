"""`make bench`: gough beside its peers, in minutes; writes docs/benchmarks.md and its picture.

Ctrl-C ends the run: what is measured by then is shown and written, and the page says what is missing.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
from rich.console import Console

import gough
from benchmarks import (
    REPOSITORY,
    any_robot,
    hexapods,
    legs,
    ours,
    processes,
    simulations,
    users,
)
from benchmarks.processes import SLOWEST
from benchmarks.section import Section
from gough.base.files import replacing
from gough.engine.emit.llvm import lanes

SIMULATED = ("6-UPS", "6-PUS")
"""Robots of `users` whose closed loops run."""


@dataclass
class Found:
    """All that has been measured so far."""

    results: list[hexapods.Result] = field(default_factory=list)
    kinds: list[legs.LegSpeed] = field(default_factory=list)
    others: list[any_robot.RobotSpeed] = field(default_factory=list)
    asked: list[users.Times] = field(default_factory=list)
    speeds: list[simulations.Speed] = field(default_factory=list)
    ready: processes.Ready = field(default_factory=dict)
    sizes: list[dict[str, float]] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    """What was left out, and why; each once."""

    def sections(self) -> list[Section]:
        """Tables of what there is."""
        found = [hexapods.section(one) for one in self.results]
        found += users.sections(self.asked) if self.asked else []
        found += [legs.section(self.kinds)] if self.kinds else []
        found += [any_robot.section(self.others)] if self.others else []
        found += [simulations.section(self.speeds)] if self.speeds else []
        found += [processes.ready_section(self.ready)] if self.ready else []
        found += [processes.size_section(hexapods.ROBOTS[0], self.sizes)] if self.sizes else []
        return found


class Step(NamedTuple):
    """Something to measure."""

    title: str
    seconds: float
    """What it takes on a quiet machine with two cores, about."""
    measure: Callable[[], object]


def steps(found: Found, seconds: float) -> list[Step]:
    """All of them, in order; each adds to what is found."""
    given: dict[str, ours.Setup] = {}

    def hexapod(name: str, program: str) -> None:
        if name not in given:
            given[name] = ours.setup(gough.load(name).rigid)
        tell = found.notes.setdefault
        found.results.append(hexapods.measure(given[name], program, seconds, tell))

    def asked(name: str) -> None:
        found.asked.append(users.measure(name, seconds))

    def simulated(name: str, law: str, friction: bool) -> None:
        robot = users.robot_of(name)
        found.speeds.append(simulations.measure(robot, law, friction, seconds))

    def ready(robot: str, program: str) -> None:
        found.ready[robot, program] = processes.compile_times(robot, program, repeats=1)

    def sizes() -> None:
        found.sizes += processes.size_times(hexapods.ROBOTS[0])

    def kinds() -> None:
        found.kinds += legs.measure(seconds)

    def others() -> None:
        found.others += any_robot.measure(seconds)

    every = [
        Step(f"{name}: {program}", seconds + 16, partial(hexapod, name, program))
        for name in hexapods.ROBOTS
        for program in hexapods.PROGRAMS
    ]
    every += [
        Step(f"what users ask, {name}", seconds + 9, partial(asked, name)) for name in users.ROBOTS
    ]
    every += [
        Step(
            f"simulations, {name}, {law}{', friction' if friction else ''}",
            seconds + (9 if friction else 3),
            partial(simulated, name, law, friction),
        )
        for name in SIMULATED
        for law, friction in simulations.CASES
    ]
    every += [Step(f"compiling, {' '.join(one)}", 8, partial(ready, *one)) for one in SLOWEST]
    every.append(Step("sizes 1 to 10⁷", 12, sizes))
    every.append(Step("kinds of legs", 2 * seconds + 12, kinds))
    every.append(Step("any robot", 2 * seconds + 40, others))
    return every


def main() -> int:
    """Run everything, show it, write it down; 1 if a part failed, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="a race (default 6)")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "docs" / "benchmarks.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # one robot's parameters are no real body's
    console, begin, before = Console(), time.perf_counter(), _load()
    found = Found()
    todo = steps(found, options.seconds)
    total = sum(one.seconds for one in todo)
    failed = False
    try:
        while todo:
            _tell(todo, time.perf_counter() - begin, total)
            try:
                todo[0].measure()
            except (Exception, SystemExit) as error:  # one part less, and not all that was measured
                failed = True
                found.notes[f"**Failed**: {todo[0].title}: {error}"[:300]] = None
                traceback.print_exc()
            del todo[0]
    except KeyboardInterrupt:
        print("interrupted: what is measured is kept", file=sys.stderr)
    minutes = (time.perf_counter() - begin) / 60
    sections = found.sections()
    if not sections:
        return 130
    for section in sections:
        console.print(section.shown())
    for result in found.results:
        console.print(hexapods.headline(result), highlight=False)
    machine = _machine(f"load {before} before the run and {_load()} at its end")
    page = _page(machine, found, sections, [one.title for one in todo], minutes)
    if found.asked:
        users.picture(found.asked, options.output.with_suffix(".png"))
    with replacing(options.output) as path:
        path.write_text(page, "utf-8")
    console.print(f"{options.output}, {minutes:.1f} minutes", highlight=False)
    return 130 if todo else int(failed)


def _tell(todo: list[Step], elapsed: float, total: float) -> None:
    """What comes now, and how long all will take: as planned, or as slow as it has been so far."""
    left = sum(one.seconds for one in todo)
    slower = max(elapsed / (total - left), 1.0) if left < total else 1.0
    spent = f"{elapsed // 60:.0f}:{elapsed % 60:02.0f}"
    text = f"{spent}, about {left * slower / 60:.1f} minutes left: {todo[0].title}"
    print(text, file=sys.stderr, flush=True)


def _load() -> str:
    """Processes that wait for a core, this one among them."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _machine(load: str) -> list[str]:
    """What it ran on."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    names = ("gough", "numpy", "llvmlite", "pin", "mujoco", "casadi", "jax")
    versions = [f"Python {platform.python_version()}", *(filter(None, map(_version, names)))]
    return [
        f"- Processor: {model} ({llvm.get_host_cpu_name()}), {ours.CORES} cores, kernels "
        f"{lanes()} states wide; {load}",
        f"- {', '.join(versions)}; {platform.system()} {platform.release()}",
        f"- {datetime.date.today().isoformat()}, commit {_commit()}",
    ]


def _version(name: str) -> str:
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    command = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout.strip() or "unknown"


def _page(
    machine: list[str], found: Found, sections: list[Section], missing: list[str], minutes: float
) -> str:
    lines = ["# Benchmarks", "", "Written by `make bench`; do not edit.", "", *machine, ""]
    if missing:
        lines += [f"**Interrupted.** Not measured: {'; '.join(missing)}.", ""]
    lines += [
        "The machine may be shared and noisy: contenders take turns throughout one run and the best "
        "time of each counts, so that ratios within a table hold better than times, and times from "
        "different runs do not compare.",
        "",
    ]
    lines += [f"- {hexapods.headline(one)}" for one in found.results]
    for section in sections:
        lines += section.markdown()
    lines += ["", "## What is compared", ""]
    lines += [f"- {line}" for line in (*hexapods.legend(), *found.notes)]
    lines += ["", f"The run took {minutes:.1f} minutes."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
