"""What motions and results show of themselves: `motion.plot()`, `robot.reactions(motion).plot()`."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.data.datasets import JOINT_LOADS
from gough.errors import InputError
from gough.model.contributions import Contributions
from gough.motion import Motion
from gough.results import Acceleration, Actuation, Energy, LegMotion, Reactions
from gough.robot import Robot
from gough.show.pictures.curves import (
    AXES,
    SCREEN,
    contribution_curves,
    force_curves,
    leg_curves,
    stacked,
)


def motion_curves(motion: Motion) -> Figure:
    """Position and rotation vector of a motion (n,) over time, or over samples; m and degrees."""
    x, label = _along(motion)
    turn = np.rad2deg(Rotation.from_matrix(motion.rotation).as_rotvec())
    panels = [("", motion.position, "position [m]"), ("", turn, "rotation vector [°]")]
    return stacked(x, label, panels, tuple("xyz"), AXES)


def leg_picture(robot: Robot, motion: Motion, legs: LegMotion) -> Figure:
    """Actuated coordinates, rates and accelerations."""
    return leg_curves(motion, legs, actuators=robot.actuators)


def force_picture(robot: Robot, motion: Motion, actuation: Actuation) -> Figure:
    """Forces with their limits, and powers."""
    return force_curves(motion, actuation, actuators=robot.actuators, limits=robot.limits)


def contribution_picture(robot: Robot, motion: Motion, found: Contributions) -> Figure:
    """Forces with their limits, split by cause."""
    return contribution_curves(motion, found, actuators=robot.actuators, limits=robot.limits)


def acceleration_picture(robot: Robot, motion: Motion, found: Acceleration) -> Figure:
    """Linear and angular acceleration of the platform."""
    x, label = _along(motion)
    panels = [
        ("", found.linear, "acceleration [m/s²]"),
        ("", found.angular, "angular acceleration [rad/s²]"),
    ]
    return stacked(x, label, panels, tuple("xyz"), AXES)


def energy_picture(robot: Robot, motion: Motion, found: Energy) -> Figure:
    """Kinetic and potential energy."""
    x, label = _along(motion)
    both = np.stack([found.kinetic, found.potential], axis=-1)
    return stacked(x, label, [("", both, "energy [J]")], ("kinetic", "potential"), SCREEN)


def reaction_picture(robot: Robot, motion: Motion, reactions: Reactions) -> Figure:
    """How large the load of each joint is, leg by leg; of chains that of the last joint."""
    x, label = _along(motion)
    panels = []
    for name in JOINT_LOADS:
        value = getattr(reactions, name)
        if name.startswith("joint_") or np.isnan(value).all():
            continue
        unit = "N m" if name.endswith("moment") else "N"
        size = np.linalg.norm(value, axis=-1)
        panels.append(("", size, f"{name.replace('_', chr(10))} [{unit}]"))
    names = [f"leg {i + 1}" for i in range(robot.leg_count)]
    return stacked(x, label, panels, names, SCREEN)


def _along(motion: Motion) -> tuple[Array, str]:
    """What curves of a motion go over: time, or without it samples."""
    if len(motion.shape) != 1:
        raise InputError(f"motion of batch shape {motion.shape}: curves need shape (n,)")
    if motion.time is None:
        return np.arange(len(motion)), "sample"
    return motion.time, "time [s]"
