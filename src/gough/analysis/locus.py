"""Where the parallel singularities are: slices and surfaces at constant orientation.

The locus is det G/(1, L) = 0 (`gough.analysis.singularities`), dimensionless and of one sign on either
side; for UPS legs at constant orientation it is a cubic surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import contourpy
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.singularities import length_of, lines, matrix
from gough.errors import InputError
from gough.motion import Array, Motion

if TYPE_CHECKING:
    from gough.robot import Robot

AXES = "xyz"
MOST_CELLS = 20_000_000
HALVINGS, SECANTS = 6, 4
"""Steps that put a vertex on the locus."""
CORNERS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
TETRAHEDRA = np.array(
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]
)
"""A cube as six tetrahedra around its diagonal, so that neighbours share their faces' diagonals."""


@dataclass(frozen=True)
class Slice:
    """The locus in a plane of positions, at one orientation."""

    across: str
    """The axis held fixed, "x", "y" or "z"."""
    at: float
    """Its value, m."""
    axes: tuple[str, str]
    first: Array
    """Grid along the first axis of the plane, (n,) m."""
    second: Array
    """Grid along the second, (m,) m."""
    determinant: Array
    """(m, n); NaN where a PUS leg does not reach."""
    curves: list[Array]
    """The locus: polylines (k, 2) in the plane, m."""


@dataclass(frozen=True)
class Surface:
    """The locus in a box of positions, at one orientation, as triangles."""

    vertices: Array
    """(n, 3) m; each on the locus."""
    faces: Array
    """(m, 3) indices of vertices, counterclockwise seen from where det > 0."""


def determinant(robot: Robot, position: Array, rotation: Array, length: float) -> Array:
    """det G/(1, L) (...) at poses (..., 3), (..., 3, 3); NaN where a PUS leg does not reach."""
    if robot.leg_count != 6:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs: a locus det = 0 is there for six legs only"
        )
    shape = np.broadcast_shapes(position.shape[:-1], rotation.shape[:-2])
    flat = np.broadcast_to(position, (*shape, 3)).reshape(-1, 3)
    turns = np.broadcast_to(rotation, (*shape, 3, 3)).reshape(-1, 3, 3)
    with np.errstate(invalid="ignore"):
        found = np.linalg.det(matrix(lines(robot, flat, turns), length))
    return np.asarray(found.reshape(shape))


def slice_at(
    robot: Robot,
    across: str,
    at: float,
    bounds: ArrayLike,
    *,
    rotation: ArrayLike | Rotation | None = None,
    points: int = 201,
    length: float | None = None,
) -> Slice:
    """The locus where the coordinate `across` of the platform's origin is `at` (m).

    `bounds` [[low, high], [low, high]] of the other two, in the order x, y, z; `points` a side;
    `rotation` defaults to home's.
    """
    if across not in tuple(AXES):
        raise InputError(f"across is 'x', 'y' or 'z', not {across!r}")
    box = _bounds(bounds, 2)
    _points(points, 2)
    scale, turn = length_of(robot, length), _rotation(robot, rotation)
    axes = [AXES.index(name) for name in AXES if name != across]
    first, second = (np.linspace(low, high, points) for low, high in box)
    place = np.zeros((points, points, 3))
    place[..., axes[0]], place[..., axes[1]] = np.meshgrid(first, second)
    place[..., AXES.index(across)] = at
    values = determinant(robot, place, turn, scale)
    masked = np.ma.masked_invalid(values)
    # without corners every vertex is on an edge of the grid, along which it then moves onto the locus
    found = contourpy.contour_generator(first, second, masked, corner_mask=False).lines(0.0)
    names = (AXES[axes[0]], AXES[axes[1]])
    curves = []
    for curve in found:
        ends = _edges(np.asarray(curve), first, second)
        spots = np.full((2, len(curve), 3), float(at))
        spots[..., axes] = ends
        curves.append(_onto(robot, turn, scale, *spots)[:, axes])
    return Slice(across, float(at), names, first, second, values, curves)


def _edges(curve: Array, first: Array, second: Array) -> Array:
    """Ends (2, k, 2) of the grid's edges on which the points (k, 2) of a contour are."""
    ends = np.stack([curve, curve])
    steps = np.array([first[1] - first[0], second[1] - second[0]])
    cell = (curve - [first[0], second[0]]) / steps
    on_line = np.abs(cell - np.round(cell)) < 1e-9
    for axis, grid in enumerate((first, second)):
        inside = ~on_line[:, axis]
        below = np.clip(np.floor(cell[inside, axis]).astype(np.intp), 0, len(grid) - 2)
        ends[0, inside, axis], ends[1, inside, axis] = grid[below], grid[below + 1]
    return ends


def surface(
    robot: Robot,
    bounds: ArrayLike,
    *,
    rotation: ArrayLike | Rotation | None = None,
    points: int = 41,
    length: float | None = None,
) -> Surface:
    """The locus in a box [[low, high]] * 3 of positions of the platform's origin, m.

    Marching tetrahedra on a grid of `points` a side; each vertex then moves along its edge onto the
    locus.
    """
    box = _bounds(bounds, 3)
    _points(points, 3)
    scale, turn = length_of(robot, length), _rotation(robot, rotation)
    grids = [np.linspace(low, high, points) for low, high in box]
    place = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    values = determinant(robot, place, turn, scale)
    ends, faces, ahead = _march(values)
    places = place.reshape(-1, 3)
    low, high = places[ends[:, 0]], places[ends[:, 1]]
    vertices = _onto(robot, turn, scale, low, high)
    corner, second, third = (vertices[faces[:, i]] for i in range(3))
    normal = np.cross(second - corner, third - corner)
    away = np.sum(normal * (places[ahead] - corner), axis=1) < 0
    faces[away] = faces[away][:, ::-1]
    return Surface(vertices, faces)


def _onto(robot: Robot, rotation: Array, length: float, low: Array, high: Array) -> Array:
    """Where det = 0 between positions (n, 3) and (n, 3) on either side of it; which is lost is NaN."""
    f_low, f_high = (determinant(robot, end, rotation, length) for end in (low, high))
    for halving in (True,) * HALVINGS + (False,) * SECANTS:
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.full(len(low), 0.5) if halving else f_low / (f_low - f_high)
        middle = low + share[:, np.newaxis] * (high - low)
        f = determinant(robot, middle, rotation, length)
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
    four = corners[:, TETRAHEDRA].reshape(-1, 4)
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


def _bounds(bounds: ArrayLike, count: int) -> Array:
    box = np.asarray(bounds, dtype=np.float64)
    if box.shape != (count, 2) or not np.all(np.isfinite(box)) or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(f"bounds needs {count} pairs low < high in metres, has {box.tolist()}")
    return box


def _points(points: int, dimensions: int) -> None:
    if not 2 <= points <= MOST_CELLS ** (1 / dimensions):
        most = int(MOST_CELLS ** (1 / dimensions))
        raise InputError(f"points is {points}, needs 2 to {most}")


def _rotation(robot: Robot, rotation: ArrayLike | Rotation | None) -> Array:
    if rotation is None:
        return robot.home.rotation
    return Motion(np.zeros(3), rotation).rotation


def around_home(robot: Robot, share: float = 2.0) -> list[list[float]]:
    """A box [[low, high]] * 3 (m) about home, of what its legs reach at home's orientation.

    At most `share` length scales to each side.
    """
    reach = share * robot.length_scale
    grids = [np.linspace(x - reach, x + reach, 41) for x in robot.home.position]
    place = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    flat = place.reshape(-1, 3)
    turns = np.broadcast_to(robot.home.rotation, (len(flat), 3, 3))
    reached = flat[np.isfinite(lines(robot, flat, turns).slope).all(axis=1)]
    if not len(reached):
        return [[float(grid[0]), float(grid[-1])] for grid in grids]
    step = reach / 20
    low = np.maximum(reached.min(axis=0) - step, flat.min(axis=0))
    high = np.minimum(reached.max(axis=0) + step, flat.max(axis=0))
    return [[float(a), float(b)] for a, b in zip(low, high, strict=True)]
