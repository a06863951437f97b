"""What the last digit of a motion file makes uncertain, and the smoothest motion within it.

Errors of rounding are as good as independent, of standard deviation δ/√12 for a last digit δ (Widrow &
Kollár 2008, chapter 5). Those of time stamps move poses by as much times their speed. The second
derivative of the quintic spline multiplies them by some 3/h² inside and more at the ends, h being the
step; forces follow by the slopes of inverse dynamics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.base.smoothing import smoothest
from gough.base.tables import Where
from gough.errors import GoughError
from gough.model.model import Model
from gough.motion import Motion

WATCHED = 32
"""Samples at which the uncertainty is computed, besides those at the ends and at the shortest step."""
WINDOW = 20
"""Samples on either side that tell in the rates of one: each tells half as much as the one before it."""
TOLD = 0.01
"""Part of the largest force from which the uncertainty of forces is told."""
FEWEST = 8
"""Samples of a motion whose last digit may be that of rounding: differences of order six and another."""
DIFFERENCES = 6
GRAVITY = 9.81
ROUNDED = ("poses are rounded", "time stamps are rounded", "poses repeat")
"""How the lines begin that say what makes forces uncertain."""
LONGEST_HOLD = 50
"""Samples that a held pose lasts at most: what stands still longer is at rest."""
MANY_HOLDS = 5
"""Held poses from which they are no chance."""
LEAST_STEP = 3.0
"""Last digits that held poses differ by at least: slow motions repeat rounded poses, too."""


class RoundedPoses(NamedTuple):
    """The coordinates of poses over time as a file has them."""

    time: Array
    """(n,), s."""
    stamp: float
    """Last digit of time, s."""
    values: Array
    """(n, 6): x, y, z (m) and angles (rad); of quaternions, twice their vectors."""
    digits: Array
    """(6,): last digits, 0 of what is not in the file."""
    where: Where
    """The place of a sample in the file, in words."""

    def errors(self, sample: int) -> tuple[Array, Array]:
        """Return standard deviations (6,) about a sample that rounding of poses and of time left.

        Not more than twice the roughness of the numbers there: numbers that are written short, being
        exact, have none, and what stands still is wrong by the same everywhere.
        """
        near = slice(max(sample - WINDOW, 0), sample + WINDOW + 1)
        time, values = self.time[near], self.values[near]
        speed = np.sqrt(
            np.mean((np.diff(values, axis=0) / np.diff(time)[:, np.newaxis]) ** 2, axis=0)
        )
        even = np.arange(len(time), dtype=float)
        late = min(self.stamp / np.sqrt(12), 2 * float(_roughness(even, time[:, np.newaxis])[0]))
        own = 2 * _roughness(time, values)
        return np.minimum(self.digits / np.sqrt(12), own), np.minimum(speed * late, own)


def _roughness(time: Array, values: Array) -> Array:
    """Return the standard deviation (k,) of what is not smooth in values (n, k) over time (n,).

    Divided differences of order six, of weights whose squares add up to 1, have the variance of
    independent errors.
    """
    several = sliding_window_view(time, DIFFERENCES + 1)
    apart = several[:, :, np.newaxis] - several[:, np.newaxis, :]
    apart = apart / np.ptp(several, axis=1)[:, np.newaxis, np.newaxis]
    weights = 1 / np.prod(apart + np.eye(DIFFERENCES + 1), axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    rows = sliding_window_view(values - values[0], DIFFERENCES + 1, axis=0)
    rough = np.einsum("mj,mkj->mk", weights, rows)
    return np.asarray(np.sqrt(np.mean(rough**2, axis=0)))


def held_line(poses: RoundedPoses) -> str:
    """Return in words that poses of a sensor that is slow, or sees nothing, are held; else empty."""
    steps = np.diff(poses.values, axis=0)
    moved = np.flatnonzero(np.any(steps != 0, axis=1))
    if len(moved) < 2:
        return ""
    lasting = np.diff(moved)  # samples of the pose between two that move
    before, after = steps[moved[:-1]], steps[moved[1:]]
    scale = np.maximum(poses.digits, 1e-300)
    large = np.minimum(*(np.abs(one / scale).max(axis=1) for one in (before, after))) > LEAST_STEP
    earlier, later = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    onward = large & (np.sum(before * after, axis=1) > 0.5 * earlier * later)
    slow = onward & (lasting > 1) & (np.abs(np.log(later / earlier)) < np.log(2))
    if np.sum(slow) < max(MANY_HOLDS, 0.2 * len(lasting)):
        slow[:] = False
    lost = onward & (lasting > 2) & (np.abs(np.log(later / earlier / lasting)) < np.log(2))
    held = (slow | lost) & (lasting <= LONGEST_HOLD)
    if not held.any():
        return ""
    count, first = int(np.sum(lasting[held] - 1)), int(moved[:-1][held][0]) + 2
    return (
        f"poses repeat: {count} of {len(poses.values)} samples have the pose of the sample before "
        f"while the platform moves (first {poses.where(first)}), as logs that hold the last pose of a "
        "sensor that is slower or sees nothing; accelerations and forces of the curve through them are "
        "wrong. Leave the repeating lines out"
    )


def rounding_line(robot: Model | None, motion: Motion, poses: RoundedPoses) -> str:
    """Return in words how uncertain accelerations and forces are; empty where that does not matter.

    Args:
        robot: the robot that is to move so; left out, accelerations are told alone.
        motion: timed samples (n,) with the rates of the spline through their poses.
        poses: as the file has them.

    """
    if motion.time is None or len(motion) < FEWEST:
        return ""
    if line := held_line(poses):
        return line
    rows = _watched(motion.time)
    both = np.stack([_gain(motion.time, int(k)) * np.stack(poses.errors(int(k))) for k in rows])
    spread = np.linalg.norm(both, axis=1)
    lever = np.repeat([1.0, 1.0 if robot is None else robot.length_scale], 3)
    late = np.linalg.norm(lever * both[:, 1]) > np.linalg.norm(lever * both[:, 0])
    largest = float(np.linalg.norm(motion.acceleration, axis=-1).max())
    arm = 1.0 if robot is None else robot.length_scale
    linear = float(np.linalg.norm(spread[:, :3], axis=-1).max())
    angular = float(np.linalg.norm(spread[:, 3:], axis=-1).max())
    if linear + arm * angular < TOLD / 5 * (largest + GRAVITY):
        return ""
    parts = []
    if linear:
        parts.append(f"accelerations by {linear:.2g} m/s²")
    if angular:
        parts.append(f"angular accelerations by {angular:.2g} rad/s²")
    forces = _forces(robot, motion, rows, spread)
    if forces is not None:
        uncertain, most, unit = forces
        if uncertain <= TOLD * most:
            return ""
        share = 100 * uncertain / most
        percent = f"{share:.0f}" if share >= 10 else f"{share:.2g}"
        parts.append(f"forces by {uncertain:.4g} {unit}, {percent} % of the largest")
    elif linear + arm * angular < TOLD * (largest + GRAVITY):
        return ""
    uncertain_by = f"makes uncertain {', '.join(parts)} (standard deviations)"
    if late:
        reach = _reach(poses, lever)
        return (
            f"{ROUNDED[1]}: their last digit ({poses.stamp:.2g} s) {uncertain_by}; "
            "write time with more digits, from 0 on (samples that come evenly: "
            f"their number over the rate), or --within {reach} (smooth={reach} in read_motion) takes "
            "the smoothest motion within the distance that half the last digit of time makes"
        )
    linear, angular = float(poses.digits[:3].max()), float(poses.digits[3:].max())
    steps = [f"{one:.2g} {u}" for one, u in ((linear, "m"), (angular, "rad")) if one > 1e-12]
    return (
        f"{ROUNDED[0]}: their last digit ({', '.join(steps)}) {uncertain_by}; "
        "--smooth (smooth=True in read_motion) takes the smoothest motion within the last digit"
    )


def _reach(poses: RoundedPoses, lever: Array) -> str:
    """Return in words the distance (m) that coordinates move in half a last digit of time."""
    apart = min(2 * DIFFERENCES, len(poses.time) - 1)  # over several samples rounding matters less
    way = lever * np.abs(poses.values[apart:] - poses.values[:-apart])
    speed = float((way.max(axis=1) / (poses.time[apart:] - poses.time[:-apart])).max())
    return f"{1.05 * 0.5 * poses.stamp * speed:.2g}"


def _watched(time: Array) -> Array:
    """Return samples at which rates are looked at, among them those where rounding tells most."""
    count = len(time)
    even = np.linspace(0, count - 1, min(WATCHED, count)).astype(int)
    shortest = int(np.argmin(np.diff(time)))
    ends = [0, 1, count - 2, count - 1, shortest, shortest + 1]
    return np.unique(np.concatenate([even, ends]))


def _gain(time: Array, sample: int) -> float:
    """Return how the second derivative at a sample multiplies independent errors of values, 1/s²."""
    first, end = max(sample - WINDOW, 0), min(sample + WINDOW + 1, len(time))
    spline = quintic(time[first:end] - time[first], np.eye(end - first))
    return float(np.linalg.norm(spline(time[sample] - time[first], 2)))


def _forces(
    robot: Model | None, motion: Motion, rows: Array, spread: Array
) -> tuple[float, float, str] | None:
    """Return the largest standard deviation of a force, the largest force, and their unit."""
    if robot is None or robot.missing or robot.mobility < 6:
        return None
    robot = robot.rigid
    some = motion[rows]
    poses = Motion(
        some.position, some.rotation, some.velocity, some.angular_velocity,
        some.acceleration, some.angular_acceleration,
    )  # fmt: skip
    pushed = np.concatenate([np.zeros((1, 6)), np.eye(6)])[:, np.newaxis]
    try:
        forces = robot.inverse_dynamics(
            poses.replace(
                acceleration=poses.acceleration + pushed[..., :3],
                angular_acceleration=poses.angular_acceleration + pushed[..., 3:],
            )
        ).forces
    except GoughError:
        return None  # whoever asks for the forces is told why there are none
    slopes = forces[1:] - forces[0]
    uncertain = np.sqrt(np.einsum("jka,kj->ka", slopes**2, spread**2))
    return float(uncertain.max()), float(np.abs(forces[0]).max()), robot.units.force


def smoothed(time: Array, values: Array, tolerances: Array) -> Array:
    """Return values (n, k) of the smoothest curves within tolerances (k,) of values over time.

    Columns for which there is none stay as they are: few samples, or changes as fast as they come.
    """
    found = values.copy()
    for i, tolerance in enumerate(tolerances):
        column = values[:, i]
        if tolerance > 0 and np.ptp(column) > 0:
            curve = smoothest(time - time[0], column, float(tolerance))
            if curve is not None:
                found[:, i] = curve(time - time[0])
    return found
