"""Where the parallel singularities are: slices and surfaces, in a robot's own coordinates.

The locus is det G/(1, L) = 0 (`gough.analysis.singularities`), dimensionless and of one sign on either
side; for UPS legs at constant orientation it is a cubic surface. Of a platform that legs or
mobility hold
it is det G D/(1, L) = 0, ξ = D u̇ (`gough.model.own_directions`) with its own coordinates u.
"""

from __future__ import annotations

from dataclasses import dataclass

import contourpy
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis import isosurface
from gough.analysis.isosurface import Surface
from gough.analysis.own_space import OwnSpace
from gough.analysis.singularities import length_of, lines_along, matrix
from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.mechanics.leg import Driven
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.motion import Motion

MOST_CELLS = 20_000_000
FINE, COARSE = 41, 9
"""Points a side of the grid that finds what legs reach; fewer where joints have to be solved for."""
MOST_TURN = 1.5
"""rad, to each side of home."""


@dataclass(frozen=True)
class Slice:
    """The locus in a plane of two coordinates, positions or the robot's own."""

    across: str
    """The coordinate held fixed, "z" or "rx"; "" where the robot has no third."""
    at: float
    """Its value, m or rad."""
    axes: tuple[str, str]
    first: Array
    """Grid along the first axis of the plane, (n,) m or rad."""
    second: Array
    """Grid along the second, (m,) m or rad."""
    determinant: Array
    """(m, n); NaN where a leg does not reach."""
    curves: list[Array]
    """The locus: polylines (k, 2) in the plane."""
    poses: Motion
    """Of the grid, (m n,)."""

    @property
    def units(self) -> tuple[str, str]:
        """Of the axes."""
        first, second = ("rad" if name.startswith("r") else "m" for name in self.axes)
        return first, second


def determinant(robot: Model, position: Array, rotation: Array, length: float) -> Array:
    """det G/(1, L) (...) at poses (..., 3), (..., 3, 3); NaN where a leg does not reach."""
    shape = np.broadcast_shapes(position.shape[:-1], rotation.shape[:-2])
    flat = np.broadcast_to(position, (*shape, 3)).reshape(-1, 3)
    turns = np.broadcast_to(rotation, (*shape, 3, 3)).reshape(-1, 3, 3)
    return determinant_along(robot, Motion(flat, turns), length).reshape(shape)


def determinant_along(robot: Model, motion: Motion, length: float) -> Array:
    """The same (n,) at the poses of a motion (n,)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.linalg.det(square(robot, motion, length)))


def square(robot: Model, motion: Motion, length: float) -> Array:
    """G D/(1, L) (n, m, m) at the poses of a motion (n,); NaN where a leg does not reach."""
    if robot.actuator_count != robot.mobility:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs with {robot.actuator_count} actuators and moves "
            f"in {robot.mobility} directions: a locus det = 0 is there for as many actuators only"
        )
    whole = matrix(lines_along(robot, motion), length)
    if robot.mobility == 6:
        return whole
    scale = np.repeat([1.0, length], 3)
    per_angle = [1 / length if name.startswith("r") else 1.0 for name in robot.coordinates]
    rigid = own_directions(robot, motion)[..., :6, : robot.mobility]
    return np.asarray(whole @ (scale[:, np.newaxis] * rigid * per_angle))


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
    `rotation` defaults to home's. Of a robot with less than four freedoms the coordinates are its own;
    `across` of one with two is "".
    """
    space = OwnSpace.of(robot, rotation)
    names = [name for name in space.names if name != across]
    if len(names) != 2 or (across and across not in space.names):
        known = [repr(name) for name in space.names] if len(space.names) == 3 else ["''"]
        wanted = " or ".join([", ".join(known[:-1]), known[-1]]) if len(known) > 1 else known[0]
        raise InputError(f"across is {wanted}, not {across!r}")
    box = _bounds(bounds, 2)
    _points(points, 2)
    scale = length_of(robot, length)
    axes = [space.names.index(name) for name in names]
    first, second = (np.linspace(low, high, points) for low, high in box)
    place = np.full((points, points, len(space.names)), float(at))
    place[..., axes[0]], place[..., axes[1]] = np.meshgrid(first, second)

    def value(place: Array) -> Array:
        flat = place.reshape(-1, place.shape[-1])
        return determinant_along(robot, space.poses(flat), scale).reshape(place.shape[:-1])

    poses = space.poses(place.reshape(points**2, -1))
    values = determinant_along(robot, poses, scale).reshape(points, points)
    masked = np.ma.masked_invalid(values)
    # without corners every vertex is on an edge of the grid, along which it then moves onto the locus
    found = contourpy.contour_generator(first, second, masked, corner_mask=False).lines(0.0)
    curves = []
    for curve in found:
        ends = _edges(np.asarray(curve), first, second)
        spots = np.full((2, len(curve), len(space.names)), float(at))
        spots[..., axes] = ends
        curves.append(isosurface.onto(value, *spots)[:, axes])
    plane = (names[0], names[1])
    return Slice(across, float(at), plane, first, second, values, curves, poses)


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

    Of a robot with three freedoms in a box of its own coordinates, m and rad. Marching tetrahedra on a
    grid of `points` a side; each vertex then moves along its edge onto the locus.
    """
    space = OwnSpace.of(robot, rotation)
    if len(space.names) != 3:
        raise InputError(
            f"{robot.name} moves by {', '.join(space.names)}: a surface needs three coordinates"
        )
    box = _bounds(bounds, 3)
    _points(points, 3)
    scale = length_of(robot, length)

    def value(place: Array) -> Array:
        flat = place.reshape(-1, 3)
        return determinant_along(robot, space.poses(flat), scale).reshape(place.shape[:-1])

    return isosurface.surface(value, box, points)


def _bounds(bounds: ArrayLike, count: int) -> Array:
    box = given_numbers("bounds", bounds)
    if box.shape != (count, 2) or not np.all(np.isfinite(box)) or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(f"bounds needs {count} pairs low < high in metres, has {box.tolist()}")
    return box


def _points(points: int, dimensions: int) -> None:
    if not 2 <= points <= MOST_CELLS ** (1 / dimensions):
        most = int(MOST_CELLS ** (1 / dimensions))
        raise InputError(f"points is {points}, needs 2 to {most}")


def around_home(robot: Model, share: float = 2.0) -> list[list[float]]:
    """A box [[low, high]] * 3 (m) about home, of what its legs reach at home's orientation.

    At most `share` length scales to each side. Of a robot with less than four freedoms it is one of its
    own coordinates, angles at most `share`/2 rad to each side.
    """
    space = OwnSpace.of(robot)
    reach = np.minimum(
        share * space.sizes, [np.inf if u == "m" else MOST_TURN for u in space.units]
    )
    steps = (
        FINE if all(isinstance(one.legs, Driven) for one in robot.description.groups) else COARSE
    )
    grids = [np.linspace(x - r, x + r, steps) for x, r in zip(space.middle, reach, strict=True)]
    place = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    flat = place.reshape(-1, len(grids))
    found = lines_along(robot, space.poses(flat))
    there = np.isfinite(found.slope).all(axis=1) & np.isfinite(found.sine).all(axis=1)
    reached = flat[there]
    if not len(reached):
        return [[float(grid[0]), float(grid[-1])] for grid in grids]
    step = 2 * reach / (steps - 1)
    low = np.maximum(reached.min(axis=0) - step, flat.min(axis=0))
    high = np.minimum(reached.max(axis=0) + step, flat.max(axis=0))
    return [[float(a), float(b)] for a, b in zip(low, high, strict=True)]
