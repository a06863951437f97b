"""Which serial legs are UPS legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.legs.serial import (
    SAME,
    Placement,
    Recognised,
    SerialJoint,
    SerialLeg,
    body_keys,
    friction_keys,
    limit_keys,
    link_frames,
)
from gough.legs.ups.tree import OTHER_FRICTION


def recognise(leg: SerialLeg) -> Recognised | None:
    """Keys of a leg whose telescope slides along the line from its universal to its spherical joint."""
    if leg.types() != "RR_PS":
        return None
    frames = link_frames(leg, 0)
    first, second, slide, last = leg.joints
    if frames is None:
        return None
    n, size = frames.direction, leg.size
    if np.linalg.norm(np.cross(n, slide.axis)) > SAME:
        return None
    base, x, y, z = frames.link.position, *frames.link.rotation.T
    if np.linalg.norm(np.cross(slide.point - base, n)) > SAME * size:
        return None
    keys = {
        "base": base,
        "platform": leg.platform.rotation.T @ (last.point - leg.platform.position),
        "axis": frames.axis,
        "rotor_mass": slide.rotor_inertia,
        "cross": body_keys(first, frames.cross),
        "cylinder": body_keys(second, Placement(base, np.stack([x, -z, y], axis=1))),
        "rod": body_keys(slide, Placement(last.point, frames.link.rotation)),
        **_limits(slide, frames.length, float(np.sign(n @ slide.axis))),
        **friction_keys(
            {
                "slider_viscous": slide.viscous,
                "slider_coulomb": slide.coulomb,
                "universal_viscous": first.viscous,
                "spherical_viscous": last.viscous,
            },
            slide,
            OTHER_FRICTION,
        ),
    }
    return Recognised(keys, ("q of UPS legs is their length, not the coordinate of the file",))


def _limits(slide: SerialJoint, length: float, sign: float) -> dict[str, Any]:
    """Limits of q = length + sign (x − home), x being the joint's coordinate."""
    if slide.stroke is not None:
        ends = [length + sign * (end - slide.home) for end in slide.stroke]
        slide = slide._replace(stroke=(min(ends), max(ends)))
    return limit_keys(slide)
