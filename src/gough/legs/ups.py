"""UPS leg: universal joint on the base, actuated prismatic joint, spherical joint on the platform.

Khalil & Guegan 2004; Long, Khalil & Martinet 2014. Frames (world axes throughout):
z1 = axis, fixed to the base; x1 = the leg's direction made perpendicular to z1; z2 = −y1;
x3 = x2 = cos q2 x1 + sin q2 z1; z3 along the leg, P = B + q3 z3. Frames 1 and 2 sit at B, 3 at P.
The joint angles never enter: sin q2 = ‖z1×z3‖ and cos q2 = −z1·z3 do all the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.body import Body, newton_euler, turn
from gough.legs.leg import Health, LegKinematics, at_tip, inertia_at_tip
from gough.vectors import Components, columns, cross, dot, matvec, norm

JOINTS = ("q1", "q2", "q3")
BODIES = ("cross", "cylinder", "rod")
ACTUATED = 2
UNIVERSAL = (0, 1)
HEALTH = (
    Health(1e-9, True, "its length {value:.3g} m is zero (limit {limit:g} m)"),
    Health(
        1e-9, True, "it is parallel to its first universal axis (sine {value:.3g}, limit {limit:g})"
    ),
)


class UPS(NamedTuple):
    """Parameters of the legs, component axis first: (3, legs, 1)."""

    base: Components
    """B, the universal joint, m."""
    axis: Components
    """First universal axis z1, unit."""
    reference: Components
    """Zero of q1, unit, perpendicular to axis."""
    rotor_mass: Components
    """Drive inertia felt along q, kg."""
    cross: Body
    cylinder: Body
    rod: Body


def kinematics(
    leg: UPS, tip: Components, velocity: Components, acceleration: Components
) -> LegKinematics:
    """Joint coordinates, rates and accelerations from the tip's.

    q3 = ‖P − B‖, and with Khalil & Guegan 2004, Eqs. 14–18 (s = sin q2):
    q̇1 = −y3·v/(q3 s),  q̇2 = x3·v/q3,  q̇3 = z3·v
    v̇ = q̈3 z3 + 2 q̇3 ω×z3 + q3 (ω̇×z3 + ω×(ω×z3)),  ω = q̇1 z1 + q̇2 z2,
    ω̇ = q̈1 z1 + q̈2 z2 + q̇1 q̇2 z1×z2
    """
    along = tip - leg.base
    q3 = norm(along)
    z3 = along / q3
    z1 = leg.axis
    normal = cross(z1, z3)
    sine, cosine = norm(normal), -dot(z1, z3)
    y1 = normal / sine
    z2 = y3 = -y1
    x1 = cross(y1, z1)
    x3 = cross(y3, z3)
    rows = np.stack(np.broadcast_arrays(-y3 / (q3 * sine), x3 / q3, z3))

    q1d, q2d, q3d = matvec(rows, velocity)
    omega = q1d * z1 + q2d * z2
    drift = q1d * q2d * cross(z1, z2)  # the part of ω̇ without q̈
    turning = cross(omega, z3)
    bias = 2 * q3d * turning + q3 * (cross(drift, z3) + cross(omega, turning))
    q1dd, q2dd, q3dd = matvec(rows, acceleration - bias)

    q1 = np.arctan2(dot(x1, cross(z1, leg.reference)), dot(x1, leg.reference))
    q2 = np.arctan2(sine, cosine)
    return LegKinematics(
        q=q3,
        qd=q3d,
        qdd=q3dd,
        joints=np.stack([q1, q2, q3]),
        joint_rates=np.stack([q1d, q2d, q3d]),
        joint_accelerations=np.stack([q1dd, q2dd, q3dd]),
        inverse_jacobian=rows,
        w=z3,
        direction=z3,
        first_axis=z1,
        second_axis=z2,
        frames=(columns(x1, y1, z1), columns(x3, -z3, y3), columns(x3, y3, z3)),
        link_angular_velocity=omega,
        link_angular_acceleration=q1dd * z1 + q2dd * z2 + drift,
        health=np.stack([q3, sine]),
    )
