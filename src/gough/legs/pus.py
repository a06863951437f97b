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
from gough.legs.leg import Health, LegKinematics, at_tip, inertia_at_tip
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
    Health(1e-9, True, "its link is perpendicular to the rail (cosine {value:.3g}, limit {limit:g})"),
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
        health=np.stack([radicand, np.abs(slope), sine]),
    )
