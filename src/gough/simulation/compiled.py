"""The whole closed loop inside the engine: sensors, controller, Runge and Kutta's stages.

A chunk of steps runs without returning to Python; then it is looked at for events, kept, and the next
one begins. Results are those of `gough.simulation.stepwise` to rounding. For all controllers but
functions of the user's (and flexible models told late), and where LLVM is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import VARIANT
from gough.mechanics.forward_program import joint_step
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.calls import ModelCalls
from gough.simulation import programs
from gough.simulation.chunk import Chunk
from gough.simulation.laws import law_inputs
from gough.simulation.layout import RIGID
from gough.simulation.plant import ELASTIC, MOVING, NOTHING
from gough.simulation.scenario import Record, Scenario

if TYPE_CHECKING:
    from gough.engine.run.stepping import Call, Stream

OF_STAGES = ("before", "ahead", "command")
"""Inputs of the stages that the first does not need where the law is in it."""


def possible(scenario: Scenario) -> bool:
    """The scenario can run inside the engine."""
    return scenario.compiled


def run(scenario: Scenario, record: Record) -> None:
    """All steps of all rows."""
    machine = _Machine(scenario)
    done = 0
    while done < scenario.steps:
        count = min(machine.size, scenario.steps - done)
        machine.advance(done, count)
        machine.look(done, count)
        machine.keep(done, count, record)
        done += count
        scenario.progress(done / scenario.steps)
        if len(scenario.monitor.stops) == scenario.rows:
            return
        machine.carry(count)
    machine.look(done, 0)
    machine.keep_last(record)


class _Machine(Chunk):
    """The calls on a chunk's arrays."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.robot = scenario.plant.robot
        self.model = scenario.controller.robot(self.robot)
        # a law that knows the plant and acts in every step also does what `watch` does, and the first
        # stage unless friction repeats that; large programs are better compiled apart
        plant = scenario.plant
        self.fuses = not (plant.rubs or plant.modes or plant.settles)
        alike = self.model is self.robot and plant.springs is None
        self.shares = alike and scenario.every == 1 and not self.senses
        # what the law's own joints of chains are near, where they are not the plant's
        self.joints = np.zeros((scenario.rows, self.model.mechanism.legs.coordinates))
        self.apart = np.zeros(scenario.rows)
        if self.joints.size and not self._own_joints():
            start = scenario.start
            same = self.model is self.robot
            self.joints[:] = start.chains if same else self.model.chains_of(start.motion)

    def _own_joints(self) -> bool:
        """The law computes with the plant's own joints of chains."""
        return self.model is self.robot and not self.senses

    def advance(self, done: int, count: int) -> None:
        """Run a chunk of steps from step `done` on."""
        from gough.engine.run import stepping

        scenario = self.scenario
        times = scenario.grid.stages(done, count).ravel()
        given = scenario.plant.wrench
        wrench = None if given is None else _solid(given(times))
        self.sizes = scenario.grid.sizes(done, count)
        if scenario.every is None:
            calls = self._continuous(times, wrench)
        else:
            calls = self._sampled(done, count, wrench)
        stepping.run(count, scenario.rows, calls, programs.LOADS_TOLERANCE)

    def _sampled(self, done: int, count: int, wrench: Array | None) -> list[Call]:
        from gough.engine.run.stepping import Stream

        scenario, plant, every = self.scenario, self.scenario.plant, self.every
        samples = -(-count // every)
        goals, _ = scenario.goals(scenario.time(done + every * np.arange(samples)))
        known: dict[str, Array | Stream] = {
            name: Stream(_solid(value), every=every) for name, value in goals.items()
        }
        known |= {name: Stream(value, every=every) for name, value in self.memory.items()}
        state = {name: Stream(self.states[name], every=every, stride=every) for name in self.moving}
        command = Stream(self.command, every=every)
        if self.shares and not (plant.rubs or plant.settles):
            return self._stages(wrench, [command] * 4, [None] * 4, {**state, **known})
        if self.shares:
            calls = self._law({**state, **known}, command, every)
            return calls + self._stages(wrench, [command] * 4, [None] * 4)
        calls = [self._watch(self._now())]
        if self.senses:
            noise = Stream(self.noise(samples), every=every)
            steps = scenario.sensors.steps[np.newaxis]
            heard: dict[str, Any] = {
                name: Stream(value, first=scenario.delay, every=every)
                for name, value in self.readings.items()
            }
            inputs: dict[str, Any] = {"noise": noise, "steps": steps, **self.rates_from}
            if self.rates_from:
                heard["kept"] = self.rates_from["before"]
            if scenario.sensors.on_motors:
                inputs["motors"] = Stream(self.states["motors"], every=every, stride=every)
            calls.append(_call(self.robot, programs.sense, state, inputs, heard, every=every))
            told = {name: Stream(value, every=every) for name, value in self.readings.items()}
        else:
            told = state | {
                name: Stream(value, every=every, stride=every)
                for name, value in (("q", self.q), ("qd", self.qd))
            }
        calls += self._law({**state, **told, **known}, command, every)
        return calls + self._stages(wrench, [command] * 4, [None] * 4)

    def _continuous(self, times: Array, wrench: Array | None) -> list[Call]:
        """The controller acts in every stage; their times are three a step."""
        from gough.engine.run.stepping import Stream

        goals, _ = self.scenario.goals(times)
        solid = {name: _solid(value) for name, value in goals.items()}
        rows, actuators = self.applied.shape[1:]
        commands: list[Array | Stream] = [Stream(self.command)]
        commands += [np.empty((rows, actuators)) for _ in range(3)]
        reached = (*MOVING, *((CHAINS,) if self.scenario.plant.joints else ()))
        before: list[Any] = []
        for stage, moment in enumerate((0, 1, 1, 2)):
            known = {name: Stream(value, moment, 1, 3) for name, value in solid.items()}
            q, qd = np.empty((2, rows, actuators))

            seen = {name: np.empty(self.states[name].shape[1:]) for name in reached}

            def law(
                now: Mapping[str, Any],
                reach: Mapping[str, Array],
                stage: int = stage,
                known: Any = known,
                q: Array = q,
                qd: Array = qd,
                seen: Mapping[str, Array] = seen,
            ) -> list[Call]:
                if stage == 0:
                    told = {**now, "q": Stream(self.q), "qd": Stream(self.qd)}
                    return [self._watch(now), *self._law({**told, **known}, commands[0], 1)]
                told = {**now, **seen, "q": q, "qd": qd}
                if "drive" in now:
                    reach = {**reach, "drive": now["drive"]}
                return [
                    _call(self.robot, programs.stage_state, now, reach, seen),
                    self._watch({**now, **seen})._replace(outputs={"q": q, "qd": qd}),
                    *self._law({**told, **known}, commands[stage], 1),
                ]

            before.append(law)
        return self._stages(wrench, commands, before)

    def _now(self) -> dict[str, Stream]:
        from gough.engine.run.stepping import Stream

        return {name: Stream(self.states[name]) for name in self.moving}

    def _watch(self, state: Mapping[str, Any]) -> Call:
        return _call(self.robot, programs.watch, state, {}, self._watched())

    def _watched(self) -> dict[str, Stream]:
        from gough.engine.run.stepping import Stream

        outputs = {"q": self.q, "qd": self.qd, "conditioning": self.conditioning}
        return {name: Stream(value) for name, value in outputs.items()}

    def _law(self, known: Mapping[str, Any], command: Any, every: int) -> list[Call]:
        law, inputs = self._told(known)
        outputs = {"command": command, **self._remembered(every)}
        if self.shares:
            law, outputs = programs.watching(law), outputs | self._watched()
        calls = []
        if self.joints.size and not self._own_joints():
            known = {**known, CHAINS: self.joints}
            kept = {CHAINS: self.joints, "residual": self.apart}
            calls = [_call(self.model, joint_step, known, {}, kept, every, until="residual")]
        return [*calls, _call(self.model, law, known, inputs, outputs, every=every)]

    def _remembered(self, every: int) -> dict[str, Stream]:
        """What the law remembers for its next sample."""
        from gough.engine.run.stepping import Stream

        return {
            f"next_{name}": Stream(value, first=1, every=every)
            for name, value in self.memory.items()
        }

    def _told(self, known: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The controller's law and its inputs."""
        law: Any = self.scenario.controller.program
        known = {**known, **self.scenario.controller.gains(self.scenario.plant.robot)}
        return law, {name: known[name] for name in law_inputs(law) if name in known}

    def _stages(
        self,
        wrench: Array | None,
        commands: list[Any],
        before: list[Any],
        known: Mapping[str, Any] | None = None,
    ) -> list[Call]:
        """Four stages, with what goes before each, and the end of the step.

        With what a law is told, `known`, it acts in one program with the first stage.
        """
        from gough.engine.run.stepping import Stream

        scenario = self.scenario
        plant, rows = scenario.plant, scenario.rows
        lags = bool(plant.actuators.lag)
        sprung, body = plant.springs is not None, plant.robot.load_side
        size = RIGID + plant.robot.actuator_count * (lags + 2 * sprung) + plant.joints
        rates = np.zeros((4, rows, size))
        margins, residuals = np.zeros((2, 4, rows))
        now: dict[str, Any] = self._now()
        if lags:
            now["drive"] = Stream(self.states["drive"])
        if sprung:
            now["motors"] = Stream(self.states["motors"])
        elastic, elastic_rate, elastic_acceleration = np.zeros((3, 4, rows, plant.modes))
        calls: list[Call] = []
        for stage, (moment, part) in enumerate(((0, 0.0), (1, 0.5), (1, 0.5), (2, 1.0))):
            ahead = self._ahead(part)
            reach = {"before": rates[max(stage - 1, 0)], "ahead": ahead}
            if plant.modes and stage:
                start = self._now()
                rated = now["elastic_velocity"]
                of_modes = (rated, elastic_acceleration[stage - 1])
                reached = (elastic[stage], elastic_rate[stage])
                for name, rate, place in zip(ELASTIC, of_modes, reached, strict=True):
                    calls.append(self._along(start[name], (ahead, rate), None, place))
                    now = now | {name: place}
            if before[stage] is not None:
                calls += before[stage](now, reach)
            inputs: dict[str, Any] = {
                **reach,
                "command": commands[stage],
                **plant.constants,
            }
            outputs = {"rate": rates[stage], "margin": margins[stage]}
            if plant.modes:
                outputs["elastic"] = elastic_acceleration[stage]
            if wrench is not None:
                inputs["wrench"] = Stream(wrench, moment, 1, 3)
            if stage == 0:
                outputs["applied"] = Stream(self.applied)
            inputs |= {name: now[name] for name in ("drive", "motors") if name in now}
            if plant.rubs:
                inputs["loads"] = self.loads
                kept = "caused" if plant.modes else "loads"
                outputs |= {kept: self.loads, "residual": residuals[stage]}
            if known is not None and stage == 0:
                law, told = self._told(known)
                others = {name: value for name, value in inputs.items() if name not in OF_STAGES}
                outputs |= {"command": commands[0], **self._watched(), **self._remembered(1)}
                state, program = {**now, **known}, programs.acting(law)
                calls.append(_call(self.robot, program, state, {**others, **told}, outputs))
            elif stage < 3 or not self.fuses:
                # a flexible platform's kernel, which has loops over modes, is repeated from outside
                until = "residual" if plant.rubs and plant.modes else None
                settles = plant.rubs and not plant.modes
                stage_program = (
                    programs.settled_stage(plant.robot.leg_count) if settles else programs.stage
                )
                calls.append(_call(body, stage_program, now, inputs, outputs, until=until))
        names = [*MOVING, "works", *(name for name in ("drive", "motors") if name in now)]
        names += [CHAINS] if plant.joints else []
        ends = {name: Stream(self.states[name], first=1) for name in names}
        ends["worst_margin"] = Stream(self.margin)
        known_rates = {f"rate_{i + 1}": rates[i] for i in range(4)}
        known_margins = {f"margin_{i + 1}": margins[i] for i in range(4)}
        works = {"works": Stream(self.states["works"])}
        if not self.fuses:
            given = {**works, "step": self._ahead(1.0), **known_rates, **known_margins}
            given |= {name: now[name] for name in ("drive", "motors") if name in now}
            calls.append(_call(body, programs.finish, now, given, ends))
        else:
            del known_rates["rate_3"], known_rates["rate_4"], known_margins["margin_4"]
            given = {**inputs, **works, **known_rates, **known_margins}
            calls.append(_call(body, programs.last, now, given, ends))
        if plant.modes:
            start, half_way = self._now(), np.empty((rows, plant.modes))
            velocities: list[Any] = [start["elastic_velocity"], *elastic_rate[1:]]
            rated_by = (velocities, list(elastic_acceleration))
            for name, of_stages in zip(ELASTIC, rated_by, strict=True):
                end = Stream(self.states[name], first=1)
                parts = [self._ahead(1 / one) for one in (6, 3, 3, 6)]
                pairs = list(zip(parts, of_stages, strict=True))
                calls.append(self._along(start[name], pairs[0], pairs[1], half_way))
                calls.append(self._along(half_way, pairs[2], pairs[3], end))
        if plant.settles:
            left = {name: Stream(self.states[name], first=1) for name in self.moving}
            back = {name: left[name] for name in left if name not in ELASTIC}
            calls.append(_call(self.robot, programs.settle, left, {}, back))
        if plant.rubs:
            inputs = {f"residual_{i + 1}": residuals[i] for i in range(4)}
            outputs = {"unsettled": Stream(self.unsettled)}
            calls.append(_call(self.robot, programs.worst_residual, now, inputs, outputs))
        return calls

    def _ahead(self, part: float) -> Array | Stream:
        """A part of each step, s: one number where all steps of the chunk are alike."""
        from gough.engine.run.stepping import Stream

        if np.all(self.sizes == self.scenario.step):
            return np.full(1, part * self.scenario.step)
        return Stream(_solid(part * self.sizes[:, np.newaxis]))

    def _along(
        self, x: Any, first: tuple[Any, Any], second: tuple[Any, Any] | None, place: Any
    ) -> Call:
        """place = x + a y + b z of every mode, (a, y) and (b, z) given."""
        (a, y), (b, z) = first, second or (np.zeros(1), first[1])
        state = {"elastic": x, "elastic_velocity": y, "elastic_acceleration": z}
        inputs = {"ahead": a, "further": b}
        given = {**self._now(), **state}
        return _call(self.robot, programs.along_modes, given, inputs, {"moved": place})


def _solid(value: Array) -> Array:
    return np.ascontiguousarray(value, dtype=np.float64)


def _state(robot: ModelCalls, known: Mapping[str, Any]) -> dict[str, Any]:
    """The state's fields of a call; what is not known is 0."""
    fields = {name: known.get(name, NOTHING) for name in RIGID_FIELDS}
    if robot.mechanism.legs.coordinates:
        fields[CHAINS] = known[CHAINS]
    if not robot.modes:
        return fields
    still = np.zeros((1, robot.modes))
    return fields | {name: known.get(name, still) for name in ELASTIC_FIELDS}


def _call(
    robot: ModelCalls,
    program: Any,
    state: Mapping[str, Any],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    every: int = 1,
    until: str | None = None,
) -> Call:
    """A program's kernel on these arrays; of many robots each row with its own parameters."""
    from gough.engine.emit.llvm import NARROW
    from gough.engine.run.stepping import Call, Stream

    executor: Any = robot.executor
    shapes = {
        name: value.array.shape[2:] if isinstance(value, Stream) else value.shape[1:]
        for name, value in inputs.items()
    }
    sizes = [
        one.array.shape[1] if isinstance(one, Stream) else len(one) for one in outputs.values()
    ]
    bound = executor.bind(program, shapes, max(sizes, default=NARROW + 1) <= NARROW)
    index = robot.which().get(VARIANT)
    variants = None if index is None else np.ascontiguousarray(index, dtype=np.int64)
    return Call(bound, _state(robot, state) | dict(inputs), outputs, every, until, variants)
