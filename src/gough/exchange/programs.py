"""A robot's programs for others to run: which there are, and what goes into them.

C and CasADi come from the same traced programs that gough itself runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import Function, symbolic
from gough.engine.passes.derivative import tangents
from gough.engine.program import Program
from gough.engine.trace import mode_matrices, mode_tables
from gough.errors import InputError, MissingDataError
from gough.mechanics import programs as models
from gough.mechanics.equation import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import State
from gough.mechanics.vectors import Components
from gough.model.derivative_programs import balance, graph_of
from gough.model.execution import robot_numbers, trace
from gough.model.model import Model

KINEMATIC: dict[str, Function] = {
    "inverse_kinematics": models.inverse_kinematics,
    "jacobian": models.jacobian,
}
DYNAMIC: dict[str, Function] = {
    "mass_matrix": models.mass_matrix,
    "bias": models.bias,
    "energy": models.energy,
}
FORCED: dict[str, Function] = {
    "inverse_dynamics": models.inverse_dynamics,
    "reactions": models.reactions,
    "direct_dynamics": models.direct_dynamics,
}
PROGRAMS = KINEMATIC | FORCED | DYNAMIC
"""What can be exported. Dynamics needs masses, forces need six legs or more."""


class Traced(NamedTuple):
    """A program with the numbers of one robot."""

    program: Program
    hoisted: Array
    tables: Array
    """(tables, modes) that the program reads, none of a rigid robot."""
    matrices: Array
    """(matrices, modes, modes)."""


def traced(robot: Model, name: str, loads: bool = False) -> Traced:
    """A program of a robot and its numbers.

    With `loads` the joints rub as they do under load magnitudes (3, legs), a further input; the
    outputs `caused` (3, legs) and `vectors` (8, legs) then hold the loads caused and what is behind
    them (`gough.mechanics.friction`). Of a flexible robot `mass_matrix` is the program `mass_times`.
    """
    if name not in PROGRAMS:
        raise InputError(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    if loads and name not in FORCED:
        raise InputError(f"{name} does not depend on friction")
    lacking = ", ".join(f"[{one}]" for one in robot.description.missing)
    if lacking and name not in KINEMATIC:
        raise MissingDataError(f"{robot.name}: {name} needs the masses of {lacking}")
    legs, function = robot.leg_count, PROGRAMS[name]
    inputs: dict[str, tuple[int, ...]] = {}
    if name in FORCED:
        if legs < 6:
            raise InputError(f"{robot.name} has {legs} legs; {name} needs six or more")
        if name == "direct_dynamics":
            inputs["forces"] = (legs,)
        inputs["wrench"] = (6,)
        if legs > 6 and name != "direct_dynamics":
            inputs["preload"] = (legs,)
        if loads:
            inputs["loads"] = (3, legs)
    if by_columns(robot, name):
        function, inputs = mass_times, {"along": (6,), "elastic_along": (robot.modes,)}
    return with_numbers(robot, trace(function, robot.mechanism, inputs))


def with_numbers(robot: Model, program: Program) -> Traced:
    """A program with what it reads of a robot."""
    mechanism = robot.mechanism
    hoisted = robot_numbers(program, mechanism)
    if not robot.modes:
        return Traced(program, hoisted, np.zeros((0, 0)), np.zeros((0, 0, 0)))
    first = [name for name in program.outputs if name not in ("margin", "caused", "vectors")]
    outputs = {name: program.outputs[name] for name in dict.fromkeys([*first, *program.outputs])}
    program = program._replace(outputs=outputs)
    tables = mode_tables(mechanism)[0, list(program.tables)]
    return Traced(program, hoisted, tables, mode_matrices(mechanism)[0, list(program.matrices)])


def by_columns(robot: Model, name: str) -> bool:
    """Whether a program gives a matrix of pairs of modes: one column at a time then."""
    return name == "mass_matrix" and robot.modes > 0


@symbolic
def mass_times(
    mechanism: Mechanism, state: State, along: Components, elastic_along: Components
) -> Outputs:
    """M ξ, (6,) and (modes,), of the whole robot, ξ = (along, elastic_along).

    M is how the equation of motion changes with ξ̇, which it is linear in.
    """
    zero = graph_of(state).constants(np.zeros((mechanism.points.shape[1] + 6, 1)))
    left = balance(mechanism, state, zero[6:], zero[:6])
    moved = (state.acceleration, state.angular_acceleration, state.elastic_acceleration)
    inputs = np.concatenate([one.ravel() for one in moved])
    change = np.concatenate([along, elastic_along]).ravel()
    seeds = {one.number: way for one, way in zip(inputs, change, strict=True)}
    product = tangents(np.concatenate([left.wrench, left.modal]), seeds)
    margin = models.bias(mechanism, state)["margin"]
    return {"momentum": product[:6], "elastic": product[6:], "margin": margin}
