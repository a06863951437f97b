"""Distance of convex parts: hulls of points and of circles, which cylinders, cones, boxes are exactly.

E. G. Gilbert, D. W. Johnson, S. S. Keerthi, A fast procedure for computing the distance between complex
objects in three-dimensional space, IEEE J. Robotics and Automation 4, 1988: the point v nearest to 0 of
{a − b} is sought in a simplex of at most four of the differences, to which that one is added which lies
farthest along −v; where none lies farther, v is the answer. Of any v, the distance is at least v·w/‖v‖,
w the difference that lies farthest: this bound is returned, so that a distance is never too large.

A part lies within a capsule about a segment, its spine: distances of capsules bound those of parts from
below, and are the distance where cylinders are nearest between their ends. So few pairs are searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import scipy
from scipy.spatial import ConvexHull, QhullError

from gough.analysis.interference import nearest
from gough.base.arrays import Array
from gough.description.surfaces import ConvexPart

MOST_STEPS = 200
CLOSE = 1e-10
"""Share of the parts' size to which a distance is found, and below which they meet."""
BETWEEN = 1e-9
"""Share of a spine from its ends beyond which a point is between them."""


class MovedPart(NamedTuple):
    """A convex part at n places, with a round skin about it."""

    centers: Array
    """(n, k, 3), m."""
    axes: Array
    """(n, k, 3): normals of the circles, unit."""
    radii: Array
    """(k,) of the circles, m; 0 of points."""
    skin: float
    """How far the part reaches beyond the hull of points and circles, m: of a capsule its radius."""
    spine: Array
    """(n, 2, 3): ends of the segment."""
    thick: float
    """m: the hull is within this distance of the spine."""
    straight: bool
    """The hull's surface is that far from the spine everywhere between its ends."""

    @classmethod
    def of(cls, part: ConvexPart, place: Array, turn: Array) -> Self:
        """A part of a body whose frame is at places (n, 3) with rotations (n, 3, 3)."""
        back = np.swapaxes(turn, 1, 2)
        centers, axes = part.centers @ back + place[:, np.newaxis], part.axes @ back
        if len(part.radii) == 2 and np.any(part.radii):  # coaxial circles
            low, high = np.min(part.radii), np.max(part.radii)
            return cls(centers, axes, part.radii, 0.0, centers, float(high), bool(low == high))
        middle = centers.mean(axis=1, keepdims=True)
        far = np.linalg.norm(part.centers - part.centers.mean(axis=0), axis=1) + part.radii
        spine = np.repeat(middle, 2, axis=1)
        return cls(centers, axes, part.radii, 0.0, spine, float(np.max(far)), False)

    @classmethod
    def capsule(cls, ends: Array, radius: float) -> Self:
        """A capsule about segments with ends (n, 2, 3)."""
        return cls(ends, np.zeros_like(ends), np.zeros(2), radius, ends, 0.0, True)

    @property
    def round_ended(self) -> bool:
        """The hull is its spine."""
        return self.thick == 0

    def at(self, row: int) -> tuple[Array, Array, Array]:
        """Centres, axes and radii at one place."""
        return self.centers[row], self.axes[row], self.radii


def corners(points: Array) -> Array:
    """Those (k, 3) of points (n, 3) that their convex hull needs; all where it is flat."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


def part_distances(first: Sequence[MovedPart], second: Sequence[MovedPart]) -> Array:
    """Return the least distance (n,), m, between parts of two bodies at n places.

    Hulls that meet are 0 apart, less the skins about them.
    """
    pairs = [(a, b) for a in first for b in second]
    best = np.full(len(first[0].centers), np.inf)
    open_pairs = []
    for a, b in pairs:
        least, exact = _bounds(a, b)
        best = np.where(exact, np.minimum(best, least), best)
        open_pairs.append((least, ~exact, a, b))
    for least, unknown, a, b in sorted(open_pairs, key=lambda one: float(np.mean(one[0]))):
        direction = None
        for row in map(int, np.flatnonzero(unknown & (least < best))):
            apart, direction = _hull_distance(a.at(row), b.at(row), direction)
            best[row] = min(best[row], apart - a.skin - b.skin)
    return best


def _bounds(a: MovedPart, b: MovedPart) -> tuple[Array, Array]:
    """At most the distance (n,) of two parts, and where it is the distance itself."""
    ends = (a.spine[:, 0], a.spine[:, 1], b.spine[:, 0], b.spine[:, 1])
    shares = nearest(*ends)
    exact = np.ones(len(a.centers), dtype=bool)
    for part, share in zip((a, b), shares, strict=True):
        between = (share > BETWEEN) & (share < 1 - BETWEEN) & part.straight
        exact &= part.round_ended | between
    s, t = (share[:, np.newaxis] for share in shares)
    gap = ends[0] + s * (ends[1] - ends[0]) - ends[2] - t * (ends[3] - ends[2])
    hulls = np.linalg.norm(gap, axis=1) - a.thick - b.thick
    return np.maximum(hulls, 0.0) - a.skin - b.skin, exact


Part = tuple[Array, Array, Array]
"""Centres (k, 3), axes (k, 3) and radii (k,)."""


def _farthest(part: Part, direction: Array) -> Array:
    """The point of a hull that lies farthest along a direction."""
    centers, axes, radii = part
    along = axes @ direction
    across = np.sqrt(np.maximum(direction @ direction - along**2, 0.0))
    best = int(np.argmax(centers @ direction + radii * across))
    if radii[best] == 0 or across[best] == 0:
        return np.asarray(centers[best])
    flat = direction - along[best] * axes[best]
    return np.asarray(centers[best] + radii[best] / np.linalg.norm(flat) * flat)


def _hull_distance(a: Part, b: Part, start: Array | None) -> tuple[float, Array]:
    """Distance of two hulls, and the direction from b to a along which they are nearest."""
    reach = np.max(np.abs(a[0] - b[0][0])) + np.max(a[2]) + np.max(b[2])
    size = float(reach) or 1.0
    v = a[0][0] - b[0][0] if start is None else start
    simplex = np.zeros((0, 3))
    least = 0.0
    for _ in range(MOST_STEPS):
        w = _farthest(a, -v) - _farthest(b, v)
        length = float(np.linalg.norm(v))
        if len(simplex):
            least = max(least, float(v @ w) / length)
            if length - least <= CLOSE * size:
                break
        simplex = np.vstack([simplex, w])
        # min ‖Σ x s‖² + (Σ x − 1)²: x over its sum is the point of the simplex nearest to 0
        weights, _ = scipy.optimize.nnls(
            np.vstack([simplex.T / size, np.ones(len(simplex))]), np.eye(4)[3]
        )
        weights = weights / weights.sum()
        simplex, weights = simplex[weights > 0], weights[weights > 0]
        v = weights @ simplex
        if np.linalg.norm(v) <= CLOSE * size:
            return 0.0, a[0][0] - b[0][0]
    return least, v
