"""Do rates in a motion file fit its poses? Wrong units, axes and signs, told by integration.

Between neighbours the integral of the rates (of the quintic spline through them) is compared with what
the poses do. Integrals neither amplify rounding nor need many samples; how well the samples tell them is
estimated by the cubic spline beside the quintic. Of rotations the unit quaternions are integrated,
q̇ = ½ ω q.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.ndimage import maximum_filter1d

from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.base.rotations import conjugate, continuous_quaternions, quaternion_product
from gough.base.tables import Where
from gough.errors import FileError
from gough.motion import FIELDS, Motion

MISSED = 0.1
"""Way that rates may leave unexplained between two samples, of the longest way between any two."""
MANY = 0.2
"""Share of the moving intervals that may be missed by as much: where rates jump, some are."""
DOUBTFUL = 0.01
"""Share of the whole way from which a reason is looked for that explains what rates miss."""
EXPLAINED = 0.2
"""What a reason may leave of that."""
DIFFERENT = 0.05
"""By how much a factor differs from 1 to be a reason: a few samples a period miss some per cent."""
OUTLIER = 3.0
"""How many times the largest rate of the poses around it a single rate may be."""
NOISE = 3.0
"""Standard deviations of its noise that a sample of a pose may be off."""
FEWEST_ROUGH = 50
"""Steps from which noise of poses is told from wrong rates."""
FEWEST = 8
"""Samples that are compared; of fewer, rates that are zero all along."""
GAP = 3.0
"""Steps, in medians, that are not compared."""
RESOLVED = 50.0
"""Last digits that the ways between compared samples have in the mean."""
FACTORS = {
    1e3: "millimetres, or time in milliseconds",
    57.2958: "degrees",
    0.0174533: "converted to radians twice",
    9.5493: "revolutions per minute",
    0.159155: "revolutions per second",
    1e6: "time in milliseconds",
}
"""What rates that are so many times those of the poses may be."""


class RatePair(NamedTuple):
    """Rates, and what they are the rates of."""

    columns: tuple[str, str, str]
    unit: str
    rates: Array
    """(n, 3), world axes."""
    way: Array
    """(n − 1, 3): from each sample to the next."""
    integral: Callable[[Array, int], Array]
    """The way (n − 1, 3) of rates (n, 3), by a spline of a degree."""
    of: str
    digit: float
    """Last digit of what the rates are the rates of, or its noise, SI."""


def check_rates(motion: Motion, where: Where, digits: Mapping[str, float] | None = None) -> None:
    """Refuse rates of a motion over time that contradict its poses.

    Args:
        motion: with the rates of its file; compared if it is timed samples (n,).
        where: the place of a sample in the file, in words.
        digits: the last digit of fields, SI, where the file tells it.

    Raises:
        FileError: names the column, the place and the likely reason.

    """
    time = motion.time
    if time is None or time.ndim != 1 or len(time) < 2 or not np.all(np.diff(time) > 0):
        return
    if not all(np.all(np.isfinite(getattr(motion, name))) for name in FIELDS):
        return
    for pair in _pairs(motion, time, digits or {}):
        _check(pair, time, motion.rotation, where)


def _pairs(motion: Motion, time: Array, digits: Mapping[str, float]) -> Iterator[RatePair]:
    """Yield velocities with positions, angular velocities with rotations, accelerations with both."""

    def summed(rates: Array, degree: int) -> Array:
        spline = (
            make_interp_spline(time, rates, k=3)
            if degree == 3 < len(time)
            else quintic(time, rates)
        )
        return np.diff(spline.antiderivative()(time), axis=0)

    turn = continuous_quaternions(motion.rotation)
    middle = turn[1:] + turn[:-1]
    back = conjugate(middle / np.linalg.norm(middle, axis=-1, keepdims=True))

    def turned(rates: Array, degree: int) -> Array:
        moving = quaternion_product(np.pad(rates / 2, ((0, 0), (0, 1))), turn)
        return 2 * quaternion_product(summed(moving, degree), back)[:, :3]

    def ways(values: Array) -> Array:
        return np.diff(values, axis=0)

    v, omega = motion.velocity, motion.angular_velocity
    a, alpha = motion.acceleration, motion.angular_acceleration
    angles = 2 * quaternion_product(ways(turn), back)[:, :3]
    step = float(np.median(np.diff(time)))
    place, tilt = (digits.get(name, 0.0) for name in ("position", "rotation"))
    speed, spin = (digits.get(name, 0.0) for name in ("velocity", "angular_velocity"))
    yield RatePair(
        ("vx", "vy", "vz"), "m/s", v, ways(motion.position), summed, "positions", place + speed * step
    )  # fmt: skip
    yield RatePair(
        ("wx", "wy", "wz"), "rad/s", omega, angles, turned, "rotations", tilt + spin * step
    )  # fmt: skip
    yield RatePair(("ax", "ay", "az"), "m/s²", a, ways(v), summed, "velocities", speed)
    names = ("alpha_x", "alpha_y", "alpha_z")
    yield RatePair(names, "rad/s²", alpha, ways(omega), summed, "angular velocities", spin)


def _check(pair: RatePair, time: Array, rotation: Array, where: Where) -> None:
    """Refuse rates that do not lead from sample to sample, and say why they may not."""
    step = np.diff(time)
    if len(time) < FEWEST and pair.rates.any():
        return
    told = pair.integral(pair.rates, 5)
    pair = pair._replace(digit=max(pair.digit, _noise(pair.way - told)))
    unsure = np.linalg.norm(told - pair.integral(pair.rates, 3), axis=-1)[:, np.newaxis]
    extent = max(float(np.ptp(np.cumsum(one, axis=0), axis=0).max()) for one in (pair.way, told))
    if extent <= 4 * pair.digit:
        return
    length = max(extent, float(np.linalg.norm(told, axis=-1).sum()))
    stride = int(np.ceil(RESOLVED * pair.digit * len(step) / length)) or 1
    stride = min(stride, max(len(step) // 4, 1))
    wide = step > GAP * np.median(step)
    near = maximum_filter1d(wide.astype(int), 9) > 0 if len(step) > 20 else wide

    def gathered(values: Array) -> Array:
        whole = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
        return np.diff(whole[::stride], axis=0)

    good = gathered(near[:, np.newaxis].astype(float))[:, 0] == 0
    if not good.any():
        return
    way, told, unsure = (gathered(one)[good] for one in (pair.way, told, unsure))
    slack = 2 * pair.digit + 2 * unsure[:, 0]
    size = np.maximum(*(np.linalg.norm(one, axis=-1) for one in (way, told)))
    gap = np.maximum(np.linalg.norm(way - told, axis=-1) - slack, 0.0)
    moving = size > MISSED * size.max()
    bad = gap > MISSED * size.max()
    whole = float(size.sum())
    if not whole:  # squares of the smallest numbers are 0
        return
    share = float(gap.sum()) / whole
    single = _outlier(pair, step)
    wrong = bool(np.mean(bad[moving]) > MANY)
    if not wrong and single is None and share < DOUBTFUL:
        return

    def left(rates: Array) -> float:
        """What other rates miss, of the whole way."""
        other = gathered(pair.integral(rates, 5))[good]
        missed = np.linalg.norm(way - other, axis=-1)
        return float(np.maximum(missed - slack, 0.0).sum()) / whole

    lasting = gathered(step[:, np.newaxis])[good]
    offset = (way - told).sum(axis=0) / lasting.sum()
    reason = _reason(pair, rotation, (way, told, offset), left, EXPLAINED * share)
    if not (wrong or reason) and single is None:
        return
    row = int(np.flatnonzero(good)[np.argmax(gap)]) * stride
    column = int(np.argmax(np.abs(way - told)[np.argmax(gap)]))
    if single is not None and not reason:
        row, column = single, int(np.argmax(np.abs(pair.rates[single])))
    after = min(row + stride, len(time) - 1)
    mean = float(pair.way[row:after, column].sum() / (time[after] - time[row]))
    raise FileError(
        f"{where(row)}, column {pair.columns[column]}: {pair.rates[row, column]:.4g} {pair.unit}, where "
        f"the {pair.of} change by {mean:.4g} {pair.unit} up to {where(after)}; "
        f"{reason or f'these rates are not those of the {pair.of}'}. Correct them, or leave all "
        "velocities and accelerations out to have them from the poses"
    )


def _noise(missed: Array) -> float:
    """Return how far off single samples of noisy poses are, from what rates miss at each step.

    Poses of an encoder or a tracker are noisy, their filtered rates are not. Noise leaves what rates
    miss in sum as rough as it is itself; wrong rates make it grow smoothly. Its third differences,
    of which white noise of σ has √20 σ, tell one from the other.
    """
    if len(missed) < FEWEST_ROUGH:
        return 0.0
    rough = np.diff(np.cumsum(missed, axis=0), 3, axis=0)
    deviation = np.median(np.abs(rough), axis=0) / (0.6745 * np.sqrt(20.0))
    return float(NOISE * np.linalg.norm(deviation))


def _outlier(pair: RatePair, step: Array) -> int | None:
    """Return a sample whose rate is far beyond those of the poses around it."""
    slope = np.linalg.norm(pair.way, axis=-1) / step
    around = maximum_filter1d(np.maximum(np.r_[slope[0], slope], np.r_[slope, slope[-1]]), 5)
    size = np.linalg.norm(pair.rates, axis=-1)
    rounding = 4 * pair.digit / float(step.min())
    far = size > OUTLIER * around + 0.5 * slope.max() + rounding
    if not far.any() or far.mean() > 0.5 or pair.unit.endswith("²"):
        return None
    return int(np.argmax(np.where(far, size, 0.0)))


def _reason(
    pair: RatePair,
    rotation: Array,
    ways: tuple[Array, Array, Array],
    left: Callable[[Array], float],
    bound: float,
) -> str:
    """Return the reason that explains best why rates miss their way; empty if none explains it."""
    rates, (way, told, offset) = pair.rates, ways
    names = ", ".join(pair.columns)
    if not rates.any():
        return f"{names} are zero all along, and the {pair.of} are not at rest"
    found: list[tuple[float, str]] = []

    def consider(other: Array, why: str) -> None:
        found.append((left(other), why))

    def ratio(one: Array, other: Array) -> float:
        return float(np.sum(one * other) / max(np.sum(other * other), 1e-300))

    factor = ratio(way, told)
    if abs(factor - 1) > DIFFERENT and factor:
        consider(factor * rates, _factor(names, factor, pair.of))
    own = [ratio(way[:, i], told[:, i]) for i in range(3)]
    for i, one in enumerate(own):
        if abs(one - 1) > DIFFERENT and one:
            other = rates.copy()
            other[:, i] *= one
            consider(other, _factor(pair.columns[i], one, pair.of))
    if pair.of not in ("velocities", "positions") or np.ptp(rotation, axis=0).any():
        axes = np.einsum("nij,nj->ni", rotation, rates)
        consider(axes, f"{names} look to be in platform axes, and belong in world axes")
        axes = np.einsum("nji,nj->ni", rotation, rates)
        consider(axes, f"{names} look turned from platform to world axes twice")
    for order in [*itertools.permutations(range(3))][1:]:
        swapped = ", ".join(pair.columns[i] for i in range(3) if order[i] != i)
        consider(rates[:, order], f"columns {swapped} look exchanged")
    for shift, word in ((1, "early"), (-1, "late")):
        other = np.roll(rates, shift, axis=0)
        other[[0] if shift > 0 else [-1]] = rates[[0] if shift > 0 else [-1]]
        consider(other, f"{names} look one sample too {word}")
    one = int(np.argmax(np.abs(offset)))
    gravity = " (gravity?)" if abs(abs(offset[one]) - 9.81) < 0.1 else ""
    consider(rates + offset, f"{pair.columns[one]} is off by {-offset[one]:.4g} all along{gravity}")
    rest, why = min(found)
    return why if rest < bound else ""


def _factor(names: str, factor: float, of: str) -> str:
    """Return in words that rates times a factor are those of the poses."""
    verb = "are" if "," in names else "is"
    if abs(factor + 1) < DIFFERENT:
        return f"{names} {verb} of the wrong sign"
    times = 1 / factor
    unit = next((why for one, why in FACTORS.items() if abs(abs(times) / one - 1) < 0.02), "")
    sign = " and of the wrong sign" if factor < 0 else ""
    unit = f" ({unit})" if unit else ""
    return f"{names} {verb} {abs(times):.4g} times the rates of the {of}{sign}{unit}"
