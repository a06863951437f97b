"""What was measured of a machine: coordinates of its legs, and what a tracker or a gauge saw of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import Where
from gough.errors import InputError
from gough.motion import Motion

COLUMNS = ("x", "y", "z", "rx", "ry", "rz", "distance")
"""What can be measured of a pose, in this order."""


def _sample(row: int) -> str:
    return f"sample {row}"


class Noise(NamedTuple):
    """Standard deviations of what is measured."""

    position: float
    """Of each coordinate, m."""
    rotation: float
    """About each axis, rad."""
    distance: float
    """m."""
    q: float
    """Of the readings of encoders, m or rad."""


@dataclass(frozen=True, eq=False)
class PoseMeasurements:
    """Poses (n,) of a machine: how its legs stood, and what was measured there.

    A tracker sees a target on the platform at y = t + R_T (p + R e), turned by R_T R R_E: its own frame
    (t, R_T) seen from it, and the target's on the platform (e, R_E), are unknown unless said otherwise.
    """

    q: Array
    """(n, actuators): coordinates as encoders read them, or as they were commanded; m or rad."""
    seen: Array
    """(n, 7): x, y, z of the target (m), its rotation vector (rad), in the tracker's frame, and its
    distance (m) from the tracker's origin, which may be a ball bar's ball; NaN what was not measured."""
    tracker: Array = field(default_factory=lambda: np.zeros(0))
    """(n,) which tracker, or place of it, from 0; 0 if left out, as the target."""
    target: Array = field(default_factory=lambda: np.zeros(0))
    """(n,) which target on the platform, from 0."""
    relative: Array = field(default_factory=lambda: np.zeros(0))
    """(n,) the sample in whose target's frame a pose was measured, of which nothing else need be known;
    −1 of those in a tracker's."""
    commanded: bool = False
    """q are those that were commanded."""
    near: Motion | None = None
    """Poses near those that were measured, world frame; without them the robot came from home."""
    where: Where = field(default=_sample, repr=False)
    """Place of a sample in its file, in words."""

    def __post_init__(self) -> None:
        count = len(self.q)
        for name, kind, shape in (
            ("q", np.float64, (count, self.q.shape[-1])),
            ("seen", np.float64, (count, len(COLUMNS))),
            ("tracker", np.intp, (count,)),
            ("target", np.intp, (count,)),
            ("relative", np.intp, (count,)),
        ):
            value = getattr(self, name)
            if name in ("tracker", "target", "relative") and not len(value):
                value = np.full(count, -1 if name == "relative" else 0)
            value = np.array(value, dtype=kind)
            if value.shape != shape:
                raise InputError(f"measurements: {name} has shape {value.shape}, needs {shape}")
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        if not np.all(np.isfinite(self.q)):
            row = int(np.argmin(np.isfinite(self.q).all(axis=1)))
            raise InputError(f"{self.where(row)}: q is not finite")
        if np.any(np.isinf(self.seen)):
            row = int(np.argmax(np.isinf(self.seen).any(axis=1)))
            raise InputError(f"{self.where(row)}: what was measured is not finite")
        if count and not np.any(np.isfinite(self.seen)):
            raise InputError("measurements: nothing was measured but the legs")

    def __len__(self) -> int:
        return len(self.q)

    @property
    def full(self) -> bool:
        """Every sample is a whole pose in a tracker's frame."""
        return bool(np.all(np.isfinite(self.seen[:, :6])) and np.all(self.relative < 0))

    def at(self, rows: Array) -> PoseMeasurements:
        """Some samples; those that others are relative to must be among them."""
        places = np.full(len(self), -1)
        places[rows] = np.arange(len(rows))
        relative = self.relative[rows]
        return replace(
            self,
            q=self.q[rows],
            seen=self.seen[rows],
            tracker=self.tracker[rows],
            target=self.target[rows],
            relative=np.where(relative < 0, -1, places[relative]),
            near=None if self.near is None else self.near[rows],
            where=lambda row: self.where(int(rows[row])),
        )


def together(several: Sequence[PoseMeasurements]) -> PoseMeasurements:
    """Measurements with other trackers and targets each, in one."""
    if len(several) == 1:
        return several[0]
    starts = np.cumsum([0, *(len(one) for one in several)])
    trackers = np.cumsum([0, *(int(one.tracker.max()) + 1 for one in several)])
    targets = np.cumsum([0, *(int(one.target.max()) + 1 for one in several)])
    if len({one.commanded for one in several}) > 1:
        raise InputError("measurements: some have legs as measured, others as commanded")

    def where(row: int) -> str:
        which = int(np.searchsorted(starts, row, side="right")) - 1
        return several[which].where(row - int(starts[which]))

    near = None
    if all(one.near is not None for one in several):
        poses = [one.near for one in several if one.near is not None]
        near = Motion(
            np.concatenate([one.position for one in poses]),
            np.concatenate([one.rotation for one in poses]),
        )
    numbers = range(len(several))
    return PoseMeasurements(
        np.concatenate([one.q for one in several]),
        np.concatenate([one.seen for one in several]),
        np.concatenate([several[i].tracker + trackers[i] for i in numbers]),
        np.concatenate([several[i].target + targets[i] for i in numbers]),
        np.concatenate(
            [
                np.where(several[i].relative < 0, -1, several[i].relative + starts[i])
                for i in numbers
            ]
        ),
        several[0].commanded,
        near,
        where,
    )
