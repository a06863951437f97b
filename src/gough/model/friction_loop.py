"""The loop that makes friction agree with the loads it depends on (`gough.mechanics.friction`).

For given load magnitudes s the model is linear, so one pass maps s to new reactions, affine in s; the
loop seeks s = |V0 + G s|.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.engine.run.execute import Executor
from gough.engine.run.threads import spread
from gough.mechanics.friction import Friction, magnitudes
from gough.mechanics.vectors import Components, or_one

CHUNK = 2048
"""Rows that go through the loop together; their loads stay in the processor's cache."""
TOLERANCE = 1e-13
"""Residual, relative to the largest load, at which the loop stops."""
WORST_RESIDUAL = 1e-12
"""Residual above which there is no answer."""
PLAIN_PASSES = 6
MOST_PASSES = 25
MOST_NEWTON_STEPS = 60


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
        count = min(CHUNK, rows - start)
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

    parts = spread(work, range(0, max(rows, 1), CHUNK))
    for name in parts[0]:
        if name not in ("caused", "vectors"):
            out[name] = np.concatenate([part[name] for part in parts])
    return out, residual


class Consistent(NamedTuple):
    """Loads that agree with the friction they cause."""

    loads: Components
    """(rows, 3, legs)."""
    residual: Components
    """Largest disagreement over the largest load, (rows,)."""


Respond = Callable[[Components, Components], tuple[Components, Components]]
"""Maps loads (n, 3, legs) of the rows with the given numbers (n,) to the loads they cause and to the
vectors V (n, 8, legs) behind these: F_A, F_B, u·N, v·N, which are affine in the loads."""


def consistent(respond: Respond, rows: int, friction: Friction) -> Consistent:
    """Solve s = |V(s)| for the load magnitudes s.

    Plain passes first; they contract by about k/l each. Where these do not suffice, a secant through
    the last two passes (Anderson 1965) takes out the slowest part of what is left; rows that still
    contract slowly go to Newton's method on the affine map.
    """
    legs = len(friction.width)
    every = np.arange(rows)
    loads, _ = respond(np.zeros((rows, 3, legs)), every)
    residual = np.zeros(rows)
    feeds_back = any(
        np.any(one)
        for one in (friction.universal_coulomb, friction.spherical_coulomb, friction.slider_coulomb)
    )
    if not feeds_back:
        return Consistent(loads, residual)
    active, now, before = every, loads, (loads, loads)
    for done in range(MOST_PASSES):
        new, _ = respond(now, active)
        residual[active] = disagreement = _residual(new, now)
        loads[active] = now
        open_ = ~((disagreement <= TOLERANCE) | np.isnan(disagreement))
        active, new, change = active[open_], new[open_], (new - now)[open_]
        if not active.size:
            return Consistent(loads, residual)
        now = new
        if done >= PLAIN_PASSES:
            now = _secant(new, change, *(one[open_] for one in before))
        before = new, change
    loads[active] = _newton(respond, active, legs)
    new, _ = respond(loads[active], active)
    residual[active] = _residual(new, loads[active])
    return Consistent(loads, residual)


def _secant(
    new: Components, change: Components, last: Components, last_change: Components
) -> Components:
    """s' = g − θ (g − g₋), θ = f·(f − f₋)/‖f − f₋‖²: the change f = g − s made least along a line.

    Row by row and term by term, so that a row does not depend on its neighbours; loads stay ≥ 0.
    """
    turn = change - last_change

    def inner(a: Components, b: Components) -> Components:
        terms = (a * b).reshape(len(a), -1)
        return np.cumsum(terms, axis=1)[:, -1, np.newaxis, np.newaxis]  # in order, unlike sum

    theta = inner(change, turn) / or_one(inner(turn, turn))
    return np.asarray(np.maximum(new - theta * (new - last), 0.0))


def _residual(new: Components, old: Components) -> Components:
    change = np.abs(new - old).max(axis=(1, 2), initial=0.0)
    largest = np.abs(new).max(axis=(1, 2), initial=0.0)
    return np.asarray(change / or_one(largest))


def _newton(respond: Respond, rows: Components, legs: int) -> Components:
    """Damped Newton on s − |V0 + G s| for some rows; G column by column, exactly."""
    kinds, count = 3, len(rows)
    unknowns = kinds * legs
    start = respond(np.zeros((count, kinds, legs)), rows)[1]
    columns = []
    for place in range(unknowns):
        probe = np.zeros((count, unknowns))
        probe[:, place] = 1.0
        columns.append(respond(probe.reshape(count, kinds, legs), rows)[1] - start)
    gain = np.stack(columns, axis=-1)  # (rows, 8, legs, unknowns)

    def vectors(s: Components) -> Components:
        return np.asarray(start + (gain * s[:, np.newaxis, np.newaxis]).sum(axis=-1))

    def size(s: Components) -> Components:
        return np.moveaxis(magnitudes(np.moveaxis(vectors(s), 0, -1)), -1, 0).reshape(
            count, unknowns
        )

    best = size(np.zeros((count, unknowns)))
    wrong = best - size(best)
    for _ in range(MOST_NEWTON_STEPS):
        error = np.abs(wrong).max(axis=1)
        scale = np.abs(best).max(axis=1) + 1e-300
        unsolved = error > 0.01 * TOLERANCE * scale
        if not np.any(unsolved):
            break
        slope = np.eye(unknowns) - _slopes(vectors(best), gain)
        step = np.zeros_like(best)
        # solved rows rest: what a row gets must not depend on its neighbours
        for i in np.flatnonzero(np.isfinite(slope).all(axis=(1, 2)) & unsolved):
            step[i] = np.linalg.lstsq(slope[i], wrong[i], rcond=None)[0]
        damping = np.ones(count)
        for _ in range(12):
            trial = best - damping[:, np.newaxis] * step
            worse = np.abs(trial - size(trial)).max(axis=1) > error
            if not np.any(worse):
                break
            damping = np.where(worse, damping / 2, damping)
        best = trial
        wrong = best - size(best)
    return best.reshape(count, kinds, legs)


def _slopes(vectors: Components, gain: Components) -> Components:
    """d|V|/ds, (rows, unknowns, unknowns)."""
    parts = []
    for block in (slice(0, 3), slice(3, 6)):
        length = np.linalg.norm(vectors[:, block], axis=1, keepdims=True)
        weights = vectors[:, block] / or_one(length)
        parts.append((weights[..., np.newaxis] * gain[:, block]).sum(axis=1))
    signs = np.sign(vectors[:, 6:8])
    parts.append((signs[..., np.newaxis] * gain[:, 6:8]).sum(axis=1))
    return np.concatenate(parts, axis=1)
