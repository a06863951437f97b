"""What every leg kind tells the rest: its kinematics, its load and its inertia at the tip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.vectors import Components, dot, outer


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
    inverse_jacobian: Components
    """(3 joints, 3, ...): joint rates = inverse_jacobian · v."""
    w: Components
    """Its actuated row: q̇ = w·v, and an actuator force Γ acts on the platform as w Γ."""
    direction: Components
    """Unit vector from the universal to the spherical joint."""
    first_axis: Components
    """Universal-joint axis fixed to base or slider, unit."""
    second_axis: Components
    """Universal-joint axis fixed to the link, unit."""
    frames: tuple[Components, Components, Components]
    """Rotations from the three bodies' frames to the world."""
    link_angular_velocity: Components
    link_angular_acceleration: Components
    tip_acceleration: Components
    """As given, m/s²."""
    health: Components
    """Measures that must stay above the limits in the leg kind's HEALTH."""


class LegLoad(NamedTuple):
    """What the motion and weight of a leg ask for: forces less gravity, world axes."""

    tip: Components
    """A v̇ + h, N: the leg pushes the platform with f = w Γ − tip."""
    link_force: Components
    """Inertia force less weight of what the universal joint carries, N."""
    link_moment: Components
    """The same for the moment about the universal joint, N m."""
    rest: tuple[Components, Components]
    """Force and moment left for `reactions`: UPS those of the rod about the tip, PUS those of slider
    and cross about the universal joint."""


class Health(NamedTuple):
    """A measure of a leg's configuration and the value it must exceed."""

    limit: float
    singular: bool
    """A singular configuration, or else a tip out of reach."""
    reason: str


def at_tip(kinematics: LegKinematics, joint_loads: Components) -> Components:
    """Joint forces and torques H as the force at the tip that does the same work: J⁻ᵀ H.

    Khalil & Guegan 2004, Eq. 22.
    """
    rows = kinematics.inverse_jacobian
    load: Components = (
        joint_loads[0] * rows[0] + joint_loads[1] * rows[1] + joint_loads[2] * rows[2]
    )
    return load


def inertia_at_tip(kinematics: LegKinematics, joint_inertia: Components) -> Components:
    """Joint-space mass matrix (3, 3, ...) as seen at the tip: A = J⁻ᵀ A_q J⁻¹, world axes, kg.

    Khalil & Guegan 2004, below Eq. 34.
    """
    rows = kinematics.inverse_jacobian
    half = np.stack([at_tip(kinematics, joint_inertia[i]) for i in range(3)])  # A_q J⁻¹
    inertia: Components = (
        outer(rows[0], half[0]) + outer(rows[1], half[1]) + outer(rows[2], half[2])
    )
    return inertia


def couple_at_tip(
    kinematics: LegKinematics, couple: Components, axes: tuple[int, int]
) -> Components:
    """Force at the tip that does the work of a couple on the link, turning about the U axes.

    `axes` are the places of the two universal-joint angles among the joint coordinates.
    """
    rows = kinematics.inverse_jacobian
    force: Components = (
        dot(kinematics.first_axis, couple) * rows[axes[0]]
        + dot(kinematics.second_axis, couple) * rows[axes[1]]
    )
    return force
