"""CasADi back end: a program as a `casadi.Function` of SX symbols, ready to be differentiated."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.operations import OPERATIONS
from gough.engine.program import HOISTED, Output, Program
from gough.errors import MissingDataError

SAME_NAMES = {"allow_duplicate_io_names": True}
"""An answer may be called as an input is: an acceleration that is solved for, say."""


def require() -> Any:
    """The casadi module, or an error that says how to get it."""
    try:
        return importlib.import_module("casadi")
    except ImportError:
        raise MissingDataError(
            "CasADi is not installed; it comes with the extra: pip install 'gough[casadi]'"
        ) from None


def function(program: Program, name: str, hoisted: Array, tables: Array, matrices: Array) -> Any:
    """The program as a casadi.Function with the program's input fields and outputs.

    Vectors are columns, matrices have the shape they have in NumPy: casadi's own storage is
    column-major, but m[i, j] means the same in both. What modes have is a column with a row a mode.
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
    for operation, arguments, leaf in program.body:
        given = [values[a] for a in arguments]
        if operation == CONSTANT:
            value = casadi.SX(leaf)
        elif operation == INPUT:
            value = read(*leaf)
        elif operation == MODE:
            value = symbols[leaf]
        elif operation == TABLE:
            value = casadi.SX(tables[leaf])
        elif operation == SUM:
            value = casadi.sum1(given[0])
        elif operation == COUPLED:
            value = casadi.SX(matrices[leaf]) @ (given[0] * casadi.SX.ones(program.modes, 1))
        else:
            value = OPERATIONS[operation].casadi(casadi, *given)
        values.append(value)
    results = [_matrix(casadi, output, values) for output in program.outputs.values()]
    return casadi.Function(
        name, list(symbols.values()), results, list(symbols), list(program.outputs), SAME_NAMES
    )


def columns(product: Any, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    """A matrix M as a function, from one of M x: its inputs are parts of x, its outputs of M x.

    What else the function takes and gives stays.
    """
    casadi = require()
    sizes = [product.size1_in(one) for one in inputs]
    units = [
        dict(zip(inputs, casadi.vertsplit(unit, [0, *np.cumsum(sizes).tolist()]), strict=True))
        for unit in casadi.horzsplit(casadi.SX.eye(sum(sizes)))
    ]

    def matrix(given: dict[str, Any]) -> dict[str, Any]:
        found = [product.call(given | unit) for unit in units]
        whole = [casadi.vertcat(*(column[one] for one in outputs)) for column in found]
        rest = {one: value for one, value in found[0].items() if one not in outputs}
        return {name: casadi.densify(casadi.horzcat(*whole)), **rest}

    return _around(product, name, inputs, matrix)


def joined(function: Any, name: str, other: str) -> Any:
    """A function whose first output has another one at its end: along rows, or of a vector below."""
    casadi = require()

    def together(given: dict[str, Any]) -> dict[str, Any]:
        found = function.call(given)
        wide = found[name].shape[1] > 1
        whole = (casadi.horzcat if wide else casadi.vertcat)(found[name], found.pop(other))
        return {**found, name: whole}

    return _around(function, name, (), together)


def _around(
    function: Any,
    name: str,
    without: Sequence[str],
    compute: Callable[[dict[str, Any]], dict[str, Any]],
) -> Any:
    """A function of the inputs of another but for some, given by what computes its outputs by name."""
    given = {one: function.sx_in(one) for one in function.name_in() if one not in without}
    found = compute(given)
    names = list(given), list(found)
    return require().Function(name, [*given.values()], [*found.values()], *names, SAME_NAMES)


def _matrix(casadi: Any, output: Output, values: list[Any]) -> Any:
    """An output in its shape from its elements, row-major; of modes the last axis is theirs.

    Of more than two axes all but the last are one, in their order: CasADi has no more than two.
    """
    if output.varying:
        wide = casadi.SX.ones(1, output.shape[-1])
        parts = [(values[place] * wide.T).T for place in output.places]
        if len(output.shape) == 1:
            return casadi.densify(parts[0].T)
        return casadi.densify(casadi.vertcat(*parts))
    column = casadi.vertcat(*(values[place] for place in output.places))
    if len(output.shape) < 2:
        return casadi.densify(column)
    width = output.shape[-1]
    return casadi.densify(casadi.reshape(column, width, len(output.places) // max(width, 1)).T)
