"""Which inertial and friction parameters of a leg are felt: what a kind of leg tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import LegGrouping, point_mass
from gough.mechanics.leg import Leg

L = TypeVar("L", bound=Leg)

PARALLEL = 1e-9
"""Sine below which directions count as parallel."""
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

    @property
    def naming(self) -> tuple[str, ...]:
        """Parameters after which groups are named where they can: those of a leg in general position."""
        if self.tip is None:
            return ()
        return tuple(name for name in self.opened().felt if name != self.tip.parameter)

    def opened(self) -> LegGrouping:
        """A leg opened at its spherical joint, general in shape and against gravity."""
        raise self._no_closed_form()

    def tip_places(self, legs: L) -> Array:
        """(legs, 3): the tip in the frame of the body that ends there, m."""
        raise self._no_closed_form()

    def special(self, legs: L, gravity: Array) -> tuple[SpecialCase, ...]:
        """Special cases that these legs are, for gravity (3,) in m/s²."""
        return ()

    def fixed_joints(self, legs: L) -> Mapping[str, Array]:
        """Joints that do not move, which legs may share: (legs, 3), world, m, by name."""
        return {}

    def unit_tip_mass(self, place: Array) -> Array:
        """The standard parameters (parameters,) of a leg that has nothing but a unit mass at its tip.

        `place` (3,) is that of the tip, one of `tip_places`.
        """
        ten = zip(STANDARD_PARAMETERS, point_mass(place), strict=True)
        own = {f"{self.tip_mass.body} {key}": value for key, value in ten}
        return np.array([own.get(name, 0.0) for name in self.opened().names])

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
