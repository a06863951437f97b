"""Compiled execution: one kernel a program and robot structure, threads over blocks of rows."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from gough.dynamics import Machine
from gough.engine import cache as disk
from gough.engine.execute import Array, Function
from gough.engine.prologue import evaluate
from gough.engine.trace import STATE_WIDTHS, parameters, structure, trace
from gough.errors import InputError

BLOCK = 8192
"""Rows a thread takes at a time."""
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)


class CompiledExecutor:
    """Compiles a robot's programs when they are first asked for, and runs them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.parameters = parameters(machine)
        self.structure = structure(self.parameters)
        self._ready: dict[tuple[str, ...], _Bound] = {}

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        key = (function.__name__, *fields)
        bound = self._ready.get(key)
        if bound is None:
            inputs = {n: v.shape[1:] for n, v in fields.items() if n not in STATE_WIDTHS}
            bound = self._ready[key] = self._bind(function, inputs)
        return bound.run(rows, fields)

    def _bind(self, function: Function, inputs: Mapping[str, tuple[int, ...]]) -> _Bound:
        kernel = _kernel(function, self.machine, self.structure, inputs)
        return _Bound(kernel, evaluate(kernel.prologue, kernel.hoisted, self.parameters))


class _Bound:
    """A kernel with the hoisted parameters of one robot."""

    def __init__(self, kernel: disk.Kernel, hoisted: Array) -> None:
        self.kernel = kernel
        self.hoisted = hoisted
        self.function = KERNEL(kernel.address)
        self.names = tuple(kernel.fields)
        self.widths = tuple(kernel.outputs.items())

    def run(self, rows: int, fields: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        arrays = [_contiguous(fields[name]) for name in self.names]
        strides = [0 if len(a) == 1 else a.strides[0] // 8 for a in arrays]
        out = {name: np.empty((rows, *shape)) for name, shape in self.widths}
        if rows == 0:
            return out
        places = [a.ctypes.data for a in arrays]
        results = [a.ctypes.data for a in out.values()]
        steps = [8 * int(np.prod(shape)) for _, shape in self.widths]
        c_strides = (ctypes.c_int64 * len(strides))(*strides)

        def block(start: int) -> None:
            inputs = (ctypes.c_void_p * len(places))(
                *(p + 8 * s * start for p, s in zip(places, strides, strict=True))
            )
            outputs = (ctypes.c_void_p * len(results))(
                *(p + step * start for p, step in zip(results, steps, strict=True))
            )
            count = min(BLOCK, rows - start)
            self.function(count, inputs, c_strides, self.hoisted.ctypes.data, outputs)

        starts = range(0, rows, BLOCK)
        if len(starts) > 1 and threads() > 1:
            list(_pool(threads()).map(block, starts))
        else:
            for start in starts:
                block(start)
        return out


def _contiguous(value: Array) -> Array:
    """The value itself if each row is contiguous doubles, else a copy."""
    expected = 8
    for length, stride in zip(value.shape[:0:-1], value.strides[:0:-1], strict=True):
        if length > 1 and stride != expected:
            return np.ascontiguousarray(value)
        expected *= length
    return value


def threads() -> int:
    """Threads to use: GOUGH_THREADS, or one a core."""
    wanted = os.environ.get("GOUGH_THREADS")
    if wanted is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not wanted.isdigit() or int(wanted) < 1:
        raise InputError(f"GOUGH_THREADS is a positive whole number, not {wanted!r}")
    return int(wanted)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="gough")


_kernels: dict[Any, disk.Kernel] = {}


def _kernel(
    function: Function, machine: Machine, marks: bytes, inputs: Mapping[str, tuple[int, ...]]
) -> disk.Kernel:
    """The kernel of a program for a robot's structure: from memory, from disk, or made now."""
    legs = machine.points.shape[1]
    key = (function.__name__, machine.equations.__name__, legs, marks, tuple(inputs.items()))
    if key not in _kernels:
        _kernels[key] = disk.load_or_make(key, lambda: trace(function, machine, inputs))
    return _kernels[key]
