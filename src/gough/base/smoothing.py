"""The smoothest curve within a distance of every value: rounded samples made smooth again.

Minimised is ∫ (x‴)² dt over quintic splines with |x(t_i) − x_i| ≤ tolerance at every time: a quadratic
program, solved by an interior-point method (Nocedal & Wright 2006, Algorithm 16.4). Knots are as close
as the values need: intervals are halved until least squares come within twice the tolerance, and once
more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.interpolate import BSpline

from gough.base.arrays import Array

DEGREE = 5
PAIRS = [(i, j) for i in range(DEGREE + 1) for j in range(i, DEGREE + 1)]
SMOOTH = 3
"""Derivative whose square is least in all."""
MOST_STEPS = 60
"""Of the interior-point method; it takes 15 to 30."""
SETTLED = 1e-7
"""Products of slacks and multipliers, relative to the start, at which it ends."""
OVER = 1e-6
"""By how much of the tolerance values may be missed."""


def smoothest(times: Array, values: Array, tolerance: float) -> BSpline | None:
    """Return the smoothest quintic spline within a tolerance of values (n,) at times (n,), increasing.

    None where no spline with fewer knots than half the values comes that near.
    """
    breaks = _breaks(times, values, 2 * tolerance)
    for _ in range(4):
        breaks = _halved(breaks, np.ones(len(breaks) - 1, dtype=bool))
        if len(breaks) + DEGREE > len(times) / 2:
            return None
        knots = _knots(times, breaks)
        basis = _Basis.of(times, knots)
        begin = basis.fit(values)
        rest = (values - basis.values @ begin) / tolerance
        with np.errstate(all="ignore"):  # overflows where no curve is that near
            found = _program(basis, _roughness(knots), rest, begin / tolerance)
        if found is not None:
            return BSpline(knots, begin + tolerance * found, DEGREE)
    return None


def _breaks(times: Array, values: Array, tolerance: float) -> Array:
    """Return samples (m,) at which pieces of a least-squares spline begin and end to be that near."""
    breaks = np.array([0, len(times) - 1])
    while len(breaks) + DEGREE <= len(times) / 4:
        basis = _Basis.of(times, _knots(times, breaks))
        off = np.abs(values - basis.values @ basis.fit(values))
        far = np.maximum.reduceat(off, breaks[:-1]) > tolerance
        if not far.any():
            break
        finer = _halved(breaks, far)
        if len(finer) == len(breaks):
            break  # what is too far has no room: values jump, or their times are wrong
        breaks = finer
    return breaks


def _halved(breaks: Array, which: Array) -> Array:
    """Return the breaks with further ones in the middle of some pieces, of those that have room."""
    middle = (breaks[:-1] + breaks[1:]) // 2
    room = breaks[1:] - breaks[:-1] >= 4
    return np.union1d(breaks, middle[which & room])


def _knots(times: Array, breaks: Array) -> Array:
    ends = np.repeat(times[[0, -1]], DEGREE)
    return np.concatenate([ends[:DEGREE], times[breaks], ends[DEGREE:]])


def _roughness(knots: Array) -> scipy.sparse.csr_array:
    """Return the matrix of ∫ (x‴)² dt, by Gauss's rule, its largest entry 1."""
    slopes: Any = scipy.sparse.eye_array(len(knots) - DEGREE - 1, format="csr")
    for degree in range(DEGREE, DEGREE - SMOOTH, -1):
        wide = 1 / (knots[degree + 1 : -1] - knots[1 : -degree - 1])
        slopes = scipy.sparse.diags_array(wide) @ (slopes[1:] - slopes[:-1])
        knots = knots[1:-1]
    inner = np.unique(knots)
    node, weight = np.polynomial.legendre.leggauss(DEGREE - SMOOTH + 1)
    half = np.diff(inner)[:, np.newaxis] / 2
    at = (inner[:-1, np.newaxis] + half * (1 + node)).ravel()
    third = scipy.sparse.csr_array(BSpline.design_matrix(at, knots, DEGREE - SMOOTH)) @ slopes
    matrix = third.T @ (scipy.sparse.diags_array((half * weight).ravel()) @ third)
    return scipy.sparse.csr_array(matrix / matrix.diagonal().max())


class _Basis(NamedTuple):
    """Values B of B-splines at samples, and the banded matrix Bᵀ diag(w) B of any weights w."""

    values: Any
    """B (n, K), sparse."""
    products: Array
    """(n, 21): of every two of the six splines that are not zero at a sample."""
    begins: Array
    """Samples at which another six begin."""
    first: Array
    """The first of them, by begin."""

    @classmethod
    def of(cls, times: Array, knots: Array) -> _Basis:
        """At times (n,), each of which has six splines side by side."""
        design = scipy.sparse.csr_array(BSpline.design_matrix(times, knots, DEGREE))
        values = design.data.reshape(-1, DEGREE + 1)
        first = design.indices[:: DEGREE + 1]
        begins = np.flatnonzero(np.diff(first, prepend=-1))
        products = np.stack([values[:, i] * values[:, j] for i, j in PAIRS], axis=-1)
        return cls(design, products, begins, first[begins])

    def gram(self, weight: Array) -> Array:
        """Return the upper band (6, K) of Bᵀ diag(w) B, as `scipy.linalg.cholesky_banded` takes it."""
        sums = np.add.reduceat(self.products * weight[:, np.newaxis], self.begins, axis=0)
        band = np.zeros((DEGREE + 1, self.values.shape[1]))
        for (i, j), column in zip(PAIRS, sums.T, strict=True):
            band[DEGREE - (j - i), self.first + j] += column
        return band

    def fit(self, values: Array) -> Array:
        """Return the coefficients (K,) of the least-squares spline."""
        solve = _banded_solver(self.gram(np.ones(len(values))))
        middle = float(values.mean())  # B-splines add up to 1
        right = np.asarray(self.values.T @ (values - middle))
        return np.full(len(right), middle) if solve is None else middle + solve(right)


def _program(
    basis: _Basis, roughness: scipy.sparse.csr_array, rest: Array, start: Array
) -> Array | None:
    """Return d with the least (c + d)ᵀ P (c + d) and |B d − r| ≤ 1; None where there is none.

    With e = B d − r, slacks s and multipliers z of e ≤ 1 and −e ≤ 1 each Newton step solves
    (P + Bᵀ (z₁/s₁ + z₂/s₂) B) δd = right, which is banded.
    """
    design = basis.values
    slope = roughness @ start
    scale = 1 / max(float(np.abs(slope).max()), 1e-300)
    matrix, slope = roughness * scale, slope * scale
    stiffness = _band(matrix)
    d, side = np.zeros(len(start)), np.array([[1.0], [-1.0]])
    slack = np.maximum(1 + side * rest, 0.1)
    force = np.ones_like(slack)
    first = float(np.mean(slack * force))
    for _ in range(MOST_STEPS):
        missed = side * (design @ d - rest) + slack - 1
        mean = float(np.mean(slack * force))
        if mean <= SETTLED * first and np.abs(missed).max() <= OVER:
            break
        unbalanced = matrix @ d + slope + design.T @ (force[0] - force[1])
        solve = _banded_solver(stiffness + basis.gram((force / slack).sum(axis=0)))
        if solve is None:
            return None
        # the step to complementarity, and from where it leads the one that is taken (Mehrotra)
        gaps = -slack * force
        for centred in (False, True):
            given = (gaps + force * missed) / slack
            right = -unbalanced - design.T @ (given[0] - given[1])
            if not np.all(np.isfinite(right)):
                return None  # multipliers grow beyond all bounds where nothing is within
            change = solve(right)
            moved = side * (design @ change)
            ds, df = -missed - moved, given + force * moved / slack
            ahead = _length(slack, ds), _length(force, df)
            if not centred:
                after = float(np.mean((slack + ahead[0] * ds) * (force + ahead[1] * df)))
                gaps = (after / mean) ** 3 * mean - slack * force - ds * df
        d = d + 0.99 * ahead[0] * change
        slack, force = slack + 0.99 * ahead[0] * ds, force + 0.99 * ahead[1] * df
    return d if np.abs(design @ d - rest).max() <= 1 + 10 * OVER else None


def _band(matrix: scipy.sparse.csr_array) -> Array:
    """Return the upper band (6, K) of a symmetric matrix of that bandwidth."""
    band = np.zeros((DEGREE + 1, matrix.shape[0]))
    for above in range(min(DEGREE + 1, matrix.shape[0])):
        band[DEGREE - above, above:] = matrix.diagonal(above)
    return band


def _banded_solver(band: Array) -> Callable[[Array], Array] | None:
    """Return what solves with a positive definite matrix by its upper band; None if it is not."""
    if not np.all(np.isfinite(band)):
        return None
    for _ in range(2):
        try:
            factor = scipy.linalg.cholesky_banded(band)
        except np.linalg.LinAlgError:
            band[-1] *= 1 + 1e-10  # rounding alone makes it singular
            continue
        return lambda right: np.asarray(scipy.linalg.cho_solve_banded((factor, False), right))
    return None


def _length(value: Array, change: Array) -> float:
    """Return the longest step, at most 1, after which positive values are not negative."""
    down = change < 0
    return min(1.0, float((-value[down] / change[down]).min(initial=np.inf)))
