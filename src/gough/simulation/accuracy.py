"""How good a simulation is: part of it run again with half the step, and the growth of its loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gough.base.arrays import Array
from gough.errors import GoughError
from gough.simulation.controllers import Controller, FunctionController, Measured, Memory
from gough.simulation.grid import Grid
from gough.simulation.scenario import Record, Scenario
from gough.simulation.stability import growing

CHEAP = 20_000
"""Steps of all simulations together that are all run again."""
SHARE = 8
"""Of more steps, one in so many is run again."""
REFINED = 16 / 15
"""Error of steps by their difference from steps half as long: the method is of fourth order."""
LOOSER = 10.0
"""Tolerances of an adaptive solver run again, by those asked for."""


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Errors of the integration of simulations, and the growth of their loop."""

    position: Array
    """(rows,): largest error of the position found, m; NaN: unknown."""
    rotation: Array
    """(rows,) rad."""
    span: float
    """From the start, s, over which they were found."""
    fixed: bool
    """By steps half as long; or else by looser tolerances of an adaptive solver."""
    growth: float
    """Growth rate of the loop's small motions at the start, 1/s; NaN: unknown."""
    parts: int
    """Steps that a step of the caller's was divided into."""
    hasty: str = ""
    """What is too fast for the steps."""
    period: float | None = None
    """Of the controller, s; None: it acts without pause."""

    def remarks(self) -> list[str]:
        """Return what is known of the integration and the loop: sentences."""
        said = []
        if np.isfinite(self.position).any():
            largest = [np.nanmax(one) for one in (self.position, self.rotation)]
            way = "half the step" if self.fixed else f"{LOOSER:g} times the tolerances"
            said.append(
                f"integration error {largest[0]:.2g} m, {largest[1]:.2g} rad: "
                f"the first {self.span:.4g} s run again with {way}"
            )
        else:
            said.append("integration error not known: no part was run again")
        return [*said, *(one for one in (growing(self.growth, self.period), self.hasty) if one)]

    def of_row(self, row: int) -> Accuracy:
        """Return what is known of one simulation, by its flat number."""
        return replace(self, position=self.position[[row]], rotation=self.rotation[[row]])


def joined(rows: int, parts: Sequence[tuple[Array, Accuracy | None]]) -> Accuracy | None:
    """What is known of simulations in groups, each with its flat numbers."""
    known = [(chosen, one) for chosen, one in parts if one is not None]
    if not known:
        return None
    position, rotation = np.full((2, rows), np.nan)
    for chosen, one in known:
        position[chosen], rotation[chosen] = one.position, one.rotation
    worst = max(known, key=lambda pair: np.nan_to_num(pair[1].growth, nan=-math.inf))[1]
    return replace(
        worst,
        position=position,
        rotation=rotation,
        span=min(one.span for _, one in known),
        hasty=next((one.hasty for _, one in known if one.hasty), ""),
    )


@dataclass(frozen=True, eq=False)
class _Replayed(Controller):
    """Commands that were given once, sample by sample."""

    commands: Array
    """(samples, rows, actuators)."""
    times: Array
    original: Controller = field(repr=False)

    def goals(self, plant: object, reference: object) -> dict[str, Array]:
        """What the controller was told."""
        return self.original.goals(plant, reference)  # type: ignore[arg-type]

    def gains(self, plant: object) -> dict[str, Array]:
        """None."""
        return {}

    def command(
        self, plant: object, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> tuple[Array, Memory]:
        """The command of the sample's time."""
        place = int(np.argmin(np.abs(self.times - measured.time)))
        return self.commands[place], memory


def accuracy_of(
    scenario: Scenario, record: Record, run: Callable[[Scenario, Record], None]
) -> Accuracy:
    """Run part of a simulation again, and compare."""
    rows, fixed = scenario.rows, scenario.method == "rk4"
    unknown = Accuracy(
        np.full(rows, np.nan), np.full(rows, np.nan), 0.0, fixed, scenario.growth, scenario.parts,
        scenario.hasty, None if scenario.every is None else scenario.every * scenario.step,
    )  # fmt: skip
    controller, replay = scenario.controller, None
    if isinstance(controller, FunctionController) and scenario.every is not None:
        if scenario.record_every != scenario.every:
            return unknown  # a function may remember: it is not asked again
        replay = _Replayed(record.values["command"], record.times, controller)
    unit = math.lcm(scenario.every or 1, scenario.record_every)
    steps = scenario.steps if fixed and scenario.steps * rows <= CHEAP else 0
    if not scenario.compiled:
        steps = 0
    steps = steps or min(-(-scenario.steps // (SHARE * unit)) * unit, scenario.steps)
    last = min((stop.time for stop in scenario.monitor.stops.values()), default=math.inf)
    if not fixed and last < math.inf:  # trouble takes a solver long, and it is known
        steps = min(steps, int((last - scenario.begin) / scenario.step / unit) * unit)
    if not steps or not rows or last <= scenario.begin or not record.filled:
        return unknown
    finer = 2 if fixed else 1
    parts = scenario.parts
    grid, whole = Grid.of(
        scenario.begin, scenario.step * parts, scenario.steps // parts, finer * parts if fixed else 1,
        scenario.breaks if fixed else (),
    )  # fmt: skip
    count = whole / parts if fixed else 1
    again = replace(
        scenario,
        controller=controller if replay is None else replay,
        grid=grid,
        steps=round(steps * count),
        every=None if scenario.every is None else round(scenario.every * count),
        record_every=round(scenario.record_every * count),
        tolerances=(min(LOOSER * scenario.tolerances[0], 0.5), LOOSER * scenario.tolerances[1]),
        monitor=replace(scenario.monitor, events=[], stops={}, _before=None, _sign=None),
        progress=lambda part: None,
    )
    second = Record.of(again)
    try:
        run(again, second)
    except (GoughError, KeyboardInterrupt):  # the simulation itself is whole
        return unknown
    filled = min(second.filled, record.filled)
    ends = [stop.time for stop in again.monitor.stops.values()]
    known = record.times[:filled] <= min([last, *ends])
    if not known.any():
        return unknown
    one, other = (
        [each.values[name][:filled][known] for name in ("position", "rotation")]
        for each in (record, second)
    )
    factor = REFINED if fixed else 1.0
    apart = np.linalg.norm(one[0] - other[0], axis=-1).max(axis=0)
    turned = np.linalg.norm(one[1] - other[1], axis=(-2, -1)).max(axis=0) / math.sqrt(2)
    return replace(
        unknown,
        position=factor * apart,
        rotation=factor * turned,
        span=float(record.times[:filled][known][-1] - scenario.begin),
    )
