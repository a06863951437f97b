"""Distance of convex hulls of points.

E. G. Gilbert, D. W. Johnson, S. S. Keerthi, A fast procedure for computing the distance between complex
objects in three-dimensional space, IEEE J. Robotics and Automation 4, 1988: the point v nearest to 0 of
{a − b} is sought in a simplex of at most four of the differences, to which that one is added which lies
farthest along −v; where none lies farther, v is the answer.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy.spatial import ConvexHull, QhullError

from gough.base.arrays import Array

MOST_STEPS = 100
CLOSE = 1e-12
"""Share of the hulls' size squared below which nothing lies farther, or they meet."""


def corners(points: Array) -> Array:
    """Those (k, 3) of points (n, 3) that their convex hull needs; all where it is flat."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


def hull_distances(first: Array, second: Array) -> Array:
    """Distance (n,), m, of the hulls of points (n, k, 3) and (n, l, 3); 0 where they meet."""
    found = np.empty(len(first))
    near = (0, 0)
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        found[i], near = _distance(a, b, near)
    return found


def _distance(a: Array, b: Array, near: tuple[int, int]) -> tuple[float, tuple[int, int]]:
    """Of two hulls, from a pair of corners; and a pair that is near."""
    size = float(np.max(np.abs(a - b[0])) ** 2) or 1.0
    pairs = [near]
    v = a[near[0]] - b[near[1]]
    for _ in range(MOST_STEPS):
        pair = int(np.argmin(a @ v)), int(np.argmax(b @ v))
        w = a[pair[0]] - b[pair[1]]
        if v @ v <= CLOSE * size or v @ v - v @ w <= CLOSE * size or pair in pairs:
            break
        pairs.append(pair)
        simplex = np.stack([a[i] - b[j] for i, j in pairs])
        # min ‖Σ x s‖² + (Σ x − 1)²: x over its sum is the point of the simplex nearest to 0
        unit = np.sqrt(size)
        weights, _ = scipy.optimize.nnls(
            np.vstack([simplex.T / unit, np.ones(len(pairs))]), np.eye(4)[3]
        )
        weights = weights / weights.sum()
        pairs = [one for one, weight in zip(pairs, weights, strict=True) if weight > 0]
        v = weights @ simplex
    distance = float(np.linalg.norm(v))
    return (0.0 if distance**2 <= CLOSE * size else distance), pairs[-1]
