"""What a file is, where a command was given another sort than it reads: the command that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gough.errors import FileError, GoughError

READ_BY = {
    "robot file": "gough show {0}",
    "robot of another program": "gough convert {0} -o robot.toml",
    "simulation file": "gough simulate {0}",
    "study file": "gough study {0}",
    "map of columns": "--map {0}",
    "motion": "gough forces ROBOT {0} -o forces.csv",
    "log of encoders": "gough pose ROBOT {0} -o motion.csv",
    "log with forces": "gough identify ROBOT {0}",
    "result of a study": "gough study STUDY.toml -o {0}",
    "picture or page": "any program that shows such",
}
"""Sorts of files, and what reads each."""
FOREIGN = (".xml", ".urdf", ".mjcf")
PICTURES = (".png", ".svg", ".pdf", ".html", ".gif", ".mp4")


@contextmanager
def reading(name: object, *wanted: str) -> Iterator[None]:
    """While a file is read that should be of one of some sorts: an error says if it is of another."""
    try:
        yield
    except GoughError:
        path = Path(str(name))
        found = sort_of(path)
        if found is None or found in wanted:
            raise
        said = READ_BY[found].format(path)
        raise FileError(f"{path}: is a {found}, not a {wanted[0]}; it is read by: {said}") from None


def sort_of(path: Path) -> str | None:
    """What a file is, by its name and its keys or columns; None where nobody can tell."""
    ending = path.suffix.lower()
    if path.is_dir():
        return "result of a study" if ending == ".zarr" else None
    if not path.is_file():
        return None
    if ending in FOREIGN:
        return "robot of another program"
    if ending in PICTURES:
        return "picture or page"
    if ending == ".csv":
        return _table(path)
    return _tables(path) if ending == ".toml" else None


def _tables(path: Path) -> str | None:
    """What a TOML file is, by its keys."""
    from gough.base.files import small_text
    from gough.description.files import MOST_MEGABYTES
    from gough.description.mistakes import tables

    try:
        keys = {*tables(small_text(path, "file", MOST_MEGABYTES), path.name, "file")}
    except GoughError:
        return None
    for key, sort in (
        ("legs", "robot file"),
        ("controller", "simulation file"),
        ("motions", "study file"),
        ("columns", "map of columns"),
    ):
        if key in keys:
            return sort
    return None


def _table(path: Path) -> str | None:
    """What a CSV file is, by its columns."""
    try:
        with path.open("r", encoding="utf-8-sig", errors="replace") as stream:
            first = stream.readline(20_000)
    except OSError:
        return None
    names = {one.replace("[", " ").strip().split(" ")[0] for one in first.split(",")}
    if {"x", "y", "z"} <= names:
        return "motion"
    if "q1" in names:
        return "log with forces" if "force1" in names else "log of encoders"
    return None
