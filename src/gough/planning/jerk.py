"""Limited jerk: a time law smoothed by a moving mean, then slowed down until all limits are met.

The mean over a window h of a time law (`TimeLaw`) has the same ends and a jerk of at most the change
of acceleration over h. A wider window means a smaller jerk and a longer motion, a narrower one needs
more slowing down, which divides jerks by the cube of its factor: the window with the shortest result is
taken. Accelerations along the path are straight between the knots of the law and a window behind them:
the jerk of actuators is looked at in each of these pieces, as the difference of q̈ over half a piece.
"""

from __future__ import annotations

import numpy as np
import scipy

from gough.base.arrays import Array
from gough.errors import LimitError
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.course import Bead, scaled
from gough.planning.demands import Demands
from gough.planning.profile import MARGIN
from gough.planning.timing import LawTiming

ROUGHLY = 500
"""Pieces at which limits and jerks are looked at while a window is searched for."""
PLACES = (0.01, 0.5, 0.99)
"""Where a piece is looked at, as shares of it."""
WINDOWS = np.geomspace(1e-5, 2.0, 20)
"""Windows that are tried, in durations of the law without one; then those around the best."""
SAME = 1e-6
"""Share of the window within which two ends of pieces are one."""
BESIDE = 1e-8
"""Share of the duration beside which a law is looked at where an actuator turns round."""
KEPT_BACK = 1e-5
"""Share of limits that is kept back, for what is between the points that are looked at."""
EVENLY, ZOOMS, ZOOMED = 20_001, 2, 7
"""Instants at which a law is looked at in the end; times that it is looked at more closely around the
highest, and at how many instants in each gap."""
CHECKS = 4
"""Most times that a law is slowed down by what is found then."""
SLOWEST = 1e4


def jerk_limited(demands: Demands, timing: LawTiming) -> LawTiming:
    """The timing with jerks within `demands.limits.jerk`; as it is where there is no such limit."""
    if not np.any(np.isfinite(demands.limits.jerk)):
        return timing
    if np.any(demands.limits.jerk == 0):
        leg = int(np.argmin(demands.limits.jerk))
        raise LimitError(f"t = 0 s: actuator {leg + 1} has to move, and its jerk limit is 0")
    turns = _turning(demands.robot, timing)

    def fitted(log: float, most: int = 0) -> LawTiming:
        smooth = timing.changed(window=float(np.exp(log)) * timing.law.own)
        return smooth.changed(slower=_slower(demands, smooth, turns, most))

    logs = np.log(WINDOWS)
    times = [fitted(log, ROUGHLY).duration for log in logs]
    best = int(np.argmin(times))
    found = scipy.optimize.minimize_scalar(
        lambda log: fitted(log, ROUGHLY).duration,
        bounds=(logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]),
        method="bounded",
        options={"xatol": 0.05, "maxiter": 10},
    )
    result = fitted(float(found.x) if found.fun < times[best] else float(logs[best]))
    for _ in range(CHECKS):  # friction of passive joints may have edges anywhere
        motion = result.motion(demands.robot, _instants(demands, result))
        factor = least_factor(demands, motion, 1.0)
        if factor == 1.0:
            break
        result = result.changed(slower=factor * (1 + KEPT_BACK) * result.law.slower)
    return result


def _slower(demands: Demands, timing: LawTiming, turns: Array, most: int) -> float:
    """The least factor on time at which all limits are met, jerk's among them.

    At all pieces or at `most` of them, and where actuators turn round, at lengths `turns`.
    """
    robot = demands.robot
    jerk, motion = _pieces(robot, timing, turns, most)
    # slowing down divides jerks by the factor's cube
    share = float(np.max(jerk / demands.limits.jerk))
    return least_factor(demands, motion, max(1.0, share ** (1 / 3) * (1 + KEPT_BACK)))


def least_factor(demands: Demands, motion: Motion, least: float) -> float:
    """The factor on a motion's time, `least` or more, at which it meets all limits but jerk's."""

    def fits(factor: float) -> bool:
        one = np.full(len(motion), 1 / factor)
        slow = scaled(demands.robot, motion, one, 0 * one)
        return float(demands.shares(slow).max()) <= 1 - MARGIN

    if fits(least):
        return least
    low = high = least
    step = 1e-4
    while not fits(high):
        low, high, step = high, high * (1 + step), 2 * step
        if high > SLOWEST:
            raise LimitError("t = 0 s: no speed keeps all limits with a jerk that is limited")
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return float(high)


def _pieces(robot: Model, timing: LawTiming, turns: Array, most: int) -> tuple[Array, Motion]:
    """Largest |q⃛| in pieces (pieces, actuators), and the motion there and where actuators turn."""
    law = timing.law
    ends = np.unique(np.concatenate([law.pieces.x, law.pieces.x + law.window]))
    kept = np.diff(ends, prepend=-np.inf) > SAME * (law.window or law.own)
    kept[-1] = True
    ends = law.slower * ends[kept]
    low, width = ends[:-1], np.diff(ends)
    if most and len(low) > most:
        chosen = np.unique(np.linspace(0, len(low) - 1, most).astype(int))
        low, width = low[chosen], width[chosen]
    t = low[:, np.newaxis] + width[:, np.newaxis] * PLACES
    beside = law.time_at(turns) + BESIDE * law.duration * np.array([[-1], [1]])
    every = np.concatenate([t.ravel(), np.clip(beside.ravel(), 0, law.duration)])
    order = np.argsort(every, kind="stable")
    motion = timing.motion(robot, every[order])
    qdd = np.empty((len(every), robot.actuator_count))
    qdd[order] = robot.inverse_kinematics(motion).qdd
    rises = np.diff(qdd[: t.size].reshape(*t.shape, -1), axis=1)
    first, last = np.moveaxis(rises / np.diff(t, axis=1)[..., np.newaxis], 1, 0)
    # straight on to both ends of the piece
    jerk = np.abs([first, last, 1.5 * first - 0.5 * last, 1.5 * last - 0.5 * first])
    return jerk.max(axis=0), motion


def _turning(robot: Model, timing: LawTiming) -> Array:
    """Knots σ (k,) of a law at which an actuator turns round."""
    sigma = timing.law.pieces(timing.law.pieces.x)
    bead = Bead.of(timing.stretch, timing.stretch.parameter((sigma[1:] + sigma[:-1]) / 2))
    rates = robot.inverse_kinematics(bead.motion).qd
    return np.asarray(sigma[1:-1][np.any(rates[1:] * rates[:-1] < 0, axis=1)])


def _instants(demands: Demands, timing: LawTiming) -> Array:
    """Evenly spaced instants, and more around those at which a limit is used most."""
    t = np.linspace(0.0, timing.duration, EVENLY)
    for _ in range(ZOOMS):
        most = demands.shares(timing.motion(demands.robot, t)).max(axis=1)
        rise = np.abs(np.diff(most))
        gap = np.flatnonzero(np.maximum(most[1:], most[:-1]) + rise > 1)
        inner = np.arange(1, ZOOMED + 1) / (ZOOMED + 1)
        more = t[gap, np.newaxis] + np.diff(t)[gap, np.newaxis] * inner
        t = np.unique(np.concatenate([t, more.ravel()]))
    return t
