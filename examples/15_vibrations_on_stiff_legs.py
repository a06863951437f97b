"""At which frequencies does the platform vibrate on its drives?

The drives are springs of 2·10⁶ N/m along q. Six modes; twice the stiffness raises each by √2 where the
weight's own stiffness is small beside it.
"""

import numpy as np

import gough
from gough.simulation import linear_model

robot = gough.load("kim-ryu-2002").edited({"legs.friction": {}})
soft = linear_model(robot, stiffness=2e6, damping=500.0).modes()
stiff = linear_model(robot, stiffness=4e6, damping=500.0).modes()
print("soft ", np.round(soft.frequency, 1), "Hz")
print("stiff", np.round(stiff.frequency, 1), "Hz")

ratio = np.sort(stiff.frequency) / np.sort(soft.frequency)
assert np.allclose(ratio, np.sqrt(2), rtol=1e-3)
