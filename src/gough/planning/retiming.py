"""The same path in another time: as fast as limits allow, or evenly slower or faster."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gough.analysis.locus import determinant_along, square
from gough.base.arrays import Array
from gough.errors import Failure, InputError, LimitError, SampleError, SingularError
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.course import Part, Rest, Stretch, course_of, scaled
from gough.planning.demands import Demands, MotionLimits
from gough.planning.jerk import jerk_limited
from gough.planning.path import Path
from gough.planning.profile import CELLS, MARGIN, fastest_law
from gough.planning.retimed import Retimed
from gough.planning.timing import EvenTiming, LawTiming, Pause, Timing
from gough.planning.whole_path import exceeding, singular
from gough.trajectories import Trajectory

LOOKED_AT, BY_TURN = 4001, 30.0
"""Points of a stretch at which poses are checked, and for each rad that the path's direction turns."""
CLOSER = 5
"""Times that an even timing is looked at more closely where limits are used most."""
MOST_STRETCHES = 2000
"""Of a motion, rests and what is between them: each takes about a second to time, on NumPy a minute."""
Progress = Callable[[float], None]
"""Called with the share of the path that is timed."""
CANCELS = 0.02
"""Share of a leg in forces that cancel out, of unit length, from which on it is named."""


def retime(
    robot: Model,
    motion: Motion | Trajectory | Path,
    *,
    uniform: bool = False,
    friction: bool = True,
    wrench: ArrayLike | None = None,
    speed: ArrayLike | None = None,
    force: ArrayLike | None = None,
    power: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    platform_speed: float | None = None,
    platform_turn_rate: float | None = None,
    platform_acceleration: float | None = None,
    platform_turn_acceleration: float | None = None,
    cells: int = CELLS,
    progress: Progress | None = None,
) -> Retimed:
    """The same path as fast as limits allow, from rest to rest; rests stay as long as they are.

    Limits are the robot file's and those given, whichever is less. By TOPP-RA
    (`gough.planning.reachability`) with the inverse model's coefficients along the path, friction and
    power in passes.

    Args:
        robot: with a rigid platform.
        motion: a trajectory, samples (n,) with time, of which the poses count, or a path.
        uniform: keep the timing as it is but for one factor, the greatest that limits allow.
        friction: whether the friction of the robot file counts.
        wrench: (6,) on the platform at its frame's origin, world axes.
        speed: of actuators, m/s or rad/s: one number, or one each (actuators,); likewise the next.
        force: N or N m.
        power: W, of |Γ q̇|.
        jerk: m/s³ or rad/s³.
        platform_speed: m/s, of the platform frame's origin.
        platform_turn_rate: rad/s.
        platform_acceleration: m/s².
        platform_turn_acceleration: rad/s².
        cells: intervals of constant acceleration along each stretch between stops.
        progress: told how much of the path is timed.

    Returns:
        A trajectory that says which leg and which limit hold it back when.

    Raises:
        LimitError: poses that limits forbid, or limits that leave no speed at all; names instant, leg
            and limit.
        SingularError: the path goes through a singularity; names the instant.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> circle = gough.trajectories.Circle(robot.home.position, 0.1, rpm=20)
        >>> found = gough.planning.retime(robot, circle, speed=0.5, force=200)
        >>> round(found.before, 3), round(found.duration, 2)
        (3.0, 0.88)

    """
    limits = MotionLimits.of(
        robot,
        speed=speed,
        force=force,
        power=power,
        jerk=jerk,
        platform_speed=platform_speed,
        platform_turn_rate=platform_turn_rate,
        platform_acceleration=platform_acceleration,
        platform_turn_acceleration=platform_turn_acceleration,
    )
    if not isinstance(cells, (int, np.integer)) or cells < 10:
        raise InputError(f"cells is {cells!r}, needs a whole number, 10 at least")
    demands = Demands(robot, limits, wrench, friction)
    parts = motion.course() if isinstance(motion, Path) else course_of(robot, motion)
    if not any(isinstance(part, Stretch) for part in parts):
        raise InputError("the motion stands still: there is nothing to retime")
    if len(parts) > MOST_STRETCHES:
        raise InputError(f"the motion stops {len(parts)} times; at most {MOST_STRETCHES} are timed")
    for part in parts:
        if isinstance(part, Stretch):
            check_path(demands, part)
    if uniform and isinstance(motion, Path):
        raise InputError("uniform: a path has no timing of its own that could be kept")
    before = sum(
        part.duration if isinstance(part, Rest) else part.end - part.begin for part in parts
    )
    timings = _evenly(demands, parts) if uniform else _fastest(demands, parts, cells, progress)
    return Retimed(demands, timings, None if isinstance(motion, Path) else float(before))


def check_path(demands: Demands, stretch: Stretch) -> None:
    """Refuse poses that strokes, angles or holding forces forbid, singular ones and speeds of zero.

    Reach, strokes, angles and singularities count between samples, too; holding forces and limits of
    chains at `LOOKED_AT` samples or more.
    """
    robot = demands.robot
    count = max(LOOKED_AT, int(BY_TURN * stretch.turned[-1]))
    s = stretch.inside(np.linspace(stretch.begin, stretch.end, count))
    path = stretch.guide.state(s)
    _refuse_singular(robot, stretch, path, s)
    _refuse_poses(demands, stretch, path, s)
    between = np.sort(exceeding(robot, stretch))
    if between.size:
        _refuse_poses(demands, stretch, stretch.guide.state(between), between)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = demands.speed_shares(path)
    for bound in np.flatnonzero([one.allowed == 0 for one in demands.bounds]):
        one = demands.bounds[bound]
        moves = np.flatnonzero(~(share[:, bound] == 0)) if bound < demands.speeds else np.arange(1)
        moves = moves[~np.isnan(share[moves, bound])] if bound < demands.speeds else moves
        if moves.size:
            raise LimitError(
                f"{stretch.guide.where(float(s[moves[0]]))}: {one.who} has to move, and its "
                f"{one.limit} limit is 0"
            )


def _refuse_poses(demands: Demands, stretch: Stretch, path: Motion, s: Array) -> None:
    """An error where a pose of the path at s (n,) exceeds a limit at rest."""
    robot, still = demands.robot, np.zeros(len(s))
    poses = scaled(robot, path, still, still).replace(time=s)
    if robot.mechanism.legs.coordinates:
        robot.remember(poses, robot.chains_of(path))
    try:
        report = robot.check(poses, demands.wrench)
    except SampleError as error:
        first = error.failures[0]
        place = stretch.guide.where(float(s[first.sample[0]]))
        said = f"the path cannot be followed at {place}: {first.reason}"
        raise type(error)([Failure((), first.leg, said)]) from None
    if not report.ok:
        worst = max(report.violations, key=lambda one: one.excess / (abs(one.allowed) or 1.0))
        place = stretch.guide.where(float(s[worst.sample]))
        alone_there = worst._replace(sample=(), time=None)
        raise LimitError(f"the path cannot be followed at {place}: {alone_there}")


def _refuse_singular(robot: Model, stretch: Stretch, path: Motion, s: Array) -> None:
    """An error where det changes its sign from sample to sample, or between them and back."""
    if robot.actuator_count != robot.mobility:
        return
    sides = np.sign(determinant_along(robot, path, robot.length_scale))
    places = s[:-1][sides[1:] * sides[:-1] <= 0]
    if not places.size:
        places = np.sort(singular(robot, stretch))
    if places.size:
        said = (
            f"the path goes through a singularity behind {stretch.guide.where(float(places[0]))}: "
            f"no actuator forces hold the platform there{_cancelling(robot, stretch, places[0], s)}"
        )
        raise SingularError([Failure((), None, said)])


def _cancelling(robot: Model, stretch: Stretch, place: float, s: Array) -> str:
    """Which legs' forces cancel out at the singularity behind a place, if not those of all: Gᵀ Γ = 0."""
    behind = stretch.inside(np.linspace(place, place + (s[1] - s[0]), 65))
    G = square(robot, stretch.guide.state(behind), robot.length_scale)
    G = G[np.isfinite(G).all(axis=(1, 2))]
    if not len(G):
        return ""
    left, sizes, _ = np.linalg.svd(G)
    pushes = np.abs(left[np.argmin(sizes[:, -1]), :, -1])
    legs = sorted({robot.actuators[i].leg + 1 for i in np.flatnonzero(pushes > CANCELS)})
    if len(legs) in (0, robot.leg_count):
        return ""
    if len(legs) == 1:
        return f", that of leg {legs[0]} does nothing"
    return f": those of legs {', '.join(map(str, legs[:-1]))} and {legs[-1]} cancel out"


def _fastest(
    demands: Demands, parts: list[Part], cells: int, progress: Progress | None
) -> tuple[Timing, ...]:
    """Every stretch as fast as it goes."""
    found: list[Timing] = []
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done / len(parts))
        if isinstance(part, Rest):
            found.append(Pause(part, part.duration))
            continue
        timing = LawTiming(part, fastest_law(demands, part, cells))
        found.append(jerk_limited(demands, timing))
    return tuple(found)


def _evenly(demands: Demands, parts: list[Part]) -> tuple[Timing, ...]:
    """One factor for all, the greatest that limits allow."""
    tracks = [Track(demands, part) for part in parts if isinstance(part, Stretch)]

    def worst(factor: float) -> float:
        return max(float(track.shares(factor).max()) for track in tracks)

    most = 1 - MARGIN / 2
    low = 1e-6
    if worst(low) > most:
        track = max(tracks, key=lambda one: float(one.shares(low).max()))
        point, bound = divmod(int(np.argmax(track.shares(low))), len(demands.bounds))
        one = demands.bounds[bound]
        raise LimitError(
            f"{track.stretch.guide.where(float(track.s[point]))}: {one.who} exceeds its {one.limit} "
            f"limit of {one.allowed:.6g} {one.unit} however slow the motion is"
        )
    for _ in range(CLOSER):
        low = _greatest(worst, low, most)
        if not any([track.look_closer(low) for track in tracks]):
            break
    low = _greatest(worst, low, most)
    track = max(tracks, key=lambda one: float(one.shares(low).max()))
    bound = int(np.argmax(track.shares(low).max(axis=0)))
    return tuple(
        Pause(part, part.duration / low)
        if isinstance(part, Rest)
        else EvenTiming(part, float(low), demands.bounds[bound])
        for part in parts
    )


def _greatest(worst: Callable[[float], float], guess: float, most: float) -> float:
    """The greatest factor whose worst share is at most `most`."""
    low = high = guess
    while worst(low) > most:
        low, high = low / 1.01, low
    while worst(high) <= most:
        low, high = high, (1.01 if guess > 1e-6 else 2.0) * high
        if high > 1e9:
            raise InputError("nothing limits how fast the motion may be")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if worst(middle) <= most else (low, middle)
    return low


class Track:
    """Points of a stretch at which an even timing is looked at."""

    def __init__(self, demands: Demands, stretch: Stretch) -> None:
        self.demands, self.stretch = demands, stretch
        count = max(LOOKED_AT, int(BY_TURN * stretch.turned[-1]))
        self._look(np.linspace(stretch.begin, stretch.end, count))

    def _look(self, s: Array) -> None:
        self.s, self.path = s, self.stretch.guide.state(s)

    def shares(self, factor: float) -> Array:
        """(n, bounds) with the path's own timing made faster by a factor."""
        rate = np.full(len(self.s), factor)
        return self.demands.shares(scaled(self.demands.robot, self.path, rate, 0 * rate))

    def look_closer(self, factor: float) -> bool:
        """Look at more points beside the highest, where a limit may be exceeded between them."""
        most = self.shares(factor).max(axis=1)
        rise = np.pad(np.diff(most), 1)
        before, after = rise[:-1], -rise[1:]
        high = np.flatnonzero((before >= 0) & (after >= 0) & (most + np.maximum(before, after) > 1))
        # at those that are exact already nothing is to be seen
        gap = np.diff(self.s)
        inner = np.concatenate([high[high > 0] - 1, high[high < len(gap)]])
        inner = inner[gap[inner] > 1e-7 * (self.s[-1] - self.s[0])]
        if not inner.size:
            return False
        more = self.s[inner, np.newaxis] + gap[inner, np.newaxis] * np.arange(1, 8) / 8
        self._look(np.unique(np.concatenate([self.s, more.ravel()])))
        return True
