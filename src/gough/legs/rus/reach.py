"""RUS legs over boxes of poses: margins of their reach, of the crank's stroke and of joint angles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gough.base.arrays import Array
from gough.legs.reach import Foot, Margins, TipBoxes, strokes
from gough.legs.rus.equations import RUS

ANY = 2 * np.pi
"""Doubt, rad, of a crank that may be anywhere."""


@dataclass(frozen=True)
class RUSSpan:
    """RUS legs over boxes; their feet A = motor + r u(q) move on circles, D = P − A.

    See `gough.legs.reach`.
    """

    radius: Array
    """r (legs,), m."""
    length: Array
    """l (legs,), m."""
    axis: Array
    """a (legs, 3) of the motors, unit."""
    tips: TipBoxes
    link: Array
    crank_axes: tuple[Array, Array]
    """u and t (n, legs, 3) at the centres, unit; 0 where the tip is out of reach there."""
    radicand: Margins
    """R², m² (`gough.legs.rus.equations.reach`): 0 at the ends of the reach."""
    crank: Margins
    """q, rad."""

    def conditions(self, shortest: Array, longest: Array) -> list[tuple[str, Margins]]:
        """Reach (the radicand, m²) and stroke (q, rad)."""
        return [("reach", self.radicand), *strokes(self.crank, shortest, longest)]

    def cone(self, mark: Array, cosine: Array) -> tuple[Margins, Array]:
        """D·M − cos α l: the foot moves along M by r (t·M δq + e) with |e| ≤ δq²/2."""
        tips, foot = self.tips, self._moved(mark, slice(None))
        margins = Margins(
            np.sum(self.link * mark, axis=-1) - cosine * self.length,
            tips.pulled(mark) - foot.slope,
            tips.rest + foot.rest,
        )
        return margins, tips.reach + foot.way

    def universal(self, mark: Array, cosine: Array) -> Margins:
        """D·M − cos α l of directions M = m_u u + m_t t + m_a a that turn with the crank.

        As u·M = m_u whatever q, D·M = d·M − r m_u with d = P − motor. Where the crank turns by δq and
        the tip moves by y, M moves by δq a×M + e with |e| ≤ m_⊥ δq²/2, m_⊥ = ‖(m_u, m_t)‖, and
        d·M by y·M + δq d·(a×M) + d·e + y·(δq a×M + e); the last is at most 2 m_⊥ ‖y‖.
        """
        tips, (u, t) = self.tips, self.crank_axes
        across = mark[:, :1] * u + mark[:, 1:2] * t
        now, turned = across + mark[:, 2:] * self.axis, mark[:, :1] * t - mark[:, 1:2] * u
        d = self.link + self.radius[:, np.newaxis] * u
        off_axis = np.linalg.norm(np.cross(d, self.axis), axis=-1)
        share = np.hypot(mark[:, 0], mark[:, 1])
        along = np.sum(d * turned, axis=-1)
        turn = self.crank.swing(tips.half) + self.crank.rest
        bend = share * np.minimum(turn**2 / 2, 2 + turn) * off_axis
        return Margins(
            np.sum(d * now, axis=-1) - self.radius * mark[:, 0] - cosine * self.length,
            tips.pulled(now) + along[..., np.newaxis] * self.crank.slope,
            tips.rest
            + np.abs(along) * self.crank.rest
            + bend
            + share * np.minimum(turn, 2.0) * tips.reach,
        )

    def foot(self, direction: Array, legs: list[int]) -> Foot:
        """By r t·ν for each radian of q, and what its circle bends."""
        return self._moved(direction, legs)

    def _moved(self, direction: Array, legs: list[int] | slice) -> Foot:
        q = Margins(*(field[:, legs] for field in self.crank))
        r = self.radius[legs]
        along = r * np.sum(direction * self.crank_axes[1][:, legs], axis=-1)
        turn = q.swing(self.tips.half) + q.rest
        rest = np.abs(along) * q.rest + r * np.minimum(turn**2 / 2, 2 + turn)
        return Foot(along[..., np.newaxis] * q.slope, rest, r * np.minimum(turn, 2.0))

    def some(self, chosen: Array) -> Self:
        """The boxes that a mask (n,) chooses."""
        radicand, crank = (
            Margins(*(field[chosen] for field in part)) for part in (self.radicand, self.crank)
        )
        return replace(
            self,
            tips=self.tips.some(chosen),
            link=self.link[chosen],
            crank_axes=(self.crank_axes[0][chosen], self.crank_axes[1][chosen]),
            radicand=radicand,
            crank=crank,
        )


def span(legs: RUS, tips: TipBoxes) -> RUSSpan:
    """RUS legs over boxes of tips."""
    radius, length = legs.crank_length[:, 0], legs.length[:, 0]
    motor, axis = legs.motor[..., 0].T, legs.motor_axis[..., 0].T
    with np.errstate(invalid="ignore", divide="ignore"):
        reached = legs.reach(np.moveaxis(tips.tip, 0, -1).swapaxes(0, 1))
        u, t = legs.crank_axes(reached.cosine, reached.sine)
    known = np.isfinite(reached.cosine).T
    u, t = (np.nan_to_num(np.moveaxis(one, -1, 0).swapaxes(1, 2)) for one in (u, t))
    d = tips.tip - motor
    link = d - radius[:, np.newaxis] * u
    radicand = _radicand(axis, radius, length, tips, d)
    q = np.nan_to_num(np.arctan2(reached.sine, reached.cosine).T)
    crank = _crank(radius, length, tips, (q, link, t, known), radicand)
    return RUSSpan(radius, length, axis, tips, link, (u, t), radicand, crank)


def _radicand(axis: Array, radius: Array, length: Array, tips: TipBoxes, d: Array) -> Margins:
    """R² = ρ² − K², K = (d·d + r² − l²)/(2 r): half its gradient is d_⊥ − K d/r.

    Its second derivative 2 (1 − a aᵀ) − 2 K/r − 2 d dᵀ/r² is at most 2 + 2 |K|/r + 2 ‖d‖²/r².
    """
    height = np.sum(d * axis, axis=-1)
    square, reach = np.sum(d * d, axis=-1), tips.reach
    along = (square + radius**2 - length**2) / (2 * radius)
    gradient = 2 * (d - height[..., np.newaxis] * axis - (along / radius)[..., np.newaxis] * d)
    far = (np.sqrt(square) + reach) ** 2
    longest = np.abs(along) + (far - square) / (2 * radius)
    curved = (1 + longest / radius + far / radius**2) * reach**2
    return Margins(
        square - height**2 - along**2,
        tips.pulled(gradient),
        curved + np.linalg.norm(gradient, axis=-1) * tips.rest,
    )


def _crank(
    radius: Array,
    length: Array,
    tips: TipBoxes,
    centre: tuple[Array, Array, Array, Array],
    radicand: Margins,
) -> Margins:
    """q over the boxes from q, D and t at their centres, and where a crank is known there.

    ∇q = n/c with c = r t·n = ± r R/l. As ‖∂n‖ ≤ (1 + r/c)/l and ‖∂c‖ ≤ r (1/c + ‖∂n‖), its second
    derivative is at most ‖∂n‖/c + ‖∂c‖/c². Where the ends of the reach, or q = ± π, are in the box the
    crank may be anywhere.
    """
    q, link, tangent, known = centre
    least = radicand.value - radicand.swing(tips.half) - radicand.rest
    inside = known & (least > 0)
    firm = radius * np.sqrt(np.where(inside, least, 1.0)) / length
    turning = (1 + radius / firm) / length
    second = turning / firm + radius * (1 / firm + turning) / firm**2
    slope_now = radius * np.sum(tangent * link, axis=-1) / length
    slope_now = np.where(inside, slope_now, 1.0)
    gradient = link / (length * slope_now)[..., np.newaxis]
    slope = tips.pulled(gradient)
    rest = second * tips.reach**2 / 2 + np.linalg.norm(gradient, axis=-1) * tips.rest
    found = Margins(q, slope, rest)
    turn = found.swing(tips.half) + rest
    taylor = inside & (np.abs(q) + turn < np.pi)
    return Margins(
        np.where(taylor, q, 0.0),
        np.where(taylor[..., np.newaxis], slope, 0.0),
        np.where(taylor, rest, ANY),
    )
