"""Paths through values whose first and second derivatives are known: piecewise quintic polynomials."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.pose_spline import PoseState
from gough.base.rotations import exponential


class Hermite:
    """The path (n, k) that has values x, rates ẋ and accelerations ẍ at times (n,), increasing.

    Between two times it is the one quintic polynomial that has all three at both ends (Hermite), so that
    ẍ is continuous and the third derivative jumps at the times.
    """

    def __init__(self, times: Array, value: Array, rate: Array, acceleration: Array) -> None:
        self.times = times
        before = np.stack([value[:-1], rate[:-1], acceleration[:-1]])
        after = np.stack([value[1:], rate[1:], acceleration[1:]])
        self.coefficients = _coefficients(np.diff(times)[:, np.newaxis], before, after)

    def __call__(self, t: Array, order: int = 0) -> Array:
        """The path's derivative of an order at times (...): (..., k)."""
        return _polynomial(self.times, self.coefficients, t)[order]


class PoseHermite:
    """The poses, twists and accelerations that a motion has at times (n,), and a path between them.

    Positions are `Hermite`'s. Rotations are R = R_i exp(θ×) behind the i-th time, where θ is the quintic
    polynomial that has the twist and its derivative at both ends.
    """

    def __init__(
        self,
        times: Array,
        position: Array,
        rotation: Array,
        velocity: Array,
        angular_velocity: Array,
        acceleration: Array,
        angular_acceleration: Array,
    ) -> None:
        self.times, self.rotation = times, rotation
        self.path = Hermite(times, position, velocity, acceleration)
        back = np.swapaxes(rotation[:-1], -1, -2)
        turn = Rotation.from_matrix(back @ rotation[1:]).as_rotvec()
        twists = np.stack([angular_velocity, angular_acceleration])
        first, last = (
            np.einsum("nij,knj->kni", back, one) for one in (twists[:, :-1], twists[:, 1:])
        )
        before = np.stack([np.zeros_like(turn), *first])
        after = np.stack([turn, *vector_rates(turn, *last)])
        self.turns = _coefficients(np.diff(times)[:, np.newaxis], before, after)

    def __call__(self, t: Array) -> PoseState:
        """Position, rotation, velocity, ω, acceleration and ω̇ at times (...), world axes."""
        position, velocity, acceleration = (self.path(t, order) for order in range(3))
        base = self.rotation[_interval(self.times, t)]
        turn, omega, omega_dot = exponential(*_polynomial(self.times, self.turns, t))
        omega, omega_dot = (np.einsum("...ij,...j->...i", base, w) for w in (omega, omega_dot))
        return position, base @ turn, velocity, omega, acceleration, omega_dot


def vector_rates(vector: Array, omega: Array, omega_dot: Array) -> tuple[Array, Array]:
    """Return θ̇ and θ̈ of rotation vectors θ (..., 3) whose R = exp(θ×) has ω and ω̇.

    `exponential` solved for its rates: ω is linear in θ̇, and ω̇ in θ̈.
    """
    shape = (*vector.shape[:-1], 3, 3)
    columns = exponential(vector[..., np.newaxis, :], np.broadcast_to(np.eye(3), shape))[1]
    jacobian = np.swapaxes(columns, -1, -2)
    rate = np.linalg.solve(jacobian, omega[..., np.newaxis])[..., 0]
    rest = omega_dot - exponential(vector, rate)[2]
    return rate, np.linalg.solve(jacobian, rest[..., np.newaxis])[..., 0]


def _coefficients(step: Array, before: Array, after: Array) -> Array:
    """Coefficients (6, n, k) of polynomials in t − t_i from x, ẋ, ẍ (3, n, k) at both ends."""
    x, v, a = before
    left = after[0] - x - step * (v + step * a / 2)
    left_v, left_a = after[1] - v - step * a, after[2] - a
    third = (10 * left - 4 * step * left_v + step**2 * left_a / 2) / step**3
    fourth = (-15 * left + 7 * step * left_v - step**2 * left_a) / step**4
    fifth = (6 * left - 3 * step * left_v + step**2 * left_a / 2) / step**5
    return np.stack([x, v, a / 2, third, fourth, fifth])


def _interval(times: Array, t: Array) -> Array:
    return np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)


def _polynomial(times: Array, coefficients: Array, t: Array) -> tuple[Array, Array, Array]:
    """Value, first and second derivative at times (...), (..., k)."""
    place = _interval(times, t)
    since = (t - times[place])[..., np.newaxis]
    value, rate, acceleration = (np.zeros_like(coefficients[0, place]) for _ in range(3))
    for one in coefficients[::-1]:
        acceleration = acceleration * since + 2 * rate
        rate = rate * since + value
        value = value * since + one[place]
    return value, rate, acceleration
