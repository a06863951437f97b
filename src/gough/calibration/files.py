"""Measured poses as files, CSV or NetCDF.

A row is a pose of the machine. Columns, with units as in all tables (`x [mm]`, `rz_deg`), of

- how the legs stood: `q1` …, as encoders read them, or `commanded_x` …, `commanded_rx` … (or
  `commanded_qw` …; of a platform that moves in fewer than six directions its own coordinates), the poses
  that a controller with the robot file as drawn was told to take;
- what was seen in the tracker's frame, all or some: `x`, `y`, `z`, and `rx`, `ry`, `rz` (a rotation
  vector) or `qw` … `qz`; or `distance`, from a ball on the ground to one on the platform; or
  `relative_x` … `relative_rz` (or `relative_qw` …), the pose seen from the target in the first row;
- `tracker`, `target`: which one it was, 1, 2, …; without them there is one of each.

In NetCDF these are variables over the samples, `q` with a second dimension `actuator`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.rotations import unit_quaternions
from gough.base.tables import Where, read_bytes, read_table
from gough.base.words import nearest, shown
from gough.calibration.measurements import COLUMNS, PoseMeasurements
from gough.data.columns import AS_THEY_ARE, Columns, Say, silent
from gough.data.datasets import heading, kind_of, write_table
from gough.data.motion_files import POSE, read_dataset
from gough.data.plausibility import check_stroke
from gough.errors import FileError, GoughError
from gough.model.model import Model
from gough.motion import Motion

QUATERNION = ("qw", "qx", "qy", "qz")
SEEN, COMMANDED, RELATIVE = "", "commanded_", "relative_"
WHICH = ("tracker", "target")


def read_poses(
    robot: Model,
    path: str | os.PathLike[str],
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
) -> PoseMeasurements:
    """Measured poses of a robot from a .csv or .nc file; see the module for its columns.

    Args:
        robot: as drawn.
        path: of the file.
        columns: what the file calls its columns, and their units.
        say: told what was taken as what.

    """
    path = Path(path)
    try:
        with np.errstate(all="ignore"):
            values, where = _numbers(robot, path, columns, say)
            return _measured(robot, values, where)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def write_poses(robot: Model, measured: PoseMeasurements, path: str | os.PathLike[str]) -> None:
    """Write measurements as .csv, whole or not at all; commanded poses must be those of `near`."""
    table: dict[str, Array] = {}
    if measured.commanded and measured.near is not None:
        turn = Rotation.from_matrix(measured.near.rotation).as_rotvec()
        for name, value in zip(POSE, np.hstack([measured.near.position, turn]).T, strict=True):
            table[heading(COMMANDED + name, _unit(name))] = value
    else:
        for i, one in enumerate(robot.actuators):
            table[heading(f"q{i + 1}", one.units.q)] = measured.q[:, i]
    related = measured.relative >= 0
    known = np.isfinite(measured.seen)
    if np.any(related):
        known[np.unique(measured.relative[related])] = True  # where the others start: zeros
    if np.any(np.isfinite(measured.seen).any(axis=0) & ~known.all(axis=0)):
        raise FileError(f"{path}: a table needs every column of what was measured in every row")
    prefix = RELATIVE if np.any(related) else SEEN
    for name, value in zip(COLUMNS, measured.seen.T, strict=True):
        if np.any(np.isfinite(value)):
            table[heading(prefix + name, _unit(name))] = np.nan_to_num(value)
    for name in WHICH:
        which = getattr(measured, name)
        if np.any(which):
            table[name] = which + 1.0
    if kind_of(path) != ".csv":
        raise FileError(f"{path}: poses are written as .csv")
    write_table(table, path)


def _unit(name: str) -> str:
    return "rad" if name in POSE[3:] else "m"


def _known(robot: Model) -> dict[str, str]:
    """Names that columns may have, with their units."""
    known = {f"q{i + 1}": one.units.q for i, one in enumerate(robot.actuators)}
    for prefix in (SEEN, COMMANDED, RELATIVE):
        known |= {prefix + name: _unit(name) for name in POSE}
        known |= dict.fromkeys((prefix + name for name in QUATERNION), "")
    return known | {"distance": "m"} | dict.fromkeys(WHICH, "")


def _numbers(
    robot: Model, path: Path, columns: Columns, say: Say
) -> tuple[dict[str, Array], Where]:
    """All columns (n,) by name, SI units."""
    known, data = _known(robot), read_bytes(path)
    if kind_of(path) == ".csv":
        table = columns.applied(read_table(data), known, say)
        _refuse_unknown([*table.units], known)
        names = [name for name in table.units if name in known]
        whole = table.numbers(names)
        return dict(zip(names, whole.T, strict=True)), table.where
    dataset = columns.renamed(read_dataset(data), [*known, "q"])
    found: dict[str, Array] = {}
    names = [str(name) for name in dataset.data_vars if name != "time"]
    _refuse_unknown([name for name in names if name != "q"], known)
    for name in names:
        variable = dataset[name]
        if variable.dtype.kind not in "fiu" or variable.ndim != 1 + (name == "q"):
            raise FileError(f"variable {name} needs numbers, one per sample")
        if name != "q":
            found[name] = columns.in_si(variable, known[name], say)
            continue
        variable = variable.transpose(..., "actuator") if "actuator" in variable.dims else variable
        if variable.shape[-1] != robot.actuator_count:
            raise FileError(
                f"q has {variable.shape[-1]} actuators, {robot.name} has {robot.actuator_count}"
            )
        units = ", ".join(one.units.q for one in robot.actuators)
        q = columns.in_si(variable, units, say)
        found |= {f"q{i + 1}": q[:, i] for i in range(q.shape[1])}
    for name, value in found.items():
        bad = np.flatnonzero(~np.isfinite(value))
        if bad.size:
            raise FileError(f"sample {bad[0]}, variable {name}: {value[bad[0]]} is not finite")
    return found, lambda row: f"sample {row}"


def _refuse_unknown(names: Sequence[str], known: dict[str, str]) -> None:
    for name in names:
        if name not in known and name != "time":
            raise FileError(
                f"unknown column {shown(name)}; the nearest known is {nearest(name, known)}"
            )


def _measured(robot: Model, values: dict[str, Array], where: Where) -> PoseMeasurements:
    count = len(next(iter(values.values()))) if values else 0
    if not count:
        raise FileError("no samples")
    q, near = _legs(robot, values, where)
    seen = np.full((count, len(COLUMNS)), np.nan)
    relative = np.full(count, -1)
    absolute = [name for name in (*POSE, *QUATERNION, "distance") if name in values]
    related = [name for name in (*POSE, *QUATERNION) if RELATIVE + name in values]
    if absolute and related:
        raise FileError(
            f"{absolute[0]} and {RELATIVE}{related[0]}: poses are relative or they are not"
        )
    if not absolute and not related:
        raise FileError(
            "nothing was measured: no x, y, z, rx, ry, rz, qw …, distance or relative_x …"
        )
    _take(seen, values, RELATIVE if related else SEEN, where)
    if related:
        relative[1:] = 0
        seen[0] = np.nan
        if count < 2:
            raise FileError("relative poses need a first row, which the others are relative to")
    if "distance" in values:
        seen[:, 6] = values["distance"]
    tracker, target = (_which(values, name, where) for name in WHICH)
    commanded = near is not None
    return PoseMeasurements(q, seen, tracker, target, relative, commanded, near, where)


def _take(seen: Array, values: dict[str, Array], prefix: str, where: Where) -> None:
    """Position and rotation into columns of what was seen."""
    for i, name in enumerate(POSE):
        if prefix + name in values:
            seen[:, i] = values[prefix + name]
    rotation = _quaternion(values, prefix, where)
    if rotation is not None:
        seen[:, 3:6] = rotation.as_rotvec()


def _quaternion(values: dict[str, Array], prefix: str, where: Where) -> Rotation | None:
    """The rotations of quaternions, if there are any."""
    given = [prefix + name for name in QUATERNION if prefix + name in values]
    if not given:
        return None
    missing = [prefix + name for name in QUATERNION if prefix + name not in values]
    if missing:
        raise FileError(f"column {missing[0]} is missing, {given[0]} is there")
    vectors = [prefix + name for name in POSE[3:] if prefix + name in values]
    if vectors:
        raise FileError(f"{given[0]} and {vectors[0]} both give the rotation")
    four = np.stack([values[prefix + name] for name in QUATERNION], axis=1)
    four = unit_quaternions(four, where)
    return Rotation.from_quat(four[:, [1, 2, 3, 0]])


def _legs(robot: Model, values: dict[str, Array], where: Where) -> tuple[Array, Motion | None]:
    """Coordinates of the legs, and poses that were commanded."""
    names = [f"q{i + 1}" for i in range(robot.actuator_count)]
    missing = [name for name in names if name not in values]
    commanded = [name for name in values if name.startswith(COMMANDED)]
    if commanded and len(missing) < len(names):
        raise FileError(f"{commanded[0]} and q: legs were commanded or measured")
    if not commanded:
        if missing:
            raise FileError(
                f"column {missing[0]} is missing: needs q1 … q{len(names)}, or commanded_x …"
            )
        q = np.stack([values[name] for name in names], axis=1)
        check_stroke(robot, q, where)
        return q, None
    near = _commanded(robot, values, where)
    legs = robot.inverse_kinematics(near, on_error="nan")
    bad = np.flatnonzero(~np.isfinite(legs.q).all(axis=1))
    if bad.size:
        raise FileError(f"{where(int(bad[0]))}: {robot.name} cannot take the pose commanded")
    return legs.q, near


def _commanded(robot: Model, values: dict[str, Array], where: Where) -> Motion:
    own = [COMMANDED + name for name in robot.coordinates]
    given = {name for name in values if name.startswith(COMMANDED)}
    if robot.mobility < len(POSE) and given == {*own}:
        return robot.motion(np.stack([values[name] for name in own], axis=1), on_error="nan")
    missing = [name for name in POSE[:3] if COMMANDED + name not in values]
    if missing:
        raise FileError(f"column {COMMANDED}{missing[0]} is missing")
    position = np.stack([values[COMMANDED + name] for name in POSE[:3]], axis=1)
    rotation = _quaternion(values, COMMANDED, where)
    turns = [name for name in POSE[3:] if COMMANDED + name in values]
    if rotation is None and turns:
        if len(turns) < 3:
            raise FileError(f"{COMMANDED}{turns[0]}: the commanded rotation needs rx, ry and rz")
        vector = np.stack([values[COMMANDED + name] for name in POSE[3:]], axis=1)
        rotation = Rotation.from_rotvec(vector)
    turned = np.tile(np.eye(3), (len(position), 1, 1)) if rotation is None else rotation.as_matrix()
    return Motion(position, turned)


def _which(values: dict[str, Array], name: str, where: Where) -> Array:
    """Numbers from 0 of trackers or targets; none if the file does not tell."""
    if name not in values:
        return np.zeros(0)
    numbers = values[name]
    wrong = np.flatnonzero((numbers != np.round(numbers)) | (numbers < 1) | (numbers > 1000))
    if wrong.size:
        row = int(wrong[0])
        raise FileError(f"{where(row)}: {name} is {numbers[row]:g}, needs 1, 2, …")
    found = np.unique(numbers, return_inverse=True)[1]
    return np.asarray(found)
