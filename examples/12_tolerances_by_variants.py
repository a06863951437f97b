"""Ten thousand slightly different machines at once: what do tolerances do to the forces?

Joint centres 0.1 mm off, masses 2 % off, normally distributed. All robots are asked in one call.
"""

import numpy as np

import gough

robot = gough.load("kim-ryu-2002")
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(5)[:-1]
rng = np.random.default_rng(0)
count = 10_000
points = np.asarray(robot.file.legs.platform)

shifted = points + rng.normal(0, 1e-4, (count, *points.shape))
masses = robot.file.platform.mass * (1 + rng.normal(0, 0.02, count))
many = robot.variants({"legs.platform": shifted, "platform.mass": masses})
forces = many[:, np.newaxis].inverse_dynamics(motion, friction=False).forces  # (10000, 4, 6)
nominal = robot.inverse_dynamics(motion, friction=False).forces
spread = forces.std(axis=0) / np.abs(nominal)
print(f"{forces.shape[0]} robots in {forces.shape[1]} poses")
print(f"standard deviation of the forces: {100 * spread.min():.2f} to {100 * spread.max():.2f} %")

# A robot of the batch gets what it gets alone.
alone = robot.edited({"legs.platform": shifted[17].tolist(), "platform.mass": float(masses[17])})
assert np.allclose(forces[17], alone.inverse_dynamics(motion, friction=False).forces, rtol=1e-9)
assert 0.005 < spread.min() < spread.max() < 0.1
