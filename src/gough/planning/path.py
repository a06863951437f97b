"""Path: where the platform is to go, piece by piece, before anything is said about time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, given_numbers
from gough.base.pose_spline import PoseSpline
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.course import PathGuide, Rest, Stretch
from gough.planning.segments import (
    MISSED,
    Arc,
    Blend,
    Curve,
    Cut,
    Segment,
    Straight,
    length_of_move,
    turn_between,
)

Frame = Literal["work", "tool"]
SHORT = 1e-9
"""Length, in length scales, below which a piece is none."""
MOST_POSES = 5000
"""Of a spline: the cells of a time law resolve no more."""
MOST_PIECES = 1000
"""Of a path, each pose of `Path.through` being one: between stops, each takes about a second to time."""
ALIGNED = 1e-9
"""Difference of directions below which pieces follow each other without a corner."""


@dataclass(frozen=True, eq=False)
class Move:
    """A piece of a path, and how far the path may miss the corner behind it."""

    segment: Segment
    blend: float = 0.0


@dataclass(frozen=True, eq=False)
class Path:
    """A path of a robot's platform: lines, turns, arcs, splines, rests; corners rounded or stopped at.

    Every method gives a longer path; nothing is changed. Shifts and turns (rotation vectors) are in the
    axes of a `frame`: "work", the world's, or "tool", the platform's as it stands there. `about` is a
    pivot, a point of the platform in its own frame: what a line, an arc or a turn moves is this point,
    and the platform turns about it. `blend` (m) is how far the path may miss the corner behind the
    piece, √(‖δp‖² + (L θ)²); with 0 it stops there.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> path = gough.planning.Path(robot).line([0.1, 0, 0], blend=0.005).line([0, 0.1, 0])
        >>> path = path.turn([0, 0, 0.2], about=[0, 0, 0.1]).rest(0.5)
        >>> found = gough.planning.retime(robot, path, speed=0.5, force=200)
        >>> found.duration > 0.5
        True

    """

    robot: Model
    start: Motion | None = None
    """Where it begins: batch shape (); home by default."""
    pieces: tuple[Move | float, ...] = ()
    """Moves, and rests by their time in s."""

    def _end(self) -> Motion:
        for piece in reversed(self.pieces):
            if isinstance(piece, Move):
                return piece.segment.end()
        pose = self.robot.home if self.start is None else self.start
        if pose.shape != ():
            raise InputError(f"Path: start has batch shape {pose.shape}, needs one pose")
        return Motion(pose.position, pose.rotation)

    def line(self, shift: ArrayLike, *, frame: Frame = "work", blend: float = 0.0) -> Path:
        """Straight by a shift (3,) in m, the orientation kept."""
        return self.move(shift, np.zeros(3), frame=frame, blend=blend)

    def turn(
        self,
        turn: ArrayLike,
        *,
        about: ArrayLike = (0.0, 0.0, 0.0),
        frame: Frame = "work",
        blend: float = 0.0,
    ) -> Path:
        """By a rotation vector (3,) in rad about a pivot, which stays where it is."""
        return self.move(np.zeros(3), turn, about=about, frame=frame, blend=blend)

    def move(
        self,
        shift: ArrayLike,
        turn: ArrayLike,
        *,
        about: ArrayLike = (0.0, 0.0, 0.0),
        frame: Frame = "work",
        blend: float = 0.0,
    ) -> Path:
        """Straight by a shift of the pivot (3,) in m, turning by a rotation vector (3,) in rad."""
        start = self._end()
        axes = _axes(start, frame)
        way, swing = axes @ _three("shift", shift), axes @ _three("turn", turn)
        length = float(length_of_move(way, swing, self.robot.length_scale))
        return self._with(Straight(start, way, swing, _three("about", about), length), blend)

    def to(self, pose: Motion, *, about: ArrayLike = (0.0, 0.0, 0.0), blend: float = 0.0) -> Path:
        """To a pose, the pivot straight and the platform by the shortest turn."""
        start, end = self._end(), _pose(pose)
        pivot = _three("about", about)
        turn = turn_between(start.rotation, end.rotation)
        shift = end.position - start.position + (end.rotation - start.rotation) @ pivot
        length = float(length_of_move(shift, turn, self.robot.length_scale))
        return self._with(Straight(start, shift, turn, pivot, length), blend)

    def arc(
        self,
        center: ArrayLike,
        axis: ArrayLike,
        angle: float,
        *,
        turn: ArrayLike = (0.0, 0.0, 0.0),
        about: ArrayLike = (0.0, 0.0, 0.0),
        frame: Frame = "work",
        blend: float = 0.0,
    ) -> Path:
        """The pivot round a centre, which lies at a shift (3,) in m from it, by an angle in rad.

        Right-handed about an axis (3,) through the centre; the platform turns by `turn` meanwhile, a
        rotation vector, by default not at all.
        """
        start = self._end()
        axes = _axes(start, frame)
        pivot, way = _three("about", about), axes @ _three("center", center)
        normal = axes @ _three("axis", axis)
        size = float(np.linalg.norm(normal))
        if size == 0:
            raise InputError("Path: the axis of an arc has zero length")
        normal = normal / size
        swing = axes @ _three("turn", turn)
        radius = float(np.linalg.norm(np.cross(normal, way)))
        if not np.isfinite(angle):
            raise InputError(f"Path: angle is {angle}, must be finite")
        shift = np.array([radius * angle, 0, 0])
        length = float(length_of_move(shift, swing, self.robot.length_scale))
        middle = start.position + start.rotation @ pivot + way
        return self._with(Arc(start, middle, normal, float(angle), swing, pivot, length), blend)

    def spline(self, poses: Motion, *, blend: float = 0.0) -> Path:
        """Smoothly through poses (k,), `MOST_POSES` at most."""
        start = self._end()
        if not isinstance(poses, Motion) or len(poses.shape) != 1 or not len(poses):
            raise InputError("Path: a spline goes through poses (k,), one at least")
        if len(poses) > MOST_POSES:
            raise InputError(f"Path: a spline through {len(poses)} poses; at most {MOST_POSES}")
        position = np.concatenate([start.position[np.newaxis], poses.position])
        rotation = np.concatenate([start.rotation[np.newaxis], poses.rotation])
        exact = Rotation.from_matrix(rotation).as_matrix()
        turns = turn_between(exact[:-1], exact[1:])
        steps = length_of_move(np.diff(position, axis=0), turns, self.robot.length_scale)
        if np.min(steps) <= SHORT * self.robot.length_scale:
            raise InputError(f"Path: poses {int(np.argmin(steps))} and the one before are the same")
        at = np.concatenate([[0.0], np.cumsum(steps)])
        return self._with(Curve(PoseSpline(at, position, exact), float(at[-1])), blend)

    def through(self, poses: Motion, tolerance: ArrayLike = 0.0) -> Path:
        """Straight from pose to pose (k,), missing each by its tolerance (m) at most; 0: it stops there.

        √(‖δp‖² + (L θ)²) is what counts. The last pose is met exactly.
        """
        if not isinstance(poses, Motion) or len(poses.shape) != 1:
            raise InputError("Path: needs poses (k,)")
        slack = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), poses.shape)
        path = self
        for pose, one in zip(poses, slack, strict=True):
            path = path.to(pose, blend=float(one))
        return path

    def rest(self, duration: float) -> Path:
        """Stand for a time in s."""
        if not (np.isfinite(duration) and duration > 0):
            raise InputError(f"Path: a rest takes {duration} s, needs a positive number")
        return replace(self, pieces=(*self.pieces, float(duration)))

    def _with(self, segment: Segment, blend: float) -> Path:
        if not (np.isfinite(blend) and blend >= 0):
            raise InputError(f"Path: blend is {blend}, needs a number of metres, 0 or more")
        if not segment.length > SHORT * self.robot.length_scale:
            raise InputError(f"Path: piece {len(self.pieces) + 1} goes nowhere")
        if len(self.pieces) >= MOST_PIECES:
            raise InputError(f"Path: more than {MOST_PIECES} pieces; make several paths of it")
        return replace(self, pieces=(*self.pieces, Move(segment, float(blend))))

    def course(self) -> list[Stretch | Rest]:
        """Stretches without a stop, and rests."""
        found: list[Stretch | Rest] = []
        run: list[Move] = []
        standing = replace(self, pieces=())._end()
        for piece in self.pieces:
            if isinstance(piece, Move):
                run.append(piece)
                continue
            found += self._stretches(run, found)
            standing = run[-1].segment.end() if run else standing
            found.append(Rest(standing, piece))
            run = []
        return found + self._stretches(run, found)

    def _stretches(self, moves: list[Move], done: list[Stretch | Rest]) -> list[Stretch | Rest]:
        """Moves without rests between, cut at corners that are not rounded; `done` come before."""
        found: list[Stretch | Rest] = []
        smooth: list[Segment] = []
        cut = 0.0
        for i, move in enumerate(moves):
            whole, begin = move.segment, cut
            after = moves[i + 1].segment if i + 1 < len(moves) else None
            taken = 0.0
            if after is not None and move.blend:
                room = min((whole.length - begin), after.length / 2) * 0.999
                taken = min(move.blend / MISSED, room)
            smooth.append(Cut(whole, begin, whole.length - begin - taken))
            if taken and after is not None:
                smooth.append(Blend(whole, after, taken))
            cut = taken
            if after is None or not (taken or _aligned(whole, after)):
                found.append(self._stretch(smooth, [*done, *found]))
                smooth = []
        return found

    def _stretch(self, smooth: list[Segment], done: list[Stretch | Rest]) -> Stretch:
        before = sum(one.end for one in done if isinstance(one, Stretch))
        guide = PathGuide(tuple(smooth), self.robot.length_scale, before)
        return Stretch(guide, *guide.ends)

    def poses(self, samples: int) -> Motion:
        """Poses (samples,) along the whole path, evenly by its length."""
        stretches = [one for one in self.course() if isinstance(one, Stretch)]
        if not stretches:
            raise InputError("Path: it has no moves")
        ends = np.cumsum([0.0] + [one.length for one in stretches])
        at = np.linspace(0.0, ends[-1], samples)
        found = []
        for i, one in enumerate(stretches):
            last = i == len(stretches) - 1
            inside = (at >= ends[i]) & ((at <= ends[i + 1]) if last else (at < ends[i + 1]))
            found.append(one.guide.state(one.parameter(at[inside] - ends[i])))
        whole = Motion.concatenate(found)
        return Motion(whole.position, whole.rotation)


def _aligned(one: Segment, two: Segment) -> bool:
    """Whether two pieces meet without a corner in place, direction and curvature."""
    before, after = one.state(np.array([one.length])), two.state(np.zeros(1))
    scale = 1 + max(float(np.abs(part).max()) for part in before[2:])
    return all(
        float(np.abs(a - b).max()) <= ALIGNED * scale
        for a, b in zip(before[2:], after[2:], strict=True)
    )


def _axes(pose: Motion, frame: str) -> Array:
    if frame not in ("work", "tool"):
        raise InputError(f"Path: frame is 'work' or 'tool', not {frame!r}")
    return pose.rotation if frame == "tool" else np.eye(3)


def _three(name: str, value: ArrayLike) -> Array:
    array = given_numbers(f"Path: {name}", value)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise InputError(f"Path: {name} has shape {array.shape}, needs three finite numbers")
    return array


def _pose(pose: Motion) -> Motion:
    if not isinstance(pose, Motion) or pose.shape != ():
        raise InputError("Path: needs one pose, a Motion of batch shape ()")
    return Motion(pose.position, pose.rotation)
