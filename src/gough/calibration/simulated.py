"""Measurements that a machine would give: for trying out a calibration before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, given_numbers
from gough.calibration.closing import Standing, stand
from gough.calibration.frames import Frames
from gough.calibration.geometry import Geometry
from gough.calibration.measurements import COLUMNS, Noise, PoseMeasurements
from gough.calibration.start import drawn_poses, refuse_lost
from gough.errors import InputError
from gough.model.described import DescribedModel
from gough.motion import Motion


def simulate(
    robot: DescribedModel,
    errors: ArrayLike,
    poses: Motion,
    *,
    noise: Mapping[str, float] | None = None,
    seen: tuple[str, ...] = COLUMNS[:6],
    frames: Frames | None = None,
    tracker: ArrayLike = (),
    target: ArrayLike = (),
    relative: bool = False,
    commanded: bool = False,
    seed: int = 0,
) -> PoseMeasurements:
    """What is measured of a machine that was built with errors.

    Args:
        robot: as drawn, with which the poses are commanded.
        errors: of the machine's geometry, (unknowns of `Geometry(robot)`,).
        poses: (n,) where it is sent.
        noise: standard deviations by name, as those of `calibrate`; none left out is above 0.
        seen: what is measured, out of x, y, z, rx, ry, rz, distance.
        frames: where trackers and targets are; at the world's and the platform's by default.
        tracker: (n,) which tracker sees each pose, from 0.
        target: (n,) which target is seen.
        relative: poses are measured from the first one.
        commanded: coordinates of the legs are those commanded, not those that encoders read.
        seed: of the noise.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> still = np.zeros(Geometry(robot).count)
        >>> len(simulate(robot, still, random_poses(robot, 5)))
        5

    """
    geometry, rng = Geometry(robot), np.random.default_rng(seed)
    built = given_numbers("errors", errors)
    if built.shape != (geometry.count,):
        raise InputError(f"errors have shape {built.shape}, needs ({geometry.count},)")
    amount = {**dict.fromkeys(Noise._fields, 0.0), **(noise or {})}
    q = robot.inverse_kinematics(poses).q
    count = len(q)
    blank = np.full((count, len(COLUMNS)), np.nan)
    blank[:, [COLUMNS.index(name) for name in seen]] = 0.0
    related = np.full(count, -1)
    if relative:
        related[1:] = 0
    which = np.asarray(tracker), np.asarray(target)
    sent = PoseMeasurements(q, blank, *which, related, commanded, poses)
    drawn = drawn_poses(robot, sent)
    refuse_lost(sent, drawn)
    # samples with the same coordinates were seen during one stand: they have one reading
    _, first, which_pose = np.unique(q, axis=0, return_index=True, return_inverse=True)
    error = amount["q"] * rng.normal(size=q.shape)[first[which_pose.reshape(-1)]]
    read = q if commanded else q + error
    there = stand(geometry, built, q + (error if commanded else 0) - geometry.zeros(built), drawn)
    shown = _shown(sent, Frames.start(sent) if frames is None else frames, there)
    sizes = [amount["position"]] * 3 + [amount["rotation"]] * 3 + [amount["distance"]]
    off = rng.normal(size=shown.shape) * sizes
    turn = Rotation.from_rotvec(off[:, 3:6]) * Rotation.from_rotvec(shown[:, 3:6])
    noisy = shown + off
    noisy[:, 3:6] = turn.as_rotvec()
    noisy[np.isnan(blank)] = np.nan
    if relative:
        noisy[0] = np.nan
    near = poses if commanded else None
    return PoseMeasurements(read, noisy, sent.tracker, sent.target, related, commanded, near)


def _shown(measured: PoseMeasurements, frames: Frames, poses: Standing) -> Array:
    """What is seen without noise, (n, 7)."""
    y, turned = frames.seen(measured, poses)
    found = np.zeros((len(y), len(COLUMNS)))
    related = measured.relative >= 0
    base = np.maximum(measured.relative, 0)
    axes = np.where(related[:, None, None], np.swapaxes(turned[base], 1, 2), np.eye(3))
    away = np.where(related[:, None], y - y[base], y)
    found[:, :3] = np.einsum("nij,nj->ni", axes, away)
    found[:, 3:6] = Rotation.from_matrix(axes @ turned).as_rotvec()
    found[:, 6] = np.linalg.norm(away, axis=1)
    return found
