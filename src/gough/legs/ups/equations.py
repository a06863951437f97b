"""UPS leg: universal joint on the base, actuated prismatic joint, spherical joint on the platform.

Khalil & Guegan 2004; Long, Khalil & Martinet 2014. The papers' frame 3 is the link frame of
`gough.legs.link`: z3 along the leg, P = B + q3 z3, y3 along z3×axis; frame 2 has x2 = x3, z2 = y3;
frame 1 has z1 = axis. Frames 1 and 2 sit at B, 3 at P. The joint angles never enter:
sin q2 = ‖z1×z3‖ and cos q2 = −z1·z3 do all the work.
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
    inertia_to_world,
    link_axes,
    link_frame,
    on_joint_axes,
    to_link,
    to_world,
    turning,
    turning_load,
)
from gough.legs.telescopes import Telescopes
from gough.mechanics.body import Body, Frame, force, moment, turned
from gough.mechanics.friction import Friction, JointFriction, Loads, joint_friction
from gough.mechanics.leg import PARALLEL, Driven, Health, LegLoad, Ports, Rubbing
from gough.mechanics.vectors import Components, cross, dot, norm


@dataclass(frozen=True)
class UPS(Driven):
    """Numbers of the legs, component axis first: (3, legs, 1)."""

    base: Components
    """B, the universal joint, m."""
    axis: Components
    """First universal axis z1, unit."""
    reference: Components
    """Zero of q1, unit, perpendicular to axis."""
    rotor_mass: Components
    """Drive inertia felt along q, kg."""
    cross: Body
    cylinder: Body
    rod: Body
    friction: Friction

    JOINTS: ClassVar[tuple[str, ...]] = ("q1", "q2", "q3")
    BODIES: ClassVar[tuple[str, ...]] = ("cross", "cylinder", "rod")
    LINEAR_FRICTION: ClassVar[tuple[str, ...]] = (
        "slider_viscous",
        "slider_coulomb",
        "screw_drag",
        "universal_viscous",
        "spherical_viscous",
    )
    LOAD_FRICTION: ClassVar[tuple[str, ...]] = ("universal_coulomb", "spherical_coulomb")
    HEALTH: ClassVar[tuple[Health, ...]] = (
        Health(1e-7, True, "its length {value:.3g} m is zero (limit {limit:g} m)"),
        Health(
            PARALLEL,
            True,
            "it is parallel to its first universal axis (sine {value:.3g}, limit {limit:.2g})",
        ),
    )

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

    def moving(self, ports: Ports) -> MovingUPS:
        """Joint coordinates, rates and accelerations from the tip's.

        q3 = ‖P − B‖, v = q̇3 n + q3 ṅ and v̇ = q̈3 n + 2 q̇3 ṅ + q3 n̈ with n = z3, read on the axes of
        frame 3 (Khalil & Guegan 2004, Eqs. 14–18); q̇1 = ω_x/sin q2, q̇2 = ω_y.
        """
        tip, velocity, acceleration = ports[:3]
        along = tip - self.base
        q = norm(along)
        per_q = 1 / q
        z3 = along * per_q
        link = link_frame(self.axis, z3)
        vx, vy, qd = to_link(link, velocity)
        rate = np.stack([vx, vy]) * per_q
        a = to_link(link, acceleration)
        spin = turning(link, rate, (a[:2] - 2 * qd * rate) * per_q)
        qdd = a[2] - q * spin.field[2, 2]
        q1d, q1dd = first_angle_rates(link, spin)
        q1 = first_angle(link, self.reference)
        q2 = np.arctan2(link.sine, -link.cosine)
        return MovingUPS(
            leg=self,
            q=q,
            qd=qd,
            qdd=qdd,
            joints=np.stack([q1, q2, q]),
            joint_rates=np.stack([q1d, spin.omega[1], qd]),
            joint_accelerations=np.stack([q1dd, spin.omega_dot[1], qdd]),
            w=z3,
            direction=z3,
            link_angular_velocity=to_world(link, spin.omega),
            link_angular_acceleration=to_world(link, spin.omega_dot),
            link=link,
            spin=spin,
            arm=q,
            per_arm=per_q,
            tip_acceleration=a,
            health=np.stack([q, link.sine]),
        )

    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod from B of length q, which changes by 1 with q."""
        return self.base, q, lambda direction: 1 + 0 * direction[0]

    def leaning(self, q: Components, rod: Components) -> Components:
        """Nowhere."""
        lean: Components = 0 * rod[0] - 1
        return lean

    def on_link_axes(self) -> Body:
        """The cylinder on the axes of frame 3: x2 = x3, y2 = −z3, z2 = y3."""
        return turned(self.cylinder, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])


def telescopes(legs: UPS) -> Telescopes:
    """UPS legs are telescopes."""
    return Telescopes(
        base=legs.base,
        axis=legs.axis,
        rotor_mass=legs.rotor_mass,
        cross=legs.cross,
        cylinder=legs.cylinder,
        rod=legs.rod,
        friction=legs.friction,
    )


@dataclass(frozen=True)
class MovingUPS(MovingLink):
    """UPS legs from what their tips do."""

    leg: UPS

    def frames(self) -> tuple[Frame, ...]:
        """Frames 1, 2, 3 of the papers: 1 and 2 at B, 3 at the tip P; x2 = x3, y2 = −z3, z2 = y3.

        The cross turns with q̇1 z1, cylinder and rod with ω; v = q̇3 z3 + q3 (ω_y x3 − ω_x y3).
        """
        link, spin, omega = self.link, self.spin, self.link_angular_velocity
        rod = link_axes(link)
        cylinder = np.stack([rod[:, 0], -rod[:, 2], rod[:, 1]], axis=1)
        velocity = np.stack([self.q * spin.omega[1], -self.q * spin.omega[0], self.qd])
        base, still = self.leg.base, 0 * omega
        turning = first_angle_rates(link, spin)[0] * link.axis
        return (
            Frame(base, cross_axes(link), still, turning),
            Frame(base, cylinder, still, omega),
            Frame(base + self.q * self.direction, rod, to_world(link, velocity), omega),
        )

    def load(self, gravity: Components) -> LegLoad:
        """Load A v̇ + h of the legs at their tips, in one go (Khalil & Guegan 2004, Eqs. 20–23).

        On the axes of frame 3, with g the gravity there, the rod asks at the tip for
        F3 = M3 (v̇ − g) + ω̇×S3 + ω×(ω×S3), and the links, which turn together, ask for the moment
        (I2 + I3) ω̇ + ω×(I2 + I3) ω − S2×g + S3×(v̇ − g); −S2×g is S2×(v̇ − g) − S2×v̇.
        Along q3 the leg asks for F3_z + I_A q̈3, I_A being the rotor mass; sideways brings c α of it.
        """
        leg, link, spin, a = self.leg, self.link, self.spin, self.tip_acceleration
        weight = -to_link(link, gravity)
        felt = a + weight
        cylinder, rod = leg.on_link_axes(), leg.rod
        inertia, s2, s3 = cylinder.inertia + rod.inertia, cylinder.first_moment, rod.first_moment
        carried = cross(s2 + s3, felt) - cross(s2, a)
        moment_at_tip, about_y, about_e = turning_load(self, inertia, carried)
        of_cross = cross_moment(self, leg.cross, inertia[2][2], weight, -dot(link.axis, gravity))
        push = force(rod.mass, s3 + moment_at_tip, spin, felt)
        alpha, beta = on_joint_axes(self, push, about_y, about_e + of_cross * link.per_sine)
        rod_force = force(rod.mass, s3, spin, felt)
        return LegLoad(
            sideways=alpha * link.axis + beta * link.y,
            along=rod_force[2] + leg.rotor_mass * self.qdd - link.cosine * alpha,
        )

    def inertia(self) -> Components:
        """Inertia A (3, 3, ...) of the legs felt at their tips, kg: A_xi of Khalil & Guegan 2004.

        On the axes of frame 3, I = I2 + I3: sideways from I and from the rod, whose origin is P and
        not B, xx = I_yy/q3² + 2 S_z/q3 + M, and e·I e for I_yy in yy, less 2 κ S_x/q3; xz = −S_x/q3,
        yz = −S_y/q3, zz = M + I_A, with S = S3, M = M3.
        """
        leg, rod, kappa = self.leg, self.leg.rod, self.link.slope
        xx, xy, half = inertia_about_joint(
            self, leg.on_link_axes().inertia + rod.inertia, leg.cross.inertia[2][2]
        )
        sx, sy, sz = rod.first_moment
        sx, sy, twice_sz = sx * self.per_arm, sy * self.per_arm, 2 * sz * self.per_arm
        xx = xx + (rod.mass + twice_sz)
        zz = rod.mass + leg.rotor_mass
        u = (xy + kappa * sy, half - kappa * sx, -sy)
        return inertia_to_world(self.link, xx, u, (-sx, 0 * sx, 0.5 * (zz - xx)))

    def joint_friction(self, relative: Components, loads: Loads) -> JointFriction:
        """The laws of `gough.mechanics.friction`; `slider_coulomb` is a force."""
        laws = self.leg.friction
        return joint_friction(
            laws, loads, 1 + 0 * loads.guide, self.link_angular_velocity, relative, self.qd
        )

    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link (world axes)."""
        link = self.link
        alpha, beta = couple_on_joint_axes(self, universal + spherical)
        result: Components = alpha * link.axis + beta * link.y - link.cosine * alpha * link.z
        return result

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Joint reactions (world axes) once the force f of the leg on the platform is known.

        `universal`: F2 + F3 + f, the cross on the cylinder; `universal_moment`: N_B + q3 z3×f less the
        friction couples on the leg; `sliding_force`: F3 + f, the cylinder on the rod, actuator force
        included; `sliding_moment`: the couple of the cylinder on the rod about the tip.
        """
        link, spin, rod, cylinder = self.link, self.spin, self.leg.rod, self.leg.on_link_axes()
        weight = -to_link(link, gravity)
        felt = self.tip_acceleration + weight
        rod_force = force(rod.mass, rod.first_moment, spin, felt)
        rod_moment = moment(rod, spin, felt)
        # F2 + F3 and N_B, Newton and Euler about B
        lever = np.stack([-self.q * rod_force[1], self.q * rod_force[0], 0 * rod_force[2]])
        both = force(cylinder.mass, cylinder.first_moment, spin, weight) + rod_force
        about_joint = moment(cylinder, spin, weight) + rod_moment + lever
        return {
            "spherical": push,
            "universal": to_world(link, both) + push,
            "universal_moment": to_world(link, about_joint)
            + cross(self.q * self.direction, push)
            - rubbing.universal
            - rubbing.couple,
            "sliding_force": to_world(link, rod_force) + push,
            "sliding_moment": to_world(link, rod_moment) - rubbing.couple,
        }

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """F_A, F_B and twice 0, (8, legs, samples): friction feels no guide."""
        universal = reactions["universal"]
        return np.concatenate([universal, reactions["spherical"], 0 * universal[:2]])
