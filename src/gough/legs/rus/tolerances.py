"""Errors of build of RUS legs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gough.base.arrays import Array
from gough.legs.geometry import Stance
from gough.legs.rus.equations import RUS
from gough.legs.tolerances import around, askew


class RUSTolerances:
    """The motor is off by δo, its axis by a turn φ across it, crank and link by δr and δl.

    A = motor + r u is off by δo + δr u + φ×(r u), the crank's zero turned with the axis:
    ε = n·δo + n·u δr + r φ·(u×n) + δl.
    """

    names = ("base", "link", "crank", "motor_axis")

    def variance(self, legs: RUS, q: Array, stance: Stance) -> dict[str, Array]:
        """σ_o² + σ_l² + (n·u)² σ_r² + r² (n·a)² σ_φ²: of u×n, what is across a is −(n·a) t."""
        first, axis = legs.e1[..., 0].T, legs.motor_axis[..., 0].T
        turned = q[..., np.newaxis]
        crank = np.cos(turned) * first + np.sin(turned) * np.cross(axis, first)
        along = np.sum(stance.direction * crank, axis=-1)
        height = np.sum(stance.direction * axis, axis=-1)
        return {
            "base": np.ones_like(q),
            "link": np.ones_like(q),
            "crank": along**2,
            "motor_axis": (legs.crank_length[:, 0] * height) ** 2,
        }

    def built(
        self, legs: RUS, deviation: Mapping[str, float], samples: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Motors, their axes, cranks and links about the nominal ones."""
        axis, zero = legs.motor_axis[..., 0].T, legs.e1[..., 0].T
        turn = askew(axis, deviation["motor_axis"], samples, rng)
        swung, swung_zero = (
            turn.apply(np.tile(one, (samples, 1))).reshape(samples, *one.shape)
            for one in (axis, zero)
        )
        return {
            "legs.motor": around(legs.motor[..., 0].T, deviation["base"], samples, rng),
            "legs.motor_axis": swung,
            "legs.crank_zero": swung_zero,
            "legs.crank_length": around(legs.crank_length[:, 0], deviation["crank"], samples, rng),
            "legs.length": around(legs.length[:, 0], deviation["link"], samples, rng),
        }
