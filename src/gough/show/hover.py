"""Values under the mouse: what a page's script needs to know of the curves in a picture."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gough.base.arrays import Array

POINTS = 600
"""Of a curve at most."""
DIGITS = 6


def curves_of(figure: Figure) -> str:
    """The curves of a figure that has been drawn, as JSON without "<"; empty if there are none.

    A panel has its box in parts of the picture (left, top, right, bottom), ranges of its axes and
    lines; only those in flat axes, over rising x.
    """
    found = []
    for axes in figure.axes:
        if axes.name == "3d" or axes.get_xscale() != "linear" or not axes.axison:
            continue
        grounds: list[list[float | None]] = []
        lines = [one for line in axes.get_lines() if (one := _line(axes, line, grounds))]
        if lines:
            (left, bottom), (right, top) = axes.get_position().get_points()
            found.append(
                {
                    "box": [round(one, 5) for one in (left, 1 - top, right, 1 - bottom)],
                    "x": list(map(float, axes.get_xlim())),
                    "y": list(map(float, axes.get_ylim())),
                    "log": axes.get_yscale() == "log",
                    "across": _plain(axes.get_xlabel() or figure.axes[-1].get_xlabel()),
                    "grounds": grounds,
                    "lines": lines,
                }
            )
    return json.dumps(found, allow_nan=False).replace("<", "\\u003c") if found else ""


def _line(axes: Any, line: Any, grounds: list[list[float | None]]) -> dict[str, Any] | None:
    if line.get_transform() != axes.transData or line.get_linestyle() in ("None", ""):
        return None
    x, y = (np.asarray(one, dtype=np.float64) for one in line.get_data())
    if len(x) < 3 or not np.all(np.diff(x) > 0) or not np.isfinite(y).any():
        return None
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).round().astype(int))
    ground = _numbers(x[kept])
    if ground not in grounds:
        grounds.append(ground)
    label = str(line.get_label())
    name = axes.get_ylabel().split("\n")[0] if label.startswith("_") else label
    return {
        "name": _plain(name),
        "color": to_hex(line.get_color()),
        "ground": grounds.index(ground),
        "y": _numbers(y[kept]),
    }


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{one:.{DIGITS}g}") if np.isfinite(one) else None for one in values]


def _plain(text: str) -> str:
    """A label without matplotlib's formulas."""
    signs = {r"\Gamma": "Γ", r"\dot q": "q̇", r"\ddot q": "q̈", "$": "", "\n": " "}
    for formula, sign in signs.items():
        text = text.replace(formula, sign)
    return re.sub(r"\\[a-z]+|[{}]", "", text)
