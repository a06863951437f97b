"""Margins of a robot's limits over whole boxes of poses, with bounds that prove.

A box of poses has coordinates x = centre + δ, |δ_i| ≤ half_i: positions at one orientation, or rotation
vectors at one position. Every condition is a margin g ≥ 0, given over a box as

    g(x) = value + slope·δ + r,    |r| ≤ rest

so a box with value − Σ|slope_i| half_i − rest ≥ 0 for all conditions is proved inside, one with
value + Σ|slope_i| half_i + rest < 0 for any is proved outside. What differs by kind of leg is in
`gough.legs.reach`: reach, stroke, and how the link D from its foot to the tip P moves. Here is

    joint angle    D·M ≥ cos α ‖D‖,   M the leg's direction at home, fixed to what carries the joint
    platform       D·M ≥ sin β ‖D‖,   M normal to the platform's plane, on the legs' side
    legs           distance of two legs − 2 r, between a plane that parts them and two of their points

in m.
"""

from __future__ import annotations

import numpy as np

from gough.analysis.closest import WIDEST
from gough.analysis.interference import leg_distances, nearest, pairs
from gough.analysis.pose_boxes import Boxes, Positions
from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.reach import Margins, Span, TipBoxes
from gough.model.limits import directions_on_carrier
from gough.model.model import Model

ROUNDING = 1e-13
"""Share of its terms by which each margin's rest is widened."""


class Conditions:
    """The limits of a robot file that depend on the pose alone, and clearances, as margins.

    Stroke, reach, universal and spherical angle of the file; legs apart by 2 `leg_radius` (m);
    legs at least `platform_angle` (rad) off the platform's plane, on the side on which they are at home.
    """

    def __init__(
        self, robot: Model, leg_radius: float | None = None, platform_angle: float | None = None
    ) -> None:
        if len(robot.description.groups) > 1:
            raise InputError(
                f"{robot.name} has groups of legs: bounds that prove are there for one kind of links"
            )
        self.robot = robot
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
                legs = robot.inverse_kinematics(home)
                axis = directions_on_carrier(robot, home, legs, name)
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
            count = len(boxes.tips.half)
            return Margins(np.ones((count, 0)), np.zeros((count, 0, 3)), np.zeros((count, 0)))
        return Margins(*(np.concatenate(part, axis=1) for part in zip(*found, strict=True)))

    @property
    def labels(self) -> list[str]:
        """What every margin is of, in their order: "reach", "longest stroke", "legs", …."""
        none = Positions(self.points, np.eye(3)).boxes(np.zeros((0, 3)), np.zeros((0, 3)))
        found = self._conditions(none)
        return [name for name, margins in found for _ in range(margins.value.shape[1])]

    def _conditions(self, boxes: Boxes) -> list[tuple[str, Margins]]:
        span = self.robot.leg_kind.geometry.over(self.robot.description.legs, boxes.tips)
        found = span.conditions(self.shortest, self.longest)
        for name, axis, cosine, turns in self.cones:
            cone = (
                _on_platform(boxes, span, axis, cosine) if turns else span.universal(axis, cosine)
            )
            found.append((name, _limited(cone, cosine)))
        if self.radius is not None:
            found.append(("legs", self._open_between(found, boxes.tips, span)))
        return [(name, _widened(margins)) for name, margins in found]

    def _open_between(
        self, others: list[tuple[str, Margins]], tips: TipBoxes, span: Span
    ) -> Margins:
        """Leg against leg, which is slow to tell, in boxes that nothing else proves outside."""
        some = np.ones(len(tips.half), dtype=bool)
        for _, one in others:
            some &= (one.value + one.swing(tips.half) + one.rest >= 0).all(axis=1)
        count = (len(tips.half), len(pairs(self.robot)))
        margins = Margins(np.full(count, np.inf), np.zeros((*count, 3)), np.zeros(count))
        part = self._between(tips.some(some), span.some(some))
        for whole, new in zip(margins, part, strict=True):
            whole[some] = new
        return margins

    def _between(self, tips: TipBoxes, span: Span) -> Margins:
        """Distance of two legs less 2 r, between a plane that parts them and a pair of their points.

        With ν the direction between their nearest points at the centre, the distance is at least
        the least of ν·(an end of one − an end of the other), and at most that of those two points.
        """
        assert self.radius is not None
        one, two = ([pair[side] for pair in pairs(self.robot)] for side in (0, 1))
        link, tip, foot = span.link, tips.tip, tips.tip - span.link
        s, t = nearest(foot[:, one], tip[:, one], foot[:, two], tip[:, two])
        near = foot[:, one] + s[..., np.newaxis] * link[:, one]
        gap = near - foot[:, two] - t[..., np.newaxis] * link[:, two]
        distance = np.linalg.norm(gap, axis=-1)
        unit = gap / np.where(distance > 0, distance, 1.0)[..., np.newaxis]

        def ends(legs: list[int]) -> list[tuple[Array, Array, Array, Array]]:
            """Place, slope along ν, doubt and way of the foot and the tip of legs."""
            part = tips.of(legs)
            return [
                (foot[:, legs], *span.foot(unit, legs)),
                (part.tip, part.pulled(unit), part.rest, part.reach),
            ]

        def swing(slope: Array) -> Array:
            return np.asarray(np.einsum("nli,ni->nl", np.abs(slope), tips.half))

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


def _on_platform(boxes: Boxes, span: Span, axis: Array, cosine: Array) -> Margins:
    """D·M − cos α ‖D‖, M = R axis turning with the platform: δM = δθ × M, D·δM = δθ·(M × D)."""
    link = span.link
    mark = np.einsum("nij,lj->nli", boxes.rotation, axis)
    (value, slope, rest), moved = span.cone(mark, cosine)
    if boxes.turn_slope is not None:
        first = boxes.turn[:, np.newaxis]
        slope = slope + np.cross(mark, link) @ boxes.turn_slope
        rest = rest + np.linalg.norm(link, axis=-1) * first**2 / 2
        rest = rest + np.where(first > 0, moved, 0.0) * first
    return Margins(value, slope, rest)


def _limited(margins: Margins, cosine: Array) -> Margins:
    """The margins of angles, 1 where there is no limit."""
    free = cosine < -1
    return Margins(
        np.where(free, 1.0, margins.value),
        np.where(free[:, np.newaxis], 0.0, margins.slope),
        np.where(free, 0.0, margins.rest),
    )


def _widened(margins: Margins) -> Margins:
    size = np.where(np.isfinite(margins.value), np.abs(margins.value), 0.0)
    return margins._replace(rest=margins.rest + ROUNDING * (1.0 + size))


def _positive(name: str, value: float) -> float:
    if not 0 < value <= WIDEST:
        raise InputError(f"{name} is {value:g} m, must be above 0 and {WIDEST:g} m at most")
    return float(value)
