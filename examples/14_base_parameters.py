"""Of 196 inertial parameters, how many can the actuators feel?

Only combinations of them, the base parameters, act on the forces. They are found from the rank of the
regressor Γ = W X, and give the same forces with less than half of the columns.
"""

import numpy as np

import gough
from gough.parameters.base import base_parameters, base_regressor

robot = gough.load("kim-ryu-2002")
base = base_parameters(robot)
print(f"{len(base.names)} standard parameters, {base.rank} base parameters, gap {base.gap:.0e}")
print("for example:", *base.relations()[:3], sep="\n  ")

motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(50)
forces = base_regressor(robot, base, motion) @ base.values
expected = robot.inverse_dynamics(motion, friction=False).forces
error = np.abs(forces - expected).max()
print(f"forces from base parameters differ by {error:.1e} N")

assert base.rank == 76  # 70 and one rotor mass a leg
assert error < 1e-9
