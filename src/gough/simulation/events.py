"""Events along a simulation: a stroke limit hit, a singularity near, an actuator that turns back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import Actuator
from gough.mechanics import programs
from gough.mechanics.state import CHAINS
from gough.model import batch
from gough.model.calls import ModelCalls
from gough.model.execution import numpy_executor
from gough.motion import Motion

NEAR_SINGULAR = 1e-3
"""Conditioning of the Jacobian (min over max |R_kk|) below which the robot counts as near singular."""
USED_UP = 0.3
"""Part of a leg's measure of health at the start below which it is to blame for a singularity."""
KINDS = ("stroke", "singularity", "reversal")
MOST_EVENTS = 10_000
STICKING = 1e-5
"""An actuator that turns back twice within so many seconds sticks."""


class Event(NamedTuple):
    """Something that happened."""

    kind: str
    """One of KINDS."""
    time: float
    row: int
    """Number of the simulation, flat."""
    leg: int | None
    """Counted from 1."""
    text: str


@dataclass(frozen=True)
class Stop:
    """Why a simulation ended early."""

    time: float
    """The last instant whose state is known, s."""
    leg: int | None
    """Counted from 1; None where no single leg is to blame."""
    reason: str

    def __str__(self) -> str:
        leg = "" if self.leg is None else f", leg {self.leg}"
        return f"t = {self.time:.6g} s{leg}: {self.reason}"


def with_culprit(stop: Stop, robot: ModelCalls, start: Motion, last: Motion) -> Stop:
    """The stop with the leg that is to blame, if one has used up its reach since the start.

    A leg at the end of its reach makes the robot's matrices singular before it is out of reach.
    """
    rows = []
    for one in (start.reshape(1), last.reshape(1)):
        joints = robot.mechanism.legs.coordinates
        inputs = {CHAINS: (robot.chains_of(one), (joints,))} if joints else {}
        rows.append(batch.lay_out(one, inputs).fields | robot.which())
    runner = numpy_executor(robot.mechanism)
    begin, end = (runner(programs.diagnosis, 1, fields)["legs"][0] for fields in rows)
    left = end / np.where(begin == 0, np.inf, begin)
    kind, leg = np.unravel_index(np.argmin(left), left.shape)
    if stop.leg is not None or not left[kind, leg] < USED_UP:
        return stop
    health = robot.mechanism.legs.HEALTH[int(kind)]
    near = health.reason.format(value=end[kind, leg], limit=health.limit)
    return Stop(stop.time, int(leg) + 1, f"{stop.reason}; just before, {near}")


@dataclass
class Monitor:
    """Compares every step with the one before."""

    shortest: Array
    """(actuators,)."""
    longest: Array
    actuators: tuple[Actuator, ...]
    """Their legs and units."""
    sharp: bool
    """Coulomb friction without width: reversals are events."""
    stop_on: frozenset[str]
    events: list[Event] = field(default_factory=list)
    stops: dict[int, Stop] = field(default_factory=dict)
    _before: tuple[Array, Array] | None = None
    _sign: Array | None = None

    def measures(self, q: Array, qd: Array, conditioning: Array) -> Array:
        """(n, rows, 2 actuators + 1): what is positive beyond a limit: strokes, then singularity."""
        if self._sign is None:
            self._sign = np.where(conditioning[0] < 0, -1.0, 1.0)
        near = NEAR_SINGULAR - conditioning * self._sign
        over = np.concatenate([q - self.longest, self.shortest - q], axis=-1)
        return np.concatenate([over, near[..., np.newaxis]], axis=-1)

    def look(self, times: Array, q: Array, qd: Array, conditioning: Array) -> None:
        """Steps at times (n,), in order: events, and stops at the last step before one of `stop_on`.

        q, q̇ (n, rows, actuators), conditioning (n, rows).
        """
        if self._quiet(q, qd, conditioning):
            return
        found = self.measures(q, qd, conditioning)
        before, slow = (found[:1] - np.inf, 0 * qd[:1]) if self._before is None else self._before
        chain = np.concatenate([before, found])
        crossed = (chain[1:] > 0) & ~(chain[:-1] > 0)
        for i, row, place in np.argwhere(crossed):
            self._cross(times, int(i), int(row), int(place), found[i, row, place])
        if self.sharp:
            rates = np.concatenate([slow, qd])
            for i, row, place in np.argwhere(rates[1:] * rates[:-1] < 0):
                self.add(self.reversal(int(place), float(times[i]), int(row)))
        self._before = (found[-1:], qd[-1:])

    def _quiet(self, q: Array, qd: Array, conditioning: Array) -> bool:
        """Nothing is near a limit in all these steps: a quick look that most chunks pass."""
        if self.sharp:
            return False
        if self._sign is None:
            self._sign = np.where(conditioning[0] < 0, -1.0, 1.0)
        within = bool((conditioning * self._sign).min() > NEAR_SINGULAR)
        if within and np.any(np.isfinite(self.longest) | np.isfinite(self.shortest)):
            low, high = q.min(axis=(0, 1)), q.max(axis=(0, 1))
            within = bool(np.all(high <= self.longest) and np.all(low >= self.shortest))
        if within:
            self._before = (
                self.measures(q[-1:], qd[-1:], conditioning[-1:]),
                qd[-1:],
            )
        return within

    def _cross(self, times: Array, i: int, row: int, place: int, value: float) -> None:
        if row in self.stops:
            return
        event = self.describe(place, float(times[i]), row)
        self.add(event)
        if event.kind in self.stop_on:
            last = float(times[max(i - 1, 0)])
            self.stops[row] = Stop(last, event.leg, event.text)

    def describe(self, place: int, time: float, row: int) -> Event:
        """The event of a measure that has become positive."""
        count = len(self.longest)
        if place == 2 * count:
            text = f"the robot is near a singularity: conditioning below {NEAR_SINGULAR:g}"
            return Event("singularity", time, row, None, text)
        number = place % count
        limit = (self.longest if place < count else self.shortest)[number]
        turns = self.actuators[number].units.q == "rad"
        words = ("largest", "smallest") if turns else ("longest", "shortest")
        side, unit = words[0 if place < count else 1], self.actuators[number].units.q
        text = f"{self.named(number)}its stroke is at its end: q = {limit:.6g} {unit}, the {side}"
        return Event("stroke", time, row, self.leg(number), text)

    def reversal(self, number: int, time: float, row: int) -> Event:
        """The event of an actuator that turns back."""
        text = f"{self.named(number)}turns back"
        return Event("reversal", time, row, self.leg(number), text)

    def leg(self, number: int) -> int:
        """The leg, counted from 1, of an actuator, from 0."""
        return self.actuators[number].leg + 1

    def named(self, number: int) -> str:
        """An actuator, from 0, by its number; nothing where its leg has no other."""
        legs = [one.leg for one in self.actuators]
        return "" if legs.count(legs[number]) == 1 else f"actuator {number + 1}: "

    def add(self, event: Event) -> None:
        """Keep an event, up to a number."""
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
