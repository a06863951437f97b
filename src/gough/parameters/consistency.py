"""Standard parameters that carry identified base parameters, as near as may be to a robot file's.

A log fixes G X only. Of all X the one is taken that strays least from the robot file's X₀, in widths
that are natural for its unit:

    minimise  (G X − X_base)ᵀ P⁻¹ (G X − X_base) + ‖(X − X₀)/width‖²

with P the covariance of the identification, so that what the log hardly shows stays what the file says.
Friction and rotor masses are never negative. "Consistent": besides, every body is one that matter can
make: its pseudo-inertia matrix ∫ [x; 1][x; 1]ᵀ dm = [½ tr(I) 1 − I, MS; MSᵀ, M] is positive semidefinite
(Wensing, Kim & Slotine 2018; Sousa & Cortesão 2014), a semidefinite program, solved by cvxpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import lsq_linear

from gough.base.arrays import Array
from gough.description.numbers import describe
from gough.errors import ConvergenceError, Failure, MissingDataError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.model.model import Model
from gough.parameters.base import BaseParameters, unit_of
from gough.parameters.layout import TEN, Layout
from gough.parameters.regressor import standard_parameters

if TYPE_CHECKING:
    from gough.parameters.identification import Identification

SPEED = 0.1
"""Speed (m/s) and, over the length scale, rate at which viscous friction is compared with weight."""
SHARE = 0.1
"""Friction's width, in weights."""
NO_CHANGE = 1e-9
"""In widths: what is rounding only."""


def standard_values(robot: Model, found: Identification, *, consistent: bool = False) -> Array:
    """X (columns,) of the module's text, in the order of `found.base.names`.

    Needs cvxpy (the extra `identify`) if it is to be consistent.
    """
    base = found.base
    widths = _widths(robot, found)
    values, vectors = np.linalg.eigh(found.information)
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    rows = np.concatenate([root @ base.grouping, np.diag(1 / widths)]) * widths
    right = np.concatenate([root @ found.values, base.standard / widths])
    # rows reach from 1 to 1e8: equations of one triangle lose less than their squares would
    lower = np.array([0.0 if _never_negative(name) else -np.inf for name in base.names])
    if consistent:
        x = _semidefinite(robot, rows, right, widths, lower)
    else:
        x = np.linalg.lstsq(rows, right, rcond=None)[0]
        if np.any(x < lower):
            x = lsq_linear(rows, right, bounds=(lower, np.inf)).x
    same = np.abs(x * widths - base.standard) < NO_CHANGE * widths
    same |= _untold(base)
    return np.where(same, base.standard, x * widths)


def adopted(robot: Model, found: Identification, *, consistent: bool = False) -> Model:
    """The robot with the parameters found in its file; comments and geometry stay as they are."""
    return robot.edited(changes(robot, found.base.names, standard_values(
        robot, found, consistent=consistent
    )))  # fmt: skip


def changes(robot: Model, names: tuple[str, ...], values: Array) -> Mapping[str, Any]:
    """Keys of the robot file that make X the given values, bodies by their standard parameters.

    What is bolted to the platform as payload stays; the platform has the rest.
    """
    legs = robot.mechanism.legs
    layout = Layout.of(legs, robot.leg_count, len(names) > _inertial(robot).size)
    found: dict[str, Any] = {}
    for i, body in enumerate(legs.BODIES):
        columns = zip(STANDARD_PARAMETERS, values[layout.bodies_of_legs[:, i]].T, strict=True)
        found[f"legs.{body}"] = {key: _short(column) for key, column in columns if column.any()}
    found[f"legs.{robot.leg_kind.parameters.rotor}"] = _short(values[layout.of_rotors])
    platform = values[layout.of_platform] - _payload(robot)
    table = {key: float(one) for key, one in zip(STANDARD_PARAMETERS, platform, strict=True) if one}
    payload = robot.file.platform.payload if robot.file.platform is not None else []
    if payload:
        kept = [one.model_dump(exclude_unset=True) for one in payload]
        found["platform"] = {**table, "payload": kept}
    else:
        found["platform"] = table
    if not layout.friction:
        return found
    for name, places in zip(legs.LINEAR_FRICTION, layout.friction_of_legs.T, strict=True):
        column = values[places]
        if not column.any():
            continue
        for key, value in robot.file.legs.friction.keys_of(name, column).items():
            found[f"legs.friction.{key}"] = _short(value)
    return found


def _short(column: Array) -> Any:
    """One number if it is the same for all legs."""
    first = column.flat[0]
    return float(first) if np.all(column == first) else column.tolist()


def _payload(robot: Model) -> Array:
    """The ten parameters of what is bolted to the platform."""
    platform = robot.file.platform
    if platform is None or not platform.payload:
        return np.zeros(TEN)
    own = [key for key in platform.model_fields_set if key != "payload"]
    bare = platform.model_copy(
        update={key: type(platform).model_fields[key].get_default() for key in own}
    )
    only = robot.file.model_copy(update={"platform": bare})
    alone = type(robot)(only, robot.text, describe(only, robot.name))
    return standard_parameters(alone)[_inertial(robot).of_platform]


def _inertial(robot: Model) -> Layout:
    """Places of the inertial parameters."""
    return Layout.of(robot.mechanism.legs, robot.leg_count)


def _untold(base: BaseParameters) -> Array:
    """(columns,) booleans: friction that nothing tells from other friction of the leg."""
    return np.array([name.rpartition(" ")[2] in base.legs.felt_as for name in base.names])


def _never_negative(name: str) -> bool:
    return unit_of(name).startswith("N") or name.rpartition(" ")[2].startswith("rotor_")


def _widths(robot: Model, found: Identification) -> Array:
    """How far a parameter may be from the file's, by its unit: whole weights, lengths and forces."""
    names = found.base.names
    mass = float(np.abs(found.base.standard[[n.endswith(" M") for n in names]]).max()) or 1.0
    length = robot.length_scale
    weight = SHARE * float(np.sqrt(np.mean(found.measured.forces**2)))
    sizes = {
        "kg": mass,
        "kg m": mass * length,
        "kg m²": mass * length**2,
        "N": weight,
        "N s/m": weight / SPEED,
        "N m s/rad": weight * length**2 / SPEED,
    }
    widths = np.array([sizes[unit_of(name)] for name in names])
    widths[_untold(found.base)] *= 1e-9  # as the file has it
    return widths


def _semidefinite(robot: Model, rows: Array, right: Array, widths: Array, lower: Array) -> Array:
    try:
        cvxpy: Any = import_module("cvxpy")
    except ImportError:
        raise MissingDataError(
            "the physically consistent solution needs cvxpy: pip install 'gough[identify]'"
        ) from None
    # the triangle of the QR factors says the same in fewer rows
    triangle = np.asarray(np.linalg.qr(np.column_stack([rows, right]), mode="r"))
    triangle = triangle / np.abs(triangle).max()
    x = cvxpy.Variable(rows.shape[1])
    bounded = np.flatnonzero(np.isfinite(lower))
    constraints: list[Any] = [x[bounded] >= 0]
    layout = _inertial(robot)
    platform = np.arange(layout.of_platform.start, layout.of_platform.stop)
    for places in (*layout.bodies_of_legs.reshape(-1, TEN), platform):
        ten = cvxpy.multiply(widths[places], x[places])
        xx, xy, xz, yy, yz, zz, mx, my, mz, mass = (ten[i] for i in range(TEN))
        of_inertia, *_, of_moment, of_mass = widths[places]
        length = float(of_moment / of_mass)
        pseudo = cvxpy.bmat(
            [
                [(yy + zz - xx) / 2, -xy, -xz, mx * length],
                [-xy, (xx + zz - yy) / 2, -yz, my * length],
                [-xz, -yz, (xx + yy - zz) / 2, mz * length],
                [mx * length, my * length, mz * length, mass * length**2],
            ]
        )
        constraints.append(pseudo / float(of_inertia) >> 0)
    objective = cvxpy.Minimize(cvxpy.sum_squares(triangle[:, :-1] @ x - triangle[:, -1]))
    problem = cvxpy.Problem(objective, constraints)
    try:
        problem.solve(solver=cvxpy.CLARABEL)
        status = problem.status
    except cvxpy.error.SolverError as error:
        status = str(error)
    if status not in ("optimal", "optimal_inaccurate"):
        raise ConvergenceError([Failure((), None, f"the semidefinite program: {status}")])
    return np.asarray(x.value)
