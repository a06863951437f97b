"""Where the parts of a PUS leg are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.pus.equations import PUS

POSES = 120


class PUSGeometry:
    """The geometry of PUS legs."""

    def poses_to_try(
        self, legs: PUS, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Around home: rails decide where links begin, so only poses count that all of them reach."""
        rng = np.random.default_rng(0)
        length = float(np.mean(legs.length))
        middle, start = (legs.rail_origin[..., 0].mean(axis=1), np.eye(3)) if home is None else home
        reach = np.linspace(0.02, 1.0, POSES)[:, np.newaxis]
        position = middle + length * reach * rng.uniform(-1, 1, (len(reach), 3))
        turn = Rotation.from_rotvec(2 * reach * rng.uniform(-1, 1, (len(reach), 3))).as_matrix()
        return position, turn @ start
