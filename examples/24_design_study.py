"""A design study: how peak force and stroke depend on platform mass and link length, and tolerances.

A study file says what varies and what is measured; `gough study FILE` runs it from the command line.
"""

from pathlib import Path

import numpy as np

from gough.show.pictures.studies import overview
from gough.show.plots import save
from gough.studies.plan import read_plan
from gough.studies.run import run
from gough.studies.store import read_study

Path("links.toml").write_text("""
robot = "kim-ryu-2002"
motions = ["kim-ryu-2002/circle-40rpm"]
samples = 21
friction = false
measures = ["peak_force", "stroke", "condition"]

[sampling]
kind = "random"
points = 400
seed = 1

[variables]
"platform.mass" = { from = 8, to = 14, unit = "kg" }
l = { from = 0.30, to = 1.0, unit = "m" }

[set]
"legs.length" = "l"
"legs.link.center_of_mass" = [0, 0, "l / 2"]  # the link's middle, whatever its length

[results]
cost = "peak_force * stroke"                  # N m: work of the largest force over the whole way
""")

plan = read_plan("links.toml")
run(plan, "links.zarr")  # again: computes only what is missing
results = read_study("links.zarr")
save(overview(plan, results), "links.png")

failed = results["failed"].values != ""
print(
    f"{plan.points} points, {failed.sum()} failed, the first: {results['failed'].values[failed][0]}"
)
good = results.isel(point=~failed)
steady = good.isel(point=np.flatnonzero(good["condition"].values < 4))
print(
    f"condition number below 4: {steady.sizes['point']} points, l from {steady['l'].values.min():.3f} m"
)
best = int(np.argmin(steady["cost"].values))
print(f"least cost {steady['cost'].values[best]:.3f} N m at l = {steady['l'].values[best]:.3f} m")

# Short links do not reach around the circle: a point that fails says why and stops nothing.
assert failed.any()
assert not failed[results["l"].values > 0.5].any()

# The robot of a point, as a robot file.
number = int(steady["point"].values[best])
robot = plan.robot([results[name].values[number] for name in plan.inputs])
robot.save("best.toml")
motion = plan.recipe.motions[0]
force = abs(robot.inverse_dynamics(motion, friction=False).forces).max()
print(f"its peak force {force:.3f} N, in the study {results['peak_force'].values[number]:.3f} N")
assert np.isclose(force, results["peak_force"].values[number], rtol=1e-12)
