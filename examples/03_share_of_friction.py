"""Where does each newton come from: gravity, inertia, legs, friction?

Kim & Ryu (2002) ask how much of the force is friction, and whether the links' inertia may be neglected.
"""

from dataclasses import fields

import numpy as np

import gough

robot = gough.load("kim-ryu-2002")
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(601)
parts = robot.contributions(motion)
forces = robot.inverse_dynamics(motion).forces


def rms(array):
    """Root mean square over all samples and legs."""
    return np.sqrt(np.mean(array**2))


total = 0.0
for field in fields(parts):
    part = getattr(parts, field.name)
    total = total + part
    print(f"{field.name:22s} {rms(part):8.3f} N rms")
print(f"{'all':22s} {rms(forces):8.3f} N rms")

assert np.abs(total - forces).max() < 1e-9  # the parts add up
assert 0.005 < rms(parts.friction) / rms(forces) < 0.2
