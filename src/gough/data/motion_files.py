"""Motions as files: CSV for exchange, NetCDF for everything.

Names carry units, from which numbers are converted (`gough.data.columns`), and what does not fit is
refused: an unknown column, a unit that measures something else, a cell that is no number. A motion
file may leave things out:

- no rotation: the platform keeps the world's axes;
- no time: twists and accelerations left out are zero, as in `Motion`;
- time and poses alone: twist and acceleration are those of the spline through the poses
  (`Motion.from_samples`), zero for a single sample;
- time and some twist or acceleration, or elastic coordinates: then all of them must be there, and fit
  the poses (`gough.data.rates`);
- what the platform cannot do: a CSV file with the coordinates of a robot whose platform moves in fewer
  than six directions (`robot.coordinates`: positions, and turns from home about the world's axes) and
  with time or without is a motion of that robot; the rest is solved, rates are those of a spline.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.base.rotations import continuous_quaternions, unit_quaternions
from gough.base.tables import ColumnTable, Where, read_bytes, read_table, split_heading
from gough.base.words import nearest, shown
from gough.data.columns import (
    AS_THEY_ARE,
    Columns,
    Say,
    check_angle_units,
    check_time_unit,
    silent,
)
from gough.data.datasets import (
    AXES,
    LABELS,
    attributes,
    batch_coordinates,
    heading,
    kind_of,
    write_dataset,
    write_table,
)
from gough.data.plausibility import check_pose
from gough.data.rates import check_rates
from gough.data.rounding import FEWEST, RoundedPoses, rounding_line, smoothed
from gough.errors import FileError, GoughError, InputError
from gough.model.model import Model
from gough.motion import ELASTIC_FIELDS, Motion

if TYPE_CHECKING:
    import pandas
    import xarray

LARGEST_STEP = 3.0
"""Of a rotation vector from a sample to the next, rad: beyond, it went past half a turn."""
SHORTEST_STEP, LATEST = 1e-12, 1e15
"""Between two samples, and of any, s, where rates are found: those of others overflow."""


class Quantity(NamedTuple):
    """A field of a motion as files name it."""

    columns: tuple[str, ...]
    """Of CSV; of elastic fields what follows e1, e2, …"""
    unit: str
    """None for elastic fields: it depends on how the mode shapes are scaled."""
    dims: tuple[str, ...]
    """Of NetCDF, behind those of the batch."""
    meaning: str


ROTATION_VECTOR = ("rx", "ry", "rz")
POSE = (*AXES, *ROTATION_VECTOR)
"""Names out of which a robot's coordinates are."""
TWICE = dict(zip(ROTATION_VECTOR, ("qx", "qy", "qz"), strict=True))
"""Angles that are twice a quaternion's vector, where they are small."""
MOVING = (*POSE, "qx", "qy", "qz")
"""Columns that tell how far a platform moves."""
ARM = 0.3
"""Of angles that are compared with lengths, m."""
MATRIX = ("axis", "platform_axis")
ALPHA = ("alpha_x", "alpha_y", "alpha_z")
QUANTITIES = {
    "time": Quantity(("time",), "s", (), "time"),
    "position": Quantity(AXES, "m", ("axis",), "position of the platform frame's origin"),
    "rotation": Quantity(("qw", "qx", "qy", "qz"), "", MATRIX, "from platform to world axes"),
    "velocity": Quantity(("vx", "vy", "vz"), "m/s", ("axis",), "velocity of the origin"),
    "angular_velocity": Quantity(("wx", "wy", "wz"), "rad/s", ("axis",), "angular velocity"),
    "acceleration": Quantity(("ax", "ay", "az"), "m/s2", ("axis",), "acceleration of the origin"),
    "angular_acceleration": Quantity(ALPHA, "rad/s2", ("axis",), "angular acceleration"),
    "elastic": Quantity(("",), "", ("mode",), "modal coordinates"),
    "elastic_velocity": Quantity(("_rate",), "", ("mode",), "modal rates"),
    "elastic_acceleration": Quantity(("_acceleration",), "", ("mode",), "modal accelerations"),
}
DERIVATIVES = (
    ("position", "velocity", "acceleration"),
    ("rotation", "angular_velocity", "angular_acceleration"),
    ELASTIC_FIELDS,
)
RIGID = {name: one for name, one in QUANTITIES.items() if name not in ELASTIC_FIELDS}
UNITS = {column: one.unit for one in RIGID.values() for column in one.columns}
UNITS |= dict.fromkeys(ROTATION_VECTOR, "rad")
DEVIATIONS = {
    f"sd_{column}": RIGID[field].unit
    for field in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    for column in RIGID[field].columns
}
"""Columns of standard deviations, with their units: measured motions have them, readers pass over."""
ENCODINGS = ("utf-8", "ascii", "latin-1", "iso-8859-1")
"""Of texts in NetCDF files."""
MOST_ENTRIES = 100_000
"""Of the header of a NetCDF file: names, sizes, attributes."""
ELASTIC_COLUMN = re.compile(r"e([1-9][0-9]{0,3})(_rate|_acceleration)?")


def read_motion(
    path: str | os.PathLike[str],
    robot: Model | None = None,
    *,
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
    smooth: bool | float = False,
) -> Motion:
    """Motion from a .csv or .nc file; see the module for what the file may leave out.

    `robot` is the one that is to move so, for files in its own coordinates; poses that make no sense
    for it, in millimetres or degrees by mistake, are refused. `columns` are names and units of files
    that have others, and `say` is told what was converted, poses that a log repeats, and how
    uncertain accelerations and forces are where rounded poses or time stamps make them so by over 1 % of
    the largest force. `smooth` takes the smoothest
    motion within the last digit of every pose (True: half a last digit to either side), or within a
    distance of it, m: of each of x, y, z, and of angles that distance over the robot's length scale
    (without a robot over 1 m).

    CSV: one header line, columns in any order, a unit in brackets optional, SI if there is none:
    `time [s]`, `x [m]` …, `qw` … `qz` (length 1 within 1e-6 and what their last
    digit explains) or the rotation vector `rx [rad]` …,
    `vx [m/s]` …, `wx [rad/s]` …, `ax [m/s2]` …, `alpha_x [rad/s2]` …, `e1` …, `e1_rate` …,
    `e1_acceleration` …. The batch shape is (rows,); all numbers are finite.
    NetCDF: variables named as Motion's fields, as `write_motion` writes them, of any batch shape.
    A sample without an answer (NaN) stays one; time is finite.
    """
    path = Path(path)
    kind = kind_of(path)
    try:
        with np.errstate(all="ignore"):  # absurd numbers end as errors, without warnings before
            data = read_bytes(path)
            if kind == ".nc":
                fields, where = _read_netcdf(data, columns, say)
                if smooth:
                    _smooth_fields(fields, where, _distance(smooth), robot, say)
                return _sensible(robot, fields, where)
            table = read_table(data)
            table = columns.applied(table, _known(table, columns), say)
            if robot is not None and _in_coordinates(table, robot):
                return _own_motion(table, robot, columns, smooth, say)
            numbers, rounded = _numbers(table, robot, smooth, say)
            _check_units(table, columns, numbers, say)
            motion = _sensible(robot, *_read_csv(table, numbers), _digits(table))
            if rounded and (line := rounding_line(robot, motion, rounded)):
                say(line)
            return motion
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def _in_coordinates(table: ColumnTable, robot: Model) -> bool:
    """Whether a table gives a motion in the coordinates of a robot that has fewer than six."""
    given = {*table.units} - {"time"}
    if robot.mobility == len(POSE):
        return False
    if given < {*POSE} and given != {*robot.coordinates} and not {*AXES} <= given:
        own = ", ".join(robot.coordinates)
        raise FileError(
            f"columns {', '.join(sorted(given, key=POSE.index))}: needs x, y, z and the rotation, or "
            f"the coordinates of {robot.name}: {own}"
        )
    return given == {*robot.coordinates}


def _own_motion(
    table: ColumnTable, robot: Model, columns: Columns, smooth: bool | float, say: Say
) -> Motion:
    """The motion of coordinates u: rates of the spline through them where there is time."""
    names = _names(table)
    numbers, rounded = _numbers(table, robot, smooth, say)
    _check_units(table, columns, numbers, say)
    u = numbers[:, [names.index(name) for name in robot.coordinates]]
    if "time" not in names:
        return robot.motion(u)
    time = numbers[:, names.index("time")]
    check_time(time, table.where, strictly=len(time) > 1)
    if len(time) == 1:
        return robot.motion(u, time=time)
    spline = quintic(time, u)
    motion = robot.motion(u, spline(time, 1), spline(time, 2), time=time)
    if rounded and (line := rounding_line(robot, motion, rounded)):
        say(line)
    return motion


def write_motion(
    motion: Motion, path: str | os.PathLike[str], *, deviations: Array | None = None
) -> None:
    """Write a motion as .csv or .nc, whole or not at all.

    CSV takes batch shapes (n,) and (), as one row, and finite numbers; they come back exactly, the
    rotation (a unit quaternion) to 1e-15. NetCDF takes every batch shape and NaN, all exactly.

    Args:
        motion: what to write.
        path: the file.
        deviations: (n, 12), standard deviations of velocity, angular velocity, acceleration and angular
            acceleration, for columns `sd_vx` …; readers of motions pass over them.

    """
    kind = kind_of(path)
    if 0 in motion.shape:
        raise InputError(f"motion of batch shape {motion.shape}: no samples to write")
    if motion.time is not None:
        check_time(motion.time, lambda sample: f"motion, sample {sample}")
    if kind == ".nc":
        dataset = motion_dataset(motion)
        if deviations is not None:
            labels = {"rate": [*DEVIATIONS]}
            dataset = dataset.assign_coords(labels)
            dataset["deviation"] = (
                ("sample", "rate"),
                deviations,
                {"units": "m/s, rad/s, m/s2, rad/s2"},
            )
        write_dataset(dataset, path)
        return
    table = _motion_columns(motion)
    if deviations is not None:
        headings = (heading(name, unit) for name, unit in DEVIATIONS.items())
        table |= dict(zip(headings, deviations.T, strict=True))
    write_table(table, path)


def motion_frame(motion: Motion) -> pandas.DataFrame:
    """A motion as a data frame: the columns of its .csv, indexed by time if it has one."""
    import pandas

    frame = pandas.DataFrame(_motion_columns(motion))
    return frame if motion.time is None else frame.set_index("time [s]")


def _motion_columns(motion: Motion) -> dict[str, Array]:
    """The columns of a motion as a table, units in their names."""
    if len(motion.shape) > 1:
        raise InputError(f"motion of batch shape {motion.shape}: CSV holds (n,), use .nc")
    columns: dict[str, Array] = {}
    rows = motion.shape[0] if motion.shape else 1
    for name in (name for name in QUANTITIES if name != "time" or motion.time is not None):
        names, value = _columns(name, motion.modes), getattr(motion, name)
        bad = np.argwhere(~np.isfinite(value))
        if bad.size:
            sample = f" of sample {bad[0][0]}" if motion.shape else ""
            raise InputError(f"motion: {name}{sample} is not finite: CSV cannot hold it, use .nc")
        if name == "rotation":
            value = Rotation.from_matrix(value).as_quat(canonical=True)[..., [3, 0, 1, 2]]
        for column, numbers in zip(names, np.reshape(value, (rows, len(names))).T, strict=True):
            columns[heading(column, QUANTITIES[name].unit)] = numbers
    return columns


def motion_dataset(motion: Motion) -> xarray.Dataset:
    """A motion as a labelled dataset: one variable a field, with units, world axes."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    variables = {
        name: ((*dims, *one.dims), getattr(motion, name), attributes(one.unit, one.meaning))
        for name, one in (QUANTITIES if motion.modes else RIGID).items()
        if name != "time"
    }
    coordinates |= {"axis": list(AXES), "platform_axis": list(AXES)}
    if motion.modes:
        coordinates["mode"] = np.arange(1, motion.modes + 1)
    return xarray.Dataset(variables, coordinates, {"title": "motion of the platform"})


def _columns(field: str, modes: int) -> list[str]:
    """CSV columns of a field."""
    columns = QUANTITIES[field].columns
    return [f"e{i + 1}{columns[0]}" for i in range(modes)] if field not in RIGID else [*columns]


def _sensible(
    robot: Model | None,
    fields: dict[str, Array],
    where: Where,
    digits: Mapping[str, float] | None = None,
) -> Motion:
    """The motion of what a file holds, if it can be this robot's."""
    if robot is not None and "position" in fields and fields["position"].ndim == 2:
        vectors = fields.get("rotation vector")
        check_pose(robot, fields["position"], vectors, where)
    fields.pop("rotation vector", None)
    return _complete(fields, where, digits)


def _digits(table: ColumnTable) -> dict[str, float]:
    """Return the coarsest last digit of each field of poses with rates, SI; angles count twice."""
    own = {*table.units}
    if not {"time", "vx"} <= own or len(table.rows) < FEWEST:
        return {}
    rotation = QUANTITIES["rotation"]._replace(columns=(*ROTATION_VECTOR, "qw", "qx", "qy", "qz"))
    known = RIGID | {"rotation": rotation}
    columns = {field: [n for n in one.columns if n in own] for field, one in known.items()}
    return {
        field: float(table.last_digits(names).max()) * (2 if field == "rotation" else 1)
        for field, names in columns.items()
        if names and field != "time"
    }


def _complete(
    fields: dict[str, Array], where: Where, digits: Mapping[str, float] | None = None
) -> Motion:
    """The motion of what a file holds: derived, zero or refused where something is left out."""
    if "position" not in fields:
        raise FileError("no position (x, y, z)")
    time = fields.get("time")
    if time is None:
        return Motion(**fields)
    check_time(time, where)
    given = [name for name in fields if name not in ("time", "position", "rotation")]
    if not given and time.size > 1:
        check_time(time, where, strictly=True)
        poses = {name: value for name, value in fields.items() if name != "time"}
        return Motion.from_samples(time, **poses).replace(**poses)
    for chain in DERIVATIVES if given else ():
        missing = [name for name in chain if name not in fields]
        if 0 < len(missing) < len(chain):
            columns = ", ".join(_columns(missing[0], 1))
            raise FileError(
                f"time and {given[0]}, but no {missing[0]} ({columns}): give all velocities "
                "and accelerations, or poses alone to have both from a spline"
            )
    motion = Motion(**fields)
    if given:
        check_rates(motion, where, digits)
    return motion


def check_time(time: Array, where: Where, strictly: bool = False) -> None:
    """Refuse times that are not finite or, along a single path, go back.

    Strictly: or stop, or have steps that are no machine's.
    """
    if not np.all(np.isfinite(time)):
        raise InputError(f"{where(int(np.argmin(np.isfinite(time))))}: time is not finite")
    for row in np.flatnonzero(np.abs(time) > LATEST)[:1] if strictly else ():
        raise InputError(f"{where(int(row))}: time is over {LATEST:g} s")
    steps = np.diff(time) if time.ndim == 1 else np.zeros(0)
    wrong = np.flatnonzero(steps <= 0 if strictly else steps < 0)
    if wrong.size:
        i = int(wrong[0]) + 1
        fact = "decreases" if steps[i - 1] < 0 else "stands still"
        raise InputError(f"{where(i)}: time {fact}, from {time[i - 1]:.12g} to {time[i]:.12g} s")
    for row in np.flatnonzero(steps < SHORTEST_STEP)[:1] if strictly else ():
        raise InputError(f"{where(int(row) + 1)}: a time step below {SHORTEST_STEP:g} s")


def _numbers(
    table: ColumnTable, robot: Model | None, smooth: bool | float, say: Say
) -> tuple[Array, RoundedPoses | None]:
    """Return the numbers of a table, and poses over time as they are rounded if they tell the rates."""
    names = _names(table)
    numbers = table.numbers(names)
    poses = [*POSE, *QUANTITIES["rotation"].columns]
    if "time" not in names or not {*names} <= {"time", *poses} or len(numbers) < 2:
        if smooth:
            raise FileError(
                "smooth is about time and poses alone: leave velocities and accelerations out"
            )
        return numbers, None
    time = numbers[:, names.index("time")]
    check_time(time, table.where, strictly=True)
    which = [i for i, name in enumerate(names) if name != "time"]
    own = [names[i] for i in which]
    digits = table.resolutions(own)
    _without_jumps(numbers, names)
    if not smooth:
        given = dict(zip(own, zip(numbers[:, which].T, digits, strict=True), strict=True))
        angles = {
            name: (2 * given[q][0], 2 * given[q][1]) for name, q in TWICE.items() if q in given
        }
        none = np.zeros(len(numbers)), 0.0
        columns = [(given | angles).get(name, none) for name in POSE]
        values, last = zip(*columns, strict=True)
        double = np.spacing(np.abs(time).max())  # of stamps that count from 1970
        stamp = max(float(table.last_digits(["time"])[0]), float(double))
        coordinates = np.stack(values, axis=-1)
        return numbers, RoundedPoses(time, stamp, coordinates, np.array(last), table.where)
    bounds = digits / 2
    if smooth is not True:
        reach, size = _distance(smooth), 1.0 if robot is None else robot.length_scale
        angle = reach / size
        bounds = np.array(
            [reach if name in AXES else angle / (2 if name.startswith("q") else 1) for name in own]
        )
    whole = numbers.copy()
    turned = [i for i, name in enumerate(own) if name in ROTATION_VECTOR]
    if np.abs(np.diff(numbers[:, which], axis=0)[:, turned]).max(initial=0.0) > LARGEST_STEP:
        raise FileError("smooth: rx, ry, rz jump past half a turn; give qw, qx, qy, qz")
    whole[:, which] = smoothed(time, numbers[:, which], bounds)
    four = [names.index(name) for name in QUANTITIES["rotation"].columns if name in names]
    if len(four) == 4:
        unit_quaternions(numbers[:, four], table.where)  # smoothed ones have no last digit
        whole[:, four] /= np.linalg.norm(whole[:, four], axis=-1, keepdims=True)
    _say_smoothed(own, numbers[:, which], np.abs(whole - numbers)[:, which], say)
    return whole, None


def _check_units(table: ColumnTable, columns: Columns, numbers: Array, say: Say) -> None:
    """Refuse numbers without a unit that may as well be in another."""
    values = dict(zip(_names(table), numbers.T, strict=True))
    angles = {name: values[name] for name in ROTATION_VECTOR if name in values}
    check_angle_units(table, columns, angles, say)
    if "time" in values:
        moving = [
            ARM * value if name not in AXES else value
            for name, value in values.items()
            if name in MOVING
        ]
        check_time_unit(table, values["time"], np.stack(moving, axis=-1) if moving else None)


def _without_jumps(numbers: Array, names: list[str]) -> None:
    """Make quaternions of continuous sign, in place: q and −q are one rotation."""
    four = [names.index(one) for one in QUANTITIES["rotation"].columns if one in names]
    if len(four) == 4:
        values = numbers[:, four]
        back = np.sum(values[1:] * values[:-1], axis=-1) < 0
        numbers[1:, four] *= np.cumprod(np.where(back, -1.0, 1.0))[:, np.newaxis]


def _smooth_fields(
    fields: dict[str, Array], where: Where, distance: float, robot: Model | None, say: Say
) -> None:
    """Make poses over time the smoothest within a distance, in place."""
    time = fields.get("time")
    if time is None or time.ndim != 1 or {*fields} - {"time", "position", "rotation"}:
        raise FileError(
            "smooth is about time and poses alone: leave velocities and accelerations out"
        )
    check_time(time, where, strictly=True)
    fields["position"] = smoothed(time, fields["position"], np.full(3, distance))
    if "rotation" in fields:
        Motion(fields["position"], fields["rotation"])  # refuses what are no rotations
        turn = continuous_quaternions(fields["rotation"])
        angle = distance / (1.0 if robot is None else robot.length_scale)
        fields["rotation"] = Rotation.from_quat(
            smoothed(time, turn, np.full(4, angle / 2))
        ).as_matrix()
    say(f"poses smoothed within {distance:g} m")


def _distance(smooth: bool | float) -> float:
    """Return the distance within which poses are smoothed, m."""
    if smooth is True:
        raise FileError("NetCDF numbers have no last digit: smooth needs a distance in m")
    if not (np.isfinite(smooth) and smooth > 0):
        raise InputError(f"smooth is {smooth!r}, needs True or a distance in m over 0")
    return float(smooth)


def _say_smoothed(names: list[str], values: Array, changes: Array, say: Say) -> None:
    """Say by how much columns were changed by smoothing, and which were left as they are."""
    units = {
        name: " m" if name in AXES else "" if name.startswith("q") else " rad" for name in names
    }
    most = dict(zip(names, changes.max(axis=0), strict=True))
    told = [f"{name} by up to {one:.2g}{units[name]}" for name, one in most.items() if one > 0]
    moving = dict(zip(names, np.ptp(values, axis=0) > 0, strict=True))
    left = [name for name in names if moving[name] and not most[name]]
    line = f"poses smoothed: {', '.join(told) or 'no change'}"
    if left:
        line += (
            f"; {', '.join(left)} left as they are: no smooth curve is that near. Time stamps may be "
            "rounded, too, or poses repeat; --within takes a distance in m (smooth=1e-4)"
        )
    say(line)


def _read_csv(found: ColumnTable, table: Array) -> tuple[dict[str, Array], Where]:
    names, where = _names(found), found.where
    modes = max((int(m[1]) for name in names if (m := ELASTIC_COLUMN.fullmatch(name))), default=0)
    wanted = {field: _columns(field, modes) for field in QUANTITIES}
    wanted["rotation vector"] = [*ROTATION_VECTOR]
    fields = {}
    for field, columns in wanted.items():
        missing = [name for name in columns if name not in names]
        if 0 < len(missing) < len(columns):
            raise FileError(f"column {missing[0]} is missing, others of the {field} are there")
        if columns and not missing:
            fields[field] = table[:, [names.index(name) for name in columns]]
    if "time" in fields:
        fields["time"] = fields["time"][:, 0]
    vectors = fields.get("rotation vector")
    if "rotation" in fields:
        if vectors is not None:
            raise FileError("qw, qx, qy, qz and rx, ry, rz both give the rotation")
        quaternions = unit_quaternions(fields["rotation"], where)
        fields["rotation"] = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
    elif vectors is not None:
        fields["rotation"] = Rotation.from_rotvec(vectors).as_matrix()
    return fields, where


def _known(table: ColumnTable, columns: Columns) -> dict[str, str]:
    """Names that a motion's columns may have, with their units; elastic ones that are there."""
    meant = [split_heading(name)[0] for name in columns.names.values()]
    elastic = [name for name in (*table.units, *meant) if ELASTIC_COLUMN.fullmatch(name)]
    return UNITS | dict.fromkeys(elastic, "")


def _names(table: ColumnTable) -> list[str]:
    """Return the column names of a table, all known, without those of standard deviations."""
    names = [name for name in table.units if name not in DEVIATIONS]
    for name in names:
        if name not in table.scales:
            near = nearest(name, (*UNITS, "e1"))
            raise FileError(f"unknown column {shown(name)}; the nearest known is {near}")
    return names


class _ReadOnce(io.BytesIO):
    """The bytes of a NetCDF file, whose variables must not lie on top of each other."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.left, self.entries = 2 * len(data), MOST_ENTRIES

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.left, self.entries = self.left - len(found), self.entries - 1
        if self.left < 0:
            raise FileError("its variables hold more than the file")
        if self.entries < 0:
            raise FileError(f"its header has over {MOST_ENTRIES} entries")
        return found


def read_dataset(data: bytes) -> xarray.Dataset:
    """The labelled dataset in a NetCDF-3 file's bytes."""
    import xarray

    if not data.startswith(b"CDF"):
        four = ", but NetCDF-4: save it as NetCDF-3" if data.startswith(b"\x89HDF") else ""
        raise FileError(f"not a NetCDF-3 file{four}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = xarray.load_dataset(_ReadOnce(data), engine="scipy", decode_cf=False)
            for name, variable in raw.variables.items():
                _check_variable(str(name), variable)
            return xarray.decode_cf(raw, decode_times=False).load()
    except FileError:
        raise
    except Exception as error:  # a broken file can trip the parser anywhere
        raise FileError(f"a broken NetCDF file ({type(error).__name__}: {error})") from None


def _check_variable(name: str, variable: xarray.Variable) -> None:
    """Refuse what would trip, or take hours."""
    encoding = str(variable.attrs.get("_Encoding", ENCODINGS[0]))
    if encoding.lower() not in ENCODINGS:
        known = ", ".join(ENCODINGS)
        raise FileError(
            f"variable {shown(name)} has texts in {shown(encoding)}, which is none of {known}"
        )
    if len({*variable.dims}) < variable.ndim:
        raise FileError(f"variable {shown(name)} has the same dimension twice")


def _read_netcdf(data: bytes, columns: Columns, say: Say) -> tuple[dict[str, Array], Where]:
    dataset = columns.renamed(read_dataset(data), QUANTITIES)
    for name in map(str, dataset.variables):
        if name not in QUANTITIES and name not in dataset.sizes:
            near = nearest(name, QUANTITIES)
            raise FileError(f"unknown variable {shown(name)}; the nearest known is {near}")
    for dim in MATRIX:
        if dim in dataset.coords and [str(label) for label in dataset[dim].values] != [*AXES]:
            raise FileError(f"dimension {dim} is not x, y, z")
    batch = [dim for dim in dataset.get("position", dataset).dims if dim not in LABELS]
    fields = {}
    for name in (name for name in QUANTITIES if name in dataset.variables):
        variable, dims = dataset[name], (*batch, *QUANTITIES[name].dims)
        if {*variable.dims} != {*dims} or variable.dtype.kind not in "fiu":
            has, needs = (f"({', '.join(map(str, one))})" for one in (variable.dims, dims))
            raise FileError(f"{name} holds {variable.dtype} over {has}, needs numbers over {needs}")
        fields[name] = columns.in_si(variable.transpose(*dims), QUANTITIES[name].unit, say)
    return fields, lambda sample: f"sample {sample}"
