"""What both leg kinds share: a link on a universal joint, and what its tip feels.

The link's frame has z along the link (direction n), y along n×axis, x = y×z; axis is the universal
axis that does not turn. In it axis = (s, 0, c), s = sin and c = cos of the angle between axis and
link. The link turns with ω = (ω_x, ω_y, κ ω_x), κ = c/s: the universal joint leaves it no spin of
its own, and the spin it has is exact, not neglected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.body import Spin
from gough.vectors import Components, columns, cross, dot, matvec, norm, transposed_matvec


class Link(NamedTuple):
    """A link's frame; see above."""

    frame: Components
    """Rotation (3, 3, ...) from the link's frame to the world, columns x, y, z."""
    sine: Components
    cosine: Components
    per_sine: Components
    """1/s."""
    slope: Components
    """κ = c/s."""


class LegKinematics(NamedTuple):
    """Everything geometric about a leg, from what its tip does. Vectors are in world axes.

    Arrays carry the component axis first, then legs, then samples.
    """

    q: Components
    """Actuated coordinate, m."""
    qd: Components
    qdd: Components
    joints: Components
    """Joint coordinates in the papers' order: UPS (q1, q2, q3), PUS (λ, φ1, φ2)."""
    joint_rates: Components
    joint_accelerations: Components
    w: Components
    """q̇ = w·v, and an actuator force Γ acts on the platform as w Γ."""
    direction: Components
    """Unit vector from the universal to the spherical joint."""
    link_angular_velocity: Components
    link_angular_acceleration: Components
    link: Link
    spin: Spin
    """The link's rotation, on its own axes."""
    arm: Components
    """Distance from the universal joint to the tip, m."""
    per_arm: Components
    """Its reciprocal, 1/m."""
    tip_acceleration: Components
    """On the link's axes, m/s²."""
    health: Components
    """Measures that must stay above the limits in the leg kind's HEALTH."""


class LegLoad(NamedTuple):
    """What the motion and weight of a leg ask for: A v̇ + h = sideways + along w at its tip."""

    sideways: Components
    """The part across the link, world axes, N."""
    along: Components
    """The part that the actuator takes directly, N: the leg pushes with w (Γ − along) − sideways."""
    link_force: Components
    """Inertia force less weight of what the universal joint carries, link's axes, N."""
    link_moment: Components
    """The same for the moment about the universal joint, link's axes, N m."""
    rest: tuple[Components, Components]
    """Force and moment left for `reactions`, link's axes: UPS those of the rod about the tip, PUS
    those of slider and cross about the universal joint."""


class Health(NamedTuple):
    """A measure of a leg's configuration and the value it must exceed."""

    limit: float
    singular: bool
    """A singular configuration, or else a tip out of reach."""
    reason: str


def link_frame(axis: Components, direction: Components) -> Link:
    """The frame of a link with the given direction on a universal joint with the given axis."""
    normal = cross(direction, axis)
    sine, cosine = norm(normal), dot(axis, direction)
    per_sine = 1 / sine
    y = normal * per_sine
    frame = columns(cross(y, direction), y, direction)
    return Link(frame, sine, cosine, per_sine, cosine * per_sine)


def turning(link: Link, direction_rate: Components) -> Components:
    """ω on the link's axes from ṅ on the same: ṅ = ω×n = (ω_y, −ω_x, 0)."""
    omega_x = -direction_rate[1]
    return np.stack([omega_x, direction_rate[0], link.slope * omega_x])


def turning_faster(link: Link, omega: Components, sideways: Components) -> Components:
    """ω̇ on the link's axes from the x and y components of ω̇×n, which are ω̇_y and −ω̇_x.

    The spin follows from ω_z = κ ω_x with κ̇ = ω_y (1 + κ²): ω̇_z = ω_x ω_y (1 + κ²) + κ ω̇_x.
    """
    kappa = link.slope
    dx = -sideways[1]
    dz = omega[0] * omega[1] * (1 + kappa * kappa) + kappa * dx
    return np.stack([dx, sideways[0], dz])


def first_angle(link: Link, axis: Components, reference: Components) -> Components:
    """Angle about axis from the reference to the link's direction made perpendicular to axis."""
    direction = link.frame[:, 2]
    across = direction - link.cosine * axis
    angle: Components = np.arctan2(dot(across, cross(axis, reference)), dot(across, reference))
    return angle


def first_angle_rates(link: Link, spin: Spin) -> tuple[Components, Components]:
    """Rate ω_x/s of that angle, and its acceleration (ω̇_x + κ ω_x ω_y)/s."""
    rate = spin.omega[0] * link.per_sine
    return rate, (spin.omega_dot[0] + link.slope * spin.omega[0] * spin.omega[1]) * link.per_sine


def to_world(link: Link, vector: Components) -> Components:
    """A vector on the link's axes in world axes."""
    return matvec(link.frame, vector)


def to_link(link: Link, vector: Components) -> Components:
    """A world vector on the link's axes."""
    return transposed_matvec(link.frame, vector)


def sideways_at_tip(
    legs: LegKinematics, link_moment: Components, cross_moment: Components
) -> tuple[Components, Components]:
    """x and y components of the force at the tip that does the work of moments about the joint.

    f_x = N_y/l, f_y = −(N_x + κ N_z + H_c/s)/l: J⁻ᵀ H of Khalil & Guegan 2004, Eq. 22, for the two
    universal angles; N on the link's axes, H_c the moment about `axis` that the cross asks for.
    """
    link = legs.link
    about_x = link_moment[0] + link.slope * link_moment[2] + cross_moment * link.per_sine
    return link_moment[1] * legs.per_arm, -about_x * legs.per_arm


def cross_moment(
    legs: LegKinematics, inertia: Components, moments: Components, acceleration: Components
) -> Components:
    """Moment about `axis` that turning and carrying the cross takes, N m.

    H_c = ZZ θ̈ + MX y_c·a − MY x_c·a with y_c = −y, x_c = −c x + s z on the link's axes; a is the
    acceleration of the joint less gravity, on the link's axes.
    """
    link = legs.link
    _, faster = first_angle_rates(link, legs.spin)
    ahead = link.sine * acceleration[2] - link.cosine * acceleration[0]
    result: Components = inertia[2][2] * faster - moments[0] * acceleration[1] - moments[1] * ahead
    return result


def inertia_about_joint(
    legs: LegKinematics, inertia: Components, cross_zz: Components
) -> Components:
    """Inertia felt sideways at the tip, from that about the universal joint: (xx, xy, yy), kg.

    With e = (1, 0, κ), the link's ω for ω_x = 1: xx = I_yy/l², xy = −(e·I y)/l²,
    yy = (e·I e + ZZ_cross/s²)/l²; I on the link's axes.
    """
    kappa, link = legs.link.slope, legs.link
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = inertia
    per_square = legs.per_arm * legs.per_arm
    about_e = ixx + kappa * (2 * ixz + kappa * izz) + cross_zz * (link.per_sine * link.per_sine)
    return np.stack([iyy * per_square, -(ixy + kappa * iyz) * per_square, about_e * per_square])


def inertia_to_world(
    link: Link, diagonal: tuple[Components, Components, Components], mixed: tuple[Components, ...]
) -> Components:
    """R A Rᵀ (3, 3, ...) for A given by its diagonal and (xy, xz, yz) on the link's axes.

    A = xx 1 + y⊗u + u⊗y + z⊗t + t⊗z with u = xy x + ½ (yy − xx) y + yz z, t = xz x + ½ (zz − xx) z.
    """
    xx, yy, zz = diagonal
    xy, xz, yz = mixed
    x, y, z = link.frame[:, 0], link.frame[:, 1], link.frame[:, 2]
    u = xy * x + (yy - xx) * 0.5 * y + yz * z
    t = xz * x + (zz - xx) * 0.5 * z
    rows = []
    for i in range(3):
        row = [y[i] * u[j] + u[i] * y[j] + z[i] * t[j] + t[i] * z[j] for j in range(3)]
        row[i] = row[i] + xx
        rows.append(np.stack(row))
    return np.stack(rows)
