"""Pictures of workspaces: slices that say what limits them, and their surface around the robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import LightSource, ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from gough.analysis.closest import WIDEST
from gough.analysis.isosurface import Surface
from gough.analysis.workspace_result import Workspace
from gough.base.arrays import Array
from gough.base.words import within
from gough.errors import InputError
from gough.model.places import placed_legs
from gough.show.colors import BLUE, DARK, leg_color
from gough.show.pictures.planes import HOME, home_mark, plane
from gough.show.style import STYLE

POINTS, SURFACE_POINTS = 201, 41
"""A side of a slice's grid, and of a surface's."""
MOST_SLICES = 6
KINDS = {
    "longest stroke": ("longest stroke", "#F4C7A1"),
    "shortest stroke": ("shortest stroke", "#F7E9A0"),
    "reach": ("reach of the link", "#E3E5E8"),
    "universal_angle": ("universal joint", "#CFE8DC"),
    "spherical_angle": ("spherical joint", "#BFD7EA"),
    "legs": ("leg against leg", "#E8C6DA"),
    "platform": ("leg against platform", "#C9BFE6"),
    "singularity": ("singularity", "#D9775F"),
    "apart": ("no way from home", "#9AA3AD"),
    "within": ("angle asked for", "#FFFFFF"),
    "bounds": ("bounds asked for", "#FFFFFF"),
}
"""What stops the robot: in words, and its colour."""
SELDOM = 0.003
"""Share of a surface's triangles below which the legend does not speak of what limits them."""


def default_slices(found: Workspace) -> list[tuple[str, float]]:
    """Two planes through home, or through the middle of the largest box."""
    if found.unit == "rad":
        return [("z", 0.0), ("y", 0.0)]
    if found.robot.description.home is not None:
        place = found.robot.home.position
    else:
        place = found.centre[np.argmax(found.lower)] if len(found.centre) else np.zeros(3)
    return [("z", float(place[2])), ("y", float(place[1]))]


def slices(found: Workspace, planes: Sequence[tuple[str, float]] | None = None) -> Figure:
    """The workspace in planes ("z", 0.8): how far the nearest limit is inside, what limits outside."""
    planes = default_slices(found) if planes is None else list(planes)
    if not 1 <= len(planes) <= MOST_SLICES:
        raise InputError(f"{len(planes)} slices: a picture has 1 to {MOST_SLICES}")
    for axis, at in planes:
        if axis not in tuple("xyz"):
            raise InputError(f"a slice is across 'x', 'y' or 'z', not {axis!r}")
        if not abs(at) <= WIDEST:
            raise InputError(f"a slice at {axis} = {at:g}: must be at most {WIDEST:g}")
    scale, unit = (np.degrees(1.0), "°") if found.unit == "rad" else (1.0, "m")
    names = "xyz" if unit == "m" else ("rx", "ry", "rz")
    limits = _limits(found)
    panels_data = [_plane(found, axis, at, limits) for axis, at in planes]
    deepest = max((float(one[3].max()) for one in panels_data), default=0.0)
    columns = min(len(planes), 3)
    rows = -(-len(planes) // columns)
    seen: set[str] = set()
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.3 * columns + 1.0, 4.1 * rows + 1.2), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        shade: Any = None
        for axes, (axis, at), data in zip(panels, planes, panels_data, strict=False):
            first, second, grids, depth, kind = data
            x, y = (scale * grid for grid in grids)
            colors = ListedColormap([color for _, color in KINDS.values()])
            outside = np.where(depth < 0, kind, np.nan)
            axes.pcolormesh(
                x, y, outside, cmap=colors, vmin=-0.5, vmax=len(KINDS) - 0.5, rasterized=True
            )
            shade = axes.pcolormesh(
                x, y, np.where(depth >= 0, scale * depth, np.nan), cmap="viridis_r", vmin=0,
                vmax=max(scale * deepest, 1e-12), rasterized=True,
            )  # fmt: skip
            if depth.min() < 0 < depth.max():
                axes.contour(x, y, depth, levels=[0.0], colors=DARK, linewidths=1.6)
            seen |= {list(KINDS)[int(k)] for k in np.unique(kind[depth < 0])}
            _mark_home(axes, found, (first, second))
            plane(axes, names[first], names[second], (unit, unit))
            axes.set_title(f"{names['xyz'.index(axis)]} = {scale * at:.4g} {unit}", fontsize=10)
        for axes in panels[len(planes) :]:
            axes.set_visible(False)
        figure.colorbar(
            shade, ax=list(panels), label=f"room to the nearest limit [{unit}]", shrink=0.85
        )
        handles: list[Any] = [
            Patch(facecolor=color, edgecolor=DARK, linewidth=0.5, label=f"out: {name}")
            for key, (name, color) in KINDS.items()
            if key in seen
        ]
        if found.robot.description.home is not None:
            handles.append(home_mark())
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(len(handles), max(2, 3 * columns - 2)),
        )
        title = _title(found) if columns > 1 else _title(found).replace(": ", "\n", 1)
        figure.suptitle(title, parse_math=False)
    return figure


def surface_picture(found: Workspace, skin: Surface | None = None) -> Figure:
    """The boundary of a workspace of positions in space, with the robot at home."""
    skin = found.surface(points=SURFACE_POINTS) if skin is None else skin
    if not len(skin.faces):
        raise InputError(f"{found.name} is empty: nothing to draw")
    scale, unit = (np.degrees(1.0), "°") if found.unit == "rad" else (1.0, "m")
    names = "xyz" if unit == "m" else ("rx", "ry", "rz")
    vertices = scale * skin.vertices
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 6.4))
        axes: Any = figure.add_axes((0.02, 0.09, 0.92, 0.84), projection="3d")
        corners = vertices[skin.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(normal, axis=1, keepdims=True)
        light = LightSource(azdeg=200, altdeg=40)
        bright = light.shade_normals(normal / np.where(size > 0, size, 1.0), fraction=0.8)
        kind = _kinds(found)[found.margins(skin.vertices[skin.faces].mean(axis=1)).argmin(axis=-1)]
        paint = np.array([matplotlib.colors.to_rgb(color) for _, color in KINDS.values()])
        shown = np.clip((0.55 + 0.45 * bright)[:, np.newaxis] * paint[kind], 0, 1)
        axes.add_collection3d(
            Poly3DCollection(
                corners, facecolors=np.c_[shown, np.full(len(shown), 0.7)], linewidth=0
            )
        )
        points = [vertices]
        handles: list[Any] = [
            Patch(facecolor=color, edgecolor=DARK, linewidth=0.5, label=f"limited by {name}")
            for i, (name, color) in enumerate(KINDS.values())
            if np.mean(kind == i) > SELDOM
        ]
        if found.unit == "m" and found.robot.description.home is not None:
            points.append(_robot(axes, found))
            handles += [
                Line2D([], [], color=BLUE, linewidth=1.6, label="legs at home"),
                home_mark(),
            ]
        everything = np.concatenate(points)
        low, high = everything.min(axis=0), everything.max(axis=0)
        for i, name in enumerate("xyz"):
            getattr(axes, f"set_{name}lim")(low[i], high[i])
            getattr(axes, f"set_{name}label")(f"{names[i]} [{unit}]", labelpad=8)
        sides = np.maximum(high - low, 1e-9)
        if unit == "°":
            sides = np.maximum(sides, 0.6 * sides.max())
        axes.set_box_aspect(sides, zoom=1.12 if sides[2] < 0.9 * sides[:2].max() else 0.95)
        axes.locator_params(nbins=5)
        axes.view_init(elev=18, azim=-55)
        figure.legend(handles=handles, loc="lower center", ncols=3, fontsize=8)
        figure.suptitle(_title(found), parse_math=False)
    return figure


def _limits(found: Workspace) -> Array:
    """(3, 2) around the boxes of which a part is proved inside, with some room."""
    box = found.extent if np.any(found.lower > 0) else found.bounds
    room = 0.1 * np.maximum(box[:, 1:] - box[:, :1], 1e-9)
    return np.asarray(box + room * [-1.0, 1.0])


def _plane(
    found: Workspace, axis: str, at: float, limits: Array
) -> tuple[int, int, tuple[Array, Array], Array, Array]:
    """The plane's two axes, its grid, the least margin there and which kind of condition has it."""
    across = "xyz".index(axis)
    first, second = (i for i in range(3) if i != across)
    (a, b), (c, d) = limits[first], limits[second]
    grids = (np.linspace(a, b, POINTS), np.linspace(c, d, POINTS))
    place = np.full((POINTS, POINTS, 3), float(at))
    place[..., first], place[..., second] = np.meshgrid(*grids)
    margins = found.margins(place)
    least, kind = margins.min(axis=-1), _kinds(found)[margins.argmin(axis=-1)]
    apart = (least >= 0) & ~found.contains(place)
    return (
        first,
        second,
        grids,
        np.where(apart, -np.abs(least) - 1e-9, least),
        np.where(apart, list(KINDS).index("apart"), kind),
    )


def _kinds(found: Workspace) -> Array:
    """Of each margin its number in KINDS."""
    return np.array([list(KINDS).index(label) for label in found.labels])


def _robot(axes: Any, found: Workspace) -> Array:
    """The robot at home as lines; its points (n, 3)."""
    robot, home = found.robot, found.robot.home
    legs = placed_legs(robot, home, robot.inverse_kinematics(home))
    runs = [points for one in legs for points in one.places.points]
    for leg, points in enumerate(runs):
        axes.plot(*points.T, color=leg_color(leg), linewidth=1.6)
    foot, tip = (np.stack([points[end] for points in runs]) for end in (0, -1))
    for ring in (foot, tip):
        angle = np.arctan2(*(ring - ring.mean(axis=0))[:, 1::-1].T)
        loop = ring[np.argsort(angle)]
        axes.plot(*np.concatenate([loop, loop[:1]]).T, color=DARK, linewidth=1.2)
    axes.plot(*home.position, **HOME, markersize=7)
    return np.concatenate(runs)


def _mark_home(axes: Any, found: Workspace, plane: tuple[int, int]) -> None:
    if found.robot.description.home is None:
        return
    place = np.zeros(3) if found.unit == "rad" else found.robot.home.position
    axes.plot(*place[list(plane)], **HOME, markersize=7)


def _title(found: Workspace) -> str:
    unit = "m³" if found.unit == "m" else "rad³"
    return f"{found.robot.name}: {found.name}, {within(found.volume, found.error, 4, 1)} {unit}"
