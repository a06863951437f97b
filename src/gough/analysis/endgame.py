"""Ends of paths, singular ones included: Cauchy's integral around s = 1.

Near s = 1 a path is a power series in (s − 1)^(1/w), w its winding number; after w turns around s = 1 it
closes, and the mean of its points over equal angles is its end z(1) (Morgan, Sommese & Wampler 1991).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gough.analysis import homotopy
from gough.analysis.homotopy import Line
from gough.base.arrays import Array

REGULAR, SINGULAR, NO_POSE, LOST = range(4)
CLOSE = 0.01
"""|1 − s| at which the end of a path begins."""
RADII = tuple(CLOSE * 0.1**k for k in range(4))
CORNERS = 12
"""Points on a turn."""
MOST_TURNS = 12
CLOSED = 1e-7
"""Distance at which a path has come back to where its turns began."""
SETTLED = 1e-4
"""Distance of the ends found at two radii below which they agree."""
WORST_CONDITION = 1e9
"""Condition number of the quadrics' Jacobian above which an end counts as singular."""
VANISHED = 1e-3
"""|x·x| of unit Study coordinates below which a singular end is no pose; a real pose's is near 1."""


class Ends(NamedTuple):
    """Ends of n paths."""

    z: Array
    """Unit Study coordinates (n, 8)."""
    outcome: Array
    """REGULAR, SINGULAR (a multiple one, or of a continuum), NO_POSE or LOST, (n,)."""


def jacobian_condition(quadrics: Array, z: Array) -> Array:
    """Condition number (n,) of the quadrics' gradients with the patch z̄ beneath."""
    rows = 2 * np.einsum("eij,nj->nei", quadrics, z)
    rows /= np.maximum(np.linalg.norm(rows, axis=2, keepdims=True), 1e-300)
    matrix = np.concatenate([rows, z.conj()[:, np.newaxis]], axis=1)
    finite = np.isfinite(matrix).all(axis=(1, 2))
    found = np.full(len(z), np.inf)
    with np.errstate(all="ignore"):
        if finite.any():
            found[finite] = np.linalg.cond(matrix[finite])
    return found


@np.errstate(all="ignore")
def ends(line: Line, near: Array, arrived: Array) -> Ends:
    """Ends of paths from their points `near` (n, 8) at s = 1 − CLOSE; `arrived`: which have one."""
    count = len(near)
    target = line.at(1.0)
    z, reached = homotopy.track(line, near, 1 - CLOSE, 1.0)
    for _ in range(2):
        z, step = homotopy.newton(line, z, np.ones(count))
    good = arrived & reached & (jacobian_condition(target, z) < WORST_CONDITION)
    good &= step < homotopy.CORRECTED
    outcome = np.where(good, REGULAR, LOST)
    rest = np.flatnonzero(arrived & ~good)
    if rest.size:
        found, settled = _cauchy(line, near[rest])
        z[rest] = found
        outcome[rest] = np.where(settled, np.where(no_pose(found), NO_POSE, SINGULAR), LOST)
    return Ends(z, outcome)


def no_pose(z: Array) -> Array:
    """Whether x·x = 0: a pose at infinity, or one whose rotation is (a complex) none."""
    return np.asarray(np.abs(np.sum(z[:, :4] ** 2, axis=1)) < VANISHED)


def _cauchy(line: Line, near: Array) -> tuple[Array, Array]:
    """Ends (n, 8) by turns of shrinking radius around s = 1, and whether two radii agree (n,)."""
    count = len(near)
    best = near.copy()
    last = np.full(near.shape, np.nan, dtype=np.complex128)
    settled, gone = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    here, radius = near.astype(np.complex128), CLOSE
    alive = np.ones(count, dtype=bool)
    for smaller in RADII:
        if smaller < radius:
            here, ok = homotopy.track(line, here, 1 - radius, 1 - smaller)
            alive &= ok
            radius = smaller
        todo = np.flatnonzero(alive & ~settled)
        if not todo.size:
            break
        mean, closed = _turns(line, here[todo], radius)
        gap = np.where(closed, _apart(mean, last[todo]), np.inf)
        best[todo[closed]] = mean[closed]
        last[todo] = np.where(closed[:, np.newaxis], mean, np.nan)
        # a path that leaves all poses may still be on its way; that it does is enough
        leaving = closed & no_pose(mean)
        settled[todo] = (gap < SETTLED) | (leaving & gone[todo])
        gone[todo] = leaving
    return best, settled


def _turns(line: Line, start: Array, radius: float) -> tuple[Array, Array]:
    """Mean over closed turns (n, 8) of unit length, and which closed."""
    count = len(start)
    patch = start.conj()
    here, total = start.copy(), np.zeros_like(start)
    points = np.zeros(count)
    closed, alive = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    corners = 1 - radius * np.exp(2j * np.pi * np.arange(CORNERS + 1) / CORNERS)
    corners[-1] = corners[0]
    for _ in range(MOST_TURNS):
        active = np.flatnonzero(alive & ~closed)
        if not active.size:
            break
        for a, b in pairwise(corners):
            scale = np.sum(patch[active] * here[active], axis=1, keepdims=True)
            total[active] += here[active] / scale
            points[active] += 1
            here[active], ok = homotopy.track(line, here[active], a, b, first=0.5)
            alive[active[~ok]] = False
            active = active[ok]
            if not active.size:
                break
        closed[active] = _apart(here[active], start[active]) < CLOSED
    mean = total / np.maximum(points, 1)[:, np.newaxis]
    return mean / np.linalg.norm(mean, axis=1, keepdims=True), closed


def _apart(a: Array, b: Array) -> Array:
    """Sine of the angle (n,) between unit vectors (n, 8) as points of projective space."""
    inner = np.sum(b.conj() * a, axis=1, keepdims=True)
    return np.asarray(np.linalg.norm(a - inner * b, axis=1))
