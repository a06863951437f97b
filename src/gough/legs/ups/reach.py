"""UPS legs over boxes of poses: margins of their length and of angles at their joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gough.base.arrays import Array
from gough.legs.reach import Foot, Margins, TipBoxes, strokes


@dataclass(frozen=True)
class UPSSpan:
    """UPS legs over boxes; their feet B stand still, D = P − B. See `gough.legs.reach`."""

    tips: TipBoxes
    link: Array

    def conditions(self, shortest: Array, longest: Array) -> list[tuple[str, Margins]]:
        """Margins of q², m²: a tip is always in reach."""
        low = np.where(shortest > 0, shortest**2, -np.inf)
        return strokes(self._square(), low, longest**2)

    def _square(self) -> Margins:
        """‖D + y‖² = ‖D‖² + 2 D·T δ + 2 D·e + ‖y‖² with 0 ≤ ‖y‖² ≤ σ²."""
        square, reach = np.sum(self.link * self.link, axis=-1), self.tips.reach**2 / 2
        return Margins(
            square + reach,
            2 * self.tips.pulled(self.link),
            reach + 2 * np.sqrt(square) * self.tips.rest,
        )

    def cone(self, mark: Array, cosine: Array) -> tuple[Margins, Array]:
        """D·M − cos α ‖D‖; ‖D‖ has a second derivative of at most 1/(‖D‖ − σ)."""
        tips, link = self.tips, self.link
        size = np.linalg.norm(link, axis=-1)
        near = np.maximum(size - tips.reach, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            curved = np.minimum(tips.reach**2 / (2 * near), 2 * tips.reach) + tips.rest
        unit = link / np.where(size > 0, size, 1.0)[..., np.newaxis]
        margins = Margins(
            np.sum(link * mark, axis=-1) - cosine * size,
            tips.pulled(mark) - cosine[:, np.newaxis] * tips.pulled(unit),
            tips.rest + np.abs(cosine) * np.where(tips.reach > 0, curved, 0.0),
        )
        return margins, tips.reach

    def universal(self, mark: Array, cosine: Array) -> Margins:
        """D·M − cos α ‖D‖ of directions M that stand still with the base."""
        return self.cone(np.broadcast_to(mark, self.link.shape), cosine)[0]

    def foot(self, direction: Array, legs: list[int]) -> Foot:
        """It stands still."""
        still = np.zeros(direction.shape[:2])
        return Foot(np.zeros(direction.shape), still, still)

    def some(self, chosen: Array) -> Self:
        """The boxes that a mask (n,) chooses."""
        return replace(self, tips=self.tips.some(chosen), link=self.link[chosen])
