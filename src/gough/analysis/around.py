"""Poses displaced: by a shift and a turn, or in a robot's own coordinates where its platform is held."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion


def own_values(robot: Model, poses: Motion) -> Array:
    """The robot's own coordinates u (n, m) of poses (n,), m and rad."""
    vector = Rotation.from_matrix(poses.rotation @ robot.home.rotation.T).as_rotvec()
    whole = np.concatenate([poses.position, vector], axis=1)
    return np.asarray(whole[:, [COORDINATES.index(name) for name in robot.coordinates]])


class Around(NamedTuple):
    """Poses (n,) and how to displace them by u (n, moves), in metres."""

    robot: Model
    poses: Motion
    length: float
    chosen: tuple[int, ...] | None
    """Which of its own coordinates move; None: shift and turn of a platform that moves freely."""
    moves: int
    pivot: Array
    """(3,) m, platform frame: about which it turns, where it moves freely."""

    @classmethod
    def of(
        cls,
        robot: Model,
        motion: Motion,
        position: Array,
        rotation: Array,
        length: float,
        turning: bool = True,
        pivot: Array | None = None,
    ) -> Around:
        """Of the rows of a motion."""
        point = np.zeros(3) if pivot is None else pivot
        poses = Motion(position, rotation)
        if robot.mechanism.legs.coordinates:
            size = robot.mechanism.legs.coordinates
            chains = np.broadcast_to(robot.chains_of(motion), (*motion.shape, size))
            robot.remember(poses, chains.reshape(len(poses), size))
        if robot.mobility == 6:
            return cls(robot, poses, length, None, 6 if turning else 3, point)
        names = robot.coordinates
        some = tuple(i for i, name in enumerate(names) if turning or not name.startswith("r"))
        return cls(robot, poses, length, some, len(some), point)

    def some(self, rows: Array) -> Around:
        """Of some of the poses."""
        poses = Motion(self.poses.position[rows], self.poses.rotation[rows])
        if self.robot.mechanism.legs.coordinates:
            self.robot.remember(poses, self.robot.chains_of(self.poses)[rows])
        return self._replace(poses=poses)

    def moved(self, u: Array) -> Motion:
        """The poses displaced by u (n, moves); NaN stays NaN."""
        if self.chosen is not None:
            return self._moved_by_own(u)
        position, rotation = self.poses.position, self.poses.rotation
        if u.shape[1] == 3:
            kept = np.where(np.isnan(u[:, :1, np.newaxis]), np.nan, rotation)
            return Motion(position + u, kept)
        lost: Array = np.isnan(u.sum(axis=1))
        vector = np.where(lost[:, np.newaxis], 0.0, u[:, 3:] / self.length)
        turn = Rotation.from_rotvec(vector).as_matrix() @ rotation
        turn[lost] = np.nan
        shift = u[:, :3]
        if np.any(self.pivot):
            shift = shift + (rotation - turn) @ self.pivot
        return Motion(position + shift, turn)

    def _moved_by_own(self, u: Array) -> Motion:
        robot = self.robot
        own = own_values(robot, self.poses)
        for column, i in enumerate(self.chosen or ()):
            per = self.length if robot.coordinates[i].startswith("r") else 1.0
            own[:, i] += u[:, column] / per
        return robot.motion(own, guess=self.poses, on_error="nan")
