"""What chains lack of the geometry of legs that are links."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.chain.equations import Chain
from gough.legs.chain.pin import Pin
from gough.legs.geometry import Stance, side_by_side
from gough.legs.reach import Span, TipBoxes
from gough.mechanics.vectors import Components


class ChainGeometry:
    """The geometry of chains: no link along which they push, no bounds that prove."""

    def poses_to_try(
        self, legs: Chain, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """None: which poses a chain reaches only its joints tell."""
        return np.zeros((0, 3)), np.zeros((0, 3, 3))

    def stance(self, legs: Chain, tip: Array) -> Stance:
        """Not known from the tip alone."""
        raise InputError("stance: chain legs have no link along which they push the platform")

    def joint_points(self, legs: Chain | Pin, tips: Components) -> Components:
        """Return the points of all joints as the file gives them, at home."""
        inner = legs.points if isinstance(legs, Chain) else ()
        return side_by_side([*inner, legs.port])

    def on_carrier(self, legs: Chain, joints: Array, direction: Array) -> Array:
        """Return the directions themselves: chains have limits of joints, none of a leg's angle."""
        return direction

    def tip_bounds(self, legs: Chain, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """Infinite."""
        shape = (legs.port.shape[1], 3)
        return np.full(shape, -np.inf), np.full(shape, np.inf)

    def over(self, legs: Chain, tips: TipBoxes) -> Span:
        """Not known."""
        raise InputError("bounds over boxes of poses: chain legs have none that prove")
