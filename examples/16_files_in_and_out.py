"""A motion from a file, results into a file: CSV for exchange, NetCDF for everything.

The same as `gough forces kim-ryu-2002 path.csv -o forces.nc --reactions`, with labels and units.
"""

import numpy as np
import xarray

import gough
from gough.data.datasets import force_dataset, write_dataset
from gough.data.motion_files import read_motion, write_motion

robot = gough.load("kim-ryu-2002")
write_motion(gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(201), "path.csv")

motion = read_motion("path.csv")
act, react = robot.inverse_dynamics(motion), robot.reactions(motion)
write_dataset(force_dataset(robot, motion, act, reactions=react), "forces.nc")

with xarray.open_dataset("forces.nc") as found:
    print(found["force"].attrs["units"], dict(found["force"].sizes))
    worst = found["force"].sel(actuator=2)
    print(f"leg 2: {abs(worst).max().item():.2f} N")
    assert np.allclose(worst, act.forces[:, 1], rtol=1e-12)
