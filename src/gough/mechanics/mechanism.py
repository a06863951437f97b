"""A robot as the equations see it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gough.mechanics.leg import Leg
from gough.mechanics.mobility import Mobility
from gough.mechanics.platforms.platform import Platform
from gough.mechanics.vectors import Components


class Mechanism(NamedTuple):
    """Legs that hold a platform."""

    legs: Leg
    points: Components
    """P_i, (3, legs, 1), platform frame."""
    platform: Platform
    gravity: Components
    """(3, 1, 1)."""
    length_scale: Any
    """L, makes moments comparable with forces in the solves, m: a number, or (samples,)."""
    mobility: Mobility | None = None
    """Directions that the robot file takes from the platform."""
    mobile: int = 6
    """m, the number of directions in which the platform can move."""
    rounding: int = 1
    """How much wider than for doubles the limits are of what may be off by rounding."""

    def coarser(self, rounding: int) -> Mechanism:
        """The same robot for numbers of less precision."""
        return self._replace(legs=self.legs.coarser(rounding), rounding=rounding)

    def scale(self) -> Components:
        """(1, 1, 1, 1/L, 1/L, 1/L): wrenches times it are scaled, and so are columns of J and M.

        (6, 1 or samples).
        """
        per_length = 1 / np.atleast_1d(self.length_scale)
        return np.stack([np.ones(len(per_length))] * 3 + [per_length] * 3)

    def joint_scale(self, count: int) -> Components:
        """`scale` with visible coordinates behind, which count in √kg m, (count, 1 or samples)."""
        if count == 6:
            return self.scale()
        size = np.sqrt(self.platform.body.mass[0])
        return np.concatenate([self.scale(), np.stack([size] * (count - 6))])
