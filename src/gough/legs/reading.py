"""From the keys under [legs] to arrays with one entry per leg: defaults, checks, messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array, unit
from gough.errors import FileError, GoughError
from gough.legs.bodies import (
    STANDARD_PARAMETERS,
    BodyTable,
    about_origin,
    from_standard,
    impossible,
    warn_impossible,
)
from gough.legs.keys import Direction, DriveTable
from gough.legs.solids import solid_inertia
from gough.legs.units import LINEAR, LegUnits
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction

ALONG: Direction = (0.0, 0.0, 1.0)
"""Where shapes of a body point, in its frame, unless its kind of leg or they themselves say it."""
PARALLEL = 1e-6
"""Sine below which two directions count as parallel: what is made perpendicular loses a share 1/sine."""


class Limits(NamedTuple):
    """Limits of each actuator (actuators,) and of each leg (legs,); infinite where there are none."""

    shortest: Array
    """Of each actuator, as the next three."""
    longest: Array
    force: Array
    speed: Array
    universal_angle: Array
    """Of each leg, as the next one."""
    spherical_angle: Array


class Drives(NamedTuple):
    """What gives way between each actuator and its q, (actuators,) each."""

    stiffness: Array
    """In series with the actuator, along q, N/m or N m/rad; infinite where the drive is rigid."""
    damping: Array
    """Parallel to it, N s/m or N m s/rad."""

    @property
    def compliant(self) -> bool:
        """Some drive gives way."""
        return bool(np.any(np.isfinite(self.stiffness)))


class Actuator(NamedTuple):
    """One actuated coordinate."""

    leg: int
    """The leg that it is in, from 0 through all groups."""
    units: LegUnits


def actuator_names(actuators: Sequence[Actuator]) -> tuple[str, ...]:
    """Of each actuator "leg 2", or "leg 2 actuator 1" in legs with several."""
    legs = [one.leg for one in actuators]
    return tuple(
        f"leg {leg + 1}" + (f" actuator {legs[: i + 1].count(leg)}" if legs.count(leg) > 1 else "")
        for i, leg in enumerate(legs)
    )


def by_units(actuators: Sequence[Actuator]) -> tuple[tuple[LegUnits, Array], ...]:
    """Units there are, and which actuators (n,) have them."""
    found = dict.fromkeys(one.units for one in actuators)
    return tuple(
        (units, np.flatnonzero([one.units == units for one in actuators])) for units in found
    )


class PassiveLimits(NamedTuple):
    """Limits of a joint that no actuator moves; infinite where there are none."""

    leg: int
    """From 0 through all groups."""
    joint: int
    """From 0, in the order of the file."""
    shortest: float
    longest: float
    speed: float
    units: LegUnits


class LegReader:
    """A group of legs of a robot file; arrays have the component axis first: (3, legs, 1)."""

    def __init__(
        self,
        table: Any,
        name: str,
        count: int,
        home: tuple[Array, Array] | None,
        where: str = "legs",
        first: int = 0,
    ) -> None:
        self.table, self.name, self.count = table, name, count
        self.home = home
        """Position (3,) and rotation (3, 3) of the platform at home."""
        self.where, self.first = where, first
        """What leads to the group's keys, "legs" or "legs.1"; the number of legs before it."""
        self.missing: list[str] = []
        """Bodies that the file does not give."""
        self.doubtful: list[tuple[Array, Array, Array, str]] = []
        """Bodies (legs, ...) of which no mass distribution has some as they stand, and their keys."""

    def fail(self, message: str) -> GoughError:
        """An error that names the robot."""
        return FileError(f"{self.name}: {message}")

    def number(self, leg: int) -> int:
        """What a leg of the group, from 0, is called in messages: from 1 through all groups."""
        return self.first + leg + 1

    def warn(self, mass: Array, moment: Array, inertia: Array, where: str) -> None:
        """Note bodies (legs, ...) that no mass distribution can have; `settle` warns of them."""
        if impossible(mass, moment, inertia):
            self.doubtful.append((mass, moment, inertia, f"{self.name}: {where}"))

    def settle(self, excused: Callable[[], Array]) -> None:
        """Warn of doubtful bodies but for legs (legs,) of which real ones would feel the same."""
        if self.doubtful:
            real = excused()
            for mass, moment, inertia, where in self.doubtful:
                warn_impossible(mass, moment, inertia, where, excused=real)

    def worst(self, values: Array) -> int:
        """The number, from 1 through all groups, of the leg with the least of values (legs, ...)."""
        least = np.min(values.reshape(len(values), -1), axis=1)
        return self.number(int(np.argmin(least)))

    @property
    def counted(self) -> str:
        """What has how many legs, for messages."""
        return f"{'the robot' if self.where == 'legs' else 'the group'} has {self.count}"

    def platform_points(self) -> Array:
        """P_i (3, legs, 1), m, platform frame."""
        return self.vectors("platform")

    def actuators(self, units: LegUnits = LINEAR) -> tuple[Actuator, ...]:
        """One per leg; `units` are those of the kind."""
        return tuple(Actuator(self.first + i, units) for i in range(self.count))

    def passive(self) -> tuple[PassiveLimits, ...]:
        """Limits of joints that no actuator moves, where the file has some."""
        return ()

    def held_by(self) -> str:
        """The type of joint by which the legs hold the platform."""
        return "spherical"

    def per_leg(
        self, key: str, rank: int = 0, table: Any = None, where: str | None = None
    ) -> Array:
        """The value of a key for each leg: (legs, ...)."""
        value = np.asarray(getattr(table or self.table, key), dtype=np.float64)
        return spread(self, value, f"{where or self.where}.{key}", rank)

    def has(self, key: str) -> bool:
        """Whether the file gives a key."""
        return getattr(self.table, key) is not None

    def vectors(self, key: str) -> Array:
        """(3, legs, 1)."""
        return self.per_leg(key, 1).T[:, :, np.newaxis].copy()

    def unit(self, key: str) -> Array:
        """(3, legs, 1), made unit."""
        vectors = self.vectors(key)
        largest = np.abs(vectors).max(axis=0)
        if np.any(largest == 0):
            raise self.fail(f"{self.where}.{key} of leg {self.worst(largest)} has zero length")
        return unit(vectors, axis=0)

    def scalars(self, key: str) -> Array:
        """(legs, 1)."""
        return self.per_leg(key)[:, np.newaxis].copy()

    def positive(self, key: str) -> Array:
        """(legs, 1), above 0."""
        values = self.scalars(key)
        if np.any(values <= 0):
            raise self.fail(f"{self.where}.{key} of leg {self.worst(values)} is not positive")
        return values

    def not_negative(self, key: str) -> Array:
        """(legs, 1), 0 or above."""
        values = self.scalars(key)
        if np.any(values < 0):
            raise self.fail(f"{self.where}.{key} of leg {self.worst(values)} is negative")
        return values

    def signs(self, key: str) -> Array:
        """(legs, 1): −1 for "minus", +1 for "plus"."""
        value = getattr(self.table, key)
        values = [value] * self.count if isinstance(value, str) else value
        if len(values) != self.count:
            raise self.fail(f"{self.where}.{key} has values for {len(values)} legs, {self.counted}")
        return np.array([[-1.0 if one == "minus" else 1.0] for one in values])

    def unit_or(self, key: str, otherwise: Array) -> Array:
        """The file's vectors made unit, or others."""
        return self.unit(key) if self.has(key) else otherwise

    def universal_axis(self, along: Callable[[Array], Array]) -> Array:
        """The file's axis, or unit(z × leg at home); `along` maps tips to legs, (3, legs, ...)."""
        if self.has("axis"):
            return self.unit("axis")
        if self.home is None:
            raise self.fail(f"{self.where}.axis is missing, and its default needs a home pose")
        position, rotation = self.home
        turned = np.tensordot(rotation, self.platform_points(), axes=1)
        leg = along(position[:, np.newaxis, np.newaxis] + turned)
        axis = np.stack([-leg[1], leg[0], 0 * leg[2]])
        sine = np.linalg.norm(axis, axis=0) / np.linalg.norm(leg, axis=0)
        if np.any(~(sine > PARALLEL)):
            raise self.fail(
                f"{self.where}.axis is missing, and leg {self.worst(sine)} is vertical at home: "
                "give axis"
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
            along = np.round(np.abs(axis), 9)
            reference = np.moveaxis(np.eye(3)[np.argmin(along, axis=0)], -1, 0)
        reference, sine = perpendicular(reference, axis)
        if np.any(sine < PARALLEL):
            raise self.fail(
                f"{self.where}.reference of leg {self.worst(sine)} is parallel to its axis"
            )
        return reference

    def body(self, key: str) -> Body:
        """The body of each leg about its frame's origin."""
        where = f"{self.where}.{key}"
        along = self.table.runs.get(key, ALONG)
        mass, moment, inertia = self.inertias(getattr(self.table, key), where, along)
        self.warn(mass, moment, inertia, where)
        return Body(
            mass[:, np.newaxis], moment.T[..., np.newaxis], np.moveaxis(inertia, 0, -1)[..., None]
        )

    def inertias(
        self, tables: list[BodyTable] | None, where: str, along: Direction = ALONG
    ) -> tuple[Array, Array, Array]:
        """(legs,), (legs, 3), (legs, 3, 3) of a body that one table gives or one per leg, or none."""
        if tables is None:
            self.missing.append(where)
            tables = [BodyTable()]
        if len(tables) not in (1, self.count):
            raise self.fail(f"{where} has {len(tables)} tables, {self.counted} legs")
        for table in tables:
            if table.mesh is not None and len(table.mesh) not in (1, self.count // len(tables)):
                raise self.fail(
                    f"{where}.mesh has lists for {len(table.mesh)} legs, {self.counted}"
                )
        if len(tables) == 1:
            return body_parameters(self, tables[0], where, along)
        parts = [
            [part[i] for part in body_parameters(self, table, f"{where}.{i}", along)]
            for i, table in enumerate(tables)
        ]
        mass, moment, inertia = (np.stack(part) for part in zip(*parts, strict=True))
        return mass, moment, inertia

    def friction(self) -> Friction:
        """Coefficients of friction, (legs, 1) each."""
        table, where = self.table.friction, f"{self.where}.friction"
        values = dict.fromkeys(Friction._fields, np.zeros((self.count, 1)))
        for key in type(table).model_fields:  # that lists have the right length
            if getattr(table, key) is not None:
                self.per_leg(key, 0, table, where)
        for key, value in table.coefficients().items():
            whole = np.asarray(value, dtype=np.float64)
            values[key] = np.broadcast_to(whole, self.count)[:, np.newaxis].copy()
        return Friction(**values)

    def limits(self) -> Limits:
        """Limits of each actuator and of each leg."""
        table, where = self.table.limits, f"{self.where}.limits"
        unlimited = np.full(self.count, np.inf)
        values = {
            key: unlimited if getattr(table, key) is None else self.per_leg(key, 0, table, where)
            for key in ("force", "speed", "universal_angle", "spherical_angle")
        }
        shortest, longest = -unlimited, unlimited
        if table.stroke is not None:
            shortest, longest = self.per_leg("stroke", 1, table, where).T
        return Limits(shortest=shortest, longest=longest, **values)

    def drives(self) -> Drives:
        """What gives way between each actuator and its coordinate."""
        return drives_of(self, self.table.drive, f"{self.where}.drive")


def drives_of(reader: LegReader, table: DriveTable, where: str) -> Drives:
    """Stiffness and damping of the drive of each leg that a table gives."""
    given = table.stiffness is not None
    stiff = reader.per_leg("stiffness", 0, table, where) if given else np.inf
    damping = reader.per_leg("damping", 0, table, where)
    return Drives(np.array(np.broadcast_to(stiff, reader.count)), np.array(damping))


def spread(reader: LegReader, value: Array, where: str, rank: int) -> Array:
    """A value for each leg, from one for all or from a list with one per leg."""
    if value.ndim == rank:
        return np.broadcast_to(value, (reader.count, *value.shape))
    if len(value) != reader.count:
        raise reader.fail(f"{where} has values for {len(value)} legs, {reader.counted}")
    return value


def body_parameters(
    reader: LegReader, table: BodyTable, where: str, along: Direction = ALONG
) -> tuple[Array, Array, Array]:
    """(legs,), (legs, 3), (legs, 3, 3): mass, first moment, inertia about the frame's origin.

    `along` is where shapes point that do not say it themselves.
    """
    if table.solids:
        parts = []
        for i, one in enumerate(table.solids):
            place = where if one is table else f"{where}.shapes.{i}"
            value = partial(_value, reader, one, place)
            parts.append(about_origin(*solid_inertia(one, value, along)))
        mass, moment, inertia = (sum(part) for part in zip(*parts, strict=True))
        return mass, moment, inertia
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


def _value(reader: LegReader, table: Any, where: str, key: str, rank: int) -> Array:
    """The value of a key for each leg."""
    return reader.per_leg(key, rank, table, where)


def perpendicular(vectors: Array, axis: Array) -> tuple[Array, Array]:
    """Unit vectors (3, ...) made perpendicular to unit axes, and the sines of the angles between."""
    across = vectors - np.sum(vectors * axis, axis=0) * axis
    sine = np.linalg.norm(across, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(across / sine), sine
