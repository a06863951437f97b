"""What the engine runs: functions of numbers, a state and further inputs, written for arrays.

    function(numbers, state, **inputs) -> {name: array}

`numbers` is a tree (`engine.tree`), inputs and results are arrays with samples on the last axis. The
engine knows of a state what `Fields` tells. A result called `margin` says where it is positive that a
sample is healthy; the engine adds to it that the sample's inputs are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gough.base.arrays import Array

Function = Callable[..., Mapping[str, Array]]

LARGEST = 1e60
"""Inputs whose sum is not below are not finite, or beyond all reason: such a state has no margin."""
VARIANT = "variant"
"""The field that says which of several trees of numbers a row belongs to."""


class Fields(NamedTuple):
    """What a state is made of."""

    shapes: Mapping[str, tuple[int, ...]]
    """Of one state's part in each field, in the state's order."""
    make: Callable[[Mapping[str, Array]], Any]
    """The state as functions see it, from arrays (*shape, samples) by name."""
    per_mode: str | None = None
    """How names begin of fields, and of further inputs, that have one number a mode, (modes,)."""

    def modal(self, name: str) -> bool:
        """Whether a field or an input has one number a mode."""
        return self.per_mode is not None and name.startswith(self.per_mode)

    @property
    def modes(self) -> int:
        """How many modes there are."""
        return next((shape[0] for name, shape in self.shapes.items() if self.modal(name)), 0)


def symbolic(function: Function) -> Function:
    """Mark a function as one for symbols only (it differentiates): on numbers its program runs."""
    function.symbolic = True  # type: ignore[attr-defined]
    return function


def for_symbols(function: Function) -> bool:
    """Whether a function runs on symbols only."""
    return getattr(function, "symbolic", False)


def for_numbers(function: Function) -> bool:
    """Whether a function is marked as one for numbers only, which is not traced."""
    return getattr(function, "numeric", False)
