"""URDF, which has trees only, and a YAML file beside it that closes the loops.

The sidecar has the keys of Gepetto's toolbox-parallel-robots, which Pinocchio's users read:
`closed_loop` pairs of frames that coincide, `type` 3d (in place) or 6d (in rotation too), `name_mot` the
actuated joints. Further ones hold what URDF has no word for. URDF's joints read 0 at home.

Two files cannot be renamed at once: both carry a mark of their common content (`export`), so that a
reader tells the new one of a killed export from the old one beside it.
"""

from __future__ import annotations

import hashlib
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing, to_write
from gough.base.version import VERSION
from gough.errors import MissingDataError
from gough.exchange.geometry import Piece, drawn
from gough.exchange.opened import (
    PLATFORM,
    TOOL,
    OpenedBody,
    OpenedJoint,
    OpenedRobot,
    coordinate_names,
    opened,
)
from gough.exchange.xml_text import comment, document, element, numbers, one_line, path_from
from gough.model.model import Model

ENDLESS = 1e9
"""What stands for no limit where URDF must have one."""
BASE = "base"
SIDECAR = ".yaml"
MARK = "export"
"""Attribute of the URDF and key of the sidecar that are equal in files of one export."""


class ExportedURDF(NamedTuple):
    """Both files' texts, and what of the robot they do not have."""

    urdf: str
    yaml: str
    notes: tuple[str, ...]


class Place(NamedTuple):
    """A link's frame at home, world axes."""

    origin: Array
    axes: Array

    def seen(self, point: Array) -> Array:
        """A point of the world in it."""
        return np.asarray(self.axes.T @ (point - self.origin))


def urdf(robot: Model, folder: str | os.PathLike[str] = ".") -> ExportedURDF:
    """A robot as URDF and its sidecar.

    Args:
        robot: with masses and a home pose; of a flexible platform the rigid body is written.
        folder: where the files will be: paths of meshes start there.

    Returns:
        Both texts, and what is left out, one line each.

    """
    tree = opened(robot)
    root = ET.Element("robot", name=one_line(robot.name) or "robot")
    made = f"{robot.name}, written by gough {VERSION}. SI units; joints read 0 at home."
    comment(root, made, *(f"Note: {note}." for note in tree.notes))
    element(root, "link", name=BASE)
    pieces = drawn(tree)
    world = Place(np.zeros(3), np.eye(3))
    _visuals(root[-1], pieces[""], world)
    places = {"": world}
    for body in tree.bodies:
        shapes = Shapes(pieces[body.name], Path(folder))
        places[body.name] = _body(root, body, places[body.parent], shapes)
    for loop in tree.loops:
        ends = (loop.body, PLATFORM)
        for name, body_name in zip(_closing(loop.name), ends, strict=True):
            place = Place(loop.point, tree.home.rotation)
            _fixed(root, name, body_name or BASE, places[body_name], place)
    tool = tree.robot.description.tool
    if np.any(tool):
        at = Place(tree.home.position + tree.home.rotation @ tool, tree.home.rotation)
        _fixed(root, TOOL, PLATFORM, places[PLATFORM], at)
    loops = _sidecar(tree)
    mark = hashlib.sha256((document(root) + loops).encode()).hexdigest()[:16]
    root.set(MARK, mark)
    return ExportedURDF(document(root), f"{loops}{MARK}: '{mark}'\n", tree.notes)


def export_urdf(robot: Model, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a robot as URDF, and its loops beside it with the ending .yaml; returns what is left out."""
    robot.need_rigid_drives("URDF")
    found = urdf(robot, to_write(path).absolute().parent)
    beside = Path(path).with_suffix(SIDECAR)
    # the sidecar is renamed first: without it the URDF of a killed export would read as a tree
    with replacing(path) as tree, replacing(beside) as loops:
        Path(loops).write_text(found.yaml, "utf-8")
        Path(tree).write_text(found.urdf, "utf-8")
    return found.notes


def _closing(leg: str) -> tuple[str, str]:
    """Names of a loop's two frames: on the leg, and on the platform."""
    return f"{leg}_closing_a", f"{leg}_closing_b"


def yaml_library(file: str | os.PathLike[str]) -> Any:
    """Return PyYAML, or say for which file it is missing."""
    try:
        import yaml
    except ImportError:
        raise MissingDataError(
            f"{file}: YAML needs PyYAML, which is not installed; it comes with the extra: "
            "pip install 'gough[exchange]'"
        ) from None
    return yaml


def _sidecar(tree: OpenedRobot) -> str:
    """Return the YAML text of the loops, the motors, and what else URDF has no word for."""
    description, actuated = tree.robot.description, tree.actuated
    friction = {joint.name: dict(joint.other_friction) for joint in tree.joints}
    friction = {name: table for name, table in friction.items() if table}
    coordinates = coordinate_names(tree)
    title = f"{one_line(tree.robot.name)}, written by gough {VERSION}"
    sections: list[tuple[str, dict[str, Any]]] = [
        (
            f"{title}: what closes the loops of the URDF",
            {
                "closed_loop": [list(_closing(loop.name)) for loop in tree.loops],
                "type": ["6d" if loop.rigid else "3d" for loop in tree.loops],
                "name_mot": [joint.name for joint in actuated],
            },
        ),
        (
            "of each of name_mot: inertia of its drive (kg or kg m^2), what it reads at home",
            {
                "armature": [joint.rotor for joint in actuated],
                "home": [joint.reads for joint in actuated],
                "gravity": description.gravity.tolist(),
            },
        ),
    ]
    if coordinates:
        sections.append(("coordinates of the platform", {"coordinates": list(coordinates)}))
    if friction:
        title = "of joints: friction that URDF has no word for, by key of a gough robot file"
        sections.append((title, {"other_friction": friction}))
    return "".join(f"# {remark}\n{_yaml(values)}" for remark, values in sections)


def _yaml(values: dict[str, Any]) -> str:
    """Return a block of YAML: a line for each key, or for each entry of a table."""
    yaml = yaml_library("URDF")
    # without flow style a list would take a line for each number, with it the table one for all
    return "".join(
        yaml.safe_dump({key: value}, default_flow_style=None if value else False, width=10_000)
        for key, value in values.items()
    )


class Shapes(NamedTuple):
    """What stands for a body without meshes, and the folder that paths of meshes start in."""

    pieces: list[Piece]
    folder: Path


def _body(root: ET.Element, body: OpenedBody, parent: Place, shapes: Shapes) -> Place:
    """A body with the links and joints that lead to it; returns its link's frame.

    A joint's frame is that of the link it carries: of several joints all but the last carry links
    without mass. A free joint is URDF's floating one, a spherical one three about perpendicular axes.
    """
    carrier = body.parent or BASE
    steps = [step for joint in body.joints for step in _single(joint, body)]
    for i, (joint, kind) in enumerate(steps):
        last = i == len(steps) - 1
        origin = body.origin if joint.type in ("prismatic", "free") else joint.point
        place = Place(origin, body.axes)
        name = body.name if last else f"{joint.name}_link"
        link = element(root, "link", name=name)
        if last:
            _inertial(link, body, place)
            _meshes(link, body, place, shapes.folder)
            if not body.meshes:
                _visuals(link, shapes.pieces, place)
        _joint(root, joint, kind, (carrier, name), (parent, place))
        carrier, parent = name, place
    return parent


def _single(joint: OpenedJoint, body: OpenedBody) -> list[tuple[OpenedJoint, str]]:
    """A joint as URDF's, with its type."""
    if joint.type == "free":
        return [(joint, "floating")]
    if joint.type == "spherical":
        return [
            (
                joint._replace(name=f"{joint.name}_{letter}", type="revolute", axis=axis),
                "continuous",
            )
            for letter, axis in zip("xyz", body.axes.T, strict=True)
        ]
    if joint.type == "prismatic":
        return [(joint, "prismatic")]
    limited = np.isfinite(joint.lowest) and np.isfinite(joint.highest)
    return [(joint, "revolute" if limited else "continuous")]


def _joint(
    root: ET.Element,
    joint: OpenedJoint,
    kind: str,
    names: tuple[str, str],
    places: tuple[Place, Place],
) -> None:
    """A joint between two links."""
    found = element(root, "joint", name=joint.name, type=kind)
    _between(found, *places)
    element(found, "parent", link=names[0])
    element(found, "child", link=names[1])
    if kind == "floating":
        return
    element(found, "axis", xyz=numbers(places[1].axes.T @ joint.axis))
    limits = {"effort": joint.force, "velocity": joint.speed}
    if kind != "continuous":
        limits |= {"lower": joint.lowest - joint.reads, "upper": joint.highest - joint.reads}
    words = {key: numbers(np.clip(value, -ENDLESS, ENDLESS)) for key, value in limits.items()}
    element(found, "limit", **words)
    if joint.viscous or joint.coulomb:
        rubs = {"damping": numbers(joint.viscous), "friction": numbers(joint.coulomb)}
        element(found, "dynamics", **rubs)


def _fixed(root: ET.Element, name: str, carrier: str, parent: Place, place: Place) -> None:
    """A frame on a link: a link without mass that is fixed to it."""
    element(root, "link", name=name)
    joint = element(root, "joint", name=f"{name}_fixed", type="fixed")
    _between(joint, parent, place)
    element(joint, "parent", link=carrier)
    element(joint, "child", link=name)


def _between(joint: ET.Element, parent: Place, place: Place) -> None:
    """Where a joint's frame is on its parent link."""
    turn = parent.axes.T @ place.axes
    element(
        joint, "origin", xyz=numbers(parent.seen(place.origin)), rpy=numbers(roll_pitch_yaw(turn))
    )


def _inertial(link: ET.Element, body: OpenedBody, place: Place) -> None:
    """Mass and inertia about the centre of mass, the link's axes."""
    found = element(link, "inertial")
    center = place.seen(body.origin + body.axes @ body.inertial.center)
    element(found, "origin", xyz=numbers(center), rpy="0 0 0")
    element(found, "mass", value=numbers(body.inertial.mass))
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    parts = body.inertial.inertia[np.triu_indices(3)]
    element(found, "inertia", **{key: numbers(one) for key, one in zip(names, parts, strict=True)})


def _meshes(link: ET.Element, body: OpenedBody, place: Place, folder: Path) -> None:
    """Mesh files of a body."""
    for mesh in body.meshes:
        visual = element(link, "visual")
        at = place.seen(body.origin + body.axes @ mesh.position)
        turn = place.axes.T @ body.axes @ mesh.rotation
        element(visual, "origin", xyz=numbers(at), rpy=numbers(roll_pitch_yaw(turn)))
        shape = element(visual, "geometry")
        file = path_from(mesh.file, folder)
        element(shape, "mesh", filename=file, scale=numbers(mesh.scale))


def _visuals(link: ET.Element, pieces: list[Piece], place: Place) -> None:
    """Cylinders and boxes along their z axes."""
    for one in pieces:
        start, end = place.seen(one.start), place.seen(one.end)
        length = float(np.linalg.norm(end - start))
        x, y, z = (end - start) / length
        visual = element(link, "visual")
        tilt = [0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)]
        element(visual, "origin", xyz=numbers((start + end) / 2), rpy=numbers(tilt))
        shape = element(visual, "geometry")
        if one.square:
            side = 2 * one.radius
            element(shape, "box", size=numbers([side, side, length]))
        else:
            element(shape, "cylinder", radius=numbers(one.radius), length=numbers(length))


def roll_pitch_yaw(rotation: Array) -> Array:
    """Angles (3,) of R = Rz(yaw) Ry(pitch) Rx(roll), exact to rounding at a pitch of 90° too.

    Yaw is what takes x there in the plane; the others follow from Rz(yaw)ᵀ R, whatever yaw is.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-rotation[2, 0], c * rotation[0, 0] + s * rotation[1, 0])
    roll = np.arctan2(
        s * rotation[0, 2] - c * rotation[1, 2], c * rotation[1, 1] - s * rotation[0, 1]
    )
    return np.array([roll, pitch, yaw])
