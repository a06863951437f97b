"""PUS legs as bodies and joints: slider, cross and link in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gough.legs.pus.equations import PUS
from gough.legs.tree import TreeJoint, acting, per_leg
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
    """λ along the rail, φ1 about the cross's z axis, φ2 about its y axis.

    Viscous friction of the universal joint is −c φ̇ about each of its axes, which are perpendicular.
    """

    numbers: ClassVar[tuple[type[Leg], ...]] = (PUS,)

    def joints(
        self, legs: PUS, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """The rail, and two revolute joints at the universal joint."""
        rubs = legs.friction
        turning, none = per_leg(rubs.universal_viscous), np.zeros(legs.count)
        slider, cross = frames["slider"], frames["cross"]
        slides, first, second = motion.joints.T
        rail = legs.rail_direction[..., 0].T
        return (
            TreeJoint("lambda", "prismatic", slider.origin, rail, slides, "slider", True,
                      per_leg(rubs.slider_viscous), per_leg(rubs.screw_drag),
                      other_friction=acting(rubs, OTHER_FRICTION)),
            TreeJoint("phi1", "revolute", cross.origin, cross.axes[..., 2], first, "cross", False,
                      turning, none),
            TreeJoint("phi2", "revolute", cross.origin, cross.axes[..., 1], second, "link", False,
                      turning, none),
        )  # fmt: skip

    def holds_body(self, legs: PUS) -> bool:
        """It ends in a spherical joint."""
        return False
