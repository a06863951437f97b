"""Splines through poses: their knots, ends and smoothness."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cases.errors import refusal
from gough.errors import InputError
from gough.motion import FIELDS, Motion
from gough.trajectories import (
    Spline,
)


class TestSpline:
    @pytest.mark.parametrize("count", range(2, 12))
    def test_meets_poses_and_reproduces_polynomials(self, count):
        """Any polynomial of degree up to five, or of what the number of poses allows."""
        rng = np.random.default_rng(count)
        times = np.cumsum(rng.uniform(0.2, 0.5, count)) - 1
        path = np.polynomial.Polynomial(rng.normal(size=min(5, count - 1) + 1))
        position = np.outer(path(times), [1, -2, 3])
        rotation = Rotation.from_rotvec(rng.uniform(-0.3, 0.3, (count, 3)))
        trajectory = Spline(times, Motion(position, rotation))
        met = trajectory(times)
        np.testing.assert_allclose(met.position, position, atol=1e-13)
        np.testing.assert_allclose(met.rotation, rotation.as_matrix(), atol=1e-14)
        fine = trajectory.sample(50)
        for order, name in enumerate(("position", "velocity", "acceleration")):
            exact = np.outer((path.deriv(order) if order else path)(fine.time), [1, -2, 3])
            np.testing.assert_allclose(getattr(fine, name), exact, atol=1e-8)

    def test_position_is_four_times_differentiable(self):
        """Acceleration is cubic in each interval; value, slope and curvature meet at the knots."""
        rng = np.random.default_rng(6)
        times = np.cumsum(rng.uniform(0.5, 1.5, 12))
        trajectory = Spline(times, Motion(rng.normal(size=(12, 3))))
        pieces = []
        for first, last in pairwise(times):
            t = np.linspace(first, last, 6)[1:-1]
            pieces.append(np.polynomial.Polynomial.fit(t, trajectory(t).acceleration[:, 0], 3))
        third = []
        for knot, before, after in zip(times[1:-1], pieces[:-1], pieces[1:], strict=True):
            for order in range(3):
                one, other = (before.deriv(order)(knot), after.deriv(order)(knot))
                assert one == pytest.approx(other, rel=1e-8, abs=1e-6)
            third.append(abs(before.deriv(3)(knot) - after.deriv(3)(knot)))
        assert max(third) > 1

    def test_clock_times(self):
        """Seconds since 1970 serve as well as seconds since the start."""
        rng = np.random.default_rng(8)
        steps, origin = np.r_[0, np.cumsum(rng.integers(1, 4, 7) / 8)], 1.7e9
        poses = Motion(rng.normal(size=(8, 3)), Rotation.from_rotvec(rng.normal(size=(8, 3)) / 4))
        late, early = Spline(origin + steps, poses), Spline(steps, poses)
        assert late.start_time == origin
        assert late.duration == early.duration
        end = origin + late.duration
        beyond = late(np.nextafter(end, np.inf))
        np.testing.assert_array_equal(beyond.position, late(end).position)
        t = np.arange(0, early.duration, 1 / 64)
        for name in FIELDS:
            one, other = getattr(late(origin + t), name), getattr(early(t), name)
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)

    def test_constant_pose_and_constant_rate(self):
        still = Spline(np.arange(8.0), Motion(np.ones((8, 3)))).sample(30)
        np.testing.assert_allclose(still.acceleration, 0.0, atol=1e-12)
        assert not still.angular_velocity.any()
        steady = Rotation.from_rotvec(np.outer(np.arange(8.0), [0, 0, 0.5]))
        turning = Spline(np.arange(8.0), Motion(np.zeros((8, 3)), steady)).sample(30)
        np.testing.assert_allclose(turning.angular_velocity, [[0, 0, 0.5]] * 30, atol=1e-12)

    def test_rotations_too_far_apart(self):
        """Turns near half a turn may as well have gone the other way round."""
        steps = np.random.default_rng(0).normal(size=(8, 3))
        steps *= 3.0 / np.linalg.norm(steps, axis=-1, keepdims=True)
        rotation = [Rotation.identity()]
        for step in steps:
            rotation.append(rotation[-1] * Rotation.from_rotvec(step))
        poses = Motion(np.zeros((9, 3)), Rotation.concatenate(rotation))
        with refusal(InputError, "smooth", "rotation"):
            Spline(np.arange(9.0), poses)
