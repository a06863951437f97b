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
    """What is to be solved, step after step; each step has rows side by side. Step −1 is home."""

    def apart(self, base: Array, start: int, count: int) -> Array:
        """How far the steps from `start` on are from each row's `base`, at most, (rows,) strides."""

    def settle(self, base: Array, start: int, count: int, near: Array) -> Array:
        """Solutions (count, rows, ...) of the steps from `start` on, NaN where there is none.

        Each is continued along a line from the solution `near` (rows, ...) of its row's step `base`.
        """


def walk(path: Path, home: Array, steps: int) -> Array:
    """Solutions (steps, rows, ...) from those at home (rows, ...), each from the step before.

    A step without a solution is NaN; the next one is continued from the last that has one.
    """
    found = np.empty((steps, *home.shape))
    near, base = home.copy(), np.full(len(home), -1)
    lost = np.zeros(len(home), dtype=bool)
    start = 0
    while start < steps:
        stop, ahead = start, 1
        while stop < steps and stop - start < MOST_AT_ONCE:
            ahead = min(ahead, steps - stop)
            if not np.all((path.apart(base, stop, ahead) <= 1.0) | lost):
                break
            stop, ahead = stop + ahead, 2 * ahead
        stop = max(stop, start + 1)
        found[start:stop] = path.settle(base, start, stop - start, near)
        sound = np.asarray(np.isfinite(found[start:stop]).all(axis=-1))
        lost = ~sound[-1]
        last = len(sound) - 1 - np.argmax(sound[::-1], axis=0)
        rows = np.flatnonzero(sound.any(axis=0))
        near[rows], base[rows] = found[start + last[rows], rows], start + last[rows]
        start = stop
    return found


def continued(attempt: Attempt, strides: Array, near: Array) -> tuple[Array, Array]:
    """Solutions (rows, ...) continued from near ones along lines that are so many strides (rows,) long.

    Each row goes in steps of its own, halved where a solution is in doubt and doubled where none is, up
    to a stride: what a row gets does not depend on its neighbours. With the share (rows,) of each line
    that could be followed: where it is below 1 the solution is the last on the line.
    """
    found, share = near.copy(), np.zeros(len(near))
    longest = 1 / np.maximum(strides, 1.0)
    step = longest.copy()
    active = np.flatnonzero(np.isfinite(near).all(axis=1))
    while active.size:
        aim = share[active] + step[active]
        aim = np.where(aim > 1 - FINEST * longest[active], 1.0, aim)
        solution, sure = attempt(active, aim, found[active])
        found[active[sure]], share[active[sure]] = solution[sure], aim[sure]
        step[active] = np.where(
            sure, np.minimum(2 * step[active], longest[active]), step[active] / 2
        )
        active = active[(share[active] < 1) & (step[active] >= FINEST * longest[active])]
    return found, share
