"""A log of encoders in millimetres: where was the platform, and is the log to be trusted?

Poses by forward kinematics, velocities by a zero-phase filter; a wrapped counter is found.
"""

import tempfile
from pathlib import Path

import numpy as np

import gough
from gough.data.columns import Columns
from gough.data.encoders import measured_motion, read_encoders

robot = gough.load("kim-ryu-2002")
path = gough.trajectories.Circle(robot.home.position, 0.1, rpm=40).sample(1501)
readings = 1000 * robot.inverse_kinematics(path).q  # mm, as the machine's controller logs them

folder = Path(tempfile.mkdtemp())
names = ",".join(f"L{i}" for i in range(1, 7))
table = np.column_stack([1000 * path.time, readings])
np.savetxt(folder / "log.csv", table, "%.9f", ",", header=f"t_ms,{names}", comments="")

columns = Columns.of("mm", {f"L{i}": f"q{i}" for i in range(1, 7)})
log = read_encoders(robot, folder / "log.csv", columns=columns, say=print)
found = measured_motion(robot, log)
error = np.abs(found.motion.position - path.position).max()
speed = np.linalg.norm(found.motion.velocity[500:-500], axis=-1)
print(f"poses to {error:.1e} m; speed {speed.mean():.4f} m/s, rates below {found.cutoff:.1f} Hz")

table[900:, 4] -= 65.536  # a counter of 16 bits, 1 µm a count
np.savetxt(folder / "log.csv", table, "%.9f", ",", header=f"t_ms,{names}", comments="")
reason = ""
try:
    measured_motion(robot, read_encoders(robot, folder / "log.csv", columns=columns))
except gough.errors.InputError as wrong:
    reason = str(wrong)
print(reason)
assert "line 902, column q4" in reason

assert error < 1e-9
assert abs(speed.mean() / (0.1 * 40 * 2 * np.pi / 60) - 1) < 1e-3
