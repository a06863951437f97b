"""Curves of forces and powers in the panel, and the line through them that says where the player is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gough.motion import Array
from gough.plots import PALETTE

if TYPE_CHECKING:
    from gough.studio.record import Record

POINTS = 400
"""Most points of a curve; the largest and smallest of what lies between are kept."""
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 190, 62, 14, 10, 26
"""Of a plot, pixels: its height and the margins round the curves."""


def thinned(time: Array, values: Array) -> tuple[Array, Array]:
    """At most `POINTS` times and values (n, k), such that peaks of every curve stay."""
    if len(time) <= POINTS:
        return time, values
    parts = np.array_split(np.arange(len(time)), POINTS // (2 * values.shape[1]) or 1)
    chosen = {0, len(time) - 1}
    for part in parts:
        piece = np.where(np.isfinite(values[part]), values[part], 0.0)
        chosen |= {int(part[i]) for i in (*piece.argmin(axis=0), *piece.argmax(axis=0))}
    rows = sorted(chosen)
    return time[rows], values[rows]


def panels(shown: Record) -> dict[str, Array]:
    """What is plotted, by its label: (n, legs) each."""
    if shown.forces is None or shown.power is None:
        return {"q [m]": shown.q}
    return {"force [N]": shown.forces, "power [W]": shown.power}


def plot_options(time: Array, values: Array, label: str) -> dict[str, Any]:
    """Arguments of viser's `add_uplot` for one plot of all legs."""
    times, curves = thinned(time, values)
    series: list[dict[str, Any]] = [{"label": "time [s]"}]
    for leg in range(values.shape[1]):
        color = PALETTE[leg % len(PALETTE)]
        series.append(
            {"label": f"{leg + 1}", "stroke": color, "width": 1.6, "points": {"show": False}}
        )
    grid = {"stroke": "#E9EBEE", "width": 1}
    axis = {"stroke": "#6B717A", "grid": grid, "ticks": grid, "font": "11px sans-serif"}
    return {
        "data": (times, *curves.T),
        "series": tuple(series),
        "scales": {"x": {"time": False}},
        "axes": (
            axis | {"size": BOTTOM},
            axis | {"size": LEFT, "label": label, "labelSize": 16, "labelFont": "11px sans-serif"},
        ),
        "legend": {"show": False},
        "height": HEIGHT,
        "padding": (TOP, RIGHT, 0, 0),
    }


def marker(part: float, value: str = "") -> str:
    """A vertical line over the plot before it, at a part (0 to 1) of its width."""
    across = f"calc({LEFT + 16}px + (100% - {LEFT + 16 + RIGHT}px) * {part:.5f})"
    line = (
        f"position:absolute;left:{across};bottom:{BOTTOM + 9}px;height:{HEIGHT - TOP - BOTTOM}px;"
        "border-left:1.5px solid #3C4148;pointer-events:none"
    )
    return f'<div style="position:relative;height:0"><div style="{line}">{value}</div></div>'
