"""Volumes with error bounds: boxes proved inside, proved outside, or split until the rest is small.

Of a box through which the boundary passes, each margin value + slope·δ + r, |r| ≤ rest
(`gough.analysis.margins`), cuts a part whose share of the box lies between those of two half-spaces,

    low_k = share{value − rest + slope·δ ≥ 0} ≤ share{g_k ≥ 0}
    high_k = share{value + rest + slope·δ ≥ 0} ≥ share{g_k ≥ 0}

and the part where all margins are positive is at most min high_k and at least 1 − Σ (1 − low_k). With
L_k = value − rest + slope·δ of margin k and j the margin with the least low_k, the others can take away
from low_j no more than share{L_k < 0 ≤ L_j} ≤ share{L_k − t L_j < 0}, any t ≥ 0, which is little where
two boundaries nearly coincide, as they do on symmetric robots. For margins known to second order the
error of the volume so falls with the square of the boxes' size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.reach import Margins

SPLIT = 0.85
"""Share of all doubt in the boxes that a round splits."""
CHUNK = 8192
"""Boxes judged at once."""
START = 8
"""Boxes along the longest side of the first grid."""
SLIMMEST = 1e-3
"""Least slope along an axis, relative to the largest, of a half-space; smaller ones widen its doubt."""
CORNERS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
NEGLIGIBLE = 1e-9
"""Doubt, as a share of the first box, that is not worth another round whatever the volume."""

Judge = Callable[[Array, Array], tuple[Array, Array]]
"""Centres and half sides (n, 3) → least and largest measure (n,) of the part inside."""


class Tree(NamedTuple):
    """Boxes not proved outside, and what is inside them."""

    centre: Array
    """(n, 3)"""
    half: Array
    """(n, 3)"""
    lower: Array
    """(n,) least measure of the part inside; that of the whole box where it is proved inside."""
    upper: Array
    """(n,) largest."""
    met: bool
    """The tolerance is met."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest measure of the whole."""
        return float(self.lower.sum()), float(self.upper.sum())


def shares(margins: Margins, half: Array) -> tuple[Array, Array]:
    """Least and largest share (n,) of each box in which all margins are positive."""
    swing = margins.swing(half)
    with np.errstate(invalid="ignore"):
        least, most = margins.value - swing - margins.rest, margins.value + swing + margins.rest
        doubtful = ~(least >= 0) & ~(most < 0)
    outside = np.asarray((most < 0).any(axis=1))
    doubtful &= ~outside[:, np.newaxis]
    row, column = np.nonzero(doubtful)
    value, rest = margins.value[row, column], margins.rest[row, column]
    slope = margins.slope[row, column] * half[row]
    low, high = cut(value, np.abs(slope), rest)
    tightest = np.ones(len(half))
    np.minimum.at(tightest, row, low)
    # the first margin of a box that has its least share
    chosen = np.zeros(len(half), dtype=np.intp)
    at_least = np.flatnonzero(low == tightest[row])[::-1]
    chosen[row[at_least]] = at_least
    other = chosen[row]
    size = np.abs(slope).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(size[other] > 0, size / size[other], 0.0)
        apart = (value - rest) - t * (value - rest)[other]
    between = slope - t[:, np.newaxis] * slope[other]
    taken = 1.0 - cut(apart, np.abs(between), np.zeros(len(row)))[0]
    taken = np.where(np.arange(len(row)) == other, 0.0, np.minimum(taken, 1.0 - low))
    lower = tightest - np.bincount(row, taken, minlength=len(half))
    upper = np.ones(len(half))
    np.minimum.at(upper, row, high)
    lower, upper = np.where(outside, 0.0, lower), np.where(outside, 0.0, upper)
    return np.clip(lower, 0.0, 1.0), upper


@np.errstate(invalid="ignore", over="ignore")
def cut(value: Array, slope: Array, rest: Array) -> tuple[Array, Array]:
    """Bounds of the share (n,) of the cube |z_i| ≤ 1 in which value + slope·z + r ≥ 0, |r| ≤ rest.

    Slopes (n, 3) of 0 or more. On the unit cube, share{a·t ≤ b} = Σ_v (−1)^|v| (b − a·v)₊³/(6 a₁ a₂ a₃)
    over its corners v; small a_i are enlarged, and what that may change is added to the rest.
    """
    largest = slope.max(axis=1, initial=0.0)
    flat = ~(largest > 0) | ~np.isfinite(rest)
    size = np.where(flat, 1.0, largest)[:, np.newaxis]
    a = np.where(flat[:, np.newaxis], 1.0, slope / size)
    wide = np.maximum(a, SLIMMEST)
    doubt = np.where(flat, 0.0, rest / size[:, 0]) + (wide - a).sum(axis=1)
    middle = np.where(flat, 0.0, value / size[:, 0]) + wide.sum(axis=1)
    signs = (-1.0) ** CORNERS.sum(axis=1)
    corner = 2 * wide @ CORNERS.T
    found = []
    for b in (middle - doubt, middle + doubt):
        cubes = np.maximum(np.clip(b, 0.0, 2 * wide.sum(axis=1))[:, np.newaxis] - corner, 0.0) ** 3
        found.append((cubes @ signs) / (48 * wide.prod(axis=1)))
    rounding = 1e-7  # more than that of the sum above, at the slimmest
    low = np.where(flat, value - rest >= 0, np.clip(found[0] - rounding, 0.0, 1.0))
    high = np.where(flat, value + rest >= 0, np.clip(found[1] + rounding, 0.0, 1.0))
    return low, high


def grow(judge: Judge, low: Array, high: Array, tolerance: float, most: int) -> Iterator[Tree]:
    """Trees of rising accuracy in the box from low to high (3,), the last one within the tolerance.

    A tree is good enough where (largest − least)/2 is within `tolerance` of their mean. Ends earlier,
    with `met` False, where the next round would take more than `most` boxes.
    """
    size = high - low
    counts = np.maximum(np.ceil(START * size / size.max()).astype(int), 1)
    steps = [np.arange(count) + 0.5 for count in counts]
    half = size / counts / 2
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    centre = low + 2 * half * grid
    tree = _judged(judge, centre, np.broadcast_to(half, centre.shape))
    while True:
        least, largest = tree.bounds
        doubt, scale = (largest - least) / 2, (largest + least) / 2
        met = bool(doubt <= tolerance * scale)
        if met or largest - least <= NEGLIGIBLE * np.prod(size):
            yield tree._replace(met=met)
            return
        yield tree
        width = tree.upper - tree.lower
        order = np.argsort(-width)
        split = int(np.searchsorted(np.cumsum(width[order]), SPLIT * (largest - least))) + 1
        if len(order) + 7 * split > most:
            return
        chosen, kept = order[:split], order[split:]
        small = tree.half[chosen] / 2
        shift = (2.0 * CORNERS - 1.0)[np.newaxis] * small[:, np.newaxis]
        children = (tree.centre[chosen][:, np.newaxis] + shift).reshape(-1, 3)
        new = _judged(judge, children, np.repeat(small, 8, axis=0))
        tree = Tree(
            np.concatenate([tree.centre[kept], new.centre]),
            np.concatenate([tree.half[kept], new.half]),
            np.concatenate([tree.lower[kept], new.lower]),
            np.concatenate([tree.upper[kept], new.upper]),
            met=False,
        )


def _judged(judge: Judge, centre: Array, half: Array) -> Tree:
    """The boxes that are not outside."""
    lower, upper = np.zeros(len(centre)), np.zeros(len(centre))
    for start in range(0, len(centre), CHUNK):
        part = slice(start, start + CHUNK)
        lower[part], upper[part] = judge(centre[part], half[part])
    keep = upper > 0
    return Tree(centre[keep], half[keep], lower[keep], upper[keep], met=False)
