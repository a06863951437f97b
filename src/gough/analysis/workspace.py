"""Workspaces: where a robot can go within its limits, with volumes whose errors are bounded.

| function | coordinates | a pose counts if |
|---|---|---|
| `workspace` | positions of the platform's origin, m | the legs allow it at one orientation |
| `orientation_workspace` | rotation vectors, rad | the legs allow it at one position |
| `reachable` | positions | the legs allow it at one or more of given orientations |
| `dexterous` | positions | the legs allow it at all of given orientations |

Conditions (`gough.analysis.margins`): stroke, reach, universal and spherical angle as the robot file
limits them, and if asked for legs apart from each other and from the platform's plane. Speed, force and
singularities are not among them. A leg has one coordinate for a pose, so there are no branches to
follow. A flexible platform counts as undeformed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.margins import Conditions
from gough.analysis.octree import Tree, grow, shares
from gough.analysis.pose_boxes import Orientations, Poses, Positions
from gough.analysis.rotation_measure import measured
from gough.analysis.workspace_result import Workspace
from gough.base.arrays import Array
from gough.errors import InputError, MissingDataError, ToleranceWarning
from gough.legs.reach import Margins
from gough.model.batch import last_axis
from gough.model.model import Model
from gough.motion import Motion

MOST_BOXES = 1_000_000


def workspace(
    robot: Model,
    rotation: ArrayLike | Rotation | None = None,
    *,
    tolerance: float = 0.005,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions of the platform's origin that the legs allow at one orientation, home's by default.

    `tolerance` is that of the volume, relative. `leg_radius` (m) keeps legs two radii apart,
    `platform_angle` (rad) keeps legs that far off the platform's plane. `bounds` [[low, high]] * 3 (m)
    limits the search; it must be given where the file limits no stroke. `progress` gets the result
    so far after every round. Over `most_boxes` boxes it is not refined further and warns of its error.
    """
    turn = robot.home.rotation if rotation is None else _rotations(rotation)
    if turn.shape != (3, 3):
        raise InputError(f"rotation has batch shape {turn.shape[:-2]}, needs one orientation")
    space = _Space(robot, turn[np.newaxis], leg_radius, platform_angle, every=True)
    return space.solve("constant-orientation workspace", bounds, tolerance, most_boxes, progress)


def reachable(
    robot: Model,
    rotations: ArrayLike | Rotation,
    *,
    tolerance: float = 0.01,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions that the legs allow in one or more of the orientations (n, 3, 3) given.

    The set is that of these orientations, not of any between them. Options: see `workspace`.
    """
    space = _Space(robot, _several(rotations), leg_radius, platform_angle, every=False)
    return space.solve("reachable workspace", bounds, tolerance, most_boxes, progress)


def dexterous(
    robot: Model,
    rotations: ArrayLike | Rotation,
    *,
    tolerance: float = 0.01,
    leg_radius: float | None = None,
    platform_angle: float | None = None,
    bounds: ArrayLike | None = None,
    most_boxes: int = MOST_BOXES,
    progress: Callable[[Workspace], None] | None = None,
) -> Workspace:
    """Positions that the legs allow in each of the orientations (n, 3, 3) given; see `cone`.

    The set is that of these orientations, not of any between them. Options: see `workspace`.
    """
    space = _Space(robot, _several(rotations), leg_radius, platform_angle, every=True)
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
    start = robot.home.rotation if about is None else _rotations(about)
    if start.shape != (3, 3):
        raise InputError(f"about has batch shape {start.shape[:-2]}, needs one orientation")
    if not 0 < within <= np.pi:
        raise InputError(f"within is {within}, needs an angle over 0 to π rad")
    conditions = Conditions(robot, leg_radius, platform_angle)
    family = Orientations(conditions.points, place, start)

    def margins(centre: Array, half: Array) -> Margins:
        found = conditions(family.boxes(centre, half))
        reach = np.sum(half**2, axis=1) / 2
        ball = Margins(
            (within**2 - np.sum(centre**2, axis=1) - reach)[:, np.newaxis],
            -2 * centre[:, np.newaxis],
            reach[:, np.newaxis],
        )
        both = zip(found, ball, strict=True)
        return Margins(*(np.concatenate(pair, axis=1) for pair in both))

    def judge(centre: Array, half: Array) -> tuple[Array, Array]:
        return measured(centre, half, *shares(margins(centre, half), half))

    def at(points: Array) -> Array:
        return _distances(margins(points, np.zeros_like(points)))

    labels = [*conditions.labels, "within"]
    corner = np.full(3, within)
    return _grown(
        robot, "orientation workspace", "rad", judge, at, labels, (-corner, corner),
        tolerance, most_boxes, progress,
    )  # fmt: skip


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
        every: bool,
    ) -> None:
        self.robot, self.rotations, self.every = robot, rotations, every
        self.bounds: tuple[Array, Array] | None = None
        self.conditions = Conditions(robot, leg_radius, platform_angle)
        self.families: list[Poses] = [Positions(self.conditions.points, one) for one in rotations]

    def solve(
        self,
        name: str,
        bounds: ArrayLike | None,
        tolerance: float,
        most_boxes: int,
        progress: Callable[[Workspace], None] | None,
    ) -> Workspace:
        box = self._box() if bounds is None else _bounds(bounds)
        labels = self.conditions.labels * (len(self.families) if self.every else 1)
        if bounds is not None:
            self.bounds = box
            labels += ["bounds"] * 6
        return _grown(
            self.robot, name, "m", self._judge, self._margins, labels, box,
            tolerance, most_boxes, progress,
        )  # fmt: skip

    def _judge(self, centre: Array, half: Array) -> tuple[Array, Array]:
        """Of several orientations: all of them, 1 − Σ (1 − low) ≤ share ≤ min high; any, max and Σ."""
        lower, upper = np.full(len(centre), float(self.every)), np.full(len(centre), 1.0)
        total = np.zeros(len(centre))
        for family in self.families:
            open_ = np.flatnonzero(upper > 0 if self.every else lower < 1)
            some = half[open_]
            low, high = shares(self.conditions(family.boxes(centre[open_], some)), some)
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

    def _margins(self, points: Array) -> Array:
        none = np.zeros_like(points)
        found = [_distances(self.conditions(one.boxes(points, none))) for one in self.families]
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


def _grown(
    robot: Model,
    name: str,
    unit: str,
    judge: Callable[[Array, Array], tuple[Array, Array]],
    at: Callable[[Array], Array],
    labels: list[str],
    box: tuple[Array, Array],
    tolerance: float,
    most_boxes: int,
    progress: Callable[[Workspace], None] | None,
) -> Workspace:
    if not 1e-7 <= tolerance < 1:
        raise InputError(f"tolerance is {tolerance}, needs 1e-7 to under 1")

    def told(tree: Tree) -> Workspace:
        least, largest = tree.bounds
        volume, error = (largest + least) / 2, (largest - least) / 2
        return Workspace(
            robot, name, unit, volume, error, tree.met,
            tree.centre, tree.half, tree.lower, tree.upper, labels, at,
        )  # fmt: skip

    none = np.zeros((0, 3))
    found = told(Tree(none, none, np.zeros(0), np.zeros(0), met=True))
    if np.all(box[0] < box[1]):
        for tree in grow(judge, *box, tolerance, most_boxes):
            found = told(tree)
            if progress is not None:
                progress(found)
    if not found.met:
        warnings.warn(
            f"{robot.name}: {name} {found.volume:.4g} ± {found.error:.2g} {unit}³ after "
            f"{len(found.centre)} boxes (limit {most_boxes}); the tolerance {tolerance:g} is not met",
            ToleranceWarning,
            stacklevel=3,
        )
    return found


def _distances(margins: Margins) -> Array:
    """Margins over their slopes (n, k)."""
    size = np.linalg.norm(margins.slope, axis=2)
    return np.asarray(margins.value / np.where(size > 0, size, 1.0))


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
    box = np.asarray(bounds, dtype=np.float64)
    if box.shape != (3, 2) or not np.all(np.isfinite(box)) or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(f"bounds needs 3 pairs low < high in metres, has {box.tolist()}")
    return box[:, 0], box[:, 1]
