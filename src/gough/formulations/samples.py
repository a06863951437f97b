"""The formulations' seam to batches: samples first, components last, bad samples flagged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough import batch
from gough.batch import Answer, OnError, Trouble
from gough.errors import ReachError, SingularError
from gough.formulations.parts import Parts
from gough.linear import WORST_CONDITION
from gough.motion import Array, Motion
from gough.results import Actuation

if TYPE_CHECKING:
    from gough.dynamics import State

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


Model = Callable[[Pose], tuple[dict[str, Array], list[Trouble]]]
"""Values (samples, ...) and troubles (samples, legs) or (samples,) of a batch of poses."""


def run(
    model: Model, motion: Motion, wrench: ArrayLike | None, on_error: OnError
) -> dict[str, Array]:
    """Evaluate a model over all samples of a motion: arrays (..., legs) with its batch axes."""

    def on_components(state: State, wrench: Array | None) -> Answer:
        fields = {
            name: np.moveaxis(field, -1, 0)[..., 0] for name, field in state._asdict().items()
        }
        loads = np.zeros((len(fields["position"]), 6)) if wrench is None else wrench.T
        values, troubles = model(Pose(**fields, force=loads[:, :3], moment=loads[:, 3:]))
        turned = {name: np.moveaxis(value, 0, -1) for name, value in values.items()}
        return Answer(turned, troubles)

    return batch.run(on_components, motion, on_error, {"wrench": (wrench, 6)})


def actuation(out: dict[str, Array]) -> Actuation:
    """Forces, rates and residual as `Robot.inverse_dynamics` returns them."""
    residual = out["residual"]
    return Actuation(
        forces=out["forces"],
        power=out["forces"] * out["rates"],
        elastic_acceleration=np.zeros((*residual.shape, 0)),
        residual=residual,
    )


def leg_troubles(parts: Parts, radicand: Array, direction: Array) -> list[Trouble]:
    """Legs (samples, legs) out of reach or singular; `radicand` is k of Kim & Ryu's Eq. 8, m²."""
    slope = np.abs(dot(parts.rail, direction))
    sine = np.linalg.norm(np.cross(parts.axis, direction), axis=-1)
    return [
        Trouble(
            ~(radicand > 0).T,
            ReachError,
            lambda place: f"its tip is out of reach: radicand {radicand.T[place]:.3g} m², limit 0",
        ),
        Trouble(
            ~(slope > SMALLEST_SLOPE).T,
            SingularError,
            lambda place: (
                "its link is perpendicular to the rail "
                f"(cosine {slope.T[place]:.3g}, limit {SMALLEST_SLOPE:g})"
            ),
        ),
        Trouble(
            ~(sine > SMALLEST_SLOPE).T,
            SingularError,
            lambda place: (
                "its link is parallel to its first universal axis "
                f"(sine {sine.T[place]:.3g}, limit {SMALLEST_SLOPE:g})"
            ),
        ),
    ]


def pose_trouble(condition: Array) -> Trouble:
    """Poses whose condition number (samples,) is beyond `WORST_CONDITION`."""
    return Trouble(
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
