"""gough's own programs in more digits: what rounding alone makes of an answer.

A traced program is a list of scalar operations; `exact` runs them on mpmath's numbers, on the very
doubles that the robot and the state hold. `longer` runs the equations on NumPy's longest
floats, thousands of states at once: three digits more than doubles where the processor has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

from gough.engine.program import HOISTED, PARAMETERS, Step
from gough.engine.run.execute import program_for
from gough.engine.trace import parameters
from gough.engine.tree import map_arrays
from gough.model.execution import fields_of

DIGITS = 60
CONTEXT = mpmath.mp.clone()
CONTEXT.dps = DIGITS
ZERO, ONE = CONTEXT.mpf(0), CONTEXT.mpf(1)

EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else CONTEXT.nan,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": lambda a: CONTEXT.sqrt(a) if a >= 0 else CONTEXT.nan,
    "rint": CONTEXT.nint,
    "atan2": CONTEXT.atan2,
    "sin": CONTEXT.sin,
    "cos": CONTEXT.cos,
    "copysign": lambda a, b: abs(a) if b >= 0 else -abs(a),
    "min": lambda a, b: a if a < b or CONTEXT.isnan(a) else b,
    "max": lambda a, b: a if a > b or CONTEXT.isnan(a) else b,
    "or_one": lambda a: a if a else ONE,
}


def exact(
    mechanism: Any, function: Any, fields: Mapping[str, Any], others: Sequence[str] = ()
) -> dict[str, Any]:
    """Outputs of a program for one state of a rigid robot, arrays of mpmath's numbers.

    `fields` (*shape) by name, the state's and the program's further inputs `others`.
    """
    shapes = {name: np.shape(fields[name]) for name in others}
    program = program_for(function, mechanism, fields_of(mechanism), shapes)
    given = [CONTEXT.mpf(float(one[0])) for one in parameters(mechanism)]
    first = _values(program.prologue, {PARAMETERS: given})
    inputs = {name: [CONTEXT.mpf(float(x)) for x in np.ravel(v)] for name, v in fields.items()}
    inputs[HOISTED] = [first[place] for place in program.hoisted]
    values = _values(program.body, inputs)
    found = {}
    for name, output in program.outputs.items():
        numbers = np.empty(len(output.places), dtype=object)
        numbers[:] = [values[place] for place in output.places]
        found[name] = numbers.reshape(output.shape)
    return found


def longer(
    mechanism: Any, function: Any, fields: Mapping[str, Any], others: Sequence[str] = ()
) -> dict[str, Any]:
    """Outputs (samples, ...) of a program for states of a rigid robot, NumPy's long doubles."""
    given = {n: np.moveaxis(np.asarray(v, dtype=np.longdouble), 0, -1) for n, v in fields.items()}
    made = fields_of(mechanism)
    state = made.make({name: given[name] for name in made.shapes})
    numbers = map_arrays(mechanism, lambda leaf: leaf.astype(np.longdouble))
    with np.errstate(all="ignore"):
        found = function(numbers, state, **{name: given[name] for name in others})
    return {name: np.moveaxis(value, -1, 0) for name, value in found.items()}


def _values(steps: Sequence[Step], inputs: Mapping[str, list[Any]]) -> list[Any]:
    values: list[Any] = []
    for operation, arguments, leaf in steps:
        if operation == "constant":
            values.append(CONTEXT.mpf(leaf))
        elif operation == "input":
            values.append(inputs[leaf[0]][leaf[1]])
        else:
            values.append(EXACT[operation](*(values[a] for a in arguments)))
    return values
