"""Variants: many robots of one shape asked at once, for tolerances, design studies and identification.

    many = robot.variants({"platform.mass": np.linspace(40, 60, 1000)})
    forces = many.inverse_dynamics(motion).forces              # (1000, 6) for one state
    forces = many[:, np.newaxis].inverse_dynamics(path).forces  # (1000, samples, 6)

The batch axes of the variants broadcast against those of the motion and of all other inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.description.numbers import (
    PARALLEL,
    about_origin,
    bare_platform,
    from_standard,
    guide_normal,
    length_scale,
    perpendicular,
    steiner,
)
from gough.description.schema import PARTED_PARAMETERS, STANDARD_PARAMETERS
from gough.engine.functions import VARIANT, Function
from gough.engine.run.execute import Executor
from gough.engine.tree import leaves, map_arrays, replaced
from gough.errors import InputError
from gough.legs.pus.equations import PUS
from gough.mechanics.body import Body
from gough.mechanics.equation import Mechanism
from gough.mechanics.friction import Friction
from gough.model.batch import OnError
from gough.model.execution import executor
from gough.motion import Motion
from gough.results import Acceleration, Actuation, LegMotion, Reactions
from gough.robot import Robot

CORES = {"center_of_mass": (3,), "inertia": (3, 3)}


class Variants:
    """Robots of one kind and number of legs that differ in their numbers.

    `shape` is their batch shape, which `[...]` indexes as an array's. A model's answer has the shape
    that variants, motion and other inputs broadcast to. A robot gets what it gets alone, but for
    rounding where the others have numbers in places in which it has 0, 1 or −1.
    """

    def __init__(self, robots: Iterable[Robot]) -> None:
        """Variants (n,) from robots."""
        found = list(robots)
        if not found:
            raise InputError("variants need one robot or more")
        first = found[0]
        for robot in found:
            if not isinstance(robot, Robot):
                raise InputError(f"variants are robots, not {type(robot).__name__}")
            robot.need_rigid("a batch of variants")
            if (robot.kind, robot.leg_count) != (first.kind, first.leg_count):
                raise InputError(
                    f"variants have the same legs: {first.name} has {first.leg_count} {first.kind}, "
                    f"{robot.name} has {robot.leg_count} {robot.kind}"
                )
        columns = zip(*(leaves(robot.mechanism) for robot in found), strict=True)
        mechanism = replaced(
            first.mechanism,
            (np.concatenate([leaf.values for leaf in one], axis=-1) for one in columns),
        )
        lacking = max(found, key=lambda robot: len(robot.description.missing))
        self._set(Many.of(lacking, mechanism), np.arange(len(found)), {})

    @classmethod
    def of(cls, robot: Robot, changes: Mapping[str, ArrayLike]) -> Self:
        """Variants of a robot by the keys of its file, without a file for each.

        A value has batch axes first, (...); all broadcast to the shape of the variants. Then, for
        keys in [legs], comes an axis of the legs, or of length 1 for all legs alike, and the key's
        own: "legs.base" (..., legs, 3), "legs.rod.mass" (..., legs), "platform.inertia" (..., 3, 3),
        "gravity" (..., 3). Geometry, rotor masses, bodies (by mass, centre of mass and inertia, or
        by standard parameters) and friction can change. What is not named stays as it is in this
        robot: so do axes that its file leaves to their defaults. Bodies are not checked to be real.
        """
        robot.need_rigid("a batch of variants")
        made = _Changing(robot, changes)
        many = cls.__new__(cls)
        index = np.arange(made.count).reshape(made.shape)
        many._set(Many.of(robot, made.mechanism), index, made.given)
        return many

    def _set(self, many: Many, index: Array, given: Mapping[str, Array]) -> None:
        self._many, self._index, self._given = many, index, given

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch shape."""
        return self._index.shape

    @property
    def varied(self) -> dict[str, Array]:
        """What was given by key, one value a variant: (..., and the key's own axes)."""
        return {key: value[self._index] for key, value in self._given.items()}

    @property
    def mechanism(self) -> Mechanism:
        """All robots as the equations see them: arrays whose last axis holds the robots, or 1."""
        return self._many.mechanism

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("variants without batch axes have no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        try:
            index = self._index[key]
        except IndexError as error:
            raise InputError(f"variants of shape {self.shape}: {error}") from None
        chosen = type(self).__new__(type(self))
        chosen._set(self._many, np.asarray(index), self._given)
        return chosen

    def __repr__(self) -> str:
        return f"Variants({self._many.name!r}, shape={self.shape})"

    def inverse_kinematics(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> LegMotion:
        """As of `Robot`."""
        return self._asked.inverse_kinematics(motion, on_error, threads=threads)

    def jacobian(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """As of `Robot`."""
        return self._asked.jacobian(motion, on_error, threads=threads)

    def inverse_dynamics(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Actuation:
        """As of `Robot`."""
        return self._asked.inverse_dynamics(
            motion, wrench, friction, preload=preload, on_error=on_error, threads=threads
        )

    def reactions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Reactions:
        """As of `Robot`."""
        return self._asked.reactions(
            motion, wrench, friction, preload=preload, on_error=on_error, threads=threads
        )

    def direct_dynamics(
        self,
        motion: Motion,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Acceleration:
        """As of `Robot`."""
        return self._asked.direct_dynamics(
            motion, forces, wrench, friction, on_error=on_error, threads=threads
        )

    def mass_matrix(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """As of `Robot`."""
        return self._asked.mass_matrix(motion, on_error, threads=threads)

    def bias(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """As of `Robot`."""
        return self._asked.bias(motion, on_error, threads=threads)

    @property
    def _asked(self) -> Many:
        return self.broadcast_to(self.shape)

    def broadcast_to(self, shape: tuple[int, ...]) -> Many:
        """The variants as one robot, whose models broadcast over batch axes of this shape."""
        return self._many.at(np.broadcast_to(self._index, shape))


def varied_keys(robot: Robot) -> dict[str, tuple[int, ...]]:
    """Keys of a rigid robot's file that variants may differ in, and the shape of one variant's value."""
    legs, count = robot.mechanism.legs, robot.leg_count
    parameters = (*PARTED_PARAMETERS, *STANDARD_PARAMETERS)
    vectors = ("platform", "base", "rail_origin", "rail_direction", "axis", "reference")
    geometry = {f"legs.{key}": (count, 3) for key in vectors if hasattr(legs, key)}
    geometry["legs.platform"] = (count, 3)
    scalars = [key for key in ("rotor_mass", "length") if hasattr(legs, key)]
    scalars += [f"friction.{key}" for key in Friction._fields if key != "screw_drag"]
    cores: dict[str, tuple[int, ...]] = {"gravity": (3,), **geometry}
    cores |= {f"legs.{key}": (count,) for key in scalars}
    for body in robot.mechanism.equations.BODIES:
        cores |= {f"legs.{body}.{key}": (count, *CORES.get(key, ())) for key in parameters}
    return cores | {f"platform.{key}": CORES.get(key, ()) for key in parameters}


class Many(Robot):
    """A robot with many numbers in place of one: the models' inputs gain the variant of each sample."""

    @property
    def index(self) -> Array:
        """Which of the robots is asked, (...), the batch shape."""
        index: Array = self.__dict__["asked"]
        return index

    @classmethod
    def of(cls, robot: Robot, mechanism: Mechanism) -> Self:
        """A robot with a machine of many robots' numbers."""
        many = cls(robot.file, robot.text, robot.description)
        many.__dict__["mechanism"] = map_arrays(mechanism, np.ascontiguousarray)
        return many

    @cached_property
    def executor(self) -> Executor:
        """Runs the programs of all these robots."""
        return executor(self.mechanism, variants=True)

    def at(self, index: Array) -> Self:
        """The same robots, asked at some of their numbers."""
        asked = object.__new__(type(self))
        asked.__dict__ |= {**self.__dict__, "executor": self.executor, "asked": index}
        return asked

    def _run(
        self,
        function: Function,
        motion: Motion,
        on_error: OnError,
        inputs: Mapping[str, tuple[ArrayLike, tuple[int, ...]]] | None = None,
        friction: bool | None = None,
        coasting: bool = False,
        threads: int | None = None,
    ) -> dict[str, Array]:
        given = {**(inputs or {}), VARIANT: (self.index, ())}
        return super()._run(function, motion, on_error, given, friction, coasting, threads)


def which(robot: Robot) -> dict[str, Array]:
    """The field of a program's inputs that says whose each row is; none where all are one robot's."""
    return {VARIANT: robot.index} if isinstance(robot, Many) else {}


def of_rows(robot: Robot, rows: Any) -> Robot:
    """The robots of some rows of a batch; a robot that all rows share itself."""
    return robot.at(robot.index[rows]) if isinstance(robot, Many) else robot


class _Changing:
    """A robot's machine with some numbers replaced by many."""

    def __init__(self, robot: Robot, changes: Mapping[str, ArrayLike]) -> None:
        self.robot, self.legs = robot, robot.leg_count
        self.bodies = robot.mechanism.equations.BODIES
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
        self.count = int(np.prod(self.shape))
        for key, core in cores.items():
            if key in self.given:
                whole = np.broadcast_to(self.given[key], self.shape + core)
                self.given[key] = whole.reshape(self.count, *core)
        self.mechanism = self._machine()

    def _machine(self) -> Mechanism:
        mechanism = self.robot.mechanism
        legs = mechanism.legs
        changed: dict[str, Any] = {}
        for key in ("base", "rail_origin"):
            if f"legs.{key}" in self.given:
                changed[key] = self._vectors(f"legs.{key}")
        for key, least in (("rotor_mass", 0.0), ("length", np.nextafter(0.0, 1.0))):
            if f"legs.{key}" in self.given:
                changed[key] = self._scalars(f"legs.{key}", least)
        for key in ("rail_direction", "axis"):
            if f"legs.{key}" in self.given:
                changed[key] = self._unit(f"legs.{key}")
        if "legs.axis" in self.given or "legs.reference" in self.given:
            given = "legs.reference" in self.given
            reference = self._unit("legs.reference") if given else legs.reference
            reference, sine = perpendicular(reference, changed.get("axis", legs.axis))
            if not np.all(sine >= PARALLEL):
                raise InputError("variants: legs.reference of a leg is parallel to its axis")
            changed["reference"] = reference
        legs = legs._replace(**changed)
        if isinstance(legs, PUS) and {"axis", "reference", "rail_direction"} & set(changed):
            normal = guide_normal(legs.axis, legs.rail_direction, legs.reference)
            legs = legs._replace(guide_normal=normal)
        bodies = {name: self._body(f"legs.{name}", getattr(legs, name)) for name in self.bodies}
        points, gravity = mechanism.points, mechanism.gravity
        if "legs.platform" in self.given:
            points = self._vectors("legs.platform")
        if "gravity" in self.given:
            gravity = self.given["gravity"].T[:, np.newaxis]
        friction = {
            key: self._scalars(f"legs.friction.{key}", 0.0)
            for key in Friction._fields
            if f"legs.friction.{key}" in self.given
        }
        return Mechanism(
            mechanism.equations,
            legs._replace(**bodies),
            points,
            self._platform(mechanism.platform),
            gravity,
            mechanism.friction._replace(**friction),
            length_scale(points),
        )

    def _vectors(self, key: str) -> Array:
        """(3, legs, variants)."""
        return np.moveaxis(self.given[key], 0, -1).swapaxes(0, 1)

    def _unit(self, key: str) -> Array:
        vectors = self._vectors(key)
        length = np.linalg.norm(vectors, axis=0)
        if np.any(length == 0):
            raise InputError(f"variants: {key} of a leg has zero length")
        return np.asarray(vectors / length)

    def _scalars(self, key: str, least: float) -> Array:
        """(legs, variants)."""
        if np.any(self.given[key] < least):
            wanted = "positive" if least else "0 or more"
            raise InputError(f"variants: {key} must be {wanted}, has {self.given[key].min():g}")
        return self.given[key].T

    def _platform(self, whole: Body) -> Body:
        """Platform and payload; keys of [platform] do not touch the payload."""
        bare = bare_platform(self.robot.file, self.robot.name)
        changed = self._body("platform", bare)
        if changed is bare:
            return whole
        return Body(
            *(new + (all_ - old) for new, all_, old in zip(changed, whole, bare, strict=True))
        )

    def _body(self, where: str, body: Body) -> Body:
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
        count = self.count
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
