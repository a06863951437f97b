"""Batches: any shape of states in, the same shape of answers out, in chunks of bounded memory.

The equations work component-first on (3, 1, samples) arrays; this is the seam to the batch-first
arrays that users hold. Bad samples become errors, or NaN where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.dynamics import State
from gough.errors import Failure, InputError, NotFiniteError, SampleError
from gough.motion import Array, Motion

CHUNK = 2048
"""Samples a chunk: its work arrays stay in the processor's cache."""

OnError = Literal["raise", "nan"]


class Trouble(NamedTuple):
    """A measure that says which samples have no answer."""

    bad: Array
    """True where there is none: (samples,) or (legs, samples)."""
    error: type[SampleError]
    reason: Callable[[tuple[int, ...]], str]
    """What is wrong at an index of `bad`."""


class Answer(NamedTuple):
    """What a model returns for a chunk: arrays with samples on the last axis, and the troubles."""

    values: Mapping[str, Array]
    troubles: Iterable[Trouble] = ()


Model = Callable[..., Answer]


def run(
    model: Model,
    motion: Motion,
    on_error: OnError,
    extra: Mapping[str, tuple[ArrayLike | None, int]] | None = None,
) -> dict[str, Array]:
    """Evaluate a model over all samples of a motion.

    `extra` names further inputs of the model and their last axis, e.g. {"wrench": (w, 6)}; they
    broadcast against the motion's batch and reach the model as (length, samples), or None.
    """
    if not isinstance(motion, Motion):
        raise InputError(f"needs a gough.Motion, has {type(motion).__name__}")
    if on_error not in ("raise", "nan"):
        raise InputError(f"on_error is 'raise' or 'nan', not {on_error!r}")
    given = {
        name: None if value is None else last_axis(name, value, length)
        for name, (value, length) in (extra or {}).items()
    }
    shapes = {name: value.shape[:-1] for name, value in given.items() if value is not None}
    try:
        shape = np.broadcast_shapes(motion.shape, *shapes.values())
    except ValueError:
        raise InputError(
            f"the batch axes do not fit: motion {motion.shape}, "
            + ", ".join(f"{name} {one}" for name, one in shapes.items())
        ) from None
    fields = {name: getattr(motion, name) for name in State._fields}
    pickers = {name: _picker(value, shape, 2 if name == "rotation" else 1)
               for name, value in fields.items()}  # fmt: skip
    pickers |= {
        name: _picker(value, shape, 1) for name, value in given.items() if value is not None
    }
    samples = int(np.prod(shape))
    out: dict[str, Array] = {}
    for start in range(0, max(samples, 1), CHUNK):
        stop = min(start + CHUNK, samples)
        chunk = {name: np.moveaxis(pick(start, stop), 0, -1) for name, pick in pickers.items()}
        state = State(**{name: np.expand_dims(chunk[name], -2) for name in State._fields})
        with np.errstate(all="ignore"):
            answer = model(state, **{name: chunk.get(name) for name in given})
        finite = np.all(
            [np.isfinite(value).reshape(-1, stop - start).all(axis=0) for value in chunk.values()],
            axis=0,
        )
        failed = _failed(answer, ~finite, fields | given, shape, start, on_error)
        for name, value in answer.values.items():
            value = np.moveaxis(np.broadcast_to(value, (*value.shape[:-1], stop - start)), -1, 0)
            if name not in out:
                out[name] = np.empty((samples, *value.shape[1:]))
            out[name][start:stop] = value
            out[name][start:stop][failed] = np.nan
    return {name: value.reshape(shape + value.shape[1:]) for name, value in out.items()}


def last_axis(name: str, value: ArrayLike, length: int) -> Array:
    """An array whose last axis has the given length."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not an array of numbers") from None
    if array.ndim == 0 or array.shape[-1] != length:
        raise InputError(f"{name} has shape {array.shape}, needs (..., {length})")
    return array


def _picker(value: Array, shape: tuple[int, ...], rank: int) -> Callable[[int, int], Array]:
    """Flat samples start to stop of a field, without copying all of it."""
    core = value.shape[value.ndim - rank :]
    value = np.broadcast_to(value, shape + core)
    if value.flags.c_contiguous:
        flat = value.reshape(int(np.prod(shape)), *core)
        return lambda start, stop: flat[start:stop]

    def pick(start: int, stop: int) -> Array:
        if not shape:
            return value[np.newaxis]
        return np.asarray(value[np.unravel_index(np.arange(start, stop), shape)])

    return pick


def _failed(
    answer: Answer,
    not_finite: Array,
    fields: Mapping[str, Array | None],
    shape: tuple[int, ...],
    start: int,
    on_error: OnError,
) -> Array:
    """Which samples of the chunk failed; raises for the first kind of trouble if asked to."""

    def index(sample: int) -> tuple[int, ...]:
        return tuple(int(i) for i in np.unravel_index(start + sample, shape)) if shape else ()

    def name_culprit(sample: tuple[int, ...]) -> str:
        for name, value in fields.items():
            if value is None:
                continue
            rank = 2 if name == "rotation" else 1
            full = np.broadcast_to(value, shape + value.shape[value.ndim - rank :])
            if not np.all(np.isfinite(full[sample])):
                return f"{name} is not finite"
        raise AssertionError

    failed = np.array(not_finite)
    if on_error == "raise" and np.any(failed):
        samples = [index(int(i)) for i in np.flatnonzero(failed)]
        raise NotFiniteError([Failure(one, None, name_culprit(one)) for one in samples])
    for trouble in answer.troubles:
        bad = np.asarray(trouble.bad, dtype=bool)
        per_sample = bad.reshape(-1, bad.shape[-1]).any(axis=0) & ~failed
        if on_error == "raise" and np.any(per_sample):
            failures = []
            for i in np.flatnonzero(per_sample):
                leg = int(np.argmax(bad[:, i])) if bad.ndim == 2 else None
                place = (int(i),) if leg is None else (leg, int(i))
                failures.append(
                    Failure(index(int(i)), None if leg is None else leg + 1, trouble.reason(place))
                )
            raise trouble.error(failures)
        failed |= per_sample
    return failed
