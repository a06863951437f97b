"""What the paper's misprints do to the forces of its own example: docs/errata.md."""

from __future__ import annotations

import numpy as np

import gough

from .modes import with_body
from .printed import NAME, TABLE_2


def effects() -> dict[str, float]:
    """Change of an actuator force, N, by the place of the misprint.

    Table 2: that holds the robot at rest at home, with the printed modes 14 to 16 for ours, the largest.
    Section 6: the largest force at rest at home, started undeformed.
    """
    robot = gough.load(NAME)
    stiffness = np.array(robot.platform.stiffness)
    stiffness[7:] = TABLE_2[7:, 1]
    stiff = with_body(robot, stiffness=np.diag(stiffness))
    held = [one.inverse_dynamics(one.static_deflection(one.home)).forces for one in (robot, stiff)]
    still = robot.home.replace(
        elastic=np.zeros(robot.modes), elastic_velocity=np.zeros(robot.modes)
    )
    return {
        "Table 2": float(np.abs(held[1] - held[0]).max()),
        "Section 6": float(np.abs(robot.inverse_dynamics(still).forces).max()),
    }
