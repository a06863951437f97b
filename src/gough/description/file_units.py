"""Robot files in other units than SI: `units = { length = "mm" }` says once what all lengths are in.

Numbers are converted when a file is read, exactly as they are written: 123.4 with `length = "mm"` is
the number that 0.1234 is. A robot's text, and what is saved, is in SI units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import tomlkit
from pydantic import BaseModel, ValidationError

from gough.base.keys import In
from gough.base.units import Unit
from gough.description.mistakes import alternatives, tables
from gough.description.schema import QUANTITIES, RobotFile, UnitsTable
from gough.errors import FileError

KEY = "units"
MOST_KILOBYTES = 100
"""Of a file in other units: what keeps its comments reads a hundred times slower than TOML alone."""
LARGE = 3.0
"""Radius of gyration, in the largest lengths of a file, that only another unit explains."""


class Numbered(NamedTuple):
    """A value of a robot file that has a unit."""

    table: MutableMapping[str, Any]
    key: str
    where: str
    unit: str
    """SI."""


def in_si(text: str, name: str) -> str:
    """The text of a robot file in SI units, its comments kept; the same text if it says no units."""
    if KEY not in text or KEY not in tables(text, name, "robot file"):
        return text
    if len(text) > 1000 * MOST_KILOBYTES:
        size = f"{len(text) / 1000:.0f} kB; "
        raise FileError(f"{name}: {size}a robot file with units has at most {MOST_KILOBYTES} kB")
    document = tomlkit.parse(text)
    return tomlkit.dumps(document) if _converted(document, name) else text


def dictionary_in_si(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The same of a dictionary with the keys of a robot file."""
    if KEY not in data:
        return data
    copy = _copied(data)
    return copy if _converted(copy, name) else data


def _copied(value: Any) -> Any:
    """Plain tables and lists, to be changed in place."""
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value


def _converted(data: MutableMapping[str, Any], name: str) -> bool:
    """Convert all numbers in place; not, if the units themselves are wrong: validation says so."""
    try:
        given = UnitsTable.model_validate(_copied(data[KEY]))
    except ValidationError:
        return False
    units = {QUANTITIES[quantity]: one for quantity, one in given.units.items()}
    values = [*_numbered(RobotFile, data, "", {})]
    for one in values:
        if one.unit in units:
            one.table[one.key] = _scaled(one.table[one.key], units[one.unit])
    del data[KEY]
    _check_inertias(values, "inertia" in given.units, name)
    return True


def _numbered(
    model: type[BaseModel], data: Any, where: str, stand_for: Mapping[str, str]
) -> Iterator[Numbered]:
    """Values with units in a table and the tables in it; what does not fit is left to validation."""
    if not isinstance(data, MutableMapping):
        return
    own = getattr(model, "own_units", None)
    stand_for = {**stand_for, **(own(data) if own is not None else {})}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key not in data:
            continue
        place = f"{where}.{key}" if where else key
        marks = [one.unit for one in field.metadata if isinstance(one, In)]
        for unit in marks:
            yield Numbered(data, key, place, stand_for.get(unit, unit))
        if marks:
            continue
        for part in _tables_in(data[key]):
            for table in alternatives(field.annotation, part):
                yield from _numbered(table, part, place, stand_for)


def _tables_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a table, or the tables in a list or in lists of a list, one list a leg."""
    if isinstance(value, Mapping):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _tables_in(part)


def _scaled(value: Any, unit: Unit) -> Any:
    """A number, or a list of them in place, in SI units."""
    if isinstance(value, MutableSequence):
        for i, item in enumerate([*value]):
            scaled = _scaled(item, unit)
            if scaled is not item:  # a list inside has changed in place
                value[i] = scaled
        return value
    if not _is_number(value):
        return value
    if unit.turns:
        return unit.to_si(float(value))
    return float(Fraction(repr(float(value))) * unit.factor)


def _is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that a float can hold in any unit; others are refused later."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def _check_inertias(values: list[Numbered], told: bool, name: str) -> None:
    """Refuse inertias that are still in kg mm²: their radius of gyration is larger than any length."""
    largest = max((_largest(v.table[v.key]) for v in values if v.unit == "m"), default=0.0)
    for one in values:
        mass = one.table.get("mass")
        if one.unit != "kg m2" or told or not _is_number(mass) or mass <= 0:
            continue
        radius = (_largest(one.table[one.key]) / mass) ** 0.5
        if radius > LARGE * max(largest, 1e-300):
            raise FileError(
                f"{name}: {one.where} makes a radius of gyration of {radius:.3g} m, where lengths are "
                f'at most {largest:.3g} m; is it in kg mm2? Say so: units = {{ …, inertia = "kg mm2" }}'
            )


def _largest(value: Any) -> float:
    """The largest number in a list of lists."""
    if isinstance(value, list):
        return max((_largest(item) for item in value), default=0.0)
    return abs(float(value)) if _is_number(value) else 0.0
