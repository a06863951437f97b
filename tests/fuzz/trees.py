"""Changes of the tree that a TOML file is: values to extremes, lost, moved, brought from others.

Of files whose bytes are changed four in five end in the parser; all of these get behind it.
"""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any

VALUES: tuple[Any, ...] = (
    0, -0.0, 1, -1, 3, 7, 0.5, 1e308, -1e308, 1e-320, 1e160, 1e59, 1e61, 1e-30, 1e-9, 1e9, 2**31, 2**63,
    10**399, math.nan, math.inf, -math.inf, True, False, "", "text", "\x1b[31mred", "../x", "/dev/zero",
    ".", "a" * 5000, "\u202e", "UPS", "RUS", "revolute", "mm", "deg", [], {}, [[]], [{}], [1, [2]],
    [0, 0, 0], [0, 0, 1], [1e308] * 3, [1e-320] * 3, [math.nan] * 3, [[0, 0, 0]] * 6, [[1, 0, 0]] * 6,
    [[0] * 3] * 3, [1] * 1000, {"a": 1},
)  # fmt: skip


def changed(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A TOML file with one to five changes; some bring keys and values of another."""
    tree, donor = deepcopy(_tree(data)), _tree(other)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        places = [*_places(tree)]
        if not places:
            break
        parent, key = _one(places, rng)
        what = rng.randrange(10)
        if what < 5:
            parent[key] = _other(parent[key], rng)
        elif what == 5:
            del parent[key]
        elif what == 6:
            table, name = _one(places, rng)
            parent[key] = deepcopy(table[name])
        elif what == 7:
            parent[key] = deepcopy(rng.choice(VALUES))
        elif isinstance(parent, list):
            parent.insert(key, deepcopy(parent[key]))
        else:
            table, name = _one([*_places(donor)], rng)
            given = deepcopy(table[name])
            given = given if rng.random() < 0.6 else _other(given, rng)
            parent[name if isinstance(name, str) else key] = given
    return text(tree).encode()


@lru_cache(200)
def _tree(data: bytes) -> dict[str, Any]:
    """A sound file's tree: the same few are changed over and over."""
    return tomllib.loads(data.decode())


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list and a key of it."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _one(places: list[tuple[Any, Any]], rng: random.Random) -> tuple[Any, Any]:
    """A place; keys are as likely as numbers in lists, of which there are many more."""
    named = [one for one in places if isinstance(one[0], dict)]
    return rng.choice(named if named and rng.random() < 0.6 else places)


def _other(value: Any, rng: random.Random) -> Any:
    """A value like it, or an odd one."""
    what = rng.randrange(6)
    if what == 0:
        return deepcopy(rng.choice(VALUES))
    if isinstance(value, list) and value:
        return (
            value[:-1],
            [*value, value[-1]],
            value[::-1],
            [value[0]] * len(value),
            value * rng.choice((2, 20)),
        )[what - 1]
    if isinstance(value, int | float) and not isinstance(value, bool):
        size = 10.0 ** rng.uniform(-12, 12) if what > 2 else 10.0 ** rng.uniform(-300, 300)
        return (-1) ** what * max(-1e300, min(1e300, value)) * size
    if isinstance(value, str):
        return value + "x"
    return [value]


def text(tree: dict[str, Any]) -> str:
    """A tree as TOML, each key of the top on its line."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in tree.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = (f"{json.dumps(key)} = {_value(one)}" for key, one in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str | bool | int):
        return json.dumps(value)
    return str(value)
