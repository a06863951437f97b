"""Errors of build: what is off in legs as they were made and mounted, and what their tips feel of it.

With a link along n and a slope c (n·v = c q̇) a leg that is a little off moves the platform so that

    n·(δp + δθ×r) = ε,    ε = c δq + Σ of what is off in the leg

Errors are independent with standard deviations σ, the same along every axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.leg import Leg

L = TypeVar("L", bound=Leg, contravariant=True)


class LegTolerances(Protocol[L]):
    """The errors of build of a kind of leg; L is the class of its numbers.

    By name: "base" a point on the ground (m a coordinate), "link" a length (m), "rail" a direction of
    sliding (rad about each of two axes).
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The errors that such a leg has."""

    def variance(self, q: Array, slope: Array) -> dict[str, Array]:
        """Variance of ε (..., legs), m², by name, where each error has the standard deviation 1.

        Actuated coordinates q and slopes c are (..., legs).
        """

    def built(
        self, legs: L, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Random legs with normal errors of these standard deviations: by key, (samples, legs, …)."""


def around(middle: Array, deviation: float, samples: int, rng: np.random.Generator) -> Array:
    """Normal numbers (samples, ...) about a middle (...)."""
    return np.asarray(middle + deviation * rng.normal(size=(samples, *middle.shape)))
