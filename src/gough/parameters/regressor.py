"""The regressor: actuator forces are linear in inertial and simple friction parameters, Γ = W X."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import symbolic
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.mechanics import equation
from gough.mechanics.body import Body
from gough.mechanics.friction import Loads
from gough.mechanics.groups import joined, parted
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.mechanics.programs import Outputs
from gough.mechanics.state import RIGID_FIELDS, State
from gough.mechanics.vectors import Components
from gough.model import batch
from gough.model.batch import OnError, yes_or_no
from gough.model.derivative_programs import graph_of
from gough.model.model import Model
from gough.model.places import alike
from gough.model.slopes import matrices
from gough.motion import Motion
from gough.parameters.layout import Layout

Part = Literal["legs", "rotors", "platform", "friction", "modes"]
TEN_UNITS = {
    key: "kg" if key == "M" else "kg m" if key[0] == "M" else "kg m²" for key in STANDARD_PARAMETERS
}
"""Of a body's standard parameters."""
MODAL_UNITS = {"stiffness": "1/s²", "damping": "1/s"}
"""Of shapes normalised by mass."""
SYMMETRIC = 1e-9
"""Largest |D − Dᵀ|, of the largest element, of a matrix that counts as symmetric."""


@symbolic
def regressor_row(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """Σ weight ∂Γ/∂X, (parameters,): Γ is linear in X, so the values of X never enter."""
    graph = graph_of(state)
    unknown = graph.inputs("standard", (Layout.of(mechanism.legs).size, 1))
    wrench = graph.constants(np.zeros((6, 1)))
    forces = equation.inverse(with_parameters(mechanism, unknown), state, wrench).forces
    return {"row": gradients(forces, weights, unknown)}


@symbolic
def regressor_row_with_friction(mechanism: Mechanism, state: State, weights: Components) -> Outputs:
    """The same, the linear friction parameters behind the inertial ones."""
    graph = graph_of(state)
    robot, unknown = rubbing_with(mechanism, graph)
    wrench = graph.constants(np.zeros((6, 1)))
    loads = no_loads(mechanism, graph)
    forces = equation.inverse(robot, state, wrench, loads=loads).forces
    return {"row": gradients(forces, weights, unknown)}


def no_loads(mechanism: Mechanism, graph: Graph) -> Loads:
    """Loads under which joints have the friction alone that no load changes."""
    zeros = graph.constants(np.zeros((mechanism.legs.count, 1)))
    return Loads(zeros, zeros, zeros)


class Column(NamedTuple):
    """A column of the regressor."""

    name: str
    unit: str
    part: Part
    """What it belongs to."""


def columns(robot: Model, friction: bool = False) -> tuple[Column, ...]:
    """The parameters in the order of `standard_parameters`; see `parameter_names`."""
    found: list[Column] = []
    rotors: list[Column] = []
    rubs: list[Column] = []
    for part in alike(robot):
        legs, rules = part.legs, part.kind.parameters
        for leg in (f"leg {part.which.start + i + 1}" for i in range(legs.count)):
            found += [one for body in legs.BODIES for one in _columns(f"{leg} {body}", "legs")]
            rotors += [
                Column(f"{leg} {name}", unit, "rotors") for name, unit in rules.rotors(legs).items()
            ]
            units = rules.friction_units(legs)
            rubs += [
                Column(f"{leg} {name}", units[name], "friction") for name in legs.LINEAR_FRICTION
            ]
    found += rotors + _columns("platform", "platform")
    if friction:
        found += rubs
    for key, elements in modal_elements(robot).items():
        unit = MODAL_UNITS[key]
        for i, j in elements.pairs:
            which = f"mode {i + 1}" if i == j else f"modes {i + 1},{j + 1}"
            found.append(Column(f"{which} {key}", unit, "modes"))
    return tuple(found)


def parameter_names(robot: Model, friction: bool = False) -> tuple[str, ...]:
    """Names of the parameters, in the order of `standard_parameters`.

    For each leg its bodies, ten parameters each ("leg 1 rod XX"; of chains "leg 1 body1 XX", what the
    first joint carries); the drives' inertias ("leg 1 rotor_mass", "leg 1 joint1 rotor_inertia"); the
    platform's ten; with `friction` each leg's friction ("leg 1 slider_viscous", "leg 1 joint2 coulomb").
    Of a flexible platform also the elements of K, then of D: "mode 1 stiffness", "modes 1,2 stiffness".
    """
    return tuple(one.name for one in columns(robot, friction))


def standard_parameters(robot: Model, friction: bool = False) -> Array:
    """X (parameters,): what `parameter_names` says, payload counted with the platform, SI units.

    Bodies of chains are on the axes of the robot file: at home those of their legs' frames.
    """
    mechanism = robot.mechanism
    parts = parted(mechanism.legs)
    found: list[Array] = []
    for legs in parts:
        tens = [_ten(body) for body in legs.named_bodies().values()]
        found += [np.stack(tens).transpose(2, 0, 1)] if tens else []
    found += [mechanism.legs.rotor, _ten(mechanism.platform.body)]
    if friction:
        rubs = [list(legs.linear_friction().values()) for legs in parts]
        found += [np.concatenate(one, axis=1) for one in rubs if one]
    found += [elements.values for elements in modal_elements(robot).values()]
    return np.concatenate([np.ravel(part) for part in found])


def regressor(
    robot: Model, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> Array:
    """W (..., actuators, parameters) with Γ = W X, no wrench; X as `standard_parameters`.

    The exact derivative of the forces by the parameters, which does not depend on their values. With
    more actuators than directions in which the platform moves Γ is the one of least norm. `friction`
    adds columns for the friction that forces are linear in; a robot with friction that grows with loads,
    which no W can give, is refused.
    """
    robot.need_rigid_drives("the regressor")
    if yes_or_no("friction", friction):
        refuse_load_friction(robot)
    if robot.modes:
        raise InputError(
            f"{robot.name} has a flexible platform, whose elastic acceleration is solved for together "
            "with the forces: `robot.regressor` and `generalised_regressor` take the motion's"
        )
    forces = robot.inverse_dynamics(motion, friction=False, on_error=on_error).forces
    joints = robot.chain_inputs(motion)
    rows = batch.lay_out(motion, {"forces": (forces, (robot.actuator_count,)), **joints})
    state = {name: rows.fields[name] for name in (*RIGID_FIELDS, *joints)}
    row = regressor_row_with_friction if friction else regressor_row
    out = matrices(robot, row, rows.rows, state, {"weights": np.eye(robot.actuator_count)})
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["row"]


def refuse_load_friction(robot: Model) -> None:
    """Raise if the robot has friction that is not linear in its parameters, and name it."""
    found = {
        name: group.where
        for group in robot.description.groups
        for name in group.legs.LOAD_FRICTION
        if np.any(getattr(group.legs.friction, name))
    }
    if found:
        where = ", ".join(f"[{one}.friction]" for one in dict.fromkeys(found.values()))
        raise InputError(
            f"{robot.name}: {', '.join(found)} in {where}: friction that grows with the "
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
    layout = Layout.of(mechanism.legs, friction=True)
    unknown = graph.inputs("standard", (layout.size, 1))
    changed = with_parameters(mechanism, unknown)
    parts = []
    for legs, own in zip(parted(changed.legs), layout.places(), strict=True):
        names = enumerate(legs.LINEAR_FRICTION)
        parts.append(
            legs.with_linear_friction({name: unknown[own.friction[:, i]] for i, name in names})
        )
    return changed._replace(legs=joined(parts)), unknown


def with_parameters(mechanism: Mechanism, standard: Components) -> Mechanism:
    """The robot with other inertial parameters (parameters, 1); its platform is rigid."""
    layout = Layout.of(mechanism.legs)
    parts = []
    for legs, own in zip(parted(mechanism.legs), layout.places(), strict=True):
        tens = [standard[places.T] for places in np.moveaxis(own.bodies, 1, 0)]
        bodies = dict(zip(legs.BODIES, map(_body, tens), strict=True))
        parts.append(legs.with_bodies(bodies).with_rotor(standard[own.rotors.ravel()]))
    return mechanism._replace(
        legs=joined(parts),
        platform=RigidPlatform(_body(standard[layout.of_platform, np.newaxis])),
    )


def _columns(whose: str, part: Part) -> list[Column]:
    """The ten of a body."""
    return [Column(f"{whose} {key}", TEN_UNITS[key], part) for key in STANDARD_PARAMETERS]


def _body(ten: Components) -> Body:
    """Bodies from their ten parameters, (10, bodies, 1)."""
    return Body(ten[9], ten[6:9], ten[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]])
