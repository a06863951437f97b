"""The shape of RUS legs: cranks on motors, and links."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import Limits
from gough.legs.rus.equations import RUS
from gough.legs.shape import Bar, Dimension, Places, link_places
from gough.results import LegMotion


class RUSShape:
    """The shape of RUS legs."""

    q_is_length: ClassVar[bool] = False

    def initials(self, legs: RUS) -> str:
        """Nothing: the kind's name says it."""
        return ""

    def q_size(self, legs: RUS) -> Array:
        """A right angle (legs,), rad."""
        return np.full(len(legs.length), np.pi / 2)

    def places(self, legs: RUS, motion: LegMotion, chains: Array) -> Places:
        """U = motor + crank_length u(q), S = U + length n."""
        q = motion.q[..., np.newaxis]
        first, axis = legs.e1[..., 0].T, legs.motor_axis[..., 0].T
        along = np.cos(q) * first + np.sin(q) * np.cross(axis, first)
        universal = self.feet(legs) + legs.crank_length * along
        return link_places(universal, universal + legs.length * motion.direction)

    def feet(self, legs: RUS) -> Array:
        """motor (legs, 3)."""
        return np.asarray(legs.motor[..., 0].T)

    def ground(self, legs: RUS, q: Array, limits: Limits) -> Array:
        """The motors (legs, 2, 3): a quarter of the crank's length to either side along their axes."""
        half = legs.crank_length / 4 * legs.motor_axis[..., 0].T
        return np.stack([self.feet(legs) - half, self.feet(legs) + half], axis=1)

    def bodies(self, legs: RUS, places: Places, home: Places, size: float) -> tuple[Bar, ...]:
        """A crank from the motor to the universal joint, and a link to the spherical joint."""
        universal, spherical = places.points[..., 0, :], places.tips
        motor = np.broadcast_to(self.feet(legs), universal.shape)
        return (
            Bar("crank", motor, universal, motor, 0.016 * size, 7.0, square=True),
            Bar("link", universal, spherical, universal, 0.012 * size, 4.0, colored=True),
        )

    def dimensions(self, legs: RUS) -> tuple[Dimension, ...]:
        """Motors, cranks, links, axes, drives."""
        return (
            Dimension("motor", "motor (m)", self.feet(legs), point=True),
            Dimension("motor_axis", "motor axis", legs.motor_axis[..., 0].T),
            Dimension("crank_zero", "crank at q = 0", legs.e1[..., 0].T),
            Dimension("crank_length", "crank length (m)", legs.crank_length[:, 0]),
            Dimension("length", "length (m)", legs.length[:, 0]),
            Dimension("axis", "universal axis", legs.axis[..., 0].T),
            Dimension("rotor_inertia", "rotor inertia (kg m²)", legs.rotor_inertia[:, 0]),
        )
