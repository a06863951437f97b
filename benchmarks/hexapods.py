"""Kernels, methods and one state of a UPS and a PUS hexapod, beside Pinocchio and CasADi."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import gough
from benchmarks import cpp, ours, peak, peers, processes
from benchmarks.section import Row, Section, time_text
from benchmarks.timing import race

ROBOTS = ("long-khalil-martinet-2014", "kim-ryu-2002")
PROGRAMS = ("inverse_dynamics", "direct_dynamics")
BARE = {"inverse_dynamics": "rnea", "direct_dynamics": "constraintDynamics"}
"""Pinocchio's own call in each."""
KERNEL, FUNCTION, ROBOT = "kernel, 1 thread", "one state, compiled function", "one state, robot"
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


def measure(given: ours.Setup, program: str, seconds: float, tell: Callable[[str], None]) -> Result:
    """A race of so many seconds, Pinocchio in C++ before and after it; `tell` says what is missing."""
    native = _native(given, tell)
    rivals, others = peers.pinocchio(given, program), peers.casadi(given, program)
    for name, found in (("Pinocchio", rivals), ("CasADi", others)):
        if not found:
            tell(f"{name} is left out: pip install 'gough[bench]'.")
    mine = ours.contenders(given, program)
    times = race({**mine, **rivals, **others, "peak": peak.contender()}, seconds)
    again = _native(given, tell)
    native = {name: min(native[name], again[name]) for name in native if name in again}
    entered = {name: times[name] for name in (*mine, *rivals)}
    names = [BARE[program], "whole"] if program == "inverse_dynamics" else [BARE[program]]
    entered |= {f"Pinocchio {one}, C++": native[one] for one in names if one in native}
    entered |= {name: times[name] for name in others}
    ready = processes.compile_times(given.robot.name, program)
    count = ours.operations(given.robot, program)
    return Result(given.robot, program, count, entered, 1 / times["peak"], ready)


def _native(given: ours.Setup, tell: Callable[[str], None]) -> dict[str, float]:
    try:
        return cpp.measure(given)
    except cpp.MissingError as missing:
        tell(f"Pinocchio in C++ is left out: {missing}.")
        return {}


def _rows(result: Result) -> list[Row]:
    """Contender, time a state, times the kernel; of batches of our program also the rate."""
    rows = []
    for name, seconds in result.seconds.items():
        rate = result.operations / seconds
        rates = (f"{rate / 1e9:.2g}", f"{100 * rate / result.peak:.2g} %")
        if name.startswith(("Pinocchio", "one state")) or name.endswith("one state"):
            rates = ("", "")
        times = seconds / result.seconds[KERNEL]
        shown = f"{times:.1f}" if times < 100 else f"{times:,.0f}".replace(",", " ")
        rows.append((name, time_text(seconds), shown, *rates))
    return rows


def section(result: Result) -> Section:
    """A table of one program of one robot."""
    text = (
        f"{result.operations} operations a state, 6×6 solve and health included (a division or a "
        f"square root counts as one). Peak of one core, measured in the same race: "
        f"{result.peak / 1e9:.1f} GFLOP/s. Program ready in {time_text(result.compiling['cold'])} "
        f"(compiled), {time_text(result.compiling['cached'])} (from the cache)."
    )
    headers = ("", "time a state", "× kernel", "GFLOP/s", "of the peak")
    return Section(result.title, text, headers, _rows(result))


def headline(result: Result) -> str:
    """The ratios that count, in a line."""
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
    one, every = (result.seconds.get(f"robot, {n}") for n in ("1 thread", f"{ours.CORES} threads"))
    if one and every:
        ratios.append(f"{ours.CORES} threads {one / every:.2f}× one")
    beside = f"; {', '.join(ratios)} (goal: {GOALS[result.program]}× the call)" if ratios else ""
    return (
        f"{result.title}: kernel {time_text(kernel)} a state, {100 * result.share(KERNEL):.0f} % of the "
        f"FMA peak{beside}; one state {time_text(result.seconds[FUNCTION])} on plain arrays, "
        f"{time_text(result.seconds[ROBOT])} with all checks"
    )


def legend() -> list[str]:
    """What is compared, and how."""
    return [
        f"kernel: the compiled program alone, a batch of {ours.BLOCK} states. robot: "
        "`robot.inverse_dynamics(motion)` or `robot.direct_dynamics(motion, forces)`, "
        f"{ours.BATCH} states, with all checks. NumPy: the same without llvmlite, {ours.FEW} states. "
        "one state: `SingleState` of the compiled program on plain arrays; the robot's method; the same "
        "by NumPy. Friction is off in the tables of one program.",
        "Pinocchio rnea, constraintDynamics: the bare call on the robot opened at its spherical "
        "joints (18 leg joints, and the platform as a free-flyer), all joint coordinates being known; "
        "constraintDynamics closes the legs by six point constraints.",
        "Pinocchio whole: from the platform's motion to actuator forces (leg coordinates in closed "
        "form, rnea, tip forces, 6×6 solve) or to its acceleration (leg coordinates, "
        "constraintDynamics).",
        "C++: `benchmarks/peer.cpp` with Pinocchio's own compiled library, in a process of its own "
        "before and after each race.",
        "CasADi: gough's own program in CasADi's virtual machine.",
        "peak: a loop of independent vector multiply-adds on one core, two operations each.",
        "All peers are checked to find what gough finds before anything is timed.",
    ]
