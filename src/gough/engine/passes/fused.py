"""Operations as a processor does them: a product and a sum in one, negations for nothing.

Which product goes into which sum is decided here and not by a compiler, so that a state's result is the
same, bit for bit, in whatever kernel it is computed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from gough.engine.graph import COUPLED, SUM
from gough.engine.operations import OPERATIONS
from gough.engine.program import Program, Repeated, Step

FUSED = "fused"
"""±a b ± c of arguments (a, b, c); its leaf tells whether the product and whether c is negated."""


def cycles_of(operation: str) -> int:
    """From arguments to result; a fused operation takes as long as a product."""
    return OPERATIONS["mul" if operation == FUSED else operation].cycles


def from_memory(operation: str) -> tuple[int, ...]:
    """Arguments of which one can be read from memory."""
    return (0, 1, 2) if operation == FUSED else OPERATIONS[operation].from_memory


class Fused(NamedTuple):
    """The body of a program in such operations."""

    steps: list[Step]
    outputs: dict[str, tuple[int, ...]]
    """Where in it each output is."""
    sections: tuple[int, ...]
    """Where in it each section starts; see `Program`."""
    repeated: Repeated | None = None


class Signed(NamedTuple):
    """A step's value, or its negative."""

    place: int
    negative: bool = False

    def negated(self) -> Signed:
        """The other sign."""
        return Signed(self.place, not self.negative)


class Products(NamedTuple):
    """A product, or a sum of two, that waits for what it is added to."""

    terms: tuple[tuple[int, int, bool], ...]
    """Factors, and whether the product counts negative."""

    def negated(self) -> Products:
        """The other sign."""
        return Products(tuple((a, b, not negative) for a, b, negative in self.terms))


def fuse(program: Program) -> Fused:
    """The body of a program with products in sums, section by section."""
    waiting = _used_once_in_a_sum(program)
    if program.repeated is not None:
        waiting |= _used_in_sums(program)
    delivered = {p for one in program.outputs.values() if one.varying for p in one.places}
    delivered |= set(_again(program))
    steps: list[Step] = []
    starts: list[int] = []
    values: dict[int, Signed | Products] = {}
    negated: dict[int, int] = {}

    def add(operation: str, *arguments: int, leaf: object = None) -> int:
        steps.append(Step(operation, arguments, leaf))
        return len(steps) - 1

    def signed(number: int) -> Signed:
        value = values[number]
        assert isinstance(value, Signed)
        return value

    def plain(number: int) -> int:
        place, negative = signed(number)
        if not negative:
            return place
        if place not in negated:
            negated[place] = add("neg", place)
        return negated[place]

    def collected(start: Signed | None, terms: Sequence[tuple[int, int, bool]]) -> Signed:
        """A sum, product by product."""
        if start is None:
            (a, b, negative), *terms = terms
            start = Signed(add("mul", a, b), negative)
        for a, b, negative in terms:
            start = Signed(add(FUSED, a, b, start.place, leaf=(negative, start.negative)))
        return start

    def total(left: Signed | Products, right: Signed | Products, alone: bool) -> Signed | Products:
        if isinstance(left, Products) and isinstance(right, Products):
            both = left.terms + right.terms
            if alone and len(both) == 2:
                return Products(both)
            if min(len(left.terms), len(right.terms)) == 1:
                return collected(None, both)
            left = collected(None, left.terms)  # two parts that are there at the same time
        if isinstance(left, Products):
            left, right = right, left
        assert isinstance(left, Signed)
        if isinstance(right, Products):
            return collected(left, right.terms)
        if left.negative == right.negative:
            return Signed(add("add", left.place, right.place), left.negative)
        if left.negative:
            left, right = right, left
        return Signed(add("sub", left.place, right.place))

    for number, (operation, arguments, leaf) in enumerate(program.body):
        while len(starts) < len(program.sections) and program.sections[len(starts)] == number:
            starts.append(len(steps))
            negated.clear()  # those of a loop are not there in the next section
        if operation == "neg":
            values[number] = values[arguments[0]].negated()
        elif operation == "mul":
            (first, minus), (second, less) = map(signed, arguments)
            values[number] = (
                Products(((first, second, minus != less),))
                if number in waiting
                else Signed(add("mul", first, second), minus != less)
            )
        elif operation in ("add", "sub"):
            a, b = (values[one] for one in arguments)
            values[number] = total(a, b.negated() if operation == "sub" else b, number in waiting)
        elif operation in (SUM, COUPLED):  # linear: the sign goes through
            place, negative = signed(arguments[0])
            values[number] = Signed(add(operation, place, leaf=leaf), negative)
        else:
            places = [plain(one) for one in arguments]
            values[number] = Signed(add(operation, *places, leaf=leaf))
        if number in delivered:
            values[number] = Signed(plain(number))
    if len(starts) < len(program.sections):  # the last section is straight, if empty
        starts += [len(steps)] * (len(program.sections) - len(starts))
        negated.clear()
    outputs = {
        name: tuple(plain(place) for place in output.places)
        for name, output in program.outputs.items()
    }
    return Fused(steps, outputs, tuple(starts) or (0,), _moved(program.repeated, plain))


def _again(program: Program) -> list[int]:
    """What a pass of a repeated program leaves for the next one, or the first one finds; its test."""
    repeated = program.repeated
    if repeated is None:
        return []
    pairs = (*repeated.unknowns, *repeated.history)
    return [repeated.test, *repeated.starts, *(new for _, new in pairs)]


def _moved(repeated: Repeated | None, plain: Callable[[int], int]) -> Repeated | None:
    """The same by other places."""
    if repeated is None:
        return None
    return repeated._replace(
        unknowns=tuple((plain(old), plain(new)) for old, new in repeated.unknowns),
        starts=tuple(plain(one) for one in repeated.starts),
        history=tuple((plain(old), plain(new)) for old, new in repeated.history),
        test=plain(repeated.test),
    )


def _used_once_in_a_sum(program: Program) -> set[int]:
    """What has its only use in a sum of the same section, but for negations between."""
    body = program.body
    uses = Counter(a for step in body for a in step.arguments)
    uses.update(place for output in program.outputs.values() for place in output.places)
    uses.update(_again(program))
    found: set[int] = set()
    for number in range(len(body) - 1, -1, -1):
        operation, arguments, _ = body[number]
        if operation in ("add", "sub") or (operation == "neg" and number in found):
            here = bisect_right(program.sections, number)
            found.update(
                a for a in arguments if uses[a] == 1 and bisect_right(program.sections, a) == here
            )
    return found


def _used_in_sums(program: Program) -> set[int]:
    """Products with no other use than in sums, of whatever section: they go into each of these.

    Those in loops over modes, or used there, stay where they are.
    """
    body = program.body
    edges = list(pairwise((*program.sections, len(body))))
    straight = [number for start, stop in edges[::2] for number in range(start, stop)]
    found = {number for number in straight if body[number].operation == "mul"}
    found -= {place for output in program.outputs.values() for place in output.places}
    found -= set(_again(program))
    sums = {number for number in straight if body[number].operation in ("add", "sub")}
    for number, step in enumerate(body):
        if number not in sums:
            found.difference_update(step.arguments)
    return found
