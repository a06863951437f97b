"""The regressor: actuator forces are linear in inertial and simple friction parameters, Γ = W X."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import symbolic
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.mechanics import equation
from gough.mechanics.body import Body
from gough.mechanics.equation import Mechanism
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.mechanics.programs import Outputs
from gough.mechanics.state import RIGID_FIELDS, State
from gough.mechanics.vectors import Components
from gough.model import batch
from gough.model.batch import OnError
from gough.model.derivative_programs import graph_of
from gough.model.model import Model
from gough.model.slopes import matrices
from gough.motion import Motion
from gough.parameters.layout import TEN, Layout

SYMMETRIC = 1e-9
"""Largest |D − Dᵀ|, of the largest element, of a matrix that counts as symmetric."""


@symbolic
def regressor_row(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """Σ weight ∂Γ/∂X, (parameters,): Γ is linear in X, so the values of X never enter."""
    graph = graph_of(state)
    unknown = graph.inputs("standard", (Layout.of(mechanism.legs, len(weights)).size, 1))
    wrench = graph.constants(np.zeros((6, 1)))
    forces = equation.inverse(with_parameters(mechanism, unknown), state, wrench).forces
    return {"row": gradients(forces, weights, unknown)}


@symbolic
def regressor_row_with_friction(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """The same, the linear friction parameters behind the inertial ones."""
    graph = graph_of(state)
    zeros = graph.constants(np.zeros((len(weights), 1)))
    robot, unknown = rubbing_with(mechanism, graph)
    wrench = graph.constants(np.zeros((6, 1)))
    forces = equation.inverse(robot, state, wrench, loads=Loads(zeros, zeros, zeros)).forces
    return {"row": gradients(forces, weights, unknown)}


def parameter_names(robot: Model, friction: bool = False) -> tuple[str, ...]:
    """Names of the parameters, in the order of `standard_parameters`.

    For each leg its bodies, ten parameters each ("leg 1 rod XX"); the rotor masses; the
    platform's ten; with `friction` each leg's friction ("leg 1 slider_viscous"). Of a
    flexible platform also the elements of K, then of D: "mode 1 stiffness", "modes 1,2 stiffness".
    """
    legs = [f"leg {i + 1}" for i in range(robot.leg_count)]
    bodies = robot.mechanism.legs.BODIES
    names = [
        f"{leg} {body} {key}" for leg in legs for body in bodies for key in STANDARD_PARAMETERS
    ]
    names += [f"{leg} {robot.leg_kind.parameters.rotor}" for leg in legs]
    names += [f"platform {key}" for key in STANDARD_PARAMETERS]
    if friction:
        names += [f"{leg} {key}" for leg in legs for key in robot.mechanism.legs.LINEAR_FRICTION]
    for key, elements in modal_elements(robot).items():
        names += [
            f"mode {i + 1} {key}" if i == j else f"modes {i + 1},{j + 1} {key}"
            for i, j in elements.pairs
        ]
    return tuple(names)


def standard_parameters(robot: Model, friction: bool = False) -> Array:
    """X (parameters,): what `parameter_names` says, payload counted with the platform, SI units."""
    mechanism = robot.mechanism
    bodies = [_ten(getattr(mechanism.legs, name)) for name in mechanism.legs.BODIES]
    legs = np.stack(bodies).transpose(2, 0, 1)
    parts = [legs, mechanism.legs.rotor, _ten(mechanism.platform.body)]
    if friction:
        rubs = [
            getattr(mechanism.legs.friction, name) for name in robot.mechanism.legs.LINEAR_FRICTION
        ]
        parts.append(np.concatenate(rubs, axis=1))
    parts += [elements.values for elements in modal_elements(robot).values()]
    return np.concatenate([np.ravel(part) for part in parts])


def regressor(
    robot: Model, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> Array:
    """W (..., legs, parameters) with Γ = W X, no wrench; X as `standard_parameters`.

    The exact derivative of the forces by the parameters, which does not depend on their values. With
    more than six legs Γ is the one of least norm. `friction` adds columns for the friction that forces
    are linear in; a robot with friction that grows with loads, which no W can give, is refused.
    """
    if friction:
        refuse_load_friction(robot)
    if robot.modes:
        raise InputError(
            f"{robot.name} has a flexible platform, whose elastic acceleration is solved for together "
            "with the forces: `robot.regressor` and `generalised_regressor` take the motion's"
        )
    forces = robot.inverse_dynamics(motion, friction=False, on_error=on_error).forces
    rows = batch.lay_out(motion, {"forces": (forces, (robot.leg_count,))})
    state = {name: rows.fields[name] for name in RIGID_FIELDS}
    row = regressor_row_with_friction if friction else regressor_row
    out = matrices(robot, row, rows.rows, state, {"weights": np.eye(robot.leg_count)})
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["row"]


def refuse_load_friction(robot: Model) -> None:
    """Raise if the robot has friction that is not linear in its parameters, and name it."""
    found = [
        name
        for name in robot.mechanism.legs.LOAD_FRICTION
        if np.any(getattr(robot.mechanism.legs.friction, name))
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


def modal_elements(robot: Model) -> dict[str, ModalElements]:
    """The elements of K ("stiffness") and D ("damping") of a flexible platform.

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
    legs, count = mechanism.legs, mechanism.points.shape[1]
    layout = Layout.of(legs, count, friction=True)
    unknown = graph.inputs("standard", (layout.size, 1))
    by_leg = unknown[layout.of_friction].reshape(count, layout.friction, 1)
    rubs = dict.fromkeys(Friction._fields, graph.constants(np.zeros((count, 1))))
    rubs |= {name: by_leg[:, i] for i, name in enumerate(legs.LINEAR_FRICTION)}
    friction = Friction(**rubs)._replace(width=legs.friction.width)
    changed = with_parameters(mechanism, unknown)
    return changed._replace(legs=changed.legs.replace(friction=friction)), unknown


def with_parameters(mechanism: Mechanism, standard: Components) -> Mechanism:
    """The robot with other inertial parameters (parameters, 1); its platform is rigid."""
    legs, count = mechanism.legs, mechanism.points.shape[1]
    layout = Layout.of(legs, count)
    tens = standard[layout.of_bodies].reshape(count, layout.bodies, TEN, 1)
    bodies = {name: _body(np.moveaxis(tens[:, i], 0, 1)) for i, name in enumerate(legs.BODIES)}
    return mechanism._replace(
        legs=legs.with_rotor(standard[layout.of_rotors]).replace(**bodies),
        platform=RigidPlatform(_body(standard[layout.of_platform, np.newaxis])),
    )


def _body(ten: Components) -> Body:
    """Bodies from their ten parameters, (10, bodies, 1)."""
    return Body(ten[9], ten[6:9], ten[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]])
