"""Forward kinematics: inverse of the inverse, Dietmaier's forty postures, honest failures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.common import HEXAPODS, each_kind, each_shape, impossible_bodies
from cases.errors import refusal
from gough import Motion, Robot
from gough.errors import (
    ConvergenceError,
    InputError,
    MissingDataError,
    NotFiniteError,
    SampleError,
    SingularError,
)
from gough.mechanics.solves import factor, least_squares
from gough.model import forward
from gough.model.execution import numpy_executor
from oracles.random_robot import random_motion, random_robot

LENGTHS = np.array([1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])
pytestmark = impossible_bodies


def of_length(rng, length, shape):
    """Random vectors (*shape, 3) of one length."""
    vectors = rng.normal(size=(*shape, 3))
    return length * vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def moved(motion, shift, turn):
    """The poses shifted by vectors and turned by rotation vectors, both in world axes."""
    turns = Rotation.from_rotvec(turn.reshape(-1, 3)).as_matrix().reshape(*turn.shape, 3)
    return Motion(motion.position + shift, turns @ motion.rotation)


def near(rng, motion):
    """Guesses 0.05 m and 0.1 rad off."""
    return moved(motion, of_length(rng, 0.05, motion.shape), of_length(rng, 0.1, motion.shape))


def reachable(rng, robot, count):
    """Random poses about home that every leg reaches, and their leg coordinates."""
    shift, turn = rng.uniform(-0.1, 0.1, (2 * count, 3)), rng.uniform(-0.2, 0.2, (2 * count, 3))
    poses = moved(robot.home, shift, turn)
    q = robot.inverse_kinematics(poses, on_error="nan").q
    good = np.flatnonzero(np.isfinite(q).all(axis=1))[:count]
    assert len(good) == count
    return poses[good], q[good]


def apart(a, b):
    """Largest difference of position (m) or rotation matrix, a sample."""
    turned = np.abs(a.rotation - b.rotation).max(axis=(-2, -1))
    return np.maximum(np.abs(a.position - b.position).max(axis=-1), turned)


@pytest.mark.parametrize("name", HEXAPODS)
def test_forward_undoes_inverse(name, record_property):
    rng = np.random.default_rng(0)
    robot = gough.load(name)
    poses, q = reachable(rng, robot, 10_000)
    found = forward.solve(robot, q, near(rng, poses))
    good = found.status == forward.CONVERGED
    answers = Motion(found.position[good], found.rotation[good])
    assert np.mean(good) > 0.999
    assert np.mean(found.iterations[good]) < 6
    assert_allclose(robot.inverse_kinematics(answers).q, q[good], rtol=0, atol=1e-12)
    error = apart(answers, poses[good])
    others = error > 1e-9
    record_property("other postures", int(np.sum(others)))
    record_property("not converged", int(np.sum(~good)))
    record_property("mean iterations", float(np.mean(found.iterations[good])))
    # another true posture is not an inexact answer: it is far off, and near none of the wanted ones
    assert np.all(error[others] > 1e-6)
    assert np.mean(others) < 0.01


@pytest.mark.second_tier_from(1)
def test_legs_at_the_end_of_their_reach_are_met_too():
    """Where a link is nearly perpendicular to its rail, q is more sensitive than the link's length."""
    rng = np.random.default_rng(0)
    robot = gough.load("sinatra-xi-staicu-2009")
    shift, turn = of_length(rng, 0.5, (3000,)), of_length(rng, 0.3, (3000,))

    def at(share):
        return moved(robot.home, share[:, None] * shift, share[:, None] * turn)

    low, high = np.zeros(3000), np.ones(3000)
    for _ in range(40):
        middle = (low + high) / 2
        reached = np.isfinite(robot.inverse_kinematics(at(middle), on_error="nan").q).all(axis=1)
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    poses = at(low - 1e-4)  # a·n of the leg that ends first is about 0.02
    q = robot.inverse_kinematics(poses).q
    found = forward.solve(robot, q, near(rng, poses))
    good = found.status == forward.CONVERGED
    assert np.mean(good) > 0.5
    answers = Motion(found.position[good], found.rotation[good])
    assert_allclose(robot.inverse_kinematics(answers).q, q[good], rtol=0, atol=1e-12)


def forty_postures(robot):
    """Distinct postures found from 2000 random starts."""
    rng = np.random.default_rng(0)
    starts = Motion(of_length(rng, 1.0, (2000,)), Rotation.random(2000, rng))
    found = forward.solve(robot, LENGTHS, starts)
    good = found.status == forward.CONVERGED
    flat = np.concatenate([found.position, found.rotation.reshape(-1, 9)], axis=1)[good]
    distinct = []
    for one in flat:
        if all(np.linalg.norm(one - other) > 0.1 for other in distinct):
            distinct.append(one)
    numbers = np.array(distinct)
    return Motion(numbers[:, :3], Rotation.from_matrix(numbers[:, 3:].reshape(-1, 3, 3)))


def test_dietmaiers_forty_postures_are_found_and_stay_put():
    robot = gough.load("dietmaier-1998")
    postures = forty_postures(robot)
    assert postures.shape == (40,)
    q = robot.inverse_kinematics(postures).q
    assert_allclose(q, np.broadcast_to(LENGTHS, (40, 6)), rtol=0, atol=1e-12)
    flat = np.concatenate([postures.position, postures.rotation.reshape(40, 9)], axis=1)
    distances = np.linalg.norm(flat[:, None] - flat, axis=-1) + 9 * np.eye(40)
    assert distances.min() == pytest.approx(0.34, abs=0.005)
    conditions = robot.condition_number(postures)
    assert 6 < conditions.min() < 8
    assert 6e4 < conditions.max() < 8e4
    again = forward.solve(robot, LENGTHS, postures)
    assert np.all(again.status == forward.CONVERGED)
    assert np.all(again.iterations <= 1)
    assert np.all(apart(again.motion("raise"), postures) < 1e-9 * conditions)
    # and each draws its surroundings to itself
    rng = np.random.default_rng(1)
    reach = 0.01 / conditions[:, None]
    shift, turn = of_length(rng, 1, (40,)), of_length(rng, 1, (40,))
    close = moved(postures, reach * shift, reach * turn)
    back = robot.forward_kinematics(LENGTHS, close)
    assert np.all(apart(back, postures) < 1e-9 * conditions)


@pytest.mark.parametrize("name", HEXAPODS)
def test_convergence_is_quadratic(name, monkeypatch):
    rng = np.random.default_rng(0)
    robot = gough.load(name)
    poses, q = reachable(rng, robot, 200)
    shift, turn = of_length(rng, 1, (200,)), of_length(rng, 1, (200,))
    monkeypatch.setattr(forward, "MOST_ITERATIONS", 1)
    left = [
        forward.solve(robot, q, moved(poses, size * shift, size * turn)).residual
        for size in (1e-3, 1e-4)
    ]
    ratios = left[0] / left[1]  # of what one step leaves: 10² where it is quadratic
    assert_allclose(np.median(ratios), 100, rtol=0.02)
    assert np.all(ratios > 30)


@each_kind
def test_more_than_six_legs(kind):
    rng = np.random.default_rng(0)
    data = random_robot(rng, kind, 8)
    robot = Robot.from_dict(data)
    states = random_motion(rng, data, (200,))
    poses = Motion(states["position"], states["rotation"])
    q = robot.inverse_kinematics(poses).q
    found = robot.forward_kinematics(q, near(rng, poses))
    assert np.all(apart(found, poses) < 1e-9)
    assert_allclose(robot.inverse_kinematics(found).q, q, rtol=0, atol=1e-12)
    q[7, 2] += 1e-3  # eight lengths that no pose has
    with refusal(ConvergenceError, "sample 7"):
        robot.forward_kinematics(q, poses)


def test_fewer_than_six_legs_are_refused():
    robot = Robot.from_dict(random_robot(np.random.default_rng(0), "UPS", 5))
    with refusal(InputError, 5, 6):
        robot.forward_kinematics(np.ones(5))


@pytest.mark.parametrize("name", ["kim-ryu-2002", "dietmaier-1998"])
@each_shape
def test_batches_are_their_samples(name, shape):
    rng = np.random.default_rng(0)
    robot = gough.load(name)
    poses = moved(robot.home, rng.uniform(-0.05, 0.05, (*shape, 3)), np.zeros((*shape, 3)))
    q = robot.home.position[0] + np.zeros((*shape, 6))
    if poses.shape != (0,):
        q = robot.inverse_kinematics(poses).q
    found = robot.forward_kinematics(q)
    assert found.shape == shape
    assert not np.any(found.velocity)
    for index in np.ndindex(shape):
        assert_allclose(found.position[index], poses.position[index], atol=1e-9)
        one = robot.forward_kinematics(q[index])
        assert_allclose(one.position, found.position[index], atol=1e-12)
        assert_allclose(one.rotation, found.rotation[index], atol=1e-12)


def test_coordinates_and_guesses_broadcast():
    rng = np.random.default_rng(0)
    robot = gough.load("kim-ryu-2002")
    poses, q = reachable(rng, robot, 3)
    found = robot.forward_kinematics(q[:, None], near(rng, robot.home[None][[0, 0]]))
    assert found.shape == (3, 2)
    for k in range(2):
        assert np.all(apart(found[:, k], poses) < 1e-9)
    with refusal(InputError, "guess", "(3,)", "(2,)"):
        robot.forward_kinematics(q, robot.home[None][[0, 0]])


def long_path(robot, samples):
    """Poses along a path that leaves the surroundings of home."""
    s = np.linspace(0, 1, samples)[:, None]
    return moved(robot.home, s * [0.15, -0.1, 0.2], s * [0.2, 0.2, 0.4])


@pytest.mark.parametrize("along", [0, 1, -1, -2])
def test_warm_start_along_a_path(along):
    robot = gough.load("kim-ryu-2002")
    path = long_path(robot, 120)
    both = Motion.stack([path, path[::-1]], axis=1)  # (time, 2)
    starts = both[0]
    if along % 2 == 1:
        both = Motion.stack([path, path[::-1]], axis=0)
    q = robot.inverse_kinematics(both).q
    found = forward.solve(robot, q, starts, along=along)
    assert found.status.shape == both.shape
    assert np.all(apart(found.motion("raise"), both) < 1e-9)
    assert np.mean(found.iterations) < 4
    with refusal(InputError, 2):
        robot.forward_kinematics(q, starts, along=2)


def test_a_bad_sample_does_not_spoil_the_path():
    robot = gough.load("kim-ryu-2002")
    path = long_path(robot, 60)
    q = robot.inverse_kinematics(path).q
    q[20], q[40] = np.nan, 50.0
    found = robot.forward_kinematics(q, along=0, on_error="nan")
    bad = np.isnan(found.position).any(axis=1)
    assert_array_equal(np.flatnonzero(bad), [20, 40])
    assert np.all(apart(found[~bad], path[~bad]) < 1e-9)


def test_unreachable_coordinates_fail_one_by_one():
    robot = gough.load("long-khalil-martinet-2014")
    q = np.tile(robot.inverse_kinematics(robot.home).q, (2, 3, 1))
    q[1, 0, 4] = 9.0  # far longer than its neighbours allow
    with refusal((ConvergenceError, SingularError), "sample 1, 0") as caught:
        robot.forward_kinematics(q)
    assert [failure.sample for failure in caught.value.failures] == [(1, 0)]
    found = robot.forward_kinematics(q, on_error="nan")
    for value in (found.position, found.rotation):
        assert_array_equal(np.isnan(value[..., 0]).reshape(6, -1).any(axis=1), np.arange(6) == 3)


@pytest.mark.parametrize("where", ["q", "guess"])
def test_nan_is_refused(where):
    robot = gough.load("kim-ryu-2002")
    q = np.tile(robot.inverse_kinematics(robot.home).q, (3, 1))
    positions = np.tile(robot.home.position, (3, 1))
    (q if where == "q" else positions)[1, 2] = np.nan
    with refusal(NotFiniteError, "sample 1"):
        robot.forward_kinematics(q, Motion(positions))
    found = robot.forward_kinematics(q, Motion(positions), on_error="nan")
    assert_array_equal(np.isnan(found.position).all(axis=1), [False, True, False])
    assert_array_equal(np.isnan(found.rotation).all(axis=(1, 2)), [False, True, False])


@pytest.mark.parametrize("length", [0.0, -1.0, 1e200])
def test_a_length_no_leg_can_have_is_refused(length):
    robot = gough.load("dietmaier-1998")
    q = np.tile(LENGTHS, (3, 1))
    q[1, 0] = length
    with refusal(SampleError, "sample 1"):
        robot.forward_kinematics(q)
    found = robot.forward_kinematics(q, on_error="nan")
    assert_array_equal(np.isnan(found.position).all(axis=1), [False, True, False])
    with pytest.raises(SampleError):
        robot.forward_kinematics(-LENGTHS)


@pytest.mark.parametrize("name", ["kim-ryu-2002", "dietmaier-1998"])
@pytest.mark.parametrize("where", ["q", "guess"])
def test_absurd_numbers_fail_one_by_one(name, where):
    robot = gough.load(name)
    q = np.tile(robot.inverse_kinematics(robot.home).q, (3, 1))
    positions = np.tile(robot.home.position, (3, 1))
    (q if where == "q" else positions)[1] = 1e200
    guess = Motion(positions, robot.home.rotation)
    with refusal(SampleError, "sample 1"):
        robot.forward_kinematics(q, guess)
    found = robot.forward_kinematics(q, guess, on_error="nan")
    assert_array_equal(np.isnan(found.position).all(axis=1), [False, True, False])


def test_an_absurd_sample_does_not_loosen_the_others():
    rng = np.random.default_rng(0)
    robot = gough.load("dietmaier-1998")
    poses, q = reachable(rng, robot, 20)
    guess = near(rng, poses)
    alone = forward.solve(robot, q, guess)
    q[7] = 1e6
    beside = forward.solve(robot, q, guess)
    assert beside.status[7] != forward.CONVERGED
    others = np.arange(20) != 7
    assert_array_equal(beside.iterations[others], alone.iterations[others])
    assert_array_equal(beside.position[others], alone.position[others])


def symmetric():
    """A symmetric hexapod: singular where its platform is turned by a right angle."""
    angle = np.deg2rad([-10, 10, 110, 130, 230, 250])
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    turned = angle + np.deg2rad([-50, 50] * 3)
    points = 0.5 * np.stack([np.cos(turned), np.sin(turned), 0 * angle], axis=-1)
    legs = {"kind": "UPS", "base": ring.tolist(), "platform": points.tolist(), "axis": [0, 1, 0.1]}
    return Robot.from_dict(
        {"format": 1, "name": "symmetric", "legs": legs, "home": {"position": [0, 0, 1]}}
    )


def test_a_singular_guess_is_refused():
    robot = symmetric()
    q = robot.inverse_kinematics(robot.home).q
    turned = Motion([0, 0, 1.1], Rotation.from_rotvec([0, 0, np.pi / 2]))
    assert robot.condition_number(turned) > 1e10
    with pytest.raises(SingularError):
        robot.forward_kinematics(q, turned)
    assert np.all(np.isnan(robot.forward_kinematics(q, turned, on_error="nan").position))
    found = robot.forward_kinematics(q, Motion([0, 0, 1.1], Rotation.from_rotvec([0, 0, 1.0])))
    assert apart(found, robot.home) < 1e-9


def test_a_posture_on_the_other_branch_is_no_answer():
    robot = gough.load("kim-ryu-2002")
    q = robot.edited({"legs.branch": "plus"}).inverse_kinematics(robot.home).q
    with pytest.raises(ConvergenceError):
        robot.forward_kinematics(q, robot.home)


def test_wrong_arguments_are_named():
    robot = gough.load("kim-ryu-2002")
    q = robot.inverse_kinematics(robot.home).q
    with refusal(InputError, "(5,)"):
        robot.forward_kinematics(q[:5])
    with refusal(InputError, "array", "numbers"):
        robot.forward_kinematics("abc")
    with refusal(InputError, "gough.Motion"):
        robot.forward_kinematics(q, [0, 0, 0.8])
    with refusal(InputError, "on_error"):
        robot.forward_kinematics(q, on_error="ignore")
    homeless = Robot.from_text(robot.text.replace("home = { position = [0, 0, 0.80] }", ""))
    with refusal(MissingDataError, "home"):
        homeless.forward_kinematics(q)


@pytest.mark.parametrize("name", ["kim-ryu-2002", "long-khalil-martinet-2014"])
def test_steps_on_numpy_end_where_compiled_ones_do(name):
    rng = np.random.default_rng(4)
    robot, plain = gough.load(name), gough.load(name)
    plain.__dict__["executor"] = numpy_executor(plain.mechanism)
    poses, q = reachable(rng, robot, 50)
    guess = near(rng, poses)
    compiled, numpy = (forward.solve(one, q, guess) for one in (robot, plain))
    assert_array_equal(compiled.status, numpy.status)
    assert_array_equal(abs(compiled.iterations - numpy.iterations) <= 1, True)
    assert np.all(apart(compiled.motion("raise"), numpy.motion("raise")) < 1e-11)


@pytest.mark.parametrize("rows", [6, 7, 9])
def test_least_squares_by_reflections(rows):
    rng = np.random.default_rng(rows)
    matrix, right = rng.normal(size=(4, rows, 6)), rng.normal(size=(4, rows))
    factors = factor(np.moveaxis(matrix, 0, -1), np.ones((6, 1)))
    found = least_squares(factors, right.T).T
    expected = [np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(matrix, right, strict=True)]
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("size", [1e-6, 1, 1e6])
def test_cranks_of_any_size_find_their_pose(size, monkeypatch):
    """Errors of angles are compared as lengths: a small robot found none, a large one any nearby."""
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    robot = gough.load("pollen-reachy-mini-2025")
    legs, keys = robot.mechanism.legs, ("motor", "crank_length", "length")
    numbers = {f"legs.{key}": (size * np.squeeze(getattr(legs, key)).T).tolist() for key in keys}
    numbers["legs.platform"] = (size * robot.mechanism.points[..., 0].T).tolist()
    numbers["home.position"] = (size * robot.home.position).tolist()
    scaled = robot.edited(numbers)
    wanted = scaled.home.replace(position=scaled.home.position + 1e-3 * size)
    near = wanted.replace(position=wanted.position + 1e-9 * size)
    found = scaled.forward_kinematics(scaled.inverse_kinematics(wanted).q, near)
    assert np.abs(found.position - wanted.position).max() < 1e-11 * size
