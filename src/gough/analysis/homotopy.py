"""Paths of the solutions of seven quadrics while their coefficients move, tracked in batch.

The rods' ends and constants go along the complex line p(s) = p0 + s (p1 − p0), so the quadrics are
Q(s) = Q0 + s Q1 + s² Q2 and a solution z(s) of F_i = zᵀ Q_i(s) z = 0 obeys

    2 zᵀ Q_i(s) ż + zᵀ Q_i'(s) z = 0,    z̄·ż = 0

(the second keeps z of unit length: the projective patch follows the path). s runs on straight segments
of the complex plane. A path from generic complex p0 meets no singular system before s = 1 with
probability one, and every isolated solution at s = 1 is the end of some path (Sommese & Wampler
2005, ch. 7).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array

FIRST_STEP = 0.02
SHORTEST_STEP = 1e-9
"""Parts of a segment; a path that needs shorter steps is given up."""
PREDICTED = 1e-4
"""Largest first Newton correction after a step: the predictor stays this near its own path."""
CORRECTED = 1e-8
"""Largest last Newton correction of an accepted step; the path is followed this closely."""
CORRECTIONS = 3
STEPS_BEFORE_GROWTH = 3
MOST_STEPS = 4000


class Line(NamedTuple):
    """Quadrics along a complex line: Q(s) = Q0 + s Q1 + s² Q2, each (equations, 8, 8)."""

    start: Array
    slope: Array
    bend: Array

    def at(self, s: complex) -> Array:
        """Q(s)."""
        return np.asarray(self.start + s * self.slope + s * s * self.bend)


def values(line: Line, z: Array, s: Array) -> tuple[Array, Array, Array]:
    """F (n, equations), 2 Q(s) z (n, equations, 8) and ∂F/∂s (n, equations) at z (n, 8), s (n,)."""
    parts = np.concatenate([line.start, line.slope, line.bend]).reshape(-1, 8).T
    count = len(line.start)
    products = (z @ parts).reshape(len(z), 3, count, 8)
    s = s[:, np.newaxis, np.newaxis]
    rows = products[:, 0] + s * products[:, 1] + s * s * products[:, 2]
    drift = products[:, 1] + 2 * s * products[:, 2]
    here = z[:, :, np.newaxis]
    return (rows @ here)[..., 0], 2 * rows, (drift @ here)[..., 0]


def _system(z: Array, gradient: Array) -> Array:
    """Square matrices (n, 8, 8): the gradients and the moving patch."""
    return np.concatenate([gradient, z.conj()[:, np.newaxis]], axis=1)


def _solve(matrix: Array, right: Array) -> Array:
    """x (n, 8); the last equation's right side is 0. NaN where a matrix is singular."""
    full = np.concatenate([right, np.zeros((len(right), 1))], axis=1)[..., np.newaxis]
    try:
        return np.asarray(np.linalg.solve(matrix, full)[..., 0])
    except np.linalg.LinAlgError:
        bad = np.linalg.cond(matrix) > 1e15
        found = np.full(full.shape, np.nan, dtype=np.result_type(matrix, full))
        found[~bad] = np.linalg.solve(matrix[~bad], full[~bad])
        return np.asarray(found[..., 0])


def velocity(line: Line, z: Array, s: Array) -> Array:
    """ż = dz/ds (n, 8)."""
    _, gradient, drift = values(line, z, s)
    return -_solve(_system(z, gradient), drift)


def newton(line: Line, z: Array, s: Array) -> tuple[Array, Array]:
    """One Newton step; z again of unit length, and how far it went (n,)."""
    residual, gradient, _ = values(line, z, s)
    step = _solve(_system(z, gradient), residual)
    z = z - step
    return z / np.linalg.norm(z, axis=1, keepdims=True), np.linalg.norm(step, axis=1)


def _predict(line: Line, z: Array, s: Array, step: Array, first: Array) -> Array:
    """Runge and Kutta's fourth-order step of dz/ds; `first` is the velocity at (z, s)."""
    h = step[:, np.newaxis]
    second = velocity(line, z + h / 2 * first, s + step / 2)
    third = velocity(line, z + h / 2 * second, s + step / 2)
    fourth = velocity(line, z + h * third, s + step)
    return np.asarray(z + h / 6 * (first + 2 * second + 2 * third + fourth))


@np.errstate(all="ignore")
def track(
    line: Line,
    z: Array,
    start: complex,
    end: complex,
    predicted: float = PREDICTED,
    first: float = FIRST_STEP,
) -> tuple[Array, Array]:
    """Follow solutions z (n, 8) at s = start to s = end; also which ones arrived (n,).

    Each path has its own step, doubled after a few successes and halved where the predictor is
    further than `predicted` off the path or Newton does not come back to it. `first` is the first step.
    """
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    count = len(z)
    way = end - start
    done = np.zeros(count)  # share of the segment
    step = np.full(count, first)
    streak = np.zeros(count, dtype=np.intp)
    tangent = np.zeros_like(z, dtype=np.complex128)
    fresh = np.ones(count, dtype=bool)  # tangent still to be found
    active = np.arange(count)
    z = z.astype(np.complex128)
    for _ in range(MOST_STEPS):
        if not active.size:
            break
        stale = active[fresh[active]]
        if stale.size:
            tangent[stale] = velocity(line, z[stale], start + done[stale] * way)
            fresh[stale] = False
        share = np.minimum(step[active], 1 - done[active])
        s, h = start + done[active] * way, share * way
        trial = _predict(line, z[active], s, h, tangent[active])
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        good = np.ones(len(active), dtype=bool)
        last = np.zeros(len(active))
        for attempt in range(CORRECTIONS):
            trial, last = newton(line, trial, s + h)
            if attempt == 0:
                good = last < predicted
            if np.all((last < CORRECTED) | ~good):
                break
        good &= last < CORRECTED
        won, lost = active[good], active[~good]
        z[won] = trial[good]
        done[won] = np.where(share[good] >= 1 - done[won], 1.0, done[won] + share[good])
        fresh[won] = True
        streak[won] += 1
        grow = won[streak[won] >= STEPS_BEFORE_GROWTH]
        step[grow] *= 2
        streak[grow] = 0
        step[lost] = np.minimum(step[lost], share[~good]) / 2
        streak[lost] = 0
        active = active[(done[active] < 1) & (step[active] > SHORTEST_STEP)]
    return z, done >= 1
