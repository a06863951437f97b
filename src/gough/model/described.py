"""A robot read from a file: its text, its numbers, and models of it at one's fingertips."""

from __future__ import annotations

import json
import os
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from gough import results
from gough.base.arrays import Array
from gough.base.files import replacing
from gough.description import files
from gough.description.catalogue import catalogue
from gough.description.file_units import dictionary_in_si, in_si
from gough.description.meshes import BodyMesh, body_meshes, mesh_tables
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import flexible_platform
from gough.description.numbers import Description, describe
from gough.description.schema import RobotFile
from gough.engine.run.execute import Executor
from gough.errors import ImpossibleBodyWarning, InputError, MissingDataError
from gough.legs.leg import LegKind
from gough.legs.reading import Actuator, Drives, Limits, PassiveLimits
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.mobility import Mobility
from gough.mechanics.platforms.platform import Platform
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.model.batch import OnError
from gough.model.calls import ModelCalls
from gough.model.execution import executor, single_executor
from gough.model.freedom import Freedom, freedom, held
from gough.model.sense import at_hand, coordinate_sizes, reach, sensible, warn_of_units
from gough.model.soundness import sound
from gough.motion import Motion


@dataclass(frozen=True, eq=False)
class DescribedModel(ModelCalls):
    """A parallel robot from a robot file; never changes."""

    file: RobotFile
    source: str | Mapping[str, Any] = field(repr=False)
    """The robot file: its text, comments and all, or the plain keys and values it came from."""
    description: Description = field(repr=False)
    folder: Path = field(default=Path(), repr=False)
    """Where paths in the robot file start."""

    def __repr__(self) -> str:
        legs = " + ".join(f"{one.leg_count} {one.kind.name}" for one in self.description.groups)
        free = "" if self.mobility == 6 else f", {self.mobility} freedoms"
        modes = f", {self.modes} modes" if self.modes else ""
        return f"{type(self).__name__}({self.name!r}, {legs} legs{free}{modes})"

    @cached_property
    def _content(self) -> tuple[object, ...]:
        """What makes two robots the same: what the file says, its remarks aside, and files it names."""
        data = json.dumps(tomllib.loads(self.text), sort_keys=True, default=str)
        named = '"file"' in data or '"mesh"' in data
        return data, self.folder if named else None, self.description.legs.rotor.tobytes()

    def __eq__(self, other: object) -> bool:
        """The same robot: files of the same content, remarks and layout aside."""
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @classmethod
    def from_text(
        cls, text: str, name: str = "robot", folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """A robot from the text of a robot file.

        Args:
            text: TOML.
            name: what to call it in messages.
            folder: where paths in it start; the current one by default.

        """
        if not isinstance(text, str):
            raise InputError(f"the text of a robot file is needed, not {type(text).__name__}")
        text = in_si(text, name)
        file, start = files.parse(text, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, text, describe(file, name, start), start)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """A robot from a dictionary with the keys of a robot file; paths in it start at `folder`."""
        if not isinstance(data, Mapping):
            raise InputError(f"a robot's keys and values are needed, not {type(data).__name__}")
        name = str(data.get("name", "robot"))
        data = dictionary_in_si(data, name)
        file, start = files.validate(data, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, files.plain(data), describe(file, name, start), start)

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> Self:
        """A robot from a catalogue name or from a robot file."""
        text, shown = files.read_text(name)
        catalogued = isinstance(name, str) and name in catalogue()
        found = cls.from_text(text, shown, None if catalogued else Path(name).absolute().parent)
        warn_of_units(found, shown)
        return found

    def edited(self, changes: Mapping[str, Any]) -> Self:
        """A robot with values at dotted keys changed.

        Example:
            >>> gough.load("kim-ryu-2002").edited({"platform.mass": 12.0}).platform.mass
            12.0

        """
        return self.from_text(files.edit(self.text, changes), self.name, self.folder)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot file, its comments included; paths in it are made to fit the new place."""
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"the name of a file to write is needed, not {type(path).__name__}")
        text = files.moved(self.text, self.folder, Path(path).parent)
        with replacing(path) as temporary:
            Path(temporary).write_text(text, "utf-8")

    def __post_init__(self) -> None:
        """Refuse at once what cannot be meant: idle joints, coordinates that do not move it."""
        if held(sound(self._uncounted, self.name)):
            _ = self.freedom

    @cached_property
    def text(self) -> str:
        """The robot file's text, comments and all."""
        return self.source if isinstance(self.source, str) else files.to_text(self.source)

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @property
    def kind(self) -> str:
        """Leg architecture, as in the robot file; of several groups such as UPS + chain."""
        return " + ".join(group.kind.name for group in self.description.groups)

    @property
    def leg_kind(self) -> LegKind:
        """What gough knows of such legs."""
        return self.description.kind

    @property
    def missing(self) -> tuple[str, ...]:
        """Bodies that the robot file does not give."""
        return self.description.missing

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators in the order of q: the leg each is in, and its units."""
        return self.description.actuators

    @property
    def limits(self) -> Limits:
        """Limits of the robot file, per actuator and per leg."""
        return self.description.limits

    @property
    def drives(self) -> Drives:
        """What gives way between each actuator and its q."""
        return self.description.drives

    @cached_property
    def sprung(self) -> Array:
        """(actuators,) booleans: actuators with a spring between their rotor's inertia and q."""
        rotors = self.description.legs.rotor[:, 0]
        return np.asarray(np.isfinite(self.drives.stiffness) & (rotors > 0))

    @cached_property
    def has_springs(self) -> bool:
        """Some actuators are `sprung`."""
        return bool(self.sprung.any())

    def need_rigid_drives(self, task: str, motion: Motion | None = None) -> None:
        """Refuse what is there for rotors only that move with q; nothing for a `motion` at rest."""
        if self.has_springs and (motion is None or _moves(motion)):
            raise InputError(
                f"{self.name} has compliant drives ([legs.drive]), whose rotors do not move with q: "
                f"{task} knows rigid drives only; `robot.stiff` is the same robot with these, and "
                "`robot.drive_forces` knows forces over time"
            )

    @property
    def bends(self) -> bool:
        """Some legs have beams: they bend, and give way along themselves."""
        return any(group.beams is not None for group in self.description.groups)

    @cached_property
    def leg_stiffness(self) -> Array:
        """(legs,): of each leg along itself by its beams, N/m; infinite without."""
        found = [
            np.full(group.leg_count, np.inf) if group.beams is None else group.beams.stiffness
            for group in self.description.groups
        ]
        return np.concatenate(found)

    def need_rigid_legs(self, task: str) -> None:
        """Refuse what is there for legs only that do not bend."""
        if self.bends:
            raise InputError(
                f"{self.name} has legs that bend ([legs.beams]): {task} knows rigid ones only; "
                "`robot.stiff` is the same robot with these, its file has no [legs.beams]"
            )

    @cached_property
    def stiff(self) -> Self:
        """The same robot with rigid drives and legs: its file has no [legs.drive] and [legs.beams]."""
        if not self.drives.compliant and not self.bends:
            return self
        changes: dict[str, Any] = {}
        for group in self.description.groups:
            changes |= {f"{group.where}.{key}": {} for key in group.table.drive_keys()}
            changes |= {f"{group.where}.{key}": {} for key in group.table.beam_keys()}
        return self.edited(changes)

    @cached_property
    def load_side(self) -> Self:
        """The robot beyond the springs of its drives: their rotors are not part of it."""
        if not self.sprung.any():
            return self
        legs = self.description.legs
        rotor = np.where(self.sprung[:, np.newaxis], 0.0, legs.rotor)
        rigid = Drives(np.full(len(rotor), np.inf), np.zeros(len(rotor)))
        return replace(
            self,
            description=self.description._replace(legs=legs.with_rotor(rotor), drives=rigid),
        )

    @property
    def passive(self) -> tuple[PassiveLimits, ...]:
        """Limits of joints that no actuator moves."""
        return self.description.passive

    @property
    def tool(self) -> Array:
        """The tool point, (3,) m, platform frame."""
        return self.description.tool

    @property
    def modal(self) -> ModalBody | None:
        """The flexible platform; None if it is rigid."""
        return self.description.modal

    @property
    def home(self) -> Motion:
        """The home pose, at rest."""
        if self.description.home is None:
            raise MissingDataError(f"{self.name} has no home pose")
        return self.description.home

    @cached_property
    def meshes(self) -> tuple[BodyMesh, ...]:
        """What bodies look like: the meshes that the robot file names, read when first asked for.

        Each has its leg (from 0, None of the platform), its body's name, and in the frame of that body
        vertices (n, 3), m, and faces (m, 3).
        """
        return body_meshes(self.file, self.description, self.folder)

    @property
    def mesh_paths(self) -> list[Path]:
        """The mesh files that the robot file names."""
        tables = mesh_tables(self.file, self.description)
        return [self.folder / one.file for body in tables for one in body.tables]

    def need_rigid(self, task: str) -> None:
        """Refuse what is there for rigid platforms only."""
        if self.modes:
            raise InputError(
                f"{self.name} has a flexible platform: {task} knows rigid ones only; "
                "`robot.rigid` is the same robot with a rigid one"
            )

    def need_actuators(self) -> None:
        """Refuse what cannot be asked of a robot whose actuators hold it in no pose."""
        if self.actuator_count < self.mobility:
            raise InputError(
                f"{self.name} has {self.leg_count} legs with {self.actuator_count} actuators and moves "
                f"in {self.mobility} directions: it is held in no pose"
            )

    @cached_property
    def platform(self) -> results.PlatformProperties:
        """Mass, inertia and modal properties of the platform, payload included."""
        body = self.description.platform
        mass, moment = float(body.mass[0, 0]), body.first_moment[:, 0, 0]
        modal, none = self.description.modal, np.zeros(0)
        return results.PlatformProperties(
            mass,
            moment / mass if mass else np.zeros(3),
            body.inertia[:, :, 0, 0],
            np.zeros((0, 0)) if modal is None else modal.modal_mass,
            none if modal is None else _diagonal(modal.stiffness),
            none if modal is None else _diagonal(modal.damping),
        )

    @cached_property
    def rigid(self) -> Self:
        """The same robot with a rigid platform: its file has the undeformed inertia."""
        if self.description.modal is None:
            return self
        body = self.platform
        center = body.center_of_mass
        steiner = body.mass * (center @ center * np.eye(3) - np.outer(center, center))
        table = {
            "mass": body.mass,
            "center_of_mass": center.tolist(),
            "inertia": (body.inertia - steiner).tolist(),
            **({} if self.file.platform is None else self.file.platform.kept),
        }
        with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
            return self.edited({"platform": table})

    @property
    def length_scale(self) -> float:
        """Characteristic length for condition numbers, m: rms distance of the P_i from their mean.

        At least 2 % of the largest distance at home between two joints of the robot.
        """
        return self.description.length_scale

    @cached_property
    def reach(self) -> float:
        """How far the legs' feet are from the platform's frame at home, and its joints, m."""
        return reach(self)

    @cached_property
    def at_hand(self) -> float:
        """Largest |x|, |y|, |z| of a position that is surely not in another unit, m."""
        return at_hand(self)

    @cached_property
    def coordinate_sizes(self) -> Array:
        """How large each actuated coordinate gets, m or rad, roughly; (actuators,)."""
        return coordinate_sizes(self)

    def sensible(self, motion: Motion, on_error: OnError) -> Motion:
        """The motion, if its positions can be the robot's, and are not in millimetres."""
        return sensible(self, motion, on_error)

    @cached_property
    def _uncounted(self) -> Mechanism:
        """The robot as the equations see it, but for the number of directions it can move in."""
        parts, modal = self.description, self.description.modal
        platform: Platform = RigidPlatform(parts.platform)
        if modal is not None and modal.modes:
            platform = flexible_platform(modal)
        mobility = None
        if parts.mobility is not None:
            home = self.home
            where = home.position, home.rotation, self.length_scale
            mobility = Mobility.of(parts.mobility, *where)
        return Mechanism(
            parts.legs,
            parts.platform_points,
            platform,
            parts.gravity.reshape(3, 1, 1),
            self.length_scale,
            mobility,
        )

    @cached_property
    def freedom(self) -> Freedom:
        """How the platform can move at home."""
        return freedom(
            self._uncounted, self.description.home, self.description.coordinates, self.name
        )

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot as the equations see it."""
        return self._uncounted._replace(mobile=self.freedom.mobility)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that say where the platform is, m out of x y z rx ry rz."""
        return self.freedom.coordinates

    @cached_property
    def executor(self) -> Executor:
        """Runs the robot's programs: compiled, or NumPy where LLVM is missing."""
        return executor(self.mechanism)

    @cached_property
    def in_single(self) -> Executor:
        """Runs the robot's programs in single precision."""
        return single_executor(self.mechanism)


def _moves(motion: Motion) -> bool:
    """Whether any sample of a motion moves or accelerates."""
    names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return any(np.any(getattr(motion, name, 0.0)) for name in names)


def _diagonal(matrix: Array) -> Array:
    """The diagonal (N,) of a matrix that has nothing else."""
    diagonal = np.diagonal(matrix)
    return diagonal if np.array_equal(matrix, np.diag(diagonal)) else matrix
