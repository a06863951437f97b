"""A traced program: what its outputs need, split into a prologue a robot and a body a state.

The prologue holds all work that depends on parameters alone; it runs once a robot. The body reads its
results and the state's fields. Both are lists of operations on numbered values, arguments first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gough.engine.graph import CONSTANT, INPUT, Graph
from gough.engine.order import few_alive

PARAMETERS = "parameters"
"""The input field that holds a robot's numbers; all others are the state's."""
HOISTED = "hoisted"

Array = np.ndarray[Any, Any]


class Step(NamedTuple):
    """One operation. Arguments are places of earlier steps in the same list."""

    operation: str
    arguments: tuple[int, ...]
    leaf: Any = None
    """Constant: its value. Input: (field, index)."""


class Output(NamedTuple):
    """A named result: its shape and the body's places that hold it, row-major."""

    shape: tuple[int, ...]
    places: tuple[int, ...]


class Program(NamedTuple):
    """Straight-line code."""

    prologue: tuple[Step, ...]
    hoisted: tuple[int, ...]
    """Places in the prologue of what the body reads as field HOISTED."""
    body: tuple[Step, ...]
    outputs: dict[str, Output]
    fields: dict[str, tuple[int, ...]]
    """Shape of one state's part in each input field."""

    def tally(self) -> Counter[str]:
        """How often the body does each operation; negations are free (they fold into others)."""
        free = (CONSTANT, INPUT, "neg")
        return Counter(step.operation for step in self.body if step.operation not in free)


def assemble(
    graph: Graph, outputs: Mapping[str, Array], fields: Mapping[str, tuple[int, ...]]
) -> Program:
    """Dead code out, parameter-only work into the prologue, the rest ordered for few live values."""
    wanted = [symbol.number for array in outputs.values() for symbol in array.flat]
    fixed = _fixed(graph, graph.reachable(wanted))
    order = _depth_first(graph, wanted)
    prologue: list[Step] = []
    early: dict[int, int] = {}
    for number in sorted(n for n in order if fixed[n]):
        early[number] = len(prologue)
        arguments = tuple(early[a] for a in graph.arguments[number])
        prologue.append(Step(graph.operations[number], arguments, graph.leaves[number]))
    body: list[Step] = []
    late: dict[int, int] = {}
    hoisted: list[int] = []

    def place(number: int) -> int:
        if number not in late:
            if graph.operations[number] == CONSTANT:
                step = Step(CONSTANT, (), graph.leaves[number])
            else:
                step = Step(INPUT, (), (HOISTED, len(hoisted)))
                hoisted.append(early[number])
            late[number] = len(body)
            body.append(step)
        return late[number]

    for number in few_alive(graph, order, fixed.__getitem__):
        if fixed[number]:
            continue
        arguments = tuple(place(a) for a in graph.arguments[number])
        late[number] = len(body)
        body.append(Step(graph.operations[number], arguments, graph.leaves[number]))
    results = {
        name: Output(array.shape, tuple(place(symbol.number) for symbol in array.flat))
        for name, array in outputs.items()
    }
    return Program(tuple(prologue), tuple(hoisted), tuple(body), results, dict(fields))


def _fixed(graph: Graph, numbers: list[int]) -> dict[int, bool]:
    """Which nodes depend on parameters alone."""
    fixed: dict[int, bool] = {}
    for number in numbers:
        if graph.operations[number] == INPUT:
            fixed[number] = graph.leaves[number][0] == PARAMETERS
        else:
            fixed[number] = all(fixed[a] for a in graph.arguments[number])
    return fixed


def _depth_first(graph: Graph, wanted: list[int]) -> list[int]:
    """Nodes in the order in which the outputs, one after the other, need them.

    What belongs together (a leg) stays together, so that few values are alive at any time.
    """
    order: list[int] = []
    seen: set[int] = set()
    for output in wanted:
        stack = [output]
        while stack:
            number = stack[-1]
            if number in seen:
                stack.pop()
                continue
            missing = [a for a in graph.arguments[number] if a not in seen]
            if missing:
                stack.extend(reversed(missing))
            else:
                seen.add(number)
                order.append(number)
                stack.pop()
    return order
