"""Limits: does a motion stay within what the robot file allows, and if not, where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.legs.reading import Limits
from gough.model.calls import ModelCalls
from gough.motion import Motion


class Violation(NamedTuple):
    """The worst sample of one leg against one limit."""

    leg: int
    """Counted from 1."""
    limit: str
    """Key of [legs.limits]: stroke, force, speed, universal_angle, spherical_angle."""
    value: float
    allowed: float
    excess: float
    """By how much."""
    sample: tuple[int, ...]
    """Where it is worst, an index into the batch axes."""
    time: float | None
    """When it is worst, s, if the motion has time."""
    samples: int
    """In how many samples it is exceeded."""
    unit: str
    """Of value, allowed and excess."""

    def __str__(self) -> str:
        unit = self.unit
        text = (
            f"leg {self.leg}: {self.limit} {self.value:.6g} {unit} is {self.excess:.3g} {unit} past "
            f"{self.allowed:.6g} {unit}"
        )
        if not self.sample:
            return text
        where = f"t = {self.time:.6g} s" if self.time is not None else f"sample {self.sample}"
        return f"{text} at {where} ({self.samples} sample{'s' * (self.samples > 1)})"


SHORTEST = "shortest stroke"


@dataclass(frozen=True)
class Report:
    """All violations, the worst sample of each leg and limit."""

    violations: tuple[Violation, ...]

    @property
    def ok(self) -> bool:
        """No limit is exceeded."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(map(str, self.violations)) or "within all limits"


def check(robot: ModelCalls, motion: Motion, wrench: ArrayLike | None = None) -> Report:
    """Compare a motion with the limits of the robot file; out-of-reach poses raise.

    Forces are compared if the file limits them; they are those of the motion with the wrench.
    """
    units = robot.leg_kind.units.limits
    violations: list[Violation] = []
    for name, value, allowed in demands(robot, motion, robot.limits, wrench):
        mirrored = name == SHORTEST
        shown = "stroke" if mirrored else name
        violations += _exceeding(shown, units[shown], value, allowed, motion, mirrored)
    return Report(tuple(violations))


def demands(
    robot: ModelCalls,
    motion: Motion,
    limits: Limits,
    wrench: ArrayLike | None = None,
    friction: bool = True,
) -> Iterator[tuple[str, Array, Array]]:
    """What a motion demands (..., legs) and what is allowed (legs,), by the limit's name.

    "stroke" twice: −q against −shortest as SHORTEST. Limits that are infinite for all legs are left
    out.
    """
    legs = robot.inverse_kinematics(motion)
    found = [
        ("stroke", legs.q, limits.longest),
        (SHORTEST, -legs.q, -limits.shortest),
        ("speed", np.abs(legs.qd), limits.speed),
    ]
    yield from (one for one in found if np.any(np.isfinite(one[2])))
    if np.any(np.isfinite(limits.force)):
        forces = robot.inverse_dynamics(motion, wrench, friction).forces
        yield "force", np.abs(forces), limits.force
    for name, limit in (
        ("universal_angle", limits.universal_angle),
        ("spherical_angle", limits.spherical_angle),
    ):
        if np.any(np.isfinite(limit)):
            now, then = _seen(robot, motion, name), _seen(robot, robot.home, name)
            yield name, _angle(now, then), limit


def _seen(robot: ModelCalls, motion: Motion, name: str) -> Array:
    """Leg directions in world axes, or seen from the platform for its spherical joints."""
    direction = robot.inverse_kinematics(motion).direction
    if name == "spherical_angle":
        return np.asarray(np.einsum("...ji,...lj->...li", motion.rotation, direction))
    return direction


def _angle(a: Array, b: Array) -> Array:
    """Angle between unit vectors, accurate near 0 and π: 2 atan2(‖a − b‖, ‖a + b‖)."""
    apart, together = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(2 * np.arctan2(apart, together))


def _exceeding(
    name: str, unit: str, value: Array, allowed: Array, motion: Motion, mirrored: bool
) -> list[Violation]:
    found = []
    sign = -1.0 if mirrored else 1.0
    for leg in range(value.shape[-1]):
        excess = value[..., leg] - allowed[leg]
        count = int(np.sum(excess > 0))
        if count:
            sample = tuple(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
            found.append(
                Violation(
                    leg + 1,
                    name,
                    float(sign * value[(*sample, leg)]),
                    float(sign * allowed[leg]),
                    float(excess[sample]),
                    sample,
                    None if motion.time is None else float(motion.time[sample]),
                    count,
                    unit,
                )
            )
    return found
