"""RUS legs in motion: what their bodies ask for at the tips, friction, reactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.legs.link import (
    MovingLink,
    couple_on_joint_axes,
    cross_axes,
    inertia_about_joint,
    inertia_with_drive,
    link_axes,
    on_joint_axes,
    to_link,
    to_world,
)
from gough.mechanics.body import (
    Frame,
    field_moment,
    force,
    inertia_of,
    moment,
    second_moments,
)
from gough.mechanics.friction import JointFriction, Loads, joint_friction
from gough.mechanics.leg import LegLoad, Rubbing
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec, stacked

if TYPE_CHECKING:
    from gough.legs.rus.equations import RUS


class Crank(NamedTuple):
    """Where the crank is."""

    cosine: Components
    """cos q."""
    sine: Components
    """sin q."""
    t: Components
    """Along the motion of its end, on the link's axes."""


class Carried(NamedTuple):
    """How the crank turns cross and link; b = a − (a·α) α is the motor's axis across α, not unit."""

    roll: Components
    """γ = b_z/s²: turning by q̇ the crank spins a link of fixed direction with γ q̇."""
    lean: Components
    """b on the cross's axes, its x and y: (b_z/s, −b_y) of those on the link's; its z is 0."""
    rate: Components
    """θ̇ of the cross about α, rad/s."""
    faster: Components
    """θ̈, rad/s²."""


class CrossInertia(NamedTuple):
    """Kinetic energy ½ A q̇² + B q̇ θ̇ + ½ C θ̇² of a cross without mass, which turns with q̇ b + θ̇ α.

    A = b·I b + 2 r t·(b×S) and B = α·I b + r t·(α×S) depend on φ1 = θ − (a·α) q alone; primes are
    derivatives by it.
    """

    turning: Components
    """A, kg m²."""
    half_slope: Components
    """½ A'."""
    mixed: Components
    """B."""
    mixed_slope: Components
    """B'."""
    own: Components
    """C = ZZ."""


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
        stacked(mx, nothing, mz),
        matrix([[xx, xy, xz], [xy, nothing, yz], [xz, yz, zz]]),
    )
    (xx, xy, xz), (_, yy, yz), (_, _, on_z) = second_moments(cross_.inertia)
    cx, cy, cz = cross_.first_moment
    yy = yy + on_y
    own_cross = Massless(
        stacked(cx, cy - my, nothing),  # the cross's y is −y of the link
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
    crank: Crank
    carried: Carried
    joint_acceleration: Components
    """Of the universal joint, on the link's axes: r (q̈ t − q̇² u), m/s²."""

    def tip_per_q(self) -> Components:
        """r t, on the link's axes: the tip's velocity for q̇ = 1, the link's direction held."""
        result: Components = self.leg.crank_length * self.crank.t
        return result

    def frames(self) -> tuple[Frame, ...]:
        """The crank at the motor, cross and link at the universal joint, which moves with q̇ r t.

        The crank turns with q̇ a, the cross with q̇ a + φ̇1 α, the link with ω.
        """
        leg, link, omega = self.leg, self.link, self.link_angular_velocity
        u, t = leg.crank_axes(self.crank.cosine, self.crank.sine)
        joint, velocity = leg.motor + leg.crank_length * u, self.qd * leg.crank_length * t
        still = 0 * omega
        turning = self.qd * leg.motor_axis
        carried = turning + self.joint_rates[1] * link.axis
        axes = np.stack([u, t, leg.motor_axis + still], axis=1)
        return (
            Frame(leg.motor + still, axes, still, turning),
            Frame(joint, cross_axes(link), velocity, carried),
            Frame(joint, link_axes(link), velocity, omega),
        )

    def _cross(self, inertia: Components, first_moment: Components) -> CrossInertia:
        """Of a cross with S = (MX, MY, 0); A, B and their slopes as `CrossInertia` says.

        Seen from the cross b and t turn with −φ1: b_x' = b_y, b_y' = −b_x.
        """
        link, along = self.link, self._axis_per_q()
        bx, by = self.carried.lean
        _, y, z = self.tip_per_q()
        tx, ty = (z - along * link.cosine) * link.per_sine, -y  # t·x = (t·n − c t·α)/s
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
        mx, my, _ = first_moment
        square_x, square_y, both = bx * bx, by * by, bx * by
        less = xx - yy
        _, _, ka = self.leg.axis_on_crank
        own = yy * (1 - ka * ka)  # b·b = 1 − (a·α)²
        return CrossInertia(
            less * square_x + 2 * (xy * both + along * (my * bx - mx * by)) + own,
            less * both + xy * (square_y - square_x) + along * (mx * bx + my * by),
            xz * bx + yz * by + mx * ty - my * tx,
            xz * by - yz * bx - mx * tx - my * ty,
            zz,
        )

    def _load_of_crank(self, bodies: Grouped, gravity: Components) -> tuple[Components, Components]:
        """What crank and cross ask for at q and at θ, N m: Lagrange's equations, and weight.

        H_q = (A + ZZ + rotor) q̈ + B θ̈ + A' q̇ (θ̇ − ½ (a·α) q̇) + B' θ̇² − g·(b×S + MX t − MY u),
        H_θ = C θ̈ + B q̈ − (½ A' + (a·α) B') q̇² − g·(α×S).
        """
        link, carried, (_, _, ka) = self.link, bodies.cross, self.leg.axis_on_crank
        of = self._cross(inertia_of(carried.second), carried.first_moment)
        bx, by = self.carried.lean
        qd, qdd, rate, faster = self.qd, self.qdd, self.carried.rate, self.carried.faster
        mx, my, _ = carried.first_moment
        along = dot(link.axis, gravity)
        ahead = (dot(link.z, gravity) - link.cosine * along) * link.per_sine
        at_q = (
            (of.turning + (bodies.crank_zz + self.leg.rotor_inertia)) * qdd
            + of.mixed * faster
            + (of.half_slope * qd) * (2 * rate - ka * qd)
            + of.mixed_slope * (rate * rate)
            - along * (my * bx - mx * by)
            - self._weight_of_crank(bodies.crank_moment, gravity)
        )
        at_theta = (
            of.own * faster
            + of.mixed * qdd
            - (of.half_slope + ka * of.mixed_slope) * (qd * qd)
            + my * ahead
            + mx * dot(link.y, gravity)
        )
        return at_q, at_theta

    def load(self, gravity: Components) -> LegLoad:
        """Load A v̇ + h of the legs at their tips, in one go, by virtual power.

        With N = I ω̇ + ω×(I ω) + S×(Ä − g) about A of the link and F = U S its force (masses are the
        crank's, `grouped`), turning the link takes H_y = y·N and H_e = e·N + H_θ/s, e = α/s = (1, 0, κ).
        The crank that turns with q̇, the link keeping its direction, spins it with γ q̇ and turns the
        cross with θ̇ = c γ q̇: H = γ (z·N + c H_θ) + H_q + r t·F, H_q and H_θ of crank and cross.
        A force f at the tip does their work: f_x = H_y/l, f_y = −H_e/l, f·(r t) = H.
        """
        link, leg = self.link, self.leg
        bodies = grouped(leg)
        body = bodies.link
        felt = self.joint_acceleration - to_link(link, gravity)
        of_link = field_moment(body.second, self.spin.field) + cross(body.first_moment, felt)
        at_q, at_theta = self._load_of_crank(bodies, gravity)
        about_e = of_link[0] + link.slope * of_link[2] + at_theta * link.per_sine
        alpha, beta = on_joint_axes(self, 0 * felt, of_link[1], about_e)
        drive = self.tip_per_q()
        about_motor = (
            self.carried.roll * (of_link[2] + link.cosine * at_theta)
            + at_q
            + dot(drive, matvec(self.spin.field, body.first_moment))
        )
        return LegLoad(
            sideways=alpha * link.axis + beta * link.y,
            along=about_motor - self._axis_per_q() * alpha - drive[1] * beta,
        )

    def _axis_per_q(self) -> Components:
        """r α·t, which does not depend on q."""
        _, kt, _ = self.leg.axis_on_crank
        result: Components = self.leg.crank_length * kt
        return result

    def _weight_of_crank(
        self, moment: tuple[Components, Components], gravity: Components
    ) -> Components:
        """g·(MX t − MY u), N m; what does not depend on q is taken together."""
        mx, my = moment
        first, second = self.leg.e1, cross(self.leg.motor_axis, self.leg.e1)
        g1, g2 = dot(first, gravity), dot(second, gravity)
        result: Components = self.crank.cosine * (mx * g2 - my * g1) - self.crank.sine * (
            mx * g1 + my * g2
        )
        return result

    def inertia(self) -> Components:
        """Inertia A (3, 3, ...) of the legs felt at their tips, kg.

        The link turns with ω = ω_x e + ω_y y + q̇ γ z and moves with q̇ r t, the cross turns with q̇ b and
        θ̇ = ω_x/s + c γ q̇ (`CrossInertia`). Of their energies and the crank's (`grouped`) the mixed terms
        are B_yq = γ I_yz + r t·(y×S), B_xq = γ e·I z + r t·(e×S) + (B + c γ C)/s and
        B_qq = γ² I_zz + 2 γ r t·(z×S) + A + 2 c γ B + (c γ)² C + ZZ + rotor; ω_y = (v_x − g_x q̇)/l and
        ω_x = −(v_y − g_y q̇)/l with g = r t.
        """
        link, leg, roll = self.link, self.leg, self.carried.roll
        bodies = grouped(leg)
        body, carried = bodies.link, bodies.cross
        inertia, drive = inertia_of(body.second), self.tip_per_q()
        of = self._cross(inertia_of(carried.second), carried.first_moment)
        sideways = inertia_about_joint(self, inertia, of.own)
        # t·(k×S) = k·(S×t)
        lever = cross(body.first_moment, drive)
        spun = roll * inertia[2]
        about = spun + lever
        rate = link.cosine * roll
        turned = of.mixed + rate * of.own
        xq = about[0] + link.slope * about[2] + turned * link.per_sine
        qq = roll * (about[2] + lever[2]) + of.turning + rate * (of.mixed + turned)
        qq = qq + bodies.crank_zz + leg.rotor_inertia
        mixed = (about[1] * self.per_arm, -xq * self.per_arm)
        return inertia_with_drive(link, drive, sideways, mixed, qq)

    def joint_rate(self) -> Components:
        """ω_l − q̇ a: relative to the crank."""
        relative: Components = self.link_angular_velocity - self.qd * self.leg.motor_axis
        return relative

    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link (world axes).

        The universal joint's has its opposite on the crank: the link of fixed direction spins with
        γ q̇ z in space, and with γ q̇ z − q̇ a on the crank.
        """
        link, both = self.link, universal + spherical
        alpha, beta = couple_on_joint_axes(self, both)
        on_motor = self.carried.roll * dot(link.z, both) - dot(self.leg.motor_axis, universal)
        on_motor = on_motor - self._axis_per_q() * alpha - self.tip_per_q()[1] * beta
        result: Components = alpha * link.axis + beta * link.y + on_motor * self.w
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
