"""The shape of UPS legs: a cylinder on the base and a rod that slides in it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import Limits
from gough.legs.shape import Bar, Dimension, Places, link_places, telescope
from gough.legs.ups.equations import UPS
from gough.legs.ups.khalil_frames import geometric_parameters
from gough.results import LegMotion


class UPSShape:
    """The shape of UPS legs."""

    q_is_length: ClassVar[bool] = True

    def initials(self, legs: UPS) -> str:
        """Nothing: the kind's name says it."""
        return ""

    def q_size(self, legs: UPS) -> Array:
        """0 (legs,): a telescope may have any length."""
        return np.zeros(legs.base.shape[1])

    def places(self, legs: UPS, motion: LegMotion, chains: Array) -> Places:
        """U = B, S = B + q n."""
        universal = np.broadcast_to(self.feet(legs), motion.direction.shape)
        return link_places(universal, universal + motion.q[..., np.newaxis] * motion.direction)

    def feet(self, legs: UPS) -> Array:
        """B (legs, 3)."""
        return np.asarray(legs.base[..., 0].T)

    def ground(self, legs: UPS, q: Array, limits: Limits) -> Array:
        """B (legs, 1, 3)."""
        return self.feet(legs)[:, np.newaxis]

    def bodies(self, legs: UPS, places: Places, home: Places, size: float) -> tuple[Bar, ...]:
        """A cylinder that turns about its foot, and a rod from the tip into it."""
        foot = places.points[..., 0, :]
        return telescope(("rod", "cylinder"), foot, places.tips, home.lengths, size)

    def dimensions(self, legs: UPS) -> tuple[Dimension, ...]:
        """Base points, axes, drives; Khalil & Guegan's γ, b, d where the axes are as they have them."""
        found = (
            Dimension("base", "base B (m)", self.feet(legs), point=True),
            Dimension("axis", "universal axis", legs.axis[..., 0].T),
            Dimension("rotor_mass", "rotor mass (kg)", legs.rotor_mass[:, 0]),
        )
        khalil = geometric_parameters(legs)
        if khalil is None:
            return found
        return (*found, Dimension("khalil", "γ (rad), b, d (m)", khalil, derived=True))
