"""Poses as recorders write them: rounded time stamps, repeated poses, coarse steps, short quaternions.

The truth is the motion before it was written, by its formula, and the forces of a hexapod whose legs
weigh nothing, by Newton.
"""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from gough import Robot
from gough.base.smoothing import smoothest
from gough.data.motion_files import read_motion
from gough.errors import FileError

BASE = np.array([[0.6, 0.2, 0], [-0.1, 0.65, 0], [-0.5, 0.4, 0], [-0.5, -0.4, 0], [-0.1, -0.65, 0],
                 [0.6, -0.2, 0]])  # fmt: skip
PLATFORM = np.array([[0.3, 0.3, 0], [0.1, 0.4, 0], [-0.4, 0.1, 0], [-0.4, -0.1, 0], [0.1, -0.4, 0],
                     [0.3, -0.3, 0]])  # fmt: skip
W = np.pi * np.array([1.0, 1.5, 0.5])
PHASE = np.array([0, 0.7, 1.5])


@pytest.fixture
def robot(on_numpy):
    return Robot.from_dict(
        {
            "format": 1, "name": "light legs", "home": {"position": [0, 0, 1.2]},
            "legs": {"kind": "UPS", "base": BASE.tolist(), "platform": PLATFORM.tolist(),
                     "cross": {"mass": 0.0}, "cylinder": {"mass": 0.0}, "rod": {"mass": 0.0}},
            "platform": {"mass": 50.0, "inertia": [[4, 0, 0], [0, 4, 0], [0, 0, 7]]},
        }
    )  # fmt: skip


def path(t):
    """Positions and accelerations (n, 3) of three sines of 100 mm."""
    t = np.asarray(t)[:, np.newaxis]
    x = 0.1 * np.sin(W * t + PHASE)
    return np.array([0, 0, 1.2]) + x, -(W**2) * x


def largest_force(position, acceleration):
    """Of a platform that does not turn, by Newton."""
    tips = position[:, np.newaxis] + PLATFORM
    along = (tips - BASE) / np.linalg.norm(tips - BASE, axis=-1)[..., np.newaxis]
    moments = np.cross(np.broadcast_to(PLATFORM, along.shape), along)
    load = np.zeros((len(position), 6))
    load[:, :3] = 50 * (acceleration + np.array([0, 0, 9.81]))
    wrenches = np.swapaxes(np.concatenate([along, moments], axis=-1), 1, 2)
    return np.abs(np.linalg.solve(wrenches, load[..., np.newaxis])).max()


def written(file, t, position, stamp="%.17g", cell="%.17g", header="time,x,y,z"):
    np.savetxt(
        file, np.column_stack([t, position]), delimiter=",", header=header, comments="",
        fmt=[stamp] + [cell] * position.shape[1],
    )  # fmt: skip
    return file


MM = "time,x [mm],y [mm],z [mm]"


@pytest.mark.parametrize("stamp", ["%.4f", "%.3f"])
def test_smoothing_ends_where_stamps_are_rounded(tmp_path, robot, stamp):
    """At 120 Hz, 0.01 mm: no smooth motion is within the last digit of poses at wrong times."""
    t = np.arange(241) / 120
    position, acceleration = path(t)
    file, told = tmp_path / "tracker.csv", []
    written(file, t, 1e3 * position, stamp, "%.2f", MM)
    read_motion(file, robot, smooth=True, say=told.append)
    (line,) = [one for one in told if "smoothed" in one]
    assert "left as they are" in line
    assert "--within" in line
    reach = 10.0 ** -int(stamp[2]) * 0.5 + 1e-5  # below 1 m/s
    calm = read_motion(file, robot, smooth=reach)
    assert (
        np.abs(calm.acceleration - acceleration)[10:-10].max() < 0.15 * np.abs(acceleration).max()
    )


def test_smoothing_of_what_jumps_has_no_curve():
    t = np.arange(200) / 100
    assert smoothest(t, np.where(np.arange(200) % 2, 1.0, -1.0), 1e-6) is None
    assert smoothest(t, np.random.default_rng(3).normal(size=200), 1e-9) is None


def lines_of(file, robot, **options):
    told = []
    motion = read_motion(file, robot, say=told.append, **options)
    return motion, told


def test_rounded_time_stamps(tmp_path, robot):
    """300 Hz with stamps to the ms, poses exact; the remedies that are named bring the forces back."""
    t = np.arange(601) / 300
    position, acceleration = path(t)
    true = largest_force(position, acceleration)
    file = written(tmp_path / "stamps.csv", t, position, "%.3f")
    rough, told = lines_of(file, robot)
    wrong = np.abs(robot.inverse_dynamics(rough).forces).max()
    assert wrong > 5 * true
    (line,) = told
    assert line.startswith("time stamps are rounded")
    uncertain = float(re.search(r"forces by ([\d.e+]+) N", line)[1])
    assert 0.1 * wrong < uncertain < 3 * wrong
    reach = float(re.search(r"--within ([\d.e-]+)", line)[1])
    speed = np.abs(np.gradient(position, t, axis=0)).max()
    assert reach == pytest.approx(5e-4 * speed, rel=0.2)
    calm, _ = lines_of(file, robot, smooth=reach)
    assert np.abs(robot.inverse_dynamics(calm).forces).max() == pytest.approx(true, rel=0.15)
    written(file, t, position, "%.6f")
    better, told = lines_of(file, robot)
    assert np.abs(robot.inverse_dynamics(better).forces).max() == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize("rate", [100, 200])
def test_stamps_that_are_exact_are_not_spoken_of(tmp_path, robot, rate):
    """Even stamps written short, and uneven ones at which the poses are."""
    t = np.arange(2 * rate + 1) / rate
    file = written(tmp_path / "even.csv", t, path(t)[0], "%.3f")
    assert lines_of(file, robot)[1] == []
    jitter = np.random.default_rng(0).integers(-1, 2, len(t)) * 1e-3
    uneven = np.sort(np.round(t + jitter, 3))
    file = written(tmp_path / "uneven.csv", uneven, path(uneven)[0], "%.3f")
    motion, told = lines_of(file, robot)
    assert told == []
    assert np.abs(motion.acceleration - path(uneven)[1])[10:-10].max() < 1e-2


@pytest.mark.parametrize(("times", "decimals"), [(2, 12), (3, 12), (2, 5)])
def test_repeated_poses(tmp_path, robot, times, decimals):
    """A sensor at 100 Hz, logged 2 or 3 times as fast with its last pose held."""
    slow = np.arange(201) / 100
    held = np.repeat(path(slow)[0], times, axis=0)
    t = np.arange(len(held)) / (100 * times)
    file = written(tmp_path / "held.csv", t, held, "%.9f", f"%.{decimals}f")
    (line,) = lines_of(file, robot)[1]
    assert line.startswith("poses repeat")
    count = int(re.search(r"(\d+) of \d+ samples", line)[1])
    assert count == pytest.approx(201 * (times - 1), abs=0.1 * 201 * (times - 1))
    rows = file.read_text().splitlines()
    number = int(re.search(r"line (\d+)", line)[1])
    assert rows[number - 1].split(",")[1:] == rows[number - 2].split(",")[1:]
    kept = [rows[1]] + [b for a, b in pairwise(rows[1:])
                        if a.split(",")[1:] != b.split(",")[1:]]  # fmt: skip
    file.write_text("\n".join([rows[0], *kept]) + "\n")
    motion, told = lines_of(file, robot)
    assert not [one for one in told if one.startswith("poses repeat")]
    if decimals == 12:
        true = largest_force(*path(slow))
        assert np.abs(robot.inverse_dynamics(motion).forces).max() == pytest.approx(true, rel=0.01)


def test_rest_and_slow_motions_repeat_nothing(tmp_path, robot):
    """A dwell between two moves, and a creep below a last digit per sample."""
    t = np.arange(601) / 300
    s = np.clip(np.concatenate([t[:300] / 0.5, (t[300:] - 0.5) / 0.75]), 0, 1)
    s[150:450] = 1.0
    x = 0.1 * s**3 * (10 - 15 * s + 6 * s**2)
    dwell = np.stack([x, 0 * x, 1.2 + 0 * x], axis=-1)
    creep = np.stack([1e-4 * t, 0 * t, 1.2 + 0 * t], axis=-1)
    for position, cell in ((dwell, "%.9f"), (creep, "%.5f")):
        file = written(tmp_path / "slow.csv", t, position, "%.9f", cell)
        assert not [one for one in lines_of(file, robot)[1] if one.startswith("poses repeat")]


@pytest.mark.parametrize("samples", [9, 12, 19])
def test_few_rounded_samples(tmp_path, robot, samples):
    t = np.arange(samples) / 200
    position, _ = path(t)
    file = written(tmp_path / "few.csv", t, 1e3 * position, "%.3f", "%.1f", MM)
    motion, told = lines_of(file, robot)
    assert np.abs(robot.inverse_dynamics(motion).forces).max() > 3 * largest_force(*path(t))
    assert [one for one in told if one.startswith("poses are rounded")]


def test_rounding_in_own_coordinates(tmp_path, on_numpy):
    """A Delta's x, y, z to 0.1 mm at 500 Hz; as much is said of the spline's accelerations."""
    delta = gough.load("alikoc-delta-2023")
    t = np.arange(251) / 500
    home = np.asarray(delta.home.position)
    position = home + 0.05 * np.sin(6 * t[:, np.newaxis] + PHASE)
    file = written(tmp_path / "delta.csv", t, 1e3 * position, "%.3f", "%.1f", MM)
    motion, told = lines_of(file, delta)
    off = np.linalg.norm(motion.acceleration + 36 * (position - home), axis=1)
    (line,) = [one for one in told if one.startswith("poses are rounded")]
    said = float(re.search(r"accelerations by ([\d.e+]+) m/s²", line)[1])
    assert 0.2 * off.max() < said < off.max()


@pytest.mark.parametrize("step", [5e-5, 2.5e-4, 0.4 / 25_600])
def test_coarse_steps(tmp_path, robot, step):
    """Poses in steps of 5 or 25 last digits, or of an encoder, in all digits."""
    t = np.arange(401) / 200
    position, acceleration = path(t)
    true = largest_force(position, acceleration)
    cell = "%.2f" if step > 2e-5 else "%.17g"
    stepped = 1e3 * step * np.round(position / step)
    file = written(tmp_path / "steps.csv", t, stepped, "%.17g", cell, MM)
    rough, told = lines_of(file, robot)
    (line,) = [one for one in told if one.startswith("poses are rounded")]
    assert float(re.search(r"\(([\d.e-]+) m", line)[1]) == pytest.approx(step, rel=0.05)
    off = np.linalg.norm(rough.acceleration - acceleration, axis=1).max()
    uncertain = float(re.search(r"accelerations by ([\d.e+]+) m/s²", line)[1])
    assert 0.3 * off < uncertain < 3 * off  # of a single rounding, largest at either end
    smooth, told = lines_of(file, robot, smooth=True)
    assert "left as they are" not in told[-1]
    assert np.abs(smooth.position - position).max() <= 1.01 * step
    assert np.abs(robot.inverse_dynamics(smooth).forces).max() == pytest.approx(true, rel=0.05)


def test_single_precision(tmp_path, robot):
    """At 5 kHz, of positions rounded to 24 bits and written in all digits."""
    t = np.arange(5001) / 5000
    position, acceleration = path(t)
    true = largest_force(position, acceleration)
    file = written(tmp_path / "single.csv", t, position.astype(np.float32).astype(float))
    rough, told = lines_of(file, robot)
    assert np.abs(robot.inverse_dynamics(rough).forces).max() > 1.1 * true
    (line,) = told
    assert line.startswith("poses are rounded")
    smooth, _ = lines_of(file, robot, smooth=True)
    assert np.abs(robot.inverse_dynamics(smooth).forces).max() == pytest.approx(true, rel=0.01)


def test_five_significant_digits(tmp_path, robot):
    """Cells such as 9.8765e-02 and 1.2346e-01: half the last digit is that of the larger ones."""
    t = np.arange(401) / 200
    position, acceleration = path(t)
    true = largest_force(position, acceleration)
    file = written(tmp_path / "five.csv", t, position, "%.17g", "%.4e")
    smooth, told = lines_of(file, robot, smooth=True)
    assert "left as they are" not in told[-1]
    assert np.abs(robot.inverse_dynamics(smooth).forces).max() == pytest.approx(true, rel=0.05)


def tilted(decimals, form="f"):
    t = np.linspace(0, 2, 101)
    turn = Rotation.from_euler("xyz", 0.3 * np.sin(W * t[:, np.newaxis] + PHASE))
    four = turn.as_quat()[:, [3, 0, 1, 2]]
    return t, turn, np.concatenate([path(t)[0], four], axis=1), f"%.{decimals}{form}"


QUATERNIONS = "time,x,y,z,qw,qx,qy,qz"


@pytest.mark.parametrize(("decimals", "form"), [(3, "f"), (4, "f"), (5, "f"), (4, "e"), (5, "g")])
@pytest.mark.parametrize("smooth", [False, True])
def test_rounded_quaternions(tmp_path, decimals, form, smooth):
    """Of trackers: their lengths are off by up to a last digit; rotations are as near."""
    t, turn, table, cell = tilted(decimals, form)
    file = written(tmp_path / "tracker.csv", t, table, "%.17g", cell, QUATERNIONS)
    cells = np.genfromtxt(file, delimiter=",", skip_header=1)[:, 4:]
    assert np.abs(np.linalg.norm(cells, axis=1) - 1).max() > 2e-6
    motion = read_motion(file, smooth=smooth)
    off = (turn.inv() * Rotation.from_matrix(motion.rotation)).magnitude().max()
    assert off < 4 * 10.0**-decimals
    assert np.abs(np.linalg.det(motion.rotation) - 1).max() < 1e-12


@pytest.mark.parametrize(("decimals", "stretch"), [(4, 3e-4), (5, 3e-5), (9, 3e-6), (3, 3e-3)])
@pytest.mark.parametrize("smooth", [False, True])
def test_lengths_that_no_rounding_explains_are_refused(tmp_path, decimals, stretch, smooth):
    t, _, table, cell = tilted(decimals)
    table[50, 3:] *= 1 + stretch
    file = written(tmp_path / "long.csv", t, table, "%.17g", cell, QUATERNIONS)
    with pytest.raises(FileError, match=r"line 52: the quaternion has length 1\.00"):
        read_motion(file, smooth=smooth)


@pytest.mark.parametrize("cells", ["1,0,0,0.1", "1,1,0,0", "0.9,0,0,0", "0,0,0,0", "0.999,0,0,0"])
def test_short_numbers_of_other_lengths_are_refused(tmp_path, cells):
    file = tmp_path / "short.csv"
    file.write_text(f"x,y,z,qw,qx,qy,qz\n0,0,1,{cells}\n")
    with pytest.raises(FileError, match="the quaternion has length"):
        read_motion(file)


@pytest.mark.parametrize("cell", ["%.17g", "%.5f"])
def test_a_sensor_that_sees_nothing(tmp_path, robot, cell):
    """Ten equal poses amid a motion at 200 Hz, once."""
    t = np.arange(401) / 200
    position, _ = path(t)
    position[200:210] = position[200]
    file = written(tmp_path / "hidden.csv", t, position, "%.17g", cell)
    motion, told = lines_of(file, robot)
    assert np.abs(robot.inverse_dynamics(motion).forces).max() > 10 * largest_force(*path(t))
    (line,) = [one for one in told if one.startswith("poses repeat")]
    assert "9 of 401" in line
    assert "line 203" in line


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_stamps_since_1970(tmp_path, robot, unit):
    """At 1 kHz, in s to the µs and in ns: double precision has 0.24 µs of them left."""
    t = np.arange(1001) / 1000
    position, acceleration = path(t)
    seconds, header = unit == "s", f"time [{unit}],x,y,z"
    rows = [
        ",".join([f"{1_700_000_000 + k // 1000}" + (f".{k % 1000:03d}000" if seconds else
                 f"{k % 1000:03d}000000"), *(f"{one:.17g}" for one in p)])
        for k, p in enumerate(position)
    ]  # fmt: skip
    file = tmp_path / "epoch.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    motion, told = lines_of(file, robot)
    off = np.linalg.norm(motion.acceleration - acceleration, axis=1).max()
    (line,) = [one for one in told if one.startswith("time stamps are rounded")]
    said = float(re.search(r"accelerations by ([\d.e+]+) m/s²", line)[1])
    assert 0.3 * off < said < 5 * off  # of a single rounding, and at most twice its own roughness


@pytest.mark.parametrize("cell", ["%.17g", "%.6f"])
def test_ramps_are_not_coarse(tmp_path, robot, cell):
    """Constant speed there and back, and constant accelerations: multiples of a step, but exact."""
    t = np.arange(1001) / 500
    back = 0.1 * np.abs(((2 * t) % 2) - 1)
    s = np.minimum(t, 2 - t)
    parabolas = 0.25 * np.where(s < 0.5, 2 * s**2, 1 - 2 * (1 - s) ** 2)
    for x in (back, parabolas):
        position = np.stack([x, 0 * x, 1.2 + 0 * x], axis=-1)
        file = written(tmp_path / "ramp.csv", t, position, "%.6f", cell)
        _, told = lines_of(file, robot)
        assert all("(1e-06 m)" in one for one in told)  # the decimals, not the way of a sample
        calm, _ = lines_of(file, robot, smooth=True)
        assert np.abs(calm.position - position).max() <= 1.01e-6
