"""Numbers of a robot file that stay parameters in an FMU: masses and friction.

All numbers p that the equations see are affine in these values x,

    p = p₀ + Σ s_k (x_k − x₀_k)

so that C needs the slopes s and, for what parameters alone decide, the prologue of each program.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.emit.c import literal
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.operations import OPERATIONS
from gough.engine.program import PARAMETERS, Program
from gough.engine.run.evaluate import values_of
from gough.engine.run.execute import chosen, common
from gough.engine.trace import parameters
from gough.errors import ImpossibleBodyWarning
from gough.mechanics.mechanism import Mechanism
from gough.model.model import Model
from gough.model.varied import VariedRobots, varied_keys

MASSES = ("mass", "M", "rotor_mass", "rotor_inertia")
FRICTION = ("viscous", "coulomb", "drag")
"""Last words of the names of such coefficients."""
JOINT_UNITS = {
    "rotor_inertia": ("kg", "kg.m2"),
    "viscous": ("N.s/m", "N.m.s/rad"),
    "coulomb": ("N", "N.m"),
}
"""Of a joint of a chain that slides, and of one that turns."""
WIDTH = 1e-3
"""Of Coulomb friction that has no width, m/s and rad/s."""
FAR = 1.7
"""A value, beside the robot's own, at which the numbers must be affine too."""
NEARLY = 1e-12


class Changeable(NamedTuple):
    """A parameter: a number of the robot file, of one leg or of all."""

    name: str
    """Places in lists from 1: legs[1].joints[2].body.mass."""
    key: str
    """As `Variants` has it, places from 0."""
    leg: int | None
    """Of a list with one per leg, from 0."""
    start: float
    unit: str | None
    """SI; None of a pure number."""


class Changing(NamedTuple):
    """A robot whose parameters can change."""

    parameters: tuple[Changeable, ...]
    structure: Mechanism
    """What all such robots have in common; NaN stands for what can change."""
    own: Mechanism
    """With the values of the robot file."""
    slopes: Mapping[int, Mapping[int, float]]
    """Of the equations' numbers, by parameter."""


def with_width(robot: Model) -> Model:
    """Return the robot with `WIDTH` for Coulomb friction that has none; itself where none jumps.

    The integrator of an importer cannot pass a force that jumps: near rest it crawls.
    """
    data, changes = tomllib.loads(robot.text), dict[str, Any]()
    for group in robot.description.groups:
        for key in group.kind.parameters.width_keys(group.table):
            path = f"{group.where}.{key}"
            value = _value(data, path.split("."))
            width = np.zeros(()) if value is None else value
            rubs = key != "friction.width" or group.legs.friction.coulomb
            if rubs and not np.all(width > 0):
                changes[path] = np.where(width > 0, width, WIDTH).tolist()
    return robot.edited(changes) if changes else robot


def changing(robot: Model) -> Changing:
    """The parameters that a robot file has numbers for, other than 0."""
    data, found = tomllib.loads(robot.text), list[Changeable]()
    for key, core in varied_keys(robot).items():
        last = key.rpartition(".")[2]
        if core[1:] or not (last in MASSES or last.rpartition("_")[2] in FRICTION):
            continue
        value = _value(data, key.split("."))
        if value is None or not np.any(value):
            continue
        name = re.sub(r"\.(\d+)", lambda one: f"[{int(one[1]) + 1}]", key)  # legs[1].joints[2].…
        unit = _unit(robot, key)
        if value.ndim == 0:
            found.append(Changeable(name, key, None, float(value), unit))
        else:
            found += [
                Changeable(f"{name}[{leg + 1}]", key, leg, float(one), unit)
                for leg, one in enumerate(value)
                if one
            ]
    return _slopes(robot, found)


def _unit(robot: Model, key: str) -> str | None:
    """Return the unit of a mass, a rotor's inertia or a coefficient of friction; None: it has none."""
    last = key.rpartition(".")[2]
    group = next((g for g in robot.description.groups if key.startswith(f"{g.where}.")), None)
    parts = [] if group is None else key.removeprefix(f"{group.where}.").split(".")
    if group is not None and parts[0] == "joints" and last in JOINT_UNITS:
        table: Any = group.table
        slides = table.joints[int(parts[1])].type == "prismatic"
        return JOINT_UNITS[last][0 if slides else 1]
    if last in MASSES:
        return "kg.m2" if last == "rotor_inertia" else "kg"
    unit = None if group is None else group.kind.words.friction_units.get(last)
    return None if unit is None else unit.replace(" ", ".")


def _value(data: Any, path: Sequence[str]) -> Array | None:
    """A number of a file, or one per leg, (legs,); None where there is none."""
    if not path:
        return np.asarray(data, dtype=float)
    if isinstance(data, list):
        if path[0].isdecimal() and int(path[0]) < len(data):
            return _value(data[int(path[0])], path[1:])
        parts = [_value(one, path) for one in data]
        known = [part for part in parts if part is not None and part.ndim == 0]
        return np.array(known) if len(known) == len(parts) else None
    if isinstance(data, dict):
        if path[0].isdecimal():  # one group of legs, written as [legs]
            return _value(data, path[1:])
        return _value(data[path[0]], path[1:]) if path[0] in data else None
    return None


def _slopes(robot: Model, found: Sequence[Changeable]) -> Changing:
    if not found:
        return Changing((), robot.mechanism, robot.mechanism, {})
    count, cores = len(found), varied_keys(robot)
    data = tomllib.loads(robot.text)
    changes = {}
    for key in dict.fromkeys(one.key for one in found):
        value = _value(data, key.split("."))
        assert value is not None
        changes[key] = np.tile(
            np.broadcast_to(value, cores[key]), (count + 2, *[1] * len(cores[key]))
        )
    for row, one in enumerate(found, start=1):
        place = slice(None) if one.leg is None else one.leg
        whole = changes[one.key]
        for there, times in ((row, 2.0), (count + 1, FAR)):
            whole[(there, *([place] if whole.ndim > 1 else []))] = times * one.start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        every = VariedRobots(robot, changes).mechanism()
    numbers = np.stack([np.broadcast_to(one, (count + 2,)) for one in parameters(every)])
    starts = np.array([one.start for one in found])
    slopes = (numbers[:, 1:-1] - numbers[:, :1]) / starts
    far = numbers[:, 0] + (slopes * (FAR - 1) * starts).sum(axis=1)
    assert np.allclose(far, numbers[:, -1], rtol=NEARLY, atol=NEARLY), "numbers are not affine"
    table = {
        int(row): {int(k): float(slopes[row, k]) for k in np.flatnonzero(slopes[row])}
        for row in np.flatnonzero(slopes.any(axis=1))
    }
    return Changing(tuple(found), common(every), chosen(every, np.array([0])), table)


class Prologues:
    """What parameters decide before a program begins, as C: the array `own`."""

    def __init__(self, robot: Changing, places: Sequence[int]) -> None:
        """`places` are the value references of the parameters."""
        self.robot, self.places = robot, places
        self.lines: list[str] = []
        self.count = 0
        self.temporary = 0
        self.start = [float(one[0]) for one in parameters(robot.own)]

    def changing(self, program: Program) -> dict[int, int]:
        """Numbers that a program's body reads and that change: their places in `own`."""
        steps, names = program.prologue, dict[int, str]()
        given = [np.array([one]) for one in self.start]
        values = [float(np.ravel(one)[0]) for one in values_of(steps, {PARAMETERS: given})]
        for place, step in enumerate(steps):
            if step.operation == CONSTANT:
                continue
            if step.operation == INPUT:
                if step.leaf[1] in self.robot.slopes:
                    names[place] = self._name(self._affine(step.leaf[1]))
            elif any(a in names for a in step.arguments):
                terms = [names.get(a, literal(values[a], "double")) for a in step.arguments]
                names[place] = self._name(OPERATIONS[step.operation].c.format(*terms, f=""))
        found = {}
        for index, place in enumerate(program.hoisted):
            if place in names:
                found[index] = self.count
                self.lines.append(f"    own[{self.count}] = {names[place]};")
                self.count += 1
        return found

    def _name(self, expression: str) -> str:
        self.lines.append(f"    const double t{self.temporary} = {expression};")
        self.temporary += 1
        return f"t{self.temporary - 1}"

    def _affine(self, number: int) -> str:
        terms = [literal(self.start[number], "double")]
        for parameter, slope in self.robot.slopes[number].items():
            start = literal(self.robot.parameters[parameter].start, "double")
            terms.append(f"{literal(slope, 'double')} * (v[{self.places[parameter]}] - {start})")
        return " + ".join(terms)

    def text(self) -> str:
        """The function that computes `own` from the variables."""
        unused = [] if self.count else ["    (void)v;", "    (void)own;"]
        return "\n".join(
            [
                "void gough_robot_numbers(const double *v, double *own)",
                "{",
                *self.lines,
                *unused,
                "}\n",
            ]
        )
