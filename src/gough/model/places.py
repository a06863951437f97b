"""Where the joints and bodies of a robot are in the world, for pictures of it.

Legs of a kind know their own shape; here all groups of legs come together, numbered through.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.leg import LegKind
from gough.legs.reading import Limits
from gough.legs.shape import Bar, Dimension, Places
from gough.mechanics.groups import parted
from gough.mechanics.leg import Leg
from gough.model.model import Model
from gough.motion import Motion
from gough.results import LegMotion

OF_ACTUATORS = ("q", "qd", "qdd")
"""Fields of `LegMotion` with one entry per actuator."""


class AlikeLegs(NamedTuple):
    """Legs of one kind that have the same joints: part of a robot's."""

    kind: LegKind
    legs: Leg
    where: str
    """What leads to their keys in the robot file: "legs", or of several groups "legs.0" and so on."""
    which: slice
    """Of the robot's legs."""
    actuators: slice
    chains: slice
    """Of the joint coordinates of chain legs."""

    @property
    def name(self) -> str:
        """Their joints by initials, or the kind's name."""
        return self.kind.shape.initials(self.legs) or self.kind.name

    def of(self, motion: LegMotion) -> LegMotion:
        """What these legs do."""
        chosen = {
            one.name: (
                getattr(motion, one.name)[..., self.actuators]
                if one.name in OF_ACTUATORS
                else getattr(motion, one.name)[..., self.which, :]
            )
            for one in fields(motion)
        }
        return LegMotion(**chosen)

    def limited(self, limits: Limits) -> Limits:
        """Their limits."""
        first = {name: getattr(limits, name)[self.actuators] for name in limits._fields[:4]}
        rest = {name: getattr(limits, name)[self.which] for name in limits._fields[4:]}
        return Limits(**first, **rest)


class PlacedLegs(NamedTuple):
    """Some legs and where their joints are."""

    alike: AlikeLegs
    places: Places


def alike(robot: Model) -> list[AlikeLegs]:
    """A robot's legs, those side by side that have the same joints; in their order."""
    found: list[AlikeLegs] = []
    leg = actuator = chain = 0
    for group in robot.description.groups:
        for one in parted(group.legs):
            ends = leg + one.count, actuator + len(one.holders), chain + one.coordinates
            slices = (slice(*each) for each in zip((leg, actuator, chain), ends, strict=True))
            found.append(AlikeLegs(group.kind, one, group.where, *slices))
            leg, actuator, chain = ends
    return found


def placed_legs(robot: Model, motion: Motion, legs: LegMotion) -> list[PlacedLegs]:
    """Where all joints are; `legs` is `robot.inverse_kinematics(motion)`."""
    chains = robot.chains_of(motion)
    return [
        PlacedLegs(one, one.kind.shape.places(one.legs, one.of(legs), chains[..., one.chains]))
        for one in alike(robot)
    ]


def tips(legs: list[PlacedLegs]) -> Array:
    """(..., legs, 3): where the legs hold the platform."""
    return np.concatenate([one.places.tips for one in legs], axis=-2)


def moved_tips(legs: list[PlacedLegs], to: Array) -> list[PlacedLegs]:
    """The same legs with their last joints elsewhere, (..., legs, 3)."""
    found = []
    for one in legs:
        points = one.places.points.copy()
        points[..., -1, :] = to[..., one.alike.which, :]
        found.append(one._replace(places=one.places._replace(points=points)))
    return found


def sample_of(legs: list[PlacedLegs], index: int | tuple[int, ...]) -> list[PlacedLegs]:
    """One sample of a batch."""
    return [
        one._replace(
            places=one.places._replace(points=one.places.points[index], axes=one.places.axes[index])
        )
        for one in legs
    ]


def feet(robot: Model) -> Array:
    """One point per leg (legs, 3) that stands on the ground."""
    return np.concatenate([one.kind.shape.feet(one.legs) for one in alike(robot)])


def ground(robot: Model, q: Array) -> Array:
    """What stands on the ground (legs, 2, 3) at q (actuators,): ends of rails, twice the same point."""
    found = []
    for one in alike(robot):
        limits = one.limited(robot.description.limits)
        ends = one.kind.shape.ground(one.legs, q[one.actuators], limits)
        found.append(np.broadcast_to(ends, (len(ends), 2, 3)))
    return np.concatenate(found)


def bodies(
    legs: list[PlacedLegs], home: list[PlacedLegs], size: float
) -> list[tuple[AlikeLegs, Bar]]:
    """Bodies as bars, sized for legs that stand so at home on a robot of the size (m)."""
    return [
        (one.alike, bar)
        for one, then in zip(legs, home, strict=True)
        for bar in one.alike.kind.shape.bodies(one.alike.legs, one.places, then.places, size)
    ]


def dimensions(robot: Model) -> list[tuple[AlikeLegs, tuple[Dimension, ...]]]:
    """What a sheet lists of the legs."""
    return [(one, one.kind.shape.dimensions(one.legs)) for one in alike(robot)]


def architecture(robot: Model) -> str:
    """Legs by their joints: "6 UPS", or of several kinds "3 UPS + 1 UP"."""
    return " + ".join(f"{one.legs.count} {one.name}" for one in alike(robot))
