"""What the models return: arrays with the batch axes of the motion in front, SI units, world axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gough.base.arrays import Array


@dataclass(frozen=True)
class LegMotion:
    """What the legs do: (..., actuators) and (..., legs, 3)."""

    q: Array
    """Actuated coordinates, m or rad."""
    qd: Array
    qdd: Array
    joints: Array
    """(..., legs, 3): UPS (q1, q2, q3), PUS (λ, φ1, φ2), RUS (q, φ1, φ2); of chains the first three."""
    joint_rates: Array
    joint_accelerations: Array
    direction: Array
    """Unit vector from the universal to the spherical joint."""
    link_angular_velocity: Array
    link_angular_acceleration: Array


@dataclass(frozen=True)
class Actuation:
    """What the actuators do: (..., actuators)."""

    forces: Array
    """Γ, N or N m; positive pushes towards larger q."""
    power: Array
    """Γ q̇, W."""
    elastic_acceleration: Array
    """(..., N) of a flexible platform."""
    residual: Array
    """Of the friction loop (...): largest disagreement of loads over the largest load."""


@dataclass(frozen=True)
class Acceleration:
    """Acceleration of the platform frame, (..., 3)."""

    linear: Array
    angular: Array
    elastic: Array
    """(..., N) of a flexible platform."""
    residual: Array
    """Of the friction loop (...)."""


@dataclass(frozen=True)
class Energy:
    """Energy of the whole robot (...), J."""

    kinetic: Array
    potential: Array


@dataclass(frozen=True)
class Reactions:
    """Forces (N) and moments (N m) in joints, (..., legs, 3), world axes; NaN of those not there."""

    spherical: Array
    """Force of the leg on the platform, whatever the last joint is."""
    universal: Array
    """Force of the cross on the body it carries: UPS cylinder, PUS and RUS link."""
    universal_moment: Array
    """Couple of the joint on that body about the joint centre, less the universal friction couple."""
    guide: Array
    """PUS: the rail's force on the slider, normal to the rail."""
    guide_moment: Array
    """PUS: the rail's couple on the slider about the universal joint."""
    sliding_force: Array
    """UPS: force of the cylinder on the rod, actuator force included: along the leg it is the axial
    load, across it bends the leg."""
    sliding_moment: Array
    """UPS: couple of the cylinder on the rod about the tip; bends and twists the leg."""
    platform_moment: Array
    """Chains: moment of the leg on the platform about the last joint's point; 0 if it is spherical."""
    joint_force: Array
    """Chains: (..., legs, joints, 3), force of each joint of the file on the body it carries."""
    joint_moment: Array
    """Chains: (..., legs, joints, 3), moment of each joint on that body about the origin of its frame;
    drives and friction of the joints are part of both."""
    constraint: Array
    """(..., 6): the wrench N μ on the platform at its origin; zeros without `mobility`."""
    unique: Array
    """(..., legs): where a leg's reactions are the only possible ones; else they are the least."""
    residual: Array
    """Of the friction loop (...)."""


@dataclass(frozen=True)
class PlatformProperties:
    """The platform's own properties, undeformed; payload counted with it."""

    mass: float
    """kg."""
    center_of_mass: Array
    """(3,), platform frame, m."""
    inertia: Array
    """(3, 3) about the platform frame's origin, kg m²."""
    modal_mass: Array
    """m_ee (N, N); N = 0 for a rigid platform."""
    stiffness: Array
    """K (N,) where it is diagonal, else (N, N)."""
    damping: Array
    """D, the coefficient of q̇e, likewise."""


class Condensed(NamedTuple):
    """A (v̇, ω̇) + c = T Γ + wrench, world axes: Long, Khalil & Martinet 2014, Eqs. 46–49."""

    mass: Array
    """A (..., 6, 6)."""
    bias: Array
    """c (..., 6)."""
    sharing: Array
    """T = J_sys⁻ᵀ (..., 6, actuators)."""
