"""The fastest time law of a stretch: linear passes until limits are met between the knots too."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError, LimitError
from gough.model.model import Model
from gough.planning.conditions import Conditions
from gough.planning.course import Bead, Stretch
from gough.planning.demands import Demands
from gough.planning.reachability import Impossible, fastest
from gough.planning.time_law import TimeLaw

CELLS = 1600
"""Of a stretch."""
MOST_KNOTS = 10_000
"""Of a stretch, where actuators turn round among them: a pass takes seconds with so many."""
COARSER = 4
"""By how much fewer cells are begun with."""
CHECKS = 6
"""Points of a cell at which limits are checked."""
PASSES, ROUGH_PASSES = 15, 5
"""Most passes, and those with fewer cells before them."""
REPAIRS = 4
"""Most passes after that, for peaks inside cells."""
MARGIN = 1e-6
"""Share of every limit that is kept back: what remains between the points that are checked."""
MET = 1e-4
"""Excess at which passes end; what is left is taken away by slowing down."""
SLOWEST = 2.0
MOST_TIGHTER = 0.9
"""Most that is taken from a limit within a cell."""
STEADY = 1e-4
"""Relative change of the duration at which passes end."""
NEARLY_STEADY = 1e-2
"""The same from which on cells are not given back what was taken from them."""
FINER = 4
"""Points of a cell at which it is looked whether actuators turn round."""
NEAR = 0.2
"""Share of a cell within which a knot gives way to one where an actuator turns round."""
GOLDEN = (np.sqrt(5) - 1) / 2
NEARLY = 0.9
"""Share of a limit from which it matters what happens between points."""


class Ledger:
    """What a profile asks for at points of a stretch that are not those it was planned at."""

    def __init__(self, demands: Demands, stretch: Stretch, s: Array, sigma: Array) -> None:
        self.demands, self.stretch, self.sigma = demands, stretch, sigma
        share = (np.arange(CHECKS) + 0.5) / CHECKS
        share[[0, -1]] = 1e-6, 1 - 1e-6
        self.s = s[:-1, np.newaxis] + np.diff(s)[:, np.newaxis] * share
        self.s[0, 0], self.s[-1, -1] = s[0], s[-1]
        self.shape = self.s.shape
        self.cell = np.repeat(np.arange(len(self.s)), CHECKS)
        self.points = self._points(self.s.ravel(), self.cell)
        self.regular = self.points, self.cell

    def _points(self, s: Array, cell: Array) -> tuple[Bead, Array]:
        """Points s (n,) of cells, and σ from each cell's beginning."""
        return Bead.of(self.stretch, s), self.stretch.along(s) - self.sigma[cell]

    def _shares(
        self, points: tuple[Bead, Array], cell: Array, x: Array, u: Array, slower: float
    ) -> Array:
        bead, ahead = points
        here = np.maximum(x[cell] + 2 * ahead * u[cell], 0.0)
        here = np.where((ahead == 0) | (here > 1e-14 * x.max()), here, 0.0)
        moving = bead.moving(self.demands.robot, np.sqrt(here) / slower, u[cell] / slower**2)
        return self.demands.shares(moving)

    def shares(self, x: Array, u: Array, slower: float = 1.0) -> Array:
        """(cells, points, bounds) of a profile x (cells + 1,), u (cells,), played slower."""
        found = self._shares(*self.regular, x, u, slower)
        return found.reshape(*self.shape, -1)

    def add_peaks(self, x: Array, u: Array) -> None:
        """Look also where a limit is used most inside a cell: friction may have an edge there."""
        most = self.shares(x, u).max(axis=2)
        # a peak with straight flanks is higher than its highest point by less than points differ
        cell = np.flatnonzero(most.max(axis=1) + np.abs(np.diff(most, axis=1)).max(axis=1) > 1)
        if not cell.size:
            return
        top = np.argmax(most[cell], axis=1)
        low, high = (self.s[cell, np.clip(top + i, 0, CHECKS - 1)] for i in (-1, 1))

        def most_at(s: Array) -> Array:
            share = self._shares(self._points(s, cell), cell, x, u, 1.0)
            return np.asarray(share.max(axis=1))

        for _ in range(24):  # golden sections
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            rising = most_at(left) < most_at(right)
            low, high = np.where(rising, left, low), np.where(rising, high, right)
        every = np.concatenate([self.s.ravel(), (low + high) / 2])
        self.cell = np.concatenate([self.regular[1], cell])
        self.points = self._points(every, self.cell)

    def everywhere(self, x: Array, u: Array, slower: float) -> Array:
        """(n, bounds) at all points, peaks included."""
        return self._shares(self.points, self.cell, x, u, slower)


def fastest_law(demands: Demands, stretch: Stretch, cells: int = CELLS) -> TimeLaw:
    """From rest to rest, as fast as limits allow.

    Cells in which a limit is used more between the points of `gough.planning.conditions` than there get
    as much less of it in the next pass; what is left in the end, some 10⁻⁵, is taken away by slowing
    down.
    """
    coarse = _passes(demands, stretch, max(cells // COARSER, 10), None)
    sigma, x = _passes(demands, stretch, cells, coarse)
    return TimeLaw.of_profile(sigma, x)


def _passes(
    demands: Demands, stretch: Stretch, cells: int, guess: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """Knots σ and x = σ̇² there, from a guess of the same."""
    s = _knots(demands.robot, stretch, cells)
    conditions = Conditions(demands, stretch, s)
    sigma = conditions.sigma
    ledger = Ledger(demands, stretch, s, sigma)
    steps = np.diff(sigma)
    x = _guess(conditions) if guess is None else np.interp(sigma, *guess)
    tighter = np.full((len(steps), len(demands.bounds)), MARGIN)
    before, settled = np.inf, False
    for _ in range(ROUGH_PASSES if guess is None else PASSES):
        u = np.diff(x) / (2 * steps)
        found = fastest(sigma, conditions.rows(x, u, tighter))
        if isinstance(found, Impossible):
            raise _impossible(demands, conditions, found)
        x = found
        u = np.diff(x) / (2 * steps)
        duration = float(np.sum(2 * steps / (np.sqrt(x[1:]) + np.sqrt(x[:-1]))))
        most = ledger.shares(x, u).max(axis=1)
        steady = abs(duration - before) <= STEADY * duration
        if steady and most.max() <= 1 + MET:
            break
        settled = settled or abs(duration - before) <= NEARLY_STEADY * duration
        before = duration
        between = most - conditions.shares(x, u).max(axis=1)
        between = MARGIN + np.where(most > NEARLY, np.clip(between, 0.0, MOST_TIGHTER), 0.0)
        tighter = np.maximum(tighter, between) if settled else between
    if guess is None:
        return sigma, x
    for _ in range(REPAIRS):  # what peaks inside cells exceed is taken from those cells
        ledger.add_peaks(x, u)
        every = ledger.everywhere(x, u, 1.0)
        if every.max() <= 1 + MET:
            break
        most = np.zeros_like(tighter)
        np.maximum.at(most, ledger.cell, every)
        between = np.clip(most - conditions.shares(x, u).max(axis=1), 0.0, MOST_TIGHTER)
        tighter = np.maximum(tighter, MARGIN + np.where(most > NEARLY, between, 0.0))
        found = fastest(sigma, conditions.rows(x, u, tighter))
        if isinstance(found, Impossible):
            break
        x = found
        u = np.diff(x) / (2 * steps)
    return sigma, x / _slower(ledger, x, u) ** 2


def _knots(robot: Model, stretch: Stretch, cells: int) -> Array:
    """Knots of a stretch, where actuators turn round among them: friction jumps there."""
    s = stretch.knots(cells)
    finer = np.interp(np.arange(FINER * (len(s) - 1) + 1) / FINER, np.arange(len(s)), s)
    rates = robot.inverse_kinematics(Bead.of(stretch, finer).motion).qd
    touched = _touching(finer, rates)
    if touched.size:  # it may turn round and back between two points
        there = robot.inverse_kinematics(Bead.of(stretch, touched).motion).qd
        order = np.argsort(np.concatenate([finer, touched]), kind="stable")
        finer = np.concatenate([finer, touched])[order]
        rates = np.concatenate([rates, there])[order]
    cell, actuator = np.nonzero(rates[1:] * rates[:-1] < 0)
    if not cell.size:
        return s
    low, high = finer[cell], finer[cell + 1]
    sign = np.sign(rates[cell, actuator])
    for _ in range(30):
        middle = (low + high) / 2
        order = np.argsort(middle, kind="stable")
        now = np.empty(len(middle))
        now[order] = robot.inverse_kinematics(Bead.of(stretch, middle[order]).motion).qd[
            np.arange(len(order)), actuator[order]
        ]
        same = now * sign > 0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    if len(s) + len(low) > MOST_KNOTS:
        raise InputError(
            f"actuators turn round {len(low)} times without a stop of the path, at most "
            f"{MOST_KNOTS - len(s)} times are timed: smooth it, or let it stop in between"
        )
    return _replaced(s, np.sort((low + high) / 2))


def _touching(s: Array, rates: Array) -> Array:
    """Places between points s (n,) where rates (n, actuators) of one sign come nearest to 0.

    The lowest points of parabolas through three points each, where they reach 0 or nearly do.
    """
    sign = np.sign(rates[1:-1])
    before, here, after = (sign * part for part in (rates[:-2], rates[1:-1], rates[2:]))
    least = (here > 0) & (before >= here) & (after >= here)
    point, actuator = np.nonzero(least)
    low, middle, high = s[point], s[point + 1], s[point + 2]
    fall = (before - here)[point, actuator] / (low - middle)
    rise = (after - here)[point, actuator] / (high - middle)
    bend = (rise - fall) / (high - low)
    slope = fall - bend * (low - middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.clip(middle - slope / (2 * bend), low, high)
        value = here[point, actuator] - slope**2 / (4 * bend)
    near = value < 1e-2 * np.abs(rates).max(axis=0, initial=0.0)[actuator]
    return np.unique(at[near & (bend > 0)])


def _replaced(s: Array, wanted: Array) -> Array:
    """Knots with those wanted in place of the nearest, or between two: no cell is much smaller."""
    knots = list(s)
    for one in wanted:
        i = int(np.clip(np.searchsorted(knots, one), 1, len(knots) - 1))
        width = knots[i] - knots[i - 1]
        near = i if knots[i] - one < one - knots[i - 1] else i - 1
        if abs(knots[near] - one) > NEAR * width:
            knots.insert(i, float(one))
        elif 0 < near < len(knots) - 1:
            knots[near] = float(one)
    return np.array(knots)


def _guess(conditions: Conditions) -> Array:
    """A profile to linearise about: constant, such that no speed is exceeded and forces are modest."""
    limit = np.inf
    if conditions.demands.speeds:
        limit = min(limit, 1 / float(np.max(conditions.speeds)) ** 2)
    if conditions.dynamic:
        limits = np.minimum(conditions.demands.limits.force, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            allowed = limits / np.abs(conditions.linear[1])
        limit = min(limit, float(np.nanmin(np.where(np.isfinite(allowed), allowed, np.inf))))
    if not np.isfinite(limit):
        limit = conditions.stretch.length**2
    return np.full(len(conditions.sigma), 0.25 * limit)


def _slower(ledger: Ledger, x: Array, u: Array) -> float:
    """The factor on time, 1 or a little above, at which limits are met wherever they are checked."""
    ledger.add_peaks(x, u)
    slower = 1.0
    shares = ledger.everywhere(x, u, slower)
    while shares.max() > 1 - MARGIN / 4:
        slower += 1.02 * (float(shares.max()) - 1 + MARGIN / 2)
        shares = ledger.everywhere(x, u, slower)
        if slower > SLOWEST:
            point, bound = np.unravel_index(np.argmax(shares), shares.shape)
            raise _limit_error(ledger.demands, ledger.points[0], int(point), int(bound))
    return slower


def _impossible(demands: Demands, conditions: Conditions, found: Impossible) -> LimitError:
    """Where and by whom no speed at all is allowed."""
    bound = int(conditions.owner[found.cell, found.row])
    point = found.cell * conditions.shape[1] + conditions.shape[1] // 2
    return _limit_error(demands, conditions.bead, point, bound)


def _limit_error(demands: Demands, bead: Bead, point: int, bound: int) -> LimitError:
    """An error that names the instant, leg and limit."""
    one = demands.bounds[bound]
    assert bead.motion.time is not None
    return LimitError(
        f"{bead.stretch.guide.where(float(bead.motion.time[point]))}: {one.who} cannot keep its "
        f"{one.limit} limit of {one.allowed:.6g} {one.unit} at any speed along the path"
    )
