"""Tests of a machine's stiffness as CSV: poses, loads at the tool with deflections, or frequencies.

Columns: the pose as in motion files (`x [m]` … and a rotation, or the robot's own coordinates; none:
home), `fx [N]` … `mz [N m]` the load at the tool (those left out are 0), `dx [m]` `dy` `dz` and perhaps
`drx [rad]` … what the tool gives way by, all in world axes; or `f1 [Hz]`, `f2` … the lowest natural
frequencies, drives locked. Other units are converted as everywhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import ColumnTable, read_bytes, read_table
from gough.data.columns import AS_THEY_ARE, Columns, Say, silent
from gough.data.logs import known_columns, poses_of
from gough.data.motion_files import POSE
from gough.errors import FileError, GoughError
from gough.model.model import Model
from gough.motion import Motion

LOADS = {
    **{name: "N" for name in ("fx", "fy", "fz")},
    **{name: "N m" for name in ("mx", "my", "mz")},
}
MOVED = ("dx", "dy", "dz")
TURNED = ("drx", "dry", "drz")
FREQUENCY = re.compile(r"f([1-9][0-9]?)")


def read_stiffness_tests(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
) -> tuple[Motion, dict[str, Array]]:
    """Poses (n,) and what was measured there, by name.

    "load" (n, 6) with "deflection" (n, 3 or 6), or "frequencies" (n, k); SI units and Hz.
    """
    path = Path(path)
    try:
        table = read_table(read_bytes(path))
        tones = {name: "Hz" for name in _tones(table)}
        given = {**LOADS, **dict.fromkeys(MOVED, "m"), **dict.fromkeys(TURNED, "rad"), **tones}
        pose = {name: unit for name, unit in known_columns(robot).items() if name[0] in "xyzrq"}
        table = columns.applied(table, pose | given, say)
        rows = len(table.rows)
        poses = [name for name in table.units if name in POSE or name in ("qw", "qx", "qy", "qz")]
        motion = poses_of(robot, table, None) if poses else _at_home(robot, rows)
        return motion, _measured(table)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def _tones(table: ColumnTable) -> list[str]:
    """f1, f2 … that a table has, whatever unit follows."""
    return [name for name in (f"f{i}" for i in range(1, 100)) if _has(table, name)]


def _has(table: ColumnTable, name: str) -> bool:
    return any(one == name or one.startswith(f"{name}_") for one in table.units)


def _measured(table: ColumnTable) -> dict[str, Array]:
    """Loads and deflections, or frequencies."""
    tones = [name for name in table.units if FREQUENCY.fullmatch(name)]
    loads = [name for name in LOADS if name in table.units]
    moved = [name for name in (*MOVED, *TURNED) if name in table.units]
    if bool(tones) == bool(loads):
        raise FileError(
            "needs loads (fx, fy, fz, mx, my, mz) with deflections (dx, dy, dz), or natural "
            "frequencies (f1, f2, …), in a file of their own"
        )
    if tones:
        if sorted(tones) != sorted(f"f{i + 1}" for i in range(len(tones))):
            raise FileError(f"columns {', '.join(tones)}: frequencies are f1, f2 and so on")
        found = table.numbers([f"f{i + 1}" for i in range(len(tones))])
        bad = np.argwhere((found <= 0) | (np.diff(found, axis=1, prepend=0.0) < 0))
        if bad.size:
            row, column = (int(i) for i in bad[0])
            raise FileError(
                f"{table.where(row)}, column f{column + 1}: frequencies are positive and rise"
            )
        return {"frequencies": found}
    for wanted in (MOVED, TURNED):
        missing = [name for name in wanted if name not in moved]
        if missing and (wanted is MOVED or len(missing) < len(wanted)):
            raise FileError(f"column {missing[0]} is missing")
    load = np.zeros((len(table.rows), 6))
    load[:, [[*LOADS].index(name) for name in loads]] = table.numbers(loads)
    return {"load": load, "deflection": table.numbers(moved)}


def _at_home(robot: Model, rows: int) -> Motion:
    """Home, as often as there are rows."""
    home = robot.home
    return Motion(
        np.broadcast_to(home.position, (rows, 3)), np.broadcast_to(home.rotation, (rows, 3, 3))
    )
