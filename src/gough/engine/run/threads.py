"""Threads over the parts of a batch."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from queue import SimpleQueue
from threading import Thread
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
    """Do the parts of a batch that start at the given rows, on as many threads as there may be.

    The caller is one of them: it waits for nothing but parts that others have begun, so a batch ends
    also where no other thread is to be had. An interrupt (Ctrl-C) leaves the parts that none has begun.
    """
    if len(starts) < 2 or (count := threads()) < 2:
        return [work(start) for start in starts]
    parts = _Parts(work, starts)
    waiting, others = _crew(count - 1)
    try:
        for _ in range(min(others, len(starts) - 1)):
            waiting.put(parts.do)
        parts.do()
        parts.over.get()
    except BaseException:
        parts.left = True
        raise
    ended = dict(parts.ended)
    results = [ended[start] for start in starts]
    errors = [one for one in results if isinstance(one, BaseException)]
    if errors:  # the first, but interrupts before others
        raise min(errors, key=lambda one: isinstance(one, Exception))
    return results


class _Parts:
    """Parts of a batch that threads share.

    All that the caller touches is done in one piece by the interpreter. Locks that are written in
    Python, like those of `concurrent.futures`, can be left taken by an interrupt, for ever.
    """

    def __init__(self, work: Callable[[int], Any], starts: Sequence[int]) -> None:
        self._work, self._count = work, len(starts)
        self._waiting = deque(starts)
        self.ended: list[tuple[int, Any]] = []
        """Starts, and what came of them: a result or an exception."""
        self.over: SimpleQueue[None] = SimpleQueue()
        self.left = False

    def do(self) -> None:
        """Do parts until none waits."""
        while True:
            try:
                start = self._waiting.popleft()
            except IndexError:
                return
            try:
                result = None if self.left else self._work(start)
            except Exception as error:
                result = error
            except BaseException as error:
                result, self.left = error, True
            self.ended.append((start, result))
            if len(self.ended) == self._count:
                self.over.put(None)


@cache
def _crew(count: int) -> tuple[SimpleQueue[Callable[[], None] | None], int]:
    """Where so many threads wait for what they are to do, None ends one; and how many there are."""
    waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def serve() -> None:
        while (do := waiting.get()) is not None:
            do()
            del do  # and with it the arrays of a batch

    crew: list[Thread] = []
    with contextlib.suppress(RuntimeError):  # no more threads: of this user, or as Python ends
        for i in range(count):
            one = Thread(target=serve, name=f"gough_{i}", daemon=True)
            one.start()
            crew.append(one)

    def end() -> None:  # none may be in a kernel while Python takes kernels down
        for _ in crew:
            waiting.put(None)
        for one in crew:
            one.join()

    atexit.register(end)
    return waiting, len(crew)


if hasattr(os, "register_at_fork"):  # a forked child has the crew's queue but not its threads
    os.register_at_fork(after_in_child=_crew.cache_clear)
