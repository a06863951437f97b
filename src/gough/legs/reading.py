"""From the keys under [legs] to arrays with one entry per leg: defaults, checks, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import FileError
from gough.legs.bodies import (
    STANDARD_PARAMETERS,
    BodyTable,
    about_origin,
    from_standard,
    warn_impossible,
)
from gough.legs.keys import LegTable
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction

PARALLEL = 1e-9
"""Sine below which two directions count as parallel."""


class Limits(NamedTuple):
    """Limits of each leg, (legs,); infinite where the file gives none."""

    shortest: Array
    longest: Array
    force: Array
    speed: Array
    universal_angle: Array
    spherical_angle: Array


class LegReader:
    """The table [legs] of a robot file; arrays have the component axis first: (3, legs, 1)."""

    def __init__(
        self, table: LegTable, name: str, count: int, home: tuple[Array, Array] | None
    ) -> None:
        self.table, self.name, self.count = table, name, count
        self.home = home
        """Position (3,) and rotation (3, 3) of the platform at home."""
        self.missing: list[str] = []
        """Bodies that the file does not give."""

    def fail(self, message: str) -> FileError:
        """An error that names the robot."""
        return FileError(f"{self.name}: {message}")

    def per_leg(self, key: str, rank: int = 0, table: Any = None, where: str = "legs") -> Array:
        """The value of a key for each leg: (legs, ...)."""
        value = np.asarray(getattr(table or self.table, key), dtype=np.float64)
        return spread(self, value, f"{where}.{key}", rank)

    def has(self, key: str) -> bool:
        """Whether the file gives a key."""
        return getattr(self.table, key) is not None

    def vectors(self, key: str) -> Array:
        """(3, legs, 1)."""
        return self.per_leg(key, 1).T[:, :, np.newaxis].copy()

    def unit(self, key: str) -> Array:
        """(3, legs, 1), made unit."""
        vectors = self.vectors(key)
        length = np.linalg.norm(vectors, axis=0)
        if np.any(length == 0):
            raise self.fail(f"legs.{key} of leg {int(np.argmin(length)) + 1} has zero length")
        return np.asarray(vectors / length)

    def scalars(self, key: str) -> Array:
        """(legs, 1)."""
        return self.per_leg(key)[:, np.newaxis].copy()

    def positive(self, key: str) -> Array:
        """(legs, 1), above 0."""
        values = self.scalars(key)
        if np.any(values <= 0):
            raise self.fail(f"legs.{key} of leg {int(np.argmin(values)) + 1} is not positive")
        return values

    def not_negative(self, key: str) -> Array:
        """(legs, 1), 0 or above."""
        values = self.scalars(key)
        if np.any(values < 0):
            raise self.fail(f"legs.{key} of leg {int(np.argmin(values)) + 1} is negative")
        return values

    def signs(self, key: str) -> Array:
        """(legs, 1): −1 for "minus", +1 for "plus"."""
        value = getattr(self.table, key)
        values = [value] * self.count if isinstance(value, str) else value
        if len(values) != self.count:
            raise self.fail(
                f"legs.{key} has values for {len(values)} legs, the robot has {self.count}"
            )
        return np.array([[-1.0 if one == "minus" else 1.0] for one in values])

    def unit_or(self, key: str, otherwise: Array) -> Array:
        """The file's vectors made unit, or others."""
        return self.unit(key) if self.has(key) else otherwise

    def universal_axis(self, along: Callable[[Array], Array]) -> Array:
        """The file's axis, or unit(z × leg at home); `along` maps tips to legs, (3, legs, 1)."""
        if self.has("axis"):
            return self.unit("axis")
        if self.home is None:
            raise self.fail("legs.axis is missing, and its default needs a home pose")
        position, rotation = self.home
        tip = position[:, np.newaxis] + rotation @ self.vectors("platform")[..., 0]
        leg = along(tip[..., np.newaxis])
        axis = np.cross([0.0, 0.0, 1.0], leg[..., 0], axisb=0).T[..., np.newaxis]
        sine = np.linalg.norm(axis, axis=0) / np.linalg.norm(leg, axis=0)
        if np.any(~(sine > PARALLEL)):
            number = int(np.argmin(sine)) + 1
            raise self.fail(
                f"legs.axis is missing, and leg {number} is vertical at home: give axis"
            )
        return np.asarray(axis / np.linalg.norm(axis, axis=0))

    def reference(self, axis: Array, otherwise: Array | None = None) -> Array:
        """The file's reference made perpendicular to axis.

        Its default is `otherwise`, or without one the world axis least along `axis`.
        """
        if self.has("reference"):
            reference = self.unit("reference")
        elif otherwise is not None:
            reference = otherwise
        else:
            # rounded, so that of two axes that are equally good the first is taken everywhere
            along = np.round(np.abs(axis[..., 0]), 9)
            reference = np.eye(3)[np.argmin(along, axis=0)].T[..., np.newaxis]
        reference, sine = perpendicular(reference, axis)
        if np.any(sine < PARALLEL):
            leg = int(np.argmin(sine)) + 1
            raise self.fail(f"legs.reference of leg {leg} is parallel to its axis")
        return reference

    def body(self, key: str) -> Body:
        """The body of each leg about its frame's origin."""
        tables = getattr(self.table, key)
        if tables is None:
            self.missing.append(f"legs.{key}")
            tables = [BodyTable()]
        if len(tables) not in (1, self.count):
            raise self.fail(f"legs.{key} has {len(tables)} tables, the robot has {self.count} legs")
        if len(tables) == 1:
            mass, moment, inertia = body_parameters(self, tables[0], f"legs.{key}")
        else:
            parts = [
                [part[i] for part in body_parameters(self, table, f"legs.{key}.{i}")]
                for i, table in enumerate(tables)
            ]
            mass, moment, inertia = (np.stack(part) for part in zip(*parts, strict=True))
        warn_impossible(mass, moment, inertia, f"{self.name}: legs.{key}")
        return Body(
            mass[:, np.newaxis], moment.T[..., np.newaxis], np.moveaxis(inertia, 0, -1)[..., None]
        )

    def friction(self) -> Friction:
        """Coefficients of friction, (legs, 1) each."""
        table, where = self.table.friction, "legs.friction"
        values = dict.fromkeys(Friction._fields, np.zeros((self.count, 1)))
        for key in type(table).model_fields:  # that lists have the right length
            if getattr(table, key) is not None:
                self.per_leg(key, 0, table, where)
        for key, value in table.coefficients().items():
            whole = np.asarray(value, dtype=np.float64)
            values[key] = np.broadcast_to(whole, self.count)[:, np.newaxis].copy()
        return Friction(**values)

    def limits(self) -> Limits:
        """Limits of each leg."""
        table, where = self.table.limits, "legs.limits"
        unlimited = np.full(self.count, np.inf)
        values = {
            key: unlimited if getattr(table, key) is None else self.per_leg(key, 0, table, where)
            for key in ("force", "speed", "universal_angle", "spherical_angle")
        }
        shortest, longest = -unlimited, unlimited
        if table.stroke is not None:
            shortest, longest = self.per_leg("stroke", 1, table, where).T
        return Limits(shortest=shortest, longest=longest, **values)


def spread(reader: LegReader, value: Array, where: str, rank: int) -> Array:
    """A value for each leg, from one for all or from a list with one per leg."""
    if value.ndim == rank:
        return np.broadcast_to(value, (reader.count, *value.shape))
    if len(value) != reader.count:
        raise reader.fail(f"{where} has values for {len(value)} legs, the robot has {reader.count}")
    return value


def body_parameters(reader: LegReader, table: BodyTable, where: str) -> tuple[Array, Array, Array]:
    """(legs,), (legs, 3), (legs, 3, 3): mass, first moment, inertia about the frame's origin."""
    standard = [key for key in STANDARD_PARAMETERS if key in table.model_fields_set]
    if standard:
        return from_standard(*(reader.per_leg(key, 0, table, where) for key in STANDARD_PARAMETERS))
    inertia = reader.per_leg("inertia", 2, table, where)
    skew = np.abs(inertia - np.swapaxes(inertia, -1, -2)).max()
    if skew > 1e-9 * np.abs(inertia).max():
        raise reader.fail(f"{where}.inertia is not symmetric")
    return about_origin(
        reader.per_leg("mass", 0, table, where),
        reader.per_leg("center_of_mass", 1, table, where),
        inertia,
    )


def perpendicular(vectors: Array, axis: Array) -> tuple[Array, Array]:
    """Unit vectors (3, ...) made perpendicular to unit axes, and the sines of the angles between."""
    across = vectors - np.sum(vectors * axis, axis=0) * axis
    sine = np.linalg.norm(across, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(across / sine), sine
