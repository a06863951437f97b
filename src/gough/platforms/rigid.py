"""Rigid platform: velocity coordinates ξ = (v, ω) of its frame, in world axes.

Component-first arrays: (3, 1, samples) for the platform, (3, legs, samples) for the tips.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.body import Body, Spin, force, moment
from gough.vectors import Components, cross, matvec, transposed_matvec


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


def demand(
    body: Body,
    rotation: Components,
    angular_velocity: Components,
    acceleration: Components,
    angular_acceleration: Components,
    gravity: Components,
) -> Components:
    """Wrench (6, samples) at the frame's origin that moves the platform: M ξ̇ + b.

    Khalil & Guegan 2004, Eq. 24.
    """
    spin = Spin(
        transposed_matvec(rotation, angular_velocity),
        transposed_matvec(rotation, angular_acceleration),
    )
    felt = transposed_matvec(rotation, acceleration - gravity)
    pushed = matvec(rotation, force(body, spin, felt))
    turned = matvec(rotation, moment(body, spin, felt))
    return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0]


def mass_matrix(body: Body, rotation: Components) -> Components:
    """M (6, 6, samples) = [M 1, −M̂S; M̂S, I] about the frame's origin, world axes (Eq. 29)."""
    unit = np.eye(3)[:, :, np.newaxis, np.newaxis]
    zero = 0 * rotation[0]
    columns_ = []
    for k in range(6):
        linear, angular = (unit[k] + zero, zero) if k < 3 else (zero, unit[k - 3] + zero)
        columns_.append(demand(body, rotation, zero, linear, angular, zero))
    return np.stack(columns_, axis=1)


def gather(tips: Tips, force: Components) -> Components:
    """Σ W_i f_i (6, samples): forces at the tips as one wrench at the frame's origin."""
    both = np.concatenate(np.broadcast_arrays(force, cross(tips.arm, force)))
    total: Components = both.sum(axis=1)
    return total


def leg_mass_matrix(tips: Tips, inertia: Components) -> Components:
    """Σ W_i A_i W_iᵀ (6, 6, samples): Khalil & Guegan 2004, Eq. 38, signs corrected."""
    unit = np.eye(3)[:, :, np.newaxis, np.newaxis]
    velocities = [unit[k] + 0 * tips.arm for k in range(3)]
    velocities += [cross(unit[k], tips.arm) for k in range(3)]
    return np.stack([gather(tips, matvec(inertia, v)) for v in velocities], axis=1)
