"""Where the joints of a robot are in the world, for pictures of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.pus.equations import PUS
from gough.model.model import Model

if TYPE_CHECKING:
    from gough.results import LegMotion


class Places(NamedTuple):
    """Joint centres, world frame, m."""

    universal: Array
    """(..., legs, 3): B_i of UPS legs, on the slider of PUS legs."""
    spherical: Array
    """(..., legs, 3): P_i."""


def places(robot: Model, legs: LegMotion) -> Places:
    """Universal and spherical joints; `legs` is `robot.inverse_kinematics(motion)`.

    UPS: U = B, S = B + q n. PUS: U = rail_origin + q a, S = U + length n.
    """
    parts, q = robot.description.legs, legs.q[..., np.newaxis]
    if isinstance(parts, PUS):
        universal = parts.rail_origin[..., 0].T + q * parts.rail_direction[..., 0].T
        return Places(universal, universal + parts.length * legs.direction)
    universal = np.broadcast_to(parts.base[..., 0].T, legs.direction.shape)
    return Places(universal, universal + q * legs.direction)


def ground(robot: Model, q: Array) -> Array:
    """What stands on the ground (legs, 1 or 2, 3): base joints, or the two ends of each rail.

    Where the file gives no stroke, a rail reaches half a link's length to either side of q (legs,).
    """
    parts = robot.description.legs
    if not isinstance(parts, PUS):
        return np.asarray(parts.base[..., 0].T[:, np.newaxis])
    limits, half = robot.description.limits, parts.length[:, 0] / 2
    first = np.where(np.isfinite(limits.shortest), limits.shortest, q - half)
    last = np.where(np.isfinite(limits.longest), limits.longest, q + half)
    origin, along = (one[..., 0].T for one in (parts.rail_origin, parts.rail_direction))
    return np.stack([origin + one[:, np.newaxis] * along for one in (first, last)], axis=1)
