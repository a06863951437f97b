"""Where the parts of a UPS leg are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.ups.equations import UPS

POSES = 12


class UPSGeometry:
    """The geometry of UPS legs."""

    def poses_to_try(
        self, legs: UPS, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Anywhere: every pose is in reach."""
        rng = np.random.default_rng(0)
        turn = Rotation.random(POSES, rng).as_matrix()
        base, middle = legs.base[..., 0].T, points.mean(axis=0)
        spread = np.sum((base - base.mean(axis=0)) ** 2 + (points - middle) ** 2, axis=1)
        size = float(np.sqrt(np.mean(spread))) or 1.0
        position = base.mean(axis=0) + rng.normal(size=(POSES, 3)) * size - turn @ middle
        return position, turn
