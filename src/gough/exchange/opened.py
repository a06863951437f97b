"""A robot opened into a tree of bodies, and the loops that close it: what other programs read.

Every leg is opened where it holds the platform: at its spherical joint, or behind its last joint, where
a part of the platform stays with the leg and is welded to the rest. The platform moves freely, or as
`mobility` lets it. All is as it stands at home, where coordinates read what gough's do; world axes, SI.

Programs that compute with a tree cannot have joints with no mass behind them. A body without any hands
its joints on to the next, but for actuated ones and such with a mesh. Where none comes, the leg gets a
small point mass out of the platform, at the spherical joint, where both have the same velocity: it is
felt there as before, exactly.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description.meshes import mesh_tables
from gough.errors import FileError, InputError, MissingDataError
from gough.exchange.inertia import NOTHING, Inertia, central, inertia_of
from gough.legs.bodies import steiner
from gough.legs.reading import actuator_names
from gough.legs.tree import NO_FRICTION, TreeJoint
from gough.mechanics.body import Frame
from gough.model.frames import leg_frames
from gough.model.model import Model
from gough.model.places import AlikeLegs, alike
from gough.motion import Motion

TIP_SHARE = 1e-3
"""Part of the platform's mass and of its inertia that all tips together get at most."""
PLATFORM = "platform"
TOOL = "tool"
"""Name of the site or link at the tool point."""
MOVES: dict[str, str] = {"translation": "xyz", "planar": "xyr", "schoenflies": "xyzr"}
"""Joints of a platform that is held: along its own axes at home, and r about z."""


class OpenedJoint(NamedTuple):
    """A joint of one leg or of the platform."""

    name: str
    type: Literal["revolute", "prismatic", "spherical", "free"]
    point: Array
    """(3,), m."""
    axis: Array
    """(3,), unit; zeros of a spherical or free joint."""
    reads: float = 0.0
    """What its coordinate is at home, m or rad."""
    lowest: float = -np.inf
    highest: float = np.inf
    force: float = np.inf
    """Largest of its actuator, N or N m."""
    speed: float = np.inf
    rotor: float = 0.0
    """Inertia of its drive, kg or kg m²."""
    viscous: float = 0.0
    coulomb: float = 0.0
    actuator: str = ""
    """The name of what moves it."""
    other_friction: Mapping[str, float] = NO_FRICTION
    """By key of a robot file: what no joint of a tree has."""


class OpenedMesh(NamedTuple):
    """A mesh file of a body: x_body = position + rotation (scale x_file)."""

    file: Path
    position: Array
    rotation: Array
    """(3, 3)."""
    scale: Array
    """(3,), metres per unit of the file."""


class OpenedBody(NamedTuple):
    """A body, and the joints that carry it."""

    name: str
    parent: str
    """What carries the first of its joints; nothing: the ground."""
    joints: tuple[OpenedJoint, ...]
    origin: Array
    """(3,) of its frame, m."""
    axes: Array
    """(3, 3), columns."""
    inertial: Inertia
    """In its own frame."""
    meshes: tuple[OpenedMesh, ...] = ()
    """What it looks like, if the robot file says so."""


class Loop(NamedTuple):
    """Where a leg holds the platform."""

    name: str
    """Of the leg."""
    body: str
    """The leg's last one; nothing: the ground."""
    point: Array
    """(3,), m."""
    rigid: bool
    """The body is welded to the platform; else a spherical joint at the point holds it."""


class OpenedRobot(NamedTuple):
    """A robot as a tree and its loops."""

    robot: Model
    """With a rigid platform."""
    bodies: tuple[OpenedBody, ...]
    """The platform first; a body's parent before it."""
    loops: tuple[Loop, ...]
    home: Motion
    notes: tuple[str, ...]
    """What no tree of rigid bodies has, one line each."""

    @property
    def joints(self) -> tuple[OpenedJoint, ...]:
        """All of them."""
        return tuple(joint for body in self.bodies for joint in body.joints)

    @property
    def actuated(self) -> tuple[OpenedJoint, ...]:
        """Those with actuators, in the order of q."""
        return tuple(joint for joint in self.joints if joint.actuator)

    def body(self, name: str) -> OpenedBody:
        """A body by name."""
        return next(one for one in self.bodies if one.name == name)


def coordinate_names(tree: OpenedRobot) -> tuple[str, ...]:
    """Return the names under `[platform] coordinates`, which no joint of a tree tells; () if none."""
    table = tree.robot.file.platform
    return tuple(table.coordinates or ()) if table is not None else ()


class _Leg(NamedTuple):
    """One leg: its bodies from the base on, and the loop it closes."""

    bodies: tuple[OpenedBody, ...]
    loop: Loop
    bare: bool
    """Its last body has no mass of its own."""


def opened(robot: Model) -> OpenedRobot:
    """A robot as a tree of bodies, every leg opened at the platform.

    It needs masses, a home pose, and legs that tell of which bodies they are made.
    """
    lacking = ", ".join(f"[{one}]" for one in robot.description.missing)
    if lacking:
        raise MissingDataError(
            f"{robot.name}: bodies for other programs need the masses of {lacking}"
        )
    rigid, home = robot.rigid, robot.home
    meshes = _meshes(robot)
    legs = list(_legs(rigid, home, meshes))
    part, tip, rest = _shares(rigid, [leg.loop for leg in legs if leg.bare])
    bodies = [OpenedBody(PLATFORM, "", _platform_joints(rigid), home.position, home.rotation, rest)]
    for leg in legs:
        bodies += leg.bodies
        if leg.bare:
            got = part if leg.loop.rigid else tip.at(bodies[-1].inertial.center)
            bodies[-1] = bodies[-1]._replace(inertial=got)
    drawn = tuple(one._replace(meshes=meshes.get(one.name, ())) for one in bodies)
    loops = tuple(leg.loop for leg in legs)
    return OpenedRobot(rigid, drawn, loops, home, _left_out(robot, drawn))


def _meshes(robot: Model) -> dict[str, tuple[OpenedMesh, ...]]:
    """Meshes by the names of bodies."""
    found = {}
    for one in mesh_tables(robot.file, robot.description):
        name = PLATFORM if one.leg is None else f"leg{one.leg + 1}_{one.name}"
        found[name] = tuple(
            OpenedMesh(
                (robot.folder / table.file).absolute(),
                np.array(table.position, dtype=np.float64),
                Rotation.from_rotvec(np.array(table.rotation_vector, dtype=np.float64)).as_matrix(),
                np.broadcast_to(np.asarray(table.scale, dtype=np.float64), 3),
            )
            for table in one.tables
        )
        for mesh in found[name]:
            if not mesh.file.is_file():
                raise FileError(f"{robot.name}: mesh {mesh.file} of {name} is not there")
    return found


def _legs(robot: Model, home: Motion, meshes: Container[str]) -> Iterator[_Leg]:
    """All legs in their order."""
    motion = robot.inverse_kinematics(home)
    frames = leg_frames(robot, home)
    tips = home.position + (home.rotation @ robot.description.platform_points[..., 0]).T
    for one, (legs, own) in zip(alike(robot), frames, strict=True):
        tree = one.kind.tree
        if tree is None or type(legs) not in tree.numbers:
            raise InputError(
                f"{robot.name}: legs of kind {one.kind.name} do not tell of which bodies and joints "
                "they are made, which other programs need"
            )
        named = dict(zip(legs.BODIES, own, strict=True))
        joints = tree.joints(legs, named, one.of(motion))
        for i in range(legs.count):
            yield _leg(robot, one, joints, named, tips, meshes, i)


def _leg(
    robot: Model,
    group: AlikeLegs,
    joints: tuple[TreeJoint, ...],
    frames: dict[str, Frame],
    tips: Array,
    meshes: Container[str],
    i: int,
) -> _Leg:
    """Leg i of a group, from 0; bodies with meshes are bodies of their own."""
    number = group.which.start + i
    prefix = f"leg{number + 1}"
    rigid = group.kind.tree is not None and group.kind.tree.holds_body(group.legs)
    own = group.legs.named_bodies()
    bodies: list[OpenedBody] = []
    waiting: list[OpenedJoint] = []
    parent = name = ""
    frame = tips[number], robot.home.rotation
    for joint, full in _of_leg(robot, group, joints, i, prefix):
        waiting.append(full)
        name = joint.body
        if not name:
            continue
        frame = frames[name].origin[i], frames[name].axes[i]
        part = inertia_of(own[name], i)
        kept = joint.actuated or f"{prefix}_{name}" in meshes
        if not part.nothing or (kept and joint is not joints[-1]):
            bodies.append(OpenedBody(f"{prefix}_{name}", parent, tuple(waiting), *frame, part))
            parent, waiting = bodies[-1].name, []
    if waiting:
        if rigid:
            name, frame = "end", (robot.home.position, robot.home.rotation)
        origin, axes = frame
        nothing = NOTHING.at(axes.T @ (tips[number] - origin))
        bodies.append(OpenedBody(f"{prefix}_{name}", parent, tuple(waiting), *frame, nothing))
        parent = bodies[-1].name
    return _Leg(tuple(bodies), Loop(prefix, parent, tips[number], rigid), bool(waiting))


def _of_leg(
    robot: Model, group: AlikeLegs, joints: tuple[TreeJoint, ...], i: int, prefix: str
) -> Iterator[tuple[TreeJoint, OpenedJoint]]:
    """The joints of leg i of a group with all that the file says of them."""
    limits, number = robot.description.limits, group.which.start + i
    names = [one.replace(" ", "") for one in actuator_names(robot.actuators)]
    passive = {one.joint: one for one in robot.description.passive if one.leg == number}
    driven = sum(joint.actuated for joint in joints)
    actuator = group.actuators.start + i * driven
    for joint in joints:
        found = OpenedJoint(
            name=f"{prefix}_{joint.name}",
            type=joint.type,
            point=joint.point[i],
            axis=joint.axis[i],
            reads=float(joint.reads[i]),
            viscous=float(joint.viscous[i]),
            coulomb=float(joint.coulomb[i]),
            other_friction={
                key: float(value[i]) for key, value in joint.other_friction.items() if value[i]
            },
        )
        if joint.actuated:
            found = found._replace(
                lowest=float(limits.shortest[actuator]),
                highest=float(limits.longest[actuator]),
                force=float(limits.force[actuator]),
                speed=float(limits.speed[actuator]),
                rotor=float(robot.mechanism.legs.rotor[actuator, 0]),
                actuator=names[actuator],
            )
            actuator += 1
        elif joint.place in passive:
            own = passive[joint.place]
            found = found._replace(lowest=own.shortest, highest=own.longest, speed=own.speed)
        yield joint, found


def _platform_joints(robot: Model) -> tuple[OpenedJoint, ...]:
    """A free joint, or those that `mobility` leaves."""
    mobility, point, axes = robot.description.mobility, robot.home.position, robot.home.rotation
    none = np.zeros(3)
    if mobility is None:
        return (OpenedJoint(f"{PLATFORM}_free", "free", point, none),)
    if mobility == "rotation":
        return (OpenedJoint(f"{PLATFORM}_turn", "spherical", point, none),)
    found = []
    for letter in MOVES[mobility]:
        turns = letter == "r"
        axis = axes[:, 2 if turns else "xyz".index(letter)]
        name = f"{PLATFORM}_{'rz' if turns else letter}"
        found.append(OpenedJoint(name, "revolute" if turns else "prismatic", point, axis))
    return tuple(found)


def _shares(robot: Model, loops: Sequence[Loop]) -> tuple[Inertia, Inertia, Inertia]:
    """What of the platform a welded end has, what a tip has, and what the platform keeps.

    Ends have equal parts of all ten parameters, as the platform has; tips point masses, so small that
    the platform's inertia stays positive. Of a platform that does not turn only the mass counts.
    """
    body = inertia_of(robot.description.platform, 0)
    if loops and not body.mass:
        raise InputError(
            f"{robot.name}: neither the platform nor the last body of {loops[0].name} has mass: no "
            "program can move that"
        )
    share = 1 / (1 + sum(loop.rigid for loop in loops))
    part = Inertia(share * body.mass, body.center, share * body.inertia)
    home = robot.home
    places = [home.rotation.T @ (one.point - home.position) for one in loops if not one.rigid]
    if not places:
        return part, NOTHING, part
    turns = robot.description.mobility != "translation"
    reach = sum(float(np.sum((place - part.center) ** 2)) for place in places) if turns else 0.0
    sizes = [float(one) for one in np.linalg.eigvalsh(part.inertia) if one > 0]
    most = min([part.mass / len(places), *([sizes[0] / reach] if reach and sizes else [])])
    tip = NOTHING._replace(mass=TIP_SHARE * most)
    rest = part._replace(mass=part.mass - tip.mass * len(places))
    if turns:
        moment = part.mass * part.center - tip.mass * np.sum(places, axis=0)
        whole = part.inertia + part.mass * steiner(part.center)
        rest = central(rest.mass, moment, whole - tip.mass * steiner(np.array(places)).sum(axis=0))
    return part, tip, rest


def _left_out(robot: Model, bodies: Sequence[OpenedBody]) -> tuple[str, ...]:
    """What trees of rigid bodies do not have, in words."""
    found = []
    if robot.modes:
        found.append(
            f"the platform is written as a rigid body: its {robot.modes} modes are left out"
        )
    if robot.bends:
        found.append("legs are written as rigid bodies: [legs.beams] is left out")
    if robot.drives.compliant:
        found.append("actuators are written as rigid ones: [legs.drive] is left out")
    joints = [joint for body in bodies for joint in body.joints]
    rubbing = dict.fromkeys(key for joint in joints for key in joint.other_friction)
    if rubbing:
        found.append(
            "friction that no joint of a tree has is there for gough alone, others leave it out: "
            f"{', '.join(rubbing)}"
        )
    limits = robot.description.limits
    angles = [name for name in limits._fields[4:] if np.any(np.isfinite(getattr(limits, name)))]
    if angles:
        found.append(f"limits that no joint of a tree has are left out: {', '.join(angles)}")
    return tuple(found)
