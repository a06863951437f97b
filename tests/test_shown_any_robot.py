"""What people see of any robot: joints and bodies in pictures, sheets, files, the studio."""

import io
import json
import warnings
from functools import cache

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure
from rich.console import Console

import gough
from cases.command import refused, run
from cases.errors import refusal
from cases.families import FAMILIES, draw, random_states
from gough.data.datasets import force_dataset, leg_dataset, write_dataset
from gough.data.leg_rates import platform_motion
from gough.data.logs import read_log, simulated_log, write_log
from gough.data.motion_files import read_motion
from gough.errors import FileError, InputError
from gough.legs.reading import actuator_names
from gough.model.frames import leg_frames
from gough.model.places import architecture, bodies, ground, placed_legs, tips
from gough.show import plots
from gough.show.layout import SceneLayout
from gough.show.pictures.views import home_bars, three_views
from gough.show.report.result import result_page
from gough.show.report.robot import robot_page
from gough.show.sheets.robot import print_sheet, sheet_numbers
from gough.show.solids import slab
from gough.studio.curves import panels
from gough.studio.motions import at_rest, offered
from gough.studio.pose import nearest_pose, pose_of, ranges, values_of
from gough.studio.tables import actuator_table, limit_table, load_table, summary

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.filterwarnings("ignore::gough.errors.FreedomWarning"),
]
each_family = pytest.mark.parametrize("name", FAMILIES)
SHOWN = ("rotary Delta", "3-RPS", "Tricept", "planar 3-RRR", "five-bar", "3-RRRS", "planar 4-RRR")
some_families = pytest.mark.parametrize("name", SHOWN)
MIXED = "mixed units"


@cache
def family(name):
    with warnings.catch_warnings(action="ignore"):
        return gough.Robot.from_dict(draw(name, 0)[0])


def states(name, count=4):
    return gough.Motion(**random_states(0, draw(name, 0)[1], count))


def swing(robot, samples=60):
    """A timed motion in the robot's own coordinates, and these."""
    start = np.concatenate([robot.home.position, np.zeros(3)])
    middle = start[[("x", "y", "z", "rx", "ry", "rz").index(one) for one in robot.coordinates]]
    time = np.linspace(0.0, 1.0, samples)
    angle = 2 * np.pi * time[:, np.newaxis] + np.arange(len(middle))
    u = middle + 0.03 * robot.length_scale * (np.sin(angle) - np.sin(np.arange(len(middle))))
    return time, u


def csv(robot, path, time, u):
    units = {True: "m", False: "rad"}
    heads = ["time [s]", *(f"{one} [{units[len(one) == 1]}]" for one in robot.coordinates)]
    rows = [",".join(map(repr, map(float, row))) for row in np.column_stack([time, u])]
    path.write_text("\n".join([",".join(heads), *rows]) + "\n", "utf-8")


@pytest.mark.second_tier_from(6)
@each_family
def test_legs_are_drawn_from_the_ground_to_the_platform(name):
    """Joints of a leg are as far apart as rigid bodies between them keep them, telescopes aside."""
    robot, motion = family(name), states(name)
    now = placed_legs(robot, motion, robot.inverse_kinematics(motion))
    home = placed_legs(robot, robot.home, robot.inverse_kinematics(robot.home))
    arm = tips(home) - robot.home.position
    turned = motion.rotation @ robot.home.rotation.T
    wanted = motion.position[:, np.newaxis] + np.einsum("nij,lj->nli", turned, arm)
    held = np.concatenate(
        [np.full(one.places.points.shape[-3], one.places.joints[-1] != "prismatic") for one in home]
    )
    np.testing.assert_allclose(tips(now)[:, held], wanted[:, held], atol=1e-7)
    for one, then in zip(now, home, strict=True):
        places = one.places
        foot = ground(robot, robot.inverse_kinematics(robot.home).q)[one.alike.which]
        if "prismatic" not in places.joints[:1] and one.alike.kind.name == "chain":
            np.testing.assert_allclose(places.points[:, :, 0], [foot[:, 0]] * 4, atol=1e-9)
        for i, (joint, following) in enumerate(zip(places.joints, places.joints[1:], strict=False)):
            if "prismatic" not in (joint, following) and one.alike.kind.name == "chain":
                apart = places.points[:, :, i + 1] - places.points[:, :, i]
                rest = then.places.points[:, i + 1] - then.places.points[:, i]
                found = np.linalg.norm(apart, axis=-1)
                np.testing.assert_allclose(found, [np.linalg.norm(rest, axis=-1)] * 4, atol=1e-7)
    for alike, bar in bodies(now, home, 1.0):
        assert bar.start.shape == bar.end.shape == (4, alike.legs.count, 3)
        assert np.isfinite(bar.start).all()
        assert np.isfinite(bar.end).all()


@pytest.mark.second_tier_from(6)
@each_family
def test_every_family_is_drawn_and_said(name):
    robot = family(name)
    assert isinstance(plots.draw(robot), Figure)
    assert len(three_views(robot).axes) == 3
    text = io.StringIO()
    print_sheet(robot, Console(file=text, width=80))
    said = text.getvalue()
    assert max(map(len, said.splitlines())) <= 80
    assert architecture(robot) in said
    assert f"by {robot.actuator_count} actuators" in said
    if robot.mobility < 6:
        assert f"in {robot.mobility} of 6 directions; coordinates" in said
        assert ("over-constrained" in " ".join(said.split())) == (not FAMILIES[name].unique)
    assert ("redundant" in said) == (robot.actuator_count > robot.mobility)
    numbers = sheet_numbers(robot)
    json.dumps(numbers)
    assert numbers["mobility"] == robot.mobility
    assert len(numbers["home"]["forces"]) == len(numbers["actuators"]) == robot.actuator_count
    assert numbers["home"]["errors"] == []


def test_what_sheets_call_legs():
    names = ("Tricept", "five-bar", "3-UPS + S", "6-UPS + SPR", "3-RRRS", "Exechon")
    assert [architecture(family(one)) for one in names] == [
        "3 UPS + 1 UP",
        "1 RR + 1 RRR",
        "1 S + 3 UPS",
        "6 UPS + 1 SPR",
        "3 RRRS",
        "2 UPR + 1 SPR",
    ]
    assert "; passive" in robot_page(family("Tricept")).html()
    assert actuator_names(family("3-RRRS").actuators)[2] == "leg 2 actuator 1"
    assert actuator_names(family("Tricept").actuators)[2] == "leg 3"


@some_families
def test_frames_move_as_they_say(name):
    robot, motion = family(name), states(name, 1)
    found = [(legs, frame) for legs, frames in leg_frames(robot, motion) for frame in frames]
    assert len(found) == sum(len(legs.BODIES) for legs, _ in leg_frames(robot, motion))
    energy = 0.0
    for legs, frames in leg_frames(robot, motion):
        for body, frame in zip(legs.named_bodies().values(), frames, strict=True):
            mass, moment = body.mass[:, 0], np.moveaxis(body.first_moment[..., 0], 0, -1)
            inertia = np.moveaxis(body.inertia[..., 0], -1, 0)
            own = np.einsum("nlji,nlj->nli", frame.axes, frame.omega)
            linear = np.einsum("nlji,nlj->nli", frame.axes, frame.velocity)
            energy += np.sum(mass * np.sum(linear**2, axis=-1)) / 2
            energy += np.sum(np.cross(own, moment) * linear)
            energy += np.einsum("nli,lij,nlj->", own, inertia, own) / 2
    rotors = np.sum(robot.mechanism.legs.rotor[:, 0] * robot.inverse_kinematics(motion).qd ** 2) / 2
    p = robot.description.platform
    spin, speed = (
        motion.rotation[0].T @ motion.angular_velocity[0],
        motion.rotation[0].T @ motion.velocity[0],
    )
    energy += p.mass[0, 0] * speed @ speed / 2 + np.cross(spin, p.first_moment[:, 0, 0]) @ speed
    energy += spin @ p.inertia[..., 0, 0] @ spin / 2 + rotors
    assert robot.energy(motion).kinetic[0] == pytest.approx(energy, rel=1e-9)


def mixed():
    """A planar robot with one linear and two rotary actuators."""
    revolute = {"type": "revolute", "axis": [0, 0, 1]}
    body = {"mass": 1.0, "inertia": np.eye(3).tolist()}
    legs = []
    for k, (angle, prismatic) in enumerate(((0.3, True), (2.4, False), (4.5, False))):
        foot = np.array([np.cos(angle), np.sin(angle), 0.0])
        tip = 0.2 * np.array([np.cos(angle + 0.2 * k), np.sin(angle + 0.2 * k), 0.0])
        knee = (foot + tip) / 2 + 0.3 * np.cross([0, 0, 1], foot)
        middle = (
            {"type": "prismatic", "axis": (tip - foot).tolist(), "point": foot.tolist()}
            if prismatic
            else revolute | {"point": knee.tolist()}
        )
        first = revolute | {"point": foot.tolist(), "actuated": not prismatic, "body": body}
        middle |= {"actuated": prismatic, "body": body}
        legs.append(
            {"kind": "chain", "joints": [first, middle, revolute | {"point": tip.tolist()}]}
        )
    return gough.Robot.from_dict(
        {"format": 1, "name": MIXED, "home": {"position": [0, 0, 0]}, "legs": legs,
         "gravity": [0, -9.81, 0], "platform": {"mass": 2.0, "inertia": np.eye(3).tolist()}}
    )  # fmt: skip


def test_actuators_with_their_own_units(tmp_path):
    robot = mixed()
    time, u = swing(robot)
    csv(robot, tmp_path / "m.csv", time, u)
    motion = read_motion(tmp_path / "m.csv", robot)
    legs, needed = robot.inverse_kinematics(motion), robot.inverse_dynamics(motion)
    found = leg_dataset(robot, motion, legs).merge(
        force_dataset(robot, motion, needed, reactions=robot.reactions(motion)),
        combine_attrs="drop_conflicts",
    )
    assert found["force"].attrs["units"] == "N, N m, N m"
    assert found["q_rate"].attrs["units"] == "m/s, rad/s, rad/s"
    assert found["force"].dims == ("time", "actuator")
    assert found["joint_force"].dims == ("time", "leg", "leg_joint", "axis")
    write_dataset(found, tmp_path / "f.csv")
    head = (tmp_path / "f.csv").read_text("utf-8").splitlines()[0].split(",")
    assert {"q1 [m]", "q2 [rad]", "force1 [N]", "force3 [N m]", "joint2_force_3_x [N]"} <= {*head}
    write_dataset(found, tmp_path / "f.nc")
    with xarray.open_dataset(tmp_path / "f.nc") as back:
        page = result_page(back.load()).html()
    assert "N or N m" in page
    curves = plots.force_curves(motion, needed, actuators=robot.actuators)
    assert [axes.get_ylabel() for axes in curves.axes] == [
        r"$\Gamma$ [N]",
        r"$\Gamma$ [N m]",
        "power [W]",
    ]
    bars = home_bars(robot, legs.q[0], needed.forces[0])
    assert [axes.get_xlabel()[-5:] for axes in bars.axes] == ["q [m]", "$ [N]", "[rad]", "[N m]"]
    shown = at_rest(robot, robot.home)
    assert " N m</td>" in actuator_table(shown, 0)
    assert [*panels(shown)][:2] == ["force [N]", "force [N m]"]
    assert " N, " in summary(shown, 0)
    assert "leg" in load_table(shown, 0)
    assert "no limits" in limit_table(shown, 0)
    with refusal(InputError, "names", "common"):
        plots.joint_curves(robot, motion, legs)


@some_families
def test_motions_in_the_robots_own_coordinates(name, tmp_path):
    robot = family(name)
    time, u = swing(robot)
    if robot.mobility == 6:
        return
    csv(robot, tmp_path / "m.csv", time, u)
    motion = read_motion(tmp_path / "m.csv", robot)
    np.testing.assert_allclose(robot.motion(u, time=time).position, motion.position, atol=1e-10)
    robot.inverse_dynamics(motion)  # all that the platform does is allowed
    (tmp_path / "bad.csv").write_text("time [s],rz [rad],x [m]\n0,0,0\n1,0,0\n", "utf-8")
    if {*robot.coordinates} != {"x", "rz"}:
        with pytest.raises(FileError, match=f"the coordinates of {robot.name}"):
            read_motion(tmp_path / "bad.csv", robot)


@pytest.mark.parametrize("name", ["3-RPS", "five-bar", MIXED])
def test_logs_of_robots_that_are_no_hexapods(name, tmp_path):
    robot = mixed() if name == MIXED else family(name)
    time, u = swing(robot)
    csv(robot, tmp_path / "m.csv", time, u)
    motion = read_motion(tmp_path / "m.csv", robot)
    log = simulated_log(robot, motion, rng=np.random.default_rng(0), resolution=0.0, noise=0.0)
    for path in (tmp_path / "log.csv", tmp_path / "log.nc"):
        write_log(log, path)
        np.testing.assert_array_equal(read_log(robot, path).forces, log.forces)
    legs = robot.inverse_kinematics(motion)
    back = platform_motion(robot, legs.q, legs.qd, legs.qdd, motion[0])
    np.testing.assert_allclose(back.position, motion.position, atol=1e-9)
    np.testing.assert_allclose(back.angular_velocity, motion.angular_velocity, atol=1e-8)
    np.testing.assert_allclose(back.acceleration, motion.acceleration, atol=1e-6)
    text = (tmp_path / "log.csv").read_text("utf-8")
    unit = robot.actuators[0].units
    (tmp_path / "bad.csv").write_text(text.replace(f"q1 [{unit.q}]", "q1 [kg]"), "utf-8")
    with refusal(FileError, "q1"):
        read_log(robot, tmp_path / "bad.csv")


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", ["3-RPS", "five-bar", "rotary Delta"])
def test_sliders_and_handles_do_what_the_platform_can(name):
    robot = family(name)
    layout = SceneLayout.of(robot)
    low, high = ranges(robot, layout.size)
    middle = values_of(robot, robot.home)
    assert middle.shape == (robot.mobility,)
    assert (low < middle).all()
    assert (middle < high).all()
    values = middle + 0.2 * (high - middle)
    pose = pose_of(robot, values)
    np.testing.assert_allclose(values_of(robot, pose), values, atol=1e-9)
    assert at_rest(robot, pose).reached.all()
    off = gough.Motion(pose.position + 0.01, pose.rotation)  # the handle goes anywhere
    assert at_rest(robot, nearest_pose(robot, off)).reached.all()
    names = [*offered(robot, layout, robot.name)]
    assert len(names) == robot.mobility + 1
    track = offered(robot, layout, robot.name)[names[0]]()
    assert track.record(robot, True).reached.all()


def test_a_platform_held_at_two_points_is_a_bar():
    mesh = slab(np.array([[0.0, 0, 0], [1.0, 0, 0]]), 0.01, 0.02)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([1.04, 0.02, 0.02], abs=1e-3)


@pytest.mark.second_tier
def test_commands_answer_or_say_why_not(tmp_path):
    robot = family("3-RPS")
    robot.save(tmp_path / "r.toml")
    time, u = swing(robot)
    csv(robot, tmp_path / "m.csv", time, u)
    for words in (
        ["show", "r.toml", "--json"],
        ["draw", "r.toml", "m.csv", "-o", "r.png"],
        ["report", "r.toml", "--motion", "m.csv", "-o", "r.html"],
        ["kinematics", "r.toml", "m.csv", "-o", "k.csv"],
        ["forces", "r.toml", "m.csv", "-o", "f.nc", "--contributions", "--reactions"],
        ["report", "f.nc", "-o", "f.html"],
    ):
        answer = run(*words, cwd=tmp_path)
        assert answer.returncode == 0, answer
    assert "rigid platform" in refused("modes", "r.toml", "-o", "m.png", cwd=tmp_path)
