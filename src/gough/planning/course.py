"""A motion as a path: what is left of it without its timing.

The path keeps a parameter s of its own (the time of the motion it was taken from) and is cut where it
stops: into stretches, each without a stop inside, and rests. On a stretch its length counts,

    σ(s) = ∫ w ds,    w = √(‖v‖² + (L ‖ω‖)²)    (v, ω: rates by s; L the robot's length scale)

and a time law σ(t) makes a motion of it, with ṡ = σ̇/w and s̈ = (σ̈ − w′ ṡ²)/w:

    v(t) = v ṡ,    v̇(t) = v̇ ṡ² + v s̈,    and the same for ω
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.segments import Segment
from gough.trajectories import Spline, Trajectory

CELLS = 400
"""Of a stretch, in which its length is integrated; more where it turns sharply."""
SHARP = 0.1
"""rad: a cell in which the path's direction turns by more is halved, `HALVINGS` times at most."""
HALVINGS = 20
BY_TURNS = 0.5
"""Share of knots that are spread by how much the path's direction turns, the others by length."""
STANDSTILL = 1e-6
"""Share of the greatest speed below which a path stops."""
SAME_POSE = 1e-12
"""Change (m, rad) below which samples are one pose."""
DIRECTED = 1e-3
"""Share of the greatest speed from which a path that stops has a direction: below, a spline through
samples has that of its rounding. """
FINE = 2000
"""Instants at which stops are looked for."""
CLOSED = 1e-13
"""Share of a stretch's length to which a length is found on it."""
ABSCISSAE, WEIGHTS = np.polynomial.legendre.leggauss(6)


class Guide(Protocol):
    """A smooth motion by a parameter s."""

    @property
    def ends(self) -> tuple[float, float]:
        """First and last s."""
        ...

    def rates(self, s: Array) -> tuple[Array, Array]:
        """First and second derivatives by s (n, k), as lengths in m."""
        ...

    def state(self, s: Array, way: Array | None = None) -> Motion:
        """Poses (n,) with rates by s in place of time, which s also is; rates of s = `way`, if given."""
        ...

    def where(self, s: float) -> str:
        """The place s in words."""
        ...


class TrajectoryGuide(NamedTuple):
    """A trajectory, its time being s."""

    trajectory: Trajectory
    length: float
    """L, m."""

    @property
    def ends(self) -> tuple[float, float]:
        """First and last time."""
        start = self.trajectory.start_time
        return start, start + self.trajectory.duration

    def rates(self, s: Array) -> tuple[Array, Array]:
        """Twist and acceleration, (v, L ω)."""
        motion, size = self.state(s), self.length
        first = np.concatenate([motion.velocity, size * motion.angular_velocity], axis=-1)
        second = np.concatenate([motion.acceleration, size * motion.angular_acceleration], axis=-1)
        return first, second

    def state(self, s: Array, way: Array | None = None) -> Motion:
        """The trajectory itself."""
        return (
            self.trajectory(s) if way is None else _there(self.trajectory(way), self.trajectory(s))
        )

    def where(self, s: float) -> str:
        """Its time."""
        return f"t = {s:.6g} s"


class PathGuide(NamedTuple):
    """Pieces of a path, one after the other; s is the length along them, m."""

    pieces: tuple[Segment, ...]
    length: float
    """L, m."""
    before: float
    """Length of the path before it, m."""

    def where(self, s: float) -> str:
        """How far along the path."""
        return f"{self.before + s:.6g} m along the path"

    @property
    def ends(self) -> tuple[float, float]:
        """0 and the whole length."""
        return 0.0, float(sum(piece.length for piece in self.pieces))

    def rates(self, s: Array) -> tuple[Array, Array]:
        """(v, L ω) by s, and its derivative."""
        motion, size = self.state(s), self.length
        first = np.concatenate([motion.velocity, size * motion.angular_velocity], axis=-1)
        second = np.concatenate([motion.acceleration, size * motion.angular_acceleration], axis=-1)
        return first, second

    def state(self, s: Array, way: Array | None = None) -> Motion:
        """The pieces' states, each where it is."""
        if way is not None:
            return _there(self.state(way), self.state(s))
        edges = np.cumsum([piece.length for piece in self.pieces])
        which = np.minimum(np.searchsorted(edges, s, side="right"), len(self.pieces) - 1)
        fields = [np.zeros((len(s), 3, 3) if i == 1 else (len(s), 3)) for i in range(6)]
        for i in np.unique(which):
            here = which == i
            inside = s[here] - (edges[i] - self.pieces[i].length)
            for field, value in zip(fields, self.pieces[i].state(inside), strict=True):
                field[here] = value
        return Motion(*fields, time=s)


class OwnGuide(NamedTuple):
    """The own coordinates of a platform that is held, as a spline: the rest is solved."""

    robot: Model
    spline: scipy.interpolate.BSpline
    ends: tuple[float, float]

    def rates(self, s: Array) -> tuple[Array, Array]:
        """Of the coordinates, angles times L."""
        robot = self.robot
        per = [robot.length_scale if name.startswith("r") else 1.0 for name in robot.coordinates]
        return self.spline(s, 1) * per, self.spline(s, 2) * per

    def state(self, s: Array, way: Array | None = None) -> Motion:
        """The motion with these coordinates."""
        rates = (self.spline(s if way is None else way, order) for order in (1, 2))
        return self.robot.motion(self.spline(s), *rates, time=s)

    def where(self, s: float) -> str:
        """Its time."""
        return f"t = {s:.6g} s"


def _there(moving: Motion, poses: Motion) -> Motion:
    """Rates of one motion at the poses of another."""
    return moving.replace(position=poses.position, rotation=poses.rotation, time=poses.time)


def scaled(robot: Model, motion: Motion, rate: Array, second: Array) -> Motion:
    """The motion with another timing: ds/dt (n,) and d²s/dt² (n,) of its parameter s."""
    along, bend = rate[:, np.newaxis], second[:, np.newaxis]
    made = Motion(
        motion.position,
        motion.rotation,
        motion.velocity * along,
        motion.angular_velocity * along,
        motion.acceleration * along**2 + motion.velocity * bend,
        motion.angular_acceleration * along**2 + motion.angular_velocity * bend,
    )
    if robot.mechanism.legs.coordinates:
        robot.remember(made, robot.chains_of(motion))
    return made


class Stretch:
    """A path without a stop inside, by its length σ from 0 to `length`."""

    def __init__(self, guide: Guide, begin: float, end: float) -> None:
        self.guide, self.begin, self.end = guide, begin, end
        nodes = np.linspace(begin, end, CELLS + 1)
        w = self.speed(nodes)[0]
        moving = np.flatnonzero(w > DIRECTED * w.max())
        self.first, self.last = (
            self._directed(at, nodes[inner], float(DIRECTED * w.max()))
            for at, inner in ((begin, moving[0]), (end, moving[-1]))
        )
        self.nodes, self.turned = self._resolved(nodes)
        """s (n,), and by how much the path's direction has turned up to there, rad."""
        cells = self._between(self.nodes[:-1], self.nodes[1:])
        self.lengths = np.concatenate([[0.0], np.cumsum(cells)])

    def _directed(self, slow: float, moving: float, least: float) -> float:
        """The s between a stop, or an end without one, and where it moves, from which w > least."""
        for _ in range(50 if slow != moving else 0):
            middle = (slow + moving) / 2
            if self.speed(np.array([middle]))[0][0] > least:
                moving = middle
            else:
                slow = middle
        return moving

    def _resolved(self, nodes: Array) -> tuple[Array, Array]:
        """Nodes with cells halved until none has a sharp turn: a path may nearly have a corner."""
        for _ in range(HALVINGS):
            turn = self._turns(nodes)
            sharp = turn > SHARP
            if not sharp.any():
                break
            nodes = np.sort(np.concatenate([nodes, ((nodes[1:] + nodes[:-1]) / 2)[sharp]]))
        return nodes, np.concatenate([[0.0], np.cumsum(self._turns(nodes))])

    def _turns(self, nodes: Array) -> Array:
        """By how much the direction of (v, L ω) turns from node to node, rad."""
        first, _ = self.guide.rates(self.inside(nodes))
        size = np.linalg.norm(first, axis=-1, keepdims=True)
        way = first / np.where(size > 0, size, 1.0)
        apart, together = (
            np.linalg.norm(one, axis=-1) for one in (np.diff(way, axis=0), way[1:] + way[:-1])
        )
        return np.asarray(2 * np.arctan2(apart, together))

    @property
    def length(self) -> float:
        """Of the whole stretch, m."""
        return float(self.lengths[-1])

    def speed(self, s: Array) -> tuple[Array, Array]:
        """w and its derivative w′ by s."""
        first, second = self.guide.rates(s)
        w = np.linalg.norm(first, axis=-1)
        return w, np.sum(first * second, axis=-1) / np.where(w > 0, w, 1.0)

    def _between(self, low: Array, high: Array) -> Array:
        """∫ w ds from low to high (n,), by Gauss in one cell."""
        half = (high - low) / 2
        s = (low + half)[:, np.newaxis] + half[:, np.newaxis] * ABSCISSAE
        w = self.speed(s.ravel())[0].reshape(s.shape)
        return np.asarray(half * (w @ WEIGHTS))

    def along(self, s: Array) -> Array:
        """σ (n,) at s (n,)."""
        cell = np.clip(np.searchsorted(self.nodes, s, side="right") - 1, 0, len(self.nodes) - 2)
        return np.asarray(self.lengths[cell] + self._between(self.nodes[cell], s))

    def parameter(self, sigma: Array) -> Array:
        """The s (n,) at lengths σ (n,): Newton in the cell, halved where it leaves that."""
        sigma = np.clip(sigma, 0.0, self.length)
        cell = np.searchsorted(self.lengths, sigma, side="right") - 1
        cell = np.clip(cell, 0, len(self.nodes) - 2)
        low, high = self.nodes[cell].copy(), self.nodes[cell + 1].copy()
        start, base = low.copy(), self.lengths[cell]
        width = self.lengths[cell + 1] - base
        s = low + (high - low) * np.clip((sigma - base) / np.where(width > 0, width, 1.0), 0, 1)
        left = np.arange(len(s))
        for _ in range(60):
            at = s[left]
            off = base[left] + self._between(start[left], at) - sigma[left]
            low[left] = np.where(off < 0, at, low[left])
            high[left] = np.where(off < 0, high[left], at)
            w = self.speed(at)[0]
            step = at - off / np.where(w > 0, w, np.inf)
            inside = (step >= low[left]) & (step <= high[left])
            s[left] = np.where(inside, step, (low[left] + high[left]) / 2)
            left = left[np.abs(off) > CLOSED * self.length]
            if not left.size:
                break
        return np.asarray(s)

    def knots(self, count: int) -> Array:
        """About `count` + 1 values of s, closer towards the ends and in turns: the motion is slow."""
        share = np.linspace(0.0, 1.0, count + 1)
        by_turns = BY_TURNS if self.turned[-1] > SHARP else 0.0
        level = (1 - by_turns) * self.lengths / self.length
        level = level + by_turns * self.turned / max(float(self.turned[-1]), SHARP)
        found = np.interp(share**2 * (3 - 2 * share), level, self.nodes)
        found[[0, -1]] = self.begin, self.end
        return np.asarray(found[np.concatenate([[True], np.diff(found) > 0])])

    def inside(self, s: Array) -> Array:
        """Moved off the ends by a hair, where a path that stops has a direction."""
        return np.clip(s, self.first, self.last)


class Bead(NamedTuple):
    """Points of a stretch (n,), ready to be timed."""

    stretch: Stretch
    motion: Motion
    """With rates by s."""
    w: Array
    bend: Array
    """w′ by s."""

    @classmethod
    def of(cls, stretch: Stretch, s: Array) -> Bead:
        """At parameters s (n,)."""
        inside = stretch.inside(s)
        way = inside if np.any(inside != s) else None
        return cls(stretch, stretch.guide.state(s, way), *stretch.speed(inside))

    def moving(self, robot: Model, speed: Array, acceleration: Array) -> Motion:
        """The motion at path speeds σ̇ and accelerations σ̈ (n,), m/s and m/s²."""
        rate = speed / self.w
        return scaled(robot, self.motion, rate, (acceleration - self.bend * rate**2) / self.w)


@dataclass(frozen=True)
class Rest:
    """The platform stands."""

    pose: Motion
    """Batch shape ()."""
    duration: float
    """s"""


Part = Stretch | Rest


def course_of(robot: Model, given: Motion | Trajectory) -> list[Part]:
    """Stretches and rests of a motion: a trajectory, or timed samples (n,).

    Samples that stand still are a rest, and one at rest ends a stretch. Between the others the path goes
    as `gough.trajectories.Spline` does, or, of a platform that is held, as a spline of its own
    coordinates.
    """
    if isinstance(given, Trajectory):
        return _parts(TrajectoryGuide(given, robot.length_scale))
    if not isinstance(given, Motion):
        raise InputError(f"a motion or a trajectory is needed, not a {type(given).__name__}")
    if given.time is None or len(given.shape) != 1 or len(given) < 2:
        raise InputError(
            f"motion of batch shape {given.shape}{'' if given.time is None else ', timed'}: a path is "
            "(n,) samples with time, two at least"
        )
    if not np.all(np.isfinite(given.time)) or np.any(np.diff(given.time) <= 0):
        raise InputError("motion: a path needs times that increase")
    robot.inverse_kinematics(given)  # refuses what it cannot make, and says which sample
    found: list[Part] = []
    for first, last, still in _runs(robot, given):
        some = given[first : last + 1]
        assert some.time is not None
        if still:
            found.append(Rest(some[0], float(some.time[-1] - some.time[0])))
        else:
            found += _parts(_guide(robot, some))
    return found


def _runs(robot: Model, motion: Motion) -> list[tuple[int, int, bool]]:
    """First and last samples of parts of a sampled motion, and whether it stands there."""
    size = robot.length_scale
    turn = np.linalg.norm(np.diff(motion.rotation, axis=0), axis=(1, 2)) * size
    still = np.linalg.norm(np.diff(motion.position, axis=0), axis=1) + turn <= SAME_POSE
    speed = np.linalg.norm(motion.velocity, axis=1)
    speed = speed + size * np.linalg.norm(motion.angular_velocity, axis=1)
    stops = (speed <= STANDSTILL * speed.max()) & (speed.max() > 0)
    cuts = [0]
    for i in range(1, len(motion) - 1):
        if still[i - 1] != still[i] or (stops[i] and not still[i]):
            cuts.append(i)
    cuts.append(len(motion) - 1)
    return [(a, b, bool(still[a])) for a, b in itertools.pairwise(cuts)]


def _guide(robot: Model, samples: Motion) -> Guide:
    """Through timed samples."""
    times = samples.time
    assert times is not None
    if robot.mobility == 6:
        return TrajectoryGuide(Spline(times, samples), robot.length_scale)
    turn = Rotation.from_matrix(samples.rotation @ robot.home.rotation.T).as_rotvec()
    every = np.concatenate([samples.position, turn], axis=-1)
    u = every[:, [COORDINATES.index(name) for name in robot.coordinates]]
    return OwnGuide(robot, quintic(times, u), (float(times[0]), float(times[-1])))


def _parts(guide: Guide) -> list[Part]:
    """A guide cut where it stops."""
    begin, end = guide.ends

    def speed(s: Array) -> Array:
        return np.asarray(np.linalg.norm(guide.rates(s)[0], axis=-1))

    s = np.linspace(begin, end, FINE + 1)
    w = speed(s)
    top = float(w.max())
    if top == 0.0:
        return [Rest(guide.state(s[:1])[0], end - begin)]
    stops = [begin]
    for i in np.flatnonzero((w[1:-1] <= w[:-2]) & (w[1:-1] < w[2:])) + 1:
        if w[i] > 0.2 * top:
            continue
        bounds = (s[i - 1], s[i + 1])
        exact = scipy.optimize.minimize_scalar(
            lambda at: float(speed(np.array([at]))[0]), bounds=bounds, method="bounded",
            options={"xatol": 1e-13 * (end - begin)},
        )  # fmt: skip
        at = float(exact.x) if exact.fun < w[i] else float(s[i])
        if min(float(exact.fun), float(w[i])) <= STANDSTILL * top:
            stops.append(at)
    still = w <= 1e-12 * top
    for i in np.flatnonzero(
        still[1:] != still[:-1]
    ):  # where it begins or ends to stand for a while
        low, high = s[i], s[i + 1]
        for _ in range(50):
            middle = (low + high) / 2
            standing = speed(np.array([middle]))[0] <= 1e-12 * top
            low, high = (middle, high) if standing == still[i] else (low, middle)
        stops.append(high if still[i] else low)
    stops = sorted({*stops, end})
    found: list[Part] = []
    for a, b in itertools.pairwise(stops):
        if b - a <= 2e-6 * (end - begin):
            continue
        if float(speed(np.linspace(a, b, 9)).max()) > 1e-9 * top:
            found.append(Stretch(guide, a, b))
        elif found and isinstance(found[-1], Rest):
            found[-1] = Rest(found[-1].pose, found[-1].duration + b - a)
        else:
            found.append(Rest(guide.state(np.array([(a + b) / 2]))[0], b - a))
    return found
