"""A hexapod on belts: what the spring between motor and leg does to frequencies and forces.

Kim & Ryu's robot with motors of 5 kg felt along the rails, on rigid drives and behind springs. The
softer the drive, the lower the first frequency; the motor's force differs from a rigid drive's by what
its rotor needs to follow the spring.
"""

import numpy as np

import gough
from gough.data.paper_motions import paper_motion

rigid = gough.load("kim-ryu-2002").edited({"legs.rotor_mass": 5.0, "legs.friction": {}})
circle = paper_motion("kim-ryu-2002/circle-40rpm").sample(301)
needed = rigid.inverse_dynamics(circle).forces
print(f"rigid drives: {np.abs(needed).max():.2f} N")

changed = []
for stiffness in (1e5, 1e6, 1e7):
    soft = rigid.edited({"legs.drive.stiffness": stiffness})
    lowest = soft.natural_frequencies(soft.home).frequencies[0]  # motors locked
    forces = soft.drive_forces(circle).forces
    changed.append(np.abs(forces - needed).max())
    print(f"{stiffness:.0e} N/m: {lowest:.1f} Hz, forces change by {changed[-1]:.4f} N")

assert changed[2] < 0.02 * changed[0]  # as 1/k
