"""What a motion asks of drives and platform, as shares of what they may give.

Of each actuator: |q̇|/speed, |Γ|/force, |Γ q̇|/power; of passive joints |rate|/speed; of the platform
‖v‖, ‖ω‖, ‖v̇‖ and ‖ω̇‖ over what is allowed. A share of 1 is the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, real_numbers
from gough.errors import InputError, MissingDataError
from gough.legs.reading import actuator_names
from gough.model.model import Model
from gough.model.standing import standing
from gough.motion import Motion

SMALLEST, LARGEST = 1e-9, 1e15
"""Limits that a motion can be planned with, SI units."""
PLATFORM = ("platform_speed", "platform_turn_rate")
PLATFORM_SECOND = ("platform_acceleration", "platform_turn_acceleration")
PLATFORM_UNITS = {
    "platform_speed": "m/s",
    "platform_turn_rate": "rad/s",
    "platform_acceleration": "m/s²",
    "platform_turn_acceleration": "rad/s²",
}


class MotionLimit(NamedTuple):
    """One limit of one part."""

    who: str
    """"leg 2", "leg 2 actuator 1", "leg 3 joint 2", or "platform"."""
    limit: str
    """"speed", "force", "power", "acceleration", "turn rate", …"""
    allowed: float
    unit: str

    def __str__(self) -> str:
        return f"{self.who} {self.limit}"


@dataclass(frozen=True)
class MotionLimits:
    """What limits the timing of a motion; infinite where nothing does."""

    speed: Array
    """Of each actuator (actuators,), m/s or rad/s; the least of the robot file's and the given one."""
    force: Array
    """N or N m; likewise."""
    power: Array
    """W"""
    platform_speed: float = np.inf
    """Of the platform frame's origin, m/s."""
    platform_turn_rate: float = np.inf
    """rad/s"""
    platform_acceleration: float = np.inf
    """m/s²"""
    platform_turn_acceleration: float = np.inf
    """rad/s²"""
    jerk: Array = field(default_factory=lambda: np.array(np.inf))
    """Of each actuator, m/s³ or rad/s³."""

    @classmethod
    def of(
        cls,
        robot: Model,
        *,
        speed: ArrayLike | None = None,
        force: ArrayLike | None = None,
        power: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        platform_speed: float | None = None,
        platform_turn_rate: float | None = None,
        platform_acceleration: float | None = None,
        platform_turn_acceleration: float | None = None,
    ) -> MotionLimits:
        """The robot file's limits and these, whichever is less."""
        count = robot.actuator_count
        given = {"speed": speed, "force": force, "power": power, "jerk": jerk}
        own = {"speed": robot.limits.speed, "force": robot.limits.force}
        arrays: dict[str, Any] = {
            name: np.minimum(
                _sensible(f"{name} of the robot file", np.asarray(own.get(name, np.inf))),
                _each(name, value, count),
            )
            for name, value in given.items()
        }
        numbers = {
            "platform_speed": platform_speed,
            "platform_turn_rate": platform_turn_rate,
            "platform_acceleration": platform_acceleration,
            "platform_turn_acceleration": platform_turn_acceleration,
        }
        single: dict[str, Any] = {
            name: float(_each(name, value, 1)[0]) for name, value in numbers.items()
        }
        for name, value in single.items():
            if value == 0:
                raise InputError(f"{name} is 0, needs a number above 0")
        return cls(**arrays, **single)


def _each(name: str, value: ArrayLike | None, count: int) -> Array:
    """One number for all or one each, (count,), none negative; infinite if it is left out."""
    if value is None:
        return np.full(count, np.inf)
    try:
        array = np.asarray(real_numbers(value), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not a number, or one per actuator") from None
    if array.shape not in ((), (count,)) or np.any(np.isnan(array)) or np.any(array < 0):
        raise InputError(
            f"{name} is {array.tolist()!r}, needs a number above 0"
            + (f", or {count} of them" if count > 1 else "")
        )
    return np.broadcast_to(_sensible(name, array), count)


def _sensible(name: str, limit: Array) -> Array:
    """Limits that ratios with what a motion asks for stay numbers with; infinite ones are none."""
    wrong = ((limit > 0) & (limit < SMALLEST)) | ((limit > LARGEST) & np.isfinite(limit))
    if np.any(wrong):
        raise InputError(f"{name} is {limit[wrong].flat[0]:g}, must be {SMALLEST:g} to {LARGEST:g}")
    return limit


class Demands:
    """Shares of what is allowed along a motion, in the order of `bounds`."""

    def __init__(
        self,
        robot: Model,
        limits: MotionLimits,
        wrench: ArrayLike | None = None,
        friction: bool = True,
    ) -> None:
        if robot.modes:
            raise InputError(
                f"{robot.name} has a flexible platform, whose forces depend on the whole timing: plan "
                "with robot.rigid and check what comes out with robot.elastic_motion"
            )
        self.robot, self.limits = robot, limits
        self.wrench, self.friction = wrench, friction
        self.fast = np.flatnonzero(np.isfinite(limits.speed))
        self.strong = np.flatnonzero(np.isfinite(limits.force))
        self.powerful = np.flatnonzero(np.isfinite(limits.power))
        self.passive = [one for one in robot.passive if np.isfinite(one.speed)]
        self.platform = [name for name in PLATFORM if np.isfinite(getattr(limits, name))]
        self.second = [name for name in PLATFORM_SECOND if np.isfinite(getattr(limits, name))]
        self.bounds = self._bounds()
        if not self.bounds:
            raise MissingDataError(
                f"{robot.name}: nothing limits how fast the motion may be: its file has no speed or "
                "force under limits; give speed, force, power or platform_speed (--speed, --force, "
                "--power or --platform-speed of gough retime)"
            )

    def _bounds(self) -> tuple[MotionLimit, ...]:
        limits, actuators = self.limits, self.robot.actuators
        names = actuator_names(actuators)
        units = [one.units for one in actuators]
        found = [
            MotionLimit(names[i], "speed", float(limits.speed[i]), units[i].limits["speed"])
            for i in self.fast
        ]
        found += [
            MotionLimit(
                f"leg {one.leg + 1} joint {one.joint + 1}", "speed", one.speed,
                one.units.limits["speed"],
            )
            for one in self.passive
        ]  # fmt: skip
        found += [self._platform_limit(name) for name in self.platform]
        self.speeds = len(found)
        found += [
            MotionLimit(names[i], "force", float(limits.force[i]), units[i].force)
            for i in self.strong
        ]
        found += [
            MotionLimit(names[i], "power", float(limits.power[i]), "W") for i in self.powerful
        ]
        found += [self._platform_limit(name) for name in self.second]
        return tuple(found)

    def _platform_limit(self, name: str) -> MotionLimit:
        words = name.removeprefix("platform_").replace("_", " ")
        return MotionLimit("platform", words, getattr(self.limits, name), PLATFORM_UNITS[name])

    def speed_shares(self, motion: Motion) -> Array:
        """(n, speeds), not negative: what grows as the speed along the path does."""
        limits = self.limits
        found = []
        if self.fast.size:
            rates = np.abs(self.robot.inverse_kinematics(motion).qd[:, self.fast])
            found.append(rates / limits.speed[self.fast])
        if self.passive:
            legs = standing(self.robot, motion).legs
            own = [np.ravel(legs.of_joint(one.leg, one.joint)[1]) for one in self.passive]
            found.append(np.abs(np.stack(own, axis=1)) / [one.speed for one in self.passive])
        for name in self.platform:
            vector = motion.velocity if name == "platform_speed" else motion.angular_velocity
            size = np.linalg.norm(vector, axis=-1)
            found.append((size / getattr(limits, name))[:, np.newaxis])
        return np.concatenate(found, axis=1) if found else np.zeros((len(motion), 0))

    def loads(self, motion: Motion) -> tuple[Array, Array]:
        """Signed shares of forces (n, strong) and powers (n, powerful)."""
        if not self.strong.size and not self.powerful.size:
            return np.zeros((len(motion), 0)), np.zeros((len(motion), 0))
        found = self.robot.inverse_dynamics(motion, self.wrench, self.friction)
        forces = found.forces[:, self.strong] / self.limits.force[self.strong]
        return forces, found.power[:, self.powerful] / self.limits.power[self.powerful]

    def accelerations(self, motion: Motion) -> list[Array]:
        """Vectors (n, 3), each a share of what the platform may: linear, angular."""
        pairs = {
            "platform_acceleration": motion.acceleration,
            "platform_turn_acceleration": motion.angular_acceleration,
        }
        return [pairs[name] / getattr(self.limits, name) for name in self.second]

    def shares(self, motion: Motion) -> Array:
        """(n, bounds), not negative."""
        forces, powers = self.loads(motion)
        second = [np.linalg.norm(one, axis=-1, keepdims=True) for one in self.accelerations(motion)]
        parts = [self.speed_shares(motion), np.abs(forces), np.abs(powers), *second]
        return np.concatenate(parts, axis=1)
