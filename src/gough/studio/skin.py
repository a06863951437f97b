"""A flexible platform, drawn: its skin deformed more than it is, in bands of colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import Delaunay

from gough.base.arrays import Array
from gough.show.solids import outward

if TYPE_CHECKING:
    from gough.description.modal.body import ModalBody

BANDS = (
    (68, 1, 84),
    (71, 46, 124),
    (54, 93, 141),
    (39, 127, 142),
    (31, 161, 135),
    (74, 194, 109),
    (160, 218, 57),
    (253, 231, 37),
)
"""Colours of displacement, least to largest, as in viridis: dark to light also without colour."""


class Skin:
    """The skin of a body: where its triangles are, and in which band, for elastic coordinates."""

    def __init__(self, body: ModalBody) -> None:
        used, faces = np.unique(skin_faces(body), return_inverse=True)
        self.faces = faces.reshape(-1, 3)
        self.places, self.shapes = body.positions[used], body.shapes[used]
        self.tips, self.tip_shapes = body.tip_positions, body.tip_shapes

    def largest(self, elastic: Array) -> float:
        """Largest displacement of the skin over elastic coordinates (..., N), m."""
        flat = np.reshape(elastic, (-1, elastic.shape[-1]))
        return max((float(self._amount(one).max(initial=0.0)) for one in flat), default=0.0)

    def moved_tips(self, elastic: Array, magnified: float) -> Array:
        """(legs, 3): where the spherical joints are drawn, platform frame, m."""
        return self.tips + magnified * (self.tip_shapes @ elastic)

    def bands(self, elastic: Array, magnified: float, largest: float) -> list[Array]:
        """Triangles (f, 3, 3) of each band, platform frame, m.

        A triangle's band is by the mean displacement of its corners over the largest (m).
        """
        corners = (self.places + magnified * (self.shapes @ elastic))[self.faces]
        part = self._amount(elastic)[self.faces].mean(axis=-1) / (largest or 1.0)
        band = np.clip((part * len(BANDS)).astype(int), 0, len(BANDS) - 1)
        return [corners[band == k] for k in range(len(BANDS))]

    def _amount(self, elastic: Array) -> Array:
        return np.asarray(np.linalg.norm(self.shapes @ elastic, axis=-1))


def skin_faces(body: ModalBody) -> Array:
    """Triangles (f, 3) of nodes: the body's own, or those through or around its nodes."""
    if body.faces is not None:
        return body.faces
    spread = body.positions - body.positions.mean(axis=0)
    _, (wide, _, thick), axes = np.linalg.svd(spread, full_matrices=False)
    flat = thick < 1e-6 * wide
    return Delaunay(spread @ axes[:2].T).simplices if flat else outward(body.positions)
