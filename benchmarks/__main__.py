"""`make bench`: gough beside its peers, in one run of minutes; writes docs/benchmarks.md."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import gough
from benchmarks import (
    REPOSITORY,
    any_robot,
    cpp,
    legs,
    ours,
    peak,
    peers,
    processes,
    simulations,
    users,
)
from benchmarks.timing import race
from gough.engine.emit.llvm import lanes

ROBOTS = ("long-khalil-martinet-2014", "kim-ryu-2002")
PROGRAMS = ("inverse_dynamics", "direct_dynamics")
BARE = {"inverse_dynamics": "rnea", "direct_dynamics": "constraintDynamics"}
"""Pinocchio's own call in each."""
KERNEL, FUNCTION, ROBOT = "kernel, 1 thread", "one state, compiled function", "one state, robot"
SLOWEST = tuple(
    (robot, program) for robot in ("zoppi-exechon-2010", "shah-3rrr-2012") for program in PROGRAMS
)
"""Robots of the catalogue whose programs are the longest."""
Ready = dict[tuple[str, str], dict[str, float]]
GOALS = {"inverse_dynamics": 40, "direct_dynamics": 60}
"""How many times faster than Pinocchio's call the kernel is meant to be."""


class Result(NamedTuple):
    """One program of one robot."""

    robot: gough.Robot
    program: str
    operations: int
    seconds: dict[str, float]
    """A state, by contender, in the order of the table."""
    peak: float
    """FLOP/s of the peak loop, measured in the same race."""
    compiling: dict[str, float]

    @property
    def title(self) -> str:
        """What was computed, of what."""
        kind = f"{self.robot.leg_count}-{self.robot.kind} ({self.robot.name})"
        return f"{self.program.replace('_', ' ').capitalize()}, {kind}"

    def share(self, name: str) -> float:
        """Share of the peak that a contender with our operations reaches."""
        return self.operations / self.seconds[name] / self.peak


class Sizes(NamedTuple):
    """Time and memory by number of states."""

    robot: str
    rows: list[dict[str, float]]


def main() -> None:
    """Run everything, print it, write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=12.0, help="a race (default 12)")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "docs" / "benchmarks.md")
    parser.add_argument("--robot", choices=ROBOTS, action="append", help="default: both")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # one robot's parameters are no real body's
    console, begin, load = Console(), time.perf_counter(), _load()
    robots = [gough.load(name).rigid for name in options.robot or ROBOTS]
    threads = os.environ.get("GOUGH_THREADS")
    columns = (TextColumn("{task.description:<46}"), BarColumn(), TimeElapsedColumn())
    notes: list[str] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(robots) * 9 + 5)

        def step(text: str) -> None:
            progress.update(task, description=text, advance=1)

        results: list[Result] = []
        for robot in robots:
            results += _measure(robot, options.seconds, step, notes)
        step("kinds of legs")
        kinds = legs.measure(options.seconds)
        step("any robot")
        others = any_robot.measure(options.seconds)
        step("what users ask, with friction")
        asked = users.measure(options.seconds / 2)
        if threads is None:
            os.environ.pop("GOUGH_THREADS", None)
        else:
            os.environ["GOUGH_THREADS"] = threads
        speeds: list[simulations.Speed] = []
        for robot in robots:
            step(f"{robot.name}: simulations")
            speeds += simulations.measure(robot)
        step("programs of the catalogue, compiling")
        ready = {one: processes.compile_times(*one, repeats=1) for one in SLOWEST}
        step("sizes 1 to 10⁷")
        sizes = Sizes(robots[0].name, processes.size_times(robots[0].name))
    for result in results:
        console.print(_shown(result))
    console.print(_shown_kernels("Kinds of legs: kernels", legs.HEADERS, legs.rows(kinds)))
    console.print(_shown_kernels("Any robot: kernels", any_robot.HEADERS, any_robot.rows(others)))
    console.print(_shown_kernels("What users ask", users.HEADERS, users.rows(asked)))
    headers = ("", *users.OTHERS)
    console.print(_shown_kernels("Beside others", headers, users.other_rows(asked)))
    console.print(_shown_kernels("Ready", READY_HEADERS, _ready_rows(ready)))
    console.print(_shown_sizes(sizes))
    console.print(_shown_speeds(speeds))
    minutes = (time.perf_counter() - begin) / 60
    machine = _machine(f"load {load} before the run and {_load()} at its end")
    told = list(dict.fromkeys(notes))
    page = _page(machine, results, kinds, others, asked, ready, sizes, speeds, told, minutes)
    options.output.write_text(page, "utf-8")
    users.picture(asked, options.output.with_suffix(".png"))
    for line in _headline(results):
        console.print(line, highlight=False)
    console.print(f"{options.output}, {minutes:.1f} minutes", highlight=False)


def _measure(
    robot: gough.Robot, seconds: float, step: Callable[[str], None], notes: list[str]
) -> list[Result]:
    """Both programs of a robot."""
    step(f"{robot.name}: states")
    given = ours.setup(robot)
    native: dict[str, float] = {}

    def measure_native() -> None:
        step(f"{robot.name}: Pinocchio in C++")
        try:
            for name, seconds in cpp.measure(given).items():
                native[name] = min(seconds, native.get(name, seconds))
        except cpp.MissingError as missing:
            notes.append(f"Pinocchio in C++ is left out: {missing}.")

    results = []
    measure_native()
    for program in PROGRAMS:
        step(f"{robot.name}: {program}, the race")
        rivals, others = peers.pinocchio(given, program), peers.casadi(given, program)
        notes += [
            f"{name} is left out: pip install 'gough[bench]'."
            for name, found in (("Pinocchio", rivals), ("CasADi", others))
            if not found
        ]
        mine = ours.contenders(given, program)
        found = race({**mine, **rivals, **others, "peak": peak.contender()}, seconds)
        top = 1 / found["peak"]
        measure_native()
        entered = {name: found[name] for name in (*mine, *rivals)}
        names = [BARE[program], "whole"] if program == "inverse_dynamics" else [BARE[program]]
        entered |= {f"Pinocchio {one}, C++": native[one] for one in names if native}
        entered |= {name: found[name] for name in others}
        step(f"{robot.name}: {program}, compiling")
        times = processes.compile_times(robot.name, program)
        count = ours.operations(robot, program)
        results.append(Result(robot, program, count, entered, top, times))
    return results


def _rows(result: Result) -> list[tuple[str, ...]]:
    """Contender, time a state, times the kernel; of batches of our program also the rate."""
    rows = []
    for name, seconds in result.seconds.items():
        rate = result.operations / seconds
        rates = (f"{rate / 1e9:.2g}", f"{100 * rate / result.peak:.2g} %")
        if name.startswith(("Pinocchio", "one state")) or name.endswith("one state"):
            rates = ("", "")
        times = seconds / result.seconds[KERNEL]
        shown = f"{times:.1f}" if times < 100 else f"{times:,.0f}".replace(",", " ")
        rows.append((name, _time(seconds), shown, *rates))
    return rows


HEADERS = ("", "time a state", "× kernel", "GFLOP/s", "of the peak")


def _shown(result: Result) -> Table:
    table = Table(*HEADERS, title=f"{result.title}: {result.operations} operations", box=None)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for row in _rows(result):
        table.add_row(*row)
    compiling = result.compiling
    cold, cached = _time(compiling["cold"]), _time(compiling["cached"])
    table.caption = f"ready in {cold} cold, {cached} cached; peak {result.peak / 1e9:.1f} GFLOP/s"
    return table


def _size_rows(sizes: Sizes) -> list[tuple[str, ...]]:
    return [
        (
            f"{row['states']:,.0f}".replace(",", " "),
            _time(row["seconds"]),
            _time(row["seconds"] / row["states"]),
            f"{row['bytes'] / 1e6:.0f} MB",
        )
        for row in sizes.rows
    ]


def _shown_kernels(title: str, headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(*headers, title=title, box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    return table


READY_HEADERS = ("", "compiled", "from the cache")


def _ready_rows(ready: Ready) -> list[tuple[str, ...]]:
    return [
        (f"{robot}, {program.replace('_', ' ')}", _time(found["cold"]), _time(found["cached"]))
        for (robot, program), found in ready.items()
    ]


SIZE_HEADERS = ("states", "time", "time a state", "peak memory")


def _shown_sizes(sizes: Sizes) -> Table:
    table = Table(*SIZE_HEADERS, title=f"Sizes: inverse dynamics, {sizes.robot}", box=None)
    for column in table.columns:
        column.justify = "right"
    for row in _size_rows(sizes):
        table.add_row(*row)
    return table


def _shown_speeds(speeds: list[simulations.Speed]) -> Table:
    table = Table(*simulations.HEADERS, title="Simulations", box=None)
    for row in simulations.rows(speeds):
        table.add_row(*row)
    return table


def _headline(results: list[Result]) -> list[str]:
    """The ratios that count, a line each."""
    lines = []
    for result in results:
        kernel, bare = result.seconds[KERNEL], BARE[result.program]
        ratios = [
            f"{result.seconds[name] / kernel:.0f}× Pinocchio's {bare} call in {language}"
            for language in ("Python", "C++")
            if (name := f"Pinocchio {bare}, {language}") in result.seconds
        ]
        ratios += [
            f"{result.seconds[name] / result.seconds[ROBOT]:.1f}× its whole computation for one state"
            for name in ("Pinocchio whole, Python",)
            if name in result.seconds
        ]
        one, every = (
            result.seconds.get(f"robot, {n}") for n in ("1 thread", f"{ours.CORES} threads")
        )
        if one and every:
            ratios.append(f"{ours.CORES} threads {one / every:.2f}× one")
        beside = ""
        if ratios:
            beside = f"; {', '.join(ratios)} (goal: {GOALS[result.program]}× the call)"
        lines.append(
            f"{result.title}: kernel {_time(kernel)} a state, {100 * result.share(KERNEL):.0f} % of the "
            f"FMA peak{beside}; one state {_time(result.seconds[FUNCTION])} on plain arrays, "
            f"{_time(result.seconds[ROBOT])} with all checks"
        )
    return lines


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


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


def _markdown(headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = ["| " + " | ".join(headers) + " |"]
    lines.append("|" + "|".join([" --- ", *[" ---: "] * (len(headers) - 1)]) + "|")
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _page(
    machine: list[str],
    results: list[Result],
    kinds: list[legs.LegSpeed],
    others: list[any_robot.RobotSpeed],
    asked: list[users.Times],
    ready: Ready,
    sizes: Sizes,
    speeds: list[simulations.Speed],
    notes: list[str],
    minutes: float,
) -> str:
    lines = ["# Benchmarks", "", "Written by `make bench`; do not edit.", "", *machine, ""]
    lines += [
        "The machine is shared and noisy: contenders take turns throughout one run and the best time of "
        "each counts, so that ratios within a table hold better than times, and times from different "
        "runs do not compare.",
        "",
    ]
    lines += [f"- {line}" for line in _headline(results)]
    for result in results:
        lines += ["", f"## {result.title}", ""]
        lines += [
            f"{result.operations} operations a state, 6×6 solve and health included (a division or a "
            f"square root counts as one). Peak of one core, measured in the same race: "
            f"{result.peak / 1e9:.1f} GFLOP/s. Program ready in {_time(result.compiling['cold'])} "
            f"(compiled), {_time(result.compiling['cached'])} (from the cache).",
            "",
            *_markdown(HEADERS, _rows(result)),
        ]
    lines += ["", "## Kinds of legs", ""]
    lines += [
        "Kernels alone of one platform on six legs of each kind, all bodies with all ten parameters, "
        f"in one race. Goal: the inverse kernel of RUS legs in at most {legs.GOAL:g} times that of "
        f"{legs.BESIDE} legs. The universal axis of RUS legs is along the motor's unless the file says "
        "otherwise.",
        "",
        *_markdown(legs.HEADERS, legs.rows(kinds)),
    ]
    lines += ["", "## Any robot", ""]
    lines += [
        "Kernels alone of random robots: hexapods in closed form and as chains, Deltas, a 3-RPS. Joint "
        "coordinates of chains are known, as along a motion. Beside them, in one race, one call of "
        "Pinocchio's `rnea` from Python for the opened tree, its coordinates known. Goal: a hexapod as "
        f"chains in at most {any_robot.GOAL:g} times its closed form.",
        "",
        *_markdown(any_robot.HEADERS, any_robot.rows(others)),
    ]
    lines += users.page(asked)
    lines += ["", "## Ready", ""]
    lines += [
        "The longest programs of the catalogue, each in a process of its own: compiled, and from the "
        "cache. Goals: 1 s and 5 ms.",
        "",
        *_markdown(READY_HEADERS, _ready_rows(ready)),
    ]
    lines += ["", f"## Sizes: inverse dynamics, {sizes.robot}", ""]
    lines += [
        "`robot.inverse_dynamics` on all cores, with all checks. More than 100 000 states go through in "
        "parts of that many, made on the fly (which is not timed).",
        "",
        *_markdown(SIZE_HEADERS, _size_rows(sizes)),
        "",
        "## Simulations",
        "",
        "`gough.simulate` of a rigid robot under a controller at 1 kHz, steps of 1 ms, "
        f"from call to result; {simulations.SECONDS:g} s with every step kept, and a batch of "
        f"{simulations.BATCH} for {simulations.BATCH_SECONDS:g} s each on all cores with every tenth. "
        f"Goals: {simulations.GOALS[False]['one']}× real time for one and "
        f"{simulations.GOALS[False]['batch']}× in total, with friction "
        f"{simulations.GOALS[True]['one']}× and {simulations.GOALS[True]['batch']}×. "
        "The last column counts simulated seconds of the batch by processor time.",
        "",
        *_markdown(simulations.HEADERS, simulations.rows(speeds)),
        "",
        "## What is compared",
        "",
        f"- kernel: the compiled program alone, a batch of {ours.BLOCK} states. robot: "
        "`robot.inverse_dynamics(motion)` or `robot.direct_dynamics(motion, forces)`, "
        f"{ours.BATCH} states, with all checks. NumPy: the same without llvmlite, {ours.FEW} states. "
        "one state: `SingleState` of the compiled program on plain arrays; the robot's method; the "
        "same by NumPy. Friction is off.",
        "- Pinocchio rnea, constraintDynamics: the bare call on the robot opened at its spherical "
        "joints (18 leg joints, and the platform as a free-flyer), all joint coordinates being known; "
        "constraintDynamics closes the legs by six point constraints.",
        "- Pinocchio whole: from the platform's motion to actuator forces (leg coordinates in closed "
        "form, rnea, tip forces, 6×6 solve) or to its acceleration (leg coordinates, "
        "constraintDynamics).",
        "- C++: `benchmarks/peer.cpp` with Pinocchio's own compiled library, in a process of its own "
        "before and after each race.",
        "- CasADi: gough's own program in CasADi's virtual machine.",
        "- peak: a loop of independent vector multiply-adds on one core, two operations each.",
        "- All peers are checked to find what gough finds before anything is timed.",
        *(f"- {note}" for note in notes),
        "",
        f"The run took {minutes:.1f} minutes.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
