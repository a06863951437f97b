"""Drawings of a robot as on a workshop sheet: three views to one scale, and its home pose in bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.spatial import ConvexHull, QhullError

from gough.base.arrays import Array
from gough.legs.reading import actuator_names, by_units
from gough.legs.units import LegUnits
from gough.model.places import PlacedLegs, bodies, tips
from gough.motion import Motion
from gough.show.colors import BLACK, DARK, GREY, PALE, SKY, leg_color
from gough.show.pictures.robot import joint_places, rails
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

MARKERS = {"universal": "s", "spherical": "o"}
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
    stands, legs = joint_places(robot, pose)
    path = motion.position.reshape(-1, 3)
    joints = [one.places.points.reshape(-1, 3) for one in legs]
    everything = np.concatenate([stands.reshape(-1, 3), *joints, path])
    everything = everything[np.all(np.isfinite(everything), axis=-1)]
    low, high = everything.min(axis=0), everything.max(axis=0)
    size = float(np.max(high - low))
    drawn = [
        (leg, bar.colored, bar.line, np.stack([start, end]))
        for alike, bar in bodies(legs, joint_places(robot, robot.home)[1], size)
        for leg, start, end in zip(
            range(alike.which.start, alike.which.stop), bar.seen, bar.end, strict=True
        )
    ]
    room = 0.09 * size
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
            _view(axes, stands, legs, drawn, [across, along])
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
    """Actuated coordinates at home within their strokes, and the forces that hold the pose.

    A row of panels per unit: m and N, rad and N m.
    """
    limits, actuators = robot.description.limits, robot.actuators
    colors = np.array([leg_color(one.leg) for one in actuators])
    names = np.array(actuator_names(actuators))
    parts = by_units(actuators)
    counts = [len(which) for _, which in parts]
    panels = 1 if forces is None else 2
    with matplotlib.rc_context(STYLE):
        size = (WIDTH, 0.9 * len(parts) + 0.3 * sum(counts))
        figure = Figure(figsize=size, layout="constrained")
        rows = figure.subplots(
            len(parts), panels, sharey="row", squeeze=False, height_ratios=[n + 2 for n in counts]
        )
        for row, (units, which) in zip(rows, parts, strict=True):
            place = np.arange(1, len(which) + 1)
            stroke: Any = row[0]
            shortest, longest = limits.shortest[which], limits.longest[which]
            known = np.isfinite(shortest) & np.isfinite(longest)
            span, start = (
                np.where(known, longest - shortest, 0.0),
                np.where(known, shortest, q[which]),
            )
            if np.any(known):
                stroke.barh(place, span, left=start, height=0.5, color=PALE, label="stroke")
            stroke.scatter(
                q[which], place, c=colors[which], s=45, zorder=3, edgecolor=DARK, linewidth=0.8
            )
            stroke.set(xlabel=f"actuated coordinate q [{units.q}]")
            stroke.set_title("at home" + (", in its stroke" if np.any(known) else ""), loc="left")
            if forces is not None:
                _holding(row[1], place, forces[which], limits.force[which], colors[which], units)
            stroke.set_yticks(place, names[which])
            stroke.invert_yaxis()
            for axes in row:
                axes.grid(axis="y", visible=False)
                axes.title.set_fontsize(10)
    return figure


def _holding(
    axes: Any, place: Array, forces: Array, allowed: Array, colors: Array, units: LegUnits
) -> None:
    """Forces that hold a pose, as bars."""
    axes.barh(place, forces, height=0.5, color=colors)
    axes.axvline(0, color=DARK, linewidth=0.8)
    largest = float(np.min(allowed))
    if np.isfinite(largest) and largest < 4 * float(np.abs(forces).max(initial=0.0)):
        for side in (-largest, largest):
            axes.axvline(side, color=GREY, linestyle=":", linewidth=1.5)
    axes.set(xlabel=rf"holding force $\Gamma$ [{units.force}]")
    axes.set_title("against gravity", loc="left")


def _axes(gravity: Array) -> tuple[int, int, int, Array]:
    """Axes that point right, away and up in the views, and which of them are turned round.

    Up is the axis most against gravity, right the next one, away = up × right.
    """
    up = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    right, away = (up + 1) % 3, (up + 2) % 3
    turned = np.zeros(3, dtype=bool)
    turned[[up, away]] = gravity[up] > 0
    return right, away, up, turned


Drawn = tuple[int, bool, float, Array]
"""A body: its leg, whether it has the leg's colour, its width in points, its ends (2, 3)."""


def _view(
    axes: Any, stands: Array, legs: list[PlacedLegs], drawn: list[Drawn], seen: list[int]
) -> None:
    """Ground, legs, joints and platform on two axes of the world."""
    long = rails(stands)
    if not np.any(long):
        _outline(axes, stands[:, 0][:, seen], facecolor=PALE, edgecolor=GREY, alpha=0.5)
    for rail in stands[long][..., seen]:
        axes.plot(*rail.T, color=GREY, linewidth=3, solid_capstyle="butt")
    for leg, colored, width, ends in drawn:
        color = leg_color(leg) if colored else DARK
        line = {"color": color, "linewidth": 0.65 * width, "solid_capstyle": "butt"}
        axes.plot(*ends[:, seen].T, zorder=3 if colored else 2, **line)
    feet = np.concatenate([one.places.points[:, 0] for one in legs])[:, seen]
    middle = feet.mean(axis=0)
    for leg, foot in enumerate(feet):
        axes.plot([], [], color=leg_color(leg), linewidth=3.5, label=f"leg {leg + 1}")
        out = foot - middle
        length = float(np.hypot(*out)) or 1.0
        axes.annotate(
            str(leg + 1),
            foot,
            xytext=11 * out / length * _sides(axes),
            textcoords="offset points",
            color=leg_color(leg),
            fontweight="bold",
            ha="center",
            va="center",
            path_effects=HALO,
            zorder=6,
        )
    _outline(axes, tips(legs)[:, seen], facecolor=SKY, edgecolor=DARK, alpha=0.4, zorder=4)
    told = set()
    for one in legs:
        for i, (joint, driven) in enumerate(zip(one.places.joints, one.places.driven, strict=True)):
            if joint == "prismatic":
                continue
            name = "driven joint" if driven else f"{joint} joint"
            style = {"linestyle": "", "color": DARK if driven else "white", "zorder": 5}
            style |= {"markeredgecolor": DARK, "markersize": 5.5, "marker": MARKERS.get(joint, "D")}
            label = {} if name in told else {"label": name}
            axes.plot(*one.places.points[:, i][:, seen].T, **style, **label)
            told.add(name)


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
