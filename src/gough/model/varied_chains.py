"""Chain legs of many robots: read at once, as if each variant's leg were a leg of its own.

A group of n chains in V variants is read as n V chains, those of one leg side by side, whose arrays
(3, n V, 1) then are (3, n, V). Chains are given as they stand at home, which all variants share: the
points at which they hold the platform follow.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gough.base.arrays import Array
from gough.base.keys import Numbers
from gough.description.numbers import LegGroup
from gough.engine.tree import map_arrays
from gough.errors import GoughError, InputError
from gough.legs.bodies import BodyTable
from gough.legs.chain.equations import Chain
from gough.legs.chain.keys import ONE_COORDINATE, ONE_ONLY, ChainTable
from gough.legs.chain.read import ChainReader, read
from gough.legs.keys import Direction
from gough.legs.reading import ALONG
from gough.mechanics.body import Body
from gough.mechanics.leg import Leg
from gough.model.varying import BODY_KEYS, Varying

LIMITS = ("stroke", "force", "speed")
"""Numbers of a joint that no equation has."""


class VariedChains(ChainReader):
    """Values by keys of a group of chains, for many robots."""

    def __init__(self, group: LegGroup, own_points: Array, values: Varying) -> None:
        self.group, self.values, self.own_points = group, values, own_points
        self.each = max(values.variants, 1)
        """Variants of a leg that are read: of none one, which is left out again."""
        where = group.where, group.first
        super().__init__(group.table, values.name, group.leg_count * self.each, values.home, *where)
        self.one = ChainReader(group.table, values.name, group.leg_count, values.home, *where)
        """The robot's own values."""
        table = cast(ChainTable, group.table)
        joints = [
            joint.model_copy(update={"point": np.zeros(3)}) if self._varies(i, "point") else joint
            for i, joint in enumerate(table.joints)
        ]
        self.table = table.model_copy(update={"joints": joints})

    @staticmethod
    def keys(group: LegGroup) -> dict[str, tuple[int, ...]]:
        """Keys of chains that may vary, and the shape of one robot's value."""
        count, cores = group.leg_count, dict[str, tuple[int, ...]]()
        whole = cast(ChainTable, group.table)

        def numbers(table: Any, where: str, without: tuple[str, ...] = ()) -> None:
            for key, field in type(table).model_fields.items():
                for one in field.metadata:
                    if isinstance(one, Numbers) and key not in without:
                        cores[f"{where}.{key}"] = (count, *one.shape)

        numbers(group.table, group.where)
        for i, joint in enumerate(whole.joints):
            where = f"{group.where}.joints.{i}"
            absent = [key for key in ("axis", "axis2") if getattr(joint, key) is None]
            if joint.type not in ONE_COORDINATE:
                absent += ONE_ONLY
            numbers(joint, where, (*LIMITS, *absent))
            if i < len(whole.joints) - 1:
                cores |= {f"{where}.body.{key}": (count, *core) for key, core in BODY_KEYS.items()}
        return cores

    def platform_points(self) -> Array:
        """P_i (3, legs, variants), or the robot's own (3, legs, 1)."""
        if not self.values.under(self.where):
            return self.own_points
        return self._parted(super().platform_points())

    def read(self) -> Leg:
        """The numbers of the legs, but for the length scale of the robots."""
        legs = self.group.legs
        if self.values.under(self.where):
            legs = map_arrays(read(self), self._parted)
        return legs

    def per_leg(
        self, key: str, rank: int = 0, table: Any = None, where: str | None = None
    ) -> Array:
        """The value of a key for each variant of each leg: (legs × variants, ...)."""
        given = self.values.given.get(f"{where or self.where}.{key}")
        if given is None or not self.values.variants:
            return np.repeat(self.one.per_leg(key, rank, table, where), self.each, axis=0)
        return np.asarray(given.swapaxes(0, 1).reshape(self.count, *given.shape[2:]))

    def actuated_of(self, joint: int) -> Array:
        """What is actuated does not vary."""
        return np.repeat(self.one.actuated_of(joint), self.each)

    def inertias(
        self, tables: list[BodyTable] | None, where: str, along: Direction = ALONG
    ) -> tuple[Array, Array, Array]:
        """(legs × variants, ...) of a body: what is given, and the robot's own."""
        mass, moment, inertia = self.one.inertias(tables, where, along)
        own = Body(
            mass[:, np.newaxis], moment.T[..., np.newaxis], np.moveaxis(inertia, 0, -1)[..., None]
        )
        changed = self.values.changed_body(where, own) if self.values.variants else own
        parts = (np.broadcast_to(part, (*part.shape[:-1], self.each)) for part in changed)
        flat = [part.reshape(*part.shape[:-2], self.count) for part in parts]
        return flat[0], flat[1].T, np.moveaxis(flat[2], -1, 0)

    def warn(self, mass: Array, moment: Array, inertia: Array, where: str) -> None:
        """What varies warns by itself, what does not has warned before."""

    def refuse_idle(self, chain: Chain) -> None:
        """Idle joints of a variant are singular: the models say which sample's."""

    def fail(self, message: str) -> GoughError:
        """An error that names the variants."""
        return InputError(f"variants: {message}")

    def number(self, leg: int) -> int:
        """The leg that a variant of it is one of."""
        return super().number(leg // self.each)

    def _varies(self, joint: int, key: str) -> bool:
        return self.at(joint, key) in self.values.given

    def _parted(self, whole: Array) -> Array:
        """(..., legs, variants) from (..., legs × variants, 1); what all legs share as it is."""
        if whole.ndim < 2 or whole.shape[-2] == 1 or whole.shape[-2] % self.each:
            return whole
        parted = whole.reshape(*whole.shape[:-2], -1, self.each)
        return np.asarray(parted[..., : self.values.variants])
