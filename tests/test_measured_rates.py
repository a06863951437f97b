"""Rates of poses from encoders, up to the ends of a log: beside sines whose derivatives are known.

The platform of a 6-UPS moves along z; encoders count micrometres. Nothing here comes from gough but
leg lengths, which are distances between joints.
"""

from __future__ import annotations

import numpy as np
import pytest

import gough
from gough.data.encoders import EncoderLog, measured_motion, read_encoders
from gough.data.motion_files import read_motion
from gough.errors import InputError

pytestmark = pytest.mark.usefixtures("on_numpy")
ANGLES = np.array([0.2, 1.9, 2.3, 4.0, 4.4, 6.1])
BASE = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=-1) * 0.6
TURNED = ANGLES + 0.5 * np.array([1, -0.8, 1, -0.8, 1, -0.8])
TIPS = np.stack([np.cos(TURNED), np.sin(TURNED), 0 * ANGLES], axis=-1) * 0.35
COUNT = 1e-6


@pytest.fixture(scope="module")
def robot():
    return gough.Robot.from_dict(
        {
            "format": 1,
            "name": "rig",
            "home": {"position": [0, 0, 1.0]},
            "legs": {"kind": "UPS", "base": BASE.tolist(), "platform": TIPS.tolist()}
            | {key: {"mass": 0.0} for key in ("cross", "cylinder", "rod")},
            "platform": {"mass": 50.0, "inertia": (4 * np.eye(3)).tolist()},
        }
    )


def lengths(height):
    """Return distances of joints (n, 6), m, of a level platform at heights (n,)."""
    along = TIPS - BASE + np.stack([0 * height, 0 * height, height], axis=-1)[:, np.newaxis]
    return np.linalg.norm(along, axis=-1)


def sines(time, *waves):
    """Return heights and their second derivatives of (amplitude in m, frequency in Hz)."""
    turns = [(size, 2 * np.pi * rate) for size, rate in waves]
    height = 1.0 + sum(size * np.sin(w * time + 0.4) for size, w in turns)
    return height, -sum(size * w**2 * np.sin(w * time + 0.4) for size, w in turns)


def encoder_log(height, time):
    return EncoderLog(time, np.rint(lengths(height) / COUNT) * COUNT)


@pytest.mark.parametrize(
    "waves", [[(0.05, 0.5), (0.0005, 20.0)], [(0.05, 0.5), (0.002, 8.0)]], ids=["20 Hz", "8 Hz"]
)
def test_vibration_of_many_counts_is_motion(robot, waves):
    time = np.arange(0, 6, 1e-3)
    height, acceleration = sines(time, *waves)
    found = measured_motion(robot, encoder_log(height, time))
    assert found.cutoff > 4 * waves[1][1]
    off = np.abs(found.motion.acceleration[:, 2] - acceleration)
    assert off[found.certain].max() < 0.06 * np.abs(acceleration).max()
    assert not found.notes


def test_what_is_left_out_is_said_in_counts_and_newtons(robot):
    time = np.arange(0, 6, 1e-3)
    height, _ = sines(time, (0.05, 0.5), (3e-6, 120.0))
    found = measured_motion(robot, encoder_log(height, time))
    (text,) = found.notes
    assert "120 Hz" in text
    assert "counts" in text
    assert " N;" in text


def test_deviations_cover_the_errors_up_to_both_ends(robot):
    """Of a hundred starts of a log the errors at its ends, in deviations, have rms near 1."""
    random = np.random.default_rng(3)
    parts = []
    for _ in range(20):
        time = random.uniform(0, 2) + np.arange(0, 3, 2e-3)
        height, acceleration = sines(time, (0.05, 0.7))
        noisy = lengths(height) + 2e-6 * random.standard_normal((len(time), 6))
        found = measured_motion(robot, EncoderLog(time, noisy))
        off = found.motion.acceleration[:, 2] - acceleration
        parts.append((off / found.acceleration_deviation[:, 2])[[0, 3, 50, 700, -50, -3, -1]])
    rms = np.sqrt(np.mean(np.square(parts), axis=0))
    assert np.all(rms > 0.4)
    assert np.all(rms < 1.4)


def test_short_pieces_between_gaps_are_filtered(robot):
    """A piece of 19 samples of a log at 10 kHz: differences of counts would be 100 m/s²."""
    time = np.arange(0, 1, 1e-4)
    kept = ~(((time > 0.5) & (time < 0.5011)) | ((time > 0.503) & (time < 0.5041)))
    time = time[kept]
    height, acceleration = sines(time, (0.05, 0.8))
    found = measured_motion(robot, encoder_log(height, time))
    off = np.abs(found.motion.acceleration[:, 2] - acceleration)
    largest = np.abs(acceleration).max()
    assert off[found.certain].max() < 0.06 * largest
    assert np.all(off < 4 * found.acceleration_deviation[:, 2] + 0.02 * largest)


def test_pieces_of_two_samples_have_no_rates(robot, tmp_path):
    time = np.arange(0, 1, 1e-3)
    kept = ~(((time > 0.5) & (time < 0.5051)) | ((time > 0.5071) & (time < 0.5121)))
    time = time[kept]
    height, _ = sines(time, (0.05, 0.8))
    found = measured_motion(robot, encoder_log(height, time))
    assert (~found.known).sum() == 2
    assert [mark.kind for mark in found.marks].count("no rates") == 1
    assert np.isnan(found.motion.acceleration[~found.known]).all()
    assert np.isfinite(found.motion.position).all()
    assert not found.certain[~found.known].any()


def test_rests_and_short_moves_are_no_stuck_encoder(robot):
    """Pick and place: 0.3 s moves of a quintic, rests of 10 s, where all encoders count alike."""
    time = np.arange(0, 22, 2e-3)
    share = np.clip((time[:, np.newaxis] - [10.0, 21.0]) / 0.3, 0, 1)
    moves = (share**3 * (10 - 15 * share + 6 * share**2) * [0.08, -0.05]).sum(axis=1)
    shift = np.stack([moves, 0.4 * moves, 1.0 + moves], axis=-1)
    q = np.linalg.norm(TIPS - BASE + shift[:, np.newaxis], axis=-1)
    measured_motion(robot, EncoderLog(time, np.rint(q / COUNT) * COUNT))


def test_an_encoder_that_stops_at_full_speed_is_still_refused(robot):
    time = np.arange(0, 3, 1e-3)
    log = encoder_log(sines(time, (0.05, 0.8))[0], time)
    log.q[1250:1400, 2] = log.q[1250, 2]
    with pytest.raises(InputError, match="q3"):
        measured_motion(robot, log)


def test_offset_is_in_the_unit_of_the_log_and_deviations_are_columns(robot, tmp_path):
    from typer.testing import CliRunner

    from gough.cli.app import app

    time = np.arange(0, 2, 1e-3)
    height, _ = sines(time, (0.05, 0.8))
    q = np.rint(lengths(height) / COUNT) * COUNT
    header = "time [s]," + ",".join(f"q{i} [mm]" for i in range(1, 7))
    np.savetxt(
        tmp_path / "log.csv",
        np.column_stack([time, 1e3 * q - 7.0]),
        delimiter=",",
        header=header,
        comments="",
        fmt="%.6f",
    )
    robot.save(tmp_path / "rig.toml")
    words = ["pose", str(tmp_path / "rig.toml"), str(tmp_path / "log.csv"), "--offset", "7"]
    output = tmp_path / "motion.csv"
    result = CliRunner().invoke(app, [*words, "-o", str(output)])
    assert result.exit_code == 0, result.output
    motion = read_motion(output, robot)
    assert np.abs(motion.position[:, 2] - height).max() < 3e-6
    table = np.genfromtxt(output, delimiter=",", names=True, deletechars="")
    deviation = table["sd_az_[m/s2]"]
    assert deviation[0] > 3 * deviation[1000] > 0
    log = read_encoders(robot, tmp_path / "log.csv")
    assert {unit.text for unit in log.units} == {"mm"}
