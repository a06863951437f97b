"""Chains as bodies and joints: they are that already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

import numpy as np

from gough.base.arrays import Array
from gough.legs.chain.equations import Chain
from gough.legs.chain.pin import Pin
from gough.legs.tree import JointType, TreeJoint, per_leg
from gough.mechanics.body import Frame
from gough.mechanics.leg import Leg
from gough.results import LegMotion

LETTERS = "ab"
"""Of a universal joint's two axes."""


class ChainTree:
    """The joints of the file, a universal one as two revolute joints with nothing between."""

    numbers: ClassVar[tuple[type[Leg], ...]] = (Chain, Pin)

    def joints(
        self, legs: Chain | Pin, frames: Mapping[str, Frame], motion: LegMotion
    ) -> tuple[TreeJoint, ...]:
        """From the base on, named by their numbers in the file from 1."""
        if isinstance(legs, Pin):
            return ()
        found = []
        before = -1
        for place, last in enumerate(legs.file_joints):
            bodies = ["", *legs.BODIES[place : place + 1], ""]
            for one in range(before + 1, last + 1):
                letter = LETTERS[one - before - 1] if last - before > 1 else ""
                found.append(
                    TreeJoint(
                        name=f"joint{place + 1}{letter}",
                        type=cast(JointType, legs.joints[one]),
                        point=legs.points[one][..., 0].T,
                        axis=legs.axes[one][..., 0].T,
                        reads=per_leg(legs.home[one]),
                        body=bodies[one == last],
                        actuated=legs.actuated[one],
                        viscous=per_leg(legs.viscous[one]),
                        coulomb=per_leg(legs.coulomb[one]),
                        place=place,
                        other_friction=_width(legs, one),
                    )
                )
            before = max(before, last)
        return tuple(found)

    def holds_body(self, legs: Chain | Pin) -> bool:
        """Whether the last joint is another than a spherical one."""
        return legs.body_port


def _width(legs: Chain, joint: int) -> dict[str, Array]:
    """Over which Coulomb friction changes its sign, if there is any."""
    width = per_leg(np.where(legs.coulomb[joint] > 0, legs.width[joint], 0.0))
    return {"width": width} if np.any(width) else {}
