"""The frames of the legs' bodies: they move as they say, and as bodies of a leg can."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from cases.common import LONG, each_kind, each_shape, few_states, impossible_bodies
from gough import Motion, Robot, load
from gough.model.frames import leg_frames
from oracles.random_robot import random_motion, random_robot

pytestmark = few_states
STEP = 1e-5


def moved(motion, time):
    """The motion after a short time, by its twist."""
    turn = Rotation.from_rotvec(motion.angular_velocity * time).as_matrix()
    return Motion(
        motion.position + motion.velocity * time,
        turn @ motion.rotation,
        motion.velocity,
        motion.angular_velocity,
        elastic=motion.elastic + motion.elastic_velocity * time,
        elastic_velocity=motion.elastic_velocity,
    )


def frames_of(robot, motion):
    """The frames of a robot whose legs are alike."""
    ((_, frames),) = leg_frames(robot, motion)
    return frames


def check_rates(robot, motion):
    """Velocity and angular velocity are those of origins and axes, by central differences."""
    before, now, after = (frames_of(robot, moved(motion, t)) for t in (-STEP, 0.0, STEP))
    assert len(now) == len(robot.mechanism.legs.BODIES)
    for a, b, c in zip(before, now, after, strict=True):
        assert_allclose((c.origin - a.origin) / (2 * STEP), b.velocity, atol=1e-7)
        assert_allclose(
            np.swapaxes(b.axes, -1, -2) @ b.axes,
            np.broadcast_to(np.eye(3), b.axes.shape),
            atol=1e-14,
        )
        assert_allclose(np.linalg.det(b.axes), 1.0, atol=1e-14)
        turning = (c.axes - a.axes) / (2 * STEP)
        expected = np.cross(b.omega[..., np.newaxis, :], np.swapaxes(b.axes, -1, -2))
        assert_allclose(turning, np.swapaxes(expected, -1, -2), atol=1e-6)


@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_frames_move_as_they_say(kind, seed):
    data = random_robot(np.random.default_rng(seed), kind)
    check_rates(
        Robot.from_dict(data), Motion(**random_motion(np.random.default_rng(seed), data, (4,)))
    )


@impossible_bodies
def test_frames_of_legs_on_a_flexible_platform():
    robot = load(LONG)
    rng = np.random.default_rng(0)
    home = robot.home
    check_rates(
        robot,
        Motion(
            home.position,
            home.rotation,
            *rng.normal(size=(2, 3)),
            elastic=1e-3 * rng.normal(size=robot.modes),
            elastic_velocity=1e-2 * rng.normal(size=robot.modes),
        ),
    )


@each_kind
@each_shape
def test_frames_in_any_shape(kind, shape):
    data = random_robot(np.random.default_rng(1), kind)
    motion = Motion(**random_motion(np.random.default_rng(2), data, shape))
    for frame in frames_of(Robot.from_dict(data), motion):
        assert frame.origin.shape == frame.velocity.shape == frame.omega.shape == (*shape, 6, 3)
        assert frame.axes.shape == (*shape, 6, 3, 3)
