"""Close the loops of a linkage at home by Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import FileError
from gough.exchange.incoming.linkage import Linkage, LinkageJoint, LoopClosure
from gough.legs.serial import AT_ORIGIN, Placement

CLOSED = 1e-12
"""Gap, in sizes of the robot, at which Newton's method is done."""
OPEN = 1e-4
"""Gap, in sizes of the robot, over which a loop does not close; files are rounded to less."""
STEPS = 60
MOST_BODIES, MOST_LOOPS, MOST_COORDINATES = 3000, 60, 300
"""Of a robot; a spherical joint has three coordinates."""
FARTHEST = 1e9
"""Of a body from the origin, m."""
LARGEST = 1e12
"""Mass or moment of inertia of a body, kg, kg m², or number of a joint, as of a robot file."""
LONGEST = 0.5
"""Of a step, rad, and sizes of the robot."""


class Stand(NamedTuple):
    """A linkage in a posture: where everything is, world axes."""

    places: tuple[tuple[Placement, ...], ...]
    """Of each part: its frame before its first joint, then after each of them."""
    coordinates: tuple[tuple[float, ...], ...]
    """Of each part: what its joints read; of a spherical joint 0."""
    gaps: tuple[float, float]
    """Largest gap of a loop (m, and m for radians times the size) as the file has it, and closed."""

    def of_part(self, part: int) -> Placement:
        """The frame of a part."""
        return self.places[part][-1]


class _Posture:
    """Coordinates of all joints, and the frames that follow."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.turns = [
            [Rotation.from_matrix(joint.turn) for joint in part.joints] for part in linkage.parts
        ]
        """Of spherical joints."""
        self.values = [[joint.home for joint in part.joints] for part in linkage.parts]
        self.carriers = {
            part: self._carriers(part)
            for part in {end for loop in linkage.loops for end in loop.parts}
        }
        """Of each part that a loop holds: the part and all between it and the world."""
        self.place()

    def place(self) -> None:
        self.places: list[tuple[Placement, ...]] = []
        for i, part in enumerate(self.linkage.parts):
            before = AT_ORIGIN if part.parent < 0 else self.places[part.parent][-1]
            frames = [before.of(part.place)]
            for k, joint in enumerate(part.joints):
                frames.append(
                    frames[-1].of(self._motion(joint, self.values[i][k], self.turns[i][k]))
                )
            self.places.append(tuple(frames))

    def _motion(self, joint: LinkageJoint, value: float, turn: Rotation) -> Placement:
        moved = value - joint.reads
        if joint.type == "prismatic":
            return Placement(moved * joint.axis, np.eye(3))
        if joint.type == "revolute":
            turn = Rotation.from_rotvec(moved * joint.axis)
        matrix = turn.as_matrix()
        return Placement(joint.point - matrix @ joint.point, matrix)

    def gaps(self, size: float) -> Array:
        """What all loops are off: places, m, and of rigid ones rotations times the size, m."""
        found = []
        for loop in self.linkage.loops:
            first, second = self.ends(loop)
            found.append(first.position - second.position)
            if loop.rigid:
                turn = Rotation.from_matrix(first.rotation @ second.rotation.T)
                found.append(size * turn.as_rotvec())
        return np.concatenate(found)

    def ends(self, loop: LoopClosure) -> tuple[Placement, Placement]:
        """Its two frames in the world."""
        first, second = (
            self.places[part][-1].of(place)
            for part, place in zip(loop.parts, loop.places, strict=True)
        )
        return first, second

    def jacobian(self, size: float, columns: list[tuple[int, int, int]]) -> Array:
        """Of the gaps by coordinates: a joint's axis a moves a point x by a×(x − p), or by a.

        A column is a part, a joint of it and of spherical ones a component, world axes.
        """
        joints = [self.linkage.parts[part].joints[k] for part, k, _ in columns]
        before = [self.places[part][k] for part, k, _ in columns]
        axes = np.array(
            [
                np.eye(3)[column[2]] if joint.type == "spherical" else place.rotation @ joint.axis
                for joint, place, column in zip(joints, before, columns, strict=True)
            ]
        )
        centers = np.array(
            [place.point(one.point) for one, place in zip(joints, before, strict=True)]
        )
        slides = np.array([one.type == "prismatic" for one in joints])
        carried = np.array([part for part, _, _ in columns])
        found = []
        for loop in self.linkage.loops:
            rows = np.zeros((6 if loop.rigid else 3, len(columns)))
            for sign, end, held in zip((1, -1), self.ends(loop), loop.parts, strict=True):
                moves = np.isin(carried, self.carriers[held])
                arms = np.where(slides[:, np.newaxis], axes, np.cross(axes, end.position - centers))
                rows[:3] += sign * moves * arms.T
                if loop.rigid:
                    rows[3:] += sign * size * (moves & ~slides) * axes.T
            found.append(rows)
        return np.concatenate(found)

    def _carriers(self, part: int) -> list[int]:
        """The part and all between it and the world."""
        found = []
        while part >= 0:
            found.append(part)
            part = self.linkage.parts[part].parent
        return found

    def move(self, columns: list[tuple[int, int, int]], step: Array) -> None:
        """Add to coordinates; of spherical joints a rotation in world axes."""
        turned: dict[tuple[int, int], Array] = {}
        for (part, k, component), value in zip(columns, step, strict=True):
            if self.linkage.parts[part].joints[k].type == "spherical":
                turned.setdefault((part, k), np.zeros(3))[component] = value
            else:
                self.values[part][k] += float(value)
        for (part, k), vector in turned.items():
            own = self.places[part][k].rotation.T @ vector
            self.turns[part][k] = Rotation.from_rotvec(own) * self.turns[part][k]
        self.place()


def closed(linkage: Linkage) -> Stand:
    """The linkage with its loops closed: passive joints move, all joints where that is not enough.

    Newton's method on the gaps g of all loops, least squares and least norm: Δ = −J⁺ g, the step
    bounded. A gap that stays is an error that names the loop.
    """
    for count, most, what in (
        (len(linkage.parts), MOST_BODIES, "bodies"),
        (len(linkage.loops), MOST_LOOPS, "loops"),
        (len(_columns(linkage, actuated=True)), MOST_COORDINATES, "coordinates of joints"),
    ):
        if count > most:
            raise FileError(f"{linkage.name}: has {count} {what}; limit {most}")
    for part in linkage.parts:
        mass, center, tensor = part.inertia
        if not max(abs(mass), np.abs(center).max(), np.abs(tensor).max()) <= LARGEST:
            raise FileError(
                f"{linkage.name}: mass or inertia of {part.name!r} is not finite, or over {LARGEST:g}"
            )
        for one in part.joints:
            numbers = (one.rotor_inertia, one.viscous, one.coulomb, *(one.stroke or ()))
            if not max(map(abs, numbers)) <= LARGEST:
                raise FileError(
                    f"{linkage.name}: inertia, friction or range of joint {one.name!r} is not finite, "
                    f"or over {LARGEST:g}"
                )
    with np.errstate(over="ignore", invalid="ignore"):
        posture = _Posture(linkage)
    frames = (one for places in posture.places for one in places)
    if not all(np.all(np.abs(one.position) <= FARTHEST) for one in frames):
        raise FileError(f"{linkage.name}: bodies are farther than {FARTHEST:g} m from its origin")
    size = extent(posture)
    open_gap = _largest(posture, size)
    if linkage.loops and open_gap > CLOSED * size:
        passive = _columns(linkage, actuated=False)
        if not _newton(posture, size, passive):
            again = _Posture(linkage)
            _newton(again, size, _columns(linkage, actuated=True))
            posture = min(posture, again, key=lambda one: _largest(one, size))
    gap = _largest(posture, size)
    if not gap <= OPEN * size:
        worst = max(linkage.loops, key=lambda loop: _gap(posture, loop, size))
        raise FileError(
            f"{linkage.name}: loop {worst.name} does not close: {_gap(posture, worst, size):.3g} m are "
            f"left between its ends (limit {OPEN * size:.2g} m)"
        )
    return Stand(tuple(posture.places), tuple(map(tuple, posture.values)), (open_gap, gap))


def extent(posture: _Posture) -> float:
    """How large the robot is: of the box around its joints the diagonal, m; 1 where that is 0."""
    points = [
        place.point(joint.point)
        for part, places in zip(posture.linkage.parts, posture.places, strict=True)
        for joint, place in zip(part.joints, places, strict=False)
        if not joint.free
    ]
    points += [end.position for loop in posture.linkage.loops for end in posture.ends(loop)]
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0 if points else 1.0


def _columns(linkage: Linkage, actuated: bool) -> list[tuple[int, int, int]]:
    """Coordinates that may move."""
    return [
        (i, k, component)
        for i, part in enumerate(linkage.parts)
        for k, joint in enumerate(part.joints)
        for component in range(3 if joint.type == "spherical" else 1)
        if actuated or not joint.actuated
    ]


def _newton(posture: _Posture, size: float, columns: list[tuple[int, int, int]]) -> bool:
    """Close the loops by these coordinates as well as can be; whether that is well enough."""
    units = np.array(
        [
            size if posture.linkage.parts[part].joints[k].type == "prismatic" else 1.0
            for part, k, _ in columns
        ]
    )
    before = np.inf
    for _ in range(STEPS):
        gaps = posture.gaps(size)
        largest = float(np.abs(gaps).max())
        if not largest > CLOSED * size or not columns:
            break
        if largest < 1e-8 * size and largest > 0.5 * before:
            break  # what rounding leaves of loops that hold each other twice
        before = largest
        step = np.linalg.lstsq(posture.jacobian(size, columns) * units, -gaps, rcond=1e-9)[0]
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        posture.move(columns, step * units)
    return _largest(posture, size) <= OPEN * size


def _gap(posture: _Posture, loop: LoopClosure, size: float) -> float:
    """What one loop is off, m."""
    first, second = posture.ends(loop)
    gap = float(np.linalg.norm(first.position - second.position))
    if loop.rigid:
        turn = Rotation.from_matrix(first.rotation @ second.rotation.T)
        gap = max(gap, size * float(turn.magnitude()))
    return gap


def _largest(posture: _Posture, size: float) -> float:
    return max((_gap(posture, loop, size) for loop in posture.linkage.loops), default=0.0)
