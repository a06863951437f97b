"""On which side of its parallel singularities a robot is, over boxes of poses.

With as many actuators as directions in which the platform can move, a pose is singular where the rows of
the Jacobian J along these directions are dependent. A path that crosses no singularity keeps the sign of

    d = det J/Π ‖J_i‖

which is without unit and does not grow where links get out of reach. Over a box it is taken as

    d(x) = value + slope·δ + r,    |r| ≤ 2 max over the corners of what they miss of it:

an estimate of second order, not a bound that proves.
"""

from __future__ import annotations

import numpy as np

from gough.analysis.octree import CORNERS
from gough.analysis.pose_boxes import Poses
from gough.base.arrays import Array
from gough.legs.reach import Margins
from gough.mechanics.programs import scaled_jacobian
from gough.model.batch import lay_out
from gough.model.model import Model
from gough.motion import Motion

SAFETY = 2.0
"""How much more than at its corners a box may miss of a linear determinant."""


class Side:
    """The side of the singularities on which a robot is at home."""

    def __init__(self, robot: Model) -> None:
        self.robot = robot.rigid if robot.modes else robot
        self.sign = 1.0
        home = robot.home
        self.sign = float(np.sign(self._determinant(home[np.newaxis])[0]))

    def over(self, poses: Poses, centre: Array, half: Array) -> Margins:
        """d over boxes (n, 3), positive on home's side: one margin (n, 1)."""
        steps = np.concatenate([np.zeros((1, 3)), 2.0 * CORNERS - 1.0])
        places = centre[:, np.newaxis] + steps * half[:, np.newaxis]
        found = self.at(poses, places.reshape(-1, 3)).reshape(len(centre), len(steps))
        middle, corners = found[:, 0], found[:, 1:]
        slope = corners @ steps[1:] / len(CORNERS)  # by δ/half
        with np.errstate(invalid="ignore"):
            missed = np.abs(corners - middle[:, np.newaxis] - slope @ steps[1:].T).max(axis=1)
        known = np.isfinite(missed)
        # where links do not reach everywhere: the one sign of all that they reach, or none
        some, other = (found > 0).any(axis=1), (found < 0).any(axis=1)
        value = np.where(known, middle, some * 1.0 - other * 1.0)
        rest = np.where(known, SAFETY * missed, np.where(some == other, 1.0, 0.0))
        per = np.divide(1.0, half, out=np.zeros_like(half), where=half > 0)
        rate = np.where(known[:, np.newaxis], slope, 0.0) * per
        return Margins(value[:, np.newaxis], rate[:, np.newaxis], rest[:, np.newaxis])

    def at(self, poses: Poses, places: Array) -> Array:
        """d (n,) at coordinates (n, 3), positive on home's side; NaN out of reach."""
        return self.sign * self._determinant(poses.motion(places))

    def _determinant(self, motion: Motion) -> Array:
        rows = lay_out(motion, {})
        found = self.robot.executor(scaled_jacobian, rows.rows, rows.fields)["jacobian"]
        size = np.linalg.norm(found, axis=2, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = found / size
        known = np.isfinite(unit).all(axis=(1, 2))
        determinant = np.full(len(unit), np.nan)
        determinant[known] = np.linalg.det(unit[known])
        return determinant


def sided(robot: Model) -> bool:
    """Whether singularities part a robot's poses: as many actuators as directions."""
    return robot.description.home is not None and robot.actuator_count == robot.mobility
