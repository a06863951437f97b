"""Closed loops at 1 kHz beside real time: one simulation, and a batch on all cores."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import gough
from benchmarks.section import Row, Section
from gough.simulation import ComputedTorque, Controller, GravityPD
from gough.trajectories import Circle

SECONDS = 20.0
"""Of the single simulation."""
BATCH, BATCH_SECONDS = 512, 4.0
GOALS = {False: {"one": 100, "batch": 4000}, True: {"one": 100, "batch": 800}}
"""Times real time, without and with friction."""
LAWS: dict[str, Controller] = {
    "computed torque": ComputedTorque(30.0),
    "PD with gravity": GravityPD(1e5, 1e3),
}


class Speed(NamedTuple):
    """Simulated seconds a second."""

    robot: str
    law: str
    friction: bool
    one: float
    batch: float
    busy: float
    """Of the batch, a second of one core's time: what others on the machine do not change."""


CASES = (("computed torque", False), ("PD with gravity", False), ("computed torque", True))
"""Controllers, and whether there is friction."""


def measure(robot: gough.Robot, name: str, friction: bool, seconds: float) -> Speed:
    """The best of the rounds that so many seconds have room for, two at least.

    Rigid plant, 1 kHz, 1 ms steps. Every step of the one simulation is kept, every tenth of the batch.
    """
    robot, law = robot.rigid, LAWS[name]
    circle = Circle(robot.home.position - np.array([0.02, 0, 0]), 0.02, rpm=60, turns=SECONDS)
    shifts = np.random.default_rng(0).uniform(-1e-3, 1e-3, (BATCH, 3))
    starts = gough.Motion(circle(0.0).position + shifts, robot.home.rotation)
    best = {"one": 0.0, "batch": 0.0, "busy": 0.0}
    rounds, stop = 0, time.perf_counter() + seconds
    while rounds < 2 or time.perf_counter() < stop:
        begin = time.perf_counter()
        one = gough.simulate(robot, law, circle, friction=friction)
        middle, busy = time.perf_counter(), time.process_time()
        many = gough.simulate(
            robot, law, circle, BATCH_SECONDS, start=starts, friction=friction, record=0.01
        )
        end, busy = time.perf_counter(), time.process_time() - busy
        assert not one.partial
        assert not many.partial
        best["one"] = max(best["one"], SECONDS / (middle - begin))
        best["batch"] = max(best["batch"], BATCH * BATCH_SECONDS / (end - middle))
        best["busy"] = max(best["busy"], BATCH * BATCH_SECONDS / busy)
        rounds += 1
    return Speed(robot.name, name, friction, **best)


HEADERS = (
    "closed loop at 1 kHz",
    "one simulation",
    f"{BATCH} simulations, in total",
    "a core's second",
)


def section(speeds: list[Speed]) -> Section:
    """The table with its words."""
    text = (
        "`gough.simulate` of a rigid robot under a controller at 1 kHz, steps of 1 ms, "
        f"from call to result; {SECONDS:g} s with every step kept, and a batch of "
        f"{BATCH} for {BATCH_SECONDS:g} s each on all cores with every tenth. "
        f"Goals: {GOALS[False]['one']}× real time for one and {GOALS[False]['batch']}× in total, with "
        f"friction {GOALS[True]['one']}× and {GOALS[True]['batch']}×. "
        "The last column counts simulated seconds of the batch by processor time. "
        "What bounds them is in CONTRIBUTING.md."
    )
    return Section("Simulations", text, HEADERS, rows(speeds))


def rows(speeds: list[Speed]) -> list[Row]:
    """Of the table."""
    return [
        (
            f"{one.robot}, {one.law}{', friction' if one.friction else ''}",
            f"{one.one:.0f}× real time",
            f"{one.batch:.0f}× real time",
            f"{one.busy:.0f} s",
        )
        for one in speeds
    ]


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    for name in ("long-khalil-martinet-2014", "kim-ryu-2002"):
        for law, friction in CASES:
            print(*rows([measure(gough.load(name), law, friction, 5.0)])[0], sep=": ")
