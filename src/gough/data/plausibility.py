"""Can this log be this robot's? Wrong units and swapped columns, told by geometry and masses.

A log is refused only if another reading of it fits the robot far better than the one as given.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.tables import Where
from gough.data.leg_rates import with_rates
from gough.errors import InputError
from gough.model.model import Model
from gough.model.places import places
from gough.motion import Motion

FAR = 30.0
"""Ratio of sizes that only another unit explains: thousands, half way in logarithms."""
LARGEST_TURN = 1.6
"""Turn from home (rad) beyond which hexapods do not go: degrees, then."""
FITS = 0.3
"""Misfit of forces (rms, relative) of a reading that is believed."""
BETTER = 0.5
"""Part of the misfit as given to which another reading must bring it to be believed."""
SUSPICIOUS = 0.2
"""Misfit from which other readings are tried."""
SAMPLES = 24
"""Samples of a log on which readings are tried."""


def check_stroke(robot: Model, q: Array, where: Where) -> None:
    """Refuse leg coordinates (n, legs) in another unit than the robot's."""
    size, units = _coordinate_size(robot), robot.leg_kind.units
    row, leg = (int(i) for i in np.unravel_index(np.argmax(np.abs(q)), q.shape))
    if abs(q[row, leg]) > FAR * size:
        raise InputError(
            f"{where(row)}, column q{leg + 1}: {q[row, leg]:g} {units.q}, where {robot.name}'s are "
            f"about {size:.3g} {units.q}; are they in {units.mistaken}?"
        )
    if robot.leg_kind.shape.q_is_length and np.abs(q).max() < size / FAR:
        raise InputError(
            f"{where(0)}, column q1: {q[0, 0]:g} m, where {robot.name}'s are about {size:.3g} m; "
            "leg coordinates are lengths from joint to joint, in metres"
        )


def check_pose(robot: Model, position: Array, vectors: Array | None, where: Where) -> None:
    """Refuse positions (n, 3) in other units than metres, rotation vectors (n, 3) in degrees."""
    home = robot.description.home
    middle = np.zeros(3) if home is None else home.position
    away = np.linalg.norm(position - middle, axis=-1)
    size, row = _leg_length(robot) + robot.length_scale, int(np.argmax(away))
    if away[row] > FAR * size:
        raise InputError(
            f"{where(row)}: a position {away[row]:g} m from home, where {robot.name}'s legs are "
            f"about {size:.3g} m long; is it in millimetres?"
        )
    if vectors is not None and home is not None:
        still = Rotation.from_matrix(home.rotation).as_rotvec()
        turn = np.linalg.norm(vectors - still, axis=-1)
        row = int(np.argmax(turn))
        if turn[row] > LARGEST_TURN:
            raise InputError(
                f"{where(row)}: a rotation {turn[row]:.4g} rad from home (limit {LARGEST_TURN:g} rad);"
                " is it in degrees?"
            )


def check_fit(robot: Model, q: Array, qd: Array, qdd: Array, forces: Array, header: str) -> None:
    """Refuse a log whose forces fit the robot file's only in another unit, sign or order of columns.

    q, q̇, q̈ and forces (n, legs) of a log. Needs the masses of the robot file, though not good ones; a
    robot without masses passes.
    """
    if robot.description.missing or robot.description.home is None:
        return
    rows = np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))
    rates, measured = (q[rows], qd[rows], qdd[rows]), forces[rows]
    model = _forces(robot, *rates)
    given = _misfit(model, measured)
    if given < SUSPICIOUS:
        return
    if np.isfinite(model).any():
        ratio = float(np.sqrt(np.nanmean(model**2) / max(np.mean(measured**2), 1e-300)))
        if ratio > FAR or ratio < 1 / FAR:
            size = "large" if ratio < 1 else "small"
            unit = ("milli" if ratio < 1 else "kilo") + robot.leg_kind.units.force_name
            raise InputError(
                f"{header}: the forces are {max(ratio, 1 / ratio):.0f} times too {size} for "
                f"{robot.name}; are they in {unit}?"
            )
        if _believed(_misfit(model, -measured), given):
            raise InputError(
                f"{header}: the forces have the wrong sign: a positive force pushes towards larger q "
                f"({_fits(_misfit(model, -measured), given)})"
            )
        cost = np.nansum((model[:, :, np.newaxis] - measured[:, np.newaxis, :]) ** 2, axis=0)
        order = linear_sum_assignment(cost)[1]
        if _believed(fit := _misfit(model, measured[:, order]), given):
            raise InputError(f"{header}: {_swapped('force', order)} ({_fits(fit, given)})")
    orders, few = _orders(robot.leg_count), slice(None, None, SAMPLES // 4)
    models = _forces(robot, *(one[few][:, orders].swapaxes(0, 1) for one in rates))
    best = orders[int(np.argmin([_misfit(one, measured[few]) for one in models]))]
    fit = _misfit(_forces(robot, *(one[:, best] for one in rates)), measured)
    if _believed(fit, given):
        raise InputError(f"{header}: {_swapped('q', best)} ({_fits(fit, given)})")


def _coordinate_size(robot: Model) -> float:
    """How large the robot's leg coordinates get, in their unit, roughly."""
    limits = robot.description.limits
    ends = [one[np.isfinite(one)] for one in (limits.shortest, limits.longest)]
    ends.append(robot.leg_kind.shape.q_size(robot.description.legs))
    if robot.description.home is not None:
        ends.append(robot.inverse_kinematics(robot.home).q)
    return float(np.abs(np.concatenate(ends)).max()) or robot.length_scale


def _leg_length(robot: Model) -> float:
    """Largest distance of a leg's joints at home, m; without home, of a foot from the origin."""
    if robot.description.home is None:
        feet = robot.leg_kind.shape.feet(robot.description.legs)
        return float(np.linalg.norm(feet, axis=-1).max())
    joints = places(robot, robot.inverse_kinematics(robot.home))
    return float(np.linalg.norm(joints.spherical - joints.universal, axis=-1).max())


def _forces(robot: Model, q: Array, qd: Array, qdd: Array) -> Array:
    """The robot file's forces (..., legs), NaN where the legs do not meet a pose near home."""
    shape = q.shape
    flat = q.reshape(-1, shape[-1])
    poses = robot.forward_kinematics(flat, robot.home, on_error="nan")
    good = np.isfinite(poses.position).all(axis=-1)
    found = np.full(flat.shape, np.nan)
    if good.any():
        rates = (one.reshape(flat.shape)[good] for one in (qd, qdd))
        motion = with_rates(robot, Motion(poses.position[good], poses.rotation[good]), *rates)
        found[good] = robot.inverse_dynamics(motion, on_error="nan").forces
    return found.reshape(shape)


def _misfit(model: Array, measured: Array) -> float:
    """Relative rms difference over the samples that have a model, ∞ if most have none."""
    good = np.isfinite(model).all(axis=-1)
    if good.mean() < 0.5:
        return float("inf")
    difference = np.median(np.sum((model[good] - measured[good]) ** 2, axis=-1))
    return float(np.sqrt(difference / max(np.median(np.sum(measured**2, axis=-1)), 1e-300)))


def _believed(fit: float, given: float) -> bool:
    return fit < FITS and fit < BETTER * given


def _fits(fit: float, given: float) -> str:
    as_given = f"{100 * given:.0f} %" if np.isfinite(given) else "not at all"
    return f"misfit to the robot file {100 * fit:.0f} %, as given {as_given}"


def _orders(legs: int) -> Array:
    """Orders of columns to try: all but the one as given."""
    return np.array([*itertools.permutations(range(legs))])[1:]


def _swapped(name: str, order: Array) -> str:
    moved = [f"{name}{i + 1}" for i in np.flatnonzero(order != np.arange(len(order)))]
    return f"columns {', '.join(moved[:-1])} and {moved[-1]} look swapped"
