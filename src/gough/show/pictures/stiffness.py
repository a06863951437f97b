"""Stiffness and natural frequencies over a plane of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gough.analysis.stiffness_map import StiffnessMap
from gough.base.arrays import Array
from gough.show.colors import DARK, GREY, VERMILION
from gough.show.pictures.planes import HOME, OUT, home_mark, plane
from gough.show.style import STYLE

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
            axes.set_facecolor(OUT)
            shade = axes.pcolormesh(
                found.first,
                found.second,
                values,
                cmap="viridis",
                rasterized=True,
                shading="nearest",
            )
            if falls.any():
                axes.pcolormesh(
                    found.first, found.second, np.where(falls, 1.0, np.nan), alpha=0.7,
                    cmap=ListedColormap([VERMILION]), shading="nearest", rasterized=True,
                )  # fmt: skip
            finite = values[np.isfinite(values)]
            if len(finite) and np.ptp(finite) > 0:
                lines = axes.contour(
                    found.first, found.second, values, colors=DARK, linewidths=0.8, levels=6
                )
                axes.clabel(lines, fontsize=8)
            _mark_home(axes, robot, found)
            plane(axes, *found.axes)
            figure.colorbar(shade, ax=axes, label=label, shrink=0.85)
        handles: list[Any] = [
            home_mark(),
        ]
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


def _mark_home(axes: Any, robot: Robot, found: StiffnessMap) -> None:
    if robot.description.home is not None:
        place = [robot.home.position["xyz".index(name)] for name in found.axes]
        axes.plot(*place, **HOME, markersize=7)
        axes.set_xlim(found.first[0], found.first[-1])
        axes.set_ylim(found.second[0], found.second[-1])
