"""Monte Carlo over a robot's parameters: how a controller tracks on machines as they are built.

The controller believes in the nominal robot. Two hundred plants differ from it: the platform's mass by
5 %, the rails' places by 0.2 mm (one standard deviation). All run in one compiled loop, each with its
own numbers; `runs.dataset` is labelled by them, and `runs.save("runs.nc")` keeps it all.
"""

import time

import numpy as np

import gough
from gough.simulation import ComputedTorque

robot = gough.load("sinatra-xi-staicu-2009")
home = robot.home
rng = np.random.default_rng(0)
count = 200

# what differs: keys of the robot file, one value a simulation
mass = robot.file.platform.mass * rng.normal(1.0, 0.05, count)
rails = robot.description.legs.rail_origin[..., 0].T + rng.normal(0.0, 2e-4, (count, 6, 3))
plants = robot.variants({"platform.mass": mass, "legs.rail_origin": rails})

move = gough.trajectories.Circle(home.position - np.array([0.02, 0, 0]), 0.02, rpm=60)
law = ComputedTorque(frequency=40.0, model=robot)
begin = time.perf_counter()
runs = gough.simulate(plants, law, move, 0.3, record=0.01, friction=False)
seconds = time.perf_counter() - begin

error = 1e6 * np.linalg.norm(runs.tracking_errors()[0], axis=-1).max(axis=-1)
print(f"{count} machines, {0.3 * count:.0f} s of motion in {seconds:.2f} s")
print(
    f"tracking error: median {np.median(error):.0f} µm, 95 % below {np.quantile(error, 0.95):.0f} µm"
)

# what differs is kept beside the results
off = abs(runs.varied["platform.mass"] - robot.file.platform.mass)
print(f"correlation of the error with the mass error: {np.corrcoef(off, error)[0, 1]:.2f}")

# a plant of the batch moves as it does alone
alone = gough.simulate(plants[7], law, move, 0.3, record=0.01, friction=False)
assert not runs.partial
assert np.abs(runs.motion.position[7] - alone.motion.position).max() < 1e-12
assert np.corrcoef(off, error)[0, 1] > 0.5
