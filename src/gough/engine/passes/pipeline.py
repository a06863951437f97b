"""A program in two halves, so that a loop over states keeps the processor busy.

An operation takes several cycles, and a processor looks ahead a few dozen operations only: a chain such
as a factorisation would leave it waiting. So a loop does the second half of one group of states together
with the first half of the next. What the first half leaves for the second is handed over in memory.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from gough.engine.graph import CONSTANT, INPUT
from gough.engine.passes.fused import cycles_of
from gough.engine.passes.order import few_alive
from gough.engine.program import Step

LEAVES = (CONSTANT, INPUT)
MIDDLE = 0.5
"""Part of the longest chain at which a program is best cut, if as many values cross elsewhere."""
ASIDE = 150
"""Crossing values that a cut as long as the chain away from there is worth."""


class Halves(NamedTuple):
    """Operations in the order in which they are done."""

    first: list[int]
    second: list[int]
    handed: list[int]
    """Values of the first half, or inputs, that the second half needs."""


def halves(
    steps: Sequence[Step], outputs: Mapping[str, Sequence[int]], lasting: Container[int]
) -> Halves:
    """The program cut where few values cross, near the middle of its longest chain.

    `lasting` are the values that are the same for all states: they are not handed over.
    """
    ends: list[int] = []
    for operation, arguments, _ in steps:
        before = max((ends[a] for a in arguments), default=0)
        cycles = 0 if operation in LEAVES else cycles_of(operation)
        ends.append(before + cycles)
    longest = max(ends, default=0)
    needed = [0] * len(steps)
    for place, step in enumerate(steps):
        for a in step.arguments:
            needed[a] = max(needed[a], ends[place])
    for places in outputs.values():
        for place in places:
            needed[place] = longest + 1
    passing = [place for place in range(len(steps)) if place not in lasting]
    change = [0] * (longest + 2)
    for place in passing:
        change[ends[place]] += 1
        change[needed[place]] -= 1
    crossing = list(accumulate(change))

    def cost(place: int) -> float:
        return crossing[place] + ASIDE * abs(place / longest - MIDDLE)

    cut = min(range(1, longest), key=cost, default=longest)

    def ordered(late: bool) -> list[int]:
        return few_alive(
            {
                place: step.arguments
                for place, step in enumerate(steps)
                if step.operation not in LEAVES and (ends[place] > cut) == late
            }
        )

    handed = [place for place in passing if ends[place] <= cut < needed[place]]
    return Halves(ordered(False), ordered(True), handed)


def woven(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, bool]]:
    """Both in one sequence, evenly; with each whether it is of the second."""
    order = [((i + 0.5) / len(first), False, place) for i, place in enumerate(first)]
    order += [((i + 0.5) / len(second), True, place) for i, place in enumerate(second)]
    return [(place, late) for _, late, place in sorted(order, key=lambda one: one[:2])]
