"""How near a limit a number is, and the colour that says so."""

from __future__ import annotations

from enum import Enum

import numpy as np

from gough.base.arrays import Array
from gough.model.limits import SHORTEST

NEAR = 0.9
"""Part of a limit from which on a number counts as near it."""
ILL, WORSE = 100.0, 1000.0
"""Condition numbers of the Jacobian from which on a pose is near singular, and as good as singular."""


class Level(Enum):
    """A number against its limit; the value is (text colour, background)."""

    FREE = ("#3C4148", "transparent")
    """There is no limit."""
    GOOD = ("#00664B", "#E3F4EE")
    NEAR = ("#8A5A00", "#FDF0D2")
    PAST = ("#A33A00", "#FBE3D6")
    UNKNOWN = ("#8A9099", "transparent")
    """There is no number."""

    @property
    def text(self) -> str:
        """Colour of the text."""
        return self.value[0]

    @property
    def background(self) -> str:
        """Colour behind the text."""
        return self.value[1]


def level(used: float | None) -> Level:
    """The level of a used part of a limit: 1 is at it. None: no limit; NaN: no number."""
    if used is None:
        return Level.FREE
    if np.isnan(used):
        return Level.UNKNOWN
    return Level.PAST if used > 1 else Level.NEAR if used >= NEAR else Level.GOOD


def condition_level(condition: float) -> Level:
    """The level of a condition number of the Jacobian."""
    if np.isnan(condition):
        return Level.UNKNOWN
    return Level.PAST if condition >= WORSE else Level.NEAR if condition >= ILL else Level.GOOD


def worst(levels: list[Level]) -> Level:
    """The most alarming of some levels."""
    order = (Level.PAST, Level.NEAR, Level.GOOD, Level.FREE, Level.UNKNOWN)
    return min(levels, key=order.index, default=Level.FREE)


def used_parts(demands: dict[str, tuple[Array, Array]]) -> dict[str, Array]:
    """Used part (..., legs) of each limit, by its name; legs without that limit have −∞.

    Of what `gough.model.limits.demands` gives: value over allowed; of the stroke the distance from its
    middle over half its length, or, with one end alone, 1 plus how far (m) the leg is past it.
    """
    parts: dict[str, Array] = {}
    for name, (value, allowed) in demands.items():
        if name not in ("stroke", SHORTEST):
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(value > 0, value / allowed, 0.0)
            parts[name] = np.where(np.isfinite(allowed), part, -np.inf)
    ends = [demands[name] for name in ("stroke", SHORTEST) if name in demands]
    if not ends:
        return parts
    if len(ends) == 2:
        (q, longest), (_, below) = ends
        middle, half = (longest - below) / 2, (longest + below) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            both = np.abs(q - middle) / half
    else:
        both = np.full(ends[0][0].shape, np.nan)
    past = np.max([1 + value - allowed for value, allowed in ends], axis=0)
    two = np.isfinite(sum(allowed for _, allowed in ends)) & (len(ends) == 2)
    return {"stroke": np.where(two, both, past)} | parts
