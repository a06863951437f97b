"""Where the parts of a UPS leg are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.geometry import Stance, side_by_side
from gough.legs.reach import TipBoxes
from gough.legs.ups.equations import UPS
from gough.legs.ups.reach import UPSSpan
from gough.mechanics.vectors import Components

POSES = 12
SHORTEST = UPS.HEALTH[0].limit
"""Length, m, at which the models refuse a leg as singular."""


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

    def stance(self, legs: UPS, tip: Array) -> Stance:
        """n = (P − B)/‖P − B‖, c = 1; a leg without length has no direction: it holds nothing."""
        d = tip - legs.base[..., 0].T
        size = np.linalg.norm(d, axis=-1)
        bare = size <= SHORTEST
        direction = d / np.where(bare, np.inf, size)[..., np.newaxis]
        return Stance(
            direction,
            slope=np.where(np.isnan(size), np.nan, np.where(bare, 0.0, 1.0)),
            sine=np.linalg.norm(np.cross(direction, legs.axis[..., 0].T), axis=-1),
            lever=np.ones_like(size),
        )

    def joint_points(self, legs: UPS, tips: Components) -> Components:
        """Return the centres of the universal joints on the base and of the tips."""
        return side_by_side([legs.base, tips])

    def on_carrier(self, legs: UPS, joints: Array, direction: Array) -> Array:
        """Return the directions themselves: the base carries the universal joint and does not turn."""
        return direction

    def tip_bounds(self, legs: UPS, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """B ± longest: the ball of the longest leg."""
        base, reach = legs.base[..., 0].T, longest[:, np.newaxis]
        return base - reach, base + reach

    def over(self, legs: UPS, tips: TipBoxes) -> UPSSpan:
        """The legs over boxes of poses, with bounds that prove."""
        return UPSSpan(tips, tips.tip - legs.base[..., 0].T)
