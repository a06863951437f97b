"""The shape of UPS legs: a cylinder on the base and a rod that slides in it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gough.base.arrays import Array, unit
from gough.legs.reading import Limits
from gough.legs.shape import Bar, Dimension, Places
from gough.legs.ups.equations import UPS
from gough.results import LegMotion

CYLINDER = 0.55
"""Part of a leg's length that is its cylinder."""
ROD = 0.75
"""The same of its rod."""


class UPSShape:
    """The shape of UPS legs."""

    q_is_length: ClassVar[bool] = True

    def q_size(self, legs: UPS) -> Array:
        """0 (legs,): a telescope may have any length."""
        return np.zeros(legs.base.shape[1])

    def places(self, legs: UPS, motion: LegMotion) -> Places:
        """U = B, S = B + q n."""
        universal = np.broadcast_to(self.feet(legs), motion.direction.shape)
        return Places(universal, universal + motion.q[..., np.newaxis] * motion.direction)

    def feet(self, legs: UPS) -> Array:
        """B (legs, 3)."""
        return np.asarray(legs.base[..., 0].T)

    def ground(self, legs: UPS, q: Array, limits: Limits) -> Array:
        """B (legs, 1, 3)."""
        return self.feet(legs)[:, np.newaxis]

    def bodies(self, legs: UPS, places: Places, lengths: Array, size: float) -> tuple[Bar, ...]:
        """A cylinder that turns about its foot, and a rod from the tip into it."""
        universal, spherical = places
        apart = spherical - universal
        length = np.linalg.norm(apart, axis=-1)
        along = unit(apart)
        mouth = universal + CYLINDER * lengths[:, np.newaxis] * along
        inside = spherical - rod_length(length, lengths)[..., np.newaxis] * along
        return (
            Bar("rod", inside, spherical, mouth, 0.0095 * size, 3.0),
            Bar("cylinder", universal, mouth, universal, 0.017 * size, 7.0, colored=True),
        )

    def dimensions(self, legs: UPS) -> tuple[Dimension, ...]:
        """Base points, axes, drives."""
        return (
            Dimension("base", "base B (m)", self.feet(legs), point=True),
            Dimension("axis", "universal axis", legs.axis[..., 0].T),
            Dimension("rotor_mass", "rotor mass (kg)", legs.rotor_mass[:, 0]),
        )


def rod_length(length: Array, home: Array) -> Array:
    """Length (..., legs) of rods sized for legs of length `home` (legs,), m.

    It stays the same but where a rod would leave its cylinder, or come out of its far end.
    """
    shortest = np.maximum(length - 0.95 * CYLINDER * home, 0.0)
    return np.clip(ROD * home, shortest, length)
