"""The one equation, inverse and direct, for any kind of leg and of platform.

    (M + Σ W A Wᵀ) ξ̇ + b + Σ W (A c + h) = Σ W w Γ + Σ W n λ + N μ + wrench,   nᵀ Wᵀ ξ = 0,  Nᵀ ξ = 0

ξ = (v, ω) of the platform and, if it is flexible, q̇e; v_i = W_iᵀ ξ is the velocity of a leg's port and
c_i = Ẇ_iᵀ ξ. A leg pushes the platform with f = w (Γ + f_s) + n λ + t − A v̇ − h, where f_s is friction
along q and t are friction couples felt at the port. λ and μ hold the platform where legs, or the robot
file, do not let it move (`gough.mechanics.held`); hexapods have none. Of the modes the legs feel y1 only
(`gough.mechanics.platforms`), so with x = (v̇, ω̇), M̂ and b̂ of the platform's `Terms`,
E = 1 + Fᵀ A F and C = M_r1 + W A F

    [M̂ + W A Wᵀ, C; Cᵀ, E] (x, y1) = (W f0 + N μ + wrench − b̂, Fᵀ f0 − visible bias)

is all of it, of order 6 + 3 legs at most, whatever the number of modes (Long, Khalil & Martinet 2014,
Section 5, for any leg kind). Direct dynamics solves it as it stands; inverse dynamics eliminates y1 and
solves T Γ = … with T = (W − C E⁻¹ Fᵀ) w, the paper's J_sys⁻ᵀ (Eq. 48); of a rigid platform T is Jᵀ.
Modes do not feel μ. Arrays have the component axis first and samples last; SI units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.driving import drive, holding
from gough.mechanics.friction import Loads
from gough.mechanics.held import Held, combined
from gough.mechanics.leg import LegLoad, MovingLeg, Ports, Rubbing, at_port, per_leg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import (
    MovingPlatform,
    Terms,
    at_ports,
    gather,
    jacobian_rows,
    leg_mass_matrix,
)
from gough.mechanics.solves import Roots, factor_symmetric, solve_symmetric
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, cross, matrix, matvec, minimum, stacked, waist


class Inverse(NamedTuple):
    """Actuator forces and all that comes with them."""

    forces: Components
    """Γ, (actuators, samples), N, N m."""
    legs: MovingLeg
    held: Held | None
    reactions: dict[str, Components]
    """(3, legs, samples) each."""
    constraint: Components
    """N μ, (6, samples), world axes."""
    health: Components
    """Floor under the reciprocal condition number of the solves, (samples,)."""
    elastic: Components
    """q̈e, (modes, samples)."""
    platform: MovingPlatform


class Direct(NamedTuple):
    """Platform acceleration and all that comes with it."""

    acceleration: Components
    """(6, samples), world axes."""
    driving: Components
    """What drives it: the right-hand side of the equation, (6 + visible, samples)."""
    legs: MovingLeg
    held: Held | None
    reactions: dict[str, Components]
    health: Components
    elastic: Components
    """q̈e, (modes, samples)."""
    platform: MovingPlatform


class CondensedEquation(NamedTuple):
    """A (v̇, ω̇) + c = T Γ + wrench, world axes: Long, Khalil & Martinet 2014, Eqs. 46–49."""

    mass: Components
    """A, (6, 6, samples)."""
    bias: Components
    """c, (6, samples)."""
    sharing: Components
    """T = J_sys⁻ᵀ, (6, legs, samples); of a rigid platform Jᵀ."""
    platform: MovingPlatform
    legs: MovingLeg


def placed(mechanism: Mechanism, state: State) -> MovingPlatform:
    """The platform in a state."""
    return mechanism.platform.moving(mechanism.points, mechanism.gravity, state)


def legs_of(
    mechanism: Mechanism,
    platform: MovingPlatform,
    acceleration: Components,
    angular: Components | None = None,
) -> MovingLeg:
    """The legs of a placed platform whose ports accelerate so, world axes; ω̇ is 0 by default."""
    tips, state = platform.tips, platform.state
    turning = 0 * state.angular_velocity if angular is None else angular
    return mechanism.legs.moving(
        Ports(
            tips.position,
            tips.velocity,
            acceleration,
            state.rotation,
            tips.angular_velocity,
            turning,
            state.chains,
        )
    )


def moving(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform and legs in motion, elastic acceleration included."""
    platform = placed(mechanism, state)
    acceleration = platform.tip_acceleration(platform.elastic_at_tips())
    return platform, legs_of(mechanism, platform, acceleration, state.angular_acceleration)


def coasting(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform, and legs as if the ports were not accelerated: their load is h alone."""
    platform = placed(mechanism, state)
    return platform, legs_of(mechanism, platform, 0 * platform.tips.velocity)


def unforced(mechanism: Mechanism, state: State) -> tuple[MovingPlatform, MovingLeg]:
    """Platform, and legs where ξ̇ = 0: their ports accelerate with c."""
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
    (actuators, samples) adds its part in the null space of T. `solver` is one of `driving.SOLVERS`.
    """
    platform = placed(mechanism, state)
    legs = legs_of(mechanism, platform, platform.tip_acceleration(), state.angular_acceleration)
    holders = legs.leg.holders
    load = legs.load(mechanism.gravity)
    rubbing = legs.rubbing(platform.tips.angular_velocity, loads)
    along = load.along - rubbing.along
    across = platform.own(rubbing.push - load.sideways)
    direction = platform.own(legs.w)
    T = jacobian_rows(platform.tips, direction, holders)
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
        T = T - (mix[:, np.newaxis] * at_visible_each(platform, direction, holders)).sum(axis=2)
        wanted = wanted + (mix * shift).sum(axis=1)
    held = holding(mechanism, platform, legs)
    driving = drive(mechanism, T, held, solver)
    forces, passed = driving.forces(wanted, along)
    if preload is not None:
        inner = driving.internal(preload)
        forces, passed = forces + inner, passed + inner
    accelerated = legs
    if flexible:
        driven = shift + at_visible(platform, direction * passed, holders)
        elastic = (platform.visible * solve_symmetric(roots, driven)).sum(axis=2)
        accelerated = legs_of(mechanism, platform, platform.tip_acceleration(elastic))
        load = accelerated.load(mechanism.gravity)
        passed = forces - (load.along - rubbing.along)
    push = pushing(legs, load, rubbing, passed)
    rest = wanted - combined(T, forces - along)
    push, constraint = with_held(mechanism, platform, held, push, rest)
    return Inverse(
        forces,
        legs,
        held,
        accelerated.reactions(mechanism.gravity, push, rubbing),
        constraint,
        driving.health,
        platform.elastic_acceleration(x, platform.own(push), wrench, rubbing.couple),
        platform,
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
    pushed = pushing(legs, load, rubbing, forces - (load.along - rubbing.along))
    still = platform.own(pushed) - at_ports(felt.inertia, platform.own(platform.tips.bias))
    driven = np.concatenate(
        [
            gather(platform.tips, still) - terms.bias,
            at_visible(platform, still) - terms.visible_bias,
        ]
    )
    held = holding(mechanism, platform, legs)
    whole, scale = felt.whole(platform, terms), mechanism.joint_scale(len(driven))
    if held is None:
        roots = factor_symmetric(whole)
        found, health = solve_symmetric(roots, driven), roots.floor
        rest = np.zeros((6, 1))
    else:
        found, health = constrained(held, whole, driven, scale)
        rest = (mirrored(whole)[:6] * found).sum(axis=1) - driven[:6]
    acceleration = waist(platform.world(found[:6]))
    moved = placed(mechanism, state.accelerated(acceleration))
    elastic = (platform.visible * found[6:]).sum(axis=2)
    speeding, turning = waist(moved.tip_acceleration(elastic)), moved.state.angular_acceleration
    accelerated = legs_of(mechanism, platform, speeding, turning)
    push = pushed - at_moving_ports(legs.inertia(), speeding, turning)
    push, _ = with_held(mechanism, platform, held, push, rest)
    return Direct(
        acceleration,
        driven,
        legs,
        held,
        accelerated.reactions(mechanism.gravity, push, rubbing),
        health,
        platform.elastic_acceleration(found[:6], platform.own(push), wrench, rubbing.couple),
        platform,
    )


def constrained(
    held: Held, mass: Components, driven: Components, scale: Components
) -> tuple[Components, Components]:
    """The x of M x = driven + (C (λ, μ), 0) with Cᵀ x = second, and the health of the solve.

    Scaled and reflected, x = x_s + H (0, a) with the least x_s that the held directions ask for, and
    (Hᵀ M H)_ff a = (Hᵀ (driven − M x_s))_f. `mass` and `driven` may have visible coordinates behind.
    """
    whole = mirrored(mass) * scale * scale[:, np.newaxis]
    extra = [0 * driven[0]] * (len(driven) - 6)
    start = stacked(*held.least(held.second), *extra)
    left = driven * scale - (whole * start).sum(axis=1)

    def free(vector: Components) -> Components:
        return stacked(*held.free(vector[:6]), *vector[6:])

    half = np.stack([free(row) for row in whole], axis=1)  # Hᵀ M
    reduced = np.stack([free(row) for row in half])
    roots = factor_symmetric(reduced)
    loose = solve_symmetric(roots, free(left))
    count = 6 - held.rank
    found = start + stacked(*held.whole(loose[:count]), *loose[count:])
    return found * scale, minimum(roots.floor, held.health)


def mirrored(lower: Components) -> Components:
    """A symmetric matrix (n, n, samples) of which below the diagonal is all that was made."""
    count = len(lower)
    return matrix([[lower[max(i, j), min(i, j)] for j in range(count)] for i in range(count)])


def with_held(
    mechanism: Mechanism,
    platform: MovingPlatform,
    held: Held | None,
    push: Components,
    rest: Components,
) -> tuple[Components, Components]:
    """f of the legs with n λ, (3 or 6, legs, samples), and N μ (6, samples), world axes.

    `push` is f without, `rest` (6, samples) is what held directions carry, own axes.
    """
    if held is None:
        return push, np.zeros((6, 1))
    scale, count = mechanism.scale(), held.n.shape[1]
    others = len(held.holders) - count
    nothing = [0 * rest[0]] * others
    already = nothing
    if count:
        weighed = np.concatenate([held.n[:3], held.n[3:] * (scale[3] * scale[3])])
        along = (weighed * push[:, list(held.holders[:count])]).sum(axis=0)
        already = [*along, *nothing]
    shares = held.shares(rest * scale, stacked(*already))
    if count:
        push = push + per_leg(held.n * shares[:count], held.holders[:count], push)
    wrench = (held.columns[:, count:] * shares[count:]).sum(axis=1) / scale
    return push, platform.world(wrench) if others else np.zeros((6, 1))


def condensed(mechanism: Mechanism, state: State) -> CondensedEquation:
    """The rigid motion's equation with all elastic accelerations eliminated, without friction."""
    platform, legs = unforced(mechanism, state)
    held = -platform.own(at_port(legs, legs.load(mechanism.gravity)))
    terms = platform.terms(np.zeros((6, 1)), 0 * legs.direction)
    felt = feel(platform, terms, legs)
    holders = legs.leg.holders
    T = jacobian_rows(platform.tips, platform.own(legs.w), holders)
    bias = terms.bias - gather(platform.tips, held)
    whole = terms.mass + leg_mass_matrix(platform.tips, felt.inertia)
    mass = mirrored(whole)
    if platform.visible.shape[2]:
        shift = at_visible(platform, held) - terms.visible_bias
        _, mix = felt.yielding()
        seen = at_visible_each(platform, platform.own(legs.w), holders)
        T = T - (mix[:, np.newaxis] * seen).sum(axis=2)
        bias = bias + (mix * shift).sum(axis=1)
        lost = [[(row * other).sum(axis=0) for other in felt.crossed] for row in mix]
        mass = mass - matrix(lost)
    half = np.swapaxes(platform.world(mass), 0, 1)
    return CondensedEquation(
        platform.world(half), platform.world(bias), platform.world(T), platform, legs
    )


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
        roots = factor_symmetric(self.softness)
        return roots, np.stack([solve_symmetric(roots, row) for row in self.crossed])

    def whole(self, platform: MovingPlatform, terms: Terms) -> Components:
        """[M̂ + W A Wᵀ, C; Cᵀ, E]; below the diagonal is all that is read."""
        corner = terms.mass + leg_mass_matrix(platform.tips, self.inertia)
        top = [[*a, *b] for a, b in zip(corner, self.crossed, strict=True)]
        below = zip(np.swapaxes(self.crossed, 0, 1), self.softness, strict=True)
        return matrix(top + [[*a, *b] for a, b in below])


def feel(platform: MovingPlatform, terms: Terms, legs: MovingLeg) -> Felt:
    """The legs' inertia at the ports, and what it couples."""
    inertia = platform.own_tensor(legs.inertia())
    F = platform.visible
    seen = matvec(inertia[:3, :3, :, np.newaxis], F)
    turning = cross(platform.tips.arm[:, :, np.newaxis], seen)
    crossed = terms.mixed + np.concatenate([seen, turning]).sum(axis=1)
    softness = np.einsum("clis,cljs->ijs", F, seen) + np.eye(F.shape[2])[..., np.newaxis]
    return Felt(inertia, crossed, softness)


def at_visible(
    platform: MovingPlatform, force: Components, holders: tuple[int, ...] | None = None
) -> Components:
    """Fᵀ f (visible, samples) of forces at the ports, own axes."""
    total: Components = at_visible_each(platform, force, holders).sum(axis=0)
    return total


def at_visible_each(
    platform: MovingPlatform, force: Components, holders: tuple[int, ...] | None = None
) -> Components:
    """The same force by force, (forces, visible, samples); by default one per leg."""
    visible = platform.visible
    if holders is not None and holders != tuple(range(visible.shape[1])):
        visible = visible[:, list(holders)]
    total: Components = (visible * force[:3, :, np.newaxis]).sum(axis=0)
    return total


def pushing(legs: MovingLeg, load: LegLoad, rubbing: Rubbing, passed: Components) -> Components:
    """f of the legs on the platform but for n λ, (3 or 6, legs, samples), world axes.

    `passed` (actuators, samples) is what of Γ goes through them: Γ less what moves and rubs along its
    own line.
    """
    along = per_leg(legs.w * passed, legs.leg.holders, load.sideways)
    push: Components = along + rubbing.push - load.sideways
    return push


def at_moving_ports(inertia: Components, linear: Components, angular: Components) -> Components:
    """A v (3 or 6, legs, samples) of the legs' inertia at ports that move, or speed up, so."""
    if len(inertia) == 3:
        return at_ports(inertia, linear)
    turning = np.broadcast_arrays(angular, linear)[0]
    return at_ports(inertia, np.concatenate([linear, turning]))


def demand(mechanism: Mechanism, state: State) -> tuple[Components, Components]:
    """Wrenches (6, samples) that move the platform, and the legs, along a motion; own axes."""
    platform, legs = moving(mechanism, state)
    load = platform.own(at_port(legs, legs.load(mechanism.gravity)))
    nothing = np.zeros((6, 1))
    return platform.demand(nothing, 0 * legs.direction), gather(platform.tips, load)


def bias(
    mechanism: Mechanism, state: State
) -> tuple[Components, Components, MovingPlatform, MovingLeg]:
    """b of M ξ̇ + b = Jᵀ Γ + (f, m, φ) of the robot: (6, samples), world axes, and (modes, samples)."""
    platform, legs = unforced(mechanism, state)
    load = platform.own(at_port(legs, legs.load(mechanism.gravity)))
    pushed, modal = platform.bias()
    total = platform.world(pushed + gather(platform.tips, load))
    return total, modal + platform.modal_work(load), platform, legs


def mass(
    mechanism: Mechanism, state: State
) -> tuple[Components, Components, Components, MovingPlatform, MovingLeg]:
    """M_rr (6, 6), M_re (6, modes) of the whole robot in world axes, and A_i (3, 3, legs) in own axes.

    M_rr + W A Wᵀ (A_robot of Khalil & Guegan 2004, Eq. 36) and M_re + W A Φ; M_ee is m_ee + Φᵀ A Φ.
    """
    platform, legs = unforced(mechanism, state)
    inertia = platform.own_tensor(legs.inertia())
    rigid, mixed = platform.mass()
    whole = rigid + leg_mass_matrix(platform.tips, inertia)
    half = np.swapaxes(platform.world(whole), 0, 1)
    carried = platform.world(platform.carried(inertia) + mixed)
    return platform.world(half), carried, inertia, platform, legs


def energy(
    mechanism: Mechanism, state: State
) -> tuple[Components, Components, MovingPlatform, MovingLeg]:
    """Kinetic and potential energy, J, (samples,): the platform's and Σ ½ v_i·A_i v_i, Σ U_i."""
    platform, legs = unforced(mechanism, state)
    tips, inertia = platform.tips, legs.inertia()
    moved = at_moving_ports(inertia, tips.velocity, tips.angular_velocity)
    kinetic, potential = platform.energy(mechanism.gravity)
    of_legs = (tips.velocity * moved[:3]).sum(axis=0).sum(axis=0) / 2
    if len(inertia) == 6:
        of_legs = of_legs + (tips.angular_velocity * moved[3:]).sum(axis=0).sum(axis=0) / 2
    held = legs.potential_energy(mechanism.gravity).sum(axis=0)
    return kinetic + of_legs, potential + held, platform, legs
