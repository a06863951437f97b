"""Rigid platform: velocity coordinates ξ = (v, ω) of its frame, in world axes.

Component-first arrays: (3, 1, samples) for the platform, (3, legs, samples) for the tips.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.vectors import Components, cross, matvec


class Tips(NamedTuple):
    """The legs' tips P_i, in world axes."""

    arm: Components
    """r_i = R P_i, from the platform frame's origin, m."""
    position: Components
    velocity: Components
    bias: Components
    """c_i: the acceleration of the tip that is there without ξ̇, m/s²."""


def tips(
    points: Components,
    position: Components,
    rotation: Components,
    velocity: Components,
    angular_velocity: Components,
) -> Tips:
    """Motion of the tips: P_i = p + r_i, v_i = v + ω×r_i, c_i = ω×(ω×r_i).

    Khalil & Guegan 2004, Eqs. 5–7.
    """
    arm = matvec(rotation, points)
    turning = cross(angular_velocity, arm)
    return Tips(arm, position + arm, velocity + turning, cross(angular_velocity, turning))


def tip_acceleration(
    tips: Tips, acceleration: Components, angular_acceleration: Components
) -> Components:
    """v̇_i = v̇ + ω̇×r_i + c_i."""
    result: Components = acceleration + cross(angular_acceleration, tips.arm) + tips.bias
    return result


def jacobian_rows(tips: Tips, w: Components) -> Components:
    """Rows (w_i, r_i×w_i) of q̇ = J ξ as (6, legs, samples): Khalil & Guegan 2004, Eq. 13."""
    return np.concatenate(np.broadcast_arrays(w, cross(tips.arm, w)))
