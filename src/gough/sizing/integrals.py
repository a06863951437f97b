"""Integrals over time of curves that are straight between their samples.

Values are (..., n, actuators), times (..., n); the integral of a straight piece is exact.
"""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array


def mean_square(time: Array, values: Array) -> Array:
    """(1/T) ∫ y² dt (..., actuators); a piece from a to b gives (a² + a b + b²)/3 times its duration."""
    a, b = values[..., :-1, :], values[..., 1:, :]
    return _sum(time, (a * a + a * b + b * b) / 3) / _duration(time)


def mean_size(time: Array, values: Array) -> Array:
    """(1/T) ∫ |y| dt (..., actuators)."""
    return (positive(time, values) + positive(time, -values)) / _duration(time)


def positive(time: Array, values: Array) -> Array:
    """∫ max(y, 0) dt (..., actuators).

    A piece from a > 0 to b < 0 is positive for the part a/(a − b) of its duration: a²/(2 (a − b)).
    """
    a, b = values[..., :-1, :], values[..., 1:, :]
    high, low = np.maximum(a, b), np.minimum(a, b)
    crosses = (high > 0) & (low < 0)
    apart = np.where(crosses, high - low, 1.0)
    inside = np.where(crosses, high * high / (2 * apart), np.maximum(a + b, 0.0) / 2)
    # max(a + b, 0) of pieces of one sign; NaN stays
    return _sum(time, inside)


def _sum(time: Array, pieces: Array) -> Array:
    return np.asarray(np.sum(np.diff(time)[..., np.newaxis] * pieces, axis=-2))


def _duration(time: Array) -> Array:
    return np.asarray(time[..., -1] - time[..., 0])[..., np.newaxis]
