"""Joint coordinates of chain legs along motions: continued from home, or from sample to sample.

A pose fixes the joints but for their branch, and angles but for whole turns. Both come from home: a
sample without time is continued from there along a straight line of poses, of a motion with time the
first one is, and each of the others from the one before. The step is a program
(`mechanics.forward_program.joint_step`), which a kernel takes for many samples at once; what it leaves
the models take out themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.engine.run.execute import Executor
from gough.errors import ReachError
from gough.mechanics.forward_program import joint_step, leg_steps
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.batch import Trouble
from gough.model.execution import numpy_executor
from gough.model.walk import FINEST, continued, walk
from gough.motion import Motion

STRIDE = 0.15
"""Longest step along a line of poses, rad, and as a share of the legs' size."""
MOST_STRIDES = 400
LONGEST, SHRINKS, SMALL = 0.4, 0.5, 0.01
"""Newton's first step, rad or length scales, the second as a share of it, and a second one of no doubt,
up to which joints stay on their branch."""
CLOSED = 1e-8
"""Closing step, rad or length scales, after which the models' own step makes the joints exact."""
MOST_STEPS = 40
EXPLAINED = 10
"""Most samples of which it is looked up where their line is lost: of the others the first one speaks."""
LOST = (
    "its joints cannot be followed beyond {:.0%} of the straight line in {} from home: it is stretched "
    "or folded there, or another working mode begins. If the pose is within reach, lead to it: "
    "robot.motion(u, guess=a motion nearby), or samples with time"
)
LOST_BETWEEN = (
    "the joints of its chains cannot be followed from {}: the way there is singular or out of reach. "
    "Give a guess nearby, robot.motion(u, guess=…), or samples nearer to each other in time"
)
AT_REST = {name: np.zeros((1, 3)) for name in RIGID_FIELDS if name not in ("position", "rotation")}


class Poses:
    """Poses in rows, of robots that an executor knows; with elastic coordinates (rows, modes)."""

    def __init__(
        self, position: Array, rotation: Array, which: Mapping[str, Array], elastic: Array
    ) -> None:
        self.position, self.rotation, self.which = position, rotation, which
        self.elastic = elastic

    def __len__(self) -> int:
        return len(self.position)

    def at(self, rows: Array | slice) -> Poses:
        """Some of them."""
        which = {name: value[rows] for name, value in self.which.items()}
        return Poses(self.position[rows], self.rotation[rows], which, self.elastic[rows])

    def fields(self) -> dict[str, Array]:
        """What a program takes."""
        fields = AT_REST | {"position": self.position, "rotation": self.rotation, **self.which}
        modes = self.elastic.shape[1]
        if not modes:
            return fields
        still = dict.fromkeys(ELASTIC_FIELDS, np.zeros((1, modes)))
        return fields | still | {ELASTIC_FIELDS[0]: self.elastic}

    def apart(self, other: Poses, size: float) -> Array:
        """How far they are from others, in strides, (rows,); 0 where a pose is not finite."""
        chord = np.linalg.norm(self.rotation - other.rotation, axis=(-2, -1)) / np.sqrt(8)
        turn = 2 * np.arcsin(np.minimum(chord, 1.0))  # ‖R − S‖ = √8 sin(α/2)
        shift = np.linalg.norm(self.position - other.position, axis=-1) / size
        return np.asarray(np.nan_to_num(np.maximum(shift, turn) / STRIDE, posinf=0.0))

    def between(self, start: Poses, share: Array) -> Poses:
        """Poses on the way from others to these, at shares (rows, 1) of it."""
        part = Rotation.from_rotvec(share * self._turn_from(start).as_rotvec()).as_matrix()
        position = start.position + share * (self.position - start.position)
        elastic = start.elastic + share * (self.elastic - start.elastic)
        return Poses(position, part @ start.rotation, self.which, elastic)

    def _turn_from(self, start: Poses) -> Rotation:
        turned = self.rotation @ np.swapaxes(start.rotation, -1, -2)
        sound = np.isfinite(turned).all((-1, -2))[:, np.newaxis, np.newaxis]
        return Rotation.from_matrix(np.where(sound, turned, np.eye(3)))


class Line(Protocol):
    """Lines of poses, one a row, along which joints are followed."""

    @property
    def end(self) -> Poses:
        """Where the lines end."""

    def strides(self) -> Array:
        """Lengths of the lines, (rows,)."""

    def at(self, rows: Array, share: Array) -> Poses:
        """Poses of some rows at shares (n,) of their lines."""


class StraightLine(NamedTuple):
    """Poses between two, moved straight and turned about one axis; `size` is that of the legs, m."""

    start: Poses
    end: Poses
    size: float

    def strides(self) -> Array:
        """Lengths of the lines, (rows,)."""
        return self.end.apart(self.start, self.size)

    def at(self, rows: Array, share: Array) -> Poses:
        """Poses of some rows at shares (n,) of their lines."""
        return self.end.at(rows).between(self.start.at(rows), share[:, np.newaxis])


Follow = Callable[[Poses, Poses, Array, Array], Array]
"""Maps poses to start from, poses to end at, joint coordinates (rows, K) at the first and whether these
are home (rows,) to joint coordinates at the others, NaN where the way there is lost."""


def close(run: Executor, poses: Poses, near: Array) -> Array:
    """Joint coordinates (rows, K) at poses by Newton from near ones; what does not converge stays."""
    return _closed(run, poses, near)[0]


def _closed(run: Executor, poses: Poses, near: Array) -> tuple[Array, Array]:
    """What `close` finds, and how far Newton went, rad or length scales, infinite without an end."""
    found, gone = near.copy(), np.zeros(len(poses))
    active = np.arange(len(poses))
    for _ in range(MOST_STEPS):
        out = run(joint_step, len(active), poses.at(active).fields() | {CHAINS: found[active]})
        good = np.isfinite(out["residual"])
        found[active[good]] = out["chains"][good]
        gone[active] += np.where(good, out["residual"], np.inf)
        active = active[good & (out["residual"] > CLOSED)]
        if not active.size:
            break
    gone[active] = np.inf
    return found, gone


def along(run: Executor, line: Line, near: Array) -> tuple[Array, Array]:
    """Joint coordinates followed along lines from near ones, and the share of each that was followed."""

    def attempt(rows: Array, share: Array, known: Array) -> tuple[Array, Array]:
        """Two steps of Newton, of which the second must be the shorter one by far."""
        poses = line.at(rows, share)
        first = run(joint_step, len(poses), poses.fields() | {CHAINS: known})
        second = run(joint_step, len(poses), poses.fields() | {CHAINS: first["chains"]})
        sizes = first["residual"], second["residual"]
        shrinks = sizes[1] <= np.maximum(SHRINKS * sizes[0], SMALL)
        sure = np.isfinite(second["chains"]).all(axis=1) & (sizes[0] <= LONGEST) & shrinks
        return second["chains"], np.asarray(sure)

    return continued(attempt, np.minimum(np.ceil(line.strides()), MOST_STRIDES), near)


class LostWay(NamedTuple):
    """Lines from home that are lost on the way."""

    share: Array
    """(n,) of each line that can be followed."""
    ahead: Poses
    """The next poses on the lines."""
    joints: Array
    """(n, K) the last joint coordinates on the lines."""


def past(share: Array, strides: Array) -> Array:
    """Shares (n,) of lines a stride beyond others."""
    return np.asarray(np.minimum(share + 1 / np.maximum(strides, 1.0), 1.0))


def lost_troubles(mechanism: Mechanism, names: str, way: LostWay, rows: Array) -> list[Trouble]:
    """What to say of rows without joints: of the first n `way` says where the line from home is lost.

    `names` are those of the coordinates in which lines are straight.
    """
    fields = way.ahead.fields() | {CHAINS: way.joints}
    with np.errstate(all="ignore"):
        missed = numpy_executor(mechanism)(leg_steps, len(way.share), fields)["missed"]
    troubles = []
    for i, row in enumerate(rows):
        i = i if i < len(way.share) else 0
        if way.share[i] < 1:
            leg, reason = int(np.nanargmax(missed[i])), LOST.format(way.share[i], names)
        else:
            leg, reason = None, LOST_BETWEEN.format(f"home in {names}, or from the sample before")
        troubles.append(Trouble(int(row), leg, ReachError, reason))
    return troubles


def within(share: Array, strides: Array) -> Array:
    """Which lines (rows,) were followed to their end, or to the singular pose that they end in."""
    return np.asarray((1 - share) * np.maximum(strides, 1.0) <= 2 * FINEST)


def follow(run: Executor, line: Line, near: Array) -> Array:
    """Joint coordinates at the ends of lines, followed from near ones; NaN where the way is lost."""
    found, share = along(run, line, near)
    there = np.flatnonzero(within(share, line.strides()))
    ended = np.full_like(found, np.nan)
    exact, gone = _closed(run, line.end.at(there), found[there])
    stayed = gone <= LONGEST
    ended[there[stayed]] = exact[stayed]
    return ended


class TimedPoses(NamedTuple):
    """Poses in time, rows of a step side by side, home first; a `gough.model.walk.Path`."""

    follow: Follow
    poses: Poses
    rows: int
    size: float

    def apart(self, base: Array, start: int, count: int) -> Array:
        """In strides."""
        far = self._steps(start, count).apart(self._bases(base, count), self.size)
        return np.asarray(far.reshape(count, self.rows).max(axis=0))

    def settle(self, base: Array, start: int, count: int, near: Array) -> Array:
        """Along lines of poses, all from the rows' bases."""
        every = np.tile(near, (count, 1))
        there = self._steps(start, count)
        found = self.follow(self._bases(base, count), there, every, np.tile(base < 0, count))
        return found.reshape(count, *near.shape)

    def _steps(self, start: int, count: int) -> Poses:
        return self.poses.at(slice((start + 1) * self.rows, (start + 1 + count) * self.rows))

    def _bases(self, base: Array, count: int) -> Poses:
        return self.poses.at(np.tile((base + 1) * self.rows + np.arange(self.rows), count))


def solve(
    follow: Follow,
    home: Motion,
    at_home: Array,
    motion: Motion,
    elastic: Array,
    which: Mapping[str, Array],
    shape: tuple[int, ...],
    size: float,
) -> Array:
    """Joint coordinates (*shape, K) along a motion, its batch broadcast to `shape`; NaN where lost.

    `elastic` are the platform's coordinates (..., modes), 0 at home; `which` are fields (*shape) that
    tell which of many robots a sample is of, `home` is each one's; `size` is that of the legs, m.
    """
    timed = motion.time is not None and len(motion.shape) > 0
    position = np.broadcast_to(motion.position, (*shape, 3))
    rotation = np.broadcast_to(motion.rotation, (*shape, 3, 3))
    modes = elastic.shape[-1]
    elastic = np.broadcast_to(elastic, (*shape, modes))
    fields = {name: np.broadcast_to(value, shape) for name, value in which.items()}
    places = np.broadcast_to(home.position, (*shape, 3))
    turns = np.broadcast_to(home.rotation, (*shape, 3, 3))
    if timed:  # the last axis is time: it comes first
        position, rotation = np.moveaxis(position, -2, 0), np.moveaxis(rotation, -3, 0)
        elastic = np.moveaxis(elastic, -2, 0)
        fields = {name: np.moveaxis(value, -1, 0) for name, value in fields.items()}
        places, turns = places[..., 0, :], turns[..., 0, :, :]
    if not math.prod(shape):
        return np.zeros((*shape, len(at_home)))
    steps = shape[-1] if timed else 1
    rows = math.prod(shape) // steps
    flat = {name: np.array(value.reshape(-1)) for name, value in fields.items()}
    poses = Poses(
        np.concatenate([places.reshape(-1, 3), position.reshape(-1, 3)]),
        np.concatenate([turns.reshape(-1, 3, 3), rotation.reshape(-1, 3, 3)]),
        {name: np.concatenate([value[:rows], value]) for name, value in flat.items()},
        np.concatenate([np.zeros((rows, modes)), elastic.reshape(math.prod(shape), modes)]),
    )
    found = walk(TimedPoses(follow, poses, rows, size), np.tile(at_home, (rows, 1)), steps)
    if not timed:
        return found.reshape(*shape, -1)
    return np.moveaxis(found.reshape(steps, *shape[:-1], -1), 0, -2)
