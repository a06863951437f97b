"""Eqs. 57 to 66: the rods' masses as if they were the platform's."""

from __future__ import annotations

import warnings
from typing import Any

import gough
from gough.errors import ImpossibleBodyWarning

FIRST_LEG = {
    "XX": 2,
    "XY": 3,
    "XZ": 3,
    "YY": 3,
    "YZ": 3,
    "ZZ": 2,
    "MX": 3,
    "MY": 2,
    "MZ": 3,
    "M": 1,
}
"""Where the sums of Eqs. 57 to 66 start in print."""


def regrouped(data: dict[str, Any], printed: bool) -> gough.Robot:
    """The rods' masses M_3i moved to the platform: Eqs. 57 to 66."""
    rods, points = data["legs"]["rod"], data["legs"]["platform"]
    platform = dict(data["platform"])
    for i, (rod, (x, y, z)) in enumerate(zip(rods, points, strict=True), start=1):
        added = {
            "XX": y * y + z * z, "XY": -x * y, "XZ": -x * z, "YY": x * x + z * z, "YZ": -y * z,
            "ZZ": x * x + y * y, "MX": x, "MY": y, "MZ": z, "M": 1.0,
        }  # fmt: skip
        for name, per_mass in added.items():
            if not printed or i >= FIRST_LEG[name]:
                platform[name] += per_mass * rod["M"]
    legs = data["legs"] | {"rod": [rod | {"M": 0.0} for rod in rods]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        return gough.Robot.from_dict(data | {"legs": legs, "platform": platform})
