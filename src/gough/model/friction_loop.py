"""The loop that makes friction agree with the loads it depends on (`gough.mechanics.friction`).

For given load magnitudes s the model is linear, so one pass maps s to new reactions, affine in s; what
is sought is s = |V0 + G s|, a fixed point. Passes are repeated inside the kernel; states where they
contract slowly, near jamming, go on with Newton's method on the affine map.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import RESIDUAL, FixedPoint, Function, at_fixed_point
from gough.engine.run.execute import Executor
from gough.mechanics.friction import Friction, magnitudes
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, or_one

TOLERANCE = 1e-13
"""Disagreement, as a share of all loads in the square mean, at which the loop stops."""
WORST_RESIDUAL = 1e-12
"""Residual, the largest disagreement over the largest load, above which there is no answer."""
MOST_PASSES = 25
MOST_NEWTON_STEPS = 60
MOST_VAIN_STEPS = 8
"""Of Newton's method one after the other that no part of makes the disagreement smaller."""
MOST_HALVINGS = 12
TOGETHER = 512
"""Rows that Newton's method takes at a time."""


def with_friction(
    run: Executor,
    function: Function,
    rows: int,
    fields: Mapping[str, Array],
    friction: Friction,
) -> tuple[dict[str, Array], Array]:
    """A function's outputs under loads that agree with the friction they cause, and the residual."""
    legs = len(friction.width)
    out = run(under_own_loads(function, legs), rows, fields)
    residual = out.pop(RESIDUAL)
    largest = settled(legs)
    slow = np.flatnonzero(residual > largest) if rows != 1 or residual[0] > largest else ()
    for start in range(0, len(slow), TOGETHER):
        which = slow[start : start + TOGETHER]
        part = {name: v if len(v) == 1 else v[which] for name, v in fields.items()}
        with np.errstate(all="ignore"):
            loads = _newton(run, function, len(which), part, legs)
            found = run(function, len(which), part | {"loads": loads})
            residual[which] = _residual(found["caused"], loads)
        for name in out:
            out[name][which] = found[name]
    return out, residual


def settled(legs: int) -> float:
    """The largest residual that a state which has settled may have."""
    return TOLERANCE * math.sqrt(3 * legs)


@cache
def under_own_loads(function: Function, legs: int) -> Function:
    """A function of `loads` (3, legs), as the function of the loads it finds as `caused`."""

    def step(mechanism: Mechanism, state: State, **inputs: Any) -> Outputs:
        found = function(mechanism, state, **inputs)
        return {name: value for name, value in found.items() if name != "vectors"}

    return at_fixed_point(FixedPoint(step, "loads", "caused", (3, legs), TOLERANCE, MOST_PASSES))


def _residual(new: Components, old: Components) -> Components:
    change = np.abs(new - old).max(axis=(1, 2), initial=0.0)
    largest = np.abs(new).max(axis=(1, 2), initial=0.0)
    return np.asarray(change / or_one(largest))


def _newton(
    run: Executor, function: Function, rows: int, fields: Mapping[str, Array], legs: int
) -> Components:
    """Loads (rows, 3, legs) by damped Newton on s − |V0 + G s|; G column by column, exactly.

    A row stops where it is solved, or where several steps were in vain: what it gets does not depend on
    its neighbours.
    """
    unknowns = 3 * legs
    probes = np.concatenate([np.zeros((1, unknowns)), np.eye(unknowns)])
    each = {n: v if len(v) == 1 else np.repeat(v, len(probes), axis=0) for n, v in fields.items()}
    each["loads"] = np.tile(probes, (rows, 1)).reshape(-1, 3, legs)
    vectors = run(function, rows * len(probes), each)["vectors"]
    vectors = vectors.reshape(rows, len(probes), 8, legs)
    start = vectors[:, 0]
    gain = np.ascontiguousarray(np.moveaxis(vectors[:, 1:] - vectors[:, :1], 1, -1))

    best = _size(start)
    wrong = best - _size(_at(start, gain, best))
    going, vain = np.arange(rows), np.zeros(rows, dtype=np.intp)
    for _ in range(MOST_NEWTON_STEPS):
        error, scale = (np.abs(one[going]).max(axis=1) for one in (wrong, best))
        going = going[error > 0.01 * TOLERANCE * scale]
        if not going.size:
            break
        here, gains = best[going], gain[going]
        slope = np.eye(unknowns) - _slopes(_at(start[going], gains, here), gains)
        step = _solved(slope, wrong[going])
        helped = _improved(best, wrong, step, going, start, gain)
        vain[going] = np.where(helped, 0, vain[going] + 1)
        going = going[vain[going] < MOST_VAIN_STEPS]
    return best.reshape(rows, 3, legs)


def _improved(
    best: Array, wrong: Array, step: Array, rows: Array, start: Array, gain: Array
) -> Array:
    """Take the largest of the steps 1, ½, ¼ … that helps, or else the least; whether one did, (n,)."""
    error = np.abs(wrong[rows]).max(axis=1)
    waiting = np.arange(len(rows))
    for halvings in range(MOST_HALVINGS):
        which = rows[waiting]
        trial = best[which] - step[waiting] / 2**halvings
        off = trial - _size(_at(start[which], gain[which], trial))
        better = np.abs(off).max(axis=1) < error[waiting]
        taken = better
        if halvings + 1 == MOST_HALVINGS:
            taken = np.isfinite(off).all(axis=1)
        best[which[taken]], wrong[which[taken]] = trial[taken], off[taken]
        waiting = waiting[~better]
        if not waiting.size:
            break
    helped = np.ones(len(rows), dtype=bool)
    helped[waiting] = False
    return helped


def _at(start: Array, gain: Array, s: Array) -> Array:
    """V0 + G s, (rows, 8, legs)."""
    return np.asarray(start + (gain * s[:, np.newaxis, np.newaxis]).sum(axis=-1))


def _size(vectors: Array) -> Array:
    """|V|, (rows, 3 legs)."""
    sizes = np.moveaxis(magnitudes(np.moveaxis(vectors, 0, -1)), -1, 0)
    return sizes.reshape(len(vectors), -1)


def _solved(matrix: Array, right: Array) -> Array:
    """Solutions (rows, n); NaN where a row has none."""
    out = np.full_like(right, np.nan)
    sound = np.flatnonzero(np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1))
    columns = right[..., np.newaxis]
    try:
        out[sound] = np.linalg.solve(matrix[sound], columns[sound])[..., 0]
    except np.linalg.LinAlgError:  # which one is singular is not said
        for i in sound:
            with contextlib.suppress(np.linalg.LinAlgError):
                out[i] = np.linalg.solve(matrix[i], columns[i])[..., 0]
    return out


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
