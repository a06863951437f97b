"""A robot's programs for others to run: which there are, and what goes into them.

C and CasADi come from the same traced programs that gough itself runs.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import Function, symbolic
from gough.engine.passes.derivative import tangents
from gough.engine.program import Program
from gough.engine.trace import mode_matrices, mode_tables
from gough.errors import InputError, MissingDataError
from gough.legs.chain.equations import NEAR
from gough.mechanics import programs as models
from gough.mechanics.forward_program import joint_step, newton_step
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, maximum, minimum, norm
from gough.model.derivative_programs import balance, graph_of
from gough.model.execution import robot_numbers, trace
from gough.model.forward import CLOSE, ORDINARY
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


def close_joints(mechanism: Mechanism, state: State) -> Outputs:
    """Joint coordinates of chain legs after a Newton step from the state's, and how long it was.

    `margin` > 0: they are near enough for all other programs, which take a last step themselves.
    """
    found = joint_step(mechanism, state)
    return {**found, "margin": NEAR * mechanism.rounding - found["residual"]}


def forward_step(mechanism: Mechanism, state: State, q: Components) -> Outputs:
    """One of Newton's steps of forward kinematics; see `mechanics.forward_program.newton_step`.

    `length` of the step, rad or length scales; `residual` of q before it, m or rad, beside `size`, the
    longest leg's; `margin` > 0: a leg is not too short, on its own branch, and the pose neither singular
    nor in doubt, as `model.forward` has it.
    """
    found = newton_step(mechanism, state, q)
    legs, tip = mechanism.legs, state.position + mechanism.platform.arms(mechanism.points, state)
    sizes = list(legs.sizes(q))
    size = reduce(maximum, sizes)
    reach = mechanism.scale()[3] * (size + norm(state.position)[0])
    least = CLOSE * maximum(1 + 0 * reach, reach / ORDINARY)
    spare = [found.pop("health") - least, *sizes, *(-one for one in legs.astray(q, tip))]
    found["length"] = found.pop("step")
    return {**found, "size": size, "margin": reduce(minimum, spare)}


CLOSING: dict[str, Function] = {"close_joints": close_joints}
FINDING: dict[str, Function] = {"forward_kinematics": forward_step}
FLOAT_ROUNDING = 100
"""How much wider limits of what may be off are in single precision: 1e-4 m and rad for 1e-6."""
PROGRAMS = KINEMATIC | FORCED | DYNAMIC | CLOSING | FINDING
"""What can be exported. Dynamics needs masses, forces and finding a pose need as many actuators as the
platform can move in directions, closing needs chain legs."""


class Traced(NamedTuple):
    """A program with the numbers of one robot."""

    program: Program
    hoisted: Array
    tables: Array
    """(tables, modes) that the program reads, none of a rigid robot."""
    matrices: Array
    """(matrices, modes, modes)."""


def in_precision(robot: Model, real: str) -> Mechanism:
    """The robot for numbers of type double or float, whose limits of what may be off are wider."""
    return robot.mechanism if real == "double" else robot.mechanism.coarser(FLOAT_ROUNDING)


def traced(robot: Model, name: str, loads: bool = False, real: str = "double") -> Traced:
    """A program of a robot and its numbers, which run in C as `real`.

    With `loads` the joints rub as they do under load magnitudes (3, legs), a further input; the
    outputs `caused` (3, legs) and `vectors` (8, legs) then hold the loads caused and what is behind
    them (`gough.mechanics.friction`). Of a flexible robot `mass_matrix` is the program `mass_times`.
    """
    if not isinstance(name, str) or name not in PROGRAMS:
        raise InputError(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    if loads and name not in FORCED:
        raise InputError(f"{name} does not depend on friction")
    lacking = ", ".join(f"[{one}]" for one in robot.description.missing)
    if lacking and name not in KINEMATIC | CLOSING | FINDING:
        raise MissingDataError(f"{robot.name}: {name} needs the masses of {lacking}")
    if name in CLOSING and not robot.mechanism.legs.coordinates:
        raise InputError(f"{robot.name} has no chain legs, whose joints {name} would find")
    legs, actuators, function = robot.leg_count, robot.actuator_count, PROGRAMS[name]
    inputs: dict[str, tuple[int, ...]] = {}
    if name in FORCED | FINDING and name != "direct_dynamics" and not can_force(robot):
        raise InputError(
            f"{robot.name} has {legs} legs with {actuators} actuators; {name} of a platform that "
            f"moves in {robot.mobility} directions needs as many actuators"
        )
    if name in FINDING:
        inputs["q"] = (actuators,)
    if name in FORCED:
        if name == "direct_dynamics":
            inputs["forces"] = (actuators,)
        inputs["wrench"] = (6,)
        if actuators > robot.mobility and name != "direct_dynamics":
            inputs["preload"] = (actuators,)
        if loads:
            inputs["loads"] = (3, legs)
    if by_columns(robot, name):
        function, inputs = mass_times, {"along": (6,), "elastic_along": (robot.modes,)}
    program = trace(function, in_precision(robot, real), inputs, real == "float")
    return with_numbers(robot, program)


def can_force(robot: Model) -> bool:
    """Whether actuators can give a platform any motion that it can make."""
    return robot.actuator_count >= robot.mobility


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
    zero = graph_of(state).constants(np.zeros((len(mechanism.legs.holders) + 6, 1)))
    left = balance(mechanism, state, zero[6:], zero[:6])
    moved = (state.acceleration, state.angular_acceleration, state.elastic_acceleration)
    inputs = np.concatenate([one.ravel() for one in moved])
    change = np.concatenate([along, elastic_along]).ravel()
    seeds = {one.number: way for one, way in zip(inputs, change, strict=True)}
    product = tangents(np.concatenate([left.wrench, left.modal]), seeds)
    margin = models.bias(mechanism, state)["margin"]
    return {"momentum": product[:6], "elastic": product[6:], "margin": margin}
