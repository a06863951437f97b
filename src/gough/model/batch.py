"""Batches: any shape of states in, the same shape of answers out; bad samples become errors or NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import LARGEST, Array, given_numbers
from gough.errors import Failure, InputError, NotFiniteError, SampleError
from gough.mechanics.state import RIGID_FIELDS
from gough.motion import Motion, need_motion

OnError = Literal["raise", "nan"]
Inputs = dict[str, tuple[ArrayLike, tuple[int, ...]]]
"""Further inputs of a program by name, each with the shape of one sample."""
STATE_RANKS = {name: 2 if name == "rotation" else 1 for name in RIGID_FIELDS}
_of_state = attrgetter(*STATE_RANKS)


class Rows(NamedTuple):
    """A batch laid out in rows."""

    shape: tuple[int, ...]
    rows: int
    fields: dict[str, Array]
    """(rows, ...) each, or (1, ...) where all rows are the same."""


class Trouble(NamedTuple):
    """One row without an answer, and why."""

    row: int
    leg: int | None
    """Counted from 0."""
    error: type[SampleError]
    reason: str


def lay_out(motion: Motion, given: Mapping[str, tuple[ArrayLike, tuple[int, ...]]]) -> Rows:
    """Rows of a motion's fields and of further inputs, which come with the shape of one sample."""
    need_motion(motion)
    arrays = {name: getattr(motion, name) for name in STATE_RANKS}
    shape, batched = motion.shape, False
    for name, (value, core) in given.items():
        arrays[name] = array = _core(name, value, core)
        batched = batched or array.ndim > len(core)
    if not shape and not batched:
        return Rows(shape, 1, {name: value[np.newaxis] for name, value in arrays.items()})
    ranks = STATE_RANKS | {name: len(core) for name, (_, core) in given.items()}
    if batched:
        batches = {name: arrays[name].shape[: arrays[name].ndim - ranks[name]] for name in given}
        try:
            shape = np.broadcast_shapes(shape, *batches.values())
        except ValueError:
            raise InputError(
                f"the batch axes do not fit: motion {motion.shape}, "
                + ", ".join(f"{name} {one}" for name, one in batches.items())
            ) from None
    count = math.prod(shape)
    fields = {name: _rows(value, shape, count, ranks[name]) for name, value in arrays.items()}
    return Rows(shape, count, fields)


def one_state(motion: Motion, given: Inputs) -> dict[str, Array] | None:
    """Fields as `lay_out` finds them, of one state, without the axis of rows; None of a batch."""
    if motion.shape:
        return None
    fields: dict[str, Array] = dict(zip(STATE_RANKS, _of_state(motion)))  # noqa: B905
    for name, (value, core) in given.items():
        fields[name] = array = _core(name, value, core)
        if array.ndim > len(core):
            return None
    return fields


def last_axis(name: str, value: ArrayLike, length: int) -> Array:
    """An array whose last axis has the given length."""
    return _core(name, value, (length,))


def one_wrench(value: ArrayLike) -> Array:
    """A wrench (6,), the same for all samples."""
    array = last_axis("wrench", value, 6)
    if array.shape != (6,):
        raise InputError(f"wrench has shape {array.shape}, needs (6,)")
    if not np.all(np.abs(array) < LARGEST):
        raise InputError(f"wrench is {array.tolist()}, needs finite numbers under {LARGEST:g}")
    return array


def yes_or_no(name: str, value: bool) -> bool:
    """A switch, which must be one."""
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise InputError(f"{name} is True or False, not {value!r}"[:120])
    return bool(value)


def check_on_error(on_error: OnError) -> None:
    """Refuse what is neither of the two."""
    if not isinstance(on_error, str) or on_error not in ("raise", "nan"):
        raise InputError(f"on_error is 'raise' or 'nan', not {on_error!r}"[:120])


def _core(name: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    array = given_numbers(name, value)
    if array.ndim < len(core) or array.shape[array.ndim - len(core) :] != core:
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"{name} has shape {array.shape}, needs ({wanted})")
    return array


def _rows(value: Array, shape: tuple[int, ...], count: int, rank: int) -> Array:
    """(count, ...) or, if all samples are the same, (1, ...); copied only where it must be."""
    batch = value.ndim - rank
    leading, core = value.shape[:batch], value.shape[batch:]
    steps = zip(value.strides, leading, strict=False)
    if count and value.size and not any(stride and length > 1 for stride, length in steps):
        return np.asarray(value[(0,) * batch])[np.newaxis]
    if leading != shape:
        value = np.broadcast_to(value, shape + core)
    return value if len(shape) == 1 else value.reshape(count, *core)


def not_finite(rows: Rows) -> list[Trouble]:
    """Rows with NaN or infinity in any input."""
    troubles: list[Trouble] = []
    seen: set[int] = set()
    for name, value in rows.fields.items():
        if abs(value).max(initial=0.0) < LARGEST:  # NaN is not
            continue
        sound = np.abs(value) < LARGEST
        bad = np.asarray(~sound.reshape(len(value), -1).all(axis=1))
        alike = len(value) == 1
        for row in range(rows.rows) if alike else np.flatnonzero(bad):
            if int(row) not in seen:
                seen.add(int(row))
                reason = f"{name} is not finite"
                troubles.append(Trouble(int(row), None, NotFiniteError, reason))
    return troubles


def settle(
    rows: Rows, out: dict[str, Array], troubles: Iterable[Trouble], on_error: OnError
) -> dict[str, Array]:
    """Give the outputs their batch shape; rows in trouble raise, or are NaN where that is asked for.

    Of several kinds of trouble the first raises, with all its samples.
    """
    check_on_error(on_error)
    found = list(troubles)
    if not found and not rows.shape:
        return {name: value[0] for name, value in out.items()}
    if found and on_error == "raise":
        kind = found[0].error
        raise kind(
            [
                Failure(
                    tuple(int(i) for i in np.unravel_index(one.row, rows.shape))
                    if rows.shape
                    else (),
                    None if one.leg is None else one.leg + 1,
                    one.reason,
                )
                for one in found
                if one.error is kind
            ]
        )
    if found:
        failed = [one.row for one in found]
        for value in out.values():
            value[failed] = np.nan
    return {name: value.reshape(rows.shape + value.shape[1:]) for name, value in out.items()}
