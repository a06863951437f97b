"""What a function is, beyond its name: kernels are kept for exactly that.

In one process a function is itself. From process to process it is its module, its qualified name, a
digest of its code and of the values it closes over, and the files its equations are written in: those of
its own folder, of the folders of what it names, and of the classes of its numbers. Of files the content
counts: sizes and times are the same for many edits where builds are made reproducible.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gough.base.sources import content_digest
from gough.engine.functions import Function


class UnknownError(TypeError):
    """Something of which nobody can tell whether another process means the same by it."""


def identity(function: Function, others: Iterable[str] = ()) -> tuple[str, str, str] | None:
    """A function as it is known on disk: module, qualified name, digest of all it depends on.

    `others` are further modules it depends on. None where that cannot be told.
    """
    digest = hashlib.sha256()
    try:
        for part in _parts(function):
            digest.update(part)
        for place in sorted({_place(module) for module in {*others, *_modules(function)}}):
            digest.update(b"" if not place[0] else content_digest(*place))
        named: Any = function
        return named.__module__, named.__qualname__, digest.hexdigest()
    except (UnknownError, AttributeError, OSError):
        return None


def _parts(thing: Any) -> Iterator[bytes]:
    """All that makes a function, or a value it closes over, what it is."""
    yield type(thing).__name__.encode() + b":"
    if isinstance(thing, FunctionType):
        yield f"{thing.__module__}.{thing.__qualname__}".encode()
        cells = tuple(cell.cell_contents for cell in thing.__closure__ or ())
        yield from _parts((thing.__code__, thing.__defaults__, thing.__kwdefaults__, cells))
    elif isinstance(thing, CodeType):
        yield thing.co_code
        shape = (thing.co_argcount, thing.co_posonlyargcount, thing.co_kwonlyargcount)
        names = (thing.co_names, thing.co_varnames, thing.co_freevars, thing.co_cellvars)
        yield from _parts((shape, thing.co_flags, names, thing.co_consts))
    elif isinstance(thing, functools.partial):
        yield from _parts((thing.func, thing.args, thing.keywords))
    elif isinstance(thing, MethodType):
        yield from _parts((thing.__func__, thing.__self__))
    elif isinstance(thing, ModuleType):
        yield thing.__name__.encode()
    elif isinstance(thing, type):
        yield f"{thing.__module__}.{thing.__qualname__}".encode()
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        yield repr((thing.dtype.str, thing.shape)).encode()
        yield thing.tobytes()
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from _parts(part)
        yield b"."
    elif isinstance(thing, dict):
        yield from _parts(tuple(thing.items()))
    elif isinstance(thing, frozenset | set):
        yield from sorted(b"".join(_parts(part)) for part in thing)
    elif (
        thing is None
        or thing is ...
        or isinstance(thing, bool | int | float | complex | str | bytes)
    ):
        yield repr(thing).encode() + b";"
    elif hasattr(thing, "__wrapped__"):
        yield from _parts(thing.__wrapped__)
    else:
        raise UnknownError(type(thing).__name__)


def _modules(function: Any) -> Iterator[str]:
    """Where a function is written, and what it names of its own package."""
    if isinstance(function, functools.partial | MethodType) or hasattr(function, "__wrapped__"):
        yield from _modules(
            getattr(function, "func", None)
            or getattr(function, "__func__", None)
            or function.__wrapped__
        )
    if not isinstance(function, FunctionType):
        return
    yield function.__module__
    own = function.__module__.partition(".")[0]
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        module = (
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        )
        if isinstance(module, str) and module.partition(".")[0] == own:
            yield module
    for cell in function.__closure__ or ():
        if callable(cell.cell_contents):
            yield from _modules(cell.cell_contents)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)


@cache
def _place(module: str) -> tuple[str, bool]:
    """The folder of a module's part of its package, and whether folders in it count as well.

    That is the package's subpackage, or a package without such a one, or the folder of a single file.
    """
    parts = module.split(".")
    for depth in (2, 1):
        folder = getattr(sys.modules.get(".".join(parts[:depth])), "__path__", None)
        if folder and len(parts) >= depth:
            return str(next(iter(folder))), True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is not None:
        return str(Path(file).resolve().parent), False
    if parts[0] in sys.stdlib_module_names and parts[0] != "__main__":
        return "", False
    raise UnknownError(module)
