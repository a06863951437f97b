"""Motion of one leg from the motion of the platform, by vector algebra.

With A the universal joint's centre, P the leg's tip and l n = P − A, n unit, every kind of leg
carries a universal joint with axes z (fixed to a carrier that turns with Ω) and y = z × x, where x is
n made perpendicular to z. Relative to the carrier the body behind it cannot turn about x, hence

    ω = n × ṅ + σ n,          (ω − Ω)·x = 0                    gives σ,
    α = n × n̈ + σ ṅ + τ n,    (α − Ω̇)·x + (ω − Ω)·ẋ = 0        gives τ,

with ẋ = ω_c × x and ω_c = Ω + ((ω − Ω)·z) z, the cross's angular velocity.

World axes, SI units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, State, cross, unit
from .legs.leg import BodyMotion, Leg, Swing


@dataclass(frozen=True)
class LegMotion:
    """Motion of a leg.

    joints, rates, accelerations: UPS (q1, q2, q3), PUS (λ, φ1, φ2). axes: the three joints' unit
    axes in world axes, in the same order. q, qd, qdd: the actuated coordinate. joint_rate: the link's
    angular velocity relative to what carries its universal joint.
    bodies: in the order of the kind's `bodies`.
    """

    tip: Array
    direction: Array
    joints: Array
    rates: Array
    accelerations: Array
    axes: Array
    q: float
    qd: float
    qdd: float
    link_angular_velocity: Array
    joint_rate: Array
    link_angular_acceleration: Array
    bodies: tuple[BodyMotion, BodyMotion, BodyMotion]


def tip_motion(leg: Leg, state: State) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the leg's tip P as a point of the platform."""
    arm = state["rotation"] @ leg.platform_point
    omega, alpha = state["angular_velocity"], state["angular_acceleration"]
    swing = cross(omega, arm)
    return (
        state["position"] + arm,
        state["velocity"] + swing,
        state["acceleration"] + cross(alpha, arm) + cross(omega, swing),
    )


def leg_motion(leg: Leg, state: State) -> LegMotion:
    """Motion of the leg and its bodies for one state of the platform."""
    tip, velocity, acceleration = tip_motion(leg, state)
    reach = leg.kind.reach(leg, tip, velocity, acceleration)
    n, n_dot, n_ddot = reach.n, reach.n_dot, reach.n_ddot
    z, reference = leg.kind.universal_axes(leg, reach.q)
    carrier, carrier_rate = leg.kind.carrier(leg, reach.qd, reach.qdd)
    x = unit(n - z * (z @ n))
    y = cross(z, x)
    swing = cross(n, n_dot)
    spin = -((swing - carrier) @ x) / (n @ x)
    omega = swing + spin * n
    first_rate = (omega - carrier) @ z
    cross_omega = carrier + first_rate * z
    swing_rate = cross(n, n_ddot) + spin * n_dot
    missing = (swing_rate - carrier_rate) @ x + (omega - carrier) @ cross(cross_omega, x)
    spin_rate = -missing / (n @ x)
    alpha = swing_rate + spin_rate * n
    # d/dt of (ω − Ω)·z, and z turns with Ω
    turned = (alpha - carrier_rate) @ z + (omega - carrier) @ cross(carrier, z)
    cross_alpha = carrier_rate + turned * z + first_rate * cross(carrier, z)

    first_angle = np.arctan2(x @ cross(z, reference), x @ reference)
    axis_to_link = np.arctan2(x @ n, z @ n)  # in (0, π)
    cross_axes = np.column_stack([x, y, z])
    cross_body = BodyMotion(
        reach.anchor, cross_axes, reach.anchor_acceleration, cross_omega, cross_alpha
    )
    swinging = Swing(y, z, first_angle, axis_to_link, omega, alpha, cross_body)
    joints = leg.kind.joints(leg, reach, swinging, tip, acceleration)
    return LegMotion(
        tip, n, joints.joints, joints.rates, joints.accelerations, joints.axes,
        reach.q, reach.qd, reach.qdd, omega, omega - carrier, alpha, joints.bodies,
    )  # fmt: skip
