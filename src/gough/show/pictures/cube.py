"""Small drawings in space side by side: the same scale along all axes, and no box around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import proj3d

from gough.base.arrays import Array

FILLED = 0.97
"""Part of the drawing's half width that points may take; lines and dots need the rest."""


def cube(axes: Any, points: Array, zoom: float, elevation: float) -> None:
    """Show the cube around points (n, 3), seen from `elevation` degrees above.

    `zoom` is the largest: what it would push over the edges of the drawing is shown smaller.
    """
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    half = float(np.ptp(points, axis=0).max()) / 2 or 1.0
    for i, name in enumerate("xyz"):
        getattr(axes, f"set_{name}lim")(middle[i] - half, middle[i] + half)
    axes.set_box_aspect((1, 1, 1), zoom=zoom)
    axes.view_init(elev=elevation, azim=-60)
    axes.set_axis_off()
    axes.apply_aspect()
    x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
    pixels = axes.transData.transform(np.stack([x, y], axis=-1))
    edges = axes.bbox.get_points()
    beyond = np.abs(pixels - edges.mean(axis=0)).max(axis=0) / (np.ptp(edges, axis=0) / 2)
    room = float(beyond.max(initial=0.0)) / FILLED
    if room > 1:
        axes.set_box_aspect((1, 1, 1), zoom=zoom / room)
