"""The table that a drive catalogue is read against, and its files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.showing import shown
from gough.data.datasets import write_table, writing
from gough.errors import FileError, InputError
from gough.legs.units import LegUnits
from gough.sizing.demand import ADDED, Sizing
from gough.sizing.drive import RPM, Drive
from gough.sizing.rating import SHARES, Rating
from gough.sizing.region import RegionCase

KINDS = (".csv", ".json", ".html")
SMALLEST_MARGIN, LARGEST_MARGIN = 1e-3, 1e3
"""Largest factor on what a drive must do."""


class DriveQuantity(NamedTuple):
    """What a row of the table is called."""

    unit: str
    """As `LegUnits.of` reads it; "1" for plain numbers."""
    meaning: str
    margin: bool = False
    """Whether a drive is chosen with a margin on it."""


QUANTITIES = {
    "stroke": DriveQuantity("[q]", "stroke"),
    "shortest": DriveQuantity("[q]", "shortest"),
    "longest": DriveQuantity("[q]", "longest"),
    "peak_speed": DriveQuantity("[q]/s", "peak speed", True),
    "peak_force": DriveQuantity("[force]", "peak force", True),
    "peak_push": DriveQuantity("[force]", "peak push"),
    "peak_pull": DriveQuantity("[force]", "peak pull"),
    "rms_force": DriveQuantity("[force]", "rms force", True),
    "peak_power": DriveQuantity("W", "peak power", True),
    "peak_regenerated": DriveQuantity("W", "peak regenerated power", True),
    "energy": DriveQuantity("J", "energy put in"),
    "regenerated": DriveQuantity("J", "energy given back"),
    "peak_thrust": DriveQuantity("[force]", "peak force in screw or gear", True),
    "peak_torque": DriveQuantity("N m", "peak motor torque", True),
    "rms_torque": DriveQuantity("N m", "rms motor torque", True),
    "peak_motor_speed": DriveQuantity("rpm", "peak motor speed", True),
    "mean_motor_speed": DriveQuantity("rpm", "mean motor speed"),
    "peak_motor_power": DriveQuantity("W", "peak motor power", True),
    "motor_energy": DriveQuantity("J", "motor energy put in"),
    "motor_regenerated": DriveQuantity("J", "motor energy given back"),
    "inertia_ratio": DriveQuantity("1", "load inertia : rotor inertia"),
    "worst_force": DriveQuantity("[force]", "worst force in the region", True),
    "worst_speed": DriveQuantity("[q]/s", "worst speed in the region", True),
    "worst_power": DriveQuantity("W", "bound on the power there", True),
    "worst_torque": DriveQuantity("N m", "bound on the torque there", True),
    "worst_motor_speed": DriveQuantity("rpm", "worst motor speed there", True),
    "rated_torque_share": DriveQuantity("1", "rms : rated torque of the motor", True),
    "peak_torque_share": DriveQuantity("1", "largest : peak torque of the motor", True),
    "top_speed_share": DriveQuantity("1", "largest : top speed of the motor", True),
}
"""In the order of the table."""


@dataclass(frozen=True)
class Requirements:
    """Demands of motions and of a region in one table."""

    robot: str
    units: LegUnits
    """Of its actuators."""
    sizing: Sizing | None
    region: dict[str, Array]
    """Worst case over a region by name (legs,)."""
    margin: float = 1.0
    """Factor on forces, torques, speeds and powers."""
    rating: Rating | None = None
    """Of the motors, of which a share is taken."""

    def unit(self, name: str) -> str:
        """Of a quantity of this robot; "1" for plain numbers."""
        return self.units.of(QUANTITIES[name].unit)

    def label(self, name: str) -> str:
        """The unit as people read it: none for plain numbers."""
        return self.unit(name).removeprefix("1")

    def rows(self) -> dict[str, tuple[Array, float, float | None]]:
        """By quantity: each leg over all motions (legs,), the worst, and what to choose."""
        found: dict[str, tuple[Array, float]] = {}
        if self.sizing is not None:
            worst = self.sizing.worst()
            for name, value in self.sizing.numbers().items():
                legs = np.sum(value, axis=0) if name in ADDED else np.max(value, axis=0)
                legs = np.min(value, axis=0) if name == "shortest" else legs
                if name == "stroke":
                    part = self.sizing.legs
                    legs = part.longest.max(axis=0) - part.shortest.min(axis=0)
                found[name] = legs, worst[name]
        found |= {name: (value, float(value.max())) for name, value in self.region.items()}
        if self.rating is not None:
            shares = self.rating.shares({name: legs for name, (legs, _) in found.items()})
            found |= {name: (value, float(value.max())) for name, value in shares.items()}
        return {
            name: (*found[name], self.margin * found[name][1] if quantity.margin else None)
            for name, quantity in QUANTITIES.items()
            if name in found
        }

    def too_small(self) -> list[str]:
        """What the motors cannot do, margin included, in words."""
        rows = self.rows()
        return [
            f"motor too small: {QUANTITIES[name].meaning} is {rows[name][2]:.3g} with the margin "
            f"(leg {int(np.argmax(rows[name][0])) + 1}, limit 1)"
            for name in SHARES
            if name in rows and (rows[name][2] or 0.0) > 1
        ]

    def to_json(self) -> dict[str, Any]:
        """All digits; also every motion on its own."""
        drive = None if self.sizing is None else self.sizing.drive
        found: dict[str, Any] = {"robot": self.robot, "margin": self.margin, "drive": _plain(drive)}
        found["requirements"] = {
            name: {
                "unit": self.unit(name),
                "legs": [_number(one) for one in value],
                "worst": _number(worst),
                "with_margin": _number(wanted),
            }
            for name, (value, worst, wanted) in self.rows().items()
        }
        found["motions"] = []
        if self.sizing is not None:
            numbers = self.sizing.numbers()
            for i, name in enumerate(self.sizing.names):
                one = {key: [_number(x) for x in value[i]] for key, value in numbers.items()}
                found["motions"].append(
                    {"name": name, "duration": float(self.sizing.duration[i]), **one}
                )
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """As .csv (a row per quantity), .json or .html, whole or not at all."""
        kind = kind_of(path)
        if kind == ".csv":
            rows = self.rows()
            legs = np.array([value for value, _, _ in rows.values()])
            columns = {
                "quantity": np.array(list(rows), dtype=object),
                "unit": np.array([self.unit(name) for name in rows], dtype=object),
                **{f"leg {i + 1}": legs[:, i] for i in range(legs.shape[1])},
                "worst": np.array([worst for _, worst, _ in rows.values()]),
                "with margin": np.array(
                    [np.nan if wanted is None else wanted for _, _, wanted in rows.values()]
                ),
            }
            write_table(columns, path)
            return
        if kind == ".json":
            text = json.dumps(self.to_json(), indent=2)
        else:
            text = shown("page about drives", self).html()
        with writing(path) as temporary:
            temporary.write_text(text + "\n", "utf-8")


def requirements(
    sizing: Sizing | None,
    region: RegionCase | None = None,
    drive: Drive | None = None,
    margin: float = 1.0,
    robot: str = "",
    rotor: Array | float = 0.0,
    rating: Rating | None = None,
) -> Requirements:
    """The table of what motions, a region, or both demand, and how much of a motor's rating that is.

    `drive` and `rotor` (legs,), the robot file's, are for the region; a sizing has its own.
    """
    if not SMALLEST_MARGIN <= margin <= LARGEST_MARGIN:
        raise InputError(f"margin is {margin:g}, must be {SMALLEST_MARGIN:g} to {LARGEST_MARGIN:g}")
    source = sizing or region
    if source is None:
        raise InputError("sizing needs a motion or a region")
    found = {}
    if region is not None:
        worst = region.worst
        found = {"worst_force": worst.force}
        if np.any(worst.speed):
            found |= {"worst_speed": worst.speed, "worst_power": worst.power}
        if drive is not None:
            drive.need_suitable(region.units)
            thrust = worst.force + rotor * worst.acceleration
            torque, speed = drive.bound(thrust, worst.speed, worst.acceleration, np.asarray(rotor))
            found["worst_torque"] = torque
            if np.any(worst.speed):
                found["worst_motor_speed"] = RPM * speed
    if rating is not None:
        rating.need_demands([*found, *(() if sizing is None else sizing.numbers())])
    name = sizing.robot if sizing is not None else robot
    return Requirements(name, source.units, sizing, found, margin, rating)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The kind of table by the file's suffix."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: the name must end in {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return kind


def _number(value: float | None) -> float | None:
    """JSON has no infinity."""
    return None if value is None or not np.isfinite(value) else float(value)


def _plain(drive: Drive | None) -> dict[str, Any] | None:
    if drive is None:
        return None
    found = {
        "lead": drive.lead,
        "ratio": drive.ratio,
        "efficiency": drive.efficiency,
        "back_efficiency": drive.driven,
        "rotor_inertia": drive.rotor_inertia,
    }
    return {name: np.asarray(value).tolist() for name, value in found.items() if value is not None}
