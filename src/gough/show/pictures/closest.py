"""How near parts of a robot come to each other along a motion."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.analysis.closest import Closest
from gough.errors import InputError
from gough.show.colors import DARK, GREY, leg_color
from gough.show.style import STYLE

BETWEEN = {"leg": "two legs", "platform": "a leg and the platform", "base": "a leg and the base"}
"""Kinds of pairs by the second of them, in words."""


def distance_curves(near: Closest, name: str = "") -> Figure:
    """The least distance of each kind of pair over the samples (n,) or time; the closest is marked.

    `name` of the robot is for the title.
    """
    if near.distances.ndim != 2:
        raise InputError(
            f"distances of batch shape {near.distances.shape[:-1]}: needs samples (n,)"
        )
    x = np.arange(len(near.distances)) if near.time is None else near.time
    kinds = np.array([second.split()[0] for _, second in near.pairs])
    sample, _ = near.where
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for i, (kind, words) in enumerate(BETWEEN.items()):
            if np.any(kinds == kind):
                least = near.distances[:, kinds == kind].min(axis=1)
                axes.plot(x, least, color=leg_color(i), label=f"between {words}")
        axes.plot(x[sample], near.distance, "o", color=DARK, markersize=5)
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        axes.set_xlabel("sample" if near.time is None else "time [s]")
        axes.set_ylabel("least distance [m]")
        axes.set_title(f"{name}: {near}" if name else str(near), fontsize=10, parse_math=False)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
