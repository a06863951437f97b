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
from gough.description.numbers import LegGroup, describe
from gough.errors import ConvergenceError, Failure, MissingDataError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.mechanics.groups import parted
from gough.model.model import Model
from gough.parameters.base import BaseParameters
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
    bounded = ("rotors", "friction")
    lower = np.array([0.0 if one.part in bounded else -np.inf for one in base.columns])
    if consistent:
        repeat = np.eye(len(widths)) if found.equal is None else found.equal.repeat
        x = _semidefinite(robot, rows, right, widths, lower, repeat)
    else:
        x = np.linalg.lstsq(rows, right, rcond=None)[0]
        if np.any(x < lower):
            x = lsq_linear(rows, right, bounds=(lower, np.inf)).x
    same = np.abs(x * widths - base.standard) < NO_CHANGE * widths
    same |= _untold(base)
    return np.where(same, base.standard, x * widths)


def adopted(robot: Model, found: Identification, *, consistent: bool = False) -> Model:
    """The robot with the parameters found in its file; comments and geometry stay as they are."""
    values, names = standard_values(robot, found, consistent=consistent), found.base.names
    if found.equal is not None:
        values, names = found.equal.repeat @ values, found.equal.whole.names
    return robot.edited(changes(robot, names, values))


def changes(robot: Model, names: tuple[str, ...], values: Array) -> Mapping[str, Any]:
    """Keys of the robot file that make X the given values, bodies by their standard parameters.

    What is bolted to the platform as payload stays; the platform has the rest.
    """
    value = dict(zip(names, values, strict=True))
    found: dict[str, Any] = {}
    for group in robot.description.groups:
        found |= {f"{group.where}.{key}": one for key, one in _keys(group, value).items()}
    platform = values[Layout.of(robot.mechanism.legs).of_platform] - _payload(robot)
    table: dict[str, Any] = {
        key: float(one) for key, one in zip(STANDARD_PARAMETERS, platform, strict=True) if one
    }
    bolted = robot.file.platform
    if bolted is not None:
        table |= bolted.freedom
        if bolted.payload:
            table["payload"] = [one.model_dump(exclude_unset=True) for one in bolted.payload]
    found["platform"] = table
    return found


def _keys(group: LegGroup, value: Mapping[str, float]) -> dict[str, Any]:
    """Keys of a group of legs that make its parameters, by name, what they are to be."""
    rules, parts = group.kind.parameters, parted(group.legs)
    numbers = range(group.first + 1, group.first + group.leg_count + 1)

    def per_leg(name: str) -> Array:
        return np.array([value.get(f"leg {leg} {name}", 0.0) for leg in numbers])

    found: dict[str, Any] = {}
    for body in dict.fromkeys(name for legs in parts for name in legs.BODIES):
        ten = {key: per_leg(f"{body} {key}") for key in STANDARD_PARAMETERS}
        found[rules.key(body)] = {key: _short(one) for key, one in ten.items() if one.any()}
    for rotor in dict.fromkeys(name for legs in parts for name in rules.rotors(legs)):
        found[rules.key(rotor)] = _short(per_leg(rotor))
    for law in dict.fromkeys(name for legs in parts for name in legs.LINEAR_FRICTION):
        column = per_leg(law)
        if column.any():
            keys = rules.friction_keys(group.table, law, column)
            found |= {key: _short(one) for key, one in keys.items()}
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
    return Layout.of(robot.mechanism.legs)


def _untold(base: BaseParameters) -> Array:
    """(columns,) booleans: friction that nothing tells from other friction of the leg."""
    untold = {f"leg {i + 1} {name}" for i, rules in enumerate(base.legs) for name in rules.felt_as}
    return np.array([name in untold for name in base.names])


def _widths(robot: Model, found: Identification) -> Array:
    """How far a parameter may be from the file's, by its unit: whole weights, lengths and forces."""
    base, length = found.base, robot.length_scale
    masses = np.array([one.name.endswith(" M") for one in base.columns])
    mass = float(np.abs(base.standard[masses]).max()) or 1.0
    arms = np.array([length if one.units.turns else 1.0 for one in robot.actuators])
    weight = SHARE * float(np.sqrt(np.mean((found.measured.forces / arms) ** 2)))
    sizes = {
        "kg": mass,
        "kg m": mass * length,
        "kg m²": mass * length**2,
        "N": weight,
        "N m": weight * length,
        "N s/m": weight / SPEED,
        "N m s/rad": weight * length**2 / SPEED,
    }
    widths = np.array([sizes[unit] for unit in base.units])
    widths[_untold(found.base)] *= 1e-9  # as the file has it
    return widths


def _semidefinite(
    robot: Model, rows: Array, right: Array, widths: Array, lower: Array, repeat: Array
) -> Array:
    """X in widths, every body real; `repeat` P makes all bodies of those that stand for others."""
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
    legs = (ten for own in layout.places() for ten in own.bodies.reshape(-1, TEN))
    every = repeat @ cvxpy.multiply(widths, x)
    for places in (*legs, platform):
        ten = every[places]
        xx, xy, xz, yy, yz, zz, mx, my, mz, mass = (ten[i] for i in range(TEN))
        of_inertia, *_, of_moment, of_mass = (repeat @ widths)[places]
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
