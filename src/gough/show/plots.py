"""Pictures: the robot in space and what its legs do over time, fit for a paper.

Every function returns a `matplotlib.figure.Figure` of its own; nothing is shown and no global state
of matplotlib is changed. A leg has the same colour in every picture, and colour-blind readers tell
the colours apart (Okabe & Ito 2008).
"""

from __future__ import annotations

from gough.show.pictures.curves import (
    contribution_curves,
    force_curves,
    joint_curves,
    leg_curves,
    over_time,
)
from gough.show.pictures.robot import draw
from gough.show.style import KINDS, STYLE, save

__all__ = [
    "KINDS",
    "STYLE",
    "contribution_curves",
    "draw",
    "force_curves",
    "joint_curves",
    "leg_curves",
    "over_time",
    "save",
]
