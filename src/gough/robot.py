"""Robot: one machine from a file, and all that can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gough import batch, dynamics, files, forward
from gough.batch import Answer, OnError, Trouble
from gough.check import Report, check
from gough.contributions import Contributions, split
from gough.description import Description, describe
from gough.dynamics import Machine, State
from gough.errors import (
    ConvergenceError,
    InputError,
    MissingDataError,
    ReachError,
    SingularError,
)
from gough.friction import WORST_RESIDUAL
from gough.legs import pus, ups
from gough.legs.leg import LegKinematics
from gough.linear import WORST_CONDITION
from gough.motion import Array, Motion
from gough.platforms import rigid
from gough.results import Acceleration, Actuation, Energy, LegMotion, Reactions
from gough.schema import RobotFile

LEG_KINDS: dict[str, ModuleType] = {"UPS": ups, "PUS": pus}


@dataclass(frozen=True, eq=False)
class Robot:
    """A parallel robot. Made by `gough.load` or `Robot.from_dict`; never changes."""

    file: RobotFile
    text: str = field(repr=False)
    """The robot file's text, comments and all."""
    description: Description = field(repr=False)

    @classmethod
    def from_text(cls, text: str, name: str = "robot") -> Self:
        """A robot from the text of a robot file."""
        file = files.parse(text, name)
        return cls(file, text, describe(file, name))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A robot from a dictionary with the keys of a robot file."""
        name = str(data.get("name", "robot"))
        file = files.validate(data, name)
        return cls(file, files.to_text(data), describe(file, name))

    def edited(self, changes: Mapping[str, Any]) -> Self:
        """A robot with values at dotted keys changed: `robot.edited({"platform.mass": 12.0})`."""
        return self.from_text(files.edit(self.text, changes), self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot file, its comments included."""
        with files.replacing(path) as temporary:
            Path(temporary).write_text(self.text, "utf-8")

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @property
    def kind(self) -> str:
        """Leg architecture, "UPS" or "PUS"."""
        return self.file.legs.kind

    @property
    def leg_count(self) -> int:
        """Number of legs."""
        return int(self.description.platform_points.shape[1])

    @property
    def home(self) -> Motion:
        """The home pose, at rest."""
        if self.description.home is None:
            raise MissingDataError(f"{self.name} has no home pose")
        return self.description.home

    @cached_property
    def length_scale(self) -> float:
        """Characteristic length for condition numbers: rms distance of the P_i from their mean, m."""
        points = self.description.platform_points[..., 0]
        spread = points - points.mean(axis=1, keepdims=True)
        return float(np.sqrt(np.mean(np.sum(spread**2, axis=0)))) or 1.0

    @cached_property
    def machine(self) -> Machine:
        """The robot as the equations see it."""
        parts = self.description
        return Machine(
            LEG_KINDS[self.kind],
            parts.legs,
            parts.platform_points,
            parts.platform,
            parts.gravity.reshape(3, 1, 1),
            parts.friction,
            self.length_scale,
        )

    def inverse_kinematics(self, motion: Motion, on_error: OnError = "raise") -> LegMotion:
        """What each leg does while the platform moves: coordinates, rates, accelerations."""

        def model(state: State) -> Answer:
            legs = dynamics.moving(self.machine, state)[1]
            values = {name: getattr(legs, name) for name in ("q", "qd", "qdd")}
            values |= {
                name: np.moveaxis(getattr(legs, name), 0, 1)
                for name in LegMotion.__annotations__
                if name not in values
            }
            return Answer(values, self._leg_troubles(legs))

        return LegMotion(**batch.run(model, motion, on_error))

    def jacobian(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """(..., legs, 6): q̇ = J (v, ω), world axes."""

        def model(state: State) -> Answer:
            tips, legs = dynamics.moving(self.machine, state)
            rows = rigid.jacobian_rows(tips, legs.w)
            return Answer({"jacobian": np.moveaxis(rows, 0, 1)}, self._leg_troubles(legs))

        return batch.run(model, motion, on_error)["jacobian"]

    def condition_number(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """Condition number (...) of the Jacobian, its angular columns divided by `length_scale`."""
        scale = np.array([1.0] * 3 + [self.length_scale] * 3)
        return forward.condition(self.jacobian(motion, on_error) / scale)

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: Motion | None = None,
        *,
        along: int | None = None,
        on_error: OnError = "raise",
    ) -> Motion:
        """The pose with actuated coordinates q (..., legs), found by Newton from a guess (or home).

        `along` names a batch axis of q that is time: each sample then starts from the one before.
        """
        start = self.home if guess is None else guess
        return forward.solve(self, q, start, along=along).motion(on_error)

    def check(self, motion: Motion, wrench: ArrayLike | None = None) -> Report:
        """Which limits of the robot file the motion exceeds: leg, limit, when, by how much."""
        return check(self, motion, wrench)

    def inverse_dynamics(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
    ) -> Actuation:
        """Actuator forces and powers that this motion takes.

        `wrench` (..., 6) is force and moment on the platform at its frame's origin, world axes.
        With more than six legs the forces of least norm; `preload` (..., legs) adds what of it is
        internal (balances itself).
        """
        names = {"forces", "residual"}

        def model(state: State, **given: Array) -> Answer:
            found = self._inverse(state, friction, given)
            values = {name: getattr(found, name) for name in names}
            values["power"] = found.forces * found.legs.qd
            return Answer(values, self._troubles(found))

        out = batch.run(model, motion, on_error, self._inputs(wrench, preload))
        return Actuation(elastic_acceleration=_rigid(out["residual"].shape), **out)

    def reactions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
    ) -> Reactions:
        """Forces and moments in the joints, (..., legs, 3), world axes."""

        def model(state: State, **given: Array) -> Answer:
            found = self._inverse(state, friction, given)
            values = {name: np.moveaxis(value, 0, 1) for name, value in found.reactions.items()}
            values["residual"] = found.residual
            return Answer(values, self._troubles(found))

        return Reactions(**batch.run(model, motion, on_error, self._inputs(wrench, preload)))

    def direct_dynamics(
        self,
        motion: Motion,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
    ) -> Acceleration:
        """Acceleration of the platform under actuator forces (..., legs).

        The motion's own accelerations are ignored.
        """
        inputs = self._inputs(wrench, None) | {"forces": (forces, self.leg_count)}
        still = motion
        if isinstance(motion, Motion):
            still = motion.replace(acceleration=np.zeros(3), angular_acceleration=np.zeros(3))

        def model(state: State, **given: Array) -> Answer:
            found = dynamics.direct(self.machine, state, given["forces"], given["wrench"], friction)
            values = {
                "linear": found.acceleration[:3],
                "angular": found.acceleration[3:],
                "residual": found.residual,
            }
            return Answer(values, self._troubles(found))

        out = batch.run(model, still, on_error, inputs)
        return Acceleration(elastic=_rigid(out["residual"].shape), **out)

    def mass_matrix(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """M (..., 6, 6) of the whole robot: M ξ̇ + b = Jᵀ Γ + wrench, without friction."""
        return self._of_state("matrix", dynamics.mass_matrix, motion, on_error)

    def bias(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """b (..., 6) of the whole robot: Coriolis, centrifugal and gravity terms."""
        return self._of_state("bias", dynamics.robot_bias, motion, on_error)

    def energy(self, motion: Motion, on_error: OnError = "raise") -> Energy:
        """Kinetic and potential energy (...) of the whole robot, J, heights from the world's origin."""
        self._need_masses()

        def model(state: State) -> Answer:
            kinetic, potential = dynamics.energy(self.machine, state)
            legs = dynamics.moving(self.machine, state)[1]
            return Answer({"kinetic": kinetic, "potential": potential}, self._leg_troubles(legs))

        return Energy(**batch.run(model, motion, on_error))

    def contributions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
    ) -> Contributions:
        """The actuator forces split by cause; the parts add up to `inverse_dynamics`' forces."""

        def model(state: State, **given: Array) -> Answer:
            found = self._inverse(state, friction, given)
            parts = split(self.machine, state, found.forces, given["wrench"], given["preload"])
            return Answer(parts, self._troubles(found))

        return Contributions(**batch.run(model, motion, on_error, self._inputs(wrench, preload)))

    def tool_wrench(
        self, motion: Motion, force: ArrayLike, moment: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """The wrench (..., 6) of a force and moment (..., 3) at the tool point, world axes.

        (f, R t × f + m), for `wrench=` of the dynamic models.
        """
        pushed = batch.last_axis("force", force, 3)
        turned = batch.last_axis("moment", moment, 3)
        arm = motion.rotation @ self.description.tool
        couple = np.cross(arm, pushed) + turned
        return np.concatenate(np.broadcast_arrays(pushed, couple), axis=-1)

    def _inverse(self, state: State, friction: bool, given: Mapping[str, Any]) -> dynamics.Inverse:
        return dynamics.inverse(self.machine, state, given["wrench"], friction, given["preload"])

    def _of_state(self, name: str, equation: Any, motion: Motion, on_error: OnError) -> Array:
        self._need_masses()

        def model(state: State) -> Answer:
            legs = dynamics.moving(self.machine, state)[1]
            return Answer({name: equation(self.machine, state)}, self._leg_troubles(legs))

        return batch.run(model, motion, on_error)[name]

    def _inputs(
        self, wrench: ArrayLike | None, preload: ArrayLike | None
    ) -> dict[str, tuple[ArrayLike | None, int]]:
        """Check that forces can be asked for at all, and name the models' further inputs."""
        self._need_masses()
        if self.leg_count < 6:
            raise InputError(
                f"{self.name} has {self.leg_count} legs; forces on a platform that moves in six "
                "directions need six or more"
            )
        return {"wrench": (wrench, 6), "preload": (preload, self.leg_count)}

    def _need_masses(self) -> None:
        if self.description.missing:
            lacking = ", ".join(f"[{name}]" for name in self.description.missing)
            raise MissingDataError(
                f"{self.name}: dynamics needs the masses of {lacking} "
                "(an empty table stands for a body without mass)"
            )

    def _leg_troubles(self, legs: LegKinematics) -> list[Trouble]:
        troubles = []
        for measure, health in zip(legs.health, self.machine.equations.HEALTH, strict=True):

            def reason(
                place: tuple[int, ...], measure: Array = measure, health: Any = health
            ) -> str:
                return str(health.reason.format(value=measure[place], limit=health.limit))

            error = SingularError if health.singular else ReachError
            troubles.append(Trouble(~(measure > health.limit), error, reason))
        return troubles

    def _troubles(self, found: dynamics.Inverse | dynamics.Direct) -> list[Trouble]:
        """Why a dynamic model may have no answer: a leg, a singular pose, friction."""
        conditions = self._conditions(found)
        return [
            *self._leg_troubles(found.legs),
            Trouble(
                ~(conditions < WORST_CONDITION),
                SingularError,
                lambda place: (
                    f"the pose is singular: condition number {conditions[place]:.3g}, "
                    f"limit {WORST_CONDITION:g}"
                ),
            ),
            Trouble(
                ~(found.residual <= WORST_RESIDUAL),
                ConvergenceError,
                lambda place: (
                    "friction finds no loads that agree with it: residual "
                    f"{found.residual[place]:.2g}, limit {WORST_RESIDUAL:g}"
                ),
            ),
        ]

    def _conditions(self, found: dynamics.Inverse | dynamics.Direct) -> Array:
        """Condition numbers of the systems solved, exact where the health says that it matters."""
        conditions = np.asarray(1 / found.health)
        doubtful = ~(conditions < np.sqrt(WORST_CONDITION))
        if np.any(doubtful):
            conditions[doubtful] = forward.condition(
                np.moveaxis(found.system[..., doubtful], -1, 0)
            )
        return conditions


def _rigid(shape: tuple[int, ...]) -> Array:
    """Elastic coordinates of a rigid platform: none."""
    return np.zeros((*shape, 0))


def load(name: str | os.PathLike[str]) -> Robot:
    """A robot from a catalogue name or from a robot file."""
    text, shown = files.read_text(name)
    return Robot.from_text(text, shown)
