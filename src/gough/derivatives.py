"""Derivatives of the dynamic models: matrices, products with vectors, and the linearised robot.

A pose changes by (δp, δθ) in world axes: p ← p + δp, R ← exp(δθ^) R, so ∂R/∂θ_k = e_k × R column by
column. A twist changes by (δv, δω), an acceleration by (δv̇, δω̇), a wrench by (δf, δm), world axes all.

The models solve the equation of motion, which itself holds no solve, so that it is differentiated in
their place and the implicit function theorem gives the rest. Without friction

    E = M ξ̇ + b − Jᵀ Γ − wrench = 0:    dΓ = J⁻ᵀ dE at fixed Γ,    dξ̇ = −M⁻¹ dE at fixed ξ̇

and with it the loads s that it feels are unknown too: s = |V(x, ξ̇, Γ, s)|. Derivatives are exact.
Coulomb friction without `width` jumps where a joint stands still and has no derivative there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough import batch, dynamics, programs
from gough.batch import OnError, Rows, Trouble
from gough.dynamics import Machine, State
from gough.engine.derivative import gradients, substitute, symbolic, tangents
from gough.engine.execute import Function, with_friction
from gough.engine.graph import Graph, Symbol
from gough.errors import InputError, SingularError
from gough.friction import Loads, magnitudes
from gough.legs.body import Body
from gough.linear import Factors, factor, factor_symmetric, least_norm, solve_symmetric
from gough.motion import Array, Motion
from gough.platforms import rigid
from gough.schema import STANDARD_PARAMETERS
from gough.vectors import Components, cross

if TYPE_CHECKING:
    from gough.robot import Robot

COORDINATES = {
    "pose": ("position", "rotation"),
    "twist": ("velocity", "angular_velocity"),
    "acceleration": ("acceleration", "angular_acceleration"),
}
Seeds = dict[int, Symbol]


# What the equations say: functions of symbols, from which the engine makes programs.


def imbalance(machine: Machine, state: State, forces: Components) -> Components:
    """E (6, samples) without wrench and friction."""
    tips, legs = dynamics.moving(machine, state)
    platform, carried = dynamics.demand(machine, state)
    total: Components = platform + carried - rigid.gather(tips, legs.w * forces)
    return total


def slopes(machine: Machine, state: State, forces: Components) -> dict[str, Components]:
    """∂E/∂(pose, twist, acceleration) at fixed Γ, (6, 6, samples) each.

    Each leg pushes the platform with f(P, v, v̇), a function of what its own tip does. Its nine
    derivatives are found first, three reverse passes for all legs; the rest is the chain rule.
    """
    graph = _graph(state)
    tips = rigid.tips(machine.points, *state[:4])
    tip_motion = np.concatenate(
        [tips.position, tips.velocity, rigid.tip_acceleration(tips, *state[4:])]
    )
    held = graph.inputs("tip motion", tip_motion.shape)
    legs = machine.equations.kinematics(machine.legs, held[0:3], held[3:6], held[6:9])
    load = machine.equations.load(machine.legs, legs, machine.gravity)
    push = legs.w * forces - dynamics.at_tip(legs, load)
    ones = graph.constants(np.ones(push[0].shape))
    local = np.stack([gradients(row, ones, held) for row in push])
    push, local = (substitute(part, held, tip_motion) for part in (push, local))
    demand = dynamics.platform_demand(machine, state)
    found = {}
    for name in COORDINATES:
        columns = []
        for unit in _units(graph):
            seeds = _seeds(state, {name: unit})
            pushed = (local * tangents(tip_motion, seeds)).sum(axis=1)
            turned = cross(tangents(tips.arm, seeds), push).sum(axis=1)
            carried = rigid.gather(tips, pushed) + np.concatenate([0 * turned, turned])
            columns.append(tangents(demand, seeds) - carried)
        found[name] = np.stack(columns, axis=1)
    return found


def _graph(state: State) -> Graph:
    graph: Graph = state.position.flat[0].graph
    return graph


def _units(graph: Graph) -> list[Components]:
    """The six unit vectors, (6, 1) each."""
    return [graph.constants(unit[:, np.newaxis]) for unit in np.eye(6)]


def _seeds(state: State, changes: Mapping[str, Components]) -> Seeds:
    """Seeds of the state's symbols for changes (6, samples) of pose, twist, acceleration."""
    seeds: Seeds = {}
    for name, change in changes.items():
        linear, angular = (getattr(state, field) for field in COORDINATES[name])
        turned = cross(change[3:], angular) if name == "pose" else change[3:]
        for symbols, moved in ((linear, change[:3]), (angular, turned)):
            numbers = (symbol.number for symbol in symbols.flat)
            seeds.update(zip(numbers, moved.flat, strict=True))
    return seeds


class Sharing(NamedTuple):
    """How the legs share a wrench: the least ‖Γ‖ with Jᵀ Γ = wrench."""

    jacobian: Components
    """Jᵀ, (6, legs, samples)."""
    factors: Factors
    inverse: Components
    """(Jᵀ)⁺, (legs, 6, samples)."""

    def change(self, state: State, forces: Components, seeds: Seeds, demand: Components) -> Any:
        """dΓ (legs, samples) for a change of pose and a change of what Jᵀ Γ has to be at fixed J.

        Γ = J λ, so that dΓ = dJ λ + (Jᵀ)⁺ (demand − Jᵀ dJ λ): with six legs just J⁻ᵀ demand.
        """
        if len(forces) == 6:
            return least_norm(self.factors, demand)
        shifted = self.shift(state, forces, lambda rates: tangents(rates, seeds))
        return shifted + least_norm(self.factors, demand - (self.jacobian * shifted).sum(axis=1))

    def shift(self, state: State, forces: Components, differentiate: Any) -> Any:
        """A derivative of J λ at fixed λ = J⁺ Γ."""
        multipliers = (self.inverse * forces[:, np.newaxis]).sum(axis=0)
        held = _graph(state).inputs("multipliers", multipliers.shape)
        rates = (self.jacobian * held[:, np.newaxis]).sum(axis=0)
        return substitute(differentiate(rates), held, multipliers)


def _sharing(machine: Machine, state: State) -> Sharing:
    tips, legs = dynamics.moving(machine, state)
    jacobian = rigid.jacobian_rows(tips, legs.w)
    factors = factor(np.moveaxis(jacobian, 0, 1), dynamics.scale(machine))
    inverse = [least_norm(factors, unit) for unit in _units(_graph(state))]
    return Sharing(jacobian, factors, np.stack(inverse, axis=1))


@symbolic
def inverse_dynamics_slopes(machine: Machine, state: State, forces: Components) -> Any:
    """∂Γ/∂(pose, twist, acceleration, wrench), (legs, 6) each."""
    sharing = _sharing(machine, state)
    found = {"wrench": -sharing.inverse}
    for name, columns in slopes(machine, state, forces).items():
        seeds = (_seeds(state, {name: unit}) for unit in _units(_graph(state)))
        changes = [
            sharing.change(state, forces, seed, columns[:, k]) for k, seed in enumerate(seeds)
        ]
        found[name] = np.stack(changes, axis=1)
    return found


@symbolic
def direct_dynamics_slopes(machine: Machine, state: State, forces: Components) -> Any:
    """∂ξ̇/∂(pose, twist, forces, wrench), (6, 6 or legs) each, at the state's own acceleration."""
    found = slopes(machine, state, forces)
    roots = factor_symmetric(found.pop("acceleration"), dynamics.scale(machine))
    tips, legs = dynamics.moving(machine, state)
    found["forces"] = -rigid.jacobian_rows(tips, legs.w)
    found["wrench"] = -np.stack(_units(_graph(state)), axis=1)
    return {
        name: np.stack(
            [-solve_symmetric(roots, value[:, k]) for k in range(value.shape[1])], axis=1
        )
        for name, value in found.items()
    }
