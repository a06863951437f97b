"""Sensors: what the controller is told of the actuators and the platform.

Encoders measure q and q̇ of every actuator,

    q_m = δ round((q + n)/δ),    q̇_m = δ' round((q̇ + n')/δ')

with Gaussian noise n, n' and steps δ, δ' (0: none). Where only q has noise or steps, nothing measures
rates: q̇_m comes from the readings of q, a period T apart, through a low-pass of first order with time
constant τ, the `rate_filter` (0: the difference alone),

    q̇_m ← q̇_m + T/(τ + T) ((q_m − q_m before)/T − q̇_m)

The pose and twist told to controllers of the
platform are those of the measured q, by one step of Newton's method from the true ones along what the
platform is allowed: (δp, δθ) = J⁺ (q_m − q), (δv, δω) = J⁺ (q̇_m − q̇); its error is of second order in
the sensor's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.mechanics.vectors import Components
from gough.simulation.attitude import orthonormal, turned


class Reading(NamedTuple):
    """What is measured, component axis first."""

    q: Components
    """(actuators, samples), m or rad."""
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
    true: Reading, q: Components, qd: Components, shift: Components, change: Components
) -> Reading:
    """All that follows from measured q and q̇: J⁺ (q_m − q) and J⁺ (q̇_m − q̇), (6, samples)."""
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
    """Encoders of the actuators and the time until the controller sees them.

    `resolution` (m, or rad of rotary actuators) and `rate_resolution` (m/s, rad/s): steps of the
    readings. `noise` and `rate_noise`, in the same units: standard deviations, a new draw every sample,
    from a generator a simulation that `seed` starts. Without `rate_resolution` and `rate_noise` rates
    are found from the readings of q, and `rate_filter` (s) is the time constant of the low-pass that
    smooths them. `delay` (s): age of what the controller is told, a
    whole number of its periods. `acceleration_noise` (m/s², rad/s²): standard deviation of
    accelerometers along q, which an observer may use; None: there are none. `on_motors`: encoders of
    compliant drives are on the rotors, before the spring, and read θ in place of q.
    """

    resolution: float = 0.0
    rate_resolution: float = 0.0
    noise: float = 0.0
    rate_noise: float = 0.0
    delay: float = 0.0
    seed: int = 0
    acceleration_noise: float | None = None
    on_motors: bool = False
    rate_filter: float = 0.0

    def __post_init__(self) -> None:
        names = ["resolution", "rate_resolution", "noise", "rate_noise", "delay", "rate_filter"]
        if self.acceleration_noise is not None:
            names.append("acceleration_noise")
        for name in names:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise InputError(f"sensors: {name} is {value!r}, must be a number")
            if not 0 <= value < np.inf:
                raise InputError(f"sensors: {name} is {value!r}, must be finite and not negative")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer):
            raise InputError(f"sensors: seed is {self.seed!r}, must be a whole number")
        if self.seed < 0:
            raise InputError(f"sensors: seed is {self.seed}, must not be negative")
        if self.rate_filter and not self.differentiates:
            raise InputError(
                "sensors: rate_filter smooths rates that are found from q: give resolution or noise, "
                "and neither rate_resolution nor rate_noise"
            )

    @property
    def exact(self) -> bool:
        """Readings are the truth, if late."""
        wrong = (self.resolution, self.rate_resolution, self.noise, self.rate_noise, self.on_motors)
        return not any(wrong)

    @property
    def differentiates(self) -> bool:
        """Rates are found from the readings of q."""
        own = self.rate_resolution or self.rate_noise
        return bool(self.resolution or self.noise) and not own

    def filtering(self, period: float) -> Array:
        """1/T and T/(τ + T) of the filter of rates, (2,)."""
        return np.array([1 / period, period / (self.rate_filter + period)])

    def before(self, q: Array, qd: Array, period: float) -> Array:
        """The last reading and rate (rows, 2, actuators) before a start at q and q̇ (rows, actuators)."""
        step, coarse = self.steps[:2]
        return np.stack([rounded(q - period * qd, step, coarse), qd], axis=1)

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

    def __init__(self, sensors: Sensors, seeds: Array, actuators: int) -> None:
        self.scale = np.array([[sensors.noise], [sensors.rate_noise]])
        self.actuators = actuators
        self.rows = len(seeds)
        noisy = () if sensors.exact else seeds
        self.generators = [np.random.default_rng([sensors.seed, int(seed)]) for seed in noisy]

    def of_accelerometers(self, sensors: Sensors, seeds: Array) -> list[np.random.Generator]:
        """Generators of their noise, one per simulation."""
        return [np.random.default_rng([sensors.seed, int(seed), 2]) for seed in seeds]

    def __call__(self, samples: int) -> Array:
        """(samples, rows, 2, actuators) of n and n'."""
        out = np.zeros((samples, self.rows, 2, self.actuators))
        for row, generator in enumerate(self.generators):
            out[:, row] = generator.standard_normal((samples, 2, self.actuators))
        return np.asarray(out * self.scale)
