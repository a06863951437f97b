"""Retimed splines beside a phase plane of NumPy's, limits by forces that NumPy finds.

`python -m cases.retimed_splines` does it with twenty splines.
"""

import numpy as np
import pytest

import gough
from cases.retimed_splines import compared, fields, hexapod, random_spline
from gough.planning import retime
from oracles.time_law import Hexapod

pytest.importorskip("toppra")


def test_the_oracles_forces_are_those_of_the_robot():
    data = hexapod()
    robot = gough.Robot.from_dict(data)
    motion = random_spline(robot, 9, 0).sample(40)
    rates, forces = Hexapod(data)(fields(motion))
    np.testing.assert_allclose(robot.inverse_dynamics(motion).forces, forces, atol=1e-9)
    np.testing.assert_allclose(robot.inverse_kinematics(motion).qd, rates, atol=1e-12)


@pytest.mark.parametrize(
    ("poses", "seed", "force", "speed", "options"),
    [
        (8, 1, 600.0, 0.5, {}),
        (40, 0, 400.0, 0.5, {"cells": 250}),
    ],
)
def test_retimed_splines_are_as_fast_as_limits_allow(poses, seed, force, speed, options):
    """Many poses in few cells were refused, or slowed as a whole for the sake of one cell."""
    mine, best, share = compared(hexapod(), poses, seed, force, speed, 60, 20_001, **options)
    assert mine == pytest.approx(best, rel=0.02)
    assert share <= 1 + 1e-6


def test_fast_wiggles_are_timed_in_as_many_cells_as_they_need():
    """A path that turns back and forth: no slower than its even timing, limits kept."""
    data = hexapod()
    robot, machine = gough.Robot.from_dict(data), Hexapod(data)
    t = np.arange(0, 0.6, 0.004)
    rng = np.random.default_rng(0)
    waves = 2 * np.pi * rng.uniform(2, 20, (6, 6))
    u = np.sum(
        np.sin(waves[..., None] * t + rng.uniform(0, 6, (6, 6, 1))) / waves[..., None], axis=1
    )
    u = 0.01 * u.T / np.abs(u).max()
    motion = gough.Motion.from_samples(
        t, robot.home.position + u[:, :3], gough.Motion(u[:, :3], rotvec=u[:, 3:]).rotation
    )
    even = retime(robot, motion, force=400.0, speed=0.5, uniform=True)
    found = retime(robot, motion, force=400.0, speed=0.5)
    assert found.duration < even.duration
    for one in (found, even):
        rates, pushes = machine(fields(one(np.linspace(0, one.duration, 20_001))))
        assert max(np.abs(rates).max() / 0.5, np.abs(pushes).max() / 400) <= 1 + 1e-6
