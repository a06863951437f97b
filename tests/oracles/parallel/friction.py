"""Friction in any robot's joints at given load magnitudes, as generalised forces on the tree.

Chains: −viscous q̇ − coulomb q̇/√(q̇² + width²) at each revolute or prismatic joint. Legs of kind UPS, PUS
and RUS: `friction_laws`, the universal joint's couple on the link and its opposite on what carries
the joint, the spherical joint's on the last body and its opposite on the platform.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..arrays import Array
from ..friction_laws import drive_friction, guide_load, heading, joint_couple
from .closure import Loops, Posture
from .reactions import Reactions

LOADED = ("slider_coulomb", "universal_coulomb", "spherical_coulomb")


@dataclass(frozen=True)
class Rubbing:
    """Friction acting: generalised forces (nv,), and couples on bodies by Pinocchio's joints."""

    along: Array
    couples: dict[int, Array] = field(default_factory=dict)


def rubbing(loops: Loops, posture: Posture, rates: Array, magnitudes: Array) -> Rubbing:
    """All friction at the load magnitudes (legs, 3): ‖F_A‖, ‖F_B‖, |u·N| + |v·N|."""
    along, couples = np.zeros(loops.model.nv), {}
    pin.computeJointJacobians(loops.model, loops.data, posture.configuration)
    for leg, (at_universal, at_spherical, at_guide) in zip(
        loops.tree.legs, magnitudes, strict=True
    ):
        for column, viscous, coulomb, width in leg.friction:
            rate = rates[column]
            along[column] -= viscous * rate + coulomb * heading(rate, width)
        if leg.closed is None:
            continue
        described, c = leg.closed.leg, leg.coefficients
        kind, width = described.kind, c["width"]
        drive = leg.actuators[0][0]
        along[drive] += drive_friction(described, c, rates[drive], at_guide)
        link = leg.joints[kind.passive[1]]
        carrier = 0 if kind.rubbed is None else leg.joints[kind.rubbed]
        last, platform = leg.joints[-1], loops.tree.platform
        for one, other, law, load in (
            (link, carrier, "universal", at_universal),
            (last, platform, "spherical", at_spherical),
        ):
            turning = turns(loops, posture, one) - turns(loops, posture, other)
            viscous, coulomb = c[f"{law}_viscous"], c[f"{law}_coulomb"]
            couple = joint_couple(viscous, coulomb, load, turning @ rates, width)
            along += turning.T @ couple
            couples[one] = couples.get(one, 0.0) + couple
            couples[other] = couples.get(other, 0.0) - couple
    return Rubbing(along, couples)


def turns(loops: Loops, posture: Posture, joint: int) -> Array:
    """(3, nv): a body's angular velocity is this times η, world axes; 0 the base."""
    if joint == 0:
        return np.zeros((3, loops.model.nv))
    frame = pin.LOCAL_WORLD_ALIGNED
    jacobian = pin.getJointJacobian(loops.model, loops.data, joint, frame)
    return jacobian[3:] @ loops.to_pinocchio(posture)


def load_magnitudes(loops: Loops, found: Reactions) -> Array:
    """(legs, 3): ‖F_A‖, ‖F_B‖, |u·N| + |v·N| of legs of kind UPS, PUS, RUS; zeros for chains."""
    result = np.zeros((len(loops.tree.legs), 3))
    for i, leg in enumerate(loops.tree.legs):
        if leg.closed is None:
            continue
        described = leg.closed.leg
        universal = found.joints[i][described.kind.passive[1], :3]
        result[i] = (
            np.linalg.norm(universal),
            np.linalg.norm(found.forces[i]),
            guide_load(described, found.joints[i][described.kind.drive, :3]),
        )
    return result


def depends_on_load(loops: Loops) -> Array:
    """(legs,): whether a leg's friction depends on what it carries."""
    return np.array(
        [
            leg.closed is not None
            and any(
                leg.coefficients[key] != 0
                for key in LOADED
                if key != "slider_coulomb" or leg.closed.leg.kind.guided
            )
            for leg in loops.tree.legs
        ]
    )
