"""Vectors, and what the oracles pass to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Robot = dict[str, Any]
State = dict[str, Array]


def unit(vector: Array) -> Array:
    """The vector made unit length."""
    return vector / np.linalg.norm(vector)


def cross(a: Array, b: Array) -> Array:
    """a × b of two vectors; several times faster than NumPy's on single ones."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def oblique(rng: np.random.Generator, direction: Array, low: float, high: float) -> Array:
    """A random unit vector whose component along a unit direction lies in [low, high]; with
    low = 0 of either sign."""
    along = rng.uniform(low if low else -high, high)
    side = rng.normal(size=3)
    side = unit(side - direction * (direction @ side))
    return along * direction + np.sqrt(1 - along**2) * side


def leg_value(value: Any, leg: int, rank: int) -> Array:
    """The leg's own value of a key whose single value has the given rank."""
    array = np.asarray(value, dtype=float)
    return array if array.ndim == rank else array[leg]
