"""Kernels of robots that are no hexapods, and of hexapods written as chains, beside Pinocchio."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks import ours
from benchmarks.ours import BLOCK, Setup
from benchmarks.section import Row, Section
from benchmarks.timing import Contender, race
from cases.families import draw, random_states
from gough import Motion, Robot
from oracles.parallel import ParallelOracle

PROGRAMS = ("inverse_dynamics", "direct_dynamics")
BESIDE = {
    "6-UPS chains": "6-UPS",
    "6-PUS chains": "6-PUS",
    "6-RUS chains": "6-RUS",
    "3-RUU Delta": "rotary Delta",
}
"""Robots written as chains, and the same family in closed form."""
NAMES = ("6-UPS", "6-PUS", "6-RUS", *tuple(BESIDE)[:3], "rotary Delta", "3-RUU Delta", "3-RPS")
GOAL = 6.0
"""How many times the kernel of a hexapod's closed form that of its chains may take."""
STATES = 16


class RobotSpeed(NamedTuple):
    """The kernels of a robot and Pinocchio's call for its opened tree, seconds a state."""

    name: str
    operations: dict[str, int]
    seconds: dict[str, float]
    """By program."""
    rnea: float
    """`pinocchio.rnea` of all legs and the platform from Python, joint coordinates known."""


def measure(seconds: float) -> list[RobotSpeed]:
    """All robots in one race for each program, of so many seconds."""
    given = {name: _setup(name) for name in NAMES}
    peers = {f"rnea {name}": _rnea(draw(name, 0)[1]) for name in NAMES}
    times: dict[str, dict[str, float]] = {}
    for program in PROGRAMS:
        kernels = {name: ours.kernel(one, program) for name, one in given.items()}
        times[program] = race(kernels | (peers if program == PROGRAMS[0] else {}), seconds)
    return [
        RobotSpeed(
            name,
            {program: ours.operations(one.robot, program) for program in PROGRAMS},
            {program: times[program][name] for program in PROGRAMS},
            times[PROGRAMS[0]][f"rnea {name}"],
        )
        for name, one in given.items()
    ]


def _setup(name: str) -> Setup:
    """A robot of a family, a few of its states many times over."""
    table, oracle = draw(name, 0)
    robot = Robot.from_dict(table)
    few = Motion(**random_states(0, oracle, STATES))
    motion = few[np.arange(BLOCK) % STATES]
    robot.remember(motion, np.tile(robot.chains_of(few), (BLOCK // STATES, 1)))
    forces = robot.inverse_dynamics(few, friction=False).forces
    return Setup(robot, motion, np.tile(forces, (BLOCK // STATES, 1)))


def _rnea(oracle: ParallelOracle) -> Contender:
    model = oracle.tree.model
    data = model.createData()
    rng = np.random.default_rng(0)
    q, v, a = pin.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    return Contender(lambda: pin.rnea(model, data, q, v, a))


HEADERS = (
    "",
    "operations",
    "inverse",
    "× closed form",
    "direct",
    "× closed form",
    "Pinocchio rnea",
)


def section(speeds: list[RobotSpeed]) -> Section:
    """The table with its words."""
    text = (
        "Kernels alone of random robots: hexapods in closed form and as chains, Deltas, a 3-RPS. Joint "
        "coordinates of chains are known, as along a motion. Beside them, in one race, one call of "
        "Pinocchio's `rnea` from Python for the opened tree, its coordinates known. Goal: a hexapod as "
        f"chains in at most {GOAL:g} times its closed form."
    )
    return Section("Any robot", text, HEADERS, rows(speeds))


def rows(speeds: list[RobotSpeed]) -> list[Row]:
    """A line for each robot; times in nanoseconds a state."""
    known = {one.name: one for one in speeds}
    found: list[Row] = []
    for one in speeds:
        base: Any = known.get(BESIDE.get(one.name, ""))
        cells = [one.name, str(one.operations[PROGRAMS[0]])]
        for program in PROGRAMS:
            spent = one.seconds[program]
            ratio = "" if base is None else f"{spent / base.seconds[program]:.2f}"
            cells += [f"{1e9 * spent:.3g} ns", ratio]
        found.append((*cells, f"{1e9 * one.rnea:.3g} ns"))
    return found
