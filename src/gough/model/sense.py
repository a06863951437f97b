"""Can these numbers be this robot's? Poses and coordinates that only another unit explains.

A pose farther from home than `FAR` times the robot's own size, or a coordinate that much larger than
any the robot has, is in millimetres or degrees by mistake.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array
from gough.errors import Failure, ReachError, UnitsWarning
from gough.mechanics.groups import parted
from gough.mechanics.leg import Driven
from gough.model.batch import OnError, check_on_error
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.model.described import DescribedModel

FAR = 30.0
"""Ratio of sizes that only another unit explains: thousands, half way in logarithms."""
GIANT = 30.0
"""Length scale of a platform, m, beyond which robots are not built."""
TOO_FAR = "a position {:.4g} m from home, where {} reaches about {:.3g} m; is it in millimetres?"


def reach(robot: DescribedModel) -> float:
    """From the platform's place at home to where the farthest leg stands, and on to the platform, m.

    Without home from the world's origin; with the platform's joints as far from its frame as they are.
    """
    middle = _middle(robot)
    away = np.linalg.norm(_feet(robot) - middle, axis=-1)
    points = robot.description.platform_points
    return float(away.max() + np.linalg.norm(points, axis=0).max()) + robot.length_scale


def at_hand(robot: DescribedModel) -> float:
    """|p|∞ up to which a position p cannot be too far: ‖p − home‖ ≤ √3 |p|∞ + ‖home‖, m."""
    return float(FAR * robot.reach - np.abs(_middle(robot)).max()) / 2


def _middle(robot: DescribedModel) -> Array:
    """Where the platform is at home, or the world's origin."""
    home = robot.description.home
    return np.zeros(3) if home is None else home.position


def warn_of_units(robot: DescribedModel, name: str) -> None:
    """Warn of a robot larger than robots are, or of a home far from its legs: millimetres perhaps."""
    if robot.length_scale > GIANT:
        warnings.warn(
            f"{name}: its platform holds the legs {robot.length_scale:.3g} m from their middle; are "
            'lengths in millimetres? Then say so: units = { length = "mm" }',
            UnitsWarning,
            stacklevel=4,
        )
    home = robot.description.home
    if home is None:
        return
    away, size = float(np.linalg.norm(home.position - _feet(robot).mean(axis=0))), _own_size(robot)
    if 0 < FAR * size < away:
        warnings.warn(
            f"{name}: home is {away:.4g} m from the middle of the legs' feet, where base, legs and "
            f"platform are {size:.3g} m in size; is home in millimetres?",
            UnitsWarning,
            stacklevel=4,
        )


def _feet(robot: DescribedModel) -> Array:
    """One point of each leg (legs, 3) on the ground, m."""
    parts = [(group.kind, one) for group in robot.description.groups for one in parted(group.legs)]
    return np.concatenate([kind.shape.feet(one) for kind, one in parts])


def _own_size(robot: DescribedModel) -> float:
    """Size of base, legs and platform without regard to home, m: the largest that the file gives."""
    clouds = [_feet(robot), robot.description.platform_points[..., 0].T]
    sizes = [0.0]
    for group in robot.description.groups:
        for part in parted(group.legs):
            unknown = np.full((3, part.count, 1), np.nan)  # where the tips are, home alone says
            clouds.append(group.kind.geometry.joint_points(part, unknown)[..., 0].T)
        if not isinstance(group.legs, Driven):
            continue
        ends = group.limits.shortest, group.limits.longest
        clouds.append(np.concatenate(group.kind.geometry.tip_bounds(group.legs, *ends)))
        if not group.kind.units.turns:
            known = np.concatenate([*ends, group.kind.shape.q_size(group.legs)])
            sizes += np.abs(known[np.isfinite(known)]).tolist()
    for points in clouds:
        known = points[np.isfinite(points).all(axis=1)]
        if len(known):
            sizes.append(float(np.linalg.norm(known - known.mean(axis=0), axis=1).max()))
    return max(sizes)


def coordinate_sizes(robot: DescribedModel) -> Array:
    """How large each actuated coordinate gets, in its unit, roughly; (actuators,).

    By the stroke, by lengths of the leg, and at home.
    """
    limits = robot.description.limits
    ends = [np.where(np.isfinite(one), one, 0.0) for one in (limits.shortest, limits.longest)]
    own = [
        group.kind.shape.q_size(one)
        for group in robot.description.groups
        for one in parted(group.legs)
    ]
    ends.append(np.concatenate(own))
    if robot.description.home is not None:
        ends.append(robot.inverse_kinematics(robot.home).q)
    return np.asarray(np.abs(np.stack(ends)).max(axis=0))


def sensible(robot: DescribedModel, motion: Motion, on_error: OnError) -> Motion:
    """The motion, if its positions can be the robot's; samples that are not raise, or become NaN."""
    position = motion.position
    if motion.shape:
        largest = np.fmax.reduce(np.abs(position), axis=None, initial=0.0)  # NaN is passed over
    else:
        largest = max(map(abs, position.tolist()))
    if not largest > robot.at_hand:
        return motion  # the usual case, cheaply
    limit = FAR * robot.reach
    middle = _middle(robot)
    away = np.hypot.reduce(motion.position - middle, axis=-1)  # of squares some would be infinite
    bad = (away > limit) & np.isfinite(motion.position).all(axis=-1)  # others are told as such
    if not bad.any():
        return motion
    check_on_error(on_error)
    if on_error == "nan":
        near = motion.replace(position=np.where(bad[..., np.newaxis], np.nan, motion.position))
        return near if motion._joints is None else near._with_joints(*motion._joints)
    raise ReachError(
        [
            Failure(
                tuple(int(i) for i in place),
                None,
                TOO_FAR.format(away[tuple(place)], robot.name, robot.reach),
            )
            for place in np.argwhere(bad)
        ]
    )
