"""The largest actuator forces and speeds under bounds on acceleration, load and twist; exact at a pose.

Without friction a leg's force at a pose is affine in acceleration a and load w, and quadratic in the
twist ξ:

    Γ_i = g_i·(M a + b(ξ) − w),    b(ξ) = b(0) + (ξᵀ B_k ξ)_k,    g_i the rows of (Jᵀ)⁻¹

a, w and ξ each range over a box of their own, so the three parts have their extremes apart. Over a box
the affine parts have theirs in a vertex: for bounds ±ā this is ± Σ_k |(g_i M)_k| ā_k, which equals the
largest over all 2⁶ vertices. The quadratic form has its extremes in the vertices only if it is convex
there; in general they are at a vertex or at a stationary point of a face. All 3⁶ faces are tried, so the
answer is the extreme itself and no sample. B_k comes from `bias` at 21 twists by polarisation.

Of a platform that legs or mobility hold a and ξ range along its own coordinates alone, ξ = D ν: forces
are those of (Dᵀ M D) a + …, and the quadratic part has the accelerations in it that keep ξ allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, condition, given_numbers
from gough.errors import InputError, SingularError
from gough.mechanics.solves import WORST_CONDITION
from gough.model.batch import OnError, Trouble, lay_out, settle
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.model.standing import standing
from gough.motion import Motion

TOGETHER = 512
"""Poses taken at a time: their faces stay in memory."""
LARGEST = 1e15
"""Of a bound, in its unit."""


class Box(NamedTuple):
    """Low and high ends (6,) of an acceleration, load or twist."""

    low: Array
    high: Array


@dataclass(frozen=True)
class WorstCase:
    """Extremes over the boxes, (..., legs), without friction.

    q and Γ are in the actuators' units: m and N, or rad and N m.
    """

    push: Array
    """Largest Γ."""
    pull: Array
    """Largest −Γ."""
    speed: Array
    """Largest |q̇|."""
    acceleration: Array
    """Largest |q̈|."""

    @property
    def force(self) -> Array:
        """Largest |Γ|."""
        return np.maximum(self.push, self.pull)

    @property
    def power(self) -> Array:
        """force · speed, W: a bound on the power, which is less where the two do not come together."""
        return np.asarray(self.force * self.speed)


def worst_case(
    robot: Model,
    poses: Motion,
    *,
    acceleration: ArrayLike = (0.0,) * 6,
    load: ArrayLike = (0.0,) * 6,
    twist: ArrayLike = (0.0,) * 6,
    on_error: OnError = "raise",
) -> WorstCase:
    """Extremes at every pose (...) over all accelerations, loads and twists in their boxes.

    A bound is (6,), linear then angular, for ± that much, or (2, 6) for its low and high end; loads
    are forces and moments on the platform at its frame's origin, all in world axes. The motion's own
    velocities and accelerations do not count. Of a platform that cannot move in all directions bounds of
    acceleration and twist are those of its own coordinates, 0 of all others.
    """
    robot.need_rigid("the worst case")
    robot.need_rigid_drives("the worst case")
    robot.need_actuators()
    boxes = _box("acceleration", acceleration), _box("load", load), _box("twist", twist)
    for name, box in (("acceleration", boxes[0]), ("twist", boxes[2])):
        for i, coordinate in enumerate(COORDINATES):
            if coordinate not in robot.coordinates and (box.low[i] or box.high[i]):
                raise InputError(
                    f"{name} bounds: {robot.name} moves by {', '.join(robot.coordinates)}, not by "
                    f"{coordinate}, which must be 0"
                )
    still = Motion(poses.position, poses.rotation)
    rows = lay_out(still, {})
    whole = Motion(
        np.broadcast_to(rows.fields["position"], (rows.rows, 3)),
        np.broadcast_to(rows.fields["rotation"], (rows.rows, 3, 3)),
    )
    out = {name: np.empty((rows.rows, robot.actuator_count)) for name in WorstCase.__annotations__}
    troubles: list[Trouble] = []
    for start in range(0, rows.rows, TOGETHER):
        part = whole[start : start + TOGETHER]
        own = own_directions(robot, part)
        jacobian = robot.jacobian(part, on_error=on_error) @ own
        troubles += _singular(robot, jacobian, start)
        for name, value in _at_poses(robot, part, own, jacobian, boxes, on_error).items():
            out[name][start : start + TOGETHER] = value
    return WorstCase(**settle(rows, out, troubles, on_error))


def _singular(robot: Model, jacobian: Array, start: int) -> list[Trouble]:
    per = [robot.length_scale if name.startswith("r") else 1.0 for name in robot.coordinates]
    scaled = jacobian / np.array(per)
    found = condition(scaled)
    return [
        Trouble(
            start + int(row),
            None,
            SingularError,
            f"the pose is singular: condition number {found[row]:.3g}, limit {WORST_CONDITION:g}",
        )
        for row in np.flatnonzero(~(found < WORST_CONDITION) & ~np.isnan(jacobian).any((1, 2)))
    ]


def _at_poses(
    robot: Model,
    poses: Motion,
    own: Array,
    jacobian: Array,
    boxes: tuple[Box, Box, Box],
    on_error: OnError,
) -> dict[str, Array]:
    """Extremes (n, actuators) at poses (n,); `own` is D (n, 6, m), `jacobian` J D."""
    load = boxes[1]
    rows = [COORDINATES.index(name) for name in robot.coordinates]
    acceleration, twist = (Box(box.low[rows], box.high[rows]) for box in (boxes[0], boxes[2]))
    usable = np.asarray(np.isfinite(jacobian).all(axis=(1, 2)))
    safe = np.where(usable[:, np.newaxis, np.newaxis], jacobian, 0.0)
    share = np.linalg.pinv(np.swapaxes(safe, -1, -2))  # g (n, actuators, m)
    share[~usable] = np.nan
    turned = np.swapaxes(own, -1, -2)
    mass = turned @ robot.mass_matrix(poses, on_error=on_error) @ own
    moving, axes = _twists(robot, poses, own, twist)
    bias = robot.bias(moving, on_error=on_error)  # (n, 1 + twists, 6)
    rates = robot.inverse_kinematics(moving, on_error=on_error).qdd  # (n, 1 + twists, actuators)
    if robot.mobility < 6:
        still = np.concatenate([moving.acceleration, moving.angular_acceleration], axis=-1)
        inertia = robot.mass_matrix(poses, on_error=on_error)[:, np.newaxis]
        bias = bias + (inertia @ still[..., np.newaxis])[..., 0]
    force = np.einsum("nli,nij,ntj->nlt", share, turned, bias)
    low, high = _sum(_linear(share @ mass, acceleration), _linear(-share @ turned, load))
    force_low, force_high = _quadratic(force, twist, axes)
    rate_low, rate_high = _sum(
        _linear(jacobian, acceleration), _quadratic(np.swapaxes(rates, 1, 2), twist, axes)
    )
    slow, fast = _linear(jacobian, twist)
    return {
        "push": high + force_high,
        "pull": -(low + force_low),
        "speed": np.maximum(-slow, fast),
        "acceleration": np.maximum(-rate_low, rate_high),
    }


def _linear(rows: Array, box: Box) -> tuple[Array, Array]:
    """Least and largest of rows (..., 6) times what the box holds, attained in vertices."""
    ends = rows * box.low, rows * box.high
    return np.minimum(*ends).sum(axis=-1), np.maximum(*ends).sum(axis=-1)


def _sum(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    return a[0] + b[0], a[1] + b[1]


def _twists(robot: Model, poses: Motion, own: Array, box: Box) -> tuple[Motion, list[int]]:
    """The poses at rest, at unit twists and at sums of two (n, 1 + t), along what the box allows.

    With the accelerations that a held platform then has, those of its own coordinates 0.
    """
    count = own.shape[-1]
    axes = [k for k in range(count) if box.low[k] or box.high[k]]
    units = np.eye(count)[axes]
    pairs = [units[j] + units[k] for j, k in combinations(range(len(axes)), 2)]
    rows = np.concatenate([np.zeros((1, count)), units, np.reshape(pairs, (-1, count))])
    shape = (len(poses), len(rows), 3)
    place = np.broadcast_to(poses.position[:, np.newaxis], shape)
    turn = np.broadcast_to(poses.rotation[:, np.newaxis], (*shape, 3))
    twist = np.einsum("nij,tj->nti", own, rows)
    moving = Motion(place, turn, twist[..., :3], twist[..., 3:])
    if robot.mobility == 6:
        return moving, axes
    size = robot.mechanism.legs.coordinates
    joints = np.broadcast_to(robot.chains_of(poses)[..., np.newaxis, :], (*shape[:2], size))
    found = standing(robot, robot.remember(moving, joints))
    fixed = np.eye(6)[[COORDINATES.index(name) for name in robot.coordinates]]
    every = np.concatenate([found.held, np.broadcast_to(fixed, (len(found.held), *fixed.shape))], 1)
    right = np.concatenate([found.second, np.zeros((len(every), count))], axis=1)
    scaled = (np.linalg.pinv(every) @ right[..., np.newaxis])[..., 0].reshape(*shape[:2], 6)
    linear, angular = scaled[..., :3], scaled[..., 3:] / robot.length_scale
    kept = Motion(place, turn, twist[..., :3], twist[..., 3:], linear, angular)
    return robot.remember(kept, joints), axes


def _quadratic(values: Array, box: Box, axes: list[int]) -> tuple[Array, Array]:
    """Extremes (n, legs) of c + ξᵀ Q ξ given by its values (n, legs, 1 + t) at `_twists`."""
    constant, count = values[..., 0], len(axes)
    if not count:
        return constant, constant
    single = values[..., 1 : 1 + count] - constant[..., np.newaxis]
    form = np.zeros((*constant.shape, count, count))
    form[..., range(count), range(count)] = single
    for i, (j, k) in enumerate(combinations(range(count), 2)):
        both = values[..., 1 + count + i] - constant
        form[..., j, k] = form[..., k, j] = (both - single[..., j] - single[..., k]) / 2
    low, high = extremes(form, box.low[axes], box.high[axes])
    return constant + low, constant + high


def extremes(form: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Least and largest xᵀ Q x, Q (..., k, k) symmetric, over the box low ≤ x ≤ high (k,).

    On a face with the coordinates B at their ends and F free, x_F = −Q_FF⁻¹ Q_FB x_B is stationary; it
    counts if it lies in the face. Where Q_FF has no inverse a stationary point can be moved along the
    null space, at the same value, to a smaller face. Every value is one that a point of the box has.
    """
    count, shape = len(low), form.shape[:-2]
    # in units of the box, so that singular means the same for metres and radians
    size = np.maximum(np.abs(low), np.abs(high))
    scaled = np.nan_to_num(form * size * size[:, np.newaxis]).reshape(-1, count, count)
    low, high = low / size, high / size
    corners = np.array(list(product(*zip(low, high, strict=True))))
    value = np.einsum("ci,nij,cj->nc", corners, scaled, corners, optimize=True)
    least, largest = value.min(axis=1), value.max(axis=1)
    for free in _subsets(count):
        some, bound = list(free), [k for k in range(count) if k not in free]
        rows = _maybe_definite(scaled, some)
        part = scaled[rows]
        inverse, regular = _inverse(part[:, some][:, :, some])
        move = -inverse @ part[:, some][:, :, bound]  # x_F = move x_B
        edges = np.reshape(
            list(product(*((low[k], high[k]) for k in bound))), (2 ** len(bound), len(bound))
        )
        place = move @ edges.T  # (rows, free, edges)
        ends = low[some, np.newaxis], high[some, np.newaxis]
        inside = ((place >= ends[0]) & (place <= ends[1])).all(axis=1) & regular[:, np.newaxis]
        row, edge = np.nonzero(inside)
        point = np.empty((len(row), count))
        point[:, bound], point[:, some] = edges[edge], place[row, :, edge]
        value = np.einsum("ni,nij,nj->n", point, part[row], point)
        np.minimum.at(least, rows[row], value)
        np.maximum.at(largest, rows[row], value)
    unknown = np.isnan(form).any(axis=(-2, -1))
    return (
        np.where(unknown, np.nan, least.reshape(shape)),
        np.where(unknown, np.nan, largest.reshape(shape)),
    )


def _maybe_definite(forms: Array, some: list[int]) -> Array:
    """Which forms may be definite in some of their coordinates: others have no extreme inside the face.

    A definite form has a diagonal of one sign, and each pair of its coordinates a positive determinant.
    """
    diagonal = forms[:, some, some]
    good = (diagonal > 0).all(axis=1) | (diagonal < 0).all(axis=1)
    for j, k in combinations(some, 2):
        good &= forms[:, j, j] * forms[:, k, k] > forms[:, j, k] ** 2
    return np.flatnonzero(good)


def _inverse(matrices: Array) -> tuple[Array, Array]:
    """Inverses, and which matrices have one; 0 for the others."""
    values, vectors = np.linalg.eigh(matrices)
    size = np.abs(values)
    regular = size.min(axis=-1) > 1e-13 * size.max(axis=-1)
    divisor = np.where(regular[..., np.newaxis], values, np.inf)
    return (vectors / divisor[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2), regular


@cache
def _subsets(count: int) -> tuple[tuple[int, ...], ...]:
    """All non-empty sets of coordinates."""
    return tuple(
        one for length in range(1, count + 1) for one in combinations(range(count), length)
    )


def _box(name: str, value: ArrayLike) -> Box:
    array = given_numbers(f"bounds of {name}", value)
    if array.shape == (6,):
        if not np.all(array >= 0):
            raise InputError(f"{name} bounds (6,) stand for ± each: need 0 or more, has {array}")
        array = np.stack([-array, array])
    if array.shape != (2, 6):
        raise InputError(f"{name} bounds have shape {array.shape}, need (6,) or (2, 6)")
    if not np.all(np.abs(array) <= LARGEST):
        raise InputError(f"{name} bounds are not finite, or over {LARGEST:g}")
    if np.any(array[0] > array[1]):
        k = int(np.argmax(array[0] > array[1]))
        raise InputError(f"{name} bounds: low {array[0, k]:g} is above high {array[1, k]:g}")
    return Box(*array)
