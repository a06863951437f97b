"""A robot's programs as C source: functions with their signatures, the friction loop around them.

How a program becomes statements says `gough.engine.emit.c`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.emit.c import (
    HELPERS,
    STRICT_NUMBERS,
    ConstantNumbers,
    Statements,
    Tables,
    comment,
    declaration,
    element,
)
from gough.engine.graph import INPUT, MODE
from gough.engine.program import HOISTED, Output, Program
from gough.mechanics.state import State

LOADS = ("universal", "spherical", "guide")
"""The rows of the input `loads`, and of the output `caused`."""
BEHIND = ("caused", "vectors")
"""Outputs that serve the friction loop only."""
UNDER_LOADS, WITH_FRICTION = "_under_loads", "_with_friction"
TIMES = "_times"
"""Ends the name of a function that multiplies a vector with a matrix."""


class Function(NamedTuple):
    """A program with the numbers of one robot, and what to say about it."""

    name: str
    program: Program
    hoisted: Array
    summary: str
    tables: Array = np.zeros((0, 0))
    """(tables, modes) and (matrices, modes, modes) that the program reads."""
    matrices: Array = np.zeros((0, 0, 0))

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs beside the state."""
        return {n: shape for n, shape in self.program.fields.items() if n not in State._fields}

    @property
    def looped(self) -> str | None:
        """Name of the function that makes friction agree with its loads by calling this one."""
        if "loads" not in self.inputs:
            return None
        return self.name.removesuffix(UNDER_LOADS) + WITH_FRICTION

    @property
    def matrix(self) -> str | None:
        """Name of the function that makes a matrix by calling this one for each of its columns."""
        return self.name.removesuffix(TIMES) if self.name.endswith(TIMES) else None


class Package(NamedTuple):
    """All that goes into the C files of one robot."""

    identifier: str
    """Of the robot, as C names have it."""
    title: Sequence[str]
    """What the robot is, a paragraph each; any text."""
    legs: int
    state: Mapping[str, tuple[int, ...]]
    """Shapes of the state's fields."""
    real: str
    """"double" or "float"."""
    functions: Sequence[Function]
    notes: Mapping[str, str]
    """Meaning and unit of inputs and outputs."""
    most_passes: int
    """Cap of the friction loop to recommend."""
    tolerance: float
    worst_residual: float

    @property
    def prefix(self) -> str:
        """Of every name in the C files."""
        return f"gough_{self.identifier}"

    @property
    def mark(self) -> str:
        """First line of every file: who wrote it, for which robot."""
        return f"written by gough export c for {self.identifier}; do not edit"


def used_fields(program: Program) -> set[str]:
    """Input fields that a program reads."""
    found = {step.leaf[0] for step in program.body if step.operation == INPUT} - {HOISTED}
    return found | {step.leaf for step in program.body if step.operation == MODE}


def parameters(package: Package, function: Function) -> list[str]:
    """C's parameters of a function, without the answer."""
    given = [f"const {package.prefix}_state *state"]
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


def loop_parameters(package: Package, function: Function) -> list[str]:
    """C's parameters of the friction loop around a function."""
    given = [one for one in parameters(package, function) if not one.endswith("*loads")]
    return [*given, "int most_passes"]


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


def loop_outputs(function: Function) -> dict[str, tuple[int, ...]]:
    """Outputs of the friction loop that come from the function it calls."""
    return {n: s for n, s in shapes(function.program.outputs).items() if n not in BEHIND}


def matrix_outputs(package: Package, function: Function) -> dict[str, tuple[int, ...]]:
    """Outputs of the function that makes the whole matrix."""
    assert function.matrix is not None
    size = sum(math.prod(shape) for shape in function.inputs.values())
    return {function.matrix: (size, size), "margin": ()}


def source_text(package: Package) -> str:
    """The .c file."""
    numbers, tables = ConstantNumbers(package.real), Tables(package.real)
    functions = []
    for function in package.functions:
        functions.append(_definition(package, function, numbers, tables))
        if function.looped:
            functions.append(_loop(package, function))
        if function.matrix:
            functions.append(_columns(package, function))
    looped = any(f.looped for f in package.functions)
    if looped:
        functions.insert(0, _loop_helpers(package))
    code = "\n".join(functions)
    helpers = [
        text.format(real=package.real) for name, text in HELPERS.items() if f"{name}(" in code
    ]
    return "\n".join(
        [
            f"/* {package.mark} */",
            f'#include <math.h>\n#include <stddef.h>\n\n#include "{package.prefix}.h"\n',
            STRICT_NUMBERS,
            numbers.text(),
            *([tables.text()] if tables.places else []),
            *helpers,
            code,
        ]
    )


OPTIONAL = {"wrench", "preload"}
"""Inputs that may be NULL: zero then."""


def _definition(
    package: Package, function: Function, numbers: ConstantNumbers, tables: Tables
) -> str:
    """One function: read, compute, write the answer last, so that it may share memory with inputs."""

    def refer(field: str, index: int) -> str:
        if field == HOISTED:
            return numbers.place(float(function.hoisted[index]))
        if field in package.state:
            return element(f"state->{field}", package.state[field], index)
        if field == "loads":
            return f"loads->{LOADS[index // package.legs]}[{index % package.legs}]"
        return f"{field}[{index}]"

    def refer_mode(field: str, mode: str) -> str:
        return f"state->{field}[{mode}]" if field in package.state else f"{field}[{mode}]"

    written = Statements(
        function.program,
        refer,
        package.real,
        [tables.place(one) for one in function.tables],
        [tables.place(one) for one in function.matrices],
        refer_mode,
    )
    used = used_fields(function.program)
    start = written.declarations()
    for name, shape in function.inputs.items():
        if name not in used:
            start.append(f"    (void){name};")
        elif name in OPTIONAL:
            zero = f"    static const {package.real} no_{name}[{math.prod(shape)}] = {{0}};"
            start = [zero, *start, f"    if ({name} == NULL)", f"        {name} = no_{name};"]
    if not used & set(package.state):
        start.append("    (void)state;")
    return "\n".join(
        [
            signature(package, function.name, parameters(package, function)),
            "{",
            *start,
            *written.lines,
            *_answer(function.program, written),
            "    return answer->margin > 0 ? GOUGH_HEALTHY : GOUGH_DOUBTFUL;\n}\n",
        ]
    )


def _answer(program: Program, written: Statements) -> list[str]:
    """Statements that write the answer."""
    lines, in_modes = [], []
    for name, output in program.outputs.items():
        if output.varying:
            for i, place in enumerate(output.places):
                there = element(name, output.shape[:-1], i) if output.shape[:-1] else name
                in_modes.append(f"    answer->{there}[k] = {written.of_mode(place)};")
        else:
            lines += [
                f"    answer->{element(name, output.shape, i)} = {written.values[place]};"
                for i, place in enumerate(output.places)
            ]
    return lines + (written.each_mode(in_modes) if in_modes else [])


def _loop_helpers(package: Package) -> str:
    p, real, f = package.prefix, package.real, "f" if package.real == "float" else ""
    legs = f"{p.upper()}_LEGS"
    changes = "\n".join(
        f"        change = larger(change, fabs{f}(now->{n}[i] - before->{n}[i]));\n"
        f"        largest = larger(largest, now->{n}[i]);"
        for n in LOADS
    )
    copies = "\n".join(f"        loads->{n}[i] = caused[{k}][i];" for k, n in enumerate(LOADS))
    return f"""\
static void keep({real} caused[3][{legs}], {p}_loads *loads)
{{
    int i;
    for (i = 0; i < {legs}; i++) {{
{copies}
    }}
}}

/* Largest change of loads over the largest load. */
static {real} disagreement(const {p}_loads *now, const {p}_loads *before)
{{
    {real} change = 0, largest = 0;
    int i;
    for (i = 0; i < {legs}; i++) {{
{changes}
    }}
    return change / or_one(largest);
}}
"""


def _loop(package: Package, function: Function) -> str:
    """Plain passes until the loads agree with the friction they cause."""
    assert function.looped is not None
    p, name = package.prefix, function.name
    given = ", ".join(n for n in ("state", *function.inputs) if n != "loads")
    copies = "\n".join(
        f"    answer->{element(n, shape, i)} = pass.{element(n, shape, i)};"
        for n, shape in loop_outputs(function).items()
        for i in range(math.prod(shape))
    )
    return f"""\
{signature(package, function.looped, loop_parameters(package, function))}
{{
    {p}_loads before = {{{{0}}, {{0}}, {{0}}}}, now;
    {p}_{name}_answer pass;
    {package.real} residual;
    int status, passes = 0;
    (void){p}_{name}({given}, &before, &pass);
    keep(pass.caused, &now);
    do {{
        before = now;
        status = {p}_{name}({given}, &before, &pass);
        keep(pass.caused, &now);
        residual = disagreement(&now, &before);
        passes++;
    }} while (residual > {p.upper()}_TOLERANCE && passes < most_passes);
{copies}
    answer->residual = residual;
    answer->passes = passes;
    if (status != GOUGH_HEALTHY)
        return status;
    return residual <= {p.upper()}_WORST_RESIDUAL ? GOUGH_HEALTHY : GOUGH_NOT_CONVERGED;
}}
"""


def _columns(package: Package, function: Function) -> str:
    """A matrix from its products with unit vectors."""
    assert function.matrix is not None
    p, name = package.prefix, function.name
    (first, second), (above, below) = function.inputs, list(function.program.outputs)[:2]
    modes = f"{p.upper()}_MODES"
    state = [f"const {p}_state *state"]
    return f"""\
{signature(package, function.matrix, state)}
{{
    {package.real} {first}[6] = {{0}}, {second}[{modes}] = {{0}};
    {p}_{name}_answer column;
    int i, j, status = GOUGH_HEALTHY;
    for (j = 0; j < 6 + {modes}; j++) {{
        for (i = 0; i < 6; i++)
            {first}[i] = i == j;
        for (i = 0; i < {modes}; i++)
            {second}[i] = i + 6 == j;
        status = {p}_{name}(state, {first}, {second}, &column);
        for (i = 0; i < 6; i++)
            answer->{function.matrix}[i][j] = column.{above}[i];
        for (i = 0; i < {modes}; i++)
            answer->{function.matrix}[i + 6][j] = column.{below}[i];
    }}
    answer->margin = column.margin;
    return status;
}}
"""
