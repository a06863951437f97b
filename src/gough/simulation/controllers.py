"""Controllers: what the drives are told, from what is measured and what is wanted.

All but a function of the user's are programs of `gough.simulation.laws`, so that they run inside the
engine's loop too. A controller that computes with a model uses the robot it is given, which may differ
from the plant (wrong masses, a rigid model of a flexible plant), or else the plant itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, real_numbers
from gough.engine.functions import Function
from gough.errors import InputError
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.model import Model
from gough.motion import Motion
from gough.simulation import laws
from gough.simulation.sensors import Reading

NOTHING = np.zeros((1, 3))
Memory = dict[str, Array]
"""What a controller remembers from one sample to the next, (rows, ...) by name."""
GAINS = {"stiffness": "1/s²", "damping": "1/s"}


@dataclass(frozen=True, eq=False)
class Measured:
    """What a controller knows at a sample; rows are simulations."""

    time: float
    reading: Reading
    """Rows first."""
    chains: Array
    """(rows, K): joints of the model's chain legs in the measured pose."""
    elastic: Array
    """(rows, N): the plant's own, for laws with a flexible model."""
    elastic_velocity: Array
    qdd: Array | None = None
    """(rows, actuators) of accelerometers along q, m/s² or rad/s², if there are any."""

    @property
    def q(self) -> Array:
        """(rows, actuators), m or rad."""
        return self.reading.q

    @property
    def qd(self) -> Array:
        """(rows, actuators), m/s or rad/s."""
        return self.reading.qd

    @cached_property
    def motion(self) -> Motion:
        """Batch (rows,): pose and twist of the measured actuators, and the elastic coordinates."""
        return Motion(
            *self.reading[2:], elastic=self.elastic, elastic_velocity=self.elastic_velocity
        )


class Controller(ABC):
    """What all controllers share."""

    program: ClassVar[Function | None] = None
    """Its law, run with the model's numbers; None for a plain function."""
    model: Model | None = None
    remembers: ClassVar[bool] = False
    """It has a memory, and needs samples to remember from."""
    recorded: ClassVar[tuple[str, ...]] = ()
    """What of its memory a simulation keeps, by name."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which the law jumps by itself, s."""
        return ()

    @property
    def timeless(self) -> bool:
        """What the law takes from the reference depends on its motion, not on the time."""
        return True

    def robot(self, plant: ModelCalls) -> ModelCalls:
        """The robot that the law computes with, its drives as if they were rigid."""
        return plant.stiff if self.model is None else self.model.stiff

    @abstractmethod
    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """What of the law's inputs follows from a timed reference: (samples, rows or 1, ...)."""

    @abstractmethod
    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """Constant inputs of the law, (1, ...)."""

    def prepared(
        self, plant: ModelCalls, reference: Callable[[Array], Motion], times: Array
    ) -> Controller:
        """The controller, told of the reference, (n, rows or 1) at times (n,), and of its samples."""
        return self

    def remembered(self, plant: ModelCalls, start: Motion, period: float) -> Memory:
        """What it remembers from sample to sample, (rows, ...) by name, as it is before the first.

        `start` (rows,) is where the plants start, `period` the time between samples, s.
        """
        return {}

    def command(
        self, plant: ModelCalls, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> tuple[Array, Memory]:
        """Commanded forces (rows, actuators) at one sample, and what it remembers for the next.

        Goals and gains (rows or 1, ...). A law takes what is remembered by its name, and what it is
        at the next sample is its output `next_…`.
        """
        assert self.program is not None
        model = self.robot(plant)
        fields = self.inputs(plant, measured, goals, memory)
        found = model.executor(self.program, len(measured.q), fields)
        return found["command"], {name: found[f"next_{name}"] for name in memory}

    def inputs(
        self, plant: ModelCalls, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> dict[str, Array]:
        """Inputs of the law's program at one sample; see `command`."""
        assert self.program is not None
        known = {
            **measured.reading._asdict(),
            "acceleration": NOTHING,
            "angular_acceleration": NOTHING,
            **goals,
            **memory,
        }
        model = self.robot(plant)
        wanted: tuple[str, ...] = (*RIGID_FIELDS, *laws.law_inputs(self.program))
        if model.modes:
            elastic = (measured.elastic, measured.elastic_velocity, np.zeros((1, model.modes)))
            known |= dict(zip(ELASTIC_FIELDS, elastic, strict=True))
            wanted = (*wanted, *ELASTIC_FIELDS)
        fields = {name: known[name] for name in wanted} | model.which()
        if model.mechanism.legs.coordinates:
            fields[CHAINS] = measured.chains
        return fields


@dataclass(frozen=True, eq=False)
class GivenForces(Controller):
    """Forces (N; N m of rotary actuators) that do not care what happens: constant (..., actuators).

    Or a function of time, which takes times (n,) in s and gives (n, actuators), or (n, rows, actuators)
    for a batch; `breaks`, an attribute of the function, are the times at which it jumps, s.
    """

    program: ClassVar[Function | None] = staticmethod(laws.given_forces)
    forces: ArrayLike | Callable[[Array], ArrayLike]

    @property
    def breaks(self) -> tuple[float, ...]:
        """Those of the function."""
        return tuple(float(time) for time in getattr(self.forces, "breaks", ()))

    @property
    def timeless(self) -> bool:
        """Constant forces are."""
        return not callable(self.forces)

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """The forces at the reference's times."""
        assert reference.time is not None
        times = reference.time[:, 0]
        given = self.forces(times) if callable(self.forces) else self.forces
        forces = _array("given forces", given)
        if callable(self.forces) and forces.shape[:1] == times.shape and forces.ndim == 2:
            forces = forces[:, np.newaxis]
        if forces.shape[-1:] != (plant.actuator_count,) or forces.ndim > 3:
            raise InputError(
                f"given forces have shape {forces.shape}, need (..., {plant.actuator_count})"
            )
        while forces.ndim < 3:
            forces = forces[np.newaxis]
        return {"feedforward": np.broadcast_to(forces, (len(times), *forces.shape[1:]))}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """None."""
        return {}


@dataclass(frozen=True, eq=False)
class LegPD(Controller):
    """Γ = K (q_r − q) + D (q̇_r − q̇): springs and dampers in the legs, N/m and N s/m.

    One number for all legs, or one per leg. Without damping and with a resting reference this is a
    platform on conservative springs.
    """

    program: ClassVar[Function | None] = staticmethod(laws.leg_law)
    stiffness: ArrayLike
    damping: ArrayLike = 0.0

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """q_r and q̇_r of the model's legs; a flexible platform sags under its weight."""
        legs = self.robot(plant).inverse_kinematics(sagging(self.robot(plant), reference))
        return {"goal_q": legs.q, "goal_qd": legs.qd, "feedforward": np.zeros_like(legs.q)}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """K and D, (1, actuators)."""
        count = plant.actuator_count
        return {name: gain(name, getattr(self, name), count) for name in GAINS}


@dataclass(frozen=True, eq=False)
class GravityPD(LegPD):
    """`LegPD` and the forces that hold the model still in the measured pose."""

    program: ClassVar[Function | None] = staticmethod(laws.leg_law_with_gravity)
    model: Model | None = None


@dataclass(frozen=True, eq=False)
class FeedForward(LegPD):
    """`LegPD` and the model's inverse dynamics of the reference, with its friction if it has any.

    Without stiffness and damping: the computed forces applied open loop.
    """

    model: Model | None = None
    friction: bool = True

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """q_r, q̇_r and the forces."""
        model = self.robot(plant)
        path = sagging(model, reference)
        forces = model.inverse_dynamics(path, friction=self.friction).forces
        return super().goals(plant, reference) | {"feedforward": forces}


@dataclass(frozen=True, eq=False)
class ComputedTorque(Controller):
    """Inverse dynamics of the model in the measured state, with an acceleration that closes the loop.

    In the platform's space v̇ = v̇_r + 2ζw (v_r − v) + w² (p_r − p), and alike for the rotation; with
    the true model errors obey ë + 2ζw ė + w² e = 0. In the legs' space the same of q. `frequency` w
    (rad/s) and `ratio` ζ are one number, or one per coordinate (6, or actuators). `friction` adds that
    of the model along the reference. A flexible model is told the plant's elastic coordinates. What the
    platform cannot do of an acceleration is left out; the reference must be a motion it can make.
    """

    frequency: ArrayLike
    ratio: ArrayLike = 1.0
    model: Model | None = None
    space: Literal["platform", "legs"] = "platform"
    friction: bool = False

    def __post_init__(self) -> None:
        if self.space not in ("platform", "legs"):
            raise InputError(f"computed torque: space is 'platform' or 'legs', not {self.space!r}")

    @property
    def program(self) -> Function:  # type: ignore[override]
        """The law in the chosen space."""
        return laws.platform_law if self.space == "platform" else laws.leg_acceleration_law

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """The reference and the friction along it."""
        model = self.robot(plant)
        known = {"feedforward": np.zeros((*reference.shape, model.actuator_count))}
        if self.friction:
            path = sagging(model, reference)
            both = (model.inverse_dynamics(path, friction=on).forces for on in (True, False))
            known["feedforward"] = next(both) - next(both)
        if self.space == "legs":
            legs = model.inverse_kinematics(reference)
            return known | {"goal_q": legs.q, "goal_qd": legs.qd, "goal_qdd": legs.qdd}
        if model.mobility < 6:
            model.inverse_kinematics(reference)  # refuses what the platform cannot do
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            known[f"goal_{name}"] = getattr(reference, name)
        accelerations = ("acceleration", "angular_acceleration")
        return known | {name: getattr(reference, name) for name in accelerations}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """w² and 2ζw, (1, 6) or (1, actuators)."""
        count = 6 if self.space == "platform" else plant.actuator_count
        w, ratio = (gain(name, getattr(self, name), count) for name in ("frequency", "ratio"))
        return {"stiffness": w * w, "damping": 2 * ratio * w}


def paper_loop(model: Model | None = None) -> ComputedTorque:
    """The loop of Long, Khalil & Martinet 2014, Fig. 3: no gains at all.

    At every instant the inverse model of the robot in its current state, elastic coordinates included,
    gives the forces for the desired acceleration of the platform's frame; the direct model integrates.
    """
    return ComputedTorque(0.0, model=model)


@dataclass(frozen=True, eq=False)
class FunctionController(Controller):
    """A plain function of the user's: forces = function(measured, reference).

    `measured` is a `Measured` of batch (rows,), `reference` a Motion of batch (rows,) or (1,); the
    forces are (rows, actuators) or (actuators,), N, or N m of rotary actuators.
    """

    function: Callable[[Measured, Motion], ArrayLike]

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """The reference itself, field by field."""
        return {name: getattr(reference, name) for name in RIGID_FIELDS}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """None."""
        return {}

    def command(
        self, plant: ModelCalls, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> tuple[Array, Memory]:
        """What the function says."""
        count, rows = plant.actuator_count, len(measured.q)
        forces = _array("the controller's forces", self.function(measured, Motion(**goals)))
        if forces.shape not in ((count,), (1, count), (rows, count)):
            raise InputError(
                f"the controller's forces have shape {forces.shape}, need ({count},) or "
                f"({rows}, {count})"
            )
        return np.array(np.broadcast_to(forces, (rows, count))), memory


def sagging(model: ModelCalls, reference: Motion) -> Motion:
    """A reference (n, rows or 1) with the deflection that a flexible model has at rest there."""
    if not model.modes or reference.modes:
        return reference
    held = all(
        np.array_equal(value[1:], value[:-1])
        for value in (reference.position, reference.rotation)
        if len(value) == len(reference)
    )
    rest = static_deflection(model, reference[:1] if held else reference)
    still = np.zeros(model.modes)
    return reference.replace(
        elastic=rest.elastic, elastic_velocity=still, elastic_acceleration=still
    )


def controller_of(given: Any) -> Controller:
    """A controller as it is; a function wrapped; anything else refused."""
    if isinstance(given, Controller):
        return given
    if callable(given):
        return FunctionController(given)
    raise InputError(f"controller is a {type(given).__name__}, must be a controller or a function")


def _array(name: str, value: Any) -> Array:
    try:
        array = real_numbers(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}: not an array of numbers") from None
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name}: not finite")
    return array


def gain(name: str, value: Any, count: int) -> Array:
    """A controller's number, one for all or one each, as (1, count); never negative."""
    array = _array(f"controller: {name}", value)
    if array.shape not in ((), (count,)):
        raise InputError(f"controller: {name} has shape {array.shape}, needs () or ({count},)")
    if np.any(array < 0):
        raise InputError(f"controller: {name} is {array.min():g}, must not be negative")
    return np.array(np.broadcast_to(array, (1, count)))
