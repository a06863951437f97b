"""The closed forms, corrected and as printed, beside the library."""

from __future__ import annotations

import numpy as np

import gough
from gough.show.reproduction import relative_error

from .closed_forms import closed_forms
from .robots import without_legs


def compare(robot: gough.Robot, states: gough.Motion) -> dict[str, float]:
    """Largest errors of the closed forms, corrected and as printed, against the library."""
    mass, bias = robot.mass_matrix(states), robot.bias(states)
    forces = robot.inverse_dynamics(states, friction=False).forces
    jacobian, bare = robot.jacobian(states), without_legs(robot)
    worst: dict[str, float] = {}
    least, printed_least = np.inf, np.inf
    for k in range(len(states)):
        form = closed_forms(robot, states[k])
        pushed = bare.inverse_dynamics(states[k], wrench=-form.leg_wrench).forces
        found = {
            "jacobian": relative_error(form.inverse_jacobian, jacobian[k]),
            "inertia": relative_error(form.inertia, mass[k]),
            "bias": relative_error(form.bias, bias[k]),
            "forces": relative_error(form.forces, forces[k]),
            "equivalent force": relative_error(pushed, forces[k]),
            "energy": abs(form.tip_energy / form.leg_energy - 1),
            "printed inertia": relative_error(form.printed_inertia, mass[k]),
            "printed bias": relative_error(form.printed_bias, bias[k]),
            "asymmetry": relative_error(form.inertia, form.inertia.T),
            "printed asymmetry": relative_error(form.printed_inertia, form.printed_inertia.T),
        }
        worst = {name: max(value, worst.get(name, 0.0)) for name, value in found.items()}
        least = min(least, np.linalg.eigvalsh(form.inertia)[0])
        symmetric = 0.5 * (form.printed_inertia + form.printed_inertia.T)
        printed_least = min(printed_least, np.linalg.eigvalsh(symmetric)[0])
    back = robot.direct_dynamics(states, forces, friction=False)
    return worst | {
        "least eigenvalue": float(least),
        "printed least eigenvalue": float(printed_least),
        "identity": max(
            relative_error(back.linear, states.acceleration),
            relative_error(back.angular, states.angular_acceleration),
        ),
    }
