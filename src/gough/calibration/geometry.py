"""The numbers of a robot's geometry as unknowns: their names, their values, robots that have others.

Every kind of leg says which of its keys are geometry (`LegKind.measurable`). A point moves along three
axes, a direction d tilts by (u1, u2) rad across itself, d ← unit(d + u1 t1 + u2 t2), a turn z by u about
its axis a, z ← unit(z + u a×z); lengths and angles are added to. Where the keys of a leg do not say
where q is 0, the zero of its encoder is an unknown too: q = reading − offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array, unit
from gough.base.keys import Numbers
from gough.base.words import nearest
from gough.description.numbers import LegGroup
from gough.errors import InputError
from gough.legs.measurable import GeometricKey
from gough.mechanics.mechanism import Mechanism
from gough.model.described import DescribedModel
from gough.model.varied import VariedRobots

OFFSET = "offset"
"""Name of the zeros of encoders, which no key of a robot file has."""


class Unknown(NamedTuple):
    """A number to find."""

    name: str
    """As in a robot file: "legs.base[2][z]", "offset[3]"; of a direction its tilts [1] and [2]."""
    unit: str
    leg: int
    """From 0 through all groups; −1 of the frames of trackers and targets."""


class Place(NamedTuple):
    """A key of a group of legs, and where its unknowns are."""

    group: LegGroup
    measurable: GeometricKey
    value: Array
    """As drawn, (legs, 3) or (legs,)."""
    tangents: Array
    """(legs, freedoms, 3), of numbers (legs, 1): how the value changes with the unknowns."""
    first: int
    """The first unknown; those of a leg are side by side."""

    @property
    def key(self) -> str:
        """In the robot file."""
        return f"{self.group.where}.{self.measurable.key}"

    @property
    def freedoms(self) -> int:
        """Unknowns per leg."""
        return int(self.tangents.shape[1])

    def at(self, unknowns: Array) -> Array:
        """Values (..., legs, 3) or (..., legs) with unknowns (..., all)."""
        own = unknowns[..., self.first : self.first + self.group.leg_count * self.freedoms]
        parted = own.reshape(*unknowns.shape[:-1], self.group.leg_count, self.freedoms)
        if self.value.ndim == 1:
            return np.asarray(self.value + parted[..., 0])
        moved = self.value + np.einsum("...lf,lfc->...lc", parted, self.tangents)
        return np.asarray(moved if self.measurable.form == "point" else unit(moved))


@dataclass(frozen=True, eq=False)
class Geometry:
    """The geometric unknowns of a robot: those of its legs, then the zeros of encoders."""

    robot: DescribedModel
    """As drawn."""

    def __post_init__(self) -> None:
        self.robot.need_rigid("calibration")
        self.robot.need_actuators()
        for group in self.robot.description.groups:
            if not group.kind.measurable(group.table):
                raise InputError(
                    f"{self.robot.name}: {group.kind.name} legs do not say what of their geometry "
                    "can be measured"
                )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """All keys, group by group."""
        found, first = [], 0
        for group in self.robot.description.groups:
            for one in group.kind.measurable(group.table):
                value, tangents = _drawn(group, one)
                found.append(Place(group, one, value, tangents, first))
                first += group.leg_count * tangents.shape[1]
        return tuple(found)

    @cached_property
    def unknowns(self) -> tuple[Unknown, ...]:
        """In the order of the vector of unknowns."""
        found = []
        for place in self.places:
            form = place.measurable.form
            labels = {"point": ["[x]", "[y]", "[z]"], "direction": ["[1]", "[2]"]}.get(form, [""])
            unit = "m" if form in ("point", "length") else "rad"
            for leg in range(place.group.leg_count):
                for label in labels:
                    name = f"{place.key}[{leg + 1}]{label}"
                    found.append(Unknown(name, unit, place.group.first + leg))
        actuators = self.robot.actuators
        for i in self.offsets:
            found.append(Unknown(f"{OFFSET}[{i + 1}]", actuators[i].units.q, actuators[i].leg))
        return tuple(found)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Actuators whose encoder's zero is an unknown."""
        open_ = [
            range(group.first, group.first + group.leg_count)
            for group in self.robot.description.groups
            if not group.kind.zeroed
        ]
        legs = {leg for some in open_ for leg in some}
        return tuple(i for i, one in enumerate(self.robot.actuators) if one.leg in legs)

    @cached_property
    def sizes(self) -> Array:
        """What one metre is in each unknown, (unknowns,): 1, or 1/L rad."""
        per_length = 1 / self.robot.length_scale
        return np.array([1.0 if one.unit == "m" else per_length for one in self.unknowns])

    @property
    def count(self) -> int:
        """Number of unknowns."""
        return len(self.unknowns)

    def values(self, unknowns: Array) -> dict[str, Array]:
        """By key of the robot file, (..., legs, 3) or (..., legs), of unknowns (..., count)."""
        found = {place.key: place.at(unknowns) for place in self.places}
        for place in self.places:
            if place.measurable.form == "turn":
                axis = found[f"{place.group.where}.{place.measurable.across}"]
                across = found[place.key]
                along = np.sum(across * axis, axis=-1, keepdims=True)
                found[place.key] = unit(across - along * axis)
        return found

    def mechanism(self, unknowns: Array) -> Mechanism:
        """The robots with these unknowns (n, count) as the equations see them, n on the last axis."""
        return VariedRobots(self.robot, self.values(unknowns)).mechanism()

    def zeros(self, unknowns: Array) -> Array:
        """What encoders read too much, (..., actuators)."""
        found = np.zeros((*unknowns.shape[:-1], self.robot.actuator_count))
        found[..., list(self.offsets)] = unknowns[..., self.count - len(self.offsets) :]
        return found

    def side_by_side(self) -> list[Array]:
        """Unknowns, one per leg at most, that can change together: no leg feels another's."""
        found = [
            place.first + freedom + place.freedoms * np.arange(place.group.leg_count)
            for place in self.places
            for freedom in range(place.freedoms)
        ]
        return found

    def chosen(self, names: Sequence[str], what: str) -> Array:
        """Which unknowns (count,) are meant by names or by how names begin: "legs.base[2]"."""
        found = np.zeros(self.count, dtype=bool)
        own = [one.name for one in self.unknowns]
        for name in names:
            meant = [one == name or one.startswith((f"{name}[", f"{name}.")) for one in own]
            if not any(meant):
                near = nearest(name, dict.fromkeys(one.split("[")[0] for one in own))
                raise InputError(
                    f"{what}: {self.robot.name} has no {name!r}; the nearest is {near}"
                )
            found |= meant
        return found


def _drawn(group: LegGroup, one: GeometricKey) -> tuple[Array, Array]:
    """Values of all legs, and tangents."""
    reader = group.kind.reader(group.table, "", group.leg_count, None, group.where, group.first)
    value = _per_leg(group, reader, one.key)
    count = group.leg_count
    if one.form in ("length", "angle"):
        return value, np.ones((count, 1))
    if one.form == "point":
        return value, np.tile(np.eye(3), (count, 1, 1))
    value = unit(value)
    if one.form == "turn":
        axis = unit(_per_leg(group, reader, one.across))
        value = unit(value - np.sum(value * axis, axis=-1, keepdims=True) * axis)
        return value, np.cross(axis, value)[:, np.newaxis]
    least = np.eye(3)[np.argmin(np.abs(value), axis=1)]
    first = unit(np.cross(value, least))
    return value, np.stack([first, np.cross(value, first)], axis=1)


def _per_leg(group: LegGroup, reader: Any, key: str) -> Array:
    table: Any = group.table
    rest, where = key.split("."), group.where
    for step in rest[:-1]:
        table = table[int(step)] if step.isdecimal() else getattr(table, step)
        where = f"{where}.{step}"
    fields = type(table).model_fields[rest[-1]].metadata
    rank = next(len(one.shape) for one in fields if isinstance(one, Numbers))
    return np.array(reader.per_leg(rest[-1], rank, table, where))
