"""Stiffness and damping of a flexible platform as parameters, found from measurements.

A HexaSlide with an aluminium plate of 8 mm for a platform, four of its modes. Actuator forces are not
linear in the modes' stiffness and damping, but where the elastic coordinates qe are known (from strain
gauges, from cameras) the equation of motion is:

    Jᵀ Γ + wrench = Y(motion) X + y0(motion)

X: inertia of the legs, rotor masses, the undeformed platform, then K and D. y0 is what the mode shapes
and nodal masses say. Neither Y nor y0 depends on K and D.
"""

import numpy as np

import gough
from gough.parameters.base import base_regressor
from gough.parameters.grouping import grouped_parameters
from gough.parameters.states import random_states

plate = {"radius": 0.2, "sides": 6, "thickness": 0.008, "density": 2700, "young": 7e10,
         "modes": 4, "damping_ratio": [0.01, 0.012, 0.02, 0.03]}  # fmt: skip
robot = gough.load("kim-ryu-2002").edited({"platform": {"plate": plate}})

# A tip that can deform is no point of the rigid platform, so what a leg weighs there is felt by itself.
rigid, base = grouped_parameters(robot.rigid), grouped_parameters(robot)
for name, found in (("rigid", rigid), ("flexible", base)):
    print(f"{name} platform: {len(found.names)} standard parameters, {found.rank} base parameters")
print("felt in addition:", ", ".join(one for one in base.base_names if one not in rigid.base_names))

# The machine answers to forces on its actuators: what sensors would show.
rng = np.random.default_rng(0)
states = random_states(robot, 200, seed=1)
forces = 50 * rng.normal(size=(200, 6))
answer = robot.direct_dynamics(states, forces, friction=False)
seen = states.replace(
    acceleration=answer.linear,
    angular_acceleration=answer.angular,
    elastic_acceleration=answer.elastic,
)

# Least squares for all base parameters at once, columns scaled: 200 states of 10 equations each.
generalised = np.einsum("nlk,nl->nk", robot.jacobian(seen), forces)
known = robot.generalised_regressor(seen).known
Y = base_regressor(robot, base, seen).reshape(-1, base.rank)
size = np.linalg.norm(Y, axis=0)
values = np.linalg.lstsq(Y / size, (generalised - known).ravel(), rcond=None)[0] / size
identified = dict(zip(base.base_names, values, strict=True))

worst = 0.0
print("mode   frequency [Hz]   found [Hz]   damping ratio, found")
for k, (stiffness, damping) in enumerate(
    zip(robot.platform.stiffness, robot.platform.damping, strict=True)
):
    K, D = (identified[f"mode {k + 1} {key}"] for key in ("stiffness", "damping"))
    frequencies = [np.sqrt(one) / (2 * np.pi) for one in (stiffness, K)]
    print(f"{k + 1:4}{frequencies[0]:17.4f}{frequencies[1]:13.4f}{D / (2 * np.sqrt(K)):23.4f}")
    worst = max(worst, abs(K / stiffness - 1), abs(D / damping - 1))
print(f"largest relative error of stiffness and damping: {worst:.1e}")

assert base.rank == rigid.rank + 6 + 8
assert worst < 1e-9
