"""Three telescopic legs and a central one that holds: a robot of mixed legs, reactions joint by joint.

The central leg (RPU, a chain) takes two of the platform's freedoms, y and rx, and carries what the other
three legs, which push along themselves, cannot. `reactions` tells joint by joint what its bearings see.
"""

import numpy as np

import gough

robot = gough.load("ferrandiz-3ups-rpu-2021")
print(
    f"{robot.name}: {robot.coordinates}, {robot.leg_count} legs, {robot.actuator_count} actuators"
)

# (x, z, ry, rz) swing about home, twice a second
time = np.linspace(0, 0.5, 501)
swing, rate = np.array([0.03, 0.02, 0.1, 0.1]), 4 * np.pi
phase = rate * time[:, np.newaxis] + [0, 1, 2, 3]
u = [0.15, 0.68, 0, 0] + swing * np.sin(phase)
motion = robot.motion(
    u, rate * swing * np.cos(phase), -(rate**2) * swing * np.sin(phase), time=time
)
react = robot.reactions(motion, wrench=[0, 100, 0, 0, 0, 0])  # somebody pushes from the side

names = ("revolute", "prismatic", "universal")
central = 3  # the fourth leg
for i, name in enumerate(names):
    force = np.linalg.norm(react.joint_force[:, central, i], axis=-1).max()
    moment = np.linalg.norm(react.joint_moment[:, central, i], axis=-1).max()
    print(f"{name:9s} of the central leg: up to {force:6.1f} N and {moment:5.1f} N m")
print(f"reactions are unique: {bool(react.unique.all())}")

# Newton on the platform alone: all four legs push it, and the hand
body = robot.platform
turning = np.cross(motion.angular_acceleration, motion.rotation @ body.center_of_mass)
spin = np.cross(
    motion.angular_velocity,
    np.cross(motion.angular_velocity, motion.rotation @ body.center_of_mass),
)
asked = body.mass * (motion.acceleration + turning + spin - robot.description.gravity)
pushed = react.spherical.sum(axis=-2) + np.array([0, 100, 0])
error = np.abs(pushed - asked).max()
print(f"Newton's law on the platform holds to {error:.1e} N")
assert error < 1e-9 * np.abs(asked).max()
assert react.unique.all()
