"""A Delta robot picks and places: torques of its motors, and what its parallelograms carry.

Three rotary legs, and `mobility = "translation"` for the parallelograms: the couples that keep the
platform from turning are unknowns beside the torques, and come out with the reactions.
"""

import numpy as np

import gough

robot = gough.load("alikoc-delta-2023")
print(f"{robot.name}: {robot.mobility} freedoms {robot.coordinates}, {robot.actuator_count} motors")

# the usual cycle: 25 mm up, 305 mm across, 25 mm down
low = robot.home.position
up = low + np.array([0, 0, 0.025])
across = np.array([0.1525, 0, 0])
corners = gough.Motion([low - across, up - across, up + across, low + across])
motion = gough.trajectories.RestToRest(corners, durations=[0.06, 0.2, 0.06]).sample(3201)
act = robot.inverse_dynamics(motion)
peak = np.abs(act.forces).max()
print(f"largest acceleration {np.abs(motion.acceleration).max():.1f} m/s²")
print(f"largest torque {peak:.2f} N m, power {np.abs(act.power).max():.0f} W")

couples = robot.reactions(motion).constraint[:, 3:]
print(f"the parallelograms hold couples of up to {np.abs(couples).max():.2f} N m")

work = np.trapezoid(act.power.sum(axis=-1), motion.time)
lifted = np.diff(robot.energy(motion[[0, -1]]).potential)[
    0
]  # at rest again; the arms stand elsewhere
print(f"the motors' work {work:.5f} J, the change of energy {lifted:.5f} J")
assert abs(peak - 176.19) < 0.1  # N m
assert np.abs(couples[:, [0, 2]]).max() < 1e-9  # the path and the robot are symmetric about y = 0
assert abs(work - lifted) < 1e-5
