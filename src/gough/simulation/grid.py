"""Times of a simulation's fixed steps: even, but for those that are moved to where something jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gough.base.arrays import Array
from gough.errors import InputError

EDGE = 1e-9
"""Part of a step by which its first stage is behind its start, and its last before its end."""
SAME = 1e-7
"""Part of a block within which a jump and the end of a step are one."""
MOST_PARTS = 200
"""Steps that a step of the caller's is divided into at most."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Steps of one length from a time on, some of their ends moved."""

    begin: float
    """s."""
    step: float
    """s."""
    moved: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Numbers of the steps that do not begin at `begin` + number · `step`, increasing."""
    times: Array = field(default_factory=lambda: np.zeros(0))
    """When they begin, s."""

    @classmethod
    def of(
        cls, begin: float, block: float, blocks: int, parts: int, breaks: Sequence[float]
    ) -> tuple[Grid, int]:
        """Return a grid with steps of at most block/parts that begin at all breaks, and steps a block.

        Blocks, with which samples and records begin, stay where they are; all have as many steps.

        Raises:
            InputError: there are too many breaks in one block.

        """
        inner: dict[int, list[float]] = {}
        moved: dict[int, float] = {}
        ends: dict[int, float] = {}
        for time in sorted(set(breaks)):
            place = (time - begin) / block
            near = round(place)
            if 0 <= near <= blocks and abs(place - near) < SAME:
                ends[near] = time
            elif 0 < place < blocks:
                known = inner.setdefault(int(place), [])
                if not known or place - known[-1] > SAME:
                    known.append(place)
        pieces = {
            number: np.diff([number, *places, number + 1]) for number, places in inner.items()
        }
        counts = {n: np.ceil(one * parts - SAME).astype(int) for n, one in pieces.items()}
        most = max((int(one.sum()) for one in counts.values()), default=parts)
        most = max(most, parts)
        if most > max(2 * parts, MOST_PARTS):
            raise InputError(
                f"{most} steps in {block:g} s because of the times at which wrenches, forces or the "
                f"reference jump; at most {MOST_PARTS}: give a shorter step"
            )
        for number, lengths in pieces.items():
            count = np.maximum(counts[number], 1)
            while count.sum() < most:
                count[np.argmax(lengths / count)] += 1
            edges = np.concatenate([[number], np.cumsum(lengths) + number])
            at = number * most
            for first, length, several in zip(edges, lengths, count, strict=False):
                for j in range(several):
                    moved[at] = begin + block * (first + length * j / several)
                    at += 1
            for time, place in zip(sorted(inner[number]), np.cumsum(count), strict=False):
                moved[number * most + int(place)] = begin + block * time
            del moved[number * most]
        moved |= {number * most: time for number, time in ends.items()}
        order = np.array(sorted(moved), dtype=np.int64)
        return cls(begin, block / most, order, np.array([moved[i] for i in order])), most

    def time(self, step: int | Array) -> Array:
        """Time at which steps begin, s."""
        numbers = np.asarray(step)
        even = np.asarray(self.begin + numbers * self.step)
        if not self.moved.size:
            return even
        place = np.minimum(np.searchsorted(self.moved, numbers), len(self.moved) - 1)
        return np.where(self.moved[place] == numbers, self.times[place], even)

    def sizes(self, first: int, count: int) -> Array:
        """Lengths (count,) of steps, s: those between even ends are exactly `step`."""
        numbers = np.arange(first, first + count + 1)
        lengths = np.diff(self.time(numbers))
        apart = np.isin(numbers, self.moved)
        return np.where(apart[1:] | apart[:-1], lengths, self.step)

    def stages(self, first: int, count: int) -> Array:
        """Times (count, 3) at the start, in the middle and at the end of steps, all within them, s."""
        numbers = np.arange(first, first + count)
        return stage_times(self.time(numbers), self.sizes(first, count))


def stage_times(begin: Array, size: Array) -> Array:
    """Times (n, 3) at the start, in the middle and at the end of steps (n,), all within them, s."""
    edge = np.maximum(EDGE * size, 4 * np.spacing(np.abs(begin) + size))
    return np.stack([begin + edge, begin + size / 2, begin + size - edge], axis=-1)
