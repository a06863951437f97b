"""Which serial legs are PUS legs."""

from __future__ import annotations

import numpy as np

from gough.legs.keys import NOMINAL_LEAD
from gough.legs.pus.tree import OTHER_FRICTION
from gough.legs.serial import (
    Placement,
    Recognised,
    SerialLeg,
    body_keys,
    friction_keys,
    limit_keys,
    link_frames,
)


def recognise(leg: SerialLeg) -> Recognised | None:
    """Keys of a leg whose link is on a driven slider; its branch from how the link leans at home.

    q = a·d ∓ √…, so a·(P − A) = ±√…: positive on the branch "minus". A constant friction force F of the
    slider is that of a ball screw, 2π τ/lead.
    """
    if leg.types() != "_PRRS":
        return None
    slide, first, second, last = leg.joints
    frames = link_frames(leg, 1)
    if frames is None:
        return None
    here = frames.link.position
    keys = {
        "rail_origin": here - slide.home * slide.axis,
        "rail_direction": slide.axis,
        "platform": leg.platform.rotation.T @ (last.point - leg.platform.position),
        "length": frames.length,
        "branch": "minus" if slide.axis @ frames.direction > 0 else "plus",
        "axis": frames.axis,
        "rotor_mass": slide.rotor_inertia,
        "slider": body_keys(slide, Placement(here, np.eye(3))),
        "cross": body_keys(first, frames.cross),
        "link": body_keys(second, frames.link),
        **limit_keys(slide),
        **friction_keys(
            {
                "slider_viscous": slide.viscous,
                "universal_viscous": first.viscous,
                "spherical_viscous": last.viscous,
                "screw_torque": slide.coulomb * NOMINAL_LEAD / (2 * np.pi),
                "screw_lead": NOMINAL_LEAD,
            },
            slide,
            OTHER_FRICTION,
        ),
    }
    return Recognised(keys)
