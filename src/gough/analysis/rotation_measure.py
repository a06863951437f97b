"""How many rotations a box of rotation vectors holds: (2 sin(‖r‖/2)/‖r‖)² d³r, the same about any R₀."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array

ALL_ORIENTATIONS = 8 * np.pi**2
"""Measure of all orientations, rad³; that of a few is that of their rotation vectors."""
GAUSS = np.polynomial.legendre.leggauss(3)


def _density(square: Array) -> Array:
    """(2 sin(r/2)/r)² = sinc²(r/2π) of rotation vectors of squared length r²."""
    return np.asarray(np.sinc(np.sqrt(square) / (2 * np.pi)) ** 2)


def measured(centre: Array, half: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the measure of rotations in shares of boxes of rotation vectors."""
    nodes, weights = GAUSS
    mass = np.zeros(len(centre))
    for place in np.ndindex(3, 3, 3):
        i = list(place)
        mass += np.prod(weights[i]) * _density(np.sum((centre + half * nodes[i]) ** 2, axis=1))
    size = np.prod(half, axis=1)
    mass, size = mass * size, 8 * size
    near = np.maximum(np.abs(centre) - half, 0.0)
    most = _density(np.sum(near**2, axis=1)) * size
    far = np.sqrt(np.sum((np.abs(centre) + half) ** 2, axis=1))
    least = _density(np.minimum(far, 2 * np.pi) ** 2) * size
    low = np.maximum(lower * least, mass - (1 - lower) * most)
    high = np.minimum(upper * most, mass - (1 - upper) * least)
    return np.where(lower >= 1, mass, np.maximum(low, 0.0)), np.where(lower >= 1, mass, high)
