"""Joint coordinates of chain legs along motions: continued from home, or from sample to sample.

A pose fixes the joints but for their branch, and angles but for whole turns. Both come from home: a
sample without time is continued from there along a straight line of poses, of a motion with time the
first one is, and each of the others from the one before. The step is a program
(`mechanics.forward_program.joint_step`), which a kernel takes for many samples at once; what it leaves
the models take out themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.engine.run.execute import Executor
from gough.mechanics.forward_program import joint_step
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.walk import continued, walk
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
        turn = self._turn_from(other).magnitude()
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


def close(run: Executor, poses: Poses, near: Array) -> Array:
    """Joint coordinates (rows, K) at poses by Newton from near ones; what does not converge stays."""
    found = near.copy()
    active = np.arange(len(poses))
    for _ in range(MOST_STEPS):
        out = run(joint_step, len(active), poses.at(active).fields() | {CHAINS: found[active]})
        good = np.isfinite(out["residual"])
        found[active[good]] = out["chains"][good]
        active = active[good & (out["residual"] > CLOSED)]
        if not active.size:
            break
    return found


def follow(run: Executor, start: Poses, end: Poses, near: Array, size: float) -> Array:
    """Joint coordinates at `end`, continued from those at `start` along straight lines."""

    def attempt(rows: Array, share: Array, known: Array) -> tuple[Array, Array]:
        """Two steps of Newton, of which the second must be the shorter one by far."""
        poses = end.at(rows).between(start.at(rows), share[:, np.newaxis])
        first = run(joint_step, len(poses), poses.fields() | {CHAINS: known})
        second = run(joint_step, len(poses), poses.fields() | {CHAINS: first["chains"]})
        sizes = first["residual"], second["residual"]
        shrinks = sizes[1] <= np.maximum(SHRINKS * sizes[0], SMALL)
        sure = np.isfinite(second["chains"]).all(axis=1) & (sizes[0] <= LONGEST) & shrinks
        return second["chains"], np.asarray(sure)

    strides = np.minimum(np.ceil(end.apart(start, size)), MOST_STRIDES)
    found = continued(attempt, strides, near)
    return close(run, end, found)


class TimedPoses(NamedTuple):
    """Poses in time, rows of a step side by side; a `gough.model.walk.Path`."""

    run: Executor
    poses: Poses
    rows: int
    size: float

    def apart(self, place: int, start: int, count: int) -> float:
        """In strides."""
        here = self._steps(place, 1).at(np.tile(np.arange(self.rows), count))
        return float(self._steps(start, count).apart(here, self.size).max(initial=0.0))

    def settle(self, start: int, count: int, near: Array) -> Array:
        """Along straight lines, all from the step before."""
        every = np.tile(near, (count, 1))
        here = self._steps(start - 1, 1).at(np.tile(np.arange(self.rows), count))
        there = self._steps(start, count)
        return follow(self.run, here, there, every, self.size).reshape(count, *near.shape)

    def jump(self, place: int, near: Array) -> Array:
        """Along a straight line."""
        here, there = self._steps(place, 1), self._steps(place + 1, 1)
        return follow(self.run, here, there, near, self.size)

    def _steps(self, start: int, count: int) -> Poses:
        return self.poses.at(slice(start * self.rows, (start + count) * self.rows))


def solve(
    run: Executor,
    home: Motion,
    at_home: Array,
    motion: Motion,
    elastic: Array,
    which: Mapping[str, Array],
    shape: tuple[int, ...],
    size: float,
) -> Array:
    """Joint coordinates (*shape, K) along a motion, its batch broadcast to `shape`.

    `elastic` are the platform's coordinates (..., modes), 0 at home; `which` are fields (*shape) that
    tell which of many robots a sample is of, `home` is each one's; `size` is that of the legs, m.
    """
    timed = motion.time is not None and len(motion.shape) > 0
    position = np.broadcast_to(motion.position, (*shape, 3))
    rotation = np.broadcast_to(motion.rotation, (*shape, 3, 3))
    modes = elastic.shape[-1]
    elastic = np.broadcast_to(elastic, (*shape, modes))
    fields = {name: np.broadcast_to(value, shape) for name, value in which.items()}
    if timed:  # the last axis is time: it comes first
        position, rotation = np.moveaxis(position, -2, 0), np.moveaxis(rotation, -3, 0)
        elastic = np.moveaxis(elastic, -2, 0)
        fields = {name: np.moveaxis(value, -1, 0) for name, value in fields.items()}
    poses = Poses(
        np.array(position.reshape(-1, 3)),
        np.array(rotation.reshape(-1, 3, 3)),
        {name: np.array(value.reshape(-1)) for name, value in fields.items()},
        np.array(elastic.reshape(math.prod(shape), modes)),
    )
    steps = shape[-1] if timed else 1
    if not len(poses):
        return np.zeros((*shape, len(at_home)))
    rows = len(poses) // steps
    begin = poses.at(slice(0, rows))
    places = np.broadcast_to(home.position, (*shape, 3))
    turns = np.broadcast_to(home.rotation, (*shape, 3, 3))
    if timed:
        places, turns = places[..., 0, :], turns[..., 0, :, :]
    still = np.zeros((rows, modes))
    start = Poses(places.reshape(-1, 3), turns.reshape(-1, 3, 3), begin.which, still)
    first = follow(run, start, begin, np.tile(at_home, (rows, 1)), size)
    if not timed:
        return first.reshape(*shape, -1)
    found = walk(TimedPoses(run, poses, rows, size), first, steps)
    return np.moveaxis(found.reshape(steps, *shape[:-1], -1), 0, -2)
