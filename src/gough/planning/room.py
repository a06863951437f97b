"""Room to move: how far a pose can go in each direction until which limit of which leg."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gough.analysis.around import Around
from gough.analysis.closest import WIDEST
from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion, need_motion
from gough.planning.pose_limits import PoseLimit, PoseLimits

STEPS = 96
"""In which a direction is searched."""
AT_ONCE = 8
"""Steps looked at together."""
BISECTIONS = 48
LINEAR, ANGULAR = 2.0, np.pi
"""How far directions are searched: sizes of legs, and rad."""
ROWS = 200_000
"""Poses computed together."""


@dataclass(frozen=True)
class Room:
    """How far poses (...) can go each way, all other coordinates being kept."""

    directions: tuple[str, ...]
    """"+x", "-x", …, "+rx", … (2m,): world axes; turns about the pivot. Of a platform that is held its
    own coordinates."""
    units: tuple[str, ...]
    """"m" or "rad"."""
    distance: Array
    """(..., 2m), m or rad: 0 where a pose exceeds a limit as it is; infinite where none is met."""
    limits: tuple[PoseLimit, ...]
    """Those met."""
    which: Array
    """(..., 2m) index into `limits`: what ends the room; −1 where nothing does."""

    def ends(self, sample: tuple[int, ...] = ()) -> list[tuple[str, float, PoseLimit | None]]:
        """Direction, distance and what ends it, of one pose."""
        return [
            (name, float(far), self.limits[i] if i >= 0 else None)
            for name, far, i in zip(
                self.directions, self.distance[sample], self.which[sample], strict=True
            )
        ]

    def __str__(self) -> str:
        if self.distance.ndim > 1:
            return f"room of poses {self.distance.shape[:-1]}"
        return "\n".join(
            f"{name:>3} {far:9.4g} {unit:3} {'no limit' if end is None else end}"
            for (name, far, end), unit in zip(self.ends(), self.units, strict=True)
        )


def room(
    robot: Model,
    motion: Motion,
    *,
    pivot: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
) -> Room:
    """How far each pose of a motion can go in every direction; see `gough.Robot.room`."""
    need_motion(motion)
    limits = PoseLimits(robot, wrench)
    point = _pivot(robot, pivot)
    flat = motion.reshape(int(np.prod(motion.shape, dtype=int)))
    around = Around.of(robot, flat, flat.position, flat.rotation, robot.length_scale, pivot=point)
    names = COORDINATES if robot.mobility == 6 else robot.coordinates
    units = tuple("rad" if name.startswith("r") else "m" for name in names for _ in range(2))
    directions = tuple(f"{sign}{name}" for name in names for sign in "+-")
    rays = np.zeros((len(directions), around.moves))
    for i in range(len(directions)):
        rays[i, i // 2] = 1.0 if i % 2 == 0 else -1.0
    per = np.array([robot.length_scale if unit == "rad" else 1.0 for unit in units])
    most = np.array([ANGULAR if unit == "rad" else LINEAR * robot.leg_size for unit in units])
    count = len(flat)
    rows = np.repeat(np.arange(count), len(directions))
    which_way = np.tile(np.arange(len(directions)), count)
    search = _Search(limits, around, rows, rays[which_way] * per[which_way][:, None])
    distance, ends = search.first(most[which_way])
    every = dict.fromkeys(one for one in ends if one is not None)
    place = {one: i for i, one in enumerate(every)}
    which = np.array([-1 if one is None else place[one] for one in ends], dtype=int)
    shape = (*motion.shape, len(directions))
    return Room(directions, units, distance.reshape(shape), tuple(every), which.reshape(shape))


def _pivot(robot: Model, pivot: ArrayLike | None) -> Array:
    if pivot is None:
        return np.zeros(3)
    if robot.mobility < 6:
        raise InputError(
            f"{robot.name} moves by {', '.join(robot.coordinates)}: it cannot turn about any pivot"
        )
    point = given_numbers("pivot", pivot)
    if point.shape != (3,):
        raise InputError(f"pivot has shape {point.shape}, needs three numbers, m")
    if not np.all(np.abs(point) <= WIDEST):
        raise InputError(f"pivot is {point.tolist()}, needs numbers of at most {WIDEST:g} m")
    return point


class _Search:
    """Rays from poses: row (n,) of each, and its direction (n, moves) per unit of distance."""

    def __init__(self, limits: PoseLimits, around: Around, rows: Array, rays: Array) -> None:
        self.limits, self.around, self.rows, self.rays = limits, around, rows, rays

    def poses(self, chosen: Array, far: Array) -> Motion:
        """Where rays are at distances (k,)."""
        return self.around.some(self.rows[chosen]).moved(self.rays[chosen] * far[:, np.newaxis])

    def least(self, chosen: Array, far: Array) -> Array:
        """The least margin (k,) there."""
        parts = [
            self.limits.least(self.poses(chosen[i : i + ROWS], far[i : i + ROWS]))
            for i in range(0, len(chosen), ROWS)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def first(self, most: Array) -> tuple[Array, list[PoseLimit | None]]:
        """The first distance (n,) at which a limit is exceeded, and which."""
        count = len(self.rows)
        good, bad = np.zeros(count), np.full(count, np.inf)
        started = self.least(np.arange(count), np.zeros(count)) >= 0
        bad[~started] = 0.0
        active = np.flatnonzero(started)
        for begin in range(0, STEPS, AT_ONCE):
            if not active.size:
                break
            shares = (begin + np.arange(AT_ONCE + 1)) / STEPS
            far = shares[:, np.newaxis] * most[active]
            margin = self.least(np.tile(active, AT_ONCE + 1), far.ravel()).reshape(far.shape)
            out = margin < 0
            hit = out.any(axis=0)
            at = np.where(hit, np.argmax(out, axis=0), AT_ONCE)
            column = np.arange(len(active))
            dip, low = self._dips(active, far, margin, at)
            good[active] = np.where(dip, low[0], far[np.maximum(at - hit, 0), column])
            bad[active[hit]] = far[at, column][hit]
            bad[active[dip]] = low[1][dip]
            active = active[~hit & ~dip]
        left = np.flatnonzero(np.isfinite(bad) & (bad > 0))
        for _ in range(BISECTIONS):
            middle = (good[left] + bad[left]) / 2
            inside = self.least(left, middle) >= 0
            good[left] = np.where(inside, middle, good[left])
            bad[left] = np.where(inside, bad[left], middle)
        return np.where(np.isfinite(bad), good, np.inf), self._ends(bad)

    def _dips(self, active: Array, far: Array, margin: Array, at: Array) -> tuple[Array, Array]:
        """Rays on which the least margin dips below 0 between two steps, and about where.

        Where three steps' parabola has its lowest point far below the middle one, that is looked at.
        """
        inner = margin[1:-1]
        fall, rise = margin[:-2] - inner, margin[2:] - inner
        bend = fall + rise
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where(bend > 0, (fall - rise) / (2 * bend), 0.0)
            lowest = inner - (fall - rise) ** 2 / (8 * bend)
        before = np.arange(1, len(margin) - 1)[:, np.newaxis] < at
        doubtful = before & (fall >= 0) & (rise >= 0) & (bend > 0) & (lowest < 0.2 * bend)
        found = np.zeros(far.shape[1], dtype=bool)
        where = np.zeros((2, far.shape[1]))
        for step, ray in zip(*np.nonzero(doubtful), strict=True):
            if found[ray]:
                continue
            width = far[1, ray] - far[0, ray]
            middle = far[step + 1, ray] + shift[step, ray] * width
            tries = middle + width * np.linspace(-0.5, 0.5, 33)
            value = self.least(np.full(33, active[ray]), tries)
            if np.any(value < 0):
                found[ray] = True
                where[:, ray] = far[step, ray], tries[int(np.argmax(value < 0))]
        return found, where

    def _ends(self, bad: Array) -> list[PoseLimit | None]:
        """What is exceeded at the first bad distance (n,); none where that is infinite."""
        found: list[PoseLimit | None] = [None] * len(bad)
        ended = np.flatnonzero(np.isfinite(bad))
        for i in range(0, len(ended), ROWS):
            some = ended[i : i + ROWS]
            poses = self.poses(some, bad[some])
            margins = self.limits(poses)
            lost = margins[:, -1] < 0
            worst = np.argmin(np.where(np.isnan(margins), np.inf, margins), axis=1)
            reasons = {}
            if lost.any():
                where = np.flatnonzero(lost)
                reasons = dict(
                    zip(where.tolist(), self.limits.out_of_reach(poses[where]), strict=True)
                )
            for j, row in enumerate(some):
                found[row] = reasons.get(j, self.limits.limits[worst[j]])
        return found
