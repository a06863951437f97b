"""How one robot, or many of one shape, are asked: a program, a motion, answers or errors by sample."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.engine.functions import Function
from gough.engine.run.execute import Executor
from gough.engine.run.threads import at_most
from gough.errors import ConvergenceError, InputError, MissingDataError, ReachError
from gough.legs.leg import LegKind
from gough.legs.reading import Actuator, Limits, PassiveLimits
from gough.legs.units import LegUnits, common
from gough.mechanics import programs
from gough.mechanics.groups import parted
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS
from gough.model import batch, chains, single
from gough.model.batch import Inputs, OnError
from gough.model.diagnosis import diagnose
from gough.model.friction_loop import WORST_RESIDUAL, settled, under_own_loads, with_friction
from gough.model.single import Precision, is_single
from gough.motion import Motion, need_motion

NO_WRENCH = np.zeros(6)
NO_ACCELERATION = np.zeros((1, 3))
NO_PLACE = ("bodies", "rotor_inertia", "viscous", "coulomb", "width", "rounding")
"""Numbers of chain legs that say nothing of where their joints are."""
NO_RESIDUAL: Any = np.float64(0.0)
NO_FRICTION = (
    "friction finds no loads that agree with it: residual {:.2g}, " + f"limit {WORST_RESIDUAL:g}"
)

UNDEFORMED = (
    "{name} has a flexible platform and the motion no elastic coordinates: dynamics needs them. "
    "robot.elastic_motion(motion) finds them along time, robot.static_deflection(motion) at rest; "
    "robot.rigid has none; motion.replace(elastic=np.zeros({modes})) is undeformed"
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
    def in_single(self) -> Executor:
        """Runs programs in single precision, where that is possible."""
        raise InputError(f"{self.name}: precision='single' is for one robot, not for many at once")

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
    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators in the order of q: the leg each is in, and its units."""

    @property
    def units(self) -> LegUnits:
        """Of q and Γ; where actuators differ, of all of them in one label."""
        return common(one.units for one in self.actuators)

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """Limits of the robot file, per actuator and per leg."""

    @property
    @abstractmethod
    def passive(self) -> tuple[PassiveLimits, ...]:
        """Limits of joints that no actuator moves, where the robot file has some."""

    @property
    @abstractmethod
    def tool(self) -> Array:
        """The tool point, (3,) m, platform frame."""

    @property
    @abstractmethod
    def home(self) -> Motion:
        """The home pose, at rest."""

    @property
    def homes(self) -> Motion:
        """Home of each of many robots, of a batch shape that broadcasts to theirs."""
        return self.home

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

    def sensible(self, motion: Motion, on_error: OnError) -> Motion:
        """The motion, if it can be the robot's; of many robots nothing is known."""
        return motion

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

    @cached_property
    def actuator_count(self) -> int:
        """Number of actuators, which is that of q and of the forces."""
        return len(self.mechanism.legs.holders)

    @property
    def mobility(self) -> int:
        """m, the number of directions in which the platform can move; 6 of hexapods."""
        return self.mechanism.mobile

    @cached_property
    def leg_size(self) -> float:
        """How far the largest leg reaches, or stands from the platform, at home, m."""
        q = np.zeros((self.actuator_count, 1))
        own = float(np.max(np.abs(self.mechanism.legs.sizes(q))))
        return own if own > 0 else float(np.max(self.mechanism.length_scale))

    @cached_property
    def _chains(self) -> WeakKeyDictionary[Motion, Array]:
        """Joint coordinates of chain legs along motions that carry none of these legs."""
        return WeakKeyDictionary()

    def chains_of(self, motion: Motion) -> Array:
        """Joint coordinates (..., K) of chain legs along a motion, continued from home or in time."""
        legs = self.mechanism.legs
        if not legs.coordinates:
            return np.zeros(0)
        need_motion(motion)
        known = motion._joints
        if known is not None and known[0] == self._joint_digest:
            return known[1]
        if motion not in self._chains:
            which = self.which()
            shape = np.broadcast_shapes(motion.shape, *(one.shape for one in which.values()))
            given = self.elastic_inputs(motion) if self.modes else {}  # rigid models look past them
            elastic = np.asarray(given["elastic"][0]) if given else np.zeros(0)
            found = chains.solve(
                self.follow_joints,
                self.homes,
                legs.at_home(),
                motion,
                elastic,
                which,
                shape,
                self.leg_size,
            )
            self.remember(motion, found)
            return found
        return self._chains[motion]

    def follow_joints(
        self, start: chains.Poses, end: chains.Poses, near: Array, from_home: Array
    ) -> Array:
        """Joint coordinates (rows, K) of chain legs at poses, continued along lines of poses."""
        line = chains.StraightLine(start, end, self.leg_size)
        return chains.follow(self.executor, line, near)

    def lost_way(self, poses: chains.Poses) -> tuple[chains.LostWay, str]:
        """How far lines from home to poses can be followed, and in what they are straight."""
        count = len(poses)
        home = chains.Poses(
            np.broadcast_to(self.home.position, (count, 3)),
            np.broadcast_to(self.home.rotation, (count, 3, 3)),
            poses.which,
            np.zeros_like(poses.elastic),
        )
        line = chains.StraightLine(home, poses, self.leg_size)
        near = np.tile(self.mechanism.legs.at_home(), (count, 1))
        joints, share = chains.along(self.executor, line, near)
        ahead = line.at(np.arange(count), chains.past(share, line.strides()))
        return chains.LostWay(share, ahead, joints), "position and rotation"

    def _lost_joints(self, rows: batch.Rows, known: set[int]) -> list[batch.Trouble]:
        """Troubles of rows whose joint coordinates of chain legs were not found."""
        joints = rows.fields.get(CHAINS)
        if joints is None:
            return []
        bad = np.broadcast_to(~np.isfinite(joints).all(axis=1), rows.rows)
        lost = np.array(
            [row for row in np.flatnonzero(bad) if int(row) not in known], dtype=np.intp
        )
        if not lost.size:
            return []
        if self.members():
            reason = chains.LOST_BETWEEN.format("home, or from the sample before")
            return [batch.Trouble(int(row), None, ReachError, reason) for row in lost]
        some = lost[: chains.EXPLAINED]

        def field(name: str) -> Array:
            value = rows.fields[name]
            return np.asarray(np.broadcast_to(value, (rows.rows, *value.shape[1:]))[some])

        elastic = field("elastic") if self.modes else np.zeros((len(some), 0))
        poses = chains.Poses(field("position"), field("rotation"), {}, elastic)
        way, names = self.lost_way(poses)
        return chains.lost_troubles(self.mechanism, names, way, lost)

    def remember(self, motion: Motion, found: Array) -> Motion:
        """Give a motion the joint coordinates (..., K) of chain legs that are known along it."""
        if not self.mechanism.legs.coordinates:
            return motion
        digest, known = self._joint_digest, motion._joints
        own = bool(digest) and (known is None or known[0] == digest)
        if own:
            motion._joints = None
            motion._with_joints(digest, found)
        if not own or motion._joints is None:  # it carries another robot's, or samples have none
            self._chains[motion] = found
        return motion

    @cached_property
    def _joint_digest(self) -> bytes:
        """What joint coordinates depend on: home, legs without masses, how the platform bends.

        Empty of many robots at once: motions do not carry their joints.
        """
        if self.members():
            return b""
        digest = hashlib.sha256(self.text.encode() if self.modes else b"")

        def add(value: object) -> None:
            if isinstance(value, tuple):
                for one in value:
                    add(one)
            elif isinstance(value, np.ndarray):
                digest.update(f"{value.shape}".encode() + value.tobytes())
            else:
                digest.update(repr(value).encode())

        add((self.home.position, self.home.rotation))
        for leg in parted(self.mechanism.legs):
            if leg.coordinates and is_dataclass(leg):
                add(
                    tuple(getattr(leg, one.name) for one in fields(leg) if one.name not in NO_PLACE)
                )
        return digest.digest()

    @cached_property
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
        precision: Precision = "double",
    ) -> dict[str, Array]:
        """A program's outputs for a motion, in its batch shape.

        `friction` None: the program knows none. Else the outputs come with the `residual` of the
        friction loop, which runs if the robot has friction and it is asked for. `coasting`: the
        motion's own accelerations do not count. `threads` caps the threads of this call. In single
        `precision` the `error` comes too, a number (`gough.model.single`).
        """
        if threads is not None:
            with at_most(threads):
                return self.run(
                    function, motion, on_error, inputs, friction, coasting, None, precision
                )
        floats = is_single(self, precision, friction)
        modes = self.modes
        if isinstance(motion, Motion):
            motion = self.sensible(motion, on_error)
        given = {**(inputs or {}), **self.members(), **self.chain_inputs(motion)}
        if modes or not isinstance(motion, Motion) or motion.modes:
            given |= self.elastic_inputs(motion)
            if modes and not motion.modes and function not in programs.KINEMATICS:
                raise InputError(UNDEFORMED.format(name=self.name, modes=modes))
        if not floats:
            alone = self._one(function, motion, given, friction, coasting)
            if alone is not None:
                batch.check_on_error(on_error)
                return alone
        rows = batch.lay_out(motion, given)
        if coasting:
            rows.fields["acceleration"] = rows.fields["angular_acceleration"] = NO_ACCELERATION
        if modes and function is not programs.inverse_kinematics:
            rows.fields["elastic_acceleration"] = np.zeros((1, modes))
        if floats:
            out, troubles, error = single.answer(self, function, rows, friction)
            return batch.settle(rows, out, troubles, on_error) | {"error": np.asarray(error)}
        return batch.settle(rows, *self.answer(function, rows, friction), on_error)

    def _one(
        self,
        function: Function,
        motion: Motion,
        given: Inputs,
        friction: bool | None,
        coasting: bool,
    ) -> dict[str, Array] | None:
        """A sound answer to one state, without what a batch takes.

        None of a batch, of a flexible platform, of a program that was not asked for before, and where
        it must be found out whether there is an answer, and if not why.
        """
        if self.modes or not isinstance(motion, Motion):
            return None
        fields = batch.one_state(motion, given)
        if fields is None:
            return None
        if coasting:
            fields["acceleration"] = fields["angular_acceleration"] = NO_ACCELERATION
        rubs = friction and self.rubs
        asked = under_own_loads(function, self.leg_count) if rubs else function
        out = self.executor.one(asked, fields)
        if out is None or not out.pop("margin") > 0:
            return None
        if rubs:
            return out if out["residual"] <= settled(self.leg_count) else None
        if friction is not None:
            out["residual"] = NO_RESIDUAL
        return out

    def answer(
        self, function: Function, rows: batch.Rows, friction: bool | None
    ) -> tuple[dict[str, Array], list[batch.Trouble]]:
        """Outputs of rows, and those that have no answer; `friction` as in `run`."""
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
            sound = {name: value for name, value in rows.fields.items() if name != CHAINS}
            troubles = batch.not_finite(rows._replace(fields=sound))
            troubles += self._lost_joints(rows, {one.row for one in troubles})
            suspects = np.flatnonzero(~(margin > 0))
            known = {one.row for one in troubles}
            troubles += diagnose(self.mechanism, function, rows, suspects, known)
        if residual is not None and not residual.max(initial=0.0) <= WORST_RESIDUAL:
            known = {one.row for one in troubles}
            troubles += [
                batch.Trouble(int(i), None, ConvergenceError, NO_FRICTION.format(residual[i]))
                for i in np.flatnonzero(~(residual <= WORST_RESIDUAL))
                if int(i) not in known
            ]
        if friction is not None:
            out["residual"] = np.zeros(rows.rows) if residual is None else residual
        return out, troubles

    def forced(self, wrench: ArrayLike | None, preload: ArrayLike | None) -> Inputs:
        """Check that forces can be asked for at all, and name the programs' further inputs."""
        self.need_masses()
        if self.actuator_count < self.mobility:
            raise InputError(
                f"{self.name} has {self.leg_count} legs with {self.actuator_count} actuators; forces "
                f"on a platform that moves in {self.mobility} directions need as many actuators"
            )
        inputs = self.acting(wrench)
        if preload is not None:
            inputs["preload"] = (preload, (self.actuator_count,))
        return inputs

    def acting(self, wrench: ArrayLike | None) -> Inputs:
        """The wrench as an input of programs; none by default."""
        return {"wrench": (NO_WRENCH if wrench is None else wrench, (6,))}

    def chain_inputs(self, motion: Motion) -> Inputs:
        """Joint coordinates of chain legs as a field of programs' rows; nothing of other robots."""
        count = self.mechanism.legs.coordinates
        if not count or not isinstance(motion, Motion):
            return {}
        return {CHAINS: (self.chains_of(motion), (count,))}

    def elastic_inputs(self, motion: Motion) -> Inputs:
        """The motion's elastic coordinates, 0 where it has none; nothing of a rigid robot."""
        need_motion(motion)
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

    @property
    def stiff(self) -> Self:
        """The same with rigid drives and legs."""
        return self

    @property
    def load_side(self) -> Self:
        """The same beyond the springs of drives."""
        return self

    def need_rigid_drives(self, task: str, motion: Motion | None = None) -> None:
        """Refuse what is there for rotors only that move with q; here all do."""
        return None

    def need_rigid_legs(self, task: str) -> None:
        """Refuse what is there for legs only that do not bend; here none do."""
        return None

    def need_masses(self) -> None:
        """Refuse dynamics of a robot whose file leaves bodies out."""
        if self.missing:
            lacking = ", ".join(f"[{name}]" for name in self.missing)
            raise MissingDataError(
                f"{self.name}: dynamics needs the masses of {lacking} "
                "(an empty table stands for a body without mass)"
            )
