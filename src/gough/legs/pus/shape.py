"""The shape of PUS legs: sliders on rails, and links."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.pus.equations import PUS
from gough.legs.reading import Limits
from gough.legs.shape import Bar, Dimension, Places, link_places
from gough.results import LegMotion


class PUSShape:
    """The shape of PUS legs."""

    q_is_length: ClassVar[bool] = False

    def initials(self, legs: PUS) -> str:
        """Nothing: the kind's name says it."""
        return ""

    def q_size(self, legs: PUS) -> Array:
        """The link's length (legs,)."""
        return np.asarray(legs.length[:, 0])

    def places(self, legs: PUS, motion: LegMotion, chains: Array) -> Places:
        """U = rail_origin + q a, S = U + length n."""
        universal = self.feet(legs) + motion.q[..., np.newaxis] * legs.rail_direction[..., 0].T
        return link_places(universal, universal + legs.length * motion.direction)

    def feet(self, legs: PUS) -> Array:
        """rail_origin (legs, 3)."""
        return np.asarray(legs.rail_origin[..., 0].T)

    def ground(self, legs: PUS, q: Array, limits: Limits) -> Array:
        """Ends of the rails (legs, 2, 3); without a stroke half a link's length to either side of q."""
        half = legs.length[:, 0] / 2
        first = np.where(np.isfinite(limits.shortest), limits.shortest, q - half)
        last = np.where(np.isfinite(limits.longest), limits.longest, q + half)
        origin, along = self.feet(legs), legs.rail_direction[..., 0].T
        return np.stack([origin + one[:, np.newaxis] * along for one in (first, last)], axis=1)

    def bodies(self, legs: PUS, places: Places, home: Places, size: float) -> tuple[Bar, ...]:
        """A block on the rail about the universal joint, and a link to the spherical joint."""
        universal, spherical = places.points[..., 0, :], places.tips
        half = 0.03 * size * legs.rail_direction[..., 0].T
        back, front = universal - half, universal + half
        return (
            Bar("slider", back, front, back, 0.02 * size, 9.0, square=True),
            Bar("link", universal, spherical, universal, 0.012 * size, 4.0, colored=True),
        )

    def dimensions(self, legs: PUS) -> tuple[Dimension, ...]:
        """Rails, links, axes, drives."""
        return (
            Dimension("rail_origin", "rail origin (m)", self.feet(legs), point=True),
            Dimension("rail_direction", "rail direction", legs.rail_direction[..., 0].T),
            Dimension("length", "length (m)", legs.length[:, 0]),
            Dimension("axis", "universal axis", legs.axis[..., 0].T),
            Dimension("rotor_mass", "rotor mass (kg)", legs.rotor_mass[:, 0]),
        )
