"""Formulas of study files: numbers, names, operators and known functions; parsed, never executed.

    sum        := product (("+" | "-") product)*
    product    := sign (("*" | "/") sign)*
    sign       := ("+" | "-") sign | power
    power      := atom (("^" | "**") sign)?
    atom       := number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
    comparison := sum ("<" | "<=" | ">" | ">=") sum

All numbers are floating point, so 9^9^9 is infinite and no million digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.words import nearest, shown
from gough.errors import InputError

LONGEST = 1000
"""Characters of a formula."""
DEEPEST = 60
"""Brackets, signs and powers inside each other."""
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<sign>\*\*|<=|>=|[-+*/^(),<>]))",
    re.ASCII,
)
CONSTANTS = {"pi": math.pi}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tan": (1, np.tan),
    "asin": (1, np.arcsin),
    "acos": (1, np.arccos),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "sqrt": (1, np.sqrt),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "abs": (1, np.abs),
    "hypot": (2, np.hypot),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "radians": (1, np.radians),
    "degrees": (1, np.degrees),
}
"""Number of arguments, and what is computed."""
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
}


class FormulaStep(NamedTuple):
    """A step of a calculation on a stack: a number or name to put there, or a function of its top."""

    value: float | str | Callable[..., Any]
    takes: int = 0


@dataclass(frozen=True)
class Formula:
    """A formula that has been understood."""

    text: str
    steps: tuple[FormulaStep, ...]
    names: frozenset[str]
    """Names that it needs values for."""

    def __call__(self, values: Mapping[str, Array]) -> Array:
        """Its value for arrays that broadcast; what has no value (1/0, √−1) is NaN or infinite."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for value, takes in self.steps:
                if callable(value):
                    stack[len(stack) - takes :] = [value(*stack[len(stack) - takes :])]
                else:
                    stack.append(values[value] if isinstance(value, str) else np.float64(value))
        return np.asarray(stack[0], dtype=np.float64)


class Constraint(NamedTuple):
    """A comparison that must hold."""

    text: str
    excess: Formula
    """At most 0 where it holds."""


def parse(text: str | float, known: Iterable[str]) -> Formula:
    """A formula over known names, or a number."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise InputError(f"{str(text)[:40]!r} is no formula")
    if not isinstance(text, str):
        number = float(text) if abs(text) < 1e300 else math.inf
        if not math.isfinite(number):
            raise InputError("a number that is not finite")
        return Formula(f"{text:g}", (FormulaStep(number),), frozenset())
    reader = _Reader(text, frozenset(known))
    reader.sum(0)
    reader.end()
    return Formula(text, tuple(reader.steps), frozenset(reader.names))


def parse_constraint(text: str, known: Iterable[str]) -> Constraint:
    """A comparison of two formulas, as "condition < 20"."""
    reader = _Reader(text, frozenset(known))
    reader.sum(0)
    sign = reader.take("<", "<=", ">", ">=")
    if sign is None:
        raise reader.error("needs a comparison, as in 'condition < 20'")
    reader.sum(0)
    reader.end()
    reader.steps.append(FormulaStep(OPERATORS["-"], 2))
    if sign[0] == ">":
        reader.steps.append(FormulaStep(np.negative, 1))
    excess = Formula(text, tuple(reader.steps), frozenset(reader.names))
    return Constraint(text, excess)


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str, known: frozenset[str]) -> None:
        self.text, self.known, self.names = text, known, set[str]()
        self.steps: list[FormulaStep] = []
        if len(text) > LONGEST:
            raise InputError(f"{text[:40]!r}… has {len(text)} characters; limit {LONGEST}")
        self.tokens: list[tuple[str, str, int]] = []
        place, end = 0, len(text.rstrip())
        while place < end:
            found = TOKEN.match(text, place)
            if found is None:
                at = place + len(text[place:]) - len(text[place:].lstrip())
                raise InputError(
                    f"{shown(text)}: {text[at]!r} at {at + 1} has no place in a formula"
                )
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind], found.start(kind)))
            place = found.end()
        self.next = 0

    def error(self, message: str) -> InputError:
        """With the formula and the place reached."""
        if self.next < len(self.tokens):
            _, token, at = self.tokens[self.next]
            return InputError(f"{shown(self.text)}: {message}; has {token[:20]!r} at {at + 1}")
        return InputError(f"{shown(self.text)}: {message}; ends there")

    def take(self, *signs: str) -> str | None:
        """The next token if it is one of some signs."""
        if self.next < len(self.tokens):
            kind, token, _ = self.tokens[self.next]
            if kind == "sign" and token in signs:
                self.next += 1
                return token
        return None

    def end(self) -> None:
        """Refuse what is left over."""
        if self.next < len(self.tokens):
            raise self.error("an operator is missing")

    def sum(self, depth: int) -> None:
        self.product(depth)
        while (sign := self.take("+", "-")) is not None:
            self.product(depth)
            self.steps.append(FormulaStep(OPERATORS[sign], 2))

    def product(self, depth: int) -> None:
        self.sign(depth)
        while (sign := self.take("*", "/")) is not None:
            self.sign(depth)
            self.steps.append(FormulaStep(OPERATORS[sign], 2))

    def sign(self, depth: int) -> None:
        if depth > DEEPEST:
            raise InputError(f"{shown(self.text)}: nested deeper than {DEEPEST}")
        sign = self.take("+", "-")
        if sign is None:
            self.power(depth)
            return
        self.sign(depth + 1)
        if sign == "-":
            self.steps.append(FormulaStep(np.negative, 1))

    def power(self, depth: int) -> None:
        self.atom(depth)
        if self.take("^", "**") is not None:
            self.sign(depth + 1)
            self.steps.append(FormulaStep(OPERATORS["^"], 2))

    def atom(self, depth: int) -> None:
        if self.take("(") is not None:
            self.sum(depth + 1)
            if self.take(")") is None:
                raise self.error("a ')' is missing")
            return
        if self.next >= len(self.tokens) or self.tokens[self.next][0] == "sign":
            raise self.error("a number or name is missing")
        kind, token, _ = self.tokens[self.next]
        following = self.tokens[self.next + 1 : self.next + 2]
        if kind == "number":
            number = float(token)
            if not math.isfinite(number):
                raise self.error("a number that is not finite")
            self.steps.append(FormulaStep(number))
        elif following and following[0][1] == "(":
            self.call(token, depth)
            return
        elif token in self.known:
            self.names.add(token)
            self.steps.append(FormulaStep(token))
        elif token in CONSTANTS:
            self.steps.append(FormulaStep(CONSTANTS[token]))
        else:
            near = nearest(token, (*self.known, *CONSTANTS))
            raise InputError(
                f"{shown(self.text)}: unknown name {shown(token)}; the nearest known is {near}"
            )
        self.next += 1

    def call(self, name: str, depth: int) -> None:
        if name not in FUNCTIONS:
            near = nearest(name, FUNCTIONS)
            raise InputError(
                f"{shown(self.text)}: unknown function {shown(name)}; the nearest known is {near}"
            )
        count, function = FUNCTIONS[name]
        self.next += 2
        given = 1
        self.sum(depth + 1)
        while self.take(",") is not None:
            self.sum(depth + 1)
            given += 1
        if self.take(")") is None:
            raise self.error("a ')' is missing")
        if given != count:
            raise InputError(f"{shown(self.text)}: {name} takes {count} numbers, has {given}")
        self.steps.append(FormulaStep(function, count))
