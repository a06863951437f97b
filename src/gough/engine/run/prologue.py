"""The prologue: what a robot's parameters alone decide, computed once a robot (or a batch of them)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.graph import CONSTANT, INPUT
from gough.engine.program import Step

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "rint": np.rint,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "min": np.minimum,
    "max": np.maximum,
    "or_one": lambda x: np.where(x == 0, 1.0, x),
}


def evaluate(steps: Sequence[Step], wanted: Sequence[int], parameters: Array) -> Array:
    """Values (..., len(wanted)) of the steps asked for, from parameters (..., n)."""
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for step in steps:
            if step.operation == CONSTANT:
                values.append(step.leaf)
            elif step.operation == INPUT:
                values.append(parameters[..., step.leaf[1]])
            else:
                operation = OPERATIONS[step.operation]
                values.append(operation(*(values[a] for a in step.arguments)))
    batch = parameters.shape[:-1]
    out = np.empty((*batch, max(len(wanted), 1)))
    for k, place in enumerate(wanted):
        out[..., k] = values[place]
    return out
