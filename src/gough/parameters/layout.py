"""Where which parameter is in the vector X of standard parameters.

For each leg its bodies, ten parameters each; the rotors of all actuators; the platform's ten; then,
where friction counts, that of each leg which forces are linear in. Legs are numbered through all groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.parameters import LegParameters
from gough.mechanics.groups import parted
from gough.mechanics.leg import Leg
from gough.model.model import Model
from gough.model.places import alike

TEN = len(STANDARD_PARAMETERS)


def rules_of_legs(robot: Model) -> tuple[LegParameters[Any], ...]:
    """What is known of the parameters of each leg."""
    return tuple(one.kind.parameters for one in alike(robot) for _ in range(one.legs.count))


class Places(NamedTuple):
    """Where the parameters of legs that are alike are."""

    bodies: Array
    """(legs, bodies, 10)."""
    rotors: Array
    """(legs, actuators per leg)."""
    friction: Array
    """(legs, parameters per leg)."""

    @property
    def inertia(self) -> Array:
        """All inertial parameters of each leg, rotors last: (legs, 10 bodies + actuators per leg)."""
        return np.column_stack([self.bodies.reshape(len(self.bodies), -1), self.rotors])


class Layout(NamedTuple):
    """Numbers of parameters, from which their places follow."""

    legs: tuple[int, ...]
    """In each group of legs that are alike."""
    bodies: tuple[int, ...]
    """Of a leg, by group, as the next two."""
    actuators: tuple[int, ...]
    friction: tuple[int, ...]
    """Parameters of friction of a leg; 0 where they do not count."""

    @classmethod
    def of(cls, legs: Leg, friction: bool = False) -> Layout:
        """That of a robot with such legs."""
        parts = parted(legs)
        return cls(
            tuple(part.count for part in parts),
            tuple(len(part.BODIES) for part in parts),
            tuple(len(part.holders) // part.count for part in parts),
            tuple(len(part.LINEAR_FRICTION) if friction else 0 for part in parts),
        )

    def _total(self, each: tuple[int, ...]) -> int:
        """Of all legs, from the number in one leg of each group."""
        return int(np.dot(self.legs, each))

    @property
    def of_bodies(self) -> slice:
        """Bodies of the legs."""
        return slice(0, TEN * self._total(self.bodies))

    @property
    def of_rotors(self) -> slice:
        """Rotors: (actuators,)."""
        start = self.of_bodies.stop
        return slice(start, start + self._total(self.actuators))

    @property
    def of_platform(self) -> slice:
        """The platform: (10,)."""
        start = self.of_rotors.stop
        return slice(start, start + TEN)

    @property
    def of_friction(self) -> slice:
        """Friction of the legs."""
        start = self.of_platform.stop
        return slice(start, start + self._total(self.friction))

    @property
    def size(self) -> int:
        """All of them."""
        return int(self.of_friction.stop)

    def places(self) -> Iterator[Places]:
        """Those of each group."""
        starts = [part.start for part in (self.of_bodies, self.of_rotors, self.of_friction)]
        for count, *each in zip(self.legs, self.bodies, self.actuators, self.friction, strict=True):
            found = []
            for i, (number, width) in enumerate(zip(each, (TEN, 1, 1), strict=True)):
                size = count * number * width
                found.append(np.arange(starts[i], starts[i] + size))
                starts[i] += size
            bodies, rotors, friction = found
            yield Places(
                bodies.reshape(count, each[0], TEN),
                rotors.reshape(count, each[1]),
                friction.reshape(count, each[2]),
            )

    @property
    def owners(self) -> Array:
        """Leg (from 0) that each parameter belongs to; the number of legs for the platform."""
        found = np.full(self.size, sum(self.legs))
        first = 0
        for count, own in zip(self.legs, self.places(), strict=True):
            numbers = np.arange(first, first + count)[:, np.newaxis]
            found[own.inertia], found[own.friction] = numbers, numbers
            first += count
        return found
