"""Boxes of poses with three coordinates: what a box does to orientation and tips of the platform.

Over a box a tip moves as t + T δ + e with ‖e‖ ≤ ε, and stays within σ of t (`gough.legs.reach`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from gough.base.arrays import Array
from gough.base.rotations import exponential
from gough.legs.reach import TipBoxes
from gough.motion import Motion


class Boxes(NamedTuple):
    """Boxes of poses, and where they put platform and tips."""

    tips: TipBoxes
    """Tips of the legs, and the boxes' half sides."""
    rotation: Array
    """(n, 3, 3) at the centre."""
    turn: Array
    """(n,) rad: how far orientations in the box are from its centre's."""
    turn_slope: Array | None
    """(n, 3, 3): δθ = turn_slope δ to first order; None where nothing turns."""


class Poses(Protocol):
    """A family of poses with three coordinates."""

    def boxes(self, centre: Array, half: Array) -> Boxes:
        """What boxes (n, 3) of coordinates do to the platform."""
        ...

    def motion(self, places: Array) -> Motion:
        """The poses (n,) at coordinates (n, 3)."""
        ...


@dataclass(frozen=True)
class Positions:
    """Positions of the platform's origin at one orientation."""

    points: Array
    """(legs, 3), platform frame."""
    rotation: Array

    def boxes(self, centre: Array, half: Array) -> Boxes:
        """Tips move as the origin does: exact."""
        n, legs = len(centre), len(self.points)
        tip = centre[:, np.newaxis] + self.points @ self.rotation.T
        reach = np.broadcast_to(np.linalg.norm(half, axis=1)[:, np.newaxis], (n, legs))
        none = np.zeros((n, legs))
        rotation = np.broadcast_to(self.rotation, (n, 3, 3))
        return Boxes(TipBoxes(half, tip, None, none, reach), rotation, np.zeros(n), None)

    def motion(self, places: Array) -> Motion:
        """The poses (n,) at positions (n, 3)."""
        return Motion(places, self.rotation)


@dataclass(frozen=True)
class Orientations:
    """Rotation vectors r at one position: R = exp(r×) R₀."""

    points: Array
    position: Array
    start: Array
    """R₀"""

    def boxes(self, centre: Array, half: Array) -> Boxes:
        """‖exp(r + δ) b − exp(r) b‖ ≤ ‖b‖‖δ‖; its second derivative is at most ‖b‖."""
        turn, rates, _ = exponential(centre[:, np.newaxis], np.eye(3))
        rotation = turn[:, 0] @ self.start
        turn_slope = np.swapaxes(rates, 1, 2)
        arm = np.einsum("nij,lj->nli", rotation, self.points)
        far = np.minimum(np.linalg.norm(half, axis=1), np.pi)
        size = np.linalg.norm(self.points, axis=1)
        # δ(R b) = δθ × R b = −[R b]× turn_slope δ
        slope = np.cross(turn_slope[:, np.newaxis], arm[..., np.newaxis], axis=2)
        reach = np.minimum(far, 2.0)[:, np.newaxis] * size
        rest = (far**2 / 2)[:, np.newaxis] * size
        tips = TipBoxes(half, self.position + arm, slope, rest, reach)
        return Boxes(tips, rotation, far, turn_slope)

    def motion(self, places: Array) -> Motion:
        """The poses (n,) at rotation vectors (n, 3)."""
        turn = exponential(places[:, np.newaxis], np.eye(3))[0][:, 0]
        return Motion(np.broadcast_to(self.position, places.shape), turn @ self.start)
