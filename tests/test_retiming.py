"""Retimed motions: limits kept between samples, near the optimum, and refusals that name the culprit."""

import numpy as np
import pytest

import gough
from cases.command import run
from cases.errors import refusal
from gough.errors import InputError, LimitError, MissingDataError, SingularError
from gough.planning import Path, retime
from gough.planning.course import Stretch, course_of
from gough.trajectories import Circle, Harmonic, RestToRest

pytest.importorskip("toppra")
CELLS = 200


@pytest.fixture(scope="module")
def circle(kim):
    return Circle(kim.home.position, 0.1, rpm=20)


@pytest.mark.parametrize(
    "limits",
    [
        {"speed": 0.5, "force": 200},
        {"force": 200, "power": 40},
        {"force": 300, "platform_speed": 0.5, "platform_acceleration": 5.0},
    ],
    ids=lambda one: " ".join(one),
)
def test_limits_are_met_between_the_samples_and_one_is_active(kim, circle, limits):
    found = retime(kim, circle, **limits, cells=CELLS)
    share = found.shares(np.linspace(0, found.duration, 10 * CELLS + 1)).max(axis=1)
    assert share.max() <= 1 + 1e-6
    assert np.mean(share > 0.95) > 0.95


def test_the_path_is_kept_and_rates_are_those_of_the_poses(kim, circle):
    found = retime(kim, circle, speed=0.5, force=200, cells=CELLS)
    t = np.linspace(0, found.duration, 301)[1:-1]
    now, after, before = found(t), found(t + 1e-7), found(t - 1e-7)
    radius = np.linalg.norm(now.position - kim.home.position, axis=1)
    np.testing.assert_allclose(radius, 0.1, atol=1e-12)
    speed = (after.position - before.position) / 2e-7
    np.testing.assert_allclose(speed, now.velocity, atol=1e-5)
    assert np.abs(found(0.0).velocity).max() == np.abs(found(found.duration).velocity).max() == 0
    legs = kim.inverse_dynamics(now).forces
    assert np.abs(legs).max() <= 200
    assert kim.check(found.sample(501)).ok


def test_a_mass_on_a_straight_line_goes_as_bang_bang_says(kim):
    """Platform acceleration a alone: T = 2 √(d/a); with a speed limit v: d/v + v/a."""
    line = RestToRest(gough.Motion(np.add(kim.home.position, [[0, 0, 0], [0.1, 0, 0]])), 1.0)
    found = retime(kim, line, platform_acceleration=4.0, cells=CELLS)
    assert found.duration == pytest.approx(2 * np.sqrt(0.1 / 4), rel=1e-4)
    found = retime(kim, line, platform_acceleration=4.0, platform_speed=0.3, cells=CELLS)
    assert found.duration == pytest.approx(0.1 / 0.3 + 0.3 / 4, rel=2e-3)


def test_finely_sampled_motions_start_and_end_where_they_did(kim):
    """A spline through samples has a direction of its rounding where it hardly moves."""
    turn = 0.05 * np.array([[0, 0, 0], [1.0, -0.5, 0.8]])
    poses = gough.Motion(np.add(kim.home.position, [[0, 0, 0], [0.05, 0.02, 0.03]]), rotvec=turn)
    samples = RestToRest(poses, 2.0).sample(401)
    found = retime(kim, samples, speed=0.3, force=300, cells=CELLS)
    for end, given in ((found(0.0), samples[0]), (found(found.duration), samples[-1])):
        np.testing.assert_allclose(end.position, given.position, atol=1e-12)
        np.testing.assert_allclose(end.rotation, given.rotation, atol=1e-12)
    assert found.shares(np.linspace(0, found.duration, 10 * CELLS + 1)).max() <= 1 + 1e-6


def test_friction_takes_time_and_uniform_keeps_the_timing(kim, circle):
    loose = retime(kim, circle, force=150, friction=False, cells=CELLS)
    rough = retime(kim, circle, force=150, cells=CELLS)
    assert rough.duration > loose.duration
    even = retime(kim, circle, force=150, uniform=True)
    t = np.linspace(0, even.duration, 4001)
    share = even.shares(t).max()
    assert 1 - 1e-5 < share <= 1 + 1e-6
    factor = circle.duration / even.duration
    np.testing.assert_allclose(even(t).velocity, circle(t * factor).velocity * factor, atol=1e-9)


@pytest.mark.second_tier
def test_jerk_is_limited(kim, circle):
    fast = retime(kim, circle, speed=0.5, force=300, cells=CELLS)
    found = retime(kim, circle, speed=0.5, force=300, jerk=200.0, cells=CELLS)
    t = np.linspace(0, found.duration, 3001)
    motion = found(t)
    jerk = np.diff(kim.inverse_kinematics(motion).qdd, axis=0) / np.diff(t)[:, None]
    assert np.abs(jerk).max() <= 200 * (1 + 1e-3)
    assert found.demands.shares(found.motion(t)).max() <= 1 + 1e-6
    assert fast.duration < found.duration < 2 * fast.duration


def test_stops_and_rests_are_found(kim):
    poses = gough.Motion(np.add(kim.home.position, [[0, 0, 0], [0.05, 0, 0], [0, 0.05, 0]]))
    parts = course_of(kim, RestToRest(poses, 1.0, [0.2, 0.1, 0.0]))
    kinds = [type(part).__name__ for part in parts]
    assert kinds == ["Rest", "Stretch", "Rest", "Stretch"]
    assert parts[2].duration == pytest.approx(0.1, abs=1e-5)
    swing = Harmonic(kim.home, [0.05, 0, 0, 0, 0, 0], period=2.0)  # there and back
    parts = course_of(kim, swing)
    assert [type(part).__name__ for part in parts] == ["Stretch", "Stretch"]
    assert parts[0].end == pytest.approx(1.0, abs=1e-8)
    sampled = course_of(kim, RestToRest(poses, 1.0, 0.5).sample(351))
    assert sum(isinstance(part, Stretch) for part in sampled) == 2


@pytest.mark.second_tier
def test_a_held_platform_moves_in_its_own_coordinates(on_numpy):
    robot = gough.load("chablat-orthoglide-2003")
    t = np.linspace(0, 1, 40)
    u = robot.home.position + 0.03 * np.stack([np.sin(3 * t), t, t * t], axis=-1)
    found = retime(robot, robot.motion(u, time=t), speed=0.4, force=80, cells=100)
    share = found.shares(np.linspace(0, found.duration, 1001)).max(axis=1)
    assert share.max() <= 1 + 1e-6
    assert np.mean(share > 0.95) > 0.9


def test_it_says_who_holds_it_back(kim, circle):
    found = retime(kim, circle, speed=0.5, force=200, cells=CELLS)
    first = found.bindings[0]
    assert first.limit.limit == "force"
    assert first.begin == 0
    middle = next(one for one in found.bindings if one.begin <= found.duration / 2 < one.end)
    at = np.array([(middle.begin + middle.end) / 2])
    share = found.shares(at)[0]  # the circle is symmetric: another leg may be at its limit, too
    assert share[found.demands.bounds.index(middle.limit)] > 0.99
    assert "% of the time" in str(found)
    assert sum(found.binding_times().values()) == pytest.approx(found.duration)


def test_impossible_wishes_name_instant_leg_and_limit(kim, circle):
    with refusal(LimitError, "speed", "leg 1", 0):
        retime(kim, circle, speed=[0, 1, 1, 1, 1, 1], force=200)
    with refusal(LimitError, "force", 20):
        retime(kim, circle, force=20, cells=CELLS)
    with refusal(LimitError, "force", 20):
        retime(kim, circle, force=20, uniform=True)
    high = Circle(np.add(kim.home.position, [0, 0, 0.42]), 0.1, rpm=20)
    with refusal(LimitError, "stroke", 0.7):
        retime(kim, high, speed=1)
    over = Path(kim).turn([1.4, 0, 0])
    with pytest.raises(SingularError):
        retime(kim, over, speed=1)


def test_what_cannot_be_asked(kim, long, circle):
    with pytest.raises(MissingDataError):
        retime(kim, circle)
    with refusal(InputError, "robot.rigid"):
        retime(long, circle, speed=1)
    with refusal(InputError, "speed"):
        retime(kim, circle, speed=-1)
    with refusal(InputError, "samples", "time"):
        retime(kim, gough.Motion(kim.home.position), speed=1)
    still = gough.Motion(np.tile(kim.home.position, (3, 1)), time=[0, 1, 2])
    with refusal(InputError, "still"):
        retime(kim, still, speed=1)


@pytest.mark.parametrize(
    ("motion", "limit", "words"),
    [
        ("over.toml", "1", ["singularity", "m along the path"]),
        ("high.csv", "1", ["t = 0 s", "leg", "stroke", "0.7 m"]),
        ("kim-ryu-2002/circle-20rpm", "0", ["t = ", "leg 1", "its speed limit is 0"]),
    ],
)
def test_impossible_wishes_write_nothing(motion, limit, words, tmp_path):
    """A path through a singularity, a start outside limits, no speed: instant, leg and limit."""
    (tmp_path / "over.toml").write_text("[[pieces]]\nturn = [1.4, 0, 0]\n")
    (tmp_path / "high.csv").write_text(
        "time [s],x [m],y [m],z [m]\n0,0,0,1.3\n1,0,0,1\n2,0.1,0,0.9\n"
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    words_given = ("retime", "kim-ryu-2002", motion, "-o", "f.csv", "--speed", limit)
    result = run(*words_given, cwd=tmp_path)
    assert result.returncode == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before
