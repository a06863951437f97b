"""Programs on NumPy: the prologue, which runs once a robot or a batch of them, and whole programs.

Values have samples on their last axis; what has one value a mode has the modes before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.operations import OPERATIONS
from gough.engine.program import HOISTED, PARAMETERS, Program, Step
from gough.engine.trace import mode_matrices, mode_tables, parameters

BLOCK = 256
"""Members whose numbers are put in their places at a time: they stay in the processor's cache."""


def hoisted(prologue: Sequence[Step], wanted: Sequence[int], given: Sequence[Array]) -> Array:
    """What parameters (members or 1,) alone decide and a body reads: (members, numbers or 1)."""
    values = values_of(prologue, {PARAMETERS: given})
    members = min({len(one) for one in given} - {1}, default=1)  # none, or as many as differ
    out = np.empty((members, max(len(wanted), 1)))
    rows = [np.broadcast_to(values[place], (members,)) for place in wanted]
    for start in range(0, members, BLOCK):
        for k, row in enumerate(rows):
            out[start : start + BLOCK, k] = row[start : start + BLOCK]
    return out


def evaluate(program: Program, numbers: Any, fields: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs (*shape, samples) of a program from fields (*shape, samples or 1) and a tree of numbers.

    The tree has members for all samples, or one on the last axis of its arrays.
    """
    (samples,) = np.broadcast_shapes(*(value.shape[-1:] for value in fields.values()))
    inputs = {
        name: value.reshape(prod(value.shape[:-1]), value.shape[-1])
        for name, value in fields.items()
    }
    inputs[HOISTED] = hoisted(program.prologue, program.hoisted, parameters(numbers)).T
    tables = matrices = np.empty(0)
    if program.modes:  # (tables, modes, members) and (matrices, modes, modes, members)
        tables = np.moveaxis(mode_tables(numbers)[:, list(program.tables)], 0, -1)
        matrices = np.moveaxis(mode_matrices(numbers)[:, list(program.matrices)], 0, -1)
    values = values_of(program.body, inputs, tables, matrices)
    found = {}
    for name, output in program.outputs.items():
        core = (program.modes, samples) if output.varying else (samples,)
        parts = [np.broadcast_to(values[place], core) for place in output.places]
        found[name] = np.stack(parts).reshape(*output.shape, samples)
    return found


def values_of(
    steps: Sequence[Step],
    inputs: Mapping[str, Sequence[Array] | Array],
    tables: Array | None = None,
    matrices: Array | None = None,
) -> list[Any]:
    """The value of every step."""
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for operation, arguments, leaf in steps:
            given = [values[a] for a in arguments]
            if operation == CONSTANT:
                values.append(leaf)
            elif operation == INPUT:
                values.append(inputs[leaf[0]][leaf[1]])
            elif operation == MODE:
                values.append(inputs[leaf])
            elif operation == TABLE and tables is not None:
                values.append(tables[leaf])
            elif operation == COUPLED and matrices is not None:
                matrix = matrices[leaf]  # a value that all modes share is one for each of them
                each = given[0] + np.zeros((matrix.shape[1], 1))
                values.append(np.einsum("kjs,js->ks", matrix, each))
            elif operation == SUM:
                values.append(given[0].sum(axis=0))
            else:
                values.append(OPERATIONS[operation].numpy(*given))
    return values
