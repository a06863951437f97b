"""Variants: many robots of one shape asked at once, for tolerances, design studies and identification.

    many = robot.variants({"platform.mass": np.linspace(40, 60, 1000)})
    forces = many.inverse_dynamics(motion).forces              # (1000, 6) for one state
    forces = many[:, np.newaxis].inverse_dynamics(path).forces  # (1000, samples, 6)

The batch axes of the variants broadcast against those of the motion and of all other inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.engine.functions import VARIANT
from gough.engine.run.execute import Executor, chosen
from gough.engine.tree import leaves, map_arrays, replaced, skeleton
from gough.errors import InputError, OneRobotError
from gough.legs.leg import LegKind
from gough.legs.reading import Actuator, Limits, PassiveLimits
from gough.mechanics.mechanism import Mechanism
from gough.model.batch import Inputs
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.model.execution import executor
from gough.model.varied import VariedRobots
from gough.motion import Motion


class Variants(ModelCalls):
    """Robots of one kind and number of legs that differ in their numbers.

    `shape` is their batch shape, which `[...]` indexes as an array's. A model's answer has the shape
    that variants, motion and other inputs broadcast to. A robot gets what it gets alone, but for
    rounding where the others have numbers in places in which it has 0, 1 or −1.
    """

    def __init__(self, robots: Iterable[DescribedModel]) -> None:
        """Variants (n,) from robots."""
        found = list(robots)
        if not found:
            raise InputError("variants need one robot or more")
        first = found[0]
        for robot in found:
            if not isinstance(robot, DescribedModel):
                raise InputError(f"variants are robots, not {type(robot).__name__}")
            robot.need_rigid_drives("a batch of variants")
            if _has(robot) != _has(first):
                raise InputError(
                    f"variants have the same legs, freedom and modes: {first.name} has "
                    f"{_has(first)}, {robot.name} has {_has(robot)}"
                )
        if len({skeleton(_with_scale(robot)) for robot in found}) > 1:
            raise InputError("variants have the same joints and visible modes; these robots differ")
        columns = zip(*(leaves(_with_scale(robot)) for robot in found), strict=True)
        joined = [np.concatenate([one.values for one in some], axis=-1) for some in columns]
        lacking = max(found, key=lambda robot: len(robot.missing))
        shared = _Shared(lacking, replaced(_with_scale(first), joined), _homes(found))
        self._set(shared, np.arange(len(found)), {})

    @classmethod
    def of(cls, robot: DescribedModel, changes: Mapping[str, ArrayLike]) -> Self:
        """Variants of a robot by the keys of its file, without a file for each.

        A value has batch axes first, (...); all broadcast to the shape of the variants. Then, for
        keys in [legs], comes an axis of the legs, or of length 1 for all legs alike, and the key's
        own: "legs.base" (..., legs, 3), "legs.rod.mass" (..., legs), "platform.inertia" (..., 3, 3),
        "gravity" (..., 3). Geometry, rotor masses, bodies (by mass, centre of mass and inertia, or
        by standard parameters) and friction can change; of a flexible platform nothing can, but
        `Variants([robot.edited(…), …])` takes robots with any. What is not named stays as it is in
        this robot; an axis or reference that its file leaves out follows the numbers that its default
        is made from, as in a file with these values. A body that no mass
        distribution can have is a warning; one that the file gives by shapes does not vary.
        """
        varied = VariedRobots(robot, changes)
        many, values = cls.__new__(cls), varied.values
        index = np.arange(values.variants).reshape(values.shape)
        many._set(_Shared(robot, varied.mechanism()), index, values.given)
        return many

    def _set(self, shared: _Shared, index: Array, given: Mapping[str, Array]) -> None:
        self._shared, self._index, self._given = shared, index, given

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch shape."""
        return self._index.shape

    @property
    def varied(self) -> dict[str, Array]:
        """What was given by key, one value per variant: (..., and the key's own axes)."""
        return {key: value[self._index] for key, value in self._given.items()}

    @property
    def index(self) -> Array:
        """Which of the robots each is, (...)."""
        return self._index

    def need_rigid_legs(self, task: str) -> None:
        """Refuse what is there for legs only that do not bend."""
        self._shared.robot.need_rigid_legs(task)

    @property
    def name(self) -> str:
        """The name of the robot that they are variants of."""
        return self._shared.robot.name

    @property
    def mechanism(self) -> Mechanism:
        """All robots as the equations see them: arrays whose last axis holds the robots, or 1."""
        return self._shared.mechanism

    @property
    def executor(self) -> Executor:
        """Runs the programs of all these robots."""
        return self._shared.executor

    @property
    def missing(self) -> tuple[str, ...]:
        """Bodies that a robot file does not give."""
        return self._shared.robot.missing

    @property
    def leg_kind(self) -> LegKind:
        """What gough knows of such legs."""
        return self._shared.robot.leg_kind

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators in the order of q: the leg each is in, and its units."""
        return self._shared.robot.actuators

    @property
    def limits(self) -> Limits:
        """Limits of the robot that they are variants of."""
        return self._shared.robot.limits

    @property
    def passive(self) -> tuple[PassiveLimits, ...]:
        """Limits of joints that no actuator moves, of the robot that they are variants of."""
        return self._shared.robot.passive

    @property
    def tool(self) -> Array:
        """The tool point, (3,) m, platform frame."""
        return self._shared.robot.tool

    @property
    def text(self) -> str:
        """The file's text of the robot that they are variants of."""
        return self._shared.robot.text

    @property
    def modal(self) -> ModalBody | None:
        """The flexible platform that all have in common; None if it is rigid."""
        differ = any(one.values.shape[-1] > 1 for one in leaves(self.mechanism.platform))
        if self.modes and differ:
            raise InputError(
                "variants have flexible platforms that differ: ask the robots one by one"
            )
        return self._shared.robot.modal

    @property
    def home(self) -> Motion:
        """The home pose, at rest."""
        return self._shared.robot.home

    @property
    def homes(self) -> Motion:
        """Home of each robot: of robots from files of their own each has one."""
        homes = self._shared.homes
        return self.home if homes is None else homes[self._index]

    def members(self) -> Inputs:
        """Which robot each sample is of."""
        return {VARIANT: (self._index, ())}

    def asked(self, shape: tuple[int, ...]) -> Mechanism:
        """The mechanism of each sample of a batch."""
        found: Mechanism = chosen(self.mechanism, np.broadcast_to(self._index, shape).ravel())
        return found

    def rows(self, shape: tuple[int, ...]) -> Self:
        """The robots of the rows of a batch of this shape, (rows,)."""
        return self.broadcast_to(shape).reshape(-1)

    def of_rows(self, rows: Any) -> Self:
        """The robots of some rows of a batch."""
        return self[rows]

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """The variants with this batch shape."""
        return self._at(np.broadcast_to(self._index, shape))

    def reshape(self, *shape: int) -> Self:
        """The variants with another batch shape."""
        return self._at(self._index.reshape(*shape))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("variants without batch axes have no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        try:
            return self._at(np.asarray(self._index[key]))
        except IndexError as error:
            raise InputError(f"variants of shape {self.shape}: {error}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise OneRobotError(
            f"variants have no {name}: they answer what models of many robots can; "
            "ask the robots one by one"
        )

    def __repr__(self) -> str:
        return f"Variants({self.name!r}, shape={self.shape})"

    def _at(self, index: Array) -> Self:
        chosen = type(self).__new__(type(self))
        chosen._set(self._shared, index, self._given)
        return chosen


class _Shared:
    """What all views of a batch of variants share."""

    def __init__(
        self, robot: DescribedModel, mechanism: Mechanism, homes: Motion | None = None
    ) -> None:
        self.robot, self.homes = robot, homes
        self.mechanism: Mechanism = map_arrays(mechanism, np.ascontiguousarray)

    @cached_property
    def executor(self) -> Executor:
        return executor(self.mechanism, variants=True)


def _with_scale(robot: DescribedModel) -> Mechanism:
    """A mechanism whose length scale has an axis for the robots too."""
    return robot.mechanism._replace(length_scale=np.array([robot.length_scale]))


def _homes(robots: list[DescribedModel]) -> Motion | None:
    """Home of each robot, where they have one."""
    found = [one.description.home for one in robots]
    homes = [home for home in found if home is not None]
    if len(homes) < len(found):
        return None
    return Motion(np.stack([h.position for h in homes]), np.stack([h.rotation for h in homes]))


def _has(robot: DescribedModel) -> str:
    """What variants have in common, in words."""
    groups = [f"{group.leg_count} {group.kind.name}" for group in robot.description.groups]
    freedom = "" if robot.mobility == 6 else f", {robot.mobility} freedoms"
    return f"{' + '.join(groups)} legs{freedom} and {robot.modes} modes"
