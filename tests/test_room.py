"""Room to move and clamped poses, beside bisection on `check`."""

import tomllib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from cases.rooms import limited_robot, random_poses, wrong_clamps, wrong_rooms
from gough.description.catalogue import catalogue_text
from gough.errors import InputError, LimitError


def allowed(robot, pose):
    try:
        return robot.check(pose).ok
    except gough.errors.GoughError:
        return False


def moved(robot, pose, direction, far, pivot=(0, 0, 0)):
    axis = np.eye(3)["xyz".index(direction[-1])] * (1 if direction[0] == "+" else -1) * far
    if "r" not in direction:
        return gough.Motion(pose.position + axis, pose.rotation)
    turn = Rotation.from_rotvec(axis).as_matrix() @ pose.rotation
    return gough.Motion(pose.position + (pose.rotation - turn) @ np.array(pivot), turn)


@pytest.fixture(scope="module")
def reachy():
    return gough.load("pollen-reachy-mini-2025")


def some_poses(robot, count, spread, seed=0):
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(spread * 0.2 * rng.normal(size=(count, 3)))
    shift = spread * 0.2 * robot.length_scale * rng.normal(size=(count, 3))
    return gough.Motion(
        robot.home.position + shift, turn * Rotation.from_matrix(robot.home.rotation)
    )


def test_room_ends_where_check_says(reachy):
    poses = some_poses(reachy, 12, 1.0)
    found = reachy.room(poses)
    assert found.distance.shape == (12, 12)
    compared = 0
    for i, pose in enumerate(poses):
        for direction, far, end in found.ends((i,)):
            if not allowed(reachy, pose):
                assert far == 0
                continue
            assert np.isfinite(far)
            if end.limit != "stroke":
                continue
            compared += 1
            low, high = 0.9 * far, 1.1 * far + 1e-9
            assert allowed(reachy, moved(reachy, pose, direction, low))
            for _ in range(45):
                middle = (low + high) / 2
                fine = allowed(reachy, moved(reachy, pose, direction, middle))
                low, high = (middle, high) if fine else (low, middle)
            assert low == pytest.approx(far, abs=1e-10)
            over = reachy.check(moved(reachy, pose, direction, high)).violations
            assert (end.leg, end.limit) in {(one.leg, one.limit) for one in over}
    assert compared > 80


def test_shapes_pivots_and_own_coordinates(reachy, on_numpy):
    one = reachy.room(reachy.home)
    assert one.distance.shape == (12,)
    many = reachy.room(reachy.home.reshape(1, 1))
    np.testing.assert_array_equal(many.distance[0, 0], one.distance)
    pivot = [0, 0, 0.05]
    about = dict((name, far) for name, far, _ in reachy.room(reachy.home, pivot=pivot).ends())
    far = about["+ry"]
    assert allowed(reachy, moved(reachy, reachy.home, "+ry", far - 1e-9, pivot))
    assert not allowed(reachy, moved(reachy, reachy.home, "+ry", far + 1e-9, pivot))
    glide = gough.load("chablat-orthoglide-2003")
    own = glide.room(glide.home)
    assert own.directions == ("+x", "-x", "+y", "-y", "+z", "-z")
    far = own.distance[0]
    assert glide.check(glide.motion(glide.home.position + np.array([far - 1e-9, 0, 0]))).ok
    assert not glide.check(glide.motion(glide.home.position + np.array([far + 1e-9, 0, 0]))).ok
    with refusal(InputError, "pivot"):
        glide.room(glide.home, pivot=[0, 0, 1])
    with refusal(InputError, "pivot", "shape"):
        reachy.room(reachy.home, pivot=[0, 0])


def test_clamped_poses_keep_limits_and_are_nearest(reachy):
    poses = some_poses(reachy, 40, 2.5, seed=1)
    found = reachy.clamp(poses)
    assert reachy.check(found.motion).ok
    rng = np.random.default_rng(2)
    outside = 0
    for i, pose in enumerate(poses):
        far, reason = float(found.distance[i]), found.reason((i,))
        if far == 0:
            assert allowed(reachy, pose)
            assert reason is None
            np.testing.assert_array_equal(found.motion.position[i], pose.position)
            continue
        outside += 1
        assert reason is not None
        near = rng.normal(size=(40, 6))
        near *= 0.97 * far / np.linalg.norm(near, axis=1, keepdims=True)
        turn = Rotation.from_rotvec(near[:, 3:] / reachy.length_scale).as_matrix()
        tried = gough.Motion(pose.position + near[:, :3], turn @ pose.rotation)
        assert reason.limit == "singularity" or not any(allowed(reachy, one) for one in tried)
    assert outside > 10


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", ["sinatra-xi-staicu-2009", "eight legs"])
def test_check_contradicts_no_room_and_no_clamped_pose(name, on_numpy):
    """`python -m cases.rooms` asks 10⁴ poses of thirteen robots."""
    robot, rng = limited_robot(name), np.random.default_rng(5)
    assert not list(wrong_rooms(robot, random_poses(robot, 3, rng, 1.0), rng, 2))
    assert not list(wrong_clamps(robot, random_poses(robot, 5, rng, 2.0), rng))


def test_how_fast_wishes_are_does_not_matter(on_numpy):
    """Limits are those of poses at rest: home is as near as can be, however it is passed."""
    robot = gough.load("kim-ryu-2002")
    limit = 2 * abs(robot.inverse_dynamics(robot.home).forces).max()
    robot = robot.edited({"legs.limits.force": float(limit)})
    home = robot.home.replace(acceleration=[0.0, 0.0, 1e3])
    assert not robot.check(home).ok
    found = robot.clamp(home)
    assert (found.distance, found.reason()) == (0.0, None)


def test_home_must_be_allowed(reachy):
    changed = tomllib.loads(catalogue_text(reachy.name))
    changed["legs"]["limits"] = {"stroke": [2.0, 3.0]}
    with refusal(LimitError, "home"):
        gough.Robot.from_dict(changed).clamp(reachy.home)
