"""What the last digit of a motion file makes uncertain, and the smoothest motion within it.

Errors of rounding are as good as independent, of standard deviation δ/√12 for a last digit δ (Widrow &
Kollár 2008, chapter 5). The second derivative of the quintic spline multiplies them by some 3/h² inside
and more at the ends, h being the step; forces follow by the slopes of inverse dynamics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.base.smoothing import smoothest
from gough.errors import GoughError
from gough.model.model import Model
from gough.motion import Motion

WATCHED = 32
"""Samples at which the uncertainty is computed, besides those at the ends and at the shortest step."""
WINDOW = 20
"""Samples on either side that tell in the rates of one: each tells half as much as the one before it."""
TOLD = 0.01
"""Part of the largest force from which the uncertainty of forces is told."""
FEWEST = 20
"""Samples of a motion whose last digit may be that of rounding."""
DIFFERENCES = 6
SPREAD = 924.0
"""Variance of the sixth differences of independent numbers of variance 1: Σ (6 over k)²."""
GRAVITY = 9.81
ROUNDED = "poses are rounded"
"""How the line begins that says so."""


class RoundedPoses(NamedTuple):
    """The coordinates of poses over time as a file has them."""

    values: Array
    """(n, 6): x, y, z (m) and angles (rad); of quaternions, twice their vectors."""
    digits: Array
    """(6,): last digits, 0 of what is not in the file."""

    def errors(self, sample: int) -> Array:
        """Return standard deviations (6,) of what rounding left of the coordinates about a sample.

        Not more than twice their own roughness there: numbers that are written short, being exact, have
        none, and what stands still is wrong by the same everywhere.
        """
        rough = np.diff(
            self.values[max(sample - WINDOW, 0) : sample + WINDOW + 1], DIFFERENCES, axis=0
        )
        own = np.sqrt(np.mean(rough**2, axis=0) / SPREAD)
        return np.asarray(np.minimum(self.digits / np.sqrt(12), 2 * own))


def rounding_line(robot: Model | None, motion: Motion, poses: RoundedPoses) -> str:
    """Return in words how uncertain accelerations and forces are; empty where that does not matter.

    Args:
        robot: the robot that is to move so; left out, accelerations are told alone.
        motion: timed samples (n,) with the rates of the spline through their poses.
        poses: as the file has them.

    """
    if motion.time is None or len(motion) < FEWEST:
        return ""
    rows = _watched(motion.time)
    spread = np.stack([_gain(motion.time, int(k)) * poses.errors(int(k)) for k in rows])
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
    return (
        f"{ROUNDED}: their last digit makes uncertain {', '.join(parts)} (standard deviations); "
        "--smooth (smooth=True in read_motion) takes the smoothest motion within the last digit"
    )


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
