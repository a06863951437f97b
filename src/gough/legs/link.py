"""A link on a universal joint, which all kinds here have, and what its tip feels.

The link's frame has z along the link (direction n), y along n×axis, x = y×z; axis is the universal
axis that the link does not turn: it is fixed to what carries the joint, and motion is seen from there.
In the link's frame axis = (s, 0, c), s = sin and c = cos of the angle between axis and
link. So x = axis/s − κ z with κ = c/s, and x itself is never formed. The link turns with
ω = (ω_x, ω_y, κ ω_x): the universal joint leaves it no spin of its own, and the spin it has is exact,
not neglected.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.mechanics.body import Body, Spin, second_moments
from gough.mechanics.friction import JointFriction, Loads
from gough.mechanics.leg import MovingLeg, Rubbing
from gough.mechanics.vectors import Components, cross, dot, matrix, norm, stacked, symmetric


class Link(NamedTuple):
    """A link's frame; see above. Vectors in world axes."""

    axis: Components
    y: Components
    z: Components
    """The link's direction n."""
    normal: Components
    """n×axis = s y."""
    sine: Components
    cosine: Components
    per_sine: Components
    """1/s."""
    slope: Components
    """κ = c/s."""


@dataclass(frozen=True)
class MovingLink(MovingLeg):
    """Legs that are a link on a universal joint, from what their tips do. Vectors are in world axes."""

    link: Link
    spin: Spin
    """The link's rotation, on its own axes."""
    arm: Components
    """Distance from the universal joint to the tip, m."""
    per_arm: Components
    """Its reciprocal, 1/m."""
    tip_acceleration: Components
    """On the link's axes, m/s²."""

    @abstractmethod
    def joint_friction(self, relative: Components, loads: Loads) -> JointFriction:
        """Friction under loads where the link turns so relative to the platform."""

    @abstractmethod
    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link at its two joints (world axes)."""

    def rotation(self) -> tuple[Components, Components]:
        """Of the link, on its own axes."""
        return self.spin.omega, self.spin.omega_dot

    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """Friction under given loads on a platform that turns so at the tips; none without loads."""
        nothing = 0 * self.direction
        relative = self.link_angular_velocity - angular_velocity
        rubs = JointFriction(nothing, nothing, 0 * self.q)
        if loads is not None:
            rubs = self.joint_friction(relative, loads)
        lost = rubs.drive * self.qd + dot(rubs.universal, self.joint_rate())
        return Rubbing(
            along=rubs.drive,
            push=self.couples_at_tip(rubs.universal, rubs.spherical),
            couple=rubs.spherical,
            universal=rubs.universal,
            loss=-(lost + dot(rubs.spherical, relative)),
        )


def link_frame(axis: Components, direction: Components) -> Link:
    """The frame of a link with the given direction on a universal joint with the given axis."""
    normal = cross(direction, axis)
    sine, cosine = norm(normal), dot(axis, direction)
    per_sine = 1 / sine
    slope = cosine * per_sine
    return Link(axis, normal * per_sine, direction, normal, sine, cosine, per_sine, slope)


def to_world(link: Link, vector: Components) -> Components:
    """A vector on the link's axes in world axes; x = axis/s − κ z."""
    x, y, z = vector
    world: Components = (x * link.per_sine) * link.axis + y * link.y + (z - link.slope * x) * link.z
    return world


def to_link(link: Link, vector: Components) -> Components:
    """A world vector on the link's axes; x = axis/s − κ z."""
    along = dot(link.z, vector)
    x = dot(link.axis, vector) * link.per_sine - link.slope * along
    return stacked(x, dot(link.y, vector), along)


def to_link_per_arm(
    link: Link, y_per_arm: Components, per_arm: Components, vector: Components
) -> Components:
    """The same over the arm, the distance to the tip; `y_per_arm` is y over it, too."""
    along = dot(link.z, vector) * per_arm
    x = dot(link.axis, vector) * (link.per_sine * per_arm) - link.slope * along
    return stacked(x, dot(y_per_arm, vector), along)


def link_axes(link: Link) -> Components:
    """The link's axes x, y, z as columns (3, 3, ...), world axes; x = axis/s − κ z."""
    x = link.per_sine * link.axis - link.slope * link.z
    return np.stack([x, link.y, link.z], axis=1)


def cross_axes(link: Link) -> Components:
    """The cross's axes as columns (3, 3, ...), world axes: x = n/s − κ axis, y = −y_link, z = axis."""
    x = link.per_sine * link.z - link.slope * link.axis
    return np.stack([x, -link.y, link.axis + 0 * link.y], axis=1)


def turning(
    link: Link,
    rate: Components,
    acceleration: Components,
    roll: Components | float = 0.0,
    swerve: Components | float = 0.0,
) -> Spin:
    """The link's rotation on its axes, from the x and y components of ṅ and n̈ on the same.

    ṅ = ω×z = (ω_y, −ω_x, 0) and ω_z = κ ω_x. Of the acceleration field U, U z = n̈; y turns about axis
    alone, ÿ = U y = θ̈ axis×y − θ̇² y with axis×y = (−c, 0, s), so that U_xy = −κ U_zy; and off the
    diagonal U + Uᵀ = 2 ω ωᵀ. Where axis moves too, y·axis = 0 has further terms: ω_z = κ ω_x + `roll`
    with roll = y·(d axis/dt)/s, and U_xy = −κ U_zy − `swerve`.
    """
    kappa = link.slope
    x, y = -rate[1], rate[0]
    z = kappa * x + roll
    xx, yy, zz = x * x, y * y, z * z
    twice_xy, twice_xz = 2 * x * y, 2 * x * z
    uxz, uyz = acceleration
    uzy = kappa * twice_xy + (2 * roll) * y - uyz
    uxy = -kappa * uzy - swerve
    uyx, uzx = twice_xy - uxy, twice_xz - uxz
    rows = [[-(yy + zz), uxy, uxz], [uyx, -(xx + zz), uyz], [uzx, uzy, -(xx + yy)]]
    return Spin(
        omega=np.stack([x, y, z]),
        omega_dot=np.stack([uzy - uyz, uxz - uzx, uyx - uxy]) * 0.5,
        field=matrix(rows),
    )


def first_angle(link: Link, reference: Components) -> Components:
    """Angle θ about axis from the reference to the link's direction made perpendicular to axis."""
    across = link.z - link.cosine * link.axis
    angle: Components = np.arctan2(dot(across, cross(link.axis, reference)), dot(across, reference))
    return angle


def first_angle_rates(link: Link, spin: Spin) -> tuple[Components, Components]:
    """θ̇ = ω_x/s and θ̈ = U_zy/s."""
    return spin.omega[0] * link.per_sine, spin.field[2, 1] * link.per_sine


def turning_load(
    legs: MovingLink, inertia: Components, carried: Components
) -> tuple[Components, Components, Components]:
    """What turning a link takes: a first moment at its tip (kg m), and moments N_y and N_e (N m).

    N = I ω̇ + ω×(I ω) + `carried` on the link's axes; N_e = N_x + κ N_z is its moment about e = axis/s.
    Without `carried` it is Σ k×(U J k) over the axes k, J = ∫ r rᵀ dm. Of this, z×(U J z) is the moment
    of a force U J z/l at the tip, as of a first moment J z/l there; and I_zz is felt as a ZZ of the
    cross (`cross_moment`): Khalil & Guegan's grouping of link 2 with link 1 (2004, Eqs. 44 and 46).
    """
    (_, _, uxz), (_, _, uyz), (uzx, uzy, uzz) = legs.spin.field
    second = second_moments(inertia)
    (xx, xy, xz), (_, _, yz), _ = second
    kappa = legs.link.slope
    about_y = carried[1] - xx * uzx - xy * uzy - xz * uzz
    about_e = (
        carried[0]
        + kappa * (carried[2] + xz * uyz)
        + xx * uyz
        - (xy + kappa * yz) * uxz
        + (yz - kappa * xy) * uzz
    )
    return second[2] * legs.per_arm, about_y, about_e


def cross_moment(
    legs: MovingLink, cross: Body, link_zz: Components, felt: Components, felt_axis: Components
) -> Components:
    """Moment about axis that turning the cross and carrying it takes, N m.

    H_c = (ZZ + I_zz) θ̈ + MX y_c·a − MY x_c·a with y_c = −y, x_c = (z − c axis)/s and θ̈ = U_zy/s;
    a is the acceleration of the joint less gravity, `felt` on the link's axes, `felt_axis` along axis.
    """
    link = legs.link
    mx, my, _ = cross.first_moment
    turning = (cross.inertia[2][2] + link_zz) * legs.spin.field[2, 1]
    ahead = my * (felt[2] - link.cosine * felt_axis)
    total: Components = (turning - ahead) * link.per_sine - mx * felt[1]
    return total


def on_joint_axes(
    legs: MovingLink, push: Components, about_y: Components, about_e: Components
) -> tuple[Components, Components]:
    """α and β of the force α axis + β y at the tip, from one on the link's axes and moments, N.

    f_x = F_x + N_y/l, f_y = F_y − N_e/l: J⁻ᵀ H of Khalil & Guegan 2004, Eq. 22, for the two universal
    angles. As x = axis/s − κ z, f_x x is f_x/s axis, but for a part along z that is the actuator's.
    """
    fx, fy = push[0] + about_y * legs.per_arm, push[1] - about_e * legs.per_arm
    return fx * legs.link.per_sine, fy


def couple_on_joint_axes(legs: MovingLink, couple: Components) -> tuple[Components, Components]:
    """The same for a couple on the link, world axes; its part along e is axis·couple/s."""
    link = legs.link
    about_e = dot(link.axis, couple) * link.per_sine
    return on_joint_axes(legs, 0 * couple, dot(link.y, couple), about_e)


def inertia_about_joint(
    legs: MovingLink, inertia: Components, cross_zz: Components
) -> tuple[Components, Components, Components]:
    """Inertia A felt sideways at the tip, kg: xx, xy and ½ (yy − xx).

    With e = (1, 0, κ), the link's ω for ω_x = 1: xx = I_yy/l², xy = −(e·I y)/l²,
    yy = (e·I e + ZZ_cross/s²)/l²; I about the universal joint, link's axes; 1 + κ² = 1/s².
    """
    link = legs.link
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = inertia
    per_square = legs.per_arm * legs.per_arm
    about_axis = 0.5 * (cross_zz + izz) * (link.per_sine * link.per_sine)
    half = 0.5 * (ixx - izz - iyy) + link.slope * ixz + about_axis
    return iyy * per_square, -(ixy + link.slope * iyz) * per_square, half * per_square


def inertia_with_drive(
    link: Link,
    drive: Components,
    sideways: tuple[Components, Components, Components],
    mixed: tuple[Components, Components],
    along: Components,
) -> Components:
    """A (3, 3, ...) in world axes of a leg whose drive moves the tip with q̇ g, universal joint held.

    In (v_x − ρ_x v_z, v_y − ρ_y v_z, q̇ = v_z/g_z), ρ = (g_x, g_y)/g_z, the leg's inertia is B:
    `sideways` its xx, xy and ½ (yy − xx), `mixed` B_xq and B_yq, `along` B_qq. On the link's axes.
    """
    gx, gy, gz = drive
    bxx, bxy, half = sideways
    bxq, byq = mixed
    per_gz, byy = 1 / gz, bxx + 2 * half
    rx, ry = gx * per_gz, gy * per_gz
    xz = bxq * per_gz - rx * bxx - ry * bxy
    yz = byq * per_gz - rx * bxy - ry * byy
    # A_zz = B_qq/g_z² − ρ·(B_xq, B_yq)/g_z − ρ·(A_xz, A_yz)
    zz = (along * per_gz - rx * bxq - ry * byq) * per_gz - rx * xz - ry * yz
    return inertia_to_world(link, bxx, (bxy, half, yz), (xz, 0 * xz, 0.5 * (zz - bxx)))


def inertia_to_world(
    link: Link, xx: Components, u: tuple[Components, ...], t: tuple[Components, ...]
) -> Components:
    """A (3, 3, ...) in world axes from its components on the link's axes.

    A = xx 1 + y⊗u + u⊗y + z⊗t + t⊗z, u = (xy, ½ (yy − xx), yz), t = (xz, 0, ½ (zz − xx)).
    """
    pairs = (link.y, to_world(link, np.stack(u))), (link.z, to_world(link, np.stack(t)))
    return symmetric(xx, *pairs)
