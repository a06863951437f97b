"""Plain solids as triangles, metres: what stands for a robot's bodies in drawings and in the studio."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit

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


def wxyz(rotation: Array) -> Array:
    """Unit quaternions (..., 4), scalar first, of rotation matrices (..., 3, 3)."""
    flat = Rotation.from_matrix(np.reshape(rotation, (-1, 3, 3))).as_quat(scalar_first=True)
    return np.asarray(flat.reshape(*rotation.shape[:-2], 4))
