"""Kernels in a loop: many steps of a recursion without returning to Python.

A step is a list of kernel calls on arrays. Feedback is two calls on one array. An array that holds one
entry a step is read or written through a pointer that moves on: `Stream`. All arrays have simulations
(rows) on the axis behind, so that W of them go through a kernel at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from gough.base.arrays import Array
from gough.engine.run.cache import _machine
from gough.engine.run.compiled import BoundKernel
from gough.engine.run.threads import spread, threads

MOST_REPEATS = 60
LEAST, MOST = 64, 256
"""Rows that a thread takes through all steps: enough for a kernel's loop, few enough for the cache."""

LOOP = """
define void @loop(i64 %steps, i64 %rows, ptr %calls, i64 %ncalls, ptr %pointers, i64 %npointers,
                  double %tolerance, i64 %most) {
entry:
  %any = icmp sgt i64 %steps, 0
  br i1 %any, label %step, label %done
step:
  %s = phi i64 [0, %entry], [%s.next, %advanced]
  br label %call
call:
  %c = phi i64 [0, %step], [%c.next, %called]
  %c7 = mul i64 %c, 7
  %entry.p = getelementptr i64, ptr %calls, i64 %c7
  %kernel = load ptr, ptr %entry.p
  %p1 = getelementptr i64, ptr %entry.p, i64 1
  %inputs = load ptr, ptr %p1
  %p2 = getelementptr i64, ptr %entry.p, i64 2
  %strides = load ptr, ptr %p2
  %p3 = getelementptr i64, ptr %entry.p, i64 3
  %hoisted = load ptr, ptr %p3
  %p4 = getelementptr i64, ptr %entry.p, i64 4
  %outputs = load ptr, ptr %p4
  %p5 = getelementptr i64, ptr %entry.p, i64 5
  %every = load i64, ptr %p5
  %p6 = getelementptr i64, ptr %entry.p, i64 6
  %residual = load ptr, ptr %p6
  %phase = srem i64 %s, %every
  %due = icmp eq i64 %phase, 0
  br i1 %due, label %run, label %called
run:
  %n = phi i64 [0, %call], [%n.next, %judged]
  call void %kernel(i64 %rows, ptr %inputs, ptr %strides, ptr %hoisted, ptr %outputs)
  %n.next = add i64 %n, 1
  %open = icmp ne ptr %residual, null
  %left = icmp slt i64 %n.next, %most
  %judge = and i1 %open, %left
  br i1 %judge, label %row, label %called
row:
  %r = phi i64 [0, %run], [%r.next, %row]
  %bad = phi i1 [false, %run], [%bad.next, %row]
  %r.p = getelementptr double, ptr %residual, i64 %r
  %r.v = load double, ptr %r.p
  %r.bad = fcmp ogt double %r.v, %tolerance
  %bad.next = or i1 %bad, %r.bad
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %judged
judged:
  br i1 %bad.next, label %run, label %called
called:
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %ncalls
  br i1 %c.more, label %call, label %pointers.0
pointers.0:
  %s.next = add i64 %s, 1
  %have = icmp sgt i64 %npointers, 0
  br i1 %have, label %pointer, label %advanced
pointer:
  %q = phi i64 [0, %pointers.0], [%q.next, %pointed]
  %q3 = mul i64 %q, 3
  %q.p = getelementptr i64, ptr %pointers, i64 %q3
  %slot = load ptr, ptr %q.p
  %q.p1 = getelementptr i64, ptr %q.p, i64 1
  %advance = load i64, ptr %q.p1
  %q.p2 = getelementptr i64, ptr %q.p, i64 2
  %q.every = load i64, ptr %q.p2
  %q.phase = srem i64 %s.next, %q.every
  %q.due = icmp eq i64 %q.phase, 0
  br i1 %q.due, label %move, label %pointed
move:
  %old = load i64, ptr %slot
  %new = add i64 %old, %advance
  store i64 %new, ptr %slot
  br label %pointed
pointed:
  %q.next = add i64 %q, 1
  %q.more = icmp slt i64 %q.next, %npointers
  br i1 %q.more, label %pointer, label %advanced
advanced:
  %more = icmp slt i64 %s.next, %steps
  br i1 %more, label %step, label %done
done:
  ret void
}
"""
"""A call: kernel, inputs, strides, hoisted, outputs, every (steps), residual (or null: call it once).
A pointer: where it is kept, bytes to move on, every (steps)."""


class Stream(NamedTuple):
    """An array (entries, rows or 1, ...) of which each step, or each n-th, sees the next entry."""

    array: Array
    first: int = 0
    """Entry that the first step sees."""
    every: int = 1
    """Steps until the next entry."""
    stride: int = 1
    """Entries to move on by."""


class Call(NamedTuple):
    """One kernel of a step. What is no `Stream` is an array (rows or 1, ...), the same in every step."""

    kernel: BoundKernel
    inputs: Mapping[str, Array | Stream]
    """By name, the state's fields included."""
    outputs: Mapping[str, Array | Stream]
    """By name, (rows, ...); what is left out is computed and lost."""
    every: int = 1
    """Steps between calls."""
    until: str | None = None
    """An output (rows,) kept in place: the call is repeated until none is above the tolerance."""
    variants: Array | None = None
    """(rows,) whole numbers: the row of hoisted parameters that each has, of a kernel for variants."""


def run(steps: int, rows: int, calls: Sequence[Call], tolerance: float = 0.0) -> None:
    """Go through the calls so many times, in threads over blocks of rows."""
    if not steps or not rows:
        return
    scratch = [
        {
            name: np.empty((rows, *shape))
            for name, shape, _ in call.kernel.widths
            if name not in call.outputs
        }
        for call in calls
    ]
    _check(steps, rows, calls)
    function, keep = _loop()
    plan = _plan(calls, scratch)
    share = -(-rows // threads())
    size = min(-(-share // LEAST) * LEAST, MOST)

    def block(start: int, alive: object = (calls, scratch, keep)) -> None:
        table, pointers, slots = plan.at(start)
        function(
            steps,
            min(size, rows - start),
            table.ctypes.data,
            len(calls),
            pointers.ctypes.data,
            len(pointers) // 3,
            tolerance,
            MOST_REPEATS,
        )
        del slots

    spread(block, range(0, rows, size))


class _Plan(NamedTuple):
    """The loop's tables, but for where a block's rows begin and where its pointers are kept."""

    slots: Array
    """What every pointer of every call points to, for the first row."""
    row: Array
    """Bytes from one row to the next, of each."""
    strides: Array
    """Doubles from one row to the next, of each; for inputs."""
    table: Array
    """(calls, 7), with places of slots in place of their addresses."""
    moving: Array
    """(pointers, 3), likewise."""

    def at(self, start: int) -> tuple[Array, Array, Array]:
        """Table, pointers and slots for the rows from `start` on."""
        slots = self.slots + self.row * start
        table, moving = self.table.copy(), self.moving.copy()
        table[:, [1, 4]] = slots.ctypes.data + 8 * table[:, [1, 4]]
        table[:, 2] = self.strides.ctypes.data + 8 * table[:, 2]
        table[:, 6] += 8 * start * (table[:, 6] != 0)
        moving[:, 0] = slots.ctypes.data + 8 * moving[:, 0]
        return table, moving.reshape(-1), slots


def _plan(calls: Sequence[Call], scratch: Sequence[Mapping[str, Array]]) -> _Plan:
    slots: list[int] = []
    row: list[int] = []
    table: list[list[int]] = []
    moving: list[list[int]] = []
    for call, spare in zip(calls, scratch, strict=True):
        kernel = call.kernel.kernel
        begins = []
        for names, given in (
            (kernel.field_shapes, call.inputs),
            (kernel.outputs, {**spare, **call.outputs}),
        ):
            begins.append(len(slots))
            for name in names:
                value = given[name]
                array = value.array[value.first] if isinstance(value, Stream) else value
                if isinstance(value, Stream):
                    advance = value.array.strides[0] * value.stride
                    moving.append([len(slots), advance, value.every])
                slots.append(array.ctypes.data)
                row.append(0 if len(array) == 1 and given is call.inputs else array.strides[0])
            if given is call.inputs and call.variants is not None:
                slots.append(call.variants.ctypes.data)
                row.append(call.variants.strides[0])
        residual = 0
        if call.until is not None:
            value = call.outputs[call.until]
            assert not isinstance(value, Stream)
            residual = value.ctypes.data
        hoisted = call.kernel.hoisted.ctypes.data
        table.append(
            [kernel.address, begins[0], begins[0], hoisted, begins[1], call.every, residual]
        )
    rows = np.array(row, dtype=np.int64)
    return _Plan(
        np.array(slots, dtype=np.int64),
        rows,
        rows // 8,
        np.array(table, dtype=np.int64),
        np.array(moving, dtype=np.int64).reshape(-1, 3),
    )


def _check(steps: int, rows: int, calls: Sequence[Call]) -> None:
    """Every array must be as the kernels will read and write it: a slip would be a wild pointer."""
    for call in calls:
        kernel = call.kernel.kernel
        for shapes, given, least in (
            (kernel.field_shapes, call.inputs, 1),
            (kernel.outputs, call.outputs, rows),
        ):
            for name, value in given.items():
                array = value.array[0] if isinstance(value, Stream) else value
                whole = value.array if isinstance(value, Stream) else value
                sound = array.dtype == np.float64 and array.flags.c_contiguous
                if not sound or array.shape[1:] != shapes[name] or len(array) not in (least, rows):
                    raise ValueError(f"{name}: an array {array.shape} of {array.dtype}")
                if isinstance(value, Stream):
                    last = value.first + (steps - 1) // value.every * value.stride
                    if last >= len(whole):
                        raise ValueError(f"{name}: {len(whole)} entries, {last + 1} needed")
        if call.variants is not None and (
            call.variants.shape != (rows,)
            or call.variants.dtype != np.int64
            or not call.variants.flags.c_contiguous
            or not 0 <= call.variants.min() <= call.variants.max() < len(call.kernel.hoisted)
        ):
            raise ValueError(f"variants: an array {call.variants.shape} of {call.variants.dtype}")
        missing = [name for name in kernel.field_shapes if name not in call.inputs]
        if missing:
            raise ValueError(f"no {missing[0]}")


@cache
def _loop() -> tuple[Any, Any]:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(LOOP), _machine())
    engine.finalize_object()
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    kinds = (word, word, pointer, word, pointer, word, ctypes.c_double, word)
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address("loop")), engine
