"""A controller tried on a machine that is not quite the one it believes in.

Computed torque with poles at 40 rad/s acts every millisecond. First the machine is as modelled, then
its platform is 20 % heavier, then it rubs. The energy audit says whether the integration can be
trusted.
"""

import numpy as np

import gough
from gough.simulation import ComputedTorque

rubbing = gough.load("kim-ryu-2002").edited({"legs.friction.width": 0.005})  # m/s
model = rubbing.edited({"legs.friction": {}})
heavy = model.edited({"platform.mass": 1.2 * model.file.platform.mass})
circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40)

worst = {}
for name, machine in {"as modelled": model, "20 % heavier": heavy, "rubbing": rubbing}.items():
    run = gough.simulate(machine, ComputedTorque(40.0, model=model), circle, 0.3)
    worst[name] = np.linalg.norm(run.tracking_errors()[0], axis=-1).max()
    residual = np.abs(run.energy_audit()["energy_residual"]).max()
    print(
        f"{name:12s}: position error {1e3 * worst[name]:.3f} mm, energy residual {residual:.0e} J"
    )
    assert residual < 1e-6

assert worst["as modelled"] < 5e-6
assert worst["20 % heavier"] > 100 * worst["as modelled"]
