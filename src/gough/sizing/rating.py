"""What a motor can do, and how much of it a robot takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError

SHARES = {
    "rated_torque_share": ("rated_torque", ("rms_torque",)),
    "peak_torque_share": ("peak_torque", ("peak_torque", "worst_torque")),
    "top_speed_share": ("top_speed", ("peak_motor_speed", "worst_motor_speed")),
}
"""By name the rating and the demands of motions and of a region that it must hold."""
SMALLEST, LARGEST = 1e-9, 1e15
"""Of a rating, in its unit."""


@dataclass(frozen=True)
class Rating:
    """A motor's ratings as a catalogue has them; what is left out is not looked at."""

    rated_torque: float | None = None
    """N m, held all day: the rms torque must stay below."""
    peak_torque: float | None = None
    """N m, for moments."""
    top_speed: float | None = None
    """rpm."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and not SMALLEST <= value <= LARGEST:
                raise InputError(
                    f"motor: {one.name} is {value:g}, needs {SMALLEST:g} to {LARGEST:g}"
                )

    def need_demands(self, names: Iterable[str]) -> None:
        """Refuse a rating of which none of the demands named here takes a share."""
        known = {*names}
        for rating, wanted in SHARES.values():
            if getattr(self, rating) is not None and known.isdisjoint(wanted):
                other = " or a region with twists" if len(wanted) > 1 else ""
                raise InputError(f"motor: {rating} needs a motion{other}, whose demand it limits")

    def shares(self, demands: Mapping[str, Array]) -> dict[str, Array]:
        """Demand over rating (legs,) by name: above 1 the motor does not do."""
        found = {}
        for share, (rating, names) in SHARES.items():
            allowed = getattr(self, rating)
            asked = [demands[name] for name in names if name in demands]
            if allowed is not None and asked:
                found[share] = np.asarray(np.max(asked, axis=0) / allowed)
        return found
