"""Disturbances: external wrenches on the platform over time, which add up.

Times of `Push` and `Shake` count from the simulation's start, whatever the times of its reference. A
function of the user's takes the reference's own times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, real_numbers
from gough.errors import InputError
from gough.model.batch import last_axis, one_wrench

Wrench = Callable[[Array], Array]
"""At times (n,): (n, rows or 1, 6), force and moment at the platform's origin, world axes."""


@dataclass(frozen=True, eq=False)
class Push:
    """A constant wrench (6,) from one time to another, s from the simulation's start."""

    wrench: ArrayLike
    start: float = 0.0
    end: float = math.inf

    def __post_init__(self) -> None:
        _in_order(self.start, self.end)

    def __call__(self, times: Array) -> Array:
        """(n, 6)."""
        acts = (times >= self.start) & (times < self.end)
        return acts[:, np.newaxis] * one_wrench(self.wrench)


@dataclass(frozen=True, eq=False)
class Shake:
    """wrench sin(2π frequency (t − start)) from one time to another; frequency in Hz.

    Times are in s from the simulation's start.
    """

    wrench: ArrayLike
    frequency: float
    start: float = 0.0
    end: float = math.inf

    def __post_init__(self) -> None:
        _in_order(self.start, self.end)

    def __call__(self, times: Array) -> Array:
        """(n, 6)."""
        acts = (times >= self.start) & (times < self.end)
        phase = 2 * np.pi * self.frequency * (times - self.start)
        return np.where(acts, np.sin(phase), 0.0)[:, np.newaxis] * one_wrench(self.wrench)


def _in_order(start: float, end: float) -> None:
    if not start < end:
        raise InputError(f"a disturbance that starts at {start:g} s cannot end at {end:g} s")


def wrench_of(given: Any, shape: tuple[int, ...], begin: float = 0.0) -> Wrench | None:
    """The wrench over time from None, numbers (..., 6), a function of times, or a list of functions.

    `begin` is the simulation's start, s, from which times of `Push` and `Shake` count.
    """
    if given is None:
        return None
    functions = _functions(given)
    if functions:

        def total(times: Array) -> Array:
            parts = [
                _rows(one(times - begin if isinstance(one, Push | Shake) else times), times, shape)
                for one in functions
            ]
            return np.asarray(sum(parts))

        return total
    value = last_axis("wrench", given, 6)
    if not np.all(np.isfinite(value)):
        raise InputError("wrench is not finite")
    if value.ndim == 1:
        return lambda t: np.broadcast_to(value, (len(t), 1, 6))
    try:
        rows = np.broadcast_to(value, (*shape, 6)).reshape(-1, 6)
    except ValueError:
        raise InputError(f"wrench has shape {value.shape}, needs (6,) or {(*shape, 6)}") from None
    return lambda t: np.broadcast_to(rows, (len(t), *rows.shape))


def wrench_breaks(given: Any, begin: float, duration: float) -> list[float]:
    """Times at which a wrench begins, ends or jumps, s; of functions those of their attribute `breaks`.

    Raises:
        InputError: a push or shake is over before the simulation starts, or starts after its end.

    """
    breaks: list[float] = []
    for one in _functions(given):
        if not isinstance(one, Push | Shake):
            breaks += np.ravel(real_numbers(getattr(one, "breaks", ()))).tolist()
            continue
        if not (one.start < duration and one.end > 0):
            raise InputError(
                f"the {type(one).__name__.lower()} from {one.start:g} to {one.end:g} s never acts: "
                f"the simulation lasts {duration:g} s. Times of disturbances count from the "
                "simulation's start"
            )
        breaks += [begin + one.start, begin + one.end]
    return [time for time in breaks if math.isfinite(time)]


def _functions(given: Any) -> list[Any]:
    """The functions of time that a wrench is the sum of; none of a constant wrench."""
    if callable(given):
        return [given]
    several = isinstance(given, Sequence) and len(given) > 0 and all(callable(one) for one in given)
    return list(given) if several else []


def _rows(value: Any, times: Array, shape: tuple[int, ...]) -> Array:
    array = last_axis("wrench", value, 6)
    count = math.prod(shape)
    if array.shape == (len(times), 6):
        return array[:, np.newaxis]
    if array.shape in ((len(times), 1, 6), (len(times), count, 6)):
        return array
    if array.shape == (6,):
        return np.broadcast_to(array, (len(times), 1, 6))
    raise InputError(
        f"the wrench of {len(times)} times has shape {array.shape}, needs ({len(times)}, 6) "
        f"or ({len(times)}, {count}, 6)"
    )
