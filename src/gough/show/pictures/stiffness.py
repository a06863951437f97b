"""Stiffness and natural frequencies over a plane of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.ndimage import distance_transform_edt, gaussian_filter

from gough.analysis.stiffness_map import StiffnessMap
from gough.base.arrays import Array
from gough.show.colors import DARK, GREY, VERMILION
from gough.show.pictures.planes import HOME, OUT, home_mark, plane
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot


def stiffness_picture(robot: Robot, found: StiffnessMap) -> Figure:
    """The map as a picture: stiffness in N/µm and, if known, the lowest frequency in Hz."""
    panels: list[tuple[Array, str]] = [(found.weakest / 1e6, "least stiffness of the tool [N/µm]")]
    known = np.isfinite(found.frequency).any()
    if known:
        holds = np.where(found.stable & (found.frequency > 0), found.frequency, np.nan)
        panels.append((holds, "lowest natural frequency [Hz]"))
    falls = np.isfinite(found.frequency) & ~found.stable
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2 * len(panels) + 0.3, 5.0), layout="constrained")
        for axes, (values, label) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            shade = _smooth(axes, found.first, found.second, values)
            if falls.any():
                axes.pcolormesh(
                    found.first, found.second, np.where(falls, 1.0, np.nan), alpha=0.7,
                    cmap=ListedColormap([VERMILION]), shading="nearest", rasterized=True,
                )  # fmt: skip
            _mark_home(axes, robot, found)
            plane(axes, *found.axes)
            figure.colorbar(shade, ax=axes, label=label, shrink=0.85, ticks=MaxNLocator(6))
        handles: list[Any] = [home_mark()]
        if np.isnan(found.weakest[~falls]).any():
            out = "out of the limits, or singular"
            handles.append(Patch(facecolor=OUT, edgecolor=GREY, label=out))
        if falls.any():
            handles.append(Patch(facecolor=VERMILION, alpha=0.7, label="does not hold itself"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        figure.suptitle(
            f"{robot.name}: stiffness at {found.across} = {found.at:.4g} m", parse_math=False
        )
    return figure


def _smooth(axes: Any, first: Array, second: Array, values: Array) -> Any:
    """Shades and labelled lines of values (m, n), up to where they are known.

    The edge of that is drawn half-way between the last grid point with a value and the first without.
    """
    known = np.isfinite(values)
    if not known.any():
        axes.set_facecolor(OUT)
        return axes.pcolormesh(first, second, values, cmap="viridis", vmin=0, vmax=1)
    nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
    filled = values[tuple(nearest)]
    low, high = float(filled.min()), float(filled.max())
    wide = high - low > 1e-9 * abs(high)
    levels = np.linspace(low, high, 65) if wide else np.linspace(0.99 * low, 1.01 * high + 1e-9, 3)
    shade = axes.contourf(first, second, filled, levels=levels, cmap="viridis")
    if wide:
        lines = axes.contour(
            first, second, filled, levels=MaxNLocator(6).tick_values(low, high), colors="white",
            linewidths=0.9,
        )  # fmt: skip
        for text in axes.clabel(lines, fontsize=9, fmt="%.4g", colors=DARK):
            text.set_path_effects(HALO)
            column, row = (
                int(np.argmin(np.abs(grid - at)))
                for grid, at in zip((first, second), text.get_position(), strict=True)
            )
            text.set_visible(bool(known[row, column]))
    if not known.all():
        inside = gaussian_filter(known.astype(float), 0.7)
        axes.contourf(first, second, inside, levels=[-1.0, 0.5], colors=[OUT], zorder=3)
        axes.contour(first, second, inside, levels=[0.5], colors=DARK, linewidths=1.2, zorder=3)
    return shade


def _mark_home(axes: Any, robot: Robot, found: StiffnessMap) -> None:
    if robot.description.home is not None:
        place = [robot.home.position["xyz".index(name)] for name in found.axes]
        axes.plot(*place, **HOME, markersize=7, zorder=4)
        axes.set_xlim(found.first[0], found.first[-1])
        axes.set_ylim(found.second[0], found.second[-1])
