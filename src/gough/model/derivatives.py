"""Derivatives of the dynamic models: matrices, products with vectors, linearisation.

A pose changes by (δp, δθ) in world axes: p ← p + δp, R ← exp(δθ^) R, so ∂R/∂θ_k = e_k × R column by
column; a flexible platform turns as it is deflected. A twist changes by (δv, δω), an acceleration by
(δv̇, δω̇), a wrench by (δf, δm), world axes all; elastic coordinates and velocities by δqe and δq̇e.

The models solve the equation of motion, which itself holds no solve: it is differentiated in their
place, and the implicit function theorem gives the rest. On a rigid platform without friction

    E = M ξ̇ + b − Jᵀ Γ − wrench = 0:    dΓ = J⁻ᵀ dE at fixed Γ,    dξ̇ = −M⁻¹ dE at fixed ξ̇

Of a flexible platform ξ̇ = (v̇, ω̇, q̈e), and q̈e is an answer of inverse dynamics too. With friction the
loads s that it feels are unknown as well: s = |V(x, ξ̇, Γ, s)|. All unknowns z of the equations
F(x, z) = 0 then change together, dz = −(∂F/∂z)⁻¹ ∂F/∂x dx. Derivatives are exact. Coulomb friction
without `width` jumps where a joint stands still and has no derivative there.

Where legs or mobility hold the platform, λ and μ are among the unknowns and Cᵀ ξ̇ = … among the
equations. Derivatives are those along allowed motions. By pose, twist and acceleration they are defined
for all changes by their allowed part (the nearest in p and L θ), with the least change of the twist, and
of the acceleration, that keeps these allowed where the pose, or the twist, changes. So the products of
all three with the changes along a motion that the robot can make add up to the change along it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.batch import OnError
from gough.model.described import DescribedModel
from gough.model.freedom import COORDINATES
from gough.model.slopes import Asked
from gough.motion import Motion


@dataclass(frozen=True)
class InverseDerivatives:
    """Derivatives of (Γ, q̈e), (..., actuators + N, 6), by elastic coordinates (..., actuators + N, N).

    On a rigid platform N = 0: they are those of the actuator forces Γ, (..., actuators, 6).
    """

    pose: Array
    """By (δp, δθ); of Γ N/m and N/rad, N m/m and N m/rad of rotary actuators."""
    twist: Array
    acceleration: Array
    """By (δv̇, δω̇); J⁻ᵀ M where the platform is rigid and there is no friction."""
    wrench: Array
    elastic: Array
    """By δqe."""
    elastic_velocity: Array
    """By δq̇e."""


@dataclass(frozen=True)
class DirectDerivatives:
    """Derivatives of (v̇, ω̇, q̈e), (..., 6 + N, 6); by forces (..., 6 + N, actuators).

    By elastic coordinates (..., 6 + N, N); N = 0 on a rigid platform.
    """

    pose: Array
    twist: Array
    forces: Array
    """M⁻¹ Jᵀ where there is no friction and nothing is held."""
    wrench: Array
    elastic: Array
    elastic_velocity: Array


class Linearization(NamedTuple):
    """ẋ = A x + B δΓ of the deviation x = (δp, δθ, δqe, δv, δω, δq̇e) from a motion; rigid: no qe.

    Of a platform that moves in m < 6 directions x has m rows of (δp, δθ) and of (δv, δω): those that
    `robot.coordinates` names, in its order, "x" that of δp and δv, "rx" that of δθ and δω. The other
    rows follow from them.
    """

    A: Array
    """(..., 2 m + 2 N, 2 m + 2 N)."""
    B: Array
    """(..., 2 m + 2 N, actuators)."""


def inverse_dynamics_derivatives(
    robot: DescribedModel,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> InverseDerivatives:
    """How forces and elastic accelerations change with pose, twist, acceleration and wrench.

    Of a flexible robot also with the elastic coordinates and velocities.
    """
    asked = Asked(robot, motion, None, wrench, friction, on_error)
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
    """How the platform's acceleration changes with pose, twist, actuator forces and wrench.

    Of a flexible robot q̈e is part of it, and it also changes with elastic coordinates and velocities.
    """
    if forces is None:
        raise InputError(
            "forces are needed: they make the acceleration whose derivatives these are"
        )
    asked = Asked(robot, motion, forces, wrench, friction, on_error)
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
    """The robot near a motion: ẋ = A x + B δΓ with x = (δp, δθ, δqe, δv, δω, δq̇e).

    R = exp(δθ^) R_motion;  δṗ = δv;  δθ̇ = δω + ω × δθ;  (δv̇, δω̇, δq̈e) = ∂ξ̇/∂x x + ∂ξ̇/∂Γ δΓ. A
    rigid platform has no qe; see `Linearization` for platforms that cannot move in all directions.

    `forces` (..., actuators) drive the motion; left out they are those of inverse dynamics, which give
    it its own acceleration. For a motion that is no equilibrium A and B hold along it, at its time.
    """
    if forces is None:
        forces = robot.inverse_dynamics(motion, wrench, friction, on_error=on_error).forces
    asked = Asked(robot, motion, forces, wrench, friction, on_error)
    found = DirectDerivatives(**asked.slopes())
    by_state = np.concatenate(
        [found.pose, found.elastic, found.twist, found.elastic_velocity], axis=-1
    )
    shape, size = by_state.shape[:-2], 6 + robot.modes
    A, B = (
        np.zeros((*shape, 2 * size, 2 * size)),
        np.zeros((*shape, 2 * size, robot.actuator_count)),
    )
    A[..., :size, size:] = np.eye(size)
    A[..., 3:6, 3:6] = np.cross(motion.angular_velocity[..., np.newaxis, :], np.eye(3)).swapaxes(
        -1, -2
    )
    A[..., size:, :], B[..., size:, :] = by_state, found.forces
    if robot.mobility < 6:
        chosen = [COORDINATES.index(name) for name in robot.coordinates]
        rows = [*chosen, *range(6, size)]
        rows += [size + row for row in rows]
        A, B = A[..., rows, :] @ asked.lift(rows), B[..., rows, :]
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
    """Change (..., actuators + N) of (Γ, q̈e) for changes (..., 6) of what it depends on.

    That is "pose", "twist", "acceleration", "wrench"; of a flexible robot also (..., N) of "elastic"
    and "elastic_velocity". A Jacobian-vector product; what is left out does not change.
    """
    return Asked(robot, motion, None, wrench, friction, on_error).forward(changes)


def inverse_dynamics_vjp(
    robot: DescribedModel,
    motion: Motion,
    weights: ArrayLike,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> InverseDerivatives:
    """Derivatives (..., 6) of Σ weight_i Γ_i, weights (..., actuators); flexible: (..., actuators + N).

    A vector-Jacobian product by reverse differentiation: all of it costs a few inverse dynamics
    (on rigid platforms that nothing holds, without friction; else the matrices are made).
    """
    asked = Asked(robot, motion, None, wrench, friction, on_error)
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
    """Change (..., 6 + N) of (v̇, ω̇, q̈e) for changes of "pose", "twist", "forces", "wrench".

    Of a flexible robot also of "elastic" and "elastic_velocity".
    """
    return Asked(robot, motion, forces, wrench, friction, on_error).forward(changes)


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
    """Derivatives (..., 6), by forces (..., actuators), of weights (..., 6 + N) times (v̇, ω̇, q̈e)."""
    asked = Asked(robot, motion, forces, wrench, friction, on_error)
    return DirectDerivatives(**asked.reverse(weights))
