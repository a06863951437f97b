"""Derivatives of the dynamic models: matrices, products with vectors, the linearised robot, the regressor.

A pose changes by (δp, δθ) in world axes: p ← p + δp, R ← exp(δθ^) R, so ∂R/∂θ_k = e_k × R column by
column. A twist changes by (δv, δω), an acceleration by (δv̇, δω̇), a wrench by (δf, δm), world axes all.

The models solve the equation of motion, which itself holds no solve: it is differentiated in their
place, and the implicit function theorem gives the rest. Without friction

    E = M ξ̇ + b − Jᵀ Γ − wrench = 0:    dΓ = J⁻ᵀ dE at fixed Γ,    dξ̇ = −M⁻¹ dE at fixed ξ̇

and with it the loads s that it feels are unknown too: s = |V(x, ξ̇, Γ, s)|. Derivatives are exact.
Coulomb friction without `width` jumps where a joint stands still and has no derivative there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


# Functions of symbols, from which the engine makes programs; samples on the last axis.


def _graph(state: State) -> Graph:
    graph: Graph = state.position.flat[0].graph
    return graph


def _units(state: State) -> list[Components]:
    """The six unit vectors, (6, 1) each."""
    return [_graph(state).constants(unit[:, np.newaxis]) for unit in np.eye(6)]


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


def _by_state(state: State, outputs: Components, weights: Components) -> dict[str, Components]:
    """Σ weight ∂output by pose, twist and acceleration, (6, 1) each; by θ it is Σ r × ∂/∂r, r in R."""
    found = {}
    for name, fields in COORDINATES.items():
        linear, angular = (gradients(outputs, weights, getattr(state, one)) for one in fields)
        if name == "pose":
            angular = cross(state.rotation, angular).sum(axis=1)
        found[name] = np.concatenate([linear, angular])[:, 0]
    return found


def imbalance(machine: Machine, state: State, forces: Components) -> Components:
    """E (6, samples) without wrench and friction."""
    tips, legs = dynamics.moving(machine, state)
    platform, carried = dynamics.demand(machine, state)
    total: Components = platform + carried - rigid.gather(tips, legs.w * forces)
    return total


def imbalance_slopes(machine: Machine, state: State, forces: Components) -> dict[str, Components]:
    """∂E/∂(pose, twist, acceleration) at fixed Γ, (6, 6, samples) each.

    Each leg pushes the platform with f(P, v, v̇), a function of what its own tip does. Its nine
    derivatives come first, from three reverse passes for all legs; the rest is the chain rule.
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
        for unit in _units(state):
            seeds = _seeds(state, {name: unit})
            pushed = (local * tangents(tip_motion, seeds)).sum(axis=1)
            turned = cross(tangents(tips.arm, seeds), push).sum(axis=1)
            carried = rigid.gather(tips, pushed) + np.concatenate([0 * turned, turned])
            columns.append(tangents(demand, seeds) - carried)
        found[name] = np.stack(columns, axis=1)
    return found


class Sharing(NamedTuple):
    """How legs share a wrench, (Jᵀ)⁺: the Γ = J λ of least ‖Γ‖ with Jᵀ Γ = wrench."""

    jacobian: Components
    """Jᵀ, (6, legs, 1)."""
    factors: Factors
    inverse: Components
    """(Jᵀ)⁺, (legs, 6, 1)."""

    def shift(self, forces: Components, differentiate: Callable[[Components], Any]) -> Any:
        """A derivative of J λ at fixed λ = J⁺ Γ."""
        multipliers = (self.inverse * forces[:, np.newaxis]).sum(axis=0)
        held = forces[0, 0].graph.inputs("multipliers", multipliers.shape)
        rates = (self.jacobian * held[:, np.newaxis]).sum(axis=0)
        return substitute(differentiate(rates), held, multipliers)

    def change(self, forces: Components, seeds: Seeds, slope: Components) -> Any:
        """dΓ = dJ λ + (Jᵀ)⁺ (dE − Jᵀ dJ λ) from dE at fixed Γ; with six legs J⁻ᵀ dE."""
        if len(forces) == 6:
            return least_norm(self.factors, slope)
        shift = self.shift(forces, lambda rates: tangents(rates, seeds))
        return shift + least_norm(self.factors, slope - (self.jacobian * shift).sum(axis=1))


def _sharing(machine: Machine, state: State) -> Sharing:
    tips, legs = dynamics.moving(machine, state)
    jacobian = rigid.jacobian_rows(tips, legs.w)
    factors = factor(np.moveaxis(jacobian, 0, 1), dynamics.scale(machine))
    inverse = [least_norm(factors, unit) for unit in _units(state)]
    return Sharing(jacobian, factors, np.stack(inverse, axis=1))


@symbolic
def inverse_slopes(machine: Machine, state: State, forces: Components) -> Any:
    """∂Γ/∂(pose, twist, acceleration, wrench), (legs, 6) each."""
    sharing = _sharing(machine, state)
    found = {"wrench": -sharing.inverse}
    for name, slopes in imbalance_slopes(machine, state, forces).items():
        columns = [
            sharing.change(forces, _seeds(state, {name: unit}), slopes[:, k])
            for k, unit in enumerate(_units(state))
        ]
        found[name] = np.stack(columns, axis=1)
    return found


@symbolic
def inverse_forward(
    machine: Machine, state: State, forces: Components, wrench_change: Components, **changes: Any
) -> Any:
    """dΓ (legs,) for changes of pose, twist, acceleration and wrench."""
    seeds = _seeds(state, {name: changes[f"{name}_change"] for name in COORDINATES})
    slope = tangents(imbalance(machine, state, forces), seeds) - wrench_change
    return {"change": _sharing(machine, state).change(forces, seeds, slope)}


@symbolic
def inverse_reverse(machine: Machine, state: State, forces: Components, weights: Components) -> Any:
    """Σ weight ∂Γ/∂(pose, twist, acceleration, wrench), (6,) each: the transpose of `Sharing.change`."""
    sharing = _sharing(machine, state)
    shared = (sharing.inverse * weights[:, np.newaxis]).sum(axis=0)
    found = _by_state(state, imbalance(machine, state, forces), shared)
    if len(forces) > 6:
        rest = weights - (sharing.jacobian * shared[:, np.newaxis]).sum(axis=0)
        found["pose"] = found["pose"] + sharing.shift(
            forces, lambda rates: _by_state(state, rates, rest)["pose"]
        )
    return found | {"wrench": -shared}


@symbolic
def direct_slopes(machine: Machine, state: State, forces: Components) -> Any:
    """∂ξ̇/∂(pose, twist, forces, wrench), (6, 6 or legs) each, the state's acceleration being ξ̇."""
    found = imbalance_slopes(machine, state, forces)
    roots = factor_symmetric(found.pop("acceleration"), dynamics.scale(machine))
    found["forces"] = -_sharing(machine, state).jacobian
    found["wrench"] = -np.stack(_units(state), axis=1)
    return {
        name: np.stack(
            [-solve_symmetric(roots, slopes[:, k]) for k in range(slopes.shape[1])], axis=1
        )
        for name, slopes in found.items()
    }


def _accelerated(machine: Machine, state: State, pushed: Components) -> Components:
    """M⁻¹ times a wrench."""
    matrix = dynamics.mass_matrix(machine, state)
    return solve_symmetric(factor_symmetric(matrix, dynamics.scale(machine)), pushed)


@symbolic
def direct_forward(
    machine: Machine,
    state: State,
    forces: Components,
    pose_change: Components,
    twist_change: Components,
    forces_change: Components,
    wrench_change: Components,
) -> Any:
    """dξ̇ (6,) for changes of pose, twist, forces and wrench."""
    seeds = _seeds(state, {"pose": pose_change, "twist": twist_change})
    seeds |= _paired(forces, forces_change)
    slope = tangents(imbalance(machine, state, forces), seeds) - wrench_change
    return {"change": _accelerated(machine, state, -slope)}


@symbolic
def direct_reverse(machine: Machine, state: State, forces: Components, weights: Components) -> Any:
    """Σ weight ∂ξ̇/∂(pose, twist, forces, wrench), (6,) or (legs,) each."""
    shared = _accelerated(machine, state, weights)
    outputs = imbalance(machine, state, forces)
    found = _by_state(state, outputs, -shared)
    del found["acceleration"]
    return found | {"forces": gradients(outputs, -shared, forces), "wrench": shared}


@symbolic
def friction_forward(
    machine: Machine,
    state: State,
    forces: Components,
    loads: Components,
    multipliers: Components,
    forces_change: Components,
    loads_change: Components,
    multipliers_change: Components,
    **changes: Any,
) -> Any:
    """Change (6 + 4 legs,) of E, of Γ − J λ and of s − |V|, friction included: all 0 in a solution."""
    tips, legs = dynamics.moving(machine, state)
    load = machine.equations.load(machine.legs, legs, machine.gravity)
    rub = dynamics._rubbing(machine, state, legs, Loads(loads[0], loads[1], loads[2]))
    couple = machine.equations.couple_at_tip(machine.legs, legs, rub.universal + rub.spherical)
    push = legs.w * (forces + rub.slider) + couple - dynamics.at_tip(legs, load)
    reactions = machine.equations.reactions(
        machine.legs, legs, load, push, rub.universal, rub.spherical
    )
    felt = magnitudes(dynamics.load_vectors(machine, reactions))
    demand = dynamics.platform_demand(machine, state) + dynamics._couple(rub.spherical)
    rates = (rigid.jacobian_rows(tips, legs.w) * multipliers[:, np.newaxis]).sum(axis=0)
    wrong = [demand - rigid.gather(tips, push), forces - rates, *(loads - felt)]
    seeds = _seeds(state, {name: changes[f"{name}_change"] for name in COORDINATES})
    seeds |= _paired(forces, forces_change) | _paired(loads, loads_change)
    seeds |= _paired(multipliers, multipliers_change)
    return {"change": tangents(np.concatenate(wrong), seeds)}


def inverse_loads(
    machine: Machine, state: State, wrench: Components, loads: Components
) -> programs.Outputs:
    """Loads that friction feels in inverse dynamics, (3, legs)."""
    found = programs.inverse_dynamics(machine, state, wrench, loads=loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}


def direct_loads(
    machine: Machine, state: State, wrench: Components, forces: Components, loads: Components
) -> programs.Outputs:
    """Loads that friction feels in direct dynamics, (3, legs)."""
    found = programs.direct_dynamics(machine, state, forces, wrench, loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}


@symbolic
def regressor_rows(machine: Machine, state: State) -> Any:
    """∂Γ/∂X, (legs, parameters): Γ is linear in X, so X itself never enters."""
    graph = _graph(state)
    count = machine.points.shape[1]
    unknown = graph.inputs("standard", (31 * count + 10, 1))
    wrench = graph.constants(np.zeros((6, 1)))
    forces = dynamics.inverse(_with_parameters(machine, unknown), state, wrench).forces
    one = graph.constants([1.0])
    return {"regressor": np.stack([gradients(force, one, unknown) for force in forces])}


# What users ask for: arrays with the batch axes of the motion in front.


@dataclass(frozen=True)
class InverseDerivatives:
    """Derivatives of the actuator forces Γ, (..., legs, 6) each."""

    pose: Array
    """By (δp, δθ), N/m and N/rad."""
    twist: Array
    acceleration: Array
    """J⁻ᵀ M where there is no friction."""
    wrench: Array


@dataclass(frozen=True)
class DirectDerivatives:
    """Derivatives of the platform's acceleration (v̇, ω̇), (..., 6, 6); by forces (..., 6, legs)."""

    pose: Array
    twist: Array
    forces: Array
    """M⁻¹ Jᵀ where there is no friction."""
    wrench: Array


class Linearization(NamedTuple):
    """ẋ = A x + B δΓ of the deviation x = (δp, δθ, δv, δω) from a motion."""

    A: Array
    """(..., 12, 12)."""
    B: Array
    """(..., 12, legs)."""


def inverse_dynamics_derivatives(
    robot: Robot,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> InverseDerivatives:
    """How the actuator forces change with pose, twist, acceleration and wrench."""
    asked = _Asked(robot, motion, None, wrench, friction, on_error)
    return InverseDerivatives(**asked.slopes())


def direct_dynamics_derivatives(
    robot: Robot,
    motion: Motion,
    forces: ArrayLike,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> DirectDerivatives:
    """How the platform's acceleration changes with pose, twist, actuator forces and wrench."""
    asked = _Asked(robot, motion, forces, wrench, friction, on_error)
    return DirectDerivatives(**asked.slopes())


def linearize(
    robot: Robot,
    motion: Motion,
    forces: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> Linearization:
    """The robot near a motion: ẋ = A x + B δΓ with x = (δp, δθ, δv, δω), R = exp(δθ^) R_motion.

    δṗ = δv;  δθ̇ = δω + ω × δθ;  (δv̇, δω̇) = ∂ξ̇/∂pose (δp, δθ) + ∂ξ̇/∂twist (δv, δω) + ∂ξ̇/∂Γ δΓ.

    `forces` (..., legs) drive the motion; left out they are those of inverse dynamics, which give
    it its own acceleration. For a motion that is no equilibrium A and B hold along it, at its time.
    """
    if forces is None:
        forces = robot.inverse_dynamics(motion, wrench, friction, on_error=on_error).forces
    found = direct_dynamics_derivatives(robot, motion, forces, wrench, friction, on_error=on_error)
    shape = found.pose.shape[:-2]
    A, B = np.zeros((*shape, 12, 12)), np.zeros((*shape, 12, robot.leg_count))
    A[..., :6, 6:] = np.eye(6)
    A[..., 3:6, 3:6] = np.cross(motion.angular_velocity[..., np.newaxis, :], np.eye(3)).swapaxes(
        -1, -2
    )
    A[..., 6:, :6], A[..., 6:, 6:], B[..., 6:, :] = found.pose, found.twist, found.forces
    failed = np.isnan(found.pose).any(axis=(-2, -1))
    A[failed], B[failed] = np.nan, np.nan
    return Linearization(A, B)


def inverse_dynamics_jvp(
    robot: Robot,
    motion: Motion,
    changes: Mapping[str, ArrayLike],
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> Array:
    """Change (..., legs) of Γ for changes (..., 6) of "pose", "twist", "acceleration", "wrench".

    A Jacobian-vector product by forward differentiation; what is left out does not change.
    """
    return _Asked(robot, motion, None, wrench, friction, on_error).forward(changes)


def inverse_dynamics_vjp(
    robot: Robot,
    motion: Motion,
    weights: ArrayLike,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> InverseDerivatives:
    """Derivatives (..., 6) of Σ weight_i Γ_i, weights (..., legs).

    A vector-Jacobian product by reverse differentiation: all of it costs a few inverse dynamics.
    """
    asked = _Asked(robot, motion, None, wrench, friction, on_error)
    return InverseDerivatives(**asked.reverse(weights))


def direct_dynamics_jvp(
    robot: Robot,
    motion: Motion,
    forces: ArrayLike,
    changes: Mapping[str, ArrayLike],
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> Array:
    """Change (..., 6) of (v̇, ω̇) for changes of "pose", "twist", "forces", "wrench"."""
    return _Asked(robot, motion, forces, wrench, friction, on_error).forward(changes)


def direct_dynamics_vjp(
    robot: Robot,
    motion: Motion,
    forces: ArrayLike,
    weights: ArrayLike,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> DirectDerivatives:
    """Derivatives (..., 6), by forces (..., legs), of weights (..., 6) times (v̇, ω̇)."""
    asked = _Asked(robot, motion, forces, wrench, friction, on_error)
    return DirectDerivatives(**asked.reverse(weights))


def parameter_names(robot: Robot) -> tuple[str, ...]:
    """Names of the standard inertial parameters, in the order of `standard_parameters`.

    For each leg its three bodies, ten parameters each ("leg 1 rod XX"); the rotor masses; the
    platform's ten.
    """
    legs = [f"leg {i + 1}" for i in range(robot.leg_count)]
    bodies = robot.machine.equations.BODIES
    names = [f"{leg} {body} {key}" for leg in legs for body in bodies for key in STANDARD_PARAMETERS]
    names += [f"{leg} rotor_mass" for leg in legs]
    return (*names, *(f"platform {key}" for key in STANDARD_PARAMETERS))


def standard_parameters(robot: Robot) -> Array:
    """X (parameters,): what `parameter_names` says, payload counted with the platform, SI units."""
    machine = robot.machine
    bodies = [_ten(getattr(machine.legs, name)) for name in machine.equations.BODIES]
    legs = np.stack(bodies).transpose(2, 0, 1)
    parts = (legs, machine.legs.rotor_mass, _ten(machine.platform))
    return np.concatenate([np.ravel(part) for part in parts])


def regressor(robot: Robot, motion: Motion, *, on_error: OnError = "raise") -> Array:
    """W (..., legs, parameters) with Γ = W X: no friction, no wrench; X as `standard_parameters`.

    The exact derivative of the forces by the standard inertial parameters, which does not depend on
    their values. With more than six legs Γ is the one of least norm.
    """
    forces = robot.inverse_dynamics(motion, friction=False, on_error=on_error).forces
    rows = batch.lay_out(motion, {"forces": (forces, (robot.leg_count,))})
    state = {name: rows.fields[name] for name in State._fields}
    out = robot.executor(regressor_rows, rows.rows, state)
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["regressor"]


def _ten(body: Body) -> Array:
    """XX XY XZ YY YZ ZZ MX MY MZ M of bodies, (10, bodies)."""
    tensor = body.inertia[np.triu_indices(3)]
    return np.concatenate([tensor, body.first_moment, body.mass[np.newaxis]])[..., 0]


def _with_parameters(machine: Machine, standard: Components) -> Machine:
    """The robot with other inertial parameters (parameters, 1)."""
    count = machine.points.shape[1]
    legs = standard[: 30 * count].reshape(count, 3, 10, 1)
    bodies = {
        name: _body(np.moveaxis(legs[:, i], 0, 1)) for i, name in enumerate(machine.equations.BODIES)
    }
    rotors = standard[30 * count : 31 * count]
    return machine._replace(
        legs=machine.legs._replace(rotor_mass=rotors, **bodies),
        platform=_body(standard[31 * count :, np.newaxis]),
    )


def _body(ten: Components) -> Body:
    """Bodies from their ten parameters, (10, bodies, 1)."""
    return Body(ten[9], ten[6:9], ten[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]])


class _Model(NamedTuple):
    """Programs of a model's derivatives, and by what it is differentiated."""

    slopes: Function
    forward: Function
    reverse: Function
    loads: Function
    by: tuple[str, ...]
    solved: tuple[str, ...]
    """Unknowns of the equations behind `friction_forward`, the model's answer first."""


INVERSE = _Model(
    inverse_slopes,
    inverse_forward,
    inverse_reverse,
    inverse_loads,
    ("pose", "twist", "acceleration", "wrench"),
    ("forces", "multipliers", "loads"),
)
DIRECT = _Model(
    direct_slopes,
    direct_forward,
    direct_reverse,
    direct_loads,
    ("pose", "twist", "forces", "wrench"),
    ("acceleration", "loads"),
)


class _Asked:
    """A model at a motion, where its derivatives are asked for."""

    def __init__(
        self,
        robot: Robot,
        motion: Motion,
        forces: ArrayLike | None,
        wrench: ArrayLike | None,
        friction: bool,
        on_error: OnError,
    ) -> None:
        """Solve the model: forces None is inverse dynamics. Samples without an answer are NaN."""
        self.robot, self.motion, self.on_error = robot, motion, on_error
        self.rubs = friction and not robot.machine.friction.none
        self.given: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {}
        if forces is None:
            self.model, self.answers = INVERSE, robot.leg_count
            forces = robot.inverse_dynamics(motion, wrench, friction, on_error=on_error).forces
        else:
            self.model, self.answers = DIRECT, 6
            found = robot.direct_dynamics(motion, forces, wrench, friction, on_error=on_error)
            self.given["acceleration"] = found.linear, (3,)
            self.given["angular_acceleration"] = found.angular, (3,)
        self.given["forces"] = forces, (robot.leg_count,)
        if self.rubs:
            self.given["wrench"] = np.zeros(6) if wrench is None else wrench, (6,)

    def slopes(self) -> dict[str, Array]:
        """The matrices of all derivatives."""
        rows = batch.lay_out(self.motion, self.given)
        if self.rubs:
            return self._settle(rows, self._friction_slopes(rows))
        return self._settle(rows, self.robot.executor(self.model.slopes, rows.rows, rows.fields))

    def forward(self, changes: Mapping[str, ArrayLike]) -> Array:
        """The matrices times changes."""
        unknown = set(changes) - set(self.model.by)
        if unknown:
            raise InputError(f"no change of {min(unknown)!r}: {', '.join(self.model.by)} may change")
        given = {
            f"{name}_change": (changes.get(name, np.zeros(self._width(name))), (self._width(name),))
            for name in self.model.by
        }
        rows = batch.lay_out(self.motion, self.given | given)
        if not self.rubs:
            out = self.robot.executor(self.model.forward, rows.rows, rows.fields)
            return self._settle(rows, out)["change"]
        total = np.zeros((rows.rows, self.answers))
        for name, matrix in self._friction_slopes(rows).items():
            total += np.einsum("...ij,...j->...i", matrix, rows.fields[f"{name}_change"])
        return self._settle(rows, {"change": total})["change"]

    def reverse(self, weights: ArrayLike) -> dict[str, Array]:
        """Weights times the matrices."""
        rows = batch.lay_out(self.motion, self.given | {"weights": (weights, (self.answers,))})
        if not self.rubs:
            out = self.robot.executor(self.model.reverse, rows.rows, rows.fields)
            return self._settle(rows, out)
        out = {
            name: np.einsum("...ij,...i->...j", matrix, rows.fields["weights"])
            for name, matrix in self._friction_slopes(rows).items()
        }
        return self._settle(rows, out)

    def _width(self, name: str) -> int:
        return self.robot.leg_count if name == "forces" else 6

    def _settle(self, rows: Rows, out: dict[str, Array]) -> dict[str, Array]:
        troubles = batch.not_finite(rows)
        if self.rubs:
            known = {one.row for one in troubles}
            troubles += [one for one in self._standing(rows) if one.row not in known]
        return batch.settle(rows, out, troubles, self.on_error)

    def _friction_slopes(self, rows: Rows) -> dict[str, Array]:
        """Derivatives (rows, ...) with friction: −(∂F/∂z)⁻¹ ∂F/∂x of the equations F(x, z) = 0.

        The unknowns z are the loads and Γ (with the λ of Γ = J λ, which counts over six legs) or ξ̇.
        """
        robot, legs = self.robot, self.robot.leg_count
        state = {name: rows.fields[name] for name in State._fields}
        names = ("wrench",) if self.model is INVERSE else ("wrench", "forces")
        start = state | {name: rows.fields[name] for name in names}
        friction = robot.machine.friction
        loads = with_friction(robot.executor, self.model.loads, rows.rows, start, friction)[0]
        fields = state | {"forces": rows.fields["forces"], "loads": loads["loads"]}
        fields["multipliers"] = self._multipliers(rows.rows, state, rows.fields["forces"])
        shapes = dict.fromkeys((*COORDINATES, "multipliers"), (6,))
        shapes |= {"forces": (legs,), "loads": (3, legs)}
        still = {f"{name}_change": np.zeros((1, *shape)) for name, shape in shapes.items()}

        def columns(name: str) -> Array:
            size = int(np.prod(shapes[name]))
            units = np.eye(size).reshape(size, 1, *shapes[name])
            moved = (fields | still | {f"{name}_change": unit} for unit in units)
            found = [robot.executor(friction_forward, rows.rows, one)["change"] for one in moved]
            return np.stack(found, axis=-1)

        push = np.zeros((rows.rows, 6 + 4 * legs, 6))
        push[:, :6] = -np.eye(6)
        kept = np.ones(6 + 4 * legs, dtype=bool)
        kept[6 : 6 + legs] = "multipliers" in self.model.solved
        matrix = np.concatenate([columns(name) for name in self.model.solved], axis=-1)[:, kept]
        matrix[~np.isfinite(matrix).all(axis=(1, 2))] = np.eye(matrix.shape[-1])
        out = {}
        for name in self.model.by:
            right = push if name == "wrench" else columns(name)
            out[name] = -np.linalg.solve(matrix, right[:, kept])[:, : self.answers]
        return out

    def _multipliers(self, rows: int, state: dict[str, Array], forces: Array) -> Array:
        """λ = J⁺ Γ, (rows, 6); with six legs any will do."""
        if self.robot.leg_count == 6:
            return np.zeros((1, 6))
        jacobian = self.robot.executor(programs.jacobian, rows, state)["jacobian"]
        inverse = np.linalg.pinv(np.nan_to_num(jacobian))
        return np.einsum("rij,rj->ri", inverse, np.broadcast_to(forces, (rows, forces.shape[-1])))

    def _standing(self, rows: Rows) -> list[Trouble]:
        """Rows where a joint with Coulomb friction that jumps at rest stands still."""
        friction = self.robot.machine.friction
        state = {name: rows.fields[name] for name in State._fields}
        legs = self.robot.executor(programs.inverse_kinematics, rows.rows, state)
        turning = legs["link_angular_velocity"]
        relative = turning - state["angular_velocity"][:, np.newaxis]
        speeds = {
            "slider": (legs["qd"], friction.slider_coulomb + friction.screw_drag),
            "universal joint": (np.linalg.norm(turning, axis=-1), friction.universal_coulomb),
            "spherical joint": (np.linalg.norm(relative, axis=-1), friction.spherical_coulomb),
        }
        troubles: dict[int, Trouble] = {}
        for joint, (speed, coulomb) in speeds.items():
            jumps = (coulomb[:, 0] > 0) & (friction.width[:, 0] == 0)
            reason = f"friction without width has no derivative where its {joint} stands still"
            for row, leg in np.argwhere(jumps & (speed == 0)).tolist():
                troubles.setdefault(row, Trouble(row, leg, SingularError, reason))
        return list(troubles.values())
