"""Derivatives of the dynamic models: matrices, products with vectors, linearisation, regressor.

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
from gough.engine.execute import CHUNK, Function, with_friction
from gough.engine.graph import Graph, Symbol
from gough.errors import InputError, SingularError
from gough.friction import Loads, magnitudes
from gough.legs.body import Body
from gough.linear import factor, factor_symmetric, least_norm, solve_symmetric
from gough.motion import Array, Motion
from gough.platforms import rigid
from gough.programs import Outputs
from gough.schema import STANDARD_PARAMETERS
from gough.vectors import Components, cross

if TYPE_CHECKING:
    from gough.robot import Robot

COORDINATES = {
    "pose": ("position", "rotation"),
    "twist": ("velocity", "angular_velocity"),
    "acceleration": ("acceleration", "angular_acceleration"),
}
PAIRS = 32768
"""States times unit vectors that a program takes at a time."""
Seeds = dict[int, Symbol]


# Functions of symbols, from which the engine makes programs; samples on the last axis.


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
    """Σ weight ∂output by pose, twist, acceleration, (6, 1) each, and by other inputs.

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
    return found | {name: by[name] for name in others}


def imbalance(machine: Machine, state: State, forces: Components) -> Components:
    """E (6, samples) without wrench and friction."""
    tips, legs = dynamics.moving(machine, state)
    platform, carried = dynamics.demand(machine, state)
    total: Components = platform + carried - rigid.gather(tips, legs.w * forces)
    return total


class Sharing(NamedTuple):
    """How legs share a wrench: Γ = (Jᵀ)⁺ wrench = J λ, of least ‖Γ‖."""

    jacobian: Components
    """Jᵀ, (6, legs, 1)."""
    inverse: Components
    """(Jᵀ)⁺, (legs, 6, 1)."""

    @classmethod
    def of(cls, machine: Machine, state: State) -> Sharing:
        """Of a robot in a state."""
        tips, legs = dynamics.moving(machine, state)
        jacobian = rigid.jacobian_rows(tips, legs.w)
        factors = factor(np.moveaxis(jacobian, 0, 1), dynamics.scale(machine))
        units = graph_of(state).constants(np.eye(6)[..., np.newaxis])
        return cls(jacobian, np.stack([least_norm(factors, unit) for unit in units], axis=1))

    def forces(self, wrench: Components) -> Components:
        """(Jᵀ)⁺ wrench, (legs, 1)."""
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
    machine: Machine, state: State, forces: Components, wrench_change: Components, **changes: Any
) -> Outputs:
    """dΓ (legs,) = dJ λ + (Jᵀ)⁺ (dE − Jᵀ dJ λ) for changes of pose, twist, acceleration, wrench.

    With six legs it is J⁻ᵀ dE.
    """
    seeds = _seeds(state, {name: changes[f"{name}_change"] for name in COORDINATES})
    change = tangents(imbalance(machine, state, forces), seeds) - wrench_change
    sharing = Sharing.of(machine, state)
    if len(forces) == 6:
        return {"change": sharing.forces(change)}
    shift = sharing.shift(forces, lambda rates: tangents(rates, seeds))
    return {"change": shift + sharing.forces(change - (sharing.jacobian * shift).sum(axis=1))}


@symbolic
def inverse_reverse(
    machine: Machine, state: State, forces: Components, weights: Components
) -> Outputs:
    """Σ weight dΓ by pose, twist, acceleration and wrench, (6,) each: `inverse_forward` transposed."""
    sharing = Sharing.of(machine, state)
    shared = sharing.transposed(weights)
    found = _weighted(state, imbalance(machine, state, forces), shared)
    if len(forces) > 6:
        rest = weights - (sharing.jacobian * shared[:, np.newaxis]).sum(axis=0)
        shift = sharing.shift(forces, lambda rates: _weighted(state, rates, rest)["pose"])
        found["pose"] = found["pose"] + shift
    return found | {"wrench": -shared}


@symbolic
def direct_forward(
    machine: Machine,
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
    change = tangents(imbalance(machine, state, forces), seeds) - wrench_change
    return {"change": _accelerated(machine, state, -change)}


@symbolic
def direct_reverse(
    machine: Machine, state: State, forces: Components, weights: Components
) -> Outputs:
    """Σ weight dξ̇ by pose, twist, forces and wrench: `direct_forward` transposed."""
    shared = _accelerated(machine, state, weights)
    found = _weighted(state, imbalance(machine, state, forces), -shared, forces=forces)
    del found["acceleration"]
    return found | {"wrench": shared}


def _accelerated(machine: Machine, state: State, wrench: Components) -> Components:
    """M⁻¹ times a wrench."""
    matrix = dynamics.mass_matrix(machine, state)
    return solve_symmetric(factor_symmetric(matrix, dynamics.scale(machine)), wrench)


@symbolic
def friction_reverse(
    machine: Machine,
    state: State,
    forces: Components,
    loads: Components,
    multipliers: Components,
    weights: Components,
) -> Outputs:
    """Weights (6 + 4 legs,) times derivatives of E, of s − |V| and of Γ − J λ: all 0 in a solution.

    By pose, twist, acceleration, forces Γ, loads s and multipliers λ; friction under loads s is in E.
    """
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
    wrong = np.concatenate([demand - rigid.gather(tips, push), *(loads - felt), forces - rates])
    return _weighted(state, wrong, weights, forces=forces, loads=loads, multipliers=multipliers)


def inverse_loads(machine: Machine, state: State, wrench: Components, loads: Components) -> Outputs:
    """Loads that friction feels in inverse dynamics, (3, legs)."""
    found = programs.inverse_dynamics(machine, state, wrench, loads=loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}


def direct_loads(
    machine: Machine, state: State, wrench: Components, forces: Components, loads: Components
) -> Outputs:
    """Loads that friction feels in direct dynamics, (3, legs)."""
    found = programs.direct_dynamics(machine, state, forces, wrench, loads)
    return {name: found[name] for name in ("caused", "vectors")} | {"loads": found["caused"]}


@symbolic
def regressor_row(machine: Machine, state: State, weights: Components) -> Outputs:
    """Σ weight ∂Γ/∂X, (parameters,): Γ is linear in X, so the values of X never enter."""
    graph = graph_of(state)
    unknown = graph.inputs("standard", (31 * len(weights) + 10, 1))
    wrench = graph.constants(np.zeros((6, 1)))
    forces = dynamics.inverse(_with_parameters(machine, unknown), state, wrench).forces
    return {"row": gradients(forces, weights, unknown)}


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
    names = [
        f"{leg} {body} {key}" for leg in legs for body in bodies for key in STANDARD_PARAMETERS
    ]
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
    out = matrices(robot, regressor_row, rows.rows, state, np.eye(robot.leg_count))
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["row"]


def _ten(body: Body) -> Array:
    """XX XY XZ YY YZ ZZ MX MY MZ M of bodies, (10, bodies)."""
    tensor = body.inertia[np.triu_indices(3)]
    return np.concatenate([tensor, body.first_moment, body.mass[np.newaxis]])[..., 0]


def _with_parameters(machine: Machine, standard: Components) -> Machine:
    """The robot with other inertial parameters (parameters, 1)."""
    count = machine.points.shape[1]
    legs = standard[: 30 * count].reshape(count, 3, 10, 1)
    bodies = {
        name: _body(np.moveaxis(legs[:, i], 0, 1))
        for i, name in enumerate(machine.equations.BODIES)
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

    forward: Function
    reverse: Function
    loads: Function
    by: tuple[str, ...]
    solved: tuple[str, ...]
    """Unknowns of the equations behind `friction_reverse`, the model's answer first."""


INVERSE = _Model(
    inverse_forward,
    inverse_reverse,
    inverse_loads,
    ("pose", "twist", "acceleration", "wrench"),
    ("forces", "loads", "multipliers"),
)
DIRECT = _Model(
    direct_forward,
    direct_reverse,
    direct_loads,
    ("pose", "twist", "forces", "wrench"),
    ("acceleration", "loads"),
)


def matrices(
    robot: Robot, reverse: Function, rows: int, fields: Mapping[str, Array], units: Array
) -> dict[str, Array]:
    """Matrices (rows, units, ...) from a program that multiplies weights with them.

    Every state meets every unit vector, so that even one state makes a batch.
    """
    out: dict[str, Array] = {}
    step = max(1, PAIRS // len(units))
    for start in range(0, max(rows, 1), step):
        count = min(step, rows - start)
        given = {
            name: value
            if len(value) == 1
            else np.repeat(value[start : start + count], len(units), axis=0)
            for name, value in fields.items()
        }
        given["weights"] = np.tile(units, (count, 1))
        found = robot.executor(reverse, count * len(units), given)
        for name, value in found.items():
            if name not in out:
                out[name] = np.empty((rows, len(units), *value.shape[1:]))
            out[name][start : start + count] = value.reshape(count, len(units), *value.shape[1:])
    return out


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
        return self._settle(rows, self._slopes(rows))

    def forward(self, changes: Mapping[str, ArrayLike]) -> Array:
        """The matrices times changes."""
        unknown = set(changes) - set(self.model.by)
        if unknown:
            raise InputError(
                f"no change of {min(unknown)!r}: {', '.join(self.model.by)} may change"
            )
        widths = {name: self.robot.leg_count if name == "forces" else 6 for name in self.model.by}
        given = {
            f"{name}_change": (changes.get(name, np.zeros(width)), (width,))
            for name, width in widths.items()
        }
        rows = batch.lay_out(self.motion, self.given | given)
        if not self.rubs:
            out = self.robot.executor(self.model.forward, rows.rows, rows.fields)
            return self._settle(rows, out)["change"]
        parts = [
            np.einsum("...ij,...j->...i", matrix, rows.fields[f"{name}_change"])
            for name, matrix in self._slopes(rows).items()
        ]
        return self._settle(rows, {"change": np.sum(parts, axis=0)})["change"]

    def reverse(self, weights: ArrayLike) -> dict[str, Array]:
        """Weights times the matrices."""
        rows = batch.lay_out(self.motion, self.given | {"weights": (weights, (self.answers,))})
        if not self.rubs:
            return self._settle(
                rows, self.robot.executor(self.model.reverse, rows.rows, rows.fields)
            )
        out = {
            name: np.einsum("...ij,...i->...j", matrix, rows.fields["weights"])
            for name, matrix in self._slopes(rows).items()
        }
        return self._settle(rows, out)

    def _settle(self, rows: Rows, out: dict[str, Array]) -> dict[str, Array]:
        troubles = batch.not_finite(rows)
        if self.rubs:
            known = {one.row for one in troubles}
            troubles += [one for one in self._standing(rows) if one.row not in known]
        return batch.settle(rows, out, troubles, self.on_error)

    def _slopes(self, rows: Rows) -> dict[str, Array]:
        """Derivatives (rows, ...)."""
        state = {name: rows.fields[name] for name in (*State._fields, "forces")}
        if not self.rubs:
            return matrices(self.robot, self.model.reverse, rows.rows, state, np.eye(self.answers))
        fields = state | {"wrench": rows.fields["wrench"]}
        parts = []
        for start in range(0, max(rows.rows, 1), CHUNK):
            count = min(CHUNK, rows.rows - start)
            chunk = {n: v if len(v) == 1 else v[start : start + count] for n, v in fields.items()}
            parts.append(self._friction_slopes(count, chunk))
        return {name: np.concatenate([one[name] for one in parts]) for name in self.model.by}

    def _friction_slopes(self, rows: int, fields: dict[str, Array]) -> dict[str, Array]:
        """−(∂F/∂z)⁻¹ ∂F/∂x of the equations F(x, z) = 0 of `friction_reverse`.

        The unknowns z are the loads and ξ̇, or the loads and Γ and, over six legs, the λ of Γ = J λ.
        """
        robot, legs = self.robot, self.robot.leg_count
        wrench = fields.pop("wrench")
        state = {name: fields[name] for name in State._fields}
        start = (fields if self.model is DIRECT else state) | {"wrench": wrench}
        friction = robot.machine.friction
        fields |= with_friction(robot.executor, self.model.loads, rows, start, friction)[0]
        fields["multipliers"] = self._multipliers(rows, state, fields["forces"])
        solved = self.model.solved if legs > 6 else self.model.solved[:2]
        units = np.eye(6 + 4 * legs)[: None if "multipliers" in solved else 6 + 3 * legs]
        found = matrices(robot, friction_reverse, rows, fields, units)
        found["loads"] = found["loads"].reshape(rows, len(units), 3 * legs)
        found["wrench"] = np.broadcast_to(-np.eye(len(units), 6), (rows, len(units), 6))
        matrix = np.concatenate([found[name] for name in solved], axis=-1)
        matrix[~np.isfinite(matrix).all(axis=(1, 2))] = np.eye(len(units))
        return {
            name: -np.linalg.solve(matrix, found[name])[:, : self.answers] for name in self.model.by
        }

    def _multipliers(self, rows: int, state: dict[str, Array], forces: Array) -> Array:
        """λ = J⁺ Γ, (rows, 6); with six legs it does not count."""
        if self.robot.leg_count == 6:
            return np.zeros((1, 6))
        jacobian = self.robot.executor(programs.jacobian, rows, state)["jacobian"]
        inverse = np.linalg.pinv(np.nan_to_num(jacobian))
        return np.asarray((inverse @ forces[..., np.newaxis])[..., 0])

    def _standing(self, rows: Rows) -> list[Trouble]:
        """Rows where a joint stands still whose Coulomb friction jumps there."""
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
            reason = (
                f"friction without width has no derivative where its {joint} stands still; "
                "give it a width or ask with friction=False"
            )
            for row, leg in np.argwhere(jumps & (speed == 0)).tolist():
                troubles.setdefault(row, Trouble(row, leg, SingularError, reason))
        return list(troubles.values())
