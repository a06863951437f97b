"""The platform's motion from actuated coordinates and their rates: what encoders say of it."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.base.rotations import exponential
from gough.errors import ConvergenceError, Failure, InputError, SampleError
from gough.legs.units import LINEAR
from gough.model.model import Model
from gough.model.standing import standing
from gough.motion import Motion

STRIDE = 0.2
"""Way of an actuator, in length scales or rad, between poses that are found one after the other."""
APPROACH = 20
"""Steps from home to the first pose."""
BLOCK = 20_000
"""Samples at a time."""
FINEST = 1e-3
"""Part of the stride at which a path is given up."""
MOST_JUMP, LEAST_JUMP = 3.0, 1e-3
"""A step between samples, rad and length scales, that is so much longer than J⁻¹ δq is a jump."""


def platform_motion(
    robot: Model, q: Array, qd: Array, qdd: Array, start: Motion | None = None
) -> Motion:
    """Pose, twist and acceleration from actuated coordinates (n, actuators) and their derivatives.

    `start` is a pose near the first; without it the way there leads from home.
    """
    return with_rates(robot, poses_along(robot, q, start), qd, qdd)


def deformed_motion(
    robot: Model,
    q: tuple[Array, Array, Array],
    elastic: tuple[Array, Array, Array],
    start: Motion | None = None,
) -> Motion:
    """Motion of a flexible robot whose q and qe, (n, actuators) and (n, N), are known with derivatives.

    The floating frame is where the legs have q with the platform deformed by qe; then with J = [J_r J_e]
    J_r (v, ω) = q̇ − J_e q̇e, and J_r (v̇, ω̇) = q̈ less q̈ of the legs where v̇ = ω̇ = 0.
    """
    if robot.mobility < 6:
        raise InputError(f"{robot.name}: logs of flexible platforms that are held are not read")
    first = None if start is None else Motion(start.position, start.rotation)
    near = poses_along(robot.rigid, q[0], first)
    names = ("elastic", "elastic_velocity", "elastic_acceleration")
    fields = dict(zip(names, elastic, strict=True))
    guess = Motion(near.position, near.rotation, elastic=elastic[0])
    poses = robot.forward_kinematics(q[0], guess)
    jacobian = robot.jacobian(poses)
    inverse = np.linalg.pinv(jacobian[..., :6])
    modal = np.einsum("nij,nj->ni", jacobian[..., 6:], elastic[1])
    twist = _solved(inverse, q[1] - modal)
    moving = Motion(poses.position, poses.rotation, twist[:, :3], twist[:, 3:], **fields)
    rate = _solved(inverse, q[2] - robot.inverse_kinematics(moving).qdd)
    return moving.replace(acceleration=rate[:, :3], angular_acceleration=rate[:, 3:])


def with_rates(robot: Model, poses: Motion, qd: Array, qdd: Array) -> Motion:
    """Twist and acceleration of poses (n,) whose actuated coordinates have derivatives (n, actuators).

    J ξ = q̇ and Cᵀ ξ = 0 of what holds the platform; J ξ̇ = q̈ − J̇ ξ, the last being q̈ of the legs where
    ξ̇ = 0, and Cᵀ ξ̇ = −Ċᵀ ξ. By least squares where actuators are redundant.
    """
    chains = _chains(robot, poses)
    rates = np.empty((2, len(qd), 6))
    for first in range(0, len(qd), BLOCK):
        some = slice(first, first + BLOCK)
        inverse = _inverse(robot, robot.remember(part := poses[some], chains[some]))
        rates[0, some] = twist = _solved(inverse, qd[some])
        moving = part.replace(velocity=twist[:, :3], angular_velocity=twist[:, 3:])
        robot.remember(moving, chains[some])
        felt = qdd[some] - robot.inverse_kinematics(moving).qdd
        second = standing(robot, moving).second if robot.mobility < 6 else None
        rates[1, some] = _solved(inverse, felt, second)
    (velocity, angular), (acceleration, turning) = (np.split(one, 2, axis=1) for one in rates)
    found = poses.replace(
        velocity=velocity,
        angular_velocity=angular,
        acceleration=acceleration,
        angular_acceleration=turning,
    )
    return robot.remember(found, chains)


def platform_deviation(robot: Model, poses: Motion, deviation: Array) -> Array:
    """Return the standard deviations (n, 6) of a twist from those of rates q̇, (n, actuators).

    The same of accelerations: both are linear in the rates, and errors of actuators independent.
    """
    chains = _chains(robot, poses)
    found = np.empty((len(deviation), 6))
    for first in range(0, len(deviation), BLOCK):
        some = slice(first, first + BLOCK)
        inverse = _inverse(robot, robot.remember(poses[some], chains[some]))
        count = deviation.shape[1]
        variance = np.einsum("nij,nj->ni", inverse[..., :count] ** 2, deviation[some] ** 2)
        found[some] = np.sqrt(variance)
    return found


def _inverse(robot: Model, poses: Motion) -> Array:
    """The inverse (n, 6, actuators + k) of q̇ = J ξ and of what k constraints hold; least squares.

    X = (AᵀA)⁻¹Aᵀ with lengths in length scales, and once X ← X + (1 − X A) X, which takes back what
    forming AᵀA costs; where A is square, its inverse.
    """
    scale = np.repeat([1.0, 1.0 / robot.length_scale], 3)
    matrix = robot.jacobian(poses) * scale
    if robot.mobility < 6:
        held = standing(robot, poses).held * np.repeat([1.0, robot.length_scale], 3) * scale
        matrix = np.concatenate([matrix, held], axis=-2)
    try:
        if matrix.shape[-2] == 6:
            return np.asarray(np.linalg.inv(matrix) * scale[:, np.newaxis])
        across = np.swapaxes(matrix, -1, -2)
        found = np.linalg.inv(across @ matrix) @ across
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix) * scale[:, np.newaxis])
    found = found + (np.eye(6) - found @ matrix) @ found
    return np.asarray(found * scale[:, np.newaxis])


def _solved(inverse: Array, rates: Array, second: Array | None = None) -> Array:
    """(n, 6) of rates (n, actuators), and of what the constraints ask for, 0 if not given."""
    count = rates.shape[-1]
    found = np.einsum("nij,nj->ni", inverse[..., :count], rates)
    if second is not None:
        found = found + np.einsum("nij,nj->ni", inverse[..., count:], second)
    return np.asarray(found)


def poses_along(robot: Model, q: Array, start: Motion | None = None) -> Motion:
    """Poses of a path q (n, actuators), by forward kinematics that stays in one posture.

    Block by block: some samples are found one after the other, the rest from the nearest of them, all
    at once. Where two samples side by side are not where J (δp, δθ) = δq leads, another posture was
    found: from there on again, in smaller steps.
    """
    if start is None:
        home = robot.inverse_kinematics(robot.home).q
        path = home + np.linspace(0.0, 1.0, APPROACH)[:, np.newaxis] * (q[0] - home)
        start = robot.forward_kinematics(path, along=0)[-1]
    position, rotation = np.empty((len(q), 3)), np.empty((len(q), 3, 3))
    chains = np.empty((len(q), robot.mechanism.legs.coordinates))
    done, stride = 0, STRIDE
    while done < len(q):
        block = slice(done, done + BLOCK)
        found, good = _block(robot, q[block], start, stride)
        if good == 0 and stride < FINEST * STRIDE:
            raise ConvergenceError(
                [
                    Failure(
                        (done,),
                        None,
                        "the path of q leaves the posture: it runs into a singular pose",
                    )
                ]
            )
        stride = STRIDE if good == len(found) else stride / 4
        kept = slice(done, done + good)
        position[kept], rotation[kept] = found.position[:good], found.rotation[:good]
        chains[kept] = _chains(robot, found)[:good]
        if good:
            start = robot.remember(found[good - 1], _chains(robot, found)[good - 1])
        done += good
    return robot.remember(Motion(position, rotation), chains)


def _chains(robot: Model, motion: Motion) -> Array:
    """Joint coordinates (n, K) of chain legs."""
    return np.broadcast_to(
        robot.chains_of(motion), (*motion.shape, robot.mechanism.legs.coordinates)
    )


def _block(robot: Model, q: Array, start: Motion, stride: float) -> tuple[Motion, int]:
    """Poses of some samples, and how many of them, from the first on, are in the posture of `start`."""
    sizes = np.array(
        [robot.length_scale if one.units == LINEAR else 1.0 for one in robot.actuators]
    )
    way = np.cumsum((np.abs(np.diff(q, axis=0, prepend=q[:1])) / sizes).max(axis=1))
    section = np.rint(way / stride).astype(int)
    _, first, mark = np.unique(section, return_index=True, return_inverse=True)
    try:
        marks = robot.forward_kinematics(q[first], start, along=0)
    except SampleError:
        if stride < FINEST * STRIDE:
            raise
        return start[np.newaxis], 0
    # first order from the mark: p + δp, exp(δθ) R with J (δp, δθ) = δq
    inverse = _inverse(robot, marks)[mark]
    shift = _solved(inverse, q - q[first][mark])
    guess = Motion(
        marks.position[mark] + shift[:, :3],
        exponential(shift[:, 3:])[0] @ marks.rotation[mark],
    )
    robot.remember(guess, _chains(robot, marks)[mark])
    found = robot.forward_kinematics(q, guess, on_error="nan")
    lost = np.flatnonzero(np.isnan(found.position[:, 0]))
    good = int(lost[0]) if lost.size else len(q)
    if good:
        good = min(good, _together(robot, q[:good], found[:good], start, inverse[:good]))
    return found, good


def _together(robot: Model, q: Array, poses: Motion, start: Motion, inverse: Array) -> int:
    """How many poses follow each other without a jump, the first one that of `start`.

    `inverse` is J⁻¹ nearby.
    """
    before = robot.inverse_kinematics(start).q
    step = np.diff(q, axis=0, prepend=before[np.newaxis])
    position = np.diff(poses.position, axis=0, prepend=start.position[np.newaxis])
    last = np.concatenate([start.rotation[np.newaxis], poses.rotation[:-1]])
    # sin of the turn from one to the next: half the antisymmetric part of R₂ R₁ᵀ
    turn = poses.rotation @ np.swapaxes(last, -1, -2)
    sine = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=-1)
    sine = (sine - np.stack([turn[:, 1, 2], turn[:, 2, 0], turn[:, 0, 1]], axis=-1)) / 2
    led = _solved(inverse, step)
    size = robot.length_scale
    gone = np.linalg.norm(position, axis=1) / size + np.linalg.norm(sine, axis=1)
    meant = np.linalg.norm(led[:, :3], axis=1) / size + np.linalg.norm(led[:, 3:], axis=1)
    jumps = np.flatnonzero(gone > MOST_JUMP * meant + LEAST_JUMP)
    return int(jumps[0]) if jumps.size else len(q)
