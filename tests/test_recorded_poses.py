"""Poses as recorders write them: rounded time stamps, repeated poses, coarse steps, short quaternions.

The truth is the motion before it was written, by its formula, and the forces of a hexapod whose legs
weigh nothing, by Newton.
"""

import numpy as np
import pytest

from gough import Robot
from gough.base.smoothing import smoothest
from gough.data.motion_files import read_motion

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
