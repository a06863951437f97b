"""How far a robot is from its parallel singularities, pose by pose along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gough.analysis.around import Around
from gough.analysis.locus import determinant_along, square
from gough.analysis.singularities import length_of
from gough.base.arrays import Array
from gough.errors import ReachError
from gough.model.batch import OnError, Trouble, lay_out, not_finite, settle
from gough.model.model import Model
from gough.motion import Motion

ITERATIONS = 40
LANDING = 4
"""Newton steps at the end that put a foot on the locus."""
RELAXATION, BY_VOLUME = (1.0, 0.3, 0.3, 1.0, 0.3), (False, False, True, True, False)
"""Share of each step, and whether it goes by det, of each start: long steps are quick, short ones
do not swing."""
RAYS, RAY_STEPS, FARTHEST = 20, 20, 4.0
"""Random rays beside those along the axes; steps along each; its length in length scales."""
SHOTS, BISECTIONS = 3, 45
CLOSED_IN = 1e-9
"""Smallest singular value at which a foot counts as on the locus."""
LONGEST, SETTLED = 0.5, 1e-9
"""Longest step of the search, and the one at which it ends, in length scales."""


@dataclass(frozen=True)
class Clearance:
    """How far each pose of a motion is from the locus."""

    distance: Array
    """(...) m, √(‖δp‖² + (L θ)²) to the nearest singular pose found, of less than six freedoms in its
    own coordinates; inf where none was found."""
    foot: Motion
    """That pose (...), NaN where none was found."""
    determinant: Array
    """(...) of each pose; its sign tells the sides of the locus apart."""
    crossings: Array
    """(k,) samples after which the motion crosses the locus before the next one; (k, axes) indices
    of a motion of several batch axes, of which the last is its course."""
    length: float
    """L, m."""


def clearance(
    robot: Model,
    motion: Motion,
    *,
    length: float | None = None,
    turning: bool = True,
    seed: int = 0,
    on_error: OnError = "raise",
) -> Clearance:
    """Distance of every pose to the nearest parallel singularity.

    The smallest ‖u‖, u = (δp, L δθ), with det = 0 at p + δp, exp(δθ) R; without `turning` δθ = 0. Of a
    robot with less than six freedoms u are changes of its own coordinates, angles times L. Starts
    are the nearest crossings on rays from the pose, and the pose. With σ the smallest singular value of
    G/(1, L), given the sign of det, u ← g (g·u − σ)/(g·g), g its gradient at u: the point of the
    linearised locus nearest to the pose; from some starts the same with det. What is found is singular
    and that far off; something nearer may be missed.
    """
    scale = length_of(robot, length)
    rows = lay_out(motion, {})
    count = rows.rows
    position = np.broadcast_to(rows.fields["position"], (count, 3))
    rotation = np.broadcast_to(rows.fields["rotation"], (count, 3, 3))
    around = Around.of(robot, motion, position, rotation, scale, turning)
    own = determinant_along(robot, around.poses, scale)
    troubles = not_finite(rows)
    known = {one.row for one in troubles}
    troubles += [
        Trouble(int(row), None, ReachError, "a leg does not reach this pose")
        for row in np.flatnonzero(np.isnan(own))
        if int(row) not in known
    ]
    moves = around.moves
    shot, hit = _shoot(around, seed)
    # each start goes its own way, see RELAXATION; the shots, which are on the locus, count as they are
    u = np.concatenate([shot, np.zeros((2, count, moves))]).reshape(-1, moves)
    starts = len(shot) + 2
    many = around.some(np.tile(np.arange(count), starts))
    relaxation = np.repeat(np.resize(RELAXATION, starts), count)
    by_volume = np.repeat(np.resize(BY_VOLUME, starts), count)
    u, on_it = _foot(many, u, relaxation, by_volume)
    feet = np.concatenate([shot, u.reshape(starts, count, moves)])
    size = np.linalg.norm(feet, axis=2)
    size[~np.concatenate([hit, on_it.reshape(starts, count)])] = np.inf
    first = np.argmin(size, axis=0)
    nearest = size[first, np.arange(count)]
    best = feet[first, np.arange(count)]
    best = np.where(np.isfinite(nearest)[:, np.newaxis], best, np.nan)
    foot = around.moved(best)
    out = {
        "distance": nearest,
        "determinant": own,
        "position": foot.position.copy(),
        "rotation": foot.rotation.copy(),
    }
    found = settle(rows, out, troubles, on_error)
    nearest_pose = Motion(found["position"], found["rotation"])
    if robot.mechanism.legs.coordinates:
        joints = robot.chains_of(foot)
        robot.remember(nearest_pose, joints.reshape(*nearest_pose.shape, joints.shape[-1]))
    return Clearance(
        found["distance"],
        nearest_pose,
        found["determinant"],
        _crossings(found["determinant"]),
        scale,
    )


def joined(parts: Sequence[Clearance]) -> Clearance:
    """The clearance of a motion from those of its parts, which follow one another."""
    if len(parts) == 1:
        return parts[0]
    determinants = np.concatenate([part.determinant for part in parts])
    return Clearance(
        np.concatenate([part.distance for part in parts]),
        Motion.concatenate([part.foot for part in parts]),
        determinants,
        _crossings(determinants),
        parts[0].length,
    )


def _crossings(determinants: Array) -> Array:
    """Where the sign changes from a sample to the next along the last axis: (k,), or (k, axes)."""
    if not determinants.ndim:
        return np.zeros(0, dtype=np.intp)
    sides = np.sign(determinants)
    found = np.argwhere(sides[..., 1:] * sides[..., :-1] < 0)
    return found[:, 0] if found.shape[1] == 1 else found


def _shoot(around: Around, seed: int) -> tuple[Array, Array]:
    """Nearest crossings (SHOTS, n, k) of det = 0 on rays from the poses, and which rays have one."""
    rng = np.random.default_rng(seed)
    moves, length = around.moves, around.length
    rays = rng.normal(size=(RAYS, moves))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    rays = np.concatenate([np.eye(moves), -np.eye(moves), rays])
    count, along = len(around.poses), FARTHEST * length * np.linspace(0, 1, RAY_STEPS + 1)

    def value(u: Array) -> Array:
        """det (...) at displacements (..., n, k)."""
        many = u.reshape(-1, moves)
        poses = around.some(np.tile(np.arange(count), len(many) // count if count else 1))
        found = determinant_along(around.robot, poses.moved(many), length)
        return found.reshape(u.shape[:-1])

    reach = along[:, np.newaxis, np.newaxis] * rays  # (steps, rays, k)
    sides = value(np.repeat(reach[:, :, np.newaxis], count, axis=2))
    with np.errstate(invalid="ignore"):
        crossed = sides[:-1] * sides[1:] < 0
    step = np.where(crossed.any(axis=0), np.argmax(crossed, axis=0), RAY_STEPS)  # (rays, n)
    order = np.argsort(step, axis=0)[:SHOTS]
    step = np.take_along_axis(step, order, axis=0)
    hit = step < RAY_STEPS
    low, high = along[step], along[np.minimum(step + 1, RAY_STEPS)]
    chosen = rays[order]  # (SHOTS, n, k)
    before = value(low[..., np.newaxis] * chosen)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        same = value(middle[..., np.newaxis] * chosen) * before > 0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high[..., np.newaxis] * chosen, hit


@np.errstate(all="ignore")
def _foot(around: Around, u: Array, relaxation: Array, by_volume: Array) -> tuple[Array, Array]:
    """Points on the locus near the poses, from starts u (n, k), and which are on it (n,).

    `by_volume` (n,): by det in place of σ, which has edges where two singular values meet.
    """
    u, length = u.copy(), around.length

    def slope(rows: Array, at: Array) -> tuple[Array, Array]:
        return _slope(around.some(rows), at, by_volume[rows])

    everyone = active = np.arange(len(u))
    f, g = slope(active, u)
    for iteration in range(ITERATIONS + LANDING):
        landing = iteration >= ITERATIONS
        active = everyone if landing else active
        here, value, gradient = u[active], f[active], g[active]
        size_squared = np.sum(gradient * gradient, axis=1)
        if landing:  # straight onto the locus
            change = -gradient * (value / size_squared)[:, np.newaxis]
        else:  # towards the nearest point of the linearised locus
            along = np.sum(gradient * here, axis=1) - value
            change = gradient * (along / size_squared)[:, np.newaxis] - here
            change *= relaxation[active, np.newaxis]
        size = np.linalg.norm(change, axis=1)
        change *= np.minimum(1.0, LONGEST * length / np.maximum(size, 1e-300))[:, np.newaxis]
        left = np.arange(len(active))
        for share in (1.0, 0.25):  # where that is out of a leg's reach, less far
            new = here[left] + share * change[left]
            value, gradient = slope(active[left], new)
            fine = np.isfinite(value + gradient.sum(axis=1))
            good = active[left[fine]]
            u[good], f[good], g[good] = new[fine], value[fine], gradient[fine]
            left = left[~fine]
        active = active[size > SETTLED * length]
    whole = np.nan_to_num(square(around.robot, around.moved(u), length))
    smallest = np.linalg.svd(whole, compute_uv=False)[:, -1]
    return u, np.isfinite(f) & (smallest < CLOSED_IN)


@np.errstate(invalid="ignore")
def _slope(around: Around, u: Array, by_volume: Array) -> tuple[Array, Array]:
    """σ or, `by_volume`, det (n,) at poses displaced by u (n, k), and its gradient (n, k)."""
    moves = u.shape[1]
    step = 1e-5 * around.length
    shifts = step * np.concatenate([np.zeros((1, moves)), np.eye(moves), -np.eye(moves)])
    near = (u + shifts[:, np.newaxis]).reshape(-1, moves)
    many = around.some(np.tile(np.arange(len(u)), len(shifts)))
    whole = square(around.robot, many.moved(near), around.length)
    found = np.linalg.det(whole)
    smallest: Array = ~np.tile(by_volume, len(shifts)) & np.isfinite(found)
    sign = np.where(found[smallest] < 0, -1.0, 1.0)
    found[smallest] = sign * np.linalg.svd(whole[smallest], compute_uv=False)[:, -1]
    found = found.reshape(len(shifts), -1)
    return found[0], (found[1 : moves + 1] - found[moves + 1 :]).T / (2 * step)
