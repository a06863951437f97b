"""Running programs over rows of states: compiled where LLVM is there, chunked NumPy where not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.mechanics.equation import Mechanism
from gough.mechanics.friction import Friction, consistent
from gough.mechanics.state import ELASTIC_FIELDS, RIGID_FIELDS, State

Function = Callable[..., Mapping[str, Array]]

LARGEST = 1e60
"""Inputs whose sum is not below are not finite, or beyond all reason: such a state has no margin."""
CHUNK = 2048
"""Rows of a NumPy chunk: its work arrays stay in the processor's cache."""


FRICTION_CHUNK = 2048
"""Rows that go through the friction loop together; their loads stay in the processor's cache."""

VARIANT = "variant"
"""The field that says which of several robots a row belongs to."""


class Executor(Protocol):
    """Evaluates functions of one robot over rows of states."""

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name; fields (rows or 1, ...) by name, the state's and others."""


def executor(mechanism: Mechanism, variants: bool = False) -> Executor:
    """The fastest executor there is: compiled, unless llvmlite is missing or GOUGH_ENGINE=numpy.

    With `variants` the mechanism has robots on the last axis of its arrays; see `engine.variants`.
    """
    wanted = os.environ.get("GOUGH_ENGINE", "llvm")
    if wanted not in ("llvm", "numpy"):
        raise InputError(f"GOUGH_ENGINE is 'llvm' or 'numpy', not {wanted!r}")
    if wanted == "llvm":
        with contextlib.suppress(ImportError, OSError):  # llvmlite is missing or cannot load LLVM
            from gough.engine.run.compiled import CompiledExecutor
            from gough.engine.run.variants import CompiledVariants

            return CompiledVariants(mechanism) if variants else CompiledExecutor(mechanism)
    return NumPyExecutor(mechanism)


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


def threads() -> int:
    """Threads to use: as asked for in the call, GOUGH_THREADS, or one a core."""
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


class NumPyExecutor:
    """The equations themselves on component-first arrays, chunk by chunk."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def __call__(
        self, function: Function, rows: int, fields: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs (rows, ...) by name."""
        out: dict[str, Array] = {}
        for start in range(0, max(rows, 1), CHUNK):
            stop = min(start + CHUNK, rows)
            parts = {
                name: np.broadcast_to(value, (stop - start, *value.shape[1:]))
                if len(value) == 1
                else value[start:stop]
                for name, value in fields.items()
            }
            which = parts.pop(VARIANT, None)
            mechanism = self.mechanism if which is None else _chosen(self.mechanism, which)
            chunk = {name: np.moveaxis(value, 0, -1) for name, value in parts.items()}
            state = State(*(np.expand_dims(chunk.pop(name), -2) for name in RIGID_FIELDS))
            if self.mechanism.flexible is not None:
                state = state._replace(**{name: chunk.pop(name) for name in ELASTIC_FIELDS})
            with np.errstate(all="ignore"):
                results = function(mechanism, state, **chunk)
                if "margin" in results:
                    whole = sum(
                        value.sum(axis=tuple(range(1, value.ndim))) for value in parts.values()
                    )
                    margin = np.minimum(results["margin"], LARGEST - np.abs(whole))
                    results = {**results, "margin": margin}
            for name, result in results.items():
                value = np.moveaxis(result, -1, 0)
                if name not in out:
                    out[name] = np.empty((rows, *value.shape[1:]))
                out[name][start:stop] = value
        return out


def _chosen(mechanism: Mechanism, which: Array) -> Mechanism:
    from gough.engine.run.variants import chosen

    return chosen(mechanism, which)


def with_friction(
    run: Executor,
    function: Function,
    rows: int,
    fields: Mapping[str, Array],
    friction: Friction,
) -> tuple[dict[str, Array], Array]:
    """A function's outputs under loads that agree with the friction they cause, and the residual."""
    out: dict[str, Array] = {}
    residual = np.empty(rows)

    def work(start: int) -> dict[str, Array]:
        count = min(FRICTION_CHUNK, rows - start)
        chunk = {n: v if len(v) == 1 else v[start : start + count] for n, v in fields.items()}

        def respond(loads: Array, which: Array) -> tuple[Array, Array]:
            part = chunk
            if len(which) < count:
                part = {n: v if len(v) == 1 else v[which] for n, v in chunk.items()}
            found = run(function, len(which), part | {"loads": loads})
            return found["caused"], found["vectors"]

        with np.errstate(all="ignore"):
            found = consistent(respond, count, friction)
        residual[start : start + count] = found.residual
        return run(function, count, chunk | {"loads": found.loads})

    parts = spread(work, range(0, max(rows, 1), FRICTION_CHUNK))
    for name in parts[0]:
        if name not in ("caused", "vectors"):
            out[name] = np.concatenate([part[name] for part in parts])
    return out, residual
