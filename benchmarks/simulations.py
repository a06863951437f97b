"""Closed loops at 1 kHz beside real time: one simulation, and a batch on all cores."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import gough
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


def measure(robot: gough.Robot, rounds: int = 5) -> list[Speed]:
    """The best of some rounds for each controller; rigid plant, 1 kHz, 1 ms steps.

    Without friction and, where the robot has some, with it.

    Every step of the single simulation is kept, every tenth of the batch.
    """
    robot = robot.rigid
    circle = Circle(robot.home.position - np.array([0.02, 0, 0]), 0.02, rpm=60, turns=SECONDS)
    shifts = np.random.default_rng(0).uniform(-1e-3, 1e-3, (BATCH, 3))
    starts = gough.Motion(circle(0.0).position + shifts, robot.home.rotation)
    found = []
    cases = [(name, False) for name in LAWS] + ([("computed torque", True)] if robot.rubs else [])
    for name, friction in cases:
        law = LAWS[name]
        best = {"one": 0.0, "batch": 0.0, "busy": 0.0}
        for _ in range(rounds):
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
        found.append(Speed(robot.name, name, friction, **best))
    return found


HEADERS = (
    "closed loop at 1 kHz",
    "one simulation",
    f"{BATCH} simulations, in total",
    "a core's second",
)


def rows(speeds: list[Speed]) -> list[tuple[str, ...]]:
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
        for row in rows(measure(gough.load(name))):
            print(*row, sep=": ")
