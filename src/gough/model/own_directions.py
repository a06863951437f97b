"""How a platform moves with its own coordinates."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.model.described import DescribedModel
from gough.model.freedom import COORDINATES
from gough.model.standing import free_directions
from gough.motion import Motion


def own_directions(robot: DescribedModel, motion: Motion) -> Array:
    """How the platform moves with its own coordinates and modes, ξ = D (u̇, q̇e): (..., 6 + N, m + N).

    Rows of `robot.coordinates` ("x" of v, "rx" of ω), and of the modes, are those of the identity; where
    nothing holds the platform D is it. Of a motion whose D does not exist (the coordinates do not tell
    there where the platform is) it is NaN.
    """
    size, m = 6 + robot.modes, robot.mobility
    if m == 6:
        return np.broadcast_to(np.eye(size), (*motion.shape, size, size))
    free = free_directions(robot, motion) / np.repeat([1.0, robot.length_scale], 3)[:, np.newaxis]
    rows = [COORDINATES.index(name) for name in robot.coordinates]
    chosen = np.nan_to_num(free[..., rows, :])
    good = np.isfinite(free).all(axis=(-2, -1)) & (np.abs(np.linalg.det(chosen)) > 0)
    chosen = np.where(good[..., np.newaxis, np.newaxis], chosen, np.eye(m))
    whole = np.zeros((*motion.shape, size, m + robot.modes))
    whole[..., :6, :m] = free @ np.linalg.inv(chosen)
    whole[..., range(6, size), range(m, m + robot.modes)] = 1.0
    whole[~good] = np.nan
    return whole
