"""CasADi back end: a program as a `casadi.Function` of SX symbols, ready to be differentiated."""

from __future__ import annotations

import importlib
from typing import Any

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.operations import OPERATIONS
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

    values: list[Any] = []
    for step in program.body:
        if step.operation == CONSTANT:
            values.append(casadi.SX(step.leaf))
        elif step.operation == INPUT:
            values.append(read(*step.leaf))
        else:
            given = (values[a] for a in step.arguments)
            values.append(OPERATIONS[step.operation].casadi(casadi, *given))
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
