"""Where the parallel singularities are: slices and surfaces at constant orientation.

The locus is det G/(1, L) = 0 (`gough.analysis.singularities`), dimensionless and of one sign on either
side; for UPS legs at constant orientation it is a cubic surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import contourpy
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis import isosurface
from gough.analysis.isosurface import Surface
from gough.analysis.singularities import length_of, lines, matrix
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion

AXES = "xyz"
MOST_CELLS = 20_000_000


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
    """(m, n); NaN where a leg does not reach."""
    curves: list[Array]
    """The locus: polylines (k, 2) in the plane, m."""


def determinant(robot: Model, position: Array, rotation: Array, length: float) -> Array:
    """det G/(1, L) (...) at poses (..., 3), (..., 3, 3); NaN where a leg does not reach."""
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
    robot: Model,
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

    def value(place: Array) -> Array:
        return determinant(robot, place, turn, scale)

    values = value(place)
    masked = np.ma.masked_invalid(values)
    # without corners every vertex is on an edge of the grid, along which it then moves onto the locus
    found = contourpy.contour_generator(first, second, masked, corner_mask=False).lines(0.0)
    names = (AXES[axes[0]], AXES[axes[1]])
    curves = []
    for curve in found:
        ends = _edges(np.asarray(curve), first, second)
        spots = np.full((2, len(curve), 3), float(at))
        spots[..., axes] = ends
        curves.append(isosurface.onto(value, *spots)[:, axes])
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
    robot: Model,
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
    return isosurface.surface(lambda place: determinant(robot, place, turn, scale), box, points)


def _bounds(bounds: ArrayLike, count: int) -> Array:
    box = np.asarray(bounds, dtype=np.float64)
    if box.shape != (count, 2) or not np.all(np.isfinite(box)) or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(f"bounds needs {count} pairs low < high in metres, has {box.tolist()}")
    return box


def _points(points: int, dimensions: int) -> None:
    if not 2 <= points <= MOST_CELLS ** (1 / dimensions):
        most = int(MOST_CELLS ** (1 / dimensions))
        raise InputError(f"points is {points}, needs 2 to {most}")


def _rotation(robot: Model, rotation: ArrayLike | Rotation | None) -> Array:
    if rotation is None:
        return robot.home.rotation
    return Motion(np.zeros(3), rotation).rotation


def around_home(robot: Model, share: float = 2.0) -> list[list[float]]:
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
