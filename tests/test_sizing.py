"""Actuator sizing: integrals, screws, and worst cases against brute force over vertices and samples."""

import json
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.command import refused, run
from cases.common import each_kind, each_shape, few_states
from cases.errors import refusal
from cases.robots import rotary_hexapod_with_masses
from gough import Motion, Robot
from gough.data.motion_files import write_motion
from gough.data.paper_motions import paper_motion
from gough.errors import FileError, InputError, ReachError, SingularError
from gough.show.pictures.sizing import torque_speed
from gough.sizing import Drive, Region, integrals, size, worst_case, worst_in_region
from gough.sizing.bounds import extremes
from gough.sizing.table import requirements
from oracles.random_robot import random_motion, random_robot

pytestmark = few_states

CIRCLE = "kim-ryu-2002/circle-60rpm"


@pytest.fixture(scope="module")
def kim():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def circle():
    return paper_motion(CIRCLE).sample(401)


def machine(kind, seed=0, legs=6):
    data = random_robot(np.random.default_rng([seed, legs]), kind, legs)
    return Robot.from_dict(data), data


# integrals


def test_integrals_of_straight_pieces_are_exact():
    time = np.array([0.0, 1.0, 4.0])
    curve = np.array([[2.0], [-1.0], [5.0]])
    fine = np.linspace(0, 4, 400_001)
    y = np.interp(fine, time, curve[:, 0])
    assert_allclose(integrals.mean_square(time, curve), np.trapezoid(y * y, fine) / 4, rtol=1e-8)
    assert_allclose(integrals.mean_size(time, curve), np.trapezoid(abs(y), fine) / 4, rtol=1e-8)
    up, down = integrals.positive(time, curve), integrals.positive(time, -curve)
    assert_allclose(up, np.trapezoid(np.maximum(y, 0), fine), rtol=1e-8)
    assert_allclose(up - down, np.trapezoid(y, fine), rtol=1e-8)


def test_integrals_keep_nan():
    time, curve = np.arange(3.0), np.array([[1.0], [np.nan], [1.0]])
    for integral in (integrals.mean_square, integrals.mean_size, integrals.positive):
        assert np.isnan(integral(time, curve)).all()


# motions


def test_sizing_is_what_the_forces_say(kim, circle):
    found = size(kim, {"circle": circle})
    forces, legs = kim.inverse_dynamics(circle), kim.inverse_kinematics(circle)
    assert_array_equal(found.legs.peak_force[0], abs(forces.forces).max(axis=0))
    assert_array_equal(found.legs.peak_power[0], forces.power.max(axis=0))
    assert_array_equal(found.legs.stroke[0], np.ptp(legs.q, axis=0))
    mean = np.trapezoid(forces.forces**2, circle.time, axis=0) / found.duration[0]
    assert_allclose(found.legs.rms_force[0], np.sqrt(mean), rtol=1e-4)
    # energy put in less energy given back is the work done
    work = np.trapezoid(forces.power, circle.time, axis=0)
    assert_allclose(found.legs.energy[0] - found.legs.regenerated[0], work, atol=1e-9)


def test_the_work_over_a_closed_motion_without_friction_is_none(kim, circle):
    found = size(kim, circle, friction=False).legs
    assert abs(np.sum(found.energy - found.regenerated)) < 1e-4 * np.sum(found.energy)
    rubbing = size(kim, circle).legs
    assert np.sum(rubbing.energy - rubbing.regenerated) > 0.01 * np.sum(rubbing.energy)


def test_batches_of_motions_are_motions_of_their_own(kim, circle):
    both = Motion.stack([circle, paper_motion("kim-ryu-2002/circle-20rpm").sample(401)])
    found = size(kim, both)
    assert found.names == ("motion 1, 1", "motion 1, 2")
    for i in range(2):
        assert_array_equal(found.legs.rms_force[i], size(kim, both[i]).legs.rms_force[0])
    again = size(kim, both.reshape(2, 1, 401))
    assert_array_equal(again.legs.energy, found.legs.energy)
    assert found.worst()["peak_force"] == found.legs.peak_force.max()
    assert found.worst()["energy"] == pytest.approx(found.legs.energy.sum())


@pytest.mark.parametrize(
    "motions",
    [
        [],
        Motion([0, 0, 0.8]),
        Motion([[0, 0, 0.8]] * 5),
        Motion([[0, 0, 0.8]], time=[0.0]),
    ],
)
def test_motions_without_duration_are_refused(kim, motions):
    with refusal(InputError, "motion"):
        size(kim, motions)


# drives


def test_a_screw_with_the_rotor_of_the_file_does_the_same_work():
    """Without losses the motor's power is the actuator's, rotor mass or rotor inertia alike."""
    robot, data = machine("UPS")
    motion = Motion(**random_motion(np.random.default_rng(1), data, (50,)), time=np.arange(50.0))
    legs, act = robot.inverse_kinematics(motion), robot.inverse_dynamics(motion)
    rotor = robot.mechanism.legs.rotor[:, 0]
    motor = Drive(0.01).motor(act.forces, legs.qd, legs.qdd, rotor)
    assert_allclose(motor.power, act.power, rtol=1e-9, atol=1e-9)
    same = Drive(0.01, rotor_inertia=rotor * (0.01 / (2 * np.pi)) ** 2)
    again = same.motor(act.forces, legs.qd, legs.qdd, rotor)
    assert_allclose(again.torque, motor.torque, rtol=1e-9)
    bare = robot.edited({"legs.rotor_mass": 0.0})
    assert_allclose(motor.thrust, bare.inverse_dynamics(motion).forces, rtol=1e-8, atol=1e-8)


def test_losses_of_a_screw_take_power_both_ways():
    drive = Drive(0.005, 0.8)
    assert drive.driven == pytest.approx(0.75)
    force, rate = np.array([100.0, -100.0, 100.0]), np.array([0.2, 0.2, 0.0])
    motor = drive.motor(force, rate, np.zeros(3), np.zeros(3))
    assert_allclose(motor.power, [20 / 0.8, -20 * 0.75, 0])
    arm = 0.005 / (2 * np.pi)
    assert_allclose(motor.torque, arm * force * [1 / 0.8, 0.75, 1.0])
    assert_allclose(motor.speed, rate / arm)
    # a self-locking screw must be driven down as well
    locked = Drive(0.005, 0.4).motor(force, rate, np.zeros(3), np.zeros(3))
    assert locked.power[1] > 0


@pytest.mark.parametrize(
    ("numbers", "culprit"),
    [
        ({"lead": 0.0}, "lead"),
        ({"lead": np.nan}, "lead"),
        ({"lead": "thick"}, "lead"),
        ({}, "needs the lead of a screw or the ratio of a gear"),
        ({"lead": 0.01, "ratio": 3.0}, "needs the lead of a screw or the ratio of a gear"),
        ({"ratio": 0.0}, "ratio"),
        ({"lead": 0.01, "efficiency": 1.2}, "efficiency"),
        ({"lead": 0.01, "efficiency": [0.9, 0.0]}, "efficiency"),
        ({"lead": 0.01, "back_efficiency": 2.0}, "back_efficiency"),
        ({"lead": 0.01, "rotor_inertia": -1e-9}, "rotor_inertia"),
    ],
)
def test_drives_without_sense_are_refused(numbers, culprit):
    with pytest.raises(InputError, match=f"drive: {culprit}"):
        Drive(**numbers)


def test_a_gear_with_the_rotor_of_the_file_does_the_same_work():
    """Without losses the motor's power is the actuator's; a ratio of 1 is the crank's own torque."""
    robot, data = machine("RUS")
    motion = Motion(**random_motion(np.random.default_rng(1), data, (50,)), time=np.arange(50.0))
    legs, act = robot.inverse_kinematics(motion), robot.inverse_dynamics(motion)
    rotor = robot.mechanism.legs.rotor[:, 0]
    given = act.forces, legs.qd, legs.qdd, rotor
    direct, geared = Drive(ratio=1).motor(*given), Drive(ratio=25).motor(*given)
    assert_allclose(direct.torque, act.forces, rtol=1e-12, atol=1e-12)
    assert_allclose(direct.speed, legs.qd)
    assert_allclose(geared.power, act.power, rtol=1e-9, atol=1e-9)
    assert_allclose(geared.speed, 25 * legs.qd)
    again = Drive(ratio=25, rotor_inertia=rotor / 625).motor(*given)
    assert_allclose(again.torque, geared.torque, rtol=1e-9)
    bare = robot.edited({"legs.rotor_inertia": 0.0}).inverse_dynamics(motion)
    assert_allclose(geared.thrust, bare.forces, rtol=1e-8, atol=1e-8)
    lossy = Drive(ratio=25, efficiency=0.8, rotor_inertia=0.0).motor(*given)
    loss = np.where(geared.thrust * legs.qd > 0, 1 / 0.8, 0.75)
    assert_allclose(lossy.torque, geared.thrust * loss / 25)


@pytest.mark.parametrize(("kind", "drive"), [("RUS", Drive(0.01)), ("PUS", Drive(ratio=5))])
def test_a_screw_turns_no_crank_and_a_gear_pushes_no_slider(kind, drive):
    robot, data = machine(kind)
    motion = Motion(**random_motion(np.random.default_rng(1), data, (3,)), time=np.arange(3.0))
    region = worst_in_region(robot, Region(robot.home, [1e-3, 0, 0]))
    for ask in (lambda: size(robot, motion, drive), lambda: requirements(None, region, drive)):
        with pytest.raises(InputError, match=r"turn.*ratio|push.*lead"):
            ask()


def rotary():
    robot = Robot.from_dict(rotary_hexapod_with_masses())
    return robot, gough.trajectories.Circle(robot.home.position, 0.05, rpm=60).sample(51)


@pytest.mark.parametrize("drive", [Drive(0.01, rotor_inertia=1e-4), Drive(ratio=20)])
def test_inertia_ratio_is_what_an_accelerated_leg_feels(kim, circle, drive):
    """From the forces themselves: accelerate one leg, hold the others, and see its force change."""
    if drive.lead is None:
        kim, circle = rotary()
    found = size(kim, circle[:2], drive, friction=False)
    jacobian = kim.jacobian(circle[:2])
    felt = np.zeros((2, 6))
    for sample, leg in product(range(2), range(6)):
        unit = np.linalg.solve(jacobian[sample], np.eye(6)[leg])
        here = circle[sample]
        still = Motion(here.position, here.rotation)
        moved = still.replace(acceleration=unit[:3], angular_acceleration=unit[3:])
        change = kim.inverse_dynamics(moved, friction=False).forces
        felt[sample, leg] = (change - kim.inverse_dynamics(still, friction=False).forces)[leg]
    expected = felt.max(axis=0) * (0.01 / (2 * np.pi)) ** 2 / 1e-4
    if drive.lead is None:
        expected = (felt.max(axis=0) - 2e-3) / 2e-3  # both seen through the gear
    assert_allclose(found.inertia_ratio[0], expected, rtol=1e-9)


# worst cases


@pytest.mark.parametrize(("kind", "legs"), [("UPS", 6), ("PUS", 6), ("RUS", 6), ("UPS", 7)])
def test_accelerations_and_loads_are_exact_over_all_vertices(kind, legs):
    """The largest and least force over the 2¹² vertices of both boxes, by the inverse model."""
    robot, data = machine(kind, 3, legs)
    rng = np.random.default_rng(5)
    state = random_motion(rng, data)
    pose = Motion(state["position"], state["rotation"])
    acceleration = np.sort(rng.normal(size=(2, 6)), axis=0) * [[5.0]]
    load = np.sort(rng.normal(size=(2, 6)), axis=0) * [[200.0]]
    found = worst_case(robot, pose, acceleration=acceleration, load=load)
    corners = np.array(list(product((0, 1), repeat=12)))
    a = np.take_along_axis(acceleration, corners[:, :6], axis=0)
    w = np.take_along_axis(load, corners[:, 6:], axis=0)
    shaken = Motion(
        np.broadcast_to(pose.position, (4096, 3)),
        np.broadcast_to(pose.rotation, (4096, 3, 3)),
        acceleration=a[:, :3],
        angular_acceleration=a[:, 3:],
    )
    forces = robot.inverse_dynamics(shaken, w).forces
    scale = abs(forces).max()
    assert_allclose(found.push, forces.max(axis=0), atol=1e-10 * scale)
    assert_allclose(found.pull, -forces.min(axis=0), atol=1e-10 * scale)
    assert_allclose(found.force, abs(forces).max(axis=0), atol=1e-10 * scale)
    rates = robot.inverse_kinematics(shaken).qdd
    assert_allclose(found.acceleration, abs(rates).max(axis=0), rtol=1e-10)


@each_kind
def test_no_twist_of_the_box_needs_more_and_one_needs_as_much(kind):
    robot, data = machine(kind, 4)
    rng = np.random.default_rng(6)
    state = random_motion(rng, data)
    pose = Motion(state["position"], state["rotation"])
    bound = np.array([1.0, 1.5, 0.5, 2.0, 1.0, 3.0])
    found = worst_case(robot, pose, twist=bound)
    some = rng.uniform(-1, 1, (20_000, 6))
    some[::2] = np.clip(2.5 * some[::2], -1, 1)  # faces and vertices too
    twists = some * bound
    moving = Motion(
        np.broadcast_to(pose.position, (20_000, 3)),
        np.broadcast_to(pose.rotation, (20_000, 3, 3)),
        twists[:, :3],
        twists[:, 3:],
    )
    forces, legs = robot.inverse_dynamics(moving).forces, robot.inverse_kinematics(moving)
    tiny = 1e-9 * abs(forces).max()
    still = robot.inverse_dynamics(pose).forces
    for exact, sampled, rest in (
        (found.push, forces.max(axis=0), still),
        (found.pull, -forces.min(axis=0), -still),
        (found.acceleration, abs(legs.qdd).max(axis=0), 0.0),
    ):
        assert (exact >= sampled - tiny).all()
        assert (exact - sampled <= 0.25 * (sampled - rest) + tiny).all()
    assert_allclose(found.speed, abs(robot.jacobian(pose)) @ bound, rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_extremes_of_quadratic_forms_against_a_fine_grid(count):
    rng = np.random.default_rng(count)
    form = rng.normal(size=(40, count, count))
    form = form + np.swapaxes(form, 1, 2)
    form[0] = 0.0
    form[1] = np.ones((count, count))  # singular
    form[2] = -np.eye(count)
    low, high = -rng.uniform(0, 1, count), rng.uniform(0.1, 1, count)
    low[0] = 0.05  # a box without the origin
    least, largest = extremes(form, low, high)
    axes = [np.linspace(a, b, 61) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, count)
    values = np.einsum("ci,nij,cj->nc", points, form, points, optimize=True)
    assert (largest >= values.max(axis=1) - 1e-12).all()
    assert (least <= values.min(axis=1) + 1e-12).all()
    assert_allclose(largest, values.max(axis=1), atol=5e-3)
    assert_allclose(least, values.min(axis=1), atol=5e-3)


def test_extremes_of_forms_of_six_are_found_by_no_other_search():
    from scipy.optimize import minimize

    rng = np.random.default_rng(9)
    form = rng.normal(size=(3, 6, 6))
    form = form + np.swapaxes(form, 1, 2)
    bound = np.ones(6)
    _, largest = extremes(form, -bound, bound)
    for one, exact in zip(form, largest, strict=True):
        searched = max(
            -minimize(
                lambda x, q=one: -x @ q @ x,
                rng.uniform(-1, 1, 6),
                jac=lambda x, q=one: -2 * q @ x,
                bounds=[(-1, 1)] * 6,
            ).fun
            for _ in range(20)
        )
        assert exact == pytest.approx(searched, rel=1e-9)


@each_shape
def test_worst_case_keeps_the_batch_shape(kim, shape):
    poses = Motion(np.zeros((*shape, 3)) + kim.home.position)
    found = worst_case(kim, poses, acceleration=[1] * 6, twist=[0.1] * 6)
    assert found.push.shape == (*shape, 6)
    alone = worst_case(kim, kim.home, acceleration=[1] * 6, twist=[0.1] * 6)
    assert_array_equal(found.push, np.broadcast_to(alone.push, (*shape, 6)))


def test_poses_without_answer_are_named(kim):
    poses = Motion([[0, 0, 0.8], [0, 0, 9.0]])
    with refusal(ReachError, "sample 1"):
        worst_case(kim, poses, load=[1] * 6)
    found = worst_case(kim, poses, load=[1] * 6, twist=[1] * 6, on_error="nan")
    assert np.isfinite(found.push[0]).all()
    assert np.isnan(found.push[1]).all()
    # the base of the platform in the plane of the base joints: every leg lies flat
    ring = [[np.cos(a), np.sin(a), 0] for a in (0, 1, 2, 3, 4, 5)]
    plate = [[0.5 * np.cos(a), 0.5 * np.sin(a), 0] for a in (0.4, 0.6, 2.5, 2.7, 4.5, 4.7)]
    bodies = {name: {"mass": 1} for name in ("cross", "cylinder", "rod")}
    legs = {"kind": "UPS", "base": ring, "platform": plate}
    flat = Robot.from_dict(
        {"format": 1, "name": "flat", "home": {"position": [0, 0, 1]},
         "legs": legs | bodies | {"axis": [0.1, 0.2, 1]}, "platform": {"mass": 1}}
    )  # fmt: skip
    with pytest.raises(SingularError):
        worst_case(flat, Motion([0.0, 0, 0]), load=[1] * 6)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"load": [1] * 5}, ("bounds", "load")),
        ({"load": [-1] * 6}, (0,)),
        ({"twist": [[1] * 6, [0] * 6]}, ("above", "high")),
        ({"acceleration": [np.inf] * 6}, ("finite",)),
        ({"acceleration": "much"}, ("array", "numbers")),
    ],
)
def test_bounds_without_sense_are_refused(kim, bounds, message):
    with refusal(InputError, *message):
        worst_case(kim, kim.home, **bounds)


def test_a_region_is_no_better_than_any_of_its_poses(kim):
    region = Region(kim.home, [0.05, 0.05, 0.05], [0.0, 0.0, 0.1])
    bounds = {"acceleration": [5] * 6, "load": [100] * 6}
    found = worst_in_region(kim, region, **bounds)
    rng = np.random.default_rng(2)
    some = worst_case(kim, region.poses(rng.uniform(-1, 1, (500, 6)), kim), **bounds)
    for name in ("push", "pull", "speed", "acceleration"):
        assert (getattr(found.worst, name) >= getattr(some, name).max(axis=0)).all()
        there = worst_case(kim, found.at[name], **bounds)
        assert_allclose(np.diag(getattr(there, name)), getattr(found.worst, name))
    for bad in (Region(kim.home, [-1, 0, 0]), Region(kim.home[np.newaxis], [0.1, 0, 0])):
        with refusal(InputError, "region"):
            worst_in_region(kim, bad)


# tables, pictures, command


def test_a_table_with_a_margin(kim, circle, tmp_path):
    sizing = size(kim, {"a <circle>": circle}, Drive(0.01, 0.9, rotor_inertia=2e-4))
    table = requirements(sizing, margin=1.5)
    _, worst, wanted = table.rows()["peak_torque"]
    assert wanted == 1.5 * worst
    assert table.rows()["stroke"][2] is None
    for name in ("t.csv", "t.json", "t.html"):
        table.write(tmp_path / name)
    read = json.loads((tmp_path / "t.json").read_text())
    assert read["requirements"]["rms_torque"]["worst"] == sizing.motors.rms_torque.max()
    assert "a &lt;circle&gt;" in (tmp_path / "t.html").read_text()
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0].startswith("quantity,unit,leg 1")
    assert len(lines) == 1 + len(table.rows())
    with refusal(FileError, "end"):
        table.write(tmp_path / "t.xlsx")
    with refusal(InputError, "margin"):
        requirements(sizing, margin=0.0)
    axes = torque_speed(sizing, 1.5).axes[0]
    assert axes.get_xlabel() == "motor speed [rpm]"
    assert axes.get_ylim()[1] > 1.5 * worst
    with refusal(InputError, "drive"):
        torque_speed(size(kim, circle))


def test_what_never_pushes_pushes_with_nothing(kim, circle):
    hung = kim.edited({"gravity": [0, 0, 9.81]})
    for robot in (kim, hung):
        forces = robot.inverse_dynamics(circle).forces
        assert (forces < 0).all() or (forces > 0).all()
        found = size(robot, circle).legs
        one_way = np.where(forces.max() < 0, found.peak_push, found.peak_pull)
        assert_array_equal(one_way, 0)
        assert_array_equal(np.maximum(found.peak_push, found.peak_pull), found.peak_force)


def test_without_a_rotor_there_is_no_inertia_ratio(kim, circle):
    light = kim.edited({"legs.rotor_mass": 0.0})
    for drive, known in ((Drive(0.01), False), (Drive(0.01, rotor_inertia=1e-4), True)):
        rows = requirements(size(light, circle, drive)).rows()
        assert ("inertia_ratio" in rows) is known
        assert all(np.isfinite(value).all() for value, _, _ in rows.values())


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--lead", "0.01", "--efficiency", "0.9", "--margin", "1.3", "--shift", "0.02"]
    options += ["--acceleration", "5", "--twist", "0.5,0.5,0.5,0,0,0"]
    files = ["-o", "s.json", "--plot", "s.png"]
    result = run("size", "kim-ryu-2002", CIRCLE, *options, "--samples", 51, *files)
    assert result.returncode == 0, result.stderr
    assert "peak motor torque" in result.stdout
    assert (tmp_path / "s.png").stat().st_size > 10_000
    read = json.loads((tmp_path / "s.json").read_text())["requirements"]
    assert read["worst_torque"]["with_margin"] == pytest.approx(1.3 * read["worst_torque"]["worst"])
    assert "…" not in result.stdout


def test_the_command_sizes_a_rotary_hexapod(tmp_path):
    """Torques in N m and speeds in rad/s, behind a gear; a motor that is too small is said."""
    robot, motion = rotary()
    robot.save(tmp_path / "rotary.toml")
    write_motion(motion, tmp_path / "circle.csv")
    options = ["--ratio", "20", "--efficiency", "0.8", "--rotor-inertia", "5e-6", "--margin", "1.3"]
    motor = ["--rated-torque", "1", "--peak-torque", "0.01", "--top-speed", "6000"]
    region = ["--shift", "0.01", "--acceleration", "2", "--twist", "0.1"]
    files = ["-o", "s.json", "--plot", "s.png"]
    words = ["size", "rotary.toml", "circle.csv", *options, *motor, *region, *files]
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    read = json.loads((tmp_path / "s.json").read_text())
    rows = read["requirements"]
    units = {"stroke": "rad", "peak_speed": "rad/s", "peak_force": "N m", "peak_thrust": "N m"}
    units |= {"worst_force": "N m", "worst_speed": "rad/s", "peak_torque": "N m"}
    assert {name: rows[name]["unit"] for name in units} == units
    assert read["drive"]["ratio"] == 20
    assert "lead" not in read["drive"]
    found = size(robot, motion, Drive(ratio=20, efficiency=0.8, rotor_inertia=5e-6))
    assert rows["peak_motor_speed"]["worst"] == pytest.approx(found.motors.peak_motor_speed.max())
    largest = max(rows["peak_torque"]["worst"], rows["worst_torque"]["worst"])
    assert rows["peak_torque_share"]["worst"] == pytest.approx(largest / 0.01)
    assert rows["rated_torque_share"]["with_margin"] < 1
    assert result.stderr.count("motor too small") == 1
    assert "largest : peak torque of the motor" in result.stderr
    for wrong in (["--lead", "0.01"], ["--ratio", "20", "--top-speed", "-1"]):
        refused("size", "rotary.toml", "circle.csv", *wrong, cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a motion or a region"),
        ([CIRCLE, "--ratio", "3"], "actuators push"),
        ([CIRCLE, "--top-speed", "3000"], "--ratio"),
        ([CIRCLE, "-o", "s.pdf"], "must end in"),
        ([CIRCLE, "--plot", "s.png"], "--lead"),
        ([CIRCLE, "--lead", "-1"], "lead"),
        (["--load", "1,2"], "--load has 2 numbers"),
        (["--load", "heavy"], "needs numbers"),
        ([CIRCLE, "--margin", "-1"], "margin"),
    ],
)
def test_the_command_refuses(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("size", "kim-ryu-2002", *arguments)
