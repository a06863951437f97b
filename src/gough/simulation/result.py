"""What a simulation leaves behind: every quantity by name, unit, leg and axis; files and pictures.

The energy audit: what drives and wrench put in is what the robot has more of, and what is lost,

    ∫ Σ Γ q̇ dt + ∫ wrench·ξ dt = Δ(T + U) + losses + residual

with the works integrated along with the motion, so that the residual is the integrator's error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gough.base.arrays import Array
from gough.base.showing import shown
from gough.base.showing_results import Showing
from gough.data.datasets import AXES, actuator_attributes, attributes, labels, write_dataset
from gough.data.motion_files import QUANTITIES
from gough.errors import InputError
from gough.mechanics.state import RIGID_FIELDS
from gough.model.outputs import origin_shapes
from gough.motion import FIELDS, Motion
from gough.simulation.accuracy import Accuracy, joined
from gough.simulation.actuators import Actuators
from gough.simulation.attitude import rotation_error
from gough.simulation.events import Event, Stop
from gough.simulation.plant import ELASTIC, MOVING, Plant
from gough.simulation.scenario import Record, Scenario
from gough.variants import Variants

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from gough.model.calls import ModelCalls

INTERRUPTED = "interrupted"
GOOD_ENERGY, FAIR_ENERGY = 1e-4, 1e-2
"""Energy unexplained, of what is exchanged, up to which a simulation is good, or fair."""
LEAST_ENERGY = 1e-9
"""J: less is never more than rounding."""
ENERGY = {
    "kinetic_energy": "kinetic energy",
    "potential_energy": "potential energy, elastic included",
    "actuator_work": "work of the actuators",
    "wrench_work": "work of the external wrench",
    "loss": "energy lost to friction and damping",
    "energy_residual": "work in less energy gained and lost: the integrator's error",
}


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Showing):
    """Motion, forces and works of simulations of some batch shape, over time: (..., n, ...)."""

    plants: tuple[tuple[Array, ModelCalls], ...]
    """Flat numbers of simulations, and the robot (or as many variants) that they are of."""
    time: Array
    """(n,), s."""
    motion: Motion
    """(..., n)."""
    reference: Motion
    """(..., n): what was asked for."""
    command: Array
    """(..., n, actuators): what the controller commands from that instant on, N or N m."""
    forces: Array
    """(..., n, actuators): Γ that acts, N or N m."""
    works: Array
    """(..., n, 3): work of actuators, work of the wrench, losses; J."""
    stops: dict[int, Stop]
    """Simulations (flat number) that ended early, and why."""
    events: tuple[Event, ...]
    partial: bool
    """Some simulation ended early."""
    force_limit: Array = field(repr=False)
    """(..., actuators), N or N m."""
    varied: dict[str, Array]
    """What differs between the plants, if they are variants: by key, (..., the key's own axes)."""
    motors: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    """(..., n, 2 actuators) of compliant drives: elongations θ − q and rates θ̇; else (..., n, 0)."""
    memory: dict[str, Array] = field(default_factory=dict, repr=False)
    """(..., n, ...): what the controller remembered, by name, if it keeps something."""
    accuracy: Accuracy | None = field(default=None, repr=False)
    """Errors of the integration, of each simulation by its flat number, and the growth of the loop."""

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        rows: int,
        parts: Sequence[tuple[Array, Scenario, Record]],
        interrupted: bool,
        varied: dict[str, Array],
    ) -> Simulation:
        """From the records of groups of rows."""
        first = parts[0][2]
        times = first.times
        alike = len(parts) == 1
        values = {
            name: value if alike else np.full((len(times), rows, *value.shape[2:]), np.nan)
            for name, value in first.values.items()
        }
        count = first.values["command"].shape[2]
        goal: dict[str, Array] = {}
        limits = np.full((rows, count), np.inf)
        stops: dict[int, Stop] = {}
        events: list[Event] = []
        longest = 0
        for chosen, scenario, record in parts:
            for row, stop in scenario.monitor.stops.items():
                stops[int(chosen[row])] = stop
                for value in record.values.values():
                    value[record.times > stop.time + 1e-9 * scenario.step, row] = np.nan
            events += [
                event._replace(row=int(chosen[event.row])) for event in scenario.monitor.events
            ]
            filled = record.filled
            longest = max(longest, filled)
            for name, value in record.values.items():
                if alike:
                    value[filled:] = np.nan
                else:
                    values[name][:filled, chosen] = value[:filled]
            wanted = scenario.reference.at(times)
            for name in RIGID_FIELDS:
                value = getattr(wanted, name)
                if alike:
                    goal[name] = value
                    continue
                if name not in goal:
                    goal[name] = np.full((len(times), rows, *value.shape[2:]), np.nan)
                goal[name][:, chosen] = value
            limits[chosen] = scenario.plant.limits[0]
        if interrupted:
            for row in range(rows):
                known = np.flatnonzero(np.isfinite(values["position"][:, row, 0]))
                last = float(times[known[-1]]) if known.size else float(times[0])
                if row not in stops and (not known.size or known[-1] < len(times) - 1):
                    stops[row] = Stop(last, None, INTERRUPTED)
        if stops and len(stops) == rows:
            last = max(stop.time for stop in stops.values())
            longest = min(longest, int(np.searchsorted(times, last + 1e-12, side="right")))
        longest = max(longest, 1)
        times = times[:longest]

        def arranged(value: Array) -> Array:
            first = np.swapaxes(value[:longest], 0, 1)
            if len(first) == 1 != rows:  # the same for all rows
                return np.broadcast_to(first[0], (*shape, longest, *value.shape[2:]))
            return first.reshape(*shape, longest, *value.shape[2:])

        fields = {name: arranged(values[name]) for name in (*MOVING, *ELASTIC)}
        return cls(
            tuple((chosen, scenario.plant.robot) for chosen, scenario, _ in parts),
            times,
            _trusted(fields, times),
            _trusted({name: arranged(goal[name]) for name in RIGID_FIELDS}, times),
            arranged(values["command"]),
            arranged(values["applied"]),
            arranged(values["works"]),
            stops,
            tuple(sorted(events, key=lambda event: (event.time, event.row))),
            interrupted or bool(stops),
            limits.reshape(*shape, count),
            varied,
            arranged(values["motors"]),
            {name: arranged(values[name]) for name in parts[0][1].controller.recorded},
            joined(rows, [(chosen, record.accuracy) for chosen, _, record in parts]),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch shape of the simulations."""
        return self.motion.shape[:-1]

    def __str__(self) -> str:
        count = int(np.prod(self.shape))
        what = f"{count} simulations" if self.shape else "simulation"
        text = f"{what} of {self.plants[0][1].name}"
        text += f", {self.time[-1] - self.time[0]:.6g} s, {len(self.time)} records"
        lines = [f"simulation {row}, {stop}" for row, stop in sorted(self.stops.items())]
        stops = lines if self.shape else [str(s) for s in self.stops.values()]
        return "\n".join([text, *stops, *self.remarks()])

    def remarks(self) -> tuple[str, ...]:
        """Return how far the simulation can be believed, and what its drives could not do: sentences."""
        said = [] if self.accuracy is None else self.accuracy.remarks()
        energy = self._energy_verdict()
        if energy:
            said.append(energy)
        part = self.saturation()
        if part.size and part.max() > 0:
            worst = int(np.argmax(part.reshape(-1, part.shape[-1]).max(axis=0)))
            said.append(
                f"actuator {worst + 1} is commanded more than its drive can give for "
                f"{100 * part[..., worst].max():.3g} % of the time"
            )
        return tuple(said)

    def _energy_verdict(self) -> str:
        """The energy that no work explains, and what that says."""
        audit = self.energy_audit()
        left = np.abs(audit.pop("energy_residual"))
        if not np.isfinite(left).any():
            return ""
        exchanged = sum(np.nanmax(one) - np.nanmin(one) for one in audit.values())
        most = float(np.nanmax(left))
        text = f"energy unexplained {most:.2g} J of {exchanged:.2g} J exchanged: "
        if most <= max(GOOD_ENERGY * exchanged, LEAST_ENERGY):
            return text + "good"
        if most <= FAIR_ENERGY * exchanged:
            return text + "fair; a shorter step leaves less"
        return text + "bad: this is not how the robot moves; give a shorter step"

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset with names, units, legs and axes.

        Dimensions: `simulation` (or simulation_0, …) of a batch, `time`, `actuator` and `leg` from 1,
        `axis` x, y, z of the world, `platform_axis`, `mode`. `saturated` is 1 where the command exceeds
        the drive's limit. `rotation_error` is the rotation vector from the platform to the reference.
        The attribute `robot` is the text of the (first) robot's file.
        """
        import xarray

        batch = tuple(f"simulation_{i}" for i in range(len(self.shape)))
        batch = ("simulation",) if len(batch) == 1 else batch
        dims = (*batch, "time")
        own = (*dims, "actuator")
        motion, robot = self.motion, self.plants[0][1]
        variables: dict[str, Any] = {}
        for name in (*MOVING, *(ELASTIC if motion.modes else ())):
            one = QUANTITIES[name]
            what = (getattr(motion, name), attributes(one.unit, one.meaning))
            variables[name] = ((*dims, *one.dims), *what)
        for name in MOVING:
            one = QUANTITIES[name]
            about = attributes(one.unit, f"reference: {one.meaning}")
            variables[f"reference_{name}"] = (
                (*dims, *one.dims),
                getattr(self.reference, name),
                about,
            )
        apart, turn = self.tracking_errors()
        moved = self.legs()
        cut = np.abs(self.command) > self.force_limit[..., np.newaxis, :]
        variables |= {
            "position_error": ((*dims, "axis"), apart, attributes("m", "reference − position")),
            "rotation_error": ((*dims, "axis"), turn, attributes("rad", "turn to the reference")),
        }
        for name, value, unit, meaning in (
            ("q", moved["q"], "[q]", "actuated coordinate"),
            ("q_rate", moved["qd"], "[q]/s", "actuated rate"),
            ("command", self.command, "[force]", "commanded force"),
            ("force", self.forces, "[force]", "actuator force"),
            ("power", self.forces * self.speeds(), "W", "actuator power"),
            ("saturated", cut.astype(np.int8), "1", "command beyond the limit"),
        ):
            variables[name] = (own, value, actuator_attributes(robot, unit, meaning))
        if motion.modes:
            variables["tip_deflection"] = (
                (*dims, "leg", "platform_axis"),
                self.deflection(),
                attributes("m", "deflection of the platform at the leg's tip, from undeformed"),
            )
        for name, value in self.energy_audit().items():
            variables[name] = (dims, value, attributes("J", ENERGY[name]))
        varied: dict[str, Any] = {}
        for key, value in self.varied.items():
            axes = _dimensions(key, value.ndim - len(batch))
            varied[key] = ((*batch, *axes), value, attributes("", f"{key} of the plant"))
        coordinates: dict[str, Any] = {
            "time": ("time", self.time, attributes("s", "time")),
            **labels(robot, variables | varied),
            "platform_axis": list(AXES),
            **varied,
        }
        if motion.modes:
            coordinates["mode"] = np.arange(1, motion.modes + 1)
        facts = {
            "title": f"simulation of {robot.name}",
            "robot": robot.text,
            "partial": int(self.partial),
            "remarks": "; ".join(self.remarks()),
            "stops": "; ".join(
                (f"simulation {row}, " if self.shape else "") + str(stop)
                for row, stop in sorted(self.stops.items())
            ),
        }
        return xarray.Dataset(variables, coordinates, facts)

    def legs(self) -> dict[str, Array]:
        """q and q̇ (..., n, actuators) along the motion; NaN after the end of a simulation."""
        found = self._by_robot(
            lambda robot, motion: robot.inverse_kinematics(motion, on_error="nan"), ("q", "qd")
        )
        return found

    def deflection(self, at: Literal["tips", "origin"] | Sequence[int] = "tips") -> Array:
        """Φ q_e (..., n, points, 3) of a flexible platform, m, from undeformed, platform axes.

        `at` its "tips" (one per leg), its frame's "origin" (one point), or nodes by their numbers.
        """
        robot = self.plants[0][1]
        body = robot.modal
        if body is None:
            raise InputError(f"{robot.name} has a rigid platform")
        if isinstance(at, str):
            if at not in ("tips", "origin"):
                raise InputError(f"at is 'tips', 'origin' or numbers of nodes, not {at!r}")
            shapes = body.tip_shapes if at == "tips" else origin_shapes(robot)[0]
        else:
            nodes, count = np.asarray(at), len(body.shapes)
            whole = nodes.ndim == 1 and (nodes.dtype.kind in "iu" or not nodes.size)
            if not whole or np.any((nodes < 0) | (nodes >= count)):
                raise InputError(f"at: nodes are numbers (n,) from 0 to {count - 1}, not {at!r}")
            shapes = body.shapes[nodes.astype(np.intp)]
        shapes = shapes.reshape(-1, 3, body.modes)
        return np.asarray(np.einsum("pck,...k->...pc", shapes, self.motion.elastic))

    def tracking_errors(self) -> tuple[Array, Array]:
        """(..., n, 3) each: reference less position, m; rotation vector to the reference, rad."""
        wanted, motion = self.reference, self.motion
        first = [np.moveaxis(one.rotation, (-2, -1), (0, 1)) for one in (wanted, motion)]
        chord = np.moveaxis(rotation_error(*first), 0, -1)  # 2 sin(φ/2) n
        half = np.linalg.norm(chord, axis=-1, keepdims=True) / 2
        scale = np.arcsin(np.clip(half, 0, 1)) / np.where(half == 0, 1.0, half)
        return wanted.position - motion.position, chord * np.where(half == 0, 1.0, scale)

    def energy_audit(self) -> dict[str, Array]:
        """Energies, works, losses and what is left unexplained, (..., n) each, J."""
        energy = self._by_robot(
            lambda robot, motion: robot.load_side.energy(motion, on_error="nan"),
            ("kinetic", "potential"),
        )
        kinetic, potential = energy["kinetic"], energy["potential"]
        if self.motors.shape[-1]:
            turning, stretched = self._of_motors()
            kinetic, potential = kinetic + turning, potential + stretched
        stored = kinetic + potential
        gained = stored - stored[..., :1]
        actuators, wrench, loss = np.moveaxis(self.works, -1, 0)
        values = (kinetic, potential, actuators, wrench, loss, actuators + wrench - loss - gained)
        return dict(zip(ENERGY, values, strict=True))

    def _of_motors(self) -> tuple[Array, Array]:
        """Kinetic energy of rotors before springs, and that of the springs: ½ I θ̇², ½ k e²."""
        robot = self.plants[0][1]
        springs = Plant(robot, Actuators(), False, None).springs
        assert springs is not None
        k, _, inertia, soft = springs
        stretch, rate = np.split(self.motors, 2, axis=-1)
        return (soft * inertia * rate**2).sum(-1) / 2, (k * stretch**2).sum(-1) / 2

    def speeds(self) -> Array:
        """(..., n, actuators): rates of the drives, q̇, or θ̇ of rotors before a spring."""
        rates = self.legs()["qd"]
        if not self.motors.shape[-1]:
            return rates
        springs = Plant(self.plants[0][1], Actuators(), False, None).springs
        assert springs is not None
        return np.where(springs[3] > 0, np.split(self.motors, 2, axis=-1)[1], rates)

    def saturation(self) -> Array:
        """(..., actuators): part of the time in which a drive is at its force limit."""
        return np.asarray(
            np.mean(np.abs(self.command) > self.force_limit[..., np.newaxis, :], axis=-2)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset as .nc (or, of one simulation, .csv), whole or not at all."""
        write_dataset(self.dataset, path)

    def plot(self, row: int = 0) -> Figure:
        """Tracking errors, forces and the energy audit of one simulation, by its flat number."""
        figure: Figure = shown("picture of a simulation", self, row)
        return figure

    def row(self, row: int) -> Simulation:
        """One simulation of a batch, by its flat number."""
        count = int(np.prod(self.shape))
        if not -count <= row < count:
            raise InputError(f"simulation {row} of {count}")
        place = np.unravel_index(row % count, self.shape) if self.shape else ()
        stops = {0: self.stops[row % count]} if row % count in self.stops else {}
        number, robot = next(
            (np.flatnonzero(chosen == row % count)[0], robot)
            for chosen, robot in self.plants
            if row % count in chosen
        )
        return Simulation(
            ((np.zeros(1, dtype=np.intp), robot.of_rows([number])),),
            self.time,
            self.motion[place] if place else self.motion,
            self.reference[place] if place else self.reference,
            self.command[place],
            self.forces[place],
            self.works[place],
            stops,
            tuple(event._replace(row=0) for event in self.events if event.row == row % count),
            bool(stops),
            self.force_limit[place],
            {key: value[place] for key, value in self.varied.items()},
            self.motors[place],
            {name: value[place] for name, value in self.memory.items()},
            None if self.accuracy is None else self.accuracy.of_row(row % count),
        )

    def _by_robot(self, model: Any, names: tuple[str, ...]) -> dict[str, Array]:
        """Named outputs of a model along the motion, each simulation with its own robot."""
        first = self.plants[0][1]
        if len(self.plants) == 1 and not isinstance(first, Variants):
            found = model(first, self.motion)
            return {name: getattr(found, name) for name in names}
        count = int(np.prod(self.shape))
        flat = self.motion.reshape(count, len(self.time))
        out: dict[str, Array] = {}
        for chosen, robot in self.plants:
            found = model(robot.of_rows(np.s_[:, np.newaxis]), flat[chosen])
            for name in names:
                value = getattr(found, name)
                if name not in out:
                    out[name] = np.full((count, *value.shape[1:]), np.nan)
                out[name][chosen] = value
        return {name: value.reshape(*self.shape, *value.shape[1:]) for name, value in out.items()}


def _dimensions(key: str, count: int) -> tuple[str, ...]:
    """Dimensions of a parameter: its leg, then the axes it is given in."""
    legs = ("leg",) if key.startswith("legs.") else ()
    vectors = key.count(".") == (1 if legs else 0)  # no body's parameter: of the world
    name = "axis" if vectors and key != "legs.platform" else "platform_axis"
    name = name if vectors or not legs else "body_axis"
    return (*legs, name, f"other_{name}")[:count]


def _trusted(fields: dict[str, Array], times: Array) -> Motion:
    """A motion whose rotations are known to be such: the check would cost as much as a simulation."""
    modes = fields.get("elastic", np.zeros(0)).shape[-1]
    rest = {name: np.zeros(modes if name.startswith("elastic") else 3) for name in FIELDS}
    return Motion._of({**rest, **fields, "time": times})
