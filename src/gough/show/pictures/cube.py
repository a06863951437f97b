"""Small drawings in space side by side: the same scale along all axes, and no box around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.base.arrays import Array


def cube(axes: Any, points: Array, zoom: float, elevation: float) -> None:
    """Show the cube around points (n, 3), seen from `elevation` degrees above."""
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    half = float(np.ptp(points, axis=0).max()) / 2 or 1.0
    for i, name in enumerate("xyz"):
        getattr(axes, f"set_{name}lim")(middle[i] - half, middle[i] + half)
    axes.set_box_aspect((1, 1, 1), zoom=zoom)
    axes.view_init(elev=elevation, azim=-60)
    axes.set_axis_off()
