"""The keys of a robot file from serial legs: each of the first kind it is of, alike ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gough.legs.register import KINDS
from gough.legs.serial import SerialLeg

CLEAN = 1e-14
"""Numbers of a vector below this part of its largest are rounding: 0."""


def recognised(leg: SerialLeg, told: list[str]) -> tuple[str, Mapping[str, Any]]:
    """The first kind that a leg is of, and its keys.

    A kind without a place for limits of passive joints goes before one that has it: they are told.
    """
    unlimited = leg.without_passive_limits()
    for kind in sorted(KINDS.values(), key=lambda one: one.any_leg):
        if kind.recognise is None:
            continue
        found = kind.recognise(leg)
        if found is None:
            found = kind.recognise(unlimited)
            if found is not None:
                told.append(f"left out: ranges of the passive joints of {kind.name} legs")
        if found is not None:
            told.extend(found.remarks)
            return kind.name, found.keys
    raise AssertionError("any serial leg is a chain")


def leg_tables(
    legs: Sequence[tuple[str, Mapping[str, Any]]],
) -> tuple[list[dict[str, Any]], list[int]]:
    """Groups of legs of the same kind and keys, and the order of the legs in them."""
    groups: dict[Any, list[int]] = {}
    for i, (kind, keys) in enumerate(legs):
        groups.setdefault((kind, _form(keys)), []).append(i)
    tables = []
    for (kind, _), which in groups.items():
        table = _without_zeros(_together([legs[i][1] for i in which]))
        tables.append({"kind": kind, **table})
    return tables, [i for which in groups.values() for i in which]


def _form(value: Any) -> Any:
    """What must be the same in legs of one group: keys, and texts that no list with one per leg has."""
    if isinstance(value, Mapping):
        return tuple(
            (key, value[key] if key in ("type", "actuated") else _form(value[key]))
            for key in value
            if key != "mesh"
        )
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return tuple(map(_form, value))
    return None


def _without_zeros(table: Any) -> Any:
    """Keys without those that are 0, or tables of nothing, for all legs; bodies without mass stay."""
    if isinstance(table, list) and table and isinstance(table[0], Mapping):
        return [_without_zeros(one) for one in table]
    if not isinstance(table, Mapping):
        return table
    found = {key: _without_zeros(value) for key, value in table.items()}
    found = {key: value for key, value in found.items() if isinstance(value, bool) or value != 0}
    if "friction" in found and "screw_torque" not in found["friction"]:
        found["friction"].pop("screw_lead", None)
    if "friction" in found and not found["friction"]:
        del found["friction"]
    return found


def _together(legs: Sequence[Any]) -> Any:
    """Keys of several legs as one table: a number that all share once, else one per leg."""
    first = legs[0]
    if isinstance(first, Mapping):
        keys = list(dict.fromkeys(key for leg in legs for key in leg))
        return {key: _of_key(key, legs) for key in keys}
    if isinstance(first, list) and first and isinstance(first[0], Mapping):
        return [_together(parts) for parts in zip(*legs, strict=True)]
    values = [_plain(leg) for leg in legs]
    same = all(value == values[0] for value in values)
    return values[0] if (same and not isinstance(values[0], list)) or len(legs) == 1 else values


def _of_key(key: str, legs: Sequence[Any]) -> Any:
    """One key of several legs."""
    if key == "mesh":
        lists = [[_mesh(one) for one in leg.get("mesh", [])] for leg in legs]
        return lists[0] if len(lists) == 1 else lists
    if key in ("type", "actuated"):
        return legs[0][key]
    if key in ("platform", "base", "rail_origin", "motor"):
        return [_plain(leg[key]) for leg in legs]
    return _together([leg[key] for leg in legs])


def _mesh(one: Mapping[str, Any]) -> Any:
    """A mesh in the shortest form that says all."""
    keys: dict[str, Any] = {"file": one["file"]}
    for key in ("position", "rotation_vector"):
        if np.any(one[key]):
            keys[key] = _plain(one[key])
    scale = np.asarray(one["scale"])
    if np.any(scale != 1.0):
        keys["scale"] = float(scale[0]) if np.all(scale == scale[0]) else scale.tolist()
    return keys if len(keys) > 1 else one["file"]


def plain_meshes(table: dict[str, Any]) -> dict[str, Any]:
    """A body's table with its meshes in their shortest form."""
    return {
        key: [_mesh(one) for one in value] if key == "mesh" else _plain(value)
        for key, value in table.items()
    }


def _plain(value: Any) -> Any:
    """Numbers without what rounding left where a vector has none."""
    if isinstance(value, bool | str | int):
        return value
    array = np.asarray(value, dtype=np.float64)
    largest = np.abs(array).max(initial=0.0)
    return np.where(np.abs(array) <= CLEAN * largest, 0.0, array).tolist()
