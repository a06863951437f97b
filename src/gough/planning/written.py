"""Samples of a retimed motion whose spline keeps limits between them too.

The fastest motion changes its accelerations from one instant to the next. No samples tell that: the
polynomials of fifth order through poses, twists and accelerations (`gough.base.hermite`) overshoot by
16 % of half such a jump, however dense samples are. So accelerations are made to change within a few
samples (the moving mean of `gough.planning.time_law`), and the stretches slower, until limits are kept
all along the polynomials. Samples are doubled until that makes the motion no shorter by `GAIN`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.hermite import PoseHermite
from gough.motion import Motion
from gough.planning.demands import Demands, MotionLimit
from gough.planning.jerk import least_factor
from gough.planning.retimed import Retimed
from gough.planning.timing import EvenTiming, LawTiming, Timing

SAMPLES = 601
"""Fewest."""
DOUBLINGS = 6
"""Most times that there are twice as many."""
WINDOWS = (4, 8)
"""In which accelerations change, in samples."""
GAIN = 5e-3
"""Share of the duration for which more samples are not taken."""
SLOWEST = 1.3
"""Factor on time from which on samples are too few."""
WITHIN, ZOOMS = 8, 2
"""Parts of each gap between samples at whose ends limits are looked at, and how often those near a limit
are cut again."""
SHARP = 2e-4
"""Excess that a limit may have between two points before they are looked at more closely."""
KEPT_BACK = 3e-5
"""Share of the duration that is added, for what is between these."""
PASSES = 6
"""Most times that a motion is slowed down and sampled again."""


class Written(NamedTuple):
    """A retimed motion as samples."""

    motion: Motion
    """(n,) with time, at even times."""
    share: float
    """Largest share of a limit along the polynomials through them; NaN where it is not looked at."""
    limit: MotionLimit | None
    """That it is of."""

    @property
    def duration(self) -> float:
        """s."""
        assert self.motion.time is not None
        return float(self.motion.time[-1])


def written(found: Retimed, samples: int | None = None) -> Written:
    """As few samples of a retimed motion as keep its limits between them, or a number of them.

    A number given is that of the motion as it is, whatever its limits do between the samples.
    Platforms that are held are not looked at between samples: polynomials leave what they can do.
    """
    if samples is not None or found.robot.mobility < 6:
        return _sampled(found, samples or SAMPLES)
    best: Written | None = None
    count = SAMPLES
    for _ in range(DOUBLINGS):
        before = np.inf if best is None else best.duration
        for window in WINDOWS:
            trial = _slowed(_rounded(found, window * found.duration / (count - 1)), count)
            if trial is not None and (best is None or trial.duration < best.duration):
                best = trial
        if best is not None and best.duration >= (1 - GAIN) * before:
            break
        count = 2 * count - 1
    return best or _sampled(found, count)


def _sampled(found: Retimed, count: int) -> Written:
    """So many samples, and what they use of limits between them."""
    motion = found.sample(count)
    if found.robot.mobility < 6:
        return Written(motion, np.nan, None)
    shares = found.demands.shares(_between(found.demands, motion)).max(axis=0)
    return Written(motion, float(shares.max()), found.demands.bounds[int(np.argmax(shares))])


def _slowed(found: Retimed, count: int) -> Written | None:
    """Samples of a motion whose stretches are slower by a factor, such that limits are kept between."""
    for _ in range(PASSES):
        trial = _sampled(found, count)
        if trial.share <= 1:
            return trial
        factor = least_factor(found.demands, _between(found.demands, trial.motion), 1.0)
        if factor > SLOWEST:
            return None
        found = _slower(found, factor + KEPT_BACK)
    return None


def _between(demands: Demands, motion: Motion) -> Motion:
    """The polynomials through samples (n,) between them, more closely where limits are used most."""
    assert motion.time is not None
    names = (
        "position", "rotation", "velocity", "angular_velocity", "acceleration",
        "angular_acceleration",
    )  # fmt: skip
    path = PoseHermite(motion.time, *(getattr(motion, name) for name in names))

    def with_more(t: Array, gaps: Array) -> Array:
        inner = np.arange(1, WITHIN) / WITHIN
        more = t[gaps, np.newaxis] + np.diff(t)[gaps, np.newaxis] * inner
        return np.sort(np.concatenate([t, more.ravel()]))

    t = with_more(motion.time, np.arange(len(motion) - 1))
    for _ in range(ZOOMS):
        most = demands.shares(Motion(*path(t), time=t)).max(axis=1)
        t = with_more(
            t, np.flatnonzero(np.maximum(most[1:], most[:-1]) + np.abs(np.diff(most)) > 1 + SHARP)
        )
    return Motion(*path(t), time=t)


def _rounded(found: Retimed, window: float) -> Retimed:
    """The motion whose accelerations take a time to change, s, where they change at once."""

    def rounded(part: Timing) -> Timing:
        if isinstance(part, LawTiming) and not part.law.window:
            return part.changed(window=window / part.law.slower)
        return part

    return Retimed(found.demands, tuple(rounded(part) for part in found.parts), found.before)


def _slower(found: Retimed, factor: float) -> Retimed:
    """The motion with stretches slower by a factor; rests stay."""

    def slower(part: Timing) -> Timing:
        if isinstance(part, LawTiming):
            return part.changed(slower=factor * part.law.slower)
        return part._replace(faster=part.faster / factor) if isinstance(part, EvenTiming) else part

    return Retimed(found.demands, tuple(slower(part) for part in found.parts), found.before)
