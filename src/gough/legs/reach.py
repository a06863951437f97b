"""Legs over whole boxes of poses, with bounds that prove: what a kind of leg tells for workspaces.

A box of poses has coordinates x = centre + δ, |δ_i| ≤ half_i. Over it a tip moves as t + T δ + e with
‖e‖ ≤ ε and stays within σ of t. A quantity of a leg over the box is given as

    g(x) = value + slope·δ + r,    |r| ≤ rest

and a condition on it as a margin g ≥ 0. World axes, SI units.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from gough.base.arrays import Array


class Margins(NamedTuple):
    """Margins of k conditions over n boxes."""

    value: Array
    """(n, k)"""
    slope: Array
    """(n, k, 3)"""
    rest: Array
    """(n, k)"""

    def swing(self, half: Array) -> Array:
        """Σ|slope_i| half_i (n, k)."""
        return np.asarray(np.einsum("nki,ni->nk", np.abs(self.slope), half))


class TipBoxes(NamedTuple):
    """Where boxes of poses put the tips of legs."""

    half: Array
    """(n, 3) half sides of the boxes, m or rad."""
    tip: Array
    """t (n, legs, 3) at the centre, m."""
    slope: Array | None
    """T (n, legs, 3, 3); None is the identity."""
    rest: Array
    """ε (n, legs), m."""
    reach: Array
    """σ (n, legs), m."""

    def pulled(self, gradient: Array) -> Array:
        """Tᵀ g (n, legs, 3): a gradient by the tip as one by the box's coordinates."""
        if self.slope is None:
            return np.broadcast_to(gradient, self.tip.shape)
        return np.asarray(np.einsum("nlji,nlj->nli", self.slope, gradient))

    def some(self, chosen: Array) -> TipBoxes:
        """Those of the boxes that a mask (n,) chooses."""
        slope = None if self.slope is None else self.slope[chosen]
        half, tip = self.half[chosen], self.tip[chosen]
        return TipBoxes(half, tip, slope, self.rest[chosen], self.reach[chosen])

    def of(self, legs: list[int]) -> TipBoxes:
        """Those of some legs, which may come more than once."""
        slope = None if self.slope is None else self.slope[:, legs]
        return TipBoxes(
            self.half, self.tip[:, legs], slope, self.rest[:, legs], self.reach[:, legs]
        )


class Foot(NamedTuple):
    """How the feet of k legs move along given directions over n boxes, m."""

    slope: Array
    """(n, k, 3) by the box's coordinates."""
    rest: Array
    """(n, k): what the slope leaves out, at most."""
    way: Array
    """(n, k): how far the foot moves in any direction, at most."""


class Span(Protocol):
    """Legs over boxes: D = P − A is the link, from its foot A (the universal joint) to the tip P."""

    @property
    def link(self) -> Array:
        """D (n, legs, 3) at the centres, m."""

    def conditions(self, shortest: Array, longest: Array) -> list[tuple[str, Margins]]:
        """Margins by name: "reach" where a tip can be out of it, then "longest" and "shortest stroke".

        Strokes (legs,) are limits of q, infinite where there is none.
        """

    def cone(self, mark: Array, cosine: Array) -> tuple[Margins, Array]:
        """D·M − cos α ‖D‖, m, and how far D moves (n, legs), m, at most.

        Directions M (n, legs, 3) that stand still, unit; cos α (legs,).
        """

    def universal(self, mark: Array, cosine: Array) -> Margins:
        """D·M − cos α ‖D‖, m, of directions M (legs, 3) fixed to what carries the universal joint.

        M is given as `LegGeometry.on_carrier` gives it.
        """

    def foot(self, direction: Array, legs: list[int]) -> Foot:
        """How the feet of k legs move along directions (n, k, 3), unit."""

    def some(self, chosen: Array) -> Self:
        """The boxes that a mask (n,) chooses."""


def strokes(coordinate: Margins, shortest: Array, longest: Array) -> list[tuple[str, Margins]]:
    """Margins of a coordinate that grows with q to its limits (legs,); none that are all infinite."""
    found = []
    if np.any(np.isfinite(longest)):
        found.append(("longest stroke", _limit(-1.0, coordinate, longest)))
    if np.any(np.isfinite(shortest)):
        found.append(("shortest stroke", _limit(1.0, coordinate, shortest)))
    return found


def _limit(sign: float, coordinate: Margins, bound: Array) -> Margins:
    """sign (coordinate − bound), 1 where there is no bound."""
    free = ~np.isfinite(bound)
    edge = np.where(free, 0.0, bound)
    return Margins(
        np.where(free, 1.0, sign * (coordinate.value - edge)),
        np.where(free[:, np.newaxis], 0.0, sign * coordinate.slope),
        np.where(free, 0.0, coordinate.rest),
    )
