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
from gough.legs.reading import by_units
from gough.model.model import Model
from gough.model.places import alike
from gough.model.sense import FAR, TOO_FAR
from gough.motion import Motion

LIKE = 3.0
"""Ratio within which sizes are alike: a column a thousand times too small is in another unit."""
LARGEST_TURN = 1.6
"""Turn from home (rad) beyond which hexapods do not go: degrees, then."""
FITS = 0.3
"""Misfit of forces (rms, relative) of a reading that is believed."""
BETTER = 0.5
"""Part of the misfit as given to which another reading must bring it to be believed."""
SUSPICIOUS = 0.2
"""Misfit from which other readings are tried."""
MOST_ORDERED = 6
"""Columns of which all orders are tried."""
SAMPLES = 24
"""Samples of a log on which readings are tried."""


def check_stroke(robot: Model, q: Array, where: Where) -> None:
    """Refuse actuated coordinates (n, actuators) in another unit than the robot's."""
    sizes = robot.coordinate_sizes
    for units, which in by_units(robot.actuators):
        size = float(sizes[which].max()) or robot.length_scale
        row, place = (
            int(i) for i in np.unravel_index(np.argmax(np.abs(q[:, which])), (len(q), len(which)))
        )
        actuator = int(which[place])
        if abs(q[row, actuator]) > FAR * size:
            raise InputError(
                f"{where(row)}, column q{actuator + 1}: {q[row, actuator]:g} {units.q}, where "
                f"{robot.name}'s are about {size:.3g} {units.q}; are they in {units.mistaken}?"
            )
    _check_columns(robot, q, where)
    for legs in alike(robot):
        own = q[:, legs.actuators]
        size = float(sizes[legs.actuators].max(initial=0.0))
        if legs.kind.shape.q_is_length and np.abs(own).max() < size / FAR:
            raise InputError(
                f"{where(0)}, column q{legs.actuators.start + 1}: {own[0, 0]:g} m, where "
                f"{robot.name}'s are about {size:.3g} m; leg coordinates are lengths from joint to "
                "joint, in metres"
            )


def _check_columns(robot: Model, q: Array, where: Where) -> None:
    """Refuse single columns of lengths that are a thousand times too small, and alike if they were not.

    By their places at home: of columns that are all like that `check_stroke` knows.
    """
    if robot.description.home is None:
        return
    home = np.abs(robot.inverse_kinematics(robot.home).q)
    largest = 1000 * np.abs(q).max(axis=0, initial=0.0)
    small = (largest < LIKE * home) & (largest > home / LIKE)
    for actuator in np.flatnonzero(small):
        units = robot.actuators[actuator].units
        if not units.turns:
            raise InputError(
                f"{where(0)}, column q{actuator + 1}: {q[0, actuator]:g} {units.q}, where "
                f"{robot.name}'s is about {home[actuator]:.3g} {units.q}, a thousand times as much; is "
                "its unit right?"
            )


def check_pose(robot: Model, position: Array, vectors: Array | None, where: Where) -> None:
    """Refuse positions (n, 3) in other units than metres, rotation vectors (n, 3) in degrees."""
    home = robot.description.home
    middle = np.zeros(3) if home is None else home.position
    away = np.linalg.norm(position - middle, axis=-1)
    row = int(np.argmax(np.where(np.isfinite(away), away, 0.0)))
    if away[row] > FAR * robot.reach:
        raise InputError(f"{where(row)}: {TOO_FAR.format(away[row], robot.name, robot.reach)}")
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

    q, q̇, q̈ and forces (n, actuators) of a log. Needs the masses of the robot file, though not good ones,
    and forces that a motion fixes: robots without masses or with redundant actuators pass.
    """
    if robot.description.missing or robot.description.home is None:
        return
    if robot.actuator_count != robot.mobility:
        return
    rows = np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))
    rates, measured = (q[rows], qd[rows], qdd[rows]), forces[rows]
    model = _forces(robot, *rates)
    given = _misfit(model, measured)
    if given < SUSPICIOUS:
        return
    if np.isfinite(model).any():
        if not measured.any():
            raise InputError(f"{header}: all forces are 0, those of {robot.name} are not")
        ratio = float(np.sqrt(np.nanmean(model**2) / max(np.mean(measured**2), 1e-300)))
        if ratio > FAR or ratio < 1 / FAR:
            size = "large" if ratio < 1 else "small"
            unit = ("milli" if ratio < 1 else "kilo") + robot.units.force_name
            raise InputError(
                f"{header}: the forces are {max(ratio, 1 / ratio):.3g} times too {size} for "
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
    orders, few = _orders(robot.actuator_count), slice(None, None, SAMPLES // 4)
    models = _forces(robot, *(one[few][:, orders].swapaxes(0, 1) for one in rates))
    best = orders[int(np.argmin([_misfit(one, measured[few]) for one in models]))]
    fit = _misfit(_forces(robot, *(one[:, best] for one in rates)), measured)
    if _believed(fit, given):
        raise InputError(f"{header}: {_swapped('q', best)} ({_fits(fit, given)})")


def _forces(robot: Model, q: Array, qd: Array, qdd: Array) -> Array:
    """The robot file's forces (..., actuators), NaN where the legs do not meet a pose near home.

    A log has no elastic coordinates: a flexible platform counts as rigid.
    """
    robot, shape = robot.rigid, q.shape
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


def _orders(count: int) -> Array:
    """Orders of columns to try, but for the one as given: all, of more than six exchanges of two."""
    if count <= MOST_ORDERED:
        return np.array([*itertools.permutations(range(count))])[1:]
    orders = np.tile(np.arange(count), (count * (count - 1) // 2, 1))
    for order, (one, other) in zip(orders, itertools.combinations(range(count), 2), strict=True):
        order[[one, other]] = other, one
    return orders


def _swapped(name: str, order: Array) -> str:
    moved = [f"{name}{i + 1}" for i in np.flatnonzero(order != np.arange(len(order)))]
    return f"columns {', '.join(moved[:-1])} and {moved[-1]} look swapped"
