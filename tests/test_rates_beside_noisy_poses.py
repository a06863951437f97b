"""Poses of encoders and trackers are noisy, their filtered rates are not: both may stand in one file.

The motion and its rates are sines written down here; noise is added to the poses alone. Wrong rates
beside noisy poses are refused all the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.data.motion_files import read_motion
from gough.errors import FileError

COLUMNS = "time,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,ax,ay,az,alpha_x,alpha_y,alpha_z"


def written(path, noise, factor=1.0, turns=True):
    """Write 4 s at 1 kHz, along z and about z, with noise (m and rad) of the poses."""
    random = np.random.default_rng(1)
    t = np.arange(0, 4, 1e-3)
    w = 2 * np.pi * 0.5
    up, about = np.array([0, 0, 1.0]), np.array([0, 0, 1.0 if turns else 0.0])
    sine, cosine = np.sin(w * t)[:, np.newaxis], np.cos(w * t)[:, np.newaxis]
    p = 1.2 * up + 0.05 * sine * up + noise * random.standard_normal((len(t), 3))
    turn = Rotation.from_rotvec(noise * random.standard_normal((len(t), 3)))
    q = (turn * Rotation.from_rotvec(0.1 * sine * about)).as_quat()[:, [3, 0, 1, 2]]
    v, a = 0.05 * w * cosine * up * factor, -0.05 * w**2 * sine * up * factor
    omega, alpha = 0.1 * w * cosine * about, -0.1 * w**2 * sine * about
    rows = np.column_stack([t, p, q, v, omega, a, alpha])
    np.savetxt(path, rows, delimiter=",", header=COLUMNS, comments="", fmt="%.12g")
    return path


@pytest.mark.parametrize("turns", [True, False], ids=["turning", "level"])
@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4])
def test_filtered_rates_beside_noisy_poses_are_read(noise, turns, tmp_path):
    read_motion(written(tmp_path / "motion.csv", noise, turns=turns))


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4])
def test_velocities_five_times_too_large_are_refused_beside_noisy_poses(noise, tmp_path):
    with pytest.raises(FileError, match=r"(vz is|vx, vy, vz are) (5|4\.9\d*|5\.0\d*) times"):
        read_motion(written(tmp_path / "motion.csv", noise, factor=5.0))


def test_moves_whose_squares_are_no_numbers_are_at_rest(tmp_path):
    """Positions that differ by 1e-170 m, beside rates of 0."""
    path = written(tmp_path / "motion.csv", 1e-7)
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    rows[:, 1:4] = np.outer(np.arange(len(rows)), [1e-170, 0, 0])
    rows[:, 4:8], rows[:, 8:] = [1, 0, 0, 0], 0
    np.savetxt(path, rows, delimiter=",", header=COLUMNS, comments="", fmt="%.12g")
    assert not read_motion(path).velocity.any()
