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

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gough.mechanics.body import Body
from gough.mechanics.modes import coupled, over_modes
from gough.mechanics.platforms import rigid
from gough.mechanics.platforms.platform import Terms, Tips, couple_wrench, jacobian_rows
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec, transposed_matvec


@dataclass(frozen=True)
class ModeTables:
    """Numbers of each mode, (..., modes, 1), platform axes."""

    mode_axes: ClassVar = 1

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


@dataclass(frozen=True)
class Couplings:
    """Numbers of each pair of modes [k, j], (..., modes, modes, 1)."""

    mode_axes: ClassVar = 2

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


@dataclass(frozen=True)
class Modes:
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


@dataclass(frozen=True)
class FlexiblePlatform:
    """A body with modes."""

    body: Body
    """Undeformed."""
    modes: Modes

    @property
    def mode_count(self) -> int:
        """Number of modes."""
        return int(self.modes.couplings.mass.shape[0])

    def shapes_alone(self) -> FlexiblePlatform:
        """The platform without its undeformed body, stiffness and damping."""
        pairs = self.modes.couplings
        pairs = replace(pairs, stiffness=0 * pairs.stiffness, damping=0 * pairs.damping)
        body = Body(*(0 * part for part in self.body))
        return FlexiblePlatform(body, replace(self.modes, couplings=pairs))

    def whole_mass(
        self, mass_matrix: Components, mixed: Components, carried: Components
    ) -> Components:
        """[M_rr, M_re; M_reᵀ, m_ee + Σ Φ_iᵀ A_i Φ_i] (n, 6 + modes, 6 + modes), samples in front.

        `carried` (n, 3, 3, legs) are the legs' inertias A_i in platform axes.
        """
        shapes, modal = self.modes.tables.tip_shapes, self.modes.couplings.mass
        shapes = np.broadcast_to(shapes, (*shapes.shape[:-1], len(carried)))
        moved = np.einsum("nabl,blkn->alkn", carried, shapes)
        elastic = np.einsum("alkn,aljn->nkj", shapes, moved) + np.moveaxis(modal, -1, 0)
        upper = np.concatenate([mass_matrix, mixed], axis=-1)
        lower = np.concatenate([np.swapaxes(mixed, -1, -2), elastic], axis=-1)
        return np.concatenate([upper, lower], axis=-2)

    def arms(self, points: Components, state: State) -> Components:
        """R (P_i + Φ_i q)."""
        deflected = points + over_modes(self.modes.tables.tip_shapes, state.elastic)
        return matvec(state.rotation, deflected)

    def moving(
        self, points: Components, gravity: Components, state: State
    ) -> MovingFlexiblePlatform:
        """The platform in a state."""
        world, arm = tips(self.modes, points, state)
        deformed = deform(self.modes, self.body, state.elastic, state.elastic_velocity)
        here = transposed_matvec(state.rotation, gravity)
        return MovingFlexiblePlatform(
            self.modes, deformed, here, state, world._replace(arm=arm), world.arm
        )


@dataclass(frozen=True)
class MovingFlexiblePlatform:
    """A flexible platform in a state; its equation is on the axes of its frame."""

    modes: Modes
    deformed: Deformed
    gravity: Components
    """On the platform's axes."""
    state: State
    tips: Tips
    world_arm: Components
    """The tips' arms in world axes, m."""

    @property
    def visible(self) -> Components:
        """F, (3, legs, visible, 1)."""
        return self.modes.tips

    def own(self, vector: Components) -> Components:
        """Rᵀ a; of wrenches both parts."""
        return to_platform(self.state.rotation, vector)

    def world(self, vector: Components) -> Components:
        """R a; of wrenches and twists both parts."""
        return to_world(self.state.rotation, vector)

    def own_tensor(self, tensor: Components) -> Components:
        """Rᵀ A R of symmetric tensors (3, 3, legs, samples)."""
        columns = [self.own(column) for column in np.swapaxes(tensor, 0, 1)]
        half = np.swapaxes(np.stack(columns), 0, 1)
        lower = [[self.own(half[i])[j] for j in range(i + 1)] for i in range(3)]
        return matrix([[lower[max(i, j)][min(i, j)] for j in range(3)] for i in range(3)])

    def elastic_at_tips(self) -> Components | None:
        """Φ_i q̈ of the state's own q̈, (3, legs, samples)."""
        return over_modes(self.modes.tables.tip_shapes, self.state.elastic_acceleration)

    def tip_acceleration(self, elastic: Components | None = None) -> Components:
        """v̇ + ω̇×d + c + Φ q̈ (Long, Khalil & Martinet 2014, Eq. 23), the last given on own axes."""
        turning = cross(self.state.angular_acceleration, self.world_arm)
        rigidly: Components = self.state.acceleration + turning + self.tips.bias
        return rigidly if elastic is None else np.asarray(rigidly + self.world(elastic))

    def demand(self, wrench: Components, couples: Components) -> Components:
        """`terms` with the state's own x: mass x + bias, (6, samples)."""
        terms, x = self.terms(wrench, couples), self.own(self.state.twist_rate)
        return np.stack([(row * x).sum(axis=0) for row in terms.mass]) + terms.bias

    def inertial(self) -> tuple[Components, Components]:
        """M_rr x + M_re q̈ + b_r (6, samples) and M_reᵀ x + m_ee q̈ + b_e (modes, samples)."""
        x, elastic = self.own(self.state.twist_rate), self.state.elastic_acceleration
        whole, mixed = self.mass()
        pushed = (whole * x).sum(axis=1) + over_modes(mixed, elastic) + self.momentum_bias()
        turned = momentum_of_modes(self.modes, self.deformed, x) + self.modal_bias()
        return pushed, turned + coupled(self.modes.couplings.mass, elastic)

    def outside(self, wrench: Components, couples: Components) -> tuple[Components, Components]:
        """The wrench less the couples, and φ less the couples' work."""
        worked = modal_work(self.modes.tables.tip_rotations, self.own(couples))
        acting = self.own(wrench - couple_wrench(couples))
        return acting, modal_force(self.modes, self.own(wrench)) - worked

    def terms(self, wrench: Components, couples: Components) -> Terms:
        """The equation with the invisible part of q̈ eliminated."""
        acting, modal = self.outside(wrench, couples)
        found = terms(self.modes, self.deformed, self.momentum_bias(), self.modal_bias() - modal)
        return found._replace(bias=found.bias - acting)

    def eliminated(self, pushed: Components, modal: Components) -> tuple[Components, Components]:
        """b_r − (M_re m⁻¹ b_e − M_r1 Zᵀ b_e) and Zᵀ b_e."""
        found = terms(self.modes, self.deformed, pushed, modal)
        return found.bias, found.visible_bias

    def springs(self) -> tuple[Components, Components]:
        """K q and D q̇, (modes, samples)."""
        pairs = self.modes.couplings
        spring = coupled(pairs.stiffness, self.state.elastic)
        return spring, coupled(pairs.damping, self.state.elastic_velocity)

    def bias(self) -> tuple[Components, Components]:
        """b_r (6, samples) and b_e (modes, samples)."""
        return self.momentum_bias(), self.modal_bias()

    def momentum_bias(self) -> Components:
        """b_r (6, samples)."""
        return momentum_bias(self.deformed, self.own(self.state.angular_velocity), self.gravity)

    def modal_bias(self) -> Components:
        """b_e (modes, samples)."""
        state, omega = self.state, self.own(self.state.angular_velocity)
        return modal_bias(
            self.modes, self.deformed, omega, self.gravity, state.elastic, state.elastic_velocity
        )

    def modal_work(self, force: Components) -> Components:
        """Σ Φ_iᵀ f_i (modes, samples)."""
        return modal_work(self.modes.tables.tip_shapes, force)

    def mass(self) -> tuple[Components, Components]:
        """M_rr and M_re = [s; B]."""
        mixed = np.concatenate(
            np.broadcast_arrays(self.modes.tables.first_moments, self.deformed.turning)
        )
        return rigid.on_own_axes(self.deformed.body), mixed

    def world_rows(self, w: Components, holders: tuple[int, ...]) -> Components:
        """Rows of q̇ = J (v, ω), world axes."""
        return jacobian_rows(self.tips._replace(arm=self.world_arm), w, holders)

    def along_modes(self, direction: Components, holders: tuple[int, ...]) -> Components:
        """Φ_iᵀ w_i (legs, modes, samples)."""
        shapes = self.modes.tables.tip_shapes[:, list(holders)]
        return dot(shapes, direction[:, :, np.newaxis])

    def carried(self, inertia: Components) -> Components:
        """Σ W_i A_i Φ_i (6, modes, samples)."""
        moved = matvec(inertia[:, :, :, np.newaxis], self.modes.tables.tip_shapes)
        turned = cross(self.tips.arm[:, :, np.newaxis], moved)
        total: Components = np.concatenate([moved, turned]).sum(axis=1)
        return total

    def elastic_acceleration(
        self, x: Components, force: Components, wrench: Components, couples: Components
    ) -> Components:
        """q̈ = m_ee⁻¹ (Φᵀ f − e − M_reᵀ x), (modes, samples)."""
        driven = (
            self.modal_work(force)
            - (self.modal_bias() - self.outside(wrench, couples)[1])
            - momentum_of_modes(self.modes, self.deformed, x)
        )
        return coupled(self.modes.couplings.per_mass, driven)

    def modal_power(self, wrench: Components) -> Components:
        """φ·q̇ of a wrench (6, samples), world axes, W."""
        return over_modes(modal_force(self.modes, self.own(wrench)), self.state.elastic_velocity)

    def damping_power(self) -> Components:
        """q̇ᵀ D q̇, W."""
        rate = self.state.elastic_velocity
        return over_modes(coupled(self.modes.couplings.damping, rate), rate)

    def energy(self, gravity: Components) -> tuple[Components, Components]:
        """Kinetic and potential energy, J, (samples,), ½ qᵀ K q included."""
        modes, state, deformed, body = self.modes, self.state, self.deformed, self.deformed.body
        q, rate = state.elastic, state.elastic_velocity
        omega, v = self.own(state.angular_velocity), self.own(state.velocity)
        turning = over_modes(deformed.turning, rate)[:, np.newaxis]
        kinetic = (
            body.mass * dot(v, v) / 2
            + dot(v, cross(omega, body.first_moment) + deformed.moving_moment)
            + dot(omega, matvec(body.inertia, omega) / 2 + turning)
        )[0] + over_modes(coupled(modes.couplings.mass, rate), rate) / 2
        moment = body.mass * state.position + self.world(body.first_moment)
        potential = over_modes(coupled(modes.couplings.stiffness, q), q) / 2
        return kinetic, potential - dot(gravity, moment)[0]


def tips(modes: Modes, points: Components, state: State) -> tuple[Tips, Components]:
    """Motion of the tips in world axes, and their arms d_i in platform axes.

    d_i = P_i + Φ_i q, v_i = v + ω×d_i + Φ_i q̇, c_i = ω×(ω×d_i) + 2 ω×Φ_i q̇ and, where friction acts,
    ω_i = ω + Φ_ri q̇: Long, Khalil & Martinet 2014, Eqs. 11–18 and 23.
    """
    tables, rotation, omega = modes.tables, state.rotation, state.angular_velocity
    arm = points + over_modes(tables.tip_shapes, state.elastic)
    deforming = matvec(rotation, over_modes(tables.tip_shapes, state.elastic_velocity))
    twisting = matvec(rotation, over_modes(tables.tip_rotations, state.elastic_velocity))
    world = rigid.tips(arm, state)
    world = world._replace(
        velocity=world.velocity + deforming,
        bias=world.bias + 2 * cross(omega, deforming),
        angular_velocity=omega + twisting,
    )
    return world, arm


def deform(modes: Modes, body: Body, elastic: Components, elastic_velocity: Components) -> Deformed:
    """Mass integrals at q and q̇; Σ m u uᵀ = J0 + Σ_k q_k (P_k + P0_kᵀ)."""
    tables, pairs = modes.tables, modes.couplings
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
    modes: Modes,
    deformed: Deformed,
    omega: Components,
    gravity: Components,
    elastic: Components,
    elastic_velocity: Components,
) -> Components:
    """b_e (modes, samples): Q_c of Eq. 34, weight, stiffness and damping.

    −(ω·ω tr P_k − ω·P_k ω) + 2 ω·Σ_j λ_kj q̇_j − s_k·g + (K q)_k + (D q̇)_k.
    """
    pairs, P = modes.couplings, deformed.spread
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    outward = dot(omega, omega) * trace - dot(omega, matvec(P, omega))
    coriolis = dot(omega, coupled(pairs.crossed, elastic_velocity))
    total: Components = (
        coupled(pairs.stiffness, elastic)
        + coupled(pairs.damping, elastic_velocity)
        + 2 * coriolis
        - outward
        - dot(modes.tables.first_moments, gravity)
    )
    return total


def modal_force(modes: Modes, wrench: Components) -> Components:
    """φ (modes, samples) of a wrench (6, samples) in platform axes at the frame's origin."""
    tables = modes.tables
    total: Components = dot(tables.origin_shapes, wrench[:3, np.newaxis]) + dot(
        tables.origin_rotations, wrench[3:, np.newaxis]
    )
    return total


def modal_work(shapes: Components, forces: Components) -> Components:
    """Σ_i Φ_iᵀ f_i (modes, samples) of forces (or couples) at the tips, platform axes."""
    total: Components = (shapes * forces[:, :, np.newaxis]).sum(axis=(0, 1))
    return total


def momentum_of_modes(modes: Modes, deformed: Deformed, x: Components) -> Components:
    """M_reᵀ x (modes, samples) for x (6, samples)."""
    total: Components = dot(modes.tables.first_moments, x[:3, np.newaxis]) + dot(
        deformed.turning, x[3:, np.newaxis]
    )
    return total


def terms(modes: Modes, deformed: Deformed, bias: Components, load: Components) -> Terms:
    """The equation with q̈'s invisible part eliminated, from b_r and the modal load b_e − φ.

    M_rr − (M_re m⁻¹ M_reᵀ − M_r1 M_r1ᵀ), M_r1 = M_re Z, b_r − (M_re m⁻¹ e − M_r1 Zᵀ e), Zᵀ e.
    """
    s, Z = modes.tables.first_moments, modes.tables.visible
    B, pairs = deformed.turning, modes.couplings
    light_B, light_load = coupled(pairs.per_mass, B), coupled(pairs.per_mass, load)
    visible_turning = over_modes(B[:, np.newaxis], Z)
    mixed = np.concatenate(
        np.broadcast_arrays(modes.visible_moments + 0 * visible_turning, visible_turning)
    )
    visible_bias = over_modes(Z, load)
    drawn = np.concatenate([over_modes(s, light_load), over_modes(B, light_load)])
    across = over_modes(s[:, np.newaxis], light_B)
    around = over_modes(B[:, np.newaxis], light_B)
    carried = modes.carried[:, :, 0] + 0 * around
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


def to_platform(rotation: Components, vector: Components) -> Components:
    """World vectors (3, n, samples) or wrenches (6, n or none, samples) in platform axes."""
    if vector.ndim == 2:
        return to_platform(rotation, vector[:, np.newaxis])[:, 0]
    return np.concatenate(
        [transposed_matvec(rotation, vector[i : i + 3]) for i in range(0, len(vector), 3)]
    )


def to_world(rotation: Components, vector: Components) -> Components:
    """The same the other way."""
    if vector.ndim == 2:
        return to_world(rotation, vector[:, np.newaxis])[:, 0]
    return np.concatenate([matvec(rotation, vector[i : i + 3]) for i in range(0, len(vector), 3)])
