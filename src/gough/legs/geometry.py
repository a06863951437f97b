"""Where the parts of a leg are: what a kind of leg tells about its geometry."""

from __future__ import annotations

from typing import Protocol, TypeVar

from gough.base.arrays import Array
from gough.mechanics.leg import Leg

L = TypeVar("L", bound=Leg, contravariant=True)


class LegGeometry(Protocol[L]):
    """The geometry of a kind of leg; L is the class of its numbers."""

    def poses_to_try(
        self, legs: L, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 3, 3) at which to look whether the legs hold a platform.

        `points` (legs, 3) in the platform frame; some of the poses may be out of reach.
        """
