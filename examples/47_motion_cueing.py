"""A car brakes: how is that felt on a hexapod simulator, by a classical washout and by an optimised cue?

Both keep stroke, speed and force of every leg; what counts is what the inner ear makes of them.
"""

from pathlib import Path

import numpy as np

import gough
from gough.cueing import Predictive, Vehicle, Washout, cue

robot = gough.load(Path(__file__).with_name("simulator.toml"))

time = np.arange(0, 8, 0.02)
pedal = np.clip(time - 2, 0, 1) - np.clip(time - 5, 0, 1)
braking = Vehicle.of(time, np.outer(pedal, [-2.5, 0, 0]), np.zeros((len(time), 3)))

washout = cue(robot, braking, Washout(translation=0.1, tilt=0.3, tilt_rate=3))
optimised = cue(robot, braking, Predictive(preview=4))
for name, one in (("classical", washout), ("optimised", optimised)):
    most = ", ".join(f"{limit} {100 * share.max():.0f} %" for limit, share in one.shares.items())
    print(f"{name}: error {one.error:.2f} thresholds; uses of {most}")
    assert robot.check(one.motion).ok
assert optimised.error < 0.5 * washout.error
