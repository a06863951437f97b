"""Inverse dynamics by the principle of virtual work: PUS robots by recursive matrices; UPS robots.

UPS legs are in `telescopic_legs`; the rest of this text is on PUS legs.

R. Sinatra, F.-F. Xi, Ș. Staicu: Dynamics of the hexapod parallel robot. Rev. Roum. Sci. Techn. –
Méc. Appl. 54 (2009), Eqs. 2–23, corrected, for PUS legs of any geometry and bodies of any inertia.
No friction.

Frames T_k have their joint's axis along z_k. T_1 (slider): z_1 along the rail. T_2 (cross): z_2 along
the universal axis α fixed to the slider, x_2 the link's direction n made perpendicular to it.
T_3 (link): z_3 along the second universal axis y_2, y_3 along n. a_{k,k−1} turns components in T_{k−1}
into components in T_k. Vectors of body k are in the axes of T_k, moments about its joint A_k; all
A_k are the universal joint. Arrays are (samples, legs, …); SI units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.formulations import parts as robot_parts
from gough.formulations import samples, telescopic_legs
from gough.formulations.parts import BodyParts, Parts, TelescopicParts
from gough.formulations.samples import FormulationTrouble, Pose, dot, matvec, transposed
from gough.model.batch import OnError
from gough.model.model import Model
from gough.motion import Motion
from gough.results import Actuation

U1, U2, U3 = np.eye(3)
SECOND_AXIS = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
"""a_32 at φ_32 = 0: y_3 = z_2 and z_3 = y_2."""
LINK_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""From the robot file's link frame (z along n, y along n×α) to T_3."""


def inverse_dynamics(
    robot: Model,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = False,
    *,
    on_error: OnError = "raise",
) -> Actuation:
    """Actuator forces and powers, as `Robot.inverse_dynamics(…, friction=False)`.

    Sinatra, Xi & Staicu 2009, Eq. 21: let the slider of leg j alone move, virtually and at unit
    speed; the virtual work of all forces on all bodies vanishes:

        f_j = u_3ᵀ{F_1ʲ + Σ_i (ω_21 M_2 + ω_32 M_3)ⁱ} + v^G·F^G + ω^G·M^G                      (21)

    ω_21, ω_32, v^G, ω^G being virtual velocities. The platform's six terms, which the paper takes
    along three translations and three Euler rotations, are the last two products here: the same
    sum, without the angles and their singularity. UPS legs: `telescopic_legs.virtual_work`.
    """
    parts = robot_parts.read(robot)
    if friction:
        robot_parts.need_no_friction(parts, "Sinatra, Xi & Staicu 2009")

    def model(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
        if isinstance(parts, TelescopicParts):
            return telescopic_legs.virtual_work(parts, pose)
        chain = _chain(parts, pose)
        motions = _motions(parts, pose, chain)
        virtual = _virtual_velocities(parts, pose, chain)
        force, moment_2, moment_3 = _chain_loads(parts, chain, motions)
        push, turn = _platform_load(parts, pose)
        legs_work = np.einsum("...ij,...i->...j", virtual.omega_21, moment_2) + np.einsum(
            "...ij,...i->...j", virtual.omega_32, moment_3
        )
        platform_work = np.einsum("...cj,...c->...j", virtual.velocity, push) + np.einsum(
            "...cj,...c->...j", virtual.angular_velocity, turn
        )
        values = {
            "forces": force + legs_work + platform_work,
            "rates": motions.rates[..., 0],
            "residual": np.zeros(len(force)),
        }
        troubles = samples.leg_troubles(parts, chain.radicand, chain.direction)
        return values, [*troubles, samples.pose_trouble(virtual.condition)]

    return samples.actuation(samples.run(model, motion, wrench, on_error))


class _Chain(NamedTuple):
    """Where the legs' bodies are."""

    a10: Array
    """(legs, 3, 3): it never changes."""
    a21: Array
    a32: Array
    a20: Array
    a30: Array
    arm: Array
    """Rᵀ r_G^{A4}: platform frame's origin to spherical joint, world axes, m."""
    connectivity: Array
    """Inverse of Eq. 13's left side: (v_10, ω_21, ω_32) from the spherical joint's velocity, world."""
    bend_21: Array
    """l3 ũ3 a_32ᵀ u2, axes of T_2: the leg's tip over a turn about z_2, m."""
    bend_32: Array
    """l3 ũ3 u2 = −l3 u1, axes of T_3: its tip over a turn about z_3, m."""
    direction: Array
    """n, world axes."""
    radicand: Array
    """l3² − x² − y² of the tip in T_1, m²."""


class _Motions(NamedTuple):
    """How the legs' bodies move; angular velocities and accelerations ω_k0, ε_k0 and γ_k0 in T_k."""

    rates: Array
    """v_10, ω_21, ω_32, (samples, legs, 3)."""
    accelerations: Array
    """γ_10, ε_21, ε_32."""
    omega: tuple[Array, Array, Array]
    epsilon: tuple[Array, Array, Array]
    gamma: tuple[Array, Array, Array]


class _Virtual(NamedTuple):
    """Virtual velocities; the last axis counts the virtual motions, one per slider."""

    omega_21: Array
    """(samples, legs, motions), rad/s."""
    omega_32: Array
    velocity: Array
    """Of the platform frame's origin, (samples, 3, motions), platform axes."""
    angular_velocity: Array
    condition: Array
    """Of the Jacobian, its angular columns over the platform's length, (samples,)."""


def _turn(angle: Array) -> Array:
    """a^φ of Eq. 3: components in a frame turned by φ about z."""
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    rows = [[c, s, zero], [-s, c, zero], [zero, zero, zero + 1]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _rail_frames(rail: Array) -> Array:
    """a_10: rows x_1, y_1, z_1 with z_1 along the rail, (legs, 3, 3)."""
    side = np.eye(3)[np.argmin(np.abs(rail), axis=-1)]
    y = np.cross(rail, side)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, rail), y, rail], axis=-2)


def _chain(parts: Parts, pose: Pose) -> _Chain:
    """Matrices of transformation (2)–(3) from the vector loops (7), and what (13) needs of them.

        a_21 = a^φ_21 θ_21,  a_32 = a^φ_32 θ_32,  a_k0 = a_{k,k−1} … a_10               (2, 3)
        v_10 a_10ᵀu_3 + ω_21 l_3 a_20ᵀ ũ_3 a_32ᵀ u_2 − ω_32 l_3 a_30ᵀ u_1 = ṙ^G + Rᵀ ω̃_60 r_G^{A4}   (13)

    θ_21 and θ_32 are constant: the axes at φ_21 = φ_32 = 0, in place of the paper's a_2α, a_β, θ_1, θ_2
    (its a_21 needs a_2α, not the transpose). λ_10 is Eq. 7 solved in T_1, where the tip is
    (x, y, z): λ_10 = z ∓ √(l_3² − x² − y²). Corrected: ṙ^G in Eq. 13.
    """
    a10 = _rail_frames(parts.rail)
    arm = matvec(pose.rotation[:, np.newaxis], parts.points)
    tip = matvec(a10, pose.position[:, np.newaxis] + arm - parts.origin)
    length = parts.length[:, np.newaxis]
    radicand = parts.length**2 - tip[..., 0] ** 2 - tip[..., 1] ** 2
    leg = tip.copy()
    leg[..., 2] = -parts.sign * np.sqrt(radicand)
    y_axis = np.cross(parts.axis, parts.reference)
    start_21 = np.stack([parts.reference, y_axis, parts.axis], axis=-2) @ transposed(a10)
    x, y, z = np.moveaxis(matvec(start_21, leg), -1, 0)
    a21 = _turn(np.arctan2(y, x)) @ start_21
    a32 = _turn(np.arctan2(np.hypot(x, y), z)) @ SECOND_AXIS
    a20 = a21 @ a10
    a30 = a32 @ a20
    bend_21 = length * np.cross(U3, matvec(transposed(a32), U2))
    bend_32 = np.broadcast_to(-length * U1, bend_21.shape)
    columns = [
        np.broadcast_to(matvec(transposed(a10), U3), bend_21.shape),
        matvec(transposed(a20), bend_21),
        matvec(transposed(a30), bend_32),
    ]
    _, left = samples.guarded(np.stack(columns, axis=-1))
    return _Chain(
        a10=a10,
        a21=a21,
        a32=a32,
        a20=a20,
        a30=a30,
        arm=arm,
        connectivity=np.linalg.inv(left),
        bend_21=bend_21,
        bend_32=bend_32,
        direction=matvec(transposed(a30), U2),
        radicand=radicand,
    )


def _motions(parts: Parts, pose: Pose, chain: _Chain) -> _Motions:
    """Relative velocities (13) and accelerations (16), and from them the absolute ones (11), (18).

        γ_10 a_10ᵀu_3 + ε_21 l_3 a_20ᵀ ũ_3 a_32ᵀ u_2 − ε_32 l_3 a_30ᵀ u_1
            = r̈^G + Rᵀ(ω̃_60 ω̃_60 + ε̃_60) r_G^{A4} − l_3 ω_21² a_20ᵀ ũ_3 ũ_3 a_32ᵀ u_2
              + l_3 ω_32² a_30ᵀ u_2 + 2 l_3 ω_21 ω_32 a_20ᵀ ũ_3 a_32ᵀ u_1                    (16)
        ω_k0 = a_{k,k−1} ω_{k−1,0} + ω_{k,k−1} u_3                                        (11)
        ε_k0 = a_{k,k−1} ε_{k−1,0} + ε_{k,k−1} u_3 + ω_{k,k−1} a_{k,k−1} ω̃_{k−1,0} a_{k,k−1}ᵀ u_3
        γ_k0 = a_{k,k−1} γ_{k−1,0}   (r_21 = r_32 = 0)                                   (18)

    Corrected: r̈^G in Eq. 16.
    """
    omega, epsilon = pose.angular_velocity[:, np.newaxis], pose.angular_acceleration[:, np.newaxis]
    tip_velocity = pose.velocity[:, np.newaxis] + np.cross(omega, chain.arm)
    rates = matvec(chain.connectivity, tip_velocity)
    _, omega_21, omega_32 = np.moveaxis(rates[..., np.newaxis], -2, 0)
    up_2, up_3 = transposed(chain.a20), transposed(chain.a30)
    length = parts.length[:, np.newaxis]
    across = np.cross(U3, matvec(transposed(chain.a32), U1))
    bias = (
        -(omega_21**2) * matvec(up_2, np.cross(U3, chain.bend_21))
        + length * omega_32**2 * matvec(up_3, U2)
        + 2 * length * omega_21 * omega_32 * matvec(up_2, across)
    )
    swung = np.cross(epsilon, chain.arm) + np.cross(omega, np.cross(omega, chain.arm))
    tip_acceleration = pose.acceleration[:, np.newaxis] + swung
    accelerations = matvec(chain.connectivity, tip_acceleration + bias)
    gamma_10, epsilon_21, epsilon_32 = np.moveaxis(accelerations[..., np.newaxis], -2, 0)

    omega_10 = epsilon_10 = np.zeros_like(rates)
    omega_20 = omega_21 * U3
    epsilon_20 = epsilon_21 * U3
    omega_30 = matvec(chain.a32, omega_20) + omega_32 * U3
    z_3 = matvec(transposed(chain.a32), U3)
    gyration = omega_32 * matvec(chain.a32, np.cross(omega_20, z_3))
    epsilon_30 = matvec(chain.a32, epsilon_20) + epsilon_32 * U3 + gyration
    first = gamma_10 * U3
    second = matvec(chain.a21, first)
    return _Motions(
        rates,
        accelerations,
        (omega_10, omega_20, omega_30),
        (epsilon_10, epsilon_20, epsilon_30),
        (first, second, matvec(chain.a32, second)),
    )


def _virtual_velocities(parts: Parts, pose: Pose, chain: _Chain) -> _Virtual:
    """Virtual velocities with v_10 = 1 of one slider and 0 of the others (15), from (13)."""
    row = chain.connectivity[..., 0, :]
    scale = np.array([1.0] * 3 + [parts.scale] * 3)
    jacobian = np.concatenate([row, np.cross(chain.arm, row)], axis=-1)
    condition, scaled = samples.guarded(jacobian / scale)
    twist = np.linalg.inv(scaled) / scale[:, np.newaxis]
    velocity, angular = twist[:, :3], twist[:, 3:]
    # tips of all legs (samples, legs, 3, motions) in all virtual motions
    tips = velocity[:, np.newaxis] + np.cross(
        angular[:, np.newaxis], chain.arm[..., np.newaxis], axis=2
    )
    relative = chain.connectivity @ tips
    to_platform = transposed(pose.rotation)
    return _Virtual(
        relative[..., 1, :],
        relative[..., 2, :],
        to_platform @ velocity,
        to_platform @ angular,
        condition,
    )


def _wrench(
    body: BodyParts, omega: Array, epsilon: Array, gamma: Array, gravity: Array
) -> tuple[Array, Array]:
    """F_k0 = −F_in − F*, M_k0 = −M_in − M* of a body about its joint, in its axes: Eqs. 19, 20, 23.

        F* = m g,  M* = m r̃_C g                                                        (19)
        F_in = −m {γ + (ω̃² + ε̃) r_C}
        M_in = −{m r̃_C γ + Ĵ ε + ω̃ Ĵ ω}                                               (20)

    Corrected: in Eq. 20 the mass multiplies the first term only. g is in the body's axes.
    """
    moment, felt = body.first_moment, gamma - gravity
    swung = np.cross(epsilon, moment) + np.cross(omega, np.cross(omega, moment))
    force = body.mass[..., np.newaxis] * felt + swung
    spin = matvec(body.inertia, epsilon) + np.cross(omega, matvec(body.inertia, omega))
    return force, np.asarray(np.cross(moment, felt) + spin)


def _turned(body: BodyParts, axes: Array) -> BodyParts:
    """A body's parameters in other axes; `axes` turns components."""
    return BodyParts(
        body.mass, matvec(axes, body.first_moment), axes @ body.inertia @ transposed(axes)
    )


def _chain_loads(parts: Parts, chain: _Chain, motions: _Motions) -> tuple[Array, Array, Array]:
    """u_3ᵀF_1, u_3ᵀM_2, u_3ᵀM_3 of every leg, (samples, legs): Eq. 22 with r_21 = r_32 = 0.

        F_k = F_k0 + a_{k+1,k}ᵀ F_{k+1},  M_k = M_k0 + a_{k+1,k}ᵀ M_{k+1}                 (22)

    The drive's rotor adds its mass times γ_10 to F_1.
    """
    bodies = (_turned(parts.slider, chain.a10), parts.cross, _turned(parts.link, LINK_AXES))
    axes = (chain.a10, chain.a20, chain.a30)
    wrenches = [
        _wrench(body, omega, epsilon, gamma, matvec(down, parts.gravity))
        for body, down, omega, epsilon, gamma in zip(
            bodies, axes, motions.omega, motions.epsilon, motions.gamma, strict=True
        )
    ]
    force_3, moment_3 = wrenches[2]
    force_2 = wrenches[1][0] + matvec(transposed(chain.a32), force_3)
    moment_2 = wrenches[1][1] + matvec(transposed(chain.a32), moment_3)
    force_1 = wrenches[0][0] + matvec(transposed(chain.a21), force_2)
    rotor = parts.rotor_mass * motions.accelerations[..., 0]
    return dot(U3, force_1) + rotor, dot(U3, moment_2), dot(U3, moment_3)


def _platform_load(parts: Parts, pose: Pose) -> tuple[Array, Array]:
    """F^G, M^G of the platform about its frame's origin, platform axes; the wrench joins F*, M*."""
    to_platform = transposed(pose.rotation)
    omega, epsilon, gamma, push, turn = (
        matvec(to_platform, vector)
        for vector in (
            pose.angular_velocity,
            pose.angular_acceleration,
            pose.acceleration,
            pose.force,
            pose.moment,
        )
    )
    force, moment = _wrench(
        parts.platform, omega, epsilon, gamma, matvec(to_platform, parts.gravity)
    )
    return force - push, moment - turn
