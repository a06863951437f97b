"""Stiffness and natural frequencies over a plane of positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.closest import WIDEST
from gough.analysis.locus import around_home
from gough.analysis.margins import Conditions
from gough.analysis.own_workspace import provable
from gough.analysis.pose_boxes import Positions
from gough.analysis.stiffness import held_by, stiffness
from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion

PART = 60
"""Poses between two steps of the progress."""
MOST_POINTS, COARSE = 201, 61
"""A side of a map, and of the grid that finds where its limits are."""


@dataclass(frozen=True)
class StiffnessMap:
    """Stiffness at rest in a plane of positions, at one orientation."""

    across: str
    """The axis held fixed, "x", "y" or "z"."""
    at: float
    """Its value, m."""
    axes: tuple[str, str]
    first: Array
    """(n,) m"""
    second: Array
    """(m,) m"""
    weakest: Array
    """(m, n), N/m: least principal stiffness of the tool, free to turn; NaN out of limits."""
    frequency: Array
    """(m, n), Hz: lowest natural frequency, −f where the pose does not hold itself; NaN without."""
    stable: Array
    """(m, n): the pose holds itself."""


def stiffness_map(
    robot: Model,
    actuator: ArrayLike,
    leg: ArrayLike = np.inf,
    *,
    across: str = "z",
    at: float | None = None,
    bounds: ArrayLike | None = None,
    rotation: ArrayLike | Rotation | None = None,
    points: int = 31,
    preload: bool = True,
    progress: Callable[[float], None] | None = None,
) -> StiffnessMap:
    """Least stiffness of the tool and lowest natural frequency on a grid of `points` a side.

    The plane is `across` = `at` (home's), `bounds` [[low, high]] * 2 m of the other two (what is around
    home), `rotation` home's. Poses that break a limit of the robot file are NaN, as are frequencies
    without `preload`. Flexible platforms deform. `progress` gets the share done.
    """
    if across not in tuple("xyz"):
        raise InputError(f"across is 'x', 'y' or 'z', not {across!r}")
    if not 2 <= points <= MOST_POINTS:
        raise InputError(f"points is {points}, needs 2 to {MOST_POINTS}")
    if not provable(robot):
        raise InputError(
            f"stiffness_map: positions of {robot.name} at one orientation have no bounds that prove; "
            "ask for `stiffness` at poses of robot.motion"
        )
    fixed = "xyz".index(across)
    one, two = (i for i in range(3) if i != fixed)
    level = float(robot.home.position[fixed]) if at is None else float(at)
    if not abs(level) <= WIDEST:
        raise InputError(f"a plane {across} = {level:g} m: must be at most {WIDEST:g} m")
    turn = robot.home.rotation if rotation is None else Motion(np.zeros(3), rotation).rotation
    conditions = Conditions(robot)

    def grid(box: ArrayLike, count: int) -> tuple[Array, Array, Array, Array]:
        """Both axes, the positions (count², 3), and which are within the limits."""
        first, second = (np.linspace(low, high, count) for low, high in np.asarray(box))
        place = np.full((count, count, 3), level)
        place[..., one], place[..., two] = np.meshgrid(first, second)
        flat = place.reshape(-1, 3)
        margins = conditions(Positions(conditions.points, turn).boxes(flat, np.zeros_like(flat)))
        return first, second, flat, np.flatnonzero((margins.value >= 0).all(axis=1))

    if bounds is None:
        around = around_home(robot, 3.0)
        bounds = _trimmed(*grid([around[one], around[two]], COARSE)[2:], (one, two))
        if bounds is None:
            raise InputError(
                f"{robot.name}: no pose around {across} = {level:g} m is within its limits"
            )
    box = given_numbers("bounds", bounds)
    if box.shape != (2, 2) or not np.all(np.abs(box) <= WIDEST) or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(f"bounds needs 2 pairs low < high in metres, has {box.tolist()}")
    first, second, flat, good = grid(box, points)
    weakest, frequency = np.full(len(flat), np.nan), np.full(len(flat), np.nan)
    stable = np.zeros(len(flat), dtype=bool)
    for start in range(0, len(good), PART):
        part = good[start : start + PART]
        poses = Motion(flat[part], turn)
        found = stiffness(robot, poses, actuator, leg, preload=preload, on_error="nan")
        held = np.isfinite(found.compliance).all(axis=(1, 2))
        block = np.linalg.inv(found.compliance[held][:, :3, :3])
        least = np.linalg.eigvalsh((block + np.swapaxes(block, 1, 2)) / 2)[:, 0]
        weakest[part[held]] = least
        stable[part] = found.stable
        if preload:
            springs = held_by(robot, found.motion, actuator, leg, on_error="nan")
            if not isinstance(springs, str):
                springs = np.where(np.isfinite(springs), springs, 0.0)
            vibration = robot.natural_frequencies(poses, springs, on_error="nan")
            frequency[part] = vibration.frequencies[:, 0]
        if progress is not None:
            progress(min(1.0, (start + PART) / len(good)))
    weakest[~stable] = np.nan
    shape = (points, points)
    return StiffnessMap(
        across, level, ("xyz"[one], "xyz"[two]), first, second,
        weakest.reshape(shape), frequency.reshape(shape), stable.reshape(shape),
    )  # fmt: skip


def _trimmed(flat: Array, good: Array, axes: tuple[int, int]) -> Array | None:
    """Bounds (2, 2) of the positions that are good, with some room; None without any."""
    if not len(good):
        return None
    shown = flat[good][:, list(axes)]
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = np.maximum(0.08 * (high - low), 1e-3)
    return np.stack([low - room, high + room], axis=1)
