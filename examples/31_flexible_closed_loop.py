"""A flexible platform under control: what a controller loses that takes it for rigid.

Long, Khalil & Martinet's robot, its platform a plate with ten modes. A computed torque controller that
knows them is set against one with the rigid model, which does not know that the plate sags and rings.
"""

import time
import warnings

import numpy as np

import gough
from gough.errors import ImpossibleBodyWarning
from gough.simulation import ComputedTorque, linear_model

with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
    robot = gough.load("long-khalil-martinet-2014")  # the paper's leg bodies are not real
    rigid = robot.rigid

# at rest: the plate sags under its own weight
rest = robot.static_deflection(robot.home)
sag = np.linalg.norm(robot.deformation(rest).displacement, axis=-1)
print(f"sag at the tips: {1e3 * sag.min():.1f} to {1e3 * sag.max():.1f} mm")

# small motions: poles of the robot with its actuators' forces held
poles = linear_model(robot).modes().poles
print(f"fastest pole that grows: {poles.real.max():.2f} 1/s: it needs control")

# a push of 1/10 mm is taken back, by either controller; steps resolve the fastest mode
start = gough.Motion(rest.position + np.array([1e-4, 0, 1e-4]), rest.rotation, elastic=rest.elastic)
for name, model in (("flexible", robot), ("rigid", rigid)):
    begin = time.perf_counter()
    law = ComputedTorque(30.0, model=model)
    run = gough.simulate(robot, law, robot.home, 0.3, start=start, step=2e-4, period=2e-4)
    seconds = time.perf_counter() - begin
    error = 1e6 * np.linalg.norm(run.tracking_errors()[0][-1])
    moved = run.deflection() - robot.deformation(rest).displacement  # (samples, legs, 3)
    ringing = 1e6 * np.linalg.norm(moved, axis=-1).max()
    print(
        f"{name} model: {error:.2f} µm left after 0.3 s, tips move by {ringing:.0f} µm, {seconds:.2f} s"
    )
    if model is robot:
        left = error

assert left < 0.5, "with the modes in its model the error decays as designed"
assert error > 5 * left, "without them it does not"
