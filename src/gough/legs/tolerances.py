"""Errors of build: what is off in legs as they were made and mounted, and what their tips feel of it.

With a link along n and a slope c (n·v = c q̇) a leg that is a little off moves the platform so that

    n·(δp + δθ×r) = ε,    ε = c δq + Σ of what is off in the leg

Errors are independent with standard deviations σ, the same along every axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.geometry import Stance
from gough.mechanics.leg import Leg

L = TypeVar("L", bound=Leg, contravariant=True)


class LegTolerances(Protocol[L]):
    """The errors of build of a kind of leg; L is the class of its numbers.

    By name: "base" a point on the ground (m a coordinate), "link" and "crank" lengths (m), "rail" a
    direction of sliding, "motor_axis" one of turning (rad about each of two axes).
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The errors that such a leg has."""

    def variance(self, legs: L, q: Array, stance: Stance) -> dict[str, Array]:
        """Variance of ε (..., legs), m², by name, where each error has the standard deviation 1.

        The legs stand so with actuated coordinates q (..., legs).
        """

    def built(
        self, legs: L, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Random legs with normal errors of these standard deviations: by key, (samples, legs, …)."""


def askew(axis: Array, deviation: float, samples: int, rng: np.random.Generator) -> Rotation:
    """Normal turns of axes (legs, 3) about each of two axes across them: samples times legs."""
    turn = rng.normal(size=(samples, *axis.shape)) * deviation
    turn -= np.sum(turn * axis, axis=-1, keepdims=True) * axis
    return Rotation.from_rotvec(turn.reshape(-1, 3))


def around(middle: Array, deviation: float, samples: int, rng: np.random.Generator) -> Array:
    """Normal numbers (samples, ...) about a middle (...)."""
    return np.asarray(middle + deviation * rng.normal(size=(samples, *middle.shape)))
