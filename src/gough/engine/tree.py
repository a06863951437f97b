"""Trees of numbers: what a function is asked about, whatever it may be.

A tree is made of tuples, NamedTuples, frozen dataclasses, None, floats and arrays whose last axis holds
samples, or the members of a batch of such trees. Anything else in it (a module, a class, a function, a
text, a whole number) is part of its structure. A class may say two things about its own arrays:

    mode_axes = 1                # they have an axis of modes before the last: tables; 2: pairs of modes
    unstructured = ("branch",)   # fields in which 0 and ±1 are numbers like any other

Its methods may be equations, so that a tree's classes are part of its structure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array


class Leaf(NamedTuple):
    """An array of numbers in a tree, and what its class says of it."""

    values: Array
    mode_axes: int = 0
    structural: bool = True
    """Whether a 0, 1 or −1 in it is no accident, and worth a program of its own."""


def leaves(tree: Any) -> list[Leaf]:
    """All arrays of a tree in its order; a float is an array (1,)."""
    found: list[Leaf] = []

    def visit(leaf: Leaf) -> Array:
        found.append(leaf)
        return leaf.values

    _walk(tree, visit)
    return found


def named_leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Array]]:
    """All arrays of a tree with the fields that lead there: legs.friction.width."""
    if isinstance(tree, float | np.ndarray):
        yield name, np.atleast_1d(tree)
    elif tree is not None:
        for field, child in _children(tree) or []:
            yield from named_leaves(child, f"{name}.{field}".strip("."))


def replaced(tree: Any, values: Iterable[Any]) -> Any:
    """The tree with other arrays in place of its own, in the order of `leaves`."""
    following = iter(values)
    return _walk(tree, lambda _: next(following))


def map_arrays(tree: Any, function: Callable[[Array], Any]) -> Any:
    """The tree with a function applied to each of its arrays."""
    return _walk(tree, lambda leaf: function(leaf.values))


def skeleton(tree: Any) -> str:
    """A tree without its numbers: classes, shapes of arrays, and all else that is in it."""
    if tree is None:
        return "None"
    if isinstance(tree, float):
        return "float"
    if isinstance(tree, np.ndarray):
        return repr(tree.shape[:-1])
    children = _children(tree)
    if children is not None:
        return f"{_name(type(tree))}({', '.join(skeleton(child) for _, child in children)})"
    return _name(tree)


def modules(tree: Any) -> Iterator[str]:
    """Names of the modules in which a tree's classes, functions and the like are written."""
    if tree is None or isinstance(tree, float | np.ndarray):
        return
    children = _children(tree)
    if children is None:
        named = tree if isinstance(tree, type) or callable(tree) else type(tree)
        yield tree.__name__ if isinstance(tree, ModuleType) else named.__module__
        return
    yield type(tree).__module__
    for _, child in children:
        yield from modules(child)


def _name(thing: Any) -> str:
    """What a class, a module or a function is called; of a plain value the value."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    if isinstance(thing, type) or callable(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return repr(thing)


def _children(tree: Any) -> list[tuple[str, Any]] | None:
    """Names and values of a node's parts; None of what has none."""
    if isinstance(tree, tuple):
        return list(zip(getattr(tree, "_fields", [""] * len(tree)), tree, strict=True))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [(field.name, getattr(tree, field.name)) for field in dataclasses.fields(tree)]
    return None


def _walk(tree: Any, visit: Callable[[Leaf], Any], like: Leaf | None = None) -> Any:
    """The tree with what `visit` makes of its arrays; `like` is what its class says of these."""
    axes, structural = (0, True) if like is None else like[1:]
    if isinstance(tree, np.ndarray):
        return visit(Leaf(tree, axes, structural))
    if isinstance(tree, float):
        found = visit(Leaf(np.array([tree]), axes, structural))
        return found[0] if len(found) == 1 else found
    children = None if tree is None else _children(tree)
    if children is None:
        return tree
    plain = type(tree) is tuple
    own = axes if plain else int(getattr(type(tree), "mode_axes", 0))
    loose = () if plain else getattr(type(tree), "unstructured", ())
    nothing = np.empty(0)
    parts = {
        (name or str(place)): _walk(
            child, visit, Leaf(nothing, own, structural and name not in loose)
        )
        for place, (name, child) in enumerate(children)
    }
    if plain:
        return tuple(parts.values())
    if isinstance(tree, tuple):
        return type(tree)(*parts.values())
    return dataclasses.replace(tree, **parts)
