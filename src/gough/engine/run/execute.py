"""Running functions over rows of states: compiled where LLVM is there, chunked NumPy where not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gough.base.arrays import LARGEST, Array
from gough.engine.functions import (
    VARIANT,
    Fields,
    Function,
    fixed_point_of,
    for_symbols,
    iteration_of,
)
from gough.engine.program import Program
from gough.engine.run.evaluate import evaluate
from gough.engine.run.repeat import is_repeated, repeat
from gough.engine.trace import Structure, structure, trace
from gough.engine.tree import map_arrays
from gough.errors import InputError

CHUNK = 2048
"""Rows of a NumPy chunk: its work arrays stay in the processor's cache."""
PROGRAM_CHUNK = 256
"""The same where a program is evaluated: all its values stay in memory for so many rows."""


class Executor(Protocol):
    """Evaluates functions of one tree of numbers over rows of states."""

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name; fields (rows or 1, ...) by name, the state's and others."""

    def one(self, function: Function, fields: Mapping[str, Array]) -> dict[str, Array] | None:
        """Outputs of one state from fields without the axis of rows, or with one row.

        None unless a kernel is at hand: of a program that did not run before, say.
        """


def executor(numbers: Any, fields: Fields, variants: bool = False) -> Executor:
    """The fastest executor there is: compiled, unless llvmlite is missing or GOUGH_ENGINE=numpy.

    With `variants` the tree has members on the last axis of its arrays; see `engine.run.variants`.
    """
    if _compiles():
        with contextlib.suppress(ImportError, OSError):  # llvmlite is missing or cannot load LLVM
            from gough.engine.run.compiled import CompiledExecutor
            from gough.engine.run.variants import CompiledVariants

            return (CompiledVariants if variants else CompiledExecutor)(numbers, fields)
    return NumPyExecutor(numbers, fields)


def single_executor(numbers: Any, fields: Fields) -> Executor | None:
    """One that computes with floats, between inputs and outputs that are doubles; None without LLVM."""
    if _compiles():
        with contextlib.suppress(ImportError, OSError):
            from gough.engine.run.compiled import CompiledExecutor

            return CompiledExecutor(numbers, fields, single=True)
    return None


def _compiles() -> bool:
    """Whether programs are to be compiled."""
    wanted = os.environ.get("GOUGH_ENGINE", "llvm")
    if wanted not in ("llvm", "numpy"):
        raise InputError(f"GOUGH_ENGINE is 'llvm' or 'numpy', not {wanted!r}")
    return wanted == "llvm"


def chosen(numbers: Any, which: Array) -> Any:
    """The tree with the members (n,) of a batch of trees."""
    places = which.astype(np.intp)
    return map_arrays(numbers, lambda leaf: leaf if leaf.shape[-1] == 1 else leaf[..., places])


def common(numbers: Any) -> Any:
    """One tree with what all of a batch have in common; NaN stands for what differs."""

    def shared(leaf: Array) -> Array:
        unknown = np.full((*leaf.shape[:-1], 1), np.nan)
        first = leaf[..., :1]
        alike = (leaf == first).all(axis=-1, keepdims=True)
        return np.where(alike, first, unknown) if first.size else unknown

    return map_arrays(numbers, shared)


class NumPyExecutor:
    """The equations themselves on component-first arrays, chunk by chunk."""

    def __init__(self, numbers: Any, fields: Fields) -> None:
        self.numbers, self.fields = numbers, fields
        self._programs: dict[Any, Program] = {}

    def one(self, function: Function, fields: Mapping[str, Array]) -> dict[str, Array] | None:
        """There is no kernel."""
        return None

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        if is_repeated(function):
            return repeat(self, function, rows, fields)
        out: dict[str, Array] = {}
        size = PROGRAM_CHUNK if for_symbols(function) else CHUNK
        for start in range(0, max(rows, 1), size):
            stop = min(start + size, rows)
            parts = {
                name: np.broadcast_to(value, (stop - start, *value.shape[1:]))
                if len(value) == 1
                else value[start:stop]
                for name, value in fields.items()
            }
            which = parts.pop(VARIANT, None)
            numbers = self.numbers if which is None else chosen(self.numbers, which)
            with np.errstate(all="ignore"):
                results = self._chunk(function, numbers, parts)
            for name, result in results.items():
                value = np.moveaxis(result, -1, 0)
                if name not in out:
                    out[name] = np.empty((rows, *value.shape[1:]))
                out[name][start:stop] = value
        return out

    def _chunk(
        self, function: Function, numbers: Any, parts: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """Outputs (..., samples) of fields (samples, ...)."""
        arrays = {name: np.moveaxis(value, 0, -1) for name, value in parts.items()}
        inputs = {name: value for name, value in arrays.items() if name not in self.fields.shapes}
        if for_symbols(function):
            shapes = {name: value.shape[:-1] for name, value in inputs.items()}
            return evaluate(self._program(function, shapes), numbers, arrays)
        state = self.fields.make({name: arrays[name] for name in self.fields.shapes})
        results = function(numbers, state, **inputs)
        if "margin" not in results:
            return results
        squares = sum((value**2).sum(axis=tuple(range(1, value.ndim))) for value in parts.values())
        return {**results, "margin": np.minimum(results["margin"], LARGEST**2 - squares)}

    def _program(self, function: Function, inputs: Mapping[str, tuple[int, ...]]) -> Program:
        """The program of a function of symbols, for all members of a batch."""
        key = (function, *inputs)
        if key not in self._programs:
            self._programs[key] = program_for(function, common(self.numbers), self.fields, inputs)
        return self._programs[key]


MOST_PROGRAMS = 64
"""Programs kept, the last ones."""
_programs: dict[Any, Program] = {}


def program_key(
    function: Function, made_for: Structure, fields: Fields, inputs: Mapping[str, tuple[int, ...]]
) -> tuple[Any, ...]:
    """What a program depends on, but for the function's and the equations' own text."""
    shapes = {**fields.shapes, **inputs}
    specification = fixed_point_of(function) or iteration_of(function)
    repeated = None if specification is None else specification[1:]
    return function, fields.make, fields.per_mode, repeated, *made_for, *shapes.items()


def program_for(
    function: Function, numbers: Any, fields: Fields, inputs: Mapping[str, tuple[int, ...]]
) -> Program:
    """The program of a function for a tree's structure, traced once."""
    key = program_key(function, structure(numbers), fields, inputs)
    if key not in _programs:
        if len(_programs) >= MOST_PROGRAMS:
            del _programs[next(iter(_programs))]
        _programs[key] = trace(function, numbers, fields, inputs)
    return _programs[key]
