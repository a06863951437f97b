"""What a robot that loads is asked beside kinematics and forces: one call more, by its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np

import gough
from gough.analysis.closest import closest
from gough.analysis.singularities import singularity
from gough.analysis.stiffness import stiffness
from gough.parameters.regressor import standard_parameters
from gough.simulation import ComputedTorque
from gough.sizing import worst_case


def one_more(robot: gough.Robot, content: bytes) -> None:
    """One call of the list to every other file, always the same; what comes back is finite or refused.

    Asked of all, a case would take half as long again.
    """
    names, chosen = sorted(CALLS), crc32(content) % (2 * len(CALLS))
    if chosen >= len(names):
        return
    for value in CALLS[names[chosen]](robot.rigid, robot.home):
        assert np.isfinite(value).all(), f"{names[chosen]} is not finite"


def _saved(robot: gough.Robot, home: gough.Motion) -> Any:
    """The same robot comes back from its own file."""
    with TemporaryDirectory() as folder:
        robot.save(Path(folder) / "robot.toml")
        again = gough.load(Path(folder) / "robot.toml")
    q = robot.inverse_kinematics(home).q
    assert np.array_equal(q, again.inverse_kinematics(home).q), "saved, it is another robot"
    return [q]


def _checked(robot: gough.Robot, home: gough.Motion) -> Any:
    str(robot.check(home))
    return []


def _exported(robot: gough.Robot, home: gough.Motion) -> Any:
    with TemporaryDirectory() as folder:
        robot.export_mjcf(Path(folder) / "robot.xml")
        robot.export_urdf(Path(folder) / "robot.urdf")
    return []


def _simulated(robot: gough.Robot, home: gough.Motion) -> Any:
    """Two samples; what ends early says so."""
    found = gough.simulate(robot, ComputedTorque(20.0), home, 1e-3, period=1e-3)
    return [] if found.partial else [found.forces, found.motion.position]


CALLS: dict[str, Callable[[Any, gough.Motion], Any]] = {
    "direct": lambda robot, home: [
        (found := robot.direct_dynamics(home, np.ones(robot.actuator_count))).linear,
        found.angular,
    ],
    "reactions": lambda robot, home: [robot.reactions(home).spherical],
    "contributions": lambda robot, home: [robot.contributions(home).total],
    "mass": lambda robot, home: [robot.mass_matrix(home), robot.bias(home)],
    "energy": lambda robot, home: [robot.energy(home).potential],
    "condition": lambda robot, home: [robot.condition_number(home)],
    "forward": lambda robot, home: [
        robot.forward_kinematics(robot.inverse_kinematics(home).q, home).position
    ],
    "check": _checked,
    "stiffness": lambda robot, home: [stiffness(robot, home, 1e7).compliance],
    "singularity": lambda robot, home: [singularity(robot, home).smallest],
    "closest": lambda robot, home: [closest(robot, home, leg_radius=0.01).distance],
    "worst": lambda robot, home: [worst_case(robot, home.reshape(1), load=[1.0] * 6).force],
    "parameters": lambda robot, home: [standard_parameters(robot), robot.regressor(home)],
    "saved": _saved,
    "exported": _exported,
    "simulated": _simulated,
}
