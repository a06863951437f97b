"""Motions and results as files: CSV for exchange, NetCDF for everything.

Names carry units and what does not fit is refused: an unknown column, another unit, a cell that is
no number. Both kinds may leave things out:

- no rotation: the platform keeps the world's axes;
- no time: twists and accelerations left out are zero, as in `Motion`;
- time and poses alone: twist and acceleration are those of the spline through the poses
  (`Motion.from_samples`), zero for a single sample;
- time and some twists or accelerations: then all of them, for nothing says what the others are.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.errors import FileError, GoughError, InputError
from gough.files import replacing
from gough.motion import ELASTIC_FIELDS, Array, Motion

if TYPE_CHECKING:
    import xarray

    from gough.robot import LegMotion, Robot

LARGEST = 200_000_000
"""Largest file that is read, bytes."""
KINDS = (".csv", ".nc")
UNIT_LENGTH = 1e-6
"""How far a quaternion's length may be from 1."""
AXES = ("x", "y", "z")


class Quantity(NamedTuple):
    """One field of a motion as files name it."""

    columns: tuple[str, ...]
    """Names of its CSV columns, elastic fields: what follows e1, e2, …"""
    unit: str
    """Empty for elastic fields: it depends on how the mode shapes are scaled."""
    dims: tuple[str, ...]
    """Its own NetCDF dimensions, behind those of the batch."""
    meaning: str


QUANTITIES = {
    "time": Quantity(("time",), "s", (), "time"),
    "position": Quantity(AXES, "m", ("axis",), "position of the platform frame's origin, world"),
    "rotation": Quantity(
        ("qw", "qx", "qy", "qz"), "", ("axis", "platform_axis"), "rotation from platform to world"
    ),
    "velocity": Quantity(("vx", "vy", "vz"), "m/s", ("axis",), "velocity of the origin, world"),
    "angular_velocity": Quantity(
        ("wx", "wy", "wz"), "rad/s", ("axis",), "angular velocity of the platform, world"
    ),
    "acceleration": Quantity(
        ("ax", "ay", "az"), "m/s2", ("axis",), "acceleration of the origin, world"
    ),
    "angular_acceleration": Quantity(
        ("alpha_x", "alpha_y", "alpha_z"), "rad/s2", ("axis",), "angular acceleration, world"
    ),
    "elastic": Quantity(("",), "", ("mode",), "modal coordinates"),
    "elastic_velocity": Quantity(("_rate",), "", ("mode",), "rates of the modal coordinates"),
    "elastic_acceleration": Quantity(
        ("_acceleration",), "", ("mode",), "accelerations of the modal coordinates"
    ),
}
ROTATION_VECTOR = ("rx", "ry", "rz")
CHAINS = (
    ("position", "velocity", "acceleration"),
    ("rotation", "angular_velocity", "angular_acceleration"),
    ELASTIC_FIELDS,
)
"""Fields and their time derivatives."""
RIGID_UNITS = {
    column: quantity.unit
    for name, quantity in QUANTITIES.items()
    if name not in ELASTIC_FIELDS
    for column in quantity.columns
} | dict.fromkeys(ROTATION_VECTOR, "rad")
ELASTIC_COLUMN = re.compile(r"e([1-9][0-9]{0,3})(_rate|_acceleration)?")
HEADING = re.compile(r"([^\[\]]*?)\s*(?:\[([^\[\]]*)\])?")
LABELS = ("leg", "joint", "axis", "platform_axis", "mode")
"""Dimensions of a dataset that are not the batch's."""

Where = Callable[[int], str]


def read_motion(path: str | os.PathLike[str]) -> Motion:
    """Motion from a .csv or .nc file; see the module for what the file may leave out.

    CSV: one header line, columns in any order, a unit in brackets optional but then the right one:
    `time [s]`, `x [m]` …, `qw` … `qz` (length 1 within 1e-6) or the rotation vector `rx [rad]` …,
    `vx [m/s]` …, `wx [rad/s]` …, `ax [m/s2]` …, `alpha_x [rad/s2]` …, `e1` …, `e1_rate` …,
    `e1_acceleration` …. The batch shape is (rows,), all numbers are finite.
    NetCDF: variables named as Motion's fields, as `write_motion` writes them, of any batch shape.
    A sample without an answer (NaN) stays one; its time must be finite.
    """
    path = Path(path)
    read = {".csv": _read_csv, ".nc": _read_netcdf}[_kind(path)]
    try:
        return _complete(*read(_bytes(path)))
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def write_motion(motion: Motion, path: str | os.PathLike[str]) -> None:
    """Write a motion as .csv or .nc, whole or not at all.

    CSV takes batch shapes (n,) and, as one row, () and finite numbers only; they come back exactly,
    the rotation (a unit quaternion) to 1e-15. NetCDF takes every batch shape and NaN, all exactly.
    """
    kind = _kind(path)
    if 0 in motion.shape:
        raise InputError(f"motion of batch shape {motion.shape}: no samples to write")
    if motion.time is not None:
        _check_time(motion.time, lambda sample: f"motion, sample {sample}")
    if kind == ".nc":
        write_dataset(motion_dataset(motion), path)
        return
    if len(motion.shape) > 1:
        raise InputError(f"motion of batch shape {motion.shape}: CSV holds (n,), use .nc")
    columns: dict[str, Array] = {}
    for name, quantity in QUANTITIES.items():
        value = getattr(motion, name)
        if value is None or value.shape[-1:] == (0,):
            continue
        bad = np.argwhere(~np.isfinite(value))
        if bad.size:
            sample = f" of sample {bad[0][0]}" if motion.shape else ""
            raise InputError(f"motion: {name}{sample} is not finite, and CSV cannot hold it; use .nc")
        if name == "rotation":
            x, y, z, w = np.moveaxis(Rotation.from_matrix(value).as_quat(canonical=True), -1, 0)
            value = np.stack([w, x, y, z], axis=-1)
        names = _column_names(name, motion.modes)
        columns |= {
            _heading(column, quantity.unit): one
            for column, one in zip(names, value.reshape(-1, len(names)).T, strict=True)
        }
    _write_table(columns, path)


def motion_dataset(motion: Motion) -> xarray.Dataset:
    """A motion as a labelled dataset: one variable a field, with units."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    variables = {}
    for name, quantity in QUANTITIES.items():
        if name != "time" and (motion.modes or name not in ELASTIC_FIELDS):
            attributes = _attributes(quantity.unit, quantity.meaning)
            variables[name] = ((*dims, *quantity.dims), getattr(motion, name), attributes)
    coordinates |= {"axis": list(AXES), "platform_axis": list(AXES)}
    if motion.modes:
        coordinates["mode"] = np.arange(1, motion.modes + 1)
    return xarray.Dataset(variables, coordinates, {"title": "platform motion"})


def batch_coordinates(motion: Motion) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Dimensions and coordinates of a motion's batch, for datasets of what is computed from it.

    The dimension is `time` if the motion is timed and of shape (n,), else `sample_0`, …; other
    timed motions have their times as a coordinate along those.
    """
    timed = motion.time is not None
    if timed and len(motion.shape) == 1:
        dims: tuple[str, ...] = ("time",)
    else:
        dims = tuple(f"sample_{i}" for i in range(len(motion.shape)))
    return dims, {"time": (dims, motion.time, _attributes("s", "time"))} if timed else {}


def leg_dataset(robot: Robot, motion: Motion, legs: LegMotion) -> xarray.Dataset:
    """What the legs do (`robot.inverse_kinematics(motion)`) as a labelled dataset.

    Dimensions: the batch's (`batch_coordinates`), `leg` 1 to n, `joint` (UPS q1, q2, q3; PUS lambda,
    phi1, phi2), `axis` x, y, z of the world. Where units differ along `joint`, they are listed.
    """
    import xarray

    if legs.q.shape != (*motion.shape, robot.leg_count):
        raise InputError(
            f"legs has q of shape {legs.q.shape}, needs {(*motion.shape, robot.leg_count)}"
        )
    dims, coordinates = batch_coordinates(motion)
    dims = (*dims, "leg")
    joints = robot.equations.JOINTS
    units = ["m" if i == robot.equations.ACTUATED else "rad" for i in range(len(joints))]

    def of_joints(value: Array, rate: str, meaning: str) -> Any:
        listed = ", ".join(f"{unit}{rate}" for unit in units)
        return (*dims, "joint"), value, _attributes(listed, meaning)

    def of_axes(value: Array, unit: str, meaning: str) -> Any:
        return (*dims, "axis"), value, _attributes(unit, f"{meaning}, world axes")

    variables = {
        "q": (dims, legs.q, _attributes("m", "actuated coordinate")),
        "q_rate": (dims, legs.qd, _attributes("m/s", "actuated rate")),
        "q_acceleration": (dims, legs.qdd, _attributes("m/s2", "actuated acceleration")),
        "joint_coordinate": of_joints(legs.joints, "", "joint coordinate"),
        "joint_rate": of_joints(legs.joint_rates, "/s", "joint rate"),
        "joint_acceleration": of_joints(legs.joint_accelerations, "/s2", "joint acceleration"),
        "direction": of_axes(legs.direction, "1", "unit vector, universal to spherical joint"),
        "link_angular_velocity": of_axes(
            legs.link_angular_velocity, "rad/s", "angular velocity of the link"
        ),
        "link_angular_acceleration": of_axes(
            legs.link_angular_acceleration, "rad/s2", "angular acceleration of the link"
        ),
    }
    coordinates |= {
        "leg": np.arange(1, robot.leg_count + 1),
        "joint": list(joints),
        "axis": list(AXES),
    }
    return xarray.Dataset(variables, coordinates, {"title": f"legs of {robot.name}"})


def write_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as .nc, or as .csv with one row a sample, whole or not at all.

    CSV: one dimension may be the batch's, the others are `leg`, `joint`, `axis`, `platform_axis` or
    `mode`. The leg's number follows the variable's first word and the other labels its last:
    `q_rate` of leg 1 in m/s is `q1_rate [m/s]`, `reaction` of leg 2 along x `reaction2_x [N]`.
    """
    if _kind(path) == ".nc":
        with _writing(path) as temporary:
            dataset.to_netcdf(temporary, engine="scipy")
        return
    batch = [str(dim) for dim in dataset.sizes if dim not in LABELS]
    if len(batch) > 1:
        raise InputError(f"dataset: CSV holds one batch dimension, not {', '.join(batch)}; use .nc")
    rows = dataset.sizes[batch[0]] if batch else 1
    columns: dict[str, Any] = {}
    for name in (*batch, *(set(dataset.coords) - set(dataset.sizes)), *dataset.data_vars):
        variable = dataset[name]
        labels = [dim for dim in variable.dims if dim in LABELS]
        for place in itertools.product(*(range(variable.sizes[dim]) for dim in labels)):
            chosen = dict(zip(labels, place, strict=True))
            column = _flat_name(str(name), variable, chosen)
            columns[column] = np.broadcast_to(variable.isel(chosen).values, (rows,))
    _write_table(columns, path)


def _flat_name(name: str, variable: xarray.DataArray, chosen: Mapping[Any, int]) -> str:
    """Name of the CSV column with one label chosen along each labelled dimension."""
    for dim, place in chosen.items():
        label = variable[dim].values[place]
        if dim == "leg":
            first, *rest = name.split("_", 1)
            name = "_".join([f"{first}{label}", *rest])
        else:
            name += f"_{label}"
    unit = str(variable.attrs.get("units", ""))
    if "joint" in chosen and ", " in unit:
        unit = unit.split(", ")[chosen["joint"]]
    return _heading(name, unit.removeprefix("1") if unit == "1" else unit)


def _heading(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _attributes(unit: str, meaning: str) -> dict[str, str]:
    return {"units": unit, "long_name": meaning} if unit else {"long_name": meaning}


def _column_names(field: str, modes: int) -> tuple[str, ...]:
    """CSV columns of a field."""
    columns = QUANTITIES[field].columns
    if field in ELASTIC_FIELDS:
        return tuple(f"e{i + 1}{columns[0]}" for i in range(modes))
    return columns


def _write_table(columns: Mapping[str, Array], path: str | os.PathLike[str]) -> None:
    """CSV of equally long columns; every number with the digits that bring it back exactly."""
    with (
        _writing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


@contextlib.contextmanager
def _writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


def _kind(path: str | os.PathLike[str]) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: the name must end in {' or '.join(KINDS)}")
    return kind


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise FileError(f"{size / 1e6:.0f} MB; at most {LARGEST / 1e6:.0f} MB are read")
        data = path.read_bytes()
    except OSError as error:
        raise FileError(str(error.strerror)) from None
    if not data.strip():
        raise FileError("the file is empty")
    return data


def _complete(fields: dict[str, Array], where: Where) -> Motion:
    """The motion of what a file holds: derived, zero or refused where something is left out."""
    if "position" not in fields:
        raise FileError("no position (x, y, z)")
    time = fields.get("time")
    if time is None:
        return Motion(**fields)
    _check_time(time, where)
    rates = [name for _, *derivatives in CHAINS for name in derivatives if name in fields]
    if not rates and "elastic" not in fields:
        if time.size == 1:
            return Motion(**fields)
        if time.ndim > 1:
            raise FileError(
                f"no velocity, and a batch of shape {time.shape} is no single path to derive it from"
            )
        _check_time(time, where, strictly=True)
        poses = {name: value for name, value in fields.items() if name in ("position", "rotation")}
        return Motion.from_samples(time, **poses).replace(**poses)
    for chain in CHAINS:
        missing = [name for name in chain if name not in fields]
        if 0 < len(missing) < len(chain):
            columns = ", ".join(_column_names(missing[0], 1))
            cure = "" if "elastic" in fields else ", or poses alone: their spline then gives the rest"
            raise FileError(
                f"time and {(rates or ['elastic'])[0]}, but no {missing[0]} ({columns}): give twist "
                f"and acceleration in full{cure}"
            )
    return Motion(**fields)


def _check_time(time: Array, where: Where, strictly: bool = False) -> None:
    if not np.all(np.isfinite(time)):
        raise FileError(f"{where(int(np.argmax(~np.isfinite(time))))}: time is not finite")
    if time.ndim == 1:
        steps = np.diff(time)
        wrong = np.flatnonzero(steps <= 0 if strictly else steps < 0)
        if wrong.size:
            i = int(wrong[0]) + 1
            fact = "decreases" if steps[i - 1] < 0 else "stands still"
            raise FileError(f"{where(i)}: time {fact}, {time[i - 1]:.12g} s to {time[i]:.12g} s")


def _read_csv(data: bytes) -> tuple[dict[str, Array], Where]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"not a text file (byte {error.start} is not UTF-8)") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    numbers = [i for i, line in enumerate(lines, 1) if line.strip()]
    names = _names(lines[numbers[0] - 1])
    numbers = numbers[1:]
    if not numbers:
        raise FileError("no samples below the header")
    table = _table([lines[i - 1] for i in numbers], names, lambda row: f"line {numbers[row]}")

    def where(row: int) -> str:
        return f"line {numbers[row]}"

    place = {name: i for i, name in enumerate(names)}
    modes = max([int(found[1]) for name in names if (found := ELASTIC_COLUMN.fullmatch(name))] + [0])
    wanted = {field: _column_names(field, modes) for field in QUANTITIES}
    wanted["rotation_vector"] = ROTATION_VECTOR
    fields = {}
    for field, columns in wanted.items():
        missing = [name for name in columns if name not in place]
        if len(missing) < len(columns):
            if missing:
                raise FileError(f"column {missing[0]} is missing beside its like")
            fields[field] = table[:, [place[name] for name in columns]]
    if "time" in fields:
        fields["time"] = fields["time"][:, 0]
    if "rotation" in fields and "rotation_vector" in fields:
        raise FileError("columns qw … qz and rx, ry, rz both give the rotation")
    if "rotation" in fields:
        fields["rotation"] = _from_quaternions(fields["rotation"], where)
    elif "rotation_vector" in fields:
        fields["rotation"] = Rotation.from_rotvec(fields.pop("rotation_vector")).as_matrix()
    return fields, where
