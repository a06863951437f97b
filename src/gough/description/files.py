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

from gough.base.files import small_text
from gough.description.catalogue import catalogue, catalogue_text
from gough.description.mistakes import checked, parsed
from gough.description.schema import RobotFile
from gough.errors import FileError

MOST_MEGABYTES = 4
"""Of a robot file; the largest real one has a few thousand bytes."""


def read_text(name: str | os.PathLike[str]) -> tuple[str, str]:
    """Text of a robot file, and what to call it in messages, from a catalogue name or a path."""
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
    """Validated robot file from its text."""
    return parsed(text, name, "robot file", RobotFile)


def validate(data: Mapping[str, Any], name: str) -> RobotFile:
    """Validated robot file from a dictionary."""
    return checked(data, name, RobotFile)


def to_text(data: Mapping[str, Any]) -> str:
    """TOML text of a robot dictionary; NumPy numbers and arrays are fine."""
    return tomlkit.dumps(_plain(data))


def edit(text: str, changes: Mapping[str, Any]) -> str:
    """Text with the values at dotted keys ("platform.mass") changed and all else untouched."""
    document = tomlkit.parse(text)
    for key, value in changes.items():
        *tables, last = key.split(".")
        table: Any = document
        for name in tables:
            if not isinstance(table.get(name, {}), Mapping):
                raise FileError(f"{key}: {name} is not a table")
            table = table.setdefault(name, tomlkit.table())
        try:
            table[last] = _plain(value)
        except ValueError:
            raise FileError(f"{key}: {value!r} is no value for a robot file"[:200]) from None
    return tomlkit.dumps(document)


def moved(text: str, file: RobotFile, old: Path, new: Path) -> str:
    """The text of a robot file for another folder: its relative paths made to fit."""
    table = None if file.platform is None else file.platform.modes
    old, new = old.resolve(), new.resolve()
    if table is None or old == new:
        return text
    named = {"file": table.file, "geometry": table.geometry}
    return edit(
        text,
        {
            f"platform.modes.{key}": os.path.relpath(old / name, new)
            for key, name in named.items()
            if name is not None and not Path(name).is_absolute()
        },
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
