"""Kernels on disk: machine code with all that is needed to run it, one file each.

A file is named by a hash of what the kernel depends on: the function and its files (`run.identity`), the
structure of its numbers, processor and versions. It starts with a hash of its name and contents with
the folder's secret key, so a file that is damaged, half-written or from elsewhere is just not there; it
is written under a temporary name and renamed, so any number of processes may write at once. Folder and
files must be this user's alone (`run.private_folder`): no cache rather than a doubtful one. Nothing in a
file is executed but the machine code, and nothing is unpickled. Those longest unused go when the folder
grows too large.
"""

from __future__ import annotations

import contextlib
import ctypes.util
import gc
import hashlib
import hmac
import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from gough.base.version import VERSION
from gough.engine.emit.llvm import NARROW, kernel_text, lanes
from gough.engine.program import Program, Step
from gough.engine.run.private_folder import WRITING, PrivateFolder, private

NAME = "kernel"
MAGIC = b"gough-kernel-2\n"
SECRET = "secret"
"""Name of the file with the key of the hashes: random, one a folder, for its owner's eyes."""
SIZE = 32
MOST_BYTES = 200_000_000
"""Kernels kept on disk."""
DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class Kernel:
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
    width: int
    """States side by side."""
    single: bool
    """It computes with floats, and reads hoisted numbers as such."""


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


def load_or_make(
    key: tuple[Any, ...] | None,
    make: Callable[[], Program],
    variants: bool = False,
    alone: bool = False,
    single: bool = False,
) -> Kernel:
    """The kernel for a key, from disk if a sound one is there; see `kernel_text` for the switches.

    Without a key it is made, and not kept on disk. `alone`: for one state or two at a time.
    """
    with contextlib.ExitStack() as stack:
        place = None
        if key is not None:
            with contextlib.suppress(OSError):
                place = stack.enter_context(private(folder()))
        name = f"{_digest((key, variants, alone, single))}.kernel"
        stored = None if place is None else _stored(place, name)
        if stored is not None:
            with contextlib.suppress(
                RuntimeError, LookupError, ValueError, TypeError, AttributeError
            ):
                return _load(*stored, from_disk=True)
        with _no_search_for_cycles():
            description, code = _made(make(), variants, alone, single)
        if place is not None:
            _write(place, name, json.dumps(description).encode(), code)
    return _load(description, code)


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """A program is a hundred thousand small objects without a cycle: to look for one costs a tenth."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


def _made(
    program: Program, variants: bool, alone: bool, single: bool
) -> tuple[dict[str, Any], bytes]:
    """Description and machine code of a program."""
    code = _compile(program, variants, alone, single)
    description = {
        "width": NARROW if alone else lanes(single),
        "single": single,
        "prologue": [list(step) for step in program.prologue],
        "hoisted": program.hoisted,
        "fields": program.fields,
        "outputs": {name: output.shape for name, output in program.outputs.items()},
        "tables": program.tables,
        "matrices": program.matrices,
        "modes": program.modes,
    }
    return description, code


def _digest(key: tuple[Any, ...]) -> str:
    host = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), lanes())
    versions = (VERSION, llvmlite.__version__, llvm.llvm_version_info)
    text = repr((key, host, versions)).encode()
    return hashlib.sha256(text).hexdigest()[:40]


def _secret(place: PrivateFolder) -> bytes | None:
    """The key of a folder's hashes; None where there is none that its owner alone can read."""
    known = place.read(SECRET, SIZE, 0o077)
    return known if known is not None and len(known) == SIZE else None


def _make_secret(place: PrivateFolder) -> bytes | None:
    """A new key, or that of a process that was faster."""
    place.write(SECRET, secrets.token_bytes(SIZE), anew=False)
    if _secret(place) is None:  # damaged, or open to others
        place.write(SECRET, secrets.token_bytes(SIZE))
    return _secret(place)


def seal(name: str, content: bytes, secret: bytes) -> bytes:
    """The head of a file of such a name and contents."""
    return MAGIC + hmac.digest(secret, name.encode() + b"\n" + content, "sha256")


def read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Description and machine code of a sound file, else None."""
    try:
        with private(path.parent, make=False) as place:
            return _read(place, path.name)
    except OSError:
        return None


def _stored(place: PrivateFolder, name: str) -> tuple[dict[str, Any], bytes] | None:
    """What a file holds that is to be used now."""
    found = _read(place, name)
    if found is not None:
        place.touch(name, DAY)  # in use: not among the first to go
    return found


def _read(place: PrivateFolder, name: str) -> tuple[dict[str, Any], bytes] | None:
    secret, data = _secret(place), place.read(name, MOST_BYTES)
    if secret is None or data is None:
        return None
    head = len(MAGIC) + 32
    if not hmac.compare_digest(data[:head], seal(name, data[head:], secret)):
        return None
    size = int.from_bytes(data[head : head + 8], "little")
    try:
        description = json.loads(data[head + 8 : head + 8 + size])
    except ValueError:
        return None
    return description, data[head + 8 + size :]


def _write(place: PrivateFolder, name: str, description: bytes, code: bytes) -> None:
    """Keep a kernel; a folder that cannot be written to only costs time."""
    content = len(description).to_bytes(8, "little") + description + code
    with contextlib.suppress(OSError):
        secret = _secret(place) or _make_secret(place)
        if secret is not None:
            place.write(name, seal(name, content, secret) + content)
            _prune(place)


def _prune(place: PrivateFolder) -> None:
    """Delete the kernels longest unused where there are too many, and what interrupted writers left.

    Any number of processes may do so at once, and read: a kernel that is gone is made again.
    """
    kernels, now = [], time.time()
    for name, status in place.stats():
        if name.endswith(".kernel"):
            kernels.append((status.st_mtime, status.st_size, name))
        elif name.startswith(WRITING) and now - status.st_mtime > DAY:
            place.remove(name)
    excess = sum(size for _, size, _ in kernels) - MOST_BYTES
    for _, size, name in sorted(kernels):
        if excess <= 0:
            break
        excess -= size
        place.remove(name)


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
    # what more optimisation adds is another order, later and on average no faster than the planned one
    features = llvm.get_host_cpu_features().flatten()
    return _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=1, reloc="pic", codemodel="jitdefault"
    )


def _compile(
    program: Program, variants: bool = False, alone: bool = False, single: bool = False
) -> bytes:
    width = NARROW if alone else lanes(single)
    text = kernel_text(program, NAME, width, variants, not alone, single)
    module = llvm.parse_assembly(text)
    return bytes(_machine().emit_object(module))


def _load(description: dict[str, Any], code: bytes, from_disk: bool = False) -> Kernel:
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
        from_disk,
        description.get("width", lanes()),
        description.get("single", False),
    )
