"""Where which parameter is in the vector X of standard parameters.

For each leg its bodies, ten parameters each; the rotors; the platform's ten; then, where friction
counts, that of each leg which forces are linear in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.mechanics.leg import Leg

TEN = len(STANDARD_PARAMETERS)


class Layout(NamedTuple):
    """Numbers of parameters, from which their places follow."""

    legs: int
    bodies: int
    """Of a leg."""
    friction: int = 0
    """Parameters of friction of a leg."""

    @classmethod
    def of(cls, legs: Leg, count: int, friction: bool = False) -> Layout:
        """That of a robot with so many such legs."""
        return cls(count, len(legs.BODIES), len(legs.LINEAR_FRICTION) if friction else 0)

    @property
    def of_bodies(self) -> slice:
        """Bodies of the legs: (legs, bodies, 10)."""
        return slice(0, TEN * self.bodies * self.legs)

    @property
    def of_rotors(self) -> slice:
        """Rotors: (legs,)."""
        start = TEN * self.bodies * self.legs
        return slice(start, start + self.legs)

    @property
    def of_platform(self) -> slice:
        """The platform: (10,)."""
        start = (TEN * self.bodies + 1) * self.legs
        return slice(start, start + TEN)

    @property
    def of_friction(self) -> slice:
        """Friction: (legs, friction)."""
        start = (TEN * self.bodies + 1) * self.legs + TEN
        return slice(start, start + self.friction * self.legs)

    @property
    def bodies_of_legs(self) -> Array:
        """Places of each body's parameters: (legs, bodies, 10)."""
        return np.arange(self.of_bodies.stop).reshape(self.legs, self.bodies, TEN)

    @property
    def inertia_of_legs(self) -> Array:
        """Places of all inertial parameters of each leg, the rotor last: (legs, 10 bodies + 1)."""
        own = self.bodies_of_legs.reshape(self.legs, -1)
        rotors = np.arange(self.of_rotors.start, self.of_rotors.stop)
        return np.column_stack([own, rotors])

    @property
    def friction_of_legs(self) -> Array:
        """Places of the friction of each leg: (legs, friction)."""
        places = np.arange(self.of_friction.start, self.of_friction.stop)
        return places.reshape(self.legs, self.friction)

    @property
    def size(self) -> int:
        """All of them."""
        return (TEN * self.bodies + 1 + self.friction) * self.legs + TEN

    @property
    def owners(self) -> Array:
        """Leg (from 0) that each parameter belongs to; the number of legs for the platform."""
        legs = np.arange(self.legs)
        own = legs.repeat(TEN * self.bodies), legs, np.full(TEN, self.legs)
        return np.concatenate([*own, legs.repeat(self.friction)])
