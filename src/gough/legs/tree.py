"""A kind of leg as a tree of bodies and joints, for programs that know nothing but these.

All is as it stands with the robot at home, where joints read what gough reads there. World axes, SI.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.body import Frame
from gough.mechanics.friction import Friction
from gough.mechanics.leg import Leg
from gough.results import LegMotion

L = TypeVar("L", bound=Leg, contravariant=True)

JointType = Literal["revolute", "prismatic", "spherical"]
NO_FRICTION: Mapping[str, Any] = MappingProxyType({})


class TreeJoint(NamedTuple):
    """A joint that every leg of a kind has, with one axis or a centre."""

    name: str
    """As the leg's kind calls its coordinate."""
    type: JointType
    point: Array
    """(legs, 3), m: on the axis, or the centre; of a prismatic joint any point that it carries."""
    axis: Array
    """(legs, 3), unit, of growing coordinate; zeros of a spherical joint."""
    reads: Array
    """(legs,): the coordinate at home, m or rad."""
    body: str
    """Of `Leg.BODIES`, what it carries; empty before another joint, and before the platform."""
    actuated: bool
    viscous: Array
    """(legs,): friction per speed, N s/m or N m s."""
    coulomb: Array
    """(legs,): friction that only has the rate's sign, N or N m."""
    place: int = 0
    """Its number in the robot file, from 0, where joints have tables of their own."""
    other_friction: Mapping[str, Array] = NO_FRICTION
    """(legs,) by key in the file: what no joint of a tree has. A kind with one table of friction per leg
    has it at the actuated joint."""


class LegTree(Protocol[L]):
    """A kind's bodies and joints from the base on; L is the class of its numbers."""

    numbers: ClassVar[tuple[type[Leg], ...]]
    """Classes that it tells all of: numbers of one that adds something, a spring, are another's."""

    def joints(
        self, legs: L, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """All but a spherical joint at the platform.

        `frames` are those of its bodies at home, (legs, 3) and (legs, 3, 3); `motion` its coordinates.
        """

    def holds_body(self, legs: L) -> bool:
        """Whether the last of `joints` carries the platform; else a spherical joint holds it."""


def acting(friction: Friction, names: tuple[str, ...]) -> dict[str, Array]:
    """Those of some coefficients, and the width, that are not 0; (legs,) by key."""
    found = {name: per_leg(getattr(friction, name)) for name in (*names, "width")}
    return {name: value for name, value in found.items() if np.any(value)}


def per_leg(value: Array) -> Array:
    """A number of the legs, (legs, 1), as (legs,)."""
    return np.asarray(value[:, 0])


def universal_joints(
    cross: Frame, angles: tuple[Array, Array], viscous: Array
) -> tuple[TreeJoint, TreeJoint]:
    """φ1 about the cross's z axis and φ2 about its y axis (legs,), rad, which carries the link.

    Viscous friction of the universal joint, N m s (legs,), is −c φ̇ about each: they are perpendicular.
    """
    none = np.zeros(len(viscous))
    first, second = (
        TreeJoint(name, "revolute", cross.origin, cross.axes[..., axis], angle, body, False,
                  viscous, none)
        for name, axis, angle, body in zip(
            ("phi1", "phi2"), (2, 1), angles, ("cross", "link"), strict=True)
    )  # fmt: skip
    return first, second
