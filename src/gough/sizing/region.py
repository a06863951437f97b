"""The worst case over a region of poses: a grid, then a search from its worst poses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.closest import WIDEST
from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.legs.units import LegUnits
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.motion import Motion
from gough.sizing.bounds import WorstCase, worst_case

MOST_POSES = 1_000_000


@dataclass(frozen=True)
class Region:
    """Poses within ± shift (m, world axes) and ± turn (rotation vector, rad, world axes) of a centre."""

    center: Motion
    shift: ArrayLike = (0.0, 0.0, 0.0)
    turn: ArrayLike = (0.0, 0.0, 0.0)

    @property
    def size(self) -> Array:
        """(shift, turn) (6,)."""
        parts = []
        for name, most, unit in (("shift", WIDEST, "m"), ("turn", np.pi, "rad")):
            value = given_numbers(f"region: {name}", getattr(self, name))
            if value.shape != (3,) or not ((value >= 0) & (value <= most * (1 + 1e-12))).all():
                raise InputError(
                    f"region: {name} needs three numbers of 0 to {most:.3g} {unit}, has {value}"
                )
            parts.append(value)
        return np.concatenate(parts)

    def poses(self, where: Array, robot: Model) -> Motion:
        """Poses of a robot at coordinates (n, 6) within −1 … 1.

        Of one that cannot move in all directions shift and turn are those of its own coordinates.
        """
        if self.center.shape:
            raise InputError(f"region: its centre is one pose, not batch shape {self.center.shape}")
        offset = where * self.size
        if robot.mobility < 6:
            return self._own_poses(offset, robot)
        turn = Rotation.from_rotvec(offset[:, 3:]).as_matrix()
        return Motion(self.center.position + offset[:, :3], turn @ self.center.rotation)

    def _own_poses(self, offset: Array, robot: Model) -> Motion:
        own = [COORDINATES.index(name) for name in robot.coordinates]
        for i, size in enumerate(self.size):
            if size and i not in own:
                raise InputError(
                    f"region: {robot.name} moves by {', '.join(robot.coordinates)}, not by "
                    f"{COORDINATES[i]}"
                )
        turn = Rotation.from_matrix(self.center.rotation @ robot.home.rotation.T).as_rotvec()
        start = np.concatenate([self.center.position, turn])
        return robot.motion((start + offset)[:, own])


@dataclass(frozen=True)
class RegionCase:
    """The worst of each leg over a region (legs,), and where it is."""

    worst: WorstCase
    """(legs,)."""
    at: dict[str, Motion]
    """By quantity: the poses (legs,) at which each leg has its worst."""
    poses: int
    """Poses tried."""
    units: LegUnits
    """Of the robot's actuators."""


def worst_in_region(
    robot: Model,
    region: Region,
    *,
    acceleration: ArrayLike = (0.0,) * 6,
    load: ArrayLike = (0.0,) * 6,
    twist: ArrayLike = (0.0,) * 6,
    steps: int = 3,
    rounds: int = 8,
) -> RegionCase:
    """Extremes over accelerations, loads, twists (exact at each pose) and over the region's poses.

    Poses: a grid of `steps` an axis that the region has, its faces included, then from the worst pose of
    each leg and quantity a pattern search that halves its step `rounds` times. The search finds a local
    worst: it never reports more than there is, and a narrow peak between grid poses can be missed.
    """
    if steps < 2 or rounds < 0:
        raise InputError(f"steps is {steps} and rounds {rounds}; needs two or more and 0 or more")
    axes = np.flatnonzero(region.size)
    if steps ** len(axes) > MOST_POSES:
        raise InputError(f"{steps} steps along {len(axes)} axes are over {MOST_POSES} poses")
    bounds: dict[str, Any] = {"acceleration": acceleration, "load": load, "twist": twist}
    grid = np.zeros((steps ** len(axes), 6))
    grid[:, axes] = list(product(np.linspace(-1, 1, steps), repeat=len(axes)))
    found = worst_case(robot, region.poses(grid, robot), **bounds)
    tried, legs = len(grid), np.arange(robot.actuator_count)
    names = tuple(WorstCase.__annotations__)
    place = np.stack([grid[np.argmax(getattr(found, name), axis=0)] for name in names])
    value = np.stack([np.max(getattr(found, name), axis=0) for name in names])
    moves = np.concatenate([np.eye(6)[axes], -np.eye(6)[axes]])
    step = 1.0 / (steps - 1)
    for _ in range(rounds if len(axes) else 0):
        near = np.clip(place[:, :, np.newaxis] + step * moves, -1, 1)  # (names, legs, moves, 6)
        some = worst_case(robot, region.poses(near.reshape(-1, 6), robot), **bounds)
        tried += near.size // 6
        for i, name in enumerate(names):
            here = getattr(some, name).reshape(*near.shape[:3], -1)[i, legs, :, legs]
            best = np.argmax(here, axis=1)
            better = here[legs, best] > value[i]
            place[i, better] = near[i, legs, best][better]
            value[i, better] = here[legs, best][better]
        step /= 2
    at = {name: region.poses(place[i], robot) for i, name in enumerate(names)}
    return RegionCase(WorstCase(*value), at, tried, robot.units)


def doubts(robot: Model, region: Region) -> list[str]:
    """What the corners say: limits exceeded, and poses on two sides of a singularity."""
    found = []
    places = np.array([[0.0] * 6, *product((-1.0, 1.0), repeat=6)])
    corners = region.poses(np.unique(places * (region.size > 0), axis=0), robot)
    for violation in robot.check(corners).violations[:1]:
        found.append(f"the region goes beyond the robot's limits: {violation}")
    own = own_directions(robot, corners)[..., :6, : robot.mobility]
    jacobian = robot.jacobian(corners, on_error="nan")[..., :6] @ own
    square = robot.actuator_count == robot.mobility
    if square and len(set(np.sign(np.linalg.det(jacobian)))) > 1:
        found.append("the region holds singular poses, near which forces have no bound")
    return found
