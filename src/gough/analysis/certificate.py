"""Proof that a regular solution lies near an approximate one: Krawczyk's interval test.

In the affine patch v·z = 1 the seven quadrics are a square system F(z) = 0 with F' linear in z. For the
ball X = {‖z − z₀‖_∞ ≤ r} of complex vectors and any matrix Y, Krawczyk's operator

    K(X) = z₀ − Y F(z₀) + (1 − Y F'(X)) (X − z₀)

maps X into its interior, and X holds exactly one solution, if β + (η + κ r) r < r and η + κ r < 1 with

    β ≥ ‖Y F(z₀)‖_∞,   η ≥ ‖1 − Y F'(z₀)‖_∞,   κ ≥ max_i Σ_j |Y_ij| Σ_kl 2 |Q_j,kl|

(Krawczyk 1969; Rump 1983). Each bound is computed in floating point and widened by what its roundings
can amount to at most, the roundings of the quadrics' own coefficients included. If z₀ and v are
real the ball is its own mirror image, so its one solution is real.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.analysis.study import UNIT_ROUNDING
from gough.base.arrays import Array

SUM_ERROR = 128 * UNIT_ROUNDING
"""Relative to the sum of absolute values: more than a complex sum of 64 products can lose (γ_64·√2)."""


class Certificate(NamedTuple):
    """A batch of n tests."""

    proven: Array
    """Whether the test holds, (n,)."""
    radius: Array
    """Largest distance in any coordinate of z₀ (of unit length) to the solution, (n,); inf if none."""


@np.errstate(all="ignore")
def certify(quadrics: Array, uncertainty: Array, z: Array) -> Certificate:
    """Test approximate solutions z (n, 8) of unit length of quadrics (7, 8, 8).

    `uncertainty` (7, 8, 8) bounds the error of each coefficient.
    """
    count = len(z)
    patch = z.conj()
    rows = np.einsum("eij,nj->nei", quadrics, z)
    matrix = np.concatenate([2 * rows, patch[:, np.newaxis]], axis=1)
    condition = np.linalg.cond(matrix) if count else np.zeros(0)
    usable = np.isfinite(condition) & (condition < 1e15)
    inverse = np.zeros_like(matrix)
    inverse[usable] = np.linalg.inv(matrix[usable])
    size, weight = np.abs(z), np.abs(inverse)
    full = np.abs(quadrics) * (1 + SUM_ERROR) + uncertainty
    loose = uncertainty + SUM_ERROR * full
    # F(z₀): computed value plus bound on its error; the patch's equation is v·z₀ − 1
    value = np.concatenate(
        [
            np.einsum("nei,ni->ne", rows, z),
            np.einsum("ni,ni->n", patch, z)[:, np.newaxis] - 1,
        ],
        axis=1,
    )
    doubt = np.concatenate(
        [
            2 * np.einsum("ni,eij,nj->ne", size, loose, size),
            SUM_ERROR * (1 + np.sum(size**2, axis=1, keepdims=True)),
        ],
        axis=1,
    )
    beta = _largest(weight @ (np.abs(value) + doubt)[..., np.newaxis])
    # 1 − Y F'(z₀)
    slack = np.concatenate(
        [4 * np.einsum("eij,nj->nei", loose, size), np.zeros((count, 1, 8))], axis=1
    )
    product = inverse @ matrix
    defect = np.abs(product - np.eye(8)) + 2 * SUM_ERROR * (weight @ np.abs(matrix) + np.eye(8))
    eta = _largest(np.sum(defect + weight @ slack, axis=2))
    lipschitz = np.append(2 * full.sum(axis=(1, 2)), 0.0)
    kappa = _largest(weight @ lipschitz)
    widen = 1 + SUM_ERROR
    beta, eta, kappa = beta * widen, eta * widen, kappa * widen
    # near the smaller root of κ r² − (1 − η) r + β = 0, then tested as it stands
    radius = 2 * beta / (1 - eta) * (1 + 1e-6) + 1e-300
    tight = (beta + (eta + kappa * radius) * radius) * widen
    proven = usable & (tight < radius) & ((eta + kappa * radius) * widen < 1)
    return Certificate(proven, np.where(proven, radius, np.inf))


def _largest(values: Array) -> Array:
    return np.asarray(np.max(values, axis=tuple(range(1, values.ndim)), initial=0.0))


def apart(z: Array, radius: Array) -> Array:
    """Whether each proven solution near unit vectors z (n, 8) differs from all other proven ones, (n,).

    The solution is within angle asin(√8 r) of z; two are different if the angle between their centres is
    larger than both together (Fubini and Study's metric), with as much again for rounding.
    """
    spread = np.sqrt(8.0) * radius
    good = np.ones(len(z), dtype=bool)
    for i, one in enumerate(z):
        gap = np.linalg.norm(z - np.outer(z @ one.conj(), one), axis=1)
        others = np.isfinite(radius) & (np.arange(len(z)) != i)
        good[i] = bool(np.all(gap[others] > 4 * (spread[others] + spread[i]) + SUM_ERROR))
    return good


def not_real(z: Array, radius: Array) -> Array:
    """Whether proven solutions near unit vectors z (n, 8) are certainly no real points, (n,)."""
    mirrored = z.conj()
    gap = np.linalg.norm(mirrored - np.sum(mirrored * mirrored, axis=1, keepdims=True) * z, axis=1)
    return np.asarray(gap > 8 * np.sqrt(8.0) * radius + SUM_ERROR)
