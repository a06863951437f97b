"""Base parameters: which combinations of masses and inertias a robot's forces depend on.

A hexapod's bodies have 196 inertial parameters, and actuator forces are linear in them: Γ = W X. Many
columns of W depend on each other in every motion, so only combinations can be felt, or identified. How
many there are is the rank of W on random states; which ones, `gough.parameters.grouping` derives in
closed form. Here both are found, compared, and used.
"""

import numpy as np

import gough
from gough.parameters.base import base_parameters, base_regressor
from gough.parameters.essential import essential_parameters
from gough.parameters.grouping import grouped_parameters
from gough.parameters.regressor import standard_parameters

robot = gough.load("kim-ryu-2002")

# By numbers: columns of W on random states, the first independent ones of them.
base = base_parameters(robot)
print(f"{len(base.names)} standard parameters, {base.rank} base parameters")
print(f"singular values of W fall by {base.gap:.1e} behind the last that counts")
print(f"{len(base.no_effect)} parameters have no effect at all, for instance:")
print("   ", ", ".join(base.names[i] for i in base.no_effect[:4]))

# In closed form: the same groups, without a random number.
closed = grouped_parameters(robot)
difference = np.abs(closed.grouping - base.grouping).max()
print(f"grouping coefficients by numbers and by reasoning differ by {difference:.1e}")

# The groups of leg 1. Its link is divided between its ends, as a connecting rod's mass is.
for relation, value in zip(closed.relations(), closed.values, strict=True):
    if relation.startswith("leg 1 "):
        print(f"    {value:9.4f} = {relation.replace('leg 1 ', '')}")

# Forces from the base parameters are the forces.
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(101)
forces = robot.inverse_dynamics(motion, friction=False).forces
few = base_regressor(robot, closed, motion) @ closed.values
error = np.abs(few - forces).max() / np.abs(forces).max()
print(f"forces along a circle, up to {np.abs(forces).max():.1f} N: relative error {error:.1e}")

# Other standard parameters, same base parameters, same forces: no measurement can tell them apart.
other = standard_parameters(robot) + closed.null_space @ np.full(closed.null_space.shape[1], 0.1)
same = robot.regressor(motion) @ other
print(f"other bodies with the same base parameters: {np.abs(same - forces).max():.1e} N off")

# Regular bodies leave fewer still.
for assumption in ("off-centre", "symmetric", "revolution"):
    count = essential_parameters(closed, assumption).count - robot.leg_count
    print(f"essential parameters, {assumption}: {count} and {robot.leg_count} rotor masses")

assert (len(base.names), base.rank) == (196, 76)
assert difference < 1e-11
assert error < 1e-11
