"""Friction in the joints under given loads.

Kim & Ryu 2002, Eqs. 30–31, corrected. On the link (UPS: cylinder) with angular velocity ω_l, F_A and F_B
being the universal and spherical reactions, e(ω) = ω/‖ω‖:

    universal  m_u = −c_u ω_u − k_u ‖F_A‖ e(ω_u), ω_u = ω_l relative to what carries the joint
    spherical  m_p = −c_p (ω_l − ω) − k_p ‖F_B‖ e(ω_l − ω), and −m_p on the platform
    slider     f_s = −c_s q̇ − (μ_s (|u·N| + |v·N|) or F_c) sign q̇ − (2π τ_b/lead) sign q̇
    motor      τ_m = −c_m q̇ − τ_c sign q̇

The couples depend on reactions, which depend on the couples. For given load magnitudes s the model is
linear; `gough.model.friction_loop` makes s agree with the friction it causes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components, dot, norm, or_one


class Friction(NamedTuple):
    """Friction coefficients, (legs, 1) each, 0 of joints that a kind of leg does not have.

    See the tables of `gough.legs` for units.
    """

    slider_viscous: Components
    slider_coulomb: Components
    universal_viscous: Components
    universal_coulomb: Components
    spherical_viscous: Components
    spherical_coulomb: Components
    screw_drag: Components
    """2π τ_b/lead, N."""
    motor_viscous: Components
    motor_coulomb: Components
    width: Components

    @property
    def none(self) -> bool:
        """No friction at all."""
        return not any(np.any(value) for value in self[:-1])

    @property
    def coulomb(self) -> bool:
        """Some friction jumps where its rate is zero, unless there is a width."""
        jumping = (self.drive_jump, self.universal_coulomb, self.spherical_coulomb)
        return any(np.any(value) for value in jumping)

    @property
    def drive_jump(self) -> Components:
        """What of the drive's friction changes sign with q̇, (legs, 1), as its joint has it."""
        jump: Components = self.slider_coulomb + self.screw_drag + self.motor_coulomb
        return jump


class Loads(NamedTuple):
    """Load magnitudes that friction feels, (legs, samples) each, N."""

    universal: Components
    spherical: Components
    guide: Components
    """|u·N| + |v·N|, where the leg has a guide."""


class JointFriction(NamedTuple):
    """Friction on each leg's link and drive."""

    universal: Components
    """Couple m_u on the link, N m."""
    spherical: Components
    """Couple m_p on the link, N m; its opposite acts on the platform."""
    drive: Components
    """Force f_s along q, N, or torque τ_m about it, N m."""


def joint_friction(
    friction: Friction,
    loads: Loads,
    sliding_load: Components,
    omega: Components,
    relative: Components,
    qd: Components,
) -> JointFriction:
    """Friction for given loads: the laws above, smoothed where the file gives a width.

    `omega` is the link's angular velocity relative to what carries it, `relative` that to the platform;
    `sliding_load` is what `slider_coulomb` counts on.
    """
    width = friction.width
    sense = qd / or_one(np.sqrt(qd * qd + width * width))
    sliding = friction.slider_coulomb * sliding_load + friction.screw_drag + friction.motor_coulomb
    return JointFriction(
        universal=-friction.universal_viscous * omega
        - friction.universal_coulomb * loads.universal * _direction(omega, width),
        spherical=-friction.spherical_viscous * relative
        - friction.spherical_coulomb * loads.spherical * _direction(relative, width),
        drive=-(friction.slider_viscous + friction.motor_viscous) * qd - sliding * sense,
    )


def _direction(rate: Components, width: Components) -> Components:
    """ω/√(‖ω‖² + w²), which is 0 where ω = 0."""
    direction: Components = rate / or_one(np.sqrt(dot(rate, rate) + width * width))
    return direction


def magnitudes(vectors: Components) -> Components:
    """(3, legs, samples) from (8, legs, samples): ‖F_A‖, ‖F_B‖, |u·N| + |v·N|."""
    guide = np.abs(vectors[6]) + np.abs(vectors[7])
    return np.stack([norm(vectors[0:3]), norm(vectors[3:6]), guide])
