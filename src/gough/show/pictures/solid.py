"""Solid parts on paper: what is near hides what is far, pixel by pixel, lit from one side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.image import BboxImage
from matplotlib.transforms import Bbox, TransformedBbox
from mpl_toolkits.mplot3d.proj3d import proj_transform
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit
from gough.show.parts import Part, PartPlaces

FINE = 400
"""Pixels an inch: more than are printed, so that edges come out smooth."""
EDGE = 0.45
"""How dark parts are where another begins: 0 black, 1 as elsewhere."""


WHOLE = Bbox.unit()


class Faces(NamedTuple):
    """Triangles of parts in the world."""

    corners: Array
    """(k, 3, 3), m."""
    normals: Array
    """(k, 3, 3): unit, at the corners; those of round parts run smoothly from face to face."""
    part: Array
    """(k,): number of the part."""


def faces(parts: list[Part], places: PartPlaces) -> Faces:
    """All triangles of parts at one instant; `places` has no batch axes."""
    corners, normals, which = [], [], []
    for k, part in enumerate(parts):
        turn = Rotation.from_quat(places.turn[k], scalar_first=True)
        own = part.mesh.vertices * [1.0, 1.0, places.stretch[k]]
        whole = places.position[k] + turn.apply(own)
        triangle = whole[part.mesh.faces]
        flat = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
        at_vertices = np.zeros_like(whole)
        for corner in part.mesh.faces.T:
            np.add.at(at_vertices, corner, flat)
        corners.append(triangle)
        normals.append(unit(at_vertices)[part.mesh.faces])
        which.append(np.full(len(triangle), k))
    return Faces(*(np.concatenate(one) for one in (corners, normals, which)))


def paint(
    axes: Any,
    parts: list[Part],
    places: PartPlaces,
    fine: float = FINE,
    box: Bbox = WHOLE,
) -> None:
    """Draw parts into parallel axes in space whose limits and view are set.

    `fine` is in pixels an inch, `box` what the picture covers, in parts of the axes' figure.
    """
    figure = axes.figure
    corner, inches = box.get_points()[0], figure.get_size_inches() * box.size
    width, height = np.ceil(inches * fine).astype(int)
    found, towards = faces(parts, places), viewer(axes)
    triangle = found.corners
    flat = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
    seen = flat @ towards > 0
    x, y, _ = proj_transform(*triangle[seen].reshape(-1, 3).T, axes.get_proj())
    page = (axes.transData - figure.transFigure).transform(np.column_stack([x, y]))
    near = triangle[seen] @ towards
    on_page = np.concatenate(
        [((page - corner) / box.size * [width, height]).reshape(-1, 3, 2), near[..., np.newaxis]],
        axis=-1,
    )
    which, weights = rastered(on_page, int(width), int(height))
    part = np.where(which >= 0, found.part[seen][which], -1)
    covered, image = which >= 0, np.zeros((height, width, 4), dtype=np.uint8)
    normal = np.einsum("ki,kij->kj", weights[covered], found.normals[seen][which[covered]])
    colors = np.array([to_rgb(one.color) for one in parts])[part[covered]]
    bright = shaded(colors, unit(normal), towards, upward(axes))
    bright *= np.where(_edges(part)[covered], EDGE, 1.0)[:, np.newaxis]
    image[covered] = np.concatenate([255 * bright, np.full((len(bright), 1), 255)], axis=-1)
    covers = TransformedBbox(box, figure.transFigure)
    style: Any = {"interpolation": "antialiased", "resample": True, "zorder": 0.5}
    shown = BboxImage(covers, origin="lower", **style)
    shown.set_data(image)
    axes.add_artist(shown)


def rastered(corners: Array, width: int, height: int) -> tuple[Array, Array]:
    """Which triangle is seen in each pixel (height, width), −1 for none; and where in it.

    Triangles have corners (k, 3, 3) in pixels from the lower left, and towards the viewer; of those
    that cover a pixel's middle the nearest is seen. Where in it: the weights (…, 3) of its corners.
    """
    a, b, c = corners.transpose(1, 0, 2)
    (ux, uy), (vx, vy) = (b - a).T[:2], (c - a).T[:2]
    area = ux * vy - uy * vx
    bottom, top = (np.ceil(one - 0.5).clip(0, height) for one in _range(corners[..., 1]))
    triangle, row = _runs(np.where(np.abs(area) > 1e-9, top - bottom, 0))
    row = row + bottom[triangle]
    left, right = _span(corners[triangle], row + 0.5)
    first = np.ceil(left - 0.5).clip(0, width)
    line, column = _runs((np.ceil(right - 0.5).clip(0, width) - first).clip(0))
    column = column + first[line]
    triangle, row = triangle[line], row[line]
    x, y = column + 0.5 - a[triangle, 0], row + 0.5 - a[triangle, 1]
    second = (x * vy[triangle] - y * vx[triangle]) / area[triangle]
    third = (ux[triangle] * y - uy[triangle] * x) / area[triangle]
    near = corners[triangle, :, 2]
    away = near[:, 0] + second * (near[:, 1] - near[:, 0]) + third * (near[:, 2] - near[:, 0])
    order = np.argsort(away)
    pixel = (row * width + column).astype(np.intp)[order]
    winner = np.full(height * width, -1)
    winner[pixel] = order  # of several in a pixel the last, which is the nearest
    seen = winner >= 0
    found = np.full(height * width, -1)
    found[seen] = triangle[winner[seen]]
    weights = np.zeros((height * width, 3))
    two, three = second[winner[seen]], third[winner[seen]]
    weights[seen] = np.stack([1 - two - three, two, three], axis=-1)
    return found.reshape(height, width), weights.reshape(height, width, 3)


def _range(values: Array) -> tuple[Array, Array]:
    return values.min(axis=-1), values.max(axis=-1)


def _runs(counts: Array) -> tuple[Array, Array]:
    """Of runs of so many, one after the other: in which run each is, and which it is in it."""
    whole = counts.astype(np.intp)
    which = np.repeat(np.arange(len(whole)), whole)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(whole) - whole, whole)


def _span(corners: Array, level: Array) -> tuple[Array, Array]:
    """Where lines across triangles (k, 3, 3) at heights (k,) begin and end."""
    ends = []
    for one, other in ((0, 1), (1, 2), (2, 0)):
        start, rise = corners[:, one], corners[:, other] - corners[:, one]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (level - start[:, 1]) / rise[:, 1]
            at = start[:, 0] + part * rise[:, 0]
        ends.append(np.where((part >= 0) & (part <= 1), at, np.nan))
    missing = np.isnan(ends).all(axis=0)
    crossed = np.where(missing, 0.0, ends)
    return np.nanmin(crossed, axis=0), np.nanmax(crossed, axis=0)


def _edges(part: Array) -> Array:
    """Pixels beside which another part begins, or the paper."""
    found = np.zeros(part.shape, dtype=bool)
    for axis in (0, 1):
        other = np.diff(part, axis=axis) != 0
        pad = [(0, 0), (0, 0)]
        for side in ((1, 0), (0, 1)):
            pad[axis] = side
            found |= np.pad(other, pad)
    return found


def viewer(axes: Any) -> Array:
    """Unit vector (3,) from the drawing towards the viewer, in the axes' own coordinates."""
    turned = [-1.0 if first > last else 1.0 for first, last in _limits(axes)]
    elevation, azimuth = np.radians([axes.elev, axes.azim])
    flat = np.cos(elevation) * np.array([np.cos(azimuth), np.sin(azimuth)])
    return np.asarray(turned * np.roll([*flat, np.sin(elevation)], axes._vertical_axis + 1))


def upward(axes: Any) -> Array:
    """Unit vector (3,) up the page, in the axes' own coordinates."""
    first, last = _limits(axes)[axes._vertical_axis]
    return np.asarray(np.sign(last - first) * np.eye(3)[axes._vertical_axis])


def _limits(axes: Any) -> list[tuple[float, float]]:
    return [getattr(axes, f"get_{name}lim")() for name in "xyz"]


def shaded(colors: Array, normals: Array, towards: Array, up: Array) -> Array:
    """Colours (..., 3) of faces with unit normals (..., 3): a lamp at the viewer's left, some sky."""
    light = unit(towards + 0.9 * up + 0.6 * np.cross(towards, up))
    lamp = np.clip(normals @ light, 0.0, 1.0)[..., np.newaxis]
    sky = (0.5 + 0.5 * normals @ up)[..., np.newaxis]
    shine = 0.25 * np.clip(normals @ unit(light + towards), 0.0, 1.0)[..., np.newaxis] ** 24
    return np.asarray(np.clip(colors * (0.55 + 0.15 * sky + 0.38 * lamp) + shine, 0.0, 1.0))
