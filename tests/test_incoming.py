"""Robots from MJCF and URDF as people write them, beside MuJoCo's own tree."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gough
from cases.closeness import assert_close
from cases.command import run
from cases.common import few_states
from cases.errors import refusal
from cases.mjcf import delta, stewart
from gough.errors import FileError, ForeignFileWarning
from gough.exchange.incoming.mjcf import read_mjcf
from gough.exchange.incoming.reading import read_foreign

pytest.importorskip("mujoco")

from oracles.mujoco_tree import MujocoTree

LEGS = tuple(f"leg{i}" for i in range(6))
MOTORS = tuple(f"motor{i}" for i in range(3))
HELD = ("table", "grip")


def robot_of(path, platform=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignFileWarning)
        return gough.load(path, platform, **options)


@few_states
@pytest.mark.parametrize(
    ("text", "driven", "held", "platform", "kind", "mobility"),
    [
        (stewart(), LEGS, (), "tool", "UPS", 6),
        (stewart(base="ball", anchors="bodies"), LEGS, (), "tool", "UPS", 6),
        (delta(), MOTORS, HELD, "centre", "RUS", 3),
    ],
    ids=["hinges", "balls", "parallelograms"],
)
def test_forces_are_those_of_mujocos_tree(text, driven, held, platform, kind, mobility, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(text)
    robot = robot_of(path, platform)
    assert (robot.kind, robot.mobility) == (kind, mobility)
    tree = MujocoTree(text, driven, held)
    for seed in range(2):
        state = tree.state(np.random.default_rng(seed), platform)
        motion = gough.Motion(*state[:6])
        assert_close(robot.inverse_dynamics(motion).forces, state.forces, 1e-9)


def test_what_comes_along(tmp_path):
    (tmp_path / "robot.xml").write_text(stewart())
    found = read_foreign(tmp_path / "robot.xml")
    robot = gough.Robot.from_text(found.text)
    assert found.platform == "plate"
    assert found.actuators == LEGS
    assert_close(robot.limits.force, np.full(6, 80.0), 1e-12)  # 40 by a gear of 2
    length = robot.inverse_kinematics(robot.home).q
    assert_close(robot.limits.longest, length + 0.25, 1e-12)
    assert_close(robot.file.legs.rotor_mass, 3.0, 1e-12)
    assert robot.file.legs.friction.slider_coulomb == 1.5
    assert robot.file.legs.friction.universal_viscous == 0.3
    assert_close(robot.platform.mass, 9.0, 1e-12)


def test_what_is_left_out_is_listed(tmp_path):
    more = '<custom><numeric name="n" data="1"/></custom>'
    text = stewart(
        more,
        extra='<body name="ball" pos="0 0 1"><joint name="dangles" type="hinge"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>',
    )
    text = text.replace(
        "</mujoco>",
        '<tendon><spatial name="rope"><site site="tool"/><site site="end0"/></spatial></tendon>'
        '<contact><exclude body1="plate" body2="upper0"/></contact>'
        '<sensor><jointpos joint="leg0"/></sensor></mujoco>',
    )  # fmt: skip
    text = text.replace("</equality>", '<joint joint1="leg0" joint2="leg1"/></equality>')
    text = text.replace("</actuator>", '<motor tendon="rope"/></actuator>')
    text = text.replace('name="u0" type="hinge"', 'name="u0" type="hinge" stiffness="3"')
    (tmp_path / "robot.xml").write_text(text)
    with pytest.warns(ForeignFileWarning) as caught:
        robot = gough.load(tmp_path / "robot.xml")
    said = str(caught[0].message)
    for words in (
        "in <tendon>",
        "in <contact>",
        "in <sensor>",
        "equality/joint",
        "actuator/motor without a joint",
        "springs of joints",
        "'dangles'",
    ):
        assert words in said
        assert any(words in one for one in robot.file.assumed)


@few_states
def test_a_loop_open_in_the_file_is_closed(tmp_path):
    text = stewart().replace('<joint name="u0"', '<joint name="u0" ref="0"')
    key = '<keyframe><key name="home" qpos="0.02 -0.01 0.82 1 0.02 0 0 {}"/></keyframe></mujoco>'
    text = text.replace("</mujoco>", key.format("0 0 0 " * 6))
    (tmp_path / "robot.xml").write_text(text)
    found = read_foreign(tmp_path / "robot.xml")
    assert found.gap[0] > 0.01
    assert found.gap[1] < 1e-12
    robot = gough.Robot.from_text(found.text)  # drives stay where the file has them
    plain = tmp_path / "plain.xml"
    plain.write_text(stewart())
    wanted = gough.Robot.from_text(read_foreign(plain).text)
    q = (one.inverse_kinematics(one.home).q for one in (robot, wanted))
    assert_close(next(q), next(q), 1e-9)


def test_a_weld_may_have_its_point_anywhere(tmp_path):
    load = '<body name="load" pos="0.1 0 1"><freejoint/><geom size="0.1"/></body></worldbody>'
    found = []
    for anchor in ("0 0 0", "0.1 0.2 0.3"):
        weld = f'<weld body1="plate" body2="load" anchor="{anchor}"/></equality>'
        text = stewart().replace("</worldbody>", load).replace("</equality>", weld)
        (tmp_path / "robot.xml").write_text(text)
        found.append(read_foreign(tmp_path / "robot.xml"))
    assert found[1].gap[0] < 1e-9
    first, second = (gough.Robot.from_text(one.text) for one in found)
    assert_close(first.platform.center_of_mass, second.platform.center_of_mass, 1e-9)


def test_copies_have_their_own_meshes(tmp_path):
    names = [f"m{i}.stl" for i in range(12)]
    meshes = "".join(f'<mesh name="{name}" file="{name}"/>' for name in names)
    shapes = "".join(f'<geom type="mesh" mesh="{name}"/>' for name in names)
    extra = f'<replicate count="2" offset="1 0 0">{shapes}</replicate>'
    for name in names:
        (tmp_path / name).write_bytes(b"solid")
    (tmp_path / "robot.xml").write_text(stewart(f"<asset>{meshes}</asset>", extra=extra))
    parts = read_mjcf(tmp_path / "robot.xml", meshes=True).parts
    drawn = next(one.meshes for one in parts if one.name == "plate")
    assert sorted(one.file for one in drawn) == sorted(2 * names)


URDF = """<robot name="five-bar">
<link name="ground"/>
{links}
<joint name="left" type="revolute"><origin xyz="0 0 0"/><parent link="ground"/><child link="a"/>
<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="5" velocity="3"/>
<dynamics damping="0.1" friction="0.2"/></joint>
<joint name="elbow_a" type="continuous"><origin xyz="0 1 0"/><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/></joint>
<joint name="right" type="continuous"><origin xyz="1 0 0"/><parent link="ground"/><child link="c"/>
<axis xyz="0 0 1"/></joint>
<joint name="elbow_c" type="continuous"><origin xyz="0 1 0"/><parent link="c"/><child link="d"/>
<axis xyz="0 0 1"/></joint>
<joint name="wrist" type="continuous"><origin xyz="0.5 0.5 0"/><parent link="b"/><child link="hand"/>
<axis xyz="0 0 1"/></joint>
<joint name="d_end" type="fixed"><origin xyz="-0.5 0.5 0"/><parent link="d"/><child link="tip"/></joint>
<link name="hand"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><link name="tip"/></robot>"""
LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0.2 0"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)


def five_bar(folder, loops="closed_loop: [['hand', 'tip']]\ntype: ['6d']\n"):
    links = "".join(LINK.format(one) for one in "abcd")
    (folder / "robot.urdf").write_text(URDF.format(links=links))
    (folder / "robot.yaml").write_text(f"{loops}name_mot: ['left', 'right']\n")
    return folder / "robot.urdf"


def five_bar_energy(left: float, right: float) -> float:
    """Potential energy of the five-bar above, its ends found by intersecting circles."""

    def turned(angle: float, x: float, y: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([c * x - s * y, s * x + c * y])

    start = np.array([1.0, 0.0])
    a, c = turned(left, 0, 1), start + turned(right, 0, 1)
    middle, apart = (a + c) / 2, c - a
    length = np.linalg.norm(apart)
    height = np.sqrt(0.5 - length**2 / 4)
    end = middle + height * np.array([-apart[1], apart[0]]) / length
    angles = [
        np.arctan2(*(end - one)[::-1]) - home for one, home in ((a, np.pi / 4), (c, 3 * np.pi / 4))
    ]
    centres = [
        turned(left, 0.1, 0.2), start + turned(right, 0.1, 0.2),
        a + turned(angles[0], 0.1, 0.2), c + turned(angles[1], 0.1, 0.2),
    ]  # fmt: skip
    return 9.81 * (2 * sum(one[1] for one in centres) + 0.5 * end[1])


@few_states
def test_a_urdf_with_gepettos_loops(tmp_path):
    path = five_bar(tmp_path)
    with refusal(FileError, "a"):
        read_foreign(path)
    robot = robot_of(path, "b")
    assert (robot.mobility, robot.actuator_count, robot.kind) == (2, 2, "chain + chain")
    force = robot.edited({"gravity": [0, -9.81, 0]}).inverse_dynamics(robot.home).forces
    step = 1e-5
    wanted = [
        (five_bar_energy(*ahead) - five_bar_energy(*(-ahead))) / (2 * step)
        for ahead in step * np.eye(2)
    ]
    assert_close(force, wanted, 1e-8)
    assert robot.limits.force[0] == 5.0
    assert robot.limits.speed[0] == 3.0


def test_convert_writes_what_load_gives(tmp_path):
    (tmp_path / "robot.xml").write_text(stewart())
    answer = run("convert", "robot.xml", "-o", "robot.toml", "--platform", "tool", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "platform tool, 6 legs (UPS), moves in 6 directions" in answer.stdout
    assert "q: leg0, leg1" in answer.stdout
    assert "q of UPS legs is their length" in answer.stderr
    written = gough.load(tmp_path / "robot.toml")
    read = robot_of(tmp_path / "robot.xml", "tool")
    assert written.text == read.text
    told = run("convert", "robot.xml", "-o", "b.toml", "--platform", "tool", "--json", cwd=tmp_path)
    assert '"mobility": 6' in told.stdout
