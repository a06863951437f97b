"""A path with rounded corners, planned as fast as the drives allow: who holds it back, and where?

A hexapod picks at one place and puts down at another, past a corner it may cut by a centimetre.
"""

import numpy as np

import gough
from gough.planning import Path, retime

robot = gough.load("kim-ryu-2002")
limits = {"speed": 0.6, "force": 250.0, "power": 80.0}

exact = Path(robot).line([0, 0, 0.05]).line([0.15, 0, 0]).line([0, 0, -0.05])
cut = Path(robot).line([0, 0, 0.05], blend=0.01).line([0.15, 0, 0], blend=0.01).line([0, 0, -0.05])
stopping = retime(robot, exact, **limits, cells=60)
passing = retime(robot, cut, **limits, cells=60)
print(f"stopping at the corners {stopping.duration:.3f} s, cutting them {passing.duration:.3f} s")
for name, time in list(passing.binding_times().items())[:3]:
    print(f"  {name}: {1e3 * time:.0f} ms")

motion = passing.sample(1001)
needed = robot.inverse_dynamics(motion)
print(f"largest force {np.abs(needed.forces).max():.1f} N, power {needed.power.max():.1f} W")
room = robot.room(motion[-1])
print(f"from there it could go {room.distance[0]:.3f} m further, until {room.ends()[0][2]}")
assert robot.check(motion).ok
assert np.abs(needed.forces).max() <= 250 * (1 + 1e-6)
assert passing.duration < 0.9 * stopping.duration
