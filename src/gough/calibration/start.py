"""Where a calibration starts: poses of the robot as drawn, and frames of trackers and targets to fit.

The frames of trackers come from the points that they saw (the rotation that fits best, by singular value
decomposition: Arun, Huang & Blostein 1987), those of targets follow; then both are fitted together, from
turned starts too where the fit is poor.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.calibration.closing import Standing
from gough.calibration.frames import Frames, observe
from gough.calibration.measurements import PoseMeasurements
from gough.errors import ConvergenceError, Failure, InputError
from gough.model import forward
from gough.model.described import DescribedModel
from gough.motion import Motion

STRIDES = 12
"""Steps from home to the coordinates of a sample."""
POOR = 0.05
"""Rms residual, length scales and rad, of a fit that is tried again from elsewhere."""


def drawn_poses(robot: DescribedModel, measured: PoseMeasurements) -> Standing:
    """Poses of the robot as drawn with the coordinates measured, continued from home or near.

    NaN where it has none; `refuse_lost` raises.
    """
    near = measured.near
    if near is None:
        home = robot.home
        first = robot.inverse_kinematics(home).q
        turns = np.array([one.units.turns for one in robot.actuators])
        q = np.where(turns, first + _turned(measured.q - first), measured.q)
        share = np.linspace(0, 1, STRIDES + 1)[1:, np.newaxis, np.newaxis]
        count = len(q)
        guess = Motion(np.tile(home.position, (count, 1)), np.tile(home.rotation, (count, 1, 1)))
        path = first + share * (q - first)
        standing = _standing(robot, guess)
        for step in path:
            standing = _nearest(robot, step, standing)
    else:
        standing = _nearest(robot, measured.q, _standing(robot, near))
    return standing


def refuse_lost(measured: PoseMeasurements, standing: Standing) -> None:
    """Refuse coordinates with which the robot as drawn has no pose."""
    lost = np.flatnonzero(~np.isfinite(standing.position).all(axis=1))
    if lost.size:
        where = measured.where(int(lost[0]))
        reason = "legs that read so close in no pose of the robot as drawn; are the units right?"
        raise ConvergenceError([Failure((), None, f"{where}: {reason}")])


def _standing(robot: DescribedModel, poses: Motion) -> Standing:
    joints = robot.chains_of(poses)
    chains = np.broadcast_to(joints, (len(poses.position), robot.mechanism.legs.coordinates))
    return Standing(poses.position, poses.rotation, chains)


def _nearest(robot: DescribedModel, q: Array, near: Standing) -> Standing:
    """Forward kinematics; where legs agree only as well as they are built, the nearest pose."""
    guess = Motion(near.position, near.rotation)
    robot.remember(guess, near.chains)
    found = forward.solve(robot, q, guess)
    redundant = robot.freedom.overconstrained or robot.actuator_count > robot.mobility
    close = (found.status == forward.STALLED) & (found.residual < POOR * robot.length_scale)
    good = (found.status == forward.CONVERGED) | (redundant & close)
    position = np.where(good[:, np.newaxis], found.position, np.nan)
    return Standing(position, found.rotation, found.chains)


def _turned(angles: Array) -> Array:
    return np.asarray(np.remainder(angles + np.pi, 2 * np.pi) - np.pi)


def register(
    measured: PoseMeasurements, poses: Standing, frames: Frames, free: Array, scale: float
) -> Frames:
    """Frames that fit poses best; those that are not free stay. `scale` is L, m."""
    if not np.any(free):
        return frames
    sizes = np.tile([scale] * 3 + [1.0] * 3, sum(frames.counts))[free]
    weights = np.array([1 / scale] * 3 + [1.0] * 3 + [1 / scale])
    known = np.isfinite(measured.seen)

    def fitted(start: Frames) -> tuple[float, Frames]:
        def off(change: Array) -> Array:
            whole = np.zeros(len(free))
            whole[free] = change
            residuals = observe(measured, start.moved(whole), poses)[0] * weights
            return np.asarray(residuals[known])

        found = least_squares(off, np.zeros(int(np.sum(free))), x_scale=sizes, max_nfev=200)
        whole = np.zeros(len(free))
        whole[free] = found.x
        return float(np.sqrt(2 * found.cost / max(known.sum(), 1))), start.moved(whole)

    best, fit = fitted(_by_points(measured, poses, frames, free))
    if best > POOR:
        for turn in Rotation.create_group("O"):
            turned = frames.tracker_rotation @ turn.as_matrix()
            fixed = ~free.reshape(-1, 6)[: frames.counts[0], 3:].any(axis=1)
            turned[fixed] = frames.tracker_rotation[fixed]
            other, attempt = fitted(frames._replace(tracker_rotation=turned))
            if other < best:
                best, fit = other, attempt
            if best < POOR / 10:
                break
    if not np.isfinite(best):
        raise InputError("calibration: no frames of trackers and targets fit what was measured")
    return fit._replace(center=_middles(measured, fit, poses))


def _by_points(measured: PoseMeasurements, poses: Standing, frames: Frames, free: Array) -> Frames:
    """Trackers' frames by the points that they saw, targets' rotations by those that are then left."""
    position, rotation = frames.tracker_position.copy(), frames.tracker_rotation.copy()
    turned = frames.target_rotation.copy()
    trackers, targets = frames.counts
    free = free.reshape(-1, 6)
    points = poses.position + np.einsum(
        "nij,nj->ni", poses.rotation, frames.target_position[measured.target]
    )
    for i in range(trackers):
        own = (measured.tracker == i) & (measured.relative < 0)
        own &= np.isfinite(measured.seen[:, :3]).all(axis=1)
        if np.sum(own) < 3 or not free[i, 3:].all():
            continue
        saw, there = measured.seen[own, :3], points[own]
        spread = (saw - saw.mean(axis=0)).T @ (there - there.mean(axis=0))
        left, _, right = np.linalg.svd(spread)
        sign = np.diag([1.0, 1.0, np.linalg.det(left @ right)])
        rotation[i] = left @ sign @ right
        position[i] = saw.mean(axis=0) - rotation[i] @ there.mean(axis=0)
    for i in range(targets):
        own = (measured.target == i) & (measured.relative < 0)
        own &= np.isfinite(measured.seen[:, 3:6]).all(axis=1)
        if np.any(own) and free[trackers + i, 3:].all():
            saw = Rotation.from_rotvec(measured.seen[own, 3:6]).as_matrix()
            left = np.swapaxes(rotation[measured.tracker[own]] @ poses.rotation[own], 1, 2)
            turned[i] = Rotation.from_matrix(left @ saw).mean().as_matrix()
    return frames._replace(
        tracker_position=position, tracker_rotation=rotation, target_rotation=turned
    )


def _middles(measured: PoseMeasurements, frames: Frames, poses: Standing) -> Array:
    """The middle of what each tracker sees."""
    y, _ = frames.seen(measured, poses)
    found = np.zeros((frames.counts[0], 3))
    for i in range(len(found)):
        found[i] = y[measured.tracker == i].mean(axis=0) if np.any(measured.tracker == i) else 0.0
    return found
