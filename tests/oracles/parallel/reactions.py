"""What holds the platform, and what each joint carries.

Gᵀ Λ is what the motion asks for besides actuators, friction and wrench. Where G has dependent rows
(over-constrained robots) Λ is the one with the least Σ (‖force‖² + ‖moment‖²/L²).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..arrays import Array
from .closure import Loops, Posture


@dataclass(frozen=True)
class Reactions:
    """World axes.

    forces (legs, 3), moments (legs, 3): of each leg on the platform, the moment about the last
    joint's point (fixed to the platform), NaN for spherical ones; friction of the last joint
    included, but for the couple of a spherical one. constraint (6,): N μ at the platform's
    origin. unique (legs,): no other reaction of this leg fits the same Γ. joints: one a leg,
    (joints, 6) force and moment that each joint exerts on the body it carries, about that body's
    frame's origin, actuators and friction of chains included, universal friction couples not;
    a spherical last joint is left out, any other is the last row.
    """

    forces: Array
    moments: Array
    constraint: Array
    unique: Array
    joints: list[Array]


def holding(loops: Loops, posture: Posture, missing: Array) -> tuple[Array, Array, Array, Array]:
    """Forces and moments of the legs, N μ and `unique` for Gᵀ Λ = missing (nv,)."""
    legs, scale, held = loops.tree.legs, loops.length_scale, len(loops.taken)
    # rows are tip less platform: the platform feels the opposite; N μ is as it is
    matrix = -loops.rows(posture).T
    matrix[:, matrix.shape[1] - held :] *= -1
    weights = [w for leg in legs for w in [1.0] * 3 + [scale] * (leg.port - 3)]
    weights += [scale if np.any(row[3:]) else 1.0 for row in loops.taken]
    owner = np.repeat(np.arange(len(legs)), [leg.port for leg in legs])
    # unknowns are forces and moments over L, and so are the rows: the rank has no units
    revolving = np.ones(loops.model.nv)
    revolving[loops.moving[3:]] = 1 / scale
    scaled = revolving[:, None] * matrix * np.array(weights)
    left, sizes, right = np.linalg.svd(scaled)
    count = loops.model.nv - loops.mobility
    if sizes[count - 1] < 1e-6 * sizes[0] or np.any(sizes[count:] > 1e-9 * sizes[0]):
        raise ValueError(f"constraints of doubtful rank: {sizes}")
    wanted = revolving * missing
    least = right[:count].T @ ((left[:, :count].T @ wanted) / sizes[:count])
    if np.max(np.abs(scaled @ least - wanted)) > 1e-9 * (1 + np.max(np.abs(wanted))):
        raise ValueError("no reactions fit")
    free = np.max(np.abs(right[count:]), axis=0, initial=0.0) > 1e-8
    wrenches = np.array(weights) * least
    forces, moments = np.zeros((len(legs), 3)), np.full((len(legs), 3), np.nan)
    for i, leg in enumerate(legs):
        own = wrenches[: len(owner)][owner == i]
        forces[i] = own[:3]
        if leg.port == 6:
            moments[i] = own[3:]
    unique = np.array([not np.any(free[: len(owner)][owner == i]) for i in range(len(legs))])
    return forces, moments, loops.taken.T @ wrenches[len(owner) :], unique


def joint_wrenches(
    loops: Loops,
    posture: Posture,
    body_motion: tuple[Array, Array],
    ports: tuple[Array, Array],
    couples: dict[int, Array],
) -> list[Array]:
    """What each joint exerts on the body it carries: Pinocchio's velocities and accelerations,
    forces and moments on the platform, friction couples on bodies."""
    model, data = loops.model, loops.data
    pin.framesForwardKinematics(model, data, posture.configuration)
    on_bodies = [pin.Force.Zero() for _ in range(model.njoints)]
    for leg, force, moment in zip(loops.tree.legs, *ports, strict=True):
        frame, axes = model.frames[leg.tip], data.oMf[leg.tip].rotation
        pushed = pin.Force(axes.T @ -force, axes.T @ -np.nan_to_num(moment))
        on_bodies[frame.parentJoint] += frame.placement.act(pushed)
    for joint, couple in couples.items():
        on_bodies[joint] += pin.Force(np.zeros(3), data.oMi[joint].rotation.T @ couple)
    pin.rnea(model, data, posture.configuration, *body_motion, on_bodies)
    found = []
    for leg in loops.tree.legs:
        rows = np.zeros((len(leg.joints), 6))
        for row, joint in zip(rows, leg.joints, strict=True):
            axes, wrench = data.oMi[joint].rotation, data.f[joint]
            row[:] = np.concatenate([axes @ wrench.linear, axes @ wrench.angular])
        found.append(rows)
    return found
