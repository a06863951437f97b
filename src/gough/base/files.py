"""Files to read, not larger than such files are, and to write, through a temporary one and renamed.

An interrupted write loses nothing.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gough.errors import FileError


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
