"""Tracing: run the equations on symbols and keep what they did.

A robot's numbers become run-time parameters, except for those that are 0, 1 or −1: these are its
structure (an axis along x, a body without mass), folded into the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gough.dynamics import Machine, State
from gough.engine.execute import LARGEST
from gough.engine.graph import Graph
from gough.engine.program import PARAMETERS, Array, Program, assemble

STRUCTURAL = (0.0, 1.0, -1.0)
STATE_SHAPES = {name: (3, 3) if name == "rotation" else (3,) for name in State._fields}


def parameters(machine: Machine) -> Array:
    """All numbers of a robot in one vector, in the order of the machine's fields."""
    leaves: list[Array] = []
    _each_leaf(_numeric(machine), leaves.append)
    return np.concatenate([np.ravel(leaf) for leaf in leaves])


def structure_of(machine: Machine) -> bytes:
    """The structure of a robot's parameters: programs are made for this.

    The branch of a PUS leg is a number: its sign is no reason for another program.
    """
    if hasattr(machine.legs, "sign"):
        machine = machine._replace(legs=machine.legs._replace(sign=np.nan * machine.legs.sign))
    return structure(parameters(machine))


def structure(values: Array) -> bytes:
    """Which parameters are 0, 1, −1, or any number."""
    marks = np.full(values.shape, len(STRUCTURAL), dtype=np.uint8)
    for mark, value in enumerate(STRUCTURAL):
        marks[values == value] = mark
    return marks.tobytes()


def trace(
    function: Callable[..., Mapping[str, Array]],
    machine: Machine,
    inputs: Mapping[str, tuple[int, ...]],
) -> Program:
    """The program of `function(machine, state, **inputs)`; inputs by name and shape.

    Arrays run through the equations as they do in a batch of one sample; the sample axis, last, is
    dropped from the outputs.
    """
    graph = Graph()
    marks = np.frombuffer(structure_of(machine), dtype=np.uint8)
    place = 0

    def symbolic(leaf: Array) -> Array:
        nonlocal place
        symbols = np.empty(leaf.size, dtype=object)
        for i in range(leaf.size):
            mark = marks[place]
            symbols[i] = (
                graph.constant(STRUCTURAL[mark]) if mark < 3 else graph.input(PARAMETERS, place)
            )
            place += 1
        return symbols.reshape(leaf.shape)

    numbers = _map_leaves(_numeric(machine), symbolic)
    robot = machine._replace(**dict(zip(_NUMERIC, numbers, strict=True)))
    state = State(*(graph.inputs(name, (*shape, 1, 1)) for name, shape in STATE_SHAPES.items()))
    given = {name: graph.inputs(name, (*shape, 1)) for name, shape in inputs.items()}
    results = function(robot, state, **given)
    outputs = {name: _symbols(graph, array[..., 0]) for name, array in results.items()}
    if "margin" in outputs:
        everything = [symbol for array in (*state, *given.values()) for symbol in array.flat]
        spare = LARGEST - abs(sum(everything[1:], start=everything[0]))
        outputs["margin"] = _symbols(graph, outputs["margin"].item().minimum(spare))
    return assemble(graph, outputs, STATE_SHAPES | dict(inputs))


_NUMERIC = ("legs", "points", "platform", "gravity", "friction", "length_scale")


def _numeric(machine: Machine) -> tuple[Any, ...]:
    return tuple(getattr(machine, name) for name in _NUMERIC)


def _map_leaves(tree: Any, function: Callable[[Array], Any]) -> Any:
    if isinstance(tree, tuple):
        parts = [_map_leaves(part, function) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, float):
        return function(np.asarray([tree]))[0]
    return function(np.asarray(tree))


def _each_leaf(tree: Any, visit: Callable[[Array], Any]) -> None:
    _map_leaves(tree, lambda leaf: (visit(leaf), leaf)[1])


def _symbols(graph: Graph, array: Array) -> Array:
    """An array in which every element is a symbol, numbers included."""
    flat = [x if hasattr(x, "graph") else graph.constant(float(x)) for x in np.ravel(array)]
    symbols = np.empty(len(flat), dtype=object)
    symbols[:] = flat
    return symbols.reshape(np.shape(array))
