"""The one equation where the platform bends, inverse and direct.

    M_rr x + M_re q̈ + b_r = Σ W_i f_i + wrench        M_reᵀ x + m_ee q̈ + b_e = Σ Φ_iᵀ f_i + φ
    f_i = w_i Γ_i − A_i (W_iᵀ x + Φ_i q̈ + c_i) − h_i

Long, Khalil & Martinet 2014, Section 5, for any leg kind, in the platform's axes; x = (v̇, ω̇), q̈ = q̈e.
Of q̈ the legs feel y1 only (`platforms.flexible`), so with E = 1 + Fᵀ A F and C = M_r1 + W A F

    [M̂ + W A Wᵀ, C; Cᵀ, E] (x, y1) = (W f0 + wrench − b̂, Fᵀ f0 − Zᵀ e)

is all of it, of order 6 + 3 legs at most, whatever the number of modes. Direct dynamics solves it as it
stands; inverse dynamics eliminates y1 and solves T Γ = … with T = (W − C E⁻¹ Fᵀ) w, the paper's
J_sys⁻ᵀ (Eq. 48).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gough.legs.link import LegKinematics
from gough.mechanics import equation as dynamics
from gough.mechanics.equation import Direct, Inverse, Mechanism, State, at_tip, rubbing_under
from gough.mechanics.friction import Loads
from gough.mechanics.modes import coupled, over_modes
from gough.mechanics.platforms import flexible, rigid
from gough.mechanics.platforms.flexible import Deformed, Flexible, Terms, to_platform, to_world
from gough.mechanics.platforms.rigid import Tips
from gough.mechanics.solves import factor, factor_symmetric, least_norm, solve_symmetric
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec, transposed_matvec


class Legs(NamedTuple):
    """The legs as a bending platform feels them, platform axes."""

    inertia: Components
    """A_i, (3, 3, legs, samples)."""
    visible: Components
    """A F, (3, legs, visible, samples)."""
    mixed: Components
    """W A F, (6, visible, samples)."""
    softness: Components
    """E = 1 + Fᵀ A F, (visible, visible, samples); below its diagonal is all that is read."""


def place(mechanism: Mechanism, state: State) -> tuple[Tips, Tips]:
    """The tips, arms in world axes and in platform axes."""
    return flexible.tips(
        _modes(mechanism), mechanism.points, *state[:4], state.elastic, state.elastic_velocity
    )


def deflected(mechanism: Mechanism, state: State) -> Components:
    """The platform points, (3, legs, samples), platform axes; where they are if it bends."""
    if mechanism.flexible is None:
        return mechanism.points
    return np.asarray(
        mechanism.points + over_modes(mechanism.flexible.tables.tip_shapes, state.elastic)
    )


def legs_at(mechanism: Mechanism, tips: Tips, acceleration: Components) -> LegKinematics:
    """What the legs do where their tips accelerate so."""
    legs: LegKinematics = mechanism.equations.kinematics(
        mechanism.legs, tips.position, tips.velocity, acceleration
    )
    return legs


def moving(mechanism: Mechanism, state: State) -> tuple[Tips, LegKinematics]:
    """Tips and legs of a moving platform, its elastic acceleration included."""
    tips, local = place(mechanism, state)
    shapes = _modes(mechanism).tables.tip_shapes
    return tips, legs_at(
        mechanism,
        tips,
        _accelerated(state, tips, local, over_modes(shapes, state.elastic_acceleration)),
    )


def inverse(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Loads | None = None,
) -> Inverse:
    """Actuator forces Γ and elastic acceleration q̈e for given (v̇, ω̇) and state.

    Eqs. 44 and 46–49, with an external wrench (6, samples), friction under given loads, and for more
    than six legs the least ‖Γ‖ and what of `preload` is internal.
    """
    tips, local = place(mechanism, state)
    rotation = state.rotation
    legs = legs_at(mechanism, tips, _accelerated(state, tips, local))
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    rubbing = rubbing_under(mechanism, tips.angular_velocity, legs, loads)
    push = mechanism.equations.couple_at_tip(
        mechanism.legs, legs, rubbing.universal + rubbing.spherical
    )
    felt = feel(mechanism, state, local, legs)
    deformed, modal_load, terms = platform(mechanism, state, wrench, rubbing.spherical)
    x = to_platform(
        rotation, np.concatenate([state.acceleration, state.angular_acceleration])[:, 0]
    )
    across = transposed_matvec(rotation, push - load.sideways)
    along = load.along - rubbing.slider
    shift = (
        _at_visible(mechanism, across)
        - (terms.mixed * x[:, np.newaxis]).sum(axis=0)
        - terms.visible_bias
    )
    softness = factor_symmetric(felt.softness, np.ones((len(shift), 1)))
    T, mix = sharing(mechanism, local, terms, felt, legs, rotation, softness)
    wanted = (
        np.stack([(row * x).sum(axis=0) for row in terms.mass])
        + terms.bias
        - to_platform(rotation, wrench)
        + to_platform(rotation, dynamics.couple_wrench(rubbing.spherical))
        - rigid.gather(local, across)
        + (mix * shift).sum(axis=1)
    )
    factors = factor(np.moveaxis(T, 0, 1), dynamics.scale(mechanism))
    if len(along) == len(wanted):
        forces = least_norm(factors, wanted) + along
    else:
        forces = least_norm(factors, wanted + (T * along).sum(axis=1))
    if preload is not None:
        forces = forces + preload - least_norm(factors, (T * preload).sum(axis=1))
    direction = transposed_matvec(rotation, legs.w)
    visible = solve_symmetric(
        softness, shift + _at_visible(mechanism, direction * (forces - along))
    )
    bending = (_modes(mechanism).tips * visible).sum(axis=2)
    accelerated = legs_at(mechanism, tips, _accelerated(state, tips, local, bending))
    load = mechanism.equations.load(mechanism.legs, accelerated, mechanism.gravity)
    tip_force = legs.w * (forces + rubbing.slider) + push - at_tip(legs, load)
    elastic = _elastic(mechanism, deformed, modal_load, x, transposed_matvec(rotation, tip_force))
    reactions = mechanism.equations.reactions(
        mechanism.legs, accelerated, load, tip_force, rubbing.universal, rubbing.spherical
    )
    return Inverse(forces, legs, reactions, factors.health, elastic)


def direct(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Loads | None = None,
) -> Direct:
    """Accelerations (v̇, ω̇) and q̈e for given actuator forces; the state's own do not count."""
    tips, local = place(mechanism, state)
    rotation = state.rotation
    legs = legs_at(mechanism, tips, 0 * tips.velocity)
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    rubbing = rubbing_under(mechanism, tips.angular_velocity, legs, loads)
    push = mechanism.equations.couple_at_tip(
        mechanism.legs, legs, rubbing.universal + rubbing.spherical
    )
    felt = feel(mechanism, state, local, legs)
    deformed, modal_load, terms = platform(mechanism, state, wrench, rubbing.spherical)
    driving = forces + rubbing.slider
    still = transposed_matvec(rotation, legs.w * (driving - load.along) + push - load.sideways)
    still = still - matvec(felt.inertia, transposed_matvec(rotation, tips.bias))
    couples = to_platform(rotation, wrench - dynamics.couple_wrench(rubbing.spherical))
    driven = np.concatenate(
        [
            rigid.gather(local, still) + couples - terms.bias,
            _at_visible(mechanism, still) - terms.visible_bias,
        ]
    )
    roots = factor_symmetric(_joint_mass(local, terms, felt), _joint_scale(mechanism, len(driven)))
    found = solve_symmetric(roots, driven)
    acceleration = to_world(rotation, found[:6])
    moved = state._replace(
        acceleration=acceleration[:3, np.newaxis], angular_acceleration=acceleration[3:, np.newaxis]
    )
    bending = (_modes(mechanism).tips * found[6:]).sum(axis=2)
    accelerated = legs_at(mechanism, tips, _accelerated(moved, tips, local, bending))
    load = mechanism.equations.load(mechanism.legs, accelerated, mechanism.gravity)
    tip_force = legs.w * driving + push - at_tip(legs, load)
    elastic = _elastic(
        mechanism, deformed, modal_load, found[:6], transposed_matvec(rotation, tip_force)
    )
    reactions = mechanism.equations.reactions(
        mechanism.legs, accelerated, load, tip_force, rubbing.universal, rubbing.spherical
    )
    return Direct(acceleration, driven, legs, reactions, roots.health, elastic)


class Condensed(NamedTuple):
    """A (v̇, ω̇) + c = T Γ + wrench, world axes: Long, Khalil & Martinet 2014, Eqs. 46–49."""

    mass: Components
    """A, (6, 6, samples)."""
    bias: Components
    """c, (6, samples)."""
    sharing: Components
    """T = J_sys⁻ᵀ, (6, legs, samples)."""
    legs: LegKinematics


def condensed(mechanism: Mechanism, state: State) -> Condensed:
    """The rigid motion's equation with all elastic accelerations eliminated, without friction."""
    tips, local = place(mechanism, state)
    rotation = state.rotation
    legs = legs_at(mechanism, tips, tips.bias)
    load = at_tip(legs, mechanism.equations.load(mechanism.legs, legs, mechanism.gravity))
    felt = feel(mechanism, state, local, legs)
    _, _, terms = platform(mechanism, state, np.zeros((6, 1)), 0 * legs.direction)
    held = -transposed_matvec(rotation, load)
    shift = _at_visible(mechanism, held) - terms.visible_bias
    softness = factor_symmetric(felt.softness, np.ones((len(shift), 1)))
    T, mix = sharing(mechanism, local, terms, felt, legs, rotation, softness)
    crossed = terms.mixed + felt.mixed
    whole = terms.mass + rigid.leg_mass_matrix(local, felt.inertia)
    mass = matrix(
        [
            [whole[max(i, j), min(i, j)] - (mix[i] * crossed[j]).sum(axis=0) for j in range(6)]
            for i in range(6)
        ]
    )
    bias = terms.bias - rigid.gather(local, held) + (mix * shift).sum(axis=1)
    columns = [to_world(rotation, column) for column in np.moveaxis(mass, 1, 0)]
    return Condensed(
        np.stack([to_world(rotation, row) for row in np.stack(columns, axis=1)]),
        to_world(rotation, bias),
        np.stack([to_world(rotation, column) for column in np.moveaxis(T, 1, 0)], axis=1),
        legs,
    )


def sharing(
    mechanism: Mechanism,
    local: Tips,
    terms: Terms,
    felt: Legs,
    legs: LegKinematics,
    rotation: Components,
    softness: Any,
) -> tuple[Components, Components]:
    """T = (W − C E⁻¹ Fᵀ) w, (6, legs, samples), and C E⁻¹, (6, visible, samples); platform axes."""
    direction = transposed_matvec(rotation, legs.w)
    rows = rigid.jacobian_rows(local, direction)
    mix = np.stack([solve_symmetric(softness, row) for row in terms.mixed + felt.mixed])
    seen = (_modes(mechanism).tips * direction[:, :, np.newaxis]).sum(axis=0)
    lost = (mix[:, np.newaxis] * seen).sum(axis=2)
    T: Components = rows - lost
    return T, mix


def feel(mechanism: Mechanism, state: State, local: Tips, legs: LegKinematics) -> Legs:
    """The legs' inertia at the tips, in the platform's axes."""
    inertia = _in_platform(state.rotation, mechanism.equations.inertia(mechanism.legs, legs))
    F = _modes(mechanism).tips
    visible = matvec(inertia[:, :, :, np.newaxis], F)
    turning = cross(local.arm[:, :, np.newaxis], visible)
    mixed = np.concatenate([visible, turning]).sum(axis=1)
    softness = np.einsum("clis,cljs->ijs", F, visible) + np.eye(F.shape[2])[..., np.newaxis]
    return Legs(inertia, visible, mixed, softness)


def bias(mechanism: Mechanism, state: State) -> tuple[Components, Components, LegKinematics]:
    """b of M ξ̇ + b = Jᵀ Γ + (f, m, φ): (6, samples) in world axes, and (modes, samples)."""
    tips, _ = place(mechanism, state)
    legs = legs_at(mechanism, tips, tips.bias)
    load = at_tip(legs, mechanism.equations.load(mechanism.legs, legs, mechanism.gravity))
    _, pushed, turned = _unforced(mechanism, state)
    felt = transposed_matvec(state.rotation, load)
    modal = turned + flexible.modal_work(_modes(mechanism).tables.tip_shapes, felt)
    return to_world(state.rotation, pushed) + rigid.gather(tips, load), modal, legs


def jacobian(mechanism: Mechanism, state: State) -> tuple[Components, Components, LegKinematics]:
    """q̇ = J ξ: rows (6, legs, samples) in world axes, and (legs, modes, samples)."""
    tips, _ = place(mechanism, state)
    legs = legs_at(mechanism, tips, tips.bias)
    direction = transposed_matvec(state.rotation, legs.w)
    modal = dot(_modes(mechanism).tables.tip_shapes, direction[:, :, np.newaxis])
    return rigid.jacobian_rows(tips, legs.w), modal, legs


def energy(mechanism: Mechanism, state: State) -> tuple[Components, Components, LegKinematics]:
    """Kinetic and potential energy, J, (samples,); the platform's ½ qᵀ K q included."""
    tips, _ = place(mechanism, state)
    legs = legs_at(mechanism, tips, tips.bias)
    modes, rotation = _modes(mechanism), state.rotation
    q, rate = state.elastic, state.elastic_velocity
    deformed = flexible.deform(modes, mechanism.platform, q, rate)
    body = deformed.body
    omega = transposed_matvec(rotation, state.angular_velocity)
    v = transposed_matvec(rotation, state.velocity)
    turning = over_modes(deformed.turning, rate)[:, np.newaxis]
    kinetic = (
        body.mass * dot(v, v) / 2
        + dot(v, cross(omega, body.first_moment) + deformed.moving_moment)
        + dot(omega, matvec(body.inertia, omega) / 2 + turning)
    )[0] + over_modes(coupled(modes.couplings.mass, rate), rate) / 2
    inertia = mechanism.equations.inertia(mechanism.legs, legs)
    kinetic = kinetic + dot(tips.velocity, matvec(inertia, tips.velocity)).sum(axis=0) / 2
    moment = body.mass * state.position + matvec(rotation, body.first_moment)
    potential = (
        mechanism.equations.potential_energy(mechanism.legs, legs, mechanism.gravity).sum(axis=0)
        - dot(mechanism.gravity, moment)[0]
        + over_modes(coupled(modes.couplings.stiffness, q), q) / 2
    )
    return kinetic, potential, legs


def mass_matrix(mechanism: Mechanism, state: State) -> tuple[Components, LegKinematics]:
    """M (6 + modes, 6 + modes, samples) of the whole robot, world axes; on numbers only.

    [A_rr, A_re; A_reᵀ, A_ee] = [M_rr + W A Wᵀ, M_re + W A Φ; …, m_ee + Φᵀ A Φ].
    """
    tips, local = place(mechanism, state)
    legs = legs_at(mechanism, tips, tips.bias)
    modes, rotation = _modes(mechanism), state.rotation
    deformed = flexible.deform(modes, mechanism.platform, state.elastic, state.elastic_velocity)
    inertia = _in_platform(rotation, mechanism.equations.inertia(mechanism.legs, legs))
    shapes = modes.tables.tip_shapes
    carried = matvec(inertia[:, :, :, np.newaxis], shapes)
    turning = cross(local.arm[:, :, np.newaxis], carried)
    upper = np.concatenate(
        [
            modes.tables.first_moments + carried.sum(axis=1),
            deformed.turning + turning.sum(axis=1),
        ]
    )
    corner = rigid.on_own_axes(deformed.body) + rigid.leg_mass_matrix(local, inertia)
    elastic = np.einsum("clks,cljs->kjs", shapes, carried) + modes.couplings.mass
    count, samples = elastic.shape[0], elastic.shape[-1]
    whole = np.empty((6 + count, 6 + count, samples))
    half = np.stack([to_world(rotation, row) for row in corner], axis=1)
    whole[:6, :6] = np.stack([to_world(rotation, row) for row in half])
    whole[:6, 6:] = np.stack(
        [to_world(rotation, column) for column in np.moveaxis(upper, 1, 0)], axis=1
    ).reshape(6, count, samples)
    whole[6:, :6] = np.swapaxes(whole[:6, 6:], 0, 1)
    whole[6:, 6:] = elastic
    return whole, legs


def _modes(mechanism: Mechanism) -> Flexible:
    assert mechanism.flexible is not None
    return mechanism.flexible


def _accelerated(
    state: State, tips: Tips, local: Tips, bending: Components | None = None
) -> Components:
    """Acceleration of the tips: v̇ + ω̇×d + c + Φ q̈ (Eq. 23), the last given in platform axes."""
    rigidly = state.acceleration + cross(state.angular_acceleration, tips.arm) + tips.bias
    if bending is None:
        return np.asarray(rigidly)
    return np.asarray(rigidly + matvec(state.rotation, bending))


def _in_platform(rotation: Components, tensor: Components) -> Components:
    """Rᵀ A R of symmetric tensors (3, 3, legs, samples)."""
    half = np.stack([transposed_matvec(rotation, column) for column in np.moveaxis(tensor, 1, 0)])
    lower = [
        [transposed_matvec(rotation, np.moveaxis(half, 1, 0)[i])[j] for j in range(i + 1)]
        for i in range(3)
    ]
    return matrix([[lower[max(i, j)][min(i, j)] for j in range(3)] for i in range(3)])


def _unforced(mechanism: Mechanism, state: State) -> tuple[Deformed, Components, Components]:
    """The deformed platform, b_r in its axes and b_e."""
    modes, rotation = _modes(mechanism), state.rotation
    q, rate = state.elastic, state.elastic_velocity
    deformed = flexible.deform(modes, mechanism.platform, q, rate)
    omega = transposed_matvec(rotation, state.angular_velocity)
    gravity = transposed_matvec(rotation, mechanism.gravity)
    pushed = flexible.momentum_bias(deformed, omega, gravity)
    return deformed, pushed, flexible.modal_bias(modes, deformed, omega, gravity, q, rate)


def platform(
    mechanism: Mechanism, state: State, wrench: Components, couples: Components
) -> tuple[Deformed, Components, Terms]:
    """The deformed platform, its modal load e = b_e − φ (friction couples included) and its terms."""
    modes, rotation = _modes(mechanism), state.rotation
    deformed, pushed, load = _unforced(mechanism, state)
    load = load - flexible.modal_force(modes, to_platform(rotation, wrench))
    load = load + flexible.modal_work(
        modes.tables.tip_rotations, transposed_matvec(rotation, couples)
    )
    return deformed, load, flexible.terms(modes, deformed, pushed, load)


def _elastic(
    mechanism: Mechanism, deformed: Deformed, load: Components, x: Components, force: Components
) -> Components:
    """q̈ = m_ee⁻¹ (Φᵀ f − e − M_reᵀ x), (modes, samples), from the legs' forces in platform axes."""
    modes = _modes(mechanism)
    driven = (
        flexible.modal_work(modes.tables.tip_shapes, force)
        - load
        - flexible.momentum_of_modes(modes, deformed, x)
    )
    return coupled(modes.couplings.per_mass, driven)


def _at_visible(mechanism: Mechanism, force: Components) -> Components:
    """Fᵀ f (visible, samples) of forces at the tips, platform axes."""
    total: Components = (_modes(mechanism).tips * force[:, :, np.newaxis]).sum(axis=(0, 1))
    return total


def _joint_mass(local: Tips, terms: Terms, felt: Legs) -> Components:
    """[M̂ + W A Wᵀ, C; Cᵀ, E]; below the diagonal is all that is read."""
    corner = terms.mass + rigid.leg_mass_matrix(local, felt.inertia)
    crossed = terms.mixed + felt.mixed
    top = [[*a, *b] for a, b in zip(corner, crossed, strict=True)]
    bottom = [[*a, *b] for a, b in zip(np.swapaxes(crossed, 0, 1), felt.softness, strict=True)]
    return matrix(top + bottom)


def _joint_scale(mechanism: Mechanism, count: int) -> Components:
    """Makes rows of the joint mass matrix comparable: visible coordinates count in √kg m."""
    mass: Any = mechanism.platform.mass
    visible = np.stack([np.sqrt(mass[0])] * (count - 6)) if count > 6 else np.zeros((0, 1))
    return np.concatenate([dynamics.scale(mechanism), visible])
