"""UPS legs as bodies and joints: cross, cylinder and rod in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gough.legs.tree import TreeJoint, acting, per_leg
from gough.legs.ups.equations import UPS
from gough.mechanics.body import Frame
from gough.mechanics.leg import Leg
from gough.results import LegMotion

OTHER_FRICTION = ("universal_coulomb", "spherical_viscous", "spherical_coulomb")
"""Couples in spherical joints, and those that grow with the load: no joint of a tree has them."""


class UPSTree:
    """The joints q1, q2, q3 about and along the z axes of the papers' frames 1, 2, 3.

    Viscous friction of the universal joint is −c ω with ω = q̇1 z1 + q̇2 z2 and z1 ⟂ z2: −c q̇1 about the
    one axis and −c q̇2 about the other.
    """

    numbers: ClassVar[tuple[type[Leg], ...]] = (UPS,)

    def joints(
        self, legs: UPS, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """Two revolute joints at B, and the telescope."""
        rubs = legs.friction
        turning, none = per_leg(rubs.universal_viscous), np.zeros(legs.count)
        drag = per_leg(rubs.slider_coulomb + rubs.screw_drag)
        sliding = per_leg(rubs.slider_viscous)
        cross, cylinder, rod = (frames[name] for name in UPS.BODIES)
        q1, q2, q3 = motion.joints.T
        return (
            TreeJoint("q1", "revolute", cross.origin, cross.axes[..., 2], q1, "cross", False,
                      turning, none),
            TreeJoint("q2", "revolute", cylinder.origin, cylinder.axes[..., 2], q2, "cylinder", False,
                      turning, none),
            TreeJoint("q3", "prismatic", rod.origin, rod.axes[..., 2], q3, "rod", True,
                      sliding, drag, other_friction=acting(rubs, OTHER_FRICTION)),
        )  # fmt: skip

    def holds_body(self, legs: UPS) -> bool:
        """It ends in a spherical joint."""
        return False
