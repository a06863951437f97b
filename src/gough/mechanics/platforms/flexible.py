"""Flexible platform: a floating frame and modes, ξ = (v, ω, q̇e).

A node with mass m at r in the undeformed platform is at u = r + Φ q, Φ (3, modes) its mode shapes and
q = qe the elastic coordinates, so that in the platform's axes (ω, α, a, g all on these)

    ẍ = a + α×u + ω×(ω×u) + 2 ω×Φq̇ + Φ q̈

and, by virtual power over all nodes, with x = (a, α):

    M_rr x + M_re q̈ + b_r = wrench              M_reᵀ x + m_ee q̈ + b_e = modal force

Everything state-dependent comes from one tensor a mode, P_k = Σ m Φ_k uᵀ = P0_k + Σ_j Π_kj q_j, and from
the first moment S = S0 + s q. Long, Khalil & Martinet 2014, Eq. 34, whose s, β, λ, I_re and I_ee are all
in P; its f_c, n_c and Q_c, which the paper does not give, are in `momentum_bias` and `modal_bias`.

Only what the legs can feel has to be solved for together with them. Of the modes that is their motion at
the tips, at most three numbers a leg: with m_ee = L Lᵀ the tip shapes are Φ_t L⁻ᵀ = F Q1ᵀ, and the
visible accelerations are y1 = Zᵀ m_ee q̈, Z = L⁻ᵀ Q1, Φ_t q̈ = F y1. The rest of q̈ follows from x alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.body import Body
from gough.mechanics.modes import coupled, over_modes
from gough.mechanics.platforms import rigid
from gough.mechanics.platforms.rigid import Tips
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec, transposed_matvec


class ModeTables(NamedTuple):
    """Numbers of each mode, (..., modes, 1), platform axes."""

    tip_shapes: Components
    """Φ_t at the tips, (3, legs, modes, 1)."""
    tip_rotations: Components
    """Rotation of the platform at the tips, (3, legs, modes, 1)."""
    origin_shapes: Components
    """Shapes and rotations at the frame's origin, where wrenches act, (3, modes, 1)."""
    origin_rotations: Components
    first_moments: Components
    """s = Σ m Φ, (3, modes, 1)."""
    second_moments: Components
    """P0 = Σ m Φ rᵀ, (3, 3, modes, 1)."""
    visible: Components
    """Z, (visible, modes, 1)."""


class Couplings(NamedTuple):
    """Numbers of each pair of modes [k, j], (..., modes, modes, 1)."""

    mass: Components
    """m_ee."""
    per_mass: Components
    """m_ee⁻¹."""
    stiffness: Components
    damping: Components
    second_moments: Components
    """Π_kj = Σ m Φ_k Φ_jᵀ, (3, 3, modes, modes, 1)."""
    crossed: Components
    """λ_kj = Σ m Φ_j×Φ_k, (3, modes, modes, 1)."""


class Flexible(NamedTuple):
    """What a platform's modes add to its undeformed body."""

    tips: Components
    """F, (3, legs, visible, 1)."""
    visible_moments: Components
    """s Z, (3, visible, 1)."""
    carried: Components
    """s m_ee⁻¹ sᵀ, (3, 3, 1, 1)."""
    tables: ModeTables
    couplings: Couplings


class Deformed(NamedTuple):
    """Mass integrals of the deformed platform, platform axes."""

    body: Body
    """Mass, first moment S and inertia about the frame's origin."""
    moving_moment: Components
    """s q̇, (3, 1, samples)."""
    moving_spread: Components
    """Σ_k q̇_k P_k, (3, 3, 1, samples)."""
    spread: Components
    """P_k, (3, 3, modes, samples)."""
    turning: Components
    """B_k = Σ m u×Φ_k, (3, modes, samples): the angular part of M_re (β + λ q of the paper)."""


class Terms(NamedTuple):
    """The platform's equation with the invisible modes eliminated, platform axes.

    mass x + mixed y1 + bias = wrench of the legs,  mixedᵀ x + y1 + visible_bias = Fᵀ f.
    """

    mass: Components
    """(6, 6, samples)."""
    mixed: Components
    """(6, visible, samples)."""
    bias: Components
    """(6, samples)."""
    visible_bias: Components
    """(visible, samples)."""


def tips(
    flexible: Flexible,
    points: Components,
    position: Components,
    rotation: Components,
    velocity: Components,
    angular_velocity: Components,
    elastic: Components,
    elastic_velocity: Components,
) -> tuple[Tips, Tips]:
    """Motion of the tips in world axes, and the same with arms in platform axes.

    d_i = P_i + Φ_i q, v_i = v + ω×d_i + Φ_i q̇, c_i = ω×(ω×d_i) + 2 ω×Φ_i q̇ and, where friction acts,
    ω_i = ω + Φ_ri q̇: Long, Khalil & Martinet 2014, Eqs. 11–18 and 23.
    """
    tables = flexible.tables
    arm = points + over_modes(tables.tip_shapes, elastic)
    bending = matvec(rotation, over_modes(tables.tip_shapes, elastic_velocity))
    twisting = matvec(rotation, over_modes(tables.tip_rotations, elastic_velocity))
    world = rigid.tips(arm, position, rotation, velocity, angular_velocity)
    world = world._replace(
        velocity=world.velocity + bending,
        bias=world.bias + 2 * cross(angular_velocity, bending),
        angular_velocity=angular_velocity + twisting,
    )
    return world, world._replace(arm=arm)


def deform(
    flexible: Flexible, body: Body, elastic: Components, elastic_velocity: Components
) -> Deformed:
    """Mass integrals at q and q̇; Σ m u uᵀ = J0 + Σ_k q_k (P_k + P0_kᵀ)."""
    tables, pairs = flexible.tables, flexible.couplings
    start = tables.second_moments
    spread = start + coupled(pairs.second_moments, elastic)
    moment = body.first_moment + over_modes(tables.first_moments, elastic)[:, np.newaxis]
    widened = over_modes(spread + np.swapaxes(start, 0, 1), elastic)[:, :, np.newaxis]
    # the undeformed tensor plus tr(ΔJ) 1 − ΔJ, of which below the diagonal is all that is read
    trace = widened[0, 0] + widened[1, 1] + widened[2, 2]
    lower = [
        [body.inertia[i, j] - widened[i, j] + (trace if i == j else 0) for j in range(i + 1)]
        for i in range(3)
    ]
    inertia = matrix([[lower[max(i, j)][min(i, j)] for j in range(3)] for i in range(3)])
    turning = np.stack(
        [spread[2, 1] - spread[1, 2], spread[0, 2] - spread[2, 0], spread[1, 0] - spread[0, 1]]
    )
    return Deformed(
        Body(body.mass, moment, inertia),
        over_modes(tables.first_moments, elastic_velocity)[:, np.newaxis],
        over_modes(spread, elastic_velocity)[:, :, np.newaxis],
        spread,
        turning,
    )


def momentum_bias(deformed: Deformed, omega: Components, gravity: Components) -> Components:
    """b_r (6, samples): f_c and n_c of Eq. 34 and the weight.

    ω×(ω×S) + 2 ω×(s q̇) − m g and ω×(I ω) + 2 (tr H 1 − H) ω − S×g with H = Σ_k q̇_k P_k.
    """
    body, H = deformed.body, deformed.moving_spread
    pushed = (
        cross(omega, cross(omega, body.first_moment) + 2 * deformed.moving_moment)
        - body.mass * gravity
    )
    turned = (
        cross(omega, matvec(body.inertia, omega))
        + 2 * ((H[0, 0] + H[1, 1] + H[2, 2]) * omega - matvec(H, omega))
        - cross(body.first_moment, gravity)
    )
    return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0]


def modal_bias(
    flexible: Flexible,
    deformed: Deformed,
    omega: Components,
    gravity: Components,
    elastic: Components,
    elastic_velocity: Components,
) -> Components:
    """b_e (modes, samples): Q_c of Eq. 34, weight, stiffness and damping.

    −(ω·ω tr P_k − ω·P_k ω) + 2 ω·Σ_j λ_kj q̇_j − s_k·g + (K q)_k + (D q̇)_k.
    """
    pairs, P = flexible.couplings, deformed.spread
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    outward = dot(omega, omega) * trace - dot(omega, matvec(P, omega))
    coriolis = dot(omega, coupled(pairs.crossed, elastic_velocity))
    total: Components = (
        coupled(pairs.stiffness, elastic)
        + coupled(pairs.damping, elastic_velocity)
        + 2 * coriolis
        - outward
        - dot(flexible.tables.first_moments, gravity)
    )
    return total


def demand(
    flexible: Flexible,
    body: Body,
    rotation: Components,
    angular_velocity: Components,
    acceleration: Components,
    angular_acceleration: Components,
    gravity: Components,
    elastic: Components,
    elastic_velocity: Components,
    elastic_acceleration: Components,
) -> tuple[Components, Components]:
    """M_rr x + M_re q̈ + b_r (6, samples), world axes, and M_reᵀ x + m_ee q̈ + b_e (modes, samples)."""
    deformed = deform(flexible, body, elastic, elastic_velocity)
    omega = transposed_matvec(rotation, angular_velocity)
    weight = transposed_matvec(rotation, gravity)
    x = to_platform(rotation, np.concatenate([acceleration, angular_acceleration])[:, 0])
    moved = [over_modes(flexible.tables.first_moments, elastic_acceleration),
             over_modes(deformed.turning, elastic_acceleration)]  # fmt: skip
    pushed = (
        (rigid.on_own_axes(deformed.body) * x).sum(axis=1)
        + np.concatenate(moved)
        + momentum_bias(deformed, omega, weight)
    )
    modal = (
        momentum_of_modes(flexible, deformed, x)
        + coupled(flexible.couplings.mass, elastic_acceleration)
        + modal_bias(flexible, deformed, omega, weight, elastic, elastic_velocity)
    )
    return to_world(rotation, pushed), modal


def modal_force(flexible: Flexible, wrench: Components) -> Components:
    """φ (modes, samples) of a wrench (6, samples) in platform axes at the frame's origin."""
    tables = flexible.tables
    total: Components = dot(tables.origin_shapes, wrench[:3, np.newaxis]) + dot(
        tables.origin_rotations, wrench[3:, np.newaxis]
    )
    return total


def modal_work(shapes: Components, forces: Components) -> Components:
    """Σ_i Φ_iᵀ f_i (modes, samples) of forces (or couples) at the tips, platform axes."""
    total: Components = (shapes * forces[:, :, np.newaxis]).sum(axis=(0, 1))
    return total


def momentum_of_modes(flexible: Flexible, deformed: Deformed, x: Components) -> Components:
    """M_reᵀ x (modes, samples) for x (6, samples)."""
    total: Components = dot(flexible.tables.first_moments, x[:3, np.newaxis]) + dot(
        deformed.turning, x[3:, np.newaxis]
    )
    return total


def terms(flexible: Flexible, deformed: Deformed, bias: Components, load: Components) -> Terms:
    """The equation with q̈'s invisible part eliminated, from b_r and the modal load b_e − φ.

    M_rr − (M_re m⁻¹ M_reᵀ − M_r1 M_r1ᵀ), M_r1 = M_re Z, b_r − (M_re m⁻¹ e − M_r1 Zᵀ e), Zᵀ e.
    """
    s, Z = flexible.tables.first_moments, flexible.tables.visible
    B, pairs = deformed.turning, flexible.couplings
    light_B, light_load = coupled(pairs.per_mass, B), coupled(pairs.per_mass, load)
    visible_turning = over_modes(B[:, np.newaxis], Z)
    mixed = np.concatenate(
        np.broadcast_arrays(flexible.visible_moments + 0 * visible_turning, visible_turning)
    )
    visible_bias = over_modes(Z, load)
    drawn = np.concatenate([over_modes(s, light_load), over_modes(B, light_load)])
    across = over_modes(s[:, np.newaxis], light_B)
    around = over_modes(B[:, np.newaxis], light_B)
    carried = flexible.carried[:, :, 0] + 0 * around
    shared = [[*a, *b] for a, b in zip(carried, across, strict=True)]
    shared += [[*a, *b] for a, b in zip(np.swapaxes(across, 0, 1), around, strict=True)]
    whole = rigid.on_own_axes(deformed.body)
    mass = matrix(
        [
            [whole[i, j] - shared[i][j] + (mixed[i] * mixed[j]).sum(axis=0) for j in range(6)]
            for i in range(6)
        ]
    )
    hidden = drawn - (mixed * visible_bias).sum(axis=1)
    return Terms(mass, mixed, bias - hidden, visible_bias)


def to_platform(rotation: Components, wrench: Components) -> Components:
    """A world wrench or twist (6, samples) in platform axes."""
    linear = transposed_matvec(rotation, wrench[:3, np.newaxis])
    angular = transposed_matvec(rotation, wrench[3:, np.newaxis])
    return np.concatenate([linear, angular])[:, 0]


def to_world(rotation: Components, wrench: Components) -> Components:
    """A wrench or twist (6, samples) in platform axes, in world axes."""
    linear = matvec(rotation, wrench[:3, np.newaxis])
    angular = matvec(rotation, wrench[3:, np.newaxis])
    return np.concatenate([linear, angular])[:, 0]
