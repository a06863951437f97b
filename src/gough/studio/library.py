"""The robots on offer: the catalogue, those named when the studio starts, those in its folder.

Nothing else is ever opened: the page sends a label, and a label that is not on the list is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gough.base.files import small_text
from gough.description.catalogue import catalogue
from gough.description.files import MOST_MEGABYTES
from gough.description.mistakes import tables
from gough.errors import FileError, InputError
from gough.robot import Robot, load

MOST = 200
"""Robot files of a folder that are listed."""
Stamp = tuple[int, int] | None


class Loaded(NamedTuple):
    """A robot and what its file was warned of."""

    robot: Robot
    warnings: tuple[str, ...]


class Library:
    """Robots by label; files are watched."""

    def __init__(self, names: Sequence[str] = (), folder: Path | None = None) -> None:
        folder = Path.cwd() if folder is None else folder
        self._sources: dict[str, str | Path] = {}
        for name in names:
            self._sources[name] = name if name in catalogue() else Path(name).absolute()
        for name in catalogue():
            self._sources.setdefault(name, name)
        known = set(self._sources.values())
        for path in _robot_files(folder):
            if path.absolute() not in known:
                self._sources[path.name] = path.absolute()
        self._loaded: dict[str, tuple[Stamp, Loaded]] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """What can be opened."""
        return tuple(self._sources)

    def add(self, label: str, robot: Robot) -> str:
        """A robot that comes with a result, first on the list; returns its label."""
        self._sources = {label: label, **self._sources}
        self._loaded[label] = (None, Loaded(robot, ()))
        return label

    def load(self, label: str) -> Loaded:
        """The robot of a label, read again only if its file has changed."""
        source = self._source(label)
        stamp = self.stamp(label)
        if label in self._loaded and self._loaded[label][0] == stamp:
            return self._loaded[label][1]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            robot = load(source)
        found = Loaded(robot, tuple(dict.fromkeys(str(one.message) for one in caught)))
        self._loaded[label] = (stamp, found)
        return found

    def stamp(self, label: str) -> Stamp:
        """Changes when the file does; None for the catalogue's robots and files that are gone."""
        source = self._source(label)
        if not isinstance(source, Path):
            return None
        try:
            about = source.stat()
        except OSError:
            return None
        return about.st_mtime_ns, about.st_size

    def _source(self, label: str) -> str | Path:
        if label not in self._sources:
            raise InputError(f"no robot {label!r} is on offer"[:120])
        return self._sources[label]


def _robot_files(folder: Path) -> list[Path]:
    """TOML files of a folder that look like robot files."""
    found = []
    try:
        paths = sorted(folder.glob("*.toml"))[:MOST]
    except OSError:
        return []
    for path in paths:
        try:
            text = small_text(path, "robot file", MOST_MEGABYTES)
            if {"format", "legs"} <= tables(text, str(path), "robot file").keys():
                found.append(path)
        except FileError:
            continue  # not a robot file
    return found
