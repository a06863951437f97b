"""MJCF made harmless before MuJoCo sees it: what has to do with the mechanism, and no file names.

MuJoCo loads what a model names: included files, meshes, textures, height fields, other models, plugins.
It is given a text without any of them, and the meshes that inertias are computed from as bytes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from gough.base.files import content
from gough.errors import FileError
from gough.exchange.incoming.closing import MOST_BODIES, MOST_COORDINATES
from gough.exchange.incoming.mesh_names import named_mesh
from gough.exchange.incoming.xml_text import with_includes
from gough.exchange.mjcf import COORDINATES, OTHER_FRICTION
from gough.legs.meshes import MESHES

Element = ElementTree.Element
KEPT = {
    "compiler", "option", "default", "asset", "worldbody", "equality", "actuator", "keyframe",
    "custom",
}  # fmt: skip
SETTINGS = {"visual", "statistic", "size"}
"""Of a simulation and its pictures: nothing of the robot."""
SCENERY = {"camera", "light", "material", "texture", "skin"}
IN_BODIES = {"body", "frame", "joint", "freejoint", "inertial", "geom", "site", "replicate"}
IN_DEFAULTS = {
    "default", "joint", "geom", "site", "mesh", "equality", "general", "motor", "position",
    "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "pid", "dcmotor",
}  # fmt: skip
LOOPS = {"connect", "weld"}
HOME = "home"
"""Name of the keyframe that is the home posture, if there is one."""
POSE = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")
MOST_COPIES = 100
"""Of what <replicate> repeats."""
MOST_ELEMENTS = 10_000
"""That MuJoCo compiles, copies included."""
MOST_CLASSES = 500
"""Of defaults, which MuJoCo compares with each other."""
HIDDEN = 3
"""Groups of geometry from this one on are not shown: collision shapes."""
MESH_MEGABYTES = 40
"""Of all meshes that masses are computed from, as often as they are named."""
MARK = "gough:mesh:"
"""How sites begin that stand where a mesh is; its number and a colon follow, then what copies add."""


@dataclass
class HarmlessModel:
    """An MJCF text that names no file, and what was taken out of it."""

    root: Element
    left_out: Counter[str] = field(default_factory=Counter)
    files: dict[str, str] = field(default_factory=dict)
    """Mesh files by name of the mesh, relative to the folder."""
    drawn: list[str] = field(default_factory=list)
    """Name of the mesh at each site that marks one."""
    weighed: dict[str, bytes] = field(default_factory=dict)
    """Meshes that masses are computed from, by the file name that the text gives them."""

    @property
    def text(self) -> str:
        """For MuJoCo."""
        return ElementTree.tostring(self.root, encoding="unicode")


def harmless(path: Path, meshes: bool) -> HarmlessModel:
    """An MJCF file without what loads files; meshes are looked for unless they are not wanted."""
    root = with_includes(path)
    if root.tag != "mujoco":
        raise FileError(f"{path}: not MJCF: its first element is <{root.tag}>, not <mujoco>"[:200])
    _refuse_nan(root, path)
    _refuse_copies(root, path)
    found = HarmlessModel(root)
    folders = _compiler(root)
    from_geometry = any(one.get("inertiafromgeom") == "true" for one in root.iter("compiler"))
    others = [section for section in root if section.tag not in KEPT]
    _take_out(others, root)
    for section in others:
        if section.tag not in SETTINGS and len(section):
            found.left_out[f"in <{section.tag}>"] += len(section)
    _options(root)
    _custom(root)
    for section in root.iter("default"):
        _only(section, IN_DEFAULTS, found)
    classes = _classes(root, path)
    _assets(root, found, path, folders)
    wanted: set[str] = set()
    for world in root.findall("worldbody"):
        _bodies(world, None, True, from_geometry, classes, found, wanted, path)
    _sections(root, found)
    _refuse_many(root, path)
    _strip(root)
    _load(found, path, wanted, meshes)
    return found


def _take_out(gone: list[Element], parent: Element) -> None:
    """Remove children at once: one after the other takes time with the square of their number."""
    known = {id(one) for one in gone}
    parent[:] = [child for child in parent if id(child) not in known]


def _refuse_many(root: Element, path: Path) -> None:
    """More elements, copies included, than MuJoCo compiles soon."""

    def count(element: Element, times: int) -> None:
        if element.tag == "replicate":
            times *= int(element.get("count", ""))
        for child in element:
            moving[child.tag] += times
            count(child, times)

    others = sum(1 for section in root if section.tag != "worldbody" for _ in section.iter())
    moving: Counter[str] = Counter()
    for world in root.findall("worldbody"):
        count(world, 1)
    for many, most, what in (
        (others + moving.total(), MOST_ELEMENTS, "bodies, joints, shapes and the like"),
        (moving["body"], MOST_BODIES, "bodies"),
        (moving["joint"], MOST_COORDINATES, "joints"),
    ):
        if many > most:
            raise FileError(f"{path}: has {many} {what}; limit {most}")


def _refuse_copies(root: Element, path: Path) -> None:
    """Copies of copies, or too many."""
    for one in root.iter("replicate"):
        count = one.get("count", "")
        few = count.isdecimal() and len(count) < 6 and int(count) <= MOST_COPIES
        if not few or one.find(".//replicate") is not None:
            raise FileError(
                f"{path}: <replicate count={count[:20]!r}> in another, or over {MOST_COPIES} copies"
            )


def _refuse_nan(root: Element, path: Path) -> None:
    """Numbers that are none: MuJoCo takes them, and writes a log of its own beside."""
    for one in root.iter():
        for key, value in one.attrib.items():
            if key != "name" and any(
                word.strip("+-").lower().startswith("nan") for word in value.split()
            ):
                raise FileError(f"{path}: {key} of a <{one.tag}> is not a number"[:200])


def _compiler(root: Element) -> str:
    """The folder that meshes are in; names of folders are taken out, and ranges to be simulated."""
    folder = ""
    for one in root.iter("compiler"):
        one[:] = []
        assets = one.attrib.pop("assetdir", "")
        folder = one.attrib.pop("meshdir", assets) or folder
        one.attrib.pop("texturedir", None)
        if one.attrib.pop("strippath", "false") == "true":
            for mesh in root.iter("mesh"):
                if "file" in mesh.attrib:
                    mesh.set("file", PurePosixPath(mesh.get("file", "")).name)
    return folder


def _custom(root: Element) -> None:
    """Keep those numbers and texts for other programs that gough wrote."""
    for section in root.findall("custom"):
        section[:] = [
            entry
            for entry in section
            if (entry.tag == "numeric" and entry.get("name", "").startswith(OTHER_FRICTION))
            or (entry.tag == "text" and entry.get("name") == COORDINATES)
        ]
        for one in section:
            one.attrib.pop("size", None)  # zeros that nobody needs


def _options(root: Element) -> None:
    """Gravity is the only option that a robot has."""
    for one in root.findall("option"):
        one.attrib = {key: value for key, value in one.attrib.items() if key == "gravity"}
        one[:] = [child for child in one if child.tag == "flag" and "gravity" in child.attrib]
        for child in one:
            child.attrib = {"gravity": child.attrib["gravity"]}


def _only(section: Element, kept: set[str], found: HarmlessModel) -> None:
    """Take out other elements of a section; scenery is not worth a word in defaults."""
    others = [child for child in section if child.tag not in kept]
    _take_out(others, section)
    for child in others:
        if child.tag not in SCENERY | {"tendon", "pair"}:
            found.left_out[f"default/{child.tag}"] += 1


def _classes(root: Element, path: Path) -> dict[str, dict[str, str]]:
    """What classes of defaults say of geometry, what they inherit included."""
    found: dict[str, dict[str, str]] = {"main": {}}

    def read(one: Element, before: dict[str, str], name: str) -> None:
        own = found.setdefault(name, dict(before))
        if len(found) > MOST_CLASSES:
            raise FileError(f"{path}: has too many classes of defaults; limit {MOST_CLASSES}")
        for geometry in one.findall("geom"):
            own.update(geometry.attrib)
        for child in one.findall("default"):
            read(child, own, child.get("class", ""))

    for one in root.findall("default"):
        read(one, found["main"], one.get("class", "main"))
    return found


def _assets(root: Element, found: HarmlessModel, path: Path, folder: str) -> None:
    """Meshes alone stay, with names of their own in place of their files'."""
    for section in root.findall("asset"):
        gone: list[Element] = []
        for child in section:
            if child.tag == "model":
                raise FileError(f"{path}: names another model file, which is not read")
            if child.tag != "mesh":
                gone.append(child)
                if child.tag not in SCENERY:
                    found.left_out[f"asset/{child.tag}"] += 1
                continue
            _no_plugins(child, found)
            if "file" not in child.attrib:
                if "vertex" not in child.attrib:
                    gone.append(child)
                    found.left_out["mesh that MuJoCo makes"] += 1
                continue
            file = child.get("file", "")
            name = child.get("name") or PurePosixPath(file).stem
            child.set("name", name)
            child.attrib.pop("content_type", None)
            suffix = PurePosixPath(file).suffix.lower()
            child.set("file", f"mesh{len(found.files)}{suffix}")
            found.files[name] = str(PurePosixPath(folder) / file)
        _take_out(gone, section)


def _bodies(
    element: Element,
    inherited: str | None,
    weighs_nothing: bool,
    from_geometry: bool,
    classes: dict[str, dict[str, str]],
    found: HarmlessModel,
    wanted: set[str],
    path: Path,
) -> None:
    """Walk a body: mesh geometry becomes a site where it is, and stays where masses come from it."""
    inherited = element.get("childclass", inherited)
    gone: list[Element] = []
    for child in list(element):
        if child.tag == "attach":
            raise FileError(f"{path}: <attach> brings in another model, which is not read")
        if child.tag not in IN_BODIES:
            gone.append(child)
            if child.tag not in SCENERY:
                found.left_out[child.tag] += 1
            continue
        if child.tag == "site" and child.get("name", "").startswith(MARK):
            raise FileError(f"{path}: names of sites do not begin with {MARK!r}")
        if child.tag == "geom":
            if not _geometry(element, child, inherited, weighs_nothing, classes, found, wanted):
                gone.append(child)
        elif child.tag in ("body", "frame", "replicate"):
            light = weighs_nothing
            if child.tag == "body":
                light = child.find("inertial") is not None and not from_geometry
            _bodies(child, inherited, light, from_geometry, classes, found, wanted, path)
    _take_out(gone, element)


def _geometry(
    body: Element,
    one: Element,
    inherited: str | None,
    weighs_nothing: bool,
    classes: dict[str, dict[str, str]],
    found: HarmlessModel,
    wanted: set[str],
) -> bool:
    """Whether one geometry of a body stays: masses come from it."""
    said = classes.get(one.get("class") or inherited or "main", {}) | one.attrib
    if one.find("plugin") is not None or "hfield" in said:
        found.left_out["geom with a plugin or a height field"] += 1
        return False
    if "mesh" not in said:
        return not weighs_nothing
    moves = body.tag != "worldbody"
    if moves and said.get("type", "mesh") == "mesh" and not _hidden(said.get("group", "0")):
        pose = {key: said[key] for key in POSE if key in said}
        mark = ElementTree.SubElement(body, "site", pose)
        mark.set("name", f"{MARK}{len(found.drawn)}:")
        found.drawn.append(said["mesh"])
    if weighs_nothing or said.get("mass") == "0" or said.get("density") == "0":
        return False
    wanted.add(said["mesh"])
    return True


def _hidden(group: str) -> bool:
    return group.strip().isdecimal() and int(group) >= HIDDEN


def _sections(root: Element, found: HarmlessModel) -> None:
    """Loops, actuators on joints, and home positions are all that is read of these."""
    for section in root.findall("equality"):
        others = [child for child in section if child.tag not in LOOPS]
        _take_out(others, section)
        found.left_out.update(f"equality/{child.tag}" for child in others)
    for section in root.findall("actuator"):
        others = [
            child
            for child in section
            if not {"joint", "jointinparent"} & child.attrib.keys() or child.tag == "plugin"
        ]
        _take_out(others, section)
        found.left_out.update(f"actuator/{child.tag} without a joint" for child in others)
    for section in root.findall("keyframe"):
        section[:] = [key for key in section if key.get("name") == HOME]
        for key in section:
            key.attrib = {name: key.attrib[name] for name in ("name", "qpos") if name in key.attrib}


def _no_plugins(element: Element, found: HarmlessModel) -> None:
    plugins = element.findall("plugin")
    _take_out(plugins, element)
    found.left_out.update(child.tag for child in plugins)


def _strip(root: Element) -> None:
    """What refers to things that were taken out."""
    for one in root.iter():
        for key in ("material", "hfield", "user", "fluidshape", "fluidcoef", "delay", "nsample"):
            one.attrib.pop(key, None)


def _load(found: HarmlessModel, path: Path, wanted: set[str], meshes: bool) -> None:
    """Find all meshes that are drawn, and read those that masses are computed from."""
    folder = path.absolute().parent
    for name, file in found.files.items():
        if name not in wanted and not (meshes and name in found.drawn):
            continue
        source = named_mesh(folder, file, str(path), needed=name in wanted)
        if name in wanted:
            try:
                data = content(source, "mesh", MESH_MEGABYTES)
            except FileError as error:
                raise FileError(f"{source}: {error}") from None
            if len(data) + sum(map(len, found.weighed.values())) > 1e6 * MESH_MEGABYTES:
                raise FileError(
                    f"{path}: masses are computed from meshes of over {MESH_MEGABYTES} MB in all"
                )
            found.weighed[_given(found, name)] = data
    if not meshes:
        found.drawn = [""] * len(found.drawn)
    odd = {
        found.files[name]
        for name in found.drawn
        if name in found.files and PurePosixPath(found.files[name]).suffix.lower() not in MESHES
    }
    if odd:
        found.left_out[f"meshes that are not {', '.join(MESHES)}"] += len(odd)
    for section in found.root.findall("asset"):
        for mesh in section.findall("mesh"):
            if mesh.get("name") in found.files and mesh.get("name") not in wanted:
                mesh.set("file", "nothing.stl")


def _given(found: HarmlessModel, name: str) -> str:
    """The file name that the text gives a mesh."""
    return next(
        mesh.get("file", "") for mesh in found.root.iter("mesh") if mesh.get("name") == name
    )
