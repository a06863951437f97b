"""Geometries that are singular in every pose: similar hexagons, Griffis and Duffy's, and their like.

The rods' directions n_i and moments r_i×n_i are then dependent wherever the platform is; no choice of
actuators holds it (Ma & Angeles 1992). Tested as it is defined, by the rank at random poses.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description.rods import Rods
from gough.legs.leg import LegKind
from gough.mechanics.leg import Leg, points_moving
from gough.motion import Motion

POSES = 12
SINGULAR = 1e-5
"""Smallest over largest singular value, at the best of the random poses, below which it counts.

Above zero for the sake of files whose coordinates are rounded; sound robots have 0.03 and more."""


def random_rods(rods: Rods, seed: int = 0) -> Array:
    """Directions and moments (poses, rods, 6) of the rods at random poses; lengths play no part.

    Moments about the mean platform point, in units of the platform points' rms distance from it.
    """
    rng = np.random.default_rng(seed)
    turn = Rotation.random(POSES, rng).as_matrix()
    arm = rods.point - rods.point.mean(axis=0)
    base = rods.anchor - rods.anchor.mean(axis=0)
    size = float(np.sqrt(np.mean(np.sum(base**2 + arm**2, axis=1)))) or 1.0
    position = rng.normal(size=(POSES, 1, 3)) * size
    arms = np.einsum("nij,lj->nli", turn, arm)
    return unit_rows(arms + position - base, arms)


def margin(kind: LegKind, legs: Leg, points: Array, home: Motion | None) -> float | None:
    """Smallest over largest singular value of the legs' lines at the best of many random poses.

    `points` (legs, 3) in the platform frame. None for fewer than six legs, and where no pose was found
    that all legs reach.
    """
    if len(points) < 6:
        return None
    pose = None if home is None else (home.position, home.rotation)
    position, turn = kind.geometry.poses_to_try(legs, points, pose)
    if not len(position):
        return None
    arm = np.einsum("nij,lj->nli", turn, points)
    tip = np.moveaxis(position[:, np.newaxis] + arm, -1, 0).swapaxes(1, 2)
    with np.errstate(all="ignore"):
        line = legs.moving(points_moving(tip, 0 * tip, 0 * tip)).direction
    rod = np.moveaxis(line, 0, -1).swapaxes(0, 1)
    reached = np.isfinite(rod).all(axis=(1, 2))
    return weakest(unit_rows(rod[reached], arm[reached])) if np.any(reached) else None


def unit_rows(rod: Array, arm: Array) -> Array:
    """(n_i, r_i×n_i/L) (..., rods, 6) of rods d_i and arms r_i about their mean, L their rms length."""
    arm = arm - arm.mean(axis=-2, keepdims=True)
    length = np.linalg.norm(rod, axis=-1, keepdims=True)
    n = rod / np.where(length > 0, length, 1.0)
    scale = np.sqrt(np.mean(np.sum(arm**2, axis=-1), axis=-1))[..., np.newaxis, np.newaxis]
    return np.concatenate([n, np.cross(arm, n) / np.where(scale > 0, scale, 1.0)], axis=-1)


def weakest(rows: Array) -> float:
    """Smallest over largest singular value of matrices (poses, rods, 6), at the best pose."""
    values = np.linalg.svd(rows, compute_uv=False)
    return float(np.max(values[:, -1] / values[:, 0]))
