"""What is repeated, on NumPy arrays: the passes of fixed points and iterations from outside of a step.

For engines and programs that have no loop of their own inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import (
    PASSES,
    RESIDUAL,
    FixedPoint,
    Function,
    Iteration,
    fixed_point_of,
    iteration_of,
)
from gough.engine.run.threads import spread

CHUNK = 2048
"""Rows that are repeated together; their unknowns stay in the processor's cache."""

Run = Callable[[Function, int, Mapping[str, Array]], dict[str, Array]]


def is_repeated(function: Function) -> bool:
    """Whether a function is a fixed point or an iteration."""
    return fixed_point_of(function) is not None or iteration_of(function) is not None


def repeat(
    run: Run, function: Function, rows: int, fields: Mapping[str, Array]
) -> dict[str, Array]:
    """Outputs (rows, ...) of a fixed point or an iteration, from an executor of its step."""
    point, iteration = fixed_point_of(function), iteration_of(function)

    def work(start: int) -> dict[str, Array]:
        count = min(CHUNK, rows - start)
        chunk = {n: v if len(v) == 1 else v[start : start + count] for n, v in fields.items()}
        with np.errstate(all="ignore"):
            if point is not None:
                return _settled(run, point, count, chunk)
            assert iteration is not None
            return _gone(run, iteration, count, chunk)

    parts = spread(work, range(0, max(rows, 1), CHUNK))
    if len(parts) == 1:
        return dict(parts[0])
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _gone(
    run: Run, iteration: Iteration, rows: int, fields: Mapping[str, Array]
) -> dict[str, Array]:
    """Steps of rows that have to go on."""
    now = {
        old: np.broadcast_to(fields[old], (rows, *fields[old].shape[1:])).copy()
        for old, _ in iteration.replaced
    }
    active, out = np.arange(rows), {PASSES: np.zeros(rows)}
    for left in reversed(range(iteration.most)):
        part = {n: v if len(v) == 1 else v[active] for n, v in {**fields, **now}.items()}
        found = run(iteration.step, len(active), part)
        new = {old: found.pop(name) for old, name in iteration.replaced}
        open_ = found.pop(iteration.test) > 0  # NaN is not
        for name, value in found.items():
            if name not in out:
                out[name] = np.empty((rows, *value.shape[1:]))
            out[name][active] = value
        if not left or not open_.any():
            break
        active = active[open_]
        out[PASSES][active] += 1
        for name, value in new.items():
            now[name][active] = value[open_]
    return out


def _settled(
    run: Run, point: FixedPoint, rows: int, fields: Mapping[str, Array]
) -> dict[str, Array]:
    """Passes over rows that have not settled; a row does not depend on its neighbours."""
    rest = {name: value for name, value in fields.items() if name != point.unknown}
    given = fields.get(point.unknown)
    if given is None:
        given = run(point.step, rows, rest | {point.unknown: np.zeros((1, *point.shape))})[
            point.image
        ]
    now = np.broadcast_to(given, (rows, *point.shape))
    active = np.arange(rows)
    out: dict[str, Array] = {}
    last, last_size, factor = np.zeros_like(now), np.zeros(rows), np.ones(rows)
    for done in range(1, point.most + 1):
        found = run(point.step, len(active), rest | {point.unknown: now})
        new = found.pop(point.image)
        change = new - now
        size = _inner(change, change)
        open_ = size / _or_one(_inner(new, new)) > point.tolerance**2  # NaN is not
        ends = np.flatnonzero(~open_) if done < point.most else np.arange(len(active))
        if ends.size or not out:
            found[RESIDUAL] = _largest(change) / _or_one(_largest(new))
            for name, value in found.items():
                if name not in out:
                    out[name] = np.empty((rows, *value.shape[1:]))
                out[name][active[ends]] = value[ends]
        if len(ends) == len(active):
            break
        if done > 1:
            across = _inner(change, last)
            turn = (size - across) + (last_size - across)
            factor = factor * (last_size - across) / _or_one(turn)
        # a row that has settled stays as it is; when most have, the others go on alone
        each = (-1, *[1] * len(point.shape))
        moved = now + factor.reshape(each) * change
        now, last, last_size = np.where(open_.reshape(each), moved, now), change, size
        if 2 * len(ends) > len(active):
            active, now, last = active[open_], now[open_], last[open_]
            last_size, factor = last_size[open_], factor[open_]
            rest = {n: v if len(v) == 1 else v[open_] for n, v in rest.items()}
    return out


def _inner(a: Array, b: Array) -> Array:
    """a·b row by row; terms in order, unlike in a sum, so that a row is the same in any batch."""
    terms = (a * b).reshape(len(a), prod(a.shape[1:]))
    return np.cumsum(terms, axis=1)[:, -1]


def _largest(values: Array) -> Array:
    return np.asarray(np.abs(values).max(axis=tuple(range(1, values.ndim)), initial=0.0))


def _or_one(values: Array) -> Array:
    return np.where(values == 0, 1.0, values)
