"""Meshes of the robot file in drawings: coarse enough for paper, shaded by where they face."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from gough.base.arrays import Array

FINEST = 2500
"""Triangles of a body that a drawing can show."""
LIGHT = np.array([0.35, -0.5, 0.79])
"""Where light comes from, unit, world axes."""


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


def shaded(vertices: Array, faces: Array, color: str, zorder: float) -> Any:
    """A mesh in the world for a drawing in space, its triangles lit from one side."""
    points, corners = coarse(vertices, faces)
    triangles = points[corners]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    facing = np.abs(normals / np.where(length > 0, length, 1.0) @ LIGHT)
    bright = (0.55 + 0.45 * facing)[:, np.newaxis]
    colors = np.clip(np.asarray(to_rgb(color)) * bright + 0.15 * bright, 0.0, 1.0)
    return Poly3DCollection(triangles, facecolors=colors, edgecolors="none", zorder=zorder)
