"""Numbers of a robot file by name: "platform.mass", "legs.base[2][z]", "legs.rod.mass[*]".

Behind a key brackets choose among its numbers: a leg or row from 1, x, y or z, or * for all. A key with
no brackets is the whole: one value for all legs, or nested lists as in the robot file.
"""

from __future__ import annotations

import copy
import re
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.errors import GoughError, InputError
from gough.model.model import Model
from gough.model.varied import varied_keys
from gough.studies.formula import parse

STEP = re.compile(r"([A-Za-z_]+)((?:\[[^\[\]]{1,8}\])*)(?:\.|$)", re.ASCII)
LARGEST_LIST = 4096
"""Numbers in one key."""


@dataclass(frozen=True)
class Target:
    """A place in a robot file."""

    text: str
    path: tuple[str | int, ...]
    """Keys, and places in arrays of tables."""
    index: tuple[int | None, ...]
    """Places in the value, from 0; None for all."""

    @property
    def key(self) -> str:
        """The dotted key of the value, places in arrays of tables from 0: "legs.1.length"."""
        return ".".join(map(str, self.path))


def parse_target(text: str) -> Target:
    """A place in a robot file from its name."""
    place, path, index = 0, list[str | int](), list[int | None]()
    while place < len(text):
        found = STEP.match(text, place)
        if found is None or (found.end() == len(text) and text.endswith(".")):
            raise InputError(f"{text[:60]!r} is no key of a robot file")
        if any(one is None for one in index):
            raise InputError(f"{text[:60]!r}: [*] has its place at the end")
        path += [one for one in index if one is not None]
        path.append(found[1])
        index = [_place(text, one) for one in re.findall(r"\[([^\]]*)\]", found[2])]
        place = found.end()
    if not path:
        raise InputError("'' is no key of a robot file")
    return Target(text, tuple(path), tuple(index))


def _place(text: str, word: str) -> int | None:
    word = word.strip()
    if word == "*":
        return None
    if word in ("x", "y", "z"):
        return "xyz".index(word)
    if not word.isdecimal() or int(word) < 1:
        raise InputError(f"{text[:60]!r}: [{word}] is none of [1], [2], …, [x], [y], [z], [*]")
    return int(word) - 1


@dataclass(frozen=True)
class Setting:
    """What a place is set to: formulas in the shape of what is there."""

    target: Target
    formulas: Any
    """An array of `Formula`, any shape."""

    def values(self, variables: Mapping[str, Array], count: int) -> Array:
        """(count, *shape)."""
        shape = self.formulas.shape
        found = np.empty((count, *shape))
        for place in np.ndindex(shape):
            found[(slice(None), *place)] = self.formulas[place](variables)
        return found


def parse_setting(target: Target, value: Any, known: Sequence[str]) -> Setting:
    """A place, and a number, formula or nested lists of them."""
    array: Any = np.array(_nested(value, target.text, 0), dtype=object)
    if array.size > LARGEST_LIST:
        raise InputError(f"{target.text}: {array.size} numbers; limit {LARGEST_LIST}")
    formulas = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        if isinstance(array[place], list):
            raise InputError(f"{target.text}: its rows differ in length")
        try:
            formulas[place] = parse(array[place], known)
        except InputError as error:
            raise InputError(f"{target.text}: {error}") from None
    return Setting(target, formulas)


def _nested(value: Any, text: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        if depth == 3 or not value or len(value) > LARGEST_LIST:
            raise InputError(f"{text}: needs a number, a formula or lists of them")
        return [_nested(one, text, depth + 1) for one in value]
    return value


class TargetNumbers:
    """Makes the changes of many robots out of settings and errors, key by key.

    Keys that `Robot.variants` knows are changed in all robots at once, others in one robot file after
    the other.
    """

    def __init__(self, robot: Model, places: Sequence[Target]) -> None:
        self.robot = robot
        self.cores = {} if robot.modes else varied_keys(robot)
        self.fast = all(target.key in self.cores for target in places)
        self.data = tomllib.loads(robot.text)
        self.nominal: dict[tuple[str | int, ...], Array | None] = {}
        for target in places:
            if target.path not in self.nominal:
                self.nominal[target.path] = self._nominal(target)

    def shape(self, target: Target) -> tuple[int, ...]:
        """Of what a target chooses."""
        value = self.nominal[target.path]
        if value is None:
            raise InputError(
                f"{target.text}: {self.robot.name} gives no value there to start from; set the whole key"
            )
        return value[self._slices(target, value.ndim)].shape

    def whole(self, target: Target) -> tuple[int, ...] | None:
        """Shape of the whole value, where it is known."""
        value = self.nominal[target.path]
        return self.cores.get(target.key) if value is None else value.shape

    def check(self, target: Target, shape: tuple[int, ...]) -> None:
        """Refuse a value of a shape that does not fit its place."""
        if target.index:
            wanted: tuple[int, ...] | None = self.shape(target)
        else:
            wanted = self.whole(target)
        if wanted is None:
            return
        try:
            fits = np.broadcast_shapes(shape, wanted) == wanted
        except ValueError:
            fits = False
        if not fits:
            raise InputError(f"{target.text}: has numbers of shape {shape}, needs {wanted}")

    def changes(
        self,
        count: int,
        settings: Sequence[tuple[Target, Array]],
        errors: Sequence[tuple[Target, Array]],
    ) -> dict[tuple[str | int, ...], Array]:
        """By path, values (count, ...) with settings (count, ...) put in and errors added."""
        found: dict[tuple[str | int, ...], Array] = {}
        for group, add in ((settings, False), (errors, True)):
            for target, value in group:
                whole = self.whole(target)
                if whole is None:
                    found[target.path] = value
                    continue
                if target.path not in found:
                    start = self.nominal[target.path]
                    start = np.zeros(whole) if start is None else start
                    found[target.path] = np.broadcast_to(start, (count, *whole)).copy()
                place = (slice(None), *self._slices(target, len(whole)))
                fitted = _fitted(value, found[target.path][place].shape)
                found[target.path][place] = fitted + (found[target.path][place] if add else 0.0)
        return found

    def robots(self, changes: Mapping[tuple[str | int, ...], Array], point: int) -> Model:
        """The robot of one point, from a robot file of its own."""
        data = copy.deepcopy(self.data)
        for path, values in changes.items():
            _put(data, path, values[point].tolist(), self.robot.name)
        with warnings.catch_warnings(action="ignore"):
            return Model.from_dict(data, self.robot.folder)

    def _slices(self, target: Target, rank: int) -> tuple[int | slice, ...]:
        if len(target.index) > rank:
            raise InputError(f"{target.text}: has {len(target.index)} brackets for {rank} axes")
        value = self.nominal[target.path]
        for place, length in zip(target.index, () if value is None else value.shape, strict=False):
            if place is not None and place >= length:
                raise InputError(f"{target.text}: [{place + 1}] is beyond the last, [{length}]")
        return tuple(slice(None) if one is None else one for one in target.index)

    def _nominal(self, target: Target) -> Array | None:
        """The value that the robot file has, in the shape of one robot's; None if it has none."""
        found = _get(self.data, target.path)
        core = self.cores.get(target.key)
        if found is None:
            if core is None:
                self._must_exist(target)
            return None
        try:
            array = np.array(found, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{target.text} of {self.robot.name} is no number") from None
        if core is not None:
            # one value for all legs, or one per leg
            array = (
                array[np.newaxis]
                if target.key.startswith("legs.") and array.ndim < len(core)
                else array
            )
            array = np.broadcast_to(array, core).copy()
        return array

    def _must_exist(self, target: Target) -> None:
        """Refuse keys that no robot file has."""
        data = copy.deepcopy(self.data)
        for trial in (1.0, [0.1, 1.0], [1.0] * 3):
            try:
                _put(data, target.path, trial, self.robot.name)
                with warnings.catch_warnings(action="ignore"):
                    Model.from_dict(data, self.robot.folder)
                return
            except GoughError as error:
                reason = str(error)
                if "unknown key" in reason:
                    raise InputError(reason) from None
        # known, but this number does not suit it


def _fitted(value: Array, shape: tuple[int, ...]) -> Array:
    """(count, ...) with axes put in behind the first, so that it broadcasts to the shape."""
    extra = (1,) * (len(shape) - value.ndim)
    return value.reshape(value.shape[:1] + extra + value.shape[1:])


def _get(data: Any, path: Sequence[str | int]) -> Any:
    for number, step in enumerate(path):
        if isinstance(step, int):
            if not isinstance(data, list) or step >= len(data):
                return None
            data = data[step]
        elif isinstance(data, list) and data and isinstance(data[0], dict):
            # an array of tables, one per leg
            found = [_get(one, path[number:]) for one in data]
            return None if any(one is None for one in found) else found
        elif isinstance(data, dict) and step in data:
            data = data[step]
        else:
            return None
    return data


def _put(data: Any, path: Sequence[str | int], value: Any, name: str) -> None:
    for number, step in enumerate(path[:-1]):
        if isinstance(step, int):
            if not isinstance(data, list) or step >= len(data):
                shown = ".".join(map(str, path[:number]))
                raise InputError(f"{name} has no {shown}[{step + 1}]")
            data = data[step]
        elif isinstance(data, dict):
            data = data.setdefault(step, {})
        else:
            raise InputError(f"{name}: {'.'.join(map(str, path[:number]))} is not a table")
    if isinstance(data, list) and isinstance(value, list) and len(value) == len(data):
        for one, part in zip(data, value, strict=True):
            one[path[-1]] = part
    elif isinstance(data, dict):
        data[path[-1]] = value
    else:
        raise InputError(f"{name}: {'.'.join(map(str, path[:-1]))} is not a table")
