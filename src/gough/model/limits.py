"""Limits: does a motion stay within what the robot file allows, and if not, where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import Failure, SampleError
from gough.legs.reading import Limits
from gough.model.batch import OnError, check_on_error
from gough.model.deflected import deflected
from gough.model.described import DescribedModel
from gough.model.drive_forces import drive_forces
from gough.model.standing import standing
from gough.motion import Motion
from gough.results import LegMotion

STROKE = {"m": 0.2, "rad": 0.5}
"""Assumed where a file is silent: ± leg lengths of what pushes, ± rad of what turns."""


class Violation(NamedTuple):
    """The worst sample of one leg against one limit."""

    leg: int
    """Counted from 1."""
    limit: str
    """Key of [legs.limits]: stroke, force, speed, universal_angle, spherical_angle; or "distance from"
    another part that it meets."""
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
    part: str = ""
    """Which part of the leg, where it has several: "actuator 2", or "joint 3" of a passive one."""

    def __str__(self) -> str:
        unit = self.unit
        text = (
            f"leg {self.leg}: {self.part}{' ' * bool(self.part)}{self.limit} "
            f"{self.value:.6g} {unit} is {self.excess:.3g} {unit} past "
            f"{self.allowed:.6g} {unit}"
        )
        if not self.sample:
            return text
        where = f"t = {self.time:.6g} s" if self.time is not None else f"sample {self.sample}"
        return f"{text} at {where} ({self.samples} sample{'s' * (self.samples > 1)})"


SHORTEST = "shortest stroke"
OF_LEGS = ("universal_angle", "spherical_angle")
"""Limits of legs; the others are limits of actuators."""


@dataclass(frozen=True)
class Report:
    """All violations, the worst sample of each leg and limit."""

    violations: tuple[Violation, ...]
    unanswered: tuple[Failure, ...] = field(default=(), kw_only=True)
    """Samples that could not be compared, and why: with `on_error="nan"` alone, else they raise."""

    @property
    def ok(self) -> bool:
        """No limit is exceeded, and every sample was compared."""
        return not self.violations and not self.unanswered

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [str(one) for one in self.violations]
        if self.unanswered:
            lost = len(self.unanswered)
            lines.append(
                f"{lost} sample{'s' * (lost > 1)} without an answer: {self.unanswered[0].reason}"
            )
        return "\n".join(lines) or "within all limits"


def check(
    robot: DescribedModel,
    motion: Motion,
    wrench: ArrayLike | None = None,
    *,
    on_error: OnError = "raise",
) -> Report:
    """Compare a motion with the limits of the robot file; out-of-reach poses raise, or are listed.

    Forces are compared if the file limits them; they are those of the motion with the wrench. A
    flexible platform deflects as `gough.model.deflected` says.
    """
    check_on_error(on_error)
    try:
        return Report(_compared(robot, motion, wrench, "raise"))
    except SampleError as error:
        if on_error == "raise":
            raise
        found = _compared(robot, motion, wrench, "nan")
        return Report(found, unanswered=tuple(error.failures))


def _compared(
    robot: DescribedModel, motion: Motion, wrench: ArrayLike | None, on_error: OnError
) -> tuple[Violation, ...]:
    """What a motion exceeds."""
    actuators = robot.actuators
    parts = parts_of(robot)
    violations: list[Violation] = []
    if not robot.missing and any(np.any(np.isfinite(one)) for one in robot.limits):
        motion = deflected(robot, motion, wrench, on_error=on_error)
    for name, value, allowed in demands(robot, motion, robot.limits, wrench, on_error=on_error):
        mirrored = name == SHORTEST
        shown = "stroke" if mirrored else name
        for i in range(value.shape[-1]):
            if name in OF_LEGS:
                place = _Place(i, "", "rad")
            else:
                units = actuators[i].units.limits
                place = _Place(actuators[i].leg, parts[i], units[shown])
            found = value[..., i], float(allowed[i])
            violations += _exceeding(place, shown, *found, motion, mirrored)
    return (*violations, *_passive(robot, motion))


class _Place(NamedTuple):
    """Where a limit is: leg from 0, part of it, unit."""

    leg: int
    part: str
    unit: str


def parts_of(robot: DescribedModel) -> list[str]:
    """The number of each actuator in its leg, where that has several."""
    seen: dict[int, int] = {}
    found = []
    legs = [one.leg for one in robot.actuators]
    for leg in legs:
        seen[leg] = seen.get(leg, 0) + 1
        found.append(f"actuator {seen[leg]}" if legs.count(leg) > 1 else "")
    return found


def _passive(robot: DescribedModel, motion: Motion) -> Iterator[Violation]:
    """What joints that no actuator moves exceed."""
    if not robot.passive:
        return
    legs = standing(robot, motion).legs
    for one in robot.passive:
        q, rate = (part.reshape(motion.shape) for part in legs.of_joint(one.leg, one.joint))
        for value, allowed, key, mirrored in (
            (q, one.longest, "stroke", False),
            (-q, -one.shortest, "stroke", True),
            (np.abs(rate), one.speed, "speed", False),
        ):
            place = _Place(one.leg, f"joint {one.joint + 1}", one.units.limits[key])
            yield from _exceeding(place, key, value, allowed, motion, mirrored)


def demands(
    robot: DescribedModel,
    motion: Motion,
    limits: Limits,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    on_error: OnError = "raise",
) -> Iterator[tuple[str, Array, Array]]:
    """What a motion demands and what is allowed, by the limit's name.

    Strokes, speeds and forces are those of the actuators, (..., actuators) and (actuators,); angles
    (`OF_LEGS`) those of the legs. "stroke" twice: −q against −shortest as SHORTEST. Limits that are
    infinite for all are left out.
    """
    legs = robot.inverse_kinematics(motion, on_error=on_error)
    found = [
        ("stroke", legs.q, limits.longest),
        (SHORTEST, -legs.q, -limits.shortest),
        ("speed", np.abs(legs.qd), limits.speed),
    ]
    yield from (one for one in found if np.any(np.isfinite(one[2])))
    if np.any(np.isfinite(limits.force)):
        forces = drive_forces(robot, motion, wrench, friction, on_error=on_error).forces
        yield "force", np.abs(forces), limits.force
    for name, limit in (
        ("universal_angle", limits.universal_angle),
        ("spherical_angle", limits.spherical_angle),
    ):
        if np.any(np.isfinite(limit)):
            at_home = robot.inverse_kinematics(robot.home)
            before = directions_on_carrier(robot, robot.home, at_home, name)
            yield name, _angle(directions_on_carrier(robot, motion, legs, name), before), limit


def directions_on_carrier(
    robot: DescribedModel, motion: Motion, legs: LegMotion, name: str
) -> Array:
    """Return the legs' directions (..., legs, 3) as seen from the bodies that carry a joint.

    Of "spherical_angle" that is the platform; of "universal_angle" the base, slider or turning crank,
    as the leg's kind says (`gough.legs.geometry.LegGeometry.on_carrier`).
    """
    if name == "spherical_angle":
        return np.asarray(np.einsum("...ji,...lj->...li", motion.rotation, legs.direction))
    seen = []
    for group in robot.description.groups:
        own = slice(group.first, group.first + group.leg_count)
        joints, direction = legs.joints[..., own, :], legs.direction[..., own, :]
        seen.append(group.kind.geometry.on_carrier(group.legs, joints, direction))
    return np.concatenate(seen, axis=-2)


def _angle(a: Array, b: Array) -> Array:
    """Angle between unit vectors, accurate near 0 and π: 2 atan2(‖a − b‖, ‖a + b‖)."""
    apart, together = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(2 * np.arctan2(apart, together))


def _exceeding(
    place: _Place, name: str, value: Array, allowed: float, motion: Motion, mirrored: bool
) -> list[Violation]:
    """The worst sample of one value (...), if it exceeds what is allowed."""
    excess = value - allowed
    count = int(np.sum(excess > 0))
    if not count:
        return []
    sign = -1.0 if mirrored else 1.0
    sample = tuple(int(i) for i in np.unravel_index(np.nanargmax(excess), excess.shape))
    return [
        Violation(
            place.leg + 1,
            name,
            float(sign * value[sample]),
            sign * allowed,
            float(excess[sample]),
            sample,
            None if motion.time is None else float(motion.time[sample]),
            count,
            place.unit,
            place.part,
        )
    ]


def leg_length(robot: DescribedModel, pose: Motion) -> float:
    """Mean length of the legs at a pose, from their joints on the ground, m."""
    q = robot.inverse_kinematics(pose).q
    return float(np.mean(robot.mechanism.legs.sizes(q[:, np.newaxis])))


def with_strokes(robot: DescribedModel) -> tuple[Limits, list[str]]:
    """The robot file's limits; where it gives no strokes assumed ones, and what was assumed."""
    limits, home = robot.limits, robot.home
    if np.all(np.isfinite(limits.longest)):
        return limits, []
    units = [one.units for one in robot.actuators]
    ways = {one.q: STROKE[one.q] * (1.0 if one.turns else leg_length(robot, home)) for one in units}
    q, way = robot.inverse_kinematics(home).q, np.array([ways[one.q] for one in units])
    assumed = [f"stroke: home ± {far:.3g} {unit}" for unit, far in ways.items()]
    return limits._replace(shortest=q - way, longest=q + way), assumed
