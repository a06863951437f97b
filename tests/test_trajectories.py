"""Trajectories of every kind: exact derivatives, batches, and refusal of bad input."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from cases.common import each_shape
from cases.errors import refusal
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
@settings(max_examples=30)
@given(data=st.data())
def test_rates_are_the_derivatives_of_the_pose(kind, data):
    trajectory, breaks = data.draw(trajectories(kind))
    share = data.draw(st.floats(0.001, 0.999))
    t = trajectory.start_time + share * trajectory.duration
    assume(np.all(np.abs(t - breaks) > 1e-3))
    assert_derivatives(trajectory, t)


@pytest.mark.parametrize("kind", [RestToRest, Spline])
@settings(max_examples=20)
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
    @each_shape
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
        with refusal(InputError, "samples", 2):
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
                with refusal(InputError, "time", 1, 0):
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
    with refusal(InputError, "Drop", "time", 2, 0, 1):
        Drop()(2)


POSES = Motion(np.zeros((3, 3)))
POSE = Motion([0, 0, 1])
LOST = Motion([[0, 0, 0], [0, np.nan, 0], [0, 0, 0]])
ZERO = np.zeros(6)
TERMS = np.zeros((6, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RestToRest(POSE, 1), ("RestToRest",)),
        (lambda: RestToRest(POSES[:1], 1), ("poses", "(1,)", 2)),
        (lambda: RestToRest(LOST, 1), ("poses.position", 1)),
        (lambda: RestToRest(np.zeros((3, 3)), 1), ("poses", "ndarray")),
        (lambda: RestToRest(POSES, 0), ("durations", 0)),
        (lambda: RestToRest(POSES, [1, -2]), (1, -2)),
        (lambda: RestToRest(POSES, [1, 1, 1]), ("durations", "(3,)", "(2,)")),
        (lambda: RestToRest(POSES, np.inf), ("durations", "inf")),
        (lambda: RestToRest(POSES, 1, [0, -1, 0]), (1, -1)),
        (lambda: RestToRest(POSES, 1, [0, 1]), ("rests", "(2,)", "(3,)")),
        (lambda: RestToRest(POSES, "slow"), ("durations", "array")),
        (lambda: Harmonic(ZERO[:5], ZERO, 1), ("Harmonic", "(5,)", "(6,)")),
        (lambda: Harmonic(POSES, ZERO, 1), ("start", "(3,)")),
        (lambda: Harmonic(ZERO, 1.0, 1), ("amplitude", "(6,)")),
        (lambda: Harmonic(ZERO, ZERO, 0), ("period", 0)),
        (lambda: Harmonic(ZERO, ZERO, [1, 2]), ("period", "(2,)")),
        (lambda: Harmonic(ZERO, ZERO, 1, -1), ("cycles", -1)),
        (lambda: Harmonic(ZERO, ZERO, 1, 1, "xyz"), ("xyz",)),
        (lambda: Circle([0, 0], 1, rpm=1), ("Circle", "(2,)", "(3,)")),
        (lambda: Circle([0, 0, np.inf], 1, rpm=1), (2,)),
        (lambda: Circle([0, 0, 0], -1, rpm=1), ("radius", -1)),
        (lambda: Circle([0, 0, 0], 1), ("speed",)),
        (lambda: Circle([0, 0, 0], 1, speed=1, rpm=1), ("speed",)),
        (lambda: Circle([0, 0, 0], 1, speed=0), ("speed", 0)),
        (lambda: Circle([0, 0, 0], 1, rpm=np.nan), ("speed", "nan")),
        (lambda: Circle([0, 0, 0], 1, rpm=1, turns=0), ("turns", 0)),
        (lambda: Circle([0, 0, 0], 1, rpm=1, axes=np.eye(3)), ("axes", "(3, 3)")),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[1, 1, 0], [-2, -2, 0]]),
            ("axes", "zero"),
        ),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[0, 0, 0], [1, 0, 0]]),
            ("axes", "zero"),
        ),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, axes=[[1, 0, 0], [0, 0, 0]]),
            ("axes", "zero"),
        ),
        (lambda: Circle([0, 0, 0], 1, rpm=1, rotation=2 * np.eye(3)), ("rotation", "orthogonal")),
        (
            lambda: Circle([0, 0, 0], 1, rpm=1, rotation=[np.eye(3)] * 2),
            ("pose", "(2,)"),
        ),
        (
            lambda: ConstantAcceleration(ZERO, ZERO, 1),
            ("ConstantAcceleration", "(6,)", 6),
        ),
        (lambda: ConstantAcceleration(ZERO, np.ones((2, 5)), 1), ("(2, 5)",)),
        (lambda: ConstantAcceleration(ZERO, np.ones((0, 6)), 1), ("(0, 6)",)),
        (
            lambda: ConstantAcceleration(ZERO, np.ones((2, 6)), [1, 0]),
            (1, 0),
        ),
        (
            lambda: ConstantAcceleration(ZERO, np.ones((2, 6)), [1, 1, 1]),
            ("durations", "(3,)", "(2,)"),
        ),
        (lambda: ConstantAcceleration([0] * 5, [ZERO], 1), ("start", "(5,)")),
        (lambda: ConstantAcceleration(ZERO, [ZERO], 1, "kim"), ("kim",)),
        (lambda: Fourier(POSES, TERMS, TERMS, 1), ("Fourier", "(3,)")),
        (lambda: Fourier(LOST[1], TERMS, TERMS, 1), ("center.position", 1)),
        (lambda: Fourier(POSE, TERMS[:5], TERMS, 1), ("sine", "(5, 2)", 6)),
        (lambda: Fourier(POSE, TERMS, TERMS[:, :1], 1), ("cosine", "(6, 1)", 6, 2)),
        (lambda: Fourier(POSE, TERMS, TERMS * np.nan, 1), (0,)),
        (lambda: Fourier(POSE, TERMS, TERMS, -1), ("period", -1)),
        (lambda: Fourier(POSE, TERMS, TERMS, 1, 0), ("cycles", 0)),
        (lambda: Spline([0, 1], POSES), ("Spline", "(2,)", "(3,)")),
        (lambda: Spline([0, 2, 1], POSES), (2, 1)),
        (lambda: Spline([0, 1, 1], POSES), (2, 1)),
        (lambda: Spline([0, np.nan, 1], POSES), (1,)),
        (lambda: Spline([0], POSES[:1]), ("poses", "(1,)", 2)),
        (lambda: Spline([0, 1, 2], LOST), ("poses.position", 1)),
    ],
)
def test_bad_input_is_named(call, message):
    with refusal(InputError, *message):
        call()
