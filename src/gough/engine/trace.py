"""Tracing: run the equations on symbols and keep what they did.

Numbers become run-time parameters, except for those that are 0, 1 or −1: these are structure (an axis
along x, a body without mass), folded into the program. Numbers of modes and of pairs of modes are tables
and matrices; their structure is which of these are 0, and which are diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import LARGEST, Array
from gough.engine.functions import (
    LARGEST_SINGLE,
    PASSES,
    Fields,
    Function,
    Iteration,
    fixed_point_of,
    iteration_of,
)
from gough.engine.graph import Graph
from gough.engine.passes.fixed_point import repetition_of
from gough.engine.program import PARAMETERS, Program, Repetition, assemble
from gough.engine.tree import Leaf, leaves, replaced, skeleton

STRUCTURAL = (0.0, 1.0, -1.0)
NOTHING, DIAGONAL, FULL = 0, 1, 2


class Structure(NamedTuple):
    """What a program is made for: all of a tree that is not a run-time parameter."""

    skeleton: str
    marks: bytes
    """Of each number which of STRUCTURAL it is, or none; of tables and matrices what is in them."""


def structure(tree: Any) -> Structure:
    """The structure of one tree of numbers; NaN stands for any number."""
    found = leaves(tree)
    tables, matrices = _stacked(found, 1), _stacked(found, 2)
    marks = [_marks(leaf) for leaf in found if not leaf.mode_axes]
    marks.append(bytes(FULL if np.any(one) else NOTHING for one in tables))
    for one in matrices:
        off = one[~np.eye(len(one), dtype=bool)]
        marks.append(bytes([FULL if np.any(off) else DIAGONAL if np.any(one) else NOTHING]))
    return Structure(skeleton(tree), b"".join(marks))


def parameters(tree: Any, which: Array | None = None) -> list[Array]:
    """The numbers of a tree that belong to no mode, in its order: (members,) each, or (1,) of all.

    Of a batch of trees those with the numbers `which` (members,); without, there is one, or all.
    """
    parts = [_chosen(leaf.values, which) for leaf in leaves(tree) if not leaf.mode_axes]
    return [row for part in parts for row in part.reshape(prod(part.shape[:-1]), part.shape[-1])]


def mode_tables(tree: Any, which: Array | None = None) -> Array:
    """All numbers of modes, (members, tables, modes): the tables, then the matrices' diagonals."""
    found = _of_modes(tree, which, 1)
    found += [np.diagonal(one, axis1=-2, axis2=-1) for one in _of_modes(tree, which, 2)]
    return _side_by_side(found, which)


def mode_matrices(tree: Any, which: Array | None = None) -> Array:
    """All numbers of pairs of modes, (members, matrices, modes, modes).

    The transpose of matrix m follows as number −1 − m, counted from the end.
    """
    found = _of_modes(tree, which, 2)
    found += [np.swapaxes(one, -1, -2)[:, ::-1] for one in reversed(found)]
    return _side_by_side(found, which)


def trace(
    function: Function,
    numbers: Any,
    fields: Fields,
    inputs: Mapping[str, tuple[int, ...]],
    single: bool = False,
) -> Program:
    """The program of `function(numbers, state, **inputs)`; inputs by name and shape.

    One for `single` precision has no margin either where an output is beyond what floats can be
    trusted with.

    Arrays run through the equations as they do in a batch of one sample; the sample axis, last, is
    dropped from the outputs.
    """
    graph, shapes = Graph(fields.modes), {**fields.shapes, **inputs}
    symbols = _read(graph, fields, shapes)
    state = fields.make({name: symbols[name] for name in fields.shapes})
    given = {name: symbols[name] for name in inputs}
    point, repetition = fixed_point_of(function), None
    if point is not None:
        given[point.unknown] = graph.inputs(point.unknown, (*point.shape, 1))
        symbols.pop(point.unknown, None)
    results = function(_symbolic(graph, numbers), state, **given)
    outputs = {name: _symbols(graph, array[..., 0]) for name, array in results.items()}
    iteration = iteration_of(function)
    if iteration is not None:
        outputs, repetition = _repeated(graph, symbols, outputs, iteration)
    if "margin" in outputs:
        bounded = [*symbols.values()]
        if single:
            bounded += [array for name, array in outputs.items() if name != "margin"]
        everything = [
            (one * one).over_modes() if graph.varying[one.number] else one * one
            for array in bounded
            for one in array.flat
            if graph.value(one.number) is None  # constants: NaN of joints that a leg does not have
        ]
        largest = LARGEST_SINGLE if single else LARGEST
        spare = largest**2 - sum(everything[1:], start=everything[0])
        outputs["margin"] = _symbols(graph, outputs["margin"].item().minimum(spare))
    if point is not None:
        unknown, image = given[point.unknown][..., 0], outputs.pop(point.image)
        outputs, repetition = repetition_of(unknown, image, outputs, point, point.unknown in inputs)
    return assemble(graph, outputs, shapes, fields.modes, repetition)


def trace_stages(
    function: Callable[..., Mapping[str, Mapping[str, Array]]],
    numbers: Any,
    fields: Fields,
    inputs: Mapping[str, tuple[int, ...]],
) -> dict[str, Program]:
    """A program for each stage of a function that returns the outputs of all, traced once."""
    graph, shapes = Graph(fields.modes), {**fields.shapes, **inputs}
    symbols = _read(graph, fields, shapes)
    state = fields.make({name: symbols[name] for name in fields.shapes})
    given = {name: symbols[name] for name in inputs}
    programs = {}
    for stage, results in function(_symbolic(graph, numbers), state, **given).items():
        outputs = {name: _symbols(graph, array[..., 0]) for name, array in results.items()}
        programs[stage] = assemble(graph, outputs, shapes, fields.modes)
    return programs


def _read(graph: Graph, fields: Fields, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Symbols of what a program reads of one state."""
    return {
        name: np.array([[graph.mode(name)]])
        if fields.modal(name)
        else graph.inputs(name, (*shape, 1))
        for name, shape in shapes.items()
    }


def _repeated(
    graph: Graph, symbols: Mapping[str, Array], outputs: Mapping[str, Array], iteration: Iteration
) -> tuple[dict[str, Array], Repetition]:
    """Outputs of an iteration, and what it repeats."""
    found = dict(outputs)
    pairs = [
        pair
        for old, new in iteration.replaced
        for pair in zip(symbols[old].flat, found.pop(new).flat, strict=True)
    ]
    count = graph.input(PASSES, 0)
    found[PASSES] = np.array(count)
    test = found.pop(iteration.test).item()
    pairs.append((count, count + 1))
    return found, Repetition(pairs, None, [], test, 0.0, iteration.most)


def _symbolic(graph: Graph, tree: Any) -> Any:
    """A tree of symbols: structure as constants, the rest as inputs, tables and matrices."""
    found = leaves(tree)
    plain = len(_stacked(found, 1))
    place, number = 0, {1: 0, 2: plain}

    def of_parameter(mark: int) -> Any:
        nonlocal place
        place += 1
        known = mark < len(STRUCTURAL)
        return graph.constant(STRUCTURAL[mark]) if known else graph.input(PARAMETERS, place - 1)

    def of_modes(axes: int, values: Array) -> Any:
        number[axes] += 1
        here = number[axes] - 1
        if not np.any(values):
            return graph.constant(0.0)
        if axes == 2 and np.any(values[~np.eye(len(values), dtype=bool)]):
            return graph.matrix(here - plain)
        return graph.table(here)

    def symbols(leaf: Leaf) -> Array:
        if leaf.mode_axes:
            shape = leaf.values.shape[: -leaf.mode_axes - 1]
            made = [of_modes(leaf.mode_axes, one) for one in _stacked([leaf], leaf.mode_axes)]
            shape = (*shape, *[1] * (leaf.mode_axes + 1))
        else:
            shape = leaf.values.shape
            made = [of_parameter(mark) for mark in _marks(leaf)]
        array = np.empty(len(made), dtype=object)
        array[:] = made
        return array.reshape(shape)

    return replaced(tree, [symbols(leaf) for leaf in found])


def _marks(leaf: Leaf) -> bytes:
    """Which numbers are 0, 1, −1, or any number."""
    values = leaf.values.ravel()
    marks = np.full(values.shape, len(STRUCTURAL), dtype=np.uint8)
    if leaf.structural:
        for mark, value in enumerate(STRUCTURAL):
            marks[values == value] = mark
    return marks.tobytes()


def _stacked(found: list[Leaf], axes: int) -> list[Array]:
    """The tables, or matrices, of one tree, one after the other."""
    stacked: list[Array] = []
    for leaf in found:
        if leaf.mode_axes == axes:
            stacked += list(leaf.values[..., 0].reshape(-1, *leaf.values.shape[-axes - 1 : -1]))
    return stacked


def _of_modes(tree: Any, which: Array | None, axes: int) -> list[Array]:
    """The tables, or matrices, of a batch of trees: (members or 1, number, modes) each."""
    parts = [_chosen(leaf.values, which) for leaf in leaves(tree) if leaf.mode_axes == axes]
    return [
        np.moveaxis(part, -1, 0).reshape(
            part.shape[-1], prod(part.shape[: -axes - 1]), *part.shape[-axes - 1 : -1]
        )
        for part in parts
    ]


def _chosen(values: Array, which: Array | None) -> Array:
    return values if which is None or values.shape[-1] == 1 else values[..., which]


def _side_by_side(parts: list[Array], which: Array | None) -> Array:
    """Arrays (members or 1, n, ...) as one."""
    members = max((len(part) for part in parts), default=1) if which is None else len(which)
    if not parts:
        return np.empty((members, 0))
    wide = [np.broadcast_to(part, (members, *part.shape[1:])) for part in parts]
    return np.concatenate(wide, axis=1)


def _symbols(graph: Graph, array: Array) -> Array:
    """An array in which every element is a symbol, numbers included."""
    flat = [x if hasattr(x, "graph") else graph.constant(float(x)) for x in np.ravel(array)]
    symbols = np.empty(len(flat), dtype=object)
    symbols[:] = flat
    return symbols.reshape(np.shape(array))
