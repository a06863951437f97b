"""Motor and screw behind an actuator: torque and speed of the motor for force and speed of the leg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import InputError

RPM = 60 / (2 * np.pi)
"""Revolutions a minute in one rad/s."""


class Motor(NamedTuple):
    """What the motors do, (..., legs)."""

    thrust: Array
    """Force in the screw, N: the actuator force less what the rotor's inertia takes of it."""
    torque: Array
    """N m; positive turns towards larger q."""
    speed: Array
    """rad/s."""
    power: Array
    """torque · speed, W; negative: the load drives the motor."""


@dataclass(frozen=True)
class Drive:
    """A screw and the motor that turns it. Numbers, or arrays that broadcast against (..., legs).

    With lead p (m a turn) and rotor inertia J (motor, coupling and screw, kg m²)

        Ω = (2π/p) q̇,    τ = J (2π/p) q̈ + (p/2π) F κ,    F = Γ − m_r q̈

    F is the force in the screw: the actuator force Γ less the robot file's `rotor_mass` m_r, whose
    place J takes. κ = 1/η where the motor drives the load (F q̇ > 0), η_b where the load drives the
    motor, and 1 at rest. Friction of the robot file is a part of Γ: a screw described there by
    `screw_torque` has its losses twice if η is below 1.
    """

    lead: ArrayLike
    """p, m a turn."""
    efficiency: ArrayLike = 1.0
    """η of the driving motor."""
    back_efficiency: ArrayLike | None = None
    """η_b of the driven motor; default 2 − 1/η, the same friction back (below 0: self-locking)."""
    rotor_inertia: ArrayLike | None = None
    """J, kg m²; default: what `rotor_mass` stands for, m_r (p/2π)²."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("lead", 0.0, 10.0),
            ("efficiency", 0.0, 1.0),
            ("back_efficiency", -np.inf, 1.0),
            ("rotor_inertia", -np.nextafter(0, 1), 1e6),
        ):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = np.asarray(value, dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(f"drive: {name} is not a number") from None
            good = np.isfinite(array) & (array > low) & (array <= high)
            if not good.all():
                bad = np.ravel(array)[np.argmin(np.ravel(good))]
                raise InputError(f"drive: {name} is {bad:g}, {_wanted(name)}")
            object.__setattr__(self, name, array)

    @property
    def arm(self) -> Array:
        """p/2π, m/rad: speed of the leg over speed of the motor."""
        return np.asarray(self.lead) / (2 * np.pi)

    @property
    def driven(self) -> Array:
        """η_b."""
        if self.back_efficiency is None:
            return np.asarray(2 - 1 / np.asarray(self.efficiency))
        return np.asarray(self.back_efficiency)

    def inertia(self, rotor_mass: Array) -> Array:
        """J, kg m²."""
        if self.rotor_inertia is None:
            return np.asarray(rotor_mass * self.arm**2)
        return np.asarray(self.rotor_inertia)

    def motor(self, forces: Array, rate: Array, acceleration: Array, rotor_mass: Array) -> Motor:
        """Torque, speed and power for actuator forces Γ, q̇ and q̈ (..., legs); see the class."""
        thrust = forces - rotor_mass * acceleration
        direction = np.sign(thrust * rate)
        loss = np.where(direction > 0, 1 / np.asarray(self.efficiency), 1.0)
        loss = np.where(direction < 0, self.driven, loss)
        speed = rate / self.arm
        torque = self.inertia(rotor_mass) * acceleration / self.arm + self.arm * thrust * loss
        return Motor(thrust, torque, speed, torque * speed)

    def bound(
        self, thrust: Array, rate: Array, acceleration: Array, rotor_mass: Array
    ) -> tuple[Array, Array]:
        """Largest torque (N m) and speed (rad/s) for bounds on |F|, |q̇| and |q̈|.

        The torque takes the largest thrust, driving, and the largest acceleration as if they came
        together: a bound, which a motion may stay below.
        """
        worst = np.maximum(1 / np.asarray(self.efficiency), np.abs(self.driven))
        torque = self.inertia(rotor_mass) * acceleration / self.arm + self.arm * thrust * worst
        return np.asarray(torque), np.asarray(rate / self.arm)


def _wanted(name: str) -> str:
    return {
        "lead": "needs a positive number of metres a turn, at most 10",
        "efficiency": "needs a number above 0 and at most 1",
        "back_efficiency": "needs a finite number of at most 1",
        "rotor_inertia": "needs 0 or more, at most 1e6 kg m²",
    }[name]
