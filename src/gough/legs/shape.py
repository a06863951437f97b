"""What a kind of leg looks like: where its joints are, what stands on the ground, which bodies to draw.

Drawings on paper and the studio take it from here alike. Batch axes lead; world frame, metres.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from gough.base.arrays import Array, unit
from gough.legs.reading import Limits
from gough.mechanics.leg import Leg
from gough.results import LegMotion

L = TypeVar("L", bound=Leg, contravariant=True)


CYLINDER = 0.55
"""Part of a telescope's length at home that is its cylinder."""
ROD = 0.75
"""The same of its rod."""
SMALL = 0.02
"""Part of the robot's size under which a telescope is none, but a slider on a short rail."""


class Places(NamedTuple):
    """Where the joints of legs are, from the base to the platform."""

    joints: tuple[str, ...]
    """"revolute", "prismatic", "universal" or "spherical", the same in all legs."""
    points: Array
    """(..., legs, joints, 3): centres; of a prismatic joint a point on the line it slides along."""
    axes: Array
    """(..., legs, joints, 3): unit, of revolute and prismatic joints; zeros of others."""
    driven: tuple[bool, ...]
    """An actuator moves the joint."""

    @property
    def tips(self) -> Array:
        """(..., legs, 3): where the legs hold the platform."""
        return np.asarray(self.points[..., -1, :])

    @property
    def lengths(self) -> Array:
        """(..., legs): from the first joint to the last, m."""
        return np.asarray(np.linalg.norm(self.tips - self.points[..., 0, :], axis=-1))


def link_places(universal: Array, spherical: Array) -> Places:
    """Legs that are a link from a universal joint (..., legs, 3) to a spherical one."""
    points = np.stack([universal, spherical], axis=-2)
    return Places(("universal", "spherical"), points, np.zeros_like(points), (False, False))


class Bar(NamedTuple):
    """A straight body of every leg."""

    name: str
    """One of `Leg.BODIES`, or a word for a part of one."""
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
    """It has the leg's colour: one body per leg has, at least."""
    square: bool = False
    """A block, or else round."""
    body: str = ""
    """Of `Leg.BODIES`, what it is a part of if its name is none of them."""

    @property
    def part_of(self) -> str:
        """The body that it is, or is a part of."""
        return self.body or self.name


class Dimension(NamedTuple):
    """What a sheet lists of a leg: a key of the robot file, or what follows from such keys."""

    key: str
    heading: str
    """With the unit."""
    values: Array
    """(legs,) or (legs, 3)."""
    point: bool = False
    """A point of the world, or else a direction or a length."""
    derived: bool = False
    """No key of the robot file: it follows from others."""


class LegShape(Protocol[L]):
    """The shape of a kind of leg; L is the class of its numbers."""

    q_is_length: ClassVar[bool]
    """q is the distance of a leg's joints, which is never near 0."""

    def initials(self, legs: L) -> str:
        """The joints from base to platform, such as RPS; nothing where the kind's name says it."""

    def q_size(self, legs: L) -> Array:
        """How large q (actuators,) gets as the leg's own lengths tell, roughly; 0 where they do not."""

    def places(self, legs: L, motion: LegMotion, chains: Array) -> Places:
        """The joints of legs that move so; `chains` (..., coordinates) are those of chain legs."""

    def feet(self, legs: L) -> Array:
        """One point per leg (legs, 3) that stands on the ground, wherever the platform is."""

    def ground(self, legs: L, q: Array, limits: Limits) -> Array:
        """What stands on the ground (legs, 1 or 2, 3): a point, or the two ends of a rail.

        Where the file limits no stroke, a rail reaches as far from q (actuators,) as looks well.
        """

    def bodies(self, legs: L, places: Places, home: Places, size: float) -> tuple[Bar, ...]:
        """The bodies of legs with their joints there.

        Bodies have the lengths that suit legs whose joints are at `home` (legs, joints, 3); `size` is
        the robot's largest extent.
        """

    def dimensions(self, legs: L) -> tuple[Dimension, ...]:
        """What a sheet lists, but for the points of the platform."""


def telescope(
    names: tuple[str, str], start: Array, end: Array, home: Array, size: float
) -> tuple[Bar, Bar]:
    """A rod that ends at `end` (..., legs, 3) and a cylinder from `start` that it slides in.

    `home` (legs,) is how far these are apart at home, m; the names are the rod's and the cylinder's.
    """
    length = np.linalg.norm(end - start, axis=-1)
    along = unit(end - start)
    mouth = start + CYLINDER * home[:, np.newaxis] * along
    inside = end - rod_length(length, home)[..., np.newaxis] * along
    rod, cylinder = names
    return (
        Bar(rod, inside, end, mouth, 0.0095 * size, 3.0),
        Bar(cylinder, start, mouth, start, 0.017 * size, 7.0, colored=True),
    )


def rod_length(length: Array, home: Array) -> Array:
    """Length (..., legs) of rods sized for telescopes of length `home` (legs,), m.

    It stays the same but where a rod would leave its cylinder, or come out of its far end.
    """
    shortest = np.maximum(length - 0.95 * CYLINDER * home, 0.0)
    return np.clip(ROD * home, shortest, length)
