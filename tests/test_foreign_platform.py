"""Which body of another program's file is the platform, and what comes back with it.

Truths: where the hand-written files put their links; the numbers that a file was written with, read by
YAML libraries; MuJoCo's own clamping of forces.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gough
from gough.exchange.incoming.reading import read_foreign

pytest.importorskip("mujoco")
yaml = pytest.importorskip("yaml")

pytestmark = pytest.mark.usefixtures("on_numpy")
MASSES = [name for name in gough.catalogue() if not gough.load(name).missing]


def exported(robot: gough.Robot, path) -> tuple[str, ...]:
    write = robot.export_urdf if path.suffix == ".urdf" else robot.export_mjcf
    return write(path)


def edited(name: str) -> gough.Robot:
    """Return a rigid robot of the catalogue with a tool and with coordinates in another order."""
    robot = gough.load(name).rigid
    return robot.edited(
        {"tool": [0.1, -0.02, 0.3], "platform.coordinates": [*robot.coordinates[::-1]]}
    )


@pytest.mark.parametrize("ending", [".xml", ".urdf"])
@pytest.mark.parametrize("name", MASSES)
def test_frame_tool_and_coordinates_come_back_without_a_name_for_the_platform(
    name, ending, tmp_path
):
    robot, path = edited(name), tmp_path / f"robot{ending}"
    exported(robot, path)
    found = read_foreign(path, meshes=False)
    again = gough.Robot.from_text(found.text)
    assert found.platform == "platform"
    np.testing.assert_allclose(again.home.position, robot.home.position, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.home.rotation, robot.home.rotation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.description.tool, [0.1, -0.02, 0.3], rtol=0, atol=1e-12)
    assert again.coordinates == robot.coordinates
    push = [30.0, -20.0, -50.0, 1.0, 2.0, -3.0]
    wanted = robot.inverse_dynamics(robot.home, wrench=push, friction=False).forces
    forces = again.inverse_dynamics(robot.home, wrench=push, friction=False).forces
    signs = np.sign(wanted) * np.sign(forces)  # sliders of UPS legs may point either way
    np.testing.assert_allclose(signs * forces, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("ending", [".xml", ".urdf"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("legs.drive", {"stiffness": 2e6, "damping": 10.0}),
        ("legs.beams", {"modes": 1, "link": {"young": 2e11, "outer_diameter": 0.04}}),
        ("legs.limits.universal_angle", 0.6),
        ("legs.limits.spherical_angle", 0.6),
    ],
)
def test_what_is_not_written_is_named(key, value, ending, tmp_path):
    notes = exported(gough.load("kim-ryu-2002").edited({key: value}), tmp_path / f"robot{ending}")
    word = key.split(".")[-1]
    assert any(word in note for note in notes)


def urdf(links: dict[str, tuple[str, str, tuple[float, ...]]], masses: dict[str, float]) -> str:
    """Return a URDF text: per link its parent, the type of its joint about z, and its place there."""
    lines = ['<robot name="by hand">', '<link name="ground"/>']
    for name, (parent, kind, place) in links.items():
        mass = masses.get(name, 0.0)
        inertia = " ".join(f'{key}="{mass * 0.01}"' for key in ("ixx", "iyy", "izz"))
        inertial = (
            f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>' if mass else ""
        )
        xyz = " ".join(map(str, place))
        lines += [
            f'<link name="{name}">{inertial}</link>',
            f'<joint name="{name}_joint" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/></joint>',
        ]
    return "\n".join([*lines, "</robot>"])


BASES = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.9, 0.0]])
TIPS = np.array([[0.4, 0.2, 0.0], [0.6, 0.2, 0.0], [0.5, 0.4, 0.0]])
PLATE = np.array([0.5, 0.3, 0.0])


def planar(plate: str) -> tuple[str, dict[str, object]]:
    """Return a planar 3-RRR: each leg ends in a flange of its own, which a loop welds to the plate."""
    links, masses = {}, {plate: 2.0}
    for i, (base, tip) in enumerate(zip(BASES, TIPS, strict=True), start=1):
        elbow = (base + tip) / 2 + [0.05 * i, 0.1, 0]
        links[f"crank{i}"] = ("ground", "continuous", tuple(base))
        links[f"rod{i}"] = (f"crank{i}", "continuous", tuple(elbow - base))
        links[f"flange{i}"] = (f"rod{i}", "continuous", tuple(tip - elbow))
        links[f"mount{i}"] = (f"flange{i}", "fixed", (0.0, 0.0, 0.0))
        masses |= {f"crank{i}": 1.0, f"rod{i}": 1.0, f"flange{i}": 0.1}
    links[plate] = ("ground", "floating", tuple(PLATE))
    for i, tip in enumerate(TIPS, start=1):
        links[f"{plate}_corner{i}"] = (plate, "fixed", tuple(tip - PLATE))
    loops = {
        "closed_loop": [[f"mount{i}", f"{plate}_corner{i}"] for i in (1, 2, 3)],
        "type": ["6d"] * 3,
        "name_mot": [f"crank{i}_joint" for i in (1, 2, 3)],
    }
    return urdf(links, masses), loops


@pytest.mark.parametrize("plate", ["platform", "table"])
def test_the_frame_of_a_hand_written_robot_is_that_of_the_body_most_loops_close_on(plate, tmp_path):
    text, loops = planar(plate)
    (tmp_path / "robot.urdf").write_text(text)
    (tmp_path / "robot.yaml").write_text(yaml.safe_dump(loops))
    found = read_foreign(tmp_path / "robot.urdf")
    robot = gough.Robot.from_text(found.text)
    assert found.platform == plate
    np.testing.assert_allclose(robot.home.position, PLATE, rtol=0, atol=1e-12)
    assert robot.mobility == 3


def test_a_choice_between_bodies_alike_is_said(tmp_path):
    """Two legs whose ends are welded to each other: either end may be meant."""
    links = {
        "crank1": ("ground", "continuous", (0.0, 0.0, 0.0)),
        "end1": ("crank1", "continuous", (0.3, 0.4, 0.0)),
        "crank2": ("ground", "continuous", (1.0, 0.0, 0.0)),
        "rod2": ("crank2", "continuous", (0.1, 0.4, 0.0)),
        "end2": ("rod2", "continuous", (-0.3, 0.1, 0.0)),
        "corner": ("end1", "fixed", (0.5, 0.1, 0.0)),
    }
    (tmp_path / "robot.urdf").write_text(urdf(links, {name: 1.0 for name in links}))
    loops = {"closed_loop": [["end2", "corner"]], "type": ["6d"], "name_mot": ["crank1_joint"]}
    (tmp_path / "robot.yaml").write_text(yaml.safe_dump(loops))
    found = read_foreign(tmp_path / "robot.urdf", "end1")
    assert found.platform == "end1"
    with pytest.raises(gough.errors.FileError, match="which body is the platform"):
        read_foreign(tmp_path / "robot.urdf")


@pytest.mark.parametrize("library", ["yaml", "ruamel.yaml"])
def test_small_numbers_are_numbers_to_every_reader_of_yaml(library, tmp_path):
    """YAML 1.1 takes 1e-05 for a text: there a number needs a point."""
    robot = gough.load("kim-ryu-2002").edited({"legs.rotor_mass": 1e-05})
    robot.export_urdf(tmp_path / "robot.urdf")
    text = (tmp_path / "robot.yaml").read_text()
    if library == "yaml":
        table = yaml.safe_load(text)
    else:
        table = pytest.importorskip("ruamel.yaml").YAML(typ="safe").load(text)
    assert table["armature"] == [1e-05] * 6
    assert isinstance(table["export"], str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = gough.load(tmp_path / "robot.urdf")
    np.testing.assert_allclose(again.mechanism.legs.rotor[:, 0], 1e-05, rtol=1e-12)


MOTORS = [
    ('gear="1" forcerange="-4 4"', 4.0, False),
    ('gear="3" forcerange="-1 4"', 3.0, True),
    ('gear="-2" ctrlrange="-1 5"', 2.0, True),
    ('gear="2" ctrlrange="-3 3" forcerange="-2 2"', 4.0, False),
    ('gear="1" forcerange="0 7"', 7.0, True),
    ('gear="1"', None, False),
]


@pytest.mark.parametrize(("words", "force", "uneven"), MOTORS)
def test_forces_of_actuators_are_what_they_can_give_both_ways(words, force, uneven, tmp_path):
    """The truth is MuJoCo's: the force on the joint under controls of ±1e6."""
    import mujoco

    text = five_bar(f"<motor joint='crank1' {words}/><motor joint='crank2' gear='1'/>")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    ends = []
    for control in (-1e6, 1e6):
        data.ctrl[0] = control
        mujoco.mj_forward(model, data)
        ends.append(float(data.qfrc_actuator[model.joint("crank1").dofadr[0]]))
    least, greatest = sorted(ends)
    truth = min(-least, greatest) if least < 0 else greatest
    assert truth == pytest.approx(1e6 if force is None else force)
    (tmp_path / "robot.xml").write_text(text)
    found = read_foreign(tmp_path / "robot.xml", "coupler")
    limit = gough.Robot.from_text(found.text).description.limits.force[0]
    assert limit == (np.inf if force is None else pytest.approx(force))
    assert any("'crank1' is limited to" in note for note in found.told) == uneven


def test_the_narrower_range_of_a_joint_counts(tmp_path):
    text = five_bar(
        "<motor joint='crank1' gear='1' forcerange='-5 5'/><motor joint='crank2' gear='1'/>",
        "actuatorfrcrange='-1 9'",
    )
    (tmp_path / "robot.xml").write_text(text)
    found = read_foreign(tmp_path / "robot.xml", "coupler")
    assert gough.Robot.from_text(found.text).description.limits.force[0] == 1.0
    assert any("-1 … 5" in note for note in found.told)


def test_a_motor_without_gear_drives_nothing(tmp_path):
    text = five_bar("<motor joint='crank1' gear='0'/><motor joint='crank2' gear='1'/>")
    (tmp_path / "robot.xml").write_text(text)
    found = read_foreign(tmp_path / "robot.xml", "coupler")
    assert found.actuators == ("crank2",)
    assert any("gear of 0" in note for note in found.told)


def five_bar(motors: str, crank: str = "") -> str:
    """Return an MJCF text: two cranks, a coupler on the first, a rod on the second, one weld."""
    inertial = "<inertial pos='0 0 0' mass='1' diaginertia='.01 .01 .01'/>"
    return f"""<mujoco><compiler autolimits="true"/><worldbody>
      <body name="a">{inertial}<joint name="crank1" axis="0 0 1" {crank}/>
        <body name="coupler" pos="0.3 0.5 0">{inertial}<joint name="pin1" axis="0 0 1"/></body></body>
      <body name="b" pos="1 0 0">{inertial}<joint name="crank2" axis="0 0 1"/>
        <body name="rod" pos="0.1 0.5 0">{inertial}<joint name="pin2" axis="0 0 1"/>
          <body name="flange" pos="-0.4 0.2 0">{inertial}<joint name="pin3" axis="0 0 1"/></body>
      </body></body></worldbody>
      <equality><weld body1="coupler" body2="flange"/></equality>
      <actuator>{motors}</actuator></mujoco>"""


def test_a_name_too_long_for_the_system_is_refused(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco><include file="{"a" * 300}.xml"/></mujoco>')
    with pytest.raises(gough.errors.FileError, match="include 'aaa"):
        read_foreign(path)


def test_loops_that_are_a_link_out_of_the_folder_are_not_read(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: of somebody\n")
    folder = tmp_path / "robot"
    folder.mkdir()
    text, _ = planar("plate")
    (folder / "robot.urdf").write_text(text)
    (folder / "robot.yaml").symlink_to(secret)
    with pytest.raises(gough.errors.FileError, match="outside of the folder") as refusal:
        read_foreign(folder / "robot.urdf")
    assert "password" not in str(refusal.value)
