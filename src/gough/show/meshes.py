"""Meshes of the robot file, coarse enough for a drawing or a page."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array

FINEST = 2500
"""Triangles of a body that a drawing can show."""


def coarse(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """A mesh of few triangles: vertices in one cell of a grid become one, until few are left.

    vertices (n, 3), faces (m, 3); triangles that shrink to a line vanish.
    """
    cells = 64
    while len(faces) > FINEST and cells > 2:
        low, size = vertices.min(axis=0), np.ptp(vertices, axis=0).max() or 1.0
        cell = np.floor((vertices - low) / size * cells).astype(np.int64)
        into = np.unique(cell, axis=0, return_inverse=True)[1].ravel()
        count = np.bincount(into)
        kept = np.stack([np.bincount(into, column) / count for column in vertices.T], axis=1)
        corners = into[faces]
        whole = (
            (corners[:, 0] != corners[:, 1])
            & (corners[:, 1] != corners[:, 2])
            & (corners[:, 2] != corners[:, 0])
        )
        different = np.unique(np.sort(corners[whole], axis=1), axis=0, return_index=True)[1]
        fewer = corners[whole][different]
        if len(fewer) <= FINEST or cells <= 4:
            return kept, fewer
        cells = cells * 2 // 3
    return vertices, faces
