"""The regressor: actuator forces are linear in inertial and simple friction parameters, Γ = W X."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.description.schema import STANDARD_PARAMETERS
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients, symbolic
from gough.errors import InputError
from gough.mechanics import equation as dynamics
from gough.mechanics.body import Body
from gough.mechanics.equation import RIGID_FIELDS, Mechanism, State
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.programs import Outputs
from gough.mechanics.vectors import Components
from gough.model import batch
from gough.model.batch import OnError
from gough.model.derivative_programs import graph_of
from gough.model.slopes import matrices
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.robot import Robot

LINEAR_FRICTION = {
    "UPS": (
        "slider_viscous",
        "slider_coulomb",
        "screw_drag",
        "universal_viscous",
        "spherical_viscous",
    ),
    "PUS": ("slider_viscous", "screw_drag", "universal_viscous", "spherical_viscous"),
}
"""Friction that the forces are linear in; `screw_drag` is 2π screw_torque/screw_lead, N."""
LOAD_FRICTION = {
    "UPS": ("universal_coulomb", "spherical_coulomb"),
    "PUS": ("slider_coulomb", "universal_coulomb", "spherical_coulomb"),
}
"""Friction that grows with the load in the joint, which friction itself changes: not linear."""
SYMMETRIC = 1e-9
"""Largest |D − Dᵀ|, of the largest element, of a matrix that counts as symmetric."""


@symbolic
def regressor_row(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """Σ weight ∂Γ/∂X, (parameters,): Γ is linear in X, so the values of X never enter."""
    graph = graph_of(state)
    unknown = graph.inputs("standard", (31 * len(weights) + 10, 1))
    wrench = graph.constants(np.zeros((6, 1)))
    forces = dynamics.inverse(with_parameters(mechanism, unknown), state, wrench).forces
    return {"row": gradients(forces, weights, unknown)}


@symbolic
def regressor_row_with_friction(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """The same, the linear friction parameters behind the inertial ones."""
    graph = graph_of(state)
    zeros = graph.constants(np.zeros((len(weights), 1)))
    robot, unknown = rubbing_with(mechanism, graph)
    wrench = graph.constants(np.zeros((6, 1)))
    forces = dynamics.inverse(robot, state, wrench, loads=Loads(zeros, zeros, zeros)).forces
    return {"row": gradients(forces, weights, unknown)}


def parameter_names(robot: Robot, friction: bool = False) -> tuple[str, ...]:
    """Names of the parameters, in the order of `standard_parameters`.

    For each leg its three bodies, ten parameters each ("leg 1 rod XX"); the rotor masses; the
    platform's ten; with `friction` each leg's LINEAR_FRICTION ("leg 1 slider_viscous"). Of a platform
    that bends also the elements of K, then of D: "mode 1 stiffness", "modes 1,2 stiffness".
    """
    legs = [f"leg {i + 1}" for i in range(robot.leg_count)]
    bodies = robot.mechanism.equations.BODIES
    names = [
        f"{leg} {body} {key}" for leg in legs for body in bodies for key in STANDARD_PARAMETERS
    ]
    names += [f"{leg} rotor_mass" for leg in legs]
    names += [f"platform {key}" for key in STANDARD_PARAMETERS]
    if friction:
        names += [f"{leg} {key}" for leg in legs for key in LINEAR_FRICTION[robot.kind]]
    for key, elements in modal_elements(robot).items():
        names += [
            f"mode {i + 1} {key}" if i == j else f"modes {i + 1},{j + 1} {key}"
            for i, j in elements.pairs
        ]
    return tuple(names)


def standard_parameters(robot: Robot, friction: bool = False) -> Array:
    """X (parameters,): what `parameter_names` says, payload counted with the platform, SI units."""
    mechanism = robot.mechanism
    bodies = [_ten(getattr(mechanism.legs, name)) for name in mechanism.equations.BODIES]
    legs = np.stack(bodies).transpose(2, 0, 1)
    parts = [legs, mechanism.legs.rotor_mass, _ten(mechanism.platform)]
    if friction:
        rubs = [getattr(mechanism.friction, name) for name in LINEAR_FRICTION[robot.kind]]
        parts.append(np.concatenate(rubs, axis=1))
    parts += [elements.values for elements in modal_elements(robot).values()]
    return np.concatenate([np.ravel(part) for part in parts])


def regressor(
    robot: Robot, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> Array:
    """W (..., legs, parameters) with Γ = W X, no wrench; X as `standard_parameters`.

    The exact derivative of the forces by the parameters, which does not depend on their values. With
    more than six legs Γ is the one of least norm. `friction` adds columns for LINEAR_FRICTION; a
    robot that has friction of the other kind, which no W can give, is refused.
    """
    if friction:
        refuse_load_friction(robot)
    robot.need_rigid("a regressor of actuator forces (`generalised_regressor` is of all forces)")
    forces = robot.inverse_dynamics(motion, friction=False, on_error=on_error).forces
    rows = batch.lay_out(motion, {"forces": (forces, (robot.leg_count,))})
    state = {name: rows.fields[name] for name in RIGID_FIELDS}
    row = regressor_row_with_friction if friction else regressor_row
    out = matrices(robot, row, rows.rows, state, {"weights": np.eye(robot.leg_count)})
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["row"]


def refuse_load_friction(robot: Robot) -> None:
    """Raise if the robot has friction that is not linear in its parameters, and name it."""
    found = [
        name
        for name in LOAD_FRICTION[robot.kind]
        if np.any(getattr(robot.mechanism.friction, name))
    ]
    if found:
        raise InputError(
            f"{robot.name}: {', '.join(found)} in [legs.friction]: friction that grows with the "
            "joint's load is not linear in its coefficient; set it to 0 or leave friction out"
        )


class ModalElements(NamedTuple):
    """Elements of a modal matrix that are parameters."""

    pairs: list[tuple[int, int]]
    """Rows and columns, from 0."""
    values: Array
    symmetric: bool
    """An element stands for its mirror image too."""


def modal_elements(robot: Robot) -> dict[str, ModalElements]:
    """The elements of K ("stiffness") and D ("damping") of a platform that bends.

    Diagonals where there is nothing else, else the upper triangle; all if D is not symmetric.
    """
    body = robot.description.modal
    if body is None or not robot.modes:
        return {}
    return {"stiffness": _elements(body.stiffness), "damping": _elements(body.damping)}


def _elements(matrix: Array) -> ModalElements:
    size = np.abs(matrix).max()
    if np.array_equal(matrix, np.diag(np.diag(matrix))):
        places = np.diag_indices(len(matrix))
    elif np.abs(matrix - matrix.T).max() <= SYMMETRIC * size:
        matrix, places = (matrix + matrix.T) / 2, np.triu_indices(len(matrix))
    else:
        pairs = [(i, j) for i in range(len(matrix)) for j in range(len(matrix))]
        return ModalElements(pairs, matrix.ravel(), False)
    pairs = list(zip(*(place.tolist() for place in places), strict=True))
    return ModalElements(pairs, matrix[places], True)


def _ten(body: Body) -> Array:
    """XX XY XZ YY YZ ZZ MX MY MZ M of bodies, (10, bodies)."""
    tensor = body.inertia[np.triu_indices(3)]
    return np.concatenate([tensor, body.first_moment, body.mass[np.newaxis]])[..., 0]


def rubbing_with(mechanism: Mechanism, graph: Graph) -> tuple[Mechanism, Components]:
    """The robot with other inertial and linear friction parameters, and these, as symbols."""
    count = mechanism.points.shape[1]
    zeros = graph.constants(np.zeros((count, 1)))
    kind = "PUS" if hasattr(mechanism.equations, "guide_normals") else "UPS"
    names = LINEAR_FRICTION[kind]
    inertial = 31 * count + 10
    unknown = graph.inputs("standard", (inertial + len(names) * count, 1))
    by_leg = unknown[inertial:].reshape(count, len(names), 1)
    rubs = dict.fromkeys(Friction._fields, zeros) | {
        name: by_leg[:, i] for i, name in enumerate(names)
    }
    friction = Friction(**rubs)._replace(width=mechanism.friction.width)
    return with_parameters(mechanism, unknown[:inertial])._replace(friction=friction), unknown


def with_parameters(mechanism: Mechanism, standard: Components) -> Mechanism:
    """The robot with other inertial parameters (parameters, 1)."""
    count = mechanism.points.shape[1]
    legs = standard[: 30 * count].reshape(count, 3, 10, 1)
    bodies = {
        name: _body(np.moveaxis(legs[:, i], 0, 1))
        for i, name in enumerate(mechanism.equations.BODIES)
    }
    rotors = standard[30 * count : 31 * count]
    return mechanism._replace(
        legs=mechanism.legs._replace(rotor_mass=rotors, **bodies),
        platform=_body(standard[31 * count :, np.newaxis]),
    )


def _body(ten: Components) -> Body:
    """Bodies from their ten parameters, (10, bodies, 1)."""
    return Body(ten[9], ten[6:9], ten[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]])
