"""What is wrong with encoders in a log: outliers, wrapped counters, stuck ones, swapped columns.

Found by what real actuators cannot do: a step many times longer than the ones before and behind it, or
standing still at full speed. Swapped columns are told by geometry, where the robot's own order of legs
gives poses near home and another does not, and by forces where the log has them; of a regular hexapod
coordinates alone do not tell: any six are a pose.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import Where
from gough.base.words import counted
from gough.errors import InputError
from gough.model.model import Model

ABRUPT = 8.0
"""A step so many times longer than those around it is none of a real actuator."""
NOTICEABLE = 1e-3
"""Least jump, of the coordinate's size; and in resolutions 20 of them."""
COUNTS = 20.0
BACK = 0.3
"""Part of a jump by which the one after it may miss the way back, of an outlier."""
STANDING = 20
"""Samples with the same number that are suspicious while others move."""
MOST_CHANGES = 0.99
"""Part of the changes of a column's steps that are smaller than what counts as its largest."""
MOST_OUTLIERS = 0.05
"""Part of the samples."""
MOST_COUNTS, MOST_PARTS = 1000.0, 8
"""Of a step, by which a column's resolution is told; and of the shortest step."""
SAMPLES = 24
"""Samples on which other orders of columns are tried."""
FAR_AWAY, NEARER, AT_HOME = 0.3, 0.3, 1.0
"""Distance from home (rad, length scales) of poses in a wrong order, its part in the right one, and the
largest in the right one."""


class Mark(NamedTuple):
    """A place in a log that is not as it should be, and what was done about it."""

    row: int
    actuator: int | None
    """From 0; None: of all."""
    kind: str
    """gap, outlier or turn."""
    text: str


def repaired(robot: Model, q: Array, gaps: Array, where: Where) -> tuple[Array, list[Mark]]:
    """Coordinates (n, actuators) without outliers and whole turns, with marks where they were.

    `gaps` (n,) is true at the first sample behind a gap in time. What cannot be repaired is refused with
    its line: a counter that wrapped, an encoder that is stuck.
    """
    found, marks = q.copy(), list[Mark]()
    for actuator, one in enumerate(robot.actuators):
        size = max(float(robot.coordinate_sizes[actuator]), NOTICEABLE * robot.length_scale)
        column = found[:, actuator]
        name, turns = f"column q{actuator + 1}", one.units.turns
        for row, jump in _jumps(column, gaps, size):
            if turns and abs(abs(jump) - 2 * np.pi) < 0.02 * 2 * np.pi:
                column[row:] -= np.sign(jump) * 2 * np.pi
                text = f"{where(row)}, {name}: a whole turn back taken away"
                marks.append(Mark(row, actuator, "turn", text))
                continue
            if row + 1 < len(column) and _goes_back(column, row, jump):
                near = (column[row - 1] + column[row + 1]) / 2
                text = f"{where(row)}, {name}: {column[row]:.6g} {one.units.q}, an outlier"
                marks.append(Mark(row, actuator, "outlier", f"{text}, taken as {near:.6g}"))
                column[row] = near
                continue
            raise InputError(
                f"{where(row)}, {name}: a jump of {jump:+.6g} {one.units.q} in one step"
                f"{_counts(column, jump)}; a counter that wrapped, or lost its reference?"
            )
        _refuse_stuck(found, actuator, where, one.units.q)
    outliers = sum(one.kind == "outlier" for one in marks)
    if outliers > MOST_OUTLIERS * len(q):
        raise InputError(
            f"{marks[0].text}; {counted(outliers, 'outlier')} in {len(q)} samples are too many "
            f"(limit {100 * MOST_OUTLIERS:g} %)"
        )
    return found, marks


def _jumps(column: Array, gaps: Array, size: float) -> list[tuple[int, float]]:
    """Rows (n,) that a step many times longer than its neighbours leads to, and the step.

    The neighbours are the two steps before and the two behind the next one, which of an outlier leads
    back.
    """
    steps = np.diff(column)
    length = np.abs(steps)
    length[gaps[1:]] = 0.0
    moved = length[length > 0]
    if not moved.size:
        return []
    least = max(NOTICEABLE * size, COUNTS * float(moved.min()))
    suspects = np.flatnonzero(length > least)
    found, skip = [], -1
    for k in suspects:
        if k <= skip:
            continue
        around = np.concatenate([length[max(k - 2, 0) : k], length[k + 2 : k + 4]])
        if length[k] > ABRUPT * around.max(initial=0.0):
            found.append((int(k) + 1, float(steps[k])))
            skip = int(k) + 1
    return found


def _goes_back(column: Array, row: int, jump: float) -> bool:
    """Whether the step behind a jump leads back."""
    return bool(abs(column[row + 1] - column[row] + jump) < BACK * abs(jump))


def _counts(column: Array, jump: float) -> str:
    """How many counts of a quantised column a jump is, if that is a power of two, more or less."""
    moved = np.abs(np.diff(column))
    moved = moved[moved > 1e-9 * np.abs(column).max()]
    small = moved[moved < MOST_COUNTS * moved.min()]
    for part in range(1, MOST_PARTS):  # the shortest step may be some counts
        grain = float(moved.min()) / part
        if np.abs(small / grain - np.rint(small / grain)).max() < 0.05:
            power = round(float(np.log2(abs(jump) / grain)))
            near = power >= 8 and abs(abs(jump) / (grain * 2.0**power) - 1) < 0.02
            return f", about 2^{power} counts of {grain:.3g}" if near else ""
    return ""


def _refuse_stuck(q: Array, actuator: int, where: Where, unit: str) -> None:
    """Refuse an encoder that stands still at once, while others move.

    At once: its step changes by many times what the actuator's steps change by elsewhere in the log.
    """
    column = q[:, actuator]
    same = np.flatnonzero(np.diff(column) != 0)
    edges = np.concatenate([[-1], same, [len(column) - 1]])
    others = np.abs(np.diff(np.delete(q, actuator, axis=1), axis=0)).sum(axis=1)
    steps = np.diff(column)
    changes = np.abs(np.diff(steps))
    moving = changes[(steps[1:] != 0) & (steps[:-1] != 0)]
    usual = float(np.quantile(moving, MOST_CHANGES)) if moving.size else 0.0
    least = max(ABRUPT * usual, COUNTS * float(np.abs(steps[steps != 0]).min(initial=np.inf)))
    for run in np.flatnonzero(np.diff(edges) >= STANDING):
        first, last = int(edges[run]) + 1, int(edges[run + 1])
        if not others[first:last].any():
            continue
        coming = steps[max(first - 5, 0) : first]
        if first and abs(coming.mean()) > least:
            raise InputError(
                f"{where(first)}, column q{actuator + 1}: {column[first]:.6g} {unit} for "
                f"{last - first + 1} samples, at once from full speed, while others move; is the "
                "encoder stuck?"
            )


def standing_still(robot: Model, q: Array, where: Where) -> list[str]:
    """Columns that never move while others do: a held actuator, or a dead encoder."""
    moved = np.ptp(q, axis=0)
    still = np.flatnonzero(moved == 0.0)
    if still.size == q.shape[1] or len(q) < STANDING:
        return []
    return [
        f"{where(0)}, column q{i + 1}: {q[0, i]:.6g} {robot.actuators[i].units.q} all the time, while "
        "others move"
        for i in still
    ]


def check_order(robot: Model, q: Array, where: Where, header: str) -> None:
    """Refuse coordinates (n, actuators) that give poses near home with two columns exchanged alone."""
    if robot.description.home is None or robot.actuator_count < robot.mobility:
        return
    rows = np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))
    few, count = q[rows], q.shape[1]
    lost, given = _away(robot, few)
    if not lost.any() and given < FAR_AWAY:
        return
    units = [one.units for one in robot.actuators]
    best, pair = np.inf, (0, 0)
    for one, other in itertools.combinations(range(count), 2):
        if units[one] == units[other]:
            order = np.arange(count)
            order[[one, other]] = other, one
            missing, distance = _away(robot, few[:, order])
            if not missing.any() and distance < best:
                best, pair = distance, (one, other)
    if best < (given if lost.any() else NEARER * given) and best < AT_HOME:
        first = int(rows[int(np.argmax(lost))]) if lost.any() else 0
        has = "no pose" if lost.any() else f"a pose {given:.2g} rad and length scales from home"
        raise InputError(
            f"{header}: columns q{pair[0] + 1} and q{pair[1] + 1} look swapped: as given "
            f"{where(first)} has {has}, exchanged they are {best:.2g} from home"
        )


def _away(robot: Model, q: Array) -> tuple[Array, float]:
    """Samples (n,) without a pose, and the rms distance from home of the others, rad and lengths L."""
    robot = robot.rigid
    poses = robot.forward_kinematics(q, robot.home, on_error="nan")
    lost = np.isnan(poses.position[:, 0])
    if lost.all():
        return lost, np.inf
    shift = np.linalg.norm(poses.position[~lost] - robot.home.position, axis=-1)
    cosine = (np.einsum("nij,ij->n", poses.rotation[~lost], robot.home.rotation) - 1) / 2
    turn = np.arccos(np.clip(cosine, -1.0, 1.0))
    return lost, float(np.sqrt(np.mean((shift / robot.length_scale) ** 2 + turn**2)))
