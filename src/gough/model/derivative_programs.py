"""Derivatives of the equation of motion, as functions of symbols from which the engine makes programs.

Conventions and equations are those of `gough.model.derivatives`; samples are on the last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gough.engine.functions import symbolic
from gough.engine.graph import Graph, Symbol
from gough.engine.passes.derivative import gradients, substitute, tangents
from gough.mechanics import equation, programs
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.held import combined
from gough.mechanics.leg import Holding, MovingLeg, per_leg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import MovingPlatform, gather
from gough.mechanics.programs import Outputs
from gough.mechanics.solves import factor, factor_symmetric, least_norm, solve_symmetric
from gough.mechanics.state import ELASTIC_FIELDS, State
from gough.mechanics.vectors import Components, cross, norm

COORDINATES = {
    "pose": ("position", "rotation"),
    "twist": ("velocity", "angular_velocity"),
    "acceleration": ("acceleration", "angular_acceleration"),
}
Seeds = dict[int, Symbol]
NOTHING = np.zeros((0, 1))


def graph_of(state: State) -> Graph:
    """The graph that a state of symbols belongs to."""
    graph: Graph = state.position.flat[0].graph
    return graph


def _seeds(state: State, changes: Mapping[str, Components]) -> Seeds:
    """Changes of the state's symbols from changes (6, 1) of pose, twist, acceleration."""
    seeds: Seeds = {}
    for name, change in changes.items():
        linear, angular = (getattr(state, field) for field in COORDINATES[name])
        turned = cross(change[3:], angular) if name == "pose" else change[3:]
        seeds |= _paired(linear, change[:3]) | _paired(angular, turned)
    return seeds


def _paired(inputs: Components, changes: Components) -> Seeds:
    return {one.number: change for one, change in zip(inputs.flat, changes.flat, strict=True)}


def _weighted(
    state: State, outputs: Components, weights: Components, **others: Components
) -> Outputs:
    """Σ weight ∂output by pose, twist, acceleration, (6, 1) each, by elastic fields, by other inputs.

    By θ it is Σ r × ∂/∂r over the columns r of R, since (e_k × r)·g = e_k·(r × g).
    """
    inputs = {**state._asdict(), **others}
    flat = np.concatenate([np.ravel(value) for value in inputs.values()])
    parts = np.split(
        gradients(outputs, weights, flat), np.cumsum([value.size for value in inputs.values()])
    )
    by = {
        name: part.reshape(value.shape)
        for (name, value), part in zip(inputs.items(), parts, strict=False)
    }
    by["rotation"] = cross(state.rotation, by["rotation"]).sum(axis=1)
    found = {
        name: np.concatenate([by[linear], by[angular]])[:, 0]
        for name, (linear, angular) in COORDINATES.items()
    }
    elastic_fields = ELASTIC_FIELDS if state.elastic.size else ()
    return found | {name: by[name] for name in (*elastic_fields, *others)}


def imbalance(mechanism: Mechanism, state: State, forces: Components) -> Components:
    """E (6, samples) without wrench and friction, of a platform that nothing holds."""
    platform, legs = equation.moving(mechanism, state)
    moved, carried = equation.demand(mechanism, state)
    rows = platform.world_rows(legs.w, legs.leg.holders)
    return moved + carried - combined(rows, forces)


class Sharing(NamedTuple):
    """How actuators share a wrench: Γ = (Jᵀ)⁺ wrench = J λ, of least ‖Γ‖."""

    jacobian: Components
    """Jᵀ, (6, actuators, 1)."""
    inverse: Components
    """(Jᵀ)⁺, (actuators, 6, 1)."""

    @classmethod
    def of(cls, mechanism: Mechanism, state: State) -> Sharing:
        """Of a robot in a state."""
        platform, legs = equation.moving(mechanism, state)
        jacobian = platform.world_rows(legs.w, legs.leg.holders)
        factors = factor(np.moveaxis(jacobian, 0, 1))
        units = graph_of(state).constants(np.eye(6)[..., np.newaxis])
        return cls(jacobian, np.stack([least_norm(factors, unit) for unit in units], axis=1))

    def forces(self, wrench: Components) -> Components:
        """(Jᵀ)⁺ wrench, (actuators, 1)."""
        total: Components = (self.inverse * wrench).sum(axis=1)
        return total

    def transposed(self, weights: Components) -> Components:
        """J⁺ weights, (6, 1)."""
        total: Components = (self.inverse * weights[:, np.newaxis]).sum(axis=0)
        return total

    def shift(self, forces: Components, differentiate: Callable[[Components], Any]) -> Any:
        """A derivative of J λ at fixed λ = J⁺ Γ."""
        multipliers = self.transposed(forces)
        held = forces[0, 0].graph.inputs("multipliers", multipliers.shape)
        rates = (self.jacobian * held[:, np.newaxis]).sum(axis=0)
        return substitute(differentiate(rates), held, multipliers)


@symbolic
def inverse_forward(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench_change: Components,
    **changes: Any,
) -> Outputs:
    """dΓ (actuators,) = dJ λ + (Jᵀ)⁺ (dE − Jᵀ dJ λ) for changes of pose, twist, acceleration, wrench.

    With six actuators it is J⁻ᵀ dE.
    """
    seeds = _seeds(state, {name: changes[f"{name}_change"] for name in COORDINATES})
    change = tangents(imbalance(mechanism, state, forces), seeds) - wrench_change
    sharing = Sharing.of(mechanism, state)
    if len(forces) == 6:
        return {"change": sharing.forces(change)}
    shift = sharing.shift(forces, lambda rates: tangents(rates, seeds))
    return {"change": shift + sharing.forces(change - (sharing.jacobian * shift).sum(axis=1))}


@symbolic
def inverse_reverse(
    mechanism: Mechanism, state: State, forces: Components, weights: Components
) -> Outputs:
    """Σ weight dΓ by pose, twist, acceleration and wrench, (6,) each: `inverse_forward` transposed."""
    sharing = Sharing.of(mechanism, state)
    shared = sharing.transposed(weights)
    found = _weighted(state, imbalance(mechanism, state, forces), shared)
    if len(forces) > 6:
        rest = weights - (sharing.jacobian * shared[:, np.newaxis]).sum(axis=0)
        shift = sharing.shift(forces, lambda rates: _weighted(state, rates, rest)["pose"])
        found["pose"] = found["pose"] + shift
    return found | {"wrench": -shared}


@symbolic
def direct_forward(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    pose_change: Components,
    twist_change: Components,
    forces_change: Components,
    wrench_change: Components,
) -> Outputs:
    """dξ̇ (6,) = −M⁻¹ dE for changes of pose, twist, forces and wrench; the state's acceleration is ξ̇."""
    seeds = _seeds(state, {"pose": pose_change, "twist": twist_change})
    seeds |= _paired(forces, forces_change)
    change = tangents(imbalance(mechanism, state, forces), seeds) - wrench_change
    return {"change": _accelerated(mechanism, state, -change)}


@symbolic
def direct_reverse(
    mechanism: Mechanism, state: State, forces: Components, weights: Components
) -> Outputs:
    """Σ weight dξ̇ by pose, twist, forces and wrench: `direct_forward` transposed."""
    shared = _accelerated(mechanism, state, weights)
    found = _weighted(state, imbalance(mechanism, state, forces), -shared, forces=forces)
    del found["acceleration"]
    return found | {"wrench": shared}


def _accelerated(mechanism: Mechanism, state: State, wrench: Components) -> Components:
    """M⁻¹ times a wrench."""
    matrix = equation.mass(mechanism, state)[0]
    return solve_symmetric(factor_symmetric(matrix), wrench)


class Grasp(NamedTuple):
    """What legs and mobility hold of a platform: C of Cᵀ ξ = 0, and how far a motion is off."""

    legs: Holding | None
    columns: Components
    """C, (6, k, samples): wrenches at the origin of unit forces λ, μ; world axes, not scaled."""
    rates: Components
    """Cᵀ ξ, (k, samples): 0 along allowed motions."""
    rate_changes: Components
    """d/dt of it, (k, samples), for the state's own accelerations."""


def grasp(mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg) -> Grasp:
    """What is held of a placed platform, columns of the legs first."""
    state, found = platform.state, legs.holding()
    columns, biases = [], []
    if found is not None:
        columns.append(platform.world_rows(found.n, found.holders))
        bias = platform.tips.bias[:, list(found.holders)]
        biases.append((found.n[:3] * bias).sum(axis=0) - found.second)
    if mechanism.mobility is not None:
        like = 0 * state.twist[0]
        columns.append(mechanism.mobility.directions + like)
        biases.append(0 * columns[-1][0])
    whole = np.concatenate(columns, axis=1)
    rates, changes = (
        (whole * vector[:, np.newaxis]).sum(axis=0) for vector in (state.twist, state.twist_rate)
    )
    return Grasp(found, whole, rates, changes + np.concatenate(biases))


def grasped(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None = None,
) -> Outputs:
    """C (6, k), and what λ and μ carry: M ξ̇ + b − Jᵀ Γ − wrench = C (λ, μ), (6,)."""
    platform, legs = equation.moving(mechanism, state)
    left = balance(mechanism, state, forces, wrench, loads).wrench
    return {"columns": grasp(mechanism, platform, legs).columns, "carried": left}


class Balance(NamedTuple):
    """What is left of a robot's equations: all 0 in a solution."""

    wrench: Components
    """(6, samples) of the equation of motion, world axes."""
    modal: Components
    """(modes, samples) of it."""
    loads: Components
    """s − |V|, (3 legs, samples), of the loads that friction feels; none without friction."""
    rates: Components
    """(k, samples) of Cᵀ ξ = 0; none where nothing holds the platform."""
    rate_changes: Components
    """(k, samples) of its time derivative."""


def balance(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None = None,
    held: Components | None = None,
) -> Balance:
    """M ξ̇ + b − Jᵀ Γ − C (λ, μ) − (f, m, φ), ξ = (v, ω, q̇e), with friction under loads.

    Loads are (3, legs, samples), `held` (k, samples) are λ and μ, where something holds the platform.
    """
    platform, legs = equation.moving(mechanism, state)
    felt = None if loads is None else Loads(loads[0], loads[1], loads[2])
    rubbing = legs.rubbing(platform.tips.angular_velocity, felt)
    load = legs.load(mechanism.gravity)
    push = equation.pushing(legs, load, rubbing, forces - (load.along - rubbing.along))
    moved, modal = platform.inertial()
    acting, modal_force = platform.outside(wrench, rubbing.couple)
    rates = changes = NOTHING
    if held is not None:
        hold = grasp(mechanism, platform, legs)
        rates, changes = hold.rates, hold.rate_changes
        count = 0 if hold.legs is None else len(hold.legs.holders)
        if hold.legs is not None:
            push = push + per_leg(hold.legs.n * held[:count], hold.legs.holders, push)
        if count < len(held):
            acting = acting + platform.own(combined(hold.columns[:, count:], held[count:]))
    own = platform.own(push)
    left = platform.world(moved - acting - gather(platform.tips, own))
    modal = modal - modal_force - platform.modal_work(own)
    if loads is None:
        return Balance(left, modal, NOTHING, rates, changes)
    reactions = legs.reactions(mechanism.gravity, push, rubbing)
    missing = loads - magnitudes(legs.load_vectors(reactions))
    return Balance(left, modal, np.concatenate([*missing]), rates, changes)


@symbolic
def balance_reverse(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    weights: Components,
    elastic_weights: Components = NOTHING,
    loads: Components | None = None,
    held: Components | None = None,
    multipliers: Components | None = None,
    elastic_multipliers: Components = NOTHING,
    elastic_sharing_weights: Components = NOTHING,
) -> Outputs:
    """Weights times derivatives of `balance`, by all that it depends on.

    Where more actuators than the platform has directions share a load, Γ is the shortest of all that
    balance it: with multipliers Λ (6 + N,) also Γ + (∂balance/∂Γ)ᵀ Λ = 0, (∂balance/∂(λ, μ))ᵀ Λ = 0 and
    (∂balance/∂q̈e)ᵀ Λ = 0, friction's loads held fixed. Weights are those of wrench, loads, rates, rate
    changes, and (actuators + k,) of the first two of these; `elastic_…` those of modes.
    """
    left = balance(mechanism, state, forces, wrench, loads, held)
    parts = [left.wrench, left.loads, left.rates, left.rate_changes]
    others = {"forces": forces, "wrench": wrench}
    sharing = NOTHING
    if loads is not None:
        others["loads"] = loads
    if held is not None:
        others["held"] = held
    if multipliers is not None:
        others["multipliers"] = multipliers
        if elastic_multipliers.size:
            others["elastic_multipliers"] = elastic_multipliers
        carrying = NOTHING if held is None else held
        shared = gradients(
            np.concatenate([left.wrench, left.modal]),
            np.concatenate([multipliers, elastic_multipliers]),
            np.concatenate([forces, carrying, state.elastic_acceleration]),
        )
        count = len(forces) + len(carrying)
        parts += [forces + shared[: len(forces)], shared[len(forces) : count]]
        sharing = shared[count:]
    outputs = np.concatenate([*parts, left.modal, sharing])
    every = np.concatenate([weights, elastic_weights, elastic_sharing_weights])
    return _weighted(state, outputs, every, **others)


def joint_speeds(mechanism: Mechanism, state: State) -> Outputs:
    """What friction feels in each joint, (legs,): speed of the drive, ‖ω_u‖ and ‖ω_l − ω‖ at the tip."""
    platform, legs = equation.moving(mechanism, state)
    relative = legs.link_angular_velocity - platform.tips.angular_velocity
    return {
        "drive": legs.slowest(),
        "universal joint": norm(legs.joint_rate()),
        "spherical joint": norm(relative),
    }


def inverse_loads(
    mechanism: Mechanism, state: State, wrench: Components, loads: Components
) -> Outputs:
    """Loads that friction feels in inverse dynamics, (3, legs)."""
    found = programs.inverse_dynamics(mechanism, state, wrench, loads=loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}


def direct_loads(
    mechanism: Mechanism, state: State, wrench: Components, forces: Components, loads: Components
) -> Outputs:
    """Loads that friction feels in direct dynamics, (3, legs)."""
    found = programs.direct_dynamics(mechanism, state, forces, wrench, loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}
