"""Where the parallel singularities are: slices and surfaces at constant orientation, and how far off.

The locus is det G/(1, L) = 0 (`gough.analysis.singularities`), dimensionless and of one sign on either
side; for UPS legs at constant orientation it is a cubic surface.
"""

from __future__ import annotations

from collections.abc import Sequence
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
STARTS = 12
ITERATIONS = 40
LANDING = 4
"""Newton steps at the end that put a foot on the locus."""
RELAXATION = (1.0, 0.3)
"""Share of each step, in turn over the starts: long ones are quick, short ones do not swing."""
CLOSED_IN = 1e-9
"""Smallest singular value at which a foot counts as on the locus."""
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
    """(m, 3) indices of vertices."""


@dataclass(frozen=True)
class Clearance:
    """How far each pose of a motion is from the locus."""

    distance: Array
    """(...) m, √(‖δp‖² + (L θ)²) to the nearest singular pose found; inf where none was found."""
    foot: Motion
    """That pose (...), NaN where none was found."""
    determinant: Array
    """(...) of each pose; its sign tells the sides of the locus apart."""
    crossings: Array
    """(k,) samples after which the motion crosses the locus before the next, along the last axis."""
    length: float
    """L, m."""


def determinant(robot: Robot, position: Array, rotation: Array, length: float) -> Array:
    """det G/(1, L) (...) at poses (..., 3), (..., 3, 3); NaN where a PUS leg does not reach."""
    if robot.leg_count != 6:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs: a locus det = 0 is there for six legs only"
        )
    shape = np.broadcast_shapes(position.shape[:-1], rotation.shape[:-2])
    flat = np.broadcast_to(position, (*shape, 3)).reshape(-1, 3)
    turns = np.broadcast_to(rotation, (*shape, 3, 3)).reshape(-1, 3, 3)
    return np.asarray(np.linalg.det(matrix(lines(robot, flat, turns), length)).reshape(shape))


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
    found = contourpy.contour_generator(first, second, masked).lines(0.0)
    names = (AXES[axes[0]], AXES[axes[1]])
    curves = [np.asarray(curve) for curve in found]
    return Slice(across, float(at), names, first, second, values, curves)


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
    ends, faces = _march(values)
    places = place.reshape(-1, 3)
    low, high = places[ends[:, 0]], places[ends[:, 1]]
    f_low, f_high = values.reshape(-1)[ends[:, 0]], values.reshape(-1)[ends[:, 1]]
    for halving in (True,) * HALVINGS + (False,) * SECANTS:
        share = np.full(len(low), 0.5) if halving else f_low / (f_low - f_high)
        middle = low + share[:, np.newaxis] * (high - low)
        f = determinant(robot, middle, turn, scale)
        below = (f > 0) == (f_low > 0)
        low, f_low = np.where(below[:, np.newaxis], middle, low), np.where(below, f, f_low)
        high, f_high = np.where(below[:, np.newaxis], high, middle), np.where(below, f_high, f)
    nearer = (np.abs(f_low) < np.abs(f_high))[:, np.newaxis]
    return Surface(np.where(nearer, low, high), faces)


def _march(values: Array) -> tuple[Array, Array]:
    """Edges (n, 2) of the grid, as flat indices, that cross zero, and triangles (m, 3) of them."""
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
    return ends, inverse.reshape(-1, 3)


def clearance(
    robot: Robot,
    motion: Motion,
    *,
    length: float | None = None,
    turning: bool = True,
    seed: int = 0,
) -> Clearance:
    """Distance of every pose to the nearest parallel singularity.

    The smallest ‖u‖, u = (δp, L δθ), with det = 0 at p + δp, exp(δθ) R; without `turning` δθ = 0. With
    σ the smallest singular value of G/(1, L), given the sign of det, from several starts
    u ← g (g·u − σ)/(g·g), g its gradient at u: the point of the linearised locus nearest to the
    pose; from as many others the same with det. What is found is singular and that far off; something
    nearer may be missed.
    """
    scale = length_of(robot, length)
    shape = motion.shape
    position = motion.position.reshape(-1, 3)
    rotation = motion.rotation.reshape(-1, 3, 3)
    own = determinant(robot, position, rotation, scale)
    rng = np.random.default_rng(seed)
    moves = 6 if turning else 3
    count = len(position)
    spread = 0.3 * scale * np.arange(STARTS)[:, np.newaxis, np.newaxis] / STARTS
    u = (spread * rng.normal(size=(STARTS, count, moves))).reshape(-1, moves)
    many = np.tile(position, (STARTS, 1)), np.tile(rotation, (STARTS, 1, 1))
    relaxation = np.repeat(np.resize(RELAXATION, STARTS), count)
    by_volume = np.repeat(np.arange(STARTS) % 4 > 1, count)
    u, on_it = _foot(robot, *many, u, scale, relaxation, by_volume)
    size = np.where(on_it, np.linalg.norm(u, axis=1), np.inf).reshape(STARTS, count)
    first = np.argmin(size, axis=0)
    nearest = size[first, np.arange(count)]
    best = u.reshape(STARTS, count, moves)[first, np.arange(count)]
    best = np.where(np.isfinite(nearest)[:, np.newaxis], best, np.nan)
    foot_position, foot_rotation = _moved(position, rotation, best, scale)
    sides = np.sign(own.reshape(shape)) if shape else np.zeros(0)
    crossings = np.argwhere(sides[..., 1:] * sides[..., :-1] < 0) if shape else np.zeros((0, 1))
    return Clearance(
        nearest.reshape(shape),
        Motion(foot_position.reshape(*shape, 3), foot_rotation.reshape(*shape, 3, 3)),
        own.reshape(shape),
        (crossings[:, 0] if len(shape) == 1 else crossings).astype(np.intp),
        scale,
    )


def _moved(position: Array, rotation: Array, u: Array, length: float) -> tuple[Array, Array]:
    """Poses displaced by u (n, 3 or 6); NaN stays NaN."""
    if u.shape[1] == 3:
        lost = np.isnan(u[:, :1, np.newaxis])
        return position + u, np.where(lost, np.nan, rotation)
    lost = np.isnan(u).any(axis=1)
    turn = Rotation.from_rotvec(np.where(lost[:, np.newaxis], 0.0, u[:, 3:] / length)).as_matrix()
    return position + u[:, :3], np.where(lost[:, np.newaxis, np.newaxis], np.nan, turn @ rotation)


@np.errstate(all="ignore")
def _foot(
    robot: Robot,
    position: Array,
    rotation: Array,
    u: Array,
    length: float,
    relaxation: Array,
    by_volume: Array,
) -> tuple[Array, Array]:
    """Points on the locus near the poses, from starts u (n, k), and which are on it (n,).

    `by_volume` (n,): by det in place of σ, which has edges where two singular values meet.
    """
    moves = u.shape[1]
    step = 1e-5 * length
    shifts = step * np.concatenate([np.zeros((1, moves)), np.eye(moves), -np.eye(moves)])
    largest = 0.5 * length
    poses = np.tile(position, (len(shifts), 1)), np.tile(rotation, (len(shifts), 1, 1))

    def values(at: Array) -> tuple[Array, Array]:
        """σ or det (n,) and its gradient (n, k)."""
        near = (at + shifts[:, np.newaxis]).reshape(-1, moves)
        whole = matrix(lines(robot, *_moved(*poses, near, length)), length)
        reached = np.isfinite(whole).all(axis=(1, 2))
        smallest = np.full(len(near), np.nan)
        smallest[reached] = np.linalg.svd(whole[reached], compute_uv=False)[:, -1]
        volume = np.linalg.det(whole)
        smallest *= np.where(volume < 0, -1.0, 1.0)
        found = np.where(np.tile(by_volume, len(shifts)), volume, smallest)
        found = found.reshape(len(shifts), -1)
        return found[0], (found[1 : moves + 1] - found[moves + 1 :]).T / (2 * step)

    f, g = values(u)
    for iteration in range(ITERATIONS + LANDING):
        along = np.sum(g * u, axis=1)
        square = np.sum(g * g, axis=1)
        if iteration < ITERATIONS:  # to the nearest point of the linearised locus
            change = g * ((along - f) / square)[:, np.newaxis] - u
            change *= relaxation[:, np.newaxis]
        else:  # straight onto it
            change = -g * (f / square)[:, np.newaxis]
        size = np.linalg.norm(change, axis=1, keepdims=True)
        change *= np.minimum(1.0, largest / np.maximum(size, 1e-300))
        new = u + change
        f_new, g_new = values(new)
        lost: Array = ~np.isfinite(f_new + g_new.sum(axis=1))
        if lost.any():  # out of a PUS leg's reach: come less near
            new[lost] = u[lost] + change[lost] / 4
            f_new, g_new = values(new)
            lost = ~np.isfinite(f_new + g_new.sum(axis=1))
            new[lost], f_new[lost], g_new[lost] = u[lost], f[lost], g[lost]
        u, f, g = new, f_new, g_new
        if np.all(size < 1e-12 * length) and iteration < ITERATIONS:
            break
    whole = np.nan_to_num(matrix(lines(robot, *_moved(position, rotation, u, length)), length))
    smallest = np.linalg.svd(whole, compute_uv=False)[:, -1]
    return u, np.isfinite(f) & (smallest < CLOSED_IN)


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
    """A box about home, `share` length scales to each side: [[low, high]] * 3 m."""
    reach = share * robot.length_scale
    sides: Sequence[float] = robot.home.position.tolist()
    return [[x - reach, x + reach] for x in sides]
