"""Legs between points, of many robots: read as those of a robot file are, with values by key."""

from __future__ import annotations

from typing import cast

import numpy as np

from gough.base.arrays import Array
from gough.base.keys import Numbers
from gough.description.numbers import LegGroup
from gough.errors import GoughError, InputError
from gough.legs.keys import LegTable
from gough.legs.reading import LegReader
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.mechanics.leg import Leg
from gough.model.varying import BODY_KEYS, Varying


class VariedLegs(LegReader):
    """Values by keys of a group of legs, for many robots: arrays (3, legs, variants)."""

    def __init__(self, group: LegGroup, own_points: Array, values: Varying) -> None:
        super().__init__(
            group.table, values.name, group.leg_count, values.home, group.where, group.first
        )
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
        return (
            self._vectors(f"{self.where}.platform") if self._varies("platform") else self.own_points
        )

    def read(self) -> Leg:
        """The numbers of the legs, but for the length scale of the robots."""
        return self.group.kind.read(self)

    def has(self, key: str) -> bool:
        """Whether a key of [legs] varies or is in the file: else a default follows other numbers."""
        return self._varies(key) or super().has(key)

    def _varies(self, key: str) -> bool:
        return f"{self.where}.{key}" in self.values.given

    def vectors(self, key: str) -> Array:
        """(3, legs, variants), or the robot's own (3, legs, 1)."""
        return self._vectors(f"{self.where}.{key}") if self._varies(key) else super().vectors(key)

    def positive(self, key: str) -> Array:
        """(legs, variants), above 0, or the robot's own (legs, 1)."""
        if not self._varies(key):
            return super().positive(key)
        return self._scalars(key, np.nextafter(0.0, 1.0))

    def not_negative(self, key: str) -> Array:
        """(legs, variants), 0 or above, or the robot's own (legs, 1)."""
        return self._scalars(key, 0.0) if self._varies(key) else super().not_negative(key)

    def body(self, key: str) -> Body:
        """The bodies given, or the robot's own."""
        body: Body = getattr(self.legs, key)
        return self.values.changed_body(f"{self.where}.{key}", body)

    def friction(self) -> Friction:
        """The coefficients given, and the robot's own."""
        changed = {
            key: self._scalars(f"friction.{key}", 0.0)
            for key in Friction._fields
            if self._varies(f"friction.{key}")
        }
        return self.legs.friction._replace(**changed)

    def fail(self, message: str) -> GoughError:
        """An error that names the variants."""
        return InputError(f"variants: {message}")

    def _vectors(self, key: str) -> Array:
        return np.moveaxis(self.values.given[key], 0, -1).swapaxes(0, 1)

    def _scalars(self, key: str, least: float) -> Array:
        values = self.values.given[f"{self.where}.{key}"]
        if np.any(values < least):
            wanted = "positive" if least else "0 or more"
            raise self.fail(f"{self.where}.{key} must be {wanted}, has {values.min():g}")
        return values.T
