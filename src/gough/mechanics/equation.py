"""The one equation, inverse and direct, for any kind of leg and of platform.

    (M + Σ W_i A_i W_iᵀ) ξ̇ + b + Σ W_i (A_i c_i + h_i) = Σ W_i w_i Γ_i + wrench

ξ = (v, ω) of the platform and, if it is flexible, q̇e; v_i = W_iᵀ ξ is the velocity of a leg's tip and
c_i = Ẇ_iᵀ ξ. A leg pushes the platform with f = w (Γ + f_s) + t − A v̇ − h, where f_s is the friction
along q and t the friction couples felt at the tip. Of the modes the legs feel y1 only
(`gough.mechanics.platforms`), so with x = (v̇, ω̇), M̂ and b̂ of the platform's `Terms`,
E = 1 + Fᵀ A F and C = M_r1 + W A F

    [M̂ + W A Wᵀ, C; Cᵀ, E] (x, y1) = (W f0 + wrench − b̂, Fᵀ f0 − visible bias)

is all of it, of order 6 + 3 legs at most, whatever the number of modes (Long, Khalil & Martinet 2014,
Section 5, for any leg kind). Direct dynamics solves it as it stands; inverse dynamics eliminates y1 and
solves T Γ = … with T = (W − C E⁻¹ Fᵀ) w, the paper's J_sys⁻ᵀ (Eq. 48); of a rigid platform T is Jᵀ.
Arrays have the component axis first and samples last; SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gough.mechanics.friction import Loads
from gough.mechanics.leg import Leg, LegLoad, MovingLeg, Rubbing, at_tip
from gough.mechanics.platforms.platform import (
    MovingPlatform,
    Platform,
    Terms,
    gather,
    jacobian_rows,
    leg_mass_matrix,
)
from gough.mechanics.solves import (
    Roots,
    eliminate,
    factor,
    factor_symmetric,
    least_norm,
    solve_symmetric,
    substitute,
)
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, cross, dot, matrix, matvec

SOLVERS: dict[str, tuple[Callable[..., Any], Callable[..., Components]]] = {
    "qr": (factor, least_norm),
    "lu": (eliminate, substitute),
}
"""How T Γ = demand is solved: stable, or with few operations and for six legs only."""


class Mechanism(NamedTuple):
    """A robot as the equations see it."""

    legs: Leg
    points: Components
    """P_i, (3, legs, 1), platform frame."""
    platform: Platform
    gravity: Components
    """(3, 1, 1)."""
    length_scale: Any
    """Makes moments comparable with forces in the solves, m: a number, or (samples,)."""


class Inverse(NamedTuple):
    """Actuator forces and all that comes with them."""

    forces: Components
    """Γ, (legs, samples), N."""
    legs: MovingLeg
    reactions: dict[str, Components]
    """(3, legs, samples) each."""
    health: Components
    """Reciprocal condition estimate of the solve, (samples,)."""
    elastic: Components
    """q̈e, (modes, samples)."""


class Direct(NamedTuple):
    """Platform acceleration and all that comes with it."""

    acceleration: Components
    """(6, samples), world axes."""
    driving: Components
    """What drives it: the right-hand side of the equation, (6 + visible, samples)."""
    legs: MovingLeg
    reactions: dict[str, Components]
    health: Components
    elastic: Components
    """q̈e, (modes, samples)."""


class CondensedEquation(NamedTuple):
    """A (v̇, ω̇) + c = T Γ + wrench, world axes: Long, Khalil & Martinet 2014, Eqs. 46–49."""

    mass: Components
    """A, (6, 6, samples)."""
    bias: Components
    """c, (6, samples)."""
    sharing: Components
    """T = J_sys⁻ᵀ, (6, legs, samples); of a rigid platform Jᵀ."""
    legs: MovingLeg


def placed(mechanism: Mechanism, state: State) -> MovingPlatform:
    """The platform in a state."""
    return mechanism.platform.moving(mechanism.points, mechanism.gravity, state)


def legs_of(mechanism: Mechanism, platform: MovingPlatform, acceleration: Components) -> MovingLeg:
    """The legs of a placed platform whose tips accelerate so, world axes."""
    tips = platform.tips
    return mechanism.legs.moving(tips.position, tips.velocity, acceleration)


def moving(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform and legs in motion, elastic acceleration included."""
    platform = placed(mechanism, state)
    acceleration = platform.tip_acceleration(platform.elastic_at_tips())
    return platform, legs_of(mechanism, platform, acceleration)


def coasting(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform, and legs as if the tips were not accelerated: their load is h alone."""
    platform = placed(mechanism, state)
    return platform, legs_of(mechanism, platform, 0 * platform.tips.velocity)


def unforced(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform, and legs where ξ̇ = 0: their tips accelerate with c."""
    platform = placed(mechanism, state)
    return platform, legs_of(mechanism, platform, platform.tips.bias)


def inverse(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Loads | None = None,
    solver: str = "qr",
) -> Inverse:
    """Actuator forces Γ, q̈e and reactions for a given motion: T Γ = demand, least ‖Γ‖.

    Khalil & Guegan 2004, Eq. 31, and Long, Khalil & Martinet 2014, Eqs. 44 and 46–49, with an external
    wrench (6, samples), world axes. With `loads` the joints rub as they do under these loads. `preload`
    (legs, samples) adds its part in the null space of T. `solver` is one of SOLVERS.
    """
    platform = placed(mechanism, state)
    legs = legs_of(mechanism, platform, platform.tip_acceleration())
    load = legs.load(mechanism.gravity)
    rubbing = legs.rubbing(platform.tips.angular_velocity, loads)
    along = load.along - rubbing.along
    across = platform.own(rubbing.push - load.sideways)
    direction = platform.own(legs.w)
    T = jacobian_rows(platform.tips, direction)
    wanted = platform.demand(wrench, rubbing.couple) - gather(platform.tips, across)
    x = platform.own(state.twist_rate)
    flexible = platform.visible.shape[2] > 0
    if flexible:
        terms = platform.terms(wrench, rubbing.couple)
        felt = feel(platform, terms, legs)
        shift = (
            at_visible(platform, across)
            - (terms.mixed * x[:, np.newaxis]).sum(axis=0)
            - terms.visible_bias
        )
        roots, mix = felt.yielding()
        T = T - (mix[:, np.newaxis] * at_visible_each(platform, direction)).sum(axis=2)
        wanted = wanted + (mix * shift).sum(axis=1)
    factorise, solve = SOLVERS[solver]
    factors = factorise(np.moveaxis(T, 0, 1), scale(mechanism))
    if len(along) == len(wanted):  # six legs: each actuator takes what is along its own line
        forces = solve(factors, wanted) + along
    else:
        forces = solve(factors, wanted + (T * along).sum(axis=1))
    if preload is not None:
        forces = forces + preload - solve(factors, (T * preload).sum(axis=1))
    accelerated = legs
    if flexible:
        driven = shift + at_visible(platform, direction * (forces - along))
        elastic = (platform.visible * solve_symmetric(roots, driven)).sum(axis=2)
        accelerated = legs_of(mechanism, platform, platform.tip_acceleration(elastic))
        load = accelerated.load(mechanism.gravity)
    push = pushing(legs, load, rubbing, forces)
    return Inverse(
        forces,
        legs,
        accelerated.reactions(mechanism.gravity, push, rubbing),
        factors.health,
        platform.elastic_acceleration(x, platform.own(push), wrench, rubbing.couple),
    )


def direct(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Loads | None = None,
) -> Direct:
    """Accelerations (v̇, ω̇) and q̈e for given actuator forces; the state's own do not count.

    Khalil & Guegan 2004, Eqs. 35 and 37, signs corrected, with wrench, friction and modes.
    """
    platform, legs = coasting(mechanism, state)
    load = legs.load(mechanism.gravity)
    rubbing = legs.rubbing(platform.tips.angular_velocity, loads)
    terms = platform.terms(wrench, rubbing.couple)
    felt = feel(platform, terms, legs)
    still = platform.own(pushing(legs, load, rubbing, forces))
    still = still - matvec(felt.inertia, platform.own(platform.tips.bias))
    driven = np.concatenate(
        [
            gather(platform.tips, still) - terms.bias,
            at_visible(platform, still) - terms.visible_bias,
        ]
    )
    roots = factor_symmetric(felt.whole(platform, terms), joint_scale(mechanism, len(driven)))
    found = solve_symmetric(roots, driven)
    acceleration = platform.world(found[:6])
    moved = placed(mechanism, state.accelerated(acceleration))
    elastic = (platform.visible * found[6:]).sum(axis=2)
    accelerated = legs_of(mechanism, platform, moved.tip_acceleration(elastic))
    push = pushing(legs, accelerated.load(mechanism.gravity), rubbing, forces)
    return Direct(
        acceleration,
        driven,
        legs,
        accelerated.reactions(mechanism.gravity, push, rubbing),
        roots.health,
        platform.elastic_acceleration(found[:6], platform.own(push), wrench, rubbing.couple),
    )


def condensed(mechanism: Mechanism, state: State) -> CondensedEquation:
    """The rigid motion's equation with all elastic accelerations eliminated, without friction."""
    platform, legs = unforced(mechanism, state)
    held = -platform.own(at_tip(legs, legs.load(mechanism.gravity)))
    terms = platform.terms(np.zeros((6, 1)), 0 * legs.direction)
    felt = feel(platform, terms, legs)
    T = jacobian_rows(platform.tips, platform.own(legs.w))
    bias = terms.bias - gather(platform.tips, held)
    whole = terms.mass + leg_mass_matrix(platform.tips, felt.inertia)
    mass = matrix([[whole[max(i, j), min(i, j)] for j in range(6)] for i in range(6)])
    if platform.visible.shape[2]:
        shift = at_visible(platform, held) - terms.visible_bias
        _, mix = felt.yielding()
        T = T - (mix[:, np.newaxis] * at_visible_each(platform, platform.own(legs.w))).sum(axis=2)
        bias = bias + (mix * shift).sum(axis=1)
        lost = [[(row * other).sum(axis=0) for other in felt.crossed] for row in mix]
        mass = mass - matrix(lost)
    half = np.moveaxis(platform.world(mass), 0, 1)
    return CondensedEquation(platform.world(half), platform.world(bias), platform.world(T), legs)


class Felt(NamedTuple):
    """The legs as the platform feels them, on its own axes."""

    inertia: Components
    """A_i, (3, 3, legs, samples)."""
    crossed: Components
    """C = M_r1 + W A F, (6, visible, samples)."""
    softness: Components
    """E = 1 + Fᵀ A F, (visible, visible, samples); below its diagonal is all that is read."""

    def yielding(self) -> tuple[Roots, Components]:
        """E factorised, and C E⁻¹, (6, visible, samples)."""
        roots = factor_symmetric(self.softness, np.ones((len(self.softness), 1)))
        return roots, np.stack([solve_symmetric(roots, row) for row in self.crossed])

    def whole(self, platform: MovingPlatform, terms: Terms) -> Components:
        """[M̂ + W A Wᵀ, C; Cᵀ, E]; below the diagonal is all that is read."""
        corner = terms.mass + leg_mass_matrix(platform.tips, self.inertia)
        top = [[*a, *b] for a, b in zip(corner, self.crossed, strict=True)]
        below = zip(np.swapaxes(self.crossed, 0, 1), self.softness, strict=True)
        return matrix(top + [[*a, *b] for a, b in below])


def feel(platform: MovingPlatform, terms: Terms, legs: MovingLeg) -> Felt:
    """The legs' inertia at the tips, and what it couples."""
    inertia = platform.own_tensor(legs.inertia())
    F = platform.visible
    seen = matvec(inertia[:, :, :, np.newaxis], F)
    turning = cross(platform.tips.arm[:, :, np.newaxis], seen)
    crossed = terms.mixed + np.concatenate([seen, turning]).sum(axis=1)
    softness = np.einsum("clis,cljs->ijs", F, seen) + np.eye(F.shape[2])[..., np.newaxis]
    return Felt(inertia, crossed, softness)


def at_visible(platform: MovingPlatform, force: Components) -> Components:
    """Fᵀ f (visible, samples) of forces at the tips, own axes."""
    total: Components = at_visible_each(platform, force).sum(axis=0)
    return total


def at_visible_each(platform: MovingPlatform, force: Components) -> Components:
    """The same leg by leg, (legs, visible, samples)."""
    total: Components = (platform.visible * force[:, :, np.newaxis]).sum(axis=0)
    return total


def pushing(legs: MovingLeg, load: LegLoad, rubbing: Rubbing, forces: Components) -> Components:
    """f of the legs on the platform, (3, legs, samples), world axes."""
    push: Components = (
        legs.w * (forces - (load.along - rubbing.along)) + rubbing.push - load.sideways
    )
    return push


def demand(mechanism: Mechanism, state: State) -> tuple[Components, Components]:
    """Wrenches (6, samples) that move the platform, and the legs, along a motion; own axes."""
    platform, legs = moving(mechanism, state)
    load = platform.own(at_tip(legs, legs.load(mechanism.gravity)))
    nothing = np.zeros((6, 1))
    return platform.demand(nothing, 0 * legs.direction), gather(platform.tips, load)


def bias(mechanism: Mechanism, state: State) -> tuple[Components, Components, MovingLeg]:
    """b of M ξ̇ + b = Jᵀ Γ + (f, m, φ) of the robot: (6, samples), world axes, and (modes, samples)."""
    platform, legs = unforced(mechanism, state)
    load = platform.own(at_tip(legs, legs.load(mechanism.gravity)))
    pushed, modal = platform.bias()
    total = platform.world(pushed + gather(platform.tips, load))
    return total, modal + platform.modal_work(load), legs


def mass(
    mechanism: Mechanism, state: State
) -> tuple[Components, Components, Components, MovingLeg]:
    """M_rr (6, 6), M_re (6, modes) of the whole robot in world axes, and A_i (3, 3, legs) in own axes.

    M_rr + W A Wᵀ (A_robot of Khalil & Guegan 2004, Eq. 36) and M_re + W A Φ; M_ee is m_ee + Φᵀ A Φ.
    """
    platform, legs = unforced(mechanism, state)
    inertia = platform.own_tensor(legs.inertia())
    rigid, mixed = platform.mass()
    whole = rigid + leg_mass_matrix(platform.tips, inertia)
    half = np.moveaxis(platform.world(whole), 0, 1)
    return platform.world(half), platform.world(platform.carried(inertia) + mixed), inertia, legs


def energy(mechanism: Mechanism, state: State) -> tuple[Components, Components, MovingLeg]:
    """Kinetic and potential energy, J, (samples,): the platform's and Σ ½ v_i·A_i v_i, Σ U_i."""
    platform, legs = unforced(mechanism, state)
    velocity = platform.tips.velocity
    kinetic, potential = platform.energy(mechanism.gravity)
    of_legs = dot(velocity, matvec(legs.inertia(), velocity)).sum(axis=0) / 2
    held = legs.potential_energy(mechanism.gravity).sum(axis=0)
    return kinetic + of_legs, potential + held, legs


def scale(mechanism: Mechanism) -> Components:
    """Makes angular columns and rows of J and M comparable with linear ones, (6, 1 or samples)."""
    per_length = 1 / np.atleast_1d(mechanism.length_scale)
    return np.stack([np.ones(len(per_length))] * 3 + [per_length] * 3)


def joint_scale(mechanism: Mechanism, count: int) -> Components:
    """`scale` with visible coordinates behind, which count in √kg m, (count, 1 or samples)."""
    if count == 6:
        return scale(mechanism)
    size = np.sqrt(mechanism.platform.body.mass[0])
    return np.concatenate([scale(mechanism), np.stack([size] * (count - 6))])
