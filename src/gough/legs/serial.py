"""A serial leg as it stands at home, joint by joint: what is known of it before it is of any kind.

Other programs know legs in this way. A kind of leg says whether one is of its kind, and if so with
which keys of a robot file (`LegKind.recognise`). World axes, SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array


class Placement(NamedTuple):
    """A frame in another one: x = position + rotation x_own."""

    position: Array
    """(3,), m."""
    rotation: Array
    """(3, 3)."""

    def of(self, inner: Placement) -> Placement:
        """A frame given in this one."""
        return Placement(self.point(inner.position), self.rotation @ inner.rotation)

    def point(self, inner: Array) -> Array:
        """A point given in this frame."""
        return np.asarray(self.position + self.rotation @ inner)


AT_ORIGIN = Placement(np.zeros(3), np.eye(3))


class SerialBody(NamedTuple):
    """Mass (kg), centre of mass (m) and inertia about it (kg m²), all in one frame."""

    mass: float
    center: Array
    tensor: Array

    def in_frame(self, place: Placement) -> SerialBody:
        """The same body, from its own frame seen in the one that its frame is placed in."""
        turn = place.rotation
        return SerialBody(self.mass, place.point(self.center), turn @ self.tensor @ turn.T)

    def seen_from(self, place: Placement) -> SerialBody:
        """The same body in a frame placed in its own."""
        turn = place.rotation.T
        return SerialBody(
            self.mass, turn @ (self.center - place.position), turn @ self.tensor @ turn.T
        )

    def plus(self, other: SerialBody) -> SerialBody:
        """Both as one body: m c = Σ m_i c_i, I = Σ I_i + m_i (d_i·d_i 1 − d_i d_iᵀ), d_i = c_i − c."""
        mass = self.mass + other.mass
        if not other.mass and not np.any(other.tensor):
            return self
        if not mass:
            return SerialBody(0.0, self.center, self.tensor + other.tensor)
        center = (self.mass * self.center + other.mass * other.center) / mass
        tensor = np.zeros((3, 3))
        for one in (self, other):
            d = one.center - center
            tensor = tensor + one.tensor + one.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return SerialBody(mass, center, tensor)

    @property
    def is_nothing(self) -> bool:
        """No mass and no inertia."""
        return not self.mass and not np.any(self.tensor)


NOTHING = SerialBody(0.0, np.zeros(3), np.zeros((3, 3)))


class PlacedMesh(NamedTuple):
    """A mesh file and where it sits: x = position + rotation (scale x_file)."""

    file: str
    """Relative to the folder of the robot's file."""
    scale: Array
    """(3,)."""
    place: Placement


class SerialJoint(NamedTuple):
    """A joint and the body that it carries, the robot at home."""

    name: str
    type: Literal["revolute", "prismatic", "spherical"]
    point: Array
    """(3,) on its axis, or its centre."""
    axis: Array
    """(3,) unit, along which or right-handed about which its coordinate grows; zeros if spherical."""
    home: float
    """What its coordinate reads."""
    actuated: bool
    rotor_inertia: float
    viscous: float
    coulomb: float
    stroke: tuple[float, float] | None
    force: float | None
    speed: float | None
    body: SerialBody
    """What it carries up to the next joint; nothing of the last one, which carries the platform."""
    meshes: tuple[PlacedMesh, ...]
    other_friction: Mapping[str, float]
    """By key of a robot file, from files that gough wrote."""


class SerialLeg(NamedTuple):
    """The joints of a leg from the base to the platform, and where the platform is."""

    joints: tuple[SerialJoint, ...]
    platform: Placement

    @property
    def size(self) -> float:
        """Largest distance between two of its joints, m."""
        points = np.array([joint.point for joint in self.joints])
        apart = np.linalg.norm(points[:, np.newaxis] - points, axis=-1)
        return float(apart.max()) or 1.0

    def without_passive_limits(self) -> SerialLeg:
        """The leg without limits of joints that no actuator moves."""
        return self._replace(
            joints=tuple(
                one if one.actuated else one._replace(stroke=None, force=None, speed=None)
                for one in self.joints
            )
        )

    def types(self) -> str:
        """Initials of its joints, those with an actuator underlined: "RR_PS"."""
        return "".join(
            f"{'_' if joint.actuated else ''}{joint.type[0].upper()}" for joint in self.joints
        )


class Recognised(NamedTuple):
    """A leg that is of a kind."""

    keys: Mapping[str, Any]
    """Its keys in a robot file, tables inside included."""
    remarks: tuple[str, ...] = ()
    """What is otherwise than in the file it comes from."""


SAME = 1e-6
"""Sizes of a leg, or rad, that count as nothing; files are rounded to less."""


def body_keys(joint: SerialJoint, frame: Placement) -> dict[str, Any]:
    """Keys of what a joint carries, in the frame of its body."""
    body = joint.body.seen_from(frame)
    keys: dict[str, Any] = {}
    if not body.is_nothing:
        keys = {"mass": body.mass, "center_of_mass": body.center, "inertia": symmetric(body.tensor)}
    return keys | mesh_keys(joint.meshes, frame)


def mesh_keys(meshes: tuple[PlacedMesh, ...], frame: Placement) -> dict[str, Any]:
    """The key `mesh` of a body in its frame; none where there are no meshes."""
    turn = frame.rotation.T
    found = [
        {
            "file": one.file,
            "position": turn @ (one.place.position - frame.position),
            "rotation_vector": Rotation.from_matrix(turn @ one.place.rotation).as_rotvec(),
            "scale": one.scale,
        }
        for one in meshes
    ]
    return {"mesh": found} if found else {}


def symmetric(tensor: Array) -> Array:
    """A tensor without what rounding left beside its diagonal."""
    return np.asarray((tensor + tensor.T) / 2)


def universal_centre(first: SerialJoint, second: SerialJoint, size: float) -> Array | None:
    """Where two revolute joints make a universal one: their axes meet there at a right angle.

    Nearest points of the lines p + s a, r + t b: with a·b = 0, s = a·(r − p) and t = b·(p − r).
    """
    a, b = first.axis, second.axis
    if first.type != "revolute" or second.type != "revolute" or abs(a @ b) > SAME:
        return None
    one = first.point + (a @ (second.point - first.point)) * a
    two = second.point + (b @ (first.point - second.point)) * b
    if np.linalg.norm(one - two) > SAME * size:
        return None
    return np.asarray((one + two) / 2)


def plain(*joints: SerialJoint) -> bool:
    """Whether joints are passive and without friction that does not grow with the speed."""
    return not any(joint.actuated or joint.coulomb for joint in joints)


def limit_keys(joint: SerialJoint) -> dict[str, Any]:
    """[legs.limits] of an actuated joint."""
    keys: dict[str, Any] = {}
    if joint.stroke is not None:
        keys["stroke"] = list(joint.stroke)
    if joint.force is not None:
        keys["force"] = joint.force
    if joint.speed is not None:
        keys["speed"] = joint.speed
    return {"limits": keys} if keys else {}


def friction_keys(
    values: Mapping[str, float], driven: SerialJoint, others: tuple[str, ...]
) -> dict[str, Any]:
    """[legs.friction], with what gough wrote of `others` and of the width to the driven joint.

    What is 0 in all legs is left out when they come together.
    """
    known = {key: driven.other_friction.get(key, values.get(key, 0.0)) for key in others}
    return {"friction": {**values, **known, "width": driven.other_friction.get("width", 0.0)}}


class LinkFrames(NamedTuple):
    """A universal joint at a point and the straight link that it carries, as UPS, PUS, RUS have it."""

    axis: Array
    """The first universal axis, unit."""
    direction: Array
    """n, unit, from the universal joint to the spherical one."""
    length: float
    cross: Placement
    """z along axis, x = n made perpendicular to it."""
    link: Placement
    """z along n, y along n × axis."""


def link_frames(leg: SerialLeg, first: int) -> LinkFrames | None:
    """The link behind two revolute joints, if these make a universal joint across it; else None.

    The second axis is across the link, as axis × n, so that n = cos φ2 axis + sin φ2 x_cross.
    """
    one, two, last = leg.joints[first], leg.joints[first + 1], leg.joints[-1]
    centre = universal_centre(one, two, leg.size)
    if centre is None or last.type != "spherical" or one.viscous != two.viscous:
        return None
    if not plain(one, two) or any(joint.stroke or joint.speed for joint in (one, two, last)):
        return None
    along = last.point - centre
    length = float(np.linalg.norm(along))
    if length <= SAME * leg.size:
        return None
    n, axis = along / length, one.axis
    y = np.cross(n, axis)
    sine = float(np.linalg.norm(y))
    if sine < 1e-3 or np.linalg.norm(np.cross(two.axis, y / sine)) > SAME:
        return None
    y = y / sine
    link = Placement(centre, np.stack([np.cross(y, n), y, n], axis=1))
    cross = Placement(centre, np.stack([np.cross(-y, axis), -y, axis], axis=1))
    return LinkFrames(axis, n, length, cross, link)
