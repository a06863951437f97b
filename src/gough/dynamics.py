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

from gough.friction import (
    Consistent,
    Friction,
    JointFriction,
    Loads,
    consistent,
    joint_friction,
)
from gough.legs.body import Body
from gough.legs.leg import LegKinematics, LegLoad
from gough.linear import factor, least_norm
from gough.platforms import rigid
from gough.platforms.rigid import Tips
from gough.vectors import Components, dot, matvec


class Machine(NamedTuple):
    """A robot as the equations see it."""

    equations: ModuleType
    """The leg kind: `gough.legs.ups` or `gough.legs.pus`."""
    legs: Any
    """Its parameters."""
    points: Components
    """P_i, (3, legs, 1), platform frame."""
    platform: Body
    gravity: Components
    """(3, 1, 1)."""
    friction: Friction
    length_scale: float
    """Makes moments comparable with forces in the solves."""


class State(NamedTuple):
    """States on components: vectors (3, 1, samples), rotation (3, 3, 1, samples)."""

    position: Components
    rotation: Components
    velocity: Components
    angular_velocity: Components
    acceleration: Components
    angular_acceleration: Components


class Inverse(NamedTuple):
    """Actuator forces and all that comes with them."""

    forces: Components
    """Γ, (legs, samples), N."""
    legs: LegKinematics
    reactions: dict[str, Components]
    residual: Components
    """Of the friction loop, (samples,)."""
    health: Components
    """Reciprocal condition estimate of the solve, (samples,)."""
    system: Components
    """What was solved: J with its angular columns scaled, (legs, 6, samples)."""


class Direct(NamedTuple):
    """Platform acceleration."""

    acceleration: Components
    """(6, samples)."""
    legs: LegKinematics
    residual: Components
    health: Components
    system: Components
    """The scaled mass matrix, (6, 6, samples)."""


def moving(machine: Machine, state: State) -> tuple[Tips, LegKinematics]:
    """Tips and legs of a moving platform."""
    tips = rigid.tips(machine.points, *state[:4])
    acceleration = rigid.tip_acceleration(tips, *state[4:])
    kinematics = machine.equations.kinematics(
        machine.legs, tips.position, tips.velocity, acceleration
    )
    return tips, kinematics


def without_acceleration(state: State) -> State:
    """The same state with v̇ = ω̇ = 0."""
    zero = 0 * state.velocity
    return state._replace(acceleration=zero, angular_acceleration=zero)


def inverse(
    machine: Machine,
    state: State,
    wrench: Components | None,
    friction: bool,
    preload: Components | None,
) -> Inverse:
    """Actuator forces Γ (and reactions) for a given motion: Jᵀ Γ = demand, least ‖Γ‖.

    Khalil & Guegan 2004, Eq. 31, with external wrench and friction. `preload` (legs, samples) adds
    its part in the null space of Jᵀ.
    """
    tips, legs = moving(machine, state)
    load = machine.equations.load(machine.legs, legs, machine.gravity)
    jacobian = rigid.jacobian_rows(tips, legs.w)
    scale = _scale(machine)
    system = np.moveaxis(jacobian / scale[:, np.newaxis], 0, 1)
    factors = factor(system)
    wanted = platform_demand(machine, state) + rigid.gather(tips, load.sideways)
    if wrench is not None:
        wanted = wanted - wrench

    def drive(demand: Components) -> Components:
        return least_norm(factors, demand / scale)

    def drive_with(demand: Components, along: Components) -> Components:
        """Γ for a demand on the platform and forces along the actuators' own lines."""
        if len(legs.q) == len(demand):  # six legs: each actuator takes its own
            return drive(demand) + along
        return drive(demand + _through(jacobian, along))

    extra = 0.0 if preload is None else preload - drive(_through(jacobian, preload))

    def respond(rubbing: JointFriction | None) -> tuple[Components, dict[str, Components]]:
        right, along = wanted, 0 * legs.q
        universal = spherical = push = 0 * load.sideways
        if rubbing is not None:
            universal, spherical, along = rubbing
            push = machine.equations.couple_at_tip(machine.legs, legs, universal + spherical)
            right = right - rigid.gather(tips, push) + _couple(spherical)
        forces = drive_with(right, load.along - along) + extra
        tip_force = legs.w * (forces + along - load.along) + push - load.sideways
        return forces, machine.equations.reactions(
            machine.legs, legs, load, tip_force, universal, spherical
        )

    (forces, reactions), residual = _with_friction(machine, state, legs, friction, respond)
    return Inverse(forces, legs, reactions, residual, factors.health, system)


def direct(
    machine: Machine,
    state: State,
    forces: Components,
    wrench: Components | None,
    friction: bool,
) -> Direct:
    """Platform acceleration ξ̇ for given actuator forces.

    Khalil & Guegan 2004, Eq. 35, signs corrected: A_robot ξ̇ = Jᵀ Γ − h_robot (+ wrench, friction).
    """
    still = without_acceleration(state)
    tips, legs = moving(machine, still)
    matrix, bias = mass_matrix(machine, state), robot_bias(machine, state)
    scale = _scale(machine)
    system = matrix / scale / scale[:, np.newaxis]
    factors = factor(system)
    driven = 0.0 - bias if wrench is None else wrench - bias

    def respond(rubbing: JointFriction | None) -> tuple[Components, dict[str, Components]]:
        right, along = driven, 0 * legs.q
        universal = spherical = push = 0 * legs.direction
        if rubbing is not None:
            universal, spherical, along = rubbing
            push = machine.equations.couple_at_tip(machine.legs, legs, universal + spherical)
            right = right - _couple(spherical)
        pushed = legs.w * (forces + along) + push
        found = least_norm(factors, (right + rigid.gather(tips, pushed)) / scale) / scale
        if rubbing is None and not friction:
            return found, {}
        moved = state._replace(
            acceleration=found[:3, np.newaxis], angular_acceleration=found[3:, np.newaxis]
        )
        _, accelerated = moving(machine, moved)
        load = machine.equations.load(machine.legs, accelerated, machine.gravity)
        return found, machine.equations.reactions(
            machine.legs, accelerated, load, pushed - at_tip(legs, load), universal, spherical
        )

    (found, _), residual = _with_friction(machine, state, legs, friction, respond)
    return Direct(found, legs, residual, factors.health, system)


def _with_friction(
    machine: Machine,
    state: State,
    legs: LegKinematics,
    friction: bool,
    respond: Callable[[JointFriction | None], tuple[Components, dict[str, Components]]],
) -> tuple[tuple[Components, dict[str, Components]], Components]:
    """A model's answer with friction that agrees with its reactions, and the residual."""
    if not friction or machine.friction.none:
        return respond(None), np.zeros(legs.q.shape[-1])

    def rub(loads: Loads) -> JointFriction:
        if "guide" not in last:
            loads = loads._replace(guide=1 + 0 * loads.guide)
        return joint_friction(machine.friction, legs, state.angular_velocity, loads)

    def vectors(loads: Loads) -> Components:
        return _load_vectors(machine, respond(rub(loads))[1])

    last = respond(None)[1]
    nothing = Loads(*(0 * legs.q for _ in range(3)))
    found: Consistent = consistent(vectors, vectors(nothing), machine.friction)
    return respond(rub(found.loads)), found.residual


def _load_vectors(machine: Machine, reactions: dict[str, Components]) -> Components:
    """F_A, F_B, u·N, v·N stacked as (8, legs, samples)."""
    universal, spherical = reactions["universal"], reactions["spherical"]
    zero = 0 * universal[:1]
    guide = [zero, zero]
    if "guide" in reactions:
        guide = [
            dot(one, reactions["guide"])[np.newaxis]
            for one in machine.equations.guide_normals(machine.legs)
        ]
    return np.concatenate([universal, spherical, *guide])


def at_tip(legs: LegKinematics, load: LegLoad) -> Components:
    """A v̇ + h of the legs, (3, legs, samples)."""
    total: Components = load.sideways + load.along * legs.w
    return total


def platform_demand(machine: Machine, state: State) -> Components:
    """M ξ̇ + b of the platform alone, (6, samples)."""
    return rigid.demand(
        machine.platform,
        state.rotation,
        state.angular_velocity,
        state.acceleration,
        state.angular_acceleration,
        machine.gravity,
    )


def demand(machine: Machine, state: State) -> tuple[Components, Components]:
    """Wrenches (6, samples) that move the platform, and the legs, along a motion."""
    tips, legs = moving(machine, state)
    load: LegLoad = machine.equations.load(machine.legs, legs, machine.gravity)
    return platform_demand(machine, state), rigid.gather(tips, at_tip(legs, load))


def robot_bias(machine: Machine, state: State) -> Components:
    """b of M ξ̇ + b = Jᵀ Γ + wrench for the whole robot: what is left where ξ̇ = 0."""
    platform, legs = demand(machine, without_acceleration(state))
    total: Components = platform + legs
    return total


def mass_matrix(machine: Machine, state: State) -> Components:
    """M (6, 6, samples) of the whole robot, legs and rotors included (A_robot, Eq. 36)."""
    tips, legs = moving(machine, without_acceleration(state))
    inertia = machine.equations.inertia(machine.legs, legs)
    total: Components = rigid.mass_matrix(machine.platform, state.rotation) + rigid.leg_mass_matrix(
        tips, inertia
    )
    return total


def energy(machine: Machine, state: State) -> tuple[Components, Components]:
    """Kinetic energy ½ ξᵀ M ξ and potential energy −g·Σ (M_j o_j + MS_j), J, (samples,)."""
    twist = np.concatenate([state.velocity, state.angular_velocity])[:, 0]
    matrix = mass_matrix(machine, state)
    kinetic = sum(twist[i] * (matrix[i] * twist).sum(axis=0) for i in range(6)) / 2
    _, legs = moving(machine, without_acceleration(state))
    moment = machine.platform.mass * state.position + matvec(
        state.rotation, machine.platform.first_moment
    )
    potential = machine.equations.potential_energy(machine.legs, legs, machine.gravity).sum(axis=0)
    return kinetic, potential - dot(machine.gravity, moment)[0]


def _scale(machine: Machine) -> Components:
    """Divides (v, ω) coordinates of wrenches: (6, 1)."""
    return np.array([1.0] * 3 + [machine.length_scale] * 3)[:, np.newaxis]


def _through(jacobian: Components, forces: Components) -> Components:
    """Jᵀ Γ, (6, samples)."""
    total: Components = (jacobian * forces).sum(axis=1)
    return total


def _couple(couples: Components) -> Components:
    """Sum of couples on the platform as a wrench (6, samples)."""
    total = couples.sum(axis=1)
    return np.concatenate([0 * total, total])
