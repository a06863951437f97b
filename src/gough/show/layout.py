"""Where a robot stands and how large it is, for all that draws it in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array, unit
from gough.model.places import PlacedLegs, feet, ground, placed_legs
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.robot import Robot

FIELD = 36.0
"""What a camera sees from its lower to its upper edge, degrees."""
FLAT = 0.2
"""Part of a robot's size below which its height is small."""
ROOM = 1.3
"""How much wider a picture is than what it must show."""


def start_pose(robot: Robot) -> Motion:
    """Home, or without one a guess: above the middle of what the legs stand on."""
    if robot.description.home is not None:
        return robot.description.home
    stands = feet(robot)
    tips = robot.description.platform_points[..., 0].T
    size = float(np.ptp(stands, axis=0).max())
    return Motion(stands.mean(axis=0) - tips.mean(axis=0) + upward(robot) * size)


def upward(robot: Robot) -> Array:
    """The unit world axis most against gravity, (3,); z where there is none."""
    gravity = robot.description.gravity
    up = np.zeros(3)
    main = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    up[main] = -np.sign(gravity[main]) or 1.0
    return up


@dataclass(frozen=True)
class SceneLayout:
    """Where a robot stands and how large it is: for the first camera, the floor and line widths."""

    home: Motion
    up: Array
    """Unit world axis against gravity, (3,)."""
    ground: Array
    """(legs, 2, 3): the ends of rails, or twice a point."""
    legs: list[PlacedLegs]
    """Where all joints are at home."""
    middle: Array
    size: float
    """Largest extent, m."""
    floor: float
    """Height of the floor along `up`, m."""
    corners: Array
    """Points (n, 3) that a picture must show: of all joints, the ground and the platform's origin."""

    @classmethod
    def of(cls, robot: Robot) -> SceneLayout:
        """The layout of a robot at home."""
        home, up = start_pose(robot), upward(robot)
        legs = robot.inverse_kinematics(home)
        placed = placed_legs(robot, home, legs)
        stands = ground(robot, legs.q)
        joints = [one.places.points.reshape(-1, 3) for one in placed]
        points = np.concatenate([stands.reshape(-1, 3), *joints, home.position[np.newaxis]])
        low, high = points.min(axis=0), points.max(axis=0)
        size = float(np.max(high - low))
        floor = float(np.min(points @ up)) - 0.06 * size
        return cls(home, up, stands, placed, (low + high) / 2, size, floor, points)

    def camera(self, aspect: float = 1.0, further: Array | None = None) -> tuple[Array, Array]:
        """Where a camera of `FIELD` sees all of it, and the point it looks at, (3,) each.

        It stands to one side, a little above; `aspect` is the width of the picture over its height,
        `further` are points (n, 3) that are to be seen too.
        """
        corners = self.corners if further is None else np.concatenate([self.corners, further])
        away = unit(self.aside)
        right = unit(np.cross(self.up, away))
        over = np.cross(away, right)
        across, along, near = corners @ right, corners @ over, corners @ away
        target = (across.min() + across.max()) / 2 * right + (along.min() + along.max()) / 2 * over
        half = np.tan(np.radians(FIELD) / 2) / ROOM
        distance = np.max(
            [
                np.abs((corners - target) @ right) / (half * aspect) + near,
                np.abs((corners - target) @ over) / half + near,
            ]
        )
        middle = self.middle @ away
        return target + distance * away, target + middle * away

    @property
    def aside(self) -> Array:
        """From the robot towards who looks at it, (3,): to one side, a little above.

        A flat robot is seen more from its face.
        """
        main = int(np.argmax(np.abs(self.up)))
        first, second = (np.eye(3)[(main + k) % 3] for k in (1, 2))
        if self.up[main] < 0:
            first, second = second, first
        axes = np.stack([first, -second, self.up])
        thin = np.ptp(self.corners @ axes.T, axis=0) < FLAT * self.size
        towards = np.where(thin, [1.3, 1.3, 1.6], [0.72, 0.95, 0.5])
        return np.asarray(towards @ axes)


def round_number(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(step * power for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))
