"""Run a study: in this process, in several, or on a Dask cluster; finished parts are not done again."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

import numpy as np

from gough.errors import InputError
from gough.studies.dask_run import dask_workers
from gough.studies.optimise import optimise
from gough.studies.plan import Plan
from gough.studies.store import Store
from gough.studies.workers import Job, Progress, Workers, here, processes

MOST_JOBS = 1000
"""Processes of one machine."""


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
    if jobs is not None and not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"jobs is {jobs}, must be 1 to {MOST_JOBS}")
    store = Store(path, plan)
    told = progress or (lambda *_: None)
    with store.alone():
        if plan.search is not None:
            with workers(plan, jobs, scheduler) as pool:
                optimise(plan, store, pool, told)
        else:
            _sweep(plan, store, told, jobs, scheduler)
    return store


def _sweep(
    plan: Plan, store: Store, told: Progress, jobs: int | None, scheduler: str | None
) -> None:
    done, failed = _state(store)
    told(done, plan.points, failed)
    left = np.flatnonzero(~store.finished)
    if not left.size:
        return
    with workers(plan, jobs, scheduler) as pool:
        for job, outcome in pool(Job(int(part), store.inputs(int(part))) for part in left):
            store.write(job.part, outcome)
            done += len(job.inputs)
            failed += sum(map(bool, outcome.reasons))
            told(done, plan.points, failed)


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
        return dask_workers(plan, scheduler)
    return here(plan) if jobs in (None, 1) else processes(plan, int(jobs or 1))
