"""Every posture of one set of leg coordinates, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull, QhullError

from gough.analysis.singularities import lines
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model import forward
from gough.motion import Motion
from gough.show.colors import DARK, GREY, leg_color
from gough.show.pictures.cube import cube
from gough.show.style import STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

COLUMNS, MOST = 8, 40
YELLOW = "#F0E442"
"""Of the platform: Okabe & Ito's, and no leg's."""


def posture_sheet(robot: Robot, motion: Motion, q: Array, title: str = "") -> Figure:
    """Every posture (k,) of the leg coordinates q (legs,), all at one scale; legs in their colours."""
    if len(motion.shape) != 1 or not len(motion):
        raise InputError(f"motion of batch shape {motion.shape}: no postures to draw")
    count = min(len(motion), MOST)
    columns = min(COLUMNS, count) if count > 3 else count
    rows = -(-count // columns)
    anchor = forward.rods(robot, np.asarray(q)[np.newaxis])[0][0]
    tips = motion.position[:, np.newaxis] + lines(robot, motion.position, motion.rotation).arm
    everything = np.concatenate([tips.reshape(-1, 3), anchor])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(1.75 * columns, 5.5), 1.9 * rows + 1.1))
        height = figure.get_figheight()
        grid = figure.add_gridspec(
            rows, columns, left=0, right=1, top=1 - 0.6 / height, bottom=0.45 / height,
            wspace=0, hspace=0.05,
        )  # fmt: skip
        for k in range(count):
            axes: Any = figure.add_subplot(
                grid[k // columns, k % columns], projection="3d", computed_zorder=False
            )
            _hull(axes, anchor, facecolor=GREY, alpha=0.25, zorder=1)
            _hull(axes, tips[k], facecolor=YELLOW, alpha=0.5, zorder=2)
            for leg, ends in enumerate(zip(anchor, tips[k], strict=True)):
                axes.plot(*np.stack(ends).T, color=leg_color(leg), linewidth=1.5, zorder=3)
            cube(axes, everything, 1.4, 22)
            axes.text2D(0.04, 0.9, str(k + 1), transform=axes.transAxes, color=DARK)
        more = f", first {count}" if count < len(motion) else ""
        head = title or f"{robot.name}: {len(motion)} postures of one set of leg coordinates{more}"
        figure.suptitle(head, y=1 - 0.12 / height, va="top", parse_math=False)
        handles: list[Any] = [
            Line2D([], [], color=leg_color(i), label=f"leg {i + 1}") for i in range(robot.leg_count)
        ]
        handles += [Patch(facecolor=YELLOW, alpha=0.5, label="platform"),
                    Patch(facecolor=GREY, alpha=0.25, label="base")]  # fmt: skip
        ncols = len(handles) if columns >= 6 else (len(handles) + 1) // 2
        figure.legend(handles=handles, loc="lower center", ncols=ncols, fontsize=8)
    return figure


def _hull(axes: Any, points: Array, **style: Any) -> None:
    """The outline of points in a plane, or their convex hull in space."""
    center = points.mean(axis=0)
    _, values, right = np.linalg.svd(points - center)
    try:
        if values[2] < 1e-6 * values[0]:
            flat = (points - center) @ right[:2].T
            faces = [points[ConvexHull(flat).vertices]]
        else:
            faces = list(points[ConvexHull(points).simplices])
    except QhullError:
        return
    axes.add_collection3d(Poly3DCollection(faces, edgecolor="none", **style))
