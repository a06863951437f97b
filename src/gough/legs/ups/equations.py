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
    cross_axes,
    first_angle,
    first_angle_rates,
    link_axes,
    link_frame,
    to_link,
    to_link_per_arm,
    to_world,
    turning,
)
from gough.legs.telescopes import Telescopes
from gough.mechanics.body import Body, Frame, force, moment, second_moments, turned
from gough.mechanics.friction import Friction, JointFriction, Loads, joint_friction
from gough.mechanics.leg import PARALLEL, Driven, Health, LegLoad, Ports, Rubbing
from gough.mechanics.vectors import Components, cross, dot, norm, symmetric


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
        y_per_q = link.normal * (link.per_sine * per_q)
        vx, vy, growth = to_link_per_arm(link, y_per_q, per_q, velocity)
        a = to_link_per_arm(link, y_per_q, per_q, acceleration)
        bent = np.stack([a[0] - 2 * growth * vx, a[1] - 2 * vy * growth])
        spin = turning(link, np.stack([vx, vy]), bent)
        qd, qdd = dot(z3, velocity), q * (a[2] - spin.field[2, 2])
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
            tip_acceleration=q * a,
            acceleration_per_arm=a,
            y_per_arm=y_per_q,
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
    acceleration_per_arm: Components
    """v̇/q3 of the tip on the axes of frame 3, 1/s²."""
    y_per_arm: Components
    """y3/q3, 1/m: all that the leg feels and asks for sideways is over its length."""

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

        On the axes of frame 3 the rod asks at the tip for F3 = M3 (v̇ − g) + U S3, and the links, which
        turn together, ask about B for the moment

            N = q3 z×F3 + S3×(v̇ − g) − S2×g + Σ k×(U J k),  J = ∫ r rᵀ dm of I = I2 + I3,

        over the axes k. So f_x = N_y/q3 and f_y = −(N_x + κ N_z + H_c/s)/q3 with H_c of the cross, I_zz
        counted as a ZZ of it (`gough.legs.link`). Written out, with φ = (v̇ − g)/q3 = a + γ, with
        U_xy = −κ U_zy, U_yx = 2 ω_x ω_y − U_xy and ω_z = κ ω_x, what multiplies a parameter is a sum
        of few terms; this takes the fewest operations that are known. Along q3 the leg asks for
        F3_z + I_A q̈3, I_A being the rotor mass; sideways brings κ f_x of it.
        """
        leg, link, per_s, kappa, q = (
            self.leg,
            self.link,
            self.link.per_sine,
            self.link.slope,
            self.q,
        )
        (x, y, z), (_, _, (uzx, uzy, _)) = self.spin.omega, self.spin.field
        uxz, uyz = self.spin.field[:2, 2]
        xx, yy, zz, twice_xy = x * x, y * y, z * z, 2 * x * y
        ax, ay, az = self.acceleration_per_arm
        gx, gy, gz = to_link_per_arm(link, self.y_per_arm, self.per_arm, -gravity)
        px, py, pz = ax + gx, ay + gy, az + gz
        cylinder, rod = leg.on_link_axes(), leg.rod
        (sx, sy, sz), (cx, cy, cz) = rod.first_moment, cylinder.first_moment
        inertia, mass = cylinder.inertia + rod.inertia, rod.mass * q
        (jxx, jxy, jxz), (_, _, jyz), (_, _, jzz) = second_moments(inertia)
        about_e = jxy + kappa * jyz
        swung = sy * uzy
        fx = (
            mass * px
            + sz * (ax + uxz)
            + (sz + cz) * gx
            - cx * gz
            - sx * (pz + zz + yy)
            - kappa * swung
            + (jzz * uxz - jxx * uzx + jxz * (xx - zz) - about_e * uzy) * self.per_arm
        )
        mx, my, _ = leg.cross.first_moment
        hanging = dot(link.z, -gravity) + link.cosine * dot(link.axis, gravity)
        of_cross = (leg.cross.inertia[2][2] + inertia[2][2]) * uzy - my * hanging
        sideways_y = (
            mass * py
            + sz * (ay + uyz)
            + (sz + cz - kappa * cx + mx * per_s) * gy
            - cy * (gz - kappa * gx)
            - sy * (pz + zz + xx - kappa * px)
            + sx * (twice_xy + kappa * (uzy - py))
        )
        turned = (
            (jzz - jxx) * uyz
            + jxz * (twice_xy + kappa * (uzy - uyz))
            + about_e * (uxz - x * z)
            + (jyz - kappa * jxy) * yy
        )
        beta = sideways_y * q + turned - of_cross * per_s * per_s  # f_y q3
        along = mass * pz + sx * uzx + swung - sz * (xx + yy) + leg.rotor_mass * self.qdd
        return LegLoad(
            sideways=fx * per_s * link.axis + beta * self.y_per_arm,
            along=along - kappa * fx,
        )

    def inertia(self) -> Components:
        """Inertia A (3, 3, ...) of the legs felt at their tips, kg: A_xi of Khalil & Guegan 2004.

        On the axes of frame 3, I = I2 + I3, S = S3, M = M3: xx = I_yy/q3² + 2 S_z/q3 + M,
        xy = κ S_y/q3 − (I_xy + κ I_yz)/q3², yy − xx = (e·I e + ZZ_cross/s² − I_yy)/q3² − 2 κ S_x/q3,
        xz = −S_x/q3, yz = −S_y/q3, zz = M + I_A; e = (1, 0, κ), 1 + κ² = 1/s². As in
        `inertia_to_world`, A = xx 1 + y⊗u + u⊗y + z⊗t + t⊗z, with q3 u for u and y/q3 for y.
        """
        leg, link, rod, kappa = self.leg, self.link, self.leg.rod, self.link.slope
        per_q, per_s = self.per_arm, link.per_sine
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = leg.on_link_axes().inertia + rod.inertia
        sx, sy, sz = rod.first_moment
        per_ss, lean = per_s * per_s, kappa * sx
        xx = (iyy * per_q + 2 * sz) * per_q + rod.mass
        zz = rod.mass + leg.rotor_mass
        mixed = (ixy + kappa * iyz) * per_q
        about_axis = 0.5 * (leg.cross.inertia[2][2] + izz) * per_ss
        half = 0.5 * (ixx - izz - iyy) + kappa * ixz + about_axis - lean * self.q
        u = (
            ((kappa * sy - mixed) * per_s) * link.axis
            + half * self.y_per_arm
            + (kappa * mixed - sy * per_ss) * link.z
        )
        t = (lean * per_q + 0.5 * (zz - xx)) * link.z - (sx * per_q * per_s) * link.axis
        return symmetric(xx, (self.y_per_arm, u), (link.z, t))

    def joint_friction(self, relative: Components, loads: Loads) -> JointFriction:
        """The laws of `gough.mechanics.friction`; `slider_coulomb` is a force."""
        laws = self.leg.friction
        return joint_friction(
            laws, loads, 1 + 0 * loads.guide, self.link_angular_velocity, relative, self.qd
        )

    def couples_at_tip(self, universal: Components, spherical: Components) -> Components:
        """Force at the tip that does the work of couples on the link (world axes)."""
        link, couple = self.link, universal + spherical
        about_e = dot(link.axis, couple) * link.per_sine
        fx = dot(self.y_per_arm, couple)
        result: Components = (
            fx * link.per_sine * link.axis - about_e * self.y_per_arm - (link.slope * fx) * link.z
        )
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
