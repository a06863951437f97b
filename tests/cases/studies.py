"""Study files that several tests use."""

BASE = """
robot = "kim-ryu-2002"
motions = ["kim-ryu-2002/circle-40rpm"]
samples = 5
"""
SWEEP = (
    BASE
    + """
measures = ["peak_force", "stroke"]
friction = false
[sampling]
kind = "latin hypercube"
points = {points}
seed = 3
part = 50
[variables]
"platform.mass" = {{ from = 8, to = 14 }}
l = {{ from = 0.3, to = 1.0, unit = "m" }}
[set]
"legs.length" = "l"
[results]
cost = "peak_force * stroke"
"""
)
