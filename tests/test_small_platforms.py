"""Forward kinematics of Deltas with small platforms, from home: the truth is where three spheres meet.

With the platform kept from turning, its origin is at the rods' length from three points: the ends of
the cranks less the platform's radius.
"""

from __future__ import annotations

import numpy as np
import pytest

import gough

pytestmark = pytest.mark.usefixtures("on_numpy")
ANGLES = np.arange(3) * 2 * np.pi / 3
OUT = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=-1)
BASE, CRANK, ROD = 0.2, 0.3, 0.8


def spheres_meet(q, radius):
    """Return the lower point at the rods' length from the three centres, m."""
    reach = np.cos(q)[:, np.newaxis] * OUT - np.sin(q)[:, np.newaxis] * [0, 0, 1]
    centre = (BASE - radius) * OUT + CRANK * reach
    rows = 2 * (centre[1:] - centre[0])
    sizes = (centre**2).sum(axis=1)
    point = np.linalg.lstsq(rows, sizes[1:] - sizes[0], rcond=None)[0]
    along = np.cross(rows[0], rows[1])
    along /= np.linalg.norm(along)
    off = point - centre[0]
    part = off @ along
    root = np.sqrt(part**2 - off @ off + ROD**2)
    return min((point + (side * root - part) * along for side in (-1, 1)), key=lambda p: p[2])


@pytest.mark.parametrize("radius", [0.0, 0.0005, 0.002, 0.01, 0.05])
def test_a_delta_finds_its_pose_from_home_however_small_its_platform_is(radius):
    across = np.cross([0, 0, 1], OUT)
    robot = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "Delta",
            "home": {"position": [0, 0, -0.75]},
            "legs": {
                "kind": "RUS",
                "motor": (BASE * OUT).tolist(),
                "motor_axis": across.tolist(),
                "crank_zero": OUT.tolist(),
                "crank_length": CRANK,
                "length": ROD,
                "platform": (radius * OUT).tolist(),
            },
            "platform": {"mobility": "translation"},
        }
    )
    home = robot.inverse_kinematics(robot.home).q
    for q in home + np.random.default_rng(5).uniform(-0.3, 0.3, (10, 3)):
        pose = robot.forward_kinematics(q, robot.home)
        np.testing.assert_allclose(pose.position, spheres_meet(q, radius), rtol=0, atol=1e-9)
