"""What a flexible robot makes follow: its floating frame, its tool flange, or its legs.

Long, Khalil & Martinet's robot with a stiffer plate. Six actuators make six numbers follow a command,
and the modes do the rest. For the material at the plate's centre, where a tool sits, that rest is
unstable: the motion that stays bounded begins before the command does.
"""

import warnings

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.trajectories import RestToRest

with warnings.catch_warnings(action="ignore", category=gough.errors.ImpossibleBodyWarning):
    robot = gough.load("long-khalil-martinet-2014")  # the paper's leg bodies are not real
    robot = robot.edited({"platform.plate.young": 2e11, "platform.plate.damping_ratio": 0.1})

poses = gough.Motion(
    robot.home.position + np.array([[0, 0, 0], [0.004, 0.002, 0.006]]),
    Rotation.from_euler("x", np.array([[0.0], [5.0]]), degrees=True),
)
path = RestToRest(poses, 0.1, [0.02, 0.02]).sample(57)

off = {}
for output in ("frame", "terminal", "legs"):
    motion = robot.elastic_motion(path, output)
    forces = robot.inverse_dynamics(motion).forces
    error = robot.terminal_motion(motion).position - path.position
    off[output] = 1e6 * np.linalg.norm(error - error[0], axis=-1).max()
    print(
        f"{output}: {motion.way}, {int(motion.unstable)} directions grow; the centre is up to "
        f"{off[output]:.1f} µm off, forces up to {np.abs(forces).max():.0f} N"
    )

rigid = robot.rigid.inverse_dynamics(path).forces
print(f"a rigid plate: forces up to {np.abs(rigid).max():.0f} N")

assert off["terminal"] < 1e-3
assert off["frame"] > 5
assert off["legs"] > 10 * off["frame"]
