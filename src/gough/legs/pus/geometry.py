"""Where the parts of a PUS leg are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.geometry import Stance, side_by_side
from gough.legs.pus.equations import PUS, reach
from gough.legs.pus.reach import PUSSpan, span
from gough.legs.reach import TipBoxes
from gough.mechanics.vectors import Components

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
        share = np.linspace(0.02, 1.0, POSES)[:, np.newaxis]
        position = middle + length * share * rng.uniform(-1, 1, (len(share), 3))
        turn = Rotation.from_rotvec(2 * share * rng.uniform(-1, 1, (len(share), 3))).as_matrix()
        return position, turn @ start

    def stance(self, legs: PUS, tip: Array) -> Stance:
        """n = (P − rail_origin − q a)/l with q of `reach`; c = a·n = ± √radicand/l, exact near 0."""
        origin, rail = legs.rail_origin, legs.rail_direction
        tips = tip.reshape(-1, *tip.shape[-2:]).T
        with np.errstate(invalid="ignore"):
            q, radicand = reach(origin, rail, legs.length, legs.sign, tips)
            slope = -legs.sign * np.sqrt(radicand) / legs.length
        direction = ((tips - origin - q * rail) / legs.length).T.reshape(tip.shape)
        sine = np.linalg.norm(np.cross(direction, legs.axis[..., 0].T), axis=-1)
        return Stance(direction, slope.T.reshape(tip.shape[:-1]), sine, np.ones_like(sine))

    def joint_points(self, legs: PUS, tips: Components) -> Components:
        """Return the centres of the universal joints on the sliders and of the tips."""
        origin, rail = legs.rail_origin, legs.rail_direction
        with np.errstate(invalid="ignore"):
            q, _ = reach(origin, rail, legs.length, legs.sign, tips)
        return side_by_side([origin + q * rail, tips])

    def on_carrier(self, legs: PUS, joints: Array, direction: Array) -> Array:
        """Return the directions themselves: the slider carries the universal joint and does not turn."""
        return direction

    def tip_bounds(self, legs: PUS, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """The ends of the rail ± l; a stroke with one end bounds nothing."""
        origin, rail = legs.rail_origin[..., 0].T, legs.rail_direction[..., 0].T
        bounded = (np.isfinite(shortest) & np.isfinite(longest))[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            ends = [origin + q[:, np.newaxis] * rail for q in (shortest, longest)]
            low, high = np.minimum(*ends) - legs.length, np.maximum(*ends) + legs.length
        return np.where(bounded, low, -np.inf), np.where(bounded, high, np.inf)

    def over(self, legs: PUS, tips: TipBoxes) -> PUSSpan:
        """The legs over boxes of poses, with bounds that prove."""
        return span(legs, tips)
