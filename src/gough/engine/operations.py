"""The operations of programs: each stands here once, with all that any part of the engine knows of it.

On numbers they do what IEEE 754 says, NaN included: of two of which one is NaN the smaller is NaN.
Where a derivative does not exist everywhere, it is

    sqrt      ½ at 0 in place of ∞, so that a length √(x·x) has the derivative 0 at x = 0
    abs       the sign of a, which is that of its sign bit at 0
    copysign  sign a · sign b by a, 0 by b: the jump at b = 0 does not count
    min, max  1 by the argument that is taken, 0 by the other; a tie takes one of them
    or_one    1, also at 0: the jump there does not count
    rint      0: the jumps do not count
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Operation(NamedTuple):
    """What is known of an operation y = f(a) or f(a, b)."""

    value: Callable[..., float]
    """Of floats, while tracing; a quotient by 0, which no program should hold, is NaN."""
    numpy: Callable[..., Any]
    """Of arrays."""
    slopes: Callable[..., tuple[Any, ...]]
    """∂y/∂a and ∂y/∂b as symbols, of the symbols y, a, b."""
    llvm: Callable[..., str]
    """Lines for vectors, of an `engine.emit.lines.Lines` and the arguments' names; the result's name."""
    c: str
    """An expression; {f} is the suffix of functions in single precision. See `emit.c` for its own."""
    casadi: Callable[..., Any]
    """Of the module casadi and the arguments."""
    jax: Callable[..., Any]
    """Of the module jax and the arguments, such that its own derivatives are `slopes`."""
    cycles: int = 4
    """From arguments to result on current processors."""
    spare: int = 0
    """Registers it needs besides those of its arguments and result; a call may use any."""
    from_memory: tuple[int, ...] = ()
    """Arguments that an instruction can read from memory, one of them at a time."""
    commutative: bool = False


def _constant(value: float, like: Any) -> Any:
    return like.graph.constant(value)


def _sign(x: Any) -> Any:
    """1 or −1 by the sign bit of a symbol."""
    return _constant(1.0, x).copysign(x)


def _where_positive(x: Any) -> tuple[Any, Any]:
    """(1, 0) where a symbol x > 0, (0, 1) where x < 0."""
    first = (1 + _sign(x)) * 0.5
    return first, 1 - first


def _quotient_slopes(y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    per = 1 / b
    return per, -y * per


def _angle_slopes(y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    per_square = 1 / (a * a + b * b)
    return b * per_square, -a * per_square


def _smaller(lines: Any, test: str, a: str, b: str) -> str:
    """Lines for the smaller (test olt) or larger (ogt) of two; NaN where either is."""
    known = lines.select(lines.compare(test, a, b), a, b)
    return str(lines.select(lines.compare("uno", a, lines.splat(0.0)), a, known))


def _casadi_nan(casadi: Any, a: Any) -> Any:
    return casadi.logic_not(casadi.logic_or(a <= 0, a >= 0))  # a ≠ a would be simplified away


def _casadi_chosen(casadi: Any, test: Any, a: Any, b: Any) -> Any:
    """a where the test holds or a is NaN, else b; casadi's own fmin and fmax lose NaN."""
    return casadi.if_else(casadi.logic_or(test, _casadi_nan(casadi, a)), a, b)


def _casadi_rint(casadi: Any, a: Any) -> Any:
    """remainder goes to the nearest, halves to even; a number without a fraction is its own."""
    whole = a - casadi.remainder(a, 1)
    return casadi.if_else(casadi.fabs(a) < 2.0**52, whole, a)


def _jax_sign(jax: Any, a: Any) -> Any:
    """1 or −1 by the sign bit; it has no derivative."""
    return jax.lax.stop_gradient(jax.numpy.copysign(1.0, a))


def _jax_sqrt(jax: Any, a: Any) -> Any:
    """a/2 stands for √a at 0: the value is 0 and the derivative ½."""
    zero = a == 0
    return jax.numpy.where(zero, 0.5 * a, jax.numpy.sqrt(jax.numpy.where(zero, 1.0, a)))


def _jax_chosen(jax: Any, test: Any, a: Any, b: Any) -> Any:
    """a where the test holds or a is NaN, else b."""
    return jax.numpy.where(test | jax.numpy.isnan(a), a, b)


OPERATIONS: dict[str, Operation] = {
    "add": Operation(
        value=lambda a, b: a + b,
        numpy=np.add,
        slopes=lambda y, a, b: (_constant(1.0, y), _constant(1.0, y)),
        llvm=lambda lines, a, b: lines.arithmetic("fadd", a, b),
        c="{0} + {1}",
        casadi=lambda casadi, a, b: a + b,
        jax=lambda jax, a, b: a + b,
        cycles=3,
        from_memory=(0, 1),
        commutative=True,
    ),
    "sub": Operation(
        value=lambda a, b: a - b,
        numpy=np.subtract,
        slopes=lambda y, a, b: (_constant(1.0, y), _constant(-1.0, y)),
        llvm=lambda lines, a, b: lines.arithmetic("fsub", a, b),
        c="{0} - {1}",
        casadi=lambda casadi, a, b: a - b,
        jax=lambda jax, a, b: a - b,
        cycles=3,
        from_memory=(1,),
    ),
    "mul": Operation(
        value=lambda a, b: a * b,
        numpy=np.multiply,
        slopes=lambda y, a, b: (b, a),
        llvm=lambda lines, a, b: lines.arithmetic("fmul", a, b),
        c="{0} * {1}",
        casadi=lambda casadi, a, b: a * b,
        jax=lambda jax, a, b: a * b,
        from_memory=(0, 1),
        commutative=True,
    ),
    "div": Operation(
        value=lambda a, b: a / b if b else math.nan,
        numpy=np.divide,
        slopes=_quotient_slopes,
        llvm=lambda lines, a, b: lines.arithmetic("fdiv", a, b),
        c="{0} / {1}",
        casadi=lambda casadi, a, b: a / b,
        jax=lambda jax, a, b: a / b,
        cycles=13,
        from_memory=(1,),
    ),
    "neg": Operation(
        value=lambda a: -a,
        numpy=np.negative,
        slopes=lambda y, a: (_constant(-1.0, y),),
        llvm=lambda lines, a: lines.arithmetic("fneg", a),
        c="-{0}",
        casadi=lambda casadi, a: -a,
        jax=lambda jax, a: -a,
        cycles=1,
    ),
    "abs": Operation(
        value=abs,
        numpy=np.abs,
        slopes=lambda y, a: (_sign(a),),
        llvm=lambda lines, a: lines.intrinsic("fabs", [a]),
        c="fabs{f}({0})",
        casadi=lambda casadi, a: casadi.fabs(a),
        jax=lambda jax, a: a * _jax_sign(jax, a),
        cycles=1,
    ),
    "sqrt": Operation(
        value=lambda a: math.nan if a < 0 else math.sqrt(a),
        numpy=np.sqrt,
        slopes=lambda y, a: (0.5 / y.or_one(),),
        llvm=lambda lines, a: lines.intrinsic("sqrt", [a]),
        c="sqrt{f}({0})",
        casadi=lambda casadi, a: casadi.sqrt(a),
        jax=_jax_sqrt,
        cycles=20,
        from_memory=(0,),
    ),
    "rint": Operation(
        value=lambda a: math.copysign(round(a), a) if math.isfinite(a) else a,
        numpy=np.rint,
        slopes=lambda y, a: (_constant(0.0, y),),
        llvm=lambda lines, a: lines.intrinsic("rint", [a]),
        c="rint{f}({0})",
        casadi=_casadi_rint,
        jax=lambda jax, a: jax.lax.stop_gradient(jax.numpy.rint(a)),
    ),
    "atan2": Operation(
        value=math.atan2,
        numpy=np.arctan2,
        slopes=_angle_slopes,
        llvm=lambda lines, a, b: lines.by_lane("atan2", [a, b]),
        c="atan2{f}({0}, {1})",
        casadi=lambda casadi, a, b: casadi.atan2(a, b),
        jax=lambda jax, a, b: jax.numpy.arctan2(a, b),
        spare=64,
    ),
    "sin": Operation(
        value=lambda a: math.sin(a) if math.isfinite(a) else math.nan,
        numpy=np.sin,
        slopes=lambda y, a: (a.cos(),),
        llvm=lambda lines, a: lines.by_lane("sin", [a]),
        c="sin{f}({0})",
        casadi=lambda casadi, a: casadi.sin(a),
        jax=lambda jax, a: jax.numpy.sin(a),
        spare=64,
    ),
    "cos": Operation(
        value=lambda a: math.cos(a) if math.isfinite(a) else math.nan,
        numpy=np.cos,
        slopes=lambda y, a: (-a.sin(),),
        llvm=lambda lines, a: lines.by_lane("cos", [a]),
        c="cos{f}({0})",
        casadi=lambda casadi, a: casadi.cos(a),
        jax=lambda jax, a: jax.numpy.cos(a),
        spare=64,
    ),
    "copysign": Operation(
        value=math.copysign,
        numpy=np.copysign,
        slopes=lambda y, a, b: (_sign(a) * _sign(b), _constant(0.0, y)),
        llvm=lambda lines, a, b: lines.intrinsic("copysign", [a, b]),
        c="copysign{f}({0}, {1})",
        # casadi's derivative of copysign holds for a ≥ 0 only
        casadi=lambda casadi, a, b: casadi.copysign(casadi.fabs(a), b),
        jax=lambda jax, a, b: a * (_jax_sign(jax, a) * _jax_sign(jax, b)),
        spare=1,
    ),
    "min": Operation(
        value=lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else min(a, b),
        numpy=np.minimum,
        slopes=lambda y, a, b: _where_positive(b - a),
        llvm=lambda lines, a, b: _smaller(lines, "olt", a, b),
        c="smaller({0}, {1})",
        casadi=lambda casadi, a, b: _casadi_chosen(casadi, a < b, a, b),
        jax=lambda jax, a, b: _jax_chosen(jax, a < b, a, b),
        spare=1,
        commutative=True,
    ),
    "max": Operation(
        value=lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else max(a, b),
        numpy=np.maximum,
        slopes=lambda y, a, b: _where_positive(a - b),
        llvm=lambda lines, a, b: _smaller(lines, "ogt", a, b),
        c="larger({0}, {1})",
        casadi=lambda casadi, a, b: _casadi_chosen(casadi, a > b, a, b),
        jax=lambda jax, a, b: _jax_chosen(jax, a > b, a, b),
        spare=1,
        commutative=True,
    ),
    "or_one": Operation(
        value=lambda a: a or 1.0,
        numpy=lambda a: np.where(a == 0, 1.0, a),
        slopes=lambda y, a: (_constant(1.0, y),),
        llvm=lambda lines, a: lines.select(
            lines.compare("oeq", a, lines.splat(0.0)), lines.splat(1.0), a
        ),
        c="or_one({0})",
        casadi=lambda casadi, a: casadi.if_else(a == 0, 1, a),
        jax=lambda jax, a: jax.numpy.where(a == 0, a + 1, a),
        spare=1,
    ),
}
