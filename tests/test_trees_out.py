"""Robots as trees of bodies for other programs: MJCF read by MuJoCo and Pinocchio, URDF by Pinocchio."""

from __future__ import annotations

import dataclasses
import itertools
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused, run
from cases.errors import refusal
from cases.families import draw, random_state
from gough.errors import FileError, InputError, MissingDataError
from gough.exchange.mjcf import IMPEDANCE, STEP, STIFF, mjcf
from gough.exchange.urdf import roll_pitch_yaw
from gough.legs.register import KINDS
from gough.mechanics.state import RIGID_FIELDS
from oracles.random_robot import random_robot

pin = pytest.importorskip("pinocchio", reason="pin is not installed")
closed_tree = pytest.importorskip("oracles.closed_tree")

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning"),
]
FAMILIES = [
    "6-UPS",
    "6-PUS",
    "6-RUS",
    "rotary Delta",
    "3-RPS",
    "3-SPR",
    "Tricept",
    "Exechon",
    "planar 3-RRR, driven last",
    "rotary wrist",
    "4-RUS schoenflies",
    "3-UPS + S",
    "3-RRRS",
    "planar 4-RRR",
]
EXACT = 1e-9
REFUSED = {"dietmaier-1998": "need the masses of"}


def loaded(path):
    """A file by MuJoCo, and the velocity columns of its actuators."""
    model = mujoco.MjModel.from_xml_path(str(path))
    return model, [int(model.jnt_dofadr[model.actuator_trnid[i, 0]]) for i in range(model.nu)]


def by_pinocchio(folder):
    """Both files by Pinocchio."""
    model, columns = loaded(folder / "robot.xml")
    tree = closed_tree.read_mjcf(str(folder / "robot.xml"))
    tree.columns = columns
    tree.model.gravity.linear = model.opt.gravity.copy()  # which its parser leaves out
    assert np.array_equal(tree.model.armature, model.dof_armature)
    names = [one.get("name") for one in ET.parse(folder / "robot.urdf").getroot()]
    assert len(set(names)) == len(names)  # links and joints: some readers ask by name alone
    sidecar = yaml.safe_load((folder / "robot.yaml").read_text())
    return tree, closed_tree.read_urdf(str(folder / "robot.urdf"), sidecar)


def assert_same_accelerations(robot, state, folder):
    robot.export_mjcf(folder / "robot.xml")
    robot.export_urdf(folder / "robot.urdf")
    motion = gough.Motion(**state)
    forces = np.random.default_rng(1).normal(0, 20, robot.actuator_count)
    found = robot.direct_dynamics(motion, forces, friction=False)
    wanted = np.concatenate([found.linear, found.angular])
    for tree in by_pinocchio(folder):
        off = tree.direct_dynamics(state, forces) - wanted
        assert np.abs(off).max() < EXACT * max(1.0, np.abs(wanted).max())


@pytest.mark.second_tier_from(4)
@pytest.mark.parametrize("name", FAMILIES)
def test_pinocchio_reads_the_same_robot(name, tmp_path):
    table, oracle = draw(name, 1)
    state = random_state(np.random.default_rng(2), oracle)
    assert_same_accelerations(gough.Robot.from_dict(table), state, tmp_path)


@pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
def test_legs_without_mass_are_carried_by_a_share_of_the_platform(kind, tmp_path):
    table = random_robot(np.random.default_rng(5), kind)
    bodies = KINDS[kind].numbers.BODIES
    table["legs"] |= {name: {} for name in bodies}
    robot = gough.Robot.from_dict(table)
    motion = robot.motion(
        np.concatenate([robot.home.position, np.zeros(3)]) + 0.02, 0.2 * np.ones(6), np.ones(6)
    )
    state = {field: getattr(motion, field) for field in RIGID_FIELDS}
    assert_same_accelerations(robot, state, tmp_path)
    model, _ = loaded(tmp_path / "robot.xml")
    assert model.body_mass.sum() == pytest.approx(robot.platform.mass, rel=1e-12)


def test_bodies_that_cannot_be_are_replaced_by_such_that_move_the_same(tmp_path):
    robot = gough.load("long-khalil-martinet-2014").rigid
    (note,) = robot.export_mjcf(tmp_path / "robot.xml")
    assert note.startswith("no real bodies are as cross, cylinder, rod: ")
    rates = np.array([0.1, -0.2, 0.3])
    place = robot.home.position + np.array([0.05, -0.02, 0.03])
    turn = Rotation.from_rotvec([0.1, 0.05, -0.1]).as_matrix() @ robot.home.rotation
    state = dict(zip(RIGID_FIELDS, (place, turn, rates, -rates, rates, rates), strict=True))
    assert_same_accelerations(robot, state, tmp_path)


def test_rounded_plates_are_raised_and_that_is_told(tmp_path):
    inertia = [[0.0123456, 0, 0], [0, 0.0234567, 0], [0, 0, 0.0358024]]
    robot = gough.load("plaza-hexaglide-2019")
    robot = robot.edited({"platform": {"mass": 5.0, "inertia": inertia}})
    (note,) = robot.export_mjcf(tmp_path / "robot.xml")
    assert note == "moments of inertia that rounding made impossible are raised: platform"
    model, _ = loaded(tmp_path / "robot.xml")
    assert model.body("platform").inertia.sum() == pytest.approx(0.0716047, abs=5e-7)


def test_a_platform_that_cannot_be_is_refused(tmp_path):
    robot = gough.load("plaza-hexaglide-2019")
    inertia = [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.05]]
    robot = robot.edited({"platform": {"mass": 5.0, "inertia": inertia}})
    with refusal(InputError, "platform", "mass"):
        robot.export_mjcf(tmp_path / "robot.xml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", gough.catalogue())
def test_every_catalogue_robot_stands_at_home_or_is_refused_by_name(name, tmp_path):
    robot, path = gough.load(name), tmp_path / "robot.xml"
    if name in REFUSED:
        with pytest.raises(MissingDataError, match=f"{name}: .*{REFUSED[name]}"):
            robot.export_mjcf(path)
        assert not list(tmp_path.iterdir())
        return
    robot.export_mjcf(path)
    model, _ = loaded(path)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    np.testing.assert_allclose(data.qpos, model.qpos0, atol=1e-15)
    home, deepest = data.qpos.copy(), 0.0
    for _ in range(40):
        mujoco.mj_step(model, data)
        deepest = max(deepest, float(np.abs(data.efc_pos[: data.ne]).max()))
    assert 0 < deepest < 1e-6  # m and rad; the promise is 1e-4 m
    assert np.abs(data.qpos - home).max() < 1e-5
    q = [data.sensor(f"leg{i + 1}_q").data[0] for i in range(robot.actuator_count)]
    assert q == pytest.approx(robot.inverse_kinematics(robot.home).q, abs=1e-6)


def test_the_stiffness_is_what_the_comment_says():
    """A joint gives by (1 − d)/d a t² where it would come apart with the acceleration a."""
    text = """<mujoco><option gravity="0 0 -9.81" timestep="{}"/><worldbody><body name="a">
    <joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body>
    </worldbody><equality><connect body1="a" anchor="0 0 0" solref="{} 1"
    solimp="{} {} 0.001 0.5 2"/></equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text.format(STEP, STIFF, IMPEDANCE, IMPEDANCE))
    data = mujoco.MjData(model)
    for _ in range(200):
        mujoco.mj_step(model, data)
    least = (1 - IMPEDANCE) * 9.81 * STIFF**2
    assert 0.5 * least < -data.qpos[0] < 1.5 * least


def test_mujoco_moves_as_gough_does(tmp_path):
    """From home with nine tenths of the forces that hold it, 0.1 s: off by what MuJoCo's step is.

    Its step is of first order: half the step, half the error.
    """
    robot = gough.load("plaza-hexaglide-2019")
    robot.export_mjcf(tmp_path / "robot.xml")
    model, _ = loaded(tmp_path / "robot.xml")
    ends = []
    for step in (STEP, STEP / 2):
        model.opt.timestep = step
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        data.ctrl *= 0.9
        for _ in range(round(0.1 / step)):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        ends.append(data.sensor("platform_pos").data.copy())
        assert np.abs(data.efc_pos[: data.ne]).max() < 1e-6  # m
    forces = 0.9 * robot.inverse_dynamics(robot.home, friction=False).forces
    fall = gough.simulate(
        robot,
        lambda *_: forces[np.newaxis],
        robot.home,
        0.1,
        friction=False,
        period=None,
        step=5e-3,
    )
    last = fall.motion.position[-1]
    away = np.linalg.norm(last - robot.home.position)
    first, second = (np.linalg.norm(end - last) for end in ends)
    assert away > 5e-4
    assert 0.4 < second / first < 0.6
    assert first < 0.01 * away


def test_what_is_left_out_is_told(tmp_path):
    found = run("export", "mjcf", "kim-ryu-2002", "-o", "kim.xml", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (0, "kim.xml\n")
    assert "note: friction that no joint of a tree has is there for gough alone" in found.stderr
    assert "spherical_coulomb" in (tmp_path / "kim.xml").read_text()
    found = run("export", "urdf", "long-khalil-martinet-2014", "-o", "l.urdf", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (0, "l.urdf\nl.yaml\n")
    assert "its 10 modes are left out" in found.stderr


def test_friction_that_fits_is_written():
    table = random_robot(np.random.default_rng(5), "UPS")
    rubs = {"slider_viscous": 3.0, "slider_coulomb": 2.0, "universal_viscous": 0.5}
    table["legs"]["friction"] = rubs
    table["legs"]["limits"] = {"stroke": [0.1, 9.0], "force": 70.0, "speed": 1.0}
    found = mjcf(gough.Robot.from_dict(table))
    model = mujoco.MjModel.from_xml_string(found.text)
    slide, hinge = model.joint("leg3_q3"), model.joint("leg3_q2")
    assert (slide.damping[0], slide.frictionloss[0], hinge.damping[0]) == (3.0, 2.0, 0.5)
    assert slide.range.tolist() == [0.1, 9.0]
    assert model.actuator("leg3").ctrlrange.tolist() == [-70.0, 70.0]
    assert found.notes == ("limits of speed are left out: MuJoCo has none",)


@pytest.mark.parametrize(
    "name", ["a <b> & \"c\" --> 'd'", "nul\x00 \x1b[31m \ud800 --", " \n\t", "é漢"]
)
def test_hostile_names_are_harmless(name, tmp_path):
    table = dict(random_robot(np.random.default_rng(5), "PUS")) | {"name": "plain"}
    robot = gough.Robot.from_dict(table)
    robot = dataclasses.replace(robot, file=robot.file.model_copy(update={"name": name}))
    robot.export_mjcf(tmp_path / "robot.xml")
    robot.export_urdf(tmp_path / "robot.urdf")
    mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    ET.parse(tmp_path / "robot.urdf")
    assert len(yaml.safe_load((tmp_path / "robot.yaml").read_text())["name_mot"]) == 6


@pytest.mark.filterwarnings("ignore:.*in <sensor>:gough.errors.ForeignFileWarning")
def test_meshes_come_along_and_back(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed (extra exchange)")
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    box.export(tmp_path / "a  box.stl")
    box.export(tmp_path / "box.glb")
    gough.load("plaza-hexaglide-2019").save(tmp_path / "robot.toml")
    mesh = {
        "file": "a  box.stl",
        "position": [0, 0, 0.2],
        "rotation_vector": [0.1, 0, 0],
        "scale": 2,
    }
    changes = {"legs.link.mesh": mesh, "legs.cross.mesh": "a  box.stl", "platform.mesh": "box.glb"}
    robot = gough.load(tmp_path / "robot.toml").edited(changes)
    (note,) = robot.export_mjcf(tmp_path / "robot.xml")
    assert note == "meshes that MuJoCo cannot read are left out: box.glb"
    assert robot.export_urdf(tmp_path / "robot.urdf") == ()
    model, _ = loaded(tmp_path / "robot.xml")
    assert (model.nmesh, sum(model.geom_dataid >= 0)) == (2, 12)
    wanted = {(one.leg, one.name): one.vertices for one in robot.meshes if one.name == "link"}
    for ending in ("xml", "urdf"):
        again = gough.load(tmp_path / f"robot.{ending}", platform="platform")
        found = {(one.leg, one.name): one.vertices for one in again.meshes if one.name == "link"}
        assert found.keys() == wanted.keys()
        for key, vertices in wanted.items():
            np.testing.assert_allclose(sorted_rows(found[key]), sorted_rows(vertices), atol=1e-9)
    (tmp_path / "a  box.stl").unlink()
    with refusal(FileError, "box.stl", "leg1_cross"):
        robot.export_mjcf(tmp_path / "lost.xml")
    assert not (tmp_path / "lost.xml").exists()


def sorted_rows(vertices):
    """Without doubles, in an order that rounding does not change."""
    return np.unique(np.round(vertices, 9), axis=0)


def test_a_kind_with_more_than_bodies_and_joints_is_refused(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Sprung(KINDS["PUS"].numbers):
        pass

    robot = gough.load("plaza-hexaglide-2019")
    legs = Sprung(**vars(robot.description.legs))
    group = robot.description.groups[0]._replace(legs=legs)
    parts = robot.description._replace(legs=legs, groups=(group,))
    robot = dataclasses.replace(robot, description=parts)
    with refusal(InputError, "PUS"):
        robot.export_mjcf(tmp_path / "robot.xml")


def test_roll_pitch_yaw_hold_at_a_right_angle():
    angles = (-np.pi, -np.pi / 2, -1.2, 0.0, 1e-9, 0.3, np.pi / 2)
    for given in itertools.product(angles, repeat=3):
        turn = Rotation.from_euler("xyz", given).as_matrix()
        found = Rotation.from_euler("xyz", roll_pitch_yaw(turn)).as_matrix()
        np.testing.assert_allclose(found, turn, atol=1e-15)


def test_bad_command_lines(tmp_path):
    assert "must end in .xml" in refused(
        "export", "mjcf", "kim-ryu-2002", "-o", "k.urdf", cwd=tmp_path
    )
    assert "need the masses" in refused(
        "export", "mjcf", "dietmaier-1998", "-o", "d.xml", cwd=tmp_path
    )
    refused("export", "urdf", "dietmaier-1998", "-o", "d.urdf", cwd=tmp_path)
    assert not list(tmp_path.iterdir())
