"""Eight legs: infinitely many force distributions for one motion.

gough gives the one of least norm. A preload adds internal force, which tightens the legs against each
other and leaves the platform alone.
"""

import numpy as np

import gough

angles = np.deg2rad([-15, 15, 75, 105, 165, 195, 255, 285])
shifted = np.deg2rad([-35, 35, 55, 125, 145, 215, 235, 305])
robot = gough.Robot.from_dict(
    {
        "format": 1,
        "name": "eight legs",
        "home": {"position": [0, 0, 1.0]},
        "legs": {
            "kind": "UPS",
            "base": np.stack([0.8 * np.cos(angles), 0.8 * np.sin(angles), 0 * angles], 1).tolist(),
            "platform": np.stack(
                [0.4 * np.cos(shifted), 0.4 * np.sin(shifted), 0 * shifted], 1
            ).tolist(),
            "cross": {},
            "cylinder": {"mass": 5, "center_of_mass": [0, -0.3, 0]},
            "rod": {"mass": 2, "center_of_mass": [0, 0, -0.3]},
        },
        "platform": {"mass": 80, "inertia": np.diag([5.0, 5.0, 9.0]).tolist()},
    }
)
motion = gough.Motion(robot.home.position, acceleration=[3, 0, 0])
least = robot.inverse_dynamics(motion).forces
tight = robot.inverse_dynamics(motion, preload=[500, 0, 0, 0, 0, 0, 0, 0]).forces
print("least norm  ", least.round(1), "N")
print("with preload", tight.round(1), "N")

internal = robot.jacobian(motion).T @ (tight - least)  # wrench of the difference on the platform
print(f"the preload's wrench on the platform: {np.abs(internal).max():.1e} N")
assert np.abs(internal).max() < 1e-9
assert np.linalg.norm(tight) > np.linalg.norm(least)
