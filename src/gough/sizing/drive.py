"""Motor and screw or gear behind an actuator: its torque and speed for force and speed of the leg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, real_numbers
from gough.errors import InputError
from gough.legs.units import MIXED, LegUnits

RPM = 60 / (2 * np.pi)
"""Revolutions a minute in one rad/s."""


class Motor(NamedTuple):
    """What the motors do, (..., actuators)."""

    thrust: Array
    """Force in the screw, N, or torque behind the gear, N m: Γ less what the rotor takes of it."""
    torque: Array
    """N m; positive turns towards larger q."""
    speed: Array
    """rad/s."""
    power: Array
    """torque · speed, W; negative: the load drives the motor."""


WITHIN = {
    "lead": (1e-9, 10.0, " m a turn"),
    "ratio": (1e-6, 1e6, " turns of the motor for one of the crank"),
    "efficiency": (1e-3, 1.0, ""),
    "back_efficiency": (-1e3, 1.0, ""),
    "rotor_inertia": (1e-15, 1e6, " kg m², or 0"),
}
"""What a drive's numbers can be, least and largest, and their units."""


@dataclass(frozen=True)
class Drive:
    """A screw or a gear and its motor. Numbers, or arrays that broadcast against (..., actuators).

    With an arm of p/2π for a screw of lead p (m a turn), 1/i for a gear of ratio i (turns of the motor
    for one of the crank), and rotor inertia J (motor, coupling and screw or gear at the motor, kg m²)

        Ω = q̇/arm,    τ = J q̈/arm + arm F κ,    F = Γ − m_r q̈

    F is the force in the screw, or the torque behind the gear: the actuator force Γ less the robot
    file's rotor m_r (`rotor_mass`, `rotor_inertia`), whose place J takes. κ = 1/η where the motor drives
    the load (F q̇ > 0), η_b where the load drives the motor, and 1 at rest. Friction of the robot file is
    a part of Γ: a screw described there by `screw_torque` has its losses twice if η is below 1.
    """

    lead: ArrayLike | None = None
    """p, m a turn: of actuators that push."""
    efficiency: ArrayLike = 1.0
    """η of the driving motor."""
    back_efficiency: ArrayLike | None = None
    """η_b of the driven motor; default 2 − 1/η, the same friction back (below 0: self-locking)."""
    rotor_inertia: ArrayLike | None = None
    """J, kg m²; default: what the robot file's rotor stands for, m_r arm²."""
    ratio: ArrayLike | None = None
    """i: of actuators that turn; 1 for a motor that the crank sits on."""

    def __post_init__(self) -> None:
        if (self.lead is None) == (self.ratio is None):
            raise InputError("drive: needs the lead of a screw or the ratio of a gear, one of both")
        for name, (low, high, unit) in WITHIN.items():
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = real_numbers(value)
            except (TypeError, ValueError):
                raise InputError(f"drive: {name} is not a number") from None
            none = (array == 0) & (name == "rotor_inertia")
            good = none | ((array >= low) & (array <= high))
            if not good.all():
                bad = np.ravel(array)[np.argmin(np.ravel(good))]
                raise InputError(f"drive: {name} is {bad:g}, needs {low:g} to {high:g}{unit}")
            object.__setattr__(self, name, array)

    @property
    def arm(self) -> Array:
        """p/2π, m/rad, or 1/i: speed of the leg over speed of the motor."""
        if self.lead is None:
            return 1 / np.asarray(self.ratio, dtype=np.float64)
        return np.asarray(self.lead) / (2 * np.pi)

    def need_suitable(self, units: LegUnits) -> None:
        """Refuse a screw for actuators that turn, a gear for those that push, and one for both."""
        if units is MIXED:
            raise InputError("drive: some actuators turn and some push: no one drive does for all")
        if units.turns and self.ratio is None:
            raise InputError("drive: these actuators turn: needs the ratio of a gear, has a lead")
        if not units.turns and self.lead is None:
            raise InputError("drive: these actuators push: needs the lead of a screw, has a ratio")

    @property
    def driven(self) -> Array:
        """η_b."""
        if self.back_efficiency is None:
            return np.asarray(2 - 1 / np.asarray(self.efficiency))
        return np.asarray(self.back_efficiency)

    def inertia(self, rotor: Array) -> Array:
        """J, kg m²."""
        if self.rotor_inertia is None:
            return np.asarray(rotor * self.arm**2)
        return np.asarray(self.rotor_inertia)

    def motor(self, forces: Array, rate: Array, acceleration: Array, rotor: Array) -> Motor:
        """Torque, speed and power for actuator forces Γ, q̇ and q̈ (..., actuators); see the class."""
        thrust = forces - rotor * acceleration
        direction = np.sign(thrust * rate)
        loss = np.where(direction > 0, 1 / np.asarray(self.efficiency), 1.0)
        loss = np.where(direction < 0, self.driven, loss)
        speed = rate / self.arm
        torque = self.inertia(rotor) * acceleration / self.arm + self.arm * thrust * loss
        return Motor(thrust, torque, speed, torque * speed)

    def bound(
        self, thrust: Array, rate: Array, acceleration: Array, rotor: Array
    ) -> tuple[Array, Array]:
        """Largest torque (N m) and speed (rad/s) for bounds on |F|, |q̇| and |q̈|.

        The torque takes the largest thrust, driving, and the largest acceleration as if they came
        together: a bound, which a motion may stay below.
        """
        worst = np.maximum(1 / np.asarray(self.efficiency), np.abs(self.driven))
        torque = self.inertia(rotor) * acceleration / self.arm + self.arm * thrust * worst
        return np.asarray(torque), np.asarray(rate / self.arm)
