"""Loads of the joints along a motion, for choosing bearings.

A bearing sees the size of its load at every instant. The equivalent load for its life is the cubic mean.
"""

import numpy as np

import gough

robot = gough.load("kim-ryu-2002")
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=60).sample(601)
react = robot.reactions(motion)

for name in ("spherical", "universal", "guide"):
    load = np.linalg.norm(getattr(react, name), axis=-1)  # (601, 6)
    cubic = np.mean(load**3, axis=0) ** (1 / 3)
    print(
        f"{name:10s} largest {load.max():7.2f} N, cubic mean of the worst leg {cubic.max():7.2f} N"
    )

# Newton on the platform alone: the six legs' forces, and weight, give m (v̇ + ω̇×c + …); here ω = 0.
pushed = react.spherical.sum(axis=-2)
body = robot.platform
inertia = body.mass * (motion.acceleration - robot.description.gravity)
error = np.abs(pushed - inertia).max()
print(f"Newton's law on the platform holds to {error:.1e} N")
assert error < 1e-9 * np.abs(inertia).max()
