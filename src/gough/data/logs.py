"""Logs of a machine: time, leg coordinates or poses, and actuator forces, from CSV or NetCDF.

Columns are those of motion files and of `gough kinematics` and `gough forces`: `time [s]`, `q1 [m]` …
or `x [m]` … with `qw` … or `rx [rad]` …, and `force1 [N]` …; in NetCDF the variables `time`, `q` or
`position` and `rotation`, and `force`. Other columns are passed over. A log that cannot be trusted is
refused with the line and the reason; `gough.data.plausibility` asks whether it can be this
robot's.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.tables import ColumnTable, Where, check_unit, read_bytes, read_table
from gough.data.datasets import attributes, kind_of, write_dataset
from gough.data.motion_files import (
    QUANTITIES,
    ROTATION_VECTOR,
    UNIT_LENGTH,
    check_time,
    read_dataset,
)
from gough.data.plausibility import check_pose, check_stroke
from gough.errors import FileError, GoughError, InputError
from gough.legs.units import LINEAR, LegUnits
from gough.model.model import Model
from gough.motion import Motion

FEWEST_SAMPLES = 50
LONGEST_GAP = 5.5
"""Longest time step, in median steps."""
LONGEST_STEP = 0.2
"""Largest median step, s: with fewer samples a second there is no dynamics to see."""
COORDINATE, FORCE = "q{}", "force{}"


def _sample(row: int) -> str:
    return f"sample {row}"


@dataclass(frozen=True, eq=False)
class Log:
    """What a machine did: times (n,) in s, leg coordinates and forces (n, legs)."""

    time: Array
    q: Array
    forces: Array
    start: Motion | None = None
    """A pose near the first; without it the robot is taken to have come from home."""
    where: Where = field(default=_sample, repr=False)
    """Place of a sample in the file, in words."""
    header: str = "log"
    """Place of the columns' names in the file, in words."""
    units: LegUnits = LINEAR
    """Of leg coordinates and forces."""

    def __post_init__(self) -> None:
        for name in ("time", "q", "forces"):
            try:
                value = np.array(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(f"log: {name} is not an array of numbers") from None
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        count = len(self.time) if self.time.ndim == 1 else -1
        if self.q.ndim != 2 or len(self.q) != count or self.forces.shape != self.q.shape:
            shapes = f"time {self.time.shape}, q {self.q.shape}, forces {self.forces.shape}"
            raise InputError(f"log: needs (n,), (n, legs), (n, legs); has {shapes}")
        for name, columns in (("q", self.q), ("force", self.forces)):
            bad = np.argwhere(~np.isfinite(columns))
            if bad.size:
                row, leg = (int(i) for i in bad[0])
                value = columns[row, leg]
                raise InputError(
                    f"{self.where(row)}, column {name}{leg + 1}: {value} is not finite"
                )
        check_time(self.time, self.where, strictly=True)
        if count < FEWEST_SAMPLES:
            last = self.where(count - 1) if count else self.header
            raise InputError(
                f"{last}: the log ends after {count} samples; {FEWEST_SAMPLES} or more"
            )
        steps = np.diff(self.time)
        usual = float(np.median(steps))
        if usual > LONGEST_STEP:
            raise InputError(
                f"{self.where(1)}: time steps of {usual:g} s, at most {LONGEST_STEP:g} s; "
                "is time in milliseconds?"
            )
        gap = int(np.argmax(steps > LONGEST_GAP * usual))
        if steps[gap] > LONGEST_GAP * usual:
            raise InputError(
                f"{self.where(gap + 1)}: a gap of {steps[gap]:.3g} s before t = "
                f"{self.time[gap + 1]:.6g} s, the usual step is {usual:.3g} s (limit "
                f"{LONGEST_GAP:g} of them)"
            )

    @property
    def legs(self) -> int:
        """Number of legs."""
        return int(self.q.shape[1])


def read_log(robot: Model, path: str | os.PathLike[str]) -> Log:
    """A log of this robot from a .csv or .nc file; see the module for its columns."""
    path = Path(path)
    read = {".csv": _read_csv, ".nc": _read_netcdf}[kind_of(path)]
    try:
        with np.errstate(all="ignore"):  # absurd numbers end as errors, without warnings before
            return read(robot, read_bytes(path))
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def write_log(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as .csv or .nc, with leg coordinates, whole or not at all."""
    import xarray

    dims = ("time", "leg")
    dataset = xarray.Dataset(
        {
            "q": (dims, log.q, attributes(log.units.q, "actuated coordinate")),
            "force": (dims, log.forces, attributes(log.units.force, "actuator force")),
        },
        {"time": ("time", log.time, attributes("s", "time")), "leg": np.arange(1, log.legs + 1)},
        {"title": "log"},
    )
    write_dataset(dataset, path)


def _read_csv(robot: Model, data: bytes) -> Log:
    table, units = read_table(data), robot.leg_kind.units
    legs = range(1, robot.leg_count + 1)
    time = _columns(table, ["time"], "s")
    if time is None:
        raise FileError(f"no time (column time){_near(table, 'time')}")
    forces = _columns(table, [FORCE.format(i) for i in legs], units.force)
    if forces is None:
        raise FileError(f"no forces (columns force1 … force{legs[-1]}){_near(table, 'force1')}")
    q = _columns(table, [COORDINATE.format(i) for i in legs], units.q)
    start = None
    if q is None:
        poses = _poses(robot, table)
        q, start = robot.inverse_kinematics(poses).q, poses[0]
    check_stroke(robot, q, table.where)
    return Log(time[:, 0], q, forces, start, table.where, "line 1", units)


def _poses(robot: Model, table: ColumnTable) -> Motion:
    """Poses of a log without leg coordinates."""
    position = _columns(table, QUANTITIES["position"].columns, "m")
    if position is None:
        raise FileError(
            "neither leg coordinates (columns q1 …) nor positions (x, y, z)"
            + _near(table, COORDINATE.format(1))
        )
    rotation = np.broadcast_to(np.eye(3), (len(position), 3, 3))
    vectors = _columns(table, ROTATION_VECTOR, "rad")
    quaternions = _columns(table, QUANTITIES["rotation"].columns, "")
    if vectors is not None:
        rotation = Rotation.from_rotvec(vectors).as_matrix()
        check_pose(robot, position, vectors, table.where)
    elif quaternions is not None:
        lengths = np.linalg.norm(quaternions, axis=-1)
        wrong = np.flatnonzero(np.abs(lengths - 1) > UNIT_LENGTH)
        if wrong.size:
            row = int(wrong[0])
            raise FileError(
                f"{table.where(row)}: the quaternion has length {lengths[row]:.9g}, not 1"
            )
        rotation = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
    check_pose(robot, position, None, table.where)
    return Motion(position, rotation)


def _columns(table: ColumnTable, names: Sequence[str], unit: str) -> Array | None:
    """Columns (n, names), None if none of them is there."""
    missing = [name for name in names if name not in table.units]
    if len(missing) == len(names):
        return None
    if missing:
        raise FileError(f"column {missing[0]} is missing{_near(table, missing[0])}")
    for name in names:
        check_unit(f"column {name}", table.units[name], unit)
    return table.numbers(names)


def _near(table: ColumnTable, wanted: str) -> str:
    """A hint at the column that may be meant."""
    near = difflib.get_close_matches(wanted, [name[:40] for name in table.units], 1, cutoff=0.5)
    return f"; the nearest column is {near[0]!r}" if near else ""


def _read_netcdf(robot: Model, data: bytes) -> Log:
    dataset, units = read_dataset(data), robot.leg_kind.units
    found: dict[str, Array] = {}
    shapes = {
        "time": ("s", ()),
        "q": (units.q, ("leg",)),
        "force": (units.force, ("leg",)),
        "position": ("m", ("axis",)),
        "rotation": ("", ("axis", "platform_axis")),
    }
    for name, (unit, dims) in shapes.items():
        if name not in dataset.variables:
            continue
        variable, needed = dataset[name], ("time", *dims)
        if {*variable.dims} != {*needed} or variable.dtype.kind not in "fiu":
            has, needs = (f"({', '.join(map(str, one))})" for one in (variable.dims, needed))
            raise FileError(f"{name} holds {variable.dtype} over {has}, needs numbers over {needs}")
        if "leg" in dims and variable.sizes["leg"] != robot.leg_count:
            count = variable.sizes["leg"]
            raise FileError(f"{name} has {count} legs, {robot.name} has {robot.leg_count}")
        check_unit(f"variable {name}", variable.attrs.get("units"), unit)
        found[name] = variable.transpose(*needed).values.astype(np.float64)
    for name in ("time", "force"):
        if name not in found:
            raise FileError(f"no variable {name}")
    start = None
    if "q" not in found:
        if "position" not in found:
            raise FileError("neither leg coordinates (variable q) nor position")
        check_pose(robot, found["position"], None, _sample)
        poses = Motion(found["position"], found.get("rotation"))
        found["q"], start = robot.inverse_kinematics(poses).q, poses[0]
    check_stroke(robot, found["q"], _sample)
    return Log(found["time"], found["q"], found["force"], start, _sample, "variables", units)


def simulated_log(
    robot: Model,
    motion: Motion,
    *,
    resolution: float = 1e-6,
    noise: float = 0.01,
    rng: np.random.Generator,
) -> Log:
    """The log that a robot would write along a motion (n,) with time, friction included.

    Encoders round q to `resolution` from a random zero; forces have white noise of `noise` times the
    leg's rms force.
    """
    if motion.time is None or len(motion.shape) != 1:
        raise InputError("a log needs a motion of shape (n,) with time")
    q, forces = robot.inverse_kinematics(motion).q, robot.inverse_dynamics(motion).forces
    zero = rng.uniform(0.0, resolution, robot.leg_count)
    size = noise * np.sqrt(np.mean(forces**2, axis=0))
    return Log(
        motion.time,
        np.round((q - zero) / resolution) * resolution + zero if resolution else q,
        forces + size * rng.normal(size=forces.shape),
        motion[0],
        units=robot.leg_kind.units,
    )
