"""URDF as a linkage, its loops in a YAML file beside it.

URDF knows trees only. The loops, and which joints are driven, are in `robot.yaml` beside `robot.urdf`
with the keys of Gepetto's toolbox-parallel-robots: `closed_loop` (pairs of frames), `type` ("6d": the
frames are one, "3d": their origins are), `name_mot` (driven joints), `joint_name` and `joint_type`
(joints that are SPHERICAL, UJOINT_XY and so on, FIXED). Of driven joints gough also writes `armature`,
the inertia of each drive, and `home`, what each reads where URDF reads 0; and `gravity`, m/s², and the
platform's `coordinates`. Files of
one export have the same `export`; those of two, as a kill between them leaves, are refused.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.files import small_text
from gough.errors import FileError
from gough.exchange.incoming.linkage import (
    JointType,
    Linkage,
    LinkageJoint,
    LinkagePart,
    LoopClosure,
    PartFrame,
)
from gough.exchange.incoming.mesh_names import named_mesh
from gough.exchange.incoming.xml_text import inside, read_xml
from gough.exchange.urdf import yaml_library
from gough.legs.meshes import MESHES
from gough.legs.serial import AT_ORIGIN, NOTHING, PlacedMesh, Placement, SerialBody

Element = ElementTree.Element
GRAVITY = np.array([0.0, 0.0, -9.81])
"""URDF does not say."""
KNOWN = {"link", "joint", "transmission", "material"}
DEEPEST_YAML = 20
"""Lists and tables inside each other."""
MOST_YAML = 0.1
"""Megabytes."""
NOT_READ = {"gazebo", "sensor", "ros2_control"}
TYPES: dict[str, JointType] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "spherical": "spherical",
}
SIDECAR = (
    "closed_loop", "type", "name_mot", "joint_name", "joint_type", "armature", "home", "gravity",
    "coordinates",
)  # fmt: skip
"""Keys of the YAML file."""
LARGEST = 1e12
"""Number of a place, an axis or the YAML file, as of a robot file."""
ENDLESS = 1e8
"""A limit from here on is none."""


def read_urdf(path: Path, meshes: bool) -> Linkage:
    """The linkage of a URDF file; its home is where all joints read 0."""
    root = read_xml(path)
    if root.tag != "robot":
        raise FileError(f"{path}: not URDF: its first element is <{root.tag}>, not <robot>"[:200])
    if any(one.tag.startswith("xacro:") for one in root.iter()):
        raise FileError(f"{path}: a xacro file, not URDF: run xacro on it first")
    return _Reader(path, root, sidecar(path, root.get("export")), meshes).linkage()


def sidecar(path: Path, export: str | None = None) -> dict[str, Any]:
    """The loops and drives beside a URDF file, of the same export; empty without such a file."""
    for name in (path.with_suffix(".yaml"), path.with_suffix(".yml"), path.parent / "robot.yaml"):
        if name.is_file():
            break
    else:
        return {}
    inside(path.absolute().parent, name.name, "YAML file of loops", str(path))
    yaml = yaml_library(name)
    text = small_text(name, "YAML file of loops", MOST_YAML)
    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_YAML:
                raise FileError(f"{name}: nested deeper than {DEEPEST_YAML}")
            if isinstance(event, yaml.AliasEvent):
                raise FileError(f"{name}: has aliases (*name), which are not read")
        found = yaml.safe_load(text)
        top = yaml.compose(text, yaml.SafeLoader)
    except FileError:
        raise
    except Exception as error:  # PyYAML trips over a tag whose text is not of its kind
        said = " ".join(str(error).split())
        raise FileError(f"{name}: not YAML: {said}"[:200]) from None
    if not isinstance(found, dict):
        raise FileError(f"{name}: needs keys such as closed_loop, type and name_mot")
    twice = [key for key, count in Counter(key.value for key, _ in top.value).items() if count > 1]
    if twice:
        raise FileError(f"{name}: has the key {twice[0]!r} twice"[:200])
    if export is not None and found.get("export", export) != export:
        raise FileError(f"{name}: of another export than {path.name}; export the robot again")
    for key in SIDECAR:
        if not isinstance(found.setdefault(key, []), list):
            raise FileError(f"{name}: {key} needs a list")
    pairs = found["closed_loop"]
    if not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
        for pair in pairs
    ):
        raise FileError(f"{name}: closed_loop needs a list of pairs of frames")
    motors = len(found["name_mot"])
    for key, kind, count in (
        ("type", str, len(pairs)),
        ("joint_name", str, len(found["joint_name"])),
        ("joint_type", str, len(found["joint_name"])),
        ("name_mot", str, motors),
        ("armature", float | int, motors),
        ("home", float | int, motors),
        ("gravity", float | int, 3),
        ("coordinates", str, len(found["coordinates"])),
    ):
        fits = all(isinstance(one, kind) and _bearable(one) for one in found[key])
        if not fits or (found[key] and len(found[key]) != count):
            what = "texts" if kind is str else f"numbers below {LARGEST:g}"
            raise FileError(f"{name}: {key} has {len(found[key])} entries, needs {count} {what}")
    rubbing = found.setdefault("other_friction", {})
    if not isinstance(rubbing, dict) or not all(
        isinstance(one, dict)
        and all(isinstance(value, float | int) and _bearable(value) for value in one.values())
        for one in rubbing.values()
    ):
        raise FileError(
            f"{name}: other_friction needs tables of numbers below {LARGEST:g}, one per joint"
        )
    return found


def _bearable(value: Any) -> bool:
    """A text, or a number that can be one of a robot's."""
    return isinstance(value, str) or abs(value) < LARGEST


class _Reader:
    """Takes the elements of a URDF file apart."""

    def __init__(self, path: Path, root: Element, loops: dict[str, Any], meshes: bool) -> None:
        self.path, self.root, self.loops, self.with_meshes = path, root, loops, meshes
        self.links = _by_name(root.findall("link"), path)
        self.joints = _by_name(root.findall("joint"), path)
        self.other = dict(
            zip(loops.get("joint_name", []), loops.get("joint_type", []), strict=False)
        )
        motors = loops.get("name_mot", []) or [
            _name(joint, path)
            for one in root.findall("transmission")
            for joint in one.findall("joint")
        ]
        self.motors = set(map(str, motors))
        self.drives = {
            key: dict(zip(loops.get("name_mot", []), loops.get(key, []), strict=False))
            for key in ("armature", "home")
        }
        unknown = sorted((self.motors | set(self.other)) - set(self.joints))
        counted = Counter(one.tag for one in root if one.tag not in KNOWN)
        self.left_out = [f"{count} <{tag}>" for tag, count in sorted(counted.items())]
        self.left_out += [f"joint {one!r}, which the YAML file names alone" for one in unknown]
        self.numbers: dict[str, int] = {}
        self.frames: dict[str, PartFrame] = {}

    def linkage(self) -> Linkage:
        """The whole."""
        parts = [LinkagePart("world", -1, AT_ORIGIN, (), NOTHING)]
        children: dict[str, list[str]] = {}
        parents: dict[str, str] = {}
        for name, joint in self.joints.items():
            parent, child = (self._link(joint, tag, name) for tag in ("parent", "child"))
            if child in parents:
                raise FileError(
                    f"{self.path}: link {child!r} has two parents, {parents[child]!r} too"
                )
            parents[child] = parent
            children.setdefault(parent, []).append(name)
        roots = [name for name in self.links if name not in parents]
        if len(roots) != 1:
            raise FileError(f"{self.path}: has {len(roots)} links without a parent, needs one")
        self._add(parts, roots[0], 0, AT_ORIGIN, ())
        waiting = [roots[0]]
        while waiting:
            link = waiting.pop(0)
            for name in children.get(link, []):
                joint = self.joints[name]
                child = self._link(joint, "child", name)
                self._add(
                    parts, child, self.numbers[link], _origin(joint, self.path), self._joint(name)
                )
                self.frames.setdefault(name, PartFrame(self.numbers[child], AT_ORIGIN))
                waiting.append(child)
        if len(parts) != len(self.links) + 1:
            raise FileError(
                f"{self.path}: its joints run in a circle; loops belong into the YAML file"
            )
        for name, number in self.numbers.items():
            self.frames[name] = PartFrame(number, AT_ORIGIN)
        return Linkage(
            self.root.get("name") or self.path.stem,
            tuple(parts),
            tuple(self._loops()),
            self.frames,
            np.array(self.loops.get("gravity") or GRAVITY, dtype=np.float64),
            tuple(dict.fromkeys(self.left_out)),
            tuple(self.loops.get("coordinates", ())),
        )

    def _link(self, joint: Element, tag: str, name: str) -> str:
        end = joint.find(tag)
        link = "" if end is None else end.get("link", "")
        if link not in self.links:
            raise FileError(f"{self.path}: the {tag} of joint {name!r} is no link: {link!r}"[:200])
        return link

    def _add(
        self,
        parts: list[LinkagePart],
        link: str,
        parent: int,
        place: Placement,
        joints: tuple[LinkageJoint, ...],
    ) -> None:
        self.numbers[link] = len(parts)
        element = self.links[link]
        meshes = tuple(self._meshes(element)) if self.with_meshes and parent else ()
        parts.append(LinkagePart(link, parent, place, joints, self._inertia(element), meshes))

    def _inertia(self, link: Element) -> SerialBody:
        inertial = link.find("inertial")
        if inertial is None:
            return NOTHING
        place = _origin(inertial, self.path)
        mass, tensor = inertial.find("mass"), inertial.find("inertia")
        six = [
            _number(tensor, key, self.path) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        ]
        xx, xy, xz, yy, yz, zz = six
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return SerialBody(_number(mass, "value", self.path), np.zeros(3), own).in_frame(place)

    def _joint(self, name: str) -> tuple[LinkageJoint, ...]:
        """The joints between a link and its parent: none, one, or two of a universal joint."""
        joint = self.joints[name]
        kind, other = joint.get("type", ""), str(self.other.get(name, "")).upper()
        axis = _vector(joint.find("axis"), "xyz", (1.0, 0.0, 0.0), self.path)
        if joint.find("mimic") is not None:
            self.left_out.append(f"that joint {name!r} mimics another")
        if kind == "fixed" or other == "FIXED":
            return ()
        origin = np.zeros(3)
        if other == "SPHERICAL":
            return (LinkageJoint(name, "spherical", origin, origin),)
        if other.startswith("UJOINT_") and len(other) == 9 and set(other[-2:]) <= set("XYZ"):
            axes = np.eye(3)[["XYZ".index(letter) for letter in other[-2:]]]
            return tuple(
                LinkageJoint(f"{name}_{letter}", "revolute", origin, one)
                for letter, one in zip(other[-2:], axes, strict=True)
            )
        if other:
            raise FileError(f"{self.path}: joint {name!r} has the joint_type {other!r}"[:200])
        if kind == "floating":
            names = (f"{name} {letter}" for letter in "xyz")
            slides = tuple(
                LinkageJoint(one, "prismatic", origin, unit, free=True)
                for one, unit in zip(names, np.eye(3), strict=True)
            )
            return (*slides, LinkageJoint(name, "spherical", origin, origin, free=True))
        if kind not in TYPES:
            raise FileError(
                f"{self.path}: joint {name!r} is of type {kind!r}, which is not read"[:200]
            )
        length = float(np.linalg.norm(axis))
        if not length:
            raise FileError(f"{self.path}: the axis of joint {name!r} has no length")
        ball = TYPES[kind] == "spherical"
        return (
            LinkageJoint(
                name,
                TYPES[kind],
                origin,
                origin if ball else axis / length,
                actuated=name in self.motors,
                **self._rest(joint, name, kind),
            ),
        )

    def _rest(self, joint: Element, name: str, kind: str) -> dict[str, Any]:
        """Drive, friction and limits; 0 stands for no limit in many files."""
        dynamics, limit = joint.find("dynamics"), joint.find("limit")
        reads = float(self.drives["home"].get(name, 0.0))
        rotor = float(self.drives["armature"].get(name, 0.0))
        found: dict[str, Any] = {"reads": reads, "home": reads, "rotor_inertia": rotor}
        found["other_friction"] = self.loops.get("other_friction", {}).get(name, {})
        if dynamics is not None:
            found["viscous"] = _number(dynamics, "damping", self.path)
            found["coulomb"] = _number(dynamics, "friction", self.path)
            found["rotor_inertia"] += _number(dynamics, "armature", self.path)
        if limit is None:
            return found
        low, high, effort, speed = (
            _number(limit, key, self.path) for key in ("lower", "upper", "effort", "velocity")
        )
        found["force"] = effort if 0 < effort < ENDLESS else None
        found["speed"] = speed if 0 < speed < ENDLESS else None
        stops = low < high and kind != "continuous" and max(-low, high) < ENDLESS
        found["stroke"] = (low + reads, high + reads) if stops else None
        return found

    def _loops(self) -> list[LoopClosure]:
        found = []
        kinds = self.loops.get("type", []) or ["6d"] * len(self.loops.get("closed_loop", []))
        for pair, kind in zip(self.loops.get("closed_loop", []), kinds, strict=True):
            for name in pair:
                if name not in self.frames:
                    raise FileError(
                        f"{self.path}: has no link or joint {name!r}, which a loop names"
                    )
            if str(kind).lower() not in ("3d", "6d"):
                raise FileError(f"{self.path}: a loop is of type 3d or 6d, not {kind!r}"[:200])
            ends = [self.frames[name] for name in pair]
            found.append(
                LoopClosure(
                    f"{pair[0]} - {pair[1]}",
                    (ends[0].part, ends[1].part),
                    (ends[0].place, ends[1].place),
                    rigid=str(kind).lower() == "6d",
                )
            )
        return found

    def _meshes(self, link: Element) -> list[PlacedMesh]:
        found = []
        for visual in link.findall("visual"):
            mesh = visual.find("geometry/mesh")
            if mesh is None:
                continue
            name = mesh.get("filename", "")
            if PurePosixPath(name).suffix.lower() not in MESHES:
                self.left_out.append(f"meshes that are not {', '.join(MESHES)}")
                continue
            scale = _vector(mesh, "scale", (1.0, 1.0, 1.0), self.path)
            file = self._mesh_file(name)
            found.append(PlacedMesh(file, scale, _origin(visual, self.path)))
        return found

    def _mesh_file(self, name: str) -> str:
        """The path of a mesh in the folder; package:// is the folder, or one of its folders."""
        folder, plain = self.path.absolute().parent, name.removeprefix("file://")
        ways = [plain]
        if name.startswith("package://"):
            plain = name.removeprefix("package://").lstrip("/")
            ways = [plain, plain.partition("/")[2] or plain]
        here = [way for way in ways if inside(folder, way, "mesh", str(self.path)).is_file()]
        source = named_mesh(folder, (here or ways)[0], str(self.path))
        return str(source.relative_to(folder.resolve()))


def _name(element: Element, path: Path) -> str:
    name = element.get("name", "")
    if not name:
        raise FileError(f"{path}: a <{element.tag}> has no name")
    return name


def _by_name(elements: list[Element], path: Path) -> dict[str, Element]:
    """Links or joints, no two of one name."""
    found: dict[str, Element] = {}
    for one in elements:
        if found.setdefault(_name(one, path), one) is not one:
            raise FileError(f"{path}: two <{one.tag}> are called {_name(one, path)!r}"[:200])
    return found


def _numbers(text: str, path: Path) -> Array:
    try:
        values = np.array(
            [float(one) for one in text.replace("_", "?").split()]
        )  # not Python's 1_0
    except ValueError:
        raise FileError(f"{path}: {text[:40]!r} needs numbers") from None
    if not np.all(np.isfinite(values)):
        raise FileError(f"{path}: {text[:40]!r} is not finite")
    return values


def _number(element: Element | None, key: str, path: Path) -> float:
    """An attribute; 0 where there is none."""
    values = _numbers("0" if element is None else element.get(key, "0"), path)
    if values.shape != (1,):
        raise FileError(f"{path}: {key} needs one number")
    return float(values[0])


def _vector(
    element: Element | None, key: str, default: tuple[float, float, float], path: Path
) -> Array:
    """An attribute of three numbers."""
    text = None if element is None else element.get(key)
    values = np.array(default) if text is None else _numbers(text, path)
    if values.shape != (3,):
        raise FileError(f"{path}: {key} needs three numbers, has {len(values)}")
    if np.abs(values).max() > LARGEST:
        raise FileError(f"{path}: {key} has the number {np.abs(values).max():g}; limit {LARGEST:g}")
    return values


def _origin(element: Element, path: Path) -> Placement:
    """<origin xyz rpy>: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = element.find("origin")
    angles = _vector(origin, "rpy", (0.0, 0.0, 0.0), path)
    turn = Rotation.from_euler("xyz", angles).as_matrix()
    return Placement(_vector(origin, "xyz", (0.0, 0.0, 0.0), path), turn)
