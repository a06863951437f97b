"""Which inertial and friction parameters of a leg are felt: what a kind of leg tells of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import LegGrouping, point_mass
from gough.legs.words import FRICTION_UNITS
from gough.mechanics.leg import Leg

L = TypeVar("L", bound=Leg)

PARALLEL = 1e-9
"""Sine below which directions count as parallel."""
ROTOR_UNITS = {"rotor_mass": "kg", "rotor_inertia": "kg m²"}
"""Of drive inertias by their keys."""
NOTHING: Mapping[str, str] = MappingProxyType({})


class SpecialCase(NamedTuple):
    """A special geometry or direction of gravity, in which fewer parameters of a leg are felt."""

    which: Array
    """(legs,) booleans: the legs that are so."""
    words: str = ""
    """What is special and what it does, for a reader; empty where other words say it already."""
    silent: tuple[str, ...] = ()
    """Parameters that are not felt then."""
    merged: Mapping[str, str] = NOTHING
    """Parameters that are then felt as one with another one: by name, the other one's name."""
    factor: Array | None = None
    """(legs,): how much of the other one a parameter counts; as much as itself unless given."""
    symbol: str = ""
    """The factor in symbols."""


class TipMass(NamedTuple):
    """What of a leg is felt as a mass on the platform at P."""

    body: str
    """The body that ends at the tip."""
    parameter: str
    """The parameter of the leg that is left out in exchange, "rod M"."""
    symbol: str
    """The mass in symbols, "link MZ/l"."""
    terms: Mapping[str, str] = NOTHING
    """What its leaving adds to other parameters of the leg, in symbols, by name."""


class LegParameters(Generic[L]):
    """The parameters of a kind of leg; L is the class of its numbers.

    Where no closed form is known this class itself will do: `gough.parameters.base` finds by numbers
    which parameters are felt.
    """

    kind: ClassVar[str]
    """Name of the kind."""
    rotor: ClassVar[str] = "rotor_mass"
    """Key of the drive's inertia."""
    felt_as: ClassVar[Mapping[str, str]] = NOTHING
    """Friction that nothing tells from other friction: by name, the other's name."""
    carried: ClassVar[tuple[str, ...]] = ()
    """Bodies that essential parameters take as one with the body that they carry."""
    lines: ClassVar[Mapping[str, str]] = NOTHING
    """Axis of a body's frame, "x", "y" or "z", that lies along the leg, by body."""
    tip: ClassVar[TipMass | None] = None
    legend: ClassVar[str] = "(x, y, z): a leg's platform point; sums over the legs"
    """What the symbols of the relations mean."""

    @property
    def tip_mass(self) -> TipMass:
        """What of a leg is felt as a mass on the platform."""
        if self.tip is None:
            raise self._no_closed_form()
        return self.tip

    def naming(self, legs: L) -> frozenset[str]:
        """Parameters after which groups are named where they can: those that open legs feel."""
        if self.tip is None:
            return frozenset()
        felt = (self.opened(legs, leg).felt for leg in range(legs.rotor.shape[0]))
        return frozenset().union(*felt) - {self.tip.parameter}

    def rotors(self, legs: L) -> Mapping[str, str]:
        """Names of a leg's drive inertias, in the order of its actuators, and their units."""
        return {self.rotor: ROTOR_UNITS[self.rotor]}

    def friction_units(self, legs: L) -> Mapping[str, str]:
        """Units of the friction that forces are linear in."""
        return {**FRICTION_UNITS, "slider_coulomb": "N"}

    def key(self, name: str) -> str:
        """The key of a body or drive inertia in the table of its legs."""
        return name

    def friction_keys(self, table: Any, name: str, values: Array) -> Mapping[str, Array]:
        """Keys in this table that give friction these values (legs,)."""
        return {f"friction.{key}": one for key, one in table.friction.keys_of(name, values).items()}

    def width_keys(self, table: Any) -> tuple[str, ...]:
        """Keys in this table that smooth Coulomb friction."""
        return ("friction.width",)

    def opened(self, legs: L, leg: int) -> LegGrouping:
        """A leg opened at its spherical joint, general against gravity."""
        raise self._no_closed_form()

    def symbols(self, legs: L, leg: int) -> Mapping[str, str]:
        """Rows of an open leg whose factors depend on its dimensions, in symbols, by name."""
        return {}

    def tip_places(self, legs: L) -> Array:
        """(legs, 3): the tip in the frame of the body that ends there, m."""
        raise self._no_closed_form()

    def special(self, legs: L, gravity: Array) -> tuple[SpecialCase, ...]:
        """Special cases that these legs are, for gravity (3,) in m/s²."""
        return ()

    def fixed_joints(self, legs: L) -> Mapping[str, Array]:
        """Joints that do not move, which legs may share: (legs, 3), world, m, by name."""
        return {}

    def unit_tip_mass(self, names: Sequence[str], place: Array) -> Array:
        """The standard parameters of a leg, named so, that has nothing but a unit mass at its tip.

        `place` (3,) is that of the tip, one of `tip_places`.
        """
        ten = zip(STANDARD_PARAMETERS, point_mass(place), strict=True)
        own = {f"{self.tip_mass.body} {key}": value for key, value in ten}
        return np.array([own.get(name, 0.0) for name in names])

    def _no_closed_form(self) -> InputError:
        return InputError(
            f"{self.kind} legs have no base parameters in closed form (grouped_parameters); "
            "base_parameters finds them by numbers"
        )


def upright(axis: Array, gravity: Array) -> Array:
    """(legs,) booleans: axes (3, legs, 1) parallel to gravity; all are where there is none."""
    weight = float(np.linalg.norm(gravity))
    down = gravity / weight if weight else np.zeros(3)
    return np.asarray(np.linalg.norm(np.cross(axis[..., 0].T, down), axis=1) < PARALLEL)


def upright_words(axis: Array, gravity: Array) -> SpecialCase:
    """Legs whose first universal axis is parallel to gravity, said only."""
    return SpecialCase(
        upright(axis, gravity) & bool(gravity.any()),
        "first universal axis parallel to gravity: weight does not turn the cross",
    )
