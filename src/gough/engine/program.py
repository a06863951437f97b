"""A traced program: what its outputs need, split into a prologue a robot and a body a state.

The prologue holds all work that depends on parameters alone; it runs once a robot. The body reads its
results and the state's fields. Both are lists of operations on numbered values, arguments first.

The body of a flexible platform comes in sections, straight-line code and loops over the modes in turn:
section 2n is straight and may use sums made by the loops before it, section 2n + 1 is a loop. Of a
program that is repeated until it settles one straight section is repeated, with empty loops about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE, Graph, Symbol

PARAMETERS = "parameters"
"""The input field that holds a robot's numbers; all others are the state's."""
HOISTED = "hoisted"


class Step(NamedTuple):
    """One operation. Arguments are places of earlier steps in the same list."""

    operation: str
    arguments: tuple[int, ...]
    leaf: Any = None
    """Constant: its value. Input: (field, index). See `gough.engine.graph` for those of modes."""


class Output(NamedTuple):
    """A named result: its shape and the body's places that hold it, row-major.

    Of a result that has one number a mode on its last axis, `shape` counts the modes, `places` not.
    """

    shape: tuple[int, ...]
    places: tuple[int, ...]
    varying: bool = False


class Repeated(NamedTuple):
    """What changes from pass to pass of a body's second section, by places of the body."""

    unknowns: tuple[tuple[int, int], ...]
    """Inputs x, and what they are in the next pass where the state has not settled."""
    starts: tuple[int, ...]
    """What they are in the first pass; none where the caller says."""
    history: tuple[tuple[int, int], ...]
    """Inputs that begin at 0, and what they are in the next pass in any case."""
    test: int
    """A state has settled where this is not above the tolerance; NaN is not."""
    tolerance: float
    most: int
    """Passes."""
    section: int
    """The one that is repeated."""


class NotStraightError(Exception):
    """What is to be repeated has a loop over modes inside."""


class Repetition(NamedTuple):
    """The same with symbols, pairs of an input and what it is next."""

    unknowns: list[tuple[Symbol, Symbol]]
    starts: list[Symbol] | None
    history: list[tuple[Symbol, Symbol]]
    test: Symbol
    tolerance: float
    most: int

    @property
    def changing(self) -> set[int]:
        """Numbers of the inputs that change."""
        return {one.number for one, _ in (*self.unknowns, *self.history)}

    @property
    def beginning(self) -> list[int]:
        """Numbers of what comes before the passes."""
        return [*sorted(self.changing), *(one.number for one in self.starts or ())]

    @property
    def results(self) -> list[int]:
        """Numbers of what a pass has to find."""
        return [*(new.number for _, new in (*self.unknowns, *self.history)), self.test.number]


class Program(NamedTuple):
    """Straight-line code."""

    prologue: tuple[Step, ...]
    hoisted: tuple[int, ...]
    """Places in the prologue of what the body reads as field HOISTED."""
    body: tuple[Step, ...]
    outputs: dict[str, Output]
    fields: dict[str, tuple[int, ...]]
    """Shape of one state's part in each input field."""
    modes: int = 0
    sections: tuple[int, ...] = ()
    """Where in the body each section starts, for a flexible platform."""
    tables: tuple[int, ...] = ()
    """Numbers of the tables that the body reads, as TABLE leaf 0, 1, …"""
    matrices: tuple[int, ...] = ()
    repeated: Repeated | None = None

    @property
    def mode_numbers(self) -> int:
        """Numbers of the tables and matrices that the body reads."""
        return len(self.tables) * self.modes + len(self.matrices) * self.modes**2

    def tally(self) -> Counter[str]:
        """How often the body does each operation; negations are free (they fold into others)."""
        free = (CONSTANT, INPUT, MODE, TABLE, "neg")
        counts: Counter[str] = Counter()
        edges = (*(self.sections or (0,)), len(self.body))
        for section, (start, stop) in enumerate(pairwise(edges)):
            times = self.modes if section % 2 else 1
            for step in self.body[start:stop]:
                if step.operation == SUM:
                    counts["add"] += self.modes
                elif step.operation == COUPLED:
                    counts["add"] += times * self.modes
                    counts["mul"] += times * self.modes
                elif step.operation not in free:
                    counts[step.operation] += times
        return counts


def assemble(
    graph: Graph,
    outputs: Mapping[str, Array],
    fields: Mapping[str, tuple[int, ...]],
    modes: int = 0,
    repetition: Repetition | None = None,
) -> Program:
    """Dead code out, parameter-only work into the prologue, the rest as the outputs need it."""
    wanted = [symbol.number for array in outputs.values() for symbol in array.flat]
    if repetition is not None:
        wanted = [*repetition.beginning, *repetition.results, *wanted]
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
    used: dict[str, dict[int, int]] = {TABLE: {}, COUPLED: {}}

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

    moving = [number for number in order if not fixed[number]]
    section, passes = _all_sections(graph, moving, repetition)
    last = max([passes + 2, *section.values()]) if repetition else max(section.values(), default=0)
    starts: list[int] = []
    for current in range(last + 1 + last % 2):
        here = [number for number in moving if section[number] == current]
        if current % 2:  # what a robot alone decides is read before the loop that needs it
            for number in here:
                for argument in graph.arguments[number]:
                    if fixed[argument]:
                        place(argument)
        starts.append(len(body))
        for number in here:
            arguments = tuple(place(a) for a in graph.arguments[number])
            late[number] = len(body)
            leaf = graph.leaves[number]
            if graph.operations[number] in used:
                numbers = used[graph.operations[number]]
                leaf = numbers.setdefault(leaf, len(numbers))
            body.append(Step(graph.operations[number], arguments, leaf))
    results = {}
    for name, array in outputs.items():
        places = tuple(place(symbol.number) for symbol in array.flat)
        varying = any(graph.varying[symbol.number] for symbol in array.flat)
        shape = (*array.shape[:-1], modes) if varying else array.shape
        results[name] = Output(shape, places, varying)
    repeated = None
    if repetition is not None:
        repeated = Repeated(
            tuple((late[old.number], place(new.number)) for old, new in repetition.unknowns),
            tuple(place(one.number) for one in repetition.starts or ()),
            tuple((late[old.number], place(new.number)) for old, new in repetition.history),
            place(repetition.test.number),
            repetition.tolerance,
            repetition.most,
            passes,
        )
    return Program(
        tuple(prologue),
        tuple(hoisted),
        tuple(body),
        results,
        dict(fields),
        modes,
        tuple(starts) if modes or repetition is not None else (),
        tuple(used[TABLE]),
        tuple(used[COUPLED]),
        repeated,
    )


def _all_sections(
    graph: Graph, numbers: list[int], repetition: Repetition | None
) -> tuple[dict[int, int], int]:
    """In which section each node is, and which is repeated; that comes after all that is done once."""
    section: dict[int, int] = {}
    if repetition is None:
        _sections(graph, numbers, section, 0)
        return section, 0
    changing, again = repetition.changing, set(graph.reachable(repetition.results))
    depends = set(changing)
    for number in sorted(numbers):
        if any(argument in depends for argument in graph.arguments[number]):
            depends.add(number)
    depends -= changing
    _sections(graph, [number for number in numbers if number not in depends], section, 0)
    latest = max(section.values(), default=0)
    passes = latest + latest % 2 + 2
    repeated = {number for number in numbers if number in depends and number in again}
    if any(graph.varying[one] or graph.operations[one] == SUM for one in repeated):
        raise NotStraightError
    section |= dict.fromkeys(repeated, passes)
    _sections(graph, [one for one in numbers if one not in section], section, passes + 2)
    return section, passes


def _sections(graph: Graph, numbers: list[int], section: dict[int, int], first: int) -> None:
    """Give each node its section, `first` or later: arguments come in order of their numbers.

    A sum is there in the straight code after the loop that makes it; a coupled value needs all modes of
    its argument, so a loop that comes after the one that computes them.
    """
    for number in sorted(numbers):
        operation = graph.operations[number]
        before = [section[a] for a in graph.arguments[number] if a in section]
        latest = max([first, *before])
        if operation == SUM:
            latest += 1
        elif operation == COUPLED:
            (argument,) = graph.arguments[number]
            known = graph.operations[argument] in (MODE, TABLE)
            latest += 0 if known else 2 if graph.varying[argument] else 1
        if graph.varying[number] != bool(latest % 2):
            latest += 1
        section[number] = latest


def _fixed(graph: Graph, numbers: list[int]) -> dict[int, bool]:
    """Which nodes depend on parameters alone."""
    fixed: dict[int, bool] = {}
    for number in numbers:
        if graph.operations[number] == INPUT:
            fixed[number] = graph.leaves[number][0] == PARAMETERS
        elif graph.varying[number]:
            fixed[number] = False
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
