"""A group of states through a program: what is loaded, computed, kept and stored, in order."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from gough.engine.emit.states import States
from gough.engine.graph import CONSTANT, INPUT, SUM
from gough.engine.operations import OPERATIONS
from gough.engine.passes.fused import FUSED, Fused, from_memory
from gough.engine.passes.order import few_alive
from gough.engine.passes.pipeline import Halves, woven
from gough.engine.passes.registers import Memory, Work, carry_out
from gough.engine.program import HOISTED, Program

MARK = "  call void @llvm.codeview.annotation(metadata !0)"
"""Nothing is moved across it, and it makes no instruction."""
MARK_EVERY = 16
NOTHING = -1 << 60
"""Stands for no value."""
LEAVES = (CONSTANT, INPUT, SUM)
"""What straight code finds in memory."""


class GroupPlan(NamedTuple):
    """A program as it is compiled."""

    program: Program
    fused: Fused
    lasting: set[int]
    """Values that are the same for all states."""
    halves: Halves | None
    """Of a program without loops over modes."""
    width: int
    registers: int
    variants: bool
    single: bool


class Group(States):
    """One group of states from inputs to outputs; or, looping, a half of each of two groups.

    Values are known by their places among the steps; what the second half of a loop reads of the group
    before is ~place. What a section leaves for later ones is handed over in memory, as between halves.
    """

    def __init__(self, plan: GroupPlan, looping: bool = False) -> None:
        super().__init__(
            plan.program, plan.fused.steps, plan.width, plan.variants, looping, plan.single
        )
        self.plan = plan
        self.values: dict[int, str] = {}
        self.kept: dict[int, int] = {}
        """Slots in the frame."""
        self.slots = self.marked = 0
        handed = plan.halves.handed if looping and plan.halves else self._crossing()
        self.handed = {place: k for k, place in enumerate(handed)}
        self.totals: dict[int, str] = {}
        """Where loops over modes put their sums."""
        self.sums = {p for p, step in enumerate(self.steps) if step.operation == SUM}

    def entry(self) -> str:
        """Lines before the loop."""
        return "\n".join(self.before)

    def body(self) -> str:
        """Lines of a round, or of all."""
        return "\n".join(self.lines if self.looping else [*self.before, *self.lines])

    def halves(self) -> Group:
        """A loop's round: the second half of one group with the first half of the next."""
        assert self.plan.halves is not None
        self.straight(woven(self.plan.halves.first, self.plan.halves.second), True, True)
        return self

    def straight(self, order: Sequence[tuple[int, bool]], first: bool, last: bool) -> None:
        """Operations of a section (the first reads inputs, the last writes outputs), or of halves."""
        ready = self.plan.lasting | self.sums | self.handed.keys() | {~p for p in self.handed}
        memory = Memory(self._load, self._keep, ready)
        work = self._work(order, first, last)
        self.slots = max(self.slots, carry_out(work, memory, self.plan.registers))
        self.kept.clear()

    def sections(self) -> list[tuple[int, int]]:
        """Where each section starts and stops."""
        return list(pairwise((*self.plan.fused.sections, len(self.steps))))

    def operations(self, start: int, stop: int) -> list[tuple[int, bool]]:
        """Those of a straight section, in an order with few values alive."""
        found = (p for p in range(start, stop) if self.steps[p].operation not in LEAVES)
        return [(p, False) for p in few_alive({p: self.steps[p].arguments for p in found})]

    def _crossing(self) -> list[int]:
        """Values of straight sections that later ones, or outputs, need; inputs included."""
        edges = self.sections()
        *_, (last, _) = edges
        found: dict[int, None] = {}
        for start, stop in edges:
            for place in range(start, stop):
                given = self.steps[place].arguments
                found.update(dict.fromkeys(a for a in given if a < start))
        for name, places in self.plan.fused.outputs.items():
            by_loop = self.program.outputs[name].varying
            found.update(dict.fromkeys(place for place in places if place < last or by_loop))
        repeated = self.plan.fused.repeated
        inside = {p for start, stop in edges[1::2] for p in range(start, stop)}
        if repeated is not None:
            pairs = (*repeated.unknowns, *repeated.history)
            found.update(dict.fromkeys(one for pair in pairs for one in pair))
            found.update(dict.fromkeys([repeated.test, *repeated.starts]))
        known = self.plan.lasting | inside
        return [p for p in found if p not in known and not self._anywhere(p)]

    def _anywhere(self, place: int) -> bool:
        """Whether a value can be read at any time: a sum, or a number of a member of variants."""
        operation, _, leaf = self.steps[place]
        return operation == SUM or (operation == INPUT and leaf[0] == HOISTED)

    def _work(self, order: Sequence[tuple[int, bool]], first: bool, last: bool) -> list[Work]:
        """Operations, with inputs before they are first needed and outputs as soon as they are there."""
        work: list[Work] = []
        inputs = {leaf: place for place, (o, _, leaf) in enumerate(self.steps) if o == INPUT}
        # a group alone may write over its own inputs: all of them are read before
        state = [place for (field, _), place in inputs.items() if field != HOISTED]
        there = self.plan.lasting | (set() if first else set(state))

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
        computed = {place for place, late in order if late or not self.looping}
        for one in self._deliveries(computed) if last else ():
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
        if field not in (HOISTED, *self.program.fields):
            return [(place,)]
        if field != HOISTED:
            first = list(range(0, prod(self.program.fields[field]), 2))
        pairs = [tuple(inputs[field, k] for k in (j, j + 1) if (field, k) in inputs) for j in first]
        return [pair for pair in pairs if pair]

    def _known(self, place: int, late: bool) -> int:
        """By which number a value goes: of the group before it was handed over."""
        return ~place if late and place in self.handed else place

    def _deliveries(self, computed: Container[int]) -> list[Delivery]:
        """What goes to the outputs, two neighbours at a time; loops deliver what has modes."""
        found = []
        outputs = zip(self.program.outputs.values(), self.plan.fused.outputs.values(), strict=True)
        for k, (output, places) in enumerate(outputs):
            for j in range(0, 0 if output.varying else len(places), 2):
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
        """Inputs, W states side by side; what is repeated and not given begins at 0."""
        field, index = self.steps[places[0]].leaf
        if field not in (HOISTED, *self.program.fields):
            self._is(places[0], self.splat(0.0))
            return
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
            self.store(value, "%to" if self.looping else "%handed", self.handed[place])
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
        self.values[value] = self.from_memory(value)
        self._mark()

    def from_memory(self, value: int) -> str:
        """A value that is not in a register."""
        if value in self.kept:
            return self.load("%read", self.kept[value])
        if value < 0:
            return self.load("%from", self.handed[~value])
        if value in self.handed:
            return self.load("%again" if self.looping else "%handed", self.handed[value])
        operation, arguments, leaf = self.steps[value]
        if operation == CONSTANT:
            return self.splat(leaf)
        if operation == SUM:
            return self.load(self.totals[arguments[0]], 0)
        assert operation == INPUT
        assert leaf[0] == HOISTED
        if self.variants:
            return self.gather(self.fields[HOISTED], leaf[1])
        return self.load("%hoisted", leaf[1])

    def _keep(self, value: int, slot: int) -> None:
        self.kept[value] = slot
        self.store(self.values[value], "%write", slot)
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
