"""RUS legs as bodies and joints: crank, cross and link in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gough.legs.rus.equations import RUS
from gough.legs.tree import TreeJoint, acting, per_leg, universal_joints
from gough.mechanics.body import Frame
from gough.mechanics.leg import Leg
from gough.results import LegMotion

OTHER_FRICTION = ("universal_coulomb", "spherical_viscous", "spherical_coulomb")
"""Couples in spherical joints, and those that grow with the load: no joint of a tree has them."""


class RUSTree:
    """q about the motor's axis, φ1 about the cross's z axis, φ2 about its y axis."""

    numbers: ClassVar[tuple[type[Leg], ...]] = (RUS,)

    def joints(
        self, legs: RUS, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """The motor, and two revolute joints at the universal joint."""
        rubs = legs.friction
        crank = frames["crank"]
        turns, first, second = motion.joints.T
        axis = legs.motor_axis[..., 0].T
        return (
            TreeJoint("q", "revolute", crank.origin, axis, turns, "crank", True,
                      per_leg(rubs.motor_viscous), per_leg(rubs.motor_coulomb),
                      other_friction=acting(rubs, OTHER_FRICTION)),
            *universal_joints(frames["cross"], (first, second), per_leg(rubs.universal_viscous)),
        )  # fmt: skip

    def holds_body(self, legs: RUS) -> bool:
        """It ends in a spherical joint."""
        return False
