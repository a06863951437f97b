"""Random states of a robot, within reach and away from singular poses, that move every part of it."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.forward import rods
from gough.model.freedom import COORDINATES
from gough.model.limits import leg_length
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.own_fourier import home_coordinates

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

    Offsets go up to REACH leg lengths and TURN rad along and about the robot's own coordinates, half as
    far and again where the legs do not follow; rates and accelerations are such that inertial,
    centrifugal and weight terms are alike: √(g l), √(g/l) and g, g/l, with l the legs' length. Without a
    home pose within reach the best conditioned of CANDIDATES random poses takes its place. A flexible
    platform is deflected by DEFLECTION l in all modes together, where it moves most, and as quickly as
    it turns.
    """
    rng = np.random.default_rng(seed)
    middle = _middle(robot, rng)
    length = leg_length(robot, middle)
    best = float(robot.condition_number(middle))
    shifts = sum(not name.startswith("r") for name in robot.coordinates)
    sizes = shifts, robot.mobility - shifts
    per_mode = 1 / (np.sqrt(max(robot.modes, 1)) * largest_displacements(robot))
    found: list[Array] = []
    region = 1.0
    while sum(map(len, found)) < count:
        reach = REACH * length * region, TURN * region
        pairs = zip(reach, sizes, strict=True)
        offset = [rng.uniform(-far, far, (2 * count, size)) for far, size in pairs]
        deflection = rng.normal(size=(2 * count, robot.modes)) * DEFLECTION * length * region
        tried = np.column_stack([*offset, deflection * per_mode])
        condition = _condition(robot, _placed(robot, middle, tried))
        best = min(best, condition.min(initial=best))
        found.append(tried[condition < WORSE * best])
        region /= 2
        if region < SMALLEST_REGION and sum(map(len, found)) < count:
            raise InputError(f"{robot.name}: no poses within reach about {middle.position}")
    rate = np.sqrt(GRAVITY / length)
    scales = (rate * length, rate, GRAVITY, GRAVITY / length)
    drawn = [
        scale * rng.normal(size=(count, size))
        for scale, size in zip(scales, 2 * sizes, strict=True)
    ]
    rates = np.column_stack(drawn[:2]), np.column_stack(drawn[2:])
    bent = [scale * rng.normal(size=(count, robot.modes)) * per_mode for scale in scales[::2]]
    moving = _placed(robot, middle, np.concatenate(found)[:count], *rates)
    if not robot.modes:
        return moving
    return moving.replace(elastic_velocity=bent[0], elastic_acceleration=bent[1])


def _placed(
    robot: Model, middle: Motion, tried: Array, ud: Array | None = None, udd: Array | None = None
) -> Motion:
    """Motions (n,) by offsets of the robot's own coordinates from a pose, elastic ones behind.

    A platform that nothing holds moves as its six coordinates say, about any pose.
    """
    offset, elastic = tried[:, : robot.mobility], tried[:, robot.mobility :]
    rates = [np.zeros_like(offset) if one is None else one for one in (ud, udd)]
    if robot.mobility < len(COORDINATES):
        found = robot.motion(home_coordinates(robot) + offset, *rates, on_error="nan")
        return found.replace(elastic=elastic) if robot.modes else found
    turn = Rotation.from_rotvec(offset[:, 3:]).as_matrix()
    (velocity, omega), (acceleration, faster) = (np.split(one, 2, axis=1) for one in rates)
    pose = middle.position + offset[:, :3], turn @ middle.rotation
    return Motion(*pose, velocity, omega, acceleration, faster, elastic=elastic)


def largest_displacements(robot: Model) -> Array:
    """(modes,): displacement of the node that each mode moves most, for a unit of its coordinate."""
    body = robot.description.modal
    if body is None:
        return np.ones(robot.modes)
    return np.asarray(np.linalg.norm(body.shapes, axis=1).max(axis=0, initial=0.0))


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
