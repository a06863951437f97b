"""PUS legs as bodies and joints: slider, cross and link in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gough.legs.pus.equations import PUS
from gough.legs.tree import TreeJoint, acting, per_leg, universal_joints
from gough.mechanics.body import Frame
from gough.mechanics.leg import Leg
from gough.results import LegMotion

OTHER_FRICTION = (
    "slider_coulomb",
    "universal_coulomb",
    "spherical_viscous",
    "spherical_coulomb",
)
"""Couples in spherical joints, and all that grows with the load: no joint of a tree has them."""


class PUSTree:
    """λ along the rail, φ1 about the cross's z axis, φ2 about its y axis."""

    numbers: ClassVar[tuple[type[Leg], ...]] = (PUS,)

    def joints(
        self, legs: PUS, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """The rail, and two revolute joints at the universal joint."""
        rubs = legs.friction
        slider = frames["slider"]
        slides, first, second = motion.joints.T
        rail = legs.rail_direction[..., 0].T
        return (
            TreeJoint("lambda", "prismatic", slider.origin, rail, slides, "slider", True,
                      per_leg(rubs.slider_viscous), per_leg(rubs.screw_drag),
                      other_friction=acting(rubs, OTHER_FRICTION)),
            *universal_joints(frames["cross"], (first, second), per_leg(rubs.universal_viscous)),
        )  # fmt: skip

    def holds_body(self, legs: PUS) -> bool:
        """It ends in a spherical joint."""
        return False
