"""Inverse dynamics of UPS robots by free bodies and by virtual work.

A leg is three bodies: cross, cylinder and rod. With n its direction, q its length, α the universal axis
fixed to the base and β = α×n/‖α×n‖ the one fixed to the leg, all in world axes,

    ṅ = (v − q̇ n)/q,  q̇ = n·v,  θ̇1 = ṅ·(α×n)/‖α×n‖²,  θ̇2 = ṅ·(β×n)
    ω = θ̇1 α + θ̇2 β,  ω̇ = θ̈1 α + θ̈2 β + θ̇1 θ̇2 α×β

v being the tip's velocity; the cross turns with θ̇1 α. No friction. Arrays are (samples, legs, …), SI.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ReachError, SingularError
from gough.formulations import samples
from gough.formulations.parts import BodyParts, TelescopicParts
from gough.formulations.samples import (
    SMALLEST_SLOPE,
    FormulationTrouble,
    Pose,
    dot,
    matvec,
    transposed,
)

SHORTEST = 1e-7
"""Length, m, below which a leg has no direction."""


class Telescope(NamedTuple):
    """How the legs stand and move, and what their bodies ask for."""

    arm: Array
    """Platform frame's origin to tip."""
    n: Array
    beta: Array
    sine: Array
    """‖α×n‖."""
    q: Array
    qd: Array
    push: Array
    """n·F_rod + rotor q̈: what the leg asks for along q, N."""
    about_axis: Array
    """α·M of all its bodies about B, N m."""
    about_beta: Array
    """β·M of cylinder and rod about B, N m."""


def virtual_work(
    parts: TelescopicParts, pose: Pose
) -> tuple[dict[str, Array], list[FormulationTrouble]]:
    """Forces by virtual work: the drive of leg j alone moves, virtually and at unit speed.

        Γ_j = (n·F)_j + Σ_i (θ̇1 α·M + θ̇2 β·M)_i + v^G·F^G + ω^G·M^G

    θ̇1, θ̇2, v^G, ω^G being virtual velocities and F, M what accelerations and weights ask for.
    """
    legs = _telescopes(parts, pose)
    rows = np.concatenate([legs.n, np.cross(legs.arm, legs.n)], axis=-1)
    scale = np.array([1.0] * 3 + [parts.scale] * 3)
    condition, scaled = samples.guarded(rows / scale)
    twist = np.linalg.inv(scaled) / scale[:, np.newaxis]
    # tips of all legs (samples, legs, 3, motions) in all virtual motions
    tips = twist[:, np.newaxis, :3] + np.cross(
        twist[:, np.newaxis, 3:], legs.arm[..., np.newaxis], axis=2
    )
    around = (legs.beta / (legs.q * legs.sine)[..., np.newaxis])[..., np.newaxis]
    across = (np.cross(legs.beta, legs.n) / legs.q[..., np.newaxis])[..., np.newaxis]
    turning = (tips * around).sum(axis=2), (tips * across).sum(axis=2)
    work = np.einsum("sij,si->sj", turning[0], legs.about_axis)
    work = work + np.einsum("sij,si->sj", turning[1], legs.about_beta)
    force, moment = _platform(parts, pose)
    work = work + matvec(transposed(twist[:, :3]), force)
    work = work + matvec(transposed(twist[:, 3:]), moment)
    return _answer(parts, legs, legs.push + work, condition)


def newton_euler(
    parts: TelescopicParts, pose: Pose
) -> tuple[dict[str, Array], list[FormulationTrouble]]:
    """Forces by free bodies: moments about B give what the platform bears across the legs.

    f = f_n n + β (α·M)/(q ‖α×n‖) + β×n (β·M)/q                      on the leg at its tip
    Σ f + F = 0,  Σ L×f + M = 0                                       on the platform: f_n
    Γ = n·F_rod + rotor q̈ − f_n                                       on the rod, along n
    """
    legs = _telescopes(parts, pose)
    across = legs.beta * (legs.about_axis / (legs.q * legs.sine))[..., np.newaxis]
    across = across + np.cross(legs.beta, legs.n) * (legs.about_beta / legs.q)[..., np.newaxis]
    force, moment = _platform(parts, pose)
    wanted = np.concatenate(
        [force + across.sum(axis=1), moment + np.cross(legs.arm, across).sum(axis=1)], axis=-1
    )
    scale = np.array([1.0] * 3 + [parts.scale] * 3)
    columns = np.concatenate([legs.n, np.cross(legs.arm, legs.n)], axis=-1) / scale
    condition, matrices = samples.guarded(transposed(columns))
    axial = np.linalg.solve(matrices, (wanted / scale)[..., np.newaxis])[..., 0]
    return _answer(parts, legs, legs.push + axial, condition)


def _answer(
    parts: TelescopicParts, legs: Telescope, forces: Array, condition: Array
) -> tuple[dict[str, Array], list[FormulationTrouble]]:
    values = {"forces": forces, "rates": legs.qd, "residual": np.zeros(len(forces))}
    troubles = [
        FormulationTrouble(
            ~(legs.q > SHORTEST).T,
            ReachError,
            lambda place: f"its length {legs.q.T[place]:.3g} m is zero (limit {SHORTEST:g} m)",
        ),
        FormulationTrouble(
            ~(legs.sine > SMALLEST_SLOPE).T,
            SingularError,
            lambda place: (
                "it is parallel to its first universal axis "
                f"(sine {legs.sine.T[place]:.3g}, limit {SMALLEST_SLOPE:g})"
            ),
        ),
        samples.pose_trouble(condition),
    ]
    return values, troubles


def _telescopes(parts: TelescopicParts, pose: Pose) -> Telescope:
    """Kinematics of the module's text, its time derivative, and the bodies' loads."""
    R, omega = pose.rotation[:, np.newaxis], pose.angular_velocity[:, np.newaxis]
    omega_dot = pose.angular_acceleration[:, np.newaxis]
    arm = matvec(R, parts.points)
    v = pose.velocity[:, np.newaxis] + np.cross(omega, arm)
    a = pose.acceleration[:, np.newaxis] + np.cross(omega_dot, arm)
    a = a + np.cross(omega, np.cross(omega, arm))
    away = pose.position[:, np.newaxis] + arm - parts.base
    q = np.linalg.norm(away, axis=-1, keepdims=True)
    n = away / q
    qd = dot(n, v)[..., np.newaxis]
    n_d = (v - qd * n) / q
    qdd = dot(n, a)[..., np.newaxis] + q * dot(n_d, n_d)[..., np.newaxis]
    n_dd = (a - qdd * n - 2 * qd * n_d) / q

    alpha = np.broadcast_to(parts.axis, n.shape)
    side = np.cross(alpha, n)
    sine = np.linalg.norm(side, axis=-1, keepdims=True)
    beta = side / sine

    def rates(change: Array) -> tuple[Array, Array]:
        first = dot(change, side)[..., np.newaxis] / sine**2
        return first, dot(change, np.cross(beta, n))[..., np.newaxis]

    first, second = rates(n_d)
    turn = first * alpha + second * beta
    gyration = first * second * np.cross(alpha, beta)
    first_d, second_d = rates(n_dd - np.cross(turn, n_d) - np.cross(gyration, n))
    turn_d = first_d * alpha + second_d * beta + gyration

    x = np.cross(beta, alpha)
    cross_axes = np.stack([x, beta, alpha], axis=-1)
    z = -beta
    rod_axes = np.stack([np.cross(z, n), z, n], axis=-1)
    cylinder_axes = np.stack([np.cross(z, n), -n, z], axis=-1)
    still = np.zeros_like(n)
    _, of_cross = _load(parts.cross, cross_axes, first * alpha, first_d * alpha, still, parts)
    _, of_cylinder = _load(parts.cylinder, cylinder_axes, turn, turn_d, still, parts)
    force, of_rod = _load(parts.rod, rod_axes, turn, turn_d, a, parts)
    together = of_cylinder + of_rod + q * np.cross(n, force)
    return Telescope(
        arm=arm,
        n=n,
        beta=beta,
        sine=sine[..., 0],
        q=q[..., 0],
        qd=qd[..., 0],
        push=dot(n, force) + parts.rotor_mass * qdd[..., 0],
        about_axis=dot(alpha, together + of_cross),
        about_beta=dot(beta, together),
    )


def _load(
    body: BodyParts, axes: Array, omega: Array, omega_dot: Array, a: Array, parts: TelescopicParts
) -> tuple[Array, Array]:
    """Force, and moment about its frame's origin, that a body asks for: Newton and Euler.

    F = M (a − g) + ω̇×S + ω×(ω×S),  N = I ω̇ + ω×I ω + S×(a − g)
    """
    moment, felt = matvec(axes, body.first_moment), a - parts.gravity
    inertia = axes @ body.inertia @ transposed(axes)
    force = body.mass[..., np.newaxis] * felt + np.cross(omega_dot, moment)
    force = force + np.cross(omega, np.cross(omega, moment))
    spin = matvec(inertia, omega_dot) + np.cross(omega, matvec(inertia, omega))
    return force, np.asarray(spin + np.cross(moment, felt))


def _platform(parts: TelescopicParts, pose: Pose) -> tuple[Array, Array]:
    """What the platform asks for about its frame's origin, less the external wrench."""
    force, moment = _load(
        parts.platform,
        pose.rotation,
        pose.angular_velocity,
        pose.angular_acceleration,
        pose.acceleration,
        parts,
    )
    return force - pose.force, moment - pose.moment
