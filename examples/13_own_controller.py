"""A controller of your own: any function of what is measured and what is wanted.

PD on each leg, with the holding forces of the home pose fed forward. No model of the robot's dynamics.
"""

import numpy as np

import gough

robot = gough.load("kim-ryu-2002").edited({"legs.friction.width": 0.005})
circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=20)
holding = robot.inverse_dynamics(robot.home).forces


def controller(measured, reference):
    """Forces (rows, legs) from what the encoders say and the motion wanted."""
    wanted = robot.inverse_kinematics(reference)
    return holding + 4e4 * (wanted.q - measured.q) + 6e2 * (wanted.qd - measured.qd)


run = gough.simulate(robot, controller, circle, 0.05)
error = np.linalg.norm(run.tracking_errors()[0], axis=-1)
print(run)
print(f"largest position error {1e3 * error.max():.3f} mm")
assert not run.partial
assert error.max() < 2e-3
