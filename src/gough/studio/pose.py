"""Poses as sliders, one for each of the robot's coordinates: places in m, turns from home in degrees.

Turns are components of the rotation vector of R R_homeᵀ, world axes; what a platform that moves in fewer
than six directions does besides is solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.data.datasets import AXES
from gough.data.motion_files import POSE
from gough.model.batch import OnError
from gough.motion import Motion
from gough.show.layout import start_pose

if TYPE_CHECKING:
    from gough.robot import Robot

SHORT, SLIGHT = 1e-3, 0.1
"""Steps of sliders: 1 mm and 0.1°."""
DIGITS = 3
"""Of a slider's number behind the point."""
WIDEST_TURN = 60.0
"""Degrees."""
STEPS = 120


def steps(robot: Robot) -> Array:
    """Of each slider, (m,)."""
    return np.where(are_places(robot), SHORT, SLIGHT)


def labels(robot: Robot, length: str = "m") -> list[str]:
    """Of each slider, with its unit."""
    return [
        f"{name} [{length}]" if place else f"{name} [°]"
        for name, place in zip(robot.coordinates, are_places(robot), strict=True)
    ]


def are_places(robot: Robot) -> Array:
    """Which of the robot's coordinates are places, not turns, (m,)."""
    return np.array([name in AXES for name in robot.coordinates])


def pose_of(robot: Robot, values: Array, on_error: OnError = "raise") -> Motion:
    """The pose at rest of slider values (..., m)."""
    u = values * np.where(are_places(robot), 1.0, np.radians(1.0))
    if robot.mobility < len(POSE):
        return robot.motion(u, on_error=on_error)
    whole = np.zeros((*u.shape[:-1], 6))
    whole[..., [POSE.index(name) for name in robot.coordinates]] = u
    turn = Rotation.from_rotvec(whole[..., 3:].reshape(-1, 3)).as_matrix()
    turned = turn.reshape(*u.shape[:-1], 3, 3) @ start_pose(robot).rotation
    return Motion(whole[..., :3], turned)


def values_of(robot: Robot, pose: Motion) -> Array:
    """Slider values (m,) of a pose of batch shape ()."""
    turn = Rotation.from_matrix(pose.rotation @ start_pose(robot).rotation.T).as_rotvec(
        degrees=True
    )
    whole = np.concatenate([pose.position, turn])
    return whole[[POSE.index(name) for name in robot.coordinates]]


def jogged(
    robot: Robot, pose: Motion, step: Array, pivot: Array, platform_axes: bool = False
) -> Motion:
    """A pose of batch shape () moved and turned about a pivot (3,), platform frame, m.

    `step` (6,) is a shift (m) and a rotation vector (rad), in world axes or the platform's own:
    R' = exp(φ) R or R exp(φ), and p' = p + R r + d − R' r with the pivot r.
    """
    turn, shift = Rotation.from_rotvec(step[3:]).as_matrix(), step[:3]
    if platform_axes:
        turned, shift = pose.rotation @ turn, pose.rotation @ shift
    else:
        turned = turn @ pose.rotation
    place = pose.position + pose.rotation @ pivot + shift - turned @ pivot
    return nearest_pose(robot, Motion(place, turned))


def nearest_pose(robot: Robot, pose: Motion) -> Motion:
    """What the platform can do of a pose of batch shape (): that with the same coordinates."""
    if robot.mobility == len(POSE):
        return pose
    return pose_of(robot, values_of(robot, pose))


def ranges(robot: Robot, size: float) -> tuple[Array, Array]:
    """Slider ends (m,), (m,): as far as the legs and their strokes let one coordinate go from home.

    At most half the robot's size (m) and 60°, at least a hundredth of that, whole slider steps.
    """
    middle, step = values_of(robot, start_pose(robot)), steps(robot)
    widest = np.where(are_places(robot), 0.5 * size, WIDEST_TURN)
    parts = np.arange(1, STEPS + 1) / STEPS
    away = np.array([-1.0, 1.0])[:, None, None] * parts[:, None] * widest
    each = middle + np.eye(len(middle))[:, None, None] * away  # (coordinate, side, part)
    poses = pose_of(robot, each, "nan")
    q = robot.inverse_kinematics(poses, on_error="nan").q
    limits = robot.description.limits
    good = ((q >= limits.shortest) & (q <= limits.longest)).all(axis=-1)
    count = np.cumprod(good, axis=-1).sum(axis=-1)
    low, high = (np.maximum(count, 2) / STEPS * widest[:, None]).T
    return np.floor((middle - low) / step) * step, np.ceil((middle + high) / step) * step
