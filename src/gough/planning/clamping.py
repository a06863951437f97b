"""The nearest pose that limits allow, and what stands in the way of the one that was wished for.

Nearest by √(‖δp‖² + (L θ)²); of a platform that is held by its own coordinates, angles times L. From the
wish, and from where the straight way to it from home meets the first limit,

    u ← the least ‖u‖ with margins(u_k) + slopes (u − u_k) ≥ 0

(a least distance problem, solved by non-negative least squares: C. L. Lawson, R. J. Hanson, Solving
Least Squares Problems, 1974, chapter 23) until it stands; the nearer of both that keeps all limits is
taken, and the same is done from nearer poses in random directions where limits allow one. What
comes back is within limits and a nearest pose nearby; a nearer one elsewhere may be missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.around import Around, own_values
from gough.base.arrays import Array
from gough.mechanics.leg import EDGE
from gough.model.model import Model
from gough.motion import Motion, need_motion
from gough.planning.pose_limits import PoseLimit, PoseLimits

ITERATIONS = 30
ROUNDS, SCATTERED, NEARER, ABOUT = 12, 64, (-4.0, -0.5), 0.3
"""How often, in how many random directions, by which shares of the distance (powers of 10) a nearer one
is sought, and how far from the direction of the best those about it are."""
HALVINGS = 52
SETTLED = 1e-11
"""Change at which the search ends, in length scales."""
LONGEST = 0.25
"""Longest step, in length scales."""
STEP = 1e-6
"""Of differences, in length scales."""
KEPT = 1e-12
"""Margin that is kept, in units of what each limit allows."""
KEPT_OF_REACH = 2 * EDGE**2
"""Of reach, in sizes of legs squared: legs are singular at its end."""


@dataclass(frozen=True)
class Clamped:
    """Poses (...) that limits allow."""

    motion: Motion
    """At rest; where limits allow it the pose that was wished for, exactly."""
    distance: Array
    """(...) m: how far it is from the wish, √(‖δp‖² + (L θ)²); 0 where that was kept."""
    limits: tuple[PoseLimit, ...]
    """Those in the way."""
    which: Array
    """(...) index into `limits`: what the wish exceeds most, or its way meets; −1 where nothing."""

    def reason(self, sample: tuple[int, ...] = ()) -> PoseLimit | None:
        """What stands in the way of a pose."""
        i = int(self.which[sample])
        return None if i < 0 else self.limits[i]


def clamp(robot: Model, motion: Motion, *, wrench: ArrayLike | None = None) -> Clamped:
    """The nearest poses that limits allow; see `gough.Robot.clamp`."""
    need_motion(motion)
    limits = PoseLimits(robot, wrench)
    count = int(np.prod(motion.shape, dtype=int))
    flat = motion.reshape(count)
    around = Around.of(robot, flat, flat.position, flat.rotation, robot.length_scale)
    search = _Nearest(limits, around)
    still = Motion(flat.position, flat.rotation)
    if robot.mechanism.legs.coordinates:
        robot.remember(still, robot.chains_of(flat))
    wished = limits(still)
    outside = np.flatnonzero(~np.all(np.nan_to_num(wished, nan=-1.0) >= 0, axis=1))
    u = np.zeros((count, around.moves))
    if outside.size:
        u[outside] = search.nearest(outside)
    moved = around.moved(u)
    position, rotation = flat.position.copy(), flat.rotation.copy()
    position[outside], rotation[outside] = moved.position[outside], moved.rotation[outside]
    place: dict[PoseLimit, int] = {}
    which = np.full(count, -1)
    for row, one in zip(outside, search.reasons(outside, u, wished), strict=True):
        which[row] = place.setdefault(one, len(place))
    found = Motion(position, rotation)
    if robot.mechanism.legs.coordinates:
        joints = robot.chains_of(moved)
        robot.remember(found, joints)
    shape = motion.shape
    clamped = found.reshape(*shape)
    if robot.mechanism.legs.coordinates:
        robot.remember(clamped, joints.reshape(*shape, joints.shape[-1]))
    distance = np.linalg.norm(u, axis=1).reshape(shape)
    return Clamped(clamped, distance, tuple(place), which.reshape(shape))


class _Nearest:
    """The search for the nearest poses around wishes."""

    def __init__(self, limits: PoseLimits, around: Around) -> None:
        self.limits, self.around = limits, around
        self.size = around.length
        scale = np.array([abs(one.allowed) for one in limits.limits])
        self.kept = KEPT * np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)

    def margins(self, rows: Array, u: Array) -> Array:
        """(k, limits) of wishes displaced by u (k, moves)."""
        return self.limits(self.around.some(rows).moved(u))

    def guides(self, rows: Array, u: Array) -> Array:
        """(k, limits and legs that reach): margins less what is kept, known beyond the reach too."""
        poses = self.around.some(rows).moved(u)
        reach = self.limits.reaches(poses) - KEPT_OF_REACH * self.limits.robot.leg_size**2
        return np.concatenate([self.limits(poses) - self.kept, reach], axis=1)

    def good(self, rows: Array, u: Array) -> Array:
        """Whether all limits are kept (k,), by more than rounding, which a batch may change."""
        margins = np.nan_to_num(self.margins(rows, u), nan=-1.0)
        return np.asarray(np.all(margins >= self.kept, axis=1))

    def nearest(self, rows: Array) -> Array:
        """u (k, moves) of wishes that exceed a limit."""
        home = self._home()[rows]
        safe = self._on_the_way(rows, home)
        best, size = safe, np.linalg.norm(safe, axis=1)
        for start in (safe, np.zeros_like(safe)):
            best, size = self._nearer(rows, start, best, size)
        rng = np.random.default_rng(0)
        for _ in range(ROUNDS):
            start = self._nearer_somewhere(rows, best, rng)
            some = np.flatnonzero(np.isfinite(start[:, 0]))
            if some.size:
                known = best[some], size[some]
                best[some], size[some] = self._nearer(rows[some], start[some], *known)
        return best

    def _nearer(self, rows: Array, start: Array, best: Array, size: Array) -> tuple[Array, Array]:
        """The better of what is known and what is found from a start."""
        for found in (start, self._descend(rows, start)):
            found = self._pulled_in(rows, found, best)
            length = np.linalg.norm(found, axis=1)
            better = length < size
            best = np.where(better[:, np.newaxis], found, best)
            size = np.where(better, length, size)
        return best, size

    def _pulled_in(self, rows: Array, found: Array, best: Array) -> Array:
        """What was found where that is allowed; else where the straight way back to the best is."""
        high, low = found.copy(), found.copy()
        out = np.flatnonzero(~self.good(rows, found))
        low[out] = best[out]
        for _ in range(HALVINGS if out.size else 0):
            middle = (low[out] + high[out]) / 2
            fine = self.good(rows[out], middle)[:, np.newaxis]
            low[out], high[out] = (
                np.where(fine, middle, low[out]),
                np.where(fine, high[out], middle),
            )
        return low

    def _nearer_somewhere(self, rows: Array, best: Array, rng: np.random.Generator) -> Array:
        """Poses (k, moves) nearer than the best that limits allow; NaN where none.

        In random directions, half of them about that of the best, some its own.
        """
        moves, size = self.around.moves, np.linalg.norm(best, axis=1)
        unit = best / np.maximum(size, 1e-300)[:, np.newaxis]
        tried = rng.normal(size=(SCATTERED, len(rows), moves)) / np.sqrt(moves)
        tried[::2] = unit + ABOUT * tried[::2]
        tried[:4] = unit
        share = 1 - 10 ** rng.uniform(*NEARER, (SCATTERED, len(rows)))
        far = np.maximum(np.linalg.norm(tried, axis=2), 1e-300)  # 0: what is already there
        tried *= (share * size / far)[..., np.newaxis]
        fine = self.good(np.tile(rows, SCATTERED), tried.reshape(-1, moves))
        fine = fine.reshape(SCATTERED, len(rows))
        chosen = tried[np.argmax(fine, axis=0), np.arange(len(rows))]
        return np.where(np.any(fine, axis=0)[:, np.newaxis], chosen, np.nan)

    def _home(self) -> Array:
        """Home as displacements (n, moves) of the wishes."""
        robot, poses = self.limits.robot, self.around.poses
        if robot.mobility < 6:
            own = own_values(robot, robot.home.reshape(1)) - own_values(robot, poses)
            per = [self.size if name.startswith("r") else 1.0 for name in robot.coordinates]
            return np.asarray(own * per)
        back = np.swapaxes(poses.rotation, -1, -2)
        turn = Rotation.from_matrix(robot.home.rotation @ back).as_rotvec()
        return np.concatenate([robot.home.position - poses.position, self.size * turn], axis=1)

    def _on_the_way(self, rows: Array, home: Array) -> Array:
        """Where the straight way from home to the wish meets the first limit, from inside."""
        shares = np.linspace(0.0, 1.0, 65)[1:]
        inside = np.zeros((len(shares), len(rows)), dtype=bool)
        for i, share in enumerate(shares):
            inside[i] = self.good(rows, (1 - share) * home)
        last = np.argmin(inside, axis=0)  # the first that is out; the wish itself always is
        low = np.where(last > 0, shares[last - 1], 0.0)
        high = shares[last]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            fine = self.good(rows, (1 - middle)[:, np.newaxis] * home)
            low, high = np.where(fine, middle, low), np.where(fine, high, middle)
        return np.asarray((1 - low)[:, np.newaxis] * home)

    def _descend(self, rows: Array, start: Array) -> Array:
        """Sequential least distances from a start (k, moves)."""
        u = start.copy()
        active = np.arange(len(rows))
        moves = u.shape[1]
        step = STEP * self.size
        shifts = step * np.concatenate([np.zeros((1, moves)), np.eye(moves), -np.eye(moves)])
        for _ in range(ITERATIONS):
            if not active.size:
                break
            near = (u[active] + shifts[:, np.newaxis]).reshape(-1, moves)
            value = self.guides(np.tile(rows[active], len(shifts)), near)
            value = value.reshape(len(shifts), len(active), -1)
            slope = (value[1 : moves + 1] - value[moves + 1 :]) / (2 * step)
            going = []
            for k, row in enumerate(active):
                new = _least_distance(slope[:, k].T, value[0, k], u[row])
                if new is None:
                    continue
                change = new - u[row]
                size = float(np.linalg.norm(change))
                u[row] += change * min(1.0, LONGEST * self.size / max(size, 1e-300))
                if size > SETTLED * self.size:
                    going.append(row)
            active = np.array(going, dtype=int)
        return u

    def reasons(self, rows: Array, u: Array, wished: Array) -> list[PoseLimit]:
        """What stands in the way: the limit most exceeded; out of reach, the one that holds next."""
        if not rows.size:
            return []
        found = []
        margins = self.margins(rows, u[rows])
        scale = self.kept / KEPT
        lost = [i for i, row in enumerate(rows) if wished[row, -1] < 0]
        unreached = {}
        if lost:
            poses = self.around.some(rows[lost]).poses
            unreached = dict(zip(lost, self.limits.out_of_reach(poses), strict=True))
        for i, row in enumerate(rows):
            if i in unreached:
                tight = np.where(np.isfinite(margins[i, :-1]), margins[i, :-1] / scale[:-1], np.inf)
                nearest = int(np.argmin(tight)) if tight.size else -1
                held = nearest >= 0 and tight[nearest] < 1e-6
                found.append(self.limits.limits[nearest] if held else unreached[i])
            else:
                relative = np.nan_to_num(wished[row] / scale, nan=np.inf)
                found.append(self.limits.limits[int(np.argmin(relative))])
        return found


def _least_distance(slopes: Array, margins: Array, here: Array) -> Array | None:
    """The least ‖u‖ (moves,) with margins + slopes (u − here) ≥ 0; None where there is none.

    G u ≥ h by min ‖(Gᵀ, hᵀ) λ − (0, 1)‖ over λ ≥ 0: with its residual r, u = −r/r_last.
    """
    known = np.isfinite(margins) & np.isfinite(slopes).all(axis=1) & np.any(slopes != 0, axis=1)
    if not known.all() and not known.any():
        return None
    G = slopes[known]
    size = np.linalg.norm(G, axis=1)
    G = G / size[:, np.newaxis]
    h = G @ here - margins[known] / size
    if np.all(h <= 0):
        return np.zeros_like(here)
    unit = float(np.max(np.abs(h)))
    matrix = np.concatenate([G.T, h[np.newaxis] / unit])
    target = np.zeros(len(matrix))
    target[-1] = 1.0
    try:
        weights, _ = scipy.optimize.nnls(matrix, target)
    except RuntimeError:
        return None
    residual = matrix @ weights - target
    if abs(residual[-1]) < 1e-12:
        return None
    return np.asarray(-unit * residual[:-1] / residual[-1])
