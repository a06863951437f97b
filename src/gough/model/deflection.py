"""How a flexible platform deflects: at rest under its loads, and at any of its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import ConvergenceError, InputError
from gough.model import batch
from gough.model.batch import Inputs, OnError
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.motion import Motion, not_a_motion

TOLERANCE = 1e-11
"""Newton step, relative to the deflection, at which the static deflection counts as found."""
MOST_STEPS, MOST_HALVINGS = 30, 10
PROBE = 1e-6
"""Deflection, m, of the steps that differentiate."""
NO_REST = (
    "no static deflection found: the last step was {step:.2g} of the deflection, limit {limit:g}"
)

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
    K qe = Φᵀ f + sᵀ g + φ, where the legs' forces f depend on qe. Damped Newton's method from the
    undeformed platform on q̈e of `inverse_dynamics`, differentiated by central differences.
    """
    if not isinstance(motion, Motion):
        raise not_a_motion(motion)
    rest = Motion(motion.position, motion.rotation, time=motion.time)
    if not robot.modes:
        return rest
    undeformed = rest.replace(elastic=np.zeros(robot.modes))
    robot.inverse_dynamics(
        undeformed, wrench, friction=False, on_error=on_error
    )  # names what is wrong
    acting: Inputs = {"wrench": (np.zeros(6) if wrench is None else wrench, (6,))}
    rows = batch.lay_out(rest, acting | robot.members())
    each = robot.rows(rows.shape)
    every = {name: rows.fields[name] for name in ("position", "rotation", "wrench")}
    every = {name: np.broadcast_to(v, (rows.rows, *v.shape[1:])) for name, v in every.items()}

    def pull(elastic: Array, which: Array) -> Array:
        """q̈e (n, probes, modes) of some rows at rest with qe (n, probes, modes)."""
        position, rotation, load = (one[which][:, np.newaxis] for one in every.values())
        here = Motion(position, rotation, elastic=elastic)
        asked = each.of_rows(np.s_[which, np.newaxis])
        found = asked.inverse_dynamics(here, load, friction=False, on_error="nan")
        return found.elastic_acceleration

    elastic = np.zeros((rows.rows, robot.modes))
    step = np.full(rows.rows, np.inf)
    active = np.arange(rows.rows)
    probes = np.diag(PROBE / largest_shapes(robot))
    for _ in range(MOST_STEPS):
        if not active.size:
            break
        here = elastic[active][:, np.newaxis]
        ahead, behind = pull(here + probes, active), pull(here - probes, active)
        slope = (ahead - behind) / (2 * probes.diagonal()[:, np.newaxis])
        slope = np.swapaxes(slope, -1, -2)
        change = _solve(slope, -pull(here, active)[:, 0])
        share = _damping(pull, slope, change, elastic, active)
        elastic[active] += share[:, np.newaxis] * change
        size = np.abs(elastic[active]).max(axis=1)
        step[active] = np.abs(change).max(axis=1) / np.where(size == 0, 1, size)
        active = active[step[active] > TOLERANCE]  # NaN goes no further
    troubles = [
        batch.Trouble(
            int(row), None, ConvergenceError, NO_REST.format(step=step[row], limit=TOLERANCE)
        )
        for row in np.flatnonzero(~(step <= TOLERANCE))
    ]
    found = batch.settle(rows, {"elastic": elastic}, troubles, on_error)["elastic"]
    return Motion(rest.position, rest.rotation, elastic=found, time=rest.time)


def deformation(robot: DescribedModel, motion: Motion, at: Where = "tips") -> Deformation:
    """Where the platform frame's origin, the tips or all nodes are, and how they move.

    x = p + R (r + Φ qe), ẋ = v + ω×R (r + Φ qe) + R Φ q̇e, and the material's ω + R Φ_r q̇e:
    Long, Khalil & Martinet 2014, Eqs. 11–14.
    """
    body = robot.modal
    if body is None:
        raise InputError(f"{robot.name} has a rigid platform")
    if not isinstance(motion, Motion):
        raise not_a_motion(motion)
    if not isinstance(at, str):
        raise InputError(f"at is 'origin', 'tips' or 'nodes', not {type(at).__name__}")
    if at == "origin":
        places, shapes, turns = np.zeros((1, 3)), body.origin_shapes, body.origin_rotations
        if shapes is None:
            raise InputError(f"{robot.name}: {body.name} has no origin_shapes")
        shapes, turns = shapes[np.newaxis], None if turns is None else turns[np.newaxis]
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


def _damping(
    pull: Callable[[Array, Array], Array],
    slope: Array,
    change: Array,
    elastic: Array,
    active: Array,
) -> Array:
    """The share λ (n,) of Newton's steps after which the next, with the same slope, is shorter.

    Without it a step beyond where the legs' forces bend ends at a rest far away, or at none (natural
    monotonicity: P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.3).
    """
    share, size = np.ones(len(active)), np.linalg.norm(change, axis=1)
    tried = np.flatnonzero(np.isfinite(size))
    for _ in range(MOST_HALVINGS):
        rows = active[tried]
        there = elastic[rows] + share[tried, np.newaxis] * change[tried]
        after = np.linalg.norm(
            _solve(slope[tried], -pull(there[:, np.newaxis], rows)[:, 0]), axis=1
        )
        allowed = (1 - share[tried] / 4) * size[tried] + TOLERANCE * np.linalg.norm(there, axis=1)
        tried = tried[~(after <= allowed)]
        if not tried.size:
            break
        share[tried] /= 2
    return share


def _solve(matrices: Array, right: Array) -> Array:
    """Solutions of (n, N, N) systems; NaN where there is none."""
    found = np.full(right.shape, np.nan)
    sound = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
    for i in np.flatnonzero(sound):
        found[i] = np.linalg.lstsq(matrices[i], right[i], rcond=None)[0]
    return found
