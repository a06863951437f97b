"""What forces do six actuators need to carry a platform round a circle?

The HexaSlide of Kim & Ryu (2002) follows a circle of 0.1 m radius at 40 turns a minute.
"""

import numpy as np

import gough

robot = gough.load("kim-ryu-2002")  # `gough list` names the others
motion = gough.trajectories.Circle(center=[0, 0, 0.8], radius=0.1, rpm=40).sample(601)

act = robot.inverse_dynamics(motion)  # friction of the robot file included
print(f"largest force {np.abs(act.forces).max():.2f} N")
print(f"largest power {np.abs(act.power).max():.2f} W")

# The way back: these forces give the motion we started from.
acceleration = robot.direct_dynamics(motion, act.forces)
error = np.abs(acceleration.linear - motion.acceleration).max()
print(f"direct(inverse) differs from the motion by {error:.1e} m/s²")
assert error < 1e-8
