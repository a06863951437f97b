"""How near does a motion come to a singularity?

At a singularity no actuator forces hold the platform; near one they grow. The transmission is 1 at
best and 0 there, whatever the units. Here the platform turns about its own axis, and the legs lose
their grip.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.analysis.singularities import singularity

robot = gough.load("kim-ryu-2002")
angles = np.deg2rad(np.linspace(0, 80, 9))
turned = Rotation.from_rotvec(angles[:, np.newaxis] * [0, 0, 1]).as_matrix()
motion = gough.Motion([0, 0, 0.8], turned)

measures = singularity(robot, motion)
forces = np.abs(robot.inverse_dynamics(motion, on_error="nan").forces).max(axis=-1)
for angle, transmission, condition, force in zip(
    np.rad2deg(angles), measures.transmission, measures.condition, forces, strict=True
):
    print(
        f"{angle:4.0f}°  transmission {transmission:.3f}  condition {condition:9.3g}  {force:9.1f} N"
    )

assert np.all(np.diff(measures.transmission) < 0)
assert forces[-1] > 3 * forces[0]
