"""The variables of an FMU: names, units, start values, and where C keeps them.

The value reference of a variable is its place: time, parameters, inputs, states, then what the model
computes, rates of the states first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT
from gough.engine.program import Program
from gough.exchange.fmu.parameters import Changeable
from gough.model.deflection import static_deflection
from gough.model.model import Model

SMALLEST_STEP = 1e-6
"""s: the integrator's, which it takes whatever its error."""
FIXED = ("linear", "angular", "q", "qd", "forces", "power", "elastic", "elastic_acceleration",
         "chain_rates", "margin", "caused", "vectors")  # fmt: skip
"""Outputs of programs that are no reactions."""


class Variable(NamedTuple):
    """One number of the interface."""

    name: str
    causality: str
    """parameter, input, output or local."""
    start: float | None
    unit: str | None
    description: str = ""
    rate_of: int | None = None
    """The state whose rate it is."""


class Variables(NamedTuple):
    """All of an FMU; a variable's value reference is its place here. Time is at 0."""

    each: tuple[Variable, ...]
    places: Mapping[str, int]
    """Where groups of them begin, by the name that C has for them."""
    states: range


class _Table:
    """Variables as they are put in order."""

    def __init__(self) -> None:
        self.each = [Variable("time", "independent", None, "s")]
        self.places = {"TIME": 0}

    def group(
        self,
        place: str,
        name: str,
        causality: str,
        unit: str | Sequence[str] | None,
        description: str,
        start: Array | None = None,
        size: int | tuple[int, ...] = 3,
        rate_of: int | None = None,
    ) -> None:
        """An array of variables: name[1], name[2] and so on."""
        self.places[place] = len(self.each)
        shape = (size,) if isinstance(size, int) else size
        for number, index in enumerate(product(*(range(1, one + 1) for one in shape))):
            given = None if start is None else float(np.ravel(start)[number])
            own = unit if isinstance(unit, str | None) else unit[number]
            state = None if rate_of is None else rate_of + number
            called = name.format(",".join(map(str, index)))
            called = called if "{}" in name else f"{called}[{','.join(map(str, index))}]"
            self.each.append(Variable(called, causality, given, own, description, state))

    def mark(self, place: str) -> None:
        """Name the place of the next one."""
        self.places[place] = len(self.each)

    def done(self, states: range) -> Variables:
        """All of them."""
        return Variables(tuple(self.each), self.places, states)


def forward_variables(
    robot: Model, parameters: Sequence[Changeable], reactions: Program | None
) -> Variables:
    """Forces and wrench in, motion out. `reactions`: the program that has them among its outputs."""
    table, actuators = _Table(), robot.actuator_count
    table.mark("SMALLEST_STEP")
    smallest = "Shortest step of the integrator in co-simulation; taken whatever its error"
    table.each.append(Variable("smallest_step", "parameter", SMALLEST_STEP, "s", smallest))
    _parameters(table, parameters)
    home = static_deflection(robot, robot.home) if robot.modes else robot.home
    units = [one.units for one in robot.description.actuators]
    rest = (
        robot.inverse_dynamics(home, friction=False).forces
        if _holds(robot)
        else np.zeros(actuators)
    )
    table.mark("INPUTS")
    pushes = "Actuator forces; positive pushes towards larger q. At the start those that hold home"
    force_units = [_unit(one.force) for one in units]
    table.group("FORCES", "forces", "input", force_units, pushes, rest, actuators)
    table.group(
        "WRENCH", "wrench", "input", ["N"] * 3 + ["N.m"] * 3,
        "Force and moment on the platform at its frame's origin, world axes", np.zeros(6), 6,
    )  # fmt: skip
    table.mark("STATES")
    begin = len(table.each)
    _pose(table, "output", home.position, home.rotation)
    table.group("VELOCITY", "velocity", "output", "m/s", VELOCITY, np.zeros(3))
    table.group("ANGULAR_VELOCITY", "angular_velocity", "output", "rad/s", TURNING, np.zeros(3))
    chains, modes = robot.mechanism.legs.coordinates, robot.modes
    if chains:
        joints = "Joint coordinates of chain legs; found from the start pose"
        table.group("JOINTS", "joints", "local", None, joints, None, chains)
    if modes:
        table.group("ELASTIC", "elastic", "output", None, BENT, home.elastic, modes)
        rates = "Rates of the elastic coordinates"
        none = np.zeros(modes)
        table.group("ELASTIC_VELOCITY", "elastic_velocity", "output", None, rates, none, modes)
    states = range(begin, len(table.each))
    table.mark("COMPUTED")
    table.mark("RATES")
    place = table.places
    table.group("", "der(position[{}])", "local", "m/s", "", rate_of=place["POSITION"])
    table.group("", "der(quaternion[{}])", "local", None, "", None, 4, place["QUATERNION"])
    table.group("", "acceleration", "output", "m/s2", "", rate_of=place["VELOCITY"])
    turn = place["ANGULAR_VELOCITY"]
    table.group("", "angular_acceleration", "output", "rad/s2", "", rate_of=turn)
    if chains:
        table.group("", "der(joints[{}])", "local", None, "", None, chains, place["JOINTS"])
    if modes:
        table.group("", "der(elastic[{}])", "local", None, "", None, modes, place["ELASTIC"])
        start = place["ELASTIC_VELOCITY"]
        table.group("", "elastic_acceleration", "output", None, "", None, modes, start)
    table.group("ROTATION", "rotation", "output", None, ROTATION, None, (3, 3))
    _coordinates(table, robot)
    if reactions is not None:
        _reactions(table, reactions)
    del table.places[""]
    return table.done(states)


def inverse_variables(robot: Model, parameters: Sequence[Changeable]) -> Variables:
    """Motion in, forces out."""
    table, actuators, modes = _Table(), robot.actuator_count, robot.modes
    _parameters(table, parameters)
    home = static_deflection(robot, robot.home) if modes else robot.home
    table.mark("INPUTS")
    _pose(table, "input", home.position, home.rotation)
    table.group("VELOCITY", "velocity", "input", "m/s", VELOCITY, np.zeros(3))
    table.group("ANGULAR_VELOCITY", "angular_velocity", "input", "rad/s", TURNING, np.zeros(3))
    table.group("ACCELERATION", "acceleration", "input", "m/s2", "", np.zeros(3))
    table.group("ANGULAR_ACCELERATION", "angular_acceleration", "input", "rad/s2", "", np.zeros(3))
    if modes:
        table.group("ELASTIC", "elastic", "input", None, BENT, home.elastic, modes)
        none = np.zeros(modes)
        table.group("ELASTIC_VELOCITY", "elastic_velocity", "input", None, "", none, modes)
    table.group(
        "WRENCH", "wrench", "input", ["N"] * 3 + ["N.m"] * 3,
        "Force and moment on the platform at its frame's origin, world axes", np.zeros(6), 6,
    )  # fmt: skip
    for mark in ("STATES", "COMPUTED", "RATES"):
        table.mark(mark)
    units = [_unit(one.units.force) for one in robot.description.actuators]
    table.group("FORCES", "forces", "output", units, "Actuator forces", None, actuators)
    table.group("POWER", "power", "output", "W", "Force times rate", None, actuators)
    _coordinates(table, robot)
    if modes:
        solved = "Accelerations of the elastic coordinates that go with it"
        table.group(
            "ELASTIC_ACCELERATION", "elastic_acceleration", "output", None, solved, None, modes
        )
    return table.done(range(0))


VELOCITY = "Velocity of the platform frame's origin, world axes"
TURNING = "Angular velocity of the platform, world axes"
ROTATION = "From platform to world axes, rows"
BENT = "Elastic coordinates of the platform; at the start its static deflection at home"


def _holds(robot: Model) -> bool:
    return robot.actuator_count >= robot.mobility


def _parameters(table: _Table, parameters: Sequence[Changeable]) -> None:
    table.mark("PARAMETERS")
    for one in parameters:
        place = f"{one.name} of the robot file, legs and joints counted from 1"
        table.each.append(Variable(one.name, "parameter", one.start, one.unit, place))


def _pose(table: _Table, causality: str, position: Array, rotation: Array) -> None:
    where = "Origin of the platform's frame, world axes"
    table.group("POSITION", "position", causality, "m", where, position)
    turned = "Rotation of the platform, (w, x, y, z); of any length at the start"
    quaternion = Rotation.from_matrix(rotation).as_quat(scalar_first=True)
    table.group("QUATERNION", "quaternion", causality, None, turned, quaternion, 4)


def _coordinates(table: _Table, robot: Model) -> None:
    units = [one.units for one in robot.description.actuators]
    count = robot.actuator_count
    told = "Actuated coordinates"
    table.group("Q", "q", "output", [_unit(one.q) for one in units], told, None, count)
    speeds = [_unit(one.speed) for one in units]
    table.group("QD", "qd", "output", speeds, "Rates of the actuated coordinates", None, count)


def _reactions(table: _Table, program: Program) -> None:
    """Forces and moments in joints that legs have, (leg, axis) or (leg, joint, axis) from 1."""
    table.mark("REACTIONS")
    for name, index, _ in reactions_of(program):
        unit = "N.m" if name.endswith("moment") else "N"
        place = ",".join(str(one + 1) for one in index)
        told = "Of the leg and axis" if len(index) == 2 else "Of the leg, its joint and axis"
        table.each.append(Variable(f"reactions.{name}[{place}]", "output", None, unit, told))


def reactions_of(program: Program) -> list[tuple[str, tuple[int, ...], int]]:
    """Name, indices and place in the answer of every reaction that a joint of the robot has."""
    found = []
    for name, output in program.outputs.items():
        if name in FIXED:
            continue
        for number, place in enumerate(output.places):
            step = program.body[place]
            if step.operation == CONSTANT and np.isnan(step.leaf):
                continue
            index = tuple(int(one) for one in np.unravel_index(number, output.shape))
            found.append((name, index, number))
    return found


def _unit(words: str) -> str:
    """N.m of N m."""
    return words.replace(" ", ".")
