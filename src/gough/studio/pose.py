"""Poses as six sliders: a place in m, and how far the platform is turned from home, in degrees.

R = Rz(yaw) Ry(pitch) Rx(roll) R_home, about the world's axes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.robot import Robot

STEP = np.array([1e-3, 1e-3, 1e-3, 0.1, 0.1, 0.1])
"""Of the sliders: 1 mm and 0.1°."""
WIDEST_TURN = 60.0
"""Degrees; a pitch of 90° would leave roll and yaw undefined."""
STEPS = 120


def start_pose(robot: Robot) -> Motion:
    """Home, or without one a guess: above the middle of what the legs stand on."""
    if robot.description.home is not None:
        return robot.description.home
    feet = robot.leg_kind.shape.feet(robot.description.legs)
    tips = robot.description.platform_points[..., 0].T
    size = float(np.ptp(feet, axis=0).max())
    return Motion(feet.mean(axis=0) - tips.mean(axis=0) + upward(robot) * size)


def upward(robot: Robot) -> Array:
    """The unit world axis most against gravity, (3,); z where there is none."""
    gravity = robot.description.gravity
    up = np.zeros(3)
    main = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    up[main] = -np.sign(gravity[main]) or 1.0
    return up


def pose_of(values: Array, home: Motion) -> Motion:
    """The pose at rest of slider values (..., 6)."""
    turn = Rotation.from_euler("xyz", values[..., 3:].reshape(-1, 3), degrees=True).as_matrix()
    return Motion(values[..., :3], turn.reshape(*values.shape[:-1], 3, 3) @ home.rotation)


def values_of(pose: Motion, home: Motion) -> Array:
    """Slider values (6,) of a pose of batch shape ()."""
    turn = pose.rotation @ home.rotation.T
    roll = np.arctan2(turn[2, 1], turn[2, 2])
    pitch = np.arcsin(np.clip(-turn[2, 0], -1, 1))
    yaw = np.arctan2(turn[1, 0], turn[0, 0])
    return np.concatenate([pose.position, np.degrees([roll, pitch, yaw])])


def ranges(robot: Robot, size: float) -> tuple[Array, Array]:
    """Slider ends (6,), (6,): as far as the legs and their strokes let one coordinate go from home.

    At most half the robot's size (m) and 60°, at least a hundredth of that, whole slider steps.
    """
    home = start_pose(robot)
    middle = values_of(home, home)
    widest = np.array([0.5 * size] * 3 + [WIDEST_TURN] * 3)
    parts = np.arange(1, STEPS + 1) / STEPS
    away = np.array([-1.0, 1.0])[:, None, None] * parts[:, None] * widest
    poses = pose_of(middle + np.eye(6)[:, None, None] * away, home)  # (coordinate, side, part)
    q = robot.inverse_kinematics(poses, on_error="nan").q
    limits = robot.description.limits
    good = ((q >= limits.shortest) & (q <= limits.longest)).all(axis=-1)
    count = np.cumprod(good, axis=-1).sum(axis=-1)
    low, high = (np.maximum(count, 2) / STEPS * widest[:, None]).T
    return np.floor((middle - low) / STEP) * STEP, np.ceil((middle + high) / STEP) * STEP
