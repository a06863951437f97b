"""A folder whose files are this user's alone: held by its descriptor, links never followed.

Kernels are machine code. A folder is trusted once it is there, is no link, belongs to the user who asks
and can be written to by nobody else; so is every file in it, whoever could write to the folder before.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

POSIX = hasattr(os, "getuid") and os.open in os.supports_dir_fd
WRITING = ".writing-"
"""How names begin of files that are not complete yet."""
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class DoubtfulError(OSError):
    """A folder or file that somebody else may have written."""


class PrivateFolder(NamedTuple):
    """A folder that has been checked."""

    place: Path
    handle: int | None
    """Its descriptor; None where the system has no such thing."""

    def _name(self, name: str) -> str:
        return name if self.handle is not None else str(self.place / name)

    def read(self, name: str, most: int, mask: int = 0o022) -> bytes | None:
        """Content of a file of this user's, of at most so many bytes, without permissions in `mask`."""
        try:
            handle = os.open(self._name(name), os.O_RDONLY | _FLAGS, dir_fd=self.handle)
        except OSError:
            return None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not _mine(status, mask) or status.st_size > most:
                return None
            parts = []
            while part := os.read(handle, 1 << 20):
                parts.append(part)
            return b"".join(parts)
        except OSError:
            return None
        finally:
            os.close(handle)

    def write(self, name: str, content: bytes, anew: bool = True) -> None:
        """A file, whole or not at all; without `anew` one that is there already stays."""
        temporary = f"{WRITING}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
        try:  # a signal while it is made leaves no file either
            handle = os.open(self._name(temporary), flags, 0o600, dir_fd=self.handle)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            self._put(temporary, name, anew)
        finally:
            self.remove(temporary)

    def _put(self, temporary: str, name: str, anew: bool) -> None:
        source, target, both = self._name(temporary), self._name(name), self.handle
        if not anew:
            try:
                os.link(source, target, src_dir_fd=both, dst_dir_fd=both)
                return
            except FileExistsError:
                return
            except OSError:  # no links there
                pass
        os.replace(source, target, src_dir_fd=both, dst_dir_fd=both)

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self._name(name), dir_fd=self.handle)

    def touch(self, name: str, after: float) -> None:
        """Note that a file is in use, if that was last noted so many seconds ago."""
        with contextlib.suppress(OSError):
            noted = os.stat(self._name(name), dir_fd=self.handle).st_mtime
            if time.time() - noted > after:
                os.utime(self._name(name), dir_fd=self.handle)

    def stats(self) -> list[tuple[str, os.stat_result]]:
        """Names of the files, and what is known of them."""
        found = []
        for entry in os.scandir(self.place if self.handle is None else self.handle):
            with contextlib.suppress(OSError):  # gone already
                found.append((entry.name, entry.stat(follow_symlinks=False)))
        return found


@contextlib.contextmanager
def private(place: Path, make: bool = True) -> Iterator[PrivateFolder]:
    """A folder of this user's alone, made if it is not there; an OSError that says what is amiss.

    Its name begins at the root: where a command happens to run may lie anybody's files.
    """
    if not place.is_absolute():
        raise DoubtfulError("its name does not begin at the root")
    if make:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not POSIX:
        yield PrivateFolder(place, None)
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise DoubtfulError("it belongs to another user")
        if status.st_mode & 0o022:
            raise DoubtfulError("others may write to it")
        yield PrivateFolder(place, handle)
    finally:
        os.close(handle)


def _mine(status: os.stat_result, mask: int) -> bool:
    return not POSIX or (status.st_uid == os.geteuid() and not status.st_mode & mask)
