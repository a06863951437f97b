"""A chunk of a compiled simulation's steps: its arrays, what is looked for in them, what is kept."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.state import CHAINS
from gough.simulation.controllers import Memory
from gough.simulation.events import Stop
from gough.simulation.integrators import runge_kutta
from gough.simulation.plant import ELASTIC, MOVING, PlantState, at_rest_drives
from gough.simulation.scenario import FIELDS, Record, Scenario
from gough.simulation.sensors import Noise
from gough.simulation.stepwise import Loop, stop_of

CHUNK = 4_000_000
"""Numbers that a chunk's state may hold."""
LONGEST = 2000
"""Steps of a chunk."""
WORST_LOADS = 1e-9
"""Disagreement of friction loads, relative to the largest, at which a simulation ends."""


class Chunk:
    """Arrays (steps, rows, ...); the state has one entry more, where the next chunk begins."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        plant, rows = scenario.plant, scenario.rows
        legs, actuators = plant.robot.leg_count, plant.robot.actuator_count
        self.every = scenario.every or 1
        start = scenario.start
        self.moving = (
            *MOVING,
            *(ELASTIC if plant.modes else ()),
            *((CHAINS,) if plant.joints else ()),
        )
        width = 30 + 4 * actuators + 2 * plant.modes + plant.joints
        size = min(LONGEST, max(CHUNK // (rows * width), 1), scenario.steps)
        self.size = size = -(-size // self.every) * self.every
        self.states = {
            name: np.empty((size + 1, *getattr(start, name).shape))
            for name in (*self.moving, "works", "drive", "motors")
        }
        self.q, self.qd = np.empty((2, size, rows, actuators))
        self.conditioning, self.margin = np.empty((2, size, rows))
        self.unsettled = np.zeros((size, rows))
        self.applied, self.command = np.empty((2, size, rows, actuators))
        if scenario.every is not None:
            self.command = np.empty((size // self.every, rows, actuators))
        self.noise = Noise(scenario.sensors, scenario.seeds, actuators)
        self.loads = np.zeros((rows, 3, legs))
        self.senses = scenario.every is not None and not (
            scenario.sensors.exact and not scenario.delay
        )
        self.readings: dict[str, Array] = {}
        loop = Loop(scenario, np.arange(rows))
        self.used: Memory = {}
        """What the controller remembered when it was last asked."""
        self.memory = {
            name: np.empty((size // self.every + 1, *value.shape))
            for name, value in loop.memory.items()
        }
        for name, value in loop.memory.items():
            self.memory[name][0] = value
        if plant.actuators.lag or self.senses:
            continuous = scenario.every is None
            first = loop.at_once(scenario.begin, start) if continuous else loop.command(0, start)
            start = at_rest_drives(start, first, plant.actuators)
        for name, array in self.states.items():
            array[0] = getattr(start, name)
        if self.senses:
            period = self.every * scenario.step
            self.rates_from = plant.before_readings(scenario.start, scenario.sensors, period)
            # the first sample was taken above; taken again, its noise must be the same
            self.noise = Noise(scenario.sensors, scenario.seeds, actuators)
            entries = size // self.every + scenario.delay
            for name, value in loop.readings[0][0]._asdict().items():
                self.readings[name] = np.empty((entries, *value.shape))
                self.readings[name][: scenario.delay] = value

    def look(self, done: int, count: int) -> None:
        """Events of a chunk's steps, and rows that end in it."""
        scenario, monitor = self.scenario, self.scenario.monitor
        if count == 0:
            seen = scenario.plant.watch(self.state(0))
            times = np.array([scenario.time(done)])
            monitor.look(times, *(value[np.newaxis] for value in seen))
            return
        times = scenario.time(done + np.arange(count))
        part = slice(0, count)
        monitor.look(times, self.q[part], self.qd[part], self.conditioning[part])
        doubtful = ~(self.margin[part] > 0) | (self.unsettled[part] > WORST_LOADS)
        for row in np.flatnonzero(doubtful.any(axis=0)):
            for step in np.flatnonzero(doubtful[:, row]):
                stop = self._stop(int(row), int(step), done)
                if stop is not None:
                    known = monitor.stops.get(int(row))
                    if known is None or stop.time <= known.time:
                        monitor.stops[int(row)] = stop
                    break

    def _stop(self, row: int, step: int, done: int) -> Stop | None:
        """Why a step of a row has no answer; None if it has one after all."""
        scenario, grid = self.scenario, self.scenario.grid
        time, size = float(grid.time(done + step)), float(grid.sizes(done + step, 1)[0])
        if self.unsettled[step, row] > WORST_LOADS:
            residual = self.unsettled[step, row]
            reason = f"friction finds no loads that agree with it: residual {residual:.2g}"
            return Stop(time, None, f"{reason}, limit {WORST_LOADS:g}")
        state = self.state(step)[row : row + 1]
        place = step // self.every if scenario.every is not None else step
        loop = Loop(scenario, np.array([row]))
        rates = loop.rate_of(self.command[place, row : row + 1])
        _, found = runge_kutta(rates, state, time, size)
        for error in found.troubles.values():
            return stop_of(time, error)
        if np.isfinite(self.margin[step, row]):
            return None
        return Stop(time, None, "the state is not finite")

    def state(self, step: int) -> PlantState:
        """The state at a step of the chunk."""
        start = self.scenario.start
        moving = {name: getattr(start, name) for name in (*ELASTIC, CHAINS)}
        return PlantState(**moving | {name: value[step] for name, value in self.states.items()})

    def keep(self, done: int, count: int, record: Record) -> None:
        """Records of a chunk."""
        apart = self.scenario.record_every
        first = -done % apart
        steps = np.arange(first, count, apart)
        if not steps.size:
            return
        places = slice((done + first) // apart, (done + first) // apart + len(steps))
        for name in FIELDS:
            if name in self.states:
                record.values[name][places] = self.states[name][steps]
        held = steps if self.scenario.every is None else steps // self.every
        record.values["command"][places] = self.command[held]
        record.values["applied"][places] = self.applied[steps]
        for name in self.scenario.controller.recorded:
            record.values[name][places] = self.memory[name][held]
        record.filled = places.stop

    def keep_last(self, record: Record) -> None:
        """The state at the end, under the last command."""
        if self.scenario.steps % self.scenario.record_every:
            return
        count = (self.scenario.steps - 1) % self.size + 1
        state = self.state(0)
        if self.scenario.every is None:
            loop = Loop(self.scenario, np.arange(self.scenario.rows))
            command = loop.at_once(float(self.scenario.time(self.scenario.steps)), state)
        else:
            command = self.command[-(-count // self.every) - 1]
        applied = self.scenario.plant.applied(state, command)
        record.keep(record.filled, state, command, applied, self.used)

    def carry(self, count: int) -> None:
        """The end of a chunk is the start of the next."""
        for value in self.states.values():
            value[0] = value[count]
        delay, samples = self.scenario.delay, -(-count // self.every)
        for name, value in self.memory.items():
            self.used[name] = value[samples - 1].copy()
            value[0] = value[samples]
        if self.senses and delay:
            for value in self.readings.values():
                value[:delay] = value[samples : samples + delay].copy()
