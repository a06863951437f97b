"""What a folder of Python files says, as a hash: results and kernels are those of exactly this text."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path


@cache
def content_digest(folder: str, below: bool = True, without: tuple[str, ...] = ()) -> bytes:
    """A hash of the names and contents of a folder's Python files, and of those below it.

    Folders named in `without` are left out. Sizes and times would not do: reproducible builds give
    every file the same time.
    """
    known = []
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if below and one not in without]
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(place, name)
                text = hashlib.sha256(text_of(path)).digest()
                known.append((os.path.relpath(path, folder), text))
    return hashlib.sha256(repr(sorted(known)).encode()).digest()


def text_of(path: str) -> bytes:
    """A file's content."""
    with open(path, "rb") as file:
        return file.read()


def package_digest() -> bytes:
    """A hash of gough itself, but for what only shows results."""
    return content_digest(
        str(Path(__file__).parents[1]), without=("cli", "show", "studio", "__pycache__")
    )
