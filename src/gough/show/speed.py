"""How long models take on this machine: nanoseconds per state of a batch, microseconds of one call."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.motion import Motion
from gough.robot import Robot, load

ROBOTS = ("long-khalil-martinet-2014", "kim-ryu-2002")
"""UPS and PUS; platforms are taken as rigid."""
BATCH = 32_768
SECONDS = 0.15
"""For each measurement; the best time counts."""


class Speed(NamedTuple):
    """The time of one model of one robot, s per state."""

    robot: str
    model: str
    batch: float
    """In a batch, all cores."""
    single: float
    """One state, one call from Python with all checks."""
    pinocchio: float | None
    """Pinocchio's bare call from Python, coordinates of all joints known; None if not there."""


def measure(progress: Callable[[str], None] = lambda _: None) -> list[Speed]:
    """Inverse and direct dynamics without friction, and forward kinematics from home."""
    found = []
    for name in ROBOTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a paper's robot may be odd
            robot = load(name).rigid
        label = f"{robot.leg_count}-{robot.kind}"
        for model, (many, single) in _models(robot).items():
            progress(f"timing {model} of a {label} robot")
            peer = _pinocchio(robot, model.replace(" ", "_"))
            found.append(Speed(label, model, _best(many) / BATCH, _best(single), peer))
    return found


def states(robot: Robot, count: int) -> Motion:
    """Random states of a robot near its home: the same ones each time."""
    rng = np.random.default_rng(0)
    turns = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (count, 3)))
    offset = rng.uniform(-0.1, 0.1, (count, 3)) * robot.length_scale
    undeformed = np.zeros(robot.modes) if robot.modes else None
    rates = rng.normal(size=(4, count, 3))
    return Motion(robot.home.position + offset, turns, *rates, elastic=undeformed)


def _models(robot: Robot) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Calls for a batch and for one state."""
    motion = states(robot, BATCH)
    one = motion[0]
    forces = robot.inverse_dynamics(motion, friction=False).forces
    q = robot.inverse_kinematics(motion).q
    return {
        "inverse dynamics": (
            lambda: robot.inverse_dynamics(motion, friction=False),
            lambda: robot.inverse_dynamics(one, friction=False),
        ),
        "direct dynamics": (
            lambda: robot.direct_dynamics(motion, forces, friction=False),
            lambda: robot.direct_dynamics(one, forces[0], friction=False),
        ),
        "forward kinematics": (
            lambda: robot.forward_kinematics(q),
            lambda: robot.forward_kinematics(q[0]),
        ),
    }


def _best(call: Callable[[], object]) -> float:
    """Seconds of the fastest call, after one to warm up."""
    call()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while True:
        start = time.perf_counter()
        call()
        stop = time.perf_counter()
        best = min(best, stop - start)
        if stop > end:
            return best


def _pinocchio(robot: Robot, model: str) -> float | None:
    """Pinocchio's time where it and the repository's benchmarks are there, and agree with gough."""
    root = Path(str(resources.files("gough"))).parents[1]
    spec = importlib.util.find_spec("benchmarks")
    if importlib.util.find_spec("pinocchio") is None or spec is None or spec.origin is None:
        return None
    if Path(spec.origin).resolve().parents[1] != root.resolve() or model == "forward_kinematics":
        return None
    peers: Any = importlib.import_module("benchmarks.peers")
    ours: Any = importlib.import_module("benchmarks.ours")
    motion = states(robot, peers.CHECKED)
    forces = robot.inverse_dynamics(motion, friction=False).forces
    calls = peers.pinocchio(ours.Setup(robot, motion, forces), model)
    bare = next(iter(calls.values()))

    def many() -> None:
        for _ in range(100):
            bare.call()

    return _best(many) / 100
