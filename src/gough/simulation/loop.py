"""`simulate`: a robot, a controller and a reference, put together and let go."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gough.base.arrays import Array
from gough.base.words import nearest
from gough.engine.tree import skeleton
from gough.errors import GoughError, InputError, UnstableWarning
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.model import Model
from gough.motion import Motion
from gough.simulation import compiled, stability, stepwise
from gough.simulation.accuracy import accuracy_of
from gough.simulation.actuators import Actuators
from gough.simulation.controllers import ComputedTorque, Controller, controller_of
from gough.simulation.disturbances import wrench_breaks, wrench_of
from gough.simulation.events import KINDS, Monitor, with_culprit
from gough.simulation.grid import MOST_PARTS, Grid
from gough.simulation.integrators import SOLVERS
from gough.simulation.plant import MOVING, Plant, PlantState
from gough.simulation.reference import Reference, reference_of
from gough.simulation.result import Simulation
from gough.simulation.scenario import Progress, Record, Scenario
from gough.simulation.sensors import Sensors
from gough.variants import Variants

LARGEST = 4e9
"""Bytes of records."""
WHOLE = 1e-6
"""How far from a whole number a ratio of times may be."""
MOST_STEPS = 100_000_000
SPARE = 1.25
"""How much faster than at the start the plant's modes may become elsewhere."""
MOST_MODELS = 4
"""Simulations of a batch whose small motions are looked at."""
MOST_LATE = 100_000
"""Periods of a sensor's delay: so many readings are kept."""


def simulate(
    robot: Model | Variants | Sequence[Model],
    controller: Any,
    reference: Any,
    duration: float | None = None,
    *,
    start: Motion | None = None,
    wrench: Any = None,
    friction: bool = True,
    actuators: Actuators | None = None,
    sensors: Sensors | None = None,
    period: float | None = 1e-3,
    step: float | None = None,
    record: float | None = None,
    integrator: str = "rk4",
    rtol: float = 1e-9,
    atol: float = 1e-12,
    seeds: ArrayLike | None = None,
    stop_on: Collection[str] = ("singularity",),
    progress: Progress | None = None,
) -> Simulation:
    """Simulate a robot under control; many at once where anything given has a batch.

    `robot`: the plant, a list with one per simulation, or `robot.variants({…})`: then all run in one
    compiled loop, each with its own parameters. `controller`: of `gough.simulation.controllers`, or
    a function (measured, reference) → forces; without a `model` it knows each plant exactly.
    `reference`: a trajectory, a timed Motion, poses to hold, or a list with one per simulation; of a
    platform that cannot move in all directions a motion that it can make, as `robot.motion` gives it.
    `duration` (s): that of the reference if left out. `start`: pose and twist, by default the
    reference's at its start; an elastic platform starts with its static deflection unless the start
    has elastic coordinates.
    `wrench` on the platform: (..., 6), a function of times (n,) → (n, 6), or a list of such. Times of
    `Push` and `Shake` count from the simulation's start; a function's attribute `breaks` are the times
    at which it jumps.

    The controller acts every `period` seconds and its command is held in between; None: it acts
    without pause. `integrator`: "rk4", with fixed steps of `step` (default: the period, or 1 ms),
    inside the engine where it can, divided where damping of drives, springs and modes needs it and
    where something jumps; or an adaptive solver of SciPy's, one simulation at a time: "DOP853",
    "RK45", "Radau", "BDF", "LSODA" with `rtol` and `atol`, and steps of at most `step`. Part of the
    simulation runs again with finer steps: `accuracy` and `remarks()` of the result.
    `record` (s): time between what is kept, a whole number of steps. `seeds` (...): one per
    simulation, for the sensors' noise; by default they are numbered.

    A simulation ends early where the robot has no answer (out of reach, singular), at events of the
    kinds in `stop_on` ("stroke", "singularity"), and at Ctrl-C; what was computed is kept, and the
    result says so: `partial`, `stops`. `progress` is called with the part that is done.
    """
    plants = _Plants.of(robot)
    law, path = controller_of(controller), reference_of(reference, plants.first)
    shapes = {
        "robot": plants.shape,
        "reference": path.shape,
        "start": () if start is None else start.shape,
        "seeds": np.shape(seeds) if seeds is not None else (),
        "wrench": () if wrench is None or callable(wrench) else _wrench_shape(wrench),
    }
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {one}" for name, one in shapes.items() if one)
        raise InputError(f"the batch axes do not fit each other: {told}") from None
    timing = _timing(path, duration, period, step, record, integrator)
    unknown = set(stop_on) - {"stroke", "singularity"}
    if unknown:
        raise InputError(f"stop_on knows {', '.join(KINDS[:2])}, not {sorted(unknown)[0]!r}")
    rows = math.prod(shape)
    whole = _Whole(
        law,
        path,
        _rows_of(start, shape),
        wrench_of(wrench, shape, timing.begin),
        wrench_breaks(wrench, timing.begin, timing.steps * timing.step),
        _seeds(seeds, shape),
        shape,
    )
    checked = Sensors() if sensors is None else sensors
    drives = Actuators() if actuators is None else actuators
    _check(checked, period)
    if period is None and law.remembers:
        raise InputError(f"{type(law).__name__} remembers from sample to sample: give a period")
    if not (0 < rtol < 1 and 0 < atol < 1):
        raise InputError(f"rtol and atol must be between 0 and 1, not {rtol:g} and {atol:g}")
    parts: list[tuple[Array, Scenario, Record]] = []
    interrupted = False
    groups = plants.groups(shape)
    for number, (plant_robot, chosen) in enumerate(groups):

        def advance(part: float, number: int = number) -> None:
            if progress is not None:
                progress((number + part) / len(groups))

        scenario = whole.scenario(
            plant_robot, chosen, friction, drives, checked, timing, frozenset(stop_on), advance
        )
        scenario = replace(scenario, method=integrator, tolerances=(rtol, atol), longest=step)
        scenario = _refined(scenario, step is None)
        _check_size(scenario, rows)
        kept = Record.of(scenario)
        parts.append((chosen, scenario, kept))
        try:
            _run(scenario, kept)
        except KeyboardInterrupt:
            interrupted = True
        _blame(scenario, kept)
        if interrupted:
            break
        kept.accuracy = accuracy_of(scenario, kept, _run)
    return Simulation.of(shape, rows, parts, interrupted, plants.varied(shape))


def _run(scenario: Scenario, record: Record) -> None:
    if not scenario.rows:
        record.filled = len(record.times)
    elif scenario.method != "rk4":
        stepwise.run_adaptive(scenario, record)
    elif compiled.possible(scenario):
        compiled.run(scenario, record)
    else:
        stepwise.run_fixed(scenario, record)


def _blame(scenario: Scenario, record: Record) -> None:
    """Name the legs for which simulations stopped, and what is known of their loop."""
    period = None if scenario.every is None else scenario.every * scenario.step
    causes = (stability.growing(scenario.growth, period), scenario.hasty)
    why = "".join(f"; {one}" for one in causes if one)
    for row, stop in scenario.monitor.stops.items():
        scenario.monitor.stops[row] = stop = replace(stop, reason=stop.reason + why)
        if stop.leg is not None or scenario.plant.modes:
            continue
        place = int(np.searchsorted(record.times, stop.time + 1e-9 * scenario.step, "right")) - 1
        last = Motion(*(record.values[name][place, row] for name in ("position", "rotation")))
        start = scenario.start.motion[row]
        found = with_culprit(stop, scenario.plant.robot.of_rows([row]), start, last)
        scenario.monitor.stops[row] = found


@dataclass(frozen=True)
class _Timing:
    begin: float
    step: float
    steps: int
    every: int | None
    record_every: int


@dataclass(frozen=True, eq=False)
class _Whole:
    """All simulations but for their robots."""

    controller: Controller
    reference: Reference
    start: Motion | None
    wrench: Any
    wrench_breaks: list[float]
    seeds: Array
    shape: tuple[int, ...]

    def scenario(
        self,
        robot: ModelCalls,
        chosen: Array,
        friction: bool,
        actuators: Actuators,
        sensors: Sensors,
        timing: _Timing,
        stop_on: frozenset[str],
        progress: Progress,
    ) -> Scenario:
        """Some rows, with one robot or as many robots as rows."""
        own = self.controller.model
        if own is not None and not isinstance(own, Model):
            raise InputError(f"the model of a controller is a robot, not {type(own).__name__}")
        if own is not None and own.actuator_count != robot.actuator_count:
            raise InputError(
                f"the controller's model has {own.actuator_count} actuators, the plant "
                f"{robot.actuator_count}"
            )
        if own is not None and own.mobility != robot.mobility:
            raise InputError(
                f"the controller's model moves in {own.mobility} directions, the plant in "
                f"{robot.mobility}"
            )
        model = self.controller.robot(robot)
        if model.modes and model.modes != robot.modes:
            raise InputError(
                f"the controller's model has {model.modes} modes, the plant {robot.modes}; a model "
                "with modes is told the plant's elastic coordinates"
            )
        if model.modes and getattr(self.controller, "space", "") == "legs":
            raise InputError("computed torque on the legs needs a rigid model: robot.rigid")
        actuators.limits(robot.actuator_count)
        given = self.wrench

        def wrench(times: Array) -> Array:
            value = given(times)
            return np.asarray(value if value.shape[1] == 1 else value[:, chosen])

        own_path = _index(self.reference.shape, self.shape)[chosen]

        def at(times: Array) -> Motion:
            motion = self.reference.at(times)
            return motion if motion.shape[1] == 1 else motion[:, own_path]

        samples = np.arange(0, timing.steps + 1, timing.every or 1)
        controller = self.controller.prepared(robot, at, timing.begin + samples * timing.step)
        controller.gains(robot)
        robot.need_rigid_legs("simulate")
        plant = Plant(robot, actuators, friction, None if given is None else wrench)
        rows = len(chosen)
        start = at(np.array([timing.begin]))[0] if self.start is None else self.start
        if self.start is not None and len(start) > 1:
            start = start[chosen]
        drive = np.zeros((rows, robot.actuator_count if actuators.lag else 0))
        modes = plant.modes
        if start.modes not in (0, modes):
            raise InputError(f"start has {start.modes} elastic coordinates, the robot {modes}")
        elastic, elastic_velocity = start.elastic, start.elastic_velocity
        if start.modes != modes:
            elastic = static_deflection(robot, start).elastic
            elastic_velocity = np.zeros_like(elastic)
        fields = {name: getattr(start, name) for name in MOVING}
        fields |= {"elastic": elastic, "elastic_velocity": elastic_velocity}
        fields |= {"works": np.zeros((1, 3)), "drive": drive}
        fields |= {"chains": np.zeros((1, 0)), "motors": np.zeros((1, 0))}
        state = PlantState(
            **{
                name: np.array(np.broadcast_to(one, (rows, *one.shape[1:])))
                for name, one in fields.items()
            }
        )
        motion = state.motion
        robot.load_side.direct_dynamics(motion, np.zeros(robot.actuator_count), friction=False)
        if plant.springs is not None:
            state = replace(state, motors=_resting_motors(plant, motion))
        if plant.joints:
            state = replace(state, chains=robot.chains_of(motion))
        limits = robot.limits
        laws = robot.mechanism.legs.friction
        sharp = bool(friction and np.any(laws.drive_jump) and np.any(laws.width == 0))
        monitor = Monitor(limits.shortest, limits.longest, robot.actuators, sharp, stop_on)
        breaks = list(self.wrench_breaks)
        if timing.every is None:
            breaks += [*self.reference.breaks, *self.controller.breaks]
        end = timing.begin + timing.steps * timing.step
        return Scenario(
            plant,
            controller,
            self.reference._replace(at=at),
            sensors,
            self.seeds[chosen],
            state,
            Grid(timing.begin, timing.step),
            timing.steps,
            timing.every,
            timing.record_every,
            "rk4",
            (0.0, 0.0),
            monitor,
            progress,
            breaks=tuple(sorted({time for time in breaks if timing.begin <= time <= end})),
        )


def _refined(scenario: Scenario, free: bool) -> Scenario:
    """The scenario with steps that have the plant's damping right, and that begin where something jumps.

    With `free` steps, not chosen by the caller, that holds under a controller without pause, too.
    """
    plant, controller = scenario.plant, scenario.controller
    law = controller.program is not None and not controller.remembers
    fixed = scenario.method == "rk4"
    laws = plant.robot.mechanism.legs.friction
    smooth = plant.rubs and not (laws.coulomb and np.any(laws.width == 0))
    fast = plant.actuators.lag or plant.springs is not None or plant.modes or smooth
    closed = scenario.every is None
    if not (scenario.rows and (law or (fixed and fast))):
        return _gridded(scenario, 1)
    step, period = SPARE * scenario.step, (scenario.every or 0) * scenario.step
    goals = scenario.goals(np.array([scenario.begin]))[0] if law else {}
    sensors, growth, parts, hasty = scenario.sensors, [], 1, ""
    for row in np.unique(np.linspace(0, scenario.rows - 1, MOST_MODELS).astype(int)):
        one = plant.of_rows(np.array([row]))
        own = {name: value[0][[row] if len(value[0]) > 1 else [0]] for name, value in goals.items()}
        given = (controller if law else None, own, scenario.start[np.array([row])])
        try:
            near = stability.linear(one, *given, friction=bool(smooth), on_motors=sensors.on_motors)
            growth.append(stability.growth(near, period or None, scenario.delay, sensors))
            poles = linalg.eigvals(near.closed) if closed and free else near.poles
            count = stability.parts(poles, step)
            if count > MOST_PARTS and smooth:
                near = stability.linear(one, *given, friction=False, on_motors=sensors.on_motors)
                rates = linalg.eigvals(near.closed) if closed and free else near.poles
                count = stability.parts(rates, step)
                hasty = (
                    f"friction within its width changes in {1 / abs(poles).max():.1g} s, too fast for "
                    f"steps of {scenario.step / MOST_PARTS:.2g} s: give a larger width or a shorter step"
                )
            if count > MOST_PARTS and fast:
                raise TooFastError(abs(near.poles).max())
            parts = max(parts, min(count, MOST_PARTS))
            if closed and fixed and not free:
                fastest = stability.overtaxed(linalg.eigvals(near.closed), scenario.step / parts)
                if fastest:
                    hasty = (
                        f"steps of {scenario.step / parts:.2g} s are too long: they make a mode of the "
                        f"loop grow that decays, of {fastest / (2 * math.pi):.3g} Hz; leave step out"
                    )
        except TooFastError as error:
            raise InputError(
                f"{plant.robot.name}: its fastest mode, {error.args[0] / (2 * math.pi):.3g} Hz, or lag "
                f"needs steps of less than {scenario.step / MOST_PARTS:.2g} s, 1/{MOST_PARTS} of those "
                "of the simulation: give a shorter step, or leave that mode or lag out"
            ) from None
        except (GoughError, ValueError, np.linalg.LinAlgError):
            continue  # no rest here to compute small motions about
    if isinstance(controller, ComputedTorque) and plant.modes:
        hasty = _zero_dynamics(controller.robot(plant.robot), scenario.start.motion[:1]) or hasty
    known = [one for one in growth if np.isfinite(one)]
    scenario = replace(scenario, growth=max(known, default=np.nan), hasty=hasty)
    return _gridded(scenario, parts if fixed else 1)


def _zero_dynamics(model: ModelCalls, start: Motion) -> str:
    """What to say of modes that run away while a law moves the frame as it should, if they do."""
    if not isinstance(model, Model) or not model.modes:
        return ""
    still = Motion(start.position, start.rotation, elastic=start.elastic)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnstableWarning)
            poles = model.elastic_health(still).poles
    except GoughError:
        return ""
    fastest = float(poles.real.max())
    if not fastest > stability.GROWING:
        return ""
    return (
        f"the elastic zero dynamics are unstable at the start ({fastest:.3g} 1/s): modes run away while "
        "the law moves the platform's frame as it should; use StableInversion"
    )


def _gridded(scenario: Scenario, parts: int) -> Scenario:
    """The scenario with each step in so many parts, or more where something jumps in one."""
    if scenario.method != "rk4":
        return scenario
    grid, count = Grid.of(scenario.begin, scenario.step, scenario.steps, parts, scenario.breaks)
    return replace(
        scenario,
        grid=grid,
        parts=count,
        steps=scenario.steps * count,
        every=None if scenario.every is None else scenario.every * count,
        record_every=scenario.record_every * count,
    )


class TooFastError(Exception):
    """Poles are too fast for steps."""


def _resting_motors(plant: Plant, start: Motion) -> Array:
    """(rows, 2 actuators): springs stretched by what holds the start at rest, rotors as fast as q."""
    robot, springs = plant.robot.load_side, plant.springs
    assert springs is not None
    k, _, _, soft = springs
    still = Motion(start.position, start.rotation, elastic=start.elastic)
    forces = robot.inverse_dynamics(still, friction=False).forces
    stretch = soft * forces / np.where(k > 0, k, 1.0)
    return np.concatenate([stretch, soft * robot.inverse_kinematics(start).qd], axis=1)


def _timing(
    path: Reference,
    duration: float | None,
    period: float | None,
    step: float | None,
    record: float | None,
    integrator: str,
) -> _Timing:
    """Steps, samples and records: whole numbers of each other."""
    known = ("rk4", *SOLVERS)
    if integrator not in known:
        near = nearest(str(integrator), known)
        raise InputError(f"no integrator {integrator!r}; the nearest is {near!r}")
    if duration is None:
        duration = path.duration
    if duration is None:
        raise InputError("a pose to hold has no duration: give duration, in s")
    for name, value in {
        "duration": duration,
        "period": period,
        "step": step,
        "record": record,
    }.items():
        if value is not None and not (_is_number(value) and 0 < value < math.inf):
            raise InputError(f"{name} is {value!r}, must be a positive time in s")
    if path.start + duration > path.end + WHOLE * duration:
        raise InputError(
            f"duration is {duration:g} s, and the reference ends {path.end - path.start:g} s after its "
            "start: simulate less, or give a longer reference"
        )
    fine = step or period or 1e-3
    if integrator != "rk4":
        fine = period or record or 1e-3
    every = None if period is None else _whole("period", period, "step", fine)
    kept = 1 if record is None else _whole("record", record, "step", fine)
    if record is None and every is not None:
        kept = every
    if duration / fine > MOST_STEPS:
        raise InputError(f"{duration / fine:g} steps; at most {MOST_STEPS:g}")
    steps = math.floor(duration / fine * (1 + 1e-12) + WHOLE)
    steps -= steps % (every or 1)
    if steps < 1:
        raise InputError(f"duration is {duration:g} s, shorter than a step or period")
    return _Timing(path.start, fine, steps, every, kept)


def _check(sensors: Sensors, period: float | None) -> None:
    if period is None and not (sensors.exact and not sensors.delay):
        raise InputError("sensors with steps, noise or delay need a controller with a period")
    if period is not None and sensors.delay:
        late = _whole("sensors: delay", sensors.delay, "period", period)
        if late > MOST_LATE:
            raise InputError(f"sensors: delay is {late} periods; at most {MOST_LATE}")


def _check_size(scenario: Scenario, rows: int) -> None:
    count, modes = scenario.plant.robot.actuator_count, scenario.plant.modes
    records = scenario.steps // scenario.record_every + 1
    size = 8.0 * (records + scenario.delay) * rows * (21 + 2 * count + 2 * modes)
    if size > LARGEST:
        raise InputError(
            f"{rows} simulations with {records} records each take {size / 1e9:.1f} GB, limit "
            f"{LARGEST / 1e9:.0f} GB: keep less with record="
        )


def _whole(name: str, value: float, unit: str, size: float) -> int:
    ratio = value / size
    if ratio > MOST_STEPS:
        raise InputError(f"{name} {value:g} s has over {MOST_STEPS:g} {unit}s of {size:g} s")
    count = round(ratio)
    if count < 1 or abs(ratio - count) > WHOLE * count:
        raise InputError(f"{name} {value:g} s is not a whole number of {unit}s of {size:g} s")
    return count


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _wrench_shape(wrench: Any) -> tuple[int, ...]:
    if isinstance(wrench, Sequence) and wrench and all(callable(one) for one in wrench):
        return ()
    return tuple(np.shape(wrench)[:-1])


def _rows_of(start: Motion | None, shape: tuple[int, ...]) -> Motion | None:
    if start is None:
        return None
    if not isinstance(start, Motion):
        raise InputError(f"start is a {type(start).__name__}, must be a Motion")
    if not start.shape:
        return start.reshape(1)
    return start.reshape(math.prod(start.shape))[_index(start.shape, shape)]


def _index(own: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Which entry of a smaller batch each simulation uses, flat."""
    return np.broadcast_to(np.arange(math.prod(own)).reshape(own), shape).reshape(-1)


def _seeds(seeds: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if seeds is None:
        return np.arange(math.prod(shape))
    array = np.asarray(seeds)
    if array.dtype.kind not in "iu" or np.any(array < 0):
        raise InputError("seeds are whole numbers, not negative")
    return np.broadcast_to(array, shape).reshape(-1)


class _Plants(NamedTuple):
    """The robots of a batch of simulations."""

    robots: tuple[Model, ...]
    """One, or one per simulation."""
    variants: Variants | None
    """All of them at once, where they can be."""
    shape: tuple[int, ...]

    @classmethod
    def of(cls, given: Any) -> _Plants:
        """From what the user says."""
        if isinstance(given, Model):
            return cls((given,), None, ())
        if isinstance(given, Variants):
            return cls((), given, given.shape)
        robots = tuple(given) if isinstance(given, Sequence) else ()
        if not robots or not all(isinstance(one, Model) for one in robots):
            raise InputError("robot is a gough.Robot, variants of one, or a list with one each")
        several = len({id(one) for one in robots}) > 1
        alike = several and len({_family(one) for one in robots}) == 1
        return cls(robots, Variants(robots) if alike else None, (len(robots),))

    @property
    def first(self) -> Model | None:
        """The first robot; None where they are variants of which there are no files."""
        return self.robots[0] if self.robots else None

    def groups(self, shape: tuple[int, ...]) -> list[tuple[ModelCalls, Array]]:
        """Robots, or many in one, and their rows in simulations of this shape."""
        count = math.prod(shape)
        if self.variants is not None:
            many = self.variants.broadcast_to(shape)
            return [(many.reshape(-1), np.arange(count))]
        if not count or not self.shape:
            return [(self.robots[0], np.arange(count))]
        groups: dict[int, tuple[Model, list[int]]] = {}
        for row, number in enumerate(_index(self.shape, shape)):
            robot = self.robots[number]
            groups.setdefault(id(robot), (robot, []))[1].append(row)
        return [(robot, np.array(rows)) for robot, rows in groups.values()]

    def varied(self, shape: tuple[int, ...]) -> dict[str, Array]:
        """Varied parameters by key, of simulations of this shape."""
        if self.variants is None:
            return {}
        own = self.variants.shape
        return {
            key: np.broadcast_to(
                value.reshape((1,) * (len(shape) - len(own)) + value.shape),
                shape + value.shape[len(own) :],
            )
            for key, value in self.variants.varied.items()
        }


def _family(robot: Model) -> tuple[Any, ...]:
    """What robots must have in common to run in one loop: rigid, the same legs, freedom and limits."""
    limits = robot.limits
    if robot.modes or robot.missing:
        return (id(robot),)
    kinds = tuple((group.kind.name, group.leg_count) for group in robot.description.groups)
    strokes = limits.shortest.tobytes(), limits.longest.tobytes()
    return (kinds, robot.coordinates, skeleton(robot.mechanism), *strokes)
