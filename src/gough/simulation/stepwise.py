"""The closed loop in Python, sample by sample: any controller, any platform, any integrator."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import replace
from math import inf

import numpy as np
from scipy.optimize import brentq

from gough.base.arrays import Array
from gough.errors import SampleError
from gough.model.chains import Poses, close
from gough.simulation.controllers import Measured, Memory
from gough.simulation.events import STICKING, Stop
from gough.simulation.grid import stage_times
from gough.simulation.integrators import FailedError, Piece, RateOf, adaptive, runge_kutta
from gough.simulation.plant import PlantState, Rates, at_rest_drives
from gough.simulation.scenario import Record, Scenario
from gough.simulation.sensors import Noise, Reading

AHEAD = 256
"""Samples for which the reference is computed at a time."""


class Loop:
    """Controller and sensors of some rows of a scenario."""

    def __init__(self, scenario: Scenario, rows: Array) -> None:
        self.scenario = scenario
        self.rows = rows
        self.plant = scenario.plant.of_rows(rows)
        self.noise = Noise(scenario.sensors, scenario.seeds[rows], self.plant.robot.actuator_count)
        self.readings: deque[tuple[Reading, PlantState, Array | None]] = deque(
            maxlen=scenario.delay + 1
        )
        self.held: Array | None = None
        """What was commanded last."""
        seeds = scenario.seeds[rows]
        self._shaken = self.noise.of_accelerometers(scenario.sensors, seeds)
        self.gains = scenario.controller.gains(self.plant.robot)
        self._goals: dict[str, Array] = {}
        self._first = self._last = 0
        self._model = scenario.controller.robot(self.plant.robot)
        start = scenario.start[rows]
        self._joints = start.chains
        if self._model is not self.plant.robot and self._model.mechanism.legs.coordinates:
            self._joints = self._model.chains_of(start.motion)
        self.memory: Memory = {}
        self.used: Memory = {}
        """What the controller remembered when it was last asked."""
        self._rates_from: dict[str, Array] = {}
        """What sensors need to find rates from q."""
        if scenario.every is not None:
            period = scenario.every * scenario.step
            self._rates_from = self.plant.before_readings(start, scenario.sensors, period)
            self.memory = scenario.controller.remembered(self.plant.robot, start.motion, period)
        self._steady = scenario.reference.duration is None and scenario.controller.timeless

    def command(self, sample: int, state: PlantState) -> Array:
        """What the controller commands at one of its samples."""
        scenario = self.scenario
        assert scenario.every is not None
        exact = scenario.sensors.exact
        noise = np.zeros((len(self.rows), 2, 0)) if exact else self.noise(1)[0]
        reading, kept = self.plant.sense(state, scenario.sensors, noise, self._rates_from)
        if kept is not None:
            self._rates_from["before"] = kept
        told = (reading, state, self._felt(state))
        self.readings.append(told)
        while len(self.readings) <= scenario.delay:
            self.readings.append(told)
        if sample >= self._last:
            self._first, self._last = sample, sample + AHEAD
            last = scenario.steps // scenario.every
            places = np.minimum(np.arange(sample, sample + AHEAD), max(last, sample))
            self._goals = scenario.goals(scenario.time(scenario.every * places))[0]
        goals = {name: value[sample - self._first] for name, value in self._goals.items()}
        time = float(scenario.time(scenario.every * sample))
        self.held = self._ask(time, *self.readings[0], goals)
        return self.held

    def _felt(self, state: PlantState) -> Array | None:
        """What accelerometers along q read, if there are any, under the forces of the last period."""
        noise = self.scenario.sensors.acceleration_noise
        if noise is None or self.held is None:
            return None
        true = self.plant.accelerations(state, self.held)
        return true + noise * np.stack([one.standard_normal(true.shape[1]) for one in self._shaken])

    def at_once(self, time: float, state: PlantState) -> Array:
        """What a controller that acts without pause commands."""
        reading, _ = self.plant.sense(state, self.scenario.sensors, np.zeros(0), {})
        if not (self._steady and self._goals):
            self._goals = self.scenario.goals(np.array([time]))[0]
        goals = {name: value[0] for name, value in self._goals.items()}
        return self._ask(time, reading, state, None, goals)

    def _ask(
        self,
        time: float,
        reading: Reading,
        state: PlantState,
        felt: Array | None,
        goals: dict[str, Array],
    ) -> Array:
        mine = {
            name: value if len(value) == 1 else value[self.rows] for name, value in goals.items()
        }
        if self._model.mechanism.legs.coordinates:
            bent = state.elastic[:, : self._model.modes]  # a rigid model knows of none
            poses = Poses(reading.position, reading.rotation, self._model.which(), bent)
            self._joints = close(self._model.executor, poses, self._joints)
        elastic = (state.elastic, state.elastic_velocity)
        measured = Measured(time, reading, self._joints, *elastic, felt)
        self.used = self.memory
        command, self.memory = self.scenario.controller.command(
            self.plant.robot, measured, mine | self.gains, self.memory
        )
        return command

    def rate_of(self, command: Array | None, begin: float = -inf, end: float = inf) -> RateOf:
        """The plant under a held command, or under a controller that acts without pause.

        Wrench and reference are those of times within `begin` and `end`, s, where one of them jumps.
        """

        def rates(time: float, state: PlantState, gibbs: Array) -> Rates:
            within = min(max(time, begin), end)
            now = self.at_once(within, state) if command is None else command
            return self.plant.rates(within, state, gibbs, now)

        return rates


def run_fixed(scenario: Scenario, record: Record) -> None:
    """Runge and Kutta's steps in Python, all rows at once."""
    rows = np.arange(scenario.rows)
    loop, state, monitor = Loop(scenario, rows), scenario.start, scenario.monitor
    every = scenario.every
    held: Array | None = None
    if every is None:
        state = at_rest_drives(state, loop.at_once(scenario.begin, state), scenario.plant.actuators)
    for step in range(scenario.steps + 1):
        time = float(scenario.time(step))
        seen = scenario.plant.watch(state)
        monitor.look(np.array([time]), *(value[np.newaxis] for value in seen))
        last = step == scenario.steps
        if every is not None and step % every == 0 and not (last and held is not None):
            held = loop.command(step // every, state)
            if step == 0:
                state = at_rest_drives(state, held, scenario.plant.actuators)
        now = loop.at_once(time, state) if held is None else held
        following, rates = (
            (state, loop.rate_of(held)(time, state, np.zeros((len(rows), 3))))
            if last
            else runge_kutta(
                loop.rate_of(held), state, time, float(scenario.grid.sizes(step, 1)[0])
            )
        )
        if step % scenario.record_every == 0:
            record.keep(step // scenario.record_every, state, now, rates.applied, loop.used)
            scenario.progress((step + 1) / (scenario.steps + 1))
        for row, error in rates.troubles.items():
            if row not in monitor.stops and not last:
                monitor.stops[row] = stop_of(time, error)
        if len(monitor.stops) == len(rows):
            return
        state = scenario.plant.settled(following)
        if monitor.stops:  # stopped rows mark time at the start, unseen
            state = _from_start(state, scenario.start, list(monitor.stops))


def run_adaptive(scenario: Scenario, record: Record) -> None:
    """One row after the other by a solver of SciPy's."""
    filled = 0
    for row in range(scenario.rows):
        try:
            _run_row(scenario, record, row)
        finally:
            filled = record.filled = max(filled, record.filled)


def _run_row(scenario: Scenario, record: Record, row: int) -> None:
    loop = Loop(scenario, np.array([row]))
    state, every = scenario.start[row : row + 1], scenario.every
    end = float(scenario.time(scenario.steps))
    held: Array | None = None
    place, first_step = 0, None
    seen = _Seen(loop, row)
    if every is None:
        first = loop.at_once(scenario.begin, state)
        state = at_rest_drives(state, first, scenario.plant.actuators)
    samples = 1 if every is None else scenario.steps // every

    def keep(place: int, time: float, state: PlantState) -> None:
        now = loop.at_once(time, state) if held is None else held
        applied = loop.rate_of(held)(time, state, np.zeros((1, 3))).applied
        whole = {name: getattr(state, name)[0] for name in record.values if hasattr(state, name)}
        whole |= {name: loop.used[name][0] for name in scenario.controller.recorded}
        for name, value in (whole | {"command": now[0], "applied": applied[0]}).items():
            record.values[name][place, row] = value
        record.filled = place + 1
        scenario.progress((row + (place + 1) / len(record.times)) / scenario.rows)

    time = scenario.begin
    wrong = seen.start(state)
    if wrong is not None:
        held = None if every is None else loop.command(0, state)
        keep(0, time, state)
        scenario.monitor.stops[row] = wrong
        return
    for sample in range(samples):
        begin = float(scenario.time(sample * (every or 0)))
        until = end if every is None else float(scenario.time((sample + 1) * every))
        if every is not None:
            held = loop.command(sample, state)
            if sample == 0:
                state = at_rest_drives(state, held, scenario.plant.actuators)
        time = begin
        while time < until:
            place_of_break = bisect_right(scenario.breaks, time)
            ahead = [one for one in scenario.breaks[place_of_break:][:1] if one < until]
            border = ahead[0] if ahead else until
            first, _, last = stage_times(np.array(time), np.array(border - time))
            rate_of = loop.rate_of(held, float(first), float(last))
            restart = border < until
            try:
                for piece in adaptive(
                    rate_of,
                    state,
                    time,
                    border,
                    scenario.method,
                    scenario.tolerances,
                    first_step,
                    loop.plant.settled if loop.plant.settles else None,
                    scenario.longest,
                ):
                    stop, cut = seen.look(piece)
                    finish = piece.end if cut is None else cut
                    while place < len(record.times) and (
                        record.times[place] < finish
                        or (finish >= end and record.times[place] <= finish)
                    ):
                        moment = max(float(record.times[place]), piece.begin)
                        keep(place, moment, piece.at(moment))
                        place += 1
                    state, time = piece.at(finish), finish
                    first_step = max(piece.end - piece.begin, 1e-9)
                    if stop is not None:
                        scenario.monitor.stops[row] = stop
                        return
                    if cut is not None:
                        restart = True
                        break
            except FailedError as failed:
                scenario.monitor.stops[row] = stop_of(failed.time, failed.error)
                return
            if not restart:
                break


class _Seen:
    """What an adaptive run watches for: events are located within a step."""

    def __init__(self, loop: Loop, row: int) -> None:
        self.loop, self.row = loop, row
        scenario = loop.scenario
        self.monitor = replace(scenario.monitor, _before=None, _sign=None)
        self.turned: dict[int, float] = {}

    def start(self, state: PlantState) -> Stop | None:
        """Limits that are exceeded from the start; a reason not to begin."""
        self.measures, self.rates = self._at(state)
        begin = self.loop.scenario.begin
        for place in np.flatnonzero(self.measures > 0):
            event = self.monitor.describe(int(place), begin, self.row)
            self.monitor.add(event)
            if event.kind in self.monitor.stop_on:
                return Stop(begin, event.leg, event.text)
        return None

    def _at(self, state: PlantState) -> tuple[Array, Array]:
        seen = self.loop.plant.watch(state)
        measures = self.monitor.measures(*(value[np.newaxis] for value in seen))
        return measures[0, 0], seen.qd[0]

    def look(self, piece: Piece) -> tuple[Stop | None, float | None]:
        """Events of a piece: a reason to stop, and where to cut the piece short."""
        measures, rates = self._at(piece.at(piece.end))
        found: list[tuple[float, int]] = []
        for place in np.flatnonzero((measures > 0) & ~(self.measures > 0)):
            found.append((self._locate(piece, int(place), 0), int(place)))
        count = len(self.measures)
        if self.monitor.sharp:
            for leg in np.flatnonzero(rates * self.rates < 0):
                found.append((self._locate(piece, int(leg), 1), count + int(leg)))
        for time, which in sorted(found):
            if which < count:
                event = self.monitor.describe(which, time, self.row)
                self.monitor.add(event)
                if event.kind in self.monitor.stop_on:
                    return Stop(time, event.leg, event.text), time
                continue
            number = which - count
            self.monitor.add(self.monitor.reversal(number, time, self.row))
            before = self.turned.get(number, -np.inf)
            self.turned[number] = time
            if time - before < STICKING:
                return Stop(time, self.monitor.leg(number), STICKS), time
            if time > piece.begin:  # the friction jumps here: go on from behind it
                past = min(piece.end, time + 1e-9 * (piece.end - piece.begin))
                self.measures, self.rates = self._at(piece.at(past))
                return None, past
        self.measures, self.rates = measures, rates
        return None, None

    def _locate(self, piece: Piece, place: int, which: int) -> float:
        """When a measure (which 0) or a rate (1) passes through zero."""

        def value(time: float) -> float:
            return float(self._at(piece.at(time))[which][place])

        low, high = value(piece.begin), value(piece.end)
        if not low * high < 0:
            return piece.begin if which == 0 else piece.end
        return float(brentq(value, piece.begin, piece.end, xtol=1e-12, rtol=8.9e-16))


STICKS = (
    "its actuator sticks, and Coulomb friction without a width has no answer there: give `width`, "
    "1e-4 m/s or rad/s for example, under [legs.friction] or of the joint"
)


def stop_of(time: float, error: SampleError) -> Stop:
    """The end of a simulation for which the robot has no answer."""
    failure = error.failures[0]
    return Stop(time, failure.leg, failure.reason)


def _from_start(state: PlantState, start: PlantState, rows: list[int]) -> PlantState:
    changed = {}
    for name in state.__dataclass_fields__:
        value = np.array(getattr(state, name))
        value[rows] = getattr(start, name)[rows]
        changed[name] = value
    return PlantState(**changed)
