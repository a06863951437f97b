"""Random states of a robot, within reach and away from singular poses, that move every part of it."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.forward import rods
from gough.model.model import Model
from gough.motion import Motion

GRAVITY = 9.81
"""Acceleration (m/s²) to which those of random states are comparable."""
CANDIDATES = 4096
REACH, TURN = 0.25, 0.4
"""Largest offsets from home along and about each axis: in lengths of a leg, and in rad."""
DEFLECTION = 0.05
"""Of the node that moves most, in lengths of a leg: far more than a real platform's."""
SMALLEST_REGION = 1e-3
WORSE = 4.0
"""Poses may be so many times worse conditioned than the middle of their region."""


def random_states(robot: Model, count: int, seed: int = 0) -> Motion:
    """Random motion states (count,): poses about home, large twists and accelerations.

    Offsets go up to REACH leg lengths and TURN rad an axis, half as far and again where the legs do not
    follow; twists and accelerations are such that inertial, centrifugal and weight terms are alike:
    v ~ √(g l), ω ~ √(g/l), v̇ ~ g, ω̇ ~ g/l, with l the legs' length. Without a home pose within reach
    the best conditioned of CANDIDATES random poses takes its place. A flexible platform is deflected
    by DEFLECTION l in all modes together, where it moves most, and as quickly as it turns.
    """
    rng = np.random.default_rng(seed)
    middle = _middle(robot, rng)
    length = leg_length(robot, middle)
    best = float(robot.condition_number(middle))
    per_mode = 1 / (np.sqrt(max(robot.modes, 1)) * largest_displacements(robot))
    position, rotation, elastic = np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, robot.modes))
    region = 1.0
    while len(position) < count:
        shift = rng.uniform(-REACH, REACH, (2 * count, 3)) * length * region
        turn = Rotation.from_rotvec(rng.uniform(-TURN, TURN, (2 * count, 3)) * region)
        deflection = rng.normal(size=(2 * count, robot.modes)) * DEFLECTION * length * region
        turned = turn.as_matrix() @ middle.rotation
        poses = Motion(middle.position + shift, turned, elastic=deflection * per_mode)
        condition = _condition(robot, poses)
        best = min(best, condition.min(initial=best))
        good = condition < WORSE * best
        position = np.concatenate([position, poses.position[good]])
        rotation = np.concatenate([rotation, poses.rotation[good]])
        elastic = np.concatenate([elastic, poses.elastic[good]])
        region /= 2
        if region < SMALLEST_REGION and len(position) < count:
            raise InputError(f"{robot.name}: no poses within reach about {middle.position}")
    rate = np.sqrt(GRAVITY / length)
    scales = (rate * length, rate, GRAVITY, GRAVITY / length)
    speeds = [scale * rng.normal(size=(count, 3)) for scale in scales]
    rates = [scale * rng.normal(size=(count, robot.modes)) * per_mode for scale in scales[::2]]
    return Motion(
        position[:count],
        rotation[:count],
        *speeds,
        elastic=elastic[:count],
        elastic_velocity=rates[0],
        elastic_acceleration=rates[1],
    )


def largest_displacements(robot: Model) -> Array:
    """(modes,): displacement of the node that each mode moves most, for a unit of its coordinate."""
    body = robot.description.modal
    if body is None:
        return np.ones(robot.modes)
    return np.asarray(np.linalg.norm(body.shapes, axis=1).max(axis=0, initial=0.0))


def leg_length(robot: Model, pose: Motion) -> float:
    """Mean length of the rods that the legs are at a pose with q held there, m."""
    return float(np.mean(rods(robot, robot.inverse_kinematics(pose).q)[1]))


def _middle(robot: Model, rng: np.random.Generator) -> Motion:
    """The home pose, or where there is none the best conditioned of many random poses."""
    home = robot.description.home
    if home is not None and np.isfinite(_condition(robot, home)):
        return home
    points = robot.description.platform_points[..., 0].T
    centers, lengths = rods(robot, np.zeros(robot.leg_count))
    size = float(_spread(centers) + robot.length_scale + np.mean(lengths))
    shift = rng.uniform(-1, 1, (CANDIDATES, 3)) * size
    turn = Rotation.from_rotvec(rng.uniform(-TURN, TURN, (CANDIDATES, 3)))
    poses = Motion(centers.mean(axis=0) - points.mean(axis=0) + shift, turn)
    condition = _condition(robot, poses)
    best = int(np.argmin(condition))
    if not np.isfinite(condition[best]):
        raise InputError(
            f"{robot.name}: neither home nor any of {CANDIDATES} random poses is in reach"
        )
    return poses[best]


def _condition(robot: Model, poses: Motion) -> Array:
    """Condition numbers (...), infinite out of reach."""
    return np.nan_to_num(robot.condition_number(poses, on_error="nan"), nan=np.inf)


def _spread(points: Array) -> float:
    return float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
