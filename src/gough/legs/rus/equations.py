"""RUS leg: crank on a motor, universal joint, link of fixed length, spherical joint.

e1 = crank_zero made perpendicular to the motor's axis a, e2 = a×e1. The crank points along
u = cos q e1 + sin q e2, its end moves along t = a×u: the universal joint is at A = motor + r u, and the
link has ‖P − A‖ = l. The crank's frame sits at the motor, x = u, y = t, z = a. The universal joint's
first axis α is fixed to the crank and turns with it. Cross and link sit at A: the cross's frame has
z = α and x = the link's direction n made perpendicular to α; the link's has z = n and y along n×α.
n = cos φ2 α + sin φ2 x_cross.
Relative to the crank the link moves as any link on a universal joint (`gough.legs.link`); the crank
carries it along with q̇ a. Nothing is neglected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gough.legs.link import Link, first_angle, first_angle_rates, to_link, to_world, turning
from gough.legs.rus.moving import Crank, MovingRUS
from gough.mechanics.body import Body, spinning
from gough.mechanics.friction import Friction
from gough.mechanics.leg import Health
from gough.mechanics.vectors import Components, cross, dot, maximum, norm

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

    ρ is the tip's distance from the motor's axis and h = a·d. cos q = (d1 K ± d2 R)/ρ² and
    sin q = (d2 K ∓ d1 R)/ρ² with R = √(ρ² − K²), in factors
    R² = (l² − h² − (ρ − r)²) ((ρ + r)² + h² − l²)/(2 r)², which do not cancel; d·u = K, d·t = ± R.
    """
    d, r = tip - motor, crank_length
    first, second = dot(e1, d), dot(cross(motor_axis, e1), d)
    height = dot(motor_axis, d)
    square = first * first + second * second
    distance = np.sqrt(square)
    per_twice, per_square, per_length = 1 / (2 * r), 1 / square, 1 / length
    free = (length - height) * (length + height)
    less, more = distance - r, distance + r
    radicand = (free - less * less) * (more * more - free) * (per_twice * per_twice)
    along = (square - free + r * r) * per_twice
    across = sign * np.sqrt(radicand)
    return Reached(
        cosine=(first * along - second * across) * per_square,
        sine=(second * along + first * across) * per_square,
        direction=((along - r) * per_length, -across * per_length, height * per_length),
        radicand=radicand,
    )


@dataclass(frozen=True)
class RUS:
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
            "(limit {limit:g})",
        ),
        Health(
            1e-9,
            True,
            "its link is perpendicular to its crank's motion (cosine {value:.3g}, limit {limit:g})",
        ),
        Health(
            1e-9,
            True,
            "its link is parallel to its first universal axis (sine {value:.3g}, limit {limit:g})",
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

    def moving(self, tip: Components, velocity: Components, acceleration: Components) -> MovingRUS:
        """Joint coordinates, rates and accelerations from the tip's.

        With q of `reach`, on the link's axes v = q̇ r t + l ṅ and v̇ = r (q̈ t − q̇² u) + l n̈, exactly:
        q̇ = v_z/(r t_z), q̈ = (v̇_z + q̇² r u_z + l ‖ṅ‖²)/(r t_z). Seen from the crank the link's
        direction moves with ṅ' = ṅ − q̇ a×n and n̈' = n̈ − q̈ a×n − 2 q̇ a×ṅ' − q̇² a×(a×n), as on a
        universal joint that stands still (`turning`): ω', ω̇'. Then ω = ω' + q̇ a and
        ω̇ = ω̇' + q̈ a + q̇ a×ω'; φ̇1 = ω'_x/s, φ̇2 = −ω'_y.
        """
        r, length = self.crank_length, self.length
        reached = self.reach(tip)
        nu, nt, na = reached.direction
        u, t = self.crank_axes(reached.cosine, reached.sine)
        alpha = ku, kt, ka = self.axis_on_crank
        per_length, per_slope = 1 / length, 1 / (r * nt)
        n = (tip - self.motor - r * u) * per_length
        # on the crank's axes: y = n×α/s and x = α/s − κ n of the link; α×y, −y and α of the cross
        side = (nt * ka - na * kt, na * ku - nu * ka, nu * kt - nt * ku)
        sine, cosine = norm(np.stack(side)), nu * ku + nt * kt + na * ka
        per_sine = 1 / sine
        slope = cosine * per_sine
        yu, yt, ya = y = [one * per_sine for one in side]
        axis = ku * u + kt * t + ka * self.motor_axis
        link = Link(axis, yu * u + yt * t + ya * self.motor_axis, n, sine, cosine, per_sine, slope)
        x = [
            k * per_sine - slope * along for k, along in zip(alpha, reached.direction, strict=True)
        ]
        ahead = (kt * ya - ka * yt, ka * yu - ku * ya, ku * yt - kt * yu)
        crank, on_cross = (
            Crank(*(np.stack(np.broadcast_arrays(*one)) for one in zip(*axes, strict=True)))
            for axes in (
                (x, y, reached.direction),
                (ahead, [-one for one in y], [k + 0 * nu for k in alpha]),
            )
        )
        v = to_link(link, velocity)
        qd = v[2] * per_slope
        rate = (v[:2] - (qd * r) * crank.t[:2]) * per_length
        at = to_link(link, acceleration)
        square = qd * qd
        swing = length * (rate[0] * rate[0] + rate[1] * rate[1])
        qdd = (at[2] + (square * r) * nu + swing) * per_slope
        joint = r * (qdd * crank.t - square * crank.u)
        ax, ay, az = crank.a
        rx, ry = rate[0] - qd * ay, rate[1] + qd * ax
        twice, along_link = 2 * qd * az, square * az
        faster = (at[:2] - joint[:2]) * per_length
        fx = faster[0] - qdd * ay + twice * ry - along_link * ax
        fy = faster[1] + qdd * ax - twice * rx - along_link * ay
        relative = turning(link, np.stack([rx, ry]), np.stack([fx, fy]))
        carried = qd * crank.a
        omega = relative.omega + carried
        omega_dot = relative.omega_dot + qdd * crank.a + cross(carried, relative.omega)
        phi1d, phi1dd = first_angle_rates(link, relative)
        q = np.arctan2(reached.sine, reached.cosine)
        turned = self._turned(self.reference, u, t)
        return MovingRUS(
            leg=self,
            q=q,
            qd=qd,
            qdd=qdd,
            joints=np.stack([q, first_angle(link, turned), np.arctan2(link.sine, link.cosine)]),
            joint_rates=np.stack([qd, phi1d, -relative.omega[1]]),
            joint_accelerations=np.stack([qdd, phi1dd, -relative.omega_dot[1]]),
            w=n * per_slope,
            direction=n,
            link_angular_velocity=to_world(link, omega),
            link_angular_acceleration=to_world(link, omega_dot),
            link=link,
            spin=spinning(omega, omega_dot),
            arm=length + 0 * q,
            per_arm=per_length + 0 * q,
            tip_acceleration=at,
            health=np.stack([reached.radicand, abs(nt), link.sine]),
            relative=relative,
            crank=crank,
            on_cross=on_cross,
            joint_acceleration=joint,
            u=u,
            t=t,
        )

    def _turned(self, vector: Components, u: Components, t: Components) -> Components:
        """A vector of the crank, as it is at q = 0, turned with it."""
        first, a = self.e1, self.motor_axis
        turned: Components = (
            dot(first, vector) * u + dot(cross(a, first), vector) * t + dot(a, vector) * a
        )
        return turned

    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod from A of length l; the distance changes by r |t·n| with q."""
        u, t = self.crank_axes(np.cos(q), np.sin(q))

        def grip(direction: Components) -> Components:
            slope: Components = maximum(np.abs(dot(t, direction)), FIRM + 0 * q)
            return self.crank_length * slope

        return self.motor + self.crank_length * u, self.length + 0 * q, grip

    def on_other_branch(self, q: Components, rod: Components) -> Components:
        """Where the link leans the other way along its crank's motion: n·t = ± R/l has its sign."""
        _, t = self.crank_axes(np.cos(q), np.sin(q))
        lean: Components = dot(t, rod) * self.sign > 0
        return lean
