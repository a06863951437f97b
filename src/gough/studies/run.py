"""Run a study: in this process, in several, or on a Dask cluster; finished parts are not done again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.base.arrays import Array
from gough.errors import GoughError, InputError
from gough.studies.evaluate import Outcome, compute
from gough.studies.plan import Plan
from gough.studies.store import Store

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


def run(
    plan: Plan,
    path: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Store:
    """Run a study, or what is left of it, into a folder; returns it finished.

    One process by default, whose models use GOUGH_THREADS threads; `jobs` processes of one thread, or
    the workers of a Dask `scheduler` ("tcp://host:port"). All give the same bits.
    """
    if jobs is not None and scheduler is not None:
        raise InputError(
            "jobs are processes here, a scheduler has workers of its own: give one of them"
        )
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs is {jobs}, needs 1 or more")
    store = Store(path, plan)
    told = progress or (lambda *_: None)
    if plan.search is not None:
        from gough.studies.optimise import optimise

        with workers(plan, jobs, scheduler) as pool:
            optimise(plan, store, pool, told)
        return store
    done, failed = _state(store)
    told(done, plan.points, failed)
    left = np.flatnonzero(~store.finished)
    if not left.size:
        return store
    inputs = store.all_inputs()
    with workers(plan, jobs, scheduler) as pool:
        for job, outcome in pool(Job(int(part), inputs[plan.rows(int(part))]) for part in left):
            store.write(job.part, outcome)
            done += len(job.inputs)
            failed += sum(map(bool, outcome.reasons))
            told(done, plan.points, failed)
    return store


def _state(store: Store) -> tuple[int, int]:
    """Finished and failed points so far."""
    done = failed = 0
    for part in np.flatnonzero(store.finished):
        outcome = store.outcome(int(part))
        done += len(outcome.reasons)
        failed += sum(map(bool, outcome.reasons))
    return done, failed


def workers(plan: Plan, jobs: int | None, scheduler: str | None) -> AbstractContextManager[Workers]:
    """What computes the parts of a plan."""
    if scheduler is not None:
        from gough.studies.dask_run import dask_workers

        return dask_workers(plan, scheduler)
    return _here(plan) if jobs in (None, 1) else _processes(plan, int(jobs or 1))


@contextmanager
def _here(plan: Plan) -> Iterator[Workers]:
    digest = plan.recipe.digest()

    def work(jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, compute(digest, plan.recipe, job.inputs)

    yield work


@contextmanager
def _processes(plan: Plan, count: int) -> Iterator[Workers]:
    digest = plan.recipe.digest()
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:

        def work(jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
            def submit(job: Job) -> Future[Outcome]:
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
            pool.shutdown(wait=False, cancel_futures=True)
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
