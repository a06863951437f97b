"""The one equation, inverse and direct.

    (M + Σ W_i A_i W_iᵀ) ξ̇ + b + Σ W_i (A_i c_i + h_i) = Σ W_i w_i Γ_i + wrench

ξ = (v, ω) of the platform, v_i = W_iᵀ ξ the velocity of a leg's tip, c_i = Ẇ_iᵀ ξ. A leg pushes the
platform with f = w (Γ + f_s) + t − A v̇ − h, where f_s is the friction along q and t the friction couples
felt at the tip. Arrays have the component axis first and samples last; world axes, SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gough.legs.link import LegKinematics, LegLoad
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction, JointFriction, Loads, joint_friction
from gough.mechanics.platforms import rigid
from gough.mechanics.platforms.flexible import Flexible
from gough.mechanics.platforms.rigid import Tips
from gough.mechanics.solves import (
    eliminate,
    factor,
    factor_symmetric,
    least_norm,
    solve_symmetric,
    substitute,
)
from gough.mechanics.state import ELASTIC_FIELDS as ELASTIC_FIELDS
from gough.mechanics.state import NO_MODES as NO_MODES
from gough.mechanics.state import RIGID_FIELDS as RIGID_FIELDS
from gough.mechanics.state import State as State
from gough.mechanics.vectors import Components, dot, matvec

SOLVERS: dict[str, tuple[Callable[..., Any], Callable[..., Components]]] = {
    "qr": (factor, least_norm),
    "lu": (eliminate, substitute),
}
"""How Jᵀ Γ = demand is solved: stable, or with few operations and for six legs only."""


class Mechanism(NamedTuple):
    """A robot as the equations see it."""

    equations: ModuleType
    """The leg kind: `gough.legs.ups.equations` or `gough.legs.pus.equations`."""
    legs: Any
    """Its parameters."""
    points: Components
    """P_i, (3, legs, 1), platform frame."""
    platform: Body
    gravity: Components
    """(3, 1, 1)."""
    friction: Friction
    length_scale: Any
    """Makes moments comparable with forces in the solves, m: a number, or (samples,)."""
    flexible: Flexible | None = None
    """What its modes add to a platform that bends."""


class Inverse(NamedTuple):
    """Actuator forces and all that comes with them."""

    forces: Components
    """Γ, (legs, samples), N."""
    legs: LegKinematics
    reactions: dict[str, Components]
    """(3, legs, samples) each."""
    health: Components
    """Reciprocal condition estimate of the solve, (samples,)."""
    elastic: Components | None = None
    """q̈e of a flexible platform, (modes, samples)."""


class Direct(NamedTuple):
    """Platform acceleration and all that comes with it."""

    acceleration: Components
    """(6, samples)."""
    driving: Components
    """The wrench that drives it: M ξ̇ = driving, (6, samples)."""
    legs: LegKinematics
    reactions: dict[str, Components]
    health: Components
    elastic: Components | None = None
    """q̈e of a flexible platform, (modes, samples)."""


def moving(mechanism: Mechanism, state: State) -> tuple[Tips, LegKinematics]:
    """Tips and legs of a moving platform."""
    tips = rigid.tips(mechanism.points, *state[:4])
    acceleration = rigid.tip_acceleration(tips, *state[4:6])
    kinematics = mechanism.equations.kinematics(
        mechanism.legs, tips.position, tips.velocity, acceleration
    )
    return tips, kinematics


def coasting(mechanism: Mechanism, state: State) -> tuple[Tips, LegKinematics]:
    """Tips, and legs as if the tips were not accelerated: their load is h alone."""
    tips = rigid.tips(mechanism.points, *state[:4])
    kinematics = mechanism.equations.kinematics(
        mechanism.legs, tips.position, tips.velocity, 0 * tips.velocity
    )
    return tips, kinematics


def without_acceleration(state: State) -> State:
    """The same state with v̇ = ω̇ = 0."""
    zero = 0 * state.velocity
    return state._replace(acceleration=zero, angular_acceleration=zero)


def inverse(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Loads | None = None,
    solver: str = "qr",
) -> Inverse:
    """Actuator forces Γ (and reactions) for a given motion: Jᵀ Γ = demand, least ‖Γ‖.

    Khalil & Guegan 2004, Eq. 31, with an external wrench (6, samples). With `loads` the joints rub as
    they do under these loads. `preload` (legs, samples) adds its part in the null space of Jᵀ.
    `solver` is one of SOLVERS.
    """
    tips, legs = moving(mechanism, state)
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    jacobian = rigid.jacobian_rows(tips, legs.w)
    factorise, solve = SOLVERS[solver]
    factors = factorise(np.moveaxis(jacobian, 0, 1), scale(mechanism))
    wanted = platform_demand(mechanism, state) + rigid.gather(tips, load.sideways) - wrench
    rubbing = rubbing_under(mechanism, tips.angular_velocity, legs, loads)
    push = mechanism.equations.couple_at_tip(
        mechanism.legs, legs, rubbing.universal + rubbing.spherical
    )
    wanted = wanted - rigid.gather(tips, push) + couple_wrench(rubbing.spherical)
    along = load.along - rubbing.slider
    if len(along) == len(wanted):  # six legs: each actuator takes what is along its own line
        forces = solve(factors, wanted) + along
    else:
        forces = solve(factors, wanted + _through(jacobian, along))
    if preload is not None:
        forces = forces + preload - solve(factors, _through(jacobian, preload))
    tip_force = legs.w * (forces - along) + push - load.sideways
    reactions = mechanism.equations.reactions(
        mechanism.legs, legs, load, tip_force, rubbing.universal, rubbing.spherical
    )
    return Inverse(forces, legs, reactions, factors.health)


def direct(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Loads | None = None,
) -> Direct:
    """Platform acceleration ξ̇ for given actuator forces; the state's own accelerations do not count.

    Khalil & Guegan 2004, Eq. 35, signs corrected: A_robot ξ̇ = Jᵀ Γ − h_robot (+ wrench, friction), with
    h_robot = b + Σ W_i (A_i c_i + h_i) as in Eq. 37.
    """
    tips, legs = coasting(mechanism, state)
    inertia = mechanism.equations.inertia(mechanism.legs, legs)
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    rubbing = rubbing_under(mechanism, tips.angular_velocity, legs, loads)
    push = mechanism.equations.couple_at_tip(
        mechanism.legs, legs, rubbing.universal + rubbing.spherical
    )
    driving = forces + rubbing.slider
    tip_force = legs.w * (driving - load.along) + push - load.sideways - matvec(inertia, tips.bias)
    bias = rigid.bias(mechanism.platform, state.rotation, state.angular_velocity, mechanism.gravity)
    roots = factor_symmetric(_whole_mass(mechanism, state, tips, inertia), scale(mechanism))
    driven = wrench - bias - couple_wrench(rubbing.spherical) + rigid.gather(tips, tip_force)
    found = solve_symmetric(roots, driven)
    moved = state._replace(
        acceleration=found[:3, np.newaxis], angular_acceleration=found[3:, np.newaxis]
    )
    _, accelerated = moving(mechanism, moved)
    load = mechanism.equations.load(mechanism.legs, accelerated, mechanism.gravity)
    tip_force = legs.w * driving + push - at_tip(legs, load)
    reactions = mechanism.equations.reactions(
        mechanism.legs, accelerated, load, tip_force, rubbing.universal, rubbing.spherical
    )
    return Direct(found, driven, legs, reactions, roots.health)


def rubbing_under(
    mechanism: Mechanism, angular_velocity: Components, legs: LegKinematics, loads: Loads | None
) -> JointFriction:
    """Friction under given loads on a platform that turns so at the tips; none without loads."""
    if loads is None:
        nothing = 0 * legs.direction
        return JointFriction(nothing, nothing, 0 * legs.q)
    if not hasattr(mechanism.equations, "guide_normals"):
        loads = loads._replace(guide=1 + 0 * loads.guide)
    return joint_friction(mechanism.friction, legs, angular_velocity, loads)


def load_vectors(mechanism: Mechanism, reactions: dict[str, Components]) -> Components:
    """F_A, F_B, u·N, v·N stacked as (8, legs, samples)."""
    universal, spherical = reactions["universal"], reactions["spherical"]
    zero = 0 * universal[:1]
    guide = [zero, zero]
    if "guide" in reactions:
        guide = [
            dot(one, reactions["guide"])[np.newaxis]
            for one in mechanism.equations.guide_normals(mechanism.legs)
        ]
    return np.concatenate([universal, spherical, *guide])


def at_tip(legs: LegKinematics, load: LegLoad) -> Components:
    """A v̇ + h of the legs, (3, legs, samples)."""
    total: Components = load.sideways + load.along * legs.w
    return total


def platform_demand(mechanism: Mechanism, state: State) -> Components:
    """M ξ̇ + b of the platform alone, (6, samples)."""
    return rigid.demand(
        mechanism.platform,
        state.rotation,
        state.angular_velocity,
        state.acceleration,
        state.angular_acceleration,
        mechanism.gravity,
    )


def demand(mechanism: Mechanism, state: State) -> tuple[Components, Components]:
    """Wrenches (6, samples) that move the platform, and the legs, along a motion."""
    tips, legs = moving(mechanism, state)
    load: LegLoad = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    return platform_demand(mechanism, state), rigid.gather(tips, at_tip(legs, load))


def robot_bias(mechanism: Mechanism, state: State) -> Components:
    """b of M ξ̇ + b = Jᵀ Γ + wrench for the whole robot: what is left where ξ̇ = 0."""
    platform, legs = demand(mechanism, without_acceleration(state))
    total: Components = platform + legs
    return total


def mass_matrix(mechanism: Mechanism, state: State) -> Components:
    """M (6, 6, samples) of the whole robot, legs and rotors included (A_robot, Eq. 36)."""
    tips, legs = coasting(mechanism, state)
    return _whole_mass(mechanism, state, tips, mechanism.equations.inertia(mechanism.legs, legs))


def _whole_mass(mechanism: Mechanism, state: State, tips: Tips, inertia: Components) -> Components:
    """M of the platform and Σ W_i A_i W_iᵀ of the legs."""
    platform = rigid.mass_matrix(mechanism.platform, state.rotation)
    total: Components = platform + rigid.leg_mass_matrix(tips, inertia)
    return total


def energy(mechanism: Mechanism, state: State) -> tuple[Components, Components]:
    """Kinetic energy ½ ξᵀ M ξ and potential energy −g·Σ (M_j o_j + MS_j), J, (samples,)."""
    twist = np.concatenate(np.broadcast_arrays(state.velocity, state.angular_velocity))[:, 0]
    matrix = mass_matrix(mechanism, state)
    kinetic = sum(twist[i] * (matrix[i] * twist).sum(axis=0) for i in range(6)) / 2
    _, legs = moving(mechanism, without_acceleration(state))
    moment = mechanism.platform.mass * state.position + matvec(
        state.rotation, mechanism.platform.first_moment
    )
    potential = mechanism.equations.potential_energy(mechanism.legs, legs, mechanism.gravity).sum(
        axis=0
    )
    return kinetic, potential - dot(mechanism.gravity, moment)[0]


def scale(mechanism: Mechanism) -> Components:
    """Makes angular columns and rows of J and M comparable with linear ones, (6, 1 or samples)."""
    per_length = 1 / np.atleast_1d(mechanism.length_scale)
    return np.stack([np.ones(len(per_length))] * 3 + [per_length] * 3)


def _through(jacobian: Components, forces: Components) -> Components:
    """Jᵀ Γ, (6, samples)."""
    total: Components = (jacobian * forces).sum(axis=1)
    return total


def couple_wrench(couples: Components) -> Components:
    """Sum of couples on the platform as a wrench (6, samples)."""
    total = couples.sum(axis=1)
    return np.concatenate([0 * total, total])
