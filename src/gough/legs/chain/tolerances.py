"""Errors of build of chains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gough.base.arrays import Array
from gough.legs.chain.equations import Chain
from gough.legs.geometry import Stance


class ChainTolerances:
    """None by name: a chain's points and axes can be varied as numbers of its file."""

    names: tuple[str, ...] = ()

    def variance(self, legs: Chain, q: Array, stance: Stance) -> dict[str, Array]:
        """Of no error."""
        return {}

    def built(
        self, legs: Chain, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """As they are."""
        return {}
