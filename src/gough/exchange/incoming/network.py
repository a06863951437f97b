"""A linkage at home as a network: rigid bodies, and the joints between them, in no direction yet.

Parts that nothing moves against each other are one body: fixed ones, and those that a rigid loop
holds together. A joint of a tree and a loop that is a spherical joint are the same thing here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from gough.base.arrays import Array
from gough.exchange.incoming.closing import Stand
from gough.exchange.incoming.linkage import Linkage, LinkageJoint
from gough.exchange.opened import PLATFORM
from gough.legs.serial import NOTHING, PlacedMesh, SerialBody


@dataclass
class NetworkBody:
    """A rigid body, world axes at home."""

    names: list[str]
    """Its parts; one of them gives the body its name and its frame."""
    inertia: SerialBody = NOTHING
    meshes: list[PlacedMesh] = field(default_factory=list)
    loops: int = 0
    """How many loops of the file close on the part that gives the body its name."""
    alternatives: list[str] = field(default_factory=list)
    """Names of parts that as many loops close on, and that loops make one with this body."""

    @property
    def name(self) -> str:
        """Return "platform" if a part is called so, else the name of the first part."""
        if PLATFORM in self.names:
            return PLATFORM
        return self.names[0] if self.names else "a cross"

    @property
    def rank(self) -> tuple[bool, int]:
        """Return how likely its name and frame are those of a platform: by name, then by loops."""
        return PLATFORM in self.names, self.loops

    def absorb(self, other: NetworkBody) -> None:
        """Add a body that is rigidly held by this one; the likelier platform gives name and frame."""
        first, second = (self, other) if self.rank >= other.rank else (other, self)
        if self.rank == other.rank and self.loops and other.names:
            self.alternatives += [other.name, *other.alternatives]
        else:
            self.alternatives = first.alternatives
        self.names = first.names + second.names
        self.loops = first.loops
        self.inertia = self.inertia.plus(other.inertia)
        self.meshes += other.meshes


@dataclass(frozen=True, eq=False)
class NetworkJoint:
    """A joint between two bodies; it moves the second against the first."""

    bodies: tuple[int, int]
    joint: LinkageJoint
    """Its point and axis in the world."""
    reads: float
    """What its coordinate reads at home."""
    closes: bool
    """It is a loop of the file."""

    def other(self, body: int) -> int:
        """The body at its other end."""
        return self.bodies[1] if self.bodies[0] == body else self.bodies[0]

    def moved(self, gone: int, kept: int) -> NetworkJoint:
        """The same joint with one body in place of another."""
        first, second = (kept if body == gone else body for body in self.bodies)
        return replace(self, bodies=(first, second))

    def axis_from(self, body: int) -> Array:
        """The axis about or along which the coordinate grows, seen from one of the bodies."""
        return self.joint.axis if self.bodies[0] == body else -self.joint.axis


@dataclass
class Network:
    """Bodies by number, and the joints between them."""

    name: str
    bodies: dict[int, NetworkBody]
    joints: list[NetworkJoint]
    base: int
    """The body that stands on the ground."""
    of_part: dict[int, int]
    """The body of each part of the linkage."""
    held: list[str] = field(default_factory=list)
    """What was taken as held at home, to be told."""

    def at(self, body: int) -> list[NetworkJoint]:
        """The joints of a body."""
        return [one for one in self.joints if body in one.bodies]

    def merge(self, kept: int, gone: int) -> None:
        """Make two bodies one; joints between them vanish."""
        self.bodies[kept].absorb(self.bodies.pop(gone))
        moved = (one.moved(gone, kept) if gone in one.bodies else one for one in self.joints)
        self.joints = [one for one in moved if one.bodies[0] != one.bodies[1]]
        self.base = kept if self.base == gone else self.base
        self.of_part = {part: kept if one == gone else one for part, one in self.of_part.items()}

    def drop(self, gone: Iterable[int]) -> None:
        """Take bodies out, and their joints with them."""
        lost = set(gone)
        self.bodies = {key: body for key, body in self.bodies.items() if key not in lost}
        self.joints = [one for one in self.joints if not lost & set(one.bodies)]
        self.of_part = {part: one for part, one in self.of_part.items() if one not in lost}


def network(linkage: Linkage, stand: Stand) -> Network:
    """The network of a linkage in its home posture."""
    bodies: dict[int, NetworkBody] = {}
    joints: list[NetworkJoint] = []
    of_part: dict[int, int] = {}
    for i, part in enumerate(linkage.parts):
        body = of_part[part.parent] if part.parent >= 0 else _new(bodies)
        for k, joint in enumerate(part.joints):
            after = _new(bodies)
            if not joint.free:
                before = stand.places[i][k]
                axis = before.rotation @ joint.axis
                length = np.linalg.norm(axis) or 1.0
                placed = joint._replace(point=before.point(joint.point), axis=axis / length)
                reads = stand.coordinates[i][k]
                joints.append(NetworkJoint((body, after), placed, reads, closes=False))
            body = after
        place = stand.of_part(i)
        one = bodies[body]
        one.names.append(part.name)
        one.inertia = one.inertia.plus(part.inertia.in_frame(place))
        one.meshes += [mesh._replace(place=place.of(mesh.place)) for mesh in part.meshes]
        of_part[i] = body
    found = Network(linkage.name, bodies, joints, of_part[0], of_part)
    for loop in linkage.loops:
        for end in loop.parts:
            bodies[of_part[end]].loops += 1
    for loop in linkage.loops:
        first, second = (found.of_part[part] for part in loop.parts)
        if first == second:
            continue
        if loop.rigid:
            found.merge(first, second)
            continue
        point = stand.of_part(loop.parts[0]).point(loop.places[0].position)
        ball = LinkageJoint(loop.name, "spherical", point, np.zeros(3))
        found.joints.append(NetworkJoint((first, second), ball, 0.0, closes=True))
    _drop_floating(found)
    return found


def _new(bodies: dict[int, NetworkBody]) -> int:
    number = len(bodies)
    bodies[number] = NetworkBody([])
    return number


def _drop_floating(found: Network) -> None:
    """Leave out what no joint leads to from the base: things that lie in the scene."""
    reached, waiting = {found.base}, [found.base]
    while waiting:
        body = waiting.pop()
        for one in found.at(body):
            other = one.other(body)
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    away = [key for key in found.bodies if key not in reached]
    names = [name for key in away for name in found.bodies[key].names]
    if names:
        found.held.append(f"left out, as no joint leads to it from the base: {_listed(names)}")
    found.drop(away)


def prune(found: Network, platform: int | None) -> None:
    """Hold what is in no loop: what hangs on a body becomes part of it, so does what carries the base.

    A base with one joint only is carried by what is beyond it (a turntable): held at home, that is the
    base.
    """
    changed = True
    while changed:
        changed = False
        for body in list(found.bodies):
            if body not in found.bodies or body == platform or len(found.bodies) == 1:
                continue
            ends = found.at(body)
            if len(ends) != 1:
                continue
            (joint,) = ends
            other = joint.other(body)
            if body == found.base:
                if other == platform:
                    continue
                found.held.append(
                    f"held at home: joint {joint.joint.name!r}, on which all of the robot stands"
                )
            elif found.bodies[body].inertia.is_nothing and not found.bodies[body].names:
                pass
            else:
                found.held.append(
                    f"held at home: joint {joint.joint.name!r}; {found.bodies[body].name!r}, in no "
                    f"loop, is part of {found.bodies[other].name!r}"
                )
            found.merge(other, body)
            changed = True


def _listed(names: list[str]) -> str:
    most = 6
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
