"""RUS legs: what only cranks have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from cases.common import few_states
from cases.errors import refusal
from cases.exported import COMPILER, Exported
from cases.robots import rotary_hexapod
from gough import Motion, Robot
from gough.errors import FileError, ReachError
from oracles.random_robot import random_motion, random_robot


@few_states
def test_both_branches_reach_the_tip_with_their_own_crank():
    data = random_robot(np.random.default_rng(0), "RUS")
    state = random_motion(np.random.default_rng(1), data, (5,))
    motion = Motion(state["position"], state["rotation"])
    for branch in ("minus", "plus"):
        data["legs"]["branch"] = branch
        robot = Robot.from_dict(data)
        legs, parts = robot.inverse_kinematics(motion), robot.description.legs
        axis, zero = parts.motor_axis[..., 0].T, parts.e1[..., 0].T
        turn = Rotation.from_rotvec((legs.q[..., None] * axis).reshape(-1, 3))
        crank = turn.apply(np.tile(zero, (5, 1))).reshape(5, 6, 3)
        joint = parts.motor[..., 0].T + parts.crank_length * crank
        tips = robot.description.platform_points[..., 0].T @ np.swapaxes(motion.rotation, 1, 2)
        tips = tips + motion.position[:, None]
        assert_allclose(joint + parts.length * legs.direction, tips, atol=1e-14)
        lean = np.sum(np.cross(axis, crank) * legs.direction, axis=-1)
        assert np.all(lean > 0 if branch == "minus" else lean < 0)


@few_states
def test_angles_do_not_jump_along_time():
    """A crank that passes q = π: in (−π, π] as single states, continuous as a motion."""
    robot = Robot.from_dict(rotary_hexapod())
    back = (robot.inverse_kinematics(robot.home).q - np.pi)[:, None]
    parts = robot.description.legs
    turn = Rotation.from_rotvec(back * parts.motor_axis[..., 0].T)
    robot = robot.edited({"legs.crank_zero": turn.apply(parts.e1[..., 0].T).tolist()})
    time = np.linspace(0, 1, 41)
    rise = 0.05 * np.sin(2 * np.pi * time)
    position = robot.home.position + rise[:, None] * [0, 0, 1.0]
    single = robot.inverse_kinematics(Motion(position))
    motion = Motion(position, time=time)
    along = robot.inverse_kinematics(motion)
    assert np.abs(np.diff(single.q, axis=0)).max() > 6
    assert np.abs(np.diff(along.q, axis=0)).max() < 0.2
    assert np.all(np.abs(single.q) <= np.pi)
    assert_array_equal(along.joints[..., 0], along.q)
    assert_allclose(np.cos(along.joints), np.cos(single.joints), atol=1e-14)
    lost = Motion(np.where(np.arange(41)[:, None] == 20, 50.0, position), time=time)
    gap = robot.inverse_kinematics(lost, on_error="nan")
    assert np.isnan(gap.q[20]).all()
    assert_allclose(np.delete(gap.q, 20, 0), np.delete(along.q, 20, 0), atol=1e-14)


@few_states
def test_the_end_of_the_reach_and_dead_centres():
    robot = Robot.from_dict(rotary_hexapod())
    with refusal(ReachError, "leg 1"):
        robot.inverse_kinematics(Motion([0, 0, 2.0]))
    legs = rotary_hexapod()["legs"]
    for reach in (0.6, 0.4):  # crank and link in one line
        tips = np.array(legs["motor"]) + reach * np.array(legs["crank_zero"])
        flat = Robot.from_dict(rotary_hexapod(platform=tips.tolist()))
        short = np.array(legs["crank_zero"])[0] * (1e-9 if reach > 0.5 else -1e-9)
        with refusal(ReachError, "leg 1"):
            flat.inverse_kinematics(Motion(short))
        within = flat.leg_kind.geometry.stance(flat.description.legs, (tips - 2 * short)[None])
        assert 0 < np.abs(within.slope[0, 0]) < 1e-4


def test_what_a_file_may_not_say():
    wrong = {
        "crank_zero of leg 1 is along its motor_axis": {
            "crank_zero": [0.0, 0.0, 1.0],
            "motor_axis": [0.0, 0.0, 2.0],
        },
        "crank_length of leg 1 is not positive": {"crank_length": 0.0},
        "motor_viscous": {"friction": {"motor_viscos": 1.0}},
        "slider_viscous": {"friction": {"slider_viscous": 1.0}},
        "rotor_inertia": {"rotor_inertja": 1.0},
    }
    for words, changes in wrong.items():
        with pytest.raises(FileError, match=words):
            Robot.from_dict(rotary_hexapod(**changes))


@few_states
def test_axis_and_reference_have_the_defaults_of_the_motor():
    plain = Robot.from_dict(rotary_hexapod())
    legs = rotary_hexapod()["legs"]
    said = {"axis": legs["motor_axis"], "reference": legs["crank_zero"]}
    named = Robot.from_dict(rotary_hexapod(**said))
    pose = Motion([0.01, 0.02, 0.43], Rotation.from_rotvec([0.1, 0.05, -0.1]))
    found, expected = (one.inverse_kinematics(pose).joints for one in (plain, named))
    assert_allclose(found, expected, atol=1e-15)
    assert_array_equal(plain.description.legs.axis_on_crank[..., 0].T, [[0, 0, 1]] * 6)


@few_states
def test_a_rotor_adds_its_energy_and_nothing_else():
    data = random_robot(np.random.default_rng(2), "RUS")
    motion = Motion(**random_motion(np.random.default_rng(3), data))
    heavy = Robot.from_dict(data)
    light = heavy.edited({"legs.rotor_inertia": 0.0})
    legs, inertia = heavy.inverse_kinematics(motion), np.array(data["legs"]["rotor_inertia"])
    more = heavy.inverse_dynamics(motion).forces - light.inverse_dynamics(motion).forces
    assert_allclose(more, inertia * legs.qdd, atol=1e-10)
    one, other = heavy.energy(motion), light.energy(motion)
    assert one.kinetic - other.kinetic == pytest.approx(np.sum(inertia * legs.qd**2) / 2)
    assert one.potential == other.potential


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_exported_c_gives_the_same(tmp_path):
    data = random_robot(np.random.default_rng(4), "RUS") | {"name": "rotary"}
    robot = Robot.from_dict(data)
    state = random_motion(np.random.default_rng(5), data)
    motion, made_c = Motion(**state), Exported(robot, tmp_path)
    expected = robot.inverse_dynamics(motion).forces
    status, found = made_c("inverse_dynamics", state, None)
    assert status == 0
    assert_allclose(found[:6], expected, rtol=1e-10)
    status, found = made_c("direct_dynamics", state, expected, None)
    assert status == 0
    given = np.concatenate([state["acceleration"], state["angular_acceleration"]])
    assert_allclose(found[:6], given, rtol=1e-9, atol=1e-9)


def test_forward_kinematics_finds_the_pose_again_over_whole_turns():
    data = random_robot(np.random.default_rng(6), "RUS")
    robot = Robot.from_dict(data)
    state = random_motion(np.random.default_rng(7), data, (20,))
    pose = Motion(state["position"], state["rotation"])
    q = robot.inverse_kinematics(pose).q
    for turns in (0, 1, -2):
        found = robot.forward_kinematics(q + 2 * np.pi * turns, robot.home)
        assert_allclose(found.position, pose.position, atol=1e-10)
        assert_allclose(found.rotation, pose.rotation, atol=1e-10)
