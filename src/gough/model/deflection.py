"""How a flexible platform deflects: at rest under its loads, and at any of its points."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.errors import ConvergenceError, InputError, ModalBodyWarning
from gough.mechanics import programs
from gough.model import batch
from gough.model.batch import Inputs, OnError
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.model.outputs import origin_shapes
from gough.motion import Motion, need_motion

TOLERANCE = 1e-11
"""Newton step, relative to the deflection, at which the static deflection counts as found."""
ROUGHLY = 1e-4
"""The same on the way there, under a share of the load."""
MOST_STEPS = 30
MUCH_SHORTER = 0.1
"""Of two Newton steps with the same slope: length of the second over the first."""
LEAST_SHARE = 1 / 512
"""Of the load, by which it is raised at least."""
PROBE = 1e-6
"""Deflection, m, of the steps that differentiate."""
EPSILON = float(np.finfo(float).eps)
ORIGIN = ("origin_shapes", "origin_rotations")
"""Arrays of a modal body that say what force and moment of a wrench do to the modes."""
NO_REST = "no static deflection: the platform gives way under {:.2g} of its load"
NOT_SHARED = "no static deflection found under actuator forces of least norm"

Where = Literal["origin", "tips", "nodes"]


@dataclass(frozen=True)
class Deformation:
    """Motion of points of a flexible platform: (..., 3) at the origin, else (..., points, 3)."""

    position: Array
    """World frame, m."""
    displacement: Array
    """From the undeformed place, platform axes, m."""
    velocity: Array
    """World axes, m/s."""
    angular_velocity: Array | None
    """Of the material at the point, world axes, rad/s; None where the body has no rotation shapes."""


def static_deflection(
    robot: ModelCalls,
    motion: Motion,
    wrench: ArrayLike | None = None,
    *,
    on_error: OnError = "raise",
) -> Motion:
    """The motion's poses at rest with the elastic coordinates that stay: q̈e(qe) = 0 there.

    Actuators hold the platform frame against weight and wrench; the modes hang in their stiffness,
    K qe = Φᵀ f + sᵀ g + φ, where the legs' forces f depend on qe. Of several such rests it is the one
    that the undeformed platform comes to as it is loaded little by little.
    """
    need_motion(motion)
    rest = Motion(motion.position, motion.rotation, time=motion.time)
    if not robot.modes:  # stays as it is, if its numbers are any
        rows = batch.lay_out(rest, {})
        place = np.array(np.broadcast_to(rows.fields["position"], (rows.rows, 3)))
        known = batch.settle(rows, {"position": place}, batch.not_finite(rows), on_error)
        return rest.replace(position=known["position"])
    undeformed = rest.replace(elastic=np.zeros(robot.modes))
    stands = robot.inverse_dynamics(undeformed, wrench, friction=False, on_error=on_error)
    acting: Inputs = {"wrench": (np.zeros(6) if wrench is None else wrench, (6,))}
    rows = batch.lay_out(rest, acting | robot.members())
    position, rotation, load = (
        np.broadcast_to(one, (rows.rows, *one.shape[1:]))
        for one in (rows.fields[name] for name in ("position", "rotation", "wrench"))
    )
    _warn_of_missing_shapes(robot, load)
    loading = _Loading(robot.rows(rows.shape), Motion(position, rotation), load)
    sound = np.isfinite(stands.forces).all(axis=-1)
    loading.carry(np.flatnonzero(np.broadcast_to(sound, rows.shape)))
    troubles = [
        batch.Trouble(int(row), None, ConvergenceError, loading.lost(int(row)))
        for row in np.flatnonzero(~(loading.carried == 1))
    ]
    found = batch.settle(rows, {"elastic": loading.elastic}, troubles, on_error)["elastic"]
    settled = Motion(rest.position, rest.rotation, elastic=found, time=rest.time)
    holds = robot.inverse_dynamics(settled, wrench, friction=False, on_error=on_error)
    found[~np.isfinite(holds.forces).all(axis=-1)] = np.nan
    return settled.replace(elastic=found)


def _warn_of_missing_shapes(robot: ModelCalls, wrench: Array) -> None:
    """Warn where a wrench does no work on the modes for want of shapes at the frame's origin."""
    body = robot.modal
    if body is None:
        return
    parts = np.abs(wrench).reshape(-1, 2, 3).max(axis=(0, 2), initial=0.0)
    for name, part, word in zip(ORIGIN, parts, ("force", "moment"), strict=True):
        if part and getattr(body, name) is None:
            warnings.warn(
                f"{robot.name}: {body.name} has no {name}: the {word} of the wrench, "
                f"at most {part:.3g}, does no work on the modes and deflects none of them. Write {name} "
                "(3, modes) of the platform frame's origin into the .npz",
                ModalBodyWarning,
                stacklevel=3,
            )


class _Loading:
    """Platforms (n,) that are loaded little by little: qe (n, N) under shares of their load (n,).

    Newton's method at each share, from the last two rests, on what the modes' equation lacks, which is
    differentiated by central differences.
    A share counts where the second of two steps with the same slope is much the shorter (after
    P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 5.1), else a smaller one is tried;
    most platforms take all at once.
    """

    def __init__(self, robots: ModelCalls, poses: Motion, wrench: Array) -> None:
        self.robots, self.poses, self.wrench = robots, poses, wrench
        self.elastic = np.zeros((len(poses), robots.modes))
        self.carried = np.zeros(len(poses))
        self.probes = np.diag(PROBE / largest_shapes(robots))
        self.program: Function = programs.resting
        self.output = "lacking"

    def carry(self, rows: Array) -> None:
        """Load these rows; `carried` is what they carry in the end, 1 where all of it."""
        before, bent = np.zeros(len(self.poses)), self.elastic.copy()
        share = np.ones(len(self.poses))
        active = rows
        while active.size:
            wanted = np.minimum(self.carried[active] + share[active], 1.0)
            made = self.carried[active] - before[active]
            ahead = np.where(made > 0, (wanted - self.carried[active]) / np.where(made, made, 1), 0)
            now = self.elastic[active]
            there, held = self._newton(
                now + ahead[:, np.newaxis] * (now - bent[active]), wanted, active
            )
            further = active[held]
            before[further], bent[further] = self.carried[further], self.elastic[further]
            self.carried[further], self.elastic[further] = wanted[held], there[held]
            share[active] *= np.where(held, 2.0, 0.25)
            active = active[(self.carried[active] < 1) & (share[active] >= LEAST_SHARE)]
        if self.robots.actuator_count > self.robots.mobility:
            self._share_out(np.flatnonzero(self.carried == 1))

    def _share_out(self, rows: Array) -> None:
        """From these rests to those of forces that are of least norm among all that hold the frame.

        Others than of least norm among those that hold the platform, where there are more of them than
        directions.
        """
        self.program, self.output = programs.inverse_dynamics, "elastic_acceleration"
        there, held = self._newton(self.elastic[rows], np.ones(len(rows)), rows)
        self.elastic[rows] = there
        self.carried[rows[~held]] = np.nan

    def lost(self, row: int) -> str:
        """Why a row has no rest."""
        share = self.carried[row]
        return NOT_SHARED if np.isnan(share) else NO_REST.format(share)

    def _newton(self, elastic: Array, share: Array, rows: Array) -> tuple[Array, Array]:
        """qe (k, N) of some rows under shares of their load, and where it was found."""
        step, converged = np.full(len(rows), np.inf), np.zeros(len(rows), dtype=bool)
        enough = np.where(share < 1, ROUGHLY, TOLERANCE)
        tried = np.arange(len(rows))
        lacking = self._lacking(elastic[:, np.newaxis], share, rows)[:, 0]
        for turn in range(MOST_STEPS):
            here, own = elastic[tried][:, np.newaxis], (share[tried], rows[tried])
            ahead, behind = (
                self._lacking(here + self.probes, *own),
                self._lacking(here - self.probes, *own),
            )
            slope = (ahead - behind) / (2 * self.probes.diagonal()[:, np.newaxis])
            slope = np.swapaxes(slope, -1, -2)
            change = _solve(slope, -lacking[tried])
            elastic[tried] += change
            lacking[tried] = self._lacking(elastic[tried][:, np.newaxis], *own)[:, 0]
            size = np.abs(elastic[tried]).max(axis=1)
            step[tried] = np.abs(change).max(axis=1) / np.where(size == 0, 1, size)
            fine = step[tried] <= enough[tried]
            converged[tried] = fine
            going = ~fine & np.isfinite(step[tried])
            if turn == 0:
                after = np.linalg.norm(_solve(slope, -lacking[tried]), axis=1)
                going &= after <= MUCH_SHORTER * np.linalg.norm(change, axis=1)
            tried = tried[going]
            if not tried.size:
                break
        return elastic, converged

    def _lacking(self, elastic: Array, share: Array, rows: Array) -> Array:
        """What the modes lack (k, probes, N) in some rows at rest with qe (k, probes, N)."""
        k, probes, modes = elastic.shape
        robots = self.robots.of_rows(np.repeat(rows, probes))
        poses = self.poses[np.repeat(rows, probes)].replace(elastic=elastic.reshape(-1, modes))
        given: Inputs = {"wrench": (np.repeat(self.wrench[rows], probes, axis=0), (6,))}
        if self.program is programs.resting:
            given["share"] = (np.repeat(share, probes)[:, np.newaxis], (1,))
        given |= robots.members() | robots.chain_inputs(poses) | robots.elastic_inputs(poses)
        asked = batch.lay_out(poses, given)
        asked.fields["elastic_acceleration"] = np.zeros((1, modes))
        found = robots.executor(self.program, asked.rows, asked.fields)[self.output]
        return found.reshape(k, probes, modes)


def deformation(robot: DescribedModel, motion: Motion, at: Where = "tips") -> Deformation:
    """Where the platform frame's origin, the tips or all nodes are, and how they move.

    x = p + R (r + Φ qe), ẋ = v + ω×R (r + Φ qe) + R Φ q̇e, and the material's ω + R Φ_r q̇e:
    Long, Khalil & Martinet 2014, Eqs. 11–14.
    """
    body = robot.modal
    if body is None:
        raise InputError(f"{robot.name} has a rigid platform")
    need_motion(motion)
    if not isinstance(at, str):
        raise InputError(f"at is 'origin', 'tips' or 'nodes', not {type(at).__name__}")
    if at == "origin":
        turns = body.origin_rotations
        places, shapes = np.zeros((1, 3)), origin_shapes(robot)[0][np.newaxis]
        turns = None if turns is None else turns[np.newaxis]
    elif at == "tips":
        places, shapes, turns = body.tip_positions, body.tip_shapes, body.tip_rotations
    elif at == "nodes":
        places, shapes, turns = body.positions, body.shapes, body.rotations
    else:
        raise InputError(f"at is 'origin', 'tips' or 'nodes', not {at!r}")
    elastic, rate = (
        values if motion.modes else np.zeros(robot.modes)
        for values in (motion.elastic, motion.elastic_velocity)
    )
    if elastic.shape[-1] != robot.modes:
        raise InputError(
            f"motion has {motion.modes} elastic coordinates, the platform has {robot.modes} modes"
        )
    world = np.swapaxes(motion.rotation, -1, -2)
    displacement = np.einsum("pck,...k->...pc", shapes, elastic)
    arm = (places + displacement) @ world
    moving = np.einsum("pck,...k->...pc", shapes, rate) @ world
    omega = motion.angular_velocity[..., np.newaxis, :]
    parts: list[Array | None] = [
        motion.position[..., np.newaxis, :] + arm,
        np.broadcast_to(displacement, arm.shape),
        motion.velocity[..., np.newaxis, :] + np.cross(omega, arm) + moving,
        None if turns is None else omega + np.einsum("pck,...k->...pc", turns, rate) @ world,
    ]
    if at == "origin":
        parts = [None if part is None else part[..., 0, :] for part in parts]
    position, moved, velocity, turning = parts
    assert position is not None
    assert moved is not None
    assert velocity is not None
    return Deformation(position, moved, velocity, turning)


def largest_shapes(robot: ModelCalls) -> Array:
    """Largest displacement of each mode (modes,) at nodes and tips; 1 where it has none."""
    body = robot.modal
    assert body is not None
    largest = np.abs(np.concatenate([body.shapes, body.tip_shapes])).max(axis=(0, 1))
    return np.where(largest == 0, 1.0, largest)


def _solve(matrices: Array, right: Array) -> Array:
    """Solutions of (n, N, N) systems of least norm; NaN where there is none."""
    found = np.full(right.shape, np.nan)
    sound = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
    inverse = np.linalg.pinv(matrices[sound], rcond=EPSILON * matrices.shape[-1])
    found[sound] = np.einsum("nij,nj->ni", inverse, right[sound])
    return found
