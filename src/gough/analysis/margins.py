"""Margins of a robot's limits over whole boxes of poses, with bounds that prove.

A box of poses has coordinates x = centre + δ, |δ_i| ≤ half_i: positions at one orientation, or rotation
vectors at one position. Every condition is a margin g ≥ 0, given over a box as

    g(x) = value + slope·δ + r,    |r| ≤ rest

so a box with value − Σ|slope_i| half_i − rest ≥ 0 for all conditions is proved inside, one with
value + Σ|slope_i| half_i + rest < 0 for any is proved outside. Tips move as t + T δ + e with ‖e‖ ≤ ε and
stay within σ of t; with d = t − B, ‖y‖ ≤ σ:

    UPS length     ‖d + y‖² = ‖d‖² + 2 d·T δ + 2 d·e + ‖y‖²,   0 ≤ ‖y‖² ≤ σ²
    PUS reach      l² − ‖u + y_⊥‖²,   u = d made perpendicular to the rail
    PUS stroke     q(d) = a·d ∓ √(l² − ‖u‖²), second derivative at most l²/√(l² − (‖u‖ + σ)²)³
    joint angle    D·M ≥ cos α ‖D‖,   D along the leg, M the joint's direction at home
    platform       D·M ≥ sin β ‖D‖,   M normal to the platform's plane, on the legs' side
    legs           distance of two legs − 2 r, between a plane that parts them and two of their points

PUS: D = d − q a. Margins of lengths are in m² (stroke of PUS, angles, legs: m).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.analysis.interference import leg_distances, nearest, pairs
from gough.analysis.pose_boxes import Boxes, Positions
from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.pus.equations import PUS
from gough.model.model import Model

UNKNOWN = 1e12
"""Doubt, m, of a slider whose tip is out of reach all over a box."""
ROUNDING = 1e-13
"""Share of its terms by which each margin's rest is widened."""


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


class Conditions:
    """The limits of a robot file that depend on the pose alone, and clearances, as margins.

    Stroke, reach (PUS), universal and spherical angle of the file; legs apart by 2 `leg_radius` (m);
    legs at least `platform_angle` (rad) off the platform's plane, on the side on which they are at home.
    """

    def __init__(
        self, robot: Model, leg_radius: float | None = None, platform_angle: float | None = None
    ) -> None:
        self.robot = robot
        self.legs = robot.description.legs
        self.points = robot.description.platform_points[..., 0].T
        self.radius = None if leg_radius is None else _positive("leg_radius", leg_radius)
        limits = robot.description.limits
        self.shortest, self.longest = limits.shortest, limits.longest
        self.cones = []
        for name, limit, turns in (
            ("universal_angle", limits.universal_angle, False),
            ("spherical_angle", limits.spherical_angle, True),
        ):
            if np.any(np.isfinite(limit)):
                home = robot.home
                axis = robot.inverse_kinematics(home).direction
                axis = axis @ home.rotation if turns else axis
                # an angle limit of π or more, or none, is no limit
                cosine = np.where(limit < np.pi, np.cos(np.minimum(limit, np.pi)), -2.0)
                self.cones.append((name, axis, cosine, turns))
        if platform_angle is not None:
            self.cones.append(self._plane(platform_angle))
        if self.radius is not None and robot.description.home is not None:
            self._apart_at_home(self.radius)

    def __call__(self, boxes: Boxes) -> Margins:
        """All margins over boxes."""
        found = [margins for _, margins in self._conditions(boxes)]
        if not found:
            return Margins(np.ones((len(boxes.half), 0)), *_none(len(boxes.half)))
        return Margins(*(np.concatenate(part, axis=1) for part in zip(*found, strict=True)))

    @property
    def labels(self) -> list[str]:
        """What every margin is of, in their order: "reach", "longest stroke", "legs", …."""
        none = Positions(self.points, np.eye(3)).boxes(np.zeros((0, 3)), np.zeros((0, 3)))
        found = self._conditions(none)
        return [name for name, margins in found for _ in range(margins.value.shape[1])]

    def _conditions(self, boxes: Boxes) -> list[tuple[str, Margins]]:
        found: list[tuple[str, Margins]] = []
        legs = self.legs
        if isinstance(legs, PUS):
            d = boxes.tip - legs.rail_origin[..., 0].T
            reach, q = self._slider(boxes, d)
            link = d - q.value[..., np.newaxis] * legs.rail_direction[..., 0].T
            found.append(("reach", reach))
            coordinate = q
            low, high = self.shortest, self.longest
        else:
            link = d = boxes.tip - legs.base[..., 0].T
            coordinate = self._square(boxes, d)
            low = np.where(self.shortest > 0, self.shortest**2, -np.inf)
            high, q = self.longest**2, None
        if np.any(np.isfinite(high)):
            found.append(("longest stroke", _limit(-1.0, coordinate, high)))
        if np.any(np.isfinite(low)):
            found.append(("shortest stroke", _limit(1.0, coordinate, low)))
        for name, axis, cosine, turns in self.cones:
            found.append((name, self._cone(boxes, link, q, axis, cosine, turns)))
        if self.radius is not None:
            found.append(("legs", self._open_between(found, boxes, link, q)))
        return [(name, _widened(margins)) for name, margins in found]

    def _open_between(
        self, others: list[tuple[str, Margins]], boxes: Boxes, link: Array, q: Margins | None
    ) -> Margins:
        """Leg against leg, which is slow to tell, in boxes that nothing else proves outside."""
        some = np.ones(len(link), dtype=bool)
        for _, one in others:
            some &= (one.value + one.swing(boxes.half) + one.rest >= 0).all(axis=1)
        count = (len(link), len(pairs(self.robot)))
        margins = Margins(np.full(count, np.inf), np.zeros((*count, 3)), np.zeros(count))
        part = boxes.some(some)
        sliders = None if q is None else Margins(*(field[some] for field in q))
        for whole, new in zip(margins, self._between(part, link[some], sliders), strict=True):
            whole[some] = new
        return margins

    def _square(self, boxes: Boxes, d: Array) -> Margins:
        """‖d‖² of UPS legs."""
        square, reach = np.sum(d * d, axis=-1), boxes.reach**2 / 2
        return Margins(
            square + reach,
            2 * _pulled(boxes, d),
            reach + 2 * np.sqrt(square) * boxes.rest,
        )

    @np.errstate(divide="ignore", invalid="ignore")
    def _slider(self, boxes: Boxes, d: Array) -> tuple[Margins, Margins]:
        """The radicand l² − ‖u‖² and q of PUS legs; q is unknown where no tip of the box is in reach."""
        legs = self.legs
        assert isinstance(legs, PUS)
        rail, length, sign = legs.rail_direction[..., 0].T, legs.length[:, 0], legs.sign[:, 0]
        along = np.sum(d * rail, axis=-1)
        u = d - along[..., np.newaxis] * rail
        off, reach = np.linalg.norm(u, axis=-1), boxes.reach
        radicand = length**2 - off**2
        inside = Margins(
            radicand - reach**2 / 2,
            -2 * _pulled(boxes, u),
            reach**2 / 2 + 2 * off * boxes.rest,
        )
        least = length**2 - (off + reach) ** 2
        most = length**2 - np.maximum(off - reach, 0.0) ** 2
        root, low, high = (np.sqrt(np.maximum(part, 0.0)) for part in (radicand, least, most))
        gradient = rail - (sign / root)[..., np.newaxis] * u
        slope = _pulled(boxes, gradient)
        curved = length**2 / low**3 * reach**2 / 2
        rest = curved + np.linalg.norm(gradient, axis=-1) * boxes.rest
        swing = np.einsum("nli,ni->nl", np.abs(slope), boxes.half)
        wide = reach + (high - low) / 2
        # near the end of the reach the root has no slope: then its range alone
        taylor = (least > 0) & (swing + rest <= wide)
        q = Margins(
            np.where(taylor, along + sign * root, along + sign * (high + low) / 2),
            np.where(taylor[..., np.newaxis], slope, 0.0),
            np.where(most < 0, UNKNOWN, np.where(taylor, rest, wide)),
        )
        return inside, q

    def _cone(
        self,
        boxes: Boxes,
        link: Array,
        q: Margins | None,
        axis: Array,
        cosine: Array,
        turns: bool,
    ) -> Margins:
        """D·M − cos α ‖D‖; M = R axis where it turns with the platform."""
        reach, rest_of_tip = boxes.reach, boxes.rest
        if turns:
            mark = np.einsum("nij,lj->nli", boxes.rotation, axis)
        else:
            mark = np.broadcast_to(axis, link.shape)
        value = np.sum(link * mark, axis=-1)
        slope = _pulled(boxes, mark)
        size = np.linalg.norm(link, axis=-1)
        first = boxes.turn[:, np.newaxis] if turns else 0.0
        if turns and boxes.turn_slope is not None:
            # δM = δθ × M, so D·δM = δθ·(M × D)
            slope = slope + np.cross(mark, link) @ boxes.turn_slope
        with np.errstate(invalid="ignore", divide="ignore"):
            if q is None:
                moved, lost = reach, rest_of_tip
                near = np.maximum(size - reach, 0.0)
                curved = np.minimum(reach**2 / (2 * near), 2 * reach) + rest_of_tip
                unit = link / np.where(size > 0, size, 1.0)[..., np.newaxis]
                value = value - cosine * size
                slope = slope - cosine[:, np.newaxis] * _pulled(boxes, unit)
                bend = np.abs(cosine) * np.where(reach > 0, curved, 0.0)
            else:
                assert isinstance(self.legs, PUS)
                along = np.sum(mark * self.legs.rail_direction[..., 0].T, axis=-1)
                swing = np.einsum("nli,ni->nl", np.abs(q.slope), boxes.half)
                moved = reach + swing + q.rest
                lost = rest_of_tip + np.abs(along) * q.rest
                slope = slope - along[..., np.newaxis] * q.slope
                value = value - cosine * self.legs.length[:, 0]
                bend = np.zeros_like(value)
        rest = size * first**2 / 2 + lost + np.where(first > 0, moved, 0.0) * first + bend
        free = cosine < -1
        return Margins(
            np.where(free, 1.0, value),
            np.where(free[:, np.newaxis], 0.0, slope),
            np.where(free, 0.0, rest),
        )

    def _between(self, boxes: Boxes, link: Array, q: Margins | None) -> Margins:
        """Distance of two legs less 2 r, between a plane that parts them and a pair of their points.

        With ν the direction between their nearest points at the centre, the distance is at least
        the least of ν·(an end of one − an end of the other), and at most that of those two points.
        """
        assert self.radius is not None
        one, two = ([pair[side] for pair in pairs(self.robot)] for side in (0, 1))
        tip, anchor = boxes.tip, boxes.tip - link
        s, t = nearest(anchor[:, one], tip[:, one], anchor[:, two], tip[:, two])
        near = anchor[:, one] + s[..., np.newaxis] * link[:, one]
        gap = near - anchor[:, two] - t[..., np.newaxis] * link[:, two]
        distance = np.linalg.norm(gap, axis=-1)
        unit = gap / np.where(distance > 0, distance, 1.0)[..., np.newaxis]

        def ends(legs: list[int]) -> list[tuple[Array, Array, Array, Array]]:
            """Place, slope along ν, doubt and way of the anchor and the tip of legs."""
            count = (len(boxes.half), len(legs))
            if q is None:
                still = np.zeros(count)
                first = (anchor[:, legs], np.zeros((*count, 3)), still, still)
            else:
                assert isinstance(self.legs, PUS)
                along = np.sum(unit * self.legs.rail_direction[..., 0].T[legs], axis=-1)
                slope, doubt = q.slope[:, legs], q.rest[:, legs]
                way = np.einsum("nli,ni->nl", np.abs(slope), boxes.half) + doubt
                first = (
                    anchor[:, legs],
                    along[..., np.newaxis] * slope,
                    np.abs(along) * doubt,
                    way,
                )
            part = boxes._replace(
                tip=tip[:, legs], slope=None if boxes.slope is None else boxes.slope[:, legs]
            )
            reach, rest = boxes.reach[:, legs], boxes.rest[:, legs]
            return [first, (tip[:, legs], _pulled(part, unit), rest, reach)]

        def swing(slope: Array) -> Array:
            return np.asarray(np.einsum("nli,ni->nl", np.abs(slope), boxes.half))

        ends_one, ends_two = ends(one), ends(two)
        least = np.min(
            [
                np.sum(unit * (a - b), axis=-1) - swing(slope_a - slope_b) - rest_a - rest_b
                for a, slope_a, rest_a, _ in ends_one
                for b, slope_b, rest_b, _ in ends_two
            ],
            axis=0,
        )
        # the two points move by y; their distance by ν·y and no more than ‖y‖²/(2 distance) beside
        shares = [(1 - s, s), (1 - t, t)]
        slope, doubt, way = np.zeros_like(unit), np.zeros_like(distance), np.zeros_like(distance)
        for sign, share, both in zip((1, -1), shares, (ends_one, ends_two), strict=True):
            for part, (_, rate, rest, far) in zip(share, both, strict=True):
                slope += sign * part[..., np.newaxis] * rate
                doubt += part * rest
                way += part * far
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = np.where(way > 0, np.minimum(way**2 / (2 * distance), way), 0.0)
        most = distance + swing(slope) + doubt + bend
        middle, rest = (most + least) / 2, (most - least) / 2
        return Margins(middle - 2 * self.radius, np.zeros((*distance.shape, 3)), rest)

    def _plane(self, platform_angle: float) -> tuple[str, Array, Array, bool]:
        """The plane that fits the platform points best as a cone: legs within π/2 − β of its normal."""
        if not 0 <= platform_angle < np.pi / 2:
            raise InputError(f"platform_angle is {platform_angle}, needs 0 to under π/2 rad")
        middle = self.points - self.points.mean(axis=0)
        _, _, right = np.linalg.svd(middle)
        home = self.robot.home
        side = self.robot.inverse_kinematics(home).direction @ (home.rotation @ right[2])
        if np.any(side * side[0] <= 0):
            raise InputError(
                f"platform_angle: legs of {self.robot.name} are on both sides of its platform at home"
            )
        normal = np.tile(np.sign(side[0]) * right[2], (len(middle), 1))
        sine = np.full(len(middle), np.sin(platform_angle))
        return "platform", normal, sine, True

    def _apart_at_home(self, radius: float) -> None:
        distance = leg_distances(self.robot, self.robot.home)
        worst = int(np.argmin(distance)) if len(distance) else None
        if worst is not None and distance[worst] < 2 * radius:
            one, other = (leg + 1 for leg in pairs(self.robot)[worst])
            raise InputError(
                f"leg_radius {radius:g} m: at home legs {one} and {other} of {self.robot.name} are "
                f"{distance[worst]:.4g} m apart, which is less than two radii"
            )


def _limit(sign: float, coordinate: Margins, bound: Array) -> Margins:
    """sign (coordinate − bound), 1 where there is no bound."""
    free = ~np.isfinite(bound)
    edge = np.where(free, 0.0, bound)
    return Margins(
        np.where(free, 1.0, sign * (coordinate.value - edge)),
        np.where(free[:, np.newaxis], 0.0, sign * coordinate.slope),
        np.where(free, 0.0, coordinate.rest),
    )


def _pulled(boxes: Boxes, gradient: Array) -> Array:
    """Tᵀ g (n, legs, 3): a gradient by the tip as one by the box's coordinates."""
    if boxes.slope is None:
        return np.broadcast_to(gradient, boxes.tip.shape)
    return np.asarray(np.einsum("nlji,nlj->nli", boxes.slope, gradient))


def _widened(margins: Margins) -> Margins:
    size = np.where(np.isfinite(margins.value), np.abs(margins.value), 0.0)
    return margins._replace(rest=margins.rest + ROUNDING * (1.0 + size))


def _none(count: int) -> tuple[Array, Array]:
    return np.zeros((count, 0, 3)), np.zeros((count, 0))


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value}, needs a positive number of metres")
    return float(value)
