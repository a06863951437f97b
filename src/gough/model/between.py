"""A sampled motion between its samples: the quintic through pose, twist and acceleration at both ends.

Position: the polynomial of fifth degree with the p, v, v̇ of both neighbours. Rotation: R = R_k exp(θ×),
θ(t) the same polynomial, its rates at the neighbours from ω and ω̇ (`gough.base.rotations.exponential`).
Moves along fifth-order polynomials, which rest or turn about a fixed axis, are met exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.hermite import vector_rates
from gough.base.rotations import exponential
from gough.errors import InputError
from gough.motion import Motion

MISMATCH = 0.1
"""Way between neighbours that their rates may leave unexplained, of the longest way between any two."""
QUINTIC = np.array(
    [
        [1, 0, 0, -10, 15, -6],
        [0, 1, 0, -6, 8, -3],
        [0, 0, 1 / 2, -3 / 2, 3 / 2, -1 / 2],
        [0, 0, 0, 10, -15, 6],
        [0, 0, 0, -4, 7, -3],
        [0, 0, 0, 1 / 2, -1, 1 / 2],
    ]
)
"""Powers of τ in the polynomials that carry x, ẋ, ẍ of the start and of the end."""


class Between(NamedTuple):
    """A motion (n,) over time as a function of time."""

    motion: Motion
    time: Array
    """(n,), growing."""
    way: Array
    """(n − 1, 6, 3): x, ẋ Δt, ẍ Δt² of the start and of the end, of the position."""
    turn: Array
    """(n − 1, 6, 3): the same of the rotation vector from the start, axes of the platform there."""
    bending: Array
    """(n − 1, 6, N): the same of the elastic coordinates."""

    @classmethod
    def of(cls, motion: Motion) -> Between:
        """Of a motion (n,) whose times grow and whose rates are those of its poses."""
        assert motion.time is not None
        time = motion.time
        step = np.diff(time)[:, np.newaxis]
        base = np.swapaxes(motion.rotation[:-1], -1, -2)
        turn = Rotation.from_matrix(base @ motion.rotation[1:]).as_rotvec()
        rates = [
            np.einsum("nij,nj->ni", base, value[part])
            for value in (motion.angular_velocity, motion.angular_acceleration)
            for part in (np.s_[:-1], np.s_[1:])
        ]
        spin, grow = vector_rates(turn, rates[1], rates[3])
        parts = [np.zeros_like(turn), rates[0], rates[2], turn, spin, grow]

        def scaled(ends: list[Array]) -> Array:
            powers = (1, step, step**2) * 2
            return np.stack([one * power for one, power in zip(ends, powers, strict=True)], axis=1)

        def both(*values: Array) -> Array:
            return scaled([one[:-1] for one in values] + [one[1:] for one in values])

        way = both(motion.position, motion.velocity, motion.acceleration)
        bending = both(motion.elastic, motion.elastic_velocity, motion.elastic_acceleration)
        found = cls(motion, time, way, scaled(parts), bending)
        found._check()
        return found

    def _check(self) -> None:
        """Refuse rates that are not those of the poses: x₁ − x₀ = Δt (ẋ₀ + ẋ₁)/2 + Δt² (ẍ₀ − ẍ₁)/12."""
        for name, ends in (("positions", self.way), ("rotations", self.turn)):
            x0, v0, a0, x1, v1, a1 = np.moveaxis(ends, 1, 0)
            gone = np.linalg.norm(x1 - x0, axis=-1)
            missed = np.linalg.norm(x1 - x0 - (v0 + v1) / 2 - (a0 - a1) / 12, axis=-1)
            told = np.linalg.norm(v0 + v1, axis=-1) / 2
            longest = max(gone.max(), told.max())
            if missed.max() > MISMATCH * longest + 1e-9:
                k = int(missed.argmax())
                raise InputError(
                    f"the motion's velocities are not those of its {name}: between samples {k} and "
                    f"{k + 1} it goes {gone[k]:.3g}, its rates say {told[k]:.3g}; "
                    "gough.Motion.from_samples finds rates"
                )

    def __call__(self, interval: Array, part: Array) -> Motion:
        """The motion at parts 0 to 1 (m,) of intervals (m,) between samples."""
        step = np.diff(self.time)[interval][:, np.newaxis]
        powers = part[:, np.newaxis] ** np.arange(6)
        degree = np.arange(1, 6)
        first = np.zeros_like(powers)
        first[:, 1:] = degree * powers[:, :-1]
        second = np.zeros_like(powers)
        second[:, 2:] = degree[1:] * degree[:-1] * powers[:, :-2]
        weights = [one @ QUINTIC.T for one in (powers, first, second)]
        p, v, a = (np.einsum("mk,mkc->mc", one, self.way[interval]) for one in weights)
        turns = [np.einsum("mk,mkc->mc", one, self.turn[interval]) for one in weights]
        base = self.motion.rotation[interval]
        turn, omega, alpha = exponential(turns[0], turns[1] / step, turns[2] / step**2)
        omega, alpha = (np.einsum("mij,mj->mi", base, one) for one in (omega, alpha))
        time = self.time[interval] + part * step[:, 0]
        bent = [np.einsum("mk,mkn->mn", one, self.bending[interval]) for one in weights]
        return Motion(
            p,
            base @ turn,
            v / step,
            omega,
            a / step**2,
            alpha,
            elastic=bent[0],
            elastic_velocity=bent[1] / step,
            elastic_acceleration=bent[2] / step**2,
            time=time,
        )
