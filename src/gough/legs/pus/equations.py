"""PUS leg: actuated slider on a straight rail, universal joint, link of fixed length, spherical joint.

Kim & Ryu 2002; Sinatra, Xi & Staicu 2009. All frames sit at the universal joint A = rail_origin + q a:
the slider's has world axes; the cross's has z along the universal axis α fixed to the slider and
x = the link's direction n made perpendicular to α; the link's has z along n and y along n×α.
n = cos φ2 α + sin φ2 x_cross. The angular velocity is exact: the link does turn about its own axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gough.legs.link import (
    Health,
    LegKinematics,
    LegLoad,
    couple_on_joint_axes,
    cross_moment,
    first_angle,
    first_angle_rates,
    inertia_about_joint,
    inertia_to_world,
    link_frame,
    on_joint_axes,
    to_link,
    to_world,
    turning,
    turning_load,
)
from gough.mechanics.body import Body, force, moment, spinning
from gough.mechanics.vectors import Components, cross, dot, matvec, maximum, transposed_matvec

JOINTS = ("lambda", "phi1", "phi2")
BODIES = ("slider", "cross", "link")
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
    guide_normal: Components
    """u: axis made perpendicular to the rail, or the reference where they are parallel; unit."""
    rotor_mass: Components
    """Drive inertia felt along q, kg."""
    slider: Body
    cross: Body
    link: Body


PUS.unstructured = ("sign",)  # type: ignore[attr-defined]


def kinematics(
    leg: PUS, tip: Components, velocity: Components, acceleration: Components
) -> LegKinematics:
    """Joint coordinates, rates and accelerations from the tip's.

    q = a·d ∓ √((a·d)² − d·d + l²), d = P − rail_origin (Kim & Ryu 2002, Eq. 8). On the link's axes
    v = q̇ a + l ṅ and v̇ = q̈ a + l n̈, exactly (in place of Eqs. 9–10 and 19):
    q̇ = v_z/a_z, q̈ = (v̇_z + l (ω_x² + ω_y²))/a_z; φ̇1 = ω_x/s, φ̇2 = −ω_y.
    """
    a, length = leg.rail_direction, leg.length
    d = tip - leg.rail_origin
    # (a·d)² − d·d is −‖a×d‖², which does not cancel where d is long
    offset = cross(a, d)
    radicand = length * length - dot(offset, offset)
    q = dot(a, d) + leg.sign * np.sqrt(radicand)
    per_length = 1 / length
    n = (d - q * a) * per_length
    link = link_frame(leg.axis, n)
    rail = to_link(link, a)
    per_slope = 1 / rail[2]
    v = to_link(link, velocity)
    qd = v[2] * per_slope
    rate = (v[:2] - qd * rail[:2]) * per_length
    at = to_link(link, acceleration)
    qdd = (at[2] + length * (rate[0] * rate[0] + rate[1] * rate[1])) * per_slope
    spin = turning(link, rate, (at[:2] - qdd * rail[:2]) * per_length)
    phi1d, phi1dd = first_angle_rates(link, spin)
    phi1 = first_angle(link, leg.reference)
    phi2 = np.arctan2(link.sine, link.cosine)
    return LegKinematics(
        q=q,
        qd=qd,
        qdd=qdd,
        joints=np.stack([q, phi1, phi2]),
        joint_rates=np.stack([qd, phi1d, -spin.omega[1]]),
        joint_accelerations=np.stack([qdd, phi1dd, -spin.omega_dot[1]]),
        w=n * per_slope,
        direction=n,
        link_angular_velocity=to_world(link, spin.omega),
        link_angular_acceleration=to_world(link, spin.omega_dot),
        link=link,
        spin=spin,
        arm=length + 0 * q,
        per_arm=per_length + 0 * q,
        tip_acceleration=at,
        health=np.stack([radicand, abs(rail[2]), link.sine]),
    )


def load(leg: PUS, legs: LegKinematics, gravity: Components) -> LegLoad:
    """Load A v̇ + h of the legs at their tips, in one go (Kim & Ryu 2002, Eqs. 20–22, all inertias kept).

    The universal joint moves with q̈ a. On the link's axes the link asks for the moment
    I ω̇ + ω×(I ω) + S×(q̈ a − g) about the joint; along the rail slider, cross and link ask for
    H_q = m (q̈ − a·g) + a·(ω̇×S + ω×(ω×S) + θ̈ axis×S_c + θ̇² axis×(axis×S_c)) + rotor q̈, m all their
    masses and θ the first universal angle; sideways brings α a·axis + β a·y of it.
    """
    link, spin, body = legs.link, legs.spin, leg.link
    a, rail = leg.rail_direction, to_link(link, leg.rail_direction)
    along_axis, carried_mass = dot(link.axis, a), leg.slider.mass + leg.cross.mass
    felt = legs.qdd * rail - to_link(link, gravity)
    felt_axis = legs.qdd * along_axis - dot(link.axis, gravity)
    moment_at_tip, about_y, about_e = turning_load(
        legs, body.inertia, cross(body.first_moment, felt)
    )
    of_cross = cross_moment(legs, leg.cross, body.inertia[2][2], felt, felt_axis)
    push = matvec(spin.field, moment_at_tip)
    alpha, beta = on_joint_axes(legs, push, about_y, about_e + of_cross * link.per_sine)
    swung = _swung(leg, legs)
    pushed = (
        (carried_mass + body.mass) * (legs.qdd - dot(a, gravity))
        + dot(rail, matvec(spin.field, body.first_moment) + swung)
        + leg.rotor_mass * legs.qdd
    )
    slider_moment = cross(to_link(link, leg.slider.first_moment), felt)
    return LegLoad(
        sideways=alpha * link.axis + beta * link.y,
        along=pushed - along_axis * alpha - rail[1] * beta,
        link_force=force(body.mass, body.first_moment, spin, felt),
        link_moment=moment(body, spin, felt),
        rest=(carried_mass * felt + swung, slider_moment + _cross_couple(leg, legs, felt)),
    )


def _cross_axes(legs: LegKinematics) -> Components:
    """The cross's axes on the link's: columns x = (−c, 0, s), y = (0, −1, 0), z = (s, 0, c)."""
    s, c = legs.link.sine, legs.link.cosine
    zero = 0 * s
    rows = [[-c, zero, s], [zero, zero - 1, zero], [s, zero, c]]
    return np.stack([np.stack(row) for row in rows])


def _swung(leg: PUS, legs: LegKinematics) -> Components:
    """Force that swinging the cross's centre of mass about the axis takes, on the link's axes, N.

    θ̈ axis×S + θ̇² axis×(axis×S): only MX and MY are swung.
    """
    rate, faster = first_angle_rates(legs.link, legs.spin)
    mx, my, _ = leg.cross.first_moment
    square = rate * rate
    axes = _cross_axes(legs)
    result: Components = (-faster * my - square * mx) * axes[:, 0] + (
        faster * mx - square * my
    ) * axes[:, 1]
    return result


def _cross_couple(leg: PUS, legs: LegKinematics, felt: Components) -> Components:
    """Moment of the cross about the universal joint, all three components, on the link's axes."""
    rate, faster = first_angle_rates(legs.link, legs.spin)
    about_axis = (np.stack([0 * size, 0 * size, size]) for size in (rate, faster))
    spin = spinning(*about_axis)
    axes = _cross_axes(legs)
    return matvec(axes, moment(leg.cross, spin, transposed_matvec(axes, felt)))


def inertia(leg: PUS, legs: LegKinematics) -> Components:
    """Inertia A (3, 3, ...) of the legs felt at their tips, kg.

    In (v_x − ρ_x v_z, v_y − ρ_y v_z, q̇ = v_z/a_z), ρ = (a_x, a_y)/a_z, the leg's inertia is B: sideways
    from the inertia about the joint, B_qq all masses, B_xq = a·(y×S_l)/l,
    B_yq = −a·(e×S_l + axis×S_c/s)/l with e = (1, 0, κ). All on the link's axes.
    """
    link = legs.link
    ax, ay, az = to_link(link, leg.rail_direction)
    sx, sy, sz = leg.link.first_moment
    mx, my, _ = leg.cross.first_moment
    kappa, per_az = link.slope, 1 / az
    axes = _cross_axes(legs)
    bxx, bxy, half = inertia_about_joint(legs, leg.link.inertia, leg.cross.inertia[2][2])
    byy = bxx + 2 * half
    bxq = (ax * sz - az * sx) * legs.per_arm
    swung = (mx * axes[:, 1] - my * axes[:, 0]) * link.per_sine
    about_e = ay * (kappa * sx - sz) + (az - kappa * ax) * sy
    byq = -(about_e + ax * swung[0] + ay * swung[1] + az * swung[2]) * legs.per_arm
    bqq = leg.slider.mass + leg.cross.mass + leg.link.mass + leg.rotor_mass
    rx, ry = ax * per_az, ay * per_az
    xz = bxq * per_az - rx * bxx - ry * bxy
    yz = byq * per_az - rx * bxy - ry * byy
    # A_zz = bqq/az² − ρ·(B_xq, B_yq)/az − ρ·(A_xz, A_yz)
    zz = (bqq * per_az - rx * bxq - ry * byq) * per_az - rx * xz - ry * yz
    return inertia_to_world(link, bxx, (bxy, half, yz), (xz, 0 * xz, 0.5 * (zz - bxx)))


def couple_at_tip(leg: PUS, legs: LegKinematics, couple: Components) -> Components:
    """Force at the tip that does the work of a couple on the link (world axes)."""
    alpha, beta = couple_on_joint_axes(legs, couple)
    sideways: Components = alpha * legs.link.axis + beta * legs.link.y
    result: Components = sideways - dot(leg.rail_direction, sideways) * legs.w
    return result


def reactions(
    leg: PUS,
    legs: LegKinematics,
    load: LegLoad,
    force: Components,
    universal_couple: Components,
    spherical_couple: Components,
) -> dict[str, Components]:
    """Joint reactions (world axes) once the force f of the leg on the platform is known.

    `universal`: F_link + f, the cross on the link; `universal_moment`: N_link + l n×f less the
    friction couples on the link; `guide`: the rail's force on the slider, F_slider + F_cross +
    universal made perpendicular to the rail (Kim & Ryu 2002, Eq. 21); `guide_moment`: the rail's
    couple on the slider about the universal joint.
    """
    a = leg.rail_direction
    carried_force, carried_moment = (to_world(legs.link, one) for one in load.rest)
    universal = to_world(legs.link, load.link_force) + force
    moment = to_world(legs.link, load.link_moment) + cross(leg.length * legs.direction, force)
    pushed = carried_force + universal
    return {
        "spherical": force,
        "universal": universal,
        "universal_moment": moment - universal_couple - spherical_couple,
        "guide": pushed - dot(a, pushed) * a,
        "guide_moment": carried_moment + moment - spherical_couple,
    }


def potential_energy(leg: PUS, legs: LegKinematics, gravity: Components) -> Components:
    """U = −g·Σ (M_j o_j + MS_j) of each leg, J, from the world's origin."""
    joint = leg.rail_origin + legs.q * leg.rail_direction
    axes = _cross_axes(legs)
    mx, my, mz = leg.cross.first_moment
    moments = leg.link.first_moment + mx * axes[:, 0] + my * axes[:, 1] + mz * axes[:, 2]
    total = (leg.slider.mass + leg.cross.mass + leg.link.mass) * joint + leg.slider.first_moment
    return -dot(gravity, total + to_world(legs.link, moments))


def guide_normals(leg: PUS) -> tuple[Components, Components]:
    """The guide's two normals, unit: u (`guide_normal`) and v = rail × u."""
    return leg.guide_normal, cross(leg.rail_direction, leg.guide_normal)


FIRM = 1e-3
"""Slope of a link along its rail below which q cannot be held to a tolerance."""


def rod(leg: PUS, q: Components) -> tuple[Components, Components, Callable[..., Components]]:
    """The leg at a fixed q as a rod: its fixed end A, its length l, and `grip`.

    `grip` tells from the direction by how much the distance from A changes with q: |a·n|.
    """

    def grip(direction: Components) -> Components:
        slope: Components = maximum(np.abs(dot(leg.rail_direction, direction)), FIRM + 0 * q)
        return slope

    return leg.rail_origin + q * leg.rail_direction, leg.length + 0 * q, grip
