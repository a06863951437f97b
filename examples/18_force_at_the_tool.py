"""What do the drives feel of a cutting force at the tool?

The tool is 0.2 m off the platform's origin. By virtual work the additional forces are −J⁻ᵀ times the
wrench; they depend on the pose alone.
"""

import numpy as np

import gough

robot = gough.load("kim-ryu-2002").edited({"tool": [0, 0, 0.2]})
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=20).sample(101)
wrench = robot.tool_wrench(motion, [300.0, 0, 0])  # N, world axes, at the tool

free = robot.inverse_dynamics(motion, friction=False).forces
cutting = robot.inverse_dynamics(motion, wrench, friction=False).forces
more = cutting - free
print(f"largest force {np.abs(free).max():.1f} N free, {np.abs(cutting).max():.1f} N cutting")

transposed = np.swapaxes(robot.jacobian(motion), -1, -2)
expected = -np.linalg.solve(transposed, wrench[..., np.newaxis])[..., 0]
assert np.allclose(more, expected, rtol=0, atol=1e-9 * np.abs(cutting).max())
