"""What the paper's misprints do to the forces of its own examples: docs/errata.md."""

from __future__ import annotations

import numpy as np

import gough
from gough.base.arrays import Array

from .configuration import leg_limits
from .motions import NAME, peers

MOTIONS = ("vertical", "horizontal", "rotation")


def effects() -> dict[str, float]:
    """Largest change of an actuator force, N, along the three motions, by the place of the misprint."""
    robot = gough.load(NAME)
    most, _ = leg_limits()
    tensors = {"legs.link.XX": 0.0722 * 0.398, "legs.link.YY": 0.0722 * 0.398}
    wrong = {
        "Section 2": robot.edited({"gravity": [0.0, 0.0, -9.81]}),
        "Eq. 20": robot.edited(
            tensors | {"platform.inertia": 3.983 * np.diag([0.068, 0.068, 0.136])}
        ),
        "Eq. 24": robot.edited({"legs.link.XX": most, "legs.link.YY": most}),
    }
    right = _forces(robot)
    return {name: float(np.abs(_forces(one) - right).max()) for name, one in wrong.items()}


def _forces(robot: gough.Robot) -> Array:
    found = [robot.inverse_dynamics(peers.motion(f"{NAME}/{name}")).forces for name in MOTIONS]
    return np.concatenate(found)
