"""Forward kinematics: the pose in which every leg has its given coordinate, by Newton on SE(3).

With the actuated coordinates fixed every leg is a rod between a fixed point A_i and the tip P_i:
UPS A = B, length q; PUS A = rail_origin + q a, length l. So both kinds share one equation,

    g_i = (‖P_i − A_i‖² − l_i²)/(2 l_i) = 0,   dg_i = d_i/l_i · (δp + δθ×r_i),   d_i = P_i − A_i

which is polynomial in the pose. Step: p ← p + δp, R ← exp(δθ) R.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.batch import OnError, last_axis
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SampleError,
    SingularError,
)
from gough.legs.pus import PUS
from gough.legs.ups import UPS
from gough.linear import WORST_CONDITION
from gough.motion import Array, Motion

if TYPE_CHECKING:
    from gough.robot import Robot

TOLERANCE = 1e-13
"""Largest |g| of a solution, relative to the longest leg."""
MOST_ITERATIONS = 50
LARGEST_TURN = 0.5
"""Longest step, rad, and in metres as a share of the length scale: keeps Newton near the guess."""

FIRM = 1e-3
"""Slope of a link along its rail below which q cannot be held to the tolerance."""

CONVERGED, STALLED, SINGULAR, OTHER_BRANCH, NOT_FINITE, IMPOSSIBLE = range(6)
REASONS = {
    STALLED: "forward kinematics did not converge: residual {residual:.2g} m after {iterations} "
    "iterations (limit {limit:.2g} m)",
    SINGULAR: "forward kinematics ran into a singular pose (condition number {condition:.2g}, "
    f"limit {WORST_CONDITION:g})",
    OTHER_BRANCH: "forward kinematics found a posture on the other branch of a PUS leg",
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
        )

    def _reason(self, place: tuple[int, ...]) -> str:
        return REASONS[int(self.status[place])].format(
            residual=self.residual[place],
            iterations=int(self.iterations[place]),
            condition=self.condition[place],
            limit=self.limit[place],
        )


def condition(matrices: Array) -> Array:
    """2-norm condition number (...) of matrices (..., rows, columns); NaN where one is not finite."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    known: Array = np.where(finite[..., np.newaxis, np.newaxis], matrices, 0.0)
    values = np.linalg.svd(known.astype(np.float64), compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = values[..., 0] / values[..., -1]
    return np.asarray(np.where(finite, worst, np.nan))


def solve(robot: Robot, q: ArrayLike, guess: Motion, along: int | None = None) -> Solution:
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
    flat = _newton(
        robot,
        np.broadcast_to(coordinates, (*shape, count)).reshape(samples, count),
        np.broadcast_to(guess.position, (*shape, 3)).reshape(samples, 3),
        np.broadcast_to(guess.rotation, (*shape, 3, 3)).reshape(samples, 3, 3),
    )
    return _reshape(flat, shape)


def _march(robot: Robot, coordinates: Array, guess: Motion, along: int) -> Solution:
    """One sample after the other along the first axis, each from the one before."""
    found: list[Solution] = []
    pose = guess
    for row in coordinates:
        found.append(solve(robot, row, pose))
        good = found[-1].status == CONVERGED
        pose = Motion(
            np.where(good[..., np.newaxis], found[-1].position, pose.position),
            np.where(good[..., np.newaxis, np.newaxis], found[-1].rotation, pose.rotation),
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
    )


def _grip(robot: Robot, direction: Array) -> Array | float:
    """How far a leg's length error is from its error in q: |a·n| of a PUS leg, 1 of a UPS leg."""
    legs = robot.description.legs
    if not isinstance(legs, PUS):
        return 1.0
    slope = np.einsum("sli,li->sl", direction, legs.rail_direction[..., 0].T)
    return np.asarray(np.maximum(np.abs(slope), FIRM))


@np.errstate(all="ignore")
def _newton(robot: Robot, q: Array, position: Array, rotation: Array) -> Solution:
    points = robot.description.platform_points[..., 0].T
    anchor, length = rods(robot, q)
    scale = robot.length_scale
    samples = len(q)
    position, rotation = position.copy(), rotation.copy()
    iterations = np.zeros(samples, dtype=np.intp)
    residual = np.full(samples, np.inf)
    conditions = np.full(samples, np.nan)
    status = np.full(samples, STALLED)
    finite = (
        np.isfinite(q).all(1) & np.isfinite(position).all(1) & np.isfinite(rotation).all((1, 2))
    )
    status[~finite] = NOT_FINITE
    possible = finite & (length > 0).all(1)
    status[finite & ~possible] = IMPOSSIBLE
    limit = TOLERANCE * length.max(axis=1)
    active = np.flatnonzero(possible)
    for _ in range(MOST_ITERATIONS + 1):
        if not active.size:
            break
        arm = np.einsum("sij,lj->sli", rotation[active], points)
        rod = position[active, np.newaxis] + arm - anchor[active]
        # (‖d‖ − l)(‖d‖ + l)/(2 l): no cancellation of squares
        norms = np.linalg.norm(rod, axis=-1)
        lengths = length[active]
        error = (norms - lengths) * (norms + lengths) / (2 * lengths)
        residual[active] = (np.abs(error) / _grip(robot, rod / lengths[..., np.newaxis])).max(
            axis=1
        )
        met = residual[active] <= limit[active]
        rows = np.concatenate([rod, np.cross(arm, rod)], axis=-1) / lengths[..., np.newaxis]
        status[active[met]] = CONVERGED
        active, rows, error = active[~met], rows[~met], error[~met]
        if not active.size or iterations[active[0]] == MOST_ITERATIONS:
            break
        sane = np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(error).all(axis=1)
        active, rows, error = active[sane], rows[sane], error[sane]  # the rest stay STALLED
        step, conditions[active] = _step(rows, error, scale)
        singular = ~(conditions[active] < WORST_CONDITION)
        status[active[singular]] = SINGULAR
        active, step = active[~singular], step[~singular]
        step *= _shrink(step, scale)[:, np.newaxis]
        position[active] -= step[:, :3]
        turned = Rotation.from_rotvec(-step[:, 3:]).as_matrix() @ rotation[active]
        rotation[active] = turned
        iterations[active] += 1
    rotation = _orthogonal(rotation, status == CONVERGED)
    _refuse_other_branch(robot, position, rotation, status, q)
    return Solution(position, rotation, iterations, residual, conditions, status, limit)


def _step(rows: Array, error: Array, scale: float) -> tuple[Array, Array]:
    """Newton step (least squares for more than six legs) and the Jacobian's condition number."""
    weights = np.array([1.0] * 3 + [scale] * 3)
    left, values, right = np.linalg.svd(rows / weights, full_matrices=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.einsum("sji,sj->si", left, error) / values
        worst = values[:, 0] / values[:, -1]
    return np.einsum("sji,sj->si", right, inner) / weights, worst


def _shrink(step: Array, scale: float) -> Array:
    """Factor that keeps a step within LARGEST_TURN radians and as many length scales."""
    turn = np.linalg.norm(step[:, 3:], axis=1)
    shift = np.linalg.norm(step[:, :3], axis=1) / scale
    return np.asarray(LARGEST_TURN / np.maximum(np.maximum(turn, shift), LARGEST_TURN))


def rods(robot: Robot, q: Array) -> tuple[Array, Array]:
    """Fixed ends (samples, legs, 3) and lengths (samples, legs) of the legs as rods."""
    legs = robot.description.legs
    if isinstance(legs, UPS):
        return np.broadcast_to(legs.base[..., 0].T, (*q.shape, 3)), q
    anchor = legs.rail_origin[..., 0].T + q[..., np.newaxis] * legs.rail_direction[..., 0].T
    return anchor, np.broadcast_to(legs.length[:, 0], q.shape)


def _orthogonal(rotation: Array, good: Array) -> Array:
    """Wash the rounding of many products out of the rotations found."""
    rotation = rotation.copy()
    left, _, right = np.linalg.svd(rotation[good])
    rotation[good] = left @ right
    return rotation


def _refuse_other_branch(
    robot: Robot, position: Array, rotation: Array, status: Array, q: Array
) -> None:
    """A rod posture whose link leans the other way along the rail has another q (Eq. 8's sign)."""
    legs = robot.description.legs
    if not isinstance(legs, PUS):
        return
    anchor, _ = rods(robot, q)
    points = robot.description.platform_points[..., 0].T
    tip = position[:, np.newaxis] + np.einsum("sij,lj->sli", rotation, points)
    lean = np.einsum("sli,li->sl", tip - anchor, legs.rail_direction[..., 0].T)
    wrong = (lean * legs.sign[:, 0] > 0).any(axis=1)
    status[(status == CONVERGED) & wrong] = OTHER_BRANCH
