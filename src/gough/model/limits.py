"""Limits: does a motion stay within what the robot file allows, and if not, where."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.hermite import vector_rates
from gough.errors import Failure, InputError, SampleError
from gough.legs.reading import Limits
from gough.model.batch import OnError, check_on_error
from gough.model.between import Between
from gough.model.deflected import RATES, deflected
from gough.model.described import DescribedModel
from gough.model.drive_forces import drive_forces
from gough.model.freedom import COORDINATES
from gough.model.own_coordinates import Solver, own_motion
from gough.model.standing import standing
from gough.motion import FIELDS, Motion
from gough.results import LegMotion

STROKE = {"m": 0.2, "rad": 0.5}
"""Assumed where a file is silent: ± leg lengths of what pushes, ± rad of what turns."""


FEW_SAMPLES = 20_000
"""Samples of a motion of which every interval is looked into."""
MOST_PEAKS = 3
"""Largest values of each joint whose neighbourhood is looked into."""
JUMP = 4.0
"""How many times those two intervals before and after a change of acceleration may be."""
ROUNDING = 1e-9
"""By how much, relative, a value between samples passes a limit that those at samples keep."""


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
    between: bool = False
    """It is worst at `time`, between `sample` and the next one."""

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
        if self.between:
            where += f", between samples {self.sample[0]} and {self.sample[0] + 1}"
        many = f" ({self.samples} sample{'s' * (self.samples > 1)})" if self.samples else ""
        return f"{text} at {where}{many}"


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
    flexible platform deflects as `gough.model.deflected` says. Timed samples (n,) are compared
    between samples, too: along the quintic through their poses, twists and accelerations, which of
    poses from a file is the spline that the rates come from. A motion without rates, or with rates that
    are not those of its poses, has speeds and forces at its samples alone, strokes and angles along the
    spline through its poses. Forces before compliant drives are compared at samples,
    and so are those of intervals in which an acceleration jumps.
    """
    check_on_error(on_error)
    failures: list[Failure] = []

    def answered(compare: Callable[[OnError], Any]) -> Any:
        try:
            return compare("raise")
        except SampleError as error:
            if on_error == "raise":
                raise
            failures.extend(error.failures)
            return compare("nan")

    motion, rows = answered(lambda on_error: _at_samples(robot, motion, wrench, on_error))
    peaks: list[_Peak | None] = [None] * len(rows)
    path = PathBetween.of(robot, motion, wrench) if rows else None
    if path is not None and path.rated:
        peaks = answered(lambda on_error: path.peaks(rows, on_error))
    elif path is not None:  # nobody said that the way between such poses is the spline's
        peaks = path.peaks(rows, "nan")
    found = [_violation(row, peak, motion) for row, peak in zip(rows, peaks, strict=True)]
    return Report(tuple(one for one in found if one), unanswered=tuple(failures))


def _at_samples(
    robot: DescribedModel, motion: Motion, wrench: ArrayLike | None, on_error: OnError
) -> tuple[Motion, list[_Row]]:
    """Return the motion as the robot makes it, and what it demands at its samples."""
    if not robot.missing and any(np.any(np.isfinite(one)) for one in robot.limits):
        motion = deflected(robot, motion, wrench, on_error=on_error)
    return motion, [*_rows(robot, motion, wrench, on_error)]


def _rows(
    robot: DescribedModel, motion: Motion, wrench: ArrayLike | None, on_error: OnError
) -> Iterator[_Row]:
    """Yield what a motion demands of each joint, beside what is allowed."""
    actuators = robot.actuators
    parts = parts_of(robot)
    for name, value, allowed in demands(robot, motion, robot.limits, wrench, on_error=on_error):
        mirrored = name == SHORTEST
        shown = "stroke" if mirrored else name
        for i in range(value.shape[-1]):
            if name in OF_LEGS:
                place = _Place(i, "", "rad")
            else:
                units = actuators[i].units.limits
                place = _Place(actuators[i].leg, parts[i], units[shown])
            yield _Row(place, shown, value[..., i], float(allowed[i]), mirrored)
    yield from _passive(robot, motion)


class _Place(NamedTuple):
    """Where a limit is: leg from 0, part of it, unit."""

    leg: int
    part: str
    unit: str


class _Row(NamedTuple):
    """What one joint does along a motion."""

    place: _Place
    name: str
    value: Array
    """(...)"""
    allowed: float
    mirrored: bool
    """Value and limit have the opposite sign."""


class _Peak(NamedTuple):
    """Where a value is largest between two samples."""

    excess: float
    sample: int
    """The one before."""
    time: float


def parts_of(robot: DescribedModel) -> list[str]:
    """The number of each actuator in its leg, where that has several."""
    seen: dict[int, int] = {}
    found = []
    legs = [one.leg for one in robot.actuators]
    for leg in legs:
        seen[leg] = seen.get(leg, 0) + 1
        found.append(f"actuator {seen[leg]}" if legs.count(leg) > 1 else "")
    return found


def _passive(robot: DescribedModel, motion: Motion) -> Iterator[_Row]:
    """Yield what joints that no actuator moves do, beside what is allowed."""
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
            yield _Row(place, key, value, allowed, mirrored)


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


def _violation(row: _Row, peak: _Peak | None, motion: Motion) -> Violation | None:
    """Return where one value is worst, if it exceeds what is allowed."""
    excess = row.value - row.allowed
    count = int(np.sum(excess > 0))
    worst = float(np.nanmax(excess)) if count else 0.0
    within = peak is None or peak.excess <= worst + ROUNDING * (1 + abs(row.allowed))
    if within and not count:
        return None
    if peak is None or within:
        sample = tuple(int(i) for i in np.unravel_index(np.nanargmax(excess), excess.shape))
        time = None if motion.time is None else float(motion.time[sample])
    else:
        worst, sample, time = peak.excess, (peak.sample,), peak.time
    sign = -1.0 if row.mirrored else 1.0
    return Violation(
        row.place.leg + 1,
        row.name,
        sign * (row.allowed + worst) if not within else float(sign * row.value[sample]),
        sign * row.allowed,
        worst,
        sample,
        time,
        count,
        row.place.unit,
        row.place.part,
        not within,
    )


class PathBetween(NamedTuple):
    """Timed samples (n,) of a robot, and the motion between them."""

    robot: DescribedModel
    between: Between
    wrench: Array
    """(n, 6)"""
    rated: bool
    """The rates of the motion are those of its poses."""

    @classmethod
    def of(
        cls, robot: DescribedModel, motion: Motion, wrench: ArrayLike | None
    ) -> PathBetween | None:
        """Return the path of a motion, or None where it is none: no time, or samples without answers."""
        time = motion.time
        if (
            time is None
            or len(motion.shape) != 1
            or len(motion) < 2
            or not np.all(np.diff(time) > 0)
        ):
            return None
        if not all(np.all(np.isfinite(getattr(motion, name))) for name in FIELDS):
            return None
        if robot.mobility < 6 and motion.modes:
            return None
        loads = np.broadcast_to(np.zeros(6) if wrench is None else wrench, (len(motion), 6))
        rated = any(np.any(getattr(motion, name)) for name in RATES)
        moves = np.ptp(motion.position, axis=0).any() or np.ptp(motion.rotation, axis=0).any()
        with contextlib.suppress(InputError):  # rates that are not those of the poses
            if rated or not moves:
                return cls(robot, Between.of(motion), loads, True)
        with contextlib.suppress(InputError):  # poses too far from each other
            poses = Motion.from_samples(time, motion.position, motion.rotation)
            elastic = {"elastic": motion.elastic} if motion.modes else {}
            return cls(robot, Between.of(poses.replace(**elastic)), loads, False)
        return None

    def peaks(self, rows: list[_Row], on_error: OnError) -> list[_Peak | None]:
        """Return where each of the values at samples is largest between samples.

        Looked at are three points of each interval (of long motions, where a limit may be passed), and
        then the neighbourhood of the largest, ever closer.
        """
        chosen = [i for i, row in enumerate(rows) if self._known(row)]
        found: list[_Peak | None] = [None] * len(rows)
        if not chosen:
            return found
        allowed = np.array([rows[i].allowed for i in chosen])[:, np.newaxis]
        excess = np.stack([rows[i].value for i in chosen]) - allowed
        count = excess.shape[1]
        forced = np.array([rows[i].name == "force" for i in chosen])
        jumps = self._jumps()
        at = np.arange(count, dtype=np.float64)
        places = _suspects(excess)[:, np.newaxis] + np.arange(1, 4) / 4
        for _ in range(4):
            extra = np.setdiff1d(places.ravel(), at)
            if not extra.size:
                break
            at = np.union1d(at, extra)
            every = self._rows(at, on_error)
            excess = np.stack([every[i].value for i in chosen]) - allowed
            excess[
                np.ix_(forced, jumps[np.minimum(at.astype(int), count - 2)] & (at % 1 > 0))
            ] = -np.inf
            places = np.concatenate([_near_peaks(at, one) for one in excess])
        for i, values in zip(chosen, excess, strict=True):
            inside = np.where(at % 1 > 0, values, -np.inf)
            if not np.all(np.isnan(inside)):
                best = int(np.nanargmax(inside))
                sample = int(at[best])
                time = np.interp(at[best], np.arange(count), self.between.time)
                found[i] = _Peak(float(inside[best]), sample, float(time))
        return found

    def _jumps(self) -> Array:
        """Return in which intervals (n − 1,) an acceleration jumps."""
        motion, size = self.between.motion, self.robot.length_scale
        steps = np.linalg.norm(np.diff(motion.acceleration, axis=0), axis=-1)
        steps += size * np.linalg.norm(np.diff(motion.angular_acceleration, axis=0), axis=-1)
        # two intervals away: a jump may take two
        around = np.maximum(np.r_[0.0, 0.0, steps[:-2]], np.r_[steps[2:], 0.0, 0.0])
        if len(steps) < 5:
            return np.zeros(len(steps), dtype=bool)
        return np.asarray(steps > JUMP * around)

    def _known(self, row: _Row) -> bool:
        """Whether a value is known between samples."""
        if not np.isfinite(row.allowed) or np.all(np.isnan(row.value)):
            return False
        if row.name == "force" and self.robot.sprung.any():
            return False
        return self.rated or row.name not in ("speed", "force")

    def _rows(self, at: Array, on_error: OnError) -> list[_Row]:
        """Return what the motion demands at places (m,), counted in samples, all samples among them.

        Joints are continued from the first sample, so that none is a turn off.
        """
        interval = np.minimum(at.astype(int), len(self.between.time) - 2)
        part = at - interval
        load = self.wrench[interval] + part[:, np.newaxis] * np.diff(self.wrench, axis=0)[interval]
        try:
            motion = self.between(interval, part)
            if self.robot.mobility < 6:
                motion = _allowed(self.robot, motion, on_error)
            return [*_rows(self.robot, motion, load if load.any() else None, on_error)]
        except SampleError as error:
            failures = []
            for one in error.failures:
                place = at[one.sample[0]] if one.sample else 0.0
                k = int(place)
                time = np.interp(place, np.arange(len(self.between.time)), self.between.time)
                why = f"{one.reason} (at t = {time:.6g} s, between samples {k} and {k + 1})"
                failures.append(Failure((k,), one.leg, why if place % 1 else one.reason))
            raise type(error)(failures) from None


def _suspects(excess: Array) -> Array:
    """Return the intervals to look into of excesses (rows, n) at samples: all, but of long motions."""
    count = excess.shape[1] - 1
    if count <= FEW_SAMPLES:
        return np.arange(count)
    step = np.nan_to_num(np.abs(np.diff(excess)))
    wide = np.pad(step, ((0, 0), (1, 1)))
    around = np.maximum(np.maximum(wide[:, :-2], wide[:, 2:]), step)
    high = np.nan_to_num(np.maximum(excess[:, :-1], excess[:, 1:]), nan=-np.inf) + 2 * around
    return np.flatnonzero((high > 0).any(axis=0))


def _near_peaks(at: Array, excess: Array) -> Array:
    """Return places around the largest values that may pass the limit."""
    value = np.nan_to_num(excess, nan=-np.inf)
    left, right = np.r_[-np.inf, value[:-1]], np.r_[value[1:], -np.inf]
    with np.errstate(invalid="ignore"):
        least = np.minimum(np.where(np.isfinite(left), left, right), right)
        rise = np.where(np.isfinite(least), value - least, 0.0)
    peaks = np.flatnonzero((value >= left) & (value >= right) & (value + rise > 0))
    best = peaks[np.argsort(-value[peaks])][:MOST_PEAKS]
    ends = at[np.maximum(best - 1, 0)], at[np.minimum(best + 1, len(at) - 1)]
    return np.linspace(*ends, 17, axis=-1)[:, 1:-1].reshape(-1)


def _allowed(robot: DescribedModel, motion: Motion, on_error: OnError) -> Motion:
    """Return the motion (n,) with the robot's own coordinates, the rest solved."""
    turn = Rotation.from_matrix(motion.rotation @ robot.home.rotation.T).as_rotvec()
    rates = vector_rates(turn, motion.angular_velocity, motion.angular_acceleration)
    own = [COORDINATES.index(name) for name in robot.coordinates]
    u, ud, udd = (
        np.concatenate(pair, axis=-1)[:, own]
        for pair in (
            (motion.position, turn),
            (motion.velocity, rates[0]),
            (motion.acceleration, rates[1]),
        )
    )
    return own_motion(Solver.of(robot), u, ud, udd, motion.time, None, on_error)


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
