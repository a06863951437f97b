"""The plant: a robot with its drives, as a differential equation without redundant coordinates.

A row of numbers holds a simulation's state while it is integrated, in the order of `LAYOUT`:

    y = (p, g, v, ω, works, drive forces, q_e, q̇_e)

The rotation is R = C(g) R_anchor with Rodrigues' vector g (`gough.simulation.attitude`); integrators
move the anchor along before g grows, so there is nothing to drift: R is a rotation to rounding always.
Works are ∫ Σ Γ q̇ dt, ∫ wrench·ξ dt and the energy lost to friction and modal damping, J.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure, SampleError
from gough.mechanics.state import ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.calls import ModelCalls
from gough.model.friction_loop import WORST_RESIDUAL, with_friction
from gough.motion import Motion
from gough.simulation import layout, programs
from gough.simulation.actuators import UNLIMITED, Actuators, at_speed, within
from gough.simulation.attitude import turned_rows
from gough.simulation.sensors import Reading, Sensors

NOTHING = np.zeros((1, 3))
MOVING = ("position", "rotation", "velocity", "angular_velocity")
ELASTIC = ("elastic", "elastic_velocity")
"""Fields of a `State`: of the platform's frame, and of its modes."""


@dataclass(frozen=True, eq=False)
class PlantState:
    """States of simulations, (rows, ...) each."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    works: Array
    """(rows, 3), see the module."""
    drive: Array
    """(rows, legs) forces of lagging drives, (rows, 0) of others."""
    elastic: Array
    elastic_velocity: Array

    @property
    def motion(self) -> Motion:
        """Where the platform is and how it moves."""
        return Motion(
            self.position,
            self.rotation,
            self.velocity,
            self.angular_velocity,
            elastic=self.elastic,
            elastic_velocity=self.elastic_velocity,
        )

    def numbers(self) -> Array:
        """y (rows, n) with the anchor where the platform is: g = 0."""
        parts = (self.position, 0 * self.position, self.velocity, self.angular_velocity)
        rest = (self.works, self.drive, self.elastic, self.elastic_velocity)
        return np.concatenate([*parts, *rest], axis=1)

    def at(self, y: Array) -> PlantState:
        """The state of numbers (rows, n) whose anchor is this state's rotation."""
        legs, modes = self.drive.shape[1], self.elastic.shape[1]
        drive, elastic, rate = np.split(y[:, layout.BEHIND], [legs, legs + modes], axis=1)
        return PlantState(
            y[:, layout.POSITION],
            turned_rows(y[:, layout.GIBBS], self.rotation),
            y[:, layout.VELOCITY],
            y[:, layout.ANGULAR_VELOCITY],
            y[:, layout.WORKS],
            drive,
            elastic,
            rate,
        )

    def __getitem__(self, rows: slice | Array) -> PlantState:
        return PlantState(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class Rates(NamedTuple):
    """How a state changes."""

    rate: Array
    """dy/dt (rows, n); NaN in rows that have none."""
    applied: Array
    """Γ (rows, legs), N."""
    troubles: dict[int, SampleError]
    """Rows without an answer, and why."""


class Watched(NamedTuple):
    """What is looked at along the way, (rows, ...)."""

    q: Array
    qd: Array
    conditioning: Array


@dataclass(frozen=True, eq=False)
class Plant:
    """A robot with its drives, friction and the wrench on its platform over time."""

    robot: ModelCalls
    actuators: Actuators
    friction: bool
    wrench: Callable[[Array], Array] | None
    """At times (n,): (n, rows or 1, 6); None: there is none."""

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Force (N) and speed (m/s) limits of the drives, (legs,)."""
        return self.actuators.limits(self.robot.leg_count)

    @cached_property
    def modes(self) -> int:
        """Number of elastic coordinates."""
        return self.robot.modes

    @cached_property
    def rubs(self) -> bool:
        """There is friction in this simulation."""
        return self.friction and not self.robot.mechanism.legs.friction.none

    def rates(self, time: float, state: PlantState, gibbs: Array, command: Array) -> Rates:
        """dy/dt and the applied forces under a command (rows, legs)."""
        wrench = None if self.wrench is None else self.wrench(np.array([time]))[0]
        return self._rates(state, gibbs, command, wrench)

    @cached_property
    def constants(self) -> dict[str, Array]:
        """Inputs of `programs.rates` that never change, (1, ...): limits where there are any, lag."""
        force, speed = self.limits
        constants = {}
        if np.any(force < UNLIMITED):
            constants["force_limit"] = force[np.newaxis]
        if np.any(speed < UNLIMITED):
            constants["speed_limit"] = speed[np.newaxis]
        if self.actuators.lag:
            constants["lag"] = np.full((1, 1), self.actuators.lag)
        return constants

    def _rates(
        self, state: PlantState, gibbs: Array, command: Array, wrench: Array | None
    ) -> Rates:
        rows = len(state.position)
        fields = self.fields(state) | {"gibbs": gibbs, "command": command} | self.constants
        if wrench is not None:
            fields["wrench"] = wrench
        if self.actuators.lag:
            fields["drive"] = state.drive
        residual = None
        if self.rubs:
            friction = self.robot.mechanism.legs.friction
            run = self.robot.executor
            found, residual = with_friction(run, programs.rates, rows, fields, friction)
        else:
            found = self.robot.executor(programs.rates, rows, fields)
        troubles: dict[int, SampleError] = {}
        if not found["margin"].min(initial=np.inf) > 0:
            for row in np.flatnonzero(~(found["margin"] > 0)):
                trouble = self._trouble(state, int(row), found["applied"][row])
                if trouble is not None:
                    troubles[int(row)] = trouble
        if residual is not None:
            for row in np.flatnonzero(~(residual <= WORST_RESIDUAL)):
                reason = f"friction finds no loads that agree with it: residual {residual[row]:.2g}"
                failure = Failure((), None, f"{reason}, limit {WORST_RESIDUAL:g}")
                troubles.setdefault(int(row), ConvergenceError([failure]))
        rate = found["rate"]
        if self.modes:
            rate = np.concatenate([rate, state.elastic_velocity, found["elastic"]], axis=1)
        if troubles:
            rate[list(troubles)] = np.nan
        return Rates(rate, found["applied"], troubles)

    def _trouble(self, state: PlantState, row: int, applied: Array) -> SampleError | None:
        """Why a row's state has no acceleration; None if it has one after all."""
        robot = self.robot.of_rows(row)
        try:
            robot.direct_dynamics(state[row : row + 1].motion[0], applied, None, self.friction)
        except SampleError as error:
            return error
        return None

    def applied(self, state: PlantState, command: Array) -> Array:
        """Γ (rows, legs) that the drives apply under a command, N; as in `programs.rates`."""
        force, speed = self.limits
        pushed = state.drive if self.actuators.lag else within(command, force)
        if np.any(speed < UNLIMITED):
            pushed = at_speed(pushed, self.watch(state).qd, speed)
        return pushed

    def watch(self, state: PlantState) -> Watched:
        """q, q̇ and the signed conditioning of J."""
        found = self.robot.executor(programs.watch, len(state.position), self.fields(state))
        return Watched(found["q"], found["qd"], found["conditioning"])

    def sense(self, state: PlantState, sensors: Sensors, noise: Array) -> Reading:
        """What the sensors say, rows first; noise (rows, 2, legs)."""
        if sensors.exact:
            seen = self.watch(state)
            return Reading(seen.q, seen.qd, *_platform(state))
        fields = self.fields(state) | {"noise": noise, "steps": sensors.steps[np.newaxis]}
        return Reading(**self.robot.executor(programs.sense, len(state.position), fields))

    def fields(self, state: PlantState) -> dict[str, Array]:
        """The state's part of a program's inputs."""
        fields = dict(zip(RIGID_FIELDS, (*_platform(state), NOTHING, NOTHING), strict=True))
        if self.modes:
            elastic = (state.elastic, state.elastic_velocity, np.zeros((1, self.modes)))
            fields |= dict(zip(ELASTIC_FIELDS, elastic, strict=True))
        return fields | self.robot.which()

    def of_rows(self, rows: Array) -> Plant:
        """The plant of some rows: their robots, and the wrench on theirs."""
        given = self.wrench

        def wrench(times: Array) -> Array:
            assert given is not None
            value = given(times)
            return value if value.shape[1] == 1 else value[:, rows]

        return replace(
            self,
            robot=self.robot.of_rows(rows),
            wrench=None if given is None else wrench,
        )


def at_rest_drives(state: PlantState, command: Array, actuators: Actuators) -> PlantState:
    """The state with lagging drives at the forces of a first command."""
    if not actuators.lag:
        return state
    force, _ = actuators.limits(command.shape[1])
    return replace(state, drive=within(command, force))


def _platform(state: PlantState) -> tuple[Array, Array, Array, Array]:
    return state.position, state.rotation, state.velocity, state.angular_velocity
