"""PUS leg: actuated slider on a straight rail, universal joint, link of fixed length, spherical joint.

Kim & Ryu 2002; Sinatra, Xi & Staicu 2009. All frames sit at the universal joint A = rail_origin + q a:
the slider's has world axes; the cross's has z along the universal axis α fixed to the slider and
x = the link's direction n made perpendicular to α; the link's has z along n and y along n×α.
n = cos φ2 α + sin φ2 x_cross. The angular velocity is exact: the link does turn about its own axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from gough.legs.link import (
    MovingLink,
    couple_on_joint_axes,
    cross_axes,
    cross_moment,
    first_angle,
    first_angle_rates,
    inertia_about_joint,
    inertia_with_drive,
    link_axes,
    link_frame,
    on_joint_axes,
    to_link,
    to_world,
    turning,
    turning_load,
)
from gough.legs.sliding_links import SlidingLinks
from gough.mechanics.body import Body, Frame, force, moment, spinning
from gough.mechanics.friction import Friction, JointFriction, Loads, joint_friction
from gough.mechanics.leg import EDGE, PARALLEL, Driven, Health, LegLoad, Ports, Rubbing
from gough.mechanics.vectors import (
    Components,
    cross,
    dot,
    matvec,
    maximum,
    transposed_matvec,
)

FIRM = 1e-3
"""Slope of a link along its rail below which q cannot be held to a tolerance."""


def reach(
    rail_origin: Components,
    rail_direction: Components,
    length: Components,
    sign: Components,
    tip: Components,
) -> tuple[Components, Components]:
    """q of a tip, and the radicand that must be positive for it to be in reach.

    Kim & Ryu 2002, Eq. 8: q = a·d ∓ √((a·d)² − d·d + l²), d = P − rail_origin; (a·d)² − d·d is −‖a×d‖²,
    which does not cancel where d is long.
    """
    d = tip - rail_origin
    offset = cross(rail_direction, d)
    radicand = length * length - dot(offset, offset)
    return dot(rail_direction, d) + sign * np.sqrt(radicand), radicand


@dataclass(frozen=True)
class PUS(Driven):
    """Numbers of the legs, component axis first: (3, legs, 1)."""

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
    friction: Friction

    JOINTS: ClassVar[tuple[str, ...]] = ("lambda", "phi1", "phi2")
    BODIES: ClassVar[tuple[str, ...]] = ("slider", "cross", "link")
    LINEAR_FRICTION: ClassVar[tuple[str, ...]] = (
        "slider_viscous",
        "screw_drag",
        "universal_viscous",
        "spherical_viscous",
    )
    LOAD_FRICTION: ClassVar[tuple[str, ...]] = (
        "slider_coulomb",
        "universal_coulomb",
        "spherical_coulomb",
    )
    HEALTH: ClassVar[tuple[Health, ...]] = (
        Health(
            0.0,
            False,
            "its tip is out of reach: the radicand of Kim & Ryu's Eq. 8 is {value:.3g} m² "
            "(limit {limit:.2g})",
        ),
        Health(
            EDGE,
            True,
            "its link is perpendicular to the rail (cosine {value:.3g}, limit {limit:.2g})",
        ),
        Health(
            PARALLEL,
            True,
            "its link is parallel to its first universal axis (sine {value:.3g}, limit {limit:.2g})",
        ),
    )
    unstructured: ClassVar[tuple[str, ...]] = ("sign",)
    """The branch is a number: its sign is no reason for another program."""

    @property
    def rotor(self) -> Components:
        """The rotor mass, kg."""
        return self.rotor_mass

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other rotor masses."""
        return self.replace(rotor_mass=rotor)

    def replace(self, **numbers: Any) -> Self:
        """The same legs with other numbers."""
        return replace(self, **numbers)

    def moving(self, ports: Ports) -> MovingPUS:
        """Joint coordinates, rates and accelerations from the tip's.

        With q of `reach`, on the link's axes v = q̇ a + l ṅ and v̇ = q̈ a + l n̈, exactly (in place of
        Kim & Ryu 2002, Eqs. 9–10 and 19): q̇ = v_z/a_z, q̈ = (v̇_z + l (ω_x² + ω_y²))/a_z; φ̇1 = ω_x/s,
        φ̇2 = −ω_y.
        """
        tip, velocity, acceleration = ports[:3]
        a, length = self.rail_direction, self.length
        q, radicand = reach(self.rail_origin, a, length, self.sign, tip)
        per_length = 1 / length
        n = (tip - self.rail_origin - q * a) * per_length
        link = link_frame(self.axis, n)
        rail = to_link(link, a)
        per_slope = 1 / rail[2]
        v = to_link(link, velocity)
        qd = v[2] * per_slope
        rate = (v[:2] - qd * rail[:2]) * per_length
        at = to_link(link, acceleration)
        qdd = (at[2] + length * (rate[0] * rate[0] + rate[1] * rate[1])) * per_slope
        spin = turning(link, rate, (at[:2] - qdd * rail[:2]) * per_length)
        phi1d, phi1dd = first_angle_rates(link, spin)
        phi1 = first_angle(link, self.reference)
        phi2 = np.arctan2(link.sine, link.cosine)
        return MovingPUS(
            leg=self,
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

    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod from A of length l; the distance changes by |a·n| with q."""

        def grip(direction: Components) -> Components:
            slope: Components = maximum(np.abs(dot(self.rail_direction, direction)), FIRM + 0 * q)
            return slope

        return self.rail_origin + q * self.rail_direction, self.length + 0 * q, grip

    def leaning(self, q: Components, rod: Components) -> Components:
        """Along the rail: leaning the other way the link has another q (Eq. 8's sign)."""
        lean: Components = dot(self.rail_direction, rod) * self.sign
        return lean

    def guide_normals(self) -> tuple[Components, Components]:
        """The guide's two normals, unit: u (`guide_normal`) and v = rail × u."""
        return self.guide_normal, cross(self.rail_direction, self.guide_normal)


def sliding_links(legs: PUS) -> SlidingLinks:
    """PUS legs are links on sliders."""
    return SlidingLinks(
        origin=legs.rail_origin,
        rail=legs.rail_direction,
        length=legs.length,
        sign=legs.sign,
        axis=legs.axis,
        reference=legs.reference,
        rotor_mass=legs.rotor_mass,
        slider=legs.slider,
        cross=legs.cross,
        link=legs.link,
        friction=legs.friction,
    )


@dataclass(frozen=True)
class MovingPUS(MovingLink):
    """PUS legs from what their tips do."""

    leg: PUS

    def frames(self) -> tuple[Frame, ...]:
        """Slider, cross and link, all at the universal joint; the slider's has world axes.

        All move with q̇ a; the cross turns with φ̇1 α, the link with ω.
        """
        link, omega = self.link, self.link_angular_velocity
        joint = self.leg.rail_origin + self.q * self.leg.rail_direction
        velocity = self.qd * self.leg.rail_direction
        turning = first_angle_rates(link, self.spin)[0] * link.axis
        return (
            Frame(joint, np.eye(3)[..., np.newaxis, np.newaxis], velocity, 0 * omega),
            Frame(joint, cross_axes(link), velocity, turning),
            Frame(joint, link_axes(link), velocity, omega),
        )

    def load(self, gravity: Components) -> LegLoad:
        """Load A v̇ + h of the legs at their tips, in one go.

        Kim & Ryu 2002, Eqs. 20–22, all inertias kept.

        The universal joint moves with q̈ a. On the link's axes the link asks for the moment
        I ω̇ + ω×(I ω) + S×(q̈ a − g) about the joint; along the rail slider, cross and link ask for
        H_q = m (q̈ − a·g) + a·(ω̇×S + ω×(ω×S) + θ̈ axis×S_c + θ̇² axis×(axis×S_c)) + rotor q̈, m all their
        masses and θ the first universal angle; sideways brings α a·axis + β a·y of it.
        """
        link, spin, body = self.link, self.spin, self.leg.link
        a, rail = self.leg.rail_direction, to_link(link, self.leg.rail_direction)
        along_axis, carried_mass = dot(link.axis, a), self.leg.slider.mass + self.leg.cross.mass
        felt = self.qdd * rail - to_link(link, gravity)
        felt_axis = self.qdd * along_axis - dot(link.axis, gravity)
        moment_at_tip, about_y, about_e = turning_load(
            self, body.inertia, cross(body.first_moment, felt)
        )
        of_cross = cross_moment(self, self.leg.cross, body.inertia[2][2], felt, felt_axis)
        push = matvec(spin.field, moment_at_tip)
        alpha, beta = on_joint_axes(self, push, about_y, about_e + of_cross * link.per_sine)
        swung = self._swung()
        pushed = (
            (carried_mass + body.mass) * (self.qdd - dot(a, gravity))
            + dot(rail, matvec(spin.field, body.first_moment) + swung)
            + self.leg.rotor_mass * self.qdd
        )
        return LegLoad(
            sideways=alpha * link.axis + beta * link.y,
            along=pushed - along_axis * alpha - rail[1] * beta,
        )

    def _cross_axes(self) -> Components:
        """The cross's axes on the link's: columns x = (−c, 0, s), y = (0, −1, 0), z = (s, 0, c)."""
        s, c = self.link.sine, self.link.cosine
        zero = 0 * s
        rows = [[-c, zero, s], [zero, zero - 1, zero], [s, zero, c]]
        return np.stack([np.stack(row) for row in rows])

    def _swung(self) -> Components:
        """Force that swinging the cross's centre of mass about the axis takes, on the link's axes, N.

        θ̈ axis×S + θ̇² axis×(axis×S): only MX and MY are swung.
        """
        rate, faster = first_angle_rates(self.link, self.spin)
        mx, my, _ = self.leg.cross.first_moment
        square = rate * rate
        axes = self._cross_axes()
        result: Components = (-faster * my - square * mx) * axes[:, 0] + (
            faster * mx - square * my
        ) * axes[:, 1]
        return result

    def _cross_couple(self, felt: Components) -> Components:
        """Moment of the cross about the universal joint, all three components, on the link's axes."""
        rate, faster = first_angle_rates(self.link, self.spin)
        about_axis = (np.stack([0 * size, 0 * size, size]) for size in (rate, faster))
        spin = spinning(*about_axis)
        axes = self._cross_axes()
        return matvec(axes, moment(self.leg.cross, spin, transposed_matvec(axes, felt)))

    def inertia(self) -> Components:
        """Inertia A (3, 3, ...) of the legs felt at their tips, kg.

        The drive moves the tip with q̇ a (`inertia_with_drive`): sideways from the inertia about the
        joint, B_qq all masses, B_xq = a·(y×S_l)/l, B_yq = −a·(e×S_l + axis×S_c/s)/l with
        e = (1, 0, κ). All on the link's axes.
        """
        link = self.link
        ax, ay, az = rail = to_link(link, self.leg.rail_direction)
        sx, sy, sz = self.leg.link.first_moment
        mx, my, _ = self.leg.cross.first_moment
        kappa = link.slope
        axes = self._cross_axes()
        sideways = inertia_about_joint(self, self.leg.link.inertia, self.leg.cross.inertia[2][2])
        bxq = (ax * sz - az * sx) * self.per_arm
        swung = (mx * axes[:, 1] - my * axes[:, 0]) * link.per_sine
        about_e = ay * (kappa * sx - sz) + (az - kappa * ax) * sy
        byq = -(about_e + ax * swung[0] + ay * swung[1] + az * swung[2]) * self.per_arm
        bqq = self.leg.slider.mass + self.leg.cross.mass + self.leg.link.mass + self.leg.rotor_mass
        return inertia_with_drive(link, rail, sideways, (bxq, byq), bqq)

    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link (world axes)."""
        alpha, beta = couple_on_joint_axes(self, universal + spherical)
        sideways: Components = alpha * self.link.axis + beta * self.link.y
        result: Components = sideways - dot(self.leg.rail_direction, sideways) * self.w
        return result

    def joint_friction(self, relative: Components, loads: Loads) -> JointFriction:
        """The laws of `gough.mechanics.friction`; `slider_coulomb` counts on the guide's load."""
        laws = self.leg.friction
        return joint_friction(
            laws, loads, loads.guide, self.link_angular_velocity, relative, self.qd
        )

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Joint reactions (world axes) once the force f of the leg on the platform is known.

        `universal`: F_link + f, the cross on the link; `universal_moment`: N_link + l n×f less the
        friction couples on the link; `guide`: the rail's force on the slider, F_slider + F_cross +
        universal made perpendicular to the rail (Kim & Ryu 2002, Eq. 21); `guide_moment`: the rail's
        couple on the slider about the universal joint.
        """
        leg, link, spin, a = self.leg, self.link, self.spin, self.leg.rail_direction
        felt = self.qdd * to_link(link, a) - to_link(link, gravity)
        body = leg.link
        universal = to_world(link, force(body.mass, body.first_moment, spin, felt)) + push
        about_joint = to_world(link, moment(body, spin, felt)) + cross(
            leg.length * self.direction, push
        )
        carried = (leg.slider.mass + leg.cross.mass) * felt + self._swung()
        turned = cross(to_link(link, leg.slider.first_moment), felt) + self._cross_couple(felt)
        pushed = to_world(link, carried) + universal
        return {
            "spherical": push,
            "universal": universal,
            "universal_moment": about_joint - rubbing.universal - rubbing.couple,
            "guide": pushed - dot(a, pushed) * a,
            "guide_moment": to_world(link, turned) + about_joint - rubbing.couple,
        }

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """F_A, F_B, u·N, v·N that friction depends on, (8, legs, samples), N."""
        guide = [dot(one, reactions["guide"])[np.newaxis] for one in self.leg.guide_normals()]
        return np.concatenate([reactions["universal"], reactions["spherical"], *guide])
