"""Straight-line programs as graphs of scalar operations, built by running the equations on symbols.

Every node is made once: the same operation on the same arguments is the same node, and what is known
(0 x, 1 x, x − x, constants) is folded while tracing. Nodes are numbered so that arguments come first.

Sums over the modes of a flexible platform stay sums: a node may stand for one value a mode (MODE, TABLE,
COUPLED and all that is computed of them), until SUM adds these up. Back ends make loops of that. A
matrix has a number m ≥ 0, its transpose −1 − m.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from gough.engine.operations import OPERATIONS

CONSTANT, INPUT = "constant", "input"
MODE, TABLE, MATRIX, COUPLED, SUM = "mode", "table", "matrix", "coupled", "sum"
"""Numbers per mode of a state's field and of the robot; per pair of modes; Σ_j C_kj x_j; Σ_k x_k."""


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
        self._known: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.operations)

    def _node(self, operation: str, arguments: tuple[int, ...], leaf: Any = None) -> Symbol:
        key = (operation, arguments, leaf)
        number = self._known.get(key)
        if number is None:
            number = len(self.operations)
            self._known[key] = number
            self.operations.append(operation)
            self.arguments.append(arguments)
            self.leaves.append(leaf)
            self.varying.append(
                operation in (MODE, TABLE, MATRIX, COUPLED)
                or (operation != SUM and any(self.varying[one] for one in arguments))
            )
        return Symbol(self, number)

    def constant(self, value: float) -> Symbol:
        """A number; −0 counts as 0."""
        return self._node(CONSTANT, (), float(value) + 0.0)

    def input(self, field: str, index: int) -> Symbol:
        """Element `index` of the flattened input field."""
        return self._node(INPUT, (), (field, index))

    def inputs(self, field: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """An array of input symbols."""
        count = math.prod(shape)
        symbols = np.empty(count, dtype=object)
        for i in range(count):
            symbols[i] = self.input(field, i)
        return symbols.reshape(shape)

    def mode(self, field: str) -> Symbol:
        """An input field that has one number a mode."""
        return self._node(MODE, (), field)

    def table(self, number: int) -> Symbol:
        """Parameters, one per mode."""
        return self._node(TABLE, (), number)

    def matrix(self, number: int) -> Symbol:
        """Parameters, one per pair of modes; only `coupled_with` reads them."""
        return self._node(MATRIX, (), number)

    def constants(self, values: Any) -> np.ndarray[Any, Any]:
        """An array of numbers as symbols."""
        array = np.asarray(values, dtype=np.float64)
        symbols = np.empty(array.size, dtype=object)
        for i, value in enumerate(array.flat):
            symbols[i] = self.constant(value)
        return symbols.reshape(array.shape)

    def value(self, number: int) -> float | None:
        """The value of a constant node, None of any other."""
        if self.operations[number] != CONSTANT:
            return None
        return float(self.leaves[number])

    def make(self, operation: str, *arguments: int) -> Symbol:
        """A node for an operation, folded where its value is known."""
        folded = _fold(self, operation, arguments)
        if folded is not None:
            return folded
        if OPERATIONS[operation].commutative:
            arguments = tuple(sorted(arguments))
        return self._node(operation, arguments)

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

    def _with(self, operation: str, *others: Any) -> Symbol:
        numbers = [self.number]
        for other in others:
            if not isinstance(other, Symbol):
                other = self.graph.constant(float(other))
            numbers.append(other.number)
        return self.graph.make(operation, *numbers)

    def _swapped(self, operation: str, other: Any) -> Symbol:
        return self.graph.constant(float(other))._with(operation, self)

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
        return self._with("neg")

    def __abs__(self) -> Symbol:
        return self._with("abs")

    def sqrt(self) -> Symbol:
        """√x; NumPy's sqrt finds it."""
        return self._with("sqrt")

    def arctan2(self, other: Any) -> Symbol:
        """Angle of (other, self); NumPy's arctan2 finds it."""
        return self._with("atan2", other)

    def sin(self) -> Symbol:
        """Sine; NumPy's sin finds it."""
        return self._with("sin")

    def cos(self) -> Symbol:
        """Cosine; NumPy's cos finds it."""
        return self._with("cos")

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
        return self.graph._node(SUM, (self.number,))

    def coupled_with(self, values: Symbol) -> Symbol:
        """Σ_j C_kj x_j of a matrix; of a table, which is a matrix's diagonal, C_k x_k."""
        if self.graph.operations[self.number] != MATRIX:
            return self * values
        return values.coupled_by(self.graph.leaves[self.number])

    def coupled_by(self, matrix: int) -> Symbol:
        """Σ_j C_kj x_j of the matrix with a number, or of the transpose with a number below 0."""
        if self.graph.value(self.number) == 0:
            return self
        return self.graph._node(COUPLED, (self.number,), matrix)

    def rint(self) -> Symbol:
        """The nearest whole number, halves to even; NumPy's rint finds it."""
        return self._with("rint")

    def waist(self) -> Symbol:
        """Itself, marked as one of few numbers through which all that follows feels an unknown."""
        graph, number = self.graph, self.number
        negated = graph.operations[number] == "neg"  # others will use what is inside
        graph.waists.add(graph.arguments[number][0] if negated else number)
        return self

    def or_one(self) -> Symbol:
        """1 where x = 0, else x: a safe divisor of what is 0 there."""
        return self._with("or_one")


def _fold(graph: Graph, operation: str, arguments: tuple[int, ...]) -> Symbol | None:
    """What algebra knows without computing; None if nothing."""
    first, last = arguments[0], arguments[-1]
    va, vb = graph.value(first), graph.value(last)
    of_first = graph.operations[first]
    negated_a, negated_b = of_first == "neg", graph.operations[last] == "neg"
    if va is None and vb is None and not (negated_a or negated_b):  # the usual case, soon
        if operation == "sub" and first == last:
            return graph.constant(0.0)
        if operation == "neg" and of_first == "sub":
            left, right = graph.arguments[first]
            return Symbol(graph, right) - Symbol(graph, left)
        return None
    if va is not None and vb is not None:
        return graph.constant(OPERATIONS[operation].value(*map(graph.value, arguments)))
    a, b = Symbol(graph, first), Symbol(graph, last)

    def inner(symbol: Symbol) -> Symbol:
        return Symbol(graph, graph.arguments[symbol.number][0])

    if operation == "add":
        if va == 0:
            return b
        if vb == 0:
            return a
        if negated_b:
            return a - inner(b)
        if negated_a:
            return b - inner(a)
    elif operation == "sub":
        if vb == 0:
            return a
        if va == 0:
            return -b
        if first == last:
            return graph.constant(0.0)
        if negated_b:
            return a + inner(b)
        if negated_a:
            return -(inner(a) + b)
    elif operation == "mul":
        for one, value, other in ((a, va, b), (b, vb, a)):
            if value == 0:
                return one
            if value == 1:
                return other
            if value == -1:
                return -other
        if negated_a:
            return -(inner(a) * b)
        if negated_b:
            return -(a * inner(b))
    elif operation == "div":
        if va == 0:
            return a
        if vb == 1:
            return a
        if vb == -1:
            return -a
        if negated_a:
            return -(inner(a) / b)
        if negated_b:
            return -(a / inner(b))
    elif operation == "neg":
        return inner(a)
    elif operation == "abs":
        return abs(inner(a))
    return None
