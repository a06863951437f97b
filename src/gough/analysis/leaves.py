"""Boxes of an octree by their places: which one holds a point, which ones touch, what hangs together."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gough.base.arrays import Array

_BITS = 20
"""Of a place along an axis, at the finest level."""


class Leaves:
    """Boxes (n, 3) that came by halving from one grid of equal boxes, and do not overlap."""

    def __init__(self, centre: Array, half: Array, low: Array) -> None:
        """Boxes of a grid whose first corner is `low` (3,)."""
        self.largest, self.low = half.max(axis=0, initial=1e-300), low
        level = np.rint(np.log2(self.largest[0] / half[:, 0])).astype(np.int64)
        self.levels: dict[int, tuple[Array, Array]] = {}
        self.place = np.rint((centre - half - self.low) / (2 * half)).astype(np.int64)
        self.level = level
        for one in np.unique(level):
            rows = np.flatnonzero(level == one)
            keys = _key(self.place[rows])
            order = np.argsort(keys)
            self.levels[int(one)] = (keys[order], rows[order])

    def holding(self, points: Array) -> Array:
        """(n,) the box that holds each point (n, 3), −1 where there is none."""
        found = np.full(len(points), -1, dtype=np.intp)
        for level in self.levels:
            with np.errstate(invalid="ignore"):
                place = np.floor((points - self.low) / (2 * self.largest) * 2.0**level)
            sound = np.isfinite(place).all(axis=1) & (np.abs(place) < 2**_BITS).all(axis=1)
            sound &= (place >= 0).all(axis=1)
            rows = np.flatnonzero(sound & (found < 0))
            found[rows] = self._at(level, place[rows].astype(np.int64))
        return found

    def parts(self, chosen: Array) -> Array:
        """(n,) which part of the chosen boxes each is in, by faces that they share; −1 of others."""
        one, other = self.touching
        both = chosen[one] & chosen[other]
        count = len(self.level)
        links = coo_array((np.ones(both.sum()), (one[both], other[both])), shape=(count, count))
        _, part = connected_components(links, directed=False)
        return np.where(chosen, part, -1)

    def beside(self, chosen: Array) -> Array:
        """(n,) which boxes share a face with one of the chosen."""
        one, other = self.touching
        found = np.zeros(len(self.level), dtype=bool)
        found[other[chosen[one]]] = True
        found[one[chosen[other]]] = True
        return found

    @cached_property
    def touching(self) -> tuple[Array, Array]:
        """Pairs that share a face: of each box and each face the box behind it, as large or larger."""
        ones, others = [], []
        for level, (_, rows) in self.levels.items():
            for axis in range(3):
                for step in (-1, 1):
                    beyond = self.place[rows].copy()
                    beyond[:, axis] += step
                    for coarser in (c for c in self.levels if c <= level):
                        found = self._at(coarser, beyond >> (level - coarser))
                        there = found >= 0
                        ones.append(rows[there])
                        others.append(found[there])
        if not ones:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        return np.concatenate(ones), np.concatenate(others)

    def _at(self, level: int, place: Array) -> Array:
        keys, rows = self.levels[level]
        wanted = _key(place)
        where = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        inside = (place >= 0).all(axis=1) & (place < 2**_BITS).all(axis=1)
        return np.where(inside & (keys[where] == wanted), rows[where], -1)


def _key(place: Array) -> Array:
    return np.asarray((place[:, 0] << 2 * _BITS) + (place[:, 1] << _BITS) + place[:, 2])
