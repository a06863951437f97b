"""The fastest time law of a stretch: linear passes, cells refined until limits are met all over them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

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
"""Of a stretch, to begin with."""
TURN = 0.2
"""rad: most that the path's direction turns in a cell to begin with, on average."""
MOST_KNOTS = 100_000
"""Of a stretch: a pass takes seconds with so many."""
CHECKS = 6
"""Points of a cell at which limits are checked."""
PASSES, LAST_PASSES = 4, 12
"""Most passes with cells that are refined afterwards, and with those that stay."""
ROUNDS = 10
"""Most times that cells are refined."""
RETREATS = 24
"""Most times that cells are refined where conditions contradict each other."""
PARTS = 4
"""Into which a cell is cut."""
OVER, UNUSED = 2e-3, 0.985
"""Excess over a limit inside a cell for which it is refined, and share of all limits below which it is,
because the constant acceleration of a cell cannot follow what limits allow."""
WORTH = 1e-2
"""Share of the duration up to which cells may use no limit."""
SMALLEST = 1e-9
"""Cells, in shares of a stretch's parameter, that are not refined."""
REPAIRS = 6
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
SAME = 1e-7
"""Share of a cell within which two knots are one."""
FINELY = 25
"""Points of a cell at which limits are checked in the end."""
ZOOMS, ZOOMED = 2, 7
"""Times that places around the highest of these are looked at, and at how many points."""
NEARLY = 0.9
"""Share of a limit from which it matters what happens between points."""

_PLACES = (np.arange(CHECKS) + 0.5) / CHECKS
_PLACES[[0, -1]] = 1e-6, 1 - 1e-6
_POWERS = np.arange(CHECKS)
_FINELY = np.linspace(1e-6, 1 - 1e-6, FINELY)
_ZOOMED = np.arange(1, ZOOMED + 1) / (ZOOMED + 1)
_LAGRANGE: Array = np.linalg.inv(_PLACES[:, np.newaxis] ** _POWERS)
"""Coefficients of the polynomial through values at the points of a cell, by powers of its share."""


def _integrals(share: Array) -> Array:
    """∫ from 0 to a share (...) of a cell of the polynomials through its points, (..., CHECKS)."""
    return np.asarray((share[..., np.newaxis] ** (_POWERS + 1) / (_POWERS + 1)) @ _LAGRANGE)


class Ledger:
    """What a profile asks for at points of a stretch that are not those it was planned at."""

    def __init__(self, demands: Demands, stretch: Stretch, s: Array, sigma: Array) -> None:
        self.demands, self.stretch = demands, stretch
        self.s, self.widths, self.steps = s, np.diff(s), np.diff(sigma)
        cells = len(self.steps)
        self.cell = np.repeat(np.arange(cells), CHECKS)
        share = np.tile(_PLACES, cells)
        bead = Bead.of(stretch, self._places(self.cell, share))
        self.speeds = bead.w.reshape(cells, CHECKS)
        self.points = bead, self._ahead(self.cell, share)

    def _places(self, cell: Array, share: Array) -> Array:
        """The parameters s at shares of cells."""
        s = self.s[cell] + share * self.widths[cell]
        return np.asarray(np.clip(s, self.s[cell], self.s[cell + 1]))

    def _ahead(self, cell: Array, share: Array) -> Array:
        """σ from each cell's beginning to a share of it: ∫ w of the polynomial through its points."""
        whole = self.speeds @ _integrals(np.array(1.0))
        part = np.sum(self.speeds[cell] * _integrals(share), axis=-1)
        return np.asarray(self.steps[cell] * np.clip(part / whole[cell], 0.0, 1.0))

    def _shares(
        self, points: tuple[Bead, Array], cell: Array, x: Array, u: Array, slower: float = 1.0
    ) -> Array:
        bead, ahead = points
        here = np.maximum(x[cell] + 2 * ahead * u[cell], 0.0)
        here = np.where((ahead == 0) | (here > 1e-14 * x.max()), here, 0.0)
        moving = bead.moving(self.demands.robot, np.sqrt(here) / slower, u[cell] / slower**2)
        return self.demands.shares(moving)

    def _points(self, cell: Array, share: Array) -> tuple[Bead, Array]:
        """Points at rising shares of rising cells, and σ from each cell's beginning."""
        return Bead.of(self.stretch, self._places(cell, share)), self._ahead(cell, share)

    def shares(self, x: Array, u: Array) -> Array:
        """(cells, points, bounds) of a profile x (cells + 1,), u (cells,)."""
        found = self._shares(self.points, self.cell, x, u)
        return found.reshape(-1, CHECKS, len(self.demands.bounds))

    @cached_property
    def finely(self) -> tuple[tuple[Bead, Array], Array]:
        """More points of every cell, and their cells."""
        cell = np.repeat(np.arange(len(self.steps)), FINELY)
        return self._points(cell, np.tile(_FINELY, len(self.steps))), cell

    def closely(self, x: Array, u: Array) -> Closely:
        """What a profile asks for at many points, and where a limit is used most between them."""
        points, cell = self.finely
        peaks, top = self._peaks(x, u, self._shares(points, cell, x, u).max(axis=1))
        return Closely(self, x, u, ((points, cell), (peaks, top)))

    def _peaks(self, x: Array, u: Array, most: Array) -> tuple[tuple[Bead, Array], Array]:
        """Highest points that lie between others, and their cells: friction may have an edge there."""
        most = most.reshape(-1, FINELY)
        rise = np.pad(np.diff(most, axis=1), ((0, 0), (1, 1)))
        before, after = rise[:, :-1], -rise[:, 1:]
        # a peak with straight flanks is higher than its highest point by less than points differ
        high = (before >= 0) & (after >= 0) & (most + np.maximum(before, after) > 1)
        cell, top = np.nonzero(high)
        low, high = (_FINELY[np.clip(top + i, 0, FINELY - 1)] for i in (-1, 1))
        every, row = np.repeat(cell, ZOOMED), np.arange(cell.size)
        found, places = np.full(cell.size, -np.inf), (low + high) / 2
        for _ in range(ZOOMS if cell.size else 0):
            place = low[:, np.newaxis] + (high - low)[:, np.newaxis] * _ZOOMED
            used = self._shares(self._points(every, place.ravel()), every, x, u).max(axis=1)
            used = used.reshape(place.shape)
            best = np.argmax(used, axis=1)
            higher = used[row, best] > found
            found = np.where(higher, used[row, best], found)
            places = np.where(higher, place[row, best], places)
            part = (high - low) / (ZOOMED + 1)
            low, high = (np.clip(place[row, best] + i * part, low, high) for i in (-1, 1))
        return self._points(cell, places), cell


class Closely(NamedTuple):
    """A profile looked at closely."""

    ledger: Ledger
    x: Array
    u: Array
    points: tuple[tuple[tuple[Bead, Array], Array], ...]

    def shares(self, slower: float = 1.0) -> Array:
        """(n, bounds) at all points, the profile played slower."""
        ledger = self.ledger
        return np.concatenate(
            [ledger._shares(some, cell, self.x, self.u, slower) for some, cell in self.points]
        )

    def place(self, point: int) -> tuple[Bead, int]:
        """The points that a row of `shares` is of, and which of them it is."""
        first = len(self.points[0][1])
        some, _ = self.points[point >= first]
        return some[0], point - first * (point >= first)

    @property
    def cells(self) -> Array:
        """Of each point, (n,)."""
        return np.concatenate([cell for _, cell in self.points])


class Grid:
    """A stretch cut at knots s (n,), its conditions and what it is checked by."""

    def __init__(self, demands: Demands, stretch: Stretch, s: Array) -> None:
        self.demands, self.s = demands, s
        self.conditions = Conditions(demands, stretch, s)
        self.sigma = self.conditions.sigma
        self.steps = np.diff(self.sigma)
        self.ledger = Ledger(demands, stretch, s, self.sigma)

    def acceleration(self, x: Array) -> Array:
        """σ̈ (cells,) of a profile x = σ̇² (cells + 1,)."""
        return np.asarray(np.diff(x) / (2 * self.steps))

    def spans(self, x: Array) -> Array:
        """How long each cell takes (cells,), s."""
        speed = np.sqrt(x)
        return np.asarray(2 * self.steps / (speed[1:] + speed[:-1]))


class Outcome(NamedTuple):
    """What passes over a grid end with."""

    x: Array
    shares: Array
    """(cells, points, bounds)."""
    tighter: Array
    """What is taken from limits (cells, bounds)."""


def fastest_law(demands: Demands, stretch: Stretch, cells: int = CELLS) -> TimeLaw:
    """From rest to rest, as fast as limits allow.

    Cells in which limits are exceeded between the points of `gough.planning.conditions`, or in which
    none is used, are refined; so are those around conditions that contradict each other. What remains
    is taken from the limits of its cell in the next pass; what is left in the end, some 10⁻⁵, is taken
    away by slowing down.
    """
    count = max(cells, int(np.ceil(float(stretch.turned[-1]) / TURN)))
    grid = Grid(demands, stretch, _knots(demands.robot, stretch, count))
    x: Array | None = None
    retreats = 0
    for turn in range(ROUNDS + RETREATS):
        found = _passes(grid, _guess(grid.conditions, retreats) if x is None else x, PASSES)
        if isinstance(found, Impossible):
            near = np.abs(np.arange(len(grid.steps)) - found.cell) <= 2 * (1 + retreats)
            retreats += 1
        else:
            near = _refined(grid, found)
        s = _cut(grid.s, near)
        if len(s) == len(grid.s) or len(s) > MOST_KNOTS or turn - retreats >= ROUNDS:
            break
        if retreats > RETREATS:
            break
        before, sigma = (None if isinstance(found, Impossible) else found.x), grid.sigma
        grid = Grid(demands, stretch, s)
        x = None if before is None else np.interp(grid.sigma, sigma, before)
    if not isinstance(found, Impossible):
        found = _passes(grid, found.x, LAST_PASSES)
    if isinstance(found, Impossible):
        raise _impossible(demands, grid.conditions, found)
    return _repaired(grid, found)


def _passes(grid: Grid, x: Array, most_passes: int) -> Outcome | Impossible:
    """Linear passes from a profile x, until the duration is steady and limits are met."""
    tighter = np.full((len(grid.steps), len(grid.demands.bounds)), MARGIN)
    before, settled = np.inf, False
    for turn in range(most_passes):
        found = fastest(grid.sigma, grid.conditions.rows(x, grid.acceleration(x), tighter))
        if isinstance(found, Impossible):
            return found
        x = found
        u = grid.acceleration(x)
        shares = grid.ledger.shares(x, u)
        most = shares.max(axis=1)
        duration = float(np.sum(grid.spans(x)))
        steady = abs(duration - before) <= STEADY * duration
        if (steady and most.max() <= 1 + MET) or turn == most_passes - 1:
            break
        settled = settled or abs(duration - before) <= NEARLY_STEADY * duration
        before = duration
        between = most - grid.conditions.shares(x, u).max(axis=1)
        between = MARGIN + np.where(most > NEARLY, np.clip(between, 0.0, MOST_TIGHTER), 0.0)
        tighter = np.maximum(tighter, between) if settled else between
    return Outcome(x, shares, tighter)


def _refined(grid: Grid, found: Outcome) -> Array:
    """Which cells (cells,) to cut: a limit is exceeded inside, or none is used."""
    used = found.shares.max(axis=2)
    spans = grid.spans(found.x)
    idle = (used.mean(axis=1) < UNUSED) & ~grid.conditions.turning
    if np.sum(spans[idle]) <= WORTH * np.sum(spans):
        idle[:] = False
    return np.asarray((used.max(axis=1) > 1 + OVER) | idle)


def _cut(s: Array, chosen: Array) -> Array:
    """Knots with the chosen cells in `PARTS`, but for those that are small enough."""
    width = np.diff(s)
    chosen = chosen & (width > SMALLEST * (s[-1] - s[0]))
    inner = s[:-1][chosen, np.newaxis] + width[chosen, np.newaxis] * np.arange(1, PARTS) / PARTS
    return np.sort(np.concatenate([s, inner.ravel()]))


def _repaired(grid: Grid, found: Outcome) -> TimeLaw:
    """The law with what exceeds limits inside cells taken from the limits of those cells."""
    x, tighter = found.x, found.tighter
    for turn in range(REPAIRS + 1):
        u = grid.acceleration(x)
        close = grid.ledger.closely(x, u)
        every = close.shares()
        if every.max() <= 1 + MET or turn == REPAIRS:
            break
        most = np.zeros_like(tighter)
        np.maximum.at(most, close.cells, every)
        between = np.clip(most - grid.conditions.shares(x, u).max(axis=1), 0.0, MOST_TIGHTER)
        tighter = np.maximum(tighter, MARGIN + np.where(most > NEARLY, between, 0.0))
        again = fastest(grid.sigma, grid.conditions.rows(x, u, tighter))
        if isinstance(again, Impossible):
            break
        x = again
    return TimeLaw.of_profile(grid.sigma, x / _slower(close) ** 2)


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
    """Knots with those wanted among them, in place of others that are nearer than `NEAR` of a cell."""
    width = np.diff(s)[np.clip(np.searchsorted(s, wanted) - 1, 0, len(s) - 2)]
    apart = np.diff(wanted, prepend=-np.inf) > SAME * width
    wanted, width = wanted[apart], width[apart]
    inner = s[1:-1]
    after = np.clip(np.searchsorted(wanted, inner), 0, len(wanted) - 1)
    gap = np.minimum(
        *(np.abs(wanted[i] - inner) / width[i] for i in (after, np.maximum(after - 1, 0)))
    )
    inside = (wanted - s[0] > SAME * width) & (s[-1] - wanted > SAME * width)
    return np.sort(np.concatenate([s[[0, -1]], inner[gap > NEAR], wanted[inside]]))


def _guess(conditions: Conditions, retreats: int) -> Array:
    """A profile to linearise about: constant, such that no speed is exceeded and forces are modest.

    The slower, the more often conditions have contradicted each other.
    """
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
    return np.full(len(conditions.sigma), 0.25 * limit / 4**retreats)


def _slower(close: Closely) -> float:
    """The factor on time, 1 or a little above, at which limits are met wherever they are checked."""
    slower = 1.0
    shares = close.shares(slower)
    while shares.max() > 1 - MARGIN / 4:
        slower += 1.02 * (float(shares.max()) - 1 + MARGIN / 2)
        shares = close.shares(slower)
        if slower > SLOWEST:
            point, bound = np.unravel_index(np.argmax(shares), shares.shape)
            raise _limit_error(close.ledger.demands, *close.place(int(point)), int(bound))
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
