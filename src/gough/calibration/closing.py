"""Where a robot with given geometry stands, and how that changes with its numbers.

Legs with coordinates q hold the platform where g(X, q; u) = 0 (`Leg.grips`, and the directions that
mobility takes). The pose then changes with the unknowns u and with q as

    (δp, δθ) = −G⁺ (∂g/∂u δu + ∂g/∂q δq),   G = ∂g/∂(p, θ)

world axes. Of legs that are measured at a known pose q = IK(X; u), with slopes J = ∂q/∂(p, θ) and ∂q/∂u.
Slopes by u and q are central differences: a leg feels its own numbers only, so those of all legs are
changed together. The directions n in which a leg holds the platform are fixed but for their signs (and,
of several, but for a turn among themselves), which may jump between two close geometries. Differences
are therefore taken of the vector Σ n g of a leg, which does not jump, along the directions of the
geometry in the middle. Arrays have samples first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array, condition, wrapped
from gough.calibration.geometry import Geometry
from gough.engine.run.execute import chosen
from gough.errors import ConvergenceError, Failure, SingularError
from gough.mechanics import equation
from gough.mechanics.forward_program import gripped, newton_step
from gough.mechanics.leg import Grips
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import jacobian_rows
from gough.mechanics.state import State
from gough.model.batch import OnError

STEP = 1e-5
"""Of the differences, in length scales and rad."""
STILL = 1e-12
"""Newton's last step, rad and length scales."""
CLOSED = 1e-9
"""Largest error of legs, length scales, with which a pose counts as found."""
FORCED = 0.05
"""The same where more directions are held than there are: they agree only as well as they are built."""
MOST_STEPS = 60
WORST = 1e7
"""Condition number of G from which a pose tells nothing."""


class Standing(NamedTuple):
    """Poses, and joint coordinates of chain legs there."""

    position: Array
    """(n, 3)."""
    rotation: Array
    """(n, 3, 3)."""
    chains: Array
    """(n, K)."""

    def at(self, rows: Array | slice) -> Standing:
        """Some of them."""
        return Standing(*(part[rows] for part in self))

    def state(self) -> State:
        """At rest, as the equations see it."""
        nothing = np.zeros((3, 1, 1))
        return State(
            self.position.T[:, np.newaxis],
            np.moveaxis(self.rotation, 0, -1)[:, :, np.newaxis],
            *(nothing,) * 4,
            chains=self.chains.T,
        )


class Slopes(NamedTuple):
    """A function of pose, geometry and coordinates: its value and its slopes, (n, rows, …)."""

    value: Array
    by_pose: Array
    """(n, rows, 6) by (δp, δθ)."""
    by_unknowns: Array
    """(n, rows, unknowns)."""
    by_q: Array
    """(n, rows, actuators)."""


@np.errstate(all="ignore")
def stand(
    geometry: Geometry, unknowns: Array, q: Array, near: Standing, on_error: OnError = "raise"
) -> Standing:
    """Poses (n,) with coordinates q (n, actuators), by Newton from near ones."""
    mechanism, robot = geometry.mechanism(unknowns[np.newaxis]), geometry.robot
    position, rotation, chains = (np.array(part) for part in near)
    active = np.arange(len(q))
    residual = np.full(len(q), np.inf)
    for _ in range(MOST_STEPS):
        here = Standing(position[active], rotation[active], chains[active])
        found = newton_step(mechanism, here.state(), q[active].T)
        residual[active] = found["residual"]
        good = np.isfinite(found["step"]) & np.isfinite(found["residual"])
        moved = active[good]
        position[moved] = np.broadcast_to(found["position"], (3, len(active))).T[good]
        turned = np.broadcast_to(found["rotation"], (3, 3, len(active)))
        rotation[moved] = np.moveaxis(turned, -1, 0)[good]
        if chains.shape[1]:
            chains[moved] = found["chains"].T[good]
        active = active[good & (found["step"] > STILL)]
        if not active.size:
            break
    redundant = robot.freedom.overconstrained or robot.actuator_count > robot.mobility
    lost = ~(residual < (FORCED if redundant else CLOSED) * robot.length_scale)
    position[lost] = np.nan
    if np.any(lost) and on_error == "raise":
        raise ConvergenceError(
            [
                Failure(
                    (int(i),), None, f"legs that read so close nowhere near ({residual[i]:.2g} m)"
                )
                for i in np.flatnonzero(lost)
            ]
        )
    return Standing(position, _orthogonal(rotation), chains)


def _orthogonal(rotation: Array) -> Array:
    """R (3 − RᵀR)/2: without the rounding of many products."""
    return np.asarray(rotation @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(rotation, -1, -2) @ rotation))


def closing(
    geometry: Geometry, unknowns: Array, q: Array, poses: Standing, sloped: bool = True
) -> Slopes:
    """g and its slopes at poses where the legs have coordinates q; by unknowns only if `sloped`."""
    mechanism = geometry.mechanism(unknowns[np.newaxis])
    rows, error, grips = gripped(mechanism, poses.state(), q.T)
    by_pose = np.moveaxis(np.broadcast_to(rows, (*rows.shape[:2], len(q))), (0, 1, 2), (2, 1, 0))
    holders = np.full(len(error), -1)
    holders[: len(grips.holders)] = grips.holders

    blocks = _held_rows(mechanism, grips)
    # n is U of orthonormal columns, angular parts times L: U₀ᵀ U = n₀ᵀ diag(1, 1/L²) n
    square = mechanism.scale()[: len(grips.rows), np.newaxis] ** 2
    middle = np.broadcast_to(grips.rows * square, (*grips.rows.shape[:2], len(q)))

    def errors(mechanisms: Mechanism, states: State, coordinates: Array) -> Array:
        near = gripped(mechanisms, states, coordinates)[2]
        if near.chains.size:  # twice, so that joints follow to second order
            states = states._replace(chains=near.chains)
        _, off, there = gripped(mechanisms, states, coordinates)
        off = np.broadcast_to(off, (len(off), coordinates.shape[1])).copy()
        along = np.tile(middle, coordinates.shape[1] // len(q))  # samples once for each trial
        for some in blocks:
            vector = (there.rows[:, some] * off[some]).sum(axis=1)
            off[some] = (along[:, some] * vector[:, np.newaxis]).sum(axis=0)
        return off

    by_unknowns = np.zeros((len(q), len(holders), geometry.count))
    if sloped:
        by_unknowns = _by_unknowns(geometry, unknowns, q, poses, errors, holders)
    by_q = _by_q(geometry, mechanism, q, poses, errors, holders)
    return Slopes(error.T, by_pose, by_unknowns, by_q)


def _held_rows(mechanism: Mechanism, grips: Grips) -> list[Array]:
    """Rows of `Grips` of each leg that are held directions: those after the leg's actuators."""
    holders, actuators = np.array(grips.holders), np.array(mechanism.legs.holders)
    own = [
        np.flatnonzero(holders == leg)[int(np.sum(actuators == leg)) :]
        for leg in range(mechanism.legs.count)
    ]
    return [some for some in own if len(some)]


def reading(
    geometry: Geometry, unknowns: Array, poses: Standing, near: Array, sloped: bool = True
) -> Slopes:
    """Coordinates that the legs have at poses, near ones in whole turns, and their slopes as above."""
    mechanism = geometry.mechanism(unknowns[np.newaxis])
    turns = np.array([one.units.turns for one in geometry.robot.actuators])

    def coordinates(mechanisms: Mechanism, states: State, q: Array) -> Array:
        _, legs = equation.unforced(mechanisms, states)
        if legs.chains.size:
            _, legs = equation.unforced(mechanisms, states._replace(chains=legs.chains))
        return np.where(turns[:, np.newaxis], q + wrapped(legs.q - q), legs.q)

    with np.errstate(all="ignore"):
        platform, legs = equation.unforced(mechanism, poses.state())
        rows = jacobian_rows(platform.tips, legs.w, legs.leg.holders)
        q = coordinates(mechanism, poses.state(), near.T).T
        holders = np.array(legs.leg.holders)
        by_unknowns = np.zeros((len(near), len(holders), geometry.count))
        if sloped:
            by_unknowns = _by_unknowns(geometry, unknowns, near, poses, coordinates, holders)
    by_pose = np.moveaxis(rows, (0, 1, 2), (2, 1, 0))
    return Slopes(q, by_pose, by_unknowns, np.tile(-np.eye(q.shape[1]), (len(q), 1, 1)))


def pose_slopes(slopes: Slopes, scale: float) -> tuple[Array, Array]:
    """(δp, δθ) by unknowns (n, 6, unknowns) and by q (n, 6, actuators): −G⁺ ∂g/∂u, −G⁺ ∂g/∂q."""
    size = np.array([1.0] * 3 + [1 / scale] * 3)
    matrices = slopes.by_pose * size
    worst = condition(matrices)
    lost = np.flatnonzero(~(worst < WORST))
    if lost.size:
        raise SingularError(
            [
                Failure((int(i),), None, f"singular pose: condition number {worst[i]:.2g}")
                for i in lost
            ]
        )
    inverse = -size[:, np.newaxis] * np.linalg.pinv(matrices)
    return np.asarray(inverse @ slopes.by_unknowns), np.asarray(inverse @ slopes.by_q)


Function = Callable[[Mechanism, State, Array], Array]
"""(rows, samples) of robots in states with coordinates (actuators, samples)."""


def _by_unknowns(
    geometry: Geometry,
    unknowns: Array,
    q: Array,
    poses: Standing,
    function: Function,
    holders: Array,
) -> Array:
    """Central differences by all geometric unknowns; those of encoders' zeros stay 0."""
    together = geometry.side_by_side()
    steps = STEP * geometry.robot.length_scale * geometry.sizes
    trials = np.tile(unknowns, (2 * len(together), 1))
    for i, some in enumerate(together):
        trials[2 * i, some] += steps[some]
        trials[2 * i + 1, some] -= steps[some]
    samples, rows = len(q), len(holders)
    which = np.repeat(np.arange(len(trials)), samples)
    every = np.tile(np.arange(samples), len(trials))
    many = chosen(geometry.mechanism(trials), which)._replace(mobile=geometry.robot.mobility)
    value = function(many, poses.at(every).state(), q[every].T)
    value = np.broadcast_to(value, (rows, len(which))).reshape(rows, len(together), 2, samples)
    difference = value[:, :, 0] - value[:, :, 1]
    found = np.zeros((samples, rows, geometry.count))
    legs = np.array([one.leg for one in geometry.unknowns])
    for i, some in enumerate(together):
        for row, holder in enumerate(holders):
            for one in some[legs[some] == holder]:
                found[:, row, one] = difference[row, i] / (2 * steps[one])
    return found


def _by_q(
    geometry: Geometry,
    mechanism: Mechanism,
    q: Array,
    poses: Standing,
    function: Function,
    holders: Array,
) -> Array:
    """Central differences by q, actuator by actuator of all legs together."""
    actuators = np.array([one.leg for one in geometry.robot.actuators])
    seen = np.array([int(np.sum(actuators[:i] == leg)) for i, leg in enumerate(actuators)])
    found = np.zeros((len(q), len(holders), len(actuators)))
    for turn in range(seen.max(initial=-1) + 1):
        some = np.flatnonzero(seen == turn)
        change = np.zeros(q.shape[1])
        change[some] = STEP
        up, down = (
            np.broadcast_to(
                function(mechanism, poses.state(), (q + sign * change).T), (len(holders), len(q))
            )
            for sign in (1, -1)
        )
        for one in some:
            rows = np.flatnonzero(holders == actuators[one])
            found[:, rows, one] = ((up - down)[rows] / (2 * STEP)).T
    return found
