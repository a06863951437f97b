"""Parts that come near each other along motions, beside points sampled on them."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from gough.analysis.closest import closest
from gough.analysis.hulls import MovedPart, corners, part_distances
from gough.analysis.interference import leg_distances
from gough.description.surfaces import ConvexPart
from gough.errors import InputError

SIMULATOR = Path(__file__).parents[1] / "examples" / "simulator.toml"


def moved(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    shift = 0.05 * robot.length_scale * rng.normal(size=(count, 3))
    turn = Rotation.from_rotvec(0.1 * rng.normal(size=(count, 3)))
    home = robot.home
    return gough.Motion(
        home.position + shift, turn * Rotation.from_matrix(home.rotation), time=np.arange(count)
    )


def test_legs_of_a_hexapod_by_their_segments(on_numpy):
    robot = gough.load(SIMULATOR)
    motion = moved(robot, 7)
    found = closest(robot, motion, leg_radius=0.01)
    expected = leg_distances(robot, motion) - 0.02
    np.testing.assert_allclose(found.distances[:, :15], expected, atol=1e-12)
    sample, pair = found.where
    assert found.distance == found.distances.min() == found.distances[sample, pair]
    assert f"t = {sample} s" in str(found)
    feet = robot.description.groups[0].legs.base[..., 0].T
    tips = motion.position[:, np.newaxis] + np.einsum(
        "nij,lj->nli", motion.rotation, robot.description.platform_points[..., 0].T
    )
    place = [one for one in found.pairs if one[1] == "base"]
    assert len(place) == 6
    heights = tips[..., 2] - feet[:, 2].mean()
    np.testing.assert_allclose(found.distances[:, -6:], heights - 0.01, atol=1e-9)


def test_chains_by_points_along_them(on_numpy):
    from gough.model.places import placed_legs

    robot = gough.load("shah-3rrr-2012")
    found = closest(robot, robot.home)
    placed = placed_legs(robot, robot.home, robot.inverse_kinematics(robot.home))
    points = placed[0].places.points
    share = np.linspace(0, 1, 2001)[:, np.newaxis]
    lines = [np.concatenate([a + share * (b - a) for a, b in pairwise(leg)]) for leg in points]
    least = np.min(np.linalg.norm(lines[0][::4, np.newaxis] - lines[1][::4], axis=-1))
    assert found.pairs[0] == ("leg 1", "leg 2")
    assert found.distances[0] == pytest.approx(least, rel=1e-3)


def test_thick_legs_meet_and_nonsense_is_refused(on_numpy):
    robot = gough.load("kim-ryu-2002")
    thick = closest(robot, robot.home, leg_radius=0.1)
    assert not thick.clear
    assert "meet" in str(thick)
    for wrong in (-1, np.nan):
        with refusal(InputError, "leg_radius"):
            closest(robot, robot.home, leg_radius=wrong)


def test_check_counts_parts_that_meet(on_numpy):
    robot = gough.load(SIMULATOR)
    motion = moved(robot, 5)
    far = robot.check(motion, leg_radius=0.01)
    assert far.ok
    assert "come nearest" in str(far)
    near = far.closest.distance / 2 + 0.011  # thick enough that the closest two meet by 2 mm
    report = robot.check(motion, leg_radius=near)
    assert not report.ok
    worst = max(report.violations, key=lambda one: one.excess)
    first, second = report.closest.pair
    assert f"leg {worst.leg}" == first
    assert worst.limit == f"distance from {second}"
    assert worst.excess == pytest.approx(0.002, abs=1e-12)
    assert worst.sample == report.closest.where[:-1]
    assert robot.check(motion[0]).ok == robot.check(motion[0], leg_radius=0.01).ok
    picture = report.closest.plot()
    assert len(picture.axes[0].lines) == 5  # three kinds, the mark, zero


def box(low, high):
    return np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(8, 3)


def test_hulls_by_boxes_whose_distance_is_known():
    """Boxes along common axes are apart by the norm of their gaps, however both are turned."""
    rng = np.random.default_rng(0)
    low, size = rng.uniform(-1, 1, (2, 200, 2, 3))
    low, high = np.minimum(low, low + size), np.maximum(low, low + size)
    gaps = np.maximum(low[:, 0] - high[:, 1], low[:, 1] - high[:, 0])
    expected = np.linalg.norm(np.maximum(gaps, 0), axis=1)
    turn = Rotation.random(200, random_state=1).as_matrix()
    first, second = (
        np.stack([box(*ends) for ends in zip(low[:, i], high[:, i], strict=True)])
        @ np.swapaxes(turn, 1, 2)
        for i in (0, 1)
    )
    inside = first.mean(axis=1, keepdims=True)  # no corner of the hull
    assert len(corners(np.concatenate([first[0], inside[0]]))) == 8

    def hull(points):
        return MovedPart.of(
            ConvexPart(points, np.zeros_like(points), np.zeros(8)),
            np.zeros((1, 3)),
            np.eye(3)[None],
        )

    found = [part_distances([hull(a)], [hull(b)])[0] for a, b in zip(first, second, strict=True)]
    found = np.array(found)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert np.sum(expected == 0) > 10
    assert np.sum(expected > 0) > 50


def test_bodies_by_shape_are_as_thick_as_they_are(on_numpy):
    """Rods of 2 cm beside capsules of 2 cm about the whole links: never nearer than these."""
    robot = gough.load("kim-ryu-2002")
    rods = {"shape": "rod", "radius": 0.02, "length": 0.3, "density": 1000.0}
    link = {**rods, "position": [0.0, 0.0, 0.15]}
    solid = robot.edited({"legs.link": link})
    motion = moved(robot, 3)
    thin, thick = closest(robot, motion, leg_radius=0.0), closest(solid, motion)
    legs = [i for i, pair in enumerate(thick.pairs) if pair[1].startswith("leg")]
    assert legs
    for i in legs:
        capsules = thin.distances[:, thin.pairs.index(thick.pairs[i])]
        assert np.all(thick.distances[:, i] >= capsules - 0.04 - 1e-9)
