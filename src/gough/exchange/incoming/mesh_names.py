"""Meshes that a file of another program names: in its folder, there, and not a stand-in."""

from __future__ import annotations

from pathlib import Path

from gough.errors import FileError
from gough.exchange.incoming.xml_text import inside

STAND_IN = b"version https://git-lfs"
"""How files begin that Git leaves in place of large ones."""
WITHOUT = "; meshes can be left out (--no-meshes, meshes=False)"


def named_mesh(folder: Path, name: str, named_in: str, needed: bool = False) -> Path:
    """The path of a mesh; `needed` is one that masses are computed from."""
    hint = "; a mass is computed from it" if needed else WITHOUT
    source = inside(folder, name, "mesh", named_in)
    try:
        if not source.is_file():
            raise FileError(f"{named_in}: mesh {name[:80]!r} is not there{hint}")
        with source.open("rb") as file:
            start = file.read(len(STAND_IN))
    except OSError as error:
        raise FileError(f"{named_in}: mesh {name[:80]!r}: {error.strerror}{hint}") from None
    if start == STAND_IN:
        raise FileError(
            f"{named_in}: mesh {name[:80]!r} is what Git LFS leaves in its place: fetch it with git lfs "
            f"pull{hint}"
        )
    return source
