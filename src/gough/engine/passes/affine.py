"""What is linear in a few unknowns, collected: y = c + Σ a_j x_j with c and a_j that do not change.

In a program that is repeated for unknowns x, most of what a pass computes of them is a long way round to
a number that is affine in two or three of them (what friction in one leg does at its port, say). With
coefficients made once, a pass only adds up. Sums stay in that form however many unknowns they have;
before a product with a factor those of more than FEW unknowns are carried out. That number, and nodes
marked as a waist, count as unknowns for all that follows. Sums over modes are made of coefficients, and
what has one value a mode is never carried out before: no pass goes through the modes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import COUPLED, SUM, Graph, Symbol
from gough.engine.passes.derivative import over_modes_again

FEW = 3
"""Unknowns of a value whose coefficients are worth multiplying once, rather than it every time."""


class Affine(NamedTuple):
    """c + Σ a_j x_j."""

    constant: Symbol
    slopes: dict[int, Symbol]
    """a_j by the number of x_j."""

    def times(self, factor: Symbol) -> Affine:
        """Every number multiplied."""
        return Affine(self.constant * factor, {x: a * factor for x, a in self.slopes.items()})

    def plus(self, other: Affine, sign: int) -> Affine:
        """A sum or a difference."""
        slopes = dict(self.slopes)
        for x, a in other.slopes.items():
            term = a if sign > 0 else -a
            slopes[x] = slopes[x] + term if x in slopes else term
        constant = self.constant + other.constant if sign > 0 else self.constant - other.constant
        return Affine(constant, slopes)


def collected(outputs: Array, unknowns: Array) -> Array:
    """The outputs, which depend on unknowns (input nodes), with all that is affine in them collected."""
    symbols: list[Symbol] = list(np.ravel(outputs))
    work = _Collecting(symbols[0].graph, {one.number for one in np.ravel(unknowns)})
    found = np.empty(len(symbols), dtype=object)
    found[:] = work.all([one.number for one in symbols])
    return found.reshape(np.shape(outputs))


class _Collecting:
    def __init__(self, graph: Graph, unknowns: set[int]) -> None:
        self.graph, self.unknowns = graph, unknowns
        self.forms: dict[int, Affine] = {}
        self.values: dict[int, Symbol] = {}
        self.alike: dict[tuple[tuple[int, int], ...], tuple[Symbol, Symbol]] = {}
        """Forms carried out, by their slopes: the value and its constant."""

    def all(self, wanted: list[int]) -> list[Symbol]:
        graph = self.graph
        depends = set(self.unknowns)
        for number in graph.reachable(wanted):
            if number in self.unknowns:
                self._carry_out(number)
            elif any(a in depends for a in graph.arguments[number]):
                depends.add(number)
                self._add(number)
                if number in graph.waists:
                    self._carry_out(number)
        return [self.value(number) for number in wanted]

    def value(self, number: int) -> Symbol:
        """A node as it is computed from now on."""
        if number not in self.values:
            form = self.forms.get(number)
            if form is None:
                return Symbol(self.graph, number)
            alike = tuple(sorted((x, a.number) for x, a in form.slopes.items()))
            if alike in self.alike:  # all but the constant is there
                value, constant = self.alike[alike]
                value = value + (form.constant - constant)
            else:
                value = form.constant
                for x, a in form.slopes.items():
                    value = value + a * Symbol(self.graph, x)
                self.alike[alike] = value, form.constant
            self.values[number] = value
        return self.values[number]

    def _carry_out(self, number: int) -> Affine:
        """From now on a node counts as an unknown."""
        value = self.value(number)
        self.values[value.number] = self.values[number] = value
        one = self.graph.constant(1.0)
        self.forms[number] = Affine(self.graph.constant(0.0), {value.number: one})
        return self.forms[number]

    def _add(self, number: int) -> None:
        operation, arguments = self.graph.operations[number], self.graph.arguments[number]
        if operation in (SUM, COUPLED):
            self._add_over_modes(number, arguments[0])
            return
        form = self._form(operation, arguments)
        if form is not None:
            self.forms[number] = form
        else:
            given = [self.value(one).number for one in arguments]
            self.values[number] = self.graph.make(operation, *given)

    def _add_over_modes(self, number: int, argument: int) -> None:
        """A sum over modes, or a coupling of them: linear, so of each coefficient."""
        form = self._of(argument)
        if form is None or any(self.graph.varying[x] for x in form.slopes):
            self.values[number] = over_modes_again(self.graph, number, self.value(argument))
            return
        constant, *slopes = (
            over_modes_again(self.graph, number, one)
            for one in (form.constant, *form.slopes.values())
        )
        self.forms[number] = Affine(constant, dict(zip(form.slopes, slopes, strict=True)))

    def _form(self, operation: str, arguments: tuple[int, ...]) -> Affine | None:
        """A node as an affine form, if it is one and worth it."""
        forms = [self._of(one) for one in arguments]
        if any(one is None for one in forms):
            return None
        a, b = forms[0], forms[-1]
        assert a is not None
        assert b is not None
        if operation in ("add", "sub"):
            return a.plus(b, 1 if operation == "add" else -1)
        if operation == "neg":
            return a.times(self.graph.constant(-1.0))
        if operation == "mul" and not (a.slopes and b.slopes):
            wide = arguments[0] if a.slopes else arguments[-1]
            if not a.slopes:
                a, b = b, a
            if len(a.slopes) > FEW and not self.graph.varying[wide]:
                a = self._carry_out(wide)
            return a.times(b.constant)
        return None

    def _of(self, number: int) -> Affine | None:
        """An argument's form; of what does not change it is a constant, of what is not affine None."""
        if number in self.forms:
            return self.forms[number]
        return None if number in self.values else Affine(Symbol(self.graph, number), {})
