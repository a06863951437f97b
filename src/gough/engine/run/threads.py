"""Threads over the parts of a batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from gough.errors import InputError

_at_most: ContextVar[int | None] = ContextVar("threads", default=None)


@contextlib.contextmanager
def at_most(count: int) -> Iterator[None]:
    """Batches inside run on at most so many threads."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"threads is a positive whole number, not {count!r}")
    token = _at_most.set(int(count))
    try:
        yield
    finally:
        _at_most.reset(token)


def limited(count: int | None) -> contextlib.AbstractContextManager[None]:
    """`at_most`, or no limit of its own for None."""
    return contextlib.nullcontext() if count is None else at_most(count)


def threads() -> int:
    """Threads to use: as asked for in the call, GOUGH_THREADS, or one per core."""
    asked = _at_most.get()
    if asked is not None:
        return asked
    wanted = os.environ.get("GOUGH_THREADS")
    if wanted is None:
        return cores()
    if not wanted.isdecimal() or int(wanted) < 1:
        raise InputError(f"GOUGH_THREADS is a positive whole number, not {wanted!r}")
    return int(wanted)


@cache
def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[int], Any], starts: Sequence[int]) -> list[Any]:
    """Do the parts of a batch that start at the given rows, on as many threads as there may be."""
    if len(starts) > 1 and (count := threads()) > 1:
        return list(_pool(count).map(work, starts))
    return [work(start) for start in starts]


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="gough")


if hasattr(os, "register_at_fork"):  # a forked child has the pool but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
