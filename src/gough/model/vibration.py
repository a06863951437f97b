"""Small motions near rest: natural frequencies, and whether a flexible platform can be commanded.

At rest, M δξ̇ + D δξ + K δx = Jᵀ δΓ with δx = (δp, δθ, δqe), R ← exp(δθ) R, and

    K = ∂/∂x (b − Jᵀ Γ − wrench)   at the forces Γ that hold the pose,

so K has the platform's stiffness, the weight's and the actuators' preload in it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gough.base.arrays import Array
from gough.errors import InputError, UnstableWarning
from gough.model import batch
from gough.model.batch import Inputs, OnError
from gough.model.deflection import static_deflection
from gough.model.described import DescribedModel
from gough.model.slopes import balance_slopes
from gough.motion import Motion

Actuators = Literal["locked", "free"]


@dataclass(frozen=True)
class Vibration:
    """Natural frequencies and shapes of a robot at rest."""

    frequencies: Array
    """(..., n), Hz, rising; −f where the pose does not hold itself: motion grows as exp(2π f t)."""
    shapes: Array
    """(..., 6 + N, n): δp (m), δθ (rad), δqe a column, of length 1."""
    motion: Motion
    """The pose, at rest, with its static deflection."""
    forces: Array
    """(..., legs): what holds it."""


@dataclass(frozen=True)
class ElasticHealth:
    """Whether inverse dynamics of a flexible platform is a sound question at a pose."""

    condition: Array
    """(...): condition number of T = J_sys⁻ᵀ, angular rows over the robot's length scale."""
    determinant: Array
    """(...): det M_z / det A_ee = det T / det J_pᵀ (six legs): 0 where modes defeat the actuators."""
    zero_mass: Array
    """M_z (..., N, N) = A_ee − J_eᵀ J_p⁻ᵀ A_re."""
    poles: Array
    """(..., 2 N), 1/s, of M_z q̈e + D q̇e + K qe = 0: the modes while the platform frame is held."""
    stable: Array
    """(...): all poles have negative real parts."""


def natural_frequencies(
    robot: DescribedModel,
    motion: Motion,
    actuators: Actuators | ArrayLike = "locked",
    wrench: ArrayLike | None = None,
    *,
    on_error: OnError = "raise",
) -> Vibration:
    """Undamped natural frequencies at rest in the motion's poses.

    Actuators "locked" (J δx = 0), "free" (forces stay as they are), or with a stiffness, N/m, one for
    all, one per leg or (..., legs): δΓ = −k δq.
    """
    spring: Array | None = None
    if isinstance(actuators, str):
        if actuators not in ("locked", "free"):
            raise InputError(f"actuators is 'locked', 'free' or stiffnesses, not {actuators!r}")
        if actuators == "locked" and not robot.modes:
            raise InputError(
                f"{robot.name} has a rigid platform: with locked actuators nothing moves"
            )
    else:
        spring = np.asarray(actuators, dtype=np.float64)
        if spring.shape[-1:] not in ((), (robot.leg_count,)) or not np.all(spring >= 0):
            raise InputError(
                f"actuators needs a stiffness of 0 or more, one for all or {robot.leg_count}"
            )
    rest = static_deflection(robot, motion, wrench, on_error=on_error)
    forces = robot.inverse_dynamics(rest, wrench, friction=False, on_error=on_error).forces
    stiffness = stiffness_matrix(robot, rest, forces, on_error=on_error)
    shape = stiffness.shape[:-2]
    jacobian = np.broadcast_to(
        robot.jacobian(rest, on_error=on_error), (*shape, *forces.shape[-1:], 6 + robot.modes)
    )
    mass = np.broadcast_to(robot.mass_matrix(rest, on_error=on_error), stiffness.shape)
    if spring is not None:
        try:
            stiff = np.broadcast_to(spring, forces.shape)[..., np.newaxis]
        except ValueError:
            raise InputError(
                f"actuators has shape {spring.shape}, the forces that hold the poses {forces.shape}"
            ) from None
        stiffness = stiffness + np.swapaxes(jacobian, -1, -2) @ (stiff * jacobian)
    count = robot.modes if spring is None and actuators == "locked" else 6 + robot.modes
    frequencies, shapes = (
        np.full((*shape, count), np.nan),
        np.full((*shape, 6 + robot.modes, count), np.nan),
    )
    for place in np.ndindex(shape):
        if not np.isfinite(stiffness[place]).all():
            continue
        basis = np.eye(6 + robot.modes)
        if count == robot.modes:
            basis = linalg.null_space(jacobian[place])
        squares, found = linalg.eig(
            basis.T @ stiffness[place] @ basis, basis.T @ mass[place] @ basis
        )
        hertz = np.sign(squares.real) * np.sqrt(np.abs(squares.real)) / (2 * np.pi)
        order = np.argsort(hertz)[:count]
        columns = (basis @ found.real)[:, order]
        frequencies[place] = hertz[order]
        shapes[place] = columns / np.linalg.norm(columns, axis=0)
    return Vibration(frequencies, shapes, rest, forces)


def stiffness_matrix(
    robot: DescribedModel, motion: Motion, forces: ArrayLike, *, on_error: OnError = "raise"
) -> Array:
    """K (..., 6 + N, 6 + N) = ∂/∂(p, θ, qe) (b − Jᵀ Γ) at rest, Γ (..., legs) constant; exact."""
    elastic = motion.elastic if motion.modes else None
    rest = Motion(motion.position, motion.rotation, elastic=elastic)
    healthy = robot.bias(rest, on_error=on_error)
    given: Inputs = {"forces": (forces, (robot.leg_count,)), "bias": (healthy, healthy.shape[-1:])}
    rows = batch.lay_out(rest, robot.elastic_inputs(rest) | given)
    fields = {name: value for name, value in rows.fields.items() if name != "bias"}
    fields["wrench"] = np.zeros((1, 6))
    found = balance_slopes(robot, rows.rows, fields, {"weights": 6, "elastic_weights": robot.modes})
    by = [found[name] for name in ("pose", "elastic") if name in found]
    out = {"stiffness": np.concatenate(by, axis=-1)}
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["stiffness"]


def elastic_health(
    robot: DescribedModel, motion: Motion, *, on_error: OnError = "raise"
) -> ElasticHealth:
    """How well actuators command a flexible platform at the motion's poses; warns where they cannot.

    While actuators hold (v̇, ω̇) as asked, the modes obey M_z q̈e + D q̇e + K qe = …, the zero dynamics.
    Where these are unstable, inverse dynamics along a path asks for forces that grow without bound.
    In the notation of Long, Khalil & Martinet 2014: det J_sys⁻ᵀ = det J_p⁻ᵀ det M_z / det A_ee.
    """
    body = robot.description.modal
    if body is None or not robot.modes:
        raise InputError(f"{robot.name} has a rigid platform: it has no elastic zero dynamics")
    scale = np.array([1.0] * 3 + [1 / robot.length_scale] * 3)
    T = robot.condensed(motion, on_error=on_error).sharing
    mass, jacobian = (
        robot.mass_matrix(motion, on_error=on_error),
        robot.jacobian(motion, on_error=on_error),
    )
    shape = mass.shape[:-2]
    modes = robot.modes
    zero = np.full((*shape, modes, modes), np.nan)
    poles = np.full((*shape, 2 * modes), np.nan, dtype=np.complex128)
    determinant = np.full(shape, np.nan)
    for place in np.ndindex(shape):
        M, J = mass[place], jacobian[place]
        if not (np.isfinite(M).all() and np.isfinite(J).all()):
            continue
        share = np.linalg.lstsq(J[:, :6].T, M[:6, 6:], rcond=None)[0]
        zero[place] = M[6:, 6:] - J[:, 6:].T @ share
        determinant[place] = np.linalg.det(np.linalg.solve(M[6:, 6:], zero[place]))
        poles[place] = _poles(zero[place], body.damping, body.stiffness)
    stable = np.all(poles.real < 0, axis=-1)
    if not np.all(stable | np.isnan(determinant)):
        first = tuple(int(i) for i in np.argwhere(~(stable | np.isnan(determinant)))[0])
        where = f" at sample {first}" if first else ""
        warnings.warn(
            f"{robot.name}: the elastic zero dynamics are unstable{where}: the fastest pole to leave is "
            f"{poles[first].real.max():.3g} 1/s; inverse dynamics cannot be followed there",
            UnstableWarning,
            stacklevel=2,
        )
    with np.errstate(all="ignore"):
        scaled = T * scale[:, np.newaxis]
        sound = np.isfinite(scaled).all(axis=(-2, -1))
        condition = np.where(
            sound, np.linalg.cond(np.where(sound[..., np.newaxis, np.newaxis], scaled, 0.0)), np.nan
        )
    return ElasticHealth(condition, determinant, zero, poles, stable)


def _poles(mass: Array, damping: Array, stiffness: Array) -> Array:
    """Eigenvalues s (2 N) of s² M + s D + K, slowest first."""
    count = len(mass)
    zero, one = np.zeros((count, count)), np.eye(count)
    left = np.block([[zero, one], [-stiffness, -damping]])
    right = np.block([[one, zero], [zero, mass]])
    poles: Array = linalg.eigvals(left, right)
    return np.asarray(poles[np.argsort(-poles.real)])
