"""A program as few steps of the same shape: the order for machines that do a row of operations at once.

Each step does a fixed number of each operation, its lanes, on whatever values are there, and writes one
row. A compiler then sees one step and not thousands of operations. Values of modes are taken apart, a
value per mode, so that all are scalars. An operation waits until its arguments are there; of those that
can go next, the one with the longest chain behind it does.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.program import HOISTED, Program

ROOM = 1.25
"""Lanes there are, over those that a program of its shortest possible length would need on average."""
OFFSET = 2**40
"""Between the numbers of constants and of inputs: no program reaches it."""


class Lanes(NamedTuple):
    """A program in rows: what each step reads from a file of registers, does, and writes there."""

    registers: int
    """How many there are; inputs are in the first ones when it starts."""
    inputs: tuple[tuple[str, int], ...]
    """Field and index of the inputs."""
    operations: tuple[str, ...]
    """Of the lanes, in order."""
    shapes: tuple[tuple[int, int], ...]
    """Arguments and lanes of each operation."""
    places: Array
    """(steps, reads): registers that are read; of an operation all first arguments, then all second."""
    constant: Array
    """(steps, reads): where a number is read in place of a register."""
    numbers: Array
    """(steps, reads): these numbers; 1 where a lane has nothing to do."""
    targets: Array
    """(steps, lanes): registers that are written, no two the same."""
    outputs: dict[str, Array]
    """Registers of the outputs at the end, in their shape."""
    known: dict[str, Array]
    """Outputs that are numbers, whatever the inputs; NaN where they are not."""

    @property
    def steps(self) -> int:
        """Rows."""
        return len(self.targets)


class _Scalars:
    """A program's operations on scalars: leaves below, then operations by number."""

    def __init__(self, program: Program, hoisted: Array, tables: Array, matrices: Array) -> None:
        self.program = program
        self.numbers: list[float] = []
        self.numbered: dict[str, int] = {}
        self.inputs: dict[tuple[str, int], int] = {}
        self.steps: list[tuple[str, tuple[int, ...]]] = []
        self.known: dict[tuple[str, tuple[int, ...]], int] = {}
        values: list[list[int]] = []
        for operation, arguments, leaf in program.body:
            given = [values[a] for a in arguments]
            if operation == CONSTANT:
                value = [self.constant(leaf)]
            elif operation == INPUT:
                field, index = leaf
                own = field == HOISTED
                value = [self.constant(hoisted[index]) if own else self.input(field, index)]
            elif operation == MODE:
                value = [self.input(leaf, mode) for mode in range(program.modes)]
            elif operation == TABLE:
                value = [self.constant(one) for one in tables[leaf]]
            elif operation == SUM:
                value = [self.total(_wide(given[0], program.modes))]
            elif operation == COUPLED:
                value = self.coupled(matrices[leaf], _wide(given[0], program.modes))
            else:
                size = max(len(one) for one in given)
                wide = [_wide(one, size) for one in given]
                value = [self.make(operation, *each) for each in zip(*wide, strict=True)]
            values.append(value)
        self.outputs = {
            name: np.array(
                [_wide(values[place], output.shape[-1]) for place in output.places]
                if output.varying
                else [values[place][0] for place in output.places],
                dtype=np.int64,
            ).reshape(output.shape)
            for name, output in program.outputs.items()
        }

    def constant(self, value: float) -> int:
        """A number; what is no operation is negative."""
        key = float(value).hex()  # which tells 0 from −0
        if key not in self.numbered:
            self.numbered[key] = len(self.numbers)
            self.numbers.append(float(value))
        return -1 - self.numbered[key]

    def input(self, field: str, index: int) -> int:
        """An input; inputs stand apart from numbers."""
        return -1 - OFFSET - self.inputs.setdefault((field, index), len(self.inputs))

    def make(self, operation: str, *arguments: int) -> int:
        """An operation; the same one is done once."""
        key = operation, arguments
        if key not in self.known:
            self.known[key] = len(self.steps)
            self.steps.append(key)
        return self.known[key]

    def total(self, values: Sequence[int]) -> int:
        """A sum by halves."""
        while len(values) > 1:
            pairs = [self.make("add", *values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
            values = [*pairs, *values[2 * len(pairs) :]]
        return values[0]

    def coupled(self, matrix: Array, values: Sequence[int]) -> list[int]:
        """A matrix of numbers times values."""
        return [
            self.total(
                [self.make("mul", self.constant(a), b) for a, b in zip(row, values, strict=True)]
            )
            for row in matrix
        ]


def _wide(values: list[int], size: int) -> list[int]:
    return values if len(values) == size else values * size


def in_lanes(program: Program, hoisted: Array, tables: Array, matrices: Array) -> Lanes:
    """A program with the numbers of one robot, in rows."""
    scalars = _Scalars(program, hoisted, tables, matrices)
    alive = _needed(scalars)
    counted = Counter(scalars.steps[i][0] for i in alive)
    depth, behind = _chains(scalars, alive)
    counts = {name: math.ceil(ROOM * count / depth) for name, count in counted.items()}
    rows = _rows(scalars, alive, behind, counts)
    arity = {scalars.steps[i][0]: len(scalars.steps[i][1]) for i in alive}
    registers, size = _registers(scalars, rows)
    reads = sum(arity[name] * counts[name] for name in counts)
    places = np.zeros((len(rows), reads), dtype=np.int32)
    constant, values = np.ones((len(rows), reads), dtype=bool), np.ones((len(rows), reads))
    width = sum(counts.values())
    targets = np.tile(size + np.arange(width, dtype=np.int32), (len(rows), 1))
    for step, row in enumerate(rows):
        used: Counter[str] = Counter()
        for one in row:
            operation, arguments = scalars.steps[one]
            read, lane = _lane(counts, arity, operation, used[operation])
            used[operation] += 1
            targets[step, lane] = registers[one]
            for i, argument in enumerate(arguments):
                at = read + i * counts[operation]
                if _is_number(argument):
                    values[step, at] = scalars.numbers[-1 - argument]
                else:
                    places[step, at], constant[step, at] = registers[argument], False
    return Lanes(
        size + width,
        tuple(scalars.inputs),
        tuple(counts),
        tuple((arity[name], counts[name]) for name in counts),
        places,
        constant,
        values,
        targets,
        *_found(scalars, registers),
    )


def _is_number(value: int) -> bool:
    return -OFFSET <= value < 0


def _lane(
    counts: dict[str, int], arity: dict[str, int], operation: str, used: int
) -> tuple[int, int]:
    """Where the next lane of an operation reads its first argument, and where it is in the row."""
    read = lane = 0
    for name, count in counts.items():
        if name == operation:
            break
        read += count * arity[name]
        lane += count
    return read + used, lane + used


def _found(
    scalars: _Scalars, registers: dict[int, int]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Registers of outputs, and those of them that are numbers."""
    outputs, known, numbers = {}, {}, scalars.numbers
    for name, values in scalars.outputs.items():
        flat = values.ravel()
        own = [0 if _is_number(one) else registers[one] for one in flat.tolist()]
        same = [numbers[-1 - one] if _is_number(one) else np.nan for one in flat.tolist()]
        outputs[name] = np.array(own, dtype=np.int32).reshape(values.shape)
        known[name] = np.array(same, dtype=np.float64).reshape(values.shape)
    return outputs, known


def _registers(scalars: _Scalars, rows: list[list[int]]) -> tuple[dict[int, int], int]:
    """A register for each value, and how many it takes: one is free again after its last use."""
    last: dict[int, int] = {}
    for step, row in enumerate(rows):
        for one in row:
            last |= dict.fromkeys(scalars.steps[one][1], step)
    for values in scalars.outputs.values():
        last |= dict.fromkeys(values.ravel().tolist(), len(rows))
    found = {-1 - OFFSET - number: number for number in scalars.inputs.values()}
    size, free = len(found), list[int]()
    ends: dict[int, list[int]] = {}
    for value, register in found.items():
        ends.setdefault(last.get(value, 0), []).append(register)
    for step, row in enumerate(rows):
        for one in row:
            if free:
                register = free.pop()
            else:
                register, size = size, size + 1
            found[one] = register
            ends.setdefault(last[one], []).append(register)
        free += ends.pop(step, [])
    return found, size


def _needed(scalars: _Scalars) -> list[int]:
    """Operations that an output depends on, in order."""
    waiting = [int(one) for each in scalars.outputs.values() for one in each.ravel() if one >= 0]
    seen = set(waiting)
    while waiting:
        for one in scalars.steps[waiting.pop()][1]:
            if one >= 0 and one not in seen:
                seen.add(one)
                waiting.append(one)
    return sorted(seen)


def _chains(scalars: _Scalars, alive: list[int]) -> tuple[int, dict[int, int]]:
    """Longest chain of operations, and the one behind each."""
    behind = dict.fromkeys(alive, 0)
    for one in reversed(alive):
        for argument in scalars.steps[one][1]:
            if argument >= 0:
                behind[argument] = max(behind[argument], behind[one] + 1)
    return reduce(max, behind.values(), -1) + 1, behind


def _rows(
    scalars: _Scalars, alive: list[int], behind: dict[int, int], counts: dict[str, int]
) -> list[list[int]]:
    """Which operations each step does."""
    users: dict[int, list[int]] = {one: [] for one in alive}
    lacking = dict.fromkeys(alive, 0)
    for one in alive:
        for argument in {a for a in scalars.steps[one][1] if a >= 0}:
            users[argument].append(one)
            lacking[one] += 1
    ready: dict[str, list[tuple[int, int]]] = {name: [] for name in counts}

    def offer(one: int) -> None:
        heapq.heappush(ready[scalars.steps[one][0]], (-behind[one], one))

    for one in alive:
        if not lacking[one]:
            offer(one)
    rows: list[list[int]] = []
    left = len(alive)
    while left:
        row = [
            heapq.heappop(heap)[1]
            for name, heap in ready.items()
            for _ in range(min(counts[name], len(heap)))
        ]
        for one in row:
            for user in users[one]:
                lacking[user] -= 1
                if not lacking[user]:
                    offer(user)
        rows.append(row)
        left -= len(row)
    return rows
