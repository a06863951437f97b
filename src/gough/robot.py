"""Robot: one machine from a file, and all that can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gough import batch, files, forward
from gough.batch import Answer, OnError, State, Trouble
from gough.check import Report, check
from gough.description import Description, describe
from gough.errors import MissingDataError, ReachError, SingularError
from gough.legs import pus, ups
from gough.legs.leg import LegKinematics
from gough.motion import Array, Motion
from gough.platforms import rigid
from gough.schema import RobotFile

LEG_KINDS: dict[str, ModuleType] = {"UPS": ups, "PUS": pus}


@dataclass(frozen=True)
class LegMotion:
    """What the legs do: (..., legs) and (..., legs, 3), world axes, SI units."""

    q: Array
    """Actuated coordinates, m."""
    qd: Array
    qdd: Array
    joints: Array
    """(..., legs, 3): UPS (q1, q2, q3), PUS (λ, φ1, φ2)."""
    joint_rates: Array
    joint_accelerations: Array
    direction: Array
    """Unit vector from the universal to the spherical joint."""
    link_angular_velocity: Array
    link_angular_acceleration: Array


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
    def equations(self) -> ModuleType:
        """The module with the leg kind's equations."""
        return LEG_KINDS[self.kind]

    @property
    def home(self) -> Motion:
        """The home pose, at rest."""
        if self.description.home is None:
            raise MissingDataError(f"{self.name} has no home pose")
        return self.description.home

    @property
    def length_scale(self) -> float:
        """Characteristic length for condition numbers: rms distance of the P_i from their mean, m."""
        points = self.description.platform_points[..., 0]
        spread = points - points.mean(axis=1, keepdims=True)
        return float(np.sqrt(np.mean(np.sum(spread**2, axis=0)))) or 1.0

    def inverse_kinematics(self, motion: Motion, on_error: OnError = "raise") -> LegMotion:
        """What each leg does while the platform moves: coordinates, rates, accelerations."""

        def model(state: State) -> Answer:
            legs = self._legs(state)[1]
            vectors = (
                "joints",
                "joint_rates",
                "joint_accelerations",
                "direction",
                "link_angular_velocity",
                "link_angular_acceleration",
            )
            values = {name: getattr(legs, name) for name in ("q", "qd", "qdd")}
            values |= {name: np.moveaxis(getattr(legs, name), 0, 1) for name in vectors}
            return Answer(values, self._leg_troubles(legs))

        return LegMotion(**batch.run(model, motion, on_error))

    def jacobian(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """(..., legs, 6): q̇ = J (v, ω), world axes."""

        def model(state: State) -> Answer:
            tips, legs = self._legs(state)
            rows = rigid.jacobian_rows(tips, legs.w)
            return Answer({"jacobian": np.moveaxis(rows, 0, 1)}, self._leg_troubles(legs))

        return batch.run(model, motion, on_error)["jacobian"]

    def condition_number(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """Condition number (...) of the Jacobian, its angular columns divided by `length_scale`."""
        jacobian = self.jacobian(motion, on_error)
        return forward.condition(jacobian, self.length_scale)

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

    def check(self, motion: Motion) -> Report:
        """Which limits of the robot file the motion exceeds: leg, limit, when, by how much."""
        return check(self, motion)

    def _legs(self, state: State) -> tuple[rigid.Tips, LegKinematics]:
        tips = rigid.tips(self.description.platform_points, *state[:4])
        acceleration = rigid.tip_acceleration(tips, *state[4:])
        kinematics = self.equations.kinematics(
            self.description.legs, tips.position, tips.velocity, acceleration
        )
        return tips, kinematics

    def _leg_troubles(self, legs: LegKinematics) -> list[Trouble]:
        troubles = []
        for measure, health in zip(legs.health, self.equations.HEALTH, strict=True):

            def reason(place: tuple[int, ...], measure: Array = measure, health: Any = health) -> str:
                return str(health.reason.format(value=measure[place], limit=health.limit))

            error = SingularError if health.singular else ReachError
            troubles.append(Trouble(~(measure > health.limit), error, reason))
        return troubles


def load(name: str | os.PathLike[str]) -> Robot:
    """A robot from a catalogue name or from a robot file."""
    text, shown = files.read_text(name)
    return Robot.from_text(text, shown)
