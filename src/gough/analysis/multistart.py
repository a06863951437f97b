"""Postures by chance: Newton from many random poses, with an estimate of what it has not seen.

The rotation of a start is uniform over all rotations; its position then is the least-squares
solution of the differences of the rods' equations, which are linear in it. Newton as in `model.forward`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description.rods import Rods

STARTS = 1000
"""Starts a wave."""
MOST_WAVES = 12
MOST_ITERATIONS = 25
LARGEST_STEP = 1.0
"""rad, and as many units of length, of rods that are about 1 long."""
CONVERGED = 1e-12
SAME = 1e-4
"""Distance, norm over position and rotation matrix, below which two poses count as one posture."""
SEEN_ENOUGH = 3
"""The search ends once every posture was met this often."""
MOST_POSTURES = 40
"""More than these are not isolated; the search ends."""


@dataclass(frozen=True)
class Coverage:
    """What a random search has seen, and what it thinks it has not."""

    starts: int
    """Newton runs made."""
    hits: int
    """Runs that ended in a posture."""
    found: int
    """Different postures met."""
    estimated: float
    """Number there are, by Chao's lower bound: found + f₁(f₁−1)/(2(f₂+1)), f_k met k times."""
    share: float
    """Good and Turing's estimate of the chance that one more hit is a known posture: 1 − f₁/hits. It
    is no bound: a posture that few starts lead to is missed though the others were met often."""


def coverage(starts: int, counts: Array) -> Coverage:
    """The estimates from how often each posture was met (Chao 1984, bias-corrected; Good 1953)."""
    hits, once, twice = int(counts.sum()), int(np.sum(counts == 1)), int(np.sum(counts == 2))
    estimated = len(counts) + once * (once - 1) / (2 * (twice + 1))
    return Coverage(starts, hits, len(counts), estimated, 1 - once / hits if hits else 0.0)


def random_starts(rods: Rods, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions (count, 3) and rotations (count, 3, 3).

    ‖p + e_i‖² = l_i² with e_i = R b_i − A_i, less their mean: 2 (e_i − ē)·p = l_i² − ‖e_i‖² − mean.
    """
    rotation = Rotation.from_quat(rng.normal(size=(count, 4))).as_matrix()
    offset = np.einsum("nij,lj->nli", rotation, rods.point) - rods.anchor
    square = rods.length**2 - np.sum(offset**2, axis=-1)
    rows = 2 * (offset - offset.mean(axis=1, keepdims=True))
    right = square - square.mean(axis=1, keepdims=True)
    normal = np.einsum("nli,nlj->nij", rows, rows)
    # a touch of damping: offsets that lie in a plane leave p free along its normal
    normal += 1e-3 * np.eye(3)
    position = np.linalg.solve(normal, np.einsum("nli,nl->ni", rows, right)[..., np.newaxis])
    return position[..., 0] + 0.3 * rng.normal(size=(count, 3)), rotation


@np.errstate(all="ignore")
def newton(rods: Rods, position: Array, rotation: Array) -> Array:
    """Move poses onto the rods' lengths, in place; which ones converged (n,).

    ½(‖d‖² − l²) = 0, d = p + R b − A: rows (d, (R b)×d). Least squares for more than six rods.
    """
    active = np.arange(len(position))
    done = np.zeros(len(position), dtype=bool)
    for _ in range(MOST_ITERATIONS + 1):
        arm = np.swapaxes(rotation[active] @ rods.point.T, 1, 2)
        d = position[active, np.newaxis] + arm - rods.anchor
        error = (np.einsum("nli,nli->nl", d, d) - rods.length**2) / 2
        met = np.abs(error).max(axis=1) < CONVERGED
        done[active[met]] = True
        sane = ~met & np.isfinite(error).all(axis=1)
        active, arm, d, error = active[sane], arm[sane], d[sane], error[sane]
        if not active.size:
            break
        rows = np.concatenate([d, np.cross(arm, d)], axis=-1)
        transposed = np.swapaxes(rows, 1, 2)
        if len(rods.length) == 6:
            matrix, right = rows, error[..., np.newaxis]
        else:
            matrix, right = transposed @ rows, transposed @ error[..., np.newaxis]
        # far below rounding of a regular matrix, but it keeps an exactly singular one from raising
        step = np.linalg.solve(matrix + 1e-30 * np.eye(6), right)[..., 0]
        size = np.maximum(np.linalg.norm(step[:, :3], axis=1), np.linalg.norm(step[:, 3:], axis=1))
        step *= (LARGEST_STEP / np.maximum(size, LARGEST_STEP))[:, np.newaxis]
        position[active] -= step[:, :3]
        turn = Rotation.from_rotvec(np.where(np.isfinite(step[:, 3:]), -step[:, 3:], 0.0))
        rotation[active] = turn.as_matrix() @ rotation[active]
    return done


def distinct(poses: Array) -> tuple[Array, Array]:
    """Index of one pose (n, 12) of each cluster, and how many it has."""
    left = np.arange(len(poses))
    first, counts = [], []
    while left.size:
        near = np.linalg.norm(poses[left] - poses[left[0]], axis=1) < SAME
        first.append(left[0])
        counts.append(int(near.sum()))
        left = left[~near]
    return np.array(first, dtype=np.intp), np.array(counts, dtype=np.intp)


def search(rods: Rods, seed: int = 0) -> tuple[Array, Array, Coverage]:
    """Positions (k, 3), rotations (k, 3, 3) of the postures met, and the coverage.

    Ends when every posture was met `SEEN_ENOUGH` times, or after `MOST_WAVES` waves of starts. The
    rods are about 1 long (`gough.description.rods.framed`).
    """
    rng = np.random.default_rng(seed)
    found = np.zeros((0, 12))
    counts = np.zeros(0, dtype=np.intp)
    waves = 0
    for waves in range(1, MOST_WAVES + 1):
        position, rotation = random_starts(rods, STARTS, rng)
        done = newton(rods, position, rotation)
        fresh = np.concatenate([position[done], rotation[done].reshape(-1, 9)], axis=1)
        # postures known come first, so each keeps its place; each hit counts once
        index, met = distinct(np.concatenate([found, fresh]))
        met[: len(found)] += counts - 1
        found, counts = np.concatenate([found, fresh])[index], met
        if len(found) > MOST_POSTURES or (waves > 1 and np.all(counts >= SEEN_ENOUGH)):
            break
    return found[:, :3], found[:, 3:].reshape(-1, 3, 3), coverage(waves * STARTS, counts)
