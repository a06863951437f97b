"""Each kind of trajectory by its own law: rest to rest, harmonics, circles, Fourier series."""

import dataclasses
from math import pi

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.base.rotations import euler, exponential
from gough.motion import FIELDS, Motion
from gough.trajectories import (
    Circle,
    ConstantAcceleration,
    Fourier,
    Harmonic,
    RestToRest,
)


class TestRestToRest:
    poses = Motion(
        [[0, 0, 1], [0.2, -0.1, 1.1], [0.1, 0.3, 0.9]],
        Rotation.from_rotvec([[0.1, 0.2, 0.3], [-0.5, 0.4, 0.2], [0.3, 0.9, -1.2]]),
    )
    trajectory = RestToRest(poses, [2.0, 1.5], [0.5, 0.25, 1.0])

    def test_schedule(self):
        """Rest 0.5, move 2, rest 0.25, move 1.5, rest 1."""
        assert self.trajectory.duration == 5.25
        for time, pose in [(0, 0), (0.5, 0), (2.5, 1), (2.75, 1), (4.25, 2), (5.25, 2)]:
            motion = self.trajectory(time)
            expected = self.poses[pose]
            np.testing.assert_allclose(motion.position, expected.position, atol=1e-15)
            np.testing.assert_allclose(motion.rotation, expected.rotation, atol=1e-15)

    def test_ends_have_no_velocity_and_no_acceleration(self):
        rests = [*np.linspace(0, 0.5, 7), *np.linspace(2.5, 2.75, 7), *np.linspace(4.25, 5.25, 7)]
        motion = self.trajectory(rests)
        for name in FIELDS[2:6]:
            np.testing.assert_allclose(getattr(motion, name), 0.0, atol=1e-13)
        just_inside = self.trajectory([0.5 + 1e-7, 2.5 - 1e-7])
        assert np.all(np.linalg.norm(just_inside.acceleration, axis=-1) > 0)
        np.testing.assert_allclose(just_inside.acceleration, 0.0, atol=1e-6)

    def test_quintic(self):
        """Halfway in half the time, at 15/8 of the mean speed; 10τ³ − 15τ⁴ + 6τ⁵ elsewhere."""
        path = self.poses.position[1] - self.poses.position[0]
        middle = self.trajectory(1.5)
        np.testing.assert_allclose(middle.position, self.poses.position[:2].mean(axis=0))
        np.testing.assert_allclose(middle.velocity, 15 / 8 * path / 2.0)
        np.testing.assert_allclose(middle.acceleration, 0.0, atol=1e-15)
        share = 10 * 0.3**3 - 15 * 0.3**4 + 6 * 0.3**5
        expected = self.poses.position[0] + share * path
        np.testing.assert_allclose(self.trajectory(0.5 + 0.3 * 2).position, expected)

    def test_turns_about_one_axis_in_step_with_the_line(self):
        relative = self.poses.rotation[2] @ self.poses.rotation[1].T
        whole = Rotation.from_matrix(relative).as_rotvec()
        motion = self.trajectory(np.linspace(2.75, 4.25, 50)[1:-1])
        turned = Rotation.from_matrix(motion.rotation @ self.poses.rotation[1].T).as_rotvec()
        path = self.poses.position[2] - self.poses.position[1]
        share = (motion.position - self.poses.position[1]) @ path / (path @ path)
        np.testing.assert_allclose(turned, share[:, None] * whole, atol=1e-14)
        for spin in (motion.angular_velocity, motion.angular_acceleration):
            np.testing.assert_allclose(np.cross(spin, whole), 0.0, atol=1e-13)
        assert np.all(motion.angular_velocity @ whole > 0)

    def test_one_number_serves_all(self):
        trajectory = RestToRest(self.poses, 2, 1)
        assert trajectory.duration == 7.0
        assert RestToRest(self.poses, 2).duration == 4.0
        assert trajectory.durations.tolist() == [2, 2]
        assert trajectory.rests.tolist() == [1, 1, 1]


class TestHarmonic:
    def test_sinatra_equation_6(self):
        """Twice the starred values after half a period, from rest to rest, z with a minus sign."""
        h, z, x, turn = 0.606379, 0.15, 0.1, pi / 12
        trajectory = Harmonic([0, 0, h, 0, 0, 0], [x, 0, -z, 0, 0, turn], 6.0, cycles=0.5)
        assert trajectory.duration == 3.0
        motion = trajectory.sample(31)
        np.testing.assert_allclose(motion.position[-1], [2 * x, 0, h - 2 * z], atol=1e-15)
        np.testing.assert_allclose(
            Rotation.from_matrix(motion.rotation[-1]).as_rotvec(), [0, 0, 2 * turn], atol=1e-15
        )
        np.testing.assert_allclose(motion.velocity[[0, -1]], 0.0, atol=1e-15)
        np.testing.assert_allclose(motion.angular_velocity[[0, -1]], 0.0, atol=1e-15)
        wave = 1 - np.cos(pi / 3 * motion.time)
        np.testing.assert_allclose(motion.position[:, 0], x * wave, atol=1e-15)
        np.testing.assert_allclose(motion.position[:, 2], h - z * wave, atol=1e-15)
        np.testing.assert_allclose(
            motion.rotation, euler("XYZ", np.outer(wave, [0, 0, turn]))[0], atol=1e-15
        )

    def test_starts_at_a_pose(self):
        pose = Motion([0.1, 0.2, 0.9], Rotation.from_rotvec([0.3, -0.2, 0.5]))
        for convention in ("sinatra-xi-staicu-2009", "kim-ryu-2002", "ZXZ"):
            motion = Harmonic(pose, np.ones(6), 2.0, convention=convention)(0.0)
            np.testing.assert_allclose(motion.position, pose.position, atol=1e-15)
            np.testing.assert_allclose(motion.rotation, pose.rotation, atol=1e-14)


class TestCircle:
    def test_kim_circle_has_constant_speed(self):
        center = np.array([0, 0, 0.8])
        trajectory = Circle(center, 0.1, rpm=40)
        assert trajectory.duration == pytest.approx(1.5)
        motion = trajectory.sample(101)
        arm = motion.position - center
        rate = 40 * 2 * pi / 60
        np.testing.assert_allclose(np.linalg.norm(motion.velocity, axis=-1), 0.1 * rate)
        np.testing.assert_allclose(np.linalg.norm(arm, axis=-1), 0.1)
        np.testing.assert_allclose(motion.acceleration, -(rate**2) * arm, atol=1e-13)
        np.testing.assert_allclose(motion.position[0], motion.position[-1], atol=1e-15)
        assert not motion.angular_velocity.any()
        assert not motion.angular_acceleration.any()
        np.testing.assert_array_equal(motion.rotation, np.tile(np.eye(3), (101, 1, 1)))

    def test_plane_and_sense(self):
        """Starts along u, reaches v after a quarter turn; v need not be perpendicular, nor unit."""
        trajectory = Circle([1, 2, 3], 0.5, speed=2.0, axes=[[0, 3, 0], [0, 7, 0.1]])
        quarter = trajectory([0, pi / 4])
        np.testing.assert_allclose(quarter.position, [[1, 2.5, 3], [1, 2, 3.5]], atol=1e-15)
        back = dataclasses.replace(trajectory, speed=-2.0)(pi / 4)
        np.testing.assert_allclose(back.position, [1, 2, 2.5], atol=1e-15)
        np.testing.assert_allclose(trajectory.axes, [[0, 1, 0], [0, 0, 1]], atol=1e-15)

    def test_turns_and_units(self):
        assert Circle([0, 0, 0], 1, speed=pi, turns=2.5).duration == pytest.approx(5)
        assert Circle([0, 0, 0], 1, speed=-pi).duration == pytest.approx(2)
        assert Circle([0, 0, 0], 1, rpm=60).speed == pytest.approx(2 * pi)


class TestConstantAcceleration:
    rate = np.array([0.1, 0.1, 0.1, 0.05, 0.05, 0.1])
    start = np.array([0.01, 0.02, 0.8, 0.1, -0.2, 0.3])
    trajectory = ConstantAcceleration(start, [rate, -rate], 1.5)

    def test_kim_equation_33_ends_at_rest(self):
        assert self.trajectory.duration == 3.0
        end = self.trajectory(3.0)
        np.testing.assert_allclose(end.velocity, 0.0, atol=1e-16)
        np.testing.assert_allclose(end.angular_velocity, 0.0, atol=1e-16)
        np.testing.assert_allclose(end.acceleration, -self.rate[:3])
        reached = self.start + self.rate * 1.5**2
        np.testing.assert_allclose(end.position, reached[:3])
        np.testing.assert_allclose(end.rotation, euler("kim-ryu-2002", reached[3:])[0], atol=1e-15)

    def test_begins_at_rest_and_peaks_halfway(self):
        motion = self.trajectory([0.0, 1.5])
        np.testing.assert_array_equal(motion.velocity[0], 0.0)
        np.testing.assert_array_equal(motion.position[0], self.start[:3])
        np.testing.assert_allclose(motion.velocity[1], 0.15)
        np.testing.assert_allclose(motion.acceleration, [self.rate[:3], -self.rate[:3]])

    def test_angles_are_in_the_papers_order(self):
        """[Ψ, θ, φ] turn about x, y, z; from R = I the angular acceleration is [Ψ̈, θ̈, φ̈]."""
        motion = ConstantAcceleration(np.zeros(6), [[0, 0, 0, 0.1, 0.2, 0.3]], 1.0)(0.0)
        np.testing.assert_allclose(motion.angular_acceleration, [0.1, 0.2, 0.3])
        order = ConstantAcceleration(np.zeros(6), [[0, 0, 0, 0.1, 0.2, 0.3]], 1.0, "ZYX")(0.0)
        np.testing.assert_allclose(order.angular_acceleration, [0.3, 0.2, 0.1])


class TestFourier:
    def test_terms(self):
        """One sine and one cosine, world axes, about a turned centre."""
        center = Motion([1, 2, 3], Rotation.from_rotvec([0.5, 0.6, 0.7]))
        sine, cosine = np.zeros((2, 6, 3))
        sine[0, 1], cosine[4, 2] = 0.3, 0.2
        trajectory = Fourier(center, sine, cosine, 2.0, cycles=3)
        assert trajectory.duration == 6.0
        times = np.linspace(0, 6, 41)
        motion = trajectory(times)
        expected = np.outer(np.sin(2 * pi * times), [0.3, 0, 0]) + center.position
        np.testing.assert_allclose(motion.position, expected, atol=1e-14)
        turn = np.outer(np.cos(3 * pi * times), [0, 0.2, 0])
        np.testing.assert_allclose(
            motion.rotation, exponential(turn)[0] @ center.rotation, atol=1e-14
        )
        rate = np.outer(-3 * pi * np.sin(3 * pi * times), [0, 0.2, 0])
        np.testing.assert_allclose(motion.angular_velocity, rate, atol=1e-13)

    def test_no_terms_is_rest(self):
        motion = Fourier(Motion([0, 0, 1]), np.zeros((6, 0)), np.zeros((6, 0)), 1.0).sample(3)
        np.testing.assert_array_equal(motion.position, [[0, 0, 1]] * 3)
        assert not motion.velocity.any()
