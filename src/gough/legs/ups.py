"""UPS leg: universal joint on the base, actuated prismatic joint, spherical joint on the platform.

Khalil & Guegan 2004; Long, Khalil & Martinet 2014. The papers' frame 3 is the link frame of
`gough.legs.leg`: z3 along the leg, P = B + q3 z3, y3 along z3×axis; frame 2 has x2 = x3, z2 = y3;
frame 1 has z1 = axis. Frames 1 and 2 sit at B, 3 at P. The joint angles never enter:
sin q2 = ‖z1×z3‖ and cos q2 = −z1·z3 do all the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.body import Body, Spin, force, gyroscopic, turned
from gough.legs.leg import (
    Health,
    LegKinematics,
    LegLoad,
    cross_moment,
    first_angle,
    first_angle_rates,
    inertia_about_joint,
    inertia_to_world,
    link_frame,
    sideways_at_tip,
    to_link,
    to_world,
    turning,
    turning_faster,
)
from gough.vectors import Components, cross, dot, matvec, norm

JOINTS = ("q1", "q2", "q3")
BODIES = ("cross", "cylinder", "rod")
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

    q3 = ‖P − B‖, v = q̇3 z3 + q3 ω×z3 and v̇ = q̈3 z3 + 2 q̇3 ω×z3 + q3 (ω̇×z3 + ω×(ω×z3)), read on
    the axes of frame 3 (Khalil & Guegan 2004, Eqs. 14–18); q̇1 = ω_x/sin q2, q̇2 = ω_y.
    """
    along = tip - leg.base
    q = norm(along)
    per_q = 1 / q
    z3 = along * per_q
    link = link_frame(leg.axis, z3)
    v = to_link(link, velocity)
    qd = v[2]
    omega = turning(link, v[:2] * per_q)
    a = to_link(link, acceleration)
    wx, wy, wz = omega
    qdd = a[2] + q * (wx * wx + wy * wy)
    twice = 2 * qd
    sideways = np.stack(
        [(a[0] - twice * wy) * per_q - wx * wz, (a[1] + twice * wx) * per_q - wy * wz]
    )
    spin = Spin(omega, turning_faster(link, omega, sideways))
    q1d, q1dd = first_angle_rates(link, spin)
    q1 = first_angle(link, leg.axis, leg.reference)
    q2 = np.arctan2(link.sine, -link.cosine)
    return LegKinematics(
        q=q,
        qd=qd,
        qdd=qdd,
        joints=np.stack([q1, q2, q]),
        joint_rates=np.stack([q1d, wy, qd]),
        joint_accelerations=np.stack([q1dd, spin.omega_dot[1], qdd]),
        w=z3,
        direction=z3,
        link_angular_velocity=to_world(link, omega),
        link_angular_acceleration=to_world(link, spin.omega_dot),
        link=link,
        spin=spin,
        arm=q,
        per_arm=per_q,
        tip_acceleration=a,
        health=np.stack([q, link.sine]),
    )


def on_link_axes(leg: UPS) -> Body:
    """The cylinder on the axes of frame 3: x2 = x3, y2 = −z3, z2 = y3."""
    return turned(leg.cylinder, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])


def load(leg: UPS, legs: LegKinematics, gravity: Components) -> LegLoad:
    """Load A v̇ + h of the legs at their tips, in one go (Khalil & Guegan 2004, Eqs. 20–23).

    On the axes of frame 3, with g the gravity there and L = q3 z3,
    F3 = M3 (v̇ − g) + ω̇×S3 + ω×(ω×S3),
    N_B = (I2 + I3) ω̇ + ω×(I2 + I3) ω − S2×g + S3×(v̇ − g) + L×F3 about B (links 2 and 3 turn together);
    along q3 the leg asks for F3_z + I_A q̈3, I_A being the rotor mass.
    """
    weight = -to_link(legs.link, gravity)
    felt = legs.tip_acceleration + weight
    cylinder, rod, spin = on_link_axes(leg), leg.rod, legs.spin
    turning_inertia = cylinder.inertia + rod.inertia
    rod_force = force(rod, spin, felt)
    link_moment = (
        matvec(turning_inertia, spin.omega_dot)
        + gyroscopic(turning_inertia, spin.omega)
        + cross(cylinder.first_moment, weight)
        + cross(rod.first_moment, felt)
        + np.stack([-legs.q * rod_force[1], legs.q * rod_force[0], 0 * rod_force[2]])
    )
    rod_moment = (
        matvec(rod.inertia, spin.omega_dot)
        + gyroscopic(rod.inertia, spin.omega)
        + cross(rod.first_moment, felt)
    )
    turned_cross = cross_moment(legs, leg.cross.inertia, leg.cross.first_moment, weight)
    fx, fy = sideways_at_tip(legs, link_moment, turned_cross)
    return LegLoad(
        sideways=fx * legs.link.frame[:, 0] + fy * legs.link.frame[:, 1],
        along=rod_force[2] + leg.rotor_mass * legs.qdd,
        link_force=force(cylinder, spin, weight) + rod_force,
        link_moment=link_moment,
        rest=(rod_force, rod_moment),
    )


def inertia(leg: UPS, legs: LegKinematics) -> Components:
    """Inertia A (3, 3, ...) of the legs felt at their tips, kg: A_xi of Khalil & Guegan 2004.

    On the axes of frame 3: sideways from the inertia of links 2 and 3 about B (the rod's with its
    origin moved from P by q3), xz = −S3_x/q3, yz = −S3_y/q3, zz = M3 + I_A.
    """
    cylinder, rod, q = on_link_axes(leg), leg.rod, legs.q
    sx, sy, sz = rod.first_moment
    moved = q * (2 * sz + rod.mass * q)
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = cylinder.inertia + rod.inertia
    about = [
        [ixx + moved, ixy, ixz - q * sx],
        [ixy, iyy + moved, iyz - q * sy],
        [ixz - q * sx, iyz - q * sy, izz],
    ]
    about_base = np.stack([np.stack(np.broadcast_arrays(*row)) for row in about])
    xx, xy, yy = inertia_about_joint(legs, about_base, leg.cross.inertia[2][2])
    mixed = (xy, -sx * legs.per_arm, -sy * legs.per_arm)
    return inertia_to_world(legs.link, (xx, yy, rod.mass + leg.rotor_mass), mixed)


def couple_at_tip(leg: UPS, legs: LegKinematics, couple: Components) -> Components:
    """Force at the tip that does the work of a couple on the link (world axes)."""
    fx, fy = sideways_at_tip(legs, to_link(legs.link, couple), 0 * legs.q)
    result: Components = fx * legs.link.frame[:, 0] + fy * legs.link.frame[:, 1]
    return result


def reactions(
    leg: UPS,
    legs: LegKinematics,
    load: LegLoad,
    force: Components,
    universal_couple: Components,
    spherical_couple: Components,
) -> dict[str, Components]:
    """Joint reactions (world axes) once the force f of the leg on the platform is known.

    `universal`: F2 + F3 + f, the cross on the cylinder; `universal_moment`: N_B + q3 z3×f less the
    friction couples on the leg; `sliding_force`: F3 + f, the cylinder on the rod, actuator force
    included; `sliding_moment`: the couple of the cylinder on the rod about the tip.
    """
    rod_force, rod_moment = (to_world(legs.link, one) for one in load.rest)
    return {
        "spherical": force,
        "universal": to_world(legs.link, load.link_force) + force,
        "universal_moment": to_world(legs.link, load.link_moment)
        + cross(legs.q * legs.direction, force)
        - universal_couple
        - spherical_couple,
        "sliding_force": rod_force + force,
        "sliding_moment": rod_moment - spherical_couple,
    }


def potential_energy(leg: UPS, legs: LegKinematics, gravity: Components) -> Components:
    """U = −g·Σ (M_j o_j + MS_j) of each leg, J, from the world's origin."""
    mx, my, mz = leg.cross.first_moment
    s, c = legs.link.sine, legs.link.cosine
    # frame 1 on the link's axes: x1 = (−c, 0, s), y1 = (0, −1, 0), z1 = (s, 0, c)
    cross_first = np.stack(np.broadcast_arrays(mz * s - mx * c, -my, mx * s + mz * c))
    moments = cross_first + on_link_axes(leg).first_moment + leg.rod.first_moment
    tip = leg.base + legs.q * legs.direction
    total = (leg.cross.mass + leg.cylinder.mass) * leg.base + leg.rod.mass * tip
    return -dot(gravity, total + to_world(legs.link, moments))
