"""Any serial leg as a chain: which of its joints are universal, and its keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.legs.serial import (
    Placement,
    Recognised,
    SerialJoint,
    SerialLeg,
    body_keys,
    universal_centre,
)

WITHOUT_LIMITS = ("stroke", "speed")


def recognise(leg: SerialLeg) -> Recognised | None:
    """Keys of the leg in the world's frame; two joints are a universal one where they can be."""
    joints: list[dict[str, Any]] = []
    place = 0
    while place < len(leg.joints):
        pair = leg.joints[place : place + 2]
        keys = _universal(leg, *pair) if len(pair) == 2 else None
        keys = _single(pair[0]) if keys is None else keys
        carrying = pair[1] if keys["type"] == "universal" else pair[0]
        place += 2 if keys["type"] == "universal" else 1
        if place < len(leg.joints):
            keys["body"] = body_keys(carrying, Placement(keys["point"], np.eye(3)))
        joints.append(keys)
    rubbing = dict.fromkeys(key for joint in leg.joints for key in joint.other_friction)
    lost = ", ".join(key for key in rubbing if key != "width")
    return Recognised({"joints": joints}, (f"left out: friction, {lost}",) if lost else ())


def _universal(leg: SerialLeg, first: SerialJoint, second: SerialJoint) -> dict[str, Any] | None:
    """Keys of two joints that say no more than that they are a universal one."""
    bare = not any(
        (one.actuated, one.viscous, one.coulomb, one.stroke, one.speed) != (False, 0, 0, None, None)
        for one in (first, second)
    )
    if not bare or not first.body.is_nothing or first.meshes:
        return None
    centre = universal_centre(first, second, leg.size)
    if centre is None:
        return None
    return {"type": "universal", "point": centre, "axis": first.axis, "axis2": second.axis}


def _single(joint: SerialJoint) -> dict[str, Any]:
    """Keys of one joint."""
    keys: dict[str, Any] = {"type": joint.type, "point": joint.point}
    if joint.type == "spherical":
        return keys
    keys["axis"] = joint.axis
    if joint.actuated:
        keys["actuated"] = True
    values = {
        "home": joint.home,
        "rotor_inertia": joint.rotor_inertia if joint.actuated else 0.0,
        "viscous": joint.viscous,
        "coulomb": joint.coulomb,
        "width": joint.other_friction.get("width", 0.0),
    }
    limits = {"stroke": joint.stroke, "force": joint.force, "speed": joint.speed}
    return keys | values | {key: value for key, value in limits.items() if value is not None}
