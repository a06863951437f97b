"""Rates from sampled poses: as right at both ends as inside, for turns as for positions.

The truth is analytic: turns about one axis, and turns about two axes differentiated by hand.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough import Motion
from gough.trajectories import Spline


def swing(t, amplitude, frequency):
    """A turn A cos(2πft), its rate and its acceleration."""
    w = 2 * np.pi * frequency
    return (
        amplitude * np.cos(w * t),
        -amplitude * w * np.sin(w * t),
        -amplitude * w**2 * np.cos(w * t),
    )


def tumble(t):
    """R = exp(a z×) exp(b x×): ω = ȧ z + ḃ Z x, ω̇ = ä z + b̈ Z x + ȧ ḃ z × Z x, with Z = exp(a z×)."""
    a, ad, add = swing(t, 0.9, 1.5)
    b, bd, bdd = swing(t + 0.1, 0.7, 1.1)
    z, zero = np.array([0.0, 0.0, 1.0]), np.zeros_like(a)
    about = Rotation.from_rotvec(a[:, np.newaxis] * z)
    x = np.stack([np.cos(a), np.sin(a), zero], axis=-1)
    across = np.stack([-np.sin(a), np.cos(a), zero], axis=-1)  # z × x
    turned = about * Rotation.from_rotvec(b[:, np.newaxis] * [1.0, 0.0, 0.0])
    omega = ad[:, np.newaxis] * z + bd[:, np.newaxis] * x
    alpha = add[:, np.newaxis] * z + bdd[:, np.newaxis] * x + (ad * bd)[:, np.newaxis] * across
    return turned, omega, alpha


@pytest.mark.parametrize(("samples", "bound"), [(101, 1e-3), (401, 1e-5)])
@pytest.mark.parametrize("amplitude", [0.1, 1.2])
def test_angular_acceleration_is_right_at_both_ends(amplitude, samples, bound):
    t = np.linspace(0.0, 1.0, samples)
    angle, rate, acceleration = swing(t, amplitude, 1.5)
    axis = np.array([0.0, 1.0, 0.0])
    motion = Motion.from_samples(
        t, np.zeros((samples, 3)), Rotation.from_rotvec(np.outer(angle, axis))
    )
    scale = np.abs(acceleration).max()
    missed = np.abs(motion.angular_acceleration - np.outer(acceleration, axis))
    assert missed.max() < bound * scale
    assert missed[samples // 4 : -samples // 4].max() < bound / 100 * scale
    np.testing.assert_allclose(
        motion.angular_velocity, np.outer(rate, axis), atol=bound * np.abs(rate).max()
    )


def test_turns_about_changing_axes():
    t = np.linspace(0.0, 1.0, 201)
    turned, omega, alpha = tumble(t)
    motion = Motion.from_samples(t, np.zeros((201, 3)), turned)
    assert np.abs(motion.angular_velocity - omega).max() < 1e-6 * np.abs(omega).max()
    assert np.abs(motion.angular_acceleration - alpha).max() < 1e-4 * np.abs(alpha).max()


def test_between_poses():
    t = np.linspace(0.0, 1.0, 201)
    spline = Spline(t, Motion(np.zeros((201, 3)), tumble(t)[0]))
    fine = np.linspace(0.0, 1.0, 1013)
    turned, omega, alpha = tumble(fine)
    motion = spline(fine)
    np.testing.assert_allclose(motion.rotation, turned.as_matrix(), atol=1e-8)
    assert np.abs(motion.angular_velocity - omega).max() < 1e-6 * np.abs(omega).max()
    assert np.abs(motion.angular_acceleration - alpha).max() < 1e-4 * np.abs(alpha).max()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 9, 40])
def test_the_axes_of_world_and_platform_do_not_matter(count):
    rng = np.random.default_rng(count)
    t = np.cumsum(rng.uniform(0.05, 0.3, count))
    poses = Motion(
        rng.normal(size=(count, 3)), Rotation.from_rotvec(rng.uniform(-0.9, 0.9, (count, 3)))
    )
    world, platform = Rotation.from_rotvec([2.0, -1.0, 0.7]), Rotation.from_rotvec([0.3, 2.5, -1.4])
    turned = world * Rotation.from_matrix(poses.rotation) * platform
    one = Spline(t, poses).sample(50)
    other = Spline(t, Motion(poses.position @ world.as_matrix().T, turned)).sample(50)
    expected = world * Rotation.from_matrix(one.rotation) * platform
    np.testing.assert_allclose(other.rotation, expected.as_matrix(), atol=1e-12)
    for name in ("velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        there = getattr(one, name) @ world.as_matrix().T
        np.testing.assert_allclose(
            getattr(other, name), there, atol=1e-9 * (np.abs(there).max() + 1)
        )


@pytest.mark.parametrize("count", [2, 3, 5, 8, 100])
def test_a_constant_angular_velocity_is_met_exactly(count):
    """Also where a turn from pose to pose is wide, and the whole of it many turns."""
    rng = np.random.default_rng(count)
    t, rate = np.cumsum(rng.uniform(0.5, 1.0, count)), np.array([0.5, -2.0, 1.0])
    motion = Motion.from_samples(t, np.zeros((count, 3)), Rotation.from_rotvec(np.outer(t, rate)))
    np.testing.assert_allclose(motion.angular_velocity, np.tile(rate, (count, 1)), atol=1e-10)
    np.testing.assert_allclose(motion.angular_acceleration, 0, atol=1e-8)


def test_what_does_not_turn_has_no_angular_rates_at_all():
    """Rates of 1e-10 would not fit a platform that cannot turn."""
    t = np.linspace(0.0, 1.0, 10_001)
    position = np.stack([np.sin(t), np.full_like(t, 0.3), np.full_like(t, 0.7)], axis=-1)
    motion = Motion.from_samples(t, position, np.tile(tumble(t[:1])[0].as_matrix(), (10_001, 1, 1)))
    assert not motion.angular_velocity.any()
    assert not motion.angular_acceleration.any()
    assert not motion.acceleration[:, 1:].any()


def test_many_samples_and_uneven_times():
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.5e-3, 1.5e-3, 100_000))
    turned, omega, alpha = tumble(t)
    motion = Motion.from_samples(t, np.zeros((len(t), 3)), turned)
    np.testing.assert_allclose(motion.angular_velocity, omega, atol=1e-8)
    np.testing.assert_allclose(motion.angular_acceleration, alpha, atol=1e-3)
