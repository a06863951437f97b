"""Colours: a leg has the same one in every picture, and colour-blind readers tell them apart.

The palette is Okabe & Ito's (2008).
"""

from __future__ import annotations

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DARK, GREY, PALE = "#3C4148", "#8A9099", "#D5D8DC"


def leg_color(leg: int) -> str:
    """The colour of a leg, counted from 0."""
    return PALETTE[leg % len(PALETTE)]
