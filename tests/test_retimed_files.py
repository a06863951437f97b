"""Files of retimed motions keep limits between their samples, on SciPy's polynomials through them."""

import json

import numpy as np
import pytest
from scipy.interpolate import BPoly
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.retimed_splines import hexapod, random_spline
from gough.data.motion_files import write_motion
from oracles.time_law import Hexapod

pytest.importorskip("toppra")
ROBOT = """format = 1
name = "hexapod"
home = {{ position = [0, 0, 0.8] }}
platform = {{ mass = {mass}, center_of_mass = {center_of_mass}, inertia = {inertia} }}
[legs]
kind = "UPS"
base = {base}
platform = {platform}
cross = {{}}
cylinder = {{}}
rod = {{}}
rotor_mass = 30.0
friction = {{ slider_viscous = 100.0, slider_coulomb = 20.0 }}
limits = {{ stroke = [0.6, 1.2], speed = 0.5, force = 400.0 }}
"""


def product(a, b):
    """Of quaternions (n, 4), the scalar first."""
    scalar = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    vector = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([scalar, vector], axis=1)


def between(path, places):
    """The state at places in each gap, on quintic polynomials of position and quaternion."""
    data = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    columns = {name.split("_[")[0]: data[name] for name in data.dtype.names}

    def take(*names):
        return np.stack([columns[name] for name in names], axis=1)

    time, turn = columns["time"], take("qw", "qx", "qy", "qz")
    turn = turn * np.cumprod(np.sign(np.append(1, np.sum(turn[1:] * turn[:-1], axis=1))))[:, None]
    none = np.zeros((len(time), 1))
    omega = np.hstack([none, take("wx", "wy", "wz")])
    alpha = np.hstack([none, take("alpha_x", "alpha_y", "alpha_z")])
    rate = product(omega, turn) / 2
    second = (product(alpha, turn) + product(omega, rate)) / 2
    place = take("x", "y", "z"), take("vx", "vy", "vz"), take("ax", "ay", "az")
    t = (time[:-1, None] + np.diff(time)[:, None] * places).ravel()
    r, v, a = (
        BPoly.from_derivatives(time, np.stack(place, axis=1)).derivative(k)(t) for k in range(3)
    )
    paths = BPoly.from_derivatives(time, np.stack([turn, rate, second], axis=1))
    q, qd, qdd = (paths.derivative(k)(t) for k in range(3))
    back = q * [1, -1, -1, -1] / np.sum(q * q, axis=1, keepdims=True)
    spin = product(qd, back)
    spin_up = product(qdd, back) - product(spin, spin)
    turned = Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_matrix()
    return r, turned, v, 2 * spin[:, 1:], a, 2 * spin_up[:, 1:]


def test_files_keep_limits_between_their_samples(tmp_path):
    """601 samples of it had forces up to 5 % over their limit between them."""
    data = hexapod()
    legs = {name: data["legs"][name] for name in ("base", "platform")}
    plate = data["platform"]
    words = {f"p_{key}": value for key, value in plate.items()}
    text = ROBOT.replace("{mass}", "{p_mass}").replace("{center_of_mass}", "{p_center_of_mass}")
    text = text.replace("{inertia}", "{p_inertia}").format(**legs, **words)
    (tmp_path / "my.toml").write_text(text)
    robot = gough.load(tmp_path / "my.toml")
    write_motion(random_spline(robot, 4, 0).sample(41), tmp_path / "path.csv")
    words = ("retime", "my.toml", "path.csv", "-o", "fast.csv", "--json")
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert said["samples"] > 601
    assert said["duration"] < said["written"] < 1.05 * said["duration"]
    state = between(tmp_path / "fast.csv", (np.arange(11) + 0.5) / 11)
    rates, forces = Hexapod(data)(state)
    assert np.abs(forces).max() <= 400 * (1 + 1e-4)
    assert np.abs(rates).max() <= 0.5 * (1 + 1e-4)
    few = run("retime", "my.toml", "path.csv", "-o", "few.csv", "--samples", "101", cwd=tmp_path)
    assert "is exceeded by" in few.stderr
    rates, forces = Hexapod(data)(between(tmp_path / "few.csv", (np.arange(11) + 0.5) / 11))
    assert np.abs(forces).max() > 400 * 1.001
