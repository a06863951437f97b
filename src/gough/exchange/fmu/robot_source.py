"""The C of an FMU that differs from robot to robot: its equations, its variables and start values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.emit.c import element, literal
from gough.engine.functions import Function as Equations
from gough.engine.program import Program
from gough.engine.trace import mode_matrices, mode_tables
from gough.exchange.c.callers import WITH_FRICTION
from gough.exchange.c.header import header_text
from gough.exchange.c.package import UNDER_LOADS, Function, Limits, Package
from gough.exchange.c.source import source_text
from gough.exchange.c.words import NOTES
from gough.exchange.fmu.description import TOLERANCE
from gough.exchange.fmu.parameters import Changing, Prologues
from gough.exchange.fmu.variables import Variables, reactions_of
from gough.mechanics.state import shapes
from gough.model import friction_loop
from gough.model.execution import robot_numbers, trace
from gough.model.model import Model


class Traced(NamedTuple):
    """A program by the name that C has for it."""

    name: str
    program: Program


def traced(
    robot: Model,
    numbers: Changing,
    name: str,
    function: Equations,
    inputs: Mapping[str, tuple[int, ...]],
) -> Traced:
    """A program whose parameters can change; with friction where the robot has any."""
    if inputs and not robot.mechanism.legs.friction.none:
        inputs, name = {**inputs, "loads": (3, robot.leg_count)}, name + UNDER_LOADS
    return Traced(name, trace(function, numbers.structure, inputs))


class RobotSource(NamedTuple):
    """Three files."""

    layout: str
    header: str
    source: str


def robot_source(
    robot: Model, numbers: Changing, programs: list[Traced], variables: Variables
) -> RobotSource:
    """layout.h, robot.h and robot.c; the first program is the model, the second settles states."""
    first = variables.places["PARAMETERS"]
    prologues = Prologues(numbers, range(first, first + len(numbers.parameters)))
    functions = []
    for name, program in programs:
        tables = matrices = np.zeros((0, 0))
        if robot.modes:
            tables = mode_tables(numbers.own)[0, list(program.tables)]
            matrices = mode_matrices(numbers.own)[0, list(program.matrices)]
        functions.append(
            Function(
                name,
                program,
                robot_numbers(program, numbers.own),
                "",
                tables,
                matrices,
                prologues.changing(program),
            )
        )
    package = Package(
        "robot",
        [robot.name],
        robot.leg_count,
        robot.actuator_count,
        shapes(robot.modes, robot.mechanism.legs.coordinates),
        "double",
        functions,
        NOTES,
        Limits(
            friction_loop.MOST_PASSES, friction_loop.TOLERANCE, friction_loop.WORST_RESIDUAL, 0, 0.0
        ),
        own=True,
    )
    model = programs[0]
    return RobotSource(
        _layout(robot, variables, prologues.count, settles=len(programs) > 1),
        header_text(package) + _also(model),
        "\n".join(
            [
                source_text(package),
                prologues.text(),
                _tell(model, variables),
                _starts(robot, variables),
            ]
        ),
    )


def _layout(robot: Model, variables: Variables, own: int, settles: bool) -> str:
    """Where variables are, and how many there are of what."""
    sizes = {
        "VARIABLES": len(variables.each),
        "STATE_COUNT": len(variables.states),
        "ACTUATORS": robot.actuator_count,
        "CHAINS": robot.mechanism.legs.coordinates,
        "MODES": robot.modes,
        "OWN_NUMBERS": own,
        "SETTLES": int(settles),
    }
    lines = [
        "/* Value references of the variables, and sizes. */",
        "#ifndef LAYOUT_H",
        "#define LAYOUT_H",
        "",
    ]
    lines += [f"#define {name} {value}" for name, value in {**sizes, **variables.places}.items()]
    lines += [
        f"#define TOLERANCE {TOLERANCE!r}",
        f"#define LENGTH {robot.leg_size!r} /* m: of the legs */",
    ]
    return "\n".join([*lines, "", '#include "token.h"', "", "#endif", ""])


def _also(model: Traced) -> str:
    """The model's own function under one name, and numbers that robot.c has."""
    name, rubs = model.name, model.name.endswith(UNDER_LOADS)
    called = name.removesuffix(UNDER_LOADS) + (WITH_FRICTION if rubs else "")
    given = [n for n in ("forces", "wrench") if n in model.program.fields]
    names = ", ".join(["own", "state", *given])
    cap = ", GOUGH_ROBOT_PASSES" if rubs else ""
    return f"""
#ifndef ROBOT_ALSO_H
#define ROBOT_ALSO_H

#include "layout.h"

typedef gough_robot_{called}_answer dynamics_answer;
#define DYNAMICS({names}, answer) gough_robot_{called}({names}{cap}, answer)

extern const double start_values[VARIABLES];
extern const double home_position[3], home_rotation[3][3], home_joints[CHAINS + 1];
/* What parameters decide before a function begins. */
void gough_robot_numbers(const double *v, double *own);
/* What the model computes beside the rates of its states. */
void gough_robot_tell(const dynamics_answer *answer, double *v);

#endif
"""


def _tell(model: Traced, variables: Variables) -> str:
    lines, program, places = [], model.program, variables.places
    named = {"q": "Q", "qd": "QD", "forces": "FORCES", "power": "POWER"}
    named["elastic_acceleration"] = "ELASTIC_ACCELERATION"
    for name, group in named.items():
        if name in program.outputs:
            (size,) = program.outputs[name].shape
            lines += [f"    v[{places[group] + i}] = answer->{name}[{i}];" for i in range(size)]
    if "REACTIONS" in places:
        for i, (name, _, number) in enumerate(reactions_of(program)):
            there = element(name, program.outputs[name].shape, number)
            lines.append(f"    v[{places['REACTIONS'] + i}] = answer->{there};")
    head = "void gough_robot_tell(const dynamics_answer *answer, double *v)"
    return "\n".join([head, "{", *lines, "}\n"])


def _starts(robot: Model, variables: Variables) -> str:
    starts = [one.start or 0.0 for one in variables.each]
    home = robot.home
    joints = [*robot.mechanism.legs.at_home(), 0.0]
    rows = ", ".join(_braces(row) for row in home.rotation)
    return f"""\
const double start_values[VARIABLES] = {_braces(np.array(starts))};
const double home_position[3] = {_braces(home.position)};
const double home_rotation[3][3] = {{{rows}}};
const double home_joints[CHAINS + 1] = {_braces(np.array(joints))};
"""


def _braces(values: Array) -> str:
    return "{" + ", ".join(literal(float(one), "double") for one in values) + "}"
