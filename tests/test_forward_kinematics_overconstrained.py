"""Poses of a robot that is held in more directions than needed, beside its plane geometry."""

import numpy as np
import pytest

import gough
from cases.exported import COMPILER, Exported
from gough.mechanics.state import RIGID_FIELDS

NAME = "shah-3rrr-2012"
CRANKS = np.array([[0, 0], [1, 0], [0.5, 0.8660254037844386]])
"""Axes of the motors, m; cranks of 0.4 m, links of 0.6 m, platform joints about its middle."""
JOINTS = np.array([[0.3, 0.1732050807568877], [0.7, 0.1732050807568877], [0.5, 0.5196152422706632]])
MIDDLE = np.array([0.5, 0.28867513459481287])
BESIDE_HOME = [2.388149242745427, -1.802507406348414, 0.2928902440462594]

pytestmark = pytest.mark.usefixtures("on_numpy")


def own_angles(position, angle):
    """Crank angles (n, 3), by the law of cosines in each leg's triangle."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    away = np.einsum("ijn,lj->nli", turn, JOINTS - MIDDLE) + position[:, None, :2] - CRANKS
    reach = np.linalg.norm(away, axis=-1)
    bent = np.arccos((0.4**2 + reach**2 - 0.6**2) / (2 * 0.4 * reach))
    angles = np.arctan2(away[..., 1], away[..., 0]) + bent
    home = np.array([2.387237874121771, -1.80155233066462, 0.2928427717285758])
    return home + (angles - home + np.pi) % (2 * np.pi) - np.pi


def test_poses_beside_home_have_the_angles_that_were_asked_for():
    robot = gough.load(NAME)
    home = own_angles(robot.home.position[None], np.zeros(1))[0]
    rng = np.random.default_rng(0)
    sizes = np.repeat([1e-6, 1e-4, 1e-3, 1e-2], 100)[:, None]
    q = np.concatenate([[BESIDE_HOME], home + sizes * rng.uniform(-1, 1, (400, 3))])
    found = robot.forward_kinematics(q)
    angle = np.arctan2(found.rotation[:, 1, 0], found.rotation[:, 0, 0])
    np.testing.assert_allclose(own_angles(found.position, angle), q, rtol=0, atol=1e-10)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or cc) on this machine")
def test_c_finds_the_same_pose(tmp_path):
    robot = gough.load(NAME)
    c = Exported(robot, tmp_path / "c", programs=["forward_kinematics"])
    whole = np.concatenate([np.ravel(getattr(robot.home, name)) for name in RIGID_FIELDS])
    state = dict.fromkeys(RIGID_FIELDS, np.zeros(0))
    state["position"] = np.concatenate([whole, robot.chains_of(robot.home)])
    status, answer = c("forward_kinematics", state, BESIDE_HOME, 12)
    angle = np.arctan2(answer[6:7], answer[3:4])
    assert status == 0
    np.testing.assert_allclose(own_angles(answer[None, :3], angle)[0], BESIDE_HOME, atol=1e-10)
