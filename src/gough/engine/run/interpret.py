"""NumPy as a back end: a program's body, step by step, on arrays with samples last.

A value is (samples,), one of modes (modes, samples): both meet as NumPy broadcasts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.program import HOISTED, Program
from gough.engine.run.prologue import OPERATIONS


def interpret(
    program: Program, fields: Mapping[str, Array], hoisted: Array, tables: Array, matrices: Array
) -> dict[str, Array]:
    """Outputs (..., samples) by name from fields (elements, samples), those of modes (modes, samples).

    Tables (tables, modes) and matrices (matrices, modes, modes) are those that the program reads.
    """
    given = {**fields, HOISTED: hoisted[:, np.newaxis]}
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for operation, arguments, leaf in program.body:
            if operation == CONSTANT:
                value = leaf
            elif operation == INPUT:
                value = given[leaf[0]][leaf[1]]
            elif operation == MODE:
                value = given[leaf]
            elif operation == TABLE:
                value = tables[leaf][:, np.newaxis]
            elif operation == SUM:
                value = values[arguments[0]].sum(axis=0)
            elif operation == COUPLED:
                (argument,) = (values[a] for a in arguments)
                value = matrices[leaf] @ np.broadcast_to(
                    argument, (program.modes, *_last(argument))
                )
            else:
                value = OPERATIONS[operation](*(values[a] for a in arguments))
            values.append(value)
    samples = np.broadcast_shapes(*(_last(value) for value in fields.values()))
    results = {}
    for name, output in program.outputs.items():
        one = (program.modes, *samples) if output.varying else samples
        parts = [np.broadcast_to(values[place], one) for place in output.places]
        results[name] = np.array(parts).reshape(*output.shape, *samples)
    return results


def _last(value: Any) -> tuple[int, ...]:
    """Number of samples of a value."""
    return np.shape(value)[-1:] or (1,)
