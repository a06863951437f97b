"""Motion of one leg from the motion of the platform, by vector algebra.

With A the universal joint's centre, P the leg's tip and l n = P − A, n unit, both kinds of leg
carry a universal joint with axes z (fixed) and y = z × x, where x is n made perpendicular to z.
The body behind it cannot turn about x, hence

    ω = n × ṅ + σ n,          ω·x = 0              gives σ,
    α = n × n̈ + σ ṅ + τ n,    α·x + ω·ẋ = 0,  ẋ = (ω·z) z × x,   gives τ.

World axes, SI units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .robot_parts import Array, Leg, State, cross, slider_coordinate, unit


@dataclass(frozen=True)
class BodyMotion:
    """Position of a body's frame, and the motion its Newton-Euler equations need."""

    origin: Array
    rotation: Array
    acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array


@dataclass(frozen=True)
class LegMotion:
    """Motion of a leg.

    joints, rates, accelerations: UPS (q1, q2, q3), PUS (λ, φ1, φ2). axes: the three joints' unit
    axes in world axes, in the same order. q, qd, qdd: the actuated coordinate.
    bodies: in the order of `robot_parts.BODY_NAMES`.
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
    nothing = np.zeros(3)
    if leg.kind == "UPS":
        anchor, anchor_acceleration = leg.origin, nothing
        length = np.linalg.norm(tip - anchor)
        n = (tip - anchor) / length
        length_rate = n @ velocity
        n_dot = (velocity - length_rate * n) / length
        length_rate_rate = n @ acceleration + length * (n_dot @ n_dot)
        n_ddot = (acceleration - length_rate_rate * n - 2 * length_rate * n_dot) / length
        q, qd, qdd = float(length), float(length_rate), float(length_rate_rate)
    else:
        q = slider_coordinate(leg, tip)
        anchor = leg.origin + q * leg.rail
        n = unit(tip - anchor)
        qd = float(n @ velocity / (n @ leg.rail))
        n_dot = (velocity - qd * leg.rail) / leg.length
        qdd = float((n @ acceleration + leg.length * (n_dot @ n_dot)) / (n @ leg.rail))
        anchor_acceleration = qdd * leg.rail
        n_ddot = (acceleration - anchor_acceleration) / leg.length

    z = leg.axis
    x = unit(n - z * (z @ n))
    y = cross(z, x)
    swing = cross(n, n_dot)
    spin = -(swing @ x) / (n @ x)
    omega = swing + spin * n
    cross_omega = (omega @ z) * z
    swing_rate = cross(n, n_ddot) + spin * n_dot
    spin_rate = -(swing_rate @ x + omega @ cross(cross_omega, x)) / (n @ x)
    alpha = swing_rate + spin_rate * n
    cross_alpha = (alpha @ z) * z

    first_angle = np.arctan2(x @ cross(z, leg.reference), x @ leg.reference)
    axis_to_link = np.arctan2(x @ n, z @ n)  # in (0, π)
    cross_axes = np.column_stack([x, y, z])
    along_link = np.column_stack([cross(-y, n), -y, n])
    cross_body = BodyMotion(anchor, cross_axes, anchor_acceleration, cross_omega, cross_alpha)
    if leg.kind == "UPS":
        across_leg = np.column_stack([cross(-y, n), -n, -y])
        return LegMotion(
            tip, n,
            np.array([first_angle, np.pi - axis_to_link, q]),
            np.array([omega @ z, -omega @ y, qd]),
            np.array([alpha @ z, -alpha @ y, qdd]),
            np.array([z, -y, n]),
            q, qd, qdd, omega, alpha,
            (
                cross_body,
                BodyMotion(anchor, across_leg, nothing, omega, alpha),
                BodyMotion(tip, along_link, acceleration, omega, alpha),
            ),
        )  # fmt: skip
    return LegMotion(
        tip, n,
        np.array([q, first_angle, axis_to_link]),
        np.array([qd, omega @ z, omega @ y]),
        np.array([qdd, alpha @ z, alpha @ y]),
        np.array([leg.rail, z, y]),
        q, qd, qdd, omega, alpha,
        (
            BodyMotion(anchor, np.eye(3), anchor_acceleration, nothing, nothing),
            cross_body,
            BodyMotion(anchor, along_link, anchor_acceleration, omega, alpha),
        ),
    )  # fmt: skip
