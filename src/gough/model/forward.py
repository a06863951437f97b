"""Forward kinematics: the pose in which every leg has its given coordinate, by Newton on SE(3).

With the actuated coordinates fixed every leg is a rod between a fixed point A_i and the tip P_i
(`Leg.locked`; UPS: A = B, length q; PUS: A = rail_origin + q a, length l). So all kinds share one
equation,

    g_i = (‖P_i − A_i‖² − l_i²)/(2 l_i) = 0,   dg_i = d_i/l_i · (δp + δθ×r_i),   d_i = P_i − A_i

which is polynomial in the pose. The step is a program (`mechanics.forward_program`), the loop is here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, condition
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SampleError,
    SingularError,
)
from gough.mechanics.forward_program import jacobian, newton_step
from gough.mechanics.programs import DOUBTFUL
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.batch import OnError, last_axis
from gough.model.described import DescribedModel
from gough.motion import Motion

TOLERANCE = 1e-13
"""Largest |g| of a solution, relative to the longest leg."""
MOST_ITERATIONS = 50
AT_REST = {name: np.zeros((1, 3)) for name in RIGID_FIELDS if name not in ("position", "rotation")}

CONVERGED, STALLED, SINGULAR, OTHER_BRANCH, NOT_FINITE, IMPOSSIBLE = range(6)
REASONS = {
    STALLED: "forward kinematics did not converge: residual {residual:.2g} m after {iterations} "
    "iterations (limit {limit:.2g} m)",
    SINGULAR: "forward kinematics ran into a singular pose (condition number {condition:.2g}, "
    f"limit {WORST_CONDITION:g})",
    OTHER_BRANCH: "forward kinematics found a posture on the other branch of a leg",
    NOT_FINITE: "q or the guess is not finite",
    IMPOSSIBLE: "a leg length in q is not positive",
}
ERRORS: dict[int, type[SampleError]] = {
    STALLED: ConvergenceError,
    SINGULAR: SingularError,
    OTHER_BRANCH: ConvergenceError,
    NOT_FINITE: NotFiniteError,
    IMPOSSIBLE: ReachError,
}


@dataclass(frozen=True)
class Solution:
    """Poses found, and how: all arrays have the batch shape."""

    position: Array
    rotation: Array
    iterations: Array
    residual: Array
    """Largest error of a leg coordinate, m."""
    condition: Array
    """Condition number of the Jacobian at the last iteration that needed one."""
    status: Array
    """CONVERGED or why not: STALLED, SINGULAR, OTHER_BRANCH, NOT_FINITE, IMPOSSIBLE."""
    limit: Array
    elastic: Array
    """(..., N): the guess's, for which the pose was found."""

    def motion(self, on_error: OnError) -> Motion:
        """The poses as a motion at rest; samples without one raise or are NaN."""
        if on_error not in ("raise", "nan"):
            raise InputError(f"on_error is 'raise' or 'nan', not {on_error!r}")
        failed = self.status != CONVERGED
        if on_error == "raise" and np.any(failed):
            first = self.status[failed].flat[0]
            raise ERRORS[int(first)](
                [
                    Failure(tuple(int(i) for i in place), None, self._reason(tuple(place)))
                    for place in np.argwhere(self.status == first)
                ]
            )
        return Motion(
            np.where(failed[..., np.newaxis], np.nan, self.position),
            np.where(failed[..., np.newaxis, np.newaxis], np.nan, self.rotation),
            elastic=self.elastic if self.elastic.shape[-1] else None,
        )

    def _reason(self, place: tuple[int, ...]) -> str:
        return REASONS[int(self.status[place])].format(
            residual=self.residual[place],
            iterations=int(self.iterations[place]),
            condition=self.condition[place],
            limit=self.limit[place],
        )


def solve(robot: DescribedModel, q: ArrayLike, guess: Motion, along: int | None = None) -> Solution:
    """Newton from a guess for every sample of q (..., legs); see `Robot.forward_kinematics`."""
    count = robot.leg_count
    if count < 6:
        raise InputError(f"{robot.name} has {count} legs; forward kinematics needs six or more")
    coordinates = last_axis("q", q, count)
    if not isinstance(guess, Motion):
        raise InputError(f"guess is a gough.Motion, not {type(guess).__name__}")
    batch = coordinates.shape[:-1]
    if along is not None:
        if not -len(batch) <= along < len(batch):
            raise InputError(f"along = {along} is not a batch axis of q, which has {len(batch)}")
        place = along % len(batch)
        if len(guess.shape) >= len(batch):
            raise InputError(
                f"guess has batch shape {guess.shape}; along a path it is the pose before the first"
            )
        return _march(robot, np.moveaxis(coordinates, place, 0), guess, place)
    try:
        shape = np.broadcast_shapes(batch, guess.shape)
    except ValueError:
        raise InputError(f"batch axes do not fit: q {batch}, guess {guess.shape}") from None
    samples = int(np.prod(shape))
    given = robot.elastic_inputs(guess)
    elastic = given["elastic"][0] if given else np.zeros(0)
    flat = _newton(
        robot,
        np.broadcast_to(coordinates, (*shape, count)).reshape(samples, count),
        np.broadcast_to(guess.position, (*shape, 3)).reshape(samples, 3),
        np.broadcast_to(guess.rotation, (*shape, 3, 3)).reshape(samples, 3, 3),
        np.broadcast_to(elastic, (*shape, robot.modes)).reshape(samples, robot.modes),
    )
    return _reshape(flat, shape)


def _march(robot: DescribedModel, coordinates: Array, guess: Motion, along: int) -> Solution:
    """One sample after the other along the first axis, each from the one before."""
    found: list[Solution] = []
    pose = guess
    for row in coordinates:
        found.append(solve(robot, row, pose))
        good = found[-1].status == CONVERGED
        pose = Motion(
            np.where(good[..., np.newaxis], found[-1].position, pose.position),
            np.where(good[..., np.newaxis, np.newaxis], found[-1].rotation, pose.rotation),
            elastic=pose.elastic if pose.modes else None,
        )
    if not found:
        return solve(robot, np.moveaxis(coordinates, 0, along), guess)
    names = [item.name for item in fields(Solution)]
    joined = {name: np.stack([getattr(one, name) for one in found], axis=along) for name in names}
    return Solution(**joined)


def _reshape(flat: Solution, shape: tuple[int, ...]) -> Solution:
    return Solution(
        flat.position.reshape(*shape, 3),
        flat.rotation.reshape(*shape, 3, 3),
        flat.iterations.reshape(shape),
        flat.residual.reshape(shape),
        flat.condition.reshape(shape),
        flat.status.reshape(shape),
        flat.limit.reshape(shape),
        flat.elastic.reshape(*shape, flat.elastic.shape[1]),
    )


@np.errstate(all="ignore")
def _newton(
    robot: DescribedModel, q: Array, position: Array, rotation: Array, elastic: Array
) -> Solution:
    samples = len(q)
    length = rods(robot, q)[1]
    position, rotation = position.copy(), rotation.copy()
    iterations = np.zeros(samples, dtype=np.intp)
    residual = np.full(samples, np.inf)
    conditions = np.full(samples, np.nan)
    status = np.full(samples, STALLED)
    finite = (
        np.isfinite(q).all(1)
        & np.isfinite(position).all(1)
        & np.isfinite(rotation).all((1, 2))
        & np.isfinite(elastic).all(1)
    )
    status[~finite] = NOT_FINITE
    possible = finite & (length > 0).all(1)
    status[finite & ~possible] = IMPOSSIBLE
    limit = TOLERANCE * length.max(axis=1)
    active = np.flatnonzero(possible)
    for made in range(MOST_ITERATIONS + 1):
        if not active.size:
            break
        fields = AT_REST | {
            "position": position[active], "rotation": rotation[active], "q": q[active]
        }  # fmt: skip
        if robot.modes:
            fields |= dict.fromkeys(ELASTIC_FIELDS, np.zeros((1, robot.modes)))
            fields["elastic"] = elastic[active]
        found = robot.executor(newton_step, len(active), fields)
        residual[active] = found["residual"]
        met = found["residual"] <= limit[active]
        status[active[met]] = CONVERGED
        if made == MOST_ITERATIONS:
            break
        go = ~met & np.isfinite(found["residual"])  # those without a residual stay STALLED
        doubtful = np.flatnonzero(go & ~(found["health"] > DOUBTFUL))
        if doubtful.size:
            here = {n: v if len(v) == 1 else v[doubtful] for n, v in fields.items()}
            matrices = robot.executor(jacobian, len(doubtful), here)["jacobian"]
            conditions[active[doubtful]] = worst = condition(matrices)
            singular = doubtful[~(worst < WORST_CONDITION)]
            status[active[singular]] = SINGULAR
            go[singular] = False
        active = active[go]
        position[active], rotation[active] = found["position"][go], found["rotation"][go]
        iterations[active] += 1
    rotation = _orthogonal(rotation, status == CONVERGED)
    _refuse_other_branch(robot, position, rotation, elastic, status, q)
    return Solution(position, rotation, iterations, residual, conditions, status, limit, elastic)


def rods(robot: DescribedModel, q: Array) -> tuple[Array, Array]:
    """Fixed ends (..., legs, 3) and lengths (..., legs), m, of the legs at q (..., legs) as rods."""
    flat = q.reshape(-1, q.shape[-1])
    anchor, length, _ = robot.mechanism.legs.locked(flat.T)
    ends = np.broadcast_to(anchor.T, (*flat.shape, 3)).reshape(*q.shape, 3)
    return ends, np.broadcast_to(length.T, flat.shape).reshape(q.shape)


def _orthogonal(rotation: Array, good: Array) -> Array:
    """Wash the rounding of many products out of the rotations found: R (3 − RᵀR)/2."""
    rotation = rotation.copy()
    found = rotation[good]
    rotation[good] = found @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(found, -1, -2) @ found)
    return rotation


def _refuse_other_branch(
    robot: DescribedModel, position: Array, rotation: Array, elastic: Array, status: Array, q: Array
) -> None:
    """A posture of the rods in which a leg has another q than the one asked for is none."""
    points = robot.description.platform_points[..., 0].T
    if robot.description.modal is not None:
        points = points + np.einsum("lck,sk->slc", robot.description.modal.tip_shapes, elastic)
    tip = position[:, np.newaxis] + points @ np.swapaxes(rotation, -1, -2)
    rod = np.moveaxis(tip - rods(robot, q)[0], -1, 0).swapaxes(1, 2)
    wrong = robot.mechanism.legs.on_other_branch(q.T, rod).any(axis=0)
    status[(status == CONVERGED) & wrong] = OTHER_BRANCH
