"""The linear model of a robot whose platform bends, near any motion, by central differences.

The compiled flexible direct dynamics is asked a step to either side of every coordinate. Steps move no
point by more than 1e-5 m (or m/s), so that slopes are right to about 1e-8 of the largest of their kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.model.batch import OnError
from gough.model.deflection import largest_shapes
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.robot import Robot

STEP = 1e-5
"""Metres, or m/s, of the most moved point."""
FORCE_STEP = 1e-3
"""Step of the forces, relative to the largest (or to 1 N)."""


def slopes(
    robot: Robot,
    motion: Motion,
    forces: ArrayLike,
    wrench: ArrayLike | None,
    friction: bool,
    on_error: OnError,
) -> tuple[Array, Array]:
    """∂ξ̇/∂x (..., 6 + N, 12 + 2 N) and ∂ξ̇/∂Γ (..., 6 + N, legs).

    ξ = (v, ω, q̇e), x = (δp, δθ, δqe, δv, δω, δq̇e), R = exp(δθ^) R_motion.
    """
    size, legs = 6 + robot.modes, robot.leg_count
    half = [np.full(3, STEP), np.full(3, STEP / robot.length_scale), STEP / largest_shapes(robot)]
    steps = np.tile(np.concatenate(half), 2)
    moves = np.concatenate([np.diag(steps), -np.diag(steps)])
    still = np.zeros(robot.modes)
    bent, bending = (
        (value if motion.modes else still)[..., np.newaxis, :]
        for value in (motion.elastic, motion.elastic_velocity)
    )
    turned = Rotation.from_rotvec(moves[:, 3:6]).as_matrix()
    near = Motion(
        motion.position[..., np.newaxis, :] + moves[:, :3],
        turned @ motion.rotation[..., np.newaxis, :, :],
        motion.velocity[..., np.newaxis, :] + moves[:, size : size + 3],
        motion.angular_velocity[..., np.newaxis, :] + moves[:, size + 3 : size + 6],
        elastic=bent + moves[:, 6:size],
        elastic_velocity=bending + moves[:, size + 6 :],
    )
    push = np.asarray(forces, dtype=np.float64)[..., np.newaxis, :]
    load = None if wrench is None else np.asarray(wrench, dtype=np.float64)[..., np.newaxis, :]

    def accelerations(motions: Motion, pushes: Array) -> Array:
        found = robot.direct_dynamics(motions, pushes, load, friction, on_error=on_error)
        return np.concatenate([found.linear, found.angular, found.elastic], axis=-1)

    by_state = _central(accelerations(near, push), steps)
    apart = FORCE_STEP * max(1.0, float(np.abs(np.nan_to_num(push)).max(initial=0.0)))
    sides = apart * np.concatenate([np.eye(legs), -np.eye(legs)])
    by_force = _central(accelerations(motion[..., np.newaxis], push + sides), np.full(legs, apart))
    return by_state, by_force


def _central(values: Array, steps: Array) -> Array:
    """Slopes (..., answers, n) from answers (..., 2 n, answers) at steps ahead, then back."""
    count = len(steps)
    found = (values[..., :count, :] - values[..., count:, :]) / (2 * steps[:, np.newaxis])
    return np.swapaxes(found, -1, -2)
