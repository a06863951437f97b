"""A spline through poses: position, rotation and their rates at any time between."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.rotations import conjugate, continuous_quaternions, quaternion_product
from gough.errors import InputError

SHORTEST, LONGEST = 1e-30, 1e30
"""Step between two poses, and time in all, s: rates of others overflow."""

FARTHEST = 2.9
"""Turn from a pose to the next beside the mean turn, rad: near π the way round is uncertain."""

LEAST_LENGTH = 0.25
"""Length of the quaternions between two poses below which their rotation is no smooth turn."""

PoseState = tuple[Array, Array, Array, Array, Array, Array]
"""Position, rotation, velocity, angular velocity, and both accelerations; world axes."""


def quintic(times: Array, values: Array) -> scipy.interpolate.BSpline:
    """Return the quintic spline through values (n, k) at times (n,), not a knot at the ends.

    Through fewer than six values, the polynomial of least degree.
    """
    shortest, whole = float(np.diff(times).min()), float(times[-1] - times[0])
    if not (shortest >= SHORTEST and whole <= LONGEST):
        raise InputError(
            f"times over {whole:.3g} s, the shortest step {shortest:.3g} s: rates need steps of "
            f"{SHORTEST:g} s or more, and {LONGEST:g} s in all at most"
        )
    degree = min(5, len(times) - 1)
    knots = None if degree < len(times) - 1 else np.repeat(times[[0, -1]], degree + 1)
    return scipy.interpolate.make_interp_spline(times, values, k=degree, t=knots)


class PoseSpline:
    """Goes smoothly through positions (n, 3) and rotations (n, 3, 3) at times (n,) from 0, increasing.

    Position: the `quintic` spline through the points, four times continuously differentiable.
    Rotation: R(t) = exp(Ω t) R(s(t)/‖s(t)‖) R₀ with the mean angular velocity Ω and the `quintic`
    spline s through the unit quaternions of what is left, signs continuous. A constant angular velocity
    is met exactly. Both are the same whatever the axes of world and platform: turning either is an
    orthogonal map of quaternions, with which splines and lengths commute.
    """

    def __init__(self, times: Array, position: Array, rotation: Array) -> None:
        turn = continuous_quaternions(rotation)
        steps = quaternion_product(turn[1:], conjugate(turn[:-1]))
        self._rate = Rotation.from_quat(steps).as_rotvec().sum(axis=0) / times[-1]
        base = conjugate(self._mean_turn(times))
        rest = quaternion_product(quaternion_product(base, turn), conjugate(turn[0]))
        # differences from the first pose: what stands still has rates of exactly zero
        self._first = position[0], rotation[0]
        change = np.concatenate([position - position[0], rest - IDENTITY], axis=-1)
        self._path = quintic(times, change)
        self._refuse_far_poses(times, rest)

    def _refuse_far_poses(self, times: Array, rest: Array) -> None:
        """Refuse poses that turn too far from one to the next."""
        turns = 2 * np.arccos(np.clip(np.sum(rest[1:] * rest[:-1], axis=-1), -1, 1))
        far = np.flatnonzero(turns > FARTHEST / 2)
        if not far.size:
            return
        part = np.linspace(0.0, 1.0, 9)
        between = times[far, np.newaxis] + part * np.diff(times)[far, np.newaxis]
        lengths = np.linalg.norm(self._path(between)[..., 3:] + IDENTITY, axis=-1).min(axis=-1)
        for k in far[(turns[far] > FARTHEST) | (lengths < LEAST_LENGTH)][:1]:
            raise InputError(
                f"no smooth rotation through poses[{k + 1}]: turned by {turns[k]:.3g} rad from the pose "
                f"before it (beside the mean turn; limit {FARTHEST:g} rad): add poses in between"
            )

    def _mean_turn(self, t: Array) -> Array:
        """Quaternions of exp(Ω t), of continuous sign."""
        half = np.multiply.outer(t, self._rate) / 2
        angle = np.linalg.norm(half, axis=-1, keepdims=True)
        return np.concatenate([np.sinc(angle / np.pi) * half, np.cos(angle)], axis=-1)

    def __call__(self, t: Array) -> PoseState:
        """Return the state at times (...)."""
        path = [self._path(t, order) for order in range(3)]
        q, qd, qdd = (values[..., 3:] for values in path)
        q = q + IDENTITY
        squared = np.sum(q * q, axis=-1, keepdims=True)
        back = conjugate(q)
        # of q̇ = ½ ω q, with q of any length
        omega = 2 * quaternion_product(qd, back)[..., :3] / squared
        turning = np.sum(q * qd, axis=-1, keepdims=True)
        alpha = 2 * (quaternion_product(qdd, back)[..., :3] - turning * omega) / squared
        mean = Rotation.from_quat(self._mean_turn(t).reshape(-1, 4)).as_matrix()
        mean = mean.reshape(*np.shape(t), 3, 3)
        rest = Rotation.from_quat(q.reshape(-1, 4)).as_matrix().reshape(mean.shape)
        omega, alpha = (np.einsum("...ij,...j->...i", mean, rate) for rate in (omega, alpha))
        alpha = alpha + np.cross(self._rate, omega)
        position, velocity, acceleration = (values[..., :3] for values in path)
        first, start = self._first
        return (
            first + position,
            mean @ rest @ start,
            velocity,
            self._rate + omega,
            acceleration,
            alpha,
        )


IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
"""The quaternion of no turn; the scalar comes last, as in SciPy."""
