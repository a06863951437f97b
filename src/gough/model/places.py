"""Where the joints of a robot are in the world, for pictures of it."""

from __future__ import annotations

from gough.base.arrays import Array
from gough.legs.shape import Bar, Places
from gough.model.model import Model
from gough.results import LegMotion


def places(robot: Model, legs: LegMotion) -> Places:
    """Universal and spherical joints; `legs` is `robot.inverse_kinematics(motion)`."""
    return robot.leg_kind.shape.places(robot.description.legs, legs)


def ground(robot: Model, q: Array) -> Array:
    """What stands on the ground (legs, 1 or 2, 3) at q (legs,): a point, or the ends of a rail."""
    parts = robot.description
    return robot.leg_kind.shape.ground(parts.legs, q, parts.limits)


def bodies(robot: Model, joints: Places, lengths: Array, size: float) -> tuple[Bar, ...]:
    """Bodies of the legs as bars, sized for legs (legs,) m long on a robot of the size (m)."""
    return robot.leg_kind.shape.bodies(robot.description.legs, joints, lengths, size)
