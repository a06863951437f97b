"""Where the parts of a leg are: what a kind of leg tells about its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.reach import Span, TipBoxes
from gough.mechanics.leg import Leg
from gough.mechanics.vectors import Components

L = TypeVar("L", bound=Leg, contravariant=True)


class Stance(NamedTuple):
    """How legs stand whose tips are somewhere, world axes; NaN where a tip is out of reach."""

    direction: Array
    """n (..., legs, 3), unit, along the link to the tip; 0 of a link without length."""
    slope: Array
    """c (..., legs), n·v = c q̇: 0 where the actuator cannot move the tip along the link."""
    sine: Array
    """(..., legs) of the angle between link and first universal axis: 0 where that joint is locked."""
    lever: Array
    """(..., legs): how fast the actuator alone moves the tip for q̇ = 1; see `MovingLeg.levers`."""


def side_by_side(points: Sequence[Components]) -> Components:
    """Join points (3, legs, robots or 1) of several kinds of joints in one array (3, joints, robots)."""
    robots = max(one.shape[-1] for one in points)
    wide = [np.broadcast_to(one, (*one.shape[:2], robots)) for one in points]
    return np.concatenate(wide, axis=1)


class LegGeometry(Protocol[L]):
    """The geometry of a kind of leg; L is the class of its numbers."""

    def poses_to_try(
        self, legs: L, points: Array, home: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 3, 3) at which to look whether the legs hold a platform.

        `points` (legs, 3) in the platform frame; some of the poses may be out of reach.
        """

    def stance(self, legs: L, tip: Array) -> Stance:
        """How the legs stand with tips (..., legs, 3), m, world; singular ones are answered too."""

    def joint_points(self, legs: L, tips: Components) -> Components:
        """Return the centres (3, joints, robots) of all joints of all legs, m, world.

        Legs stand as at home, with tips (3, legs, robots); NaN where a tip is out of reach.
        """

    def on_carrier(self, legs: L, joints: Array, direction: Array) -> Array:
        """Return leg directions as seen from the body that carries the universal joint.

        Directions (..., legs, 3) in world axes at joint coordinates (..., legs, 3). Answers at two
        poses are on the same axes of that body, so that their angle is the joint's between the poses.
        """

    def tip_bounds(self, legs: L, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """Corners (legs, 3), m, world, of a box about all places of each tip with q in its stroke.

        Strokes (legs,) may be infinite; so are the corners of a leg that its stroke does not bound.
        """

    def over(self, legs: L, tips: TipBoxes) -> Span:
        """The legs over boxes of poses, with bounds that prove."""
