"""Derivatives of the dynamic models: matrices, products with vectors, linearisation.

A pose changes by (δp, δθ) in world axes: p ← p + δp, R ← exp(δθ^) R, so ∂R/∂θ_k = e_k × R column by
column. A twist changes by (δv, δω), an acceleration by (δv̇, δω̇), a wrench by (δf, δm), world axes all.

The models solve the equation of motion, which itself holds no solve: it is differentiated in their
place, and the implicit function theorem gives the rest. Without friction

    E = M ξ̇ + b − Jᵀ Γ − wrench = 0:    dΓ = J⁻ᵀ dE at fixed Γ,    dξ̇ = −M⁻¹ dE at fixed ξ̇

and with it the loads s that it feels are unknown too: s = |V(x, ξ̇, Γ, s)|. Derivatives are exact.
Coulomb friction without `width` jumps where a joint stands still and has no derivative there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.engine.run.execute import CHUNK
from gough.errors import InputError, SingularError
from gough.mechanics import programs
from gough.mechanics.state import RIGID_FIELDS
from gough.model import batch, elastic_derivatives
from gough.model.batch import OnError, Rows, Trouble
from gough.model.derivative_programs import (
    direct_forward,
    direct_loads,
    direct_reverse,
    friction_reverse,
    inverse_forward,
    inverse_loads,
    inverse_reverse,
)
from gough.model.described import DescribedModel
from gough.model.friction_loop import with_friction
from gough.motion import Motion

PAIRS = 32768
"""States times unit vectors that a program takes at a time."""


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
    """ẋ = A x + B δΓ of the deviation x = (δp, δθ, δqe, δv, δω, δq̇e) from a motion; rigid: no qe."""

    A: Array
    """(..., 12 + 2 N, 12 + 2 N)."""
    B: Array
    """(..., 12 + 2 N, legs)."""


def inverse_dynamics_derivatives(
    robot: DescribedModel,
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
    robot: DescribedModel,
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
    robot: DescribedModel,
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
    A platform that bends has x = (δp, δθ, δqe, δv, δω, δq̇e): see `gough.model.elastic_derivatives`.
    """
    if forces is None:
        forces = robot.inverse_dynamics(motion, wrench, friction, on_error=on_error).forces
    if robot.modes:
        given = (forces, wrench, friction, on_error)
        by_state, by_force = elastic_derivatives.slopes(robot, motion, *given)
    else:
        found = direct_dynamics_derivatives(
            robot, motion, forces, wrench, friction, on_error=on_error
        )
        by_state, by_force = np.concatenate([found.pose, found.twist], axis=-1), found.forces
    shape, size = by_state.shape[:-2], 6 + robot.modes
    A, B = np.zeros((*shape, 2 * size, 2 * size)), np.zeros((*shape, 2 * size, robot.leg_count))
    A[..., :size, size:] = np.eye(size)
    A[..., 3:6, 3:6] = np.cross(motion.angular_velocity[..., np.newaxis, :], np.eye(3)).swapaxes(
        -1, -2
    )
    A[..., size:, :], B[..., size:, :] = by_state, by_force
    failed = np.isnan(by_state).any(axis=(-2, -1))
    A[failed], B[failed] = np.nan, np.nan
    return Linearization(A, B)


def inverse_dynamics_jvp(
    robot: DescribedModel,
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
    robot: DescribedModel,
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
    robot: DescribedModel,
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
    robot: DescribedModel,
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
    robot: DescribedModel, reverse: Function, rows: int, fields: Mapping[str, Array], units: Array
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
        robot: DescribedModel,
        motion: Motion,
        forces: ArrayLike | None,
        wrench: ArrayLike | None,
        friction: bool,
        on_error: OnError,
    ) -> None:
        """Solve the model: forces None is inverse dynamics. Samples without an answer are NaN."""
        robot.need_rigid("a derivative")
        self.robot, self.motion, self.on_error = robot, motion, on_error
        self.rubs = friction and not robot.mechanism.legs.friction.none
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
        state = {name: rows.fields[name] for name in (*RIGID_FIELDS, "forces")}
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
        state = {name: fields[name] for name in RIGID_FIELDS}
        start = (fields if self.model is DIRECT else state) | {"wrench": wrench}
        friction = robot.mechanism.legs.friction
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
        friction = self.robot.mechanism.legs.friction
        state = {name: rows.fields[name] for name in RIGID_FIELDS}
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
