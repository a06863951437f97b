"""Errors of build of RUS legs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gough.base.arrays import Array
from gough.legs.rus.equations import RUS
from gough.legs.tolerances import around


class RUSTolerances:
    """The motor is off by δo, the link's length by δl: ε = n·δo + δl."""

    names = ("base", "link")

    def variance(self, q: Array, slope: Array) -> dict[str, Array]:
        """σ_o² + σ_l²: n is a unit vector."""
        return {"base": np.ones_like(slope), "link": np.ones_like(slope)}

    def built(
        self, legs: RUS, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Motors and links about the nominal ones."""
        return {
            "legs.motor": around(legs.motor[..., 0].T, deviation["base"], samples, rng),
            "legs.length": around(legs.length[:, 0], deviation["link"], samples, rng),
        }
