"""Every posture of one set of leg coordinates, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gough.analysis.singularities import lines
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model import forward
from gough.motion import Motion
from gough.show.colors import DARK, GREY, leg_color
from gough.show.parts import Part, PartPlaces
from gough.show.pictures.cube import cube
from gough.show.pictures.solid import paint
from gough.show.solids import SurfaceMesh, bars, slab
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
    size = float(np.ptp(everything, axis=0).max())
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(1.75 * columns, 5.5), 1.9 * rows + 1.1))
        height = figure.get_figheight()
        grid = figure.add_gridspec(
            rows, columns, left=0, right=1, top=1 - 0.6 / height, bottom=0.45 / height,
            wspace=0, hspace=0.05,
        )  # fmt: skip
        for k in range(count):
            axes: Any = figure.add_subplot(
                grid[k // columns, k % columns],
                projection="3d",
                computed_zorder=False,
                proj_type="ortho",
            )
            cube(axes, everything, 1.55, 22)
            axes.apply_aspect()
            paint(axes, *_solid(anchor, tips[k], size), box=axes.get_position())
            axes.text2D(0.04, 0.9, str(k + 1), transform=axes.transAxes, color=DARK)
        more = f", first {count}" if count < len(motion) else ""
        head = title or f"{robot.name}: {len(motion)} postures of one set of leg coordinates{more}"
        figure.suptitle(head, y=1 - 0.12 / height, va="top", parse_math=False)
        handles: list[Any] = [
            Line2D([], [], color=leg_color(i), label=f"leg {i + 1}") for i in range(robot.leg_count)
        ]
        handles += [Patch(facecolor=YELLOW, label="platform"), Patch(facecolor=GREY, label="base")]
        ncols = len(handles) if columns >= 6 else (len(handles) + 1) // 2
        figure.legend(handles=handles, loc="lower center", ncols=ncols, fontsize=8)
    return figure


def _solid(anchor: Array, tips: Array, size: float) -> tuple[list[Part], PartPlaces]:
    """Base, platform and legs between points (legs, 3) in the world."""
    parts = [
        Part("base", None, GREY, _held(anchor, size)),
        Part("platform", None, YELLOW, _held(tips, size)),
    ]
    for leg, (start, end) in enumerate(zip(anchor, tips, strict=True)):
        rod = bars(start[np.newaxis], end[np.newaxis], 0.012 * size)
        parts.append(Part("leg", leg, leg_color(leg), rod))
    count = len(parts)
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    return parts, PartPlaces(np.zeros((count, 3)), upright, np.ones(count))


def _held(points: Array, size: float) -> SurfaceMesh:
    """A plate through points (n, 3); of points in no plane arms to them, which hide no legs."""
    middle = points.mean(axis=0)
    _, spread, _ = np.linalg.svd(points - middle, full_matrices=False)
    if len(spread) < 3 or spread[-1] < 0.05 * spread[0]:
        return slab(points, 0.02 * size, 0.02 * size)
    return bars(np.broadcast_to(middle, points.shape), points, 0.016 * size)
