"""Where the parts of a RUS leg are."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.legs.geometry import Stance, side_by_side
from gough.legs.reach import TipBoxes
from gough.legs.rus.equations import RUS
from gough.legs.rus.reach import RUSSpan, span
from gough.mechanics.vectors import Components

POSES = 120


class RUSGeometry:
    """The geometry of RUS legs."""

    def poses_to_try(
        self, legs: RUS, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Around home: cranks decide where links begin, so only poses count that all of them reach.

        Without a home, above and below the motors by what the links reach.
        """
        rng = np.random.default_rng(0)
        length = float(np.mean(legs.length + legs.crank_length))
        middle, start = legs.motor[..., 0].mean(axis=1), np.eye(3)
        if home is not None:
            middle, start = home
        share = np.linspace(0.02, 1.0, POSES)[:, np.newaxis]
        position = middle + length * share * rng.uniform(-1, 1, (len(share), 3))
        turn = Rotation.from_rotvec(2 * share * rng.uniform(-1, 1, (len(share), 3))).as_matrix()
        return position, turn @ start

    def stance(self, legs: RUS, tip: Array) -> Stance:
        """n = (P − A)/l with q of `reach`; c = r t·n = ± r √radicand/l, exact near 0."""
        tips = tip.reshape(-1, *tip.shape[-2:]).T
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = legs.reach(tips)
            u, t = legs.crank_axes(reached.cosine, reached.sine)
            direction = (tips - legs.motor - legs.crank_length * u) / legs.length
            slope = legs.crank_length * reached.direction[1]
        ku, kt, ka = legs.axis_on_crank
        axis = ku * u + kt * t + ka * legs.motor_axis
        sine = np.linalg.norm(np.cross(direction, axis, axis=0), axis=0)
        shape = tip.shape[:-1]
        n = direction.T.reshape(tip.shape)
        lever = np.linalg.norm(np.cross(legs.motor_axis, tips - legs.motor, axis=0), axis=0)
        return Stance(n, *(one.T.reshape(shape) for one in (slope, sine, lever)))

    def joint_points(self, legs: RUS, tips: Components) -> Components:
        """Return the centres of the motors, of the universal joints on the cranks and of the tips."""
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = legs.reach(tips)
            u, _ = legs.crank_axes(reached.cosine, reached.sine)
        return side_by_side([legs.motor, legs.motor + legs.crank_length * u, tips])

    def on_carrier(self, legs: RUS, joints: Array, direction: Array) -> Array:
        """Return the directions on the axes u, t, a of the crank, which turns with q."""
        q = joints[..., 0]
        axis, zero = legs.motor_axis[..., 0].T, legs.e1[..., 0].T
        first = np.sum(direction * zero, axis=-1)
        second = np.sum(direction * np.cross(axis, zero), axis=-1)
        along = np.cos(q) * first + np.sin(q) * second
        across = np.cos(q) * second - np.sin(q) * first
        return np.stack([along, across, np.sum(direction * axis, axis=-1)], axis=-1)

    def tip_bounds(self, legs: RUS, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """The motor ± the crank's circle along each axis, r √(1 − a_i²), ± l, whatever the stroke."""
        motor, axis = legs.motor[..., 0].T, legs.motor_axis[..., 0].T
        circle = legs.crank_length * np.sqrt(np.maximum(1 - axis**2, 0.0))
        return motor - circle - legs.length, motor + circle + legs.length

    def over(self, legs: RUS, tips: TipBoxes) -> RUSSpan:
        """The legs over boxes of poses, with bounds that prove."""
        return span(legs, tips)
