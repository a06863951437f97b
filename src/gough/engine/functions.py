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

LARGEST_SINGLE = 1e9
"""The same in single precision, of inputs and outputs: their fourth powers are still floats."""
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


class FixedPoint(NamedTuple):
    """A function's unknown input x that must be what an output g(x) says: x = g(x).

    Repeated from g(0), or from where the caller says, until ‖g − x‖ ≤ tolerance ‖g‖ over the elements
    that g depends on, or `most` passes are done. All other outputs are those of that x; beside them
    comes the `residual`, max |g − x|/max |g|.
    """

    step: Function
    """The function with x among its inputs."""
    unknown: str
    """Name of x."""
    image: str
    """Name of the output g, in the shape of x."""
    shape: tuple[int, ...]
    tolerance: float
    most: int


class Iteration(NamedTuple):
    """A function that is a step: some of its inputs are replaced by outputs, again and again.

    A state goes on while the output `test` is above 0, at most `most` times. The outputs are those of
    the last inputs; beside them comes `passes`, how often they were replaced.
    """

    step: Function
    replaced: tuple[tuple[str, str], ...]
    """Names of inputs, or fields of the state, and of the outputs that take their place."""
    test: str
    most: int


PASSES = "passes"
"""What an iteration adds to the outputs."""
RESIDUAL = "residual"
"""What a fixed point adds to the outputs."""


def at_fixed_point(point: FixedPoint) -> Function:
    """The function of a fixed point: its answers at x = g(x), without g."""
    step = point.step

    def settled(numbers: Any, state: Any, **inputs: Array) -> Mapping[str, Array]:
        return step(numbers, state, **inputs)

    settled.fixed_point = point  # type: ignore[attr-defined]
    return settled


def iterated(iteration: Iteration) -> Function:
    """The function of an iteration: the step's answers where it ends."""
    step = iteration.step

    def gone(numbers: Any, state: Any, **inputs: Array) -> Mapping[str, Array]:
        return step(numbers, state, **inputs)

    gone.iteration = iteration  # type: ignore[attr-defined]
    return gone


def iteration_of(function: Function) -> Iteration | None:
    """What a function is the end of; None of most."""
    found: Iteration | None = getattr(function, "iteration", None)
    return found


def fixed_point_of(function: Function) -> FixedPoint | None:
    """What a function is to be repeated for; None of most."""
    found: FixedPoint | None = getattr(function, "fixed_point", None)
    return found


def for_symbols(function: Function) -> bool:
    """Whether a function runs on symbols only."""
    return getattr(function, "symbolic", False)


def for_numbers(function: Function) -> bool:
    """Whether a function is marked as one for numbers only, which is not traced."""
    return getattr(function, "numeric", False)
