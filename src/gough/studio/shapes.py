"""Shapes of a robot's bodies as triangles, and where they stand: plain arrays, metres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit
from gough.model.places import PlacedLegs, ground, placed_legs
from gough.motion import Motion
from gough.studio.pose import start_pose, upward

if TYPE_CHECKING:
    from gough.robot import Robot

SIDES = 20


class SurfaceMesh(NamedTuple):
    """Triangles."""

    vertices: Array
    """(v, 3)."""
    faces: Array
    """(f, 3), outside seen counterclockwise."""


def bar(radius: float, length: float) -> SurfaceMesh:
    """A closed round bar along z, from z = 0 to the length, which may be negative."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(SIDES)], axis=-1)
    low, high = np.array([0, 0, min(length, 0.0)]), np.array([0, 0, max(length, 0.0)])
    ends = [ring + low, ring + high]
    vertices = np.concatenate([*ends, *ends, [low, high]])  # caps have their own
    one, two = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    caps, middle = 2 * SIDES, 4 * SIDES
    faces = [
        np.stack([one, two, two + SIDES], axis=-1),
        np.stack([one, two + SIDES, one + SIDES], axis=-1),
        np.stack([two + caps, one + caps, np.full(SIDES, middle)], axis=-1),
        np.stack([one + caps + SIDES, two + caps + SIDES, np.full(SIDES, middle + 1)], axis=-1),
    ]
    return SurfaceMesh(vertices, np.concatenate(faces))


def cone(radius: float, length: float) -> SurfaceMesh:
    """A cone along z, its base at z = 0, its tip at the length."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(SIDES)], axis=-1)
    points = np.concatenate([ring, [[0, 0, length]]])
    return sharp(SurfaceMesh(points, outward(points)))


def arrow_vectors(force: Array, strongest: float, longest: float) -> Array:
    """Arrows (..., 3) of forces (..., 3): `longest` (m) for the strongest (N).

    Forces beyond the strongest get at most 1.5 times that length.
    """
    part = force / (strongest or 1.0)
    size = np.linalg.norm(part, axis=-1, keepdims=True)
    return longest * part * np.minimum(1.0, 1.5 / np.where(size == 0, 1.0, size))


def ball(radius: float = 1.0) -> SurfaceMesh:
    """A ball about the origin."""
    rows = 8
    polar = np.pi * np.arange(1, rows) / rows
    turn = 2 * np.pi * np.arange(SIDES) / SIDES
    grid = np.stack(
        [
            np.outer(np.sin(polar), np.cos(turn)),
            np.outer(np.sin(polar), np.sin(turn)),
            np.outer(np.cos(polar), np.ones(SIDES)),
        ],
        axis=-1,
    )
    points = np.concatenate([grid.reshape(-1, 3), [[0, 0, 1.0], [0, 0, -1.0]]])
    return SurfaceMesh(radius * points, outward(points))


def box(size: tuple[float, float, float]) -> SurfaceMesh:
    """A box about the origin, faces with corners of their own so that edges are sharp."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2.0
    return sharp(SurfaceMesh(corners * size, outward(corners)))


def block(half: float, length: float) -> SurfaceMesh:
    """A square bar along z, from z = 0 to the length; `half` its side."""
    mesh = box((2 * half, 2 * half, length))
    return SurfaceMesh(mesh.vertices + np.array([0.0, 0.0, length / 2]), mesh.faces)


def slab(points: Array, thickness: float, margin: float, down: Array | None = None) -> SurfaceMesh:
    """The convex plate through points (n, 3), wider by a margin; `down`: its top is at the points.

    A bar where the points are on a line.
    """
    middle = points.mean(axis=0)
    spread = points - middle
    _, sizes, directions = np.linalg.svd(np.concatenate([spread, np.zeros((3, 3))]))
    if sizes[1] <= 1e-6 * max(sizes[0], thickness):
        along = spread @ directions[0]
        ends = middle + np.array([[along.min()], [along.max()]]) * directions[0]
        return bars(
            ends[:1] - margin * directions[0], ends[1:] + margin * directions[0], margin / 2
        )
    normal = directions[-1]
    if down is not None and normal @ down < 0:
        normal = -normal
    flat = spread - np.outer(spread @ normal, normal)
    wide = points + margin * unit(flat)
    sides = (0.0, 1.0) if down is not None else (-0.5, 0.5)
    both = np.concatenate([wide + side * thickness * normal for side in sides])
    return sharp(SurfaceMesh(both, outward(both)))


def outward(points: Array) -> Array:
    """Triangles (f, 3) of the convex hull of points, their outside counterclockwise."""
    try:
        hull = ConvexHull(points)
    except QhullError:  # points in a plane or on a line: a hull of points moved ever so little
        hull = ConvexHull(points, qhull_options="QJ Pp")
    faces = hull.simplices.copy()
    a, b, c = points[faces].transpose(1, 0, 2)
    turned = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=-1) < 0
    faces[turned] = faces[turned][:, ::-1]
    return np.asarray(faces)


def sharp(mesh: SurfaceMesh) -> SurfaceMesh:
    """The same triangles with corners of their own: edges look like edges."""
    return SurfaceMesh(
        mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(mesh.faces.size).reshape(-1, 3)
    )


def turns_from_z(direction: Array) -> Array:
    """Unit quaternions (..., 4), scalar first, that turn z into unit vectors (..., 3).

    (1 + z·d, z × d) made unit; half a turn about x where d = −z.
    """
    x, y, z = np.moveaxis(direction, -1, 0)
    quaternion = np.stack([1 + z, -y, x, np.zeros_like(z)], axis=-1)
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    back = np.array([0.0, 1.0, 0.0, 0.0])
    return np.where(length > 1e-9, quaternion / np.where(length > 1e-9, length, 1.0), back)


def round_number(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(step * power for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))


@dataclass(frozen=True)
class SceneLayout:
    """Where a robot stands and how large it is: for the first camera, the floor and line widths."""

    home: Motion
    up: Array
    """Unit world axis against gravity, (3,)."""
    ground: Array
    """(legs, 2, 3): the ends of rails, or twice a point."""
    legs: list[PlacedLegs]
    """Where all joints are at home."""
    middle: Array
    size: float
    """Largest extent, m."""
    floor: float
    """Height of the floor along `up`, m."""

    @classmethod
    def of(cls, robot: Robot) -> SceneLayout:
        """The layout of a robot at home."""
        home, up = start_pose(robot), upward(robot)
        legs = robot.inverse_kinematics(home)
        placed = placed_legs(robot, home, legs)
        stands = ground(robot, legs.q)
        joints = [one.places.points.reshape(-1, 3) for one in placed]
        points = np.concatenate([stands.reshape(-1, 3), *joints, home.position[np.newaxis]])
        low, high = points.min(axis=0), points.max(axis=0)
        size = float(np.max(high - low))
        floor = float(np.min(points @ up)) - 0.06 * size
        return cls(home, up, stands, placed, (low + high) / 2, size, floor)

    @property
    def camera(self) -> Array:
        """Where the first camera is, (3,): to one side, a little above, all in view."""
        main = int(np.argmax(np.abs(self.up)))
        first, second = (np.eye(3)[(main + k) % 3] for k in (1, 2))
        if self.up[main] < 0:
            first, second = second, first
        away = 0.72 * first - 0.95 * second + 0.5 * self.up
        return np.asarray(self.middle + 1.35 * self.size * away / np.linalg.norm(away))


def grid(layout: SceneLayout, cell: float, wide: float) -> tuple[SurfaceMesh, SurfaceMesh]:
    """Lines on the floor, `cell` apart and `wide` (m): the fine ones, and every fifth.

    Thin strips in place of lines: these are drawn much faster without a graphics card.
    """
    main = int(np.argmax(np.abs(layout.up)))
    first, second = np.eye(3)[(main + 1) % 3], np.eye(3)[(main + 2) % 3]
    count = int(np.ceil(1.1 * layout.size / cell))
    start = [np.round(layout.middle @ axis / cell) for axis in (first, second)]
    strips: tuple[list[Array], list[Array]] = ([], [])
    for across, along, k in ((first, second, 0), (second, first, 1)):
        ends = cell * (start[1 - k] + count * np.array([-1.0, 1.0]))
        for number in np.arange(-count, count + 1) + start[k]:
            sides = cell * number + wide * np.array([-0.5, 0.5])
            corners = [
                side * across + end * along + layout.floor * layout.up
                for side, end in zip(sides[[0, 1, 1, 0]], ends[[0, 0, 1, 1]], strict=True)
            ]
            strips[int(number % 5 == 0)].append(np.stack(corners))
    return _strips(strips[0]), _strips(strips[1])


def _strips(corners: list[Array]) -> SurfaceMesh:
    """Two triangles for each four corners."""
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    every = faces + 4 * np.arange(len(corners))[:, None, None]
    return SurfaceMesh(np.concatenate(corners), every.reshape(-1, 3))


def bars(starts: Array, ends: Array, radius: float) -> SurfaceMesh:
    """Round bars between points (n, 3) as one mesh."""
    apart = ends - starts
    turned = Rotation.from_quat(turns_from_z(unit(apart)), scalar_first=True)
    found = [
        (start + turn.apply(bar(radius, float(np.linalg.norm(one))).vertices))
        for start, one, turn in zip(starts, apart, turned, strict=True)
    ]
    faces = bar(radius, 1.0).faces
    every = faces + len(found[0]) * np.arange(len(found))[:, None, None]
    return SurfaceMesh(np.concatenate(found), every.reshape(-1, 3))
