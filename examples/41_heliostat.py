"""A heliostat on three RPS legs follows the sun: its own coordinates, and what comes along by itself.

A 3-RPS turns about two level axes and lifts: `robot.motion` takes (z, rx, ry). Its platform cannot help
moving sideways as it tilts (Bonev 2002: by r/2 (1 − cos tilt), twice around as the tilt's direction goes
around once), and it never twists.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import gough

robot = gough.load("shyam-heliostat-2017")
print(f"{robot.name}: {robot.coordinates}, {robot.actuator_count} actuators")

# an equinox at 13° north: x east, y north, z up; the tower is in the south, 60° up
hour = np.deg2rad(np.linspace(-60, 60, 97))  # from 8 to 16 o'clock
latitude, elevation = np.deg2rad([13, 60])
level = np.cos(hour) * np.sin(latitude), np.cos(hour) * np.cos(latitude)
sun = np.stack([-np.sin(hour), -level[0], level[1]], axis=-1)
normal = sun + np.array([0, -np.cos(elevation), np.sin(elevation)])  # of the mirror: half way
normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
tilt, direction = np.arccos(normal[:, 2]), np.arctan2(normal[:, 0], -normal[:, 1])
rx, ry = tilt * np.cos(direction), tilt * np.sin(direction)
motion = robot.motion(np.stack([np.full(97, 1.75), rx, ry], axis=-1))

wind = 0.5 * 1.2 * 10**2 * 1.2 * 4.0  # 10 m/s from the south on 4 m², drag coefficient 1.2: N
push = wind * normal[:, 1:2] * normal  # along the normal, as much as the wind is
forces = robot.inverse_dynamics(motion, wrench=np.concatenate([push, 0 * push], axis=-1)).forces
q = robot.inverse_kinematics(motion).q
print(f"tilt up to {np.rad2deg(tilt).max():.1f}°, legs {q.min():.3f} … {q.max():.3f} m")
print(f"forces {forces.min():.0f} … {forces.max():.0f} N; {robot.check(motion)}")

turned = Rotation.from_matrix(motion.rotation).as_rotvec()
sideways = 0.25 * (1 - np.cos(tilt))  # the mirror's joints are at r = 0.5 m
expected = np.stack([sideways * np.cos(2 * direction), -sideways * np.sin(2 * direction)], axis=-1)
print(f"it moves sideways by {1e3 * np.abs(motion.position[:, :2]).max():.1f} mm")
assert np.abs(turned[:, 2]).max() < 1e-9  # rad: no twist
assert np.abs(motion.position[:, :2] - expected).max() < 1e-9  # m
assert robot.check(motion).ok
assert abs(forces.max() - 283) < 1  # N
