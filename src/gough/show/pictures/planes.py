"""What maps over a plane of positions have in common: their axes, and the home pose as a dot."""

from __future__ import annotations

from typing import Any

from matplotlib.lines import Line2D

from gough.show.colors import DARK

OUT = "#EEEEEE"
"""Where there is no answer: out of reach, or of the limits."""
HOME: Any = {"linestyle": "", "marker": "o", "color": "white", "markeredgecolor": DARK}
"""The dot at the home pose."""


def plane(axes: Any, across: str, upward: str, units: tuple[str, str] = ("m", "m")) -> None:
    """Axes named with their units; one scale for both where these are the same."""
    if units[0] == units[1]:
        axes.set_aspect("equal")
    axes.grid(False)
    axes.set_xlabel(f"{across} [{units[0]}]")
    axes.set_ylabel(f"{upward} [{units[1]}]")


def home_mark(size: float = 7) -> Line2D:
    """The dot at the home pose, for a legend."""
    return Line2D([], [], **HOME, markersize=size, label="home")
