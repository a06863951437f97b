"""A vehicle and the cues of it: what is sensed in each, and how much of its limits the robot uses."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.cueing import Cued
from gough.show.colors import DARK, GREY, leg_color
from gough.show.style import STYLE

SHOWN = (
    ("force x [m/s²]", 0, 1.0),
    ("force y [m/s²]", 1, 1.0),
    ("force z [m/s²]", 2, 1.0),
    ("roll rate [deg/s]", 3, 180 / np.pi),
    ("pitch rate [deg/s]", 4, 180 / np.pi),
    ("yaw rate [deg/s]", 5, 180 / np.pi),
)
"""Sensed quantities: label, column, factor."""


def cue_picture(found: Cued) -> Figure:
    """One cue beside the vehicle."""
    return cueing_curves("cue", {"cue": found})


def cueing_curves(name: str, found: Mapping[str, Cued]) -> Figure:
    """What is sensed over time, in the vehicle and by every cue; below, shares of limits."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 2.0 + 1.5 * (3 + len(found))), layout="constrained")
        grid = figure.add_gridspec(3 + len(found), 2)
        figure.suptitle(
            f"{name}: what is sensed, and how much of its limits the cue takes", parse_math=False
        )
        for label, column, factor in SHOWN:
            axes = figure.add_subplot(grid[column % 3, column // 3])
            first = next(iter(found.values())).sensation
            axes.plot(first.time, factor * first.wanted[:, column], color=DARK, label="vehicle")
            for i, (way, one) in enumerate(found.items()):
                given = factor * one.sensation.given[:, column]
                text = f"{way}: error {one.error:.2f}"
                axes.plot(one.sensation.time, given, color=leg_color(i), label=text, linewidth=1.2)
            axes.set_ylabel(label)
            if column == 0:
                figure.legend(
                    *axes.get_legend_handles_labels(), loc="outside lower center", ncols=3
                )
        for row, (way, one) in enumerate(found.items()):
            axes = figure.add_subplot(grid[3 + row, :])
            for i, (limit, share) in enumerate(one.shares.items()):
                axes.plot(one.sensation.time, share, color=leg_color(i + 2), label=limit)
            axes.axhline(1.0, color=GREY, linewidth=0.8)
            axes.set_ylim(0, 1.3)
            axes.set_ylabel(f"{way}:\nof a limit")
            axes.legend(loc="upper right", ncols=3, fontsize=8)
            axes.set_xlabel("time [s]" if row == len(found) - 1 else "")
    return figure
