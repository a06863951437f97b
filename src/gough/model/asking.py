"""How one robot, or many of one shape, are asked: a program, a motion, answers or errors by sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.engine.functions import Function
from gough.engine.run.execute import Executor
from gough.engine.run.threads import at_most
from gough.errors import ConvergenceError, InputError, MissingDataError
from gough.legs.leg import LegKind
from gough.legs.reading import Limits
from gough.mechanics import programs
from gough.mechanics.equation import Mechanism
from gough.mechanics.state import ELASTIC_FIELDS
from gough.model import batch
from gough.model.batch import Inputs, OnError
from gough.model.diagnosis import diagnose
from gough.model.friction_loop import WORST_RESIDUAL, with_friction
from gough.motion import Motion

NO_WRENCH = np.zeros(6)
NO_ACCELERATION = np.zeros((1, 3))
NO_FRICTION = (
    "friction finds no loads that agree with it: residual {:.2g}, " + f"limit {WORST_RESIDUAL:g}"
)


class Askable(ABC):
    """One robot, or many of one shape: what all have in common, and how programs are run for them."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in messages."""

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The robot as the equations see it; of many, with the robots on the arrays' last axis."""

    @property
    @abstractmethod
    def executor(self) -> Executor:
        """Runs programs: compiled, or NumPy where LLVM is missing."""

    @property
    @abstractmethod
    def missing(self) -> tuple[str, ...]:
        """Bodies that the robot file does not give: dynamics cannot do without them."""

    @property
    @abstractmethod
    def leg_kind(self) -> LegKind:
        """What gough knows of such legs."""

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """Limits of the robot file, (legs,) each."""

    @property
    @abstractmethod
    def tool(self) -> Array:
        """The tool point, (3,) m, platform frame."""

    @property
    @abstractmethod
    def home(self) -> Motion:
        """The home pose, at rest."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The robot file's text; of variants, that of the robot they are variants of."""

    @property
    @abstractmethod
    def modal(self) -> ModalBody | None:
        """The flexible platform that all have in common; None if it is rigid."""

    def rows(self, shape: tuple[int, ...]) -> Self:
        """The robots of the rows of a batch of this shape; a robot that all rows share itself."""
        return self

    def of_rows(self, rows: Any) -> Self:
        """The robots of some rows of a batch."""
        return self

    def members(self) -> Inputs:
        """A further input that says which of many robots each sample is of; none of one robot."""
        return {}

    def which(self) -> dict[str, Array]:
        """`members` as a field of a program's rows."""
        return {name: np.asarray(value) for name, (value, _) in self.members().items()}

    def asked(self, shape: tuple[int, ...]) -> Mechanism:
        """The mechanism of each sample of a batch, samples on the last axis; or of all of them."""
        return self.mechanism

    @property
    def leg_count(self) -> int:
        """Number of legs."""
        return int(self.mechanism.points.shape[1])

    @property
    def modes(self) -> int:
        """Number of modes of the platform; 0 if it is rigid."""
        return self.mechanism.platform.mode_count

    @cached_property
    def rubs(self) -> bool:
        """The robot has friction."""
        return not self.mechanism.legs.friction.none

    def run(
        self,
        function: Function,
        motion: Motion,
        on_error: OnError = "raise",
        inputs: Inputs | None = None,
        friction: bool | None = None,
        coasting: bool = False,
        threads: int | None = None,
    ) -> dict[str, Array]:
        """A program's outputs for a motion, in its batch shape.

        `friction` None: the program knows none. Else the outputs come with the `residual` of the
        friction loop, which runs if the robot has friction and it is asked for. `coasting`: the
        motion's own accelerations do not count. `threads` caps the threads of this call.
        """
        if threads is not None:
            with at_most(threads):
                return self.run(function, motion, on_error, inputs, friction, coasting)
        modes = self.modes
        given = {**(inputs or {}), **self.members()}
        if modes or not isinstance(motion, Motion) or motion.modes:
            given |= self.elastic_inputs(motion)
        rows = batch.lay_out(motion, given)
        if coasting:
            rows.fields["acceleration"] = rows.fields["angular_acceleration"] = NO_ACCELERATION
        if modes and function is not programs.inverse_kinematics:
            rows.fields["elastic_acceleration"] = np.zeros((1, modes))
        residual = None
        if friction and self.rubs:
            laws = self.mechanism.legs.friction
            out, residual = with_friction(self.executor, function, rows.rows, rows.fields, laws)
        else:
            out = self.executor(function, rows.rows, rows.fields)
        margin = out.pop("margin")
        troubles: list[batch.Trouble] = []
        lowest = margin[0] if rows.rows == 1 else margin.min(initial=np.inf)
        if not lowest > 0:  # NaN is not
            troubles = batch.not_finite(rows)
            suspects = np.flatnonzero(~(margin > 0))
            known = {one.row for one in troubles}
            troubles += diagnose(self.mechanism, function, rows, suspects, known)
        if residual is not None:
            known = {one.row for one in troubles}
            troubles += [
                batch.Trouble(int(i), None, ConvergenceError, NO_FRICTION.format(residual[i]))
                for i in np.flatnonzero(~(residual <= WORST_RESIDUAL))
                if int(i) not in known
            ]
        if friction is not None:
            out["residual"] = np.zeros(rows.rows) if residual is None else residual
        return batch.settle(rows, out, troubles, on_error)

    def forced(self, wrench: ArrayLike | None, preload: ArrayLike | None) -> Inputs:
        """Check that forces can be asked for at all, and name the programs' further inputs."""
        self.need_masses()
        if self.leg_count < 6:
            raise InputError(
                f"{self.name} has {self.leg_count} legs; forces on a platform that moves in six "
                "directions need six or more"
            )
        inputs: Inputs = {"wrench": (NO_WRENCH if wrench is None else wrench, (6,))}
        if preload is not None:
            inputs["preload"] = (preload, (self.leg_count,))
        return inputs

    def elastic_inputs(self, motion: Motion) -> Inputs:
        """The motion's elastic coordinates, 0 where it has none; nothing of a rigid robot."""
        if not isinstance(motion, Motion):
            raise InputError(f"needs a gough.Motion, has {type(motion).__name__}")
        if motion.modes not in (0, self.modes):
            has = f"has {self.modes} modes" if self.modes else "is rigid"
            raise InputError(f"motion has {motion.modes} elastic coordinates, the platform {has}")
        if not self.modes:
            return {}
        still = np.zeros(self.modes)
        return {
            name: (getattr(motion, name) if motion.modes else still, (self.modes,))
            for name in ELASTIC_FIELDS
        }

    def need_masses(self) -> None:
        """Refuse dynamics of a robot whose file leaves bodies out."""
        if self.missing:
            lacking = ", ".join(f"[{name}]" for name in self.missing)
            raise MissingDataError(
                f"{self.name}: dynamics needs the masses of {lacking} "
                "(an empty table stands for a body without mass)"
            )
