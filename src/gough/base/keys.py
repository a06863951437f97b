"""Keys of TOML tables: numbers of a given shape, checked for finiteness and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict
from pydantic_core import CoreSchema, core_schema

from gough.base.arrays import MOST_TURN, Array

LARGEST = 1e12
"""Largest number of a file, SI units: what is beyond is a slip."""


class Table(BaseModel):
    """A TOML table in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @classmethod
    def own_units(cls, data: Mapping[str, Any]) -> Mapping[str, str]:
        """SI units that [q] and the like stand for in such a table, if it has this content."""
        return {}


def _numbers(value: Any, largest: float) -> Array:
    def check(item: Any) -> None:
        if isinstance(item, list | tuple | np.ndarray):
            for part in item:
                check(part)
        elif isinstance(item, bool) or not isinstance(item, int | float | np.number):
            raise ValueError(f"needs numbers, has {item!r}"[:120])

    check(value)
    try:
        array = np.array(value, dtype=np.float64)
    except OverflowError:
        raise ValueError("has a number that is not finite") from None
    except ValueError:
        raise ValueError("is a ragged list: its rows differ in length") from None
    if not np.all(np.isfinite(array)):
        raise ValueError("has a number that is not finite")
    if np.abs(array).max(initial=0.0) > largest:
        raise ValueError(f"has the number {np.abs(array).max():g}; limit {largest:g}")
    return array


@dataclass(frozen=True)
class Numbers:
    """An array of a shape, or, if `per_leg`, a list of such with one per leg (or what `each` says)."""

    shape: tuple[int, ...]
    per_leg: bool
    each: str = "leg"
    largest: float = LARGEST

    def validate(self, value: Any) -> Array:
        """The value as an array."""
        array = _numbers(value, self.largest)
        rank = len(self.shape)
        core = array.shape[array.ndim - rank :] if array.ndim >= rank else None
        if core != self.shape or array.ndim - rank > self.per_leg:
            wanted = " × ".join(map(str, self.shape)) + " numbers" if self.shape else "a number"
            more = f", or a list of such with one per {self.each}" if self.per_leg else ""
            raise ValueError(f"needs {wanted}{more}; has shape {array.shape}")
        return array

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        one: dict[str, Any] = {"type": "number"}
        for length in reversed(self.shape):
            one = {"type": "array", "items": one, "minItems": length, "maxItems": length}
        many = {"type": "array", "items": one, "minItems": 3 if self.each == "corner" else 1}
        return {"anyOf": [one, many]} if self.per_leg else one


@dataclass(frozen=True)
class In:
    """The SI unit of a key, where a file may give another.

    [q] is that of the leg's or joint's coordinate, [rotor] that of the inertia felt along it.
    """

    unit: str


METRES, RADIANS, KILOGRAMS, INERTIA = In("m"), In("rad"), In("kg"), In("kg m2")
OF_Q, OF_ROTOR = In("[q]"), In("[rotor]")
Scalar = Annotated[Any, Numbers((), per_leg=False)]
Vector = Annotated[Any, Numbers((3,), per_leg=False)]
Turn = Annotated[Any, Numbers((3,), per_leg=False, largest=MOST_TURN), RADIANS]
LegScalar = Annotated[Any, Numbers((), per_leg=True)]
LegVector = Annotated[Any, Numbers((3,), per_leg=True)]
LegTurn = Annotated[Any, Numbers((3,), per_leg=True, largest=MOST_TURN), RADIANS]
LegMatrix = Annotated[Any, Numbers((3, 3), per_leg=True)]
LegRange = Annotated[Any, Numbers((2,), per_leg=True)]
