"""How exactly does a hexapod stand? From tolerances of legs and joints to the error at the tool.

First by the linear law of propagation, then by building 5000 random robots and solving each exactly.
"""

import numpy as np

import gough
from gough.analysis.accuracy import Tolerances, accuracy, sampled

robot = gough.load("kim-ryu-2002").edited({"tool": [0, 0, -0.1]})  # below the platform
tolerances = Tolerances(
    leg=10e-6,  # m: zero and reading of each drive
    base=20e-6,  # m a coordinate: where the rails are
    platform=20e-6,  # m a coordinate: where the ball joints are
    link=15e-6,  # m: length of the links
    rail=50e-6,  # rad: direction of the rails
    mounting_angle=20e-6,  # rad: the machine on its floor
)

first = accuracy(robot, robot.home, tolerances)
print(
    f"tool error {1e6 * first.tool_error:.1f} µm rms, turned by {1e6 * first.turn_error:.0f} µrad"
)
total = np.trace(first.tool)
for name, share in first.shares.items():
    if np.any(share):
        print(f"  {name:15s} {np.trace(share) / total:5.1%}")

drawn = sampled(robot, robot.home, tolerances, samples=5000)
print(f"5000 random robots: {1e6 * drawn.tool_error:.1f} µm rms")
print(f"19 of 20 within {1e6 * np.quantile(np.linalg.norm(drawn.tool, axis=1), 0.95):.0f} µm")

assert abs(first.tool_error / drawn.tool_error - 1) < 0.03
