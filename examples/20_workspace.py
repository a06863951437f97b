"""How far does a hexapod get from home? Its workspace, with a bound on the volume's error.

`workspace` splits the space around the robot into boxes until it has proved of almost every one
that it is inside or outside the limits of the robot file. What is left undecided bounds the error. What
counts is the part that hangs together with home and lies on its side of the singularities.
"""

import numpy as np

import gough
from gough.analysis.workspace import cone, dexterous, orientation_workspace, workspace
from gough.exchange.mesh_files import write_stl
from gough.show.pictures.workspace import slices
from gough.show.plots import save

robot = gough.load("kim-ryu-2002")

# Positions at home's orientation.
flat = workspace(robot, tolerance=0.1)
print(f"level platform   {flat.volume:.4f} ± {flat.error:.4f} m³")

# Positions at which the platform can tilt by 10° to three sides.
tilting = dexterous(robot, cone(np.radians(10), robot.home.rotation, 3), tolerance=0.3)
print(f"tilting by 10°   {tilting.volume:.4f} ± {tilting.error:.4f} m³")

# How far it can turn at home, if no leg may come nearer than 20° to the platform.
turns = orientation_workspace(robot, platform_angle=np.radians(20), within=0.6, tolerance=0.3)
print(f"orientations     {turns.volume:.3f} ± {turns.error:.3f} rad³ of those within 34°")

# What limits it: a picture of a plane; a surface for a CAD program.
save(slices(flat, [("z", 0.8)]), "workspace.png")
write_stl(flat.surface(points=17), "workspace.stl")

assert tilting.volume < flat.volume
assert abs(flat.volume - 0.3557) < flat.error
