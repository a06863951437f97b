"""Poses rounded to the file's last digit: what is uncertain is said, and smoothing brings it back.

The truth is the motion before rounding, by its formula, and the forces of a hexapod whose legs weigh
nothing, by Newton. How uncertain accelerations are is measured by rounding many shifted copies.
"""

import re

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from cases.command import run
from gough import Robot
from gough.base.smoothing import smoothest
from gough.data.motion_files import read_motion
from gough.errors import FileError, InputError

BASE = np.array([[0.6, 0.2, 0], [-0.1, 0.65, 0], [-0.5, 0.4, 0], [-0.5, -0.4, 0], [-0.1, -0.65, 0],
                 [0.6, -0.2, 0]])  # fmt: skip
PLATFORM = np.array([[0.3, 0.3, 0], [0.1, 0.4, 0], [-0.4, 0.1, 0], [-0.4, -0.1, 0], [0.1, -0.4, 0],
                     [0.3, -0.3, 0]])  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return Robot.from_dict(
        {
            "format": 1, "name": "light legs", "home": {"position": [0, 0, 1.2]},
            "legs": {"kind": "UPS", "base": BASE.tolist(), "platform": PLATFORM.tolist(),
                     "cross": {"mass": 0.0}, "cylinder": {"mass": 0.0}, "rod": {"mass": 0.0}},
            "platform": {"mass": 50.0, "inertia": [[4, 0, 0], [0, 4, 0], [0, 0, 7]]},
        }
    )  # fmt: skip


def forces(position, acceleration):
    """Of a platform that does not turn, (n, 6), by Newton."""
    tips = position[:, np.newaxis] + PLATFORM
    along = (tips - BASE) / np.linalg.norm(tips - BASE, axis=-1)[..., np.newaxis]
    moments = np.cross(np.broadcast_to(PLATFORM, along.shape), along)
    load = np.zeros((len(position), 6))
    load[:, :3] = 50 * (acceleration + np.array([0, 0, 9.81]))
    wrenches = np.concatenate([along, moments], axis=-1)
    return np.linalg.solve(np.swapaxes(wrenches, 1, 2), load[..., np.newaxis])[..., 0]


def move(samples):
    """100 mm in 1 s, from rest to rest."""
    t = np.linspace(0, 1, samples)
    x = 0.1 * t**3 * (10 - 15 * t + 6 * t**2)
    a = 0.1 * (60 * t - 180 * t**2 + 120 * t**3)
    side = np.array([1.0, 0, 0])
    return t, np.array([0, 0, 1.2]) + np.outer(x, side), np.outer(a, side)


def written(path, t, columns, decimals, header="time,x,y,z"):
    rows = (
        ",".join([f"{a:.6f}", *(f"{v:.{decimals}f}" for v in b)])
        for a, b in zip(t, columns, strict=True)
    )
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


CASES = [(1001, 5, ""), (1001, 6, ""), (4001, 3, "mm"), (10_001, 3, "mm")]


@pytest.mark.parametrize(("samples", "decimals", "unit"), CASES)
def test_forces_of_rounded_poses(tmp_path, robot, samples, decimals, unit):
    t, position, acceleration = move(samples)
    true = np.abs(forces(position, acceleration)).max()
    factor, header = (1e3, "time,x [mm],y [mm],z [mm]") if unit else (1.0, "time,x,y,z")
    path = written(tmp_path / "move.csv", t, factor * position, decimals, header)
    told = []
    rough = read_motion(path, robot, say=told.append)
    wrong = np.abs(robot.inverse_dynamics(rough).forces).max()
    assert wrong > 2 * true
    (line,) = [one for one in told if "rounded" in one]
    assert "--smooth" in line
    uncertain = float(re.search(r"forces by ([\d.e+]+) N", line)[1])
    assert 0.2 * (wrong - true) < uncertain < 10 * (wrong - true)
    told.clear()
    smooth = read_motion(path, robot, say=told.append, smooth=True)
    assert not [one for one in told if "uncertain" in one]
    digit = 10.0**-decimals / factor
    assert np.abs(smooth.position - rough.position).max() <= 0.5 * digit * (1 + 1e-4)
    assert np.abs(smooth.acceleration - acceleration).max() < 1e-3 * np.abs(acceleration).max()
    assert np.abs(robot.inverse_dynamics(smooth).forces).max() == pytest.approx(true, rel=1e-4)


def test_the_uncertainty_is_that_of_many_roundings(tmp_path, robot):
    """Two sines, rounded 300 times with other shifts: deviations of accelerations of splines."""
    rng, t = np.random.default_rng(0), np.linspace(0, 1, 201)
    x = 0.1 * np.sin(9 * t) + 0.02 * np.sin(31 * t)
    shifts = rng.uniform(0, 1e-5, 300)
    rounded = np.round((x[:, np.newaxis] + shifts) / 1e-5) * 1e-5
    off = make_interp_spline(t, rounded - shifts - x[:, np.newaxis], k=5)(t, 2)
    deviation = np.sqrt(np.mean(off**2, axis=1)).max()
    position = np.stack([x, 0 * t, 1.2 + 0 * t], axis=-1)
    told = []
    read_motion(written(tmp_path / "sines.csv", t, position, 5), robot, say=told.append)
    said = float(re.search(r"accelerations by ([\d.e+]+) m/s²", told[-1])[1])
    assert said == pytest.approx(deviation, rel=0.15)


@pytest.mark.parametrize("decimals", [9, 12])
def test_enough_digits_are_not_spoken_of(tmp_path, robot, decimals):
    t, position, _ = move(1001)
    told = []
    read_motion(written(tmp_path / "move.csv", t, position, decimals), robot, say=told.append)
    assert told == []


def test_short_numbers_that_are_exact_are_not_spoken_of(tmp_path, robot):
    """Constant speed and waypoints, with as many decimals as they need."""
    t = np.arange(101) / 100
    told = []
    steady = np.stack([t / 10, 0 * t, 1.2 + 0 * t], axis=-1)
    read_motion(written(tmp_path / "steady.csv", t, steady, 3), robot, say=told.append)
    few = np.array([[0, 0, 1.2], [0.1, 0, 1.2], [0.1, 0.1, 1.3], [0, 0, 1.2]])
    read_motion(written(tmp_path / "few.csv", np.arange(4.0), few, 1), robot, say=told.append)
    assert told == []


@pytest.mark.parametrize("form", ["rx,ry,rz", "qw,qx,qy,qz"])
def test_rounded_rotations(tmp_path, robot, form):
    """A pitch of 0.2 rad at 1 Hz for 2 s, to 5 or 7 decimals at 500 Hz."""
    t = np.linspace(0, 2, 1001)
    angle, w = 0.2 * np.sin(2 * np.pi * t), 2 * np.pi
    turn = Rotation.from_rotvec(np.outer(angle, [0, 1, 0]))
    vector = form.startswith("rx")
    cells = turn.as_rotvec() if vector else turn.as_quat()[:, [3, 0, 1, 2]]
    decimals = 5 if vector else 7
    table = np.concatenate([np.tile([0, 0, 1.2], (1001, 1)), cells], axis=-1)
    path = written(tmp_path / "pitch.csv", t, table, decimals, f"time,x,y,z,{form}")
    alpha = -(w**2) * angle
    rough, told = read_motion(path, robot), []
    smooth = read_motion(path, robot, smooth=True, say=told.append)
    noise = np.abs(rough.angular_acceleration[:, 1] - alpha)[50:-50].max()
    left = np.abs(smooth.angular_acceleration[:, 1] - alpha)[50:-50].max()
    assert left < 0.02 * np.abs(alpha).max()
    assert left < 0.1 * noise
    between = Rotation.from_matrix(rough.rotation).inv() * Rotation.from_matrix(smooth.rotation)
    assert between.magnitude().max() <= 10.0**-decimals * (1.01 if vector else 1.5)


def test_within_a_distance():
    """Noise of 20 µm: three times as much is allowed; the smoothest curve is far calmer and as near."""
    rng, t = np.random.default_rng(1), np.linspace(0, 2, 2001)
    true = 0.05 * np.sin(2 * np.pi * t)
    noisy = true + rng.uniform(-2e-5, 2e-5, t.shape)
    curve = smoothest(t, noisy, 6e-5)
    found = curve(t)
    assert np.abs(found - noisy).max() <= 6e-5 * (1 + 1e-4)
    off = np.abs(curve(t, 2) + (2 * np.pi) ** 2 * true)
    assert off[100:-100].max() < 0.05 * (2 * np.pi) ** 2 * 0.05


def test_nothing_smoother_is_within():
    """No other curve within the box has less ∫ (x‴)² dt: by another solver, on 60 samples."""
    from scipy.optimize import LinearConstraint, minimize

    rng, t = np.random.default_rng(2), np.linspace(0, 1, 60)
    values = np.round(0.1 * np.sin(4 * t) + 0.02 * rng.normal() * t, 3)
    curve = smoothest(t, values, 5e-4)
    fine = np.linspace(0, 1, 4001)

    def rough(c):
        return np.trapezoid(type(curve)(curve.t, c, 5)(fine, 3) ** 2, fine)

    design = type(curve).design_matrix(t, curve.t, 5).toarray()
    box = LinearConstraint(design, values - 5e-4, values + 5e-4)
    other = minimize(rough, curve.c + 1e-5, constraints=box, method="SLSQP",
                     options={"maxiter": 500, "ftol": 1e-12})  # fmt: skip
    assert rough(curve.c) <= (1 + 1e-3) * other.fun


def test_commands_take_it(tmp_path, robot):
    t, position, acceleration = move(1001)
    true = np.abs(forces(position, acceleration)).max()
    path = written(tmp_path / "move.csv", t, position, 5)
    file = tmp_path / "robot.toml"
    file.write_text(robot.text, "utf-8")
    for option in (("--smooth",), ("--within", "1e-5")):
        found = run("forces", file, path, "-o", tmp_path / "f.csv", *option)
        said = float(re.search(r"largest force ([\d.]+) N", found.stdout)[1])
        assert said == pytest.approx(true, rel=2e-3)
        assert "poses smoothed" in found.stderr
    assert "poses are rounded" in run("forces", file, path, "-o", tmp_path / "f.csv").stderr
    assert "poses smoothed" in run("size", file, path, "--smooth").stderr


def test_what_cannot_be_smoothed_is_refused(tmp_path, robot):
    t, position, acceleration = move(101)
    rates = np.concatenate([position, 0 * position, acceleration], axis=-1)
    path = written(tmp_path / "rated.csv", t, rates, 9, "time,x,y,z,vx,vy,vz,ax,ay,az")
    with pytest.raises(FileError, match="smooth is about time and poses alone"):
        read_motion(path, robot, smooth=True)
    plain = written(tmp_path / "plain.csv", t, position, 5)
    with pytest.raises((FileError, InputError), match="needs True or a distance"):
        read_motion(plain, robot, smooth=-1.0)
