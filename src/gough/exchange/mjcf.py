"""MJCF: a robot for MuJoCo, and for all that reads its files.

Every leg is a tree of bodies from the ground; the platform moves freely. A `connect` at each spherical
joint, or a `weld` where a leg holds the platform in another way, closes the loops. Joints have gough's
coordinates, and read at home (qpos0) what gough reads.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.files import replacing, to_write
from gough.base.version import VERSION
from gough.errors import InputError
from gough.exchange.geometry import Piece, drawn
from gough.exchange.opened import (
    PLATFORM,
    TOOL,
    OpenedBody,
    OpenedJoint,
    OpenedMesh,
    OpenedRobot,
    coordinate_names,
    opened,
)
from gough.exchange.possible import lifted, possible
from gough.exchange.xml_text import comment, document, element, numbers, one_line, path_from
from gough.model.model import Model

STEP = 5e-4
"""Time step, s."""
STIFF = 2 * STEP
"""Time constant of loops, s: MuJoCo takes none below two steps."""
IMPEDANCE = 0.9999
"""The largest that MuJoCo has."""
MESHES = (".stl", ".obj")
"""That MuJoCo reads."""
OTHER_FRICTION = "gough."
"""How names of numbers begin that are a joint's friction: with its name and a robot file's key."""
COORDINATES = "gough.coordinates"
"""Name of the text with the coordinates of the platform."""
TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
LOOPS = (
    "Loops are closed by soft constraints: MuJoCo has no others. They are as stiff as it allows:",
    f"time constant {STIFF:g} s, two time steps, under which it would not be stable, impedance",
    f"{IMPEDANCE:g}. A joint gives by a (1 - d) t^2 = a x {(1 - IMPEDANCE) * STIFF**2:.0e} s^2 or less,",
    "a (m/s^2) the acceleration with which it would come apart without the constraint.",
)


class Exported(NamedTuple):
    """A file's text, and what of the robot it does not have."""

    text: str
    notes: tuple[str, ...]


def mjcf(robot: Model, folder: str | os.PathLike[str] = ".") -> Exported:
    """A robot as MJCF.

    Args:
        robot: with masses and a home pose; of a flexible platform the rigid body is written.
        folder: where the file will be: paths of meshes start there.

    Returns:
        The text, and what is left out, one line each.

    """
    given = opened(robot)
    real = possible(given)
    tree, raised = lifted(real)
    assets = _Assets(tree, Path(folder))
    notes = (*tree.notes, *_replaced(given, real), *raised, *_not_in_mujoco(tree))
    root = ET.Element("mujoco", model=one_line(robot.name) or "robot")
    made = (
        f"{robot.name}, written by gough {VERSION}. SI units, radians; the pose of qpos0 is home."
    )
    comment(root, made, *(f"Note: {note}." for note in notes))
    element(root, "compiler", angle="radian", inertiafromgeom="false", autolimits="true")
    option = {"timestep": numbers(STEP), "gravity": numbers(robot.description.gravity)}
    element(
        root, "option", **option, integrator="implicitfast", iterations="100", tolerance="1e-12"
    )
    element(element(root, "default"), "geom", contype="0", conaffinity="0", mass="0", group="1")
    assets.write(root)
    _world(root, tree, assets)
    _loops(root, tree)
    _actuators(root, tree)
    _sensors(root, tree)
    _keyframe(root, tree)
    _custom(root, tree)
    return Exported(document(root), notes)


def export_mjcf(robot: Model, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a robot as MJCF; returns what is left out."""
    robot.need_rigid_drives("MJCF")
    found = mjcf(robot, to_write(path).absolute().parent)
    with replacing(path) as temporary:
        Path(temporary).write_text(found.text, "utf-8")
    return found.notes


def _replaced(given: OpenedRobot, tree: OpenedRobot) -> list[str]:
    """Bodies of legs that real ones stand for."""
    pairs = zip(given.bodies[1:], tree.bodies[1:], strict=True)
    names = dict.fromkeys(
        old.name.split("_", 1)[1] for old, new in pairs if old.inertial is not new.inertial
    )
    if not names:
        return []
    return [
        f"no real bodies are as {', '.join(names)}: real ones that move the same stand for them"
    ]


def _not_in_mujoco(tree: OpenedRobot) -> list[str]:
    """What MuJoCo does not have of what a tree has."""
    found = []
    if any(np.isfinite(joint.speed) for joint in tree.joints):
        found.append("limits of speed are left out: MuJoCo has none")
    strange = {mesh.file.name for body in tree.bodies for mesh in body.meshes if not _takes(mesh)}
    if strange:
        found.append(f"meshes that MuJoCo cannot read are left out: {', '.join(sorted(strange))}")
    return found


def _takes(mesh: OpenedMesh) -> bool:
    """Whether MuJoCo reads a mesh."""
    return mesh.file.suffix.lower() in MESHES


class _Assets:
    """Mesh files, each once per scale, and their names."""

    def __init__(self, tree: OpenedRobot, folder: Path) -> None:
        self.files: dict[tuple[str, str], str] = {}
        self.folder = folder
        for body in tree.bodies:
            for mesh in filter(_takes, body.meshes):
                self.files.setdefault(self._key(mesh), f"mesh{len(self.files) + 1}")

    def _key(self, mesh: OpenedMesh) -> tuple[str, str]:
        return path_from(mesh.file, self.folder), numbers(mesh.scale)

    def name(self, mesh: OpenedMesh) -> str:
        """What a mesh is called."""
        return self.files[self._key(mesh)]

    def write(self, root: ET.Element) -> None:
        """The files; what meshes would weigh counts for nothing, so that open ones are no error."""
        if self.files:
            asset = element(root, "asset")
            for (file, scale), name in self.files.items():
                element(asset, "mesh", name=name, file=file, scale=scale, inertia="shell")


def _quaternion(rotation: Array) -> str:
    """(w, x, y, z)."""
    return numbers(Rotation.from_matrix(rotation).as_quat(canonical=True, scalar_first=True))


def _world(root: ET.Element, tree: OpenedRobot, assets: _Assets) -> None:
    """All bodies, each in the one that carries it."""
    world = element(root, "worldbody")
    element(world, "light", pos="0 0 4", dir="0 0 -1", directional="true")
    pieces = drawn(tree)
    comment(world, "One body carries all others, for readers that take no more: Pinocchio is one.")
    base = element(world, "body", name="base")
    element(base, "inertial", pos="0 0 0", mass="0", diaginertia="0 0 0")
    _pieces(base, pieces[""], np.zeros(3), np.eye(3))
    written: dict[str, ET.Element] = {"": base}
    for body in tree.bodies:
        origin, axes = np.zeros(3), np.eye(3)
        if body.parent:
            carrier = tree.body(body.parent)
            origin, axes = carrier.origin, carrier.axes
        pose = {
            "pos": numbers(axes.T @ (body.origin - origin)),
            "quat": _quaternion(axes.T @ body.axes),
        }
        one = written[body.name] = element(written[body.parent], "body", name=body.name, **pose)
        _inertial(one, body)
        _joints(one, body, tree.robot.name)
        meshes = [mesh for mesh in body.meshes if _takes(mesh)]
        for mesh in meshes:
            place = {"pos": numbers(mesh.position), "quat": _quaternion(mesh.rotation)}
            element(one, "geom", type="mesh", mesh=assets.name(mesh), **place)
        if not meshes:
            _pieces(one, pieces[body.name], body.origin, body.axes)
        if body.name == PLATFORM:
            element(one, "site", name=PLATFORM, pos="0 0 0", size="0.001")
            tool = tree.robot.description.tool
            if np.any(tool):
                element(one, "site", name=TOOL, pos=numbers(tool), size="0.001")


def _inertial(parent: ET.Element, body: OpenedBody) -> None:
    """Mass, centre and inertia, the last about the centre of mass."""
    own = body.inertial
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = own.inertia
    element(
        parent,
        "inertial",
        pos=numbers(own.center),
        mass=numbers(own.mass),
        fullinertia=numbers([xx, yy, zz, xy, xz, yz]),
    )


def _joints(parent: ET.Element, body: OpenedBody, robot: str) -> None:
    """The joints that carry a body, in their order."""
    types = [joint.type for joint in body.joints]
    if "spherical" in types and len(types) > 1:
        raise InputError(
            f"{robot}: {body.joints[types.index('spherical')].name} is a spherical joint next to "
            "another without mass between: MuJoCo takes none such; give the body between them a mass"
        )
    for joint in _with_types(body.joints):
        words = {"name": joint.name, "type": TYPES[joint.type]}
        if joint.type != "prismatic":
            words["pos"] = numbers(body.axes.T @ (joint.point - body.origin))
        if joint.type != "spherical":
            words["axis"] = numbers(body.axes.T @ joint.axis)
        if joint.reads:
            words["ref"] = numbers(joint.reads)
        if np.isfinite(joint.lowest) and np.isfinite(joint.highest):
            words["range"] = numbers([joint.lowest, joint.highest])
        given = {"armature": joint.rotor, "damping": joint.viscous, "frictionloss": joint.coulomb}
        words |= {key: numbers(value) for key, value in given.items() if value}
        if joint.coulomb:  # MuJoCo's own time constant and impedance let a joint creep that sticks
            words |= {f"{key}friction": value for key, value in _rigid().items()}
        element(parent, "joint", **words)


def _rigid() -> dict[str, str]:
    """Time constant and impedance of constraints, as stiff as MuJoCo allows.

    A joint under less force f than its friction creeps at f/m (1 - d)/(2/STIFF), m its own mass.
    """
    return {
        "solref": numbers([STIFF, 1.0]),
        "solimp": numbers([IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2]),
    }


def _with_types(joints: tuple[OpenedJoint, ...]) -> tuple[OpenedJoint, ...]:
    """Joints as a body other than the world's own may have them.

    A free joint is three slides and a ball, which read how far the platform is from home. Where a body
    has several joints only an actuated one reads what gough does, others count from home: Pinocchio
    misreads `ref` of the first of them.
    """
    first = joints[0]
    if first.type == "free":
        slides = (
            OpenedJoint(f"{PLATFORM}_{letter}", "prismatic", first.point, axis)
            for letter, axis in zip("xyz", np.eye(3), strict=True)
        )
        return (*slides, OpenedJoint(f"{PLATFORM}_turn", "spherical", first.point, first.axis))
    return tuple(
        joint
        if joint.actuator or len(joints) == 1
        else joint._replace(
            reads=0.0, lowest=joint.lowest - joint.reads, highest=joint.highest - joint.reads
        )
        for joint in joints
    )


def _pieces(parent: ET.Element, pieces: list[Piece], origin: Array, axes: Array) -> None:
    """Shapes of a body; they touch nothing and weigh nothing."""
    for one in pieces:
        ends = np.concatenate([axes.T @ (end - origin) for end in (one.start, one.end)])
        words = {"type": "box" if one.square else "capsule", "fromto": numbers(ends)}
        element(parent, "geom", **words, size=numbers(one.radius), rgba=numbers([*one.color, 1.0]))


def _loops(root: ET.Element, tree: OpenedRobot) -> None:
    """What closes the loops, in the platform's frame."""
    comment(root, *LOOPS)
    stiff = _rigid()
    loops = element(root, "equality")
    home = tree.home
    for loop in tree.loops:
        words = {"name": loop.name, "body1": PLATFORM, "body2": loop.body or "base"}
        if loop.rigid:
            element(loops, "weld", **words, **stiff)
            continue
        anchor = numbers(home.rotation.T @ (loop.point - home.position))
        element(loops, "connect", **words, anchor=anchor, **stiff)


def _actuators(root: ET.Element, tree: OpenedRobot) -> None:
    """Motors whose control is gough's Γ."""
    motors = element(root, "actuator")
    for joint in tree.actuated:
        limit = {}
        if np.isfinite(joint.force):
            limit["ctrlrange"] = numbers([-joint.force, joint.force])
        element(motors, "motor", name=joint.actuator, joint=joint.name, gear="1", **limit)


def _sensors(root: ET.Element, tree: OpenedRobot) -> None:
    """q, q̇ and Γ per actuator, pose and twist of the platform."""
    sensors = element(root, "sensor")
    for joint in tree.actuated:
        element(sensors, "jointpos", name=f"{joint.actuator}_q", joint=joint.name)
        element(sensors, "jointvel", name=f"{joint.actuator}_qd", joint=joint.name)
        element(sensors, "actuatorfrc", name=f"{joint.actuator}_force", actuator=joint.actuator)
    for tag in ("framepos", "framequat", "framelinvel", "frameangvel"):
        words = {"name": f"{PLATFORM}_{tag[5:]}", "objtype": "site", "objname": PLATFORM}
        element(sensors, tag, **words)


def _custom(root: ET.Element, tree: OpenedRobot) -> None:
    """Add numbers and texts that MuJoCo carries and does not use, and that gough reads."""
    friction = [
        (f"{OTHER_FRICTION}{joint.name}.{key}", numbers(value))
        for joint in tree.joints
        for key, value in joint.other_friction.items()
    ]
    coordinates = coordinate_names(tree)
    if friction or coordinates:
        custom = element(root, "custom")
        for name, data in friction:
            element(custom, "numeric", name=name, data=data)
        if coordinates:
            element(custom, "text", name=COORDINATES, data=" ".join(coordinates))


def _keyframe(root: ET.Element, tree: OpenedRobot) -> None:
    """Home, at rest, with the forces that hold the robot there.

    MuJoCo numbers joints as they stand in the file, which is their order here: legs are rows of bodies.
    """
    qpos: list[str] = []
    for body in tree.bodies:
        for joint in _with_types(body.joints):
            qpos.append("1 0 0 0" if joint.type == "spherical" else numbers(joint.reads))
    ctrl = np.zeros(len(tree.actuated))
    if len(ctrl) >= tree.robot.mobility:
        ctrl = tree.robot.inverse_dynamics(tree.home, friction=False).forces
    words = {"qpos": " ".join(qpos)} | ({"ctrl": numbers(ctrl)} if len(ctrl) else {})
    element(element(root, "keyframe"), "key", name="home", **words)
