"""What a kind of leg looks like: where its joints are, what stands on the ground, which bodies to draw.

Drawings on paper and the studio take it from here alike. Batch axes lead; world frame, metres.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, TypeVar

from gough.base.arrays import Array
from gough.legs.reading import Limits
from gough.mechanics.leg import Leg
from gough.results import LegMotion

L = TypeVar("L", bound=Leg, contravariant=True)


class Places(NamedTuple):
    """Joint centres."""

    universal: Array
    """(..., legs, 3)."""
    spherical: Array
    """(..., legs, 3): P_i."""


class Bar(NamedTuple):
    """A straight body of every leg."""

    name: str
    """One of `Leg.BODIES`."""
    start: Array
    """(..., legs, 3): one end."""
    end: Array
    """(..., legs, 3): the other, towards the platform where the body leads there."""
    seen: Array
    """(..., legs, 3): where it comes out of the body it slides in; `start` if in none."""
    radius: float
    """Of a round bar, half the side of a square one."""
    line: float
    """Width of the line that stands for it in a drawing, points."""
    colored: bool = False
    """It has the leg's colour: one body per leg has."""
    square: bool = False
    """A block, or else round."""


class Dimension(NamedTuple):
    """A key of the robot file that a sheet lists."""

    key: str
    heading: str
    """With the unit."""
    values: Array
    """(legs,) or (legs, 3)."""
    point: bool = False
    """A point of the world, or else a direction or a length."""


class LegShape(Protocol[L]):
    """The shape of a kind of leg; L is the class of its numbers."""

    q_is_length: ClassVar[bool]
    """q is the distance of a leg's joints, which is never near 0."""

    def q_size(self, legs: L) -> Array:
        """How large q (legs,) gets as the leg's own lengths tell, roughly; 0 where they do not."""

    def places(self, legs: L, motion: LegMotion) -> Places:
        """Universal and spherical joints of legs that move so."""

    def feet(self, legs: L) -> Array:
        """One point per leg (legs, 3) that stands on the ground, wherever the platform is."""

    def ground(self, legs: L, q: Array, limits: Limits) -> Array:
        """What stands on the ground (legs, 1 or 2, 3): a point, or the two ends of a rail.

        Where the file limits no stroke, a rail reaches as far from q (legs,) as looks well.
        """

    def bodies(self, legs: L, places: Places, lengths: Array, size: float) -> tuple[Bar, ...]:
        """The bodies of legs with their joints there.

        Bodies have the lengths that suit legs whose joints are `lengths` (legs,) apart; `size` is the
        robot's largest extent.
        """

    def dimensions(self, legs: L) -> tuple[Dimension, ...]:
        """What a sheet lists, but for the points of the platform."""
