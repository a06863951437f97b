"""Limits are compared between samples, along the path that rates come from.

The truth is geometry written here: leg lengths of a hexapod along SciPy's spline, densely sampled;
forces of its platform alone by Newton; a tripod's own motion, densely sampled.
"""

import json

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from gough import Motion, Robot
from gough.data.motion_files import read_motion

BASE = np.array([[0.6, 0.2, 0], [-0.1, 0.65, 0], [-0.5, 0.4, 0], [-0.5, -0.4, 0], [-0.1, -0.65, 0],
                 [0.6, -0.2, 0]])  # fmt: skip
PLATFORM = np.array([[0.3, 0.3, 0], [0.1, 0.4, 0], [-0.4, 0.1, 0], [-0.4, -0.1, 0], [0.1, -0.4, 0],
                     [0.3, -0.3, 0]])  # fmt: skip
"""Joints of a hexapod whose legs weigh nothing."""


def hexapod(**limits):
    return Robot.from_dict(
        {
            "format": 1,
            "name": "light legs",
            "home": {"position": [0, 0, 1.2]},
            "legs": {
                "kind": "UPS", "base": BASE.tolist(), "platform": PLATFORM.tolist(),
                "cross": {"mass": 0.0}, "cylinder": {"mass": 0.0}, "rod": {"mass": 0.0},
                "limits": limits,
            },
            "platform": {"mass": 50.0, "inertia": [[4, 0, 0], [0, 4, 0], [0, 0, 7]]},
        }
    )  # fmt: skip


def lengths(position, rotation):
    tips = position[:, np.newaxis] + np.einsum("nij,lj->nli", rotation, PLATFORM)
    return np.linalg.norm(tips - BASE, axis=-1)


TIMES = np.array([0.0, 0.3, 0.7, 1.1, 1.4])
PLACES = np.array([[0, 0, 1.2], [0.1, 0, 1.35], [0.1, 0.05, 1.1], [0, 0.1, 1.38], [0, 0, 1.2]])


@pytest.fixture
def five_poses(tmp_path):
    path = tmp_path / "five.csv"
    rows = "\n".join(",".join(map(str, (t, *p))) for t, p in zip(TIMES, PLACES, strict=True))
    path.write_text(f"time,x,y,z\n{rows}\n", "utf-8")
    return path


def dense():
    t = np.linspace(0, 1.4, 200_001)
    position = make_interp_spline(TIMES, PLACES, k=4, t=np.repeat(TIMES[[0, -1]], 5))(t)
    return t, lengths(position, np.broadcast_to(np.eye(3), (len(t), 3, 3)))


def test_a_stroke_passed_between_five_poses(five_poses):
    t, q = dense()
    at_samples = lengths(PLACES, np.broadcast_to(np.eye(3), (5, 3, 3)))
    longest = float(at_samples.max()) + 0.001
    worst = q.max(axis=0)
    legs = np.flatnonzero(worst > longest)
    assert worst.max() > longest + 0.02
    robot = hexapod(stroke=[0.1, longest])
    report = robot.check(read_motion(five_poses, robot))
    assert [one.leg for one in report.violations] == list(legs + 1)
    for one in report.violations:
        assert one.value == pytest.approx(worst[one.leg - 1], abs=1e-7)
        assert one.excess == pytest.approx(worst[one.leg - 1] - longest, abs=1e-7)
        assert one.time == pytest.approx(t[q[:, one.leg - 1].argmax()], abs=1e-3)
        assert one.between
        assert one.samples == 0
        k = one.sample[0]
        assert TIMES[k] < one.time < TIMES[k + 1]
        assert f"between samples {k} and {k + 1}" in str(one)
    assert robot.edited({"legs.limits.stroke": [0.1, float(worst.max()) + 1e-6]}).check(
        read_motion(five_poses, robot)
    )


@pytest.mark.parametrize("command", ["kinematics", "forces"])
def test_strict_sees_between_samples(five_poses, tmp_path, command):
    _, q = dense()
    robot = tmp_path / "robot.toml"
    robot.write_text(hexapod(stroke=[0.1, float(q.max()) - 0.005]).text, "utf-8")
    output = tmp_path / "out.csv"
    found = run(command, robot, five_poses, "-o", output, "--strict", "--json")
    assert found.returncode == 3
    first = json.loads(found.stdout)["violations"][0]
    assert first["excess"] == pytest.approx(0.005, abs=1e-6)
    assert first["between"] is True


def fast_swing(samples):
    """To and fro along y with its own rates, exact at each sample."""
    t, w = np.linspace(0, 1, samples), 2 * np.pi
    y = np.array([0.0, 0.12, 0.0])
    return Motion(
        np.array([0, 0, 1.2]) + np.outer(np.sin(w * t), y),
        None,
        np.outer(w * np.cos(w * t), y),
        None,
        np.outer(-(w**2) * np.sin(w * t), y),
        time=t,
    )


def test_speeds_between_samples():
    """By finite differences of lengths along the exact motion; eleven samples miss the peak."""
    t = np.linspace(0, 1, 400_001)
    position = np.array([0, 0, 1.2]) + np.outer(np.sin(2 * np.pi * t), [0.0, 0.12, 0.0])
    q = lengths(position, np.broadcast_to(np.eye(3), (len(t), 3, 3)))
    fastest = np.abs(np.diff(q, axis=0) / np.diff(t)[:, np.newaxis]).max(axis=0)
    motion = fast_swing(12)
    at_samples = np.abs(hexapod().inverse_kinematics(motion).qd).max(axis=0)
    leg = int(np.argmax(fastest / at_samples))
    assert fastest[leg] > 1.002 * at_samples[leg]
    allowed = [9.0] * 6
    allowed[leg] = float((fastest[leg] + at_samples[leg]) / 2)
    (one,) = hexapod(speed=allowed).check(motion).violations
    assert (one.leg, one.between, one.samples) == (leg + 1, True, 0)
    assert one.value == pytest.approx(fastest[leg], rel=3e-4)


def test_forces_between_samples():
    """Of the platform alone: forces by Newton and Euler along the exact motion."""
    t = np.linspace(0, 1, 20_001)
    position = np.array([0, 0, 1.2]) + np.outer(np.sin(2 * np.pi * t), [0.0, 0.12, 0.0])
    tips = position[:, np.newaxis] + PLATFORM
    along = (tips - BASE) / np.linalg.norm(tips - BASE, axis=-1)[..., np.newaxis]
    map_ = np.concatenate([along, np.cross(np.broadcast_to(PLATFORM, along.shape), along)], axis=-1)
    load = np.zeros((len(t), 6))
    load[:, 1] = 50 * 0.12 * -((2 * np.pi) ** 2) * np.sin(2 * np.pi * t)
    load[:, 2] = 50 * 9.81
    forces = np.linalg.solve(np.swapaxes(map_, 1, 2), load[..., np.newaxis])[..., 0]
    motion = fast_swing(12)
    at_samples = np.abs(hexapod().inverse_dynamics(motion).forces).max()
    peak = np.abs(forces).max()
    assert peak > 1.005 * at_samples
    report = hexapod(force=float((peak + at_samples) / 2)).check(motion)
    assert max(one.value for one in report.violations) == pytest.approx(peak, rel=2e-4)
    assert all(one.between for one in report.violations)
    assert hexapod(force=1.001 * float(peak)).check(motion)


def test_joint_angles_between_samples():
    t = np.linspace(0, 0.8, 6)
    tilt = np.array(
        [0.0, 0.2, 0.1, 0.1, 0.2, 0.0]
    )  # passes below 0.1 and above 0.2 between samples
    motion = Motion.from_samples(
        t, np.tile([0, 0, 1.2], (6, 1)), Rotation.from_rotvec(np.outer(tilt, [1.0, 0, 0]))
    )
    fine = gough.trajectories.Spline(t, motion).sample(20_001)
    tips = fine.position[:, np.newaxis] + np.einsum("nij,lj->nli", fine.rotation, PLATFORM)
    along = (tips - BASE) / np.linalg.norm(tips - BASE, axis=-1)[..., np.newaxis]
    seen = np.einsum("nji,nlj->nli", fine.rotation, along)
    angle = np.arccos(np.clip(np.sum(seen * along[0], axis=-1), -1, 1)).max()
    at_samples = np.arccos(np.clip(np.sum(seen[::4000] * along[0], axis=-1), -1, 1)).max()
    assert angle > at_samples + 0.003
    report = hexapod(spherical_angle=float((angle + at_samples) / 2)).check(motion)
    assert max(one.value for one in report.violations) == pytest.approx(angle, abs=2e-5)


def test_rates_that_are_left_out():
    """Strokes along the spline through the poses; speeds as they are said to be."""
    _, q = dense()
    at_samples = lengths(PLACES, np.broadcast_to(np.eye(3), (5, 3, 3)))
    middle = float(q.max() + at_samples.max()) / 2
    poses = Motion(PLACES, time=TIMES)
    report = hexapod(stroke=[0.1, middle], speed=1e-3).check(poses)
    assert {one.limit for one in report.violations} == {"stroke"}
    assert max(one.value for one in report.violations) == pytest.approx(q.max(), abs=1e-7)
    assert hexapod(stroke=[0.1, middle]).check(Motion(PLACES))  # no time, no path


def test_long_motions_are_looked_into_where_it_matters(monkeypatch):
    monkeypatch.setattr("gough.model.limits.FEW_SAMPLES", 10)
    motion = fast_swing(51)
    q = lengths(motion.position, motion.rotation)
    t = np.linspace(0, 1, 100_001)
    position = np.array([0, 0, 1.2]) + np.outer(np.sin(2 * np.pi * t), [0.0, 0.12, 0.0])
    peak = lengths(position, np.broadcast_to(np.eye(3), (len(t), 3, 3))).max()
    middle = float(q.max() + peak) / 2
    assert peak > q.max() + 1e-5
    report = hexapod(stroke=[0.1, middle]).check(motion)
    assert max(one.value for one in report.violations) == pytest.approx(peak, abs=1e-6)


def test_a_held_platform_stays_on_what_it_can_do():
    """A tripod, three own coordinates: its lengths from its own motions at many times."""
    robot = gough.load("shyam-heliostat-2017")
    t = np.linspace(0, 1, 7)
    u = np.array(robot.home.position)[2] + 0.03 * np.sin(2 * np.pi * t), 0.1 * np.sin(9 * t), 0 * t
    spline = make_interp_spline(t, np.stack(u, axis=-1), k=5)
    samples = robot.motion(spline(t), spline(t, 1), spline(t, 2), time=t)
    fine = np.linspace(0, 1, 4001)
    q = robot.inverse_kinematics(robot.motion(spline(fine), time=fine)).q
    at_samples = robot.inverse_kinematics(samples).q
    assert q.max() > at_samples.max() + 1e-3
    middle = float(q.max() + at_samples.max()) / 2
    report = robot.edited({"legs.0.joints.1.stroke": [0.0, middle]}).check(samples)
    assert max(one.value for one in report.violations) == pytest.approx(q.max(), abs=2e-4)


@pytest.mark.parametrize("samples", [101, 102])
def test_a_jump_of_acceleration_is_no_peak_of_force(samples):
    """To and fro at full acceleration, either way: the largest force is that of either side."""
    t, a = np.linspace(0, 1, samples), 3.0
    late = t > 0.5
    x = np.where(late, a / 4 * (2 * t - 0.5) - a * t**2 / 2, a * t**2 / 2)
    v, rate = np.where(late, a * (1 - t), a * t), np.where(late, -a, a)
    side = np.array([1.0, 0.0, 0.0])
    position = np.array([-0.4, 0, 1.2]) + np.outer(x, side)
    motion = Motion(position, None, np.outer(v, side), None, np.outer(rate, side), time=t)
    largest = float(np.abs(hexapod().inverse_dynamics(motion).forces).max())
    assert hexapod(force=1.003 * largest).check(motion)


def test_poses_without_rates_need_no_way_between_them():
    """Poses in reach, as a plan lists them; the spline between them leaves the crank's reach."""
    robot = gough.load("pollen-reachy-mini-2025")
    rng = np.random.default_rng(3)
    home = robot.home
    for _ in range(5):
        position = home.position + rng.uniform(-0.012, 0.012, (12, 3))
        poses = Motion(position, np.tile(home.rotation, (12, 1, 1)), time=np.arange(12.0))
        robot.inverse_kinematics(poses)
        robot.check(poses)
