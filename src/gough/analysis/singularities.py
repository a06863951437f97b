"""How near a pose is to a singularity, of which kind, and in numbers that say what they mean.

With unit rods n_i at arms r_i (world axes, about the platform frame's origin) and slopes c_i,

    n_i·(v + ω×r_i) = c_i q̇_i:    G ξ = diag(c) q̇,   G = (n_i, r_i×n_i)

with c = 1 for UPS and a·n for PUS legs, so J = diag(c)⁻¹ G. det G = 0 is a *parallel* singularity (the
platform moves though the actuators are locked, and no actuator forces hold it); c_i = 0, or a leg along
its first universal axis, is a *serial* one (a leg cannot follow the platform). Gosselin & Angeles 1990.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError, ReachError
from gough.mechanics.solves import WORST_CONDITION
from gough.model.batch import OnError, Trouble, lay_out, not_finite, settle
from gough.model.model import Model
from gough.motion import Motion

SERIAL_LIMIT = 1e-9
"""Slope or sine at which the models refuse a leg as singular."""
PARALLEL_LIMIT = 1 / WORST_CONDITION
"""Smallest over largest singular value at which the models refuse a pose as singular."""


class LegLines(NamedTuple):
    """The legs as lines through their tips at n poses; NaN where a leg does not reach."""

    direction: Array
    """n, unit, (n, legs, 3), world axes."""
    arm: Array
    """r, from the platform frame's origin to the tip, (n, legs, 3) m, world axes."""
    slope: Array
    """c (n, legs), n·v = c q̇ of the tip: 1 of a UPS leg, a·n of a PUS leg."""
    sine: Array
    """Of the angle between leg and first universal axis, (n, legs)."""


@dataclass(frozen=True)
class Singularity:
    """Measures of nearness to a singularity, of the batch shape (...) of the motion."""

    length: float
    """Characteristic length L, m: angular columns are divided by it in the first three measures."""
    condition: Array
    """2-norm condition number of J/(1, L) (...); infinite at a singularity."""
    smallest: Array
    """Smallest singular value (...) of J/(1, L): no unit twist (v, L ω) moves the actuators less."""
    parallel: Array
    """Smallest over largest singular value of G/(1, L) (...): 0 at a parallel singularity."""
    serial: Array
    """|c| (..., legs): 0 where an actuator cannot move its leg's tip; 1 for a UPS leg."""
    universal: Array
    """Sine (..., legs) between leg and first universal axis: 0 where the joint is locked."""
    output: Array
    """Output transmission (..., legs), without any length: see `singularity`; NaN of a seventh leg."""
    transmission: Array
    """min over legs of serial and output (...): 0 at a singularity, 1 at best; needs no length."""
    kind: Array
    """"regular", "serial", "parallel" or "both" (...): what the models would refuse."""


def lines(robot: Model, position: Array, rotation: Array) -> LegLines:
    """The legs' lines at poses (n, 3), (n, 3, 3); a flexible platform counts as undeformed."""
    legs, points = robot.description.legs, robot.description.platform_points[..., 0].T
    arm = np.einsum("nij,lj->nli", rotation, points)
    found = robot.leg_kind.geometry.stance(legs, position[:, np.newaxis] + arm)
    return LegLines(found.direction, arm, found.slope, found.sine)


def matrix(found: LegLines, length: float) -> Array:
    """G/(1, L) (n, legs, 6), dimensionless."""
    moment = np.cross(found.arm, found.direction) / length
    return np.concatenate([found.direction, moment], axis=-1)


def length_of(robot: Model, length: float | None) -> float:
    """The length given, checked, or `robot.length_scale`."""
    if length is None:
        return robot.length_scale
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"length is {length}, needs a positive number of metres")
    return float(length)


def singularity(
    robot: Model, motion: Motion, *, length: float | None = None, on_error: OnError = "raise"
) -> Singularity:
    """Measures at every pose of a motion; singular poses are answered, not refused.

    `length` L defaults to `robot.length_scale`, the rms distance of the platform points from their mean.
    The transmission needs none. Lock all actuators but the i-th: the platform then has one
    motion, its tip i the velocity v_i, and the leg's power on it is n_i·v_i f. The output transmission

        |n_i·v_i| / ‖v_i‖

    is the cosine of the pressure angle at the tip (Takeda & Funabashi 1995; Wang, Wu & Liu 2010), the
    same in any frame and unit, and 0 where locking the others leaves leg i without effect. Its
    counterpart at the actuator is `serial`. Of more than six legs the best six count.
    """
    if robot.leg_count < 6:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs, which hold it in no pose; needs six or more"
        )
    scale = length_of(robot, length)
    rows = lay_out(motion, {})
    position = np.broadcast_to(rows.fields["position"], (rows.rows, 3))
    rotation = np.broadcast_to(rows.fields["rotation"], (rows.rows, 3, 3))
    found = lines(robot, position, rotation)
    troubles = not_finite(rows)
    lost = {one.row for one in troubles}
    for row, leg in np.argwhere(~np.isfinite(found.slope)):
        if int(row) not in lost:
            lost.add(int(row))
            troubles.append(Trouble(int(row), int(leg), ReachError, "its tip is out of reach"))
    out = _measures(found, scale)
    settled = settle(rows, out, troubles, on_error)
    number = settled.pop("number")
    kinds = np.array(["regular", "serial", "parallel", "both", ""])
    chosen = kinds[np.where(np.isnan(number), 4, number).astype(np.intp)]
    return Singularity(length=scale, kind=chosen, **settled)


@np.errstate(all="ignore")
def _measures(found: LegLines, length: float) -> dict[str, Array]:
    whole: Array = np.nan_to_num(matrix(found, length))
    values = np.linalg.svd(whole, compute_uv=False)
    serial = np.abs(found.slope)
    jacobian: Array = whole / np.where(serial > 0, found.slope, np.nan)[..., np.newaxis]
    usable = np.asarray(np.isfinite(jacobian).all(axis=(1, 2)))
    singular = np.linalg.svd(
        np.where(usable[:, np.newaxis, np.newaxis], jacobian, 0.0), compute_uv=False
    )
    parallel = values[:, -1] / values[:, 0]
    output = output_transmission(found, length)
    locked = (serial < SERIAL_LIMIT) | (found.sine < SERIAL_LIMIT)
    is_parallel = ~(parallel > PARALLEL_LIMIT)
    return {
        "condition": np.where(
            usable & (singular[:, -1] > 0), singular[:, 0] / singular[:, -1], np.inf
        ),
        "smallest": np.where(usable, singular[:, -1], values[:, -1]),
        "parallel": np.nan_to_num(parallel),
        "serial": serial,
        "universal": found.sine,
        "output": output,
        "transmission": np.where(np.isnan(output), 1.0, np.minimum(serial, output)).min(axis=1),
        "number": locked.any(axis=1) + 2.0 * is_parallel,
    }


def output_transmission(found: LegLines, length: float) -> Array:
    """|n_i·v_i|/‖v_i‖ (n, legs); of more than six legs that of the best six, NaN for the others."""
    count = found.slope.shape[1]
    if count == 6:
        return _of_six(found, length)
    best = np.full(found.slope.shape, np.nan)
    held = np.full(len(best), -1.0)
    for legs in combinations(range(count), 6):
        some = list(legs)
        six = _of_six(LegLines(*(part[:, some] for part in found)), length)
        weakest = np.minimum(six, np.abs(found.slope[:, some])).min(axis=1)
        better = np.flatnonzero(weakest > held)
        held[better] = weakest[better]
        best[better] = np.nan
        best[better[:, np.newaxis], some] = six[better]
    return best


def _of_six(found: LegLines, length: float) -> Array:
    """From the adjugate of G, whose column i is the twist with all legs but i locked.

    adj G = det(U Vᵀ) V diag(Π_{k≠j} σ_k) Uᵀ has one even where G has no inverse; `length` cancels.
    """
    whole = np.nan_to_num(matrix(found, length))
    left, values, right = np.linalg.svd(whole)
    others = np.stack([np.prod(np.delete(values, j, axis=1), axis=1) for j in range(6)], axis=1)
    twist = np.einsum("nji,nj,nkj->nik", right, others, left)  # (n, 6, legs)
    velocity = np.swapaxes(twist[:, :3], 1, 2) + np.cross(
        np.swapaxes(twist[:, 3:], 1, 2) / length, found.arm
    )
    speed = np.linalg.norm(velocity, axis=2)
    power = np.abs(np.einsum("nli,nli->nl", found.direction, velocity))
    # relative to the largest entry: a leg whose twist vanishes has no effect at all
    size = np.abs(twist).max(axis=(1, 2), initial=0.0)[:, np.newaxis]
    moves = speed > 1e-14 * size
    return np.where(moves, np.minimum(power / np.where(moves, speed, 1.0), 1.0), 0.0)
