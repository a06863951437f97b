"""Which serial legs are RUS legs."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.legs.rus.tree import OTHER_FRICTION
from gough.legs.serial import (
    SAME,
    Placement,
    Recognised,
    SerialLeg,
    body_keys,
    friction_keys,
    limit_keys,
    link_frames,
)


def recognise(leg: SerialLeg) -> Recognised | None:
    """Keys of a leg with a driven crank; its branch from the side on which the link leans at home.

    n·t = −(±√…)/l with t = motor_axis × u along the crank's motion: positive on the branch "minus".
    """
    if leg.types() != "_RRRS":
        return None
    crank, first, second, last = leg.joints
    frames = link_frames(leg, 1)
    if frames is None:
        return None
    a, here = crank.axis, frames.link.position
    motor = crank.point + (a @ (here - crank.point)) * a
    arm = here - motor
    radius = float(np.linalg.norm(arm))
    if radius <= SAME * leg.size:
        return None
    u = arm / radius
    back = Rotation.from_rotvec(-crank.home * a).as_matrix()
    keys = {
        "motor": motor,
        "motor_axis": a,
        "crank_zero": back @ u,
        "crank_length": radius,
        "length": frames.length,
        "platform": leg.platform.rotation.T @ (last.point - leg.platform.position),
        "branch": "minus" if frames.direction @ np.cross(a, u) > 0 else "plus",
        "axis": back @ frames.axis,
        "rotor_inertia": crank.rotor_inertia,
        "crank": body_keys(crank, Placement(motor, np.stack([u, np.cross(a, u), a], axis=1))),
        "cross": body_keys(first, frames.cross),
        "link": body_keys(second, frames.link),
        **limit_keys(crank),
        **friction_keys(
            {
                "motor_viscous": crank.viscous,
                "motor_coulomb": crank.coulomb,
                "universal_viscous": first.viscous,
                "spherical_viscous": last.viscous,
            },
            crank,
            OTHER_FRICTION,
        ),
    }
    return Recognised(keys)
