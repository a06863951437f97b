"""A hexapod with equal legs, a drawing of it that is too heavy, and its logs."""

import numpy as np

import gough
from gough.data.logs import simulated_log

ANGLES = np.radians([-10, 10, 110, 130, 230, 250])


def ring(radius, angles):
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles]).tolist()


def hexapod(scale=1.0):
    """A hexapod whose bodies are a given number of times as heavy as those of the machine."""
    legs = {
        "kind": "UPS",
        "base": ring(0.6, ANGLES + np.radians([20, -20] * 3)),
        "platform": ring(0.3, ANGLES),
        "cross": {"mass": 0.5 * scale},
        "cylinder": {
            "mass": 8 * scale,
            "center_of_mass": [0, 0.25, 0],
            "inertia": (np.diag([0.2, 0.01, 0.2]) * scale).tolist(),
        },
        "rod": {
            "mass": 3 * scale,
            "center_of_mass": [0, 0, -0.25],
            "inertia": (np.diag([0.08, 0.08, 0.002]) * scale).tolist(),
        },
    }
    platform = {"mass": 40 * scale, "inertia": (np.diag([1.0, 1.0, 1.8]) * scale).tolist()}
    home = {"position": [0, 0, 0.8]}
    table = {"format": 1, "name": "hexapod", "home": home, "legs": legs, "platform": platform}
    return gough.Robot.from_dict(table)


def wobble(robot, turns=0.12, seed=3):
    rng = np.random.default_rng(seed)
    size = np.array([0.03] * 3 + [turns] * 3)[:, np.newaxis]
    coefficients = size * rng.normal(size=(2, 6, 4))
    return gough.trajectories.Fourier(robot.home, *coefficients, period=2.0)


def log_of(machine, turns=0.12, noise=0.01, seed=0, start=0.0):
    motion = wobble(machine, turns)(start + np.arange(401) / 100)
    return simulated_log(machine, motion, noise=noise, rng=np.random.default_rng(seed))
