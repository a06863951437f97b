"""Trajectories: exact derivatives, the papers' motions, batches, and refusal of bad input."""

import dataclasses
from itertools import pairwise
from math import pi

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation, RotationSpline

from gough.base.rotations import euler, exponential
from gough.errors import InputError
from gough.motion import FIELDS, Motion
from gough.trajectories import (
    Circle,
    ConstantAcceleration,
    Fourier,
    Harmonic,
    RestToRest,
    Spline,
    Trajectory,
)

SHAPES = [(), (1,), (3, 1, 2), (0,)]
KINDS = [RestToRest, Harmonic, Circle, ConstantAcceleration, Fourier, Spline]

turn_scales = st.sampled_from([0.0, 1e-9, 1e-4, 1e-2, 1.0])
spans = st.floats(0.5, 2.0)


def arrays(*shape):
    return hnp.arrays(np.float64, shape, elements=st.floats(-1, 1, allow_subnormal=False))


@st.composite
def trajectories(draw, kind):
    """A trajectory of this kind and the times at which its third derivative may jump."""
    count = draw(st.integers(2, 9))
    scales = np.r_[np.ones(3), np.full(3, draw(turn_scales))]
    convention = draw(st.sampled_from(["kim-ryu-2002", "sinatra-xi-staicu-2009", "ZXZ", "XYZ"]))
    poses = Motion(
        draw(arrays(count, 3)),
        Rotation.from_rotvec(draw(arrays(3)))
        * Rotation.from_rotvec(0.4 * scales[3:] * draw(arrays(count, 3))),
    )
    durations = np.array(draw(st.lists(spans, min_size=count - 1, max_size=count - 1)))
    if kind is RestToRest:
        rests = np.array(draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
        starts = np.cumsum(rests[:-1]) + np.cumsum(np.r_[0, durations[:-1]])
        return kind(poses, durations, rests), np.r_[starts, starts + durations]
    if kind is Harmonic:
        start, amplitude = draw(arrays(6)), scales * draw(arrays(6))
        return kind(start, amplitude, draw(spans), convention=convention), np.empty(0)
    if kind is Circle:
        axes = draw(arrays(2, 3))
        assume(np.linalg.norm(np.cross(*axes)) > 1e-3)
        speed = draw(st.floats(0.5, 5)) * draw(st.sampled_from([-1, 1]))
        rotation = poses.rotation[0]
        center, radius = draw(arrays(3)), draw(st.floats(0.01, 1))
        return kind(center, radius, speed=speed, axes=axes, rotation=rotation), np.empty(0)
    if kind is ConstantAcceleration:
        pieces = scales * draw(arrays(count - 1, 6))
        trajectory = kind(draw(arrays(6)), pieces, durations, convention)
        return trajectory, np.r_[0, np.cumsum(durations)]
    if kind is Fourier:
        sine, cosine = (0.3 * scales[:, None] * draw(arrays(6, 3)) for _ in range(2))
        return kind(poses[0], sine, cosine, period=draw(spans) * 2), np.empty(0)
    times = draw(st.floats(-10, 10)) + np.r_[0, np.cumsum(durations)]
    return kind(times, poses), times


def central(values, h):
    """First derivative at the middle of five samples, to fourth order."""
    return (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * h)


def assert_derivatives(trajectory, t):
    h = 2e-4
    motion = trajectory(t + h * np.arange(-2, 3))
    spin = central(motion.rotation, h) @ motion.rotation[2].T
    spin = (spin - spin.T) / 2
    pairs = {
        "velocity": central(motion.position, h),
        "angular_velocity": np.array([spin[2, 1], spin[0, 2], spin[1, 0]]),
        "acceleration": central(motion.velocity, h),
        "angular_acceleration": central(motion.angular_velocity, h),
    }
    for name, numeric in pairs.items():
        exact = getattr(motion, name)
        scale = 1 + np.abs(exact).max()
        np.testing.assert_allclose(exact[2], numeric, atol=1e-6 * scale, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_rates_are_the_derivatives_of_the_pose(kind, data):
    trajectory, breaks = data.draw(trajectories(kind))
    share = data.draw(st.floats(0.001, 0.999))
    t = trajectory.start_time + share * trajectory.duration
    assume(np.all(np.abs(t - breaks) > 1e-3))
    assert_derivatives(trajectory, t)


@pytest.mark.parametrize("kind", [RestToRest, Spline])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_acceleration_is_continuous(kind, data):
    trajectory, breaks = data.draw(trajectories(kind))
    inner = breaks[(breaks > trajectory.start_time) & (breaks < breaks.max())]
    tiny = 1e-9
    before, after = trajectory(inner - tiny), trajectory(inner + tiny)
    for name in FIELDS[:6]:
        one, other = getattr(before, name), getattr(after, name)
        np.testing.assert_allclose(one, other, atol=1e-5 * (1 + np.abs(one).max(initial=0.0)))


def examples():
    rng = np.random.default_rng(4)
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (7, 3)))
    poses = Motion(rng.normal(size=(7, 3)), turns)
    return [
        RestToRest(poses, rng.uniform(1, 2, 6), 0.3),
        Harmonic(rng.normal(size=6), rng.normal(size=6), 6.0, cycles=0.5),
        Circle([0, 0, 1], 0.1, rpm=40, turns=1.5),
        ConstantAcceleration(rng.normal(size=6), rng.normal(size=(4, 6)), 0.7),
        Fourier(poses[0], *rng.normal(size=(2, 6, 3)) / 4, 2.0),
        Spline(np.arange(7.0) - 2, poses),
    ]


@pytest.mark.parametrize("trajectory", examples(), ids=lambda one: type(one).__name__)
class TestEveryKind:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_times_of_any_shape(self, trajectory, shape):
        rng = np.random.default_rng(5)
        times = trajectory.start_time + trajectory.duration * rng.uniform(size=shape)
        motion = trajectory(times)
        assert motion.shape == shape
        np.testing.assert_array_equal(motion.time, times)
        for index in np.ndindex(shape):
            single = trajectory(float(times[index]))
            for name in FIELDS:
                np.testing.assert_allclose(
                    getattr(single, name), getattr(motion[index], name), rtol=0, atol=1e-13
                )

    def test_samples_run_evenly_from_first_to_last(self, trajectory):
        motion = trajectory.sample(11)
        first, last = trajectory.start_time, trajectory.start_time + trajectory.duration
        np.testing.assert_allclose(motion.time, np.linspace(first, last, 11), rtol=0, atol=0)
        np.testing.assert_allclose(motion.position[-1], trajectory(last).position, atol=1e-14)

    @pytest.mark.parametrize("samples", [1, 0, -3, 2.0, "3", None])
    def test_samples_are_a_whole_number_of_two_or_more(self, trajectory, samples):
        with pytest.raises(InputError, match=r"samples is .* at least 2"):
            trajectory.sample(samples)

    @pytest.mark.parametrize(
        ("time", "message"),
        [
            ([0.1, np.nan], r"time\[1\] is nan, must be finite"),
            (np.inf, "time is inf, must be finite"),
            ("now", "time is not an array of numbers"),
        ],
    )
    def test_bad_times_are_named(self, trajectory, time, message):
        with pytest.raises(InputError, match=f"{type(trajectory).__name__}: {message}"):
            trajectory(time)

    def test_times_outside(self, trajectory):
        first, last = trajectory.start_time, trajectory.start_time + trajectory.duration
        if trajectory.outside == "refuse":
            for time in (first - 1e-6, last + 1e-6):
                with pytest.raises(InputError, match=r"time\[1, 0\] is .*, must be in \[.*\] s"):
                    trajectory([[first], [time]])
            rounded = trajectory([np.nextafter(first, -np.inf), np.nextafter(last, np.inf)])
            np.testing.assert_allclose(rounded.position, trajectory([first, last]).position)
            barely = trajectory(last + 5e-11 * trajectory.duration)
            np.testing.assert_array_equal(barely.position, trajectory(last).position)
            np.testing.assert_array_equal(barely.rotation, trajectory(last).rotation)
        elif trajectory.outside == "hold":
            held, ends = trajectory([first - 5, last + 5]), trajectory([first, last])
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(held, name), getattr(ends, name))
        else:
            assert_derivatives(trajectory, first)
            assert_derivatives(trajectory, last)
            assert_derivatives(trajectory, -7.3)

    def test_frozen(self, trajectory):
        with pytest.raises(dataclasses.FrozenInstanceError):
            trajectory.duration = 1.0
        held = [getattr(trajectory, one.name) for one in dataclasses.fields(trajectory)]
        for value in held:
            assert not isinstance(value, np.ndarray) or not value.flags.writeable

    def test_replaced_by_itself_is_the_same_motion(self, trajectory):
        again = dataclasses.replace(trajectory)
        assert again is not trajectory
        one, other = again.sample(20), trajectory.sample(20)
        for name in FIELDS:
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


def test_what_is_given_is_copied():
    accelerations, durations = np.ones((2, 6)), np.ones(2)
    trajectory = ConstantAcceleration(np.zeros(6), accelerations, durations)
    accelerations[:], durations[:] = 5.0, 5.0
    assert trajectory.duration == 2.0
    np.testing.assert_allclose(trajectory(2.0).velocity, [2, 2, 2])


@pytest.mark.parametrize(
    "build",
    [
        lambda poses: RestToRest(poses, 1.0),
        lambda poses: Spline(np.arange(3.0), poses),
        lambda poses: Fourier(poses[0], np.zeros((6, 1)), np.zeros((6, 1)), 1.0),
        lambda poses: Circle([0, 0, 0], 1.0, speed=1.0, rotation=poses.rotation[0]),
    ],
)
def test_poses_within_a_motions_tolerance_are_made_orthogonal(build):
    skewed = np.eye(3) + 1e-10 * np.random.default_rng(9).normal(size=(3, 3, 3))
    assert np.abs(skewed @ skewed.swapaxes(-1, -2) - np.eye(3)).max() > 1e-10
    rotation = build(Motion(np.zeros((3, 3)), skewed)).sample(9).rotation
    np.testing.assert_allclose(
        rotation @ rotation.swapaxes(-1, -2), np.tile(np.eye(3), (9, 1, 1)), rtol=0, atol=2e-15
    )


def test_own_trajectories_need_only_a_duration_and_a_state():
    class Drop(Trajectory):
        duration = 1.0

        def _state(self, t):
            down, still = np.array([0, 0, -9.81]), np.zeros((*t.shape, 3))
            t = t[..., None]
            return down * t**2 / 2, np.eye(3), down * t, still, down + still, still

    assert_derivatives(Drop(), 0.5)
    assert Drop().sample(5).shape == (5,)
    with pytest.raises(InputError, match=r"Drop: time is 2, must be in \[0, 1\] s"):
        Drop()(2)


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

    def test_rates_are_scipys_turned_into_world_axes(self):
        rng = np.random.default_rng(7)
        times, rotation = np.arange(5.0), Rotation.from_rotvec(rng.uniform(-0.7, 0.7, (5, 3)))
        motion = Spline(times, Motion(np.zeros((5, 3)), rotation)).sample(40)
        theirs = RotationSpline(times, rotation)
        for order, ours in ((1, motion.angular_velocity), (2, motion.angular_acceleration)):
            body = theirs(motion.time, order)
            np.testing.assert_allclose(ours, theirs(motion.time).apply(body), atol=1e-7)
            assert np.abs(ours - body).max() > 0.05

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
        """Here scipy's iteration ends with angular acceleration jumping at the poses."""
        steps = np.random.default_rng(0).normal(size=(8, 3))
        steps *= 3.0 / np.linalg.norm(steps, axis=-1, keepdims=True)
        rotation = [Rotation.identity()]
        for step in steps:
            rotation.append(rotation[-1] * Rotation.from_rotvec(step))
        poses = Motion(np.zeros((9, 3)), Rotation.concatenate(rotation))
        with pytest.raises(InputError, match=r"no smooth rotation through poses\[\d\]"):
            Spline(np.arange(9.0), poses)


POSES = Motion(np.zeros((3, 3)))
POSE = Motion([0, 0, 1])
LOST = Motion([[0, 0, 0], [0, np.nan, 0], [0, 0, 0]])
ZERO = np.zeros(6)
TERMS = np.zeros((6, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RestToRest(POSE, 1), r"RestToRest: poses has batch shape \(\), needs \(k,\)"),
        (lambda: RestToRest(POSES[:1], 1), r"poses has batch shape \(1,\).*at least 2"),
        (lambda: RestToRest(LOST, 1), r"poses.position\[1, 1\] is nan, must be finite"),
        (lambda: RestToRest(np.zeros((3, 3)), 1), "poses is a ndarray, must be a Motion"),
        (lambda: RestToRest(POSES, 0), "durations is 0, must be positive"),
        (lambda: RestToRest(POSES, [1, -2]), r"durations\[1\] is -2, must be positive"),
        (lambda: RestToRest(POSES, [1, 1, 1]), r"durations has shape \(3,\), needs \(\) or \(2,\)"),
        (lambda: RestToRest(POSES, np.inf), "durations is inf, must be finite"),
        (lambda: RestToRest(POSES, 1, [0, -1, 0]), r"rests\[1\] is -1, must not be negative"),
        (lambda: RestToRest(POSES, 1, [0, 1]), r"rests has shape \(2,\), needs \(\) or \(3,\)"),
        (lambda: RestToRest(POSES, "slow"), "durations is not an array of numbers"),
        (lambda: Harmonic(ZERO[:5], ZERO, 1), r"Harmonic: start has shape \(5,\), needs \(6,\)"),
        (lambda: Harmonic(POSES, ZERO, 1), r"start has batch shape \(3,\), needs \(\)"),
        (lambda: Harmonic(ZERO, 1.0, 1), r"amplitude has shape \(\), needs \(6,\)"),
        (lambda: Harmonic(ZERO, ZERO, 0), "period is 0, must be positive"),
        (lambda: Harmonic(ZERO, ZERO, [1, 2]), r"period has shape \(2,\), needs \(\)"),
        (lambda: Harmonic(ZERO, ZERO, 1, -1), "cycles is -1, must be positive"),
        (lambda: Harmonic(ZERO, ZERO, 1, 1, "xyz"), "no Euler angles 'xyz'"),
        (lambda: Circle([0, 0], 1, rpm=1), r"Circle: center has shape \(2,\), needs \(3,\)"),
        (lambda: Circle([0, 0, np.inf], 1, rpm=1), r"center\[2\] is inf, must be finite"),
        (lambda: Circle([0, 0, 0], -1, rpm=1), "radius is -1, must be positive"),
        (lambda: Circle([0, 0, 0], 1), "needs either speed"),
        (lambda: Circle([0, 0, 0], 1, speed=1, rpm=1), "needs either speed"),
        (lambda: Circle([0, 0, 0], 1, speed=0), "speed is 0, must not be zero"),
        (lambda: Circle([0, 0, 0], 1, rpm=np.nan), "speed is nan, must be finite"),
        (lambda: Circle([0, 0, 0], 1, rpm=1, turns=0), "turns is 0, must be positive"),
        (lambda: Circle([0, 0, 0], 1, rpm=1, axes=np.eye(3)), r"axes has shape \(3, 3\)"),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[1, 1, 0], [-2, -2, 0]]),
            "axes must not be zero or parallel",
        ),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[0, 0, 0], [1, 0, 0]]),
            "axes must not be zero or parallel",
        ),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[1, 0, 0], [0, 0, 0]]),
            "axes must not be zero or parallel",
        ),
        (lambda: Circle([0, 0, 0], 1, rpm=1, rotation=2 * np.eye(3)), "rotation is not orthogonal"),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, rotation=[np.eye(3)] * 2),
            r"pose has batch shape \(2,\), needs \(\)",
        ),
        (
            lambda: ConstantAcceleration(ZERO, ZERO, 1),
            r"ConstantAcceleration: accelerations has shape \(6,\), needs \(n, 6\)",
        ),
        (lambda: ConstantAcceleration(ZERO, np.ones((2, 5)), 1), r"shape \(2, 5\)"),
        (lambda: ConstantAcceleration(ZERO, np.ones((0, 6)), 1), r"shape \(0, 6\)"),
        (
            lambda: ConstantAcceleration(ZERO, np.ones((2, 6)), [1, 0]),
            r"durations\[1\] is 0, must be positive",
        ),
        (
            lambda: ConstantAcceleration(ZERO, np.ones((2, 6)), [1, 1, 1]),
            r"durations has shape \(3,\), needs \(\) or \(2,\)",
        ),
        (lambda: ConstantAcceleration([0] * 5, [ZERO], 1), r"start has shape \(5,\)"),
        (lambda: ConstantAcceleration(ZERO, [ZERO], 1, "kim"), "no Euler angles 'kim'"),
        (lambda: Fourier(POSES, TERMS, TERMS, 1), r"Fourier: center has batch shape \(3,\)"),
        (lambda: Fourier(LOST[1], TERMS, TERMS, 1), r"center.position\[1\] is nan"),
        (lambda: Fourier(POSE, TERMS[:5], TERMS, 1), r"sine has shape \(5, 2\), needs \(6, harm"),
        (lambda: Fourier(POSE, TERMS, TERMS[:, :1], 1), r"cosine has shape \(6, 1\), needs \(6, 2"),
        (lambda: Fourier(POSE, TERMS, TERMS * np.nan, 1), r"cosine\[0, 0\] is nan"),
        (lambda: Fourier(POSE, TERMS, TERMS, -1), "period is -1, must be positive"),
        (lambda: Fourier(POSE, TERMS, TERMS, 1, 0), "cycles is 0, must be positive"),
        (lambda: Spline([0, 1], POSES), r"Spline: times has shape \(2,\), needs \(3,\)"),
        (lambda: Spline([0, 2, 1], POSES), r"times\[2\] is 1, must increase"),
        (lambda: Spline([0, 1, 1], POSES), r"times\[2\] is 1, must increase"),
        (lambda: Spline([0, np.nan, 1], POSES), r"times\[1\] is nan, must be finite"),
        (lambda: Spline([0], POSES[:1]), r"poses has batch shape \(1,\).*at least 2"),
        (lambda: Spline([0, 1, 2], LOST), r"poses.position\[1, 1\] is nan"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
