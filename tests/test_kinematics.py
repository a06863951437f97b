"""Inverse kinematics: the papers' numbers, finite differences, Pinocchio, batches, bad poses."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.closeness import assert_close
from cases.common import (
    LEG_KINDS,
    each_kind,
    each_shape,
    few_states,
    impossible_bodies,
    kinds,
    repeatable,
    seeds,
)
from cases.errors import refusal
from gough import Motion, Robot
from gough.errors import InputError, NotFiniteError, ReachError, SampleError, SingularError
from oracles import opened_tree
from oracles.random_robot import one_state, random_motion, random_robot

LEG_FIELDS = (
    "q", "qd", "qdd", "joints", "joint_rates", "joint_accelerations",
    "direction", "link_angular_velocity", "link_angular_acceleration",
)  # fmt: skip
tried = settings(repeatable, max_examples=40)
any_robot = given(seeds, kinds, st.integers(3, 8))
pytestmark = [impossible_bodies, few_states]  # many robots are met once each


def sample(seed, kind, legs=6, shape=(5,)):
    """A random robot and states of it, for the library and as the oracles take them."""
    rng = np.random.default_rng([seed, LEG_KINDS.index(kind), legs])
    data = random_robot(rng, kind, legs)
    states = random_motion(rng, data, shape)
    return data, Robot.from_dict(data), states


def wrapped(angle):
    """An angle difference in [−π, π)."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def later(states, time):
    """States a short time on at constant accelerations, to second order."""
    omega, alpha = states["angular_velocity"], states["angular_acceleration"]
    turn = Rotation.from_rotvec(omega * time + alpha * time**2 / 2).as_matrix()
    moved = states["velocity"] * time + states["acceleration"] * time**2 / 2
    return Motion(
        states["position"] + moved,
        turn @ states["rotation"],
        states["velocity"] + states["acceleration"] * time,
        omega + alpha * time,
    )


def test_joint_values_of_long_at_home():
    robot = gough.load("long-khalil-martinet-2014")
    table_4 = [
        [-1.671, -1.373, -2.016, -1.958, -1.656, -1.936],
        [1.767, 1.764, 1.814, 1.859, 1.389, 1.345],
        [1.025, 1.039, 1.142, 1.126, 1.0203, 1.099],
    ]
    joints = robot.inverse_kinematics(robot.home).joints
    assert_allclose(joints, np.transpose(table_4), rtol=0, atol=6e-4)

    # the printed values carried forward: P = B + q3 z3, z3 = (c1 s2, −c2, −s1 s2) in Σ0i, which is
    # turned about z by the angle of B1 → Bi
    q1, q2, q3 = np.array(table_4)
    turns = np.deg2rad([0, 0, 26.565, 53.130, 105.255, 138.814])
    base = [[0.1, 0.3, 1.3, 1.0, -0.2, -0.7], [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5], [0.0] * 6]
    z3 = np.array([np.cos(q1) * np.sin(q2), -np.cos(q2), -np.sin(q1) * np.sin(q2)])
    c, s = np.cos(turns), np.sin(turns)
    tips = base + q3 * np.array([c * z3[0] - s * z3[1], s * z3[0] + c * z3[1], z3[2]])
    center = np.array([[0.25], [0.4330127], [1.0]])
    angles = np.deg2rad(-120 + 60 * np.arange(6))
    hexagon = center + 0.5 * np.array([np.cos(angles), np.sin(angles), 0 * angles])
    assert_allclose(tips, hexagon, rtol=0, atol=7e-4)
    held = robot.home.position[:, None] + robot.description.platform_points[..., 0]
    assert_allclose(tips, held, rtol=0, atol=7e-4)


def test_geometry_of_sinatra_closes():
    robot = gough.load("sinatra-xi-staicu-2009")
    L0, l0, l3, alpha0, gamma = 0.6, 0.3, 0.5, np.pi / 36, np.pi / 4
    sides = [2 * radius * np.sin(np.pi / 3 - alpha0) for radius in (L0, l0)]
    l1 = (sides[0] - sides[1]) / (2 * np.cos(gamma))
    beta0 = np.arcsin((L0 - l0) / l1)
    beta = np.arcsin(2 * l0 / l3 * np.sin(np.pi / 6 - alpha0))
    h = l1 * np.cos(beta0) + l3 * np.cos(beta)
    assert_allclose([l1, h], [0.347537, 0.606379], rtol=0, atol=5e-7)
    assert_allclose(np.rad2deg([beta0, beta]), [59.680, 30.474], rtol=0, atol=5e-4)
    assert robot.home.position[2] == pytest.approx(h, abs=1e-14)

    legs = robot.inverse_kinematics(robot.home)
    assert_allclose(legs.q, 0, atol=1e-12)
    assert_allclose(legs.direction[:, 2], np.cos(beta), atol=1e-12)
    at = np.deg2rad([5, 115, 125, -125, -115, -5])
    outward = np.stack([np.cos(at), np.sin(at), 0 * at], axis=-1)
    rail = -np.sin(beta0) * outward + np.cos(beta0) * np.array([0, 0, 1])
    on_platform = np.deg2rad([55, 65, 175, 185, -65, -55])
    tips = l0 * np.stack([np.cos(on_platform), np.sin(on_platform), 0 * at], axis=-1)
    ends = L0 * outward + (l1 + legs.q[:, None]) * rail + l3 * legs.direction
    assert_allclose(ends, tips + np.array([0, 0, h]), rtol=0, atol=1e-12)


def assert_agrees_with_pinocchio(data, robot, states):
    found = robot.inverse_kinematics(Motion(**states))
    jacobian = robot.jacobian(Motion(**states))
    for i in range(len(found.q)):
        state = one_state(states, i)
        tree = opened_tree.leg_coordinates(data, state)
        angles = {"UPS": (0, 1), "PUS": (1, 2), "RUS": (0, 1, 2)}[robot.kind]
        apart = found.joints[i] - tree.joints
        apart[:, angles] = wrapped(apart[:, angles])
        assert_allclose(apart, 0, atol=1e-10)
        assert_close(found.joint_rates[i], tree.rates, 1e-10)
        assert_close(found.joint_accelerations[i], tree.accelerations, 1e-10)
        for name in ("q", "qd", "qdd", *LEG_FIELDS[6:]):
            assert_close(getattr(found, name)[i], getattr(tree, name), 1e-10)
        assert_close(jacobian[i], opened_tree.jacobian(data, state), 1e-10)


@tried
@any_robot
def test_everything_agrees_with_pinocchio(seed, kind, legs):
    assert_agrees_with_pinocchio(*sample(seed, kind, legs, (2,)))


@each_kind
def test_compiled_answers_agree_with_pinocchio(kind, compiled):
    assert_agrees_with_pinocchio(*sample(1, kind, 5, (2,)))


@tried
@any_robot
def test_rates_and_accelerations_are_derivatives(seed, kind, legs):
    _, robot, states = sample(seed, kind, legs)
    step = 1e-5
    before, after = (robot.inverse_kinematics(later(states, t)) for t in (-step, step))
    now = robot.inverse_kinematics(Motion(**states))

    def slope(name):
        return (getattr(after, name) - getattr(before, name)) / (2 * step)

    assert_close(wrapped(after.joints - before.joints) / (2 * step), now.joint_rates, 1e-6)
    assert_close(slope("joint_rates"), now.joint_accelerations, 1e-6)
    assert_close(slope("q"), now.qd, 1e-6)
    assert_close(slope("qd"), now.qdd, 1e-6)
    assert_close(slope("direction"), np.cross(now.link_angular_velocity, now.direction), 1e-6)
    assert_close(slope("link_angular_velocity"), now.link_angular_acceleration, 1e-6)


@tried
@any_robot
def test_jacobian_is_the_derivative_of_q(seed, kind, legs):
    _, robot, states = sample(seed, kind, legs, ())
    motion, step = Motion(**states), 1e-6
    columns = []
    for k in range(6):
        shift = np.eye(6)[k] * step
        ends = [
            robot.inverse_kinematics(
                Motion(
                    motion.position + sign * shift[:3],
                    Rotation.from_rotvec(sign * shift[3:]).as_matrix() @ motion.rotation,
                )
            ).q
            for sign in (-1, 1)
        ]
        columns.append((ends[1] - ends[0]) / (2 * step))
    jacobian = robot.jacobian(motion)
    assert_close(np.stack(columns, axis=-1), jacobian, 1e-6)
    twist = np.concatenate([motion.velocity, motion.angular_velocity])
    assert_close(jacobian @ twist, robot.inverse_kinematics(motion).qd, 1e-13)


@each_kind
def test_the_link_does_not_turn_about_the_third_direction_of_its_universal_joint(kind):
    _, robot, states = sample(0, kind, 6, (50,))
    legs = robot.inverse_kinematics(Motion(**states))
    axis, turning = robot.description.legs.axis[..., 0].T, legs.link_angular_velocity
    if kind == "RUS":  # the crank carries the joint
        motor = robot.description.legs.motor_axis[..., 0].T
        by = (legs.q[..., np.newaxis] * motor).reshape(-1, 3)
        axis = Rotation.from_rotvec(by).apply(np.tile(axis, (50, 1))).reshape(turning.shape)
        turning = turning - legs.qd[..., np.newaxis] * motor
    forbidden = np.cross(axis, np.cross(axis, legs.direction))  # axis × second axis
    turning = np.sum(forbidden * turning, axis=-1)
    assert_allclose(turning, 0, atol=1e-13)


def test_both_branches_reach_the_tip():
    robot = gough.load("kim-ryu-2002")
    motion = Motion(robot.home.position, Rotation.from_rotvec([0.1, 0.2, 0.3]))
    minus = robot.inverse_kinematics(motion)
    plus = robot.edited({"legs.branch": "plus"}).inverse_kinematics(motion)
    assert np.all(plus.q > minus.q + 0.1)
    legs = robot.description.legs
    for found in (minus, plus):
        slider = legs.rail_origin[..., 0].T + found.q[:, None] * legs.rail_direction[..., 0].T
        tips = motion.position + robot.description.platform_points[..., 0].T @ motion.rotation.T
        assert_allclose(slider + 0.9 * found.direction, tips, atol=1e-14)


@each_kind
@each_shape
def test_batches_are_their_samples(kind, shape, compiled):
    _, robot, states = sample(1, kind, 5, shape)
    motion = Motion(**states)
    found = robot.inverse_kinematics(motion)
    jacobian = robot.jacobian(motion)
    assert jacobian.shape == (*shape, 5, 6)
    assert robot.condition_number(motion).shape == shape
    for name in LEG_FIELDS:
        core = (5,) if name in ("q", "qd", "qdd") else (5, 3)
        assert getattr(found, name).shape == shape + core
    for index in np.ndindex(shape):
        one = robot.inverse_kinematics(motion[index])
        for name in LEG_FIELDS:
            assert_allclose(getattr(found, name)[index], getattr(one, name), rtol=1e-13, atol=1e-15)
        assert_allclose(jacobian[index], robot.jacobian(motion[index]), rtol=1e-13, atol=1e-15)


@each_kind
def test_answers_do_not_depend_on_the_length_of_the_batch(kind):
    _, robot, states = sample(2, kind, 6, (5000,))
    motion = Motion(**states)
    whole = robot.inverse_kinematics(motion)
    part = robot.inverse_kinematics(motion[4990:])
    broadcast = robot.inverse_kinematics(
        Motion(states["position"][:, None], states["rotation"][:3], states["velocity"][:3])
    )
    assert broadcast.q.shape == (5000, 3, 6)
    assert_allclose(whole.qdd[4990:], part.qdd, rtol=1e-13, atol=1e-14)
    again = Motion(states["position"][4321], states["rotation"][2], states["velocity"][2])
    assert_allclose(broadcast.qd[4321, 2], robot.inverse_kinematics(again).qd, rtol=1e-13)


@each_kind
@pytest.mark.parametrize(
    ("name", "number"),
    [("position", np.nan), ("velocity", np.inf), ("angular_acceleration", np.nan), ("rotation", np.nan)],
)  # fmt: skip
def test_what_is_not_finite_is_refused(kind, name, number):
    _, robot, states = sample(3, kind, 6, (2, 3))
    states[name][1, 2] = number
    motion = Motion(**states)
    with pytest.raises(NotFiniteError, match=f"sample 1, 2: {name}") as caught:
        robot.inverse_kinematics(motion)
    assert [failure.sample for failure in caught.value.failures] == [(1, 2)]
    legs = robot.inverse_kinematics(motion, on_error="nan")
    conditions = robot.condition_number(motion, on_error="nan")
    for value in (*vars(legs).values(), robot.jacobian(motion, on_error="nan"), conditions):
        assert np.all(np.isnan(value[1, 2]))
        assert np.all(np.isfinite(value.reshape(6, -1)[:5]))


def assert_refused(robot, motion, error, sample, leg):
    """This sample and leg are to blame, and the other samples have answers."""
    with pytest.raises(error, match=f"sample {sample}, leg {leg}: ") as caught:
        robot.inverse_kinematics(motion)
    failure = caught.value.failures[0]
    assert (failure.sample, failure.leg) == ((sample,), leg)
    for value in vars(robot.inverse_kinematics(motion, on_error="nan")).values():
        assert np.all(np.isnan(value[sample]))
        assert np.all(np.isfinite(np.delete(value, sample, axis=0)))


def test_an_unreachable_pose_names_the_leg():
    robot = gough.load("kim-ryu-2002")
    positions = np.tile(robot.home.position, (4, 1))
    positions[2] += [0, 0, 2.0]
    with refusal(ReachError, "sample 2", "leg 1"):
        robot.inverse_kinematics(Motion(positions))
    short = robot.edited({"legs.length": [0.9, 0.9, 0.9, 0.2, 0.9, 0.9]})
    with refusal(ReachError, "leg 4"):
        short.inverse_kinematics(short.home)
    assert np.all(np.isnan(short.inverse_kinematics(short.home, on_error="nan").q))


def ups():
    """Three legs, the first from the origin to the platform's origin, its axis along y."""
    legs = {"kind": "UPS", "base": [[0, 0, 0], [3, 0, 0], [0, 3, 0]]}
    legs |= {
        "platform": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        "axis": [[0, 1, 0], [0, 1, 0], [1, 0, 0]],
    }
    home = {"position": [0, 0, 1]}
    return Robot.from_dict({"format": 1, "name": "tripod", "legs": legs, "home": home})


def test_singular_legs_are_named():
    motion = Motion([[0.1, 0.2, 1], [0, 0, 0], [0.1, 0.2, 1.1]])
    assert_refused(ups(), motion, SingularError, 1, 1)  # no length
    motion = Motion([[0.1, 0.2, 1], [0, 1.5, 0], [0.1, 0.2, 1.1]])
    assert_refused(ups(), motion, SingularError, 1, 1)  # along its first universal axis
    legs = {
        "kind": "PUS", "rail_origin": [[0, 0, 0], [2, 0, 0], [0, 2, 0]],
        "rail_direction": [1, 0, 0], "length": 5.0, "axis": [[0, 1, 0], [0, 0.6, 0.8], [0, 1, 0]],
        "platform": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    }  # fmt: skip
    home = {"position": [1, 0, 3]}
    robot = Robot.from_dict({"format": 1, "name": "sliders", "legs": legs, "home": home})
    motion = Motion([[0, 1, 1], [0, 3, 4], [0, 1, 2]])
    assert_refused(robot, motion, SampleError, 1, 1)  # perpendicular to the rail, at its very end
    along_axis = robot.edited({"legs.axis": [[0, 1, 0], [4, 3, 0], [0, 1, 0]]})
    motion = Motion([[0, 1, 1], [0, 3, 0], [0, 1, 2]])
    assert_refused(along_axis, motion, SingularError, 1, 2)


def test_wrong_arguments_are_named():
    robot = gough.load("kim-ryu-2002")
    with refusal(InputError, "gough.Motion"):
        robot.inverse_kinematics([0, 0, 0.8])
    with refusal(InputError, "on_error"):
        robot.inverse_kinematics(robot.home, on_error="ignore")


@pytest.mark.second_tier
def test_a_million_poses_in_bounded_memory(compiled):
    rng = np.random.default_rng(0)
    robot, count = ups(), 1_000_000
    motion = Motion(rng.uniform([-0.2, -0.2, 0.9], [0.2, 0.2, 1.1], (count, 3)))
    tracemalloc.start()
    try:
        found = robot.inverse_kinematics(motion)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    answers = sum(value.nbytes for value in vars(found).values())
    assert answers == count * 3 * (3 + 6 * 3) * 8
    assert held < answers + 10e6  # what was done between is kept for the next call
    assert peak < answers + 30e6
    assert_allclose(found.q[-1], robot.inverse_kinematics(motion[-1]).q, rtol=1e-15)
