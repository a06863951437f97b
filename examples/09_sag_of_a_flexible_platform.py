"""How far does a platform sag under its own weight?

Long, Khalil & Martinet (2014): a hexagonal plate of 15 mm on six legs. The paper starts its
simulation from an undeformed plate; the plate then falls into its deflection.
"""

import warnings

import numpy as np

import gough

with warnings.catch_warnings():
    warnings.simplefilter("ignore", gough.errors.ImpossibleBodyWarning)  # the paper's own numbers
    robot = gough.load("long-khalil-martinet-2014")

rest = robot.static_deflection(robot.home)
sag = robot.deformation(rest, "tips").displacement[..., 2]
print("tips move by", (1e3 * sag).round(2), "mm; the plate is 15 mm thick")

flat = robot.home.replace(elastic=np.zeros(robot.modes))
undeformed = np.abs(robot.inverse_dynamics(flat).forces).max()
held = np.abs(robot.inverse_dynamics(rest).forces).max()
print(f"forces: {undeformed:.0f} N to hold the frame of the undeformed plate, {held:.0f} N at rest")

assert 0.012 < np.abs(sag).max() < 0.014
assert undeformed > 4 * held
