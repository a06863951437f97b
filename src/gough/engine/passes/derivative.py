"""Exact derivatives of traced programs, as further nodes of the same graph.

Both modes use one table of rules, ∂y/∂a for every argument a of an operation y:

    add 1, 1      sub 1, −1      mul b, a      div 1/b, −y/b      neg −1      sqrt 1/(2y)
    atan2(a, b) b/(a² + b²), −a/(a² + b²)

and where a derivative does not exist everywhere:

    sqrt      ½ at 0 in place of ∞, so that a length √(x·x) has the derivative 0 at x = 0
    abs       the sign of a, which is that of its sign bit at 0
    copysign  sign a · sign b by a, 0 by b: the jump at b = 0 does not count
    min, max  1 by the argument that is taken, 0 by the other; a tie takes one of them
    or_one    1, also at 0: the jump there does not count

Over modes, where y = Σ_k x_k and y_k = Σ_j C_kj x_j are linear:

    sum       ẏ = Σ_k ẋ_k;           the weight of y is that of every x_k
    coupled   ẏ_k = Σ_j C_kj ẋ_j;    the weight of x_j is Σ_k C_kj (weight of y_k)

and the weight of a value that all modes share is the sum of what the modes give it.

Derivatives share subexpressions with what they are derivatives of, and are programs like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import COUPLED, SUM, Graph, Symbol, both_ways
from gough.engine.program import Program
from gough.engine.run.execute import Function
from gough.engine.run.interpret import interpret
from gough.engine.run.prologue import evaluate
from gough.engine.trace import (
    mode_count,
    mode_matrices,
    mode_tables,
    parameters,
    structure_of,
    trace,
)
from gough.mechanics.equation import Mechanism, State

BLOCK = 256
"""Rows that NumPy evaluates at a time: all values of a program stay in memory for so many."""


def tangents(outputs: Array, seeds: Mapping[int, Symbol]) -> Array:
    """Forward mode, a Jacobian-vector product: how the outputs change, in their shape.

    `seeds` gives the change of inputs by their node numbers; all other inputs stay as they are. Of an
    input of modes it is one a mode, or one for all.
    """
    symbols: list[Symbol] = list(np.ravel(outputs))
    graph = symbols[0].graph
    changes = dict(seeds)
    for number in _between(graph, symbols, changes):
        if graph.operations[number] in (SUM, COUPLED):
            changes[number] = _again(graph, number, changes[graph.arguments[number][0]])
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

    Inputs are input nodes; cotangents are symbols, one an output. Of an output of modes it is one a mode
    (or one for all), and the products of all modes are added.
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
            known[number] = _again(graph, number, Symbol(graph, arguments[0]))
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


def _again(graph: Graph, number: int, argument: Symbol) -> Symbol:
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
    """∂y/∂a of a node y by each of its arguments: the rules above."""
    y = Symbol(graph, number)
    arguments = (Symbol(graph, one) for one in graph.arguments[number])
    return _RULES[graph.operations[number]](y, *arguments)


def _quotient(y: Symbol, a: Symbol, b: Symbol) -> tuple[Symbol, ...]:
    per = 1 / b
    return per, -y * per


def _angle(y: Symbol, a: Symbol, b: Symbol) -> tuple[Symbol, ...]:
    per_square = 1 / (a * a + b * b)
    return b * per_square, -a * per_square


def _where_positive(x: Symbol) -> tuple[Symbol, ...]:
    """(1, 0) where x > 0, (0, 1) where x < 0."""
    first = (1 + _sign(x)) * 0.5
    return first, 1 - first


def _number(value: float, like: Symbol) -> Symbol:
    return like.graph.constant(value)


def _sign(x: Symbol) -> Symbol:
    return _number(1.0, x).copysign(x)


_RULES: dict[str, Callable[..., tuple[Symbol, ...]]] = {
    "add": lambda y, a, b: (_number(1.0, y), _number(1.0, y)),
    "sub": lambda y, a, b: (_number(1.0, y), _number(-1.0, y)),
    "mul": lambda y, a, b: (b, a),
    "div": _quotient,
    "neg": lambda y, a: (_number(-1.0, y),),
    "sqrt": lambda y, a: (0.5 / y.or_one(),),
    "atan2": _angle,
    "abs": lambda y, a: (_sign(a),),
    "copysign": lambda y, a, b: (_sign(a) * _sign(b), _number(0.0, y)),
    "min": lambda y, a, b: _where_positive(b - a),
    "max": lambda y, a, b: _where_positive(a - b),
    "or_one": lambda y, a: (_number(1.0, y),),
}


def _shaped(symbols: list[Symbol], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(symbols), dtype=object)
    array[:] = symbols
    return array.reshape(shape)


def symbolic(function: Function) -> Function:
    """A function that differentiates, and so needs symbols, made to run on numbers as well.

    On numbers it is traced once a robot structure, and NumPy evaluates the program.
    """

    @wraps(function)
    def run(mechanism: Mechanism, state: State, **inputs: Array) -> Mapping[str, Array]:
        if state.position.dtype == object:
            return function(mechanism, state, **inputs)
        shapes = {name: value.shape[:-1] for name, value in inputs.items()}
        return _evaluate(
            _program(function, mechanism, shapes), mechanism, {**state._asdict(), **inputs}
        )

    return run


_programs: dict[Any, Program] = {}


def _program(
    function: Function, mechanism: Mechanism, inputs: Mapping[str, tuple[int, ...]]
) -> Program:
    """The program of a function for a robot's structure."""
    marks = structure_of(mechanism)
    legs, modes = mechanism.points.shape[1], mode_count(mechanism)
    name = f"{function.__module__}.{function.__name__}"
    key = (name, mechanism.equations.__name__, legs, modes, marks, tuple(inputs.items()))
    if key not in _programs:
        _programs[key] = trace(function, mechanism, inputs)
    return _programs[key]


def _evaluate(
    program: Program, mechanism: Mechanism, fields: Mapping[str, Array]
) -> dict[str, Array]:
    """Outputs (..., samples) from fields (..., samples or 1)."""
    (samples,) = np.broadcast_shapes(*(value.shape[-1:] for value in fields.values()))
    hoisted = evaluate(program.prologue, program.hoisted, parameters(mechanism))
    tables, matrices = np.zeros((0, 0)), np.zeros((0, 0, 0))
    if mechanism.flexible is not None:
        tables = mode_tables(mechanism)[list(program.tables)]
        matrices = both_ways(mode_matrices(mechanism))[list(program.matrices)]
    rows = {
        name: np.broadcast_to(
            fields[name].reshape(math.prod(shape), -1), (math.prod(shape), samples)
        )
        for name, shape in program.fields.items()
    }
    blocks = [
        interpret(
            program,
            {name: value[:, start : start + BLOCK] for name, value in rows.items()},
            hoisted,
            tables,
            matrices,
        )
        for start in range(0, max(samples, 1), BLOCK)
    ]
    return {
        name: np.concatenate([block[name] for block in blocks], axis=-1) for name in program.outputs
    }
