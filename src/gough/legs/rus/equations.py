"""RUS leg: crank on a motor, universal joint, link of fixed length, spherical joint.

e1 = crank_zero made perpendicular to the motor's axis a, e2 = a×e1. The crank points along
u = cos q e1 + sin q e2, its end moves along t = a×u: the universal joint is at A = motor + r u, and the
link has ‖P − A‖ = l. The crank's frame sits at the motor, x = u, y = t, z = a. The universal joint's
first axis α is fixed to the crank and turns with it. Cross and link sit at A: the cross's frame has
z = α and x = the link's direction n made perpendicular to α; the link's has z = n and y along n×α.
n = cos φ2 α + sin φ2 x_cross.
The link moves as any link on a universal joint (`gough.legs.link`) whose first axis turns with the
crank. Nothing is neglected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gough.legs.link import Link, first_angle, to_link, to_world, turning
from gough.legs.rus.moving import Carried, Crank, MovingRUS
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.mechanics.leg import EDGE, PARALLEL, Driven, Health, Ports
from gough.mechanics.vectors import Components, cross, dot, maximum, norm, stacked

FIRM = 1e-3
"""Cosine between a link and its crank's motion below which q cannot be held to a tolerance."""


class Reached(NamedTuple):
    """A crank whose link reaches a tip; the link's direction n is given on the crank's axes."""

    cosine: Components
    """cos q."""
    sine: Components
    """sin q."""
    direction: tuple[Components, Components, Components]
    """n·u, n·t, n·a."""
    radicand: Components
    """R² = ρ² − K², m²: must be positive for the tip to be in reach; |n·t| = R/l."""


def reach(
    motor: Components,
    motor_axis: Components,
    e1: Components,
    crank_length: Components,
    length: Components,
    sign: Components,
    tip: Components,
) -> Reached:
    """q = ψ ∓ arccos(K/ρ) of a tip, ψ = atan2(d·e2, d·e1), K = (d·d + r² − l²)/(2 r), d = P − motor.

    ρ is the tip's distance from the motor's axis. cos q = (d1 K ± d2 R)/ρ² and
    sin q = (d2 K ∓ d1 R)/ρ² with R = √(ρ² − K²); d·u = K, d·t = ± R. Near the ends of the reach R² has
    the error that rounding of d gives it, in factors as well.
    """
    d, r = tip - motor, crank_length
    first, second = dot(e1, d), dot(cross(motor_axis, e1), d)
    height = dot(motor_axis, d)
    square = first * first + second * second
    per_twice, per_square, per_length = 1 / (2 * r), 1 / square, 1 / length
    along = (square + height * height) * per_twice + (r - length) * (r + length) * per_twice
    radicand = square - along * along
    across = sign * np.sqrt(radicand)
    return Reached(
        cosine=(first * along - second * across) * per_square,
        sine=(second * along + first * across) * per_square,
        direction=((along - r) * per_length, -across * per_length, height * per_length),
        radicand=radicand,
    )


@dataclass(frozen=True)
class RUS(Driven):
    """Numbers of the legs, component axis first: (3, legs, 1)."""

    motor: Components
    """Centre of the crank's circle, m."""
    motor_axis: Components
    """a, right-handed about which q grows, unit."""
    crank_zero: Components
    """Where the crank points at q = 0, as the file gives it, unit."""
    e1: Components
    """The same made perpendicular to the motor's axis, unit."""
    crank_length: Components
    """r, m."""
    length: Components
    """Link length l, m."""
    sign: Components
    """−1 for branch "minus", +1 for "plus"."""
    axis: Components
    """Universal axis α fixed to the crank, as it is at q = 0, unit."""
    reference: Components
    """Zero of φ1 as it is at q = 0, unit, perpendicular to axis."""
    axis_on_crank: Components
    """α on the crank's axes u, t, a."""
    rotor_inertia: Components
    """Drive inertia felt about q, kg m²."""
    crank: Body
    cross: Body
    link: Body
    friction: Friction

    JOINTS: ClassVar[tuple[str, ...]] = ("q", "phi1", "phi2")
    BODIES: ClassVar[tuple[str, ...]] = ("crank", "cross", "link")
    LINEAR_FRICTION: ClassVar[tuple[str, ...]] = (
        "motor_viscous",
        "motor_coulomb",
        "universal_viscous",
        "spherical_viscous",
    )
    LOAD_FRICTION: ClassVar[tuple[str, ...]] = ("universal_coulomb", "spherical_coulomb")
    HEALTH: ClassVar[tuple[Health, ...]] = (
        Health(
            0.0,
            False,
            "its tip is out of reach: the radicand of its crank angle is {value:.3g} m² "
            "(limit {limit:.2g})",
        ),
        Health(
            EDGE,
            True,
            "its link is perpendicular to its crank's motion (cosine {value:.3g}, limit {limit:.2g})",
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
        """The rotor's inertia, kg m²."""
        return self.rotor_inertia

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other rotor inertias."""
        return self.replace(rotor_inertia=rotor)

    def replace(self, **numbers: Any) -> Self:
        """The same legs with other numbers."""
        return replace(self, **numbers)

    def reach(self, tip: Components) -> Reached:
        """The cranks whose links reach these tips."""
        numbers = self.motor, self.motor_axis, self.e1, self.crank_length, self.length
        return reach(*numbers, self.sign, tip)

    def crank_axes(self, cosine: Components, sine: Components) -> tuple[Components, Components]:
        """u = cos q e1 + sin q e2 and t = a×u = cos q e2 − sin q e1."""
        first, second = self.e1, cross(self.motor_axis, self.e1)
        return cosine * first + sine * second, cosine * second - sine * first

    def moving(self, ports: Ports) -> MovingRUS:
        """Joint coordinates, rates and accelerations from the tip's.

        With q of `reach`, on the link's axes v = q̇ r t + l ṅ and v̇ = r (q̈ t − q̇² u) + l n̈, exactly:
        q̇ = v_z/(r t_z), q̈ = (v̇_z + q̇² r u_z + l ‖ṅ‖²)/(r t_z). The universal axis moves with q̇ a×α;
        so y·α = 0 and its derivatives (`turning`) have, with b = a − (a·α) α and γ = b_z/s²,
        ω_z = κ ω_x + γ q̇ and U_xy = −κ U_zy − E. The cross turns about α with
        θ̇ = ω·α = ω_x/s + c γ q̇ = s (ω_x + κ ω_z), so that E = q̈ γ − q̇ (b_y/s) (2 θ̇ − (a·α) q̇) and
        θ̈ = U_zy/s + c E − q̇² b_y b_z/s;
        φ1 = θ − (a·α) q, φ̇2 = q̇ b_y − ω_y and φ̈2 = q̈ b_y + q̇ φ̇1 b_z/s − ω̇_y.
        An axis along the motor's leaves b = 0: the link turns as if the crank did not.
        """
        tip, velocity, acceleration = ports[:3]
        r, length = self.crank_length, self.length
        reached = self.reach(tip)
        nu, nt, na = reached.direction
        ku, kt, ka = self.axis_on_crank
        per_length, per_slope = 1 / length, 1 / (r * nt)
        link, (yu, yt, by) = self._link_frame(reached, tip)
        per_sine, kappa = link.per_sine, link.slope
        xu, xt = ku * per_sine - kappa * nu, kt * per_sine - kappa * nt
        u, t = (stacked(*one) for one in ((xu, yu, nu), (xt, yt, nt)))
        drive = r * t
        v = to_link(link, velocity)
        qd = v[2] * per_slope
        rate = (v[:2] - qd * drive[:2]) * per_length
        at = to_link(link, acceleration)
        square = qd * qd
        inward = square * r
        swing = length * (rate[0] * rate[0] + rate[1] * rate[1])
        qdd = (at[2] + inward * nu + swing) * per_slope
        joint = qdd * drive - inward * u
        faster = (at[:2] - joint[:2]) * per_length
        ahead = (na - ka * link.cosine) * per_sine
        gamma = ahead * per_sine
        roll, about_x = gamma * qd, -rate[1]
        thetad = about_x * per_sine + link.cosine * roll
        twice = 2 * thetad - ka * qd
        swerve = gamma * qdd - (qd * (by * per_sine)) * twice
        spin = turning(link, rate, faster, roll, swerve)
        thetadd = spin.field[2, 1] * per_sine + link.cosine * swerve - square * (ahead * by)
        q, phi1d = np.arctan2(reached.sine, reached.cosine), thetad - ka * qd
        phi1 = first_angle(link, self._turned(self.reference, reached))
        phi2dd = qdd * by + (qd * phi1d) * ahead - spin.omega_dot[1]
        return MovingRUS(
            leg=self,
            q=q,
            qd=qd,
            qdd=qdd,
            joints=np.stack([q, phi1, np.arctan2(link.sine, link.cosine)]),
            joint_rates=np.stack([qd, phi1d, qd * by - spin.omega[1]]),
            joint_accelerations=np.stack([qdd, thetadd - ka * qdd, phi2dd]),
            w=link.z * per_slope,
            direction=link.z,
            link_angular_velocity=to_world(link, spin.omega),
            link_angular_acceleration=to_world(link, spin.omega_dot),
            link=link,
            spin=spin,
            arm=length + 0 * qd,
            per_arm=per_length + 0 * qd,
            tip_acceleration=at,
            health=np.stack([reached.radicand, abs(nt), link.sine]),
            crank=Crank(reached.cosine, reached.sine, t),
            carried=Carried(gamma, np.stack([ahead, -by]), thetad, thetadd),
            joint_acceleration=joint,
        )

    def _link_frame(
        self, reached: Reached, tip: Components
    ) -> tuple[Link, tuple[Components, Components, Components]]:
        """The link's frame, and its y on the crank's axes, from n and α on these: y = n×α/s."""
        nu, nt, na = reached.direction
        ku, kt, ka = self.axis_on_crank
        e1, e2, r = self.e1, cross(self.motor_axis, self.e1), self.crank_length
        arm = (r * reached.cosine) * e1 + (r * reached.sine) * e2
        axis = (
            reached.cosine * (ku * e1 + kt * e2)
            + reached.sine * (ku * e2 - kt * e1)
            + ka * self.motor_axis
        )
        n = (tip - self.motor - arm) * (1 / self.length)
        side = (nt * ka - na * kt, na * ku - nu * ka, nu * kt - nt * ku)
        sine, cosine = norm(stacked(*side)), nu * ku + nt * kt + na * ka
        per_sine = 1 / sine
        normal = cross(n, axis)
        yu, yt, ya = (one * per_sine for one in side)
        slope = cosine * per_sine
        link = Link(axis, normal * per_sine, n, normal, sine, cosine, per_sine, slope)
        return link, (yu, yt, ya)

    def _turned(self, vector: Components, reached: Reached) -> Components:
        """A vector of the crank, as it is at q = 0, turned with it."""
        first, a = self.e1, self.motor_axis
        u, t = self.crank_axes(reached.cosine, reached.sine)
        turned: Components = (
            dot(first, vector) * u + dot(cross(a, first), vector) * t + dot(a, vector) * a
        )
        return turned

    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod from A of length l; the distance changes by |t·n| with A."""
        u, t = self.crank_axes(np.cos(q), np.sin(q))

        def grip(direction: Components) -> Components:
            slope: Components = maximum(np.abs(dot(t, direction)), FIRM + 0 * q)
            return slope

        return self.motor + self.crank_length * u, self.length + 0 * q, grip

    def leaning(self, q: Components, rod: Components) -> Components:
        """Along the crank's motion: n·t = ± R/l has the branch's sign."""
        _, t = self.crank_axes(np.cos(q), np.sin(q))
        lean: Components = dot(t, rod) * self.sign
        return lean
