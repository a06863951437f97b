"""A robot file of your own: write it, load it, hold it, change it.

Six telescopic legs. All that a robot file can say is in docs/robot-files.md.
"""

from pathlib import Path

import numpy as np

import gough

Path("my.toml").write_text("""
format = 1
name = "my hexapod"
home = { position = [0, 0, 1.2] }

[legs]
kind = "UPS"
base = [[0.6, 0.2, 0], [-0.1, 0.65, 0], [-0.5, 0.4, 0], [-0.5, -0.4, 0], [-0.1, -0.65, 0], [0.6, -0.2, 0]]
platform = [[0.3, 0.3, 0], [0.1, 0.4, 0], [-0.4, 0.1, 0], [-0.4, -0.1, 0], [0.1, -0.4, 0], [0.3, -0.3, 0]]
cross = { mass = 0.5 }
cylinder = { mass = 8, center_of_mass = [0, -0.3, 0], inertia = [[0.3, 0, 0], [0, 0.02, 0], [0, 0, 0.3]] }
rod = { mass = 3, center_of_mass = [0, 0, -0.4], inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]] }

[platform]
mass = 50
inertia = [[4, 0, 0], [0, 4, 0], [0, 0, 7]]
""")  # noqa: E501

robot = gough.load("my.toml")
holding = robot.inverse_dynamics(robot.home).forces
print("holding forces", holding.round(2), "N")

# Weightless legs: then six legs carry 50 kg and nothing else. Their vertical parts add up to it.
light = robot.edited({f"legs.{body}": {} for body in ("cross", "cylinder", "rod")})
forces = light.inverse_dynamics(light.home).forces
up = light.inverse_kinematics(light.home).direction[:, 2]
print(f"without the legs' own weight they lift {forces @ up:.6f} N; 50 kg weigh {50 * 9.81} N")
assert np.isclose(forces @ up, 50 * 9.81, rtol=1e-12)
