"""Logs of a machine: time, actuated coordinates or poses, and actuator forces, from CSV or NetCDF.

Columns are those of motion files and of `gough kinematics` and `gough forces`: `time [s]`, `q1 [m]` …
or `x [m]` … with `qw` … or `rx [rad]` … (of a platform that moves in fewer than six directions: the
robot's own coordinates), and `force1 [N]` …, the units those of each actuator; in NetCDF the variables
`time`, `q` or `position` and `rotation`, and `force`. Of a flexible platform also `e1` …, in NetCDF
`elastic`. Other units are converted, other names mapped (`gough.data.columns`); other columns are
passed over. A log that cannot be trusted is refused with the line and the reason;
`gough.data.plausibility` asks whether it can be this robot's.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, given_numbers
from gough.base.rotations import unit_quaternions
from gough.base.tables import ColumnTable, Where, read_bytes, read_table
from gough.data.columns import AS_THEY_ARE, Columns, Say, silent
from gough.data.datasets import AXES, attributes, kind_of, unit_list, write_dataset
from gough.data.motion_files import (
    POSE,
    QUANTITIES,
    ROTATION_VECTOR,
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
    """What a machine did: times (n,) in s, actuated coordinates and forces (n, actuators)."""

    time: Array
    q: Array
    forces: Array
    start: Motion | None = None
    """A pose near the first; without it the robot is taken to have come from home."""
    where: Where = field(default=_sample, repr=False)
    """Place of a sample in the file, in words."""
    header: str = "log"
    """Place of the columns' names in the file, in words."""
    units: tuple[LegUnits, ...] = ()
    """Of each actuator's coordinate and force; none: metres and newtons."""
    elastic: Array | None = None
    """(n, N) elastic coordinates of a flexible platform, measured or estimated, if they are known."""

    def __post_init__(self) -> None:
        for name in ("time", "q", "forces"):
            value = np.array(given_numbers(f"log: {name}", getattr(self, name)))
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        count = len(self.time) if self.time.ndim == 1 else -1
        if self.q.ndim != 2 or len(self.q) != count or self.forces.shape != self.q.shape:
            shapes = f"time {self.time.shape}, q {self.q.shape}, forces {self.forces.shape}"
            raise InputError(f"log: needs (n,), (n, actuators) twice; has {shapes}")
        for name, columns in (("q", self.q), ("force", self.forces)):
            bad = np.argwhere(~np.isfinite(columns))
            if bad.size:
                row, leg = (int(i) for i in bad[0])
                value = columns[row, leg]
                raise InputError(
                    f"{self.where(row)}, column {name}{leg + 1}: {value} is not finite"
                )
        if self.elastic is not None:
            shape = np.shape(self.elastic)
            if len(shape) != 2 or shape[0] != count or not np.all(np.isfinite(self.elastic)):
                raise InputError(f"log: elastic has shape {shape}, needs ({count}, modes), finite")
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
    def actuator_count(self) -> int:
        """Number of actuators."""
        return int(self.q.shape[1])


def read_log(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
) -> Log:
    """A log of this robot from a .csv or .nc file; see the module for its columns.

    `columns` are names and units of files that have others, and `say` is told what was converted.
    """
    path = Path(path)
    read = {".csv": _read_csv, ".nc": _read_netcdf}[kind_of(path)]
    try:
        with np.errstate(all="ignore"):  # absurd numbers end as errors, without warnings before
            return read(robot, read_bytes(path), columns, say)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def write_log(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as .csv or .nc, with actuated coordinates, whole or not at all."""
    import xarray

    dims = ("time", "actuator")
    units = log.units or (LINEAR,) * log.actuator_count
    q, force = (unit_list([getattr(one, name) for one in units]) for name in ("q", "force"))
    modal: dict[str, Any] = {}
    numbered = {}
    if log.elastic is not None:
        about = attributes("", "modal coordinates")
        if kind_of(path) == ".csv":
            modal = {f"e{i + 1}": ("time", one, about) for i, one in enumerate(log.elastic.T)}
        else:
            modal["elastic"] = (("time", "mode"), log.elastic, about)
            numbered["mode"] = np.arange(1, log.elastic.shape[1] + 1)
    dataset = xarray.Dataset(
        {
            "q": (dims, log.q, attributes(q, "actuated coordinate")),
            "force": (dims, log.forces, attributes(force, "actuator force")),
            **modal,
        },
        {
            "time": ("time", log.time, attributes("s", "time")),
            "actuator": np.arange(1, log.actuator_count + 1),
            **numbered,
        },
        {"title": "log"},
    )
    write_dataset(dataset, path)


def _units(robot: Model) -> tuple[LegUnits, ...]:
    return tuple(one.units for one in robot.actuators)


def known_columns(robot: Model) -> dict[str, str]:
    """Names that columns of a log may have, with their units."""
    units = dict(enumerate(_units(robot), 1))
    return {
        "time": "s",
        **{COORDINATE.format(i): one.q for i, one in units.items()},
        **{FORCE.format(i): one.force for i, one in units.items()},
        **{name: "m" if name in AXES else "rad" for name in POSE},
        **dict.fromkeys(QUANTITIES["rotation"].columns, ""),
        **{f"e{i + 1}": "" for i in range(robot.modes)},
    }


def _read_csv(robot: Model, data: bytes, columns: Columns, say: Say) -> Log:
    table, units = columns.applied(read_table(data), known_columns(robot), say), _units(robot)
    numbers = range(1, robot.actuator_count + 1)
    time = columns_of(table, ["time"])
    if time is None:
        raise FileError(f"no time (column time){_near(table, 'time')}")
    forces = columns_of(table, [FORCE.format(i) for i in numbers])
    if forces is None:
        raise FileError(f"no forces (columns force1 … force{numbers[-1]}){_near(table, 'force1')}")
    q = columns_of(table, [COORDINATE.format(i) for i in numbers])
    start = None
    if q is None:
        poses = poses_of(robot, table, time[:, 0])
        q, start = robot.inverse_kinematics(poses).q, poses[0]
    check_stroke(robot, q, table.where)
    elastic = columns_of(table, [f"e{i + 1}" for i in range(robot.modes)]) if robot.modes else None
    return Log(time[:, 0], q, forces, start, table.where, "line 1", units, elastic)


def poses_of(robot: Model, table: ColumnTable, time: Array | None) -> Motion:
    """Poses of a table: the robot's own coordinates, or positions and a rotation."""
    own = robot.coordinates
    if robot.mobility < len(POSE) and {*own} == {*POSE} & {*table.units}:
        u = columns_of(table, own)
        assert u is not None  # they are there
        return robot.motion(u, time=time)
    position = columns_of(table, AXES)
    if position is None:
        poses = "positions (x, y, z)"
        if robot.mobility < len(POSE):
            poses = f"the robot's own coordinates ({', '.join(own)})"
        raise FileError(
            f"neither actuated coordinates (columns q1 …) nor {poses}"
            + _near(table, COORDINATE.format(1))
        )
    rotation = np.broadcast_to(np.eye(3), (len(position), 3, 3))
    vectors = columns_of(table, ROTATION_VECTOR)
    quaternions = columns_of(table, QUANTITIES["rotation"].columns)
    if vectors is not None:
        rotation = Rotation.from_rotvec(vectors).as_matrix()
        check_pose(robot, position, vectors, table.where)
    elif quaternions is not None:
        quaternions = unit_quaternions(quaternions, table.where)
        rotation = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
    check_pose(robot, position, None, table.where)
    return Motion(position, rotation)


def columns_of(table: ColumnTable, names: Sequence[str]) -> Array | None:
    """Columns (n, names) in SI units, None if none of them is there."""
    missing = [name for name in names if name not in table.units]
    if len(missing) == len(names):
        return None
    if missing:
        raise FileError(f"column {missing[0]} is missing{_near(table, missing[0])}")
    return table.numbers(names)


def _near(table: ColumnTable, wanted: str) -> str:
    """A hint at the column that may be meant."""
    near = difflib.get_close_matches(wanted, [name[:40] for name in table.units], 1, cutoff=0.5)
    return f"; the nearest column is {near[0]!r}" if near else ""


def _read_netcdf(robot: Model, data: bytes, columns: Columns, say: Say) -> Log:
    found = read_variables(robot, data, columns, say, ("time", "force"))
    start = None
    if "q" not in found:
        if "position" not in found:
            raise FileError("neither actuated coordinates (variable q) nor position")
        check_pose(robot, found["position"], None, _sample)
        poses = Motion(found["position"], found.get("rotation"))
        found["q"], start = robot.inverse_kinematics(poses).q, poses[0]
    check_stroke(robot, found["q"], _sample)
    return Log(
        found["time"],
        found["q"],
        found["force"],
        start,
        _sample,
        "variables",
        _units(robot),
        found.get("elastic"),
    )


def read_variables(
    robot: Model, data: bytes, columns: Columns, say: Say, needed: Sequence[str]
) -> dict[str, Array]:
    """What the bytes of a NetCDF file have of a log, SI units; those that are `needed` must be there."""
    units = _units(robot)
    found: dict[str, Array] = {}
    shapes = {
        "time": ("s", ()),
        "q": (unit_list([one.q for one in units]), ("actuator",)),
        "force": (unit_list([one.force for one in units]), ("actuator",)),
        "position": ("m", ("axis",)),
        "rotation": ("", ("axis", "platform_axis")),
    }
    if robot.modes:
        shapes["elastic"] = ("", ("mode",))
    dataset = columns.renamed(read_dataset(data), shapes)
    for name, (unit, dims) in shapes.items():
        if name not in dataset.variables:
            continue
        variable, wanted = dataset[name], ("time", *dims)
        if {*variable.dims} != {*wanted} or variable.dtype.kind not in "fiu":
            has, needs = (f"({', '.join(map(str, one))})" for one in (variable.dims, wanted))
            raise FileError(f"{name} holds {variable.dtype} over {has}, needs numbers over {needs}")
        if "mode" in dims and variable.sizes["mode"] != robot.modes:
            raise FileError(
                f"{name} has {variable.sizes['mode']} modes, {robot.name} has {robot.modes}"
            )
        if "actuator" in dims and variable.sizes["actuator"] != robot.actuator_count:
            raise FileError(
                f"{name} has {variable.sizes['actuator']} actuators, {robot.name} has "
                f"{robot.actuator_count}"
            )
        found[name] = columns.in_si(variable.transpose(*wanted), unit, say)
        if not found[name].size:
            raise FileError("no samples")
    for name in needed:
        if name not in found:
            raise FileError(f"no variable {name}")
    return found


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
    actuator's rms force.
    """
    if motion.time is None or len(motion.shape) != 1:
        raise InputError("a log needs a motion of shape (n,) with time")
    q, forces = robot.inverse_kinematics(motion).q, robot.inverse_dynamics(motion).forces
    zero = rng.uniform(0.0, resolution, robot.actuator_count)
    size = noise * np.sqrt(np.mean(forces**2, axis=0))
    return Log(
        motion.time,
        np.round((q - zero) / resolution) * resolution + zero if resolution else q,
        forces + size * rng.normal(size=forces.shape),
        motion[0],
        units=_units(robot),
        elastic=motion.elastic if robot.modes else None,
    )
