"""LLVM back end: a program as a kernel for vectors of states, compiled in memory for this processor.

W states go side by side, W by the host's vector unit. Groups of W states run through a loop that works
on two groups at a time (`passes.pipeline`). A group alone, and the last one where states are
missing to fill it, runs through the same operations without a loop; its empty lanes repeat the last
state. Every operation is fixed beforehand (`gough.engine.passes.fused`): no result depends on the batch.

Loads and stores are planned (`passes.registers`). LLVM sees the frame through two pointers of
which it does not know that they are one, and marks keep the operations in order: little is left to it.
"""

from __future__ import annotations

from math import prod

import llvmlite.binding as llvm

from gough.engine.emit.group import Group, GroupPlan
from gough.engine.emit.repeat import Repeat
from gough.engine.emit.whole import Whole
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.passes.fused import fuse
from gough.engine.passes.pipeline import halves
from gough.engine.program import HOISTED, Program

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def lanes() -> int:
    """States a kernel takes at a time: the doubles in a vector register."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") or features.get("avx") else 2


NARROW = 2
"""States of the narrowest vectors, which one state alone goes through fastest."""


def _registers(width: int) -> int:
    """Vector registers that a plan may use; a compiler needs two for itself."""
    many = lanes() == 8 or llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return (32 if many else 16) - 2


def kernel_text(
    program: Program, name: str, width: int, variants: bool = False, looping: bool = True
) -> str:
    """LLVM IR of void name(i64 rows, ptr inputs, ptr strides, ptr hoisted, ptr outputs).

    `inputs` points to an array of field pointers, `strides` to the doubles from one state to the
    next of each; `outputs` to pointers of row-major results. An output may be written over an input of
    the same state. `hoisted` has each number W times, aligned to vectors, then the tables and matrices
    of modes, each number once. With `variants` it has rows of all these numbers, each once, and one
    more input, after the fields, holds for each state the number of its row, an i64. There is at least
    one state. Where it is not `looping` all go through as groups alone: for few states.

    void name_once(ptr call) does so for one state, with `call` pointing to the four pointers: from
    Python one argument costs a fraction of five.
    """
    plan = _plan(program, width, variants, looping)
    group = Whole(plan) if program.repeated is None else Repeat(plan)
    loop = Group(plan, looping=True).halves() if plan.halves else None
    parts = [group, loop] if loop else [group]
    declarations = "\n".join(sorted(set().union(*(one.declarations for one in parts))))
    tables = "ptr noalias %inputs, ptr noalias %strides"
    # what is used most comes first: it gets the registers with the shortest instructions
    common = f"ptr %read, ptr %write, ptr noalias %hoisted, {tables}, ptr noalias %outputs"
    given = "ptr %frame, ptr %frame, ptr %hoisted, ptr %inputs, ptr %strides, ptr %outputs"
    slots = max(one.slots for one in parts)
    return f"""{declarations}
declare void @llvm.codeview.annotation(metadata)
!0 = !{{!"in order"}}
define internal void @{name}_group({common}, i64 %i, i64 %last) noinline {{
entry:
{group.body()}
  ret void
}}
{_loop(loop, name, common) if loop else ""}
define void @{name}(i64 %rows, {tables}, ptr noalias %hoisted, ptr noalias %outputs) \
alignstack({max(8 * width, 16)}) {{
entry:
  %frame = alloca {group.vector}, i64 {max(slots, 1)}, align {8 * width}
  %last = sub i64 %rows, 1
{_call_of_loop(loop, name, given) if loop else "  br label %groups"}
groups:
  %i = phi i64 [{"%full, %looped" if loop else "0, %entry"}], [%next, %groups]
  call void @{name}_group({given}, i64 %i, i64 %last)
  %next = add i64 %i, {width}
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %groups, label %done
done:
  ret void
}}
define void @{name}_once(ptr %call) {{
  %second = getelementptr ptr, ptr %call, i64 1
  %third = getelementptr ptr, ptr %call, i64 2
  %fourth = getelementptr ptr, ptr %call, i64 3
  %inputs = load ptr, ptr %call
  %strides = load ptr, ptr %second
  %hoisted = load ptr, ptr %third
  %outputs = load ptr, ptr %fourth
  call void @{name}(i64 1, ptr %inputs, ptr %strides, ptr %hoisted, ptr %outputs)
  ret void
}}
"""


def _plan(program: Program, width: int, variants: bool, looping: bool) -> GroupPlan:
    fused = fuse(program)
    lasting = {
        place
        for place, (operation, _, leaf) in enumerate(fused.steps)
        if operation == CONSTANT or (operation == INPUT and leaf[0] == HOISTED and not variants)
    }
    whole = not looping or program.modes or program.repeated is not None
    parts = None if whole else halves(fused.steps, fused.outputs, lasting)
    return GroupPlan(program, fused, lasting, parts, width, _registers(width), variants)


def _loop(loop: Group, name: str, common: str) -> str:
    """The function that takes groups two at a time, half of each."""
    return f"""
define internal void @{name}_loop({common}, i64 %rows, \
ptr %a, ptr %b, ptr %same.a, ptr %same.b, ptr %nowhere) noinline {{
{loop.entry()}
  br label %loop
loop:
  %i = phi i64 [0, %0], [%next, %loop]
  %from = phi ptr [%a, %0], [%to, %loop]
  %to = phi ptr [%b, %0], [%from, %loop]
  %again.from = phi ptr [%same.a, %0], [%again, %loop]
  %again = phi ptr [%same.b, %0], [%again.from, %loop]
{loop.body()}
  %next = add i64 %i, {loop.width}
  %more = icmp sle i64 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def _call_of_loop(loop: Group, name: str, given: str) -> str:
    """Full groups go through the loop if there are two or more; what is left begins at %full."""
    vector, width, handed = loop.vector, loop.width, max(len(loop.handed), 1)
    widest = max((prod(output.shape) for output in loop.program.outputs.values()), default=1)
    return f"""\
  %a = alloca {vector}, i64 {handed}, align {8 * width}
  %b = alloca {vector}, i64 {handed}, align {8 * width}
  %nowhere = alloca {vector}, i64 {max(widest, 1)}, align {8 * width}
  %whole = and i64 %rows, {-width}
  %many = icmp sgt i64 %whole, {width}
  br i1 %many, label %ones, label %looped
ones:
  %k = phi i64 [0, %entry], [%k.next, %ones]
  %place = getelementptr {vector}, ptr %a, i64 %k
  store {vector} {loop.splat(1.0)}, ptr %place
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, {handed}
  br i1 %k.more, label %ones, label %filled
filled:
  call void @{name}_loop({given}, i64 %whole, ptr %a, ptr %b, ptr %a, ptr %b, ptr %nowhere)
  br label %looped
looped:
  %full = phi i64 [0, %entry], [%whole, %filled]
  %rest = icmp slt i64 %full, %rows
  br i1 %rest, label %groups, label %done"""
