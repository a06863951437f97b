"""By how much poses at rest keep the limits of the robot file, as margins that may be followed.

A margin is what is allowed less what is asked for, in the limit's own unit; below 0 it is exceeded. They
are those of `robot.check` at rest (strokes, angles, holding forces, passive joints), and det(G) of
`gough.analysis.locus` over its value at home, less `NEAR_SINGULAR`: where it falls below 0 a pose is so
near a singularity, or beyond it, that no drive should be sent there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.analysis.locus import determinant_along
from gough.base.arrays import Array
from gough.errors import LimitError, ReachError, SampleError
from gough.legs.reach import TipBoxes
from gough.mechanics.leg import Driven
from gough.model.batch import one_wrench
from gough.model.deflected import deflected
from gough.model.limits import OF_LEGS, SHORTEST, demands, parts_of
from gough.model.model import Model
from gough.model.standing import standing
from gough.motion import Motion

REACH, SINGULARITY = "reach", "singularity"
NEAR_SINGULAR = 1e-3
"""det(G) over that at home below which a pose counts as singular."""


class PoseLimit(NamedTuple):
    """What ends the room of a pose."""

    leg: int | None
    """From 1; None where no single leg is to blame."""
    part: str
    """"actuator 2", or "joint 3" of a passive one; mostly empty."""
    limit: str
    """Key of [legs.limits], "reach" or "singularity"."""
    allowed: float
    """NaN of the last two."""
    unit: str

    def __str__(self) -> str:
        who = "" if self.leg is None else f"leg {self.leg} "
        value = "" if np.isnan(self.allowed) else f" {self.allowed:.6g} {self.unit}"
        return f"{who}{self.part}{' ' * bool(self.part)}{self.limit}{value}"


class PoseLimits:
    """Margins of poses of a robot."""

    def __init__(self, robot: Model, wrench: ArrayLike | None = None) -> None:
        self.robot, self.wrench = robot, None if wrench is None else one_wrench(wrench)
        self.square = robot.actuator_count == robot.mobility
        home = self._determinant(robot.home.reshape(1))[0] if self.square else 1.0
        self.home = float(home) or 1.0
        self.limits = self._named()
        at_home = self(robot.home.reshape(1))[0]
        if not np.all(at_home >= 0):
            worst = self.limits[int(np.argmin(np.nan_to_num(at_home, nan=-np.inf)))]
            raise LimitError(f"{robot.name} exceeds a limit at home: {worst}")

    def _determinant(self, poses: Motion) -> Array:
        with np.errstate(all="ignore"):
            return determinant_along(self.robot, poses, self.robot.length_scale)

    def _demands(self, poses: Motion) -> list[tuple[str, Array, Array]]:
        robot = self.robot
        if not robot.missing and any(np.any(np.isfinite(one)) for one in robot.limits):
            poses = deflected(robot, poses, self.wrench, on_error="nan")
        return list(demands(robot, poses, robot.limits, self.wrench, on_error="nan"))

    def _named(self) -> tuple[PoseLimit, ...]:
        """What each margin is of, in their order."""
        robot = self.robot
        parts, actuators = parts_of(robot), robot.actuators
        found = []
        for name, value, allowed in self._demands(robot.home.reshape(1)):
            if name == "speed":
                continue
            key = "stroke" if name == SHORTEST else name
            for i in range(value.shape[-1]):
                if name in OF_LEGS:
                    found.append(PoseLimit(i + 1, "", key, float(allowed[i]), "rad"))
                else:
                    bound = float(-allowed[i] if name == SHORTEST else allowed[i])
                    unit = actuators[i].units.limits[key]
                    found.append(PoseLimit(actuators[i].leg + 1, parts[i], key, bound, unit))
        for one in robot.passive:
            for bound in (one.longest, one.shortest):
                unit = one.units.limits["stroke"]
                found.append(
                    PoseLimit(one.leg + 1, f"joint {one.joint + 1}", "stroke", bound, unit)
                )
        if self.square:
            found.append(PoseLimit(None, "", SINGULARITY, np.nan, ""))
        found.append(PoseLimit(None, "", REACH, np.nan, ""))
        return tuple(found)

    def __call__(self, poses: Motion) -> Array:
        """Margins (n, limits) of poses (n,); −1 of "reach" and NaN of the others out of reach."""
        robot = self.robot
        parts = [
            allowed - value for name, value, allowed in self._demands(poses) if name != "speed"
        ]
        if robot.passive:
            legs = standing(robot, poses).legs
            for one in robot.passive:
                q = np.broadcast_to(np.ravel(legs.of_joint(one.leg, one.joint)[0]), len(poses))
                parts.append(np.stack([one.longest - q, q - one.shortest], axis=1))
        there = np.isfinite(robot.inverse_kinematics(poses, on_error="nan").q).all(axis=1)
        if self.square:
            share = self._determinant(poses) / self.home
            parts.append((share - NEAR_SINGULAR)[:, np.newaxis])
        parts.append(np.where(there, 1.0, -1.0)[:, np.newaxis])
        return np.concatenate(parts, axis=1)

    def reaches(self, poses: Motion) -> Array:
        """How far inside their reach tips of legs are (n, k), m²; below 0 beyond, where margins are NaN.

        Of kinds whose tips can be out of reach and that know by how much; an undeformed platform's.
        """
        found = [np.zeros((len(poses), 0))]
        for group in self.robot.description.groups:
            if not isinstance(group.legs, Driven):
                continue
            own = slice(group.first, group.first + group.leg_count)
            points = self.robot.description.platform_points[:, own, 0]
            tip = poses.position[:, np.newaxis] + np.swapaxes(poses.rotation @ points, 1, 2)
            still = np.zeros(tip.shape[:2])
            boxes = TipBoxes(np.zeros((len(poses), 3)), tip, None, still, still)
            free = np.full(group.leg_count, np.inf)
            every = group.kind.geometry.over(group.legs, boxes).conditions(-free, free)
            found += [margin.value for name, margin in every if name == REACH]
        return np.concatenate(found, axis=1)

    def least(self, poses: Motion) -> Array:
        """The least margin (n,): below 0 where any limit is exceeded."""
        margins = self(poses)
        return np.asarray(np.min(np.where(np.isnan(margins), -1.0, margins), axis=1))

    def out_of_reach(self, poses: Motion) -> list[PoseLimit]:
        """Which leg does not reach each of the poses (n,)."""
        found = [self.limits[-1]] * len(poses)
        try:
            self.robot.inverse_kinematics(poses)
        except SampleError as error:
            for one in error.failures:
                limit = REACH if isinstance(error, ReachError) else SINGULARITY
                found[one.sample[0]] = PoseLimit(one.leg, "", limit, np.nan, "")
        return found
