"""How far an exciting motion may go: the robot file's limits, and what is assumed where it has none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.reading import Limits
from gough.model.limits import with_strokes
from gough.model.model import Model

SPEED = {"m": 1.0, "rad": 3.0}
"""Assumed where the file is silent: m/s, rad/s."""
WORSE = 4.0
"""Largest condition number of the Jacobian, in those at home."""
FORCE = 3.0
"""Assumed largest force, in forces of the heaviest loaded leg at rest at home."""


class Bounds(NamedTuple):
    """Limits of an exciting motion."""

    limits: Limits
    condition: float
    """Largest condition number of the Jacobian."""
    assumed: tuple[str, ...]
    """What the robot file does not say."""


def default_bounds(robot: Model) -> Bounds:
    """The robot file's limits; where it gives none, assumed ones."""
    home = robot.home
    limits, assumed = with_strokes(robot)
    units = [one.units for one in robot.actuators]
    kinds = {one.q: one for one in units}
    if not np.all(np.isfinite(limits.speed)):
        limits = limits._replace(speed=np.array([SPEED[one.q] for one in units]))
        assumed += [f"speed: {SPEED[one.q]:g} {one.speed}" for one in kinds.values()]
    if not np.all(np.isfinite(limits.force)):
        at_rest = np.abs(robot.inverse_dynamics(home).forces)
        largest = {
            kind: FORCE * float(at_rest[[one.q == kind for one in units]].max()) for kind in kinds
        }
        if min(largest.values()) > 0:
            limits = limits._replace(force=np.array([largest[one.q] for one in units]))
            times = f"{FORCE:g} times the largest at rest at home"
            assumed += [
                f"force: {largest[one.q]:.4g} {one.force}, {times}" for one in kinds.values()
            ]
    condition = WORSE * float(robot.condition_number(home))
    return Bounds(limits, condition, tuple(assumed))
