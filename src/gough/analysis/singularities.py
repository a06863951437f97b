"""How near a pose is to a singularity, of which kind, and in numbers that say what they mean.

An actuator pushes the platform with a unit force n_i at the arm r_i (world axes, about the
platform frame's
origin; with a couple m_i where a leg holds more than a point), and its slope c_i tells how it
moves there:

    n_i·(v + ω×r_i) + m_i·ω = c_i q̇_i:    G ξ = diag(c) q̇,   G = (n_i, r_i×n_i + m_i)

with c = 1 for UPS and a·n for PUS legs, so J = diag(c)⁻¹ G. Legs and mobility may hold the
platform, Cᵀ ξ = 0,
and it moves within Z, the null space of Cᵀ (`gough.mechanics.driving`). Then there are singularities of

    the constraints  the rank of C is less than 6 − m: the platform is held less than anywhere near
    the parallel     G Z has a rank below m: the platform moves though the actuators are locked, and no
    kind             actuator forces hold it
    the serial kind  c_i = 0, a leg along its first universal axis, or joints of a chain that move while
                     the platform rests: a leg cannot follow the platform

Gosselin & Angeles 1990; Zlatanov, Bonev & Gosselin 2002 for those of the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ConstraintError, InputError, ReachError
from gough.mechanics.leg import Driven
from gough.mechanics.solves import WORST_CONDITION
from gough.model.batch import OnError, Trouble, lay_out, not_finite, settle
from gough.model.model import Model
from gough.model.standing import Standing, standing
from gough.motion import Motion

SERIAL_LIMIT = 1e-9
"""Slope or sine at which the models refuse a leg as singular."""
PARALLEL_LIMIT = 1 / WORST_CONDITION
"""Smallest over largest singular value at which the models refuse a pose as singular."""
CONSTRAINT_LIMIT = 1e-6
"""The same of what holds the platform."""
SHORTEST, LONGEST = 1e-9, 1e6
"""m: of a characteristic length."""
OFF = 1e-6
"""How far a pose may be off what holds the platform, length scales or rad."""


class LegLines(NamedTuple):
    """What actuators push the platform with at n poses; NaN where a leg does not reach."""

    direction: Array
    """n, (n, actuators, 3), world axes: unit of a leg that holds a point, along its line."""
    couple: Array
    """m about the leg's port, (n, actuators, 3); ‖n‖² + ‖m‖²/L² = 1, L the robot's length scale."""
    arm: Array
    """r, from the platform frame's origin to the port, (n, legs, 3) m, world axes."""
    slope: Array
    """c (n, actuators), n·v + m·ω = c q̇ of the port: 1 of a UPS leg, a·n of a PUS leg."""
    lever: Array
    """(n, actuators): speed of the port, for q̇ = 1, where the actuator alone moves its leg."""
    sine: Array
    """Of the angle between leg and first universal axis, (n, legs); of a chain the least over
    the largest remainder of its joints' twists: 0 where they are dependent."""
    holders: tuple[int, ...]
    """The leg of each actuator, from 0."""
    held: Array
    """Cᵀ (n, k, 6): what legs and mobility hold, unit rows for (v, L ω)."""
    gap: Array
    """(n,) by how much the pose is off what they hold, in length scales and rad."""


@dataclass(frozen=True)
class Singularity:
    """Measures of nearness to a singularity, of the batch shape (...) of the motion."""

    length: float
    """Characteristic length L, m: angular columns are divided by it in the first three measures."""
    condition: Array
    """2-norm condition number of J Z/(1, L) (...); infinite at a singularity."""
    smallest: Array
    """Smallest singular value (...) of it: no unit twist (v, L ω) moves the actuators less."""
    parallel: Array
    """Smallest over largest singular value of G Z/(1, L) (...): 0 at a parallel singularity."""
    serial: Array
    """|c| (..., actuators): 0 where an actuator cannot move its leg's port; 1 for a UPS leg,
    m/rad of one that turns."""
    universal: Array
    """Sine (..., legs) between leg and first universal axis: 0 where the joint is locked; of a chain 0
    where its joints can move while the platform rests."""
    output: Array
    """Output transmission (..., actuators): see `singularity`; NaN of one more than m."""
    transmission: Array
    """min over actuators of input and output transmission (...): 0 at a singularity, 1 at best."""
    constraint: Array
    """Smallest over largest singular value of C (...): 0 at a singularity of the constraints; 1 where
    nothing holds the platform."""
    kind: Array
    """"regular", "serial", "parallel", "both" or "constraint" (...): what the models would refuse."""


def lines(robot: Model, position: Array, rotation: Array) -> LegLines:
    """What the actuators push with at poses (n, 3), (n, 3, 3); a flexible platform counts as undeformed.

    The joints of chains are continued from home to each pose.
    """
    return lines_along(robot, Motion(position, rotation))


@np.errstate(all="ignore")
def lines_along(robot: Model, motion: Motion) -> LegLines:
    """The same at the poses of a motion (n,), along which chains are as the robot knows them."""
    count, L = len(motion), robot.length_scale
    points = robot.description.platform_points[..., 0].T
    arm = np.einsum("nij,lj->nli", motion.rotation, points)
    legs, holders = robot.leg_count, robot.mechanism.legs.holders
    direction, couple = np.full((2, count, len(holders), 3), np.nan)
    slope, lever = np.full((2, count, len(holders)), np.nan)
    sine = np.full((count, legs), np.nan)
    still = None
    if robot.mobility < 6 or robot.mechanism.legs.coordinates:
        still = standing(
            robot, Motion(motion.position, motion.rotation) if motion.modes else motion
        )
    for group in robot.description.groups:
        own = slice(group.first, group.first + group.leg_count)
        driven = [i for i, leg in enumerate(holders) if own.start <= leg < own.stop]
        if isinstance(group.legs, Driven):
            tip = motion.position[:, np.newaxis] + arm[:, own]
            found = group.kind.geometry.stance(group.legs, tip)
            direction[:, driven], couple[:, driven] = found.direction, 0.0
            slope[:, driven], sine[:, own] = found.slope, found.sine
            lever[:, driven] = found.lever
            continue
        assert still is not None
        reached, loose = _health(still, own)
        sine[:, own] = np.where(reached, loose, np.nan)
        w = np.moveaxis(still.legs.w[:, driven], 0, -1).swapaxes(0, 1)  # (n, actuators, 3 or 6)
        w = np.broadcast_to(w, (count, *w.shape[1:]))
        turning = w[..., 3:] if w.shape[-1] == 6 else np.zeros_like(w)
        size = np.sqrt(np.sum(w[..., :3] ** 2, axis=-1) + np.sum(turning**2, axis=-1) / L**2)
        good = reached[:, [holders[i] - own.start for i in driven]]
        per = np.where(good, 1 / size, np.nan)[..., np.newaxis]
        direction[:, driven], couple[:, driven] = w[..., :3] * per, turning * per
        slope[:, driven] = per[..., 0]
        lever[:, driven] = still.legs.levers()[driven].T
    held, gap = np.zeros((count, 0, 6)), np.zeros(count)
    if still is not None and still.held.shape[1]:
        length = np.linalg.norm(still.held, axis=-1, keepdims=True)
        held = still.held / np.where(length == 0, 1.0, length)
        gap = np.abs(still.gap).max(axis=1) / L
    return LegLines(direction, couple, arm, slope, lever, sine, holders, held, gap)


def _health(found: Standing, legs: slice) -> tuple[Array, Array]:
    """Of some legs (n, legs): whether they reach, and the least of what must not vanish."""
    every = found.legs
    reached: Array = np.ones((1, 1), dtype=bool)
    loose: Array = np.ones((1, 1))
    for health, measure in zip(every.leg.HEALTH, every.health, strict=True):
        value = measure[legs].T
        if health.singular:
            loose = np.minimum(loose, value)
        else:
            reached = reached & (value > health.limit)
    shape = np.broadcast_shapes(reached.shape, loose.shape)
    return np.broadcast_to(reached, shape), np.broadcast_to(loose, shape)


def matrix(found: LegLines, length: float) -> Array:
    """G/(1, L) (n, actuators, 6), dimensionless."""
    arm = found.arm[:, list(found.holders)]
    moment = (np.cross(arm, found.direction) + found.couple) / length
    return np.concatenate([found.direction, moment], axis=-1)


class Free(NamedTuple):
    """What the platform can do at n poses, and how well the rest is held."""

    directions: Array
    """Z (n, 6, m), orthonormal, for (v, L ω)."""
    constraint: Array
    """Smallest over largest singular value of C (n,); 1 where it has none."""


def free(robot: Model, found: LegLines, length: float) -> Free:
    """The null space of Cᵀ, angular columns over `length`."""
    count, rank = len(found.slope), 6 - robot.mobility
    if not rank:
        whole = np.broadcast_to(np.eye(6), (count, 6, 6))
        return Free(whole, np.ones(count))
    rows = found.held * np.repeat([1.0, robot.length_scale / length], 3)
    sound = np.isfinite(rows).all(axis=(1, 2))
    _, sizes, right = np.linalg.svd(np.where(sound[:, np.newaxis, np.newaxis], rows, 0.0))
    with np.errstate(invalid="ignore"):
        held = sizes[:, rank - 1] / sizes[:, 0]
    return Free(np.swapaxes(right[:, rank:], 1, 2), np.where(sound, np.nan_to_num(held), np.nan))


def length_of(robot: Model, length: float | None) -> float:
    """The length given, checked, or `robot.length_scale`."""
    if length is None:
        return robot.length_scale
    if not SHORTEST <= length <= LONGEST:
        raise InputError(f"length is {length}, needs {SHORTEST:g} to {LONGEST:g} m")
    return float(length)


def singularity(
    robot: Model, motion: Motion, *, length: float | None = None, on_error: OnError = "raise"
) -> Singularity:
    """Measures at every pose of a motion; singular poses are answered, not refused.

    `length` L defaults to `robot.length_scale`, the rms distance of the platform points from their mean.
    The transmission needs none where legs hold points. Lock all actuators but the i-th: the
    platform then
    has one motion, the port of its leg the velocity v_i, and the power on it is n_i·v_i f. The output
    transmission

        |n_i·v_i| / ‖v_i‖

    is the cosine of the pressure angle at the tip (Takeda & Funabashi 1995; Wang, Wu & Liu 2010), the
    same in any frame and unit, and 0 where locking the others leaves actuator i without effect; of a leg
    that holds more than a point (v_i, L ω) takes the place of v_i. Its counterpart, the input
    transmission, is the cosine between n_i and the way the port goes where actuator i alone moves its
    leg, the other joints locked: |c_i| over the port's speed for q̇ = 1. Of more than m actuators the
    best m count.
    """
    robot.need_actuators()
    scale = length_of(robot, length)
    rows = lay_out(motion, {})
    position = np.broadcast_to(rows.fields["position"], (rows.rows, 3))
    rotation = np.broadcast_to(rows.fields["rotation"], (rows.rows, 3, 3))
    flat = Motion(position, rotation)
    if robot.mechanism.legs.coordinates:
        chains = np.broadcast_to(
            robot.chains_of(motion), (*motion.shape, robot.mechanism.legs.coordinates)
        )
        robot.remember(flat, chains.reshape(rows.rows, -1))
    found = lines_along(robot, flat)
    troubles = not_finite(rows)
    lost = {one.row for one in troubles}
    unreached = ~np.isfinite(found.sine)
    for actuator, leg in enumerate(found.holders):
        unreached[:, leg] |= ~np.isfinite(found.slope[:, actuator])
    for row, leg in np.argwhere(unreached):
        if int(row) not in lost:
            lost.add(int(row))
            troubles.append(Trouble(int(row), int(leg), ReachError, "its tip is out of reach"))
    for row in np.flatnonzero(~(found.gap <= OFF)):
        if int(row) not in lost:
            reason = (
                f"what holds the platform does not let it be here: it is {found.gap[row]:.3g} length "
                f"scales or rad off (limit {OFF:g})"
            )
            troubles.append(Trouble(int(row), None, ConstraintError, reason))
    out = _measures(found, free(robot, found, scale), scale)
    settled = settle(rows, out, troubles, on_error)
    number = settled.pop("number")
    kinds = np.array(["regular", "serial", "parallel", "both", "constraint", ""])
    chosen = kinds[np.where(np.isnan(number), 5, number).astype(np.intp)]
    return Singularity(length=scale, kind=chosen, **settled)


@np.errstate(all="ignore")
def _measures(found: LegLines, free: Free, length: float) -> dict[str, Array]:
    whole: Array = np.nan_to_num(matrix(found, length)) @ free.directions
    values = np.linalg.svd(whole, compute_uv=False)
    serial = np.abs(found.slope)
    jacobian: Array = whole / np.where(serial > 0, found.slope, np.nan)[..., np.newaxis]
    usable = np.asarray(np.isfinite(jacobian).all(axis=(1, 2)))
    singular = np.linalg.svd(
        np.where(usable[:, np.newaxis, np.newaxis], jacobian, 0.0), compute_uv=False
    )
    parallel = values[:, -1] / values[:, 0]
    input_, output = input_transmission(found), output_transmission(found, length, free)
    locked = (serial < SERIAL_LIMIT).any(axis=1) | (found.sine < SERIAL_LIMIT).any(axis=1)
    is_parallel = ~(parallel > PARALLEL_LIMIT)
    number = locked + 2.0 * is_parallel
    return {
        "condition": np.where(
            usable & (singular[:, -1] > 0), singular[:, 0] / singular[:, -1], np.inf
        ),
        "smallest": np.where(usable, singular[:, -1], values[:, -1]),
        "parallel": np.nan_to_num(parallel),
        "serial": serial,
        "universal": found.sine,
        "output": output,
        "transmission": np.where(np.isnan(output), 1.0, np.minimum(input_, output)).min(axis=1),
        "constraint": free.constraint,
        "number": np.where(free.constraint < CONSTRAINT_LIMIT, 4.0, number),
    }


def input_transmission(found: LegLines) -> Array:
    """|n_i·u_i|/‖u_i‖ (n, actuators), u_i the port's velocity where actuator i alone moves its leg."""
    return np.abs(found.slope) / np.where(found.lever > 0, found.lever, 1.0)


def output_transmission(found: LegLines, length: float, free: Free) -> Array:
    """|n_i·v_i|/‖v_i‖ (n, actuators); of more than m that of the best m, NaN for the others."""
    count, m = found.slope.shape[1], free.directions.shape[-1]
    every = list(range(count))
    if count == m:
        return _of_as_many(found, every, length, free)
    best = np.full(found.slope.shape, np.nan)
    held = np.full(len(best), -1.0)
    for chosen in combinations(every, m):
        some = list(chosen)
        these = _of_as_many(found, some, length, free)
        weakest = np.minimum(these, input_transmission(found)[:, some]).min(axis=1)
        better = np.flatnonzero(weakest > held)
        held[better] = weakest[better]
        best[better] = np.nan
        best[better[:, np.newaxis], some] = these[better]
    return best


def _of_as_many(found: LegLines, some: list[int], length: float, free: Free) -> Array:
    """From the adjugate of G Z, whose column i is the motion with all actuators but i locked.

    adj G = det(U Vᵀ) V diag(Π_{k≠j} σ_k) Uᵀ has one even where G has no inverse; `length` cancels.
    """
    m = len(some)
    whole = np.nan_to_num(matrix(found, length)[:, some]) @ free.directions
    left, values, right = np.linalg.svd(whole)
    others = np.stack([np.prod(np.delete(values, j, axis=1), axis=1) for j in range(m)], axis=1)
    inner = np.einsum("nji,nj,nkj->nik", right, others, left)  # (n, m, actuators)
    twist = np.swapaxes(free.directions @ inner, 1, 2)  # (n, actuators, 6)
    arm = found.arm[:, [found.holders[i] for i in some]]
    turning = twist[..., 3:] / length
    velocity = twist[..., :3] + np.cross(turning, arm)
    push, couple = found.direction[:, some], found.couple[:, some]
    power = np.abs(np.sum(push * velocity, axis=-1) + np.sum(couple * turning, axis=-1))
    body = np.any(couple != 0, axis=-1)
    spin = np.where(body, length * np.linalg.norm(turning, axis=-1), 0.0)
    effort = np.sqrt(np.sum(push**2, axis=-1) + np.sum(couple**2, axis=-1) / length**2)
    speed = np.hypot(np.linalg.norm(velocity, axis=-1), spin) * np.where(body, effort, 1.0)
    # relative to the largest entry: an actuator whose twist vanishes has no effect at all
    size = np.abs(twist).max(axis=(1, 2), initial=0.0)[:, np.newaxis]
    moves = speed > 1e-14 * size
    return np.where(moves, np.minimum(power / np.where(moves, speed, 1.0), 1.0), 0.0)
