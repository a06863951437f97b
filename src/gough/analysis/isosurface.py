"""Surfaces on which a function of three coordinates is zero, as triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gough.base.arrays import Array

HALVINGS, SECANTS = 6, 4
"""Steps that put a vertex on the surface."""
CORNERS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
TETRAHEDRA = np.array(
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]
)
"""A cube as six tetrahedra around its diagonal, so that neighbours share their faces' diagonals."""

Value = Callable[[Array], Array]
"""Values (...) at coordinates (..., 3); NaN where there is none."""


@dataclass(frozen=True)
class Surface:
    """A surface as triangles."""

    vertices: Array
    """(n, 3); each on the surface."""
    faces: Array
    """(m, 3) indices of vertices, counterclockwise seen from where the function is positive."""

    @property
    def volume(self) -> float:
        """What a closed surface encloses, by the divergence theorem; its normals point outwards."""
        a, b, c = (self.vertices[self.faces[:, i]] for i in range(3))
        return float(np.sum(a * np.cross(b, c)) / 6)


def surface(value: Value, box: Array, points: int, halvings: int = HALVINGS) -> Surface:
    """Where a function is zero in a box (3, 2).

    Marching tetrahedra on a grid of `points` a side; each vertex then moves along its edge onto the
    surface, by so many halvings and a few secants: a function with kinks wants more of the former.
    """
    grids = [np.linspace(low, high, points) for low, high in box]
    place = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    ends, faces, ahead = _march(value(place))
    places = place.reshape(-1, 3)
    vertices = onto(value, places[ends[:, 0]], places[ends[:, 1]], halvings)
    corner, second, third = (vertices[faces[:, i]] for i in range(3))
    normal = np.cross(second - corner, third - corner)
    away = np.sum(normal * (places[ahead] - corner), axis=1) < 0
    faces[away] = faces[away][:, ::-1]
    return Surface(vertices, faces)


def onto(value: Value, low: Array, high: Array, halvings: int = HALVINGS) -> Array:
    """Where a function is zero between points (n, 3) on either side of it; which is lost is NaN."""
    f_low, f_high = value(low), value(high)
    for halving in (True,) * halvings + (False,) * SECANTS:
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.full(len(low), 0.5) if halving else f_low / (f_low - f_high)
        middle = low + share[:, np.newaxis] * (high - low)
        f = value(middle)
        below = (f > 0) == (f_low > 0)
        low, f_low = np.where(below[:, np.newaxis], middle, low), np.where(below, f, f_low)
        high, f_high = np.where(below[:, np.newaxis], high, middle), np.where(below, f_high, f)
    return np.where((np.abs(f_low) < np.abs(f_high))[:, np.newaxis], low, high)


def _march(values: Array) -> tuple[Array, Array, Array]:
    """Edges (n, 2) of the grid that cross zero, as flat indices, and triangles (m, 3) of them.

    Also, for each triangle, a point of the grid on its positive side (m,).
    """
    index = np.arange(values.size).reshape(values.shape)
    cells = [np.s_[c : c - 1 or None] for c in (0, 1)]
    corners = np.stack([index[tuple(cells[c] for c in corner)].ravel() for corner in CORNERS], 1)
    flat = values.reshape(-1)
    corners = corners[np.isfinite(flat[corners]).all(axis=1)]
    crossed = (flat[corners] > 0).any(axis=1) & ~(flat[corners] > 0).all(axis=1)
    four = corners[crossed][:, TETRAHEDRA].reshape(-1, 4)
    # positive corners first: one, two or three of them
    four = np.take_along_axis(four, np.argsort(~(flat[four] > 0), axis=1, kind="stable"), axis=1)
    count = (flat[four] > 0).sum(axis=1)
    one, two, three = four[count == 1], four[count == 2], four[count == 3]
    patterns = [
        (one, [(0, 1), (0, 2), (0, 3)]),
        (three, [(3, 0), (3, 1), (3, 2)]),
        (two, [(0, 2), (0, 3), (1, 3)]),
        (two, [(0, 2), (1, 3), (1, 2)]),
    ]
    edges = np.concatenate(
        [np.stack([part[:, pair] for pair in pairs], axis=1) for part, pairs in patterns]
    )
    ends, inverse = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    ahead = np.concatenate([part[:, 0] for part, _ in patterns])
    return ends, inverse.reshape(-1, 3), ahead
