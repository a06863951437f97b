"""RUS legs in motion: what their bodies ask for at the tips, friction, reactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.legs.link import (
    MovingLink,
    couple_on_joint_axes,
    cross_axes,
    first_angle_rates,
    inertia_about_joint,
    inertia_with_drive,
    link_axes,
    on_joint_axes,
    to_link,
    to_world,
)
from gough.mechanics.body import (
    Frame,
    Spin,
    field_moment,
    force,
    inertia_of,
    moment,
    second_moments,
    spinning,
)
from gough.mechanics.friction import JointFriction, Loads, joint_friction
from gough.mechanics.leg import LegLoad, Rubbing
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec

if TYPE_CHECKING:
    from gough.legs.rus.equations import RUS


class Crank(NamedTuple):
    """The crank's axes on those of another body."""

    u: Components
    """Along the crank."""
    t: Components
    """Along the motion of its end."""
    a: Components
    """The motor's axis."""


class Massless(NamedTuple):
    """A body whose mass another one has."""

    first_moment: Components
    second: Components
    """J = ∫ r rᵀ dm (3, 3, ...), kg m²."""


class Grouped(NamedTuple):
    """Bodies that take the same actuator torques with fewer parameters; see `grouped`."""

    crank_zz: Components
    crank_moment: tuple[Components, Components]
    """MX, MY."""
    cross: Massless
    link: Massless


def grouped(leg: RUS) -> Grouped:
    """Khalil & Guegan 2004, rule 1, twice: what lies on a joint's axis may belong to either body.

    From the link to the cross goes what lies on their joint's axis y: M, MY and ∫ y² dm; from the cross
    to the crank what lies on α at A: M, MZ and ∫ z² dm. The crank turns about a fixed axis: of it and of
    what it has got, ZZ about the motor, MX and MY are felt. It depends on parameters alone.
    """
    link, cross_, r = leg.link, leg.cross, leg.crank_length
    nothing = 0 * link.mass
    (xx, xy, xz), (_, on_y, yz), (_, _, zz) = second_moments(link.inertia)
    mx, my, mz = link.first_moment
    own_link = Massless(
        np.stack(np.broadcast_arrays(mx, nothing, mz)),
        matrix([[xx, xy, xz], [xy, nothing, yz], [xz, yz, zz]]),
    )
    (xx, xy, xz), (_, yy, yz), (_, _, on_z) = second_moments(cross_.inertia)
    cx, cy, cz = cross_.first_moment
    yy = yy + on_y
    own_cross = Massless(
        np.stack(np.broadcast_arrays(cx, cy - my, nothing)),  # the cross's y is −y of the link
        matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, nothing]]),
    )
    mass = link.mass + cross_.mass
    ku, kt, _ = leg.axis_on_crank
    on_axis = on_z * (ku * ku + kt * kt) + 2 * r * ku * cz
    sx, sy, _ = leg.crank.first_moment
    return Grouped(
        crank_zz=leg.crank.inertia[2][2] + on_axis + mass * r * r,
        crank_moment=(sx + mass * r + ku * cz, sy + kt * cz),
        cross=own_cross,
        link=own_link,
    )


@dataclass(frozen=True)
class MovingRUS(MovingLink):
    """RUS legs from what their tips do."""

    leg: RUS
    relative: Spin
    """The link's rotation as seen from the crank, on the link's axes."""
    crank: Crank
    """On the link's axes."""
    on_cross: Crank
    """On the cross's axes."""
    joint_acceleration: Components
    """Of the universal joint, on the link's axes: r (q̈ t − q̇² u), m/s²."""
    u: Components
    """Along the crank, world axes."""
    t: Components
    """a×u, world axes."""

    def tip_per_q(self) -> Components:
        """g = r t + l a×n, on the link's axes: the tip's velocity for q̇ = 1, universal joint held."""
        x, y, _ = self.crank.a
        swung = np.stack([y, -x, 0 * x])
        result: Components = self.leg.crank_length * self.crank.t + self.arm * swung
        return result

    def frames(self) -> tuple[Frame, ...]:
        """The crank at the motor, cross and link at the universal joint, which moves with q̇ r t.

        The crank turns with q̇ a, the cross with q̇ a + φ̇1 α, the link with ω.
        """
        leg, link, omega = self.leg, self.link, self.link_angular_velocity
        joint, velocity = leg.motor + leg.crank_length * self.u, self.qd * leg.crank_length * self.t
        still = 0 * omega
        turning = self.qd * leg.motor_axis
        carried = turning + first_angle_rates(link, self.relative)[0] * link.axis
        axes = np.stack([self.u, self.t, leg.motor_axis + still], axis=1)
        return (
            Frame(leg.motor + still, axes, still, turning),
            Frame(joint, cross_axes(link), velocity, carried),
            Frame(joint, link_axes(link), velocity, omega),
        )

    def _to_cross(self, vector: Components) -> Components:
        """From the link's axes to the cross's: x = (−c, 0, s), y = (0, −1, 0), z = (s, 0, c)."""
        s, c = self.link.sine, self.link.cosine
        x, y, z = vector
        return np.stack(np.broadcast_arrays(s * z - c * x, -y, s * x + c * z))

    def _cross_spin(self) -> Spin:
        """The cross's rotation on its axes.

        ω_c = q̇ a + θ̇ z and ω̇_c = q̈ a + θ̈ z + q̇ θ̇ a×z.
        """
        rate, faster = first_angle_rates(self.link, self.relative)
        x, y, z = self.on_cross.a
        both = self.qd * rate
        omega = np.stack([self.qd * x, self.qd * y, self.qd * z + rate])
        turned = [self.qdd * x + both * y, self.qdd * y - both * x, self.qdd * z + faster]
        return spinning(omega, np.stack(turned))

    def load(self, gravity: Components) -> LegLoad:
        """Load A v̇ + h of the legs at their tips, in one go, by virtual power.

        With N = I ω̇ + ω×(I ω) + S×(Ä − g) about A of link and cross and F = U S their forces (masses
        are the crank's, `grouped`), the joints ask for H_y = y·N_l, H_θ = α·(N_l + N_c) and
        H_q = a·(N_l + N_c) + r t·(F_l + F_c) + (ZZ + rotor) q̈ − g·(MX t − MY u). A force f at the tip
        does their work: f_x = H_y/l, f_y = −H_θ/(s l), f·g = H_q with g of `tip_per_q`.
        """
        link, spin, leg, crank = self.link, self.spin, self.leg, self.crank
        felt_bodies = grouped(leg)
        weight = to_link(link, gravity)
        felt = self.joint_acceleration - weight
        body, carried = felt_bodies.link, felt_bodies.cross
        of_link = field_moment(body.second, spin.field) + cross(body.first_moment, felt)
        field = self._cross_spin().field
        of_cross = field_moment(carried.second, field) + cross(
            carried.first_moment, self._to_cross(felt)
        )
        about_e = of_link[0] + link.slope * of_link[2] + of_cross[2] * link.per_sine
        alpha, beta = on_joint_axes(self, 0 * felt, of_link[1], about_e)
        pushed = dot(crank.t, matvec(spin.field, body.first_moment))
        pushed = pushed + dot(self.on_cross.t, matvec(field, carried.first_moment))
        mx, my = felt_bodies.crank_moment
        about_motor = (
            dot(crank.a, of_link)
            + dot(self.on_cross.a, of_cross)
            + leg.crank_length * pushed
            + (felt_bodies.crank_zz + leg.rotor_inertia) * self.qdd
            - dot(weight, mx * crank.t - my * crank.u)
        )
        drive = self.tip_per_q()
        along_axis = link.sine * drive[0] + link.cosine * drive[2]
        return LegLoad(
            sideways=alpha * link.axis + beta * link.y,
            along=about_motor - along_axis * alpha - drive[1] * beta,
        )

    def inertia(self) -> Components:
        """Inertia A (3, 3, ...) of the legs felt at their tips, kg.

        The link turns with ω = ω_x e + ω_y y + q̇ a, the cross with ω_x e + q̇ a, e = α/s = (1, 0, κ); A
        moves with q̇ r t. Of their energies ½ ω·I ω + q̇ r t·(ω×S) and the crank's (`grouped`) the mixed
        terms are B_yq = y·I_l a + r t·(y×S_l), B_xq = e·(I_l + I_c) a + r t·(e×(S_l + S_c)) and
        B_qq = a·(I_l + I_c) a + 2 r t·(a×(S_l + S_c)) + ZZ + rotor; ω_y = (v_x − g_x q̇)/l and
        ω_x = −(v_y − g_y q̇)/l.
        """
        link, leg, crank, r = self.link, self.leg, self.crank, self.leg.crank_length
        bodies = grouped(leg)
        body, carried = bodies.link, bodies.cross
        inertia, carried_inertia = inertia_of(body.second), inertia_of(carried.second)
        sideways = inertia_about_joint(self, inertia, carried_inertia[2][2])
        # t·(k×S) = k·(S×t)
        lever = r * cross(body.first_moment, crank.t)
        cross_lever = r * cross(carried.first_moment, self.on_cross.t)
        spun = matvec(inertia, crank.a)
        cross_spun = matvec(carried_inertia, self.on_cross.a)
        about_y = spun + lever
        about_z = cross_spun + cross_lever
        yq = about_y[1]
        xq = about_y[0] + link.slope * about_y[2] + about_z[2] * link.per_sine
        qq = dot(crank.a, about_y + lever) + dot(self.on_cross.a, about_z + cross_lever)
        qq = qq + bodies.crank_zz + leg.rotor_inertia
        mixed = (yq * self.per_arm, -xq * self.per_arm)
        return inertia_with_drive(link, self.tip_per_q(), sideways, mixed, qq)

    def joint_rate(self) -> Components:
        """ω_l − q̇ a: relative to the crank."""
        return to_world(self.link, self.relative.omega)

    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link (world axes).

        The universal joint's has its opposite on the crank; the other turns the motor too.
        """
        link = self.link
        alpha, beta = couple_on_joint_axes(self, universal + spherical)
        drive = self.tip_per_q()
        along_axis = link.sine * drive[0] + link.cosine * drive[2]
        on_motor = dot(self.leg.motor_axis, spherical)
        result: Components = (
            alpha * link.axis
            + beta * link.y
            + (on_motor - along_axis * alpha - drive[1] * beta) * self.w
        )
        return result

    def joint_friction(self, relative: Components, loads: Loads) -> JointFriction:
        """The laws of `gough.mechanics.friction`; `motor_coulomb` is a torque."""
        laws = self.leg.friction
        return joint_friction(laws, loads, 0 * loads.guide, self.joint_rate(), relative, self.qd)

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Joint reactions (world axes) once the force f of the leg on the platform is known.

        `universal`: F_link + f, the cross on the link; `universal_moment`: N_link + l n×f less the
        friction couples on the link.
        """
        leg, link, spin = self.leg, self.link, self.spin
        felt = self.joint_acceleration - to_link(link, gravity)
        body = leg.link
        universal = to_world(link, force(body.mass, body.first_moment, spin, felt)) + push
        about_joint = to_world(link, moment(body, spin, felt)) + cross(
            leg.length * self.direction, push
        )
        return {
            "spherical": push,
            "universal": universal,
            "universal_moment": about_joint - rubbing.universal - rubbing.couple,
        }

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """F_A, F_B and twice 0, (8, legs, samples): friction feels no guide."""
        universal = reactions["universal"]
        return np.concatenate([universal, reactions["spherical"], 0 * universal[:2]])
