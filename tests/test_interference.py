"""Legs stay apart: distances between segments and legs."""

import itertools

import numpy as np
import pytest

from cases.common import each_kind, each_shape
from cases.workspaces import robot_of, sampled
from gough import Motion
from gough.analysis.interference import leg_distances, pairs, segment_distance
from gough.analysis.workspace import workspace


@pytest.mark.second_tier_from(1)
@each_kind
def test_legs_stay_apart_and_below_the_platform(kind):
    robot = robot_of(kind, 7)
    home = leg_distances(robot, robot.home)
    radius = 0.4 * home.min()
    free = workspace(robot, tolerance=0.2)
    found = workspace(robot, tolerance=0.25, leg_radius=radius, platform_angle=0.5)
    assert found.volume < free.volume
    assert set(found.labels) - set(free.labels) == {"legs", "platform"}
    rng = np.random.default_rng(0)
    inside = sampled(found.centre[found.inside], found.half[found.inside], rng, 300)
    pose = Motion(inside, robot.home.rotation)
    assert leg_distances(robot, pose).min() >= 2 * radius
    points = np.array(robot.file.legs.platform)
    normal = robot.home.rotation @ np.linalg.svd(points - points.mean(axis=0))[2][2]
    sine = np.abs(robot.inverse_kinematics(pose).direction @ normal)
    assert sine.min() >= np.sin(0.5) - 1e-12
    box = free.bounds
    every = rng.uniform(box[:, 0], box[:, 1], (3000, 3))
    every = every[free.contains(every)]
    pose = Motion(every, robot.home.rotation)
    clear = leg_distances(robot, pose).min(axis=1) >= 2 * radius
    steep = robot.inverse_kinematics(pose).direction @ normal
    steep = (steep * np.sign(steep[:, :1]) >= np.sin(0.5)).all(axis=1)
    assert 0 < (clear & steep).sum() < len(every)
    assert (found.contains(every) == (clear & steep)).all()


def test_distance_of_segments_is_the_least_over_many_points():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 300, 3))
    c[:20], d[:20] = a[:20] + 0.3, b[:20] + 0.3  # parallel
    d[20:30] = c[20:30]  # a point
    share = np.linspace(0, 1, 201)[:, np.newaxis, np.newaxis]
    first, second = a + share * (b - a), c + share * (d - c)
    sampled_least = np.min(
        [np.linalg.norm(first - point, axis=2).min(axis=0) for point in second], axis=0
    )
    found = segment_distance(a, b, c, d)
    step = (np.linalg.norm(b - a, axis=1) + np.linalg.norm(d - c, axis=1)) / 400
    assert (found <= sampled_least + 1e-12).all()
    assert (found >= sampled_least - step).all()


@each_shape
def test_leg_distances_of_any_batch(shape):
    robot = robot_of("UPS", 1)
    position = np.broadcast_to(robot.home.position, (*shape, 3))
    found = leg_distances(robot, Motion(position, robot.home.rotation))
    assert found.shape == (*shape, 15)
    assert workspace_points(robot, shape).shape == shape
    assert list(itertools.combinations(range(6), 2)) == pairs(robot)


def workspace_points(robot, shape):
    found = workspace(robot, tolerance=0.5)
    return found.contains(np.broadcast_to(robot.home.position, (*shape, 3)))
