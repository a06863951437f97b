"""Exact derivatives of traced programs, as further nodes of the same graph.

Both modes use the one table of `engine.operations`, ∂y/∂a for every argument a of an operation y.

Over modes, where y = Σ_k x_k and y_k = Σ_j C_kj x_j are linear:

    sum       ẏ = Σ_k ẋ_k;           the weight of y is that of every x_k
    coupled   ẏ_k = Σ_j C_kj ẋ_j;    the weight of x_j is Σ_k C_kj (weight of y_k)

and the weight of a value that all modes share is the sum of what the modes give it.

Derivatives share subexpressions with what they are derivatives of, and are programs like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import COUPLED, SUM, Graph, Symbol
from gough.engine.operations import OPERATIONS


def tangents(outputs: Array, seeds: Mapping[int, Symbol]) -> Array:
    """Forward mode, a Jacobian-vector product: how the outputs change, in their shape.

    `seeds` gives the change of inputs by their node numbers; all other inputs stay as they are. Of an
    input of modes it is one per mode, or one for all.
    """
    symbols: list[Symbol] = list(np.ravel(outputs))
    graph = symbols[0].graph
    changes = dict(seeds)
    for number in _between(graph, symbols, changes):
        if graph.operations[number] in (SUM, COUPLED):
            changes[number] = over_modes_again(graph, number, changes[graph.arguments[number][0]])
            continue
        parts = [
            changes[argument] * slope
            for argument, slope in zip(
                graph.arguments[number], partials(graph, number), strict=True
            )
            if argument in changes
        ]
        changes[number] = sum(parts[1:], start=parts[0])
    zero = graph.constant(0.0)
    return _shaped([changes.get(one.number, zero) for one in symbols], np.shape(outputs))


def gradients(outputs: Array, cotangents: Array, inputs: Array) -> Array:
    """Reverse mode, a vector-Jacobian product: Σ_k cotangent_k ∂output_k/∂input, in the inputs' shape.

    Inputs are input nodes; cotangents are symbols, one per output. Of an output of modes it is one
    per mode (or one for all), and the products of all modes are added.
    """
    symbols: list[Symbol] = list(np.ravel(outputs))
    wanted: list[Symbol] = list(np.ravel(inputs))
    graph = wanted[0].graph
    zero = graph.constant(0.0)
    weights: dict[int, Symbol] = {}
    for output, weight in zip(symbols, np.ravel(cotangents), strict=True):
        weights[output.number] = weights.get(output.number, zero) + weight
    leaves = {one.number for one in wanted}
    active = _between(graph, symbols, leaves)
    depends = leaves.union(active)
    for number in reversed(active):
        parts = _pulled(graph, number, weights.get(number, zero))
        for argument, part in zip(graph.arguments[number], parts, strict=True):
            if argument in depends:
                if graph.varying[number] and not graph.varying[argument]:
                    part = part.over_modes()
                weights[argument] = weights.get(argument, zero) + part
    return _shaped([weights.get(one.number, zero) for one in wanted], np.shape(inputs))


def substitute(outputs: Array, old: Array, new: Array) -> Array:
    """The outputs with symbols `new` in place of the inputs `old`.

    With inputs that stand for intermediate results, and are replaced by them after differentiation,
    derivatives may be taken in stages: the chain rule with matrices of one's own choice.
    """
    symbols: list[Symbol] = list(np.ravel(outputs))
    graph = symbols[0].graph
    known = {a.number: b for a, b in zip(np.ravel(old), np.ravel(new), strict=True)}
    for number in _between(graph, symbols, known):
        arguments = [known[a].number if a in known else a for a in graph.arguments[number]]
        if graph.operations[number] in (SUM, COUPLED):
            known[number] = over_modes_again(graph, number, Symbol(graph, arguments[0]))
        else:
            known[number] = graph.make(graph.operations[number], *arguments)
    return _shaped([known.get(one.number, one) for one in symbols], np.shape(outputs))


def _between(graph: Graph, outputs: list[Symbol], inputs: Iterable[int]) -> list[int]:
    """Nodes that the outputs need and that depend on the inputs, arguments first; no inputs."""
    depends = set(inputs)
    between = []
    for number in graph.reachable(one.number for one in outputs):
        if number not in depends and any(a in depends for a in graph.arguments[number]):
            depends.add(number)
            between.append(number)
    return between


def over_modes_again(graph: Graph, number: int, argument: Symbol) -> Symbol:
    """A sum over modes, or a coupling of modes, of something else."""
    if graph.operations[number] == SUM:
        return argument.over_modes()
    return argument.coupled_by(graph.leaves[number])


def _pulled(graph: Graph, number: int, weight: Symbol) -> tuple[Symbol, ...]:
    """What the weight of a node gives to those of its arguments."""
    if graph.operations[number] == SUM:
        return (weight,)
    if graph.operations[number] == COUPLED:
        return (weight.coupled_by(~graph.leaves[number]),)
    return tuple(weight * slope for slope in partials(graph, number))


def partials(graph: Graph, number: int) -> tuple[Symbol, ...]:
    """∂y/∂a of a node y by each of its arguments."""
    y = Symbol(graph, number)
    arguments = (Symbol(graph, one) for one in graph.arguments[number])
    return OPERATIONS[graph.operations[number]].slopes(y, *arguments)


def _shaped(symbols: list[Symbol], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(symbols), dtype=object)
    array[:] = symbols
    return array.reshape(shape)
