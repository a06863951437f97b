"""Whether a singular solution is isolated or one of a continuum: a platform that moves by itself.

From a singular end of a path step along directions that the Jacobian does not see, and return by damped
Newton. If solutions go on there, this lands on another one, where the Jacobian is singular again;
near an isolated multiple point it creeps back to where it came from.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.analysis import multistart
from gough.analysis.study import to_study
from gough.base.arrays import Array
from gough.description.architecture import unit_rows
from gough.description.rods import UNFRAMED, Rods

STEP = 0.03
"""Length of the trial step, of z of unit length."""
RANK = 1e-5
"""Singular value, relative to the largest, below which a direction counts as unseen."""
ON_IT = 1e-11
"""Largest residual of a solution."""
DIRECTIONS = 3
"""Trial steps; more than one, as not every unseen direction need lead on."""
STARTS = 600
DAMPED_ITERATIONS = 60
EXAMPLES = 30
"""Most poses of a continuum that are looked at."""


def is_continuum(quadrics: Array, z: Array) -> bool:
    """Whether solutions of the quadrics go on from the singular one near z (8,)."""
    rng = np.random.default_rng(0)
    here = _damped_newton(quadrics, z)
    _, values, right = np.linalg.svd(_jacobian(quadrics, here))
    unseen = right[values < RANK * values[0]].conj()
    for _ in range(DIRECTIONS if len(unseen) else 0):
        # real weights: from a real solution all trials are real
        step = rng.normal(size=len(unseen)) @ unseen
        moved = _damped_newton(quadrics, here + STEP * step / np.linalg.norm(step))
        residual = np.abs(np.einsum("i,eij,j->e", moved, quadrics, moved)).max()
        after = np.linalg.svd(_jacobian(quadrics, moved), compute_uv=False)
        gap = np.linalg.norm(moved - (here.conj() @ moved) * here)
        if residual < ON_IT and gap > STEP / 4 and after[-1] < RANK * after[0]:
            return True
    return False


def _jacobian(quadrics: Array, z: Array) -> Array:
    return np.concatenate([2 * np.einsum("eij,j->ei", quadrics, z), z.conj()[np.newaxis]])


def _damped_newton(quadrics: Array, z: Array) -> Array:
    """A solution near z (8,): Newton damped in proportion to the residual."""
    z = z / np.linalg.norm(z)
    for _ in range(DAMPED_ITERATIONS):
        matrix = _jacobian(quadrics, z)
        residual = np.append(np.einsum("i,eij,j->e", z, quadrics, z), 0.0)
        size = float(np.linalg.norm(residual))
        if size < ON_IT / 100:
            break
        across = matrix.conj().T
        damping = (1e-3 * size + 1e-15) * np.eye(8)
        z = z - np.linalg.lstsq(across @ matrix + damping, across @ residual)[0]
        z = z / np.linalg.norm(z)
    return np.asarray(z)


def rank_lost(rods: Rods, position: Array, rotation: Array) -> Array:
    """Whether the rods' Jacobian is singular at poses (n,)."""
    arm = np.swapaxes(rotation @ rods.point.T, 1, 2)
    rod = position[:, np.newaxis] + arm - rods.anchor
    values = np.linalg.svd(unit_rows(rod, arm), compute_uv=False)
    return np.asarray(values[:, -1] < RANK * values[:, 0])


@np.errstate(all="ignore")
def real_continuum(rods: Rods, quadrics: Array, seed: int = 0) -> tuple[Array, Array]:
    """Positions (n, 3) and rotations (n, 3, 3) of some real solutions that are on a continuum.

    The rods are about 1 long. Damped Newton from random poses: Levenberg and Marquardt's damping,
    proportional to the residual, converges where the Jacobian is singular too.
    """
    position, rotation = multistart.random_starts(rods, STARTS, np.random.default_rng(seed))
    for _ in range(DAMPED_ITERATIONS):
        arm = np.swapaxes(rotation @ rods.point.T, 1, 2)
        d = position[:, np.newaxis] + arm - rods.anchor
        error = (np.einsum("nli,nli->nl", d, d) - rods.length**2) / 2
        rows = np.concatenate([d, np.cross(arm, d)], axis=-1)
        across = np.swapaxes(rows, 1, 2)
        damping = np.minimum(np.linalg.norm(error, axis=1), 1.0)[:, np.newaxis, np.newaxis]
        matrix = across @ rows + (1e-3 * damping + 1e-12) * np.eye(6)
        step = np.linalg.solve(matrix, across @ error[..., np.newaxis])[..., 0]
        step /= np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1.0)
        position = position - step[:, :3]
        rotation = Rotation.from_rotvec(-step[:, 3:]).as_matrix() @ rotation
    suspects = (np.abs(error).max(axis=1) < 1e-10) & rank_lost(rods, position, rotation)
    some = np.flatnonzero(suspects)[:EXAMPLES]
    z = to_study(position[some], rotation[some], UNFRAMED)
    moving = [index for index, one in zip(some, z, strict=True) if is_continuum(quadrics, one)]
    return position[moving], rotation[moving]
