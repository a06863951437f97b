"""Where is a hexapod weakest, by how much does its tool give way, and at what frequency does it ring.

Drives are springs along their axis, links are springs along themselves; the weight preloads them.
"""

import numpy as np

import gough
from gough.analysis.stiffness import stiffness

robot = gough.load("kim-ryu-2002")
drive, link = 1e7, 5e7  # N/m: a ball screw and its bearings; a steel tube

found = stiffness(robot, robot.home, drive, link)
values, axes = found.principal()
for value, axis in zip(values, axes.T, strict=True):
    print(f"{value / 1e6:6.2f} N/µm along {np.round(axis, 3) + 0.0}")

# A cutting force of 200 N sideways at the tool moves it by
moved = found.deflection([200, 0, 0])
print(f"200 N along x: {1e6 * moved[0]:.1f} µm, and {1e6 * moved[4]:.0f} µrad about y")

# Without preload the answer is a little different: the legs' forces turn with the platform.
bare = stiffness(robot, robot.home, drive, link, preload=False)
change = found.principal()[0][0] / bare.principal()[0][0] - 1
print(f"preload changes the least stiffness by {change:+.2%}")

frequencies = robot.natural_frequencies(robot.home, found.along).frequencies
print(f"lowest natural frequency {frequencies[0]:.1f} Hz")

# The least stiffness is what a force along its axis feels.
weak = found.deflection(axes[:, 0])
assert abs(weak[:3] @ axes[:, 0] * values[0] - 1) < 1e-6
