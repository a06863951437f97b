"""Files of other programs that are broken or mean harm: one clear line, and nothing written."""

from __future__ import annotations

import os

import pytest

from cases.command import refused, run
from cases.errors import refusal
from cases.mjcf import stewart
from gough.errors import FileError
from gough.exchange.incoming.mjcf_text import harmless
from gough.exchange.incoming.reading import read_foreign
from gough.exchange.incoming.xml_text import DEEPEST, parse_xml

pytest.importorskip("mujoco")

SECRET = "this must not be read"
MESH = '<asset><mesh name="m" file="{}"/></asset>'
SHAPE = '<geom type="mesh" mesh="m"/>'
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
WEIGHS = f'<body name="extra" pos="0 0 1">{SHAPE}</body>'
TREE = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size="1"/><body name="b" pos="1 0 0">
<joint name="k"/><geom size="1"/></body></body></worldbody></mujoco>"""


def with_mesh(file: str, shape: str = SHAPE) -> str:
    return stewart(MESH.format(file), extra=shape)


def with_attack(attack: str) -> str:
    return stewart().replace("<worldbody>", f"{attack}<worldbody>", 1)


ENTITY = f'<!DOCTYPE mujoco [<!ENTITY x SYSTEM "secret.xml">]>{stewart("&x;")}'
LAUGHS = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><mujoco>&b;</mujoco>'
FILES = {
    "an entity from a file": (ENTITY, "declares a document type or entities"),
    "entities in entities": (LAUGHS, "declares a document type or entities"),
    "an include above": (with_attack('<include file="../secret.xml"/>'), "outside of the folder"),
    "an absolute include": (with_attack('<include file="/etc/passwd"/>'), "outside of the folder"),
    "an include of itself": (with_attack('<include file="robot.xml"/>'), "again, or over 50"),
    "an include that is missing": (with_attack('<include file="no.xml"/>'), "is not there"),
    "an include through a link": (with_attack('<include file="link.xml"/>'), "outside of the folder"),
    "a mesh above": (with_mesh("../secret.stl"), "outside of the folder"),
    "an absolute mesh": (with_mesh("/etc/passwd"), "outside of the folder"),
    "a folder of meshes above": (
        with_mesh("secret.stl").replace("<compiler ", '<compiler meshdir=".." '),
        "outside of the folder",
    ),
    "a mesh that is missing": (with_mesh("no.stl"), "mesh 'no.stl' is not there; meshes can be left"),
    "a mass from a missing mesh": (with_mesh("no.stl", WEIGHS), "a mass is computed from it"),
    "a mesh that Git LFS keeps": (with_mesh("lfs.stl"), "git lfs pull"),
    "a broken mesh that weighs": (with_mesh("broken.stl", WEIGHS), "MuJoCo:"),
    "another model": (
        stewart('<asset><model name="x" file="../secret.xml"/></asset>'),
        "names another model file",
    ),
    "an attached model": (stewart(extra='<attach model="x" prefix="y"/>'), "<attach> brings in"),
    "a million copies": (
        stewart(extra='<replicate count="1000000"><geom size="1"/></replicate>'),
        "over 100 copies",
    ),
    "deep nesting": ("<mujoco>" + 200 * "<a>" + 200 * "</a>" + "</mujoco>", "nested deeper than 150"),
    "no XML": ("robot", "not XML"),
    "a web page": ("<html></html>", "its first element is <html>, not <mujoco>"),
    "a tree without loops": (TREE, "has no loop"),
    "nothing": ("", "not XML"),
    "a thousand joints": (
        stewart(extra=1000 * f"<body><joint/>{INERTIAL}</body>"),
        "joints; limit 300",
    ),
    "copies of copies": (
        stewart(extra=f'<replicate count="100">{200 * f"<body>{INERTIAL}</body>"}</replicate>'),
        "shapes and the like; limit 10000",
    ),
    "classes that MuJoCo compares": (
        stewart("<default>" + "".join(f'<default class="c{i}"/>' for i in range(600)) + "</default>"),
        "classes of defaults; limit 500",
    ),
    "loops for minutes": (
        stewart().replace("</equality>", 60 * '<connect site1="end0" site2="end1"/>' + "</equality>"),
        "loops; limit 60",
    ),
    "not a number": (stewart().replace("0.15", "nan", 1), "pos of a <inertial> is not a number"),
    "not a number of C's": (stewart().replace("0.15", "nan(1)", 1), "pos of a <inertial> is not"),
    "copies of a motor": (
        stewart().replace("</actuator>", '<motor><replicate count="x"/></motor></actuator>'),
        "<replicate count='x'> in another",
    ),
    "a mark of gough's own": (stewart(extra='<site name="gough:mesh:9"/>'), "do not begin with"),
    "friction without end": (stewart().replace('"2.0"', '"inf"'), "'leg0' is not finite, or over"),
    "an infinite mass": (stewart().replace('mass="9"', 'mass="inf"'), "or over 1e+12"),
    "an unknown element": (stewart("<compiler nonsense='1'/>"), "MuJoCo:"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("secret.xml", "secret.stl"):
        (tmp_path / name).write_text(f"<x>{SECRET}</x>")
    (inner / "lfs.stl").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (inner / "broken.stl").write_text("solid nothing\n")
    os.symlink(tmp_path / "secret.xml", inner / "link.xml")
    return inner


@pytest.mark.parametrize("name", FILES)
def test_one_line_and_nothing_written(name, folder):
    text, words = FILES[name]
    (folder / "robot.xml").write_text(text)
    before = sorted(folder.iterdir())
    said = refused("convert", "robot.xml", "-o", "robot.toml", cwd=folder)
    assert words in said
    assert SECRET not in said
    assert sorted(folder.iterdir()) == before


HARM = {
    "plugins": ('<extension><plugin plugin="mujoco.sdf.torus"/></extension>', "in <extension>"),
    "a texture": (
        '<asset><texture name="t" type="2d" file="/etc/passwd"/></asset>',
        None,
    ),
    "a height field": (
        '<asset><hfield name="h" file="/etc/passwd" size="1 1 1 1"/></asset>',
        "asset/hfield",
    ),
    "a skin": ('<asset><skin name="s" file="/etc/passwd"/></asset>', None),
    "endless memory": ('<size memory="1000G" nuser_body="1000000000"/>', None),
    "flexible bodies": (
        '<deformable><skin name="s" file="/etc/passwd"/></deformable>',
        "in <deformable>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARM)
def test_mujoco_never_sees_what_loads_or_grows(name, tmp_path):
    attack, listed = HARM[name]
    path = tmp_path / "robot.xml"
    path.write_text(stewart(attack))
    text = harmless(path, True).text
    for word in ("passwd", "plugin", "memory", "texture", "skin", "hfield", "include"):
        assert word not in text
    told = read_foreign(path).told
    assert listed is None or any(listed in one for one in told)


def test_includes_in_includes_are_not_endless(tmp_path):
    for i in range(40):
        deep = 100 * "<frame>" + f'<include file="{i + 1}.xml"/>' + 100 * "</frame>"
        (tmp_path / f"{i}.xml").write_text(f"<mujoco>{deep}</mujoco>")
    (tmp_path / "40.xml").write_text("<mujoco/>")
    assert "nested deeper than 150" in refused("convert", "0.xml", "-o", "a.toml", cwd=tmp_path)


def test_meshes_can_be_left_out(folder):
    (folder / "robot.xml").write_text(with_mesh("no.stl"))
    answer = run("convert", "robot.xml", "-o", "robot.toml", "--no-meshes", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert "mesh" not in (folder / "robot.toml").read_text()


def test_a_loop_that_does_not_close(tmp_path):
    apart = stewart().replace('name="tip0" pos="', 'name="tip0" pos="9')
    (tmp_path / "robot.xml").write_text(apart.replace('type="slide"', 'type="hinge"'))
    said = refused("convert", "robot.xml", "-o", "robot.toml", cwd=tmp_path)
    assert "does not close" in said
    assert "connect 0" in said
    assert not (tmp_path / "robot.toml").exists()


def test_an_unknown_platform(tmp_path):
    (tmp_path / "robot.xml").write_text(stewart())
    words = ("convert", "robot.xml", "-o", "robot.toml", "--platform")
    assert "the nearest is plate" in refused(*words, "plaet", cwd=tmp_path)
    assert "has no body, link or site" in refused(*words, "world", cwd=tmp_path)
    assert not (tmp_path / "robot.toml").exists()


@pytest.mark.parametrize(
    ("loops", "words"),
    [
        ("closed_loop: [['hand', 'no']]\ntype: ['6d']\n", "no link or joint 'no'"),
        ("closed_loop: [['hand', 'tip']]\ntype: ['5d']\n", "of type 3d or 6d"),
        ("closed_loop: [['hand', 'tip']]\ntype: ['6d', '6d']\n", "type has 2 entries, needs 1"),
        ("closed_loop: 3\n", "closed_loop needs a list"),
        ("closed_loop: [[1, 2]]\n", "pairs of frames"),
        ("a: &a [*a]\nclosed_loop: [*a]\n", "aliases"),
        ("closed_loop: !!python/object/apply:os.system ['touch harm']\n", "not YAML"),
        ("}{", "not YAML"),
        ("closed_loop: [] #" + 100_000 * "x", "has at most 0.1 MB"),
        ("joint_name: [[1]]\njoint_type: [SPHERICAL]\n", "joint_name has 1 entries"),
        ("home: [.nan, 0]\n", "home has 2 entries, needs 2 numbers below 1e+12"),
        ("gravity: [0, 0, 1e300]\n", "gravity has 3 entries"),
        ("other_friction: {a: {slider_coulomb: .inf}}\n", "other_friction needs tables of numbers"),
        ("a: !!int ''\n", "not YAML"),
        ("a: !!bool x\n", "not YAML"),
        ("a: !!timestamp x\n", "not YAML"),
        ("closed_loop: []\nclosed_loop: [['hand', 'tip']]\n", "has the key 'closed_loop' twice"),
        ("", "has no loop"),
    ],
)
def test_loops_of_a_urdf(loops, words, tmp_path):
    from test_incoming import five_bar  # the same robot

    five_bar(tmp_path, loops)
    before = sorted(tmp_path.iterdir())
    assert words in refused(
        "convert", "robot.urdf", "-o", "robot.toml", "--platform", "b", cwd=tmp_path
    ) or words in refused("convert", "robot.urdf", "-o", "robot.toml", cwd=tmp_path)
    assert sorted(tmp_path.iterdir()) == before


URDF = {
    "two roots": ('<robot><link name="a"/><link name="b"/></robot>', "2 links without a parent"),
    "a circle": (
        '<robot><link name="r"/><link name="a"/><link name="b"/>'
        '<joint name="x" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="y" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
        "run in a circle",
    ),
    "an unknown link": (
        '<robot><link name="a"/><joint name="x" type="fixed"><parent link="a"/><child link="b"/>'
        "</joint></robot>",
        "is no link",
    ),
    "no number": (
        '<robot><link name="a"><inertial><mass value="much"/></inertial></link></robot>',
        "needs numbers",
    ),
    "digits of Python's": (
        '<robot><link name="a"><inertial><mass value="1_0"/></inertial></link></robot>',
        "needs numbers",
    ),
    "not finite": (
        '<robot><link name="a"><inertial><mass value="nan"/></inertial></link></robot>',
        "is not finite",
    ),
    "an entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "/etc/passwd">]><robot>&x;</robot>', "entities"),
    "a mesh elsewhere": (
        '<robot><link name="r"/><link name="a"><visual><geometry><mesh filename="../secret.stl"/>'
        '</geometry></visual></link><joint name="x" type="fixed"><parent link="r"/><child link="a"/>'
        "</joint></robot>",
        "outside of the folder",
    ),
    "two links of one name": ('<robot><link name="a"/><link name="a"/></robot>', "called 'a'"),
    "a far place": (
        '<robot><link name="a"><inertial><origin xyz="0 0 1e200"/><mass value="1"/></inertial></link>'
        "</robot>",
        "xyz has the number 1e+200; limit 1e+12",
    ),
    "an inertia that rounds to none": (
        '<robot><link name="a"><inertial><mass value="1"/><inertia ixx="1e308"/></inertial></link>'
        "</robot>",
        "or over 1e+12",
    ),
    "xacro": ('<robot xmlns:xacro="x"><xacro:macro/></robot>', "a xacro file"),
    "MJCF": ("<mujoco/>", "not <robot>"),
}


@pytest.mark.parametrize("name", URDF)
def test_broken_urdf(name, folder):
    text, words = URDF[name]
    (folder / "robot.urdf").write_text(text)
    before = sorted(folder.iterdir())
    assert words in refused("convert", "robot.urdf", "-o", "robot.toml", cwd=folder)
    assert sorted(folder.iterdir()) == before


def test_other_endings_and_files(tmp_path):
    assert "ends in .xml or .urdf" in refused(
        "convert", "kim-ryu-2002", "-o", "a.toml", cwd=tmp_path
    )
    assert "no such file" in refused("convert", "no.xml", "-o", "a.toml", cwd=tmp_path)
    assert "must end in .toml" in refused("convert", "no.xml", "-o", "a.json", cwd=tmp_path)
    assert "no such file" in refused("show", "no.xml", cwd=tmp_path)


def test_depth_is_what_it_says():
    parse_xml((DEEPEST * b"<a>") + (DEEPEST * b"</a>"), "deep")
    with refusal(FileError, "nested", "deeper"):
        parse_xml(((DEEPEST + 1) * b"<a>") + ((DEEPEST + 1) * b"</a>"), "deep")
