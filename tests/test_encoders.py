"""From encoders to poses: round trips, faults found with their line, gaps and outliers marked."""

import numpy as np
import pytest

import gough
from cases.command import run
from cases.errors import refusal
from gough.data.encoders import EncoderLog, measured_motion, read_encoders
from gough.data.leg_rates import poses_along
from gough.data.motion_files import read_motion
from gough.errors import FileError, GoughError, InputError
from gough.trajectories import Harmonic

RESOLUTION = 1e-6


@pytest.fixture(scope="module")
def robot():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def path(robot):
    swing = (0.05, -0.04, 0.03, 0.1, 0.08, -0.12)
    return Harmonic(robot.home, swing, period=3.0, cycles=1).sample(1501)


@pytest.fixture(scope="module")
def log(robot, path):
    return EncoderLog(path.time, robot.inverse_kinematics(path).q, lambda row: f"line {row + 2}")


def spoilt(log, **changed):
    return EncoderLog(
        changed.get("time", log.time), changed.get("q", log.q.copy()), log.where, "line 1"
    )


def test_round_trip(robot, path, log):
    found = measured_motion(robot, log)
    np.testing.assert_allclose(found.motion.position, path.position, atol=1e-9)
    np.testing.assert_allclose(found.motion.rotation, path.rotation, atol=1e-9)
    inner = slice(300, -300)
    for name, size in (("velocity", 0.2), ("angular_velocity", 0.5), ("acceleration", 0.5)):
        wrong = getattr(found.motion, name)[inner] - getattr(path, name)[inner]
        assert np.abs(wrong).max() < 1e-3 * size
    assert found.marks == ()
    again = measured_motion(robot, spoilt(log, q=log.q - 0.3), offset=0.3)
    np.testing.assert_allclose(again.motion.position, path.position, atol=1e-9)


def test_a_path_near_a_fold_stays_in_its_posture():
    """Where two postures come near each other, steps get smaller: det J does not change its sign."""
    robot = gough.load("ferrandiz-3ups-rpu-2021")
    time = np.arange(30.0, 50.0, 0.01)
    rng = np.random.default_rng(0)
    speed = 2 * np.pi * rng.uniform(0.2, 0.7, 4)
    size = [0.15 * robot.length_scale] * 2 + [0.1] * 2
    u = np.array([0.15, 0.68, 0, 0]) + size * np.sin(np.outer(time, speed))
    motion = robot.motion(u, time=time)
    found = poses_along(robot, robot.inverse_kinematics(motion).q, motion[0])
    np.testing.assert_allclose(found.position, motion.position, atol=1e-9)


def millimetres(q):
    q *= 1000


def stuck(q):
    q[700:800, 2] = q[700, 2]


def wrapped(q):
    q[:] = np.round(q / RESOLUTION) * RESOLUTION
    q[900:, 3] -= 2**16 * RESOLUTION


FAULTS = {
    millimetres: ("line ", "column q", "millimetres?"),
    stuck: ("line 702", "column q3", "stuck"),
    wrapped: ("line 902", "column q4", "2^16 counts", "wrapped"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_faults_are_found_and_named_with_the_line(fault, robot, log):
    q = log.q.copy()
    fault(q)
    with pytest.raises(InputError) as caught:
        measured_motion(robot, spoilt(log, q=q))
    for fact in FAULTS[fault]:
        assert fact in str(caught.value)


def test_swapped_columns(robot, path, log):
    """By geometry where legs differ, by forces where coordinates alone do not tell."""
    forces = robot.inverse_dynamics(path).forces
    q = log.q[:, [0, 4, 2, 3, 1, 5]]
    with refusal(InputError, "line 1", "q2", "q5"):
        measured_motion(robot, EncoderLog(log.time, q, log.where, "line 1", forces))
    measured_motion(robot, EncoderLog(log.time, log.q, log.where, "line 1", forces))
    uneven = gough.load("dietmaier-1998")
    size = uneven.length_scale
    swing = (0.1 * size, -0.08 * size, 0.05 * size, 0.1, 0.08, -0.05)
    motion = Harmonic(uneven.home, swing, period=3.0, cycles=1).sample(200)
    right = uneven.inverse_kinematics(motion).q
    measured_motion(uneven, EncoderLog(motion.time, right))
    found = 0
    for one in range(6):
        for other in range(one):
            order = np.arange(6)
            order[[one, other]] = other, one
            try:
                measured_motion(uneven, EncoderLog(motion.time, right[:, order]))
            except GoughError as error:
                found += f"q{other + 1} and q{one + 1} look swapped" in str(error)
    assert found >= 11  # of 15; the others stay within the reach of such legs


def test_gaps_and_outliers_are_marked(robot, path, log):
    q = log.q.copy()
    q[1000, 2] += 0.02
    keep = np.r_[0:400, 500 : len(q)]
    found = measured_motion(robot, spoilt(log, time=log.time[keep], q=q[keep]))
    assert [(one.kind, one.row, one.actuator) for one in found.marks] == [
        ("gap", 400, None),
        ("outlier", 900, 2),
    ]
    assert "line 902, column q3" in found.marks[1].text
    np.testing.assert_allclose(found.motion.position, path.position[keep], atol=1e-5)
    still = np.delete(np.arange(len(keep)), 900)
    np.testing.assert_allclose(found.motion.position[still], path.position[keep][still], atol=1e-9)


def test_whole_turns_of_cranks_are_taken_back():
    crank = gough.load("alikoc-delta-2023")
    time = np.linspace(0, 1, 400)
    home = crank.inverse_kinematics(crank.home).q
    q = home + 0.1 * np.sin(2 * np.pi * time)[:, np.newaxis] * [1, 2, 3]
    turned = q.copy()
    turned[200:, 1] += 2 * np.pi
    found = measured_motion(crank, EncoderLog(time, turned))
    assert [(one.kind, one.row) for one in found.marks] == [("turn", 200)]
    np.testing.assert_allclose(found.q, q, atol=1e-12)


def test_the_command(robot, path, tmp_path):
    q = robot.inverse_kinematics(path).q
    head = "t_ms," + ",".join(f"L{i}" for i in range(1, 7))
    np.savetxt(
        tmp_path / "log.csv", np.c_[1e3 * path.time, 1e3 * (q - 0.1)], "%.12f", ",", header=head,
        comments="",
    )  # fmt: skip
    names = ",".join(f"L{i}=q{i}" for i in range(1, 7))
    result = run(
        *("pose", "kim-ryu-2002", "log.csv", "--units", "mm", "--map", names),
        *("--offset", "100", "-o", "motion.csv"),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert "q1 … q6 from mm to m" in result.stderr
    assert "postures" in result.stdout
    found = read_motion(tmp_path / "motion.csv", robot)
    np.testing.assert_allclose(found.position, path.position, atol=1e-9)
    assert (tmp_path / "motion.png").stat().st_size > 10_000
    wrong = run("pose", "kim-ryu-2002", "log.csv", "-o", "m.csv", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "no coordinates" in wrong.stderr.splitlines()[-1]
    assert "L1" in wrong.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,q1\n0,1\n", ["q2 is missing"]),
        ("T,q1,q2,q3,q4,q5,q6\n0,1,1,1,1,1,1\n", ["no time", "T"]),
        ("time,x,y\n0,1,2\n", ["no coordinates"]),
        ("time,q1,q2,q3,q4,q5,q6\n" + "0,1,1,1,1,1,1\n" * 3, ["needs 5"]),
    ],
)
def test_files_that_are_no_encoder_logs(text, words, robot, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises((FileError, GoughError)) as caught:
        measured_motion(robot, read_encoders(robot, tmp_path / "log.csv"))
    for word in words:
        assert word in str(caught.value)
