"""The plant: a robot with its drives, as a differential equation without redundant coordinates.

A row of numbers holds a simulation's state while it is integrated, in the order of `LAYOUT`:

    y = (p, g, v, ω, works, drive forces, joints of chain legs, motors, q_e, q̇_e)

The rotation is R = C(g) R_anchor with Rodrigues' vector g (`gough.simulation.attitude`); integrators
move the anchor along before g grows, so there is nothing to drift: R is a rotation to rounding always.
Works are ∫ Σ Γ q̇ dt, ∫ wrench·ξ dt and the energy lost to friction and modal damping, J.

A platform that legs or mobility hold is integrated by its pose and twist all the same: accelerations
keep Cᵀ ξ = 0, and what steps leave is taken out at their end by the least correction
(`mechanics.settling.brought_back`). The joints of chain legs, θ̇ = K v, go along, and are made to fit the
platform wherever they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure, InputError, SampleError
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model import chains
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.model.friction_loop import WORST_RESIDUAL, with_friction
from gough.motion import Motion
from gough.simulation import layout, programs
from gough.simulation.actuators import UNLIMITED, Actuators, at_speed, within
from gough.simulation.attitude import turned_rows
from gough.simulation.sensors import Reading, Sensors

NOTHING = np.zeros((1, 3))
AWAY = 1e3
"""Length scales from home beyond which a platform is nowhere that its robot could hold it."""
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
    """(rows, actuators) forces of lagging drives, (rows, 0) of others."""
    chains: Array
    """(rows, K) joint coordinates of chain legs."""
    motors: Array
    """(rows, 2 actuators): elongations and rotors' rates of compliant drives, (rows, 0) of others."""
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
        behind = (self.drive, self.chains, self.motors, self.elastic, self.elastic_velocity)
        rest = (self.works, *behind)
        return np.concatenate([*parts, *rest], axis=1)

    def at(self, y: Array) -> PlantState:
        """The state of numbers (rows, n) whose anchor is this state's rotation."""
        counts = (one.shape[1] for one in (self.drive, self.chains, self.motors, self.elastic))
        behind = (y[:, place] for place in layout.behind(*counts))
        return PlantState(
            y[:, layout.POSITION],
            turned_rows(y[:, layout.GIBBS], self.rotation),
            y[:, layout.VELOCITY],
            y[:, layout.ANGULAR_VELOCITY],
            y[:, layout.WORKS],
            *behind,
        )

    def __getitem__(self, rows: slice | Array) -> PlantState:
        return PlantState(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class Rates(NamedTuple):
    """How a state changes."""

    rate: Array
    """dy/dt (rows, n); NaN in rows that have none."""
    applied: Array
    """Γ (rows, actuators)."""
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
        """Force and speed limits of the drives, (actuators,)."""
        return self.actuators.limits(self.robot.actuator_count)

    @cached_property
    def modes(self) -> int:
        """Number of elastic coordinates."""
        return self.robot.modes

    @cached_property
    def rubs(self) -> bool:
        """There is friction in this simulation."""
        return self.friction and not self.robot.mechanism.legs.friction.none

    def rates(self, time: float, state: PlantState, gibbs: Array, command: Array) -> Rates:
        """dy/dt and the applied forces under a command (rows, actuators)."""
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
        if self.springs is not None:
            constants["springs"] = self.springs[np.newaxis]
        return constants

    @cached_property
    def springs(self) -> Array | None:
        """(4, actuators) of `programs.rates`, where drives are compliant."""
        robot = self.robot
        if not (isinstance(robot, DescribedModel) and robot.drives.compliant):
            return None
        soft, rotors = np.isfinite(robot.drives.stiffness), robot.description.legs.rotor[:, 0]
        for i in np.flatnonzero(soft & (rotors <= 0)):
            raise InputError(
                f"{robot.name}: the drive of actuator {i + 1} is compliant and has no rotor: without "
                "inertia it passes its force on; give rotor_mass or rotor_inertia, or leave "
                "[legs.drive] out"
            )
        stiff = np.where(soft, robot.drives.stiffness, 0.0)
        return np.array(
            [stiff, robot.drives.damping * soft, np.where(soft, rotors, 1.0), 1.0 * soft]
        )

    def _rates(
        self, state: PlantState, gibbs: Array, command: Array, wrench: Array | None
    ) -> Rates:
        rows, state = len(state.position), self.closed(state)
        fields = self.inputs(state, gibbs, command)
        if wrench is not None:
            fields["wrench"] = wrench
        residual = None
        if self.rubs:
            friction = self.robot.mechanism.legs.friction
            run = self.robot.load_side.executor
            found, residual = with_friction(run, programs.rates, rows, fields, friction)
        else:
            found = self.robot.load_side.executor(programs.rates, rows, fields)
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

    def inputs(self, state: PlantState, gibbs: Array, command: Array) -> dict[str, Array]:
        """Inputs of `programs.rates` without wrench."""
        fields = self.fields(state) | {"gibbs": gibbs, "command": command} | self.constants
        if self.actuators.lag:
            fields["drive"] = state.drive
        if self.springs is not None:
            fields["motors"] = state.motors
        return fields

    def _trouble(self, state: PlantState, row: int, applied: Array) -> SampleError | None:
        """Why a row's state has no acceleration; None if it has one after all."""
        plant = self.of_rows(np.array([row]))
        if isinstance(self.robot, DescribedModel) and self.robot.description.home is not None:
            apart = float(np.linalg.norm(state.position[row] - self.robot.home.position))
            if not apart < AWAY * self.robot.length_scale:
                reason = f"the motion diverges: the platform is {apart:.3g} m from home"
                return ConvergenceError([Failure((), None, reason)])
        try:
            motion = plant.told(plant.settled(state[row : row + 1]))
            plant.robot.load_side.direct_dynamics(motion, applied, None, self.friction)
        except SampleError as error:
            return error
        return None

    def applied(self, state: PlantState, command: Array) -> Array:
        """Γ (rows, actuators) that the drives apply under a command; as in `programs.rates`."""
        force, speed = self.limits
        pushed = state.drive if self.actuators.lag else within(command, force)
        if np.any(speed < UNLIMITED):
            pushed = at_speed(pushed, self.speeds(state), speed)
        return pushed

    def speeds(self, state: PlantState) -> Array:
        """Rates (rows, actuators) of the drives: q̇, or those of rotors before a spring."""
        qd = self.watch(state).qd
        if self.springs is None:
            return qd
        return np.asarray(qd + self.springs[3] * (state.motors[:, qd.shape[1] :] - qd))

    def watch(self, state: PlantState) -> Watched:
        """q, q̇ and the signed conditioning of J."""
        found = self.robot.executor(programs.watch, len(state.position), self.fields(state))
        return Watched(found["q"], found["qd"], found["conditioning"])

    def sense(
        self, state: PlantState, sensors: Sensors, noise: Array, known: Mapping[str, Array]
    ) -> tuple[Reading, Array | None]:
        """What the sensors say, rows first, and what they keep; noise (rows, 2, actuators).

        `known` are `before` and `filtering` of `programs.sense`, where rates are found from q.
        """
        if sensors.exact:
            seen = self.watch(state)
            return Reading(seen.q, seen.qd, *_platform(state)), None
        fields = self.fields(state) | {"noise": noise, "steps": sensors.steps[np.newaxis], **known}
        if sensors.on_motors:
            fields["motors"] = state.motors
        found = self.robot.executor(programs.sense, len(state.position), fields)
        kept = found.pop("kept", None)
        return Reading(**found), kept

    def before_readings(
        self, state: PlantState, sensors: Sensors, period: float
    ) -> dict[str, Array]:
        """`before` and `filtering` of `programs.sense` at a start; nothing where rates are measured."""
        if not sensors.differentiates:
            return {}
        seen = self.watch(state)
        q, qd = seen.q, seen.qd
        if sensors.on_motors:
            stretched, turning = np.split(state.motors, 2, axis=1)
            q, qd = q + stretched, turning
        return {
            "before": sensors.before(q, qd, period),
            "filtering": sensors.filtering(period)[np.newaxis],
        }

    def accelerations(self, state: PlantState, command: Array) -> Array:
        """q̈ (rows, actuators) under a command, as accelerometers along q read it, wrench aside."""
        motion = self.told(state)
        pushed = self.applied(state, command)
        if self.springs is not None:
            raise InputError("accelerometers along q are there for rigid drives only")
        found = self.robot.direct_dynamics(motion, pushed, None, self.friction)
        moving = motion.replace(
            acceleration=found.linear,
            angular_acceleration=found.angular,
            elastic_acceleration=found.elastic,
        )
        self.robot.remember(moving, state.chains)
        return self.robot.inverse_kinematics(moving).qdd

    def fields(self, state: PlantState) -> dict[str, Array]:
        """The state's part of a program's inputs."""
        fields = dict(zip(RIGID_FIELDS, (*_platform(state), NOTHING, NOTHING), strict=True))
        if self.modes:
            elastic = (state.elastic, state.elastic_velocity, np.zeros((1, self.modes)))
            fields |= dict(zip(ELASTIC_FIELDS, elastic, strict=True))
        if self.joints:
            fields[CHAINS] = state.chains
        return fields | self.robot.which()

    @cached_property
    def joints(self) -> int:
        """Number of joint coordinates of chain legs."""
        return self.robot.mechanism.legs.coordinates

    @cached_property
    def settles(self) -> bool:
        """States have something to agree with: joints with the platform, or it with what holds it."""
        return bool(self.joints) or self.robot.mobility < 6

    def closed(self, state: PlantState) -> PlantState:
        """The state with joints of chains where the platform is."""
        if not self.joints:
            return state
        poses = chains.Poses(state.position, state.rotation, self.robot.which(), state.elastic)
        return replace(state, chains=chains.close(self.robot.executor, poses, state.chains))

    def settled(self, state: PlantState) -> PlantState:
        """The nearest state that the robot can be in; see the module."""
        if not self.settles:
            return state
        near = self.closed(state)
        found = self.robot.executor(programs.settle, len(near.position), self.fields(near))
        return replace(near, **found)

    def told(self, state: PlantState) -> Motion:
        """The state's motion, its joints of chains known to the robot."""
        return self.robot.remember(state.motion, state.chains)

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
