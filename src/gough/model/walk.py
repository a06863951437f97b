"""Solutions continued along lines, and along samples in time.

Samples near each other in time start from the same solution, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from gough.base.arrays import Array

MOST_AT_ONCE = 256
FINEST = 1 / 64
"""Part of a stride below which a line is given up."""

Attempt = Callable[[Array, Array, Array], tuple[Array, Array]]
"""Maps rows (n,), shares of their lines (n,) and near solutions (n, ...) to solutions there, and to
whether (n,) they belong to the same branch without doubt."""


class Path(Protocol):
    """What is to be solved, step after step; each step has rows side by side."""

    def apart(self, place: int, start: int, count: int) -> float:
        """How far the steps from `start` on are from that at `place`, in strides, at most."""

    def settle(self, start: int, count: int, near: Array) -> Array:
        """Solutions (count, rows, ...) of the steps from `start` on, by Newton from (rows, ...)."""

    def jump(self, place: int, near: Array) -> Array:
        """The solution (rows, ...) of the step after `place`, which is far, from that at `place`."""


def walk(path: Path, first: Array, steps: int) -> Array:
    """Solutions (steps, rows, ...) from that of the first step, (rows, ...)."""
    found = np.empty((steps, *first.shape))
    found[0] = first
    place = 0
    while place < steps - 1:
        stop, ahead = place + 1, 1
        while stop < steps and stop - place <= MOST_AT_ONCE:
            ahead = min(ahead, steps - stop)
            if not path.apart(place, stop, ahead) <= 1.0:
                break
            stop, ahead = stop + ahead, 2 * ahead
        if stop == place + 1:
            found[stop] = path.jump(place, found[place])
            place = stop
            continue
        start = place + 1
        found[start:stop] = path.settle(start, stop - start, found[place])
        place = stop - 1
    return found


def continued(attempt: Attempt, strides: Array, near: Array) -> Array:
    """Solutions (rows, ...) continued from near ones along lines that are so many strides (rows,) long.

    Each row goes in steps of its own, halved where a solution is in doubt and doubled where none is, up
    to a stride: what a row gets does not depend on its neighbours. A line that cannot be followed to
    its end leaves the last solution on it.
    """
    found, share = near.copy(), np.zeros(len(near))
    longest = 1 / np.maximum(strides, 1.0)
    step = longest.copy()
    active = np.arange(len(near))
    while active.size:
        aim = share[active] + step[active]
        aim = np.where(aim > 1 - FINEST * longest[active], 1.0, aim)
        solution, sure = attempt(active, aim, found[active])
        found[active[sure]], share[active[sure]] = solution[sure], aim[sure]
        step[active] = np.where(
            sure, np.minimum(2 * step[active], longest[active]), step[active] / 2
        )
        active = active[(share[active] < 1) & (step[active] >= FINEST * longest[active])]
    return found
