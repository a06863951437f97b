"""Clearances of round bodies are exact, and never too large; a leg's radius counts beside its shapes.

The truth is geometry: cylinders side by side, along one axis and crossed, spheres as capsules without a
length, and points of surfaces searched by SciPy.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from gough.analysis.closest import closest
from gough.analysis.hulls import MovedPart, part_distances
from gough.analysis.interference import leg_distances, nearest
from gough.description.surfaces import ConvexPart

pytestmark = pytest.mark.usefixtures("on_numpy")


def frustum(start, axis, length, radius, end_radius=None):
    """A cylinder or a frustum, one row."""
    axis = np.array(axis, float) / np.linalg.norm(axis)
    centers = np.array(start, float) + np.outer([0.0, length], axis)
    radii = np.array([radius, radius if end_radius is None else end_radius], float)
    part = ConvexPart(centers, np.array([axis, axis]), radii)
    return MovedPart.of(part, np.zeros((1, 3)), np.eye(3)[None])


def apart(a, b):
    return part_distances([a], [b])[0]


def test_cylinders_whose_distance_is_known():
    one = frustum([0, 0, 0], [0, 0, 1], 0.5, 0.02)
    assert apart(one, frustum([0.1, 0, 0.2], [0, 0, 1], 0.5, 0.03)) == pytest.approx(0.05, abs=1e-9)
    assert apart(one, frustum([0, 0.01, 0.6], [0, 0, 1], 0.5, 0.03)) == pytest.approx(0.1, abs=1e-9)
    crossed = frustum([0.3, -0.5, 0.25], [0, 1, 0.1], 1.0, 0.03)
    assert apart(one, crossed) == pytest.approx(0.25, abs=1e-9)
    # beyond the end and aside: between the rims, √(0.05² + 0.1²)
    beside = frustum([0.1, 0, 0.6], [0, 0, 1], 0.5, 0.03)
    assert apart(one, beside) == pytest.approx(np.hypot(0.05, 0.1), abs=1e-9)
    # a cone's side, whose normal leans by atan(0.02/0.5)
    cone = frustum([0, 0, 0], [0, 0, 1], 0.5, 0.02, 0.0)
    point = MovedPart.capsule(np.array([[[0.2, 0, 0.1]] * 2]), 0.01)
    side = (0.2 * 0.5 + 0.1 * 0.02 - 0.02 * 0.5) / np.hypot(0.5, 0.02)
    assert apart(cone, point) == pytest.approx(side - 0.01, abs=1e-9)
    assert apart(one, frustum([0.02, 0, 0.2], [1, 0, 0.3], 0.5, 0.03)) == 0.0


def test_cylinders_anywhere_beside_their_surfaces_searched():
    """The convex problem of two nearest points, solved by SciPy."""
    rng, count = np.random.default_rng(0), 0

    def body(values):
        start, axis = values[:3], values[3:6] / np.linalg.norm(values[3:6])
        return start, axis, 0.1 + abs(values[6]), 0.05 + abs(values[7]), 0.05 + abs(values[8])

    def constraints(body, own):
        """A point within a frustum: between its ends, no farther from its axis than its side."""
        start, axis, length, low, high = body

        def radius_left(x):
            off = x[own] - start
            side = low + (high - low) * (off @ axis) / length
            return side**2 - (off @ off - (off @ axis) ** 2)

        return [
            {"type": "ineq", "fun": lambda x: (x[own] - start) @ axis},
            {"type": "ineq", "fun": lambda x: length - (x[own] - start) @ axis},
            {"type": "ineq", "fun": radius_left},
        ]

    for _ in range(30):
        a = body(0.3 * rng.normal(size=9))
        b = body(0.3 * rng.normal(size=9) + 1.2 * np.eye(9)[0])
        found = apart(*(frustum(one[0], one[1], *one[2:]) for one in (a, b)))
        inside = constraints(a, slice(0, 3)) + constraints(b, slice(3, 6))
        middles = np.concatenate([one[0] + one[2] / 2 * one[1] for one in (a, b)])
        searched = minimize(
            lambda x: np.sum((x[:3] - x[3:]) ** 2),
            middles,
            method="SLSQP",
            constraints=inside,
            options={"ftol": 1e-14, "maxiter": 300},
        )
        best = np.sqrt(searched.fun)
        if best > 0.01:
            assert found == pytest.approx(best, abs=2e-6)
            count += 1
    assert count > 15


def draft(tmp_path, *words):
    target = tmp_path / "robot.toml"
    assert run("new", "hexapod", "-o", target, *words).returncode == 0
    return gough.load(target)


def leg_names():
    return [(f"leg {i + 1}", f"leg {j + 1}") for i, j in combinations(range(6), 2)]


def test_a_leg_radius_counts_where_bodies_have_shapes(tmp_path):
    """Capsules from joint to joint that hold all bodies inside: distance of the axes less two radii."""
    robot = draft(tmp_path)
    turn = Rotation.from_rotvec([0.05, -0.1, 0.2]).as_matrix()
    shift = np.array([0.02, 0.01, 0.0])
    motion = gough.Motion(robot.home.position + shift, turn @ robot.home.rotation)
    axes, bodies = leg_distances(robot, motion), closest(robot, motion)
    for radius in (1e-4, 0.05, 0.1, 0.3):
        found = closest(robot, motion, leg_radius=radius)
        for name, axis in zip(leg_names(), axes, strict=True):
            here = found.distances[found.pairs.index(name)]
            if radius < 0.01:  # thinner than the bodies
                assert here == pytest.approx(bodies.distances[bodies.pairs.index(name)], abs=1e-9)
            else:
                assert here == pytest.approx(axis - 2 * radius, abs=1e-9)
    assert robot.check(motion, leg_radius=0.001).ok
    assert not robot.check(motion, leg_radius=0.3).ok


def test_rods_are_apart_by_the_distance_of_their_axes_less_both_radii():
    robot = gough.load("kim-ryu-2002")
    length = float(robot.description.legs.length[0, 0])
    rod = {"shape": "rod", "radius": 0.02, "length": length, "density": 1000.0}
    solid = robot.edited({"legs.link": rod})
    home = solid.home
    rng = np.random.default_rng(0)
    shift, turn = rng.uniform(-0.08, 0.08, (9, 3)), rng.uniform(-0.4, 0.4, (9, 3))
    rotation = Rotation.from_rotvec(turn).as_matrix() @ home.rotation
    motion = gough.Motion(home.position + shift, rotation)
    axes, found = leg_distances(robot, motion), closest(solid, motion)
    legs = robot.inverse_kinematics(motion)
    tips = motion.position[:, None] + robot.description.platform_points[..., 0].T @ np.swapaxes(
        motion.rotation, 1, 2
    )
    feet, between = tips - length * legs.direction, 0
    for k, (i, j) in enumerate(combinations(range(6), 2)):
        shares = np.stack(nearest(feet[:, i], tips[:, i], feet[:, j], tips[:, j]))
        inner = ((shares > 1e-6) & (shares < 1 - 1e-6)).all(axis=0)
        here = found.distances[:, found.pairs.index(leg_names()[k])]
        assert np.all(here >= axes[:, k] - 0.04 - 1e-12)
        np.testing.assert_allclose(here[inner], axes[inner, k] - 0.04, atol=1e-12)
        between += inner.sum()
    assert between > 3
