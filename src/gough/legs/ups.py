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
from gough.legs.leg import Health, LegKinematics, LegLoad, at_tip, inertia_at_tip
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
        tip_acceleration=acceleration,
        health=np.stack([q3, sine]),
    )


def load(leg: UPS, motion: LegKinematics, gravity: Components) -> LegLoad:
    """Load A v̇ + h of the legs at their tips, in one go.

    With F_j, N_j of Newton–Euler for each link (links 1, 2 about B, 3 about P) the joint loads are
    H1 = z1·(N1 + N_B), H2 = z2·N_B, H3 = z3·F3 + I_A q̈3, where N_B = N2 + N3 + q3 z3×F3
    (Khalil & Guegan 2004, Eqs. 20–23); the rotor mass I_A is felt along q3 only.
    """
    z1, z2, z3 = motion.first_axis, motion.second_axis, motion.direction
    q1d, q1dd = motion.joint_rates[0], motion.joint_accelerations[0]
    omega, omega_dot = motion.link_angular_velocity, motion.link_angular_acceleration
    frame1, frame2, frame3 = motion.frames
    _, N1 = newton_euler(leg.cross, frame1, q1d * z1, q1dd * z1, -gravity)
    F2, N2 = newton_euler(leg.cylinder, frame2, omega, omega_dot, -gravity)
    F3, N3 = newton_euler(leg.rod, frame3, omega, omega_dot, motion.tip_acceleration - gravity)
    N_B = N2 + N3 + cross(motion.q * z3, F3)
    H3 = dot(z3, F3) + leg.rotor_mass * motion.qdd
    joint_loads = np.stack([dot(z1, N1 + N_B), dot(z2, N_B), H3])
    return LegLoad(at_tip(motion, joint_loads), F2 + F3, N_B, (F3, N3))


def inertia(leg: UPS, motion: LegKinematics) -> Components:
    """Inertia A (3, 3, ...) of the legs felt at their tips, kg: A_xi of Khalil & Guegan 2004.

    Joint-space mass matrix, with L = q3 z3 and I_B u = I2 u + I3 u + L×(u×S3) + S3×(u×L) + M3 L×(u×L):
    A11 = z1·(I1 + I_B) z1, A12 = z2·I_B z1, A22 = z2·I_B z2, Aj3 = zj·(S3×z3), A33 = M3 + I_A.
    """
    z1, z2, z3 = motion.first_axis, motion.second_axis, motion.direction
    frame1, frame2, frame3 = motion.frames
    arm = motion.q * z3
    moment = matvec(frame3, leg.rod.first_moment)

    def about_base(u: Components) -> Components:
        spin = cross(u, arm)
        result: Components = (
            turn(leg.cylinder.inertia, frame2, u)
            + turn(leg.rod.inertia, frame3, u)
            + cross(arm, cross(u, moment) + leg.rod.mass * spin)
            + cross(moment, spin)
        )
        return result

    turned = about_base(z1)
    sliding = cross(moment, z3)
    a11 = dot(z1, turn(leg.cross.inertia, frame1, z1) + turned)
    a12, a22 = dot(z2, turned), dot(z2, about_base(z2))
    a13, a23 = dot(z1, sliding), dot(z2, sliding)
    a33 = leg.rod.mass + leg.rotor_mass + 0 * a11
    matrix = np.stack(
        [np.stack([a11, a12, a13]), np.stack([a12, a22, a23]), np.stack([a13, a23, a33])]
    )
    return inertia_at_tip(motion, matrix)


def reactions(
    leg: UPS,
    motion: LegKinematics,
    load: LegLoad,
    force: Components,
    universal_couple: Components,
    spherical_couple: Components,
) -> dict[str, Components]:
    """Joint reactions once the force f of the leg on the platform is known.

    `universal`: F2 + F3 + f, the cross on the cylinder; `universal_moment`: N_B + q3 z3×f less the
    friction couples on the leg; `sliding_force`: F3 + f, the cylinder on the rod, actuator force
    included; `sliding_moment`: the couple of the cylinder on the rod about the tip.
    """
    rod_force, rod_moment = load.rest
    return {
        "spherical": force,
        "universal": load.link_force + force,
        "universal_moment": load.link_moment
        + cross(motion.q * motion.direction, force)
        - universal_couple
        - spherical_couple,
        "sliding_force": rod_force + force,
        "sliding_moment": rod_moment - spherical_couple,
    }


def potential_energy(leg: UPS, motion: LegKinematics, gravity: Components) -> Components:
    """U = −g·Σ (M_j o_j + MS_j) of each leg, J, from the world's origin."""
    tip = leg.base + motion.q * motion.direction
    moment = (leg.cross.mass + leg.cylinder.mass) * leg.base + leg.rod.mass * tip
    for body, frame in zip((leg.cross, leg.cylinder, leg.rod), motion.frames, strict=True):
        moment = moment + matvec(frame, body.first_moment)
    return -dot(gravity, moment)
