"""C back end: the operations of a program as portable C99.

A program becomes a list of single operations on a few reused local variables; what depends on
parameters alone is a table of constants. Sums over modes are loops over tables. There is no allocation
and no variable that outlives a call, and nothing is needed but math.h. One operation a statement keeps
compilers from contracting them, so all of them give the same digits.
"""

from __future__ import annotations

import heapq
import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.operations import OPERATIONS
from gough.engine.program import Program, Step
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
LONGEST = 100
"""Characters of a name in C."""
STRICT_NUMBERS = """\
#if defined(_M_FP_FAST) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "a state out of reach shows as NaN: compile without -ffast-math and the like"
#endif
"""


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


class ConstantNumbers:
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


class Tables:
    """Constant arrays (modes,) and (modes, modes), each there once."""

    def __init__(self, real: str) -> None:
        self.real = real
        self.places: dict[tuple[str, ...], tuple[str, str]] = {}

    def place(self, values: Array) -> str:
        """How C refers to an array."""
        texts = tuple(literal(float(value), self.real).strip("()") for value in values.flat)
        name = f"modes{len(self.places)}"
        return self.places.setdefault(texts, (name, declaration(name, values.shape)))[0]

    def text(self) -> str:
        """The arrays themselves."""
        found = []
        for texts, (_, declared) in self.places.items():
            rows = ", ".join(texts)
            if declared.count("[") == 2:
                width = math.isqrt(len(texts))
                parts = [texts[i : i + width] for i in range(0, len(texts), width)]
                rows = ", ".join("{" + ", ".join(part) + "}" for part in parts)
            filled = textwrap.fill(rows, 96, initial_indent="    ", subsequent_indent="    ")
            found.append(f"static const {self.real} {declared} = {{\n{filled}\n}};\n")
        start = "/* Numbers of each mode, and of each pair of modes. */\n" if found else ""
        return start + "".join(found)


class Statements:
    """A program in C: statements on variables r0, r1, …, and loops over the modes."""

    def __init__(
        self,
        program: Program,
        refer: Callable[[str, int], str],
        real: str,
        tables: Sequence[str] = (),
        matrices: Sequence[str] = (),
        refer_mode: Callable[[str, str], str] = "{0}[{1}]".format,
    ) -> None:
        """`refer` says how C reads element `index` of an input field, hoisted numbers included.

        `refer_mode` the same of a mode of a field of modes; `tables` and `matrices` are names of arrays.
        """
        self.program, self.refer, self.refer_mode = program, refer, refer_mode
        self.tables, self.matrices = tables, matrices
        self.suffix = "f" if real == "float" else ""
        self.real = real
        self.lines: list[str] = []
        self.values: list[str] = []
        """How C refers to each place of the program's body that all modes share; else empty."""
        self.kept: dict[int, str] = {}
        """Arrays of values that modes have and that are needed after their loop."""
        self.totals: dict[int, str] = {}
        self.inner = False
        steps = program.body
        self.last = {place: k for k, step in enumerate(steps) for place in step.arguments}
        self.results = {place for output in program.outputs.values() for place in output.places}
        self.slots = Slots("r")
        edges = (*(program.sections or (0,)), len(steps))
        for section, (start, stop) in enumerate(pairwise(edges)):
            if section % 2:
                self._loop(start, stop)
            else:
                for place in range(start, stop):
                    self._straight(place)

    def declarations(self) -> list[str]:
        """The variables."""
        names = [*self.slots.names(), *self.totals.values()]
        names += [f"{name}[{self.program.modes}]" for name in self.kept.values()]
        found = []
        if names:
            found = textwrap.wrap(
                f"{self.real} {', '.join(names)};",
                96,
                initial_indent="    ",
                subsequent_indent="        ",
            )
        varying = any(output.varying for output in self.program.outputs.values())
        counters = ["k"] if varying or len(self.program.sections) > 1 else []
        counters += ["j"] if self.inner else []
        return [*found, *([f"    int {', '.join(counters)};"] if counters else [])]

    def each_mode(self, lines: Sequence[str]) -> list[str]:
        """Statements done for every mode k."""
        start = f"    for (k = 0; k < {self.program.modes}; k++) {{"
        return [start, *(f"    {line}" for line in lines), "    }"]

    def of_mode(self, place: int, index: str = "k") -> str:
        """A value as it is for a mode, after the loop that computes it."""
        operation, _, leaf = self.program.body[place]
        if operation == MODE:
            return self.refer_mode(leaf, index)
        if operation == TABLE:
            return f"{self.tables[leaf]}[{index}]"
        return f"{self.kept[place]}[{index}]" if place in self.kept else self.values[place]

    def _straight(self, place: int) -> None:
        step = self.program.body[place]
        if step.operation == CONSTANT:
            self.values.append(self._constant(step.leaf))
        elif step.operation == INPUT:
            self.values.append(self.refer(*step.leaf))
        elif step.operation == SUM:
            self.values.append(self.totals[step.arguments[0]])
        else:
            for argument in set(step.arguments):
                if self.last[argument] == place and argument not in self.results:
                    self.slots.free(argument)
            given = [self.values[argument] for argument in step.arguments]
            self.values.append(self.slots.take(place))
            self.lines.append(f"    {self.values[place]} = {self._expression(step, given)};")

    def _loop(self, start: int, stop: int) -> None:
        """Steps that are done for every mode, and what they leave behind."""
        steps = self.program.body
        self.values += [""] * (stop - start)
        later = {a for step in steps[stop:] if step.operation != SUM for a in step.arguments}
        summed = {step.arguments[0] for step in steps[stop:] if step.operation == SUM}
        last = {a: place for place in range(start, stop) for a in steps[place].arguments}
        here = Slots("a")
        lines: list[str] = []
        for place in range(start, stop):
            step = steps[place]
            if step.operation not in (MODE, TABLE):
                given = [here.name(a) or self.of_mode(a) for a in step.arguments]
                for argument in set(step.arguments):
                    if last[argument] == place:
                        here.free(argument)
                name = here.take(place)
                if step.operation == COUPLED:
                    lines += self._coupled(name, step)
                else:
                    lines.append(f"    {name} = {self._expression(step, given)};")
                if place in later or place in self.results:
                    self.kept[place] = f"m{len(self.kept)}"
                    lines.append(f"    {self.kept[place]}[k] = {name};")
            if place in summed:
                total = self.totals[place] = f"s{len(self.totals)}"
                self.lines.append(f"    {total} = 0;")
                lines.append(f"    {total} = {total} + {here.name(place) or self.of_mode(place)};")
            if place not in last:
                here.free(place)
        declared = (
            textwrap.wrap(f"{self.real} {', '.join(here.names())};", 88) if here.count else []
        )
        self.lines += self.each_mode([*(f"    {line}" for line in declared), *lines])
        for place, end in self.last.items():
            if start <= end < stop and place not in self.results:
                self.slots.free(place)

    def _coupled(self, name: str, step: Step) -> list[str]:
        self.inner = True
        factor = self.of_mode(step.arguments[0], "j")
        return [
            f"    {name} = 0;",
            f"    for (j = 0; j < {self.program.modes}; j++) {{",
            f"        {self.real} product = {self.matrices[step.leaf]}[k][j] * {factor};",
            f"        {name} = {name} + product;",
            "    }",
        ]

    def _constant(self, value: float) -> str:
        if math.isfinite(value):
            largest = float(np.finfo(np.float32 if self.suffix else np.float64).max)
            value = math.copysign(min(abs(value), largest), value)
        return literal(value, self.real)

    def _expression(self, step: Step, given: Sequence[str]) -> str:
        return OPERATIONS[step.operation].c.format(*given, f=self.suffix)


class Slots:
    """Names of variables, each taken again once its value is not needed any more."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.count = prefix, 0
        self._of: dict[int, int] = {}
        self._free: list[int] = []

    def take(self, place: int) -> str:
        """The variable for a value."""
        if self._free:
            slot = heapq.heappop(self._free)
        else:
            slot, self.count = self.count, self.count + 1
        self._of[place] = slot
        return f"{self.prefix}{slot}"

    def free(self, place: int) -> None:
        """A value is not needed any more."""
        if place in self._of:
            heapq.heappush(self._free, self._of.pop(place))

    def name(self, place: int) -> str:
        """The variable that holds a value; empty if none does."""
        return f"{self.prefix}{self._of[place]}" if place in self._of else ""

    def names(self) -> list[str]:
        """All variables."""
        return [f"{self.prefix}{i}" for i in range(self.count)]


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


def sanitised(name: str) -> str:
    """A name as part of a C identifier and of names of files, which must not be long."""
    word = re.sub(r"[^0-9A-Za-z]+", "_", plain(name)).strip("_").lower()
    return word[:LONGEST].strip("_") or "robot"


def declaration(name: str, shape: tuple[int, ...]) -> str:
    """name[3][6] of an array."""
    return name + "".join(f"[{length}]" for length in shape)
