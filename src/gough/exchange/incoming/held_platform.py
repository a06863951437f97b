"""Passive legs without mass that do nothing but keep the platform to some motions: `mobility`.

A platform that floats in its file on three sliders and a ball is held by nothing at all.
"""

from __future__ import annotations

import numpy as np

from gough.legs.serial import SAME, SerialLeg

FREE = "free"
"""What a leg that holds nothing leaves a platform."""


def mobility_of(leg: SerialLeg) -> str | None:
    """The `mobility` that a leg stands for; None where it is a leg as others are.

    Three sliders across each other let a platform move and not turn; two and a hinge across both,
    along its z at home, keep it in a plane; three and such a hinge are Schoenflies motion; one spherical
    joint at its origin lets it turn alone.
    """
    if any(
        one.actuated or one.viscous or one.coulomb or one.stroke or not one.body.is_nothing
        for one in leg.joints
    ):
        return None
    types = "".join(sorted(one.type[0] for one in leg.joints))
    z = leg.platform.rotation[:, 2]
    slides = [one.axis for one in leg.joints if one.type == "prismatic"]
    hinges = [one for one in leg.joints if one.type == "revolute"]
    upright = all(np.linalg.norm(np.cross(one.axis, z)) <= SAME for one in hinges)
    wide = np.linalg.matrix_rank(np.array(slides), tol=1e-3) if slides else 0
    if types == "s" and np.linalg.norm(leg.joints[0].point - leg.platform.position) <= SAME:
        return "rotation"
    if wide == 3 and types in ("ppps", "ppprrr"):
        return FREE
    if types == "ppp" and wide == 3:
        return "translation"
    if types == "pppr" and wide == 3 and upright:
        return "schoenflies"
    flat = all(abs(axis @ z) <= SAME for axis in slides)
    if types == "ppr" and wide == 2 and upright and flat:
        return "planar"
    return None
