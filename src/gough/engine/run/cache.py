"""Kernels on disk: machine code with all that is needed to run it, one file each.

A file is named by a hash of what the kernel depends on: the function and its files (`run.identity`), the
structure of its numbers, processor and versions. It starts with a hash of its contents with the folder's
secret key, so a file that is damaged, half-written or from elsewhere is just not there; it is written
under a temporary name and renamed, so any number of processes may write at once. Nothing in it is
executed but the machine code, and nothing is unpickled. Those longest unused go when the folder grows
too large.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import hashlib
import hmac
import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm

from gough.base.version import VERSION
from gough.engine.emit.llvm import kernel_text, lanes
from gough.engine.program import Program, Step

NAME = "kernel"
MAGIC = b"gough-kernel-2\n"
SECRET = "secret"
"""Name of the file with the key of the hashes: random, one a folder, for its owner's eyes."""
SIZE = 32
MOST_BYTES = 200_000_000
"""Kernels kept on disk."""
DAY = 86_400.0
WRITING = ".writing-"
"""How names begin of files that are not complete yet."""


class Kernel(NamedTuple):
    """Machine code in memory, and how to call it."""

    address: int
    once: int
    """Address of the same for one state."""
    prologue: tuple[Step, ...]
    hoisted: tuple[int, ...]
    field_shapes: dict[str, tuple[int, ...]]
    """Shape of one state's part in each input, in the order of the kernel's pointers."""
    outputs: dict[str, tuple[int, ...]]
    tables: tuple[int, ...]
    """Which numbers of modes, and of pairs of modes, follow the hoisted ones."""
    matrices: tuple[int, ...]
    modes: int
    engine: Any
    """Keeps the machine code alive."""
    from_disk: bool


def folder() -> Path:
    """Where kernels are kept: GOUGH_CACHE, or the user's cache folder."""
    chosen = os.environ.get("GOUGH_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path("~/.cache").expanduser())
        except RuntimeError:  # a user without a home
            user = os.getuid() if hasattr(os, "getuid") else "user"
            return Path(tempfile.gettempdir()) / f"gough-{user}"
    return Path(base) / "gough"


def _trusted(place: Path) -> bool:
    """Nobody else can write there: a kernel is machine code."""
    try:
        status = place.stat()
    except OSError:
        return True  # not there yet; it is made for this user alone
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in (0, os.getuid()) and not status.st_mode & 0o022


def load_or_make(
    key: tuple[Any, ...] | None, make: Callable[[], Program], variants: bool = False
) -> Kernel:
    """The kernel for a key, from disk if a sound one is there; see `kernel_text` for `variants`.

    Without a key it is made, and not kept on disk.
    """
    path = folder() / f"{_digest((key, variants))}.kernel"
    trusted = key is not None and _trusted(path.parent)
    stored = read(path) if trusted else None
    if stored is not None:
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > DAY:
                os.utime(path)  # in use: not among the first to go
        with contextlib.suppress(RuntimeError, LookupError, ValueError, TypeError, AttributeError):
            return _load(*stored)
    program = make()
    code = _compile(program, variants)
    description = {
        "prologue": [list(step) for step in program.prologue],
        "hoisted": program.hoisted,
        "fields": program.fields,
        "outputs": {name: output.shape for name, output in program.outputs.items()},
        "tables": program.tables,
        "matrices": program.matrices,
        "modes": program.modes,
    }
    if trusted:
        _write(path, json.dumps(description).encode(), code)
    return _load(description, code)._replace(from_disk=False)


def _digest(key: tuple[Any, ...]) -> str:
    host = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), lanes())
    versions = (VERSION, llvmlite.__version__, llvm.llvm_version_info)
    text = repr((key, host, versions)).encode()
    return hashlib.sha256(text).hexdigest()[:40]


def _secret(place: Path) -> bytes | None:
    """The key of a folder's hashes; None where there is none that its owner alone can read."""
    try:
        with (place / SECRET).open("rb") as file:
            status = os.fstat(file.fileno())
            known = file.read(SIZE + 1)
    except OSError:
        return None
    mine = not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not status.st_mode & 0o077
    )
    return known if mine and len(known) == SIZE else None


def _make_secret(place: Path) -> bytes | None:
    """A new key, or that of a process that was faster."""
    handle, name = tempfile.mkstemp(dir=place, prefix=WRITING)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
        try:
            os.link(name, place / SECRET)
        except FileExistsError:
            if _secret(place) is None:  # damaged, or open to others
                os.replace(name, place / SECRET)
        except OSError:  # no links there
            os.replace(name, place / SECRET)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
    return _secret(place)


def seal(content: bytes, secret: bytes) -> bytes:
    """The head of a file with such contents."""
    return MAGIC + hmac.digest(secret, content, "sha256")


def read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Description and machine code of a sound file, else None."""
    secret = _secret(path.parent)
    if secret is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + 32
    if not hmac.compare_digest(data[:head], seal(data[head:], secret)):
        return None
    size = int.from_bytes(data[head : head + 8], "little")
    try:
        description = json.loads(data[head + 8 : head + 8 + size])
    except ValueError:
        return None
    return description, data[head + 8 + size :]


def _write(path: Path, description: bytes, code: bytes) -> None:
    """Keep a kernel; a folder that cannot be written to only costs time."""
    content = len(description).to_bytes(8, "little") + description + code
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = _secret(path.parent) or _make_secret(path.parent)
        if secret is None:
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=WRITING)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(seal(content, secret) + content)
            os.replace(name, path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)
        _prune(path.parent)


def _prune(place: Path) -> None:
    """Delete the kernels longest unused where there are too many, and what interrupted writers left.

    Any number of processes may do so at once, and read: a kernel that is gone is made again.
    """
    kernels, now = [], time.time()
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):  # gone already
            status = entry.stat()
            if entry.name.endswith(".kernel"):
                kernels.append((status.st_mtime, status.st_size, entry.path))
            elif entry.name.startswith(WRITING) and now - status.st_mtime > DAY:
                os.unlink(entry.path)
    excess = sum(size for _, size, _ in kernels) - MOST_BYTES
    for _, size, path in sorted(kernels):
        if excess <= 0:
            break
        excess -= size
        with contextlib.suppress(OSError):
            os.unlink(path)


CALLED = ("atan2", "sin", "cos")
"""Functions of the C library that kernels call."""


@cache
def _target() -> Any:
    try:
        library = ctypes.CDLL(None)  # Python has its mathematics loaded; looking for it is slow
        found = [getattr(library, name) for name in CALLED]
    except (TypeError, OSError, AttributeError):
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        found = [getattr(library, name) for name in CALLED]
    for name, function in zip(CALLED, found, strict=True):
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return llvm.Target.from_default_triple()


def _machine() -> Any:
    features = llvm.get_host_cpu_features().flatten()
    return _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2, reloc="pic", codemodel="jitdefault"
    )


def _compile(program: Program, variants: bool = False) -> bytes:
    module = llvm.parse_assembly(kernel_text(program, NAME, lanes(), variants))
    return bytes(_machine().emit_object(module))


def _load(description: dict[str, Any], code: bytes) -> Kernel:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address, once = (engine.get_function_address(name) for name in (NAME, f"{NAME}_once"))
    if not address or not once:
        raise RuntimeError("no kernel in the machine code")
    prologue = tuple(
        Step(operation, tuple(arguments), tuple(leaf) if isinstance(leaf, list) else leaf)
        for operation, arguments, leaf in description["prologue"]
    )
    outputs = {name: tuple(shape) for name, shape in description["outputs"].items()}
    return Kernel(
        address,
        once,
        prologue,
        tuple(description["hoisted"]),
        {name: tuple(shape) for name, shape in description["fields"].items()},
        outputs,
        tuple(description.get("tables", ())),
        tuple(description.get("matrices", ())),
        description.get("modes", 0),
        engine,
        True,
    )
