"""Workspaces: where a robot can go within its limits, with volumes whose errors are bounded.

| function | coordinates | a pose counts if |
|---|---|---|
| `workspace` | positions of the platform's origin, m | the legs allow it at one orientation |
| `orientation_workspace` | rotation vectors, rad | the legs allow it at one position |
| `reachable` | positions | the legs allow it at one or more of given orientations |
| `dexterous` | positions | the legs allow it at all of given orientations |

Conditions (`gough.analysis.margins`): stroke, reach, universal and spherical angle as the robot file
limits them, and if asked for legs apart from each other and from the platform's plane. Speed and force
are not among them. A flexible platform counts as undeformed.

Of all that, the part counts that the robot reaches from home without crossing a singularity
(`gough.analysis.side`, `gough.analysis.from_home`); how much lies beyond is told apart. A leg has one
coordinate for a pose, so there are no other branches to follow.

Bounds that prove are known of links that hold points. Other robots, and coordinates other than these,
are sampled by `gough.analysis.own_workspace`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.closest import WIDEST
from gough.analysis.from_home import reached
from gough.analysis.margins import Conditions
from gough.analysis.octree import Tree, grow, shares
from gough.analysis.own_workspace import provable
from gough.analysis.pose_boxes import Orientations, Poses, Positions
from gough.analysis.rotation_measure import measured
from gough.analysis.side import Side, sided
from gough.analysis.singularities import OFF
from gough.analysis.workspace_result import Workspace
from gough.base.arrays import Array, given_numbers
from gough.base.words import within
from gough.errors import InputError, MissingDataError, ToleranceWarning
from gough.legs.reach import Margins
from gough.model.batch import last_axis
from gough.model.model import Model
from gough.motion import Motion

MOST_BOXES = 1_000_000
NARROWEST = 1e-9
"""m: of bounds, low to high."""
NEARBY = 1e-6
"""m or rad, over which the slope towards a singularity is taken."""


def workspace(
    robot: Model,
    rotation: ArrayLike | Rotation | None = None,
    *,
    tolerance: float = 0.005,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    from_home: bool = True,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions of the platform's origin that the legs allow at one orientation, home's by default.

    `tolerance` is that of the volume, relative. `leg_radius` (m) keeps legs two radii apart,
    `platform_angle` (rad) keeps legs that far off the platform's plane. `bounds` [[low, high]] * 3 (m)
    limits the search; it must be given where the file limits no stroke. `from_home` takes the part that
    hangs together with home and is on its side of the singularities, where the robot has as many
    actuators as directions; at an orientation at which home's position is not allowed it is all on that
    side. `progress` gets the result so far after every round. Over `most_boxes` boxes it is not refined
    further and warns of its error.
    """
    turn = robot.home.rotation if rotation is None else _rotations(rotation)
    if turn.shape != (3, 3):
        raise InputError(f"rotation has batch shape {turn.shape[:-2]}, needs one orientation")
    space = _Space(robot, turn[np.newaxis], leg_radius, platform_angle, from_home, every=True)
    return space.solve("constant-orientation workspace", bounds, tolerance, most_boxes, progress)


def reachable(
    robot: Model,
    rotations: ArrayLike | Rotation,
    *,
    tolerance: float = 0.01,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    from_home: bool = True,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions that the legs allow in one or more of the orientations (n, 3, 3) given.

    The set is that of these orientations, not of any between them. Options: see `workspace`.
    """
    space = _Space(robot, _several(rotations), leg_radius, platform_angle, from_home, every=False)
    return space.solve("reachable workspace", bounds, tolerance, most_boxes, progress)


def dexterous(
    robot: Model,
    rotations: ArrayLike | Rotation,
    *,
    tolerance: float = 0.01,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    from_home: bool = True,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions that the legs allow in each of the orientations (n, 3, 3) given; see `cone`.

    The set is that of these orientations, not of any between them. Options: see `workspace`.
    """
    space = _Space(robot, _several(rotations), leg_radius, platform_angle, from_home, every=True)
    return space.solve("dexterous workspace", bounds, tolerance, most_boxes, progress)


def orientation_workspace(
    robot: Model,
    position: ArrayLike | None = None,
    *,
    about: ArrayLike | Rotation | None = None,
    within: float = np.pi,
    tolerance: float = 0.02,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    from_home: bool = True,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Orientations exp(r) R₀ that the legs allow at one position, home's by default, by r (rad).

    R₀ is `about`, by default home's; angles ‖r‖ to `within` count. The measure is that of rotations,
    (2 sin(‖r‖/2)/‖r‖)² d³r, which no choice of R₀ changes; all orientations have 8 π².
    """
    place = robot.home.position if position is None else last_axis("position", position, 3)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise InputError(f"position is {np.asarray(position).tolist()}, needs three numbers in m")
    robot.sensible(Motion(place), "raise")
    start = robot.home.rotation if about is None else _rotations(about)
    if start.shape != (3, 3):
        raise InputError(f"about has batch shape {start.shape[:-2]}, needs one orientation")
    if not 0 < within <= np.pi:
        raise InputError(f"within is {within}, needs an angle over 0 to π rad")
    if robot.mobility < 6 and robot.description.mobility != "rotation":
        raise InputError(
            f"orientation_workspace: {robot.name} moves by {', '.join(robot.coordinates)}: "
            "gough.analysis.own_workspace samples these"
        )
    conditions = Conditions(robot, leg_radius, platform_angle)
    family = Orientations(conditions.points, place, start)
    side = Side(robot) if from_home and sided(robot) else None

    def ball(centre: Array, half: Array) -> Margins:
        reach = np.sum(half**2, axis=1) / 2
        return Margins(
            (within**2 - np.sum(centre**2, axis=1) - reach)[:, np.newaxis],
            -2 * centre[:, np.newaxis],
            reach[:, np.newaxis],
        )

    def margins(centre: Array, half: Array) -> Margins:
        return _joined(conditions(family.boxes(centre, half)), ball(centre, half))

    def judge(centre: Array, half: Array, sides: bool) -> tuple[Array, Array]:
        kept = side if sides else None
        return measured(centre, half, *_shares(margins, kept, family, centre, half))

    def at(points: Array) -> Array:
        return _room(margins, side, family, points)

    corner = np.full(3, within)
    known = from_home and robot.description.home is not None
    search = _Search(
        robot=robot,
        name="orientation workspace",
        unit="rad",
        judge=judge,
        at=at,
        labels=[*conditions.labels, "within", *(["singularity"] if side else [])],
        box=(-corner, corner),
        home=_turn_of_home(robot, start) if known else None,
        sides=side is not None,
    )
    return search.solve(tolerance, most_boxes, progress)


def cone(angle: float, around: ArrayLike | Rotation | None = None, count: int = 12) -> Array:
    """Orientations (1 + count, 3, 3) that tilt the platform's z axis by an angle (rad), and the middle.

    `count` tilts about axes in the platform's xy plane, evenly spread; `around` is the middle one.
    """
    if not 0 < angle < np.pi or count < 1:
        raise InputError(f"a cone of {angle} rad and {count} tilts: needs 0 to π rad and 1 or more")
    middle = np.eye(3) if around is None else _rotations(around)
    turn = 2 * np.pi * np.arange(count) / count
    tilts = angle * np.stack([np.cos(turn), np.sin(turn), np.zeros(count)], axis=1)
    return np.concatenate([middle[np.newaxis], middle @ Rotation.from_rotvec(tilts).as_matrix()])


class _Space:
    """Positions at one or several orientations, of which every one or any one must be allowed."""

    def __init__(
        self,
        robot: Model,
        rotations: Array,
        leg_radius: float | None,
        platform_angle: float | None,
        from_home: bool,
        every: bool,
    ) -> None:
        if not provable(robot):
            raise InputError(
                f"{robot.name}: no volume of its positions can be proved; "
                "gough.analysis.own_workspace samples its own coordinates"
            )
        _need_allowed(robot, rotations)
        self.robot, self.rotations, self.every = robot, rotations, every
        self.bounds: tuple[Array, Array] | None = None
        self.conditions = Conditions(robot, leg_radius, platform_angle)
        self.families: list[Poses] = [Positions(self.conditions.points, one) for one in rotations]
        self.from_home = from_home
        self.side = Side(robot) if from_home and sided(robot) else None

    def solve(
        self,
        name: str,
        bounds: ArrayLike | None,
        tolerance: float,
        most_boxes: int,
        progress: Callable[[Workspace], None] | None,
    ) -> Workspace:
        box = self._box() if bounds is None else _bounds(bounds)
        one = [*self.conditions.labels, *(["singularity"] if self.side else [])]
        labels = one * (len(self.families) if self.every else 1)
        if bounds is not None:
            self.bounds = box
            labels += ["bounds"] * 6
            box = self._within(box)
        known = self.robot.description.home is not None and self.from_home and self.every
        home = self.robot.home.position if known else None
        search = _Search(
            self.robot, name, "m", self._judge, self._room, labels, box, home, self.side is not None
        )
        return search.solve(tolerance, most_boxes, progress)

    def _judge(self, centre: Array, half: Array, sides: bool) -> tuple[Array, Array]:
        """Of several orientations: all of them, 1 − Σ (1 − low) ≤ share ≤ min high; any, max and Σ."""
        lower, upper = np.full(len(centre), float(self.every)), np.full(len(centre), 1.0)
        total = np.zeros(len(centre))
        side = self.side if sides else None
        for family in self.families:
            open_ = np.flatnonzero(upper > 0 if self.every else lower < 1)
            margins = self._margins(family)
            low, high = _shares(margins, side, family, centre[open_], half[open_])
            if self.every:
                lower[open_] -= 1.0 - low
                upper[open_] = np.minimum(upper[open_], high)
            else:
                lower[open_] = np.maximum(lower[open_], low)
                total[open_] += high
        if not self.every:
            upper = np.where(lower < 1, np.minimum(total, 1.0), 1.0)
        size = np.prod(2 * half, axis=1)
        return np.clip(lower, 0.0, upper) * size, upper * size

    def _margins(self, family: Poses) -> Callable[[Array, Array], Margins]:
        return lambda centre, half: self.conditions(family.boxes(centre, half))

    def _room(self, points: Array) -> Array:
        found = [_room(self._margins(one), self.side, one, points) for one in self.families]
        if self.every:
            worst = np.concatenate(found, axis=1)
        else:
            several = np.stack(found)
            best = several.min(axis=2, initial=np.inf).argmax(axis=0)
            worst = several[best, np.arange(len(points))]
        if self.bounds is None:
            return worst
        low, high = self.bounds
        return np.concatenate([worst, points - low, high - points], axis=1)

    def _within(self, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        """The part of a box that the strokes leave; all of it where the file limits none."""
        try:
            low, high = self._box()
        except MissingDataError:
            return bounds
        return np.maximum(bounds[0], low), np.minimum(bounds[1], high)

    def _box(self) -> tuple[Array, Array]:
        """A box around the set from the strokes, one of each leg at each orientation."""
        low, high = [], []
        for rotation in self.rotations:
            start, end = _strokes(self.robot, self.conditions.points @ rotation.T)
            low.append(start)
            high.append(end)
        if self.every:
            return np.max(low, axis=0), np.min(high, axis=0)
        good = np.all(np.less(low, high), axis=1)
        if not good.any():
            return low[0], high[0]
        return np.min(np.array(low)[good], axis=0), np.max(np.array(high)[good], axis=0)


def _need_allowed(robot: Model, rotations: Array) -> None:
    """Refuse orientations that mobility takes from the platform."""
    mobility = robot.mechanism.mobility
    if mobility is None:
        return
    turns = np.moveaxis(rotations, 0, -1)[:, :, np.newaxis]
    place = np.broadcast_to(mobility.position, (3, 1, len(rotations)))
    off = np.abs(mobility.gap(place, turns)).max() / robot.length_scale
    if off > OFF:
        raise InputError(
            f"{robot.name} moves by {', '.join(robot.coordinates)}: it has no such orientation "
            f"({off:.3g} rad off, limit {OFF:g})"
        )


def _strokes(robot: Model, arm: Array) -> tuple[Array, Array]:
    """Corners of the box of positions that the legs' strokes allow, tips at arms (legs, 3)."""
    limits, geometry = robot.description.limits, robot.leg_kind.geometry
    low, high = geometry.tip_bounds(robot.description.legs, limits.shortest, limits.longest)
    bounded = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    if not bounded.any():
        raise MissingDataError(
            f"{robot.name} has no stroke limits, so its workspace has no end: give bounds, or limits "
            'with robot.edited({"legs.limits.stroke": [shortest, longest]})'
        )
    return (low - arm)[bounded].max(axis=0), (high - arm)[bounded].min(axis=0)


class _Search(NamedTuple):
    """A set of poses with three coordinates that is to be measured."""

    robot: Model
    name: str
    unit: str
    judge: Callable[[Array, Array, bool], tuple[Array, Array]]
    """Least and largest measure (n,) of boxes (n, 3); with True on home's side of singularities."""
    at: Callable[[Array], Array]
    labels: list[str]
    box: tuple[Array, Array]
    home: Array | None
    """Coordinates of home (3,), with which the set must hang together."""
    sides: bool
    """Singularities part it."""

    def solve(
        self, tolerance: float, most: int, progress: Callable[[Workspace], None] | None
    ) -> Workspace:
        if not 1e-7 <= tolerance < 1:
            raise InputError(f"tolerance is {tolerance}, needs 1e-7 to under 1")
        none = np.zeros((0, 3))
        tree = Tree(none, none, np.zeros(0), np.zeros(0), met=True)
        everything, doubtful, whole = None, 0.0, True
        if np.all(self.box[0] < self.box[1]):
            for tree in self._grow(tolerance, most, self.sides):
                if progress is not None:
                    progress(self._told(tree))
            everything = tree.bounds
            if self.sides:
                *_, other = self._grow(tolerance, most, False)
                everything = other.bounds
            part = None if self.home is None else reached(tree, self.box[0], self.home)
            if part is not None:
                tree, doubtful, whole = part
                least, largest = tree.bounds
                error = (largest + doubtful - least) / 2
                tree = tree._replace(met=tree.met and error <= 1.1 * tolerance * largest)
        parted = self.sides or self.home is not None
        found = self._told(tree, everything if parted else None, doubtful, whole)
        if progress is not None and parted:
            progress(found)
        if not found.met:
            warnings.warn(
                f"{self.robot.name}: {self.name} {within(found.volume, found.error, 4, 2)} "
                f"{self.unit}³ after {len(found.centre)} boxes (limit {most}); the tolerance "
                f"{tolerance:g} is not met",
                ToleranceWarning,
                stacklevel=4,
            )
        return found

    def _grow(self, tolerance: float, most: int, sides: bool) -> Iterator[Tree]:
        def judge(centre: Array, half: Array) -> tuple[Array, Array]:
            return self.judge(centre, half, sides)

        return grow(judge, *self.box, tolerance, most)

    def _told(
        self,
        tree: Tree,
        everything: tuple[float, float] | None = None,
        doubtful: float = 0.0,
        whole: bool = True,
    ) -> Workspace:
        """The result of a tree, with `everything` that the limits allow, least and largest."""
        least, largest = tree.bounds[0], tree.bounds[1] + doubtful
        beyond = (0.0, 0.0)
        if everything is not None:
            beyond = max(everything[0] - largest, 0.0), max(everything[1] - least, 0.0)
        return Workspace(
            self.robot,
            self.name,
            self.unit,
            (largest + least) / 2,
            (largest - least) / 2,
            beyond,
            tree.met,
            tree.centre,
            tree.half,
            tree.lower,
            tree.upper,
            self.labels,
            self.at,
            None if whole else self.box[0],
        )


def _joined(*several: Margins) -> Margins:
    return Margins(*(np.concatenate(part, axis=1) for part in zip(*several, strict=True)))


def _shares(
    margins: Callable[[Array, Array], Margins],
    side: Side | None,
    family: Poses,
    centre: Array,
    half: Array,
) -> tuple[Array, Array]:
    """Least and largest share (n,) of boxes that limits, and the side of singularities, allow."""
    limits = margins(centre, half)
    lower, upper = shares(limits, half)
    some = np.flatnonzero(upper > 0)
    if side is None or not some.size:
        return lower, upper
    both = _joined(
        Margins(*(part[some] for part in limits)), side.over(family, centre[some], half[some])
    )
    lower[some], upper[some] = shares(both, half[some])
    return lower, upper


def _room(
    margins: Callable[[Array, Array], Margins], side: Side | None, family: Poses, points: Array
) -> Array:
    """Margins over their slopes (n, k): distances to the boundary, to first order."""
    found = margins(points, np.zeros_like(points))
    if side is not None:
        found = _joined(found, side.over(family, points, np.full_like(points, NEARBY)))
    size = np.linalg.norm(found.slope, axis=2)
    return np.asarray(found.value / np.where(size > 0, size, 1.0))


def _turn_of_home(robot: Model, start: Array) -> Array:
    """Rotation vector of home's orientation from another."""
    turn = Rotation.from_matrix(np.asarray(robot.home.rotation) @ start.T)
    return np.asarray(turn.as_rotvec())


def _rotations(rotation: ArrayLike | Rotation) -> Array:
    turn = Motion(np.zeros(3), rotation).rotation
    if not np.isfinite(turn).all():
        raise InputError("rotation is not finite")
    return turn


def _several(rotations: ArrayLike | Rotation) -> Array:
    turns = _rotations(rotations)
    flat = turns.reshape(-1, 3, 3)
    if not len(flat):
        raise InputError("no orientations are given")
    return flat


def _bounds(bounds: ArrayLike) -> tuple[Array, Array]:
    box = given_numbers("bounds", bounds)
    if (
        box.shape != (3, 2)
        or not np.all(np.abs(box) <= WIDEST)
        or np.any(box[:, 1] - box[:, 0] < NARROWEST)
    ):
        raise InputError(
            f"bounds needs 3 pairs low < high, {NARROWEST:g} m apart at least and {WIDEST:g} m from the "
            f"origin at most, has {box.tolist()}"
        )
    return box[:, 0], box[:, 1]
