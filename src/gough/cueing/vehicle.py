"""A recorded vehicle: what whoever sits in it should feel.

Vehicle axes are those of the world with the robot at home: x forward, y to the left, z up. A record
has the acceleration of the head without gravity (a, m/s²) and the turn rates (ω, rad/s), both in vehicle
axes. From level at the first sample, the attitude R_v follows from Ṙ_v = R_v [ω]×, and with gravity g
(m/s², world axes) the specific force, which is what a body feels, is

    f = a − R_vᵀ g

Drift of the rates tilts it: a record of minutes should have its rates' offsets taken away.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, given_numbers
from gough.base.tables import read_bytes, read_table
from gough.data.columns import AS_THEY_ARE, Columns, Say, check_time_unit, silent
from gough.data.logs import columns_of
from gough.data.motion_files import check_time
from gough.errors import FileError, GoughError, InputError

LARGEST = 1e6
"""Acceleration, m/s², and turn rate, rad/s, of a record."""
ACCELERATIONS = ("ax", "ay", "az")
RATES = ("wx", "wy", "wz")
UNITS = {"time": "s"} | dict.fromkeys(ACCELERATIONS, "m/s²") | dict.fromkeys(RATES, "rad/s")
UNEVEN = 2.0
"""Mean step over the usual one, at most."""
FEWEST, MOST = 5, 2_000_000
"""Samples of a record."""


@dataclass(frozen=True, eq=False)
class Vehicle:
    """A record at even times."""

    time: Array
    """(n,) s, evenly spaced, from 0."""
    acceleration: Array
    """(n, 3) m/s² without gravity, vehicle axes."""
    rates: Array
    """(n, 3) rad/s, vehicle axes."""

    @classmethod
    def of(cls, time: Array, acceleration: Array, rates: Array) -> Vehicle:
        """A record at any increasing times, brought to even ones by straight lines between samples.

        Example:
            >>> t = np.linspace(0, 2, 201)
            >>> brake = Vehicle.of(t, np.outer(t > 1, [-3.0, 0, 0]), np.zeros((201, 3)))
            >>> round(brake.step, 3)
            0.01

        """
        time = given_numbers("time", time)
        parts = [given_numbers("accelerations", acceleration), given_numbers("rates", rates)]
        if time.ndim != 1 or not FEWEST <= time.size <= MOST:
            raise InputError(f"a vehicle of {time.shape} times: needs {FEWEST} to {MOST} samples")
        for name, one in zip(("accelerations", "rates"), parts, strict=True):
            if one.shape != (time.size, 3) or not np.all(np.isfinite(one)):
                raise InputError(f"{name} of shape {one.shape}: needs finite ({time.size}, 3)")
            if np.abs(one).max() > LARGEST:
                raise InputError(f"{name} of up to {np.abs(one).max():g}: at most {LARGEST:g}")
        check_time(time, lambda row: f"sample {row}", strictly=True)
        steps = np.diff(time)
        if np.mean(steps) > UNEVEN * np.median(steps):
            raise InputError(
                f"sample {np.argmax(steps) + 1}: a gap of {steps.max():.3g} s, the usual step is "
                f"{np.median(steps):.3g} s: even times would leave samples out"
            )
        even = np.linspace(0.0, time[-1] - time[0], time.size)
        felt = [
            np.stack([np.interp(even, time - time[0], column) for column in one.T], axis=1)
            for one in parts
        ]
        return cls(even, *felt)

    @property
    def step(self) -> float:
        """Between samples, s."""
        return float(self.time[1] - self.time[0])

    @property
    def duration(self) -> float:
        """Of the record, s."""
        return float(self.time[-1])

    def scaled(self, scale: float) -> Vehicle:
        """The same with accelerations and rates multiplied."""
        return Vehicle(self.time, scale * self.acceleration, scale * self.rates)

    def attitude(self) -> Array:
        """R_v (n, 3, 3), level at the first sample; rates are straight between samples."""
        mean = (self.rates[1:] + self.rates[:-1]) / 2
        steps = Rotation.from_rotvec(mean * self.step)
        found = [Rotation.identity()]
        for one in steps:
            found.append(found[-1] * one)
        return np.asarray(Rotation.concatenate(found).as_matrix())

    def specific_force(self, gravity: Array) -> Array:
        """f − f at rest (n, 3), m/s², vehicle axes: a − R_vᵀ g + g."""
        return np.asarray(self.acceleration - gravity @ self.attitude() + gravity)


def read_vehicle(
    path: str | os.PathLike[str], *, columns: Columns = AS_THEY_ARE, say: Say = silent
) -> Vehicle:
    """A vehicle from a .csv file with columns time, ax, ay, az, wx, wy, wz; others are passed over.

    Args:
        path: the file.
        columns: names and units of a file that has others.
        say: told what was converted.

    """
    path = Path(path)
    try:
        table = columns.applied(read_table(read_bytes(path)), UNITS, say)
        found = {}
        for what, names in (("time", ["time"]), ("a", [*ACCELERATIONS]), ("w", [*RATES])):
            part = columns_of(table, names)
            if part is None:
                raise FileError(f"no column {names[0]}; needs {', '.join(UNITS)}")
            found[what] = part
        check_time(found["time"][:, 0], table.where, strictly=True)
        check_time_unit(table, found["time"][:, 0])
        return Vehicle.of(found["time"][:, 0], found["a"], found["w"])
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None
