"""C back end: programs as portable C99, one function each, one state a call.

A program becomes a list of single operations on a few reused local variables; what depends on
parameters alone is a table of constants. There is no allocation, no loop and no variable that
outlives a call, and nothing is needed but math.h. One operation a statement keeps compilers from
contracting them, so all of them give the same digits.
"""

from __future__ import annotations

import heapq
import math
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.operations import OPERATIONS
from gough.engine.program import HOISTED, Output, Program
from gough.errors import InputError

HELPERS = {
    "smaller": """\
/* The smaller of two; not a number if either is. */
static {real} smaller({real} a, {real} b)
{{
    return a < b || a != a ? a : b;
}}
""",
    "larger": """\
/* The larger of two; not a number if either is. */
static {real} larger({real} a, {real} b)
{{
    return a > b || a != a ? a : b;
}}
""",
    "or_one": """\
/* 1 where x = 0, else x: a safe divisor of what is 0 there. */
static {real} or_one({real} x)
{{
    return x == 0 ? 1 : x;
}}
""",
}
STRICT_NUMBERS = """\
#if defined(_M_FP_FAST) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "a state out of reach shows as NaN: compile without -ffast-math and the like"
#endif
"""
LOADS = ("universal", "spherical", "guide")
"""The rows of the input `loads`, and of the output `caused`."""
BEHIND = ("caused", "vectors")
"""Outputs that serve the friction loop only."""
UNDER_LOADS, WITH_FRICTION = "_under_loads", "_with_friction"


class Function(NamedTuple):
    """A program with the numbers of one robot, and what to say about it."""

    name: str
    program: Program
    hoisted: Array
    summary: str
    state: Mapping[str, tuple[int, ...]]
    """Shapes of the state's fields."""

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs beside the state."""
        return {n: shape for n, shape in self.program.fields.items() if n not in self.state}

    @property
    def looped(self) -> str | None:
        """Name of the function that makes friction agree with its loads by calling this one."""
        if "loads" not in self.inputs:
            return None
        return self.name.removesuffix(UNDER_LOADS) + WITH_FRICTION


class Package(NamedTuple):
    """All that goes into the C files of one robot."""

    identifier: str
    """Of the robot, as C names have it."""
    title: Sequence[str]
    """What the robot is, a paragraph each; any text."""
    legs: int
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


def literal(value: float, real: str) -> str:
    """A number in C, to its last digit."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    if real == "float":
        with np.errstate(all="ignore"):
            short = np.float32(value)
        if not np.isfinite(short):
            raise InputError(f"{value:g} is too large for a float")
        text = str(short)
    if "." not in text and "e" not in text:
        text += ".0"
    text += "f" if real == "float" else ""
    return f"({text})" if text.startswith("-") else text


class Numbers:
    """The table of a robot's constants, each there once."""

    def __init__(self, real: str) -> None:
        self.real = real
        self.places: dict[str, int] = {}

    def place(self, value: float) -> str:
        """How C refers to a number."""
        text = literal(value, self.real).strip("()")
        return f"numbers[{self.places.setdefault(text, len(self.places))}]"

    def text(self) -> str:
        """The table itself; empty where no number is needed."""
        if not self.places:
            return ""
        rows = textwrap.fill(
            ", ".join(self.places), 96, initial_indent="    ", subsequent_indent="    "
        )
        return (
            "/* What the robot's parameters alone decide. */\n"
            f"static const {self.real} numbers[{len(self.places)}] = {{\n{rows}\n}};\n"
        )


class Body(NamedTuple):
    """A program in C."""

    lines: list[str]
    variables: int
    values: list[str]
    """How C refers to each place of the program's body."""


def body(program: Program, refer: Callable[[str, int], str], real: str) -> Body:
    """Statements on variables r0, r1, …, each taken again once its value is not needed any more.

    `refer` says how C reads element `index` of an input field, hoisted numbers included.
    """
    largest = float(np.finfo(np.float32 if real == "float" else np.float64).max)
    last = {place: k for k, step in enumerate(program.body) for place in step.arguments}
    kept = {place for output in program.outputs.values() for place in output.places}
    lines: list[str] = []
    values: list[str] = []
    slots: dict[int, int] = {}
    free: list[int] = []
    variables = 0
    for k, step in enumerate(program.body):
        if step.operation == CONSTANT:
            finite = math.isfinite(step.leaf)
            value = math.copysign(min(abs(step.leaf), largest), step.leaf) if finite else step.leaf
            values.append(literal(value, real))
            continue
        if step.operation == INPUT:
            values.append(refer(*step.leaf))
            continue
        for place in set(step.arguments):
            if place in slots and last[place] == k and place not in kept:
                heapq.heappush(free, slots[place])
        if free:
            slot = heapq.heappop(free)
        else:
            slot, variables = variables, variables + 1
        slots[k] = slot
        given = [values[place] for place in step.arguments]
        text = OPERATIONS[step.operation].c.format(*given, f="f" if real == "float" else "")
        lines.append(f"    r{slot} = {text};")
        values.append(f"r{slot}")
    return Body(lines, variables, values)


def used_fields(program: Program) -> set[str]:
    """Input fields that a program reads."""
    return {step.leaf[0] for step in program.body if step.operation == INPUT} - {HOISTED}


def element(name: str, shape: tuple[int, ...], index: int) -> str:
    """Element `index`, row-major, of an array: name[i][j]."""
    return name + "".join(f"[{i}]" for i in np.unravel_index(index, shape)) if shape else name


def comment(paragraphs: Sequence[str], indent: str = "") -> str:
    """A C comment that no text can end early."""
    lines = [
        line
        for text in paragraphs
        for line in (textwrap.wrap(plain(text), 92 - len(indent)) or [""])
    ]
    if len(lines) == 1:
        return f"{indent}/* {lines[0]} */"
    rows = [f"{indent} * {line}".rstrip() for line in lines]
    return "\n".join([f"{indent}/*", *rows, f"{indent} */"])


def plain(text: str) -> str:
    """Printable ASCII that is safe in a C comment."""
    for odd, usual in (("−", "-"), ("–", "-"), ("—", "-"), ("×", "x"), ("·", "."), ("ω", "omega")):
        text = text.replace(odd, usual)
    folded = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in folded if not unicodedata.combining(c))
    ascii_only = "".join(c if c.isascii() and c.isprintable() else " " for c in kept)
    while "??" in ascii_only:  # trigraphs
        ascii_only = ascii_only.replace("??", "?")
    return ascii_only.replace("*", " ").replace("\\", "/")


def declaration(name: str, shape: tuple[int, ...]) -> str:
    """name[3][6] of an array."""
    return name + "".join(f"[{length}]" for length in shape)


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


def header_text(package: Package) -> str:
    """The .h file: the API and its documentation."""
    p, real = package.prefix, package.real
    guard = f"{p.upper()}_H"
    looped = any(f.looped for f in package.functions)
    parts = [
        f"/* {package.mark} */",
        comment(
            [
                *package.title,
                "",
                "SI units, radians, right-handed frames. World frame 0; a point x of the platform "
                "is at position + rotation x. The twist is the velocity of the platform frame's "
                "origin and the angular velocity, both in world axes; the accelerations are their "
                "time derivatives. An actuator force is positive where it pushes towards larger q. "
                "A wrench is force (3) and moment (3) on the platform at its frame's origin, world "
                "axes. Matrices are row-major: matrix[row][column].",
                "",
                "Every function takes one state and returns GOUGH_HEALTHY where its answer is good. "
                "GOUGH_DOUBTFUL says that answer->margin is not > 0 (it may be not a number): a leg "
                "out of reach or singular, a singular pose, a solve in doubt, or input that is not "
                "finite; do not use the answer then. The rotation is taken as given: it must be a "
                "rotation. Limits of the robot (strokes, forces) are not looked at. Functions keep "
                "nothing between calls: any number of threads may call them.",
            ]
        ),
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n',
        "#define GOUGH_HEALTHY 0\n#define GOUGH_DOUBTFUL 1",
    ]
    if looped:
        parts[-1] += (
            "\n/* Friction found no loads that agree with it within the passes given. */\n"
            "#define GOUGH_NOT_CONVERGED 2\n\n"
            f"/* Passes of the friction loop to allow. */\n"
            f"#define {p.upper()}_PASSES {package.most_passes}\n"
            "/* Disagreement over largest load at which the loop stops, and above which there is no "
            "answer. */\n"
            f"#define {p.upper()}_TOLERANCE {literal(package.tolerance, real)}\n"
            f"#define {p.upper()}_WORST_RESIDUAL {literal(package.worst_residual, real)}"
        )
    parts += [
        f"#define {p.upper()}_LEGS {package.legs}\n",
        "/* Where the platform is and how it moves. */\n"
        + struct(package, "state", package.functions[0].state),
    ]
    if looped:
        parts.append(
            "/* Load magnitudes that friction feels. */\n"
            + struct(package, "loads", {name: (package.legs,) for name in LOADS})
        )
    for function in package.functions:
        parts += _declarations(package, function)
    parts.append("#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
    return "\n".join(parts)


def _declarations(package: Package, function: Function) -> list[str]:
    inputs = [f"{name}: {package.notes[name]}" for name in function.inputs if name in package.notes]
    parts = [
        struct(package, f"{function.name}_answer", shapes(function.program.outputs)),
        comment([function.summary, *inputs]),
        signature(package, function.name, parameters(package, function)) + ";\n",
    ]
    if function.looped:
        outputs = loop_outputs(function) | {"residual": ()}
        passes = "    /* Passes made. */\n    int passes;"
        parts += [
            struct(package, f"{function.looped}_answer", outputs, passes),
            comment(
                [
                    f"The same with friction that agrees with its own loads: calls "
                    f"{function.name} until loads do not change, most_passes times at most "
                    f"({package.prefix.upper()}_PASSES is plenty unless friction nearly locks a "
                    "joint). Else GOUGH_NOT_CONVERGED.",
                    *(text for text in inputs if not text.startswith("loads")),
                ]
            ),
            signature(package, function.looped, loop_parameters(package, function)) + ";\n",
        ]
    return parts


def source_text(package: Package) -> str:
    """The .c file."""
    numbers = Numbers(package.real)
    functions = []
    for function in package.functions:
        functions.append(_definition(package, function, numbers))
        if function.looped:
            functions.append(_loop(package, function))
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
            *helpers,
            code,
        ]
    )


OPTIONAL = {"wrench", "preload"}
"""Inputs that may be NULL: zero then."""


def _definition(package: Package, function: Function, numbers: Numbers) -> str:
    """One function: read, compute, write the answer last, so that it may share memory with inputs."""

    def refer(field: str, index: int) -> str:
        if field == HOISTED:
            return numbers.place(float(function.hoisted[index]))
        if field in function.state:
            return element(f"state->{field}", function.state[field], index)
        if field == "loads":
            return f"loads->{LOADS[index // package.legs]}[{index % package.legs}]"
        return f"{field}[{index}]"

    written = body(function.program, refer, package.real)
    used = used_fields(function.program)
    start: list[str] = []
    if written.variables:
        names = ", ".join(f"r{i}" for i in range(written.variables))
        start += textwrap.wrap(
            f"{package.real} {names};", 96, initial_indent="    ", subsequent_indent="        "
        )
    for name, shape in function.inputs.items():
        if name not in used:
            start.append(f"    (void){name};")
        elif name in OPTIONAL:
            zero = f"    static const {package.real} no_{name}[{math.prod(shape)}] = {{0}};"
            start = [zero, *start, f"    if ({name} == NULL)", f"        {name} = no_{name};"]
    if not used & set(function.state):
        start.append("    (void)state;")
    end = [
        f"    answer->{element(name, output.shape, i)} = {written.values[place]};"
        for name, output in function.program.outputs.items()
        for i, place in enumerate(output.places)
    ]
    return "\n".join(
        [
            signature(package, function.name, parameters(package, function)),
            "{",
            *start,
            *written.lines,
            *end,
            "    return answer->margin > 0 ? GOUGH_HEALTHY : GOUGH_DOUBTFUL;\n}\n",
        ]
    )


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
