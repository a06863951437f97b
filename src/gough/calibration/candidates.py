"""Poses about home that a robot can take: within its limits, well enough conditioned."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.reading import Limits
from gough.model.freedom import COORDINATES
from gough.model.limits import demands, leg_length, with_strokes
from gough.model.model import Model
from gough.motion import Motion

CANDIDATES = 1500
TURN = 0.6
"""Largest turn from home about an axis, rad."""
WORSE = 4.0
"""Largest condition number of the Jacobian, in those at home."""
MARGIN = 0.02
"""Part of the way to a limit that is kept free."""
HALVINGS = 12
"""Of the way to a limit."""


def random_poses(robot: Model, count: int, *, turn: float = TURN, seed: int = 0) -> Motion:
    """Random poses (count,) within a robot's limits, turned from home by up to `turn` rad about an axis.

    Example:
        >>> random_poses(gough.load("kim-ryu-2002"), 20).shape
        (20,)

    """
    poses, _, inner = candidates(robot, turn, seed, 6 * count + 60)
    return poses[np.flatnonzero(inner)[:count]]


def candidates(
    robot: Model, turn: float = TURN, seed: int = 0, count: int = CANDIDATES
) -> tuple[Motion, list[str], Array]:
    """Poses within limits, half of them at a limit and half on the way there; what limits are assumed.

    Also which (n,) are inner ones, spread evenly over the region by their distance from home.
    """
    limits, assumed = with_strokes(robot)
    home = robot.home
    worst = WORSE * float(robot.condition_number(home))
    rng = np.random.default_rng(seed)
    names = robot.coordinates
    linear = np.array([not name.startswith("r") for name in names])
    far = np.where(linear, leg_length(robot, home), turn)
    ray = rng.uniform(-1, 1, (count, len(names)))
    ray *= far / np.abs(ray).max(axis=1, keepdims=True)
    start = _home(robot)
    low, high = np.zeros(count), np.ones(count)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        good = _allowed(robot, _placed(robot, start + middle[:, np.newaxis] * ray), limits, worst)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    share = (1 - MARGIN) * low
    inner = np.arange(count) % 2 == 1
    share = np.where(inner, share * rng.uniform(0, 1, count) ** (1 / len(names)), share)
    poses = _placed(robot, start + share[:, np.newaxis] * ray)
    good = _allowed(robot, poses, limits, worst)
    if np.sum(good & inner) < count // 20:
        raise InputError(f"{robot.name}: hardly any pose about home is within its limits")
    return poses[np.flatnonzero(good)], assumed, inner[good]


def _home(robot: Model) -> Array:
    """Coordinates of home: its position, no turn."""
    whole = np.concatenate([robot.home.position, np.zeros(3)])
    return np.asarray(whole[[COORDINATES.index(name) for name in robot.coordinates]])


def _placed(robot: Model, u: Array) -> Motion:
    """Poses (n,) with coordinates (n, m); NaN where there are none."""
    if robot.mobility < 6:
        found = robot.motion(u, on_error="nan")
        return Motion(found.position, found.rotation)
    turned = Rotation.from_rotvec(u[:, 3:]).as_matrix() @ robot.home.rotation
    return Motion(u[:, :3], turned)


def _allowed(robot: Model, poses: Motion, limits: Limits, worst: float) -> Array:
    """Poses (n,) within limits and well enough conditioned."""
    condition = robot.condition_number(poses, on_error="nan")
    good = np.isfinite(condition) & (condition < worst)
    rows = np.flatnonzero(good)
    if rows.size:
        for name, value, allowed in demands(robot, poses[rows], limits):
            if name not in ("force", "speed"):
                good[rows] &= (value <= allowed).all(axis=-1)
    return np.asarray(good)
