"""Batches over numbers: many trees of one shape, their arrays with a member axis behind.

Arrays of such a tree have their last axis, which holds the samples in the equations, as long as there
are members; or 1 where all have the same. A row of states says by its VARIANT which member it is of.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import VARIANT, Fields, Function, for_numbers, iteration_of
from gough.engine.program import NotStraightError
from gough.engine.run.cache import Kernel
from gough.engine.run.compiled import BoundKernel, kernel_for, rows_for
from gough.engine.run.execute import NumPyExecutor, common
from gough.engine.run.repeat import repeat
from gough.engine.trace import structure
from gough.engine.tree import leaves

TOGETHER, MOST_NUMBERS = 8192, 8_000_000
"""Members, and numbers of all of them, that are held at a time."""


class CompiledVariants:
    """Runs programs of many members with one kernel: that of the structure all have in common."""

    def __init__(self, numbers: Any, fields: Fields) -> None:
        self.numbers, self.fields = numbers, fields
        lengths = {leaf.values.shape[-1] for leaf in leaves(numbers)}
        self.count = min(lengths - {1}, default=1)
        self.common = common(numbers)
        self.structure = structure(self.common)
        self._bound_all: dict[Any, BoundKernel] = {}
        self._kept = threading.local()

    def one(self, function: Function, fields: Mapping[str, Array]) -> dict[str, Array] | None:
        """Of many members there is none."""
        return None

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        if for_numbers(function):
            return NumPyExecutor(self.numbers, self.fields)(function, rows, fields)
        if self.fields.modes and iteration_of(function):  # loops over modes in a loop
            return repeat(self, function, rows, fields)
        states = dict(fields)
        which = states.pop(VARIANT).astype(np.int64)
        inputs = {n: v.shape[1:] for n, v in states.items() if n not in self.fields.shapes}
        try:
            kernel = self._kernel(function, inputs)
        except NotStraightError:
            return repeat(self, function, rows, fields)
        out: dict[str, Array] = {}
        together = _together(kernel)
        step = max(rows, 1) if self.count <= together else together
        for start in range(0, max(rows, 1), step):
            rest = slice(start, min(start + step, rows))
            part = {name: v if len(v) == 1 else v[rest] for name, v in states.items()}
            bound, places = self._bound(kernel, which if len(which) == 1 else which[rest])
            found = bound.run(rest.stop - start, part, places)
            if step >= rows:
                return found
            for name, value in found.items():
                if name not in out:
                    out[name] = np.empty((rows, *value.shape[1:]))
                out[name][rest] = value
        return out

    def bind(
        self, function: Function, inputs: Mapping[str, tuple[int, ...]], alone: bool = False
    ) -> BoundKernel:
        """The kernel of a function with the numbers of all members, for further inputs."""
        key = (function, alone, *inputs.items())
        if key not in self._bound_all:
            kernel = self._kernel(function, inputs, alone)
            row = rows_for(kernel, self.numbers, np.arange(self.count))
            self._bound_all[key] = BoundKernel(kernel, row)
        return self._bound_all[key]

    def _kernel(
        self, function: Function, inputs: Mapping[str, tuple[int, ...]], alone: bool = False
    ) -> Kernel:
        made_for, fields = self.structure, self.fields
        return kernel_for(function, self.common, made_for, fields, inputs, True, alone)

    def _bound(self, kernel: Kernel, which: Array) -> tuple[BoundKernel, Array]:
        """A kernel with the numbers of some members, and the places of the ones wanted.

        Those of the last call are kept: the passes of a friction loop ask for the same members.
        """
        kept = self._kept.__dict__.setdefault("bound", {})
        members, bound = kept.get(kernel.address, (None, None))
        if bound is not None:
            places = np.searchsorted(members, which)
            known = members[np.minimum(places, len(members) - 1)] if len(members) else members[:0]
            if np.array_equal(known, which):
                return bound, places
        members, places = np.unique(which, return_inverse=True)
        if self.count <= _together(kernel):
            members, places = np.arange(self.count), which
        bound = BoundKernel(kernel, rows_for(kernel, self.numbers, members))
        kept[kernel.address] = members, bound
        return bound, places


def _together(kernel: Kernel) -> int:
    """Members whose numbers are held at a time, and rows of more of them taken at a time."""
    width = len(kernel.hoisted) + len(kernel.tables) * kernel.modes
    width += len(kernel.matrices) * kernel.modes**2
    return min(TOGETHER, max(MOST_NUMBERS // max(width, 1), 1))
