"""Surfaces of bodies by shape: triangles for pictures and the studio, convex parts for distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.keys import Direction
from gough.legs.solids import SolidKeys, solid_axes

SIDES = 32
"""Of what is round."""


class ConvexPart(NamedTuple):
    """A convex body: the hull of circles, of which those without a radius are points."""

    centers: Array
    """(k, 3), m, frame of the body."""
    axes: Array
    """(k, 3): normals of the circles, unit."""
    radii: Array
    """(k,), m."""


Outline = Sequence[tuple[float, float]]
"""A half section of a round body: radius and place along the axis, m, corner by corner."""


def surface(solids: Sequence[SolidKeys], leg: int, along: Direction) -> tuple[Array, Array]:
    """Vertices (n, 3), m, and faces (m, 3) of one leg's body, in its frame.

    `along` is where shapes point that do not say it themselves.
    """
    vertices, faces, count = list[Array](), list[Array](), 0
    for one, value, size in _sizes(solids, leg):
        points, corners = SURFACES[one.shape or ""](size)
        vertices.append(value("position", 1) + points @ solid_axes(one, value, along).T)
        faces.append(count + corners)
        count += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def convex_parts(solids: Sequence[SolidKeys], leg: int, along: Direction) -> tuple[ConvexPart, ...]:
    """Return the convex part that each shape of one leg's body is, in the body's frame."""
    parts = []
    for one, value, size in _sizes(solids, leg):
        centers, radii = CIRCLES[one.shape or ""](size)
        turn = solid_axes(one, value, along)
        axes = np.broadcast_to(turn[:, 2], centers.shape)
        parts.append(ConvexPart(value("position", 1) + centers @ turn.T, axes, radii))
    return tuple(parts)


def _sizes(
    solids: Sequence[SolidKeys], leg: int
) -> Iterator[tuple[SolidKeys, Callable[[str, int], Array], Callable[[str], Array]]]:
    """Each shape of one leg, what gives its keys by rank, and what gives its sizes."""
    for one in solids:

        def value(key: str, rank: int, table: SolidKeys = one) -> Array:
            found = np.asarray(getattr(table, key), dtype=np.float64)
            return found if found.ndim == rank else np.asarray(found[leg])

        def size(key: str, value: Callable[[str, int], Array] = value) -> Array:
            return value(key, 0 if key != "size" else 1)

        yield one, value, size


def revolved(outline: Outline) -> tuple[Array, Array]:
    """The surface of a half section turned about z."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([r * circle, np.full(SIDES, z)]) for r, z in outline]
    here, next_ = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    faces = [
        np.concatenate(
            [
                np.stack([here + low, next_ + low, next_ + high], axis=1),
                np.stack([here + low, next_ + high, here + high], axis=1),
            ]
        )
        for low, high in pairwise(SIDES * i for i in range(len(outline)))
    ]
    return np.concatenate(rings), np.concatenate(faces)


def _rod(of: Callable[[str], Array]) -> tuple[Array, Array]:
    radius, length = float(of("radius")), float(of("length"))
    return revolved([(0, 0), (radius, 0), (radius, length), (0, length)])


def _tube(of: Callable[[str], Array]) -> tuple[Array, Array]:
    outer, inner, length = (float(of(key)) for key in ("radius", "inner_radius", "length"))
    return revolved([(inner, 0), (outer, 0), (outer, length), (inner, length), (inner, 0)])


def _disc(of: Callable[[str], Array]) -> tuple[Array, Array]:
    radius, half = float(of("radius")), float(of("thickness")) / 2
    return revolved([(0, -half), (radius, -half), (radius, half), (0, half)])


def _cone(of: Callable[[str], Array]) -> tuple[Array, Array]:
    radius, end, length = (float(of(key)) for key in ("radius", "end_radius", "length"))
    return revolved([(0, 0), (radius, 0), (end, length), (0, length)])


def _box(of: Callable[[str], Array]) -> tuple[Array, Array]:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return signs * of("size") / 2, np.array(faces)


SURFACES: Mapping[str, Callable[[Callable[[str], Array]], tuple[Array, Array]]] = {
    "rod": _rod,
    "tube": _tube,
    "disc": _disc,
    "box": _box,
    "cone": _cone,
}


def _ends(low: float, high: float, radius: Array, end_radius: Array) -> tuple[Array, Array]:
    """Two circles about z."""
    return np.array([[0, 0, low], [0, 0, high]]), np.array([radius, end_radius], dtype=np.float64)


def _length_ends(of: Callable[[str], Array]) -> tuple[Array, Array]:
    return _ends(0.0, float(of("length")), of("radius"), of("radius"))


def _disc_ends(of: Callable[[str], Array]) -> tuple[Array, Array]:
    half = float(of("thickness")) / 2
    return _ends(-half, half, of("radius"), of("radius"))


def _cone_ends(of: Callable[[str], Array]) -> tuple[Array, Array]:
    return _ends(0.0, float(of("length")), of("radius"), of("end_radius"))


CIRCLES: Mapping[str, Callable[[Callable[[str], Array]], tuple[Array, Array]]] = {
    "rod": _length_ends,
    "tube": _length_ends,
    "disc": _disc_ends,
    "box": lambda of: (_box(of)[0], np.zeros(8)),
    "cone": _cone_ends,
}
"""Centres (k, 3) and radii (k,) of circles about z, or of points, whose hull is the shape."""
