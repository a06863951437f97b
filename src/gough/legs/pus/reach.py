"""PUS legs over boxes of poses: margins of their reach, of the slider's stroke and of joint angles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gough.base.arrays import Array
from gough.legs.pus.equations import PUS
from gough.legs.reach import Foot, Margins, TipBoxes, strokes

UNKNOWN = 1e12
"""Doubt, m, of a slider whose tip is out of reach all over a box."""


@dataclass(frozen=True)
class PUSSpan:
    """PUS legs over boxes; their feet move along the rails a with q, D = d − q a, d = P − rail_origin.

    See `gough.legs.reach`.
    """

    rail: Array
    """a (legs, 3), unit."""
    length: Array
    """l (legs,), m."""
    tips: TipBoxes
    link: Array
    radicand: Margins
    """l² − ‖u‖², m², u = d made perpendicular to the rail: 0 at the end of the reach."""
    slider: Margins
    """q, m; unknown where no tip of the box is in reach."""

    def conditions(self, shortest: Array, longest: Array) -> list[tuple[str, Margins]]:
        """Reach (the radicand, m²) and stroke (q, m)."""
        return [("reach", self.radicand), *strokes(self.slider, shortest, longest)]

    def cone(self, mark: Array, cosine: Array) -> tuple[Margins, Array]:
        """D·M − cos α l: along M the foot moves by a·M for each metre of q."""
        tips, q = self.tips, self.slider
        along = np.sum(mark * self.rail, axis=-1)
        margins = Margins(
            np.sum(self.link * mark, axis=-1) - cosine * self.length,
            tips.pulled(mark) - along[..., np.newaxis] * q.slope,
            tips.rest + np.abs(along) * q.rest,
        )
        return margins, tips.reach + q.swing(tips.half) + q.rest

    def universal(self, mark: Array, cosine: Array) -> Margins:
        """D·M − cos α ‖D‖ of directions M that stand still with the slider, which does not turn."""
        return self.cone(np.broadcast_to(mark, self.link.shape), cosine)[0]

    def foot(self, direction: Array, legs: list[int]) -> Foot:
        """By a·ν for each metre of q."""
        along = np.sum(direction * self.rail[legs], axis=-1)
        q = Margins(*(field[:, legs] for field in self.slider))
        way = q.swing(self.tips.half) + q.rest
        return Foot(along[..., np.newaxis] * q.slope, np.abs(along) * q.rest, way)

    def some(self, chosen: Array) -> Self:
        """The boxes that a mask (n,) chooses."""
        radicand, slider = (
            Margins(*(field[chosen] for field in part)) for part in (self.radicand, self.slider)
        )
        return replace(
            self,
            tips=self.tips.some(chosen),
            link=self.link[chosen],
            radicand=radicand,
            slider=slider,
        )


def span(legs: PUS, tips: TipBoxes) -> PUSSpan:
    """PUS legs over boxes of tips."""
    rail, length = legs.rail_direction[..., 0].T, legs.length[:, 0]
    d = tips.tip - legs.rail_origin[..., 0].T
    radicand, q = _slider(rail, length, legs.sign[:, 0], tips, d)
    return PUSSpan(rail, length, tips, d - q.value[..., np.newaxis] * rail, radicand, q)


@np.errstate(divide="ignore", invalid="ignore")
def _slider(
    rail: Array, length: Array, sign: Array, tips: TipBoxes, d: Array
) -> tuple[Margins, Margins]:
    """The radicand l² − ‖u + y_⊥‖² and q(d) = a·d ∓ √(l² − ‖u‖²) (`gough.legs.pus.equations.reach`).

    q has a second derivative of at most l²/√(l² − (‖u‖ + σ)²)³.
    """
    along = np.sum(d * rail, axis=-1)
    u = d - along[..., np.newaxis] * rail
    off, reach = np.linalg.norm(u, axis=-1), tips.reach
    radicand = length**2 - off**2
    inside = Margins(
        radicand - reach**2 / 2,
        -2 * tips.pulled(u),
        reach**2 / 2 + 2 * off * tips.rest,
    )
    least = length**2 - (off + reach) ** 2
    most = length**2 - np.maximum(off - reach, 0.0) ** 2
    root, low, high = (np.sqrt(np.maximum(part, 0.0)) for part in (radicand, least, most))
    gradient = rail - (sign / root)[..., np.newaxis] * u
    slope = tips.pulled(gradient)
    curved = length**2 / low**3 * reach**2 / 2
    rest = curved + np.linalg.norm(gradient, axis=-1) * tips.rest
    swing = np.einsum("nli,ni->nl", np.abs(slope), tips.half)
    wide = reach + (high - low) / 2
    # near the end of the reach the root has no slope: then its range alone
    taylor = (least > 0) & (swing + rest <= wide)
    q = Margins(
        np.where(taylor, along + sign * root, along + sign * (high + low) / 2),
        np.where(taylor[..., np.newaxis], slope, 0.0),
        np.where(most < 0, UNKNOWN, np.where(taylor, rest, wide)),
    )
    return inside, q
