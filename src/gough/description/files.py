"""Robot files: find, read, validate, edit and write them, comments and digits untouched.

A robot file is TOML. Nothing in it is ever executed. Writing goes through a temporary file, so an
interrupted write loses nothing.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from gough.description.schema import RobotFile
from gough.errors import FileError
from gough.legs.register import KINDS

MOST_MEGABYTES = 4
"""Of a robot file; the largest real one has a few thousand bytes."""


def catalogue() -> list[str]:
    """Names of the robots that come with gough."""
    folder = resources.files("gough.description") / "catalogue"
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def read_text(name: str | os.PathLike[str]) -> tuple[str, str]:
    """Text of a robot file, and what to call it in messages, from a catalogue name or a path."""
    if isinstance(name, str) and name in catalogue():
        folder = resources.files("gough.description") / "catalogue"
        return (folder / f"{name}.toml").read_text("utf-8"), name
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


def small_text(path: str | os.PathLike[str], what: str, megabytes: int) -> str:
    """Text of a file in UTF-8, which must not be larger than such files are."""
    place = Path(path)
    try:
        size = place.stat().st_size
        if size > 1e6 * megabytes:
            raise FileError(f"{path}: {size / 1e6:.0f} MB; a {what} has at most {megabytes} MB")
        return place.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None


def parse(text: str, name: str) -> RobotFile:
    """Validated robot file from its text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{name}: not TOML: {error}") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise FileError(f"{name}: a number that is not finite: {error}"[:200]) from None
    except RecursionError:
        raise FileError(f"{name}: not a robot file: brackets nested too deep") from None
    return validate(data, name)


def validate(data: Mapping[str, Any], name: str) -> RobotFile:
    """Validated robot file from a dictionary."""
    try:
        return RobotFile.model_validate(data)
    except ValidationError as error:
        raise FileError(f"{name}: {_explain(error)}") from None


def to_text(data: Mapping[str, Any]) -> str:
    """TOML text of a robot dictionary; NumPy numbers and arrays are fine."""
    import tomlkit

    return tomlkit.dumps(_plain(data))


def edit(text: str, changes: Mapping[str, Any]) -> str:
    """Text with the values at dotted keys ("platform.mass") changed and all else untouched."""
    import tomlkit

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


def in_a_folder(path: str | os.PathLike[str]) -> Path:
    """A file to write, whose folder must be there."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"{target}: folder {target.parent} does not exist")
    return target


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, renamed onto it when the block ends well, removed if not."""
    target = in_a_folder(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-")
    except OSError as error:
        raise FileError(f"{target}: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        try:
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
        except OSError as error:
            raise FileError(f"{target}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _explain(error: ValidationError) -> str:
    """One line on the first thing wrong, unknown keys before all else: they explain the rest."""
    problems = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    first = problems[0]
    place = [str(part) for part in first["loc"] if part not in KINDS]
    key = ".".join(place)
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"])
        near = difflib.get_close_matches(place[-1], known, 1, cutoff=0.0)
        return f"unknown key {key}" + (f"; the nearest known key is {near[0]}" if near else "")
    if first["type"] == "missing":
        return f"missing key {key}"
    if first["type"] == "union_tag_not_found":
        return "missing key legs.kind"
    if first["type"] == "union_tag_invalid":
        return f"legs.kind needs {' or '.join(map(repr, KINDS))}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Keys of the table in which an unknown one was found."""
    model: type[BaseModel] = RobotFile
    for part in location[:-1]:
        if isinstance(part, int):
            continue
        for candidate in _models(RobotFile if part == location[0] else model, str(part)):
            model = candidate
    return list(model.model_fields)


def _models(model: type[BaseModel], part: str) -> Iterator[type[BaseModel]]:
    """The table model under a key (or with a leg kind's tag) of a table model."""
    if part in KINDS:
        yield KINDS[part].keys
        return
    field = model.model_fields.get(part)
    pending = [field.annotation if field else None]
    while pending:
        kind: Any = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
            return
        pending += getattr(kind, "__args__", ())
