"""Errors of build of UPS legs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gough.base.arrays import Array
from gough.legs.geometry import Stance
from gough.legs.tolerances import around
from gough.legs.ups.equations import UPS


class UPSTolerances:
    """The base joint is off by δo: ε = n·δo."""

    names = ("base",)

    def variance(self, legs: UPS, q: Array, stance: Stance) -> dict[str, Array]:
        """σ_o², as ‖n‖ = 1."""
        return {"base": np.ones_like(q)}

    def built(
        self, legs: UPS, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Bases about the nominal ones."""
        return {"legs.base": around(legs.base[..., 0].T, deviation["base"], samples, rng)}
