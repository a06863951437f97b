"""Forward kinematics: the pose in which every leg has its given coordinate, by Newton on SE(3).

With the actuated coordinates fixed every leg holds the platform in some directions (`Leg.grips`). A UPS,
PUS or RUS leg is a rod between a fixed point A_i and the tip P_i,

    g_i = (‖P_i − A_i‖² − l_i²)/(2 l_i) = 0,   dg_i = d_i/l_i · (δp + δθ×r_i),   d_i = P_i − A_i

which is polynomial in the pose; a chain holds it along w and n, mobility along N. The step is a program
(`mechanics.forward_program`), the loop is here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, condition
from gough.engine.functions import PASSES, Function, Iteration, iterated
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SampleError,
    SingularError,
)
from gough.mechanics.forward_program import jacobian, newton_step, pose_step
from gough.mechanics.leg import TOLD, Driven
from gough.mechanics.programs import DOUBTFUL, OFF
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.batch import OnError, check_on_error, last_axis
from gough.model.chains import Poses
from gough.model.described import DescribedModel
from gough.model.sense import FAR
from gough.motion import Motion

TOLERANCE = 1e-13
"""Largest |g| of a solution, relative to the longest leg."""
EPSILON = float(np.finfo(float).eps)
ORDINARY = 10.0
"""Length scales that legs are long and a platform is from the world's origin, or less (`_reach`)."""
CLOSE = 1e-4
"""Health below which the condition number of a pose that was found is asked for, of ordinary reach."""
STATIONARY = 1e-11
"""Newton's step, rad and length scales, after which the pose is the nearest one there is."""
MOST_ITERATIONS = 50
TOGETHER = 4096
"""Poses that are sought at a time."""
AT_REST = {name: np.zeros((1, 3)) for name in RIGID_FIELDS if name not in ("position", "rotation")}

CONVERGED, STALLED, SINGULAR, OTHER_BRANCH, NOT_FINITE, IMPOSSIBLE, FOREIGN, UNTOLD = range(8)
REASONS = {
    STALLED: "forward kinematics did not converge: residual {residual:.2g} m after {iterations} "
    "iterations (limit {limit:.2g} m)",
    SINGULAR: "forward kinematics ran into a singular pose (condition number {condition:.2g}, "
    f"limit {WORST_CONDITION:g})",
    OTHER_BRANCH: "forward kinematics found a posture on the other branch of a leg",
    NOT_FINITE: "q or the guess is not finite",
    IMPOSSIBLE: "a leg length in q is not positive",
    FOREIGN: f"forward kinematics did not converge: q is over {FAR:g} times as large as the robot's "
    "own; is it in millimetres, or of rotary actuators in degrees?",
    UNTOLD: f"q cannot tell the pose to {TOLD:g}, which is singular to within rounding "
    "(condition number {condition:.2g}, limit {worst:.2g})",
}
ERRORS: dict[int, type[SampleError]] = {
    STALLED: ConvergenceError,
    SINGULAR: SingularError,
    OTHER_BRANCH: ConvergenceError,
    NOT_FINITE: NotFiniteError,
    IMPOSSIBLE: ReachError,
    FOREIGN: ReachError,
    UNTOLD: SingularError,
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
    """CONVERGED or why not: STALLED, SINGULAR, OTHER_BRANCH, NOT_FINITE, IMPOSSIBLE, FOREIGN,
    UNTOLD."""
    limit: Array
    worst: Array
    """Condition number from which rounding may move the pose by 1e-8 of L."""
    elastic: Array
    """(..., N): the guess's, for which the pose was found."""
    chains: Array
    """(..., coordinates) of the joints of chain legs."""

    def motion(self, on_error: OnError) -> Motion:
        """The poses as a motion at rest; samples without one raise or are NaN."""
        check_on_error(on_error)
        failed = self.status != CONVERGED
        if on_error == "raise" and np.any(failed):
            first = self.status[failed].flat[0]
            raise ERRORS[int(first)](
                [
                    Failure(tuple(int(i) for i in place), None, self._reason(tuple(place)))
                    for place in np.argwhere(self.status == first)
                ]
            )
        position, rotation = self.position, self.rotation
        if np.any(failed):
            position = np.where(failed[..., np.newaxis], np.nan, position)
            rotation = np.where(failed[..., np.newaxis, np.newaxis], np.nan, rotation)
        return Motion.resting(position, rotation, self.elastic if self.elastic.shape[-1] else None)

    def _reason(self, place: tuple[int, ...]) -> str:
        return REASONS[int(self.status[place])].format(
            residual=self.residual[place],
            iterations=int(self.iterations[place]),
            condition=self.condition[place],
            limit=self.limit[place],
            worst=self.worst[place],
        )


def solve(robot: DescribedModel, q: ArrayLike, guess: Motion, along: int | None = None) -> Solution:
    """Newton from a guess for every sample of q (..., actuators); see `Robot.forward_kinematics`."""
    count = robot.actuator_count
    if count < robot.mobility:
        raise InputError(
            f"{robot.name} has {count} actuators and moves in {robot.mobility} directions: forward "
            "kinematics needs as many actuators"
        )
    coordinates = last_axis("q", q, count)
    if not isinstance(guess, Motion):
        raise InputError(f"guess is a gough.Motion, not {type(guess).__name__}")
    batch = coordinates.shape[:-1]
    if along is not None:
        if not isinstance(along, int | np.integer) or not -len(batch) <= along < len(batch):
            raise InputError(
                f"along = {along}"[:60] + f" is not a batch axis of q, which has {len(batch)}"
            )
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
        np.broadcast_to(_joints(robot, guess), (*shape, robot.mechanism.legs.coordinates)).reshape(
            samples, -1 if samples else robot.mechanism.legs.coordinates
        ),
    )
    return _reshape(flat, shape)


def _joints(robot: DescribedModel, guess: Motion) -> Array:
    """Joint coordinates (..., K) of chains to start from: where a guess is off, as near as they come."""
    joints = robot.chains_of(guess)
    if np.isfinite(joints).all():
        return joints
    poses = guess.reshape(-1)
    near = joints.reshape(-1, joints.shape[-1]).copy()
    sound = np.isfinite(poses.position).all(axis=1) & np.isfinite(poses.rotation).all(axis=(1, 2))
    lost = np.flatnonzero(~np.isfinite(near).all(axis=1) & sound)
    if lost.size:
        elastic = (
            poses.elastic if robot.modes and poses.modes else np.zeros((len(poses), robot.modes))
        )
        places = Poses(poses.position[lost], poses.rotation[lost], {}, elastic[lost])
        near[lost] = robot.lost_way(places)[0].joints
    return near.reshape(joints.shape)


def _march(robot: DescribedModel, coordinates: Array, guess: Motion, along: int) -> Solution:
    """One sample after the other along the first axis, each from the one before."""
    found: list[Solution] = []
    pose = guess
    for row in coordinates:
        found.append(solve(robot, row, pose))
        good = found[-1].status == CONVERGED
        chains = np.where(good[..., np.newaxis], found[-1].chains, robot.chains_of(pose))
        pose = Motion(
            np.where(good[..., np.newaxis], found[-1].position, pose.position),
            np.where(good[..., np.newaxis, np.newaxis], found[-1].rotation, pose.rotation),
            elastic=pose.elastic if pose.modes else None,
        )
        robot.remember(pose, chains)
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
        flat.worst.reshape(shape),
        flat.elastic.reshape(*shape, flat.elastic.shape[1]),
        flat.chains.reshape(*shape, flat.chains.shape[1]),
    )


def _newton(robot: DescribedModel, *given: Array) -> Solution:
    """Part by part, so that what is computed of a part stays in the processor's cache."""
    samples = len(given[0])
    parts = [
        _part(robot, *(one[start : start + TOGETHER] for one in given))
        for start in range(0, max(samples, 1), TOGETHER)
    ]
    if len(parts) == 1:
        return parts[0]
    names = [item.name for item in fields(Solution)]
    return Solution(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    )


@np.errstate(all="ignore")
def _part(
    robot: DescribedModel,
    q: Array,
    position: Array,
    rotation: Array,
    elastic: Array,
    chains: Array,
) -> Solution:
    """The search inside the engine, then step by step those that it left in doubt."""
    samples = len(q)
    length = robot.mechanism.legs.sizes(q.T).T
    position, rotation, chains = position.copy(), rotation.copy(), chains.copy()
    iterations = np.zeros(samples, dtype=np.intp)
    residual = np.full(samples, np.inf)
    conditions = np.full(samples, np.nan)
    health = np.full(samples, np.nan)
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
    rounded = OFF * min(1.0, robot.length_scale)
    active = np.flatnonzero(possible)
    if active.size and not robot.freedom.overconstrained:
        given = _fields(robot, active, position, rotation, elastic, chains)
        given |= {"q": q[active], "limit": limit[active]}
        search = _search(chains.shape[1] > 0, MOST_ITERATIONS + 1)
        found = robot.executor(search, len(active), given)
        residual[active], iterations[active] = found["residual"], found[PASSES]
        health[active] = found["health"]
        met = found["residual"] <= limit[active]
        status[active[met]] = np.where(found["astray"][met] > 0, OTHER_BRANCH, CONVERGED)
        on = met | np.isfinite(found["residual"])
        position[active[on]], rotation[active[on]] = found["position"][on], found["rotation"][on]
        if chains.shape[1]:
            chains[active[on]] = found["chains"][on]
        active = active[on & ~met & (iterations[active] < MOST_ITERATIONS)]
    late = active
    while active.size:
        given = _fields(robot, active, position, rotation, elastic, chains) | {"q": q[active]}
        found = robot.executor(newton_step, len(active), given)
        residual[active], health[active] = found["residual"], found["health"]
        if chains.shape[1]:
            chains[active] = found["chains"]
        met = found["residual"] <= limit[active]
        if (
            robot.freedom.overconstrained
        ):  # its constraints agree only as well as the file's numbers do
            nearest = (found["step"] <= STATIONARY) & (found["residual"] <= rounded)
            position[active[nearest]] = found["position"][nearest]
            rotation[active[nearest]] = found["rotation"][nearest]
            met = met | nearest
        status[active[met]] = CONVERGED
        go = ~met & (iterations[active] < MOST_ITERATIONS)
        go &= np.isfinite(found["residual"])  # those without a residual stay STALLED
        doubtful = np.flatnonzero(go & ~(found["health"] > DOUBTFUL))
        if doubtful.size:
            here = {n: v if len(v) == 1 else v[doubtful] for n, v in given.items()}
            matrices = robot.executor(jacobian, len(doubtful), here)["jacobian"]
            conditions[active[doubtful]] = worst = condition(matrices)
            singular = doubtful[~(worst < WORST_CONDITION)]
            status[active[singular]] = SINGULAR
            go[singular] = False
        active = active[go]
        position[active], rotation[active] = found["position"][go], found["rotation"][go]
        iterations[active] += 1
    late = late[status[late] == CONVERGED]
    if late.size:
        rotation[late] = _orthogonal(rotation[late])
        places = position[late], rotation[late], elastic[late]
        status[late[_astray(robot, *places, q[late])]] = OTHER_BRANCH
    reach = _reach(robot, length, position)
    untold = TOLD / (EPSILON * reach)
    close = np.flatnonzero((status == CONVERGED) & ~(health > CLOSE * reach / ORDINARY))
    if close.size:  # a residual that is small enough may be a step that is not
        given = _fields(robot, close, position, rotation, elastic, chains) | {"q": q[close]}
        found = robot.executor(newton_step, len(close), given)
        conditions[close] = condition(robot.executor(jacobian, len(close), given)["jacobian"])
        told = conditions[close] < untold[close]
        status[close[~told]] = UNTOLD
        position[close[told]] = found["position"][told]
        rotation[close[told]] = _orthogonal(found["rotation"][told])
    _explain_foreign(robot, status, q)
    return Solution(
        position, rotation, iterations, residual, conditions, status, limit, untold, elastic, chains
    )


def _reach(robot: DescribedModel, length: Array, position: Array) -> Array:
    """(max l + ‖p‖)/L, at least ORDINARY, (samples,): ε times it is what rounding leaves of g/L.

    Legs of length l (samples, legs) hold a platform of size L at p: the larger they are beside it, the
    less their lengths tell of how it is turned.
    """
    far = length.max(axis=1) + np.linalg.norm(position, axis=1)
    return np.asarray(np.fmax(ORDINARY, far / robot.length_scale))


@cache
def _search(chains: bool, most: int) -> Function:
    """`pose_step` until the pose is found, or in doubt."""
    names = ("position", "rotation", *((CHAINS,) if chains else ()))
    replaced = tuple((name, f"next_{name}") for name in names)
    return iterated(Iteration(pose_step, replaced, "left", most))


def _fields(
    robot: DescribedModel,
    rows: Array,
    position: Array,
    rotation: Array,
    elastic: Array,
    chains: Array,
) -> dict[str, Array]:
    """The state's fields of some rows."""
    given = AT_REST | {"position": position[rows], "rotation": rotation[rows]}
    if robot.modes:
        given |= dict.fromkeys(ELASTIC_FIELDS, np.zeros((1, robot.modes)))
        given["elastic"] = elastic[rows]
    if chains.shape[1]:
        given[CHAINS] = chains[rows]
    return given


def rods(robot: DescribedModel, q: Array) -> tuple[Array, Array]:
    """Fixed ends (..., legs, 3) and lengths (..., legs), m, of the legs at q (..., legs) as rods."""
    flat = q.reshape(-1, q.shape[-1])
    ends, lengths = [], []
    for group in robot.description.groups:
        if not isinstance(group.legs, Driven):
            raise InputError(
                f"{robot.name}: its {group.kind.name} legs with locked actuators are no rods"
            )
        own = flat[:, group.first : group.first + group.leg_count]
        anchor, length, _ = group.legs.locked(own.T)
        ends.append(np.broadcast_to(anchor.T, (*own.shape, 3)))
        lengths.append(np.broadcast_to(length.T, own.shape))
    return (
        np.concatenate(ends, axis=1).reshape(*q.shape, 3),
        np.concatenate(lengths, axis=1).reshape(q.shape),
    )


def _orthogonal(rotation: Array) -> Array:
    """Wash the rounding of many products out of the rotations found: R (3 − RᵀR)/2."""
    square = np.swapaxes(rotation, -1, -2) @ rotation
    return np.asarray(rotation @ (1.5 * np.eye(3) - 0.5 * square))


def _explain_foreign(robot: DescribedModel, status: Array, q: Array) -> None:
    """Samples without a pose whose q no unit of the robot's explains say so."""
    lost = np.flatnonzero((status == STALLED) | (status == SINGULAR))
    if lost.size:
        sizes = np.maximum(robot.coordinate_sizes, robot.length_scale)
        status[lost[(np.abs(q[lost]) > FAR * sizes).any(axis=1)]] = FOREIGN


def _astray(
    robot: DescribedModel, position: Array, rotation: Array, elastic: Array, q: Array
) -> Array:
    """Postures of the rods in which a leg has another q than the one asked for: they are none."""
    points = robot.description.platform_points[..., 0].T
    if robot.description.modal is not None:
        points = points + np.einsum("lck,sk->slc", robot.description.modal.tip_shapes, elastic)
    tip = position[:, np.newaxis] + points @ np.swapaxes(rotation, -1, -2)
    lean = robot.mechanism.legs.astray(q.T, np.moveaxis(tip, -1, 0).swapaxes(1, 2))
    return np.asarray((lean > 0).any(axis=0))
