"""Table 3: real legs with the same base parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import null_space

import gough
from gough.legs.completion import completion, ten_parameters

NEAR = 0.05
"""How near the least mass is found, kg."""


def least_cylinder(robot: gough.Robot) -> float:
    """Least mass, kg, of a cylinder for which real bodies have Table 3's base parameters.

    Only what forces feel is kept (Khalil & Guegan 2004, Eqs. 44 to 50), and the rod's mass, which acts
    on the platform. Heavier cylinders do as well: the least is found by halving.
    """
    legs: Any = robot.description.legs
    grouping = robot.leg_kind.parameters.opened(legs, 0)
    printed = np.stack([ten_parameters(body)[0] for body in legs.named_bodies().values()])
    place = grouping.place("cylinder M")
    felt = grouping.rows[:, : printed.size]
    free = null_space(np.vstack([felt, np.eye(printed.size)[place]]))

    def exists(mass: float) -> bool:
        heavier = printed.ravel().copy()
        heavier[place] = mass
        return completion(heavier.reshape(printed.shape), free) is not None

    low, high = float(printed.ravel()[place]), 100.0
    assert not exists(low)
    while high - low > NEAR:
        middle = (low + high) / 2
        low, high = (low, middle) if exists(middle) else (middle, high)
    return high
