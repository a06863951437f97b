"""Batches over parameters: many robots of one shape, their numbers with a robot axis behind.

Arrays of such a mechanism have their last axis, which holds the samples in the equations, as long as
there are robots; or 1 where all have the same. A row of states says by its VARIANT which robot it is of.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.run.execute import VARIANT, Function
from gough.engine.run.prologue import evaluate
from gough.engine.trace import (
    _NUMERIC,
    STATE_SHAPES,
    _each_leaf,
    _map_leaves,
    _numeric,
    structure_of,
)
from gough.mechanics.equation import Mechanism

if TYPE_CHECKING:
    from gough.engine.run.compiled import BoundKernel

TOGETHER = 8192
"""Robots whose hoisted parameters are held at a time, and rows of more of them taken at a time."""


def map_numbers(mechanism: Mechanism, function: Callable[[Array], Any]) -> Mechanism:
    """The mechanism with a function applied to each array of its numbers."""
    numbers = _map_leaves(_numeric(mechanism), function)
    return mechanism._replace(**dict(zip(_NUMERIC, numbers, strict=True)))


def arrays_of(mechanism: Mechanism) -> list[Array]:
    """The arrays of a mechanism's numbers, in the order of `map_numbers`."""
    arrays: list[Array] = []
    _each_leaf(_numeric(mechanism), arrays.append)
    return arrays


def chosen(mechanism: Mechanism, which: Array) -> Mechanism:
    """The robots with the given numbers (n,)."""
    places = which.astype(np.intp)
    return map_numbers(mechanism, lambda leaf: leaf if leaf.shape[-1] == 1 else leaf[..., places])


def common(mechanism: Mechanism) -> Mechanism:
    """One robot with what all have in common; NaN stands for numbers in which they differ."""

    def shared(leaf: Array) -> Array:
        unknown = np.full((*leaf.shape[:-1], 1), np.nan)
        first = leaf[..., :1]
        alike = (leaf == first).all(axis=-1, keepdims=True)
        return np.where(alike, first, unknown) if first.size else unknown

    return map_numbers(mechanism, shared)


def parameters_of(mechanism: Mechanism, which: Array) -> Array:
    """The parameters (robots, n) of the robots with the given numbers, as `trace.parameters`."""
    arrays = arrays_of(mechanism)
    sizes = [math.prod(array.shape[:-1]) for array in arrays]
    values = np.empty((sum(sizes), len(which)))
    start = 0
    for array, size in zip(arrays, sizes, strict=True):
        part = array if array.shape[-1] == 1 else array[..., which]
        values[start : start + size] = part.reshape(size, part.shape[-1])
        start += size
    return values.T


class CompiledVariants:
    """Runs programs of many robots with one kernel: that of the structure all have in common."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        lengths = {array.shape[-1] for array in arrays_of(mechanism)}
        self.count = min(lengths - {1}, default=1)
        self.common = common(mechanism)
        self.structure = structure_of(self.common)
        self._kept = threading.local()

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        states = dict(fields)
        which = states.pop(VARIANT).astype(np.int64)
        key = (function.__name__, *states)
        out: dict[str, Array] = {}
        step = max(rows, 1) if self.count <= TOGETHER else TOGETHER
        for start in range(0, max(rows, 1), step):
            rest = slice(start, min(start + step, rows))
            part = {name: v if len(v) == 1 else v[rest] for name, v in states.items()}
            bound, places = self._bound(
                function, key, part, which if len(which) == 1 else which[rest]
            )
            found = bound.run(rest.stop - start, part, places)
            if step >= rows:
                return found
            for name, value in found.items():
                if name not in out:
                    out[name] = np.empty((rows, *value.shape[1:]))
                out[name][rest] = value
        return out

    def bind(self, function: Function, inputs: Mapping[str, tuple[int, ...]]) -> BoundKernel:
        """The kernel of a function with the hoisted parameters of all robots, for further inputs."""
        from gough.engine.run.compiled import BoundKernel, kernel_for

        kernel = kernel_for(function, self.common, self.structure, inputs, variants=True)
        parameters = parameters_of(self.mechanism, np.arange(self.count))
        return BoundKernel(kernel, evaluate(kernel.prologue, kernel.hoisted, parameters))

    def _bound(
        self, function: Function, key: tuple[str, ...], states: Mapping[str, Array], which: Array
    ) -> tuple[BoundKernel, Array]:
        """A kernel with the hoisted parameters of some robots, and the places of the ones wanted.

        Those of the last call are kept: the passes of a friction loop ask for the same robots.
        """
        from gough.engine.run.compiled import BoundKernel, kernel_for

        kept = self._kept.__dict__.setdefault("bound", {})
        robots, bound = kept.get(key, (None, None))
        if bound is not None:
            places = np.searchsorted(robots, which)
            known = robots[np.minimum(places, len(robots) - 1)] if len(robots) else robots[:0]
            if np.array_equal(known, which):
                return bound, places
        inputs = {n: v.shape[1:] for n, v in states.items() if n not in STATE_SHAPES}
        kernel = kernel_for(function, self.common, self.structure, inputs, variants=True)
        robots, places = np.unique(which, return_inverse=True)
        if self.count <= TOGETHER:
            robots, places = np.arange(self.count), which
        hoisted = evaluate(kernel.prologue, kernel.hoisted, parameters_of(self.mechanism, robots))
        bound = BoundKernel(kernel, hoisted)
        kept[key] = robots, bound
        return bound, places
