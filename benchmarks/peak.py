"""The processor's peak: a loop of nothing but independent vector multiply-adds."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from benchmarks.timing import Contender
from gough.engine.emit.llvm import lanes
from gough.engine.run.cache import _machine

CHAINS = 12
"""Independent accumulators: more than latency times units asks for, fewer than there are registers."""
ROUNDS = 200_000


def kernel_text(width: int) -> str:
    """LLVM IR of double peak(i64 rounds): CHAINS fused multiply-adds of `width` doubles a round."""
    vector = f"<{width} x double>"

    def splat(value: float) -> str:
        return "<" + ", ".join([f"double {value!r}"] * width) + ">"

    chains = range(CHAINS)
    starts = "\n".join(
        f"  %a{k} = phi {vector} [{splat(1.0 + k)}, %entry], [%b{k}, %loop]" for k in chains
    )
    steps = "\n".join(
        f"  %b{k} = call {vector} @llvm.fma.v{width}f64({vector} %a{k}, {vector} %m, {vector} %c)"
        for k in chains
    )
    sums = "\n".join(
        f"  %s{k + 1} = fadd {vector} {f'%s{k}' if k else splat(0.0)}, %b{k}" for k in chains
    )
    return f"""declare {vector} @llvm.fma.v{width}f64({vector}, {vector}, {vector})
define double @peak(i64 %rounds, double %scale) {{
entry:
  %m0 = insertelement {vector} poison, double %scale, i64 0
  %m = shufflevector {vector} %m0, {vector} poison, <{width} x i32> zeroinitializer
  %c = fadd {vector} %m, {splat(0.5)}
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{starts}
{steps}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
{sums}
  %result = extractelement {vector} %s{CHAINS}, i64 0
  ret double %result
}}
"""


@cache
def _function() -> tuple[Any, Any]:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(kernel_text(lanes())), _machine())
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)
    return kind(engine.get_function_address("peak")), engine


def contender() -> Contender:
    """The peak loop; its "states" are floating-point operations, a multiply-add being two."""
    function, _ = _function()
    return Contender(lambda: function(ROUNDS, 0.5), ROUNDS * CHAINS * lanes() * 2)
