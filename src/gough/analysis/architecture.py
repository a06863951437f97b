"""Geometries that are singular in every pose: similar hexagons, Griffis and Duffy's, and their like.

The rods' directions n_i and moments r_i×n_i are then dependent wherever the platform is; no choice of
actuators holds it (Ma & Angeles 1992). Tested as it is defined, by the rank at random poses.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.analysis.rods import Rods
from gough.motion import Array

POSES = 12
SINGULAR = 1e-6
"""Smallest over largest singular value, at the best of the random poses, that counts as singular.

Above zero for files whose coordinates are rounded."""


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


def unit_rows(rod: Array, arm: Array) -> Array:
    """(n_i, r_i×n_i/L) (..., rods, 6) of rods d_i and arms r_i, L the arms' rms length."""
    length = np.linalg.norm(rod, axis=-1, keepdims=True)
    n = rod / np.where(length > 0, length, 1.0)
    scale = np.sqrt(np.mean(np.sum(arm**2, axis=-1), axis=-1))[..., np.newaxis, np.newaxis]
    return np.concatenate([n, np.cross(arm, n) / np.where(scale > 0, scale, 1.0)], axis=-1)


def weakest(rows: Array) -> float:
    """Smallest over largest singular value of matrices (poses, rods, 6), at the best pose."""
    values = np.linalg.svd(rows, compute_uv=False)
    return float(np.max(values[:, -1] / values[:, 0]))
