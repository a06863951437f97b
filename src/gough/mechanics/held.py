"""How a platform is held: the directions that legs and mobility take from it, and what remains.

Columns C (6, k) are the wrenches at the platform's origin of unit forces λ and μ: Cᵀ ξ = 0. Of them r =
6 − m are independent, m being the number of directions that the platform can move in. Moments are
divided by the length scale L and angular rates multiplied by it, so that all is comparable. The
Householder reflections H of r independent columns split wrenches and twists into r held and m free
components,

    Hᵀ C = (R; 0),    free part of the equation: (Hᵀ demand)_free = (Hᵀ T)_free Γ

Where there are more columns than r (over-constrained robots) an orthonormal basis of their space is
made first, column after column, the longest remainder next.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from gough.mechanics.solves import (
    Factors,
    factor,
    least_norm,
    least_squares,
    reflected,
    reflected_back,
)
from gough.mechanics.vectors import Components, copysign, maximum, minimum, or_one, stacked


class Held(NamedTuple):
    """The held directions of a platform in a state; wrenches and twists scaled by L."""

    columns: Components
    """C, (6, k, samples), moments over L: λ of the legs, then μ."""
    holders: tuple[int, ...]
    """The leg that each column belongs to; −1 of mobility."""
    n: Components
    """Forces at the ports of the legs' columns, (3 or 6, λ, samples)."""
    basis: Components
    """Independent columns of the same space, (6, r, samples)."""
    factors: Factors
    """Of the basis."""
    mixing: Factors | None
    """Of (basisᵀ C)ᵀ, (k, r), where there are more columns than r."""
    gap: Components
    """(k, samples): by how much the pose is off along each."""
    second: Components
    """(k, samples): what Cᵀ ξ̇ must be."""
    health: Components
    """Smallest over largest length of an independent column's remainder, (samples,)."""
    excess: Components
    """Longest remainder of a column that should depend on others, (samples,)."""

    @property
    def rank(self) -> int:
        """r."""
        return len(self.factors.per_diagonal)

    def free(self, scaled: Components) -> Components:
        """The m free components (m, samples) of a scaled wrench or twist (6, samples)."""
        return reflected(self.factors, scaled)[self.rank :]

    def taken(self, scaled: Components) -> Components:
        """The r held components."""
        return reflected(self.factors, scaled)[: self.rank]

    def whole(self, free: Components) -> Components:
        """The scaled twist (6, samples) that has these free components and no held ones."""
        nothing = [0 * free[0]] * self.rank
        return reflected_back(self.factors, stacked(*nothing, *free))

    def least(self, right: Components) -> Components:
        """The least scaled x (6, samples) with Cᵀ x = right (k, samples)."""
        if self.mixing is None:
            return least_norm(self.factors, right)
        return combined(self.basis, least_squares(self.mixing, right))

    def shares(self, wrench: Components, already: Components) -> Components:
        """λ and μ (k, samples) with C (λ, μ) = wrench (6, samples, scaled, held).

        Where they are not unique, λ + already (k, samples) is least: the forces at the ports are.
        """
        if self.mixing is None:
            return least_squares(self.factors, wrench)
        every = wrench + combined(self.columns, already)
        held = (self.basis * every[:, np.newaxis]).sum(axis=0)
        return least_norm(self.mixing, held) - already

    def certainty(self) -> Components:
        """How much of each column's λ is told by the sum of all, (k, samples): 1 where it is unique.

        The diagonal of the projector on the row space of C.
        """
        if self.mixing is None:
            sure: Components = np.ones((self.columns.shape[1], 1)) + 0 * self.gap
            return sure
        units = np.eye(self.rank)[..., np.newaxis]
        wide = np.stack([_spanned(self.mixing, unit) for unit in units])
        total: Components = (wide * wide).sum(axis=0)
        return total


def _spanned(factors: Factors, unit: Components) -> Components:
    """A column (k, samples) of Q."""
    rows = len(factors.reflectors[0][0])
    like = 0 * factors.per_diagonal[0]
    padded = [one + like for one in unit] + [like] * (rows - len(unit))
    return reflected_back(factors, np.stack(padded))


def hold(
    columns: Components,
    holders: tuple[int, ...],
    n: Components,
    gap: Components,
    second: Components,
    rank: int,
) -> Held:
    """Split what is held from what is free; columns (6, k, samples) are scaled by L."""
    if columns.shape[1] == rank:
        factors = factor(columns)
        nothing = 0 * factors.health
        return Held(
            columns, holders, n, columns, factors, None, gap, second, factors.health, nothing
        )
    basis, health, excess = independent(columns, rank)
    mixed = (columns[:, :, np.newaxis] * basis[:, np.newaxis]).sum(axis=0)  # (k, r)
    return Held(
        columns,
        holders,
        n,
        basis,
        factor(basis),
        factor(mixed),
        gap,
        second,
        health,
        excess,
    )


def independent(columns: Components, rank: int) -> tuple[Components, Components, Components]:
    """An orthonormal basis (6, rank, samples) of columns, the longest remainder next.

    Gram and Schmidt, twice for each vector; also the smallest over the largest remainder taken, and the
    longest that is left.
    """
    left = [column for column in np.swapaxes(columns, 0, 1)]
    found: list[Components] = []
    taken: list[Components] = []
    for _ in range(rank):
        best, size = left[0], _square(left[0])
        for other in left[1:]:
            square = _square(other)
            chosen = 0.5 + copysign(0.5 + 0 * square, square - size)
            best = best + chosen * (other - best)
            size = maximum(size, square)
        taken.append(np.sqrt(size))
        unit = best / or_one(taken[-1])
        for earlier in found:
            unit = unit - earlier * (earlier * unit).sum(axis=0)
        unit = unit / or_one(np.sqrt(_square(unit)))
        found.append(unit)
        left = [one - unit * (unit * one).sum(axis=0) for one in left]
    health = reduce(minimum, taken) / reduce(maximum, taken)
    excess = np.sqrt(reduce(maximum, [_square(one) for one in left]))
    return np.stack(found, axis=1), health, excess


def combined(columns: Components, weights: Components) -> Components:
    """Σ column weight: (6, samples) from (6, k, samples) and (k, samples)."""
    total: Components = (columns * weights).sum(axis=1)
    return total


def _square(vector: Components) -> Components:
    total: Components = (vector * vector).sum(axis=0)
    return total
