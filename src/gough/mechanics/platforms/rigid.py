"""Rigid platform: velocity coordinates ξ = (v, ω) of its frame, in world axes.

Component-first arrays: (3, 1, samples) for the platform, (3, legs, samples) for the tips.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.body import Body, force, spinning, turning_moment
from gough.mechanics.vectors import Components, cross, matrix, matvec, symmetric, transposed_matvec


class Tips(NamedTuple):
    """The legs' tips P_i, in world axes."""

    arm: Components
    """r_i = R P_i, from the platform frame's origin, m."""
    position: Components
    velocity: Components
    bias: Components
    """c_i: the acceleration of the tip that is there without ξ̇, m/s²."""
    angular_velocity: Components
    """ω of the platform, rad/s."""


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
    bias = cross(angular_velocity, turning)
    return Tips(arm, position + arm, velocity + turning, bias, angular_velocity)


def tip_acceleration(
    tips: Tips, acceleration: Components, angular_acceleration: Components
) -> Components:
    """v̇_i = v̇ + ω̇×r_i + c_i = v̇ + U r_i with the platform's acceleration field U."""
    spin = spinning(tips.angular_velocity, angular_acceleration)
    result: Components = acceleration + matvec(spin.field, tips.arm)
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

    Khalil & Guegan 2004, Eq. 24; I ω̇ + ω×(I ω) on the platform's axes, the rest on the world's.
    """
    felt = acceleration - gravity
    first_moment = matvec(rotation, body.first_moment)
    spin = spinning(angular_velocity, angular_acceleration)
    pushed = force(body.mass, first_moment, spin, felt)
    turning = turning_moment(
        body.inertia,
        transposed_matvec(rotation, angular_velocity),
        transposed_matvec(rotation, angular_acceleration),
    )
    turned = matvec(rotation, turning) + cross(first_moment, felt)
    return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0]


def in_world(body: Body, rotation: Components) -> Body:
    """The platform on world axes: R S and R I Rᵀ (Khalil & Guegan 2004, Eqs. 25 and 28).

    I = xx 1 + y⊗u + u⊗y + z⊗t + t⊗z, u = (xy, ½ (yy − xx), yz), t = (xz, 0, ½ (zz − xx)).
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    u = matvec(rotation, np.stack([xy, 0.5 * (yy - xx), yz]))
    t = matvec(rotation, np.stack([xz, 0 * xz, 0.5 * (zz - xx)]))
    inertia = symmetric(xx, (rotation[:, 1], u), (rotation[:, 2], t))
    return Body(body.mass, matvec(rotation, body.first_moment), inertia)


def mass_matrix(body: Body, rotation: Components) -> Components:
    """M (6, 6, samples) about the frame's origin, world axes (Eq. 29)."""
    return on_own_axes(in_world(body, rotation))


def on_own_axes(body: Body) -> Components:
    """M (6, 6, samples) = [M 1, −M̂S; M̂S, I] of a body on the axes its tensors are given on."""
    x, y, z = body.first_moment
    zero = 0 * x
    mass = matrix([[one * body.mass + zero for one in row] for row in np.eye(3)])
    arm = matrix([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
    return _blocks(mass, arm, body.inertia)[:, :, 0]


def bias(
    body: Body, rotation: Components, angular_velocity: Components, gravity: Components
) -> Components:
    """b (6, samples), the demand where ξ̇ = 0, from the same parameters as `mass_matrix`.

    ω×(ω×S) − M g and ω×(I ω) − S×g, world axes: Khalil & Guegan 2004, Eq. 37, corrected.
    """
    here, omega = in_world(body, rotation), angular_velocity
    pushed = cross(omega, cross(omega, here.first_moment)) - here.mass * gravity
    turned = cross(omega, matvec(here.inertia, omega)) - cross(here.first_moment, gravity)
    return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0]


def gather(tips: Tips, force: Components) -> Components:
    """Σ W_i f_i (6, samples): forces at the tips as one wrench at the frame's origin."""
    both = np.concatenate(np.broadcast_arrays(force, cross(tips.arm, force)))
    total: Components = both.sum(axis=1)
    return total


def leg_mass_matrix(tips: Tips, inertia: Components) -> Components:
    """Σ W_i A_i W_iᵀ = Σ [A, −A r̂; r̂ A, −r̂ A r̂] (6, 6, samples).

    Khalil & Guegan 2004, Eq. 38, signs corrected.
    """
    mixed = np.stack([cross(tips.arm, column) for column in np.moveaxis(inertia, 1, 0)], axis=1)
    angular = np.stack([cross(tips.arm, row) for row in mixed])
    total: Components = _blocks(inertia, mixed, angular).sum(axis=2)
    return total


def _blocks(linear: Components, mixed: Components, angular: Components) -> Components:
    """The symmetric [A, Gᵀ; G, B] (6, 6, ...); below its diagonal is all that is read."""
    left, right = [*linear, *mixed], [*np.swapaxes(mixed, 0, 1), *angular]
    lower = [[*a, *b] for a, b in zip(left, right, strict=True)]
    return matrix([[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)])
