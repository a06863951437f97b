"""Poses over time from a log of actuated coordinates: what encoders say of the platform.

The pose of every sample is that of forward kinematics, exactly; twist and acceleration follow from q̇ and
q̈ of the zero-phase filter (`gough.data.signals`). Columns as in `gough.data.logs`, without forces.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, given_numbers
from gough.base.tables import Where, read_bytes, read_table
from gough.data import signals
from gough.data.columns import AS_THEY_ARE, Columns, Say, silent
from gough.data.datasets import kind_of
from gough.data.encoder_faults import Mark, check_order, repaired, standing_still
from gough.data.leg_rates import poses_along, with_rates
from gough.data.logs import (
    COORDINATE,
    FORCE,
    LONGEST_GAP,
    columns_of,
    known_columns,
    read_variables,
)
from gough.data.motion_files import check_time
from gough.data.plausibility import check_fit, check_stroke
from gough.errors import FileError, GoughError, InputError, SampleError
from gough.model.model import Model
from gough.motion import Motion

FEWEST = 5
"""Samples of a log."""
SHORT = 50
"""Samples between gaps from which derivatives are filtered; of fewer they are differences."""


def _sample(row: int) -> str:
    return f"sample {row}"


@dataclass(frozen=True, eq=False)
class EncoderLog:
    """Times (n,) in s and actuated coordinates (n, actuators), m or rad."""

    time: Array
    q: Array
    where: Where = field(default=_sample, repr=False)
    """Place of a sample in the file, in words."""
    header: str = "log"
    forces: Array | None = None
    """(n, actuators), N or N m, if they were logged: they tell whether columns are swapped."""


@dataclass(frozen=True, eq=False)
class MeasuredMotion:
    """A motion that encoders measured, and what was found wrong with them."""

    motion: Motion
    """(n,) with time, at the log's samples."""
    q: Array
    """(n, actuators) that the poses have: offsets added, outliers taken out."""
    marks: tuple[Mark, ...]
    """Gaps, outliers and whole turns."""
    notes: tuple[str, ...]
    """What is odd and was left as it is."""
    cutoff: float
    """Of the filter of rates, Hz."""


def read_encoders(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
) -> EncoderLog:
    """A log with columns `time`, `q1` … and perhaps `force1` … from a .csv or .nc file.

    Other columns are passed over.

    Args:
        robot: the one that was logged.
        path: the file.
        columns: names and units of a file that has others.
        say: told what was converted.

    """
    path = Path(path)
    try:
        with np.errstate(all="ignore"):
            if kind_of(path) == ".nc":
                found = read_variables(robot, read_bytes(path), columns, say, ("time", "q"))
                forces = found.get("force")
                return EncoderLog(found["time"], found["q"], _sample, "variables", forces)
            table = columns.applied(read_table(read_bytes(path)), known_columns(robot), say)
            time = columns_of(table, ["time"])
            names = [COORDINATE.format(i + 1) for i in range(robot.actuator_count)]
            q = columns_of(table, names)
            if time is None or q is None:
                what = "time (column time)" if time is None else "coordinates (columns q1 …)"
                raise FileError(f"no {what}; has {', '.join(table.written.values())}"[:200])
            forces = columns_of(table, [FORCE.format(i + 1) for i in range(robot.actuator_count)])
            return EncoderLog(time[:, 0], q, table.where, "line 1", forces)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def measured_motion(
    robot: Model,
    log: EncoderLog,
    *,
    offset: ArrayLike = 0.0,
    cutoff: float | None = None,
    start: Motion | None = None,
) -> MeasuredMotion:
    """The platform's motion from a log of its actuators.

    Args:
        robot: the one that was logged; a flexible one counts as rigid.
        log: times and coordinates.
        offset: added to the coordinates, for all or (actuators,), m or rad: what encoders read 0 at.
        cutoff: of the zero-phase low-pass of the rates, Hz; 5 × the motion's band by default.
        start: a pose near the first one; without it the way there leads from home.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> path = gough.trajectories.Circle(robot.home.position, 0.1, rpm=40).sample(500)
        >>> log = EncoderLog(path.time, robot.inverse_kinematics(path).q)
        >>> found = measured_motion(robot, log)
        >>> bool(abs(found.motion.position - path.position).max() < 1e-9)
        True

    """
    robot = robot.rigid
    if robot.actuator_count < robot.mobility:
        robot.need_actuators()
    time, q, where = _checked(robot, log, offset)
    check_stroke(robot, q, where)
    steps = np.diff(time)
    usual = float(np.median(steps))
    gaps = np.concatenate([[False], steps > LONGEST_GAP * usual])
    q, marks = repaired(robot, q, gaps, where)
    marks += [
        Mark(
            int(row),
            None,
            "gap",
            f"{where(int(row))}: a gap of {steps[row - 1]:.3g} s before t = {time[row]:.6g} s "
            f"(usual step {usual:.3g} s)",
        )
        for row in np.flatnonzero(gaps)
    ]
    check_order(robot, q, where, log.header)
    qd, qdd, cutoff = _rates(time, q, gaps, cutoff)
    if log.forces is not None and len(time) >= SHORT:
        check_fit(robot, q, qd, qdd, np.asarray(log.forces, dtype=np.float64), log.header)
    try:
        poses = poses_along(robot, q, start)
    except SampleError as error:
        first = error.failures[0]
        row = first.sample[-1] if first.sample else 0
        raise InputError(f"{where(row)}: {first.reason}") from None
    motion = with_rates(robot, poses, qd, qdd)
    return MeasuredMotion(
        robot.remember(motion.replace(time=time), robot.chains_of(motion)),
        q,
        tuple(sorted(marks, key=lambda one: one.row)),
        tuple(standing_still(robot, q, where)),
        cutoff,
    )


def _checked(robot: Model, log: EncoderLog, offset: ArrayLike) -> tuple[Array, Array, Where]:
    """Times, coordinates with their offset, and where they are; finite, and of fitting shapes."""
    time, q = given_numbers("log: time", log.time), given_numbers("log: q", log.q)
    if time.ndim != 1 or q.shape != (len(time), robot.actuator_count):
        raise InputError(
            f"log: needs time (n,) and q (n, {robot.actuator_count}); has {time.shape}, {q.shape}"
        )
    if len(time) < FEWEST:
        raise InputError(f"{log.header}: {len(time)} samples, needs {FEWEST} or more")
    bad = np.argwhere(~np.isfinite(q))
    if bad.size:
        row, actuator = (int(i) for i in bad[0])
        raise InputError(
            f"{log.where(row)}, column q{actuator + 1}: {q[row, actuator]} is not finite"
        )
    check_time(time, log.where, strictly=True)
    added = given_numbers("offset", offset)
    if added.shape not in ((), (robot.actuator_count,)) or not np.all(np.isfinite(added)):
        raise InputError(
            f"offset has shape {added.shape}, needs one number or {robot.actuator_count}, finite"
        )
    return time, q + added, log.where


def _rates(time: Array, q: Array, gaps: Array, cutoff: float | None) -> tuple[Array, Array, float]:
    """q̇, q̈ (n, actuators) of the filtered coordinates, from gap to gap, and the cut-off (Hz)."""
    edges = [0, *np.flatnonzero(gaps).tolist(), len(time)]
    parts = [slice(*ends) for ends in itertools.pairwise(edges)]
    longest = max(parts, key=lambda one: one.stop - one.start)
    rate = (longest.stop - longest.start - 1) / float(time[longest][-1] - time[longest][0])
    if cutoff is None:
        cutoff = signals.default_cutoff(signals.uniform(time[longest], q[longest])[1], rate)
    signals.check_cutoff(cutoff, rate)
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    for part in parts:
        count = part.stop - part.start
        if count >= SHORT:
            grid, even = signals.uniform(time[part], q[part])
            own = (count - 1) / float(grid[-1] - grid[0])
            smooth = signals.low_pass(even, own, min(cutoff, 0.45 * own))
            first, second = signals.derivatives(smooth, own)
            if even is not q[part] and not np.array_equal(grid, time[part]):
                columns = range(q.shape[1])
                first, second = (
                    np.stack([np.interp(time[part], grid, one[:, i]) for i in columns], axis=1)
                    for one in (first, second)
                )
            qd[part], qdd[part] = first, second
        elif count >= 3:
            qd[part] = np.gradient(q[part], time[part], axis=0)
            qdd[part] = np.gradient(qd[part], time[part], axis=0)
    return qd, qdd, float(cutoff)
