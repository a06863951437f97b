"""Directions that a robot file takes from its platform: `mobility`, held by forces μ.

N (6, directions) are wrenches at the platform's origin, world axes, that hold the platform: Nᵀ ξ = 0.
They stand still, on the axes of the platform at home, so that Nᵀ ξ̇ = 0 too. With e = p − p_home and
g = 2 tan(α/2) a of the turn R R_homeᵀ by α about a, the pose is allowed where Nᵀ (e, g) = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.vectors import Components, matvec, or_one, stacked

HELD: dict[str, tuple[int, ...]] = {
    "translation": (3, 4, 5),
    "rotation": (0, 1, 2),
    "planar": (2, 3, 4),
    "schoenflies": (3, 4),
}
"""Of forces along, and couples about, the axes of the platform at home, those that hold it."""


class Mobility(NamedTuple):
    """What the platform cannot do, whatever its legs let it."""

    directions: Components
    """N, (6, directions, 1): unit forces, and couples of unit length scale."""
    position: Components
    """Of home, (3, 1, 1)."""
    rotation: Components
    """(3, 3, 1, 1)."""

    @classmethod
    def of(cls, name: str, position: Array, rotation: Array, length_scale: float) -> Mobility:
        """The mobility of this name about a home position (3,) and rotation (3, 3)."""
        every = np.zeros((6, 6))
        every[:3, :3], every[3:, 3:] = rotation, rotation * length_scale
        held = every[:, HELD[name]]
        return cls(held[..., np.newaxis], position.reshape(3, 1, 1), rotation.reshape(3, 3, 1, 1))

    def gap(self, position: Components, rotation: Components) -> Components:
        """Nᵀ (e, g), (directions, samples), of a pose (3, 1, samples), (3, 3, 1, samples)."""
        off = np.concatenate(
            np.broadcast_arrays(position - self.position, turn_between(self.rotation, rotation))
        )
        total: Components = (self.directions * off).sum(axis=0)
        return total


def turn_between(start: Components, end: Components) -> Components:
    """g = 2 tan(α/2) a of the turn `end` `start`ᵀ by α about a, (3, ...), world axes.

    Half the skew part of a rotation is sin α a, its trace 1 + 2 cos α.
    """
    columns = range(3)
    axis = 0.5 * sum(
        np.stack(
            [
                start[1, k] * end[2, k] - start[2, k] * end[1, k],
                start[2, k] * end[0, k] - start[0, k] * end[2, k],
                start[0, k] * end[1, k] - start[1, k] * end[0, k],
            ]
        )
        for k in columns
    )
    trace = sum(start[i, k] * end[i, k] for i in columns for k in columns)
    result: Components = axis * (4 / or_one(1 + trace))
    return result


def turned_by(turn: Components, rotation: Components) -> Components:
    """C(g) R with Cayley's rotation, the inverse of `turn_between`: by 2 atan(‖g‖/2) about g.

    C(g) = 1 + (ĝ + ĝ²/2)/(1 + ‖g‖²/4); `turn` (3, ...), rotation (3, 3, ...).
    """
    x, y, z = turn
    weight = 1 / (1 + 0.25 * (x * x + y * y + z * z))
    xx, yy, zz = x * x, y * y, z * z
    rows = [
        [1 - weight * 0.5 * (yy + zz), weight * (0.5 * x * y - z), weight * (0.5 * x * z + y)],
        [weight * (0.5 * x * y + z), 1 - weight * 0.5 * (xx + zz), weight * (0.5 * y * z - x)],
        [weight * (0.5 * x * z - y), weight * (0.5 * y * z + x), 1 - weight * 0.5 * (xx + yy)],
    ]
    cayley = np.stack([stacked(*row) for row in rows])
    return np.stack([matvec(cayley, column) for column in np.swapaxes(rotation, 0, 1)], axis=1)
