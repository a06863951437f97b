"""What computes the parts of a study: this process, or several."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, NamedTuple, Protocol

from gough.base.arrays import Array
from gough.errors import GoughError
from gough.studies.evaluate import Outcome, compute
from gough.studies.plan import Plan

Progress = Callable[[int, int, int], None]
"""Told finished points, all points, and failed points."""


class Job(NamedTuple):
    """A part to compute."""

    part: int
    inputs: Array


class LostWorkersError(GoughError):
    """Workers or their scheduler are gone; finished parts are on disk."""


class Workers(Protocol):
    """Computes parts in any order."""

    def __call__(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Outcomes as they come."""


@contextmanager
def here(plan: Plan) -> Iterator[Workers]:
    """Computes parts one after the other in this process."""
    digest = plan.recipe.digest()

    def work(jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, compute(digest, plan.recipe, job.inputs)

    yield work


def end_with(alive: Connection) -> None:
    """Make this process end as soon as the one that started it has, however, or gives it up.

    Ctrl-C reaches all processes of a terminal; the one that started the others sees to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        wait_for([alive])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _deaf() -> Iterator[None]:
    """While processes are started that do not hear Ctrl-C, also before they come to `end_with`."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(plan: Plan, count: int) -> Iterator[Workers]:
    """Computes parts in `count` processes of one thread; a block that fails ends them at once."""
    digest = plan.recipe.digest()
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    with theirs, ours, ProcessPoolExecutor(count, context, end_with, (theirs,)) as pool:

        def work(jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
            def submit(job: Job) -> Future[Outcome]:
                with _deaf():
                    return pool.submit(compute, digest, plan.recipe, job.inputs, 1)

            def next_of(pending: Any) -> Any:
                return wait(pending, return_when=FIRST_COMPLETED).done

            try:
                yield from windowed(jobs, submit, next_of, 2 * count)
            except BrokenProcessPool:
                raise LostWorkersError(
                    "a process has died; what it had not finished is not written: "
                    "run the same command again to go on"
                ) from None

        try:
            yield work
        except BaseException:
            ours.close()
            raise


def windowed(
    jobs: Iterable[Job],
    submit: Callable[[Job], Any],
    next_of: Callable[[Any], Any],
    width: int,
) -> Iterator[tuple[Job, Outcome]]:
    """Keep `width` jobs under way; yield each as it ends."""
    waiting = iter(jobs)
    pending: dict[Any, Job] = {}
    while True:
        for job in waiting:
            pending[submit(job)] = job
            if len(pending) >= width:
                break
        if not pending:
            return
        for future in next_of(list(pending)):
            job = pending.pop(future)
            yield job, Outcome(*future.result())
