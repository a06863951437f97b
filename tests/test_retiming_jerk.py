"""Retiming with limited jerk keeps all limits between samples too, by forces and rates of NumPy's."""

import numpy as np
import pytest

import gough
from cases.retimed_splines import fields, hexapod, random_spline
from gough.planning import retime
from oracles.time_law import Hexapod

pytest.importorskip("toppra")


@pytest.mark.parametrize(("poses", "jerk"), [(14, 300.0), (6, 2e4)])
def test_jerk_force_and_speed_are_kept_between_samples(poses, jerk):
    """Looked at in 2001 samples, forces passed their limits, by 3 % in the second case."""
    data = hexapod()
    robot, machine = gough.Robot.from_dict(data), Hexapod(data)
    spline = random_spline(robot, poses, 0)
    fast = retime(robot, spline, force=400.0, speed=0.5, cells=200)
    found = retime(robot, spline, force=400.0, speed=0.5, jerk=jerk, cells=200)
    t, step = np.linspace(0, found.duration, 100_001, retstep=True)
    rates, pushes = machine(fields(found(t)))
    assert np.abs(rates).max() <= 0.5 * (1 + 1e-6)
    assert np.abs(pushes).max() <= 400 * (1 + 1e-6)
    assert np.abs(np.diff(rates, 2, axis=0)).max() / step**2 <= jerk * (1 + 1e-3)
    assert fast.duration < found.duration < 1.2 * fast.duration
