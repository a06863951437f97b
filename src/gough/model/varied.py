"""Many robots from one: values by keys of its file, with batch axes, in place of its own numbers.

The kind of leg reads them as it reads a robot file (`gough.legs.reading.LegReader`); what is not given
stays as it is in the robot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.base.keys import Numbers
from gough.description.numbers import bare_platform, length_scale
from gough.errors import InputError
from gough.legs.bodies import (
    PARTED_PARAMETERS,
    STANDARD_PARAMETERS,
    about_origin,
    from_standard,
    steiner,
    warn_impossible,
)
from gough.legs.reading import PARALLEL, LegReader, perpendicular
from gough.mechanics.body import Body
from gough.mechanics.equation import Mechanism
from gough.mechanics.friction import Friction
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.model.described import DescribedModel

CORES = {"center_of_mass": (3,), "inertia": (3, 3)}


def varied_keys(robot: DescribedModel) -> dict[str, tuple[int, ...]]:
    """Keys of a robot's file that variants may differ in, and the shape of one variant's value.

    Of a flexible platform those of the legs and gravity: its numbers are not the file's.
    """
    count = robot.leg_count
    parameters = (*PARTED_PARAMETERS, *STANDARD_PARAMETERS)
    cores: dict[str, tuple[int, ...]] = {"gravity": (3,)}
    for table, where in (
        (robot.leg_kind.keys, "legs"),
        (type(robot.file.legs.friction), "legs.friction"),
    ):
        for key, field in table.model_fields.items():
            for one in field.metadata:
                if isinstance(one, Numbers) and key not in ("screw_torque", "screw_lead"):
                    cores[f"{where}.{key}"] = (count, *one.shape)
    for body in robot.mechanism.legs.BODIES:
        cores |= {f"legs.{body}.{key}": (count, *CORES.get(key, ())) for key in parameters}
    if robot.modes:
        del cores["legs.platform"]
        return cores
    return cores | {f"platform.{key}": CORES.get(key, ()) for key in parameters}


class VariedLegs(LegReader):
    """Values by keys of a robot's file, for many robots: arrays (3, legs, variants)."""

    def __init__(self, robot: DescribedModel, changes: Mapping[str, ArrayLike]) -> None:
        super().__init__(robot.file.legs, robot.name, robot.leg_count, None)
        self.robot, self.legs = robot, robot.mechanism.legs
        cores = varied_keys(robot)
        self.given: dict[str, Array] = {}
        shapes = {}
        for key, value in changes.items():
            if key not in cores:
                near = get_close_matches(str(key), cores, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise InputError(f"variants: {key!r} is no number of {robot.name} to vary{hint}")
            self.given[key] = _numbers(key, value, cores[key])
            shapes[key] = self.given[key].shape[: self.given[key].ndim - len(cores[key])]
        try:
            self.shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            found = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
            raise InputError(f"variants: the batch axes do not fit: {found}") from None
        self.variants = math.prod(self.shape)
        for key, core in cores.items():
            if key in self.given:
                whole = np.broadcast_to(self.given[key], self.shape + core)
                self.given[key] = whole.reshape(self.variants, *core)

    def mechanism(self) -> Mechanism:
        """All robots as the equations see them."""
        one = self.robot.mechanism
        points, gravity = one.points, one.gravity
        if "legs.platform" in self.given:
            points = self._vectors("legs.platform")
        if "gravity" in self.given:
            gravity = self.given["gravity"].T[:, np.newaxis]
        platform = one.platform
        if not self.robot.modes:
            platform = RigidPlatform(self._platform(one.platform.body))
        legs = self.robot.leg_kind.read(self)
        return Mechanism(legs, points, platform, gravity, length_scale(points))

    def own(self, key: str) -> Array:
        """What the robot itself has."""
        value: Array = getattr(self.legs, key)
        return value

    def has(self, key: str) -> bool:
        """Whether a key of [legs] varies."""
        return f"legs.{key}" in self.given

    def vectors(self, key: str) -> Array:
        """(3, legs, variants), or the robot's own (3, legs, 1)."""
        return self._vectors(f"legs.{key}") if self.has(key) else self.own(key)

    def unit(self, key: str) -> Array:
        """The same, made unit."""
        if not self.has(key):
            return self.own(key)
        vectors = self.vectors(key)
        length = np.linalg.norm(vectors, axis=0)
        if np.any(length == 0):
            raise InputError(f"variants: legs.{key} of a leg has zero length")
        return np.asarray(vectors / length)

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
            raise InputError("variants: legs.reference of a leg is parallel to its axis")
        return reference

    def body(self, key: str) -> Body:
        """The bodies given, or the robot's own."""
        body: Body = getattr(self.legs, key)
        return self.changed_body(f"legs.{key}", body)

    def friction(self) -> Friction:
        """The coefficients given, and the robot's own."""
        changed = {
            key: self._scalars(f"friction.{key}", 0.0)
            for key in Friction._fields
            if self.has(f"friction.{key}")
        }
        return self.legs.friction._replace(**changed)

    def _vectors(self, key: str) -> Array:
        return np.moveaxis(self.given[key], 0, -1).swapaxes(0, 1)

    def _scalars(self, key: str, least: float) -> Array:
        values = self.given[f"legs.{key}"]
        if np.any(values < least):
            wanted = "positive" if least else "0 or more"
            raise InputError(f"variants: legs.{key} must be {wanted}, has {values.min():g}")
        return values.T

    def _platform(self, whole: Body) -> Body:
        """Platform and payload; keys of [platform] do not touch the payload."""
        bare = bare_platform(self.robot.file, self.robot.name)
        changed = self.changed_body("platform", bare)
        if changed is bare:
            return whole
        return Body(
            *(new + (all_ - old) for new, all_, old in zip(changed, whole, bare, strict=True))
        )

    def _warn_impossible(self, where: str, mass: Array, moment: Array, inertia: Array) -> None:
        """Warn of what no mass distribution can have, variants (n, legs, ...) one after the other."""
        mass, moment, inertia = (
            np.broadcast_to(part, (self.variants, *part.shape[1:]))
            for part in (mass, moment, inertia)
        )
        worst = [part.reshape(-1, *part.shape[2:]) for part in (mass, moment, inertia)]
        warn_impossible(worst[0], worst[1], worst[2], f"{self.name}: variants: {where}", "robot")

    def changed_body(self, where: str, body: Body) -> Body:
        """A body with some of its parameters changed: (legs or 1, variants) and more axes in front."""
        parted = [key for key in PARTED_PARAMETERS if f"{where}.{key}" in self.given]
        ten = [key for key in STANDARD_PARAMETERS if f"{where}.{key}" in self.given]
        if not parted and not ten:
            return body
        if parted and ten:
            raise InputError(f"variants: {where} mixes {parted[0]} with {ten[0]}")
        one = where == "platform"

        def given(key: str, otherwise: Array) -> Array:
            value = self.given.get(f"{where}.{key}")
            if value is None:
                return otherwise
            return value[:, np.newaxis] if one else value

        # (variants or 1, legs, ...)
        mass = body.mass.T
        moment, inertia = (np.moveaxis(part, (-1, -2), (0, 1)) for part in body[1:])
        if ten:
            upper = [inertia[..., i, j] for i, j in zip(*np.triu_indices(3), strict=True)]
            old = [*upper, *np.moveaxis(moment, -1, 0), mass]
            values = [given(*both) for both in zip(STANDARD_PARAMETERS, old, strict=True)]
            mass, moment, inertia = from_standard(*np.broadcast_arrays(*values))
        else:
            weight = mass[..., np.newaxis]
            center = np.divide(moment, weight, out=np.zeros_like(moment), where=weight != 0)
            central = inertia - weight[..., np.newaxis] * steiner(center)
            new = given("inertia", central)
            if np.abs(new - np.swapaxes(new, -1, -2)).max(initial=0.0) > 1e-9 * np.abs(new).max(
                initial=0.0
            ):
                raise InputError(f"variants: {where}.inertia is not symmetric")
            mass, moment, inertia = about_origin(
                given("mass", mass), given("center_of_mass", center), new
            )
        count = self.variants
        self._warn_impossible(where, mass, moment, inertia)
        return Body(
            *(
                np.broadcast_to(np.moveaxis(part, (0, 1), (-1, -2)), (*old.shape[:-1], count))
                for part, old in zip((mass, moment, inertia), body, strict=True)
            )
        )


def _numbers(key: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"variants: {key} is not an array of numbers") from None
    found = array.shape[array.ndim - len(core) :]
    alike = key.startswith("legs.") and found == (1, *core[1:])
    if array.ndim < len(core) or (found != core and not alike):
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"variants: {key} has shape {array.shape}, needs ({wanted})")
    if not np.isfinite(array).all():
        raise InputError(f"variants: {key} is not finite")
    return array
