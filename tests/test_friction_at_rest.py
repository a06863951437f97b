"""Robots that friction holds: MuJoCo with the exported file, and what direct dynamics says of itself."""

from __future__ import annotations

import numpy as np
import pytest

import gough
from gough.exchange.mjcf import mjcf

mujoco = pytest.importorskip("mujoco")

TINY = {"mass": 1e-3, "inertia": [[1e-6, 0, 0], [0, 1e-6, 0], [0, 0, 1e-6]]}
RUB, MASS = 20.0, 50.0


def rubbing(width=0.0, rod=TINY):
    """A platform on six legs as good as without mass, 20 N of Coulomb friction in each."""
    angles = np.radians([20, 100, 140, 220, 260, 340])
    tips = np.radians([45, 75, 165, 195, 285, 315])
    friction = {"slider_coulomb": RUB, **({"width": width} if width else {})}
    legs = {
        "kind": "UPS", "friction": friction, "cross": TINY, "cylinder": TINY, "rod": rod,
        "base": np.c_[0.6 * np.cos(angles), 0.6 * np.sin(angles), 0 * angles].tolist(),
        "platform": np.c_[0.3 * np.cos(tips), 0.3 * np.sin(tips), 0 * tips].tolist(),
    }  # fmt: skip
    file = {
        "format": 1, "name": "rubbing", "gravity": [0, 0, -9.81],
        "home": {"position": [0, 0, 1.0]}, "legs": legs,
        "platform": {"mass": MASS, "inertia": np.diag([4.0, 4.0, 7.0]).tolist()},
    }  # fmt: skip
    return gough.Robot.from_dict(file)


def rises(robot, more, duration):
    """Height that MuJoCo's platform gains under forces over those that hold it, m."""
    model = mujoco.MjModel.from_xml_string(mjcf(robot).text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:] = robot.inverse_dynamics(robot.home, friction=False).forces + more
    place = model.body("platform").id
    mujoco.mj_forward(model, data)
    before = data.xpos[place, 2]
    for _ in range(round(duration / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data.xpos[place, 2] - before


def test_the_exported_robot_sticks_below_its_friction():
    """15 N over the holding forces, 20 N of friction: the truth is 0; it crept by a millimetre."""
    rod = {"mass": 2.0, "inertia": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]]}
    assert abs(rises(rubbing(rod=rod), 15.0, 0.5)) < 1e-6


def test_the_exported_robot_slides_above_it():
    """25 N over the holding forces: 6 legs push with 5 N each along the leg, z = a t²/2."""
    robot = rubbing()
    height = 1.0 / robot.inverse_kinematics(robot.home).q[0]  # cosine of a leg with the vertical
    exact = 6 * 5.0 * height / MASS * 0.1**2 / 2
    assert rises(robot, 25.0, 0.1) == pytest.approx(exact, rel=0.02)


def test_direct_dynamics_says_where_friction_may_hold():
    robot = rubbing()
    hold = robot.inverse_dynamics(robot.home, friction=False).forces
    still = robot.direct_dynamics(robot.home, hold + 5.0)
    assert still.may_stick.all()
    exact = 6 * 5.0 / robot.inverse_kinematics(robot.home).q[0] / MASS  # as if nothing rubbed
    assert still.linear[2] == pytest.approx(exact, rel=1e-3)
    home = robot.home
    poses = gough.Motion(np.tile(home.position, (2, 1)), home.rotation, [[0, 0, 0], [0.0, 0, 1e-6]])
    both = robot.direct_dynamics(poses, hold + 25.0)
    assert both.may_stick.tolist() == [[True] * 6, [False] * 6]
    assert both.linear[1, 2] == pytest.approx(exact, rel=1e-3)  # 25 − 20 N once it moves
    smooth = rubbing(1e-3)
    assert not smooth.direct_dynamics(smooth.home, hold).may_stick.any()
