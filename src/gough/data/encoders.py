"""Poses over time from a log of actuated coordinates: what encoders say of the platform.

The pose of every sample is that of forward kinematics, exactly; twist and acceleration follow from q̇ and
q̈ of the zero-phase filter (`gough.data.signals`). Columns as in `gough.data.logs`, without forces.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, given_numbers
from gough.base.tables import Where, read_bytes, read_table
from gough.base.units import Unit
from gough.base.words import counted
from gough.data import signals
from gough.data.columns import AS_THEY_ARE, Columns, Say, check_time_unit, silent
from gough.data.datasets import kind_of
from gough.data.encoder_faults import Mark, check_order, repaired, standing_still
from gough.data.leg_rates import platform_deviation, poses_along, with_rates
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
FEWEST_IN_PIECE = 3
"""Samples between gaps that have rates."""
SHORT = 50
"""Samples from which forces tell whether columns are swapped."""
LOST_AT_ENDS = 0.01
"""Part of the largest rate that the filter loses at an end of the log."""
USUAL = 2.0
"""Standard deviation, in the median of all samples, up to which no sample is left out."""
RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
UNCERTAIN = 0.05
"""Standard deviation of an acceleration, in its largest, from which a sample does not count."""


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
    units: tuple[Unit, ...] = ()
    """Of the coordinates in the file, which are SI here; none where they were read as SI."""


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
    twist_deviation: Array
    """(n, 6): standard deviations of velocity and angular velocity, m/s and rad/s, world axes."""
    acceleration_deviation: Array
    """(n, 6): of acceleration and angular acceleration, m/s² and rad/s²."""

    @property
    def deviations(self) -> Array:
        """(n, 12): of velocity, angular velocity, acceleration and angular acceleration."""
        return np.concatenate([self.twist_deviation, self.acceleration_deviation], axis=1)

    @property
    def known(self) -> Array:
        """(n,) booleans: samples that have rates."""
        return np.isfinite(self.motion.acceleration[:, 0])

    @property
    def certain(self) -> Array:
        """(n,) booleans: samples whose accelerations are known to 5 % of the largest.

        The noise of encoders makes the others uncertain: near the ends of a log, and of its pieces
        between gaps.
        """
        motion = self.motion
        size = np.stack([motion.acceleration, motion.angular_acceleration])
        size = np.linalg.norm(size, axis=-1)
        off = np.linalg.norm(np.reshape(self.acceleration_deviation, (-1, 2, 3)), axis=-1).T
        # an acceleration that noise alone makes is no measure of the largest
        largest = np.nanmax(np.where(off < size, size, 0.0), axis=1, initial=0.0, keepdims=True)
        usual = np.nanmedian(off, axis=1, keepdims=True)
        good = off <= np.maximum(UNCERTAIN * largest, USUAL * usual)
        return np.asarray(good.all(axis=0) & self.known)


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
            check_time_unit(table, time[:, 0], q)
            forces = columns_of(table, [FORCE.format(i + 1) for i in range(robot.actuator_count)])
            units = tuple(table.scales[name] for name in names)
            return EncoderLog(time[:, 0], q, table.where, "line 1", forces, units)
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
    rates = _rates(time, q, gaps, cutoff)
    known = np.isfinite(rates.qdd[:, 0])
    marks += _without_rates(known, where, time)
    if log.forces is not None and known.sum() >= SHORT:
        forces = np.asarray(log.forces, dtype=np.float64)[known]
        check_fit(robot, q[known], rates.qd[known], rates.qdd[known], forces, log.header)
    try:
        poses = poses_along(robot, q, start)
    except SampleError as error:
        first = error.failures[0]
        row = first.sample[-1] if first.sample else 0
        raise InputError(f"{where(row)}: {first.reason}") from None
    qd, qdd = (np.where(known[:, np.newaxis], one, 0.0) for one in (rates.qd, rates.qdd))
    motion = with_rates(robot, poses, qd, qdd).replace(time=time)
    unknown = {
        name: np.where(known[:, np.newaxis], getattr(motion, name), np.nan) for name in RATES
    }
    chains = robot.chains_of(motion)
    notes = standing_still(robot, q, where)
    if rates.line is not None:
        notes.append(_left_out(robot, poses, q, rates))
    return MeasuredMotion(
        robot.remember(motion.replace(**unknown), chains),
        q,
        tuple(sorted(marks, key=lambda one: one.row)),
        tuple(notes),
        rates.cutoff,
        platform_deviation(robot, poses, rates.qd_deviation),
        platform_deviation(robot, poses, rates.qdd_deviation),
    )


def _without_rates(known: Array, where: Where, time: Array) -> list[Mark]:
    """Mark the pieces of a log that are too short for rates."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], known, [True]]).astype(int)))
    return [
        Mark(
            int(first),
            None,
            "no rates",
            f"{where(int(first))}: {counted(int(last - first), 'sample')} between gaps at t = "
            f"{time[first]:.6g} s, too few for rates (needs {FEWEST_IN_PIECE})",
        )
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    ]


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


class _Rates(NamedTuple):
    """q̇ and q̈ (n, actuators), and the standard deviation of each that the noise of q makes."""

    qd: Array
    qdd: Array
    qd_deviation: Array
    qdd_deviation: Array
    cutoff: float
    """Hz."""
    line: signals.LeftOut | None
    """What of the coordinates the filter takes away, other than noise."""


def _left_out(robot: Model, poses: Motion, q: Array, rates: _Rates) -> str:
    """Return what vibration of a coordinate is beyond the cut-off, in counts and as a force."""
    line = rates.line
    assert line is not None
    unit = robot.actuators[line.signal].units
    count = float(signals.counts(q)[line.signal])
    counted_size = f", {line.amplitude / count:.3g} counts" if count else ""
    text = (
        f"column q{line.signal + 1} moves by ±{line.amplitude:.3g} {unit.q}{counted_size} at "
        f"{line.frequency:.3g} Hz, above the cut-off of {rates.cutoff:.3g} Hz: left out of the rates"
    )
    if not robot.missing:
        # what this takes of the actuator where the others stand still: (J⁻ᵀ M J⁻¹)ᵢᵢ q̈ᵢ
        middle = poses[len(q) // 2]
        across = np.linalg.pinv(robot.jacobian(middle)[..., :6])[:, line.signal]
        inertia = float(across @ robot.mass_matrix(middle)[:6, :6] @ across)
        text += f", worth ±{inertia * line.acceleration:.3g} {unit.force}"
    return f"{text}; a higher cutoff (--cutoff) keeps it"


def _rates(time: Array, q: Array, gaps: Array, cutoff: float | None) -> _Rates:
    """Return the rates of the filtered coordinates from gap to gap; NaN where a piece has none.

    The noise of a coordinate is what the filter takes away, and at least that of rounding to a count:
    1/√12 of it.
    """
    edges = [0, *np.flatnonzero(gaps).tolist(), len(time)]
    pieces = [slice(*ends) for ends in itertools.pairwise(edges)]
    longest = max(pieces, key=lambda piece: piece.stop - piece.start)
    rate = (longest.stop - longest.start - 1) / float(time[longest][-1] - time[longest][0])
    if cutoff is None:
        cutoff = signals.default_cutoff(signals.uniform(time[longest], q[longest])[1], rate)
    signals.check_cutoff(cutoff, rate)
    found = np.full((2, *q.shape), np.nan)
    gains = np.full((2, len(time)), np.nan)
    noise = signals.counts(q) / np.sqrt(12.0)
    for piece in pieces:
        if piece.stop - piece.start < FEWEST_IN_PIECE:
            continue
        own = signals.rates(time[piece], q[piece], cutoff)
        found[:, piece] = own.first, own.second
        gains[:, piece] = own.gains
        if piece == longest:
            noise = np.maximum(noise, own.noise)
    deviation = gains[:, :, np.newaxis] * noise
    # what the filter loses: most at the ends, of a motion at the highest frequency of its band
    ends = gains / np.nanmax(gains, axis=1, keepdims=True)
    largest = np.nanmax(np.abs(found), axis=1, keepdims=True)
    deviation = np.hypot(deviation, LOST_AT_ENDS * ends[:, :, np.newaxis] * largest)
    _, even = signals.uniform(time[longest], q[longest])
    line = signals.left_out(even, rate, cutoff)
    return _Rates(found[0], found[1], deviation[0], deviation[1], float(cutoff), line)
