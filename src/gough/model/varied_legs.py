"""Legs between points, of many robots: read as those of a robot file are, with values by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from gough.base.arrays import Array, unit
from gough.base.keys import Numbers
from gough.description.numbers import LegGroup
from gough.errors import InputError
from gough.legs.keys import LegTable
from gough.legs.reading import PARALLEL, LegReader, perpendicular
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.mechanics.leg import Leg
from gough.model.varying import BODY_KEYS, Varying


class VariedLegs(LegReader):
    """Values by keys of a group of legs, for many robots: arrays (3, legs, variants)."""

    def __init__(self, group: LegGroup, own_points: Array, values: Varying) -> None:
        super().__init__(group.table, values.name, group.leg_count, None, group.where, group.first)
        self.group, self.legs, self.values = group, group.legs, values
        self.own_points = own_points
        """P_i (3, legs, 1) of the robot itself."""

    @staticmethod
    def keys(group: LegGroup) -> dict[str, tuple[int, ...]]:
        """Keys of such legs that may vary, and the shape of one robot's value."""
        cores: dict[str, tuple[int, ...]] = {}
        count, whole = group.leg_count, cast(LegTable, group.table)
        for table, where in (
            (group.kind.keys, group.where),
            (type(whole.friction), f"{group.where}.friction"),
        ):
            for key, field in table.model_fields.items():
                for one in field.metadata:
                    if isinstance(one, Numbers) and key not in ("screw_torque", "screw_lead"):
                        cores[f"{where}.{key}"] = (count, *one.shape)
        for body in group.legs.BODIES:
            cores |= {
                f"{group.where}.{body}.{key}": (count, *core) for key, core in BODY_KEYS.items()
            }
        return cores

    def platform_points(self) -> Array:
        """P_i (3, legs, variants), or the robot's own (3, legs, 1)."""
        return self._vectors(f"{self.where}.platform") if self.has("platform") else self.own_points

    def read(self) -> Leg:
        """The numbers of the legs, but for the length scale of the robots."""
        return self.group.kind.read(self)

    def own(self, key: str) -> Array:
        """What the robot itself has."""
        value: Array = getattr(self.legs, key)
        return value

    def has(self, key: str) -> bool:
        """Whether a key of [legs] varies."""
        return f"{self.where}.{key}" in self.values.given

    def vectors(self, key: str) -> Array:
        """(3, legs, variants), or the robot's own (3, legs, 1)."""
        return self._vectors(f"{self.where}.{key}") if self.has(key) else self.own(key)

    def unit(self, key: str) -> Array:
        """The same, made unit."""
        if not self.has(key):
            return self.own(key)
        vectors = self.vectors(key)
        if not np.all(np.any(vectors, axis=0)):
            raise InputError(f"variants: {self.where}.{key} of a leg has zero length")
        return unit(vectors, axis=0)

    def positive(self, key: str) -> Array:
        """(legs, variants), above 0."""
        return self._scalars(key, np.nextafter(0.0, 1.0)) if self.has(key) else self.own(key)

    def not_negative(self, key: str) -> Array:
        """(legs, variants), 0 or above."""
        return self._scalars(key, 0.0) if self.has(key) else self.own(key)

    def signs(self, key: str) -> Array:
        """A branch does not vary."""
        return self.own("sign")

    def unit_or(self, key: str, otherwise: Array) -> Array:
        """The vectors given, or the robot's own; but where its file leaves them to their default."""
        return (
            otherwise if getattr(self.table, key) is None and not self.has(key) else self.unit(key)
        )

    def universal_axis(self, along: Callable[[Array], Array]) -> Array:
        """The axes given, or the robot's own, also where its file leaves them to their default."""
        return self.unit("axis")

    def reference(self, axis: Array, otherwise: Array | None = None) -> Array:
        """The references given, or the robot's own, perpendicular to the axes."""
        if otherwise is None and not self.has("axis") and not self.has("reference"):
            return self.own("reference")
        wanted = (
            self.unit("reference") if otherwise is None else self.unit_or("reference", otherwise)
        )
        reference, sine = perpendicular(wanted, axis)
        if not np.all(sine >= PARALLEL):
            raise InputError(f"variants: {self.where}.reference of a leg is parallel to its axis")
        return reference

    def body(self, key: str) -> Body:
        """The bodies given, or the robot's own."""
        body: Body = getattr(self.legs, key)
        return self.values.changed_body(f"{self.where}.{key}", body)

    def friction(self) -> Friction:
        """The coefficients given, and the robot's own."""
        changed = {
            key: self._scalars(f"friction.{key}", 0.0)
            for key in Friction._fields
            if self.has(f"friction.{key}")
        }
        return self.legs.friction._replace(**changed)

    def _vectors(self, key: str) -> Array:
        return np.moveaxis(self.values.given[key], 0, -1).swapaxes(0, 1)

    def _scalars(self, key: str, least: float) -> Array:
        values = self.values.given[f"{self.where}.{key}"]
        if np.any(values < least):
            wanted = "positive" if least else "0 or more"
            raise InputError(f"variants: {self.where}.{key} must be {wanted}, has {values.min():g}")
        return values.T
