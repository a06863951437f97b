"""Robot files: find, read, validate, edit and write them, comments and digits untouched.

A robot file is TOML. Nothing in it is ever executed.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit
from tomlkit.items import Array

from gough.base.files import small_text
from gough.description.catalogue import catalogue, catalogue_text
from gough.description.mistakes import checked, parsed
from gough.description.schema import RobotFile
from gough.errors import FileError, InputError

MOST_MEGABYTES = 1
"""Of a robot file; the largest real one has a few thousand bytes."""


def read_text(name: str | os.PathLike[str]) -> tuple[str, str]:
    """Text of a robot file, and what to call it in messages, from a catalogue name or a path."""
    if not isinstance(name, str | os.PathLike):
        raise InputError(f"a robot is named by its file or catalogue name, not {name!r}"[:120])
    if isinstance(name, str) and name in catalogue():
        return catalogue_text(name), name
    path = Path(name)
    try:
        exists = path.exists()
    except OSError as error:
        raise FileError(f"{str(name)[:60]}…: no such robot file: {error.strerror}") from None
    if not exists:
        near = difflib.get_close_matches(str(name), catalogue(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"catalogue: {', '.join(catalogue())}"
        raise FileError(f"{name}: no such robot file or catalogue name ({hint})")
    if not path.is_file() and not path.is_dir():
        raise FileError(f"{path}: not a regular file")
    return small_text(path, "robot file", MOST_MEGABYTES), str(path)


def parse(text: str, name: str) -> RobotFile:
    """Validated robot file from its text, which is in SI units."""
    return parsed(text, name, "robot file", RobotFile)


def validate(data: Mapping[str, Any], name: str) -> RobotFile:
    """Validated robot file from a dictionary."""
    return checked(data, name, RobotFile)


def to_text(data: Mapping[str, Any]) -> str:
    """TOML text of a robot dictionary; NumPy numbers and arrays are fine."""
    return tomlkit.dumps(plain(data))


def edit(text: str, changes: Mapping[str, Any]) -> str:
    """Text with the values at dotted keys changed and all else untouched.

    "platform.mass"; in an array of tables by number from 0: "legs.1.length", "legs.joints.2.home".
    """
    if not isinstance(changes, Mapping):
        raise InputError(f"changes are values by key, not {changes!r}"[:120])
    document = tomlkit.parse(text)
    for key, value in changes.items():
        if not isinstance(key, str):
            raise InputError(
                f"a change needs a dotted key such as 'platform.mass', not {key!r}"[:120]
            )
        *tables, last = key.split(".")
        table: Any = document
        for name in tables:
            table = _inside(table, name, key)
        try:
            _put(table, _step(table, last, key), plain(value))
        except ValueError:
            raise FileError(f"{key}: {value!r} is no value for a robot file"[:200]) from None
    return tomlkit.dumps(document)


def _put(table: Any, step: int | str, value: Any) -> None:
    """Set a value; lists of equal length number by number, so that remarks between them stay."""
    has = not isinstance(step, str) or step in table
    old = table[step] if has else None
    if isinstance(old, Array) and isinstance(value, list) and 0 < len(old) == len(value):
        for i, one in enumerate(value):
            _put(old, i, one)
    elif not (has and type(old) is type(value) and old == value):
        table[step] = value


def _inside(table: Any, name: str, key: str) -> Any:
    """The table of a name in a table, made if there is none, or of a number in an array of tables."""
    step = _step(table, name, key)
    found = table[step] if isinstance(step, int) else table.setdefault(step, tomlkit.table())
    if not isinstance(found, Mapping) and not _several(found):
        raise FileError(f"{key}: {name} is not a table")
    return found


def _step(table: Any, name: str, key: str) -> int | str:
    """What to look up in a table, or in an array of tables."""
    if not _several(table):
        return name
    if not (name.isascii() and name.isdecimal() and int(name) < len(table)):
        raise FileError(f"{key}: {name} is not the number of one of {len(table)} tables, from 0")
    return int(name)


def _several(value: Any) -> bool:
    """Whether a value is an array of tables."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def moved(text: str, old: Path, new: Path) -> str:
    """The text of a robot file for another folder: its relative paths made to fit."""
    old, new = old.resolve(), new.resolve()
    document = tomlkit.parse(text)
    platform: Any = document.get("platform", {})
    modes = platform.get("modes")
    if modes is not None:
        for key in modes.keys() & {"file", "geometry"}:
            modes[key] = _path(modes[key], old, new)
    _move_meshes(document, old, new)
    return text if old == new else tomlkit.dumps(document)


def _path(name: str, old: Path, new: Path) -> str:
    """A path relative to the old folder, relative to the new one; an absolute one as it is."""
    return name if Path(name).is_absolute() else os.path.relpath(old / name, new)


def _move_meshes(tables: Any, old: Path, new: Path) -> None:
    """Make the paths of meshes fit, in a table and in those inside it."""
    for key, value in tables.items():
        if key == "mesh":
            tables[key] = _moved_mesh(value, old, new)
        elif isinstance(value, Mapping):
            _move_meshes(value, old, new)
        elif _several(value):
            for one in value:
                _move_meshes(one, old, new)


def _moved_mesh(mesh: Any, old: Path, new: Path) -> Any:
    """A mesh, or a list of meshes, with paths that fit."""
    if isinstance(mesh, str):
        return _path(mesh, old, new)
    if isinstance(mesh, Mapping):
        return {**mesh, "file": _path(mesh["file"], old, new)}
    return [_moved_mesh(one, old, new) for one in mesh]


def plain(value: Any) -> Any:
    """Return a copy of keys and values in tables, lists and plain numbers; None is left out."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
