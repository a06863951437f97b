"""The compiled loop and the one in Python give the same, and their energy audit closes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gough
from cases.common import each_kind
from cases.simulations import dictionary, in_python, offset, path, robot_of
from gough.simulation import (
    Actuators,
    ComputedTorque,
    FeedForward,
    GravityPD,
    LegPD,
    Push,
    Sensors,
    Shake,
)

LOOPS = {
    "plain": {},
    "wrench": {"wrench": [Push([50, 0, -30, 2, 1, 0], 0.004, 0.02), Shake([9, 9, 9, 1, 1, 1], 40)]},
    "drives": {"actuators": Actuators(force=400.0, speed=0.05, lag=2e-3)},
    "sensors": {
        "sensors": Sensors(
            resolution=1e-6, rate_resolution=1e-5, noise=2e-6, rate_noise=1e-4, delay=2e-3, seed=3
        )
    },
    "slow controller": {"period": 4e-3, "step": 1e-3},
    "no pause": {"period": None},
    "no pause, lag": {"period": None, "actuators": Actuators(lag=5e-3)},
    "delay": {"sensors": Sensors(delay=3e-3)},
}
LAWS = {
    "platform": ComputedTorque(40.0),
    "legs": ComputedTorque(40.0, 0.8, space="legs"),
    "pd": LegPD(2e5, 2e3),
    "gravity": GravityPD(2e5, 2e3),
    "feed forward": FeedForward(2e5, 2e3),
}


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("law", ["platform", "gravity"])
def test_engine_and_python_loops_agree(loop, law, monkeypatch):
    robot = robot_of("PUS")
    starts = gough.Motion.stack([offset(robot), offset(robot, (0, 0, 0), (0, 0, 0))])
    given = {"start": starts, "duration": 0.03, "friction": False, **LOOPS[loop]}
    fast = gough.simulate(robot, LAWS[law], path(robot), **given)
    in_python(monkeypatch)
    slow = gough.simulate(robot, LAWS[law], path(robot), **given)
    assert fast.motion.shape == slow.motion.shape
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        mine, other = getattr(fast.motion, name), getattr(slow.motion, name)
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-9, err_msg=name)
    size = np.abs(slow.command).max()
    np.testing.assert_allclose(fast.command, slow.command, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(fast.forces, slow.forces, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(fast.works, slow.works, rtol=1e-7, atol=1e-8)


@pytest.mark.second_tier_from(1)
@each_kind
@pytest.mark.parametrize("law", LAWS)
def test_laws_with_smooth_friction_in_both_loops(kind, law, monkeypatch):
    robot = robot_of(kind, friction=True, width=0.05)
    fast = gough.simulate(robot, LAWS[law], path(robot), 0.01)
    in_python(monkeypatch)
    slow = gough.simulate(robot, LAWS[law], path(robot), 0.01)
    np.testing.assert_allclose(fast.motion.velocity, slow.motion.velocity, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.works, slow.works, rtol=1e-8, atol=1e-10)


@pytest.mark.second_tier_from(2)
@each_kind
def test_energy_audit_closes_with_friction_wrench_and_drives(kind):
    robot = robot_of(kind, friction=True, width=0.05)
    found = gough.simulate(
        robot, ComputedTorque(30.0), path(robot), wrench=[Shake([80, 40, 60, 5, 5, 5], 3.0)],
        actuators=Actuators(lag=2e-3),
    )  # fmt: skip
    audit = found.energy_audit()
    assert audit["loss"][-1] > 0.1
    assert np.all(np.diff(audit["loss"]) > -1e-9)
    assert np.abs(audit["wrench_work"]).max() > 0.1
    size = np.abs(audit["actuator_work"]).max() + audit["loss"][-1]
    assert np.abs(audit["energy_residual"]).max() < 1e-7 * size


def test_everything_runs_without_a_compiler(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = gough.Robot.from_dict(dictionary("UPS"))
    found = gough.simulate(plain, ComputedTorque(30.0), path(plain), 0.01, friction=False)
    monkeypatch.delenv("GOUGH_ENGINE")
    robot = robot_of("UPS")
    fast = gough.simulate(robot, ComputedTorque(30.0), path(robot), 0.01, friction=False)
    np.testing.assert_allclose(found.motion.position, fast.motion.position, rtol=0, atol=1e-12)
