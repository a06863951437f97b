"""PUS leg: actuated slider on a straight rail, universal joint, link of fixed length, spherical joint.

Kim & Ryu 2002; Sinatra, Xi & Staicu 2009. All frames sit at the universal joint A = rail_origin + q a:
the slider's has world axes; the cross's has z along the universal axis α fixed to the slider and
x = the link's direction n made perpendicular to α; the link's has z along n and y along n×α.
n = cos φ2 α + sin φ2 x_cross. The angular velocity is exact: the link does turn about its own axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.body import Body, newton_euler, turn
from gough.legs.leg import Health, LegKinematics, LegLoad, at_tip, inertia_at_tip
from gough.vectors import Components, columns, cross, dot, matvec, norm

JOINTS = ("lambda", "phi1", "phi2")
BODIES = ("slider", "cross", "link")
ACTUATED = 0
UNIVERSAL = (1, 2)
HEALTH = (
    Health(
        0.0,
        False,
        "its tip is out of reach: the radicand of Kim & Ryu's Eq. 8 is {value:.3g} m² "
        "(limit {limit:g})",
    ),
    Health(
        1e-9, True, "its link is perpendicular to the rail (cosine {value:.3g}, limit {limit:g})"
    ),
    Health(
        1e-9,
        True,
        "its link is parallel to its first universal axis (sine {value:.3g}, limit {limit:g})",
    ),
)


class PUS(NamedTuple):
    """Parameters of the legs, component axis first: (3, legs, 1)."""

    rail_origin: Components
    """The universal joint at q = 0, m."""
    rail_direction: Components
    """a, of growing q, unit."""
    length: Components
    """Link length l, m."""
    sign: Components
    """−1 for branch "minus", +1 for "plus"."""
    axis: Components
    """Universal axis α fixed to the slider, unit."""
    reference: Components
    """Zero of φ1, unit, perpendicular to axis."""
    rotor_mass: Components
    """Drive inertia felt along q, kg."""
    slider: Body
    cross: Body
    link: Body


def kinematics(
    leg: PUS, tip: Components, velocity: Components, acceleration: Components
) -> LegKinematics:
    """Joint coordinates, rates and accelerations from the tip's.

    q = a·d ∓ √((a·d)² − d·d + l²), d = P − rail_origin (Kim & Ryu 2002, Eq. 8);
    q̇ = n·v/(a·n);  q̈ = (n·v̇ + l ṅ·ṅ)/(a·n)  (Eqs. 9–10, simplified);
    l ṅ = v − q̇ a,  ṅ = ω×n,  ω = φ̇1 α + φ̇2 β with β = α×x_cross, and
    ω̇ = φ̈1 α + φ̈2 β + φ̇1 φ̇2 α×β  (exact, in place of Eq. 19).
    """
    a, alpha, length = leg.rail_direction, leg.axis, leg.length
    d = tip - leg.rail_origin
    along = dot(a, d)
    # (a·d)² − d·d is −‖a×d‖², which does not cancel where d is long
    offset = cross(a, d)
    radicand = length * length - dot(offset, offset)
    q = along + leg.sign * np.sqrt(radicand)
    n = (d - q * a) / length
    normal = cross(alpha, n)
    sine, cosine = norm(normal), dot(alpha, n)
    beta = normal / sine
    x_cross = cross(beta, alpha)
    ahead = cross(beta, n)  # ∂n/∂φ2
    slope = dot(a, n)
    row_q = n / slope
    row_1 = (beta - dot(a, beta) * row_q) / (length * sine)
    row_2 = (ahead - dot(a, ahead) * row_q) / length
    rows = np.stack(np.broadcast_arrays(row_q, row_1, row_2))

    qd, phi1d, phi2d = matvec(rows, velocity)
    omega = phi1d * alpha + phi2d * beta
    drift = phi1d * phi2d * cross(alpha, beta)  # the part of ω̇ without φ̈
    bias = length * (cross(drift, n) + cross(omega, cross(omega, n)))
    qdd, phi1dd, phi2dd = matvec(rows, acceleration - bias)

    phi1 = np.arctan2(dot(x_cross, cross(alpha, leg.reference)), dot(x_cross, leg.reference))
    phi2 = np.arctan2(sine, cosine)
    world = np.eye(3).reshape(3, 3, *(1,) * (n.ndim - 1))
    return LegKinematics(
        q=q,
        qd=qd,
        qdd=qdd,
        joints=np.stack([q, phi1, phi2]),
        joint_rates=np.stack([qd, phi1d, phi2d]),
        joint_accelerations=np.stack([qdd, phi1dd, phi2dd]),
        inverse_jacobian=rows,
        w=row_q,
        direction=n,
        first_axis=alpha,
        second_axis=beta,
        frames=(world, columns(x_cross, beta, alpha), columns(-ahead, -beta, n)),
        link_angular_velocity=omega,
        link_angular_acceleration=phi1dd * alpha + phi2dd * beta + drift,
        tip_acceleration=acceleration,
        health=np.stack([radicand, np.abs(slope), sine]),
    )


def load(leg: PUS, motion: LegKinematics, gravity: Components) -> LegLoad:
    """Load A v̇ + h of the legs at their tips, in one go.

    With F, N of Newton–Euler for slider, cross and link about the universal joint, which moves with
    q̈ a, the joint loads are H_q = a·(F_slider + F_cross + F_link) + rotor q̈,
    H_φ1 = α·(N_cross + N_link), H_φ2 = β·N_link (Kim & Ryu 2002, Eqs. 20–22, all inertias kept).
    """
    a, alpha, beta = leg.rail_direction, motion.first_axis, motion.second_axis
    omega, omega_dot = motion.link_angular_velocity, motion.link_angular_acceleration
    phi1d, phi1dd = motion.joint_rates[1], motion.joint_accelerations[1]
    rest = 0 * omega
    felt = motion.qdd * a - gravity
    slider, cross_, link = motion.frames
    F_s, N_s = newton_euler(leg.slider, slider, rest, rest, felt)
    F_c, N_c = newton_euler(leg.cross, cross_, phi1d * alpha, phi1dd * alpha, felt)
    F_l, N_l = newton_euler(leg.link, link, omega, omega_dot, felt)
    H_q = dot(a, F_s + F_c + F_l) + leg.rotor_mass * motion.qdd
    joint_loads = np.stack([H_q, dot(alpha, N_c + N_l), dot(beta, N_l)])
    return LegLoad(at_tip(motion, joint_loads), F_l, N_l, (F_s + F_c, N_s + N_c))


def inertia(leg: PUS, motion: LegKinematics) -> Components:
    """Inertia A (3, 3, ...) of the legs felt at their tips, kg.

    Joint-space mass matrix: A_qq = m_slider + m_cross + m_link + rotor, A_q1 = a·(α×(S_cross + S_link)),
    A_q2 = a·(β×S_link), A_11 = α·(I_cross + I_link) α, A_12 = β·I_link α, A_22 = β·I_link β.
    """
    a, alpha, beta = leg.rail_direction, motion.first_axis, motion.second_axis
    _, cross_, link = motion.frames
    moment = matvec(link, leg.link.first_moment)
    both = moment + matvec(cross_, leg.cross.first_moment)
    turned = turn(leg.link.inertia, link, alpha)
    a11 = dot(alpha, turned + turn(leg.cross.inertia, cross_, alpha))
    a12, a22 = dot(beta, turned), dot(beta, turn(leg.link.inertia, link, beta))
    aq1, aq2 = dot(a, cross(alpha, both)), dot(a, cross(beta, moment))
    aqq = leg.slider.mass + leg.cross.mass + leg.link.mass + leg.rotor_mass + 0 * a11
    matrix = np.stack(
        [np.stack([aqq, aq1, aq2]), np.stack([aq1, a11, a12]), np.stack([aq2, a12, a22])]
    )
    return inertia_at_tip(motion, matrix)


def reactions(
    leg: PUS,
    motion: LegKinematics,
    load: LegLoad,
    force: Components,
    universal_couple: Components,
    spherical_couple: Components,
) -> dict[str, Components]:
    """Joint reactions once the force f of the leg on the platform is known.

    `universal`: F_link + f, the cross on the link; `universal_moment`: N_link + l n×f less the friction
    couples on the link; `guide`: the rail's force on the slider, F_slider + F_cross + universal made
    perpendicular to the rail (Kim & Ryu 2002, Eq. 21); `guide_moment`: the rail's couple on the
    slider about the universal joint.
    """
    a = leg.rail_direction
    carried_force, carried_moment = load.rest
    universal = load.link_force + force
    moment = load.link_moment + cross(leg.length * motion.direction, force)
    pushed = carried_force + universal
    return {
        "spherical": force,
        "universal": universal,
        "universal_moment": moment - universal_couple - spherical_couple,
        "guide": pushed - dot(a, pushed) * a,
        "guide_moment": carried_moment + moment - spherical_couple,
    }


def potential_energy(leg: PUS, motion: LegKinematics, gravity: Components) -> Components:
    """U = −g·Σ (M_j o_j + MS_j) of each leg, J, from the world's origin."""
    joint = leg.rail_origin + motion.q * leg.rail_direction
    moment = (leg.slider.mass + leg.cross.mass + leg.link.mass) * joint
    for body, frame in zip((leg.slider, leg.cross, leg.link), motion.frames, strict=True):
        moment = moment + matvec(frame, body.first_moment)
    return -dot(gravity, moment)


def guide_normals(leg: PUS) -> tuple[Components, Components]:
    """The guide's two normals: u = axis made perpendicular to the rail, v = rail × u.

    Where the axis is parallel to the rail, u is the reference.
    """
    a = leg.rail_direction
    u = leg.axis - dot(leg.axis, a) * a
    length = norm(cross(a, leg.axis))
    parallel = length < 1e-9
    u = np.where(parallel, leg.reference, u) / np.where(parallel, 1.0, length)
    return u, cross(a, u)
