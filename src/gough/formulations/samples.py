"""The formulations' seam to batches: samples first, components last, bad samples flagged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.run.execute import CHUNK
from gough.errors import ReachError, SampleError, SingularError
from gough.formulations.parts import Parts
from gough.mechanics.solves import WORST_CONDITION
from gough.model import batch
from gough.model.batch import OnError
from gough.motion import Motion
from gough.results import Actuation

SMALLEST_SLOPE = 1e-9
"""|a·n| and ‖α×n‖ below which a leg counts as singular."""


class Pose(NamedTuple):
    """What the platform does and what pushes it: (samples, 3), rotation (samples, 3, 3), world axes."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array
    force: Array
    """External force, N."""
    moment: Array
    """External moment about the platform frame's origin, N m."""


class FormulationTrouble(NamedTuple):
    """A measure that says which samples have no answer."""

    bad: Array
    """True where there is none: (samples,) or (legs, samples)."""
    error: type[SampleError]
    reason: Callable[[tuple[int, ...]], str]
    """What is wrong at an index of `bad`."""


Model = Callable[[Pose], tuple[dict[str, Array], list[FormulationTrouble]]]
"""Values (samples, ...) and troubles of a batch of poses."""


def run(
    model: Model, motion: Motion, wrench: ArrayLike | None, on_error: OnError
) -> dict[str, Array]:
    """Evaluate a model over all samples of a motion: arrays (..., legs) with its batch axes."""
    rows = batch.lay_out(motion, {"wrench": (np.zeros(6) if wrench is None else wrench, (6,))})
    troubles = batch.not_finite(rows)
    seen = {one.row for one in troubles}
    out: dict[str, Array] = {}
    for start in range(0, max(rows.rows, 1), CHUNK):
        count = min(start + CHUNK, rows.rows) - start
        chunk = {
            name: np.broadcast_to(value, (rows.rows, *value.shape[1:]))[start : start + count]
            for name, value in rows.fields.items()
        }
        loads = chunk.pop("wrench")
        with np.errstate(all="ignore"):
            values, doubts = model(Pose(**chunk, force=loads[:, :3], moment=loads[:, 3:]))
        for doubt in doubts:
            for row, trouble in _rows_in(doubt, start):
                if row not in seen:
                    seen.add(row)
                    troubles.append(trouble)
        for name, value in values.items():
            if name not in out:
                out[name] = np.empty((rows.rows, *value.shape[1:]))
            out[name][start : start + count] = value
    return batch.settle(rows, out, troubles, on_error)


def _rows_in(doubt: FormulationTrouble, start: int) -> Iterator[tuple[int, batch.Trouble]]:
    bad = doubt.bad if doubt.bad.ndim == 2 else doubt.bad[np.newaxis]
    for sample in np.flatnonzero(bad.any(axis=0)):
        row, leg = start + int(sample), int(np.argmax(bad[:, sample]))
        if doubt.bad.ndim == 2:
            reason = doubt.reason((leg, int(sample)))
            yield row, batch.Trouble(row, leg, doubt.error, reason)
        else:
            yield row, batch.Trouble(row, None, doubt.error, doubt.reason((int(sample),)))


def actuation(out: dict[str, Array]) -> Actuation:
    """Forces, rates and residual as `Robot.inverse_dynamics` returns them."""
    residual = out["residual"]
    return Actuation(
        forces=out["forces"],
        power=out["forces"] * out["rates"],
        elastic_acceleration=np.zeros((*residual.shape, 0)),
        residual=residual,
    )


def leg_troubles(parts: Parts, radicand: Array, direction: Array) -> list[FormulationTrouble]:
    """Legs (samples, legs) out of reach or singular; `radicand` is k of Kim & Ryu's Eq. 8, m²."""
    slope = np.abs(dot(parts.rail, direction))
    sine = np.linalg.norm(np.cross(parts.axis, direction), axis=-1)
    return [
        FormulationTrouble(
            ~(radicand > 0).T,
            ReachError,
            lambda place: f"its tip is out of reach: radicand {radicand.T[place]:.3g} m², limit 0",
        ),
        FormulationTrouble(
            ~(slope > SMALLEST_SLOPE).T,
            SingularError,
            lambda place: (
                "its link is perpendicular to the rail "
                f"(cosine {slope.T[place]:.3g}, limit {SMALLEST_SLOPE:g})"
            ),
        ),
        FormulationTrouble(
            ~(sine > SMALLEST_SLOPE).T,
            SingularError,
            lambda place: (
                "its link is parallel to its first universal axis "
                f"(sine {sine.T[place]:.3g}, limit {SMALLEST_SLOPE:g})"
            ),
        ),
    ]


def pose_trouble(condition: Array) -> FormulationTrouble:
    """Poses whose condition number (samples,) is beyond `WORST_CONDITION`."""
    return FormulationTrouble(
        ~(condition < WORST_CONDITION),
        SingularError,
        lambda place: (
            f"the pose is singular: condition number {condition[place]:.3g}, "
            f"limit {WORST_CONDITION:g}"
        ),
    )


def guarded(matrices: Array) -> tuple[Array, Array]:
    """Condition numbers (...) of (..., n, n) matrices, and the matrices with 1 where singular."""
    unit = np.eye(matrices.shape[-1])
    finite = np.all(np.isfinite(matrices), axis=(-2, -1), keepdims=True)
    tame: Array = np.where(finite, matrices, unit)
    stretch = np.linalg.svd(tame, compute_uv=False)
    condition = np.where(finite[..., 0, 0], stretch[..., 0] / stretch[..., -1], np.inf)
    regular = (condition < WORST_CONDITION)[..., np.newaxis, np.newaxis]
    return condition, np.where(regular, matrices, unit)


def dot(a: Array, b: Array) -> Array:
    """a·b along the last axis."""
    return np.asarray((a * b).sum(axis=-1))


def matvec(matrices: Array, vectors: Array) -> Array:
    """M v, (..., 3) from (..., 3, 3) and (..., 3)."""
    return np.asarray((matrices @ vectors[..., np.newaxis])[..., 0])


def transposed(matrices: Array) -> Array:
    """Mᵀ."""
    return np.swapaxes(matrices, -1, -2)
