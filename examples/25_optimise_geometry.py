"""Find geometries that none beats: a light force and a well-conditioned HexaSlide, by NSGA-II.

The size of the platform's joint hexagon and the length of the links are free; the stroke is bounded.
"""

from pathlib import Path

import numpy as np

import gough
from gough.show.pictures.studies import front
from gough.show.plots import save
from gough.studies.optimise import pareto
from gough.studies.plan import read_plan
from gough.studies.run import run
from gough.studies.store import read_study

points = np.array(gough.load("kim-ryu-2002").file.legs.platform)
rows = [[f"{x} * s" for x in row[:2]] + [0] for row in points.tolist()]

Path("geometry.toml").write_text(f"""
robot = "kim-ryu-2002"
motions = ["kim-ryu-2002/circle-40rpm"]
samples = 13
friction = false
measures = ["peak_force", "condition", "stroke"]

[variables]
s = {{ from = 0.5, to = 1.5 }}              # size of the platform's hexagon, paper: 1
"legs.length" = {{ from = 0.5, to = 1.2 }}  # m, paper: 0.9

[set]
"legs.platform" = {rows}

[optimise]
minimise = ["peak_force", "condition"]
subject_to = ["stroke < 0.13"]
population = 24
generations = 12
seed = 1
""")

plan = read_plan("geometry.toml")
run(plan, "geometry.zarr")
results = read_study("geometry.zarr")
best = pareto(plan, results)
save(front(plan, results), "geometry.png")

print(f"{plan.points} designs tried, {len(best)} that none beats; some:")
print("    s     length [m]  force [N]  condition  stroke [m]")
for point in best[:: max(1, len(best) // 6)]:
    one = results.isel(point=point)
    numbers = [
        float(one[name]) for name in ("s", "legs.length", "peak_force", "condition", "stroke")
    ]
    print("{:7.3f} {:9.3f} {:11.2f} {:10.3f} {:10.4f}".format(*numbers))

# Every design of the front holds the constraint; the paper's own geometry (s = 1, 0.9 m) does not.
paper = plan.evaluator(np.array([[1.0, 0.9]])).values[0]
print("paper  {:7.3f} N, condition {:.3f}, stroke {:.4f} m".format(*paper))
assert (results["stroke"].values[best] < 0.13).all()
assert paper[2] > 0.13
assert len(best) > 10
