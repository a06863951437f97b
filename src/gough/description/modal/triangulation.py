"""Triangles that fill a polygon, few and well shaped: the coarse mesh a plate is refined from."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay, QhullError

from gough.base.arrays import Array
from gough.errors import InputError

CLEAR = 0.6
"""Inner points keep this part of the spacing clear of the edge."""
HALVINGS = 6
FLAT = 1e-9
MOST_CORNERS = 360
MOST_POINTS = 1000
"""Of the coarse mesh; a regular polygon of 360 corners has some 500."""


def signed_area(outline: Array) -> float:
    """½ Σ (x_i y_j − x_j y_i), j the vertex after i: positive for a polygon that turns left."""
    after = np.roll(outline, -1, axis=0)
    return float(np.sum(outline[:, 0] * after[:, 1] - after[:, 0] * outline[:, 1]) / 2)


def check_outline(outline: Array) -> None:
    """Raise an error for what is no simple polygon."""
    if outline.ndim != 2 or outline.shape[1] != 2 or len(outline) < 3:
        raise InputError(f"outline needs three or more points [x, y], has shape {outline.shape}")
    if len(outline) > MOST_CORNERS:
        raise InputError(f"outline has {len(outline)} corners; limit {MOST_CORNERS}")
    size = np.ptp(outline, axis=0).max()
    after = np.roll(outline, -1, axis=0)
    length = np.linalg.norm(after - outline, axis=1)
    if np.any(length <= FLAT * size):
        raise InputError(f"outline has point {int(np.argmin(length)) + 1} twice in a row")
    crossing = _crossing_edges(outline)
    if crossing is not None:
        raise InputError(f"outline crosses itself: edges {crossing[0] + 1} and {crossing[1] + 1}")
    if abs(signed_area(outline)) <= FLAT * size**2:
        raise InputError("outline encloses no area")


def inside(outline: Array, points: Array) -> Array:
    """Which of the points (n, 2) lie within a polygon: an odd number of edges to their right."""
    x, y = points.T
    odd = np.zeros(len(points), dtype=bool)
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        spans = np.flatnonzero((y0 > y) != (y1 > y))
        at = x0 + (y[spans] - y0) / (y1 - y0) * (x1 - x0)
        odd[spans] ^= x[spans] < at
    return odd


def distance_to_edges(outline: Array, points: Array) -> Array:
    """Distance (n,) of points (n, 2) from the edges of a polygon."""
    start = outline
    along = np.roll(outline, -1, axis=0) - start
    offset = points[:, np.newaxis] - start
    part = np.clip(np.sum(offset * along, axis=-1) / np.sum(along**2, axis=-1), 0.0, 1.0)
    gap = offset - part[..., np.newaxis] * along
    return np.asarray(np.sqrt(np.sum(gap**2, axis=-1)).min(axis=1))


def triangulate(outline: Array) -> tuple[Array, Array]:
    """Vertices (n, 2) and triangles (m, 3) that fill a simple polygon, its edges kept.

    The edges are cut into pieces no longer than a spacing, a triangular lattice of that spacing
    fills the inside, and Delaunay's triangles between them are taken. Where an edge gets lost, the
    spacing is halved.
    """
    check_outline(outline)
    center = _centroid(outline)
    spacing = float(np.linalg.norm(outline - center, axis=1).max())
    spacing *= min(1.0, (6 / len(outline)) ** 0.5)  # many edges are short: triangles to match
    for _ in range(HALVINGS):
        boundary = _cut(outline, spacing)
        if len(boundary) + abs(signed_area(outline)) / spacing**2 > MOST_POINTS:
            break
        lattice = _lattice(outline, center, spacing)
        points = np.concatenate([boundary, lattice])
        try:
            triangles = Delaunay(points).simplices
        except QhullError:
            triangles = np.zeros((0, 3), dtype=np.int64)
        triangles = _kept(outline, points, triangles)
        if _fills(outline, points, triangles, len(boundary)):
            return points, triangles
        spacing /= 2
    raise InputError(
        f"outline cannot be filled with triangles of {spacing:.2g} m: some of its edges are too near "
        "each other"
    )


def _centroid(outline: Array) -> Array:
    after = np.roll(outline, -1, axis=0)
    cross = outline[:, 0] * after[:, 1] - after[:, 0] * outline[:, 1]
    return np.asarray(cross @ (outline + after) / (3 * np.sum(cross)))


def _cut(outline: Array, spacing: float) -> Array:
    after = np.roll(outline, -1, axis=0)
    pieces = []
    for start, end in zip(outline, after, strict=True):
        # a hair of tolerance, so that an edge as long as the spacing stays whole on any machine
        count = int(np.ceil(np.linalg.norm(end - start) / spacing * (1 - 1e-9)))
        part = np.arange(count)[:, np.newaxis] / count
        pieces.append(start + part * (end - start))
    return np.concatenate(pieces)


def _lattice(outline: Array, center: Array, spacing: float) -> Array:
    """Points of a triangular lattice around the centre, clear of the edges."""
    reach = np.abs(outline - center).max()
    count = int(np.ceil(2 * reach / spacing)) + 1
    i, j = np.meshgrid(np.arange(-count, count + 1), np.arange(-count, count + 1), indexing="ij")
    x, y = (i + j / 2) * spacing, j * (np.sqrt(3) / 2 * spacing)
    points = np.stack([x.ravel(), y.ravel()], axis=-1) + center
    within = (points >= outline.min(axis=0)) & (points <= outline.max(axis=0))
    points = points[within.all(axis=1)]
    points = points[inside(outline, points)]
    return np.asarray(points[distance_to_edges(outline, points) > CLEAR * spacing])


def _areas(corners: Array) -> Array:
    """Areas (m,) of triangles (m, 3, 2)."""
    (ux, uy), (vx, vy) = np.diff(corners, axis=1).transpose(1, 2, 0)
    return np.asarray(np.abs(ux * vy - uy * vx) / 2)


def _kept(outline: Array, points: Array, triangles: Array) -> Array:
    corners = points[triangles]
    area = _areas(corners)
    size = np.ptp(outline, axis=0).max()
    return np.asarray(triangles[(area > FLAT * size**2) & inside(outline, corners.mean(axis=1))])


def _fills(outline: Array, points: Array, triangles: Array, boundary: int) -> bool:
    """Every piece of the outline is an edge of a triangle, and the areas agree."""
    if not len(triangles):
        return False
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges = {tuple(pair) for pair in pairs.tolist()}
    wanted = ((i, (i + 1) % boundary) for i in range(boundary))
    if not all((min(pair), max(pair)) in edges for pair in wanted):
        return False
    area = _areas(points[triangles]).sum()
    return bool(abs(area / abs(signed_area(outline)) - 1) < 1e-9)


def _crossing_edges(outline: Array) -> tuple[int, int] | None:
    """Two edges that are not neighbours but meet."""

    def side(a: Array, b: Array, c: Array) -> Array:
        u, v = b - a, c - a
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    count = len(outline)
    after = np.roll(outline, -1, axis=0)
    for i in range(count - 2):
        others = np.array([j for j in range(i + 2, count) if (j + 1) % count != i])
        if not len(others):
            continue
        a, b, c, d = outline[i], after[i], outline[others], after[others]
        apart = (side(a, b, c) * side(a, b, d) > 0) | (side(c, d, a) * side(c, d, b) > 0)
        boxes = np.any(np.minimum(c, d) > np.maximum(a, b), axis=1) | np.any(
            np.maximum(c, d) < np.minimum(a, b), axis=1
        )
        meets = ~apart & ~boxes
        if meets.any():
            return i, int(others[np.argmax(meets)])
    return None
