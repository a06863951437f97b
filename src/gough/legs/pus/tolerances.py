"""Errors of build of PUS legs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gough.base.arrays import Array
from gough.legs.geometry import Stance
from gough.legs.pus.equations import PUS
from gough.legs.tolerances import around, askew


class PUSTolerances:
    """The rail's origin is off by δo, its direction by δa, the link's length by δl.

    ε = n·(δo + q δa) + δl
    """

    names = ("base", "link", "rail")

    def variance(self, legs: PUS, q: Array, stance: Stance) -> dict[str, Array]:
        """σ_o² + σ_l² + q² (1 − c²) σ_a²: δa is perpendicular to the rail a, and a·n = c."""
        return {
            "base": np.ones_like(q),
            "link": np.ones_like(q),
            "rail": q**2 * (1 - stance.slope**2),
        }

    def built(
        self, legs: PUS, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Rails and links about the nominal ones."""
        rail = legs.rail_direction[..., 0].T
        turn = askew(rail, deviation["rail"], samples, rng)
        swung = turn.apply(np.tile(rail, (samples, 1)))
        return {
            "legs.rail_origin": around(legs.rail_origin[..., 0].T, deviation["base"], samples, rng),
            "legs.rail_direction": swung.reshape(samples, *rail.shape),
            "legs.length": around(legs.length[:, 0], deviation["link"], samples, rng),
        }
