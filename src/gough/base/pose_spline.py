"""A spline through poses: position, rotation and their rates at any time between."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.spatial.transform import Rotation, RotationSpline

from gough.base.arrays import Array
from gough.base.rotations import exponential
from gough.errors import InputError

JUMP = 1e-6
"""Largest relative jump of the angular acceleration at a pose."""

SHORTEST, LONGEST = 1e-30, 1e30
"""Step between two poses, and time in all, s: rates of others overflow."""

MOST_POSES = 300_000
"""Poses of one spline: the equations of its rotations take 1.6 kB for each."""

WINDOW, MARGIN = 100_000, 500
"""Poses of one spline in `sampled`, and those on either side that it goes through besides."""

PoseState = tuple[Array, Array, Array, Array, Array, Array]
"""Position, rotation, velocity, angular velocity, and both accelerations; world axes."""


def quintic(times: Array, values: Array) -> scipy.interpolate.BSpline:
    """The quintic spline through values (n, k) at times (n,), not a knot at the ends.

    Through fewer than six values, the polynomial of least degree.
    """
    shortest, whole = float(np.diff(times).min()), float(times[-1] - times[0])
    if not (shortest >= SHORTEST and whole <= LONGEST):
        raise InputError(
            f"times over {whole:.3g} s, the shortest step {shortest:.3g} s: rates need steps of "
            f"{SHORTEST:g} s or more, and {LONGEST:g} s in all at most"
        )
    degree = min(5, len(times) - 1)
    knots = None if degree < len(times) - 1 else np.repeat(times[[0, -1]], degree + 1)
    return scipy.interpolate.make_interp_spline(times, values, k=degree, t=knots)


class PoseSpline:
    """Smoothly through positions (n, 3) and rotations (n, 3, 3) at times (n,) from 0, increasing.

    Position: the `quintic` spline through the points, four times continuously differentiable. Rotation:
    R = R_i exp(θ×) with θ(t) cubic between poses, angular velocity and acceleration continuous
    (scipy's RotationSpline, whose own rates are in platform axes; here all are in world axes).
    Errors count poses from `first`.
    """

    def __init__(self, times: Array, position: Array, rotation: Array, first: int = 0) -> None:
        if len(times) > MOST_POSES:
            raise InputError(f"{len(times)} poses in one spline: at most {MOST_POSES}")
        self.rotation = rotation
        self.path = quintic(times, position)
        self.turns = RotationSpline(times, Rotation.from_matrix(rotation))
        # RotationSpline iterates for its rates and stops after ten passes whether they met or not.
        before, at = self(np.nextafter(times[1:-1], 0.0)), self(times[1:-1])
        jumps = np.linalg.norm(before[5] - at[5], axis=-1)
        rates = np.linalg.norm(at[3], axis=-1) * len(times) / times[-1]
        bad = jumps > JUMP * np.max(np.linalg.norm(at[5], axis=-1) + rates, initial=0.0)
        if np.any(bad):
            raise InputError(
                f"no smooth rotation through poses[{first + np.argmax(bad) + 1}]: too far from its "
                "neighbours, add poses in between"
            )

    def __call__(self, t: Array) -> PoseState:
        """The state at times (...)."""
        i = np.searchsorted(self.turns.times, t, side="right") - 1
        base = self.rotation[np.clip(i, 0, len(self.rotation) - 2)]
        vectors = (self.turns.interpolator(t, order) for order in range(3))
        turn, omega, omega_dot = exponential(*vectors)
        position, velocity, acceleration = (self.path(t, order) for order in range(3))
        omega, omega_dot = (np.einsum("...ij,...j->...i", base, w) for w in (omega, omega_dot))
        return position, base @ turn, velocity, omega, acceleration, omega_dot


def sampled(times: Array, position: Array, rotation: Array) -> PoseState:
    """The state of the `PoseSpline` through all poses at each of them, of any number of poses.

    What a pose does to rates falls by half or more from each pose to the next, so that many poses are
    taken in windows: those over `MARGIN` poses away change nothing that a float could tell.
    """
    parts = []
    for start in range(0, len(times), WINDOW):
        first, end = max(start - MARGIN, 0), min(start + WINDOW + MARGIN, len(times))
        at = times[first:end] - times[first]
        spline = PoseSpline(at, position[first:end], rotation[first:end], first)
        parts.append(spline(at[start - first : start - first + WINDOW]))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))  # type: ignore[return-value]
