"""CasADi back end: a program as a `casadi.Function` of SX symbols, ready to be differentiated."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.program import HOISTED, Output, Program
from gough.errors import MissingDataError


def require() -> Any:
    """The casadi module, or an error that says how to get it."""
    try:
        return importlib.import_module("casadi")
    except ImportError:
        raise MissingDataError(
            "CasADi is not installed; it comes with the extra: pip install 'gough[casadi]'"
        ) from None


def function(program: Program, name: str, hoisted: Array) -> Any:
    """The program as a casadi.Function with the program's input fields and outputs.

    Vectors are columns, matrices have the shape they have in NumPy: casadi's own storage is
    column-major, but m[i, j] means the same in both.
    """
    casadi, inputs = require(), program.fields
    symbols = {
        field: casadi.SX.sym(field, *(shape if len(shape) == 2 else (*shape, 1)))
        for field, shape in inputs.items()
    }

    def read(field: str, index: int) -> Any:
        if field == HOISTED:
            return casadi.SX(float(hoisted[index]))
        shape = inputs[field]
        return symbols[field][divmod(index, shape[1]) if len(shape) == 2 else index]

    operations = _operations(casadi)
    values: list[Any] = []
    for step in program.body:
        if step.operation == CONSTANT:
            values.append(casadi.SX(step.leaf))
        elif step.operation == INPUT:
            values.append(read(*step.leaf))
        else:
            values.append(operations[step.operation](*(values[a] for a in step.arguments)))
    results = [_matrix(casadi, output, values) for output in program.outputs.values()]
    return casadi.Function(
        name, list(symbols.values()), results, list(symbols), list(program.outputs)
    )


def _matrix(casadi: Any, output: Output, values: list[Any]) -> Any:
    """An output in its shape from its elements, row-major."""
    column = casadi.vertcat(*(values[place] for place in output.places))
    if len(output.shape) < 2:
        return casadi.densify(column)
    rows, columns = output.shape
    return casadi.densify(casadi.reshape(column, columns, rows).T)


def _operations(casadi: Any) -> dict[str, Callable[..., Any]]:
    def is_nan(a: Any) -> Any:
        return casadi.logic_not(casadi.logic_or(a <= 0, a >= 0))  # a ≠ a would be simplified away

    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "sqrt": casadi.sqrt,
        "abs": casadi.fabs,
        "atan2": casadi.atan2,
        # casadi's derivative of copysign holds for a ≥ 0 only
        "copysign": lambda a, b: casadi.copysign(casadi.fabs(a), b),
        # fmin and fmax lose NaN
        "min": lambda a, b: casadi.if_else(casadi.logic_or(a < b, is_nan(a)), a, b),
        "max": lambda a, b: casadi.if_else(casadi.logic_or(a > b, is_nan(a)), a, b),
        "or_one": lambda a: casadi.if_else(a == 0, 1, a),
    }
