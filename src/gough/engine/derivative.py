"""Exact derivatives of traced programs, as further nodes of the same graph.

Both modes use one table of rules, ∂y/∂a for every argument a of an operation y:

    add 1, 1      sub 1, −1      mul b, a      div 1/b, −y/b      neg −1      sqrt 1/(2y)
    atan2(a, b) b/(a² + b²), −a/(a² + b²)

and where a derivative does not exist everywhere

    sqrt      ½ at 0 instead of ∞: √(x·x), a length, then has the derivative 0 at x = 0
    abs       the sign of a, that of +0 being +1
    copysign  sign a · sign b by a, 0 by b: the jump at b = 0 does not count
    min, max  1 by the argument that is taken, 0 by the other; a tie takes the first
    or_one    1, also at 0: the jump there does not count

Derivatives share the subexpressions of what they are derivatives of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gough.engine.graph import Graph, Symbol

Array = np.ndarray[Any, Any]


def tangents(outputs: Array, seeds: Mapping[int, Symbol]) -> Array:
    """Forward mode, a Jacobian-vector product: the change of the outputs, of their shape.

    `seeds` gives the change of each input by the input's node number; other inputs stay as they are.
    """
    symbols = list(np.ravel(outputs))
    if not symbols:
        return np.empty(np.shape(outputs), dtype=object)
    graph: Graph = symbols[0].graph
    changes = dict(seeds)
    for number in _between(graph, symbols, seeds):
        total = None
        for argument, slope in zip(graph.arguments[number], partials(graph, number), strict=True):
            if argument in changes and slope is not None:
                part = changes[argument] * slope
                total = part if total is None else total + part
        if total is not None:
            changes[number] = total
    zero = graph.constant(0.0)
    return _shaped([changes.get(one.number, zero) for one in symbols], np.shape(outputs))


def gradients(outputs: Array, cotangents: Array, inputs: Array) -> Array:
    """Reverse mode, a vector-Jacobian product: Σ_k cotangent_k ∂output_k/∂input, of the inputs' shape."""
    symbols, wanted = list(np.ravel(outputs)), list(np.ravel(inputs))
    if not wanted:
        return np.empty(np.shape(inputs), dtype=object)
    graph: Graph = wanted[0].graph
    zero = graph.constant(0.0)
    weights: dict[int, Symbol] = {}
    for output, weight in zip(symbols, np.ravel(cotangents), strict=True):
        weights[output.number] = weights.get(output.number, zero) + weight
    leaves = {one.number for one in wanted}
    active = _between(graph, symbols, leaves)
    depends = leaves | set(active)
    for number in reversed(active):
        weight = weights.get(number)
        if weight is None:
            continue
        for argument, slope in zip(graph.arguments[number], partials(graph, number), strict=True):
            if argument in depends and slope is not None:
                weights[argument] = weights.get(argument, zero) + weight * slope
    return _shaped([weights.get(one.number, zero) for one in wanted], np.shape(inputs))


def _between(graph: Graph, outputs: list[Symbol], inputs: Iterable[int]) -> list[int]:
    """Nodes that the outputs need and that depend on the inputs, arguments first, inputs left out."""
    depends = set(inputs)
    between = []
    for number in graph.reachable(one.number for one in outputs):
        if number not in depends and any(a in depends for a in graph.arguments[number]):
            depends.add(number)
            between.append(number)
    return between


def partials(graph: Graph, number: int) -> list[Symbol | None]:
    """∂y/∂a of a node y by each of its arguments; None where it is 0 everywhere."""
    y = Symbol(graph, number)
    arguments = [Symbol(graph, one) for one in graph.arguments[number]]
    return _RULES[graph.operations[number]](y, *arguments)


def _smaller(y: Symbol, a: Symbol, b: Symbol) -> list[Symbol | None]:
    first = (1 + _sign(b - a)) * 0.5
    return [first, 1 - first]


def _larger(y: Symbol, a: Symbol, b: Symbol) -> list[Symbol | None]:
    first = (1 + _sign(a - b)) * 0.5
    return [first, 1 - first]


def _angle(y: Symbol, a: Symbol, b: Symbol) -> list[Symbol | None]:
    per_square = 1 / (a * a + b * b)
    return [b * per_square, -a * per_square]


def _quotient(y: Symbol, a: Symbol, b: Symbol) -> list[Symbol | None]:
    per = 1 / b
    return [per, -y * per]


def _one(y: Symbol) -> Symbol:
    return y.graph.constant(1.0)


def _sign(x: Symbol) -> Symbol:
    return x.graph.constant(1.0).copysign(x)


_RULES: dict[str, Callable[..., list[Symbol | None]]] = {
    "add": lambda y, a, b: [_one(y), _one(y)],
    "sub": lambda y, a, b: [_one(y), -_one(y)],
    "mul": lambda y, a, b: [b, a],
    "div": _quotient,
    "neg": lambda y, a: [-_one(y)],
    "abs": lambda y, a: [_sign(a)],
    "sqrt": lambda y, a: [0.5 / y.or_one()],
    "atan2": _angle,
    "copysign": lambda y, a, b: [_sign(a) * _sign(b), None],
    "min": _smaller,
    "max": _larger,
    "or_one": lambda y, a: [_one(y)],
}


def _shaped(symbols: list[Symbol], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(symbols), dtype=object)
    array[:] = symbols
    return array.reshape(shape)
