"""What goes into the C files of a robot: functions, their signatures, structs and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.emit.c import comment, declaration
from gough.engine.graph import CONSTANT, INPUT, MODE
from gough.engine.program import HOISTED, Output, Program
from gough.mechanics.state import State

LOADS = ("universal", "spherical", "guide")
"""The rows of the input `loads`, and of the output `caused`."""
OPTIONAL = {"wrench", "preload"}
"""Inputs that may be NULL: zero then."""
UNDER_LOADS, TIMES, STEP = "_under_loads", "_times", "_step"
"""Ends of names of functions that others call: in the friction loop, for each column of a matrix, for
each of Newton's steps."""


class Function(NamedTuple):
    """A program with the numbers of one robot, and what to say about it."""

    name: str
    program: Program
    hoisted: Array
    summary: str
    tables: Array = np.zeros((0, 0))
    """(tables, modes) and (matrices, modes, modes) that the program reads."""
    matrices: Array = np.zeros((0, 0, 0))
    changing: Mapping[int, int] = MappingProxyType({})
    """Which of `hoisted` are not constants, and their places in `own`."""

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs beside the state."""
        return {n: shape for n, shape in self.program.fields.items() if n not in State._fields}


class Limits(NamedTuple):
    """Where loops end."""

    most_passes: int
    """Cap of the friction loop to recommend."""
    friction: float
    """Disagreement over the largest load at which it stops."""
    worst_friction: float
    """That above which there is no answer."""
    most_steps: int
    """Cap of Newton's steps to recommend."""
    pose: float
    """Error of q over the longest leg at which a pose is found."""
    stationary: float = 0.0
    """Over-constrained robots: length of a step, rad or length scales, after which it is the nearest."""
    rounded: float = 0.0
    """Over-constrained robots: the largest error of q, m or rad, that such a pose may have."""


class Package(NamedTuple):
    """All that goes into the C files of one robot."""

    identifier: str
    """Of the robot, as C names have it."""
    title: Sequence[str]
    """What the robot is, a paragraph each; any text."""
    legs: int
    actuators: int
    state: Mapping[str, tuple[int, ...]]
    """Shapes of the state's fields."""
    real: str
    """"double" or "float"."""
    functions: Sequence[Function]
    notes: Mapping[str, str]
    """Meaning and unit of inputs and outputs."""
    limits: Limits
    own: bool = False
    """Functions are given numbers that change, `own`: see `Function.changing`."""

    @property
    def prefix(self) -> str:
        """Of every name in the C files."""
        return f"gough_{self.identifier}"

    @property
    def capital(self) -> str:
        """Of every macro in the C files."""
        return self.prefix.upper()

    @property
    def mark(self) -> str:
        """First line of every file: who wrote it, for which robot."""
        return f"written by gough export c for {self.identifier}; do not edit"


def used_fields(program: Program) -> set[str]:
    """Input fields that a program reads."""
    found = {step.leaf[0] for step in program.body if step.operation == INPUT} - {HOISTED}
    return found | {step.leaf for step in program.body if step.operation == MODE}


def computed(program: Program) -> dict[str, list[int]]:
    """Numbers of each output but the margin that the code computes: none that are constants."""
    found = {}
    for name, output in program.outputs.items():
        steps = [program.body[place] for place in output.places]
        fixed = [
            one.operation == CONSTANT or (one.operation == INPUT and one.leaf[0] == HOISTED)
            for one in steps
        ]
        if name != "margin" and not all(fixed):
            found[name] = [i for i, constant in enumerate(fixed) if not constant]
    return found


def checks(program: Program) -> Counter[str]:
    """Operations that say whether an answer is finite, beside the program's."""
    count = sum(
        len(places) * (program.modes if program.outputs[name].varying else 1)
        for name, places in computed(program).items()
    )
    return Counter(add=count, mul=count)


def parameters(package: Package, function: Function) -> list[str]:
    """C's parameters of a function, without the answer."""
    given = [f"const {package.real} *own"] if package.own else []
    given.append(f"const {package.prefix}_state *state")
    for name, shape in function.inputs.items():
        if name == "loads":
            given.append(f"const {package.prefix}_loads *loads")
        else:
            given.append(f"const {package.real} {declaration(name, shape)}")
    return given


def signature(package: Package, name: str, given: Sequence[str]) -> str:
    """int gough_<robot>_<name>(…), a parameter a line."""
    full = f"{package.prefix}_{name}"
    rest = ",\n".join(f"    {one}" for one in [*given, f"{full}_answer *answer"])
    return f"int {full}(\n{rest})"


def struct(
    package: Package, name: str, members: Mapping[str, tuple[int, ...]], also: str = ""
) -> str:
    """A struct of real arrays, a note each."""
    lines = [f"typedef struct {package.prefix}_{name} {{"]
    for member, shape in members.items():
        note = package.notes.get(f"{name}.{member}", package.notes.get(member))
        lines += [comment([note], "    ")] if note else []
        lines.append(f"    {package.real} {declaration(member, shape)};")
    return "\n".join([*lines, *([also] if also else []), f"}} {package.prefix}_{name};\n"])


def shapes(outputs: Mapping[str, Output]) -> dict[str, tuple[int, ...]]:
    """Shapes of a program's outputs."""
    return {name: output.shape for name, output in outputs.items()}
