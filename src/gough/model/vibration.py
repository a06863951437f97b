"""Small motions near rest: natural frequencies, and whether a flexible platform can be commanded.

At rest, M δξ̇ + D δξ + K δx = Jᵀ δΓ with δx = (δp, δθ, δqe), R ← exp(δθ) R, and

    K = ∂/∂x (b − Jᵀ Γ − wrench)   at the forces Γ that hold the pose,

so K has the platform's stiffness, the weight's and the actuators' preload in it. Of a platform that legs
or mobility hold x are its own coordinates u and qe, and δ(δξ̇)/δx = −M⁻¹ K along what it can do, which
`derivatives.linearize` knows: forces that hold it turn with it, and count in K as the actuators' do.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gough.base.arrays import LARGEST, Array, real_numbers
from gough.errors import InputError, UnstableWarning
from gough.model import batch
from gough.model.batch import Inputs, OnError
from gough.model.beams import SmallMotion, with_beams
from gough.model.deflection import static_deflection
from gough.model.derivatives import linearize
from gough.model.described import DescribedModel
from gough.model.outputs import Output, command_of
from gough.model.own_directions import own_directions
from gough.model.slopes import balance_slopes, joints_of
from gough.model.zero_dynamics import least_growth
from gough.motion import Motion, need_motion

Actuators = Literal["locked", "free"]


@dataclass(frozen=True)
class Vibration:
    """Natural frequencies and shapes of a robot at rest."""

    frequencies: Array
    """(..., n), Hz, rising; −f where the pose does not hold itself: motion grows as exp(2π f t)."""
    shapes: Array
    """(..., 6 + N, n): δp (m), δθ (rad), δqe a column, of length 1, that the platform can move in."""
    motion: Motion
    """The pose, at rest, with its static deflection."""
    forces: Array
    """(..., actuators): what holds it."""
    bending: Array
    """(..., n): the part of a mode's elastic energy that bends legs, 0 to 1."""


@dataclass(frozen=True)
class ElasticHealth:
    """Whether inverse dynamics of a flexible platform is a sound question at a pose."""

    condition: Array
    """(...): condition number of T = J_sys⁻ᵀ, angular rows over the robot's length scale."""
    determinant: Array
    """(...): det M_z / det A_ee, of the frame det T / det J_pᵀ: 0 where modes defeat six actuators."""
    zero_mass: Array
    """M_z (..., N, N), of the frame A_ee − J_eᵀ J_p⁻ᵀ A_re."""
    poles: Array
    """(..., 2 N), 1/s, of M_z q̈e + D q̇e + K qe = 0: the modes while the output is held."""
    stable: Array
    """(...): no pole has a positive real part, up to 1e-7 of the largest pole, which is rounding."""


def natural_frequencies(
    robot: DescribedModel,
    motion: Motion,
    actuators: Actuators | ArrayLike = "locked",
    wrench: ArrayLike | None = None,
    *,
    on_error: OnError = "raise",
) -> Vibration:
    """Undamped natural frequencies at rest in the motion's poses.

    Actuators "locked" (J δx = 0), "free" (forces stay as they are), or with a stiffness, N/m or N m/rad,
    one for all, one per actuator or (..., actuators): δΓ = −k δq. Of compliant drives it is the rotor
    that is locked, free or held; see `_with_springs`. Legs with beams add their elongation and their
    bending modes (`gough.model.beams`).
    """
    spring: Array | None = None
    if isinstance(actuators, str):
        if actuators not in ("locked", "free"):
            raise InputError(f"actuators is 'locked', 'free' or stiffnesses, not {actuators!r}")
        rigid = not (robot.modes or robot.drives.compliant or robot.bends)
        if actuators == "locked" and rigid:
            raise InputError(
                f"{robot.name} has a rigid platform: with locked actuators nothing moves"
            )
    else:
        try:
            spring = real_numbers(actuators)
        except (TypeError, ValueError):
            raise InputError("actuators is not 'locked', 'free' or an array of numbers") from None
        of_each = spring.shape[-1:] in ((), (robot.actuator_count,))
        if not of_each or not np.all((spring >= 0) & (spring <= LARGEST)):
            raise InputError(
                f"actuators needs a stiffness from 0 to {LARGEST:g}, one for all or "
                f"{robot.actuator_count}"
            )
    held = actuators if isinstance(actuators, str) else "springs"
    compliant, drives, robot = robot.drives.compliant, robot, robot.load_side
    rest = static_deflection(robot, motion, wrench, on_error=on_error)
    forces = robot.inverse_dynamics(rest, wrench, friction=False, on_error=on_error).forces
    stiffness = stiffness_matrix(robot, rest, forces, wrench, on_error=on_error)
    shape, size = stiffness.shape[:-2], stiffness.shape[-1]
    own = np.broadcast_to(own_directions(robot, rest), (*shape, 6 + robot.modes, size))
    jacobian = robot.jacobian(rest, on_error=on_error) @ own
    mass = np.swapaxes(own, -1, -2) @ robot.mass_matrix(rest, on_error=on_error) @ own
    bent = np.zeros(size, dtype=bool)
    if robot.bends:
        parts = SmallMotion(mass, stiffness, jacobian, own)
        parts, bent = with_beams(robot, rest, forces, parts, on_error)
        mass, stiffness, jacobian, own = parts
        size = len(bent)
    bends = stiffness * (bent[:, np.newaxis] & bent)
    if compliant:
        given = np.zeros(()) if spring is None else spring
        mass, stiffness, jacobian, own = _with_springs(
            drives, mass, stiffness, jacobian, own, given, held
        )
        size = stiffness.shape[-1]
        spring = np.zeros(()) if held == "springs" else None
    if spring is not None and not compliant:
        try:
            stiff = np.broadcast_to(spring, forces.shape)[..., np.newaxis]
        except ValueError:
            raise InputError(
                f"actuators has shape {spring.shape}, the forces that hold the poses {forces.shape}"
            ) from None
        stiffness = stiffness + np.swapaxes(jacobian, -1, -2) @ (stiff * jacobian)
    everything = held != "locked" or not jacobian.shape[-2]
    count = size if everything else size - _rank(drives)
    frequencies, bending, shapes = (
        np.full((*shape, count), np.nan),
        np.full((*shape, count), np.nan),
        np.full((*shape, 6 + robot.modes, count), np.nan),
    )
    for place in np.ndindex(shape):
        if not np.isfinite(stiffness[place]).all():
            continue
        basis = np.eye(size)
        if not everything:
            basis = linalg.null_space(jacobian[place])
        squares, found = linalg.eig(
            basis.T @ stiffness[place] @ basis, basis.T @ mass[place] @ basis
        )
        hertz = np.sign(squares.real) * np.sqrt(np.abs(squares.real)) / (2 * np.pi)
        order = np.argsort(hertz)[:count]
        moved = (basis @ found.real)[:, order]
        columns = own[place] @ moved
        frequencies[place] = hertz[order]
        stored = np.sum(moved * (stiffness[place] @ moved), axis=0)
        in_legs = moved[: len(bent)]
        in_legs = np.sum(in_legs * (bends[place] @ in_legs), axis=0)
        bending[place] = in_legs / np.where(stored == 0, 1.0, stored)
        length = np.linalg.norm(columns, axis=0)
        shapes[place] = columns / np.where(length > 0, length, 1.0)
    if held != "free":
        _warn_of_falling(robot, frequencies, held)
    return Vibration(frequencies, shapes, rest, forces, bending)


def _rank(robot: DescribedModel) -> int:
    """Of J by all coordinates, locked actuators alone: each leg that gives way has one of its own."""
    stiff = np.isinf(robot.drives.stiffness)
    gives = np.isfinite(robot.leg_stiffness)[[one.leg for one in robot.actuators]]
    return int(np.sum(stiff & gives)) + min(int(np.sum(stiff & ~gives)), robot.mobility)


def _with_springs(
    robot: DescribedModel,
    mass: Array,
    stiffness: Array,
    jacobian: Array,
    own: Array,
    held: Array,
    actuators: str,
) -> tuple[Array, Array, Array, Array]:
    """M, K, J and directions of a robot with compliant drives, rotors behind the platform's coordinates.

    A rotor at θ pulls its leg with f = k (θ − q), k of the drive, c the stiffness that holds it:

        M = [M_load  0]    K = [K + Jᵀ k J   −Jᵀ k]
            [  0     I]        [  −k J       k + c]

    Locked rotors have no coordinate, nor do those without inertia, which leave k c/(k + c); rigid
    drives are as without springs, and stay in J where they are locked.
    """
    rotors = robot.description.legs.rotor[:, 0]
    k, soft = robot.drives.stiffness, np.isfinite(robot.drives.stiffness)
    c = np.broadcast_to(held, (*stiffness.shape[:-2], len(k)))
    across = np.swapaxes(jacobian, -1, -2)
    turning = robot.sprung & (actuators != "locked")
    springs = np.where(soft, np.where(soft, k, 0.0), c)
    light = soft & ~turning & (actuators != "locked")
    if light.any():
        inner = np.where(light, k, 1.0)
        springs = np.where(light, inner * c / (inner + c), springs)
    stiffness = stiffness + across @ (springs[..., np.newaxis] * jacobian)
    count = int(turning.sum())
    if count:
        coupling = -across[..., turning] * k[turning]
        corner = (k + c)[..., turning, np.newaxis] * np.eye(count)
        stiffness = np.concatenate(
            [
                np.concatenate([stiffness, coupling], axis=-1),
                np.concatenate([np.swapaxes(coupling, -1, -2), corner], axis=-1),
            ],
            axis=-2,
        )
        size = mass.shape[-1]
        whole = np.zeros(stiffness.shape)
        whole[..., :size, :size] = mass
        whole[..., range(size, size + count), range(size, size + count)] = rotors[turning]
        mass = whole
        own = np.concatenate([own, np.zeros((*own.shape[:-1], count))], axis=-1)
        padded = np.zeros((*jacobian.shape[:-1], count))
        jacobian = np.concatenate([jacobian, padded], axis=-1)
    return mass, stiffness, jacobian[..., ~soft, :], own


def _warn_of_falling(robot: DescribedModel, frequencies: Array, actuators: str) -> None:
    """Warn where actuators that hold their coordinates do not hold the pose."""
    lowest = np.where(np.isfinite(frequencies), frequencies, np.inf).min(axis=-1, initial=np.inf)
    if not np.any(lowest < 0):
        return
    first = tuple(int(i) for i in np.argwhere(lowest < 0)[0])
    where = f" of sample {first}" if first else ""
    rate = -2 * np.pi * float(lowest[first])
    warnings.warn(
        f"{robot.name} cannot stand in the pose{where} with its actuators {HELD_BY[actuators]}: "
        f"a motion grows as exp({rate:.3g} t), t in s; its weight is more than its stiffness holds",
        UnstableWarning,
        stacklevel=4,
    )


HELD_BY = {"locked": "locked", "springs": "as stiff as this"}


def stiffness_matrix(
    robot: DescribedModel,
    motion: Motion,
    forces: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    on_error: OnError = "raise",
) -> Array:
    """K (..., m + N, m + N) = ∂/∂(u, qe) of what a pose at rest lacks, Γ and wrench constant; exact.

    u are the robot's own coordinates: (p, θ) of a platform that moves freely, ∂/∂x (b − Jᵀ Γ).
    """
    elastic = motion.elastic if motion.modes else None
    rest = Motion(motion.position, motion.rotation, elastic=elastic)
    if robot.mobility < 6:
        near = linearize(robot, rest, forces, wrench, friction=False, on_error=on_error).A
        size = near.shape[-1] // 2
        own = own_directions(robot, rest)
        mass = np.swapaxes(own, -1, -2) @ robot.mass_matrix(rest, on_error=on_error) @ own
        return np.asarray(-mass @ near[..., size:, :size])
    healthy = robot.bias(rest, on_error=on_error)
    given: Inputs = {
        "forces": (forces, (robot.actuator_count,)),
        "bias": (healthy, healthy.shape[-1:]),
        "wrench": (np.zeros(6) if wrench is None else wrench, (6,)),
    }
    rows = batch.lay_out(rest, robot.elastic_inputs(rest) | joints_of(robot, rest) | given)
    fields = {name: value for name, value in rows.fields.items() if name != "bias"}
    found = balance_slopes(robot, rows.rows, fields, {"weights": 6, "elastic_weights": robot.modes})
    by = [found[name] for name in ("pose", "elastic") if name in found]
    out = {"stiffness": np.concatenate(by, axis=-1)}
    return batch.settle(rows, out, batch.not_finite(rows), on_error)["stiffness"]


def elastic_health(
    robot: DescribedModel,
    motion: Motion,
    output: Output = "frame",
    *,
    on_error: OnError = "raise",
) -> ElasticHealth:
    """How well actuators command an output of a flexible robot at the motion's poses, weight aside.

    While actuators move the output as asked, the modes obey M_z q̈e + D q̇e + K qe = …, the zero dynamics.
    Where these are unstable, inverse dynamics forward along a path asks for forces that grow without
    bound: a warning. With (v̇, ω̇) = P q̈e + … of the output (`gough.model.outputs`)

        M_z = A_ee − J_eᵀ J_p⁻ᵀ A_re + (A_er − J_eᵀ J_p⁻ᵀ A_rr) P

    In the notation of Long, Khalil & Martinet 2014, P = 0: det J_sys⁻ᵀ = det J_p⁻ᵀ det M_z / det A_ee.
    A motion without elastic coordinates is undeformed here.
    """
    body = robot.description.modal
    if body is None or not robot.modes:
        raise InputError(f"{robot.name} has a rigid platform: it has no elastic zero dynamics")
    need_motion(motion)
    if not motion.modes:
        motion = motion.replace(elastic=np.zeros(robot.modes))
    scale = np.array([1.0] * 3 + [1 / robot.length_scale] * 3)
    T = robot.condensed(motion, on_error=on_error).sharing
    mass, jacobian = (
        robot.mass_matrix(motion, on_error=on_error),
        robot.jacobian(motion, on_error=on_error),
    )
    shape = mass.shape[:-2]
    modes = robot.modes
    follows = _following(robot, motion, output, on_error)
    zero = np.full((*shape, modes, modes), np.nan)
    poles = np.full((*shape, 2 * modes), np.nan, dtype=np.complex128)
    determinant = np.full(shape, np.nan)
    for place in np.ndindex(shape):
        M, J = mass[place], jacobian[place]
        if not (np.isfinite(M).all() and np.isfinite(J).all()):
            continue
        left = M[6:] - J[:, 6:].T @ np.linalg.lstsq(J[:, :6].T, M[:6], rcond=None)[0]
        zero[place] = left[:, 6:] + left[:, :6] @ follows[place]
        if not np.isfinite(zero[place]).all():
            continue
        determinant[place] = np.linalg.det(np.linalg.solve(M[6:, 6:], zero[place]))
        poles[place] = _poles(zero[place], body.damping, body.stiffness)
    stable = np.all(poles.real <= least_growth(poles)[..., np.newaxis], axis=-1)
    if not np.all(stable | np.isnan(determinant)):
        first = tuple(int(i) for i in np.argwhere(~(stable | np.isnan(determinant)))[0])
        where = f" at sample {first}" if first else ""
        warnings.warn(
            f"{robot.name}: the elastic zero dynamics are unstable{where} while the {output} is "
            f"commanded: the fastest pole to leave is {poles[first].real.max():.3g} 1/s; "
            "elastic_motion finds what stays bounded",
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


def _following(robot: DescribedModel, motion: Motion, output: Output, on_error: OnError) -> Array:
    """P (..., 6, N) of an output at rest in poses with a deflection."""
    flat = Motion(motion.position, motion.rotation, elastic=motion.elastic).reshape(-1)
    found = np.full((*flat.shape, 6, robot.modes), np.nan)
    sound = np.isfinite(robot.inverse_kinematics(flat, on_error=on_error).q).all(axis=-1)
    if sound.any():
        found[sound] = command_of(output)(robot, flat[sound]).following(flat[sound])
    return found.reshape(*motion.shape, 6, robot.modes)


def _poles(mass: Array, damping: Array, stiffness: Array) -> Array:
    """Eigenvalues s (2 N) of s² M + s D + K, slowest first."""
    count = len(mass)
    zero, one = np.zeros((count, count)), np.eye(count)
    left = np.block([[zero, one], [-stiffness, -damping]])
    right = np.block([[one, zero], [zero, mass]])
    poles: Array = linalg.eigvals(left, right)
    return np.asarray(poles[np.argsort(-poles.real)])
