"""Poses by some of a robot's own coordinates: what maps, slices and workspaces range over.

Of a robot with up to three freedoms all coordinates vary. Of one with more those of the position do, at
one orientation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion

MOST = 3
"""Coordinates that vary."""


class OwnSpace(NamedTuple):
    """Coordinates that vary, and what the others are."""

    robot: Model
    names: tuple[str, ...]
    """Those that vary, in the order of `robot.coordinates`."""
    start: Array
    """Of all coordinates (m,): home's, and where they do not vary what they are."""
    rotation: Array
    """(3, 3): the orientation, of a platform that moves in all directions."""

    @classmethod
    def of(cls, robot: Model, rotation: ArrayLike | Rotation | None = None) -> OwnSpace:
        """Of a robot, at an orientation where its positions vary; home's by default."""
        home, coordinates = robot.home, robot.coordinates
        turn = home.rotation if rotation is None else Motion(np.zeros(3), rotation).rotation
        if turn.shape != (3, 3) or not np.isfinite(turn).all():
            raise InputError(f"rotation has batch shape {turn.shape[:-2]}, needs one orientation")
        names = coordinates
        if len(coordinates) > MOST:
            names = tuple(name for name in coordinates if name in COORDINATES[:3])
        elif rotation is not None and not np.allclose(turn, home.rotation):
            raise InputError(
                f"{robot.name} moves by {', '.join(coordinates)}: its orientation follows from them"
            )
        vector = Rotation.from_matrix(turn @ home.rotation.T).as_rotvec()
        whole = np.concatenate([home.position, vector])
        start = whole[[COORDINATES.index(name) for name in coordinates]]
        return cls(robot, names, start, turn)

    @property
    def units(self) -> tuple[str, ...]:
        """Of the coordinates that vary, "m" or "rad"."""
        return tuple("rad" if name.startswith("r") else "m" for name in self.names)

    @property
    def middle(self) -> Array:
        """Home, of those that vary."""
        return self.start[[self.robot.coordinates.index(name) for name in self.names]]

    @property
    def sizes(self) -> Array:
        """What counts as far of each that varies: a length scale, or half a radian."""
        return np.array([self.robot.length_scale if unit == "m" else 0.5 for unit in self.units])

    def poses(self, values: Array) -> Motion:
        """Poses (n,) at values (n, names); NaN where the robot has none, or gets to none from home."""
        if self.robot.mobility == 6:
            return Motion(values, np.broadcast_to(self.rotation, (len(values), 3, 3)))
        u = np.tile(self.start, (len(values), 1))
        u[:, [self.robot.coordinates.index(name) for name in self.names]] = values
        return self.robot.motion(u, on_error="nan")
