"""Curves of forces and powers in the panel, and the line through them that says where the player is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import by_units
from gough.show.colors import DARK, leg_color
from gough.studio.tables import INSET

if TYPE_CHECKING:
    from gough.studio.record import StudioRecord

POINTS = 1500
"""Most points of a curve; the largest and smallest of what lies between are kept."""
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 200, 52, 14, 10, 24
"""Of a plot, pixels: its height and the margins round the curves."""
NAME = 16
"""Of an axis' name, pixels."""
GAP = 9
"""Between two fields of the panel, pixels."""
PREFIXES = ((1e6, "M"), (1e3, "k"), (1.0, ""))
FONT = "11px sans-serif"


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


def panels(shown: StudioRecord) -> dict[str, Array]:
    """What is plotted, by its label: (n, actuators) each; thousands and millions get their prefix.

    NaN where an actuator has another unit than the label's.
    """
    actuators = shown.robot.actuators
    if shown.forces is None or shown.power is None:
        return {
            f"q [{units.q}]": _only(shown.q, which, 1.0) for units, which in by_units(actuators)
        }
    return {
        label: _only(values, which, scale) for label, values, which, scale in _quantities(shown)
    }


def limit_lines(shown: StudioRecord) -> dict[str, list[float]]:
    """Where forces have their limits, by the label of the plot, in its unit."""
    limit = shown.robot.limits.force
    found = {}
    for label, _, which, scale in _quantities(shown):
        if label.startswith("force"):
            levels = np.unique(limit[which][np.isfinite(limit[which])]) / scale
            found[label] = [float(sign * level) for level in levels for sign in (-1, 1)]
    return found


def _quantities(shown: StudioRecord) -> list[tuple[str, Array, Array, float]]:
    """Label, values (n, actuators), which of them, and what they are divided by."""
    if shown.forces is None or shown.power is None:
        return []
    actuators = shown.robot.actuators
    quantities = [
        ("force", shown.forces, units.force, which) for units, which in by_units(actuators)
    ]
    quantities.append(("power", shown.power, "W", np.arange(len(actuators))))
    found = []
    for name, values, unit, which in quantities:
        largest = np.nanmax(np.abs(values[:, which]), initial=0.0)
        scale, prefix = next(one for one in PREFIXES if largest >= 20 * one[0] or one[0] == 1)
        found.append((f"{name} [{prefix}{unit}]", values, which, scale))
    return found


def _only(values: Array, which: Array, scale: float) -> Array:
    found = np.full_like(values, np.nan)
    found[:, which] = values[:, which] / scale
    return found


def plot_options(
    time: Array,
    values: Array,
    label: str,
    legs: Sequence[int] = (),
    levels: Sequence[float] = (),
) -> dict[str, Any]:
    """Arguments of viser's `add_uplot` for one plot of all actuators, in the colours of their legs.

    `levels` are lines across it: limits.
    """
    times, curves = thinned(time, values)
    order = list(legs) or list(range(values.shape[1]))
    series: list[dict[str, Any]] = [{"label": "time [s]"}]
    for i, leg in enumerate(order):
        style: dict[str, Any] = {"stroke": leg_color(leg), "width": 1.6, "points": {"show": False}}
        if leg in order[:i]:
            style["dash"] = (6, 4)
        series.append({"label": f"{leg + 1}", **style})
    for _ in levels:
        dashed = {"stroke": DARK, "width": 1, "dash": (8, 3, 2, 3), "points": {"show": False}}
        series.append({"label": "limit", **dashed})
    grid = {"stroke": "#E9EBEE", "width": 1}
    axis: dict[str, Any] = {"stroke": "#6B717A", "grid": grid, "ticks": grid, "font": FONT}
    axis |= {"labelFont": FONT, "labelSize": NAME}
    return {
        "data": (times, *curves.T, *(np.full(len(times), level) for level in levels)),
        "series": tuple(series),
        "scales": {"x": {"time": False}},
        "axes": (
            axis | {"size": BOTTOM, "label": "time [s]"},
            axis | {"size": LEFT, "label": label},
        ),
        "legend": {"show": False},
        "height": HEIGHT,
        "padding": (TOP, RIGHT, 0, 0),
    }


def marker(part: float) -> str:
    """A vertical line over the plot before it, at a part (0 to 1) of its width."""
    left, right = INSET + LEFT + NAME, INSET + RIGHT
    across = f"calc({left}px + (100% - {left + right}px) * {part:.5f})"
    line = (
        f"position:absolute;left:{across};bottom:{BOTTOM + NAME + GAP}px;"
        f"height:{HEIGHT - TOP - BOTTOM - NAME}px;"
        "border-left:1.5px solid #3C4148;pointer-events:none"
    )
    return f'<div style="position:relative;height:0"><div style="{line}"></div></div>'
