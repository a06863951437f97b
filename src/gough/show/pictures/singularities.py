"""Where a robot is singular, in planes and in space, and how near it comes along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gough.analysis.clearance import Clearance
from gough.analysis.isosurface import Surface
from gough.analysis.locus import Slice
from gough.analysis.own_space import OwnSpace
from gough.analysis.singularities import Singularity, singularity
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.motion import Motion
from gough.show.colors import BLUE, GREY, ORANGE, VERMILION
from gough.show.pictures.planes import HOME, OUT, home_mark, plane
from gough.show.style import STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

COLORS = "viridis"


def slice_pictures(robot: Robot, slices: Sequence[Slice]) -> Figure:
    """The locus in planes, over the transmission index, which is 0 on it; home as a dot."""
    if not slices:
        raise InputError("no slices to draw")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.1 * len(slices) + 0.9, 4.6), layout="constrained")
        panels = figure.subplots(1, len(slices), squeeze=False)[0]
        shade: Any = None
        home = robot.description.home
        for axes, one in zip(panels, slices, strict=True):
            index = _transmission(robot, one)
            shade = axes.pcolormesh(
                one.first, one.second, index, cmap=COLORS, vmin=0, vmax=1, rasterized=True
            )
            for curve in one.curves:
                axes.plot(*curve.T, color=VERMILION, linewidth=2.4)
            if home is not None:
                place = dict(zip(COORDINATES, [*home.position, 0.0, 0.0, 0.0], strict=True))
                axes.plot(*(place[name] for name in one.axes), **HOME, markersize=7)
            axes.set_facecolor(OUT)
            plane(axes, *one.axes, units=one.units)
            axes.set_xlim(one.first[0], one.first[-1])
            axes.set_ylim(one.second[0], one.second[-1])
            if one.across:
                unit = "rad" if one.across.startswith("r") else "m"
                axes.set_title(f"{one.across} = {one.at:.4g} {unit}", fontsize=10)
        figure.colorbar(shade, ax=list(panels), label="transmission index", shrink=0.85)
        handles: list[Any] = [Line2D([], [], color=VERMILION, linewidth=2.4, label="singular")]
        if home is not None:
            handles.append(home_mark())
        if any(np.isnan(one.determinant).any() for one in slices):
            handles.append(Patch(facecolor=OUT, edgecolor=GREY, label="out of reach"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        where = "at constant orientation" if robot.mobility > 3 else "in its own coordinates"
        figure.suptitle(f"{robot.name}: singularities {where}", parse_math=False)
    return figure


def _transmission(robot: Robot, one: Slice) -> Array:
    """Transmission index (m, n) on a slice's grid; NaN out of reach."""
    found = singularity(robot, one.poses, on_error="nan").transmission
    return np.asarray(found.reshape(one.determinant.shape))


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
        space = OwnSpace.of(robot)
        axes.plot(*space.middle, **HOME, markersize=8)
        for axis, name, unit in zip("xyz", space.names, space.units, strict=True):
            getattr(axes, f"set_{axis}label")(f"{name} [{unit}]")
        if len(surface.faces) and len(set(space.units)) == 1:
            shown = np.concatenate([surface.vertices, space.middle[np.newaxis]])
            axes.set_box_aspect(np.maximum(np.ptp(shown, axis=0), 1e-9))
        handles: list[Any] = [
            Patch(facecolor=ORANGE, alpha=0.6, label="singular positions"),
            home_mark(8),
        ]
        figure.legend(handles=handles, loc="lower center", ncols=2)
        where = "positions of the platform at constant orientation"
        if robot.mobility <= 3:
            where = f"poses, by {', '.join(space.names)}"
        figure.suptitle(f"{robot.name}: singular {where}", parse_math=False)
    return figure


def _decades(values: Array) -> float:
    """How many powers of ten positive values span."""
    known = values[np.isfinite(values)]
    return float(np.log10(known.max() / known.min())) if len(known) else 0.0


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
        rows[0].plot(x, measures.condition, color=BLUE, linewidth=1.6)
        if _decades(measures.condition) > 1:
            rows[0].set_yscale("log")
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
