"""Pictures of postures and of singularities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull, QhullError

from gough.analysis.clearance import Clearance
from gough.analysis.isosurface import Surface
from gough.analysis.locus import Slice
from gough.analysis.singularities import Singularity, lines, output_transmission
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model import forward
from gough.motion import Motion
from gough.show.plots import BLUE, DARK, GREY, ORANGE, PALETTE, STYLE, VERMILION

if TYPE_CHECKING:
    from gough.robot import Robot

COLUMNS, MOST = 8, 40
COLORS = "viridis"
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
    middle = (everything.max(axis=0) + everything.min(axis=0)) / 2
    half = float(np.ptp(everything, axis=0).max()) / 2
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
                axes.plot(
                    *np.stack(ends).T, color=PALETTE[leg % len(PALETTE)], linewidth=1.5, zorder=3
                )
            for i, name in enumerate("xyz"):
                getattr(axes, f"set_{name}lim")(middle[i] - half, middle[i] + half)
            axes.set_box_aspect((1, 1, 1), zoom=1.4)
            axes.view_init(elev=22, azim=-60)
            axes.set_axis_off()
            axes.text2D(0.04, 0.9, str(k + 1), transform=axes.transAxes, color=DARK)
        more = f", first {count}" if count < len(motion) else ""
        head = title or f"{robot.name}: {len(motion)} postures of one set of leg coordinates{more}"
        figure.suptitle(head, y=1 - 0.12 / height, va="top", parse_math=False)
        handles: list[Any] = [
            Line2D([], [], color=PALETTE[i % len(PALETTE)], label=f"leg {i + 1}")
            for i in range(robot.leg_count)
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


def slice_pictures(robot: Robot, slices: Sequence[Slice], rotation: Array) -> Figure:
    """The locus in planes, over the transmission index, which is 0 on it; home as a dot."""
    if not slices:
        raise InputError("no slices to draw")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.1 * len(slices) + 0.9, 4.6), layout="constrained")
        panels = figure.subplots(1, len(slices), squeeze=False)[0]
        shade: Any = None
        home = robot.description.home
        for axes, one in zip(panels, slices, strict=True):
            index = _transmission(robot, one, rotation)
            shade = axes.pcolormesh(
                one.first, one.second, index, cmap=COLORS, vmin=0, vmax=1, rasterized=True
            )
            for curve in one.curves:
                axes.plot(*curve.T, color=VERMILION, linewidth=2.4)
            if home is not None:
                place = [home.position["xyz".index(name)] for name in one.axes]
                axes.plot(*place, marker="o", color="white", markeredgecolor=DARK, markersize=7)
            axes.set_facecolor("#EEEEEE")
            axes.set_aspect("equal")
            axes.grid(False)
            axes.set_xlim(one.first[0], one.first[-1])
            axes.set_ylim(one.second[0], one.second[-1])
            axes.set_xlabel(f"{one.axes[0]} [m]")
            axes.set_ylabel(f"{one.axes[1]} [m]")
            axes.set_title(f"{one.across} = {one.at:.4g} m", fontsize=10)
        figure.colorbar(shade, ax=list(panels), label="transmission index", shrink=0.85)
        handles: list[Any] = [Line2D([], [], color=VERMILION, linewidth=2.4, label="singular")]
        if home is not None:
            handles.append(
                Line2D([], [], linestyle="", marker="o", color="white", markeredgecolor=DARK,
                       markersize=7, label="home")
            )  # fmt: skip
        if any(np.isnan(one.determinant).any() for one in slices):
            handles.append(Patch(facecolor="#EEEEEE", edgecolor=GREY, label="out of reach"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        figure.suptitle(f"{robot.name}: singularities at constant orientation", parse_math=False)
    return figure


def _transmission(robot: Robot, one: Slice, rotation: Array) -> Array:
    """Transmission index (m, n) on a slice's grid; NaN out of reach."""
    axes = {name: grid for name, grid in zip(one.axes, np.meshgrid(one.first, one.second))}  # noqa: B905
    axes[one.across] = np.full(one.determinant.shape, one.at)
    place = np.stack([axes[name] for name in "xyz"], axis=-1).reshape(-1, 3)
    found = lines(robot, place, np.broadcast_to(rotation, (len(place), 3, 3)))
    index = np.minimum(np.abs(found.slope), output_transmission(found, robot.length_scale))
    index = np.where(np.isnan(found.slope), np.nan, index).min(axis=1)
    return np.asarray(index.reshape(one.determinant.shape))


def surface_picture(robot: Robot, surface: Surface) -> Figure:
    """The locus of singular positions in space, with the robot's anchors and platform at home."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 6.0))
        axes: Any = figure.add_axes((0.0, 0.09, 0.96, 0.86), projection="3d")
        if len(surface.faces):
            x, y, z = surface.vertices.T
            axes.plot_trisurf(
                x, y, z, triangles=surface.faces, color=ORANGE, alpha=0.6, linewidth=0
            )
        else:
            axes.text2D(
                0.5, 0.9, "no singular position here", transform=axes.transAxes, ha="center"
            )
        if robot.description.home is not None:
            home = robot.home
            axes.plot(*home.position, marker="o", color="white", markeredgecolor=DARK, markersize=8)
        for name in "xyz":
            getattr(axes, f"set_{name}label")(f"{name} [m]")
        if len(surface.faces):
            shown = surface.vertices
            if robot.description.home is not None:
                shown = np.concatenate([shown, robot.home.position[np.newaxis]])
            axes.set_box_aspect(np.maximum(np.ptp(shown, axis=0), 1e-9))
        handles: list[Any] = [
            Patch(facecolor=ORANGE, alpha=0.6, label="singular positions"),
            Line2D([], [], linestyle="", marker="o", color="white", markeredgecolor=DARK,
                   markersize=8, label="home"),
        ]  # fmt: skip
        figure.legend(handles=handles, loc="lower center", ncols=2)
        figure.suptitle(
            f"{robot.name}: singular positions of the platform at constant orientation",
            parse_math=False,
        )
    return figure


def course(motion: Motion, measures: Singularity, found: Clearance) -> Figure:
    """Condition number, transmission and distance to the nearest singularity along a motion (n,)."""
    if len(motion.shape) != 1 or not len(motion):
        raise InputError(f"motion of batch shape {motion.shape}: curves need shape (n,)")
    timed = motion.time is not None
    x = np.arange(len(motion)) if motion.time is None else np.asarray(motion.time)
    before, after = found.determinant[found.crossings], found.determinant[found.crossings + 1]
    gaps = x[found.crossings + 1] - x[found.crossings]
    crossings = x[found.crossings] + gaps * before / (before - after)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 6.4), layout="constrained")
        rows = figure.subplots(3, sharex=True)
        rows[0].semilogy(x, measures.condition, color=BLUE, linewidth=1.6)
        rows[0].set_ylabel(f"condition number\n(L = {measures.length:.4g} m)")
        rows[1].plot(x, measures.transmission, color=BLUE, linewidth=1.6)
        rows[1].set_ylabel("transmission index")
        rows[1].set_ylim(0, 1)
        finite = np.where(np.isfinite(found.distance), found.distance, np.nan)
        rows[2].plot(x, finite, color=BLUE, linewidth=1.6)
        rows[2].set_ylabel("distance to the\nnearest singularity [m]")
        rows[2].set_ylim(bottom=0)
        marks = []
        for axes in rows:
            axes.margins(x=0)
            marks = [
                axes.axvline(at, color=VERMILION, linewidth=1.6, linestyle="--") for at in crossings
            ]
        if marks:
            marks[0].set_label("the motion crosses a singularity")
            figure.legend(handles=marks[:1], loc="outside lower center")
        rows[-1].set_xlabel("time [s]" if timed else "sample")
        figure.align_ylabels()
        figure.suptitle("Nearness to singularities")
    return figure
