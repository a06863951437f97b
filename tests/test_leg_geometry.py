"""What kinds of legs tell of their geometry agrees with the models: stances, bounds, errors of build."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind, each_shape
from gough import Motion
from gough.model.forward import rods
from oracles.random_robot import random_motion, random_robot


def tips_of(robot, motion):
    """Places of the tips (..., legs, 3), velocities likewise."""
    points = robot.description.platform_points[..., 0].T
    arm = points @ np.swapaxes(motion.rotation, -1, -2)
    turned = np.cross(motion.angular_velocity[..., np.newaxis, :], arm)
    return motion.position[..., np.newaxis, :] + arm, motion.velocity[..., np.newaxis, :] + turned


@each_kind
@each_shape
def test_stances_are_those_of_the_models(kind, shape):
    rng = np.random.default_rng(3)
    table = random_robot(rng, kind)
    robot = gough.Robot.from_dict(table)
    motion = Motion(**random_motion(rng, table, shape))
    legs = robot.inverse_kinematics(motion)
    tip, velocity = tips_of(robot, motion)
    found = robot.leg_kind.geometry.stance(robot.description.legs, tip)
    assert_allclose(found.direction, legs.direction, atol=1e-13)
    # n·v = c q̇
    assert_allclose(found.slope * legs.qd, np.sum(legs.direction * velocity, axis=-1), atol=1e-11)
    axis = np.array(table["legs"]["axis"]) / np.linalg.norm(table["legs"]["axis"], axis=-1)[:, None]
    if kind == "RUS":  # it turns with the crank
        motor = robot.description.legs.motor_axis[..., 0].T
        turn = Rotation.from_rotvec((legs.q[..., np.newaxis] * motor).reshape(-1, 3))
        axis = turn.apply((axis + 0 * legs.direction).reshape(-1, 3))
        axis = axis.reshape(legs.direction.shape)
    sine = np.linalg.norm(np.cross(legs.direction, axis), axis=-1)
    assert_allclose(found.sine, sine, atol=1e-13)
    # from its foot the leg's link leads to its tip
    foot, length = rods(robot, legs.q)
    assert_allclose(foot + length[..., np.newaxis] * legs.direction, tip, atol=1e-12)


@each_kind
def test_tips_within_their_strokes_are_within_the_bounds(kind):
    rng = np.random.default_rng(4)
    table = random_robot(rng, kind)
    robot = gough.Robot.from_dict(table)
    geometry, legs = robot.leg_kind.geometry, robot.description.legs
    motion = Motion(**random_motion(rng, table, (200,)))
    q, tip = robot.inverse_kinematics(motion).q, tips_of(robot, motion)[0]
    low, high = geometry.tip_bounds(legs, q.min(axis=0), q.max(axis=0))
    assert np.all((low <= tip) & (tip <= high))
    free = np.full(robot.leg_count, np.inf)
    bounded = kind == "RUS"  # a crank's circle is, whatever its stroke
    assert np.all(np.isinf(geometry.tip_bounds(legs, -free, free)) != bounded)


@pytest.mark.second_tier_from(1)
@each_kind
def test_errors_of_build_are_felt_as_the_kind_says(kind):
    """At a fixed pose c δq = −ε: the variance over random legs is the one that is told."""
    rng = np.random.default_rng(5)
    table = random_robot(rng, kind)
    robot = gough.Robot.from_dict(table)
    pose = Motion(**random_motion(rng, table))
    q = robot.inverse_kinematics(pose).q
    legs = robot.description.legs
    stance = robot.leg_kind.geometry.stance(legs, tips_of(robot, pose)[0])
    slope, tolerances = stance.slope, robot.leg_kind.tolerances
    told = tolerances.variance(legs, q, stance)
    assert set(told) == set(tolerances.names)
    for name in tolerances.names:
        deviation = dict.fromkeys(tolerances.names, 0.0) | {name: 1e-6}
        built = tolerances.built(robot.description.legs, deviation, 20_000, rng)
        error = slope * (robot.variants(built).inverse_kinematics(pose).q - q)
        assert_allclose(np.mean(error**2, axis=0), 1e-12 * told[name], rtol=0.06, err_msg=name)


@pytest.mark.second_tier_from(1)
@each_shape
def test_errors_of_cranks_and_motors_are_slopes_of_q(shape):
    """ε = −c δq at a fixed pose, by central differences of crank lengths and turned motors."""
    rng = np.random.default_rng(6)
    table = random_robot(rng, "RUS")
    robot = gough.Robot.from_dict(table)
    pose = Motion(**random_motion(rng, table, shape))
    legs, q = robot.description.legs, robot.inverse_kinematics(pose).q
    stance = robot.leg_kind.geometry.stance(legs, tips_of(robot, pose)[0])
    told = robot.leg_kind.tolerances.variance(legs, q, stance)
    axis, zero = legs.motor_axis[..., 0].T, legs.e1[..., 0].T
    step = 1e-5

    def felt(changed):
        """ε for one unit of an error that changes the robot so, ± a step."""
        ends = (robot.edited(changed(sign * step)).inverse_kinematics(pose).q for sign in (1, -1))
        return -stance.slope * np.subtract(*ends) / (2 * step)

    def swung(about):
        def changed(angle):
            turn = Rotation.from_rotvec(angle * about)
            ends = {"legs.motor_axis": axis, "legs.crank_zero": zero}
            return {key: turn.apply(one).tolist() for key, one in ends.items()}

        return changed

    crank = felt(lambda more: {"legs.crank_length": (legs.crank_length[:, 0] + more).tolist()})
    assert_allclose(crank**2, told["crank"], rtol=1e-6, atol=1e-9)
    both = [felt(swung(about)) ** 2 for about in (zero, np.cross(axis, zero))]
    assert_allclose(np.sum(both, axis=0), told["motor_axis"], rtol=1e-6, atol=1e-9)
    motor = legs.motor[..., 0].T
    for place, shift in enumerate(np.eye(3)):
        base = felt(lambda more, shift=shift: {"legs.motor": (motor + more * shift).tolist()})
        assert_allclose(base, stance.direction[..., place], atol=1e-8)
