"""Drawings of a robot as on a workshop sheet: three views to one scale, and its home pose in bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.spatial import ConvexHull, QhullError

from gough.base.arrays import Array
from gough.motion import Motion
from gough.show.colors import BLACK, DARK, GREY, PALE, SKY, leg_color
from gough.show.pictures.robot import joint_places
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

WIDTH, TALLEST = 8.0, 9.0
"""Of a sheet, inches."""
MARGIN, GAP = 0.75, 0.6
"""Of the views from the edge and from each other, inches: room for labels."""


def three_views(robot: Robot, motion: Motion | None = None) -> Figure:
    """Top, front and side view (m, world axes) at home or at the first sample of a motion.

    Gravity points down the front and side views; the top view looks along it. All three have one
    scale; the top view stands above the front view, the side view (from the right) beside it.
    """
    motion = robot.home if motion is None else motion
    pose = motion[(0,) * len(motion.shape)]
    ground, universal, spherical = joint_places(robot, pose)
    path = motion.position.reshape(-1, 3)
    everything = np.concatenate([ground.reshape(-1, 3), universal, spherical, path])
    everything = everything[np.all(np.isfinite(everything), axis=-1)]
    low, high = everything.min(axis=0), everything.max(axis=0)
    room = 0.09 * float(np.max(high - low))
    low, high = low - room, high + room
    right, away, up, turned = _axes(robot.description.gravity)
    sizes = high - low
    scale = min(
        (WIDTH - 2 * MARGIN - GAP) / (sizes[right] + sizes[away]),
        (TALLEST - 2 * MARGIN - GAP) / (sizes[away] + sizes[up]),
    )
    height = scale * (sizes[away] + sizes[up]) + 2 * MARGIN + GAP
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        first, second = scale * sizes[right], scale * sizes[away]
        lower, upper = scale * sizes[up], scale * sizes[away]
        places = {
            ("top", right, away): (MARGIN, MARGIN + lower + GAP, first, upper),
            ("front", right, up): (MARGIN, MARGIN, first, lower),
            ("from the right", away, up): (MARGIN + first + GAP, MARGIN, second, lower),
        }
        for (name, across, along), (x, y, width, tall) in places.items():
            box = (x / WIDTH, y / height, width / WIDTH, tall / height)
            axes: Any = figure.add_axes(box)
            limits = [
                (high[i], low[i]) if turned[i] else (low[i], high[i]) for i in (across, along)
            ]
            axes.set(xlim=limits[0], ylim=limits[1])
            _view(axes, robot, (ground, universal, spherical), [across, along])
            if len(path) > 1:
                axes.plot(path[:, across], path[:, along], color=BLACK, linewidth=1.2)
            axes.set_title(name, loc="left", fontsize=10)
            axes.set(xlabel=f"{'xyz'[across]} [m]", ylabel=f"{'xyz'[along]} [m]")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(5))
        handles, labels = figure.axes[0].get_legend_handles_labels()
        corner = ((MARGIN + first + GAP) / WIDTH, (MARGIN + lower + GAP + upper) / height)
        figure.legend(handles, labels, loc="upper left", bbox_to_anchor=corner)
    return figure


def home_bars(robot: Robot, q: Array, forces: Array | None) -> Figure:
    """Leg coordinates at home within their strokes, and the forces that hold the pose."""
    limits, count, units = robot.description.limits, robot.leg_count, robot.leg_kind.units
    place = np.arange(1, count + 1)
    colors = [leg_color(i) for i in range(count)]
    panels = 1 if forces is None else 2
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.9 + 0.3 * count), layout="constrained")
        rows = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        stroke: Any = rows[0]
        known = np.isfinite(limits.shortest) & np.isfinite(limits.longest)
        span = np.where(known, limits.longest - limits.shortest, 0.0)
        start = np.where(known, limits.shortest, q)
        if np.any(known):
            stroke.barh(place, span, left=start, height=0.5, color=PALE, label="stroke")
        stroke.scatter(q, place, c=colors, s=45, zorder=3, edgecolor=DARK, linewidth=0.8)
        stroke.set(xlabel=f"leg coordinate q [{units.q}]", ylabel="leg")
        stroke.set_title("at home" + (", in its stroke" if np.any(known) else ""), loc="left")
        if forces is not None:
            holding: Any = rows[1]
            holding.barh(place, forces, height=0.5, color=colors)
            holding.axvline(0, color=DARK, linewidth=0.8)
            largest = float(np.min(limits.force))
            if np.isfinite(largest) and largest < 4 * float(np.abs(forces).max(initial=0.0)):
                for side in (-largest, largest):
                    holding.axvline(side, color=GREY, linestyle=":", linewidth=1.5)
            holding.set(xlabel=rf"holding force $\Gamma$ [{units.force}]")
            holding.set_title("against gravity", loc="left")
        stroke.set_yticks(place)
        stroke.invert_yaxis()
        for axes in rows:
            axes.grid(axis="y", visible=False)
            axes.title.set_fontsize(10)
    return figure


def _axes(gravity: Array) -> tuple[int, int, int, Array]:
    """Axes that point right, away and up in the views, and which of them are turned round.

    Up is the axis most against gravity, right the next one, away = up × right.
    """
    up = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    right, away = (up + 1) % 3, (up + 2) % 3
    turned = np.zeros(3, dtype=bool)
    turned[[up, away]] = gravity[up] > 0
    return right, away, up, turned


def _view(axes: Any, robot: Robot, places: tuple[Array, Array, Array], seen: list[int]) -> None:
    """Ground, legs, joints and platform on two axes of the world."""
    ground, universal, spherical = (place[..., seen] for place in places)
    if ground.shape[1] == 1:
        _outline(axes, ground[:, 0], facecolor=PALE, edgecolor=GREY, alpha=0.5)
    else:
        for rail in ground:
            axes.plot(*rail.T, color=GREY, linewidth=3, solid_capstyle="butt")
    middle = universal.mean(axis=0)
    for leg, (start, end) in enumerate(zip(universal, spherical, strict=True)):
        color = leg_color(leg)
        axes.plot(*np.stack([start, end]).T, color=color, linewidth=3.5, label=f"leg {leg + 1}")
        out = start - middle
        length = float(np.hypot(*out)) or 1.0
        axes.annotate(
            str(leg + 1),
            start,
            xytext=11 * out / length * _sides(axes),
            textcoords="offset points",
            color=color,
            fontweight="bold",
            ha="center",
            va="center",
            path_effects=HALO,
            zorder=6,
        )
    _outline(axes, spherical, facecolor=SKY, edgecolor=DARK, alpha=0.4, zorder=4)
    joint = {"linestyle": "", "color": "white", "markeredgecolor": DARK, "zorder": 5}
    axes.plot(*universal.T, marker="s", markersize=5.5, label="universal joint", **joint)
    axes.plot(*spherical.T, marker="o", markersize=5.5, label="spherical joint", **joint)


def _sides(axes: Any) -> Array:
    """−1 along an axis that is turned round."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return np.sign([right - left, top - bottom])


def _outline(axes: Any, points: Array, **style: Any) -> None:
    """The convex outline of what is seen of points; a line where they are seen edge on."""
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        spread = points - points.mean(axis=0)
        along = spread @ np.linalg.svd(spread, full_matrices=False)[2][0]
        corners = points[[int(np.argmin(along)), int(np.argmax(along))]]
        style = {"color": style["edgecolor"], "zorder": style.get("zorder", 1)}
        axes.plot(*corners.T, linewidth=2.5, **style)
        return
    axes.fill(*corners.T, **style)
