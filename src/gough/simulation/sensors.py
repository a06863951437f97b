"""Sensors: what the controller is told of the legs and the platform.

Encoders measure q and q̇ of every leg,

    q_m = δ round((q + n)/δ),    q̇_m = δ' round((q̇ + n')/δ')

with Gaussian noise n, n' and steps δ, δ' (0: none). The pose and twist told to controllers of the
platform are those of the measured legs, by one step of Newton's method from the true ones:
(δp, δθ) = J⁺ (q_m − q), (δv, δω) = J⁺ (q̇_m − q̇); its error is of second order in the sensor's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.mechanics.solves import factor, least_squares
from gough.mechanics.vectors import Components
from gough.simulation.attitude import orthonormal, turned


class Reading(NamedTuple):
    """What is measured, component axis first."""

    q: Components
    """(legs, samples), m."""
    qd: Components
    position: Components
    """(3, samples)."""
    rotation: Components
    """(3, 3, samples)."""
    velocity: Components
    angular_velocity: Components


def rounded(value: Components, step: Components, coarse: Components) -> Components:
    """δ round(x/δ) where coarse is 1, x itself where it is 0."""
    whole: Components = value + coarse * (step * np.rint(value / step) - value)
    return whole


def reading(
    true: Reading, q: Components, qd: Components, jacobian: Components, scale: Components
) -> Reading:
    """All that follows from measured q and q̇; jacobian (legs, 6, samples) with its column scale."""
    factors = factor(jacobian, scale)
    shift, change = (
        least_squares(factors, measured - exact) for measured, exact in ((q, true.q), (qd, true.qd))
    )
    return Reading(
        q,
        qd,
        true.position + shift[:3],
        orthonormal(turned(0.5 * shift[3:], true.rotation)),
        true.velocity + change[:3],
        true.angular_velocity + change[3:],
    )


@dataclass(frozen=True)
class Sensors:
    """Encoders of the legs and the time until the controller sees them.

    `resolution` (m) and `rate_resolution` (m/s): steps of the readings. `noise` (m) and `rate_noise`
    (m/s): standard deviations, a new draw every sample, from a generator a simulation that `seed`
    starts. `delay` (s): age of what the controller is told, a whole number of its periods.
    """

    resolution: float = 0.0
    rate_resolution: float = 0.0
    noise: float = 0.0
    rate_noise: float = 0.0
    delay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("resolution", "rate_resolution", "noise", "rate_noise", "delay"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise InputError(f"sensors: {name} is {value!r}, must be a number")
            if not 0 <= value < np.inf:
                raise InputError(f"sensors: {name} is {value!r}, must be finite and not negative")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer):
            raise InputError(f"sensors: seed is {self.seed!r}, must be a whole number")
        if self.seed < 0:
            raise InputError(f"sensors: seed is {self.seed}, must not be negative")

    @property
    def exact(self) -> bool:
        """Readings are the truth, if late."""
        return not (self.resolution or self.rate_resolution or self.noise or self.rate_noise)

    @property
    def steps(self) -> Array:
        """δ, 1, δ', 1 (4,); where there is no step 1, 0."""
        return np.array(
            [
                number
                for step in (self.resolution, self.rate_resolution)
                for number in ((step, 1.0) if step else (1.0, 0.0))
            ]
        )


class Noise:
    """Streams of noise, one per simulation: the same seed gives the same noise, alone or in a batch."""

    def __init__(self, sensors: Sensors, seeds: Array, legs: int) -> None:
        self.scale = np.array([[sensors.noise], [sensors.rate_noise]])
        self.legs = legs
        self.rows = len(seeds)
        noisy = () if sensors.exact else seeds
        self.generators = [np.random.default_rng([sensors.seed, int(seed)]) for seed in noisy]

    def __call__(self, samples: int) -> Array:
        """(samples, rows, 2, legs) of n (m) and n' (m/s)."""
        out = np.zeros((samples, self.rows, 2, self.legs))
        for row, generator in enumerate(self.generators):
            out[:, row] = generator.standard_normal((samples, 2, self.legs))
        return np.asarray(out * self.scale)
