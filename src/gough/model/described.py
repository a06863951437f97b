"""A robot read from a file: its text, its numbers, and models of it at one's fingertips."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from gough import results
from gough.base.arrays import Array
from gough.base.files import replacing
from gough.description import files
from gough.description.catalogue import catalogue
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import flexible_platform
from gough.description.numbers import Description, describe, length_scale
from gough.description.schema import RobotFile
from gough.engine.run.execute import Executor
from gough.errors import ImpossibleBodyWarning, InputError, MissingDataError
from gough.legs.leg import LegKind
from gough.legs.reading import Limits
from gough.mechanics.equation import Mechanism
from gough.mechanics.platforms.platform import Platform
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.model.calls import ModelCalls
from gough.model.execution import executor
from gough.motion import Motion


@dataclass(frozen=True, eq=False)
class DescribedModel(ModelCalls):
    """A parallel robot from a robot file; never changes."""

    file: RobotFile
    source: str = field(repr=False)
    """The robot file's text, comments and all."""
    description: Description = field(repr=False)
    folder: Path = field(default=Path(), repr=False)
    """Where paths in the robot file start."""

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
        file, start = files.parse(text, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, text, describe(file, name, start), start)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """A robot from a dictionary with the keys of a robot file; paths in it start at `folder`."""
        name = str(data.get("name", "robot"))
        file, start = files.validate(data, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, files.to_text(data), describe(file, name, start), start)

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> Self:
        """A robot from a catalogue name or from a robot file."""
        text, shown = files.read_text(name)
        catalogued = isinstance(name, str) and name in catalogue()
        return cls.from_text(text, shown, None if catalogued else Path(name).absolute().parent)

    def edited(self, changes: Mapping[str, Any]) -> Self:
        """A robot with values at dotted keys changed.

        Example:
            >>> gough.load("kim-ryu-2002").edited({"platform.mass": 12.0}).platform.mass
            12.0

        """
        return self.from_text(files.edit(self.text, changes), self.name, self.folder)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot file, its comments included; paths in it are made to fit the new place."""
        text = files.moved(self.text, self.file, self.folder, Path(path).parent)
        with replacing(path) as temporary:
            Path(temporary).write_text(text, "utf-8")

    @property
    def text(self) -> str:
        """The robot file's text, comments and all."""
        return self.source

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @property
    def kind(self) -> str:
        """Leg architecture, as in the robot file."""
        return self.leg_kind.name

    @property
    def leg_kind(self) -> LegKind:
        """What gough knows of such legs."""
        return self.description.kind

    @property
    def missing(self) -> tuple[str, ...]:
        """Bodies that the robot file does not give."""
        return self.description.missing

    @property
    def limits(self) -> Limits:
        """Limits of the robot file, (legs,) each."""
        return self.description.limits

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

    def need_rigid(self, task: str) -> None:
        """Refuse what is there for rigid platforms only."""
        if self.modes:
            raise InputError(
                f"{self.name} has a flexible platform: {task} knows rigid ones only; "
                "`robot.rigid` is the same robot with a rigid one"
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
        }
        with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
            return self.edited({"platform": table})

    @cached_property
    def length_scale(self) -> float:
        """Characteristic length for condition numbers: rms distance of the P_i from their mean, m."""
        return float(length_scale(self.description.platform_points)[0])

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot as the equations see it."""
        parts, modal = self.description, self.description.modal
        platform: Platform = RigidPlatform(parts.platform)
        if modal is not None and modal.modes:
            platform = flexible_platform(modal)
        return Mechanism(
            parts.legs,
            parts.platform_points,
            platform,
            parts.gravity.reshape(3, 1, 1),
            self.length_scale,
        )

    @cached_property
    def executor(self) -> Executor:
        """Runs the robot's programs: compiled, or NumPy where LLVM is missing."""
        return executor(self.mechanism)


def _diagonal(matrix: Array) -> Array:
    """The diagonal (N,) of a matrix that has nothing else."""
    diagonal = np.diagonal(matrix)
    return diagonal if np.array_equal(matrix, np.diag(diagonal)) else matrix
