"""Tracing: run the equations on symbols and keep what they did.

A robot's numbers become run-time parameters, except for those that are 0, 1 or −1: these are its
structure (an axis along x, a body without mass), folded into the program. Numbers of modes and of pairs
of modes are tables and matrices; their structure is which of these are 0, and which are diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import Graph
from gough.engine.program import PARAMETERS, Program, assemble
from gough.engine.run.execute import LARGEST
from gough.mechanics.equation import ELASTIC_FIELDS, RIGID_FIELDS, Mechanism, State
from gough.mechanics.platforms.flexible import Couplings, Flexible, ModeTables

STRUCTURAL = (0.0, 1.0, -1.0)
STATE_SHAPES: dict[str, tuple[int, ...]] = {
    name: (3, 3) if name == "rotation" else (3,) for name in RIGID_FIELDS
}
NOTHING, DIAGONAL, FULL = 0, 1, 2
PER_MODE = "elastic"
"""How names of inputs begin that have one number a mode."""


def parameters(mechanism: Mechanism) -> Array:
    """All numbers of a robot in one vector, in the order of the mechanism's fields."""
    leaves: list[Array] = []
    _each_leaf(_numeric(mechanism), leaves.append)
    return np.concatenate([np.ravel(leaf) for leaf in leaves])


def structure_of(mechanism: Mechanism) -> bytes:
    """The structure of a robot's parameters: programs are made for this.

    The branch of a PUS leg is a number: its sign is no reason for another program.
    """
    if hasattr(mechanism.legs, "sign"):
        mechanism = mechanism._replace(
            legs=mechanism.legs._replace(sign=np.nan * mechanism.legs.sign)
        )
    return structure(parameters(mechanism)) + _mode_structure(mechanism)


def structure(values: Array) -> bytes:
    """Which parameters are 0, 1, −1, or any number."""
    marks = np.full(values.shape, len(STRUCTURAL), dtype=np.uint8)
    for mark, value in enumerate(STRUCTURAL):
        marks[values == value] = mark
    return marks.tobytes()


def trace(
    function: Callable[..., Mapping[str, Array]],
    mechanism: Mechanism,
    inputs: Mapping[str, tuple[int, ...]],
) -> Program:
    """The program of `function(mechanism, state, **inputs)`; inputs by name and shape.

    Inputs whose name begins with `elastic` have one number a mode, as the state's have. Arrays run
    through the equations as they do in a batch of one sample; the sample axis, last, is dropped from
    the outputs.
    """
    modes = mode_count(mechanism)
    graph = Graph(modes)
    marks = np.frombuffer(structure_of(mechanism), dtype=np.uint8)
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

    numbers = _map_leaves(_numeric(mechanism), symbolic)
    robot = mechanism._replace(**dict(zip(_NUMERIC, numbers, strict=False)))
    state = State(*(graph.inputs(name, (*shape, 1, 1)) for name, shape in STATE_SHAPES.items()))
    everything = [symbol for array in state[:6] for symbol in array.flat]
    if mechanism.flexible is not None:
        robot = robot._replace(flexible=_symbolic_modes(graph, mechanism, numbers[-1]))
        elastic = {name: np.array([[graph.mode(name)]]) for name in ELASTIC_FIELDS}
        state = state._replace(**elastic)
        everything += [array[0, 0].over_modes() for array in elastic.values()]
    given = {
        name: np.array([[graph.mode(name)]])
        if name.startswith(PER_MODE)
        else graph.inputs(name, (*shape, 1))
        for name, shape in inputs.items()
    }
    results = function(robot, state, **given)
    outputs = {name: _symbols(graph, array[..., 0]) for name, array in results.items()}
    if "margin" in outputs:
        everything += [
            symbol.over_modes() if graph.varying[symbol.number] else symbol
            for array in given.values()
            for symbol in array.flat
        ]
        spare = LARGEST - abs(sum(everything[1:], start=everything[0]))
        outputs["margin"] = _symbols(graph, outputs["margin"].item().minimum(spare))
    return assemble(graph, outputs, state_shapes(mechanism) | dict(inputs), modes)


def state_shapes(mechanism: Mechanism) -> dict[str, tuple[int, ...]]:
    """Shape of one state's part in each of its fields."""
    if mechanism.flexible is None:
        return STATE_SHAPES
    return STATE_SHAPES | dict.fromkeys(ELASTIC_FIELDS, (mode_count(mechanism),))


def mode_count(mechanism: Mechanism) -> int:
    """Number of modes."""
    return 0 if mechanism.flexible is None else int(mechanism.flexible.couplings.mass.shape[0])


def mode_tables(mechanism: Mechanism) -> Array:
    """All numbers of modes, (tables, modes): those of each mode, then the matrices' diagonals."""
    assert mechanism.flexible is not None
    tables, matrices = _flat_tables(mechanism), mode_matrices(mechanism)
    return np.concatenate([tables, np.diagonal(matrices, axis1=1, axis2=2)])


def mode_matrices(mechanism: Mechanism) -> Array:
    """All numbers of pairs of modes, (matrices, modes, modes)."""
    assert mechanism.flexible is not None
    modes = mode_count(mechanism)
    return np.concatenate([one.reshape(-1, modes, modes) for one in mechanism.flexible.couplings])


def _flat_tables(mechanism: Mechanism) -> Array:
    assert mechanism.flexible is not None
    modes = mode_count(mechanism)
    return np.concatenate([one.reshape(-1, modes) for one in mechanism.flexible.tables])


def _mode_structure(mechanism: Mechanism) -> bytes:
    """Which tables are all 0, which matrices are 0 or diagonal, and how many modes there are."""
    if mechanism.flexible is None:
        return b""
    tables, matrices = _flat_tables(mechanism), mode_matrices(mechanism)
    marks = [FULL if np.any(one) else NOTHING for one in tables]
    for one in matrices:
        off = one[~np.eye(len(one), dtype=bool)]
        marks.append(FULL if np.any(off) else DIAGONAL if np.any(one) else NOTHING)
    return bytes(marks)


def _symbolic_modes(graph: Graph, mechanism: Mechanism, fixed: tuple[Any, ...]) -> Flexible:
    """The flexible platform on symbols; `fixed` holds those of what is not a table."""
    assert mechanism.flexible is not None
    marks = _mode_structure(mechanism)
    plain = len(_flat_tables(mechanism))
    place = 0

    def symbol() -> Any:
        nonlocal place
        mark, number = marks[place], place
        place += 1
        if mark == NOTHING:
            return graph.constant(0.0)
        if number >= plain and mark == FULL:
            return graph.matrix(number - plain)
        return graph.table(number)

    def symbolic(leaf: Array, axes: int) -> Array:
        shape = leaf.shape[: -axes - 1]
        symbols = np.empty(int(np.prod(shape)), dtype=object)
        for i in range(symbols.size):
            symbols[i] = symbol()
        return symbols.reshape(*shape, *[1] * (axes + 1))

    parts = mechanism.flexible
    tables = ModeTables(*(symbolic(one, 1) for one in parts.tables))
    couplings = Couplings(*(symbolic(one, 2) for one in parts.couplings))
    return Flexible(fixed[0], fixed[1], fixed[2], tables, couplings)


_NUMERIC = ("legs", "points", "platform", "gravity", "friction", "length_scale")


def _numeric(mechanism: Mechanism) -> tuple[Any, ...]:
    numbers = tuple(getattr(mechanism, name) for name in _NUMERIC)
    return numbers if mechanism.flexible is None else (*numbers, tuple(mechanism.flexible[:3]))


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
