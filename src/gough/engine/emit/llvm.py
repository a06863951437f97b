"""LLVM back end: a program as a kernel for vectors of states, compiled in memory for this processor.

W states go side by side, W by the host's vector unit. Groups of W states run through a loop that works
on two groups at a time (`passes.pipeline`); kernels for one state alone, and those with loops of their
own, take one group after the other. Where states are missing to fill a group, its empty lanes repeat the
last state. Every operation is fixed beforehand (`gough.engine.passes.fused`): no result depends on the
batch.

Loads and stores are planned (`passes.registers`). LLVM sees the frame through two pointers of
which it does not know that they are one, and marks keep the operations in order: little is left to it.
"""

from __future__ import annotations

from math import prod

import llvmlite.binding as llvm

from gough.engine.emit.group import Group, GroupPlan
from gough.engine.emit.whole import Whole
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.passes.fused import fuse
from gough.engine.passes.pipeline import halves
from gough.engine.program import HOISTED, Program

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def lanes(single: bool = False) -> int:
    """States a kernel takes at a time: the doubles, or floats, in a vector register."""
    features = llvm.get_host_cpu_features()
    doubles = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    return 2 * doubles if single else doubles


NARROW = 2
"""States of the narrowest vectors, which one state alone goes through fastest."""


def _registers(width: int) -> int:
    """Vector registers that a plan may use; a compiler needs two for itself."""
    many = lanes() == 8 or llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return (32 if many else 16) - 2


def kernel_text(
    program: Program,
    name: str,
    width: int,
    variants: bool = False,
    looping: bool = True,
    single: bool = False,
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
    plan = _plan(program, width, variants, looping, single)
    group = Whole(plan) if plan.halves is None else Group(plan, looping=True).halves()
    functions = _loop if group.looping else _groups
    declarations = "\n".join(sorted(group.declarations))
    return f"""{declarations}
declare void @llvm.codeview.annotation(metadata)
!0 = !{{!"in order"}}
{functions(group, name)}
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


def _plan(program: Program, width: int, variants: bool, looping: bool, single: bool) -> GroupPlan:
    fused = fuse(program)
    lasting = {
        place
        for place, (operation, _, leaf) in enumerate(fused.steps)
        if operation == CONSTANT or (operation == INPUT and leaf[0] == HOISTED and not variants)
    }
    whole = not looping or program.modes or program.repeated is not None
    parts = None if whole else halves(fused.steps, fused.outputs, lasting)
    return GroupPlan(program, fused, lasting, parts, width, _registers(width), variants, single)


TABLES = "ptr noalias %inputs, ptr noalias %strides"
# what is used most comes first: it gets the registers with the shortest instructions
COMMON = f"ptr %read, ptr %write, ptr noalias %hoisted, {TABLES}, ptr noalias %outputs"
GIVEN = "ptr %frame, ptr %frame, ptr %hoisted, ptr %inputs, ptr %strides, ptr %outputs"


def _room(group: Group, name: str, vectors: int) -> str:
    """Vectors on the stack."""
    size = f"{group.vector}, i64 {max(vectors, 1)}, align {group.size}"
    return f"  %{name} = alloca {size}"


def _head(group: Group, name: str) -> str:
    """How the kernel begins."""
    return f"""
define void @{name}(i64 %rows, {TABLES}, ptr noalias %hoisted, ptr noalias %outputs) \
alignstack({max(group.size, 16)}) {{
entry:
{_room(group, "frame", group.slots)}
  %last = sub i64 %rows, 1"""


def _groups(group: Group, name: str) -> str:
    """The function of one group, and the kernel that calls it for group after group."""
    return f"""
define internal void @{name}_group({COMMON}, i64 %i, i64 %last) noinline {{
entry:
{group.body()}
  ret void
}}
{_head(group, name)}
  br label %groups
groups:
  %i = phi i64 [0, %entry], [%next, %groups]
  call void @{name}_group({GIVEN}, i64 %i, i64 %last)
  %next = add i64 %i, {group.width}
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %groups, label %done
done:
  ret void
}}"""


def _loop(loop: Group, name: str) -> str:
    """The function that takes groups two at a time, half of each, and the kernel that calls it.

    Once for full groups, and once for states that do not fill one.
    """
    width, handed = loop.width, max(len(loop.handed), 1)
    widest = max((prod(output.shape) for output in loop.program.outputs.values()), default=1)
    doubles = 8 * width // loop.size  # outputs are
    pairs = "ptr %a, ptr %b, ptr %a, ptr %b, ptr %nowhere"
    return f"""
define internal void @{name}_loop({COMMON}, i64 %begin, i64 %end, i64 %last, \
ptr %a, ptr %b, ptr %same.a, ptr %same.b, ptr %nowhere) noinline {{
{loop.entry()}
  br label %loop
loop:
  %i = phi i64 [%begin, %0], [%next, %loop]
  %from = phi ptr [%a, %0], [%to, %loop]
  %to = phi ptr [%b, %0], [%from, %loop]
  %again.from = phi ptr [%same.a, %0], [%again, %loop]
  %again = phi ptr [%same.b, %0], [%again.from, %loop]
{loop.body()}
  %next = add i64 %i, {width}
  %more = icmp sle i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}}
{_head(loop, name)}
{_room(loop, "a", handed)}
{_room(loop, "b", handed)}
{_room(loop, "nowhere", doubles * widest)}
  %full = and i64 %rows, {-width}
  br label %ones
ones:
  %k = phi i64 [0, %entry], [%k.next, %ones]
  %place = getelementptr {loop.vector}, ptr %a, i64 %k
  store {loop.vector} {loop.splat(1.0)}, ptr %place
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, {handed}
  br i1 %k.more, label %ones, label %filled
filled:
  %some = icmp sgt i64 %full, 0
  br i1 %some, label %groups, label %rest
groups:
  call void @{name}_loop({GIVEN}, i64 0, i64 %full, i64 %last, {pairs})
  br label %rest
rest:
  %left = icmp slt i64 %full, %rows
  br i1 %left, label %one, label %done
one:
  %end = add i64 %full, {width}
  call void @{name}_loop({GIVEN}, i64 %full, i64 %end, i64 %last, {pairs})
  br label %done
done:
  ret void
}}"""
