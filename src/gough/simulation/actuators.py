"""Drives: what becomes of a commanded force before it moves an actuator.

commanded → within ± force → first-order lag → less where the actuator is fast → Γ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, real_numbers
from gough.errors import InputError
from gough.mechanics.vectors import Components, copysign, maximum, minimum
from gough.model.model import Model

TAPER = 0.05
"""Last part of the speed limit over which the driving force falls to nothing."""
UNLIMITED = 1e30
"""Stands for no limit in the compiled programs, whose inputs are finite."""


def within(command: Components, limit: Components) -> Components:
    """The command, cut to ±limit (actuators, samples)."""
    cut: Components = maximum(minimum(command, limit), -limit)
    return cut


def at_speed(force: Components, rate: Components, limit: Components) -> Components:
    """Γ = F · clip((limit − q̇ sign F)/(0.05 limit), 0, 1).

    A force along the motion fades over the last 5 % of the speed limit and is nothing beyond;
    a force that brakes is always there.
    """
    forward = rate * copysign(1 + 0 * force, force)
    spare = (limit - forward) / (TAPER * limit)
    pushed: Components = force * maximum(minimum(spare, 1 + 0 * spare), 0 * spare)
    return pushed


@dataclass(frozen=True, eq=False)
class Actuators:
    """Limits and lag of the drives: one number for all actuators, or one per actuator.

    `force` (N) and `speed` (m/s), of rotary actuators N m and rad/s: left out, there is no limit; `lag`
    (s) is the time constant of
    Γ̇ = (command − Γ)/lag. A lagging drive starts at its first command.
    """

    force: ArrayLike | None = None
    speed: ArrayLike | None = None
    lag: float = 0.0

    def __post_init__(self) -> None:
        for name in ("force", "speed"):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = real_numbers(value)
            except (TypeError, ValueError):
                raise InputError(
                    f"actuators: {name} is not a number, or one per actuator"
                ) from None
            if not np.all(array > 0):
                raise InputError(f"actuators: {name} must be positive")
        try:
            sound = 0 <= float(self.lag) < np.inf
        except (TypeError, ValueError):
            sound = False
        if not sound:
            raise InputError(f"actuators: lag is {self.lag!r}, must be a time in s, not negative")

    @classmethod
    def of(cls, robot: Model, lag: float = 0.0) -> Actuators:
        """Drives with the force and speed limits of the robot file."""
        limits = robot.description.limits
        return cls(limits.force, limits.speed, lag)

    def limits(self, count: int) -> tuple[Array, Array]:
        """Force and speed limits of so many actuators, (actuators,), finite."""
        return self._each("force", count), self._each("speed", count)

    def _each(self, name: str, count: int) -> Array:
        value: Any = getattr(self, name)
        array = np.asarray(UNLIMITED if value is None else value, dtype=np.float64)
        if array.shape not in ((), (count,)):
            raise InputError(f"actuators: {name} has shape {array.shape}, needs () or ({count},)")
        return np.minimum(np.broadcast_to(array, count), UNLIMITED)
