"""Parts of a study on the workers of a Dask scheduler; a worker that dies costs its parts' time only."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from gough.errors import MissingDataError
from gough.studies.evaluate import Outcome, compute
from gough.studies.plan import Plan
from gough.studies.workers import Job, LostWorkersError, Workers, windowed

PATIENCE = 30.0
"""Seconds to wait for a scheduler, for its first worker, and for news of a scheduler that is silent."""


@contextmanager
def dask_workers(plan: Plan, address: str, patience: float = PATIENCE) -> Iterator[Workers]:
    """Computes parts on the workers of the scheduler at an address, tcp://host:port."""
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingDataError(
            "a scheduler needs dask and distributed: pip install 'gough[studies]'"
        ) from None
    digest = plan.recipe.digest()
    settings = {
        "distributed.comm.timeouts.connect": patience,
        "distributed.client.scheduler-info-interval": "1s",
        "distributed.admin.low-level-log-length": 0,
    }
    with dask.config.set(settings), _quiet():
        try:
            connect: Any = distributed.Client
            client = connect(address, timeout=patience, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise LostWorkersError(
                f"{address}: no Dask scheduler answers: {str(error)[:100]}"
            ) from None
        try:
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise LostWorkersError(f"{address}: the scheduler has no workers") from None
            yield lambda jobs: _work(client, digest, plan, jobs, address)
        finally:
            with suppress(Exception):
                client.close(timeout=2)


@contextmanager
def _quiet() -> Iterator[None]:
    """What the client logs of a lost scheduler, tracebacks and all, is said in one line here."""
    loggers = [logging.getLogger(f"distributed{part}") for part in ("", ".client", ".core")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _work(
    client: Any, digest: str, plan: Plan, jobs: Iterable[Job], address: str
) -> Iterator[tuple[Job, Outcome]]:
    import distributed
    from distributed.comm.core import CommClosedError

    wait: Any = distributed.wait

    def submit(job: Job) -> Any:
        if client.status != "running":
            raise ConnectionError
        return client.submit(compute, digest, plan.recipe, job.inputs, 1, pure=False)

    def next_of(pending: list[Any]) -> Any:
        while True:
            try:
                with client.as_current():
                    return wait(pending, timeout=1.0, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                if client.status != "running":
                    raise ConnectionError from None

    cores = sum(client.nthreads().values())
    try:
        yield from windowed(jobs, submit, next_of, max(4, 3 * cores))
    except distributed.KilledWorker as error:
        raise LostWorkersError(
            f"{address}: workers keep dying over one part ({str(error)[:80]}); "
            "run the same command again to go on"
        ) from None
    except (OSError, distributed.CancelledError, CommClosedError):
        raise LostWorkersError(
            f"{address}: the scheduler is gone; finished parts are kept: "
            "run the same command again to go on"
        ) from None
