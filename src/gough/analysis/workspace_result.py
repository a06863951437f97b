"""What a workspace is: boxes with bounds on what is in them, margins at any point, a surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gough.analysis.isosurface import Surface, surface
from gough.analysis.leaves import Leaves
from gough.analysis.octree import CHUNK
from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.errors import InputError
from gough.model.batch import last_axis
from gough.model.model import Model

HALVINGS = 20
"""Of an edge on the boundary, where margins have kinks."""
MOST_POINTS = 301
"""A side, of the grid of a surface."""


@dataclass(frozen=True, repr=False)
class Workspace(Showing):
    """A set of poses with three coordinates, as boxes, and its volume."""

    robot: Model
    name: str
    """What set it is, in words."""
    unit: str
    """Of the coordinates, "m" or "rad"."""
    volume: float
    """Its volume, m³, or measure of orientations, rad³."""
    error: float
    """Proved: the true volume is within this of `volume`."""
    beyond: tuple[float, float]
    """Least and largest volume that the limits allow but no path from home reaches."""
    met: bool
    """`error` is within the tolerance asked for."""
    centre: Array
    """(n, 3) of the boxes that are not proved outside."""
    half: Array
    """(n, 3) half sides of the boxes."""
    lower: Array
    """(n,) proved least volume of the set inside each box; all of a box that is proved inside."""
    upper: Array
    """(n,) proved largest."""
    labels: list[str] = field(repr=False)
    """What limits it: the conditions, in the order of `margins`."""
    _at: Callable[[Array], Array] = field(repr=False)
    _low: Array | None = field(repr=False, default=None)
    """First corner of the grid of the boxes, where margins alone do not tell what is reached."""

    @property
    def inside(self) -> Array:
        """(n,) whether each box is proved inside."""
        return np.asarray(self.lower >= self.upper)

    @property
    def bounds(self) -> Array:
        """(3, 2) the least box around all boxes: nothing is beyond it."""
        return self._around(self.upper > 0)

    @property
    def extent(self) -> Array:
        """(3, 2) the least box around those of which a part is proved inside: about its size."""
        return self._around(self.lower > 0)

    def _around(self, chosen: Array) -> Array:
        if not chosen.any():
            return np.zeros((3, 2))
        low, high = (self.centre - self.half)[chosen], (self.centre + self.half)[chosen]
        return np.stack([low.min(axis=0), high.max(axis=0)], axis=1)

    def margins(self, points: ArrayLike) -> Array:
        """About how far (..., conditions) each condition is from being broken at coordinates (..., 3).

        Negative where it is broken; in the coordinates' unit: the margin over its slope, which is the
        distance to the boundary to first order. Of legs against each other, how much nearer they may
        come, and inf where something else is broken. Reachable: those of the best orientation.
        """
        place = last_axis("points", points, 3)
        flat = place.reshape(-1, 3)
        parts = [self._at(flat[i : i + CHUNK]) for i in range(0, len(flat) or 1, CHUNK)]
        return np.concatenate(parts).reshape(*place.shape[:-1], len(self.labels))

    def contains(self, points: ArrayLike) -> Array:
        """Whether (...) coordinates (..., 3) are in the set; NaN is not."""
        place = last_axis("points", points, 3)
        return np.asarray((self.margins(place) >= 0).all(axis=-1) & self._held(place))

    def _held(self, place: Array) -> Array:
        """Whether (...) points (..., 3) are in a box of the part that is reached from home."""
        if self._leaves is None:
            return np.ones(place.shape[:-1], dtype=bool)
        return self._leaves.holding(place.reshape(-1, 3)).reshape(place.shape[:-1]) >= 0

    @cached_property
    def _leaves(self) -> Leaves | None:
        return None if self._low is None else Leaves(self.centre, self.half, self._low)

    def surface(self, points: int = 61) -> Surface:
        """Its boundary as triangles, normals outwards, from a grid of `points` a side."""
        if not 4 <= points <= MOST_POINTS:
            raise InputError(f"points is {points}, needs 4 to {MOST_POINTS}")
        if not self.volume:
            return Surface(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.intp))

        def beyond(place: Array) -> Array:
            out = np.asarray(-self.margins(place).min(axis=-1))
            return np.where(self._held(place), out, np.abs(out) + 1e-9)

        box = _roomy(self.extent, points)
        if not np.any(self.lower > 0) or not _holds(beyond, box, points):
            box = _roomy(self.bounds, points)
        return surface(beyond, box, points, HALVINGS)


def _roomy(box: Array, points: int) -> Array:
    """A box with one cell of its grid more all around."""
    room = (box[:, 1:] - box[:, :1]) / (points - 3)
    return np.asarray(box + room * [-1.0, 1.0])


def _holds(value: Callable[[Array], Array], box: Array, points: int) -> bool:
    """Whether a function is positive at all grid points of a box's six sides."""
    grids = [np.linspace(low, high, points) for low, high in box]
    for axis in range(3):
        ends = [grid[[0, -1]] if i == axis else grid for i, grid in enumerate(grids)]
        side = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1)
        if np.any(value(side) <= 0):
            return False
    return True
