"""Straight-line programs as graphs of scalar operations, built by running the equations on symbols.

Every node is made once: the same operation on the same arguments is the same node, and what is known
(0 x, 1 x, x − x, constants) is folded while tracing. Nodes are numbered so that arguments come first.

Sums over the modes of a flexible platform stay sums: a node may stand for one value a mode (MODE, TABLE,
COUPLED and all that is computed of them), until SUM adds these up. Back ends make loops of that. A
matrix has a number m ≥ 0, its transpose −1 − m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gough.engine.operations import OPERATIONS

CONSTANT, INPUT = "constant", "input"
MODE, TABLE, MATRIX, COUPLED, SUM = "mode", "table", "matrix", "coupled", "sum"
"""Numbers per mode of a state's field and of the robot; per pair of modes; Σ_j C_kj x_j; Σ_k x_k."""
PER_MODE = frozenset((MODE, TABLE, MATRIX, COUPLED))
COMMUTATIVE = frozenset(name for name, one in OPERATIONS.items() if one.commutative)


class Graph:
    """All nodes of one tracing: an operation, its arguments, and for leaves a value or a place."""

    def __init__(self, modes: int = 0) -> None:
        self.modes = modes
        """How many modes a SUM adds up."""
        self.operations: list[str] = []
        self.arguments: list[tuple[int, ...]] = []
        self.leaves: list[Any] = []
        """Constant: its value. Input: (field, index). Mode: field. Table, matrix, coupled: a number."""
        self.varying: list[bool] = []
        """Which nodes have one value a mode."""
        self.waists: set[int] = set()
        """Nodes through which alone others feel an unknown; see `passes.affine`."""
        self._flexible = False
        """Some node has one value a mode."""
        self._known: dict[Any, int] = {}
        self._values: dict[int, float] = {}
        """Of the constants."""

    def __len__(self) -> int:
        return len(self.operations)

    def _node(self, operation: str, arguments: tuple[int, ...], leaf: Any = None) -> int:
        key = (operation, arguments, leaf)
        number = self._known.get(key)
        if number is None:
            self._flexible = self._flexible or operation in PER_MODE
            number = len(self.operations)
            self._known[key] = number
            self.operations.append(operation)
            self.arguments.append(arguments)
            self.leaves.append(leaf)
            varying = self.varying
            varying.append(
                self._flexible
                and operation != SUM
                and (operation in PER_MODE or True in [varying[one] for one in arguments])
            )
        return number

    def _leaf(self, operation: str, leaf: Any) -> Symbol:
        return Symbol(self, self._node(operation, (), leaf))

    def constant(self, value: float) -> Symbol:
        """A number; −0 counts as 0."""
        return Symbol(self, self._constant(value))

    def _constant(self, value: float) -> int:
        value = float(value) + 0.0
        number = self._node(CONSTANT, (), value)
        self._values[number] = value
        return number

    def input(self, field: str, index: int) -> Symbol:
        """Element `index` of the flattened input field."""
        return self._leaf(INPUT, (field, index))

    def inputs(self, field: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """An array of input symbols."""
        count = math.prod(shape)
        symbols = np.empty(count, dtype=object)
        for i in range(count):
            symbols[i] = self.input(field, i)
        return symbols.reshape(shape)

    def mode(self, field: str) -> Symbol:
        """An input field that has one number a mode."""
        return self._leaf(MODE, field)

    def table(self, number: int) -> Symbol:
        """Parameters, one per mode."""
        return self._leaf(TABLE, number)

    def matrix(self, number: int) -> Symbol:
        """Parameters, one per pair of modes; only `coupled_with` reads them."""
        return self._leaf(MATRIX, number)

    def constants(self, values: Any) -> np.ndarray[Any, Any]:
        """An array of numbers as symbols."""
        array = np.asarray(values, dtype=np.float64)
        symbols = np.empty(array.size, dtype=object)
        for i, value in enumerate(array.flat):
            symbols[i] = self.constant(value)
        return symbols.reshape(array.shape)

    def value(self, number: int) -> float | None:
        """The value of a constant node, None of any other."""
        return self._values.get(number)

    def make(self, operation: str, *arguments: int) -> Symbol:
        """A node for an operation, folded where its value is known."""
        return Symbol(self, self.number(operation, *arguments))

    def number(self, operation: str, *arguments: int) -> int:
        """The number of such a node. Numbers are not wrapped: that takes time."""
        if len(arguments) == 2:
            return self.pair(operation, *arguments)
        values = [self._values.get(one) for one in arguments]
        if None not in values:
            return self._constant(OPERATIONS[operation].value(*values))
        rule = RULES.get(operation)
        if rule is not None:
            folded = rule(self, *arguments, *values)
            if folded is not None:
                return folded
        return self._node(operation, arguments)

    def pair(self, operation: str, a: int, b: int) -> int:
        """The number of a node of two arguments. Tracing spends its time here."""
        value_a, value_b = self._values.get(a), self._values.get(b)
        if value_a is not None and value_b is not None:
            return self._constant(OPERATIONS[operation].value(value_a, value_b))
        rule = RULES.get(operation)
        if rule is not None:
            folded = rule(self, a, b, value_a, value_b)
            if folded is not None:
                return folded
        if a > b and operation in COMMUTATIVE:
            a, b = b, a
        return self._node(operation, (a, b))

    def negated(self, number: int) -> int | None:
        """The x of a node −x, None of any other."""
        return self.arguments[number][0] if self.operations[number] == "neg" else None

    def reachable(self, outputs: Iterable[int]) -> list[int]:
        """Nodes that the outputs need, arguments first: the rest is dead code."""
        wanted = set(outputs)
        for number in range(len(self) - 1, -1, -1):
            if number in wanted:
                wanted.update(self.arguments[number])
        return sorted(wanted)


class Symbol:
    """A node under tracing; behaves as a number."""

    __slots__ = ("graph", "number")
    __array_priority__ = 100.0

    def __init__(self, graph: Graph, number: int) -> None:
        self.graph = graph
        self.number = number

    def _alone(self, operation: str) -> Symbol:
        return Symbol(self.graph, self.graph.number(operation, self.number))

    def _with(self, operation: str, other: Any) -> Symbol:
        graph = self.graph
        number = other.number if isinstance(other, Symbol) else graph._constant(other)
        return Symbol(graph, graph.pair(operation, self.number, number))

    def _swapped(self, operation: str, other: Any) -> Symbol:
        return self.graph.constant(other)._with(operation, self)

    def __add__(self, other: Any) -> Symbol:
        return self._with("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._swapped("sub", other)

    def __mul__(self, other: Any) -> Symbol:
        return self._with("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._swapped("div", other)

    def __neg__(self) -> Symbol:
        return self._alone("neg")

    def __abs__(self) -> Symbol:
        return self._alone("abs")

    def sqrt(self) -> Symbol:
        """√x; NumPy's sqrt finds it."""
        return self._alone("sqrt")

    def arctan2(self, other: Any) -> Symbol:
        """Angle of (other, self); NumPy's arctan2 finds it."""
        return self._with("atan2", other)

    def sin(self) -> Symbol:
        """Sine; NumPy's sin finds it."""
        return self._alone("sin")

    def cos(self) -> Symbol:
        """Cosine; NumPy's cos finds it."""
        return self._alone("cos")

    def copysign(self, other: Any) -> Symbol:
        """|self| with the sign of other."""
        return self._with("copysign", other)

    def minimum(self, other: Any) -> Symbol:
        """The smaller of two."""
        return self._with("min", other)

    def maximum(self, other: Any) -> Symbol:
        """The larger of two."""
        return self._with("max", other)

    def over_modes(self) -> Symbol:
        """Σ_k of one value a mode; N x of a value that all modes share."""
        if not self.graph.varying[self.number]:
            return self * self.graph.modes
        return Symbol(self.graph, self.graph._node(SUM, (self.number,)))

    def coupled_with(self, values: Symbol) -> Symbol:
        """Σ_j C_kj x_j of a matrix; of a table, which is a matrix's diagonal, C_k x_k."""
        if self.graph.operations[self.number] != MATRIX:
            return self * values
        return values.coupled_by(self.graph.leaves[self.number])

    def coupled_by(self, matrix: int) -> Symbol:
        """Σ_j C_kj x_j of the matrix with a number, or of the transpose with a number below 0."""
        if self.graph.value(self.number) == 0:
            return self
        return Symbol(self.graph, self.graph._node(COUPLED, (self.number,), matrix))

    def rint(self) -> Symbol:
        """The nearest whole number, halves to even; NumPy's rint finds it."""
        return self._alone("rint")

    def waist(self) -> Symbol:
        """Itself, marked as one of few numbers through which all that follows feels an unknown."""
        graph, number = self.graph, self.number
        inside = graph.negated(number)  # others will use what is inside
        graph.waists.add(number if inside is None else inside)
        return self

    def or_one(self) -> Symbol:
        """1 where x = 0, else x: a safe divisor of what is 0 there."""
        return self._alone("or_one")


def _add(graph: Graph, a: int, b: int, va: float | None, vb: float | None) -> int | None:
    if va == 0:
        return b
    if vb == 0:
        return a
    if graph.operations[b] == "neg":
        return graph.pair("sub", a, graph.arguments[b][0])
    if graph.operations[a] == "neg":
        return graph.pair("sub", b, graph.arguments[a][0])
    return None


def _sub(graph: Graph, a: int, b: int, va: float | None, vb: float | None) -> int | None:
    if vb == 0:
        return a
    if va == 0:
        return graph.number("neg", b)
    if a == b:
        return graph._constant(0.0)
    if (inside := graph.negated(b)) is not None:
        return graph.number("add", a, inside)
    if (inside := graph.negated(a)) is not None:
        return graph.number("neg", graph.number("add", inside, b))
    return None


def _mul(graph: Graph, a: int, b: int, va: float | None, vb: float | None) -> int | None:
    for one, value, other in ((a, va, b), (b, vb, a)):
        if value is None:
            continue
        if value == 0:
            return one
        if value == 1:
            return other
        if value == -1:
            return graph.number("neg", other)
    return _sign_outside(graph, "mul", a, b)


def _div(graph: Graph, a: int, b: int, va: float | None, vb: float | None) -> int | None:
    if va == 0 or vb == 1:
        return a
    if vb == -1:
        return graph.number("neg", a)
    return _sign_outside(graph, "div", a, b)


def _sign_outside(graph: Graph, operation: str, a: int, b: int) -> int | None:
    if graph.operations[a] == "neg":
        return graph.number("neg", graph.pair(operation, graph.arguments[a][0], b))
    if graph.operations[b] == "neg":
        return graph.number("neg", graph.pair(operation, a, graph.arguments[b][0]))
    return None


def _neg(graph: Graph, a: int, _: float | None) -> int | None:
    if graph.operations[a] == "sub":
        left, right = graph.arguments[a]
        return graph.number("sub", right, left)
    return graph.negated(a)


def _abs(graph: Graph, a: int, _: float | None) -> int | None:
    inside = graph.negated(a)
    return None if inside is None else graph.number("abs", inside)


RULES: dict[str, Callable[..., int | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "abs": _abs,
}
"""What algebra knows without computing, of arguments and their values where these are constants."""
