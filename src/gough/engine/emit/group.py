"""A group of states through a program: what is loaded, computed, kept and stored, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from gough.engine.emit.pointers import Pointers
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.operations import OPERATIONS
from gough.engine.passes.fused import FUSED, from_memory
from gough.engine.passes.pipeline import Halves, woven
from gough.engine.passes.registers import Memory, Work, carry_out
from gough.engine.program import HOISTED, Program, Step

MARK = "  call void @llvm.codeview.annotation(metadata !0)"
"""Nothing is moved across it, and it makes no instruction."""
MARK_EVERY = 16
NOTHING = -1 << 60
"""Stands for no value."""


class Straight(NamedTuple):
    """A program without loops as it is compiled."""

    program: Program
    steps: list[Step]
    outputs: dict[str, tuple[int, ...]]
    lasting: set[int]
    """Values that are the same for all states."""
    halves: Halves
    width: int
    registers: int
    variants: bool


class Group(Pointers):
    """One group of states from inputs to outputs; or, looping, a half of each of two groups.

    Values are known by their places among the steps; what the second half of a loop reads of the group
    before is ~place.
    """

    def __init__(self, kernel: Straight, looping: bool) -> None:
        super().__init__(kernel.program, kernel.steps, kernel.width, kernel.variants, looping)
        self.kernel = kernel
        self.values: dict[int, str] = {}
        self.kept: dict[int, int] = {}
        """Slots in the frame."""
        self.marked = 0
        first, second, handed = kernel.halves
        self.handed = {place: k for k, place in enumerate(handed)} if looping else {}
        ready = kernel.lasting | self.handed.keys() | {~place for place in self.handed}
        order = woven(first, second) if looping else [(place, False) for place in (*first, *second)]
        memory = Memory(self._load, self._keep, ready)
        self.slots = carry_out(self._work(order), memory, kernel.registers)

    def entry(self) -> str:
        """Lines before the loop."""
        return "\n".join(self.before)

    def body(self) -> str:
        """Lines of a round, or of all."""
        lines = self.lines if self.looping else [*self.before, *self.lines]
        return _nearest_first("\n".join(lines), self.width)

    def _work(self, order: Sequence[tuple[int, bool]]) -> list[Work]:
        """Operations, with inputs before they are first needed and outputs as soon as they are there."""
        work: list[Work] = []
        inputs = {leaf: place for place, (o, _, leaf) in enumerate(self.steps) if o == INPUT}
        # a group alone may write over its own inputs: all of them are read before
        state = [place for (field, _), place in inputs.items() if field != HOISTED]
        there = set(self.kernel.lasting)

        def bring(values: Iterable[int]) -> None:
            for place in values:
                if place >= 0 and place not in there and self.steps[place].operation == INPUT:
                    for both in self._beside(place, inputs):
                        there.update(both)
                        work.append(Work(both, (), partial(self._bring, both), spare=2))

        def deliver(place: int) -> None:
            for one in waiting.pop(place, ()):
                one.missing.discard(place)
                if not one.missing:
                    bring(one.arguments if self.looping else (*state, *one.arguments))
                    emit = partial(self._deliver, one)
                    work.append(Work((), one.arguments, emit, spare=len(one.arguments)))

        waiting: dict[int, list[Delivery]] = {}
        for one in self._deliveries({place for place, late in order if late or not self.looping}):
            for place in one.missing:
                waiting.setdefault(place, []).append(one)
        deliver(NOTHING)
        for place, late in order:
            arguments = tuple(self._known(a, late) for a in self.steps[place].arguments)
            bring(arguments)
            work.append(self._operation(place, arguments))
            deliver(place)
        bring(self.handed)
        return work

    def _beside(self, place: int, inputs: Mapping[Any, int]) -> list[tuple[int, ...]]:
        """An input with its neighbours, in pairs: all of a field; of a robot's numbers the pair."""
        field, index = self.steps[place].leaf
        first = [index - index % 2]
        if field != HOISTED:
            first = list(range(0, prod(self.program.fields[field]), 2))
        pairs = [tuple(inputs[field, k] for k in (j, j + 1) if (field, k) in inputs) for j in first]
        return [pair for pair in pairs if pair]

    def _known(self, place: int, late: bool) -> int:
        """By which number a value goes: of the group before it was handed over."""
        return ~place if late and place in self.handed else place

    def _deliveries(self, computed: Container[int]) -> list[Delivery]:
        """What goes to the outputs, two neighbours at a time."""
        found = []
        for k, places in enumerate(self.kernel.outputs.values()):
            for j in range(0, len(places), 2):
                some = places[j : j + 2]
                missing = {place for place in some if place in computed} or {NOTHING}
                arguments = tuple(self._known(place, self.looping) for place in some)
                found.append(Delivery(k, j, arguments, missing))
        return found

    def _operation(self, place: int, arguments: tuple[int, ...]) -> Work:
        operation = self.steps[place].operation
        direct = [arguments[k] for k in from_memory(operation)]
        direct = [a for a in direct if arguments.count(a) == 1]
        spare = 0 if operation == FUSED else OPERATIONS[operation].spare
        return Work((place,), arguments, partial(self._compute, place, arguments), direct, spare)

    def _compute(self, place: int, arguments: tuple[int, ...]) -> None:
        operation, _, leaf = self.steps[place]
        self._is(place, self.operation(operation, [self.values[a] for a in arguments], leaf))

    def _bring(self, places: tuple[int, ...]) -> None:
        """Inputs, W states side by side."""
        field, index = self.steps[places[0]].leaf
        pointers = self.of_input(field)
        found: tuple[str, ...] = (
            self.gather_pair(pointers, index)
            if len(places) == 2
            else (self.gather(pointers, index),)
        )
        for place, value in zip(places, found, strict=True):
            self._is(place, value)

    def _is(self, place: int, value: str) -> None:
        self.values[place] = value
        if place in self.handed:
            self.store(value, "%to", f"handed.{self.handed[place]}")
        self._mark()

    def _deliver(self, one: Delivery) -> None:
        pointers = self.of_output(one.output)
        first, *second = (self.values[a] for a in one.arguments)
        if second:
            self.scatter_pair(first, second[0], pointers, one.number)
        else:
            self.scatter(first, pointers, one.number)
        self._mark()

    def _load(self, value: int) -> None:
        self.values[value] = self._from_memory(value)
        self._mark()

    def _from_memory(self, value: int) -> str:
        if value in self.kept:
            return self.load("%read", f"slot.{self.kept[value]}")
        if value < 0:
            return self.load("%from", f"handed.{self.handed[~value]}")
        if value in self.handed:
            return self.load("%again", f"handed.{self.handed[value]}")
        assert value in self.kernel.lasting
        operation, _, leaf = self.steps[value]
        return self.splat(leaf) if operation == CONSTANT else self.load("%hoisted", leaf[1])

    def _keep(self, value: int, slot: int) -> None:
        self.kept[value] = slot
        self.store(self.values[value], "%write", f"slot.{slot}")
        self._mark()

    def _mark(self) -> None:
        self.marked += 1
        if self.marked % MARK_EVERY == 0:
            self.lines.append(MARK)


class Delivery(NamedTuple):
    """One or two neighbouring numbers of an output."""

    output: int
    number: int
    """Of the first."""
    arguments: tuple[int, ...]
    missing: set[int]
    """What must be computed first."""


def near(width: int) -> int:
    """Vectors in 128 bytes."""
    return 16 // width


def _nearest_first(text: str, width: int) -> str:
    """Give the places in memory their numbers: the shortest instructions reach those used most.

    An instruction has one byte for a distance of up to 128 bytes either way, else four.
    """
    reach = near(width)
    numbers: dict[str, int] = {}
    for kind in ("slot", "handed"):
        uses = Counter(re.findall(rf"{kind}\.\d+", text))
        order = [*sorted(range(-reach, reach), key=abs), *range(reach, len(uses))]
        numbers.update(zip((name for name, _ in uses.most_common()), order, strict=False))
    return re.sub(r"(?:slot|handed)\.\d+", lambda found: str(numbers[found[0]]), text)
