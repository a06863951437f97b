"""Files to read, regular ones not larger than such files are, and to write, whole or not at all.

What is written goes to a temporary file, is brought to the disk and renamed: an interrupted write, or a
machine that loses its power, loses nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from gough.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".unfinished"
"""How names end of files that are being written."""
_BINARY = getattr(os, "O_BINARY", 0)
_READ: ContextVar[set[tuple[int, int]] | None] = ContextVar("read", default=None)
"""Device and number of each file that was read, where that is kept."""


@contextlib.contextmanager
def keeping_inputs() -> Iterator[None]:
    """While no file that is read meanwhile may be written: what one names, it includes too."""
    token = _READ.set(set())
    try:
        yield
    finally:
        _READ.reset(token)


def refuse_inputs(path: str | os.PathLike[str], also: Iterable[Path] = ()) -> None:
    """Refuse a file to write that was read, or that is one of others, while inputs are kept."""
    read = _READ.get()
    if read is None:
        return
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # not there yet
        return
    others = {
        (one.st_dev, one.st_ino) for one in (other.stat() for other in also if other.exists())
    }
    if (status.st_dev, status.st_ino) in read | others:
        raise FileError(f"{path}: would be overwritten; choose another name to write")


def opened(path: str | os.PathLike[str], what: str, megabytes: float) -> int:
    """Descriptor of a regular file, not larger than such files are.

    A pipe or a device is refused, not waited for. Messages are without the file's name.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except (OSError, ValueError) as error:
        raise FileError(getattr(error, "strerror", None) or str(error)) from None
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise FileError("Is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise FileError("not a regular file")
        if status.st_size > 1e6 * megabytes:
            size = f"{status.st_size / 1e6:.3g} MB; "
            raise FileError(f"{size}a {what} has at most {megabytes:g} MB")
        read = _READ.get()
        if read is not None:
            read.add((status.st_dev, status.st_ino))
    except FileError:
        os.close(handle)
        raise
    return handle


def content(path: str | os.PathLike[str], what: str, megabytes: float) -> bytes:
    """All of a regular file, not larger than such files are; messages are without its name."""
    most = int(1e6 * megabytes)
    try:
        with os.fdopen(opened(path, what, megabytes), "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise FileError(str(error.strerror or error)) from None
    if len(data) > most:
        raise FileError(f"a {what} has at most {megabytes:g} MB")
    return data


def small_text(path: str | os.PathLike[str], what: str, megabytes: float) -> str:
    """Text of a file in UTF-8, which must not be larger than such files are."""
    try:
        return content(path, what, megabytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def to_write(path: str | os.PathLike[str]) -> Path:
    """The name of a file or folder to write, which must be one."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise FileError(f"{path!r}"[:80] + " is not the name of a file or folder")
    return Path(name)


def in_a_folder(path: str | os.PathLike[str]) -> Path:
    """A file to write, whose folder must be there."""
    target = to_write(path)
    if not target.parent.is_dir():
        raise FileError(f"{target}: folder {target.parent} does not exist")
    return target


def _named(error: OSError, temporary: Path, target: Path) -> Exception:
    """An error with what was being written in place of the temporary name, or of none."""
    if error.filename is None or str(error.filename).startswith(str(temporary)):
        return FileError(f"{target}: {error.strerror or error}")
    return error


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], own: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`, renamed onto it when the block ends well, removed if not.

    `own`: what was read of it before is what its writer left there.
    """
    target = in_a_folder(path)
    if not own:
        refuse_inputs(target)
    sweep(target)
    temporary, handle = _unfinished(target), None
    try:
        handle = _locked(temporary)
        yield temporary
        temporary.chmod(0o666 & ~umask())
        to_disk(temporary)
        temporary.replace(target)
        to_disk(target.parent)
    except OSError as error:
        raise _named(error, temporary, target) from None
    finally:
        temporary.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary folder beside `path`, renamed to it when the block ends well, removed if not."""
    target = in_a_folder(path)
    sweep(target)
    temporary, handle = _unfinished(target), None
    try:
        handle = _locked_folder(temporary)
        yield temporary
        for one in (*temporary.iterdir(), temporary):
            to_disk(one)
        temporary.chmod(0o777 & ~umask())
        temporary.rename(target)
        to_disk(target.parent)
    except OSError as error:
        raise _named(error, temporary, target) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _unfinished(target: Path) -> Path:
    """A new name beside a target, known before it is used: a signal at any time leaves no file of it."""
    return target.parent / f".{target.stem}-{secrets.token_hex(4)}{UNFINISHED}"


def _locked(temporary: Path) -> int:
    """A new file, locked as long as its descriptor is open."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | _BINARY
    while True:
        handle = os.open(temporary, flags, 0o600)
        if _lock(handle) and os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # a sweeper was quicker


def _locked_folder(temporary: Path) -> int | None:
    """A new folder, locked as long as its descriptor is open; None where folders have none."""
    temporary.mkdir(0o700)
    if fcntl is None:
        return None
    handle = os.open(temporary, os.O_RDONLY)
    _lock(handle)
    return handle


def _lock(handle: int) -> bool:
    """Whether a file is ours alone now, until it is closed; so it is where there are no locks."""
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
    return True


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """While a lock file is this process's; a BlockingIOError if it is another's."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags, 0o666)
    try:
        if not _lock(handle):
            raise BlockingIOError
        yield
    finally:
        os.close(handle)


def sweep(target: Path) -> None:
    """Remove what killed processes left of a target, files and folders: nobody holds their locks."""
    if fcntl is None:
        return
    try:
        entries = [*os.scandir(target.parent)]
    except OSError:  # a folder that may not be listed can still be written to
        return
    for entry in entries:
        if not (entry.name.startswith(f".{target.stem}-") and entry.name.endswith(UNFINISHED)):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    os.unlink(entry.path)
                elif stat.S_ISDIR(os.fstat(handle).st_mode):
                    shutil.rmtree(entry.path)
            finally:
                os.close(handle)


def to_disk(path: str | os.PathLike[str]) -> None:
    """Wait until a file, or the names in a folder, are on the disk; nothing where that cannot be had."""
    try:
        handle = os.open(path, os.O_RDONLY | _BINARY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:  # others: no such operation here, a folder that may not be read
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            raise


def umask() -> int:
    """Permissions that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
