"""Compiled execution: one kernel a function and structure of numbers, threads over blocks of rows."""

from __future__ import annotations

import ctypes
import math
from collections import deque
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import Fields, Function, for_numbers, iteration_of
from gough.engine.program import NotStraightError
from gough.engine.run import cache as disk
from gough.engine.run import lent
from gough.engine.run.evaluate import hoisted
from gough.engine.run.execute import NumPyExecutor, program_key
from gough.engine.run.identity import identity
from gough.engine.run.repeat import repeat
from gough.engine.run.threads import spread
from gough.engine.trace import (
    Structure,
    mode_matrices,
    mode_tables,
    parameters,
    structure,
    trace,
)
from gough.engine.tree import modules

BLOCK = 8192
"""Rows a thread takes at a time."""
FEW = 64
"""Rows that are cheaper to copy to where the kernel finds them than to tell it where they are."""
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)
ONCE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
"""Python's lock is kept: to hand it on and take it back takes a tenth of the time of a state."""


class CompiledExecutor:
    """Compiles the programs of a tree of numbers when they are first asked for, and runs them."""

    def __init__(self, numbers: Any, fields: Fields, single: bool = False) -> None:
        self.numbers, self.fields, self.single = numbers, fields, single
        self.structure = structure(numbers)
        self._ready: dict[Any, BoundKernel] = {}
        self._bound: dict[Any, BoundKernel] = {}

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        key = (function, *fields)
        bound = self._ready.get(key)
        if bound is None:
            if for_numbers(function):
                return NumPyExecutor(self.numbers, self.fields)(function, rows, fields)
            if self.fields.modes and iteration_of(function):  # loops over modes in a loop
                return repeat(self, function, rows, fields)
            inputs = {n: v.shape[1:] for n, v in fields.items() if n not in self.fields.shapes}
            try:
                bound = self._ready[key] = self.bind(function, inputs)
            except NotStraightError:
                return repeat(self, function, rows, fields)
        if rows == 1:
            return bound.one(fields)
        return bound.few(rows, fields) if 1 < rows <= FEW else bound.run(rows, fields)

    def one(self, function: Function, fields: Mapping[str, Array]) -> dict[str, Array] | None:
        """Outputs of one state; see `Executor`."""
        bound = self._ready.get((function, *fields))
        if bound is None:
            return None
        return {name: value[0] for name, value in bound.one(fields).items()}

    def bind(
        self, function: Function, inputs: Mapping[str, tuple[int, ...]], alone: bool = False
    ) -> BoundKernel:
        """The kernel of a function for these numbers, which takes further inputs of given shapes.

        One for a state `alone`, or two, is faster for these; its results are the same, bit for bit.
        """
        key = (function, alone, *inputs.items())
        if key not in self._bound:
            numbers, made_for = self.numbers, self.structure
            kernel = kernel_for(
                function, numbers, made_for, self.fields, inputs, alone=alone, single=self.single
            )
            row = in_all_lanes(kernel, rows_for(kernel, self.numbers)[0])
            self._bound[key] = BoundKernel(kernel, row)
        return self._bound[key]


class BoundKernel:
    """A kernel with the numbers of one tree, or with rows of those of many."""

    def __init__(self, kernel: disk.Kernel, hoisted: Array) -> None:
        self.kernel = kernel
        self.hoisted = hoisted
        self.function = KERNEL(kernel.address)
        self.widths = [(name, shape, math.prod(shape)) for name, shape in kernel.outputs.items()]
        # those nobody uses now, taken and put back in one piece: a lock that another thread holds
        # would stay so for ever in a forked child
        self._single: list[SingleState] = []
        self._few: list[FewStates] = []

    def run(
        self, rows: int, fields: Mapping[str, Array], variant: Array | None = None
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name, from fields (rows or 1, ...).

        A kernel for variants also takes the row of `hoisted` that each state has, (rows or 1,).
        """
        out = {name: lent.empty((rows, *shape)) for name, shape, _ in self.widths}
        if rows == 0:
            return out
        arrays = [_contiguous(fields[name]) for name in self.kernel.field_shapes]
        if variant is not None:
            arrays.append(variant)
        strides = [0 if len(a) == 1 else a.strides[0] for a in arrays]
        places = [a.ctypes.data for a in arrays]
        results = [a.ctypes.data for a in out.values()]
        steps = [8 * width for _, _, width in self.widths]
        c_strides = (ctypes.c_int64 * len(strides))(*(stride // 8 for stride in strides))
        parameters = self.hoisted.ctypes.data

        # `alive`: an interrupt may free these arrays for the caller while threads still write to them
        def block(start: int, alive: object = (arrays, out)) -> None:
            inputs = (ctypes.c_void_p * len(places))(
                *(place + stride * start for place, stride in zip(places, strides, strict=True))
            )
            outputs = (ctypes.c_void_p * len(results))(
                *(place + step * start for place, step in zip(results, steps, strict=True))
            )
            self.function(min(BLOCK, rows - start), inputs, c_strides, parameters, outputs)

        spread(block, range(0, rows, BLOCK))
        return out

    def one(self, fields: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs (1, ...) by name of a single state, without the overhead of a batch.

        Its fields may come without the axis of rows.
        """
        try:
            single = self._single.pop()
        except IndexError:
            single = SingleState(self)
        for name, place in single.inputs.items():
            place[...] = fields[name]
        single()
        found = {name: value.copy() for name, value in single.rows.items()}
        self._single.append(single)
        return found

    def few(self, rows: int, fields: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs (rows, ...) by name of 1 to FEW states; a kernel always takes one at least."""
        try:
            states = self._few.pop()
        except IndexError:
            states = FewStates(self)
        found = states(rows, fields)
        self._few.append(states)
        return found


class FewStates:
    """Arrays in fixed places for up to FEW states. Not for two threads at once."""

    def __init__(self, bound: BoundKernel) -> None:
        shapes = bound.kernel.field_shapes
        self.inputs = {name: np.zeros((FEW, *shape)) for name, shape in shapes.items()}
        self.outputs = {name: np.empty((FEW, *shape)) for name, shape, _ in bound.widths}
        inputs, outputs = [*self.inputs.values()], [*self.outputs.values()]
        self._call = bound.function
        self._given = (
            (ctypes.c_void_p * len(inputs))(*(one.ctypes.data for one in inputs)),
            (ctypes.c_int64 * len(inputs))(*(math.prod(shape) for shape in shapes.values())),
            ctypes.c_void_p(bound.hoisted.ctypes.data),
            (ctypes.c_void_p * len(outputs))(*(one.ctypes.data for one in outputs)),
        )
        self._keep = bound

    def __call__(self, rows: int, fields: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        for name, place in self.inputs.items():
            place[:rows] = fields[name]
        self._call(rows, *self._given)
        return {name: value[:rows].copy() for name, value in self.outputs.items()}


class SingleState:
    """A compiled function of one state on plain arrays, for a control loop.

    Write the state into the arrays of `inputs`, call, read the arrays of `outputs`. There are no checks:
    `outputs["margin"]` must be positive for the answer to be healthy. Not for two threads at once.
    """

    def __init__(self, bound: BoundKernel) -> None:
        kernel = bound.kernel
        self.inputs = {name: np.zeros(shape) for name, shape in kernel.field_shapes.items()}
        self.outputs = {name: np.empty(shape) for name, shape, _ in bound.widths}
        self.rows = {name: value[np.newaxis] for name, value in self.outputs.items()}
        inputs = [value.ctypes.data for value in self.inputs.values()]
        outputs = [value.ctypes.data for value in self.outputs.values()]
        parts = (
            (ctypes.c_void_p * len(inputs))(*inputs),
            (ctypes.c_int64 * len(inputs))(),
            (ctypes.c_void_p * len(outputs))(*outputs),
        )
        places = [ctypes.addressof(part) for part in parts]
        call = (ctypes.c_void_p * 4)(*places[:2], bound.hoisted.ctypes.data, places[2])
        self._keep = (bound, parts, call)
        self._place = ctypes.addressof(call)
        self._call = ONCE(kernel.once)

    def __call__(self) -> None:
        """Compute the outputs."""
        self._call(self._place)


def rows_for(kernel: disk.Kernel, numbers: Any, which: Array | None = None) -> Array:
    """What a kernel reads of a tree of numbers, or of members of a batch: (members, numbers).

    What parameters alone decide, then tables and matrices of modes.
    """
    parts = [hoisted(kernel.prologue, kernel.hoisted, parameters(numbers, which))]
    if kernel.tables:
        parts.append(mode_tables(numbers, which)[:, list(kernel.tables)])
    if kernel.matrices:
        parts.append(mode_matrices(numbers, which)[:, list(kernel.matrices)])
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(
        [part.reshape(len(part), math.prod(part.shape[1:])) for part in parts], axis=1
    )


def in_all_lanes(kernel: disk.Kernel, row: Array) -> Array:
    """A row as the kernel of one tree takes it: hoisted numbers once a lane, with vectors' alignment."""
    width, count = kernel.width, max(len(kernel.hoisted), 1)
    kind = np.dtype(np.float32 if kernel.single else np.float64)
    room = np.empty((count + 1) * width + len(row) - count, kind)
    first = -room.ctypes.data // kind.itemsize % width
    numbers = room[first : first + count * width + len(row) - count]
    numbers[: count * width].reshape(count, width)[...] = row[:count, np.newaxis]
    numbers[count * width :] = row[count:]
    return numbers


def _contiguous(value: Array) -> Array:
    """The value itself if each row is contiguous, aligned doubles, else a copy."""
    if value.strides[0] % 8 or not value.flags.aligned:
        return np.array(value, order="C")
    expected = 8
    for length, stride in zip(value.shape[:0:-1], value.strides[:0:-1], strict=True):
        if length > 1 and stride != expected:
            return np.ascontiguousarray(value)
        expected *= length
    return value


RECENT = 32
"""Kernels kept though no robot has them any more: one that is loaded again has most often the same."""
_recent: deque[disk.Kernel] = deque(maxlen=RECENT)
_kernels: MutableMapping[Any, disk.Kernel] = WeakValueDictionary()


def kernel_for(
    function: Function,
    numbers: Any,
    made_for: Structure,
    fields: Fields,
    inputs: Mapping[str, tuple[int, ...]],
    variants: bool = False,
    alone: bool = False,
    single: bool = False,
) -> disk.Kernel:
    """The kernel of a function for a structure: from memory, from disk, or made now."""
    key = program_key(function, made_for, fields, inputs)
    known = (key, variants, alone, single)
    kernel = _kernels.get(known)
    if kernel is None:
        lasting = identity(function, {fields.make.__module__, __name__, *modules(numbers)})
        stored = None if lasting is None else (*lasting, fields.make.__qualname__, *key[2:])
        make = partial(trace, function, numbers, fields, inputs, single)
        kernel = _kernels[known] = disk.load_or_make(stored, make, variants, alone, single)
        _recent.append(kernel)
    return kernel
