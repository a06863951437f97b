"""The platform's motion from leg coordinates and their rates: what encoders say about the platform."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.base.rotations import exponential
from gough.model.model import Model
from gough.motion import Motion

STRIDE = 0.2
"""Way of a leg, in length scales, between poses that are found one after the other."""
APPROACH = 20
"""Steps from home to the first pose."""


def platform_motion(
    robot: Model, q: Array, qd: Array, qdd: Array, start: Motion | None = None
) -> Motion:
    """Pose, twist and acceleration from leg coordinates (n, legs) and their derivatives.

    `start` is a pose near the first; without it the way there leads from home.
    """
    return with_rates(robot, _poses(robot, q, start), qd, qdd)


def with_rates(robot: Model, poses: Motion, qd: Array, qdd: Array) -> Motion:
    """Twist and acceleration of poses (n,) whose leg coordinates have the derivatives (n, legs).

    J ξ = q̇, J ξ̇ = q̈ − J̇ ξ, the last being q̈ of the legs where ξ̇ = 0. Six legs.
    """
    inverse = np.linalg.inv(robot.jacobian(poses))
    twist = np.einsum("nij,nj->ni", inverse, qd)
    moving = poses.replace(velocity=twist[:, :3], angular_velocity=twist[:, 3:])
    felt = qdd - robot.inverse_kinematics(moving).qdd
    rate = np.einsum("nij,nj->ni", inverse, felt)
    return moving.replace(acceleration=rate[:, :3], angular_acceleration=rate[:, 3:])


def _poses(robot: Model, q: Array, start: Motion | None) -> Motion:
    """Poses of leg coordinates (n, legs): marks one after the other, the rest from the last mark."""
    if start is None:
        home = robot.inverse_kinematics(robot.home).q
        path = home + np.linspace(0.0, 1.0, APPROACH)[:, np.newaxis] * (q[0] - home)
        start = robot.forward_kinematics(path, along=0)[-1]
    way = np.abs(np.diff(q, axis=0, prepend=q[:1])).max(axis=1)
    section = (np.cumsum(way) / (STRIDE * robot.length_scale)).astype(int)
    _, first, mark = np.unique(section, return_index=True, return_inverse=True)
    marks = robot.forward_kinematics(q[first], start, along=0)
    # first order from the mark: p + δp, exp(δθ) R with J (δp, δθ) = δq
    shift = np.einsum("nij,nj->ni", np.linalg.inv(robot.jacobian(marks))[mark], q - q[first][mark])
    turn = exponential(shift[:, 3:])[0]
    guess = Motion(marks.position[mark] + shift[:, :3], turn @ marks.rotation[mark])
    return robot.forward_kinematics(q, guess)
