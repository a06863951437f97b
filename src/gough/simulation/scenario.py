"""A simulation as it is set up: everything checked, nothing computed yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array
from gough.motion import Motion
from gough.simulation.controllers import Controller, Memory
from gough.simulation.events import Monitor
from gough.simulation.grid import Grid
from gough.simulation.plant import ELASTIC, MOVING, Plant, PlantState
from gough.simulation.reference import Reference
from gough.simulation.sensors import Sensors

if TYPE_CHECKING:
    from gough.simulation.accuracy import Accuracy

Progress = Callable[[float], object]


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is to be simulated; rows are simulations."""

    plant: Plant
    controller: Controller
    reference: Reference
    sensors: Sensors
    seeds: Array
    """(rows,): each starts its row's noise."""
    start: PlantState
    grid: Grid
    """Steps of the fixed-step integrator."""
    steps: int
    every: int | None
    """Steps between the controller's samples; None: it acts without pause."""
    record_every: int
    """Steps between what is kept."""
    method: str
    """"rk4", or a solver of SciPy's."""
    tolerances: tuple[float, float]
    """Relative and absolute, of SciPy's solvers."""
    monitor: Monitor
    progress: Progress
    parts: int = 1
    """Steps that a step of the caller's is divided into."""
    growth: float = np.nan
    """Growth rate of the loop's small motions at the start, 1/s; NaN: unknown."""
    hasty: str = ""
    """What is too fast for the steps."""
    longest: float | None = None
    """Longest step of an adaptive solver, s."""
    breaks: tuple[float, ...] = ()
    """Times at which wrench, forces or reference jump, s."""

    @property
    def begin(self) -> float:
        """s."""
        return self.grid.begin

    @property
    def step(self) -> float:
        """Length of steps of the fixed-step integrator that are not cut short, s."""
        return self.grid.step

    @property
    def compiled(self) -> bool:
        """All steps can run inside the engine."""
        from gough.engine.run.execute import NumPyExecutor

        controller, robot = self.controller, self.plant.robot
        model = controller.robot(robot)
        return (
            self.method == "rk4"
            and controller.program is not None
            and not (model.modes and self.delay)
            and not isinstance(robot.executor, NumPyExecutor)
            and not isinstance(model.executor, NumPyExecutor)
        )

    @property
    def rows(self) -> int:
        """Number of simulations."""
        return len(self.start.position)

    @property
    def delay(self) -> int:
        """Age of what the controller is told, in its samples."""
        if self.every is None:
            return 0
        return round(self.sensors.delay / (self.every * self.step))

    def time(self, step: int | Array) -> Array:
        """Time of a step, s."""
        return self.grid.time(step)

    def remembered(self) -> Memory:
        """What of the controller's memory is kept, as it is at the start."""
        if self.every is None:
            return {}
        memory = self.controller.remembered(
            self.plant.robot, self.start.motion, self.every * self.step
        )
        return {name: memory[name] for name in self.controller.recorded}

    def goals(self, times: Array) -> tuple[dict[str, Array], Motion]:
        """The law's inputs from the reference at times (n,), and the reference."""
        motion = self.reference.at(times)
        return self.controller.goals(self.plant.robot, motion), motion


@dataclass
class Record:
    """What is kept of every simulation, (records, rows, ...) by name, filled up as it goes."""

    times: Array
    values: dict[str, Array] = field(default_factory=dict)
    filled: int = 0
    accuracy: Accuracy | None = None
    """What running part of it again has shown."""

    @classmethod
    def of(cls, scenario: Scenario) -> Record:
        """Room for a scenario's records."""
        times = scenario.time(np.arange(0, scenario.steps + 1, scenario.record_every))
        count, rows = scenario.plant.robot.actuator_count, scenario.rows
        state = scenario.start
        shapes = {name: getattr(state, name).shape[1:] for name in FIELDS}
        shapes |= {"command": (count,), "applied": (count,)}
        shapes |= {name: one.shape[1:] for name, one in scenario.remembered().items()}
        values = {
            name: np.full((len(times), rows, *shape), np.nan) for name, shape in shapes.items()
        }
        return cls(times, values)

    def keep(
        self, place: int, state: PlantState, command: Array, applied: Array, memory: Memory
    ) -> None:
        """One record of all rows; of what the controller remembers what there is room for."""
        for name, value in memory.items():
            if name in self.values:
                self.values[name][place] = value
        for name in FIELDS:
            self.values[name][place] = getattr(state, name)
        self.values["command"][place], self.values["applied"][place] = command, applied
        self.filled = place + 1


FIELDS = (*MOVING, "works", "motors", *ELASTIC)
"""What is kept of a `State`."""
