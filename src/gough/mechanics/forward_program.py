"""One Newton step of forward kinematics, as a program for the engine; see `gough.model.forward`."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gough.mechanics.driving import unheld
from gough.mechanics.equation import coasting
from gough.mechanics.leg import Grips, MovingLeg, Ports
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.mobility import turned_by
from gough.mechanics.platforms.platform import Tips, jacobian_rows
from gough.mechanics.programs import DOUBTFUL, Outputs
from gough.mechanics.solves import Factors, factor, least_squares
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, copysign, matrix, maximum, minimum, norm

LARGEST_TURN = 0.5
"""Longest step, rad, and in metres as a share of the length scale: keeps Newton near the guess."""


def gripped(
    mechanism: Mechanism, state: State, q: Components
) -> tuple[Components, Components, Grips]:
    """Rows (6, directions, samples) of J (δp, δθ) = −error, the error, and what legs know of it."""
    arm = mechanism.platform.arms(mechanism.points, state)
    still = 0 * arm
    ports = Ports(
        state.position + arm,
        still,
        still,
        state.rotation,
        0 * state.position,
        0 * state.position,
        state.chains,
    )
    grips = mechanism.legs.grips(ports, q)
    tips = Tips(arm, ports.position, still, still, still)
    rows, error = jacobian_rows(tips, grips.rows, grips.holders), grips.error
    if mechanism.mobility is not None:
        like = 0 * rows[0, 0]
        held = mechanism.mobility.gap(state.position, state.rotation)
        rows = np.concatenate([rows, mechanism.mobility.directions + like], axis=1)
        error = np.concatenate([error, held])
    return rows, error, grips


def newton_step(mechanism: Mechanism, state: State, q: Components) -> Outputs:
    """The pose after a step, its length (rad, length scales), the residual and health before it.

    The length is that of the platform's step, or what the joints of chain legs are still off if that
    is more: a platform may stand still before the joints have come to where it is. `side` is 1 or −1
    and changes where a pose is singular: by it another posture can be told.

    J (δp, δθ) = −error with rows of `Leg.grips` and of the directions that mobility holds;
    p ← p + δp, R ← C(δθ) R with Cayley's rotation C, which is exp θ̂ but for third order.
    """
    rows, error, grips = gripped(mechanism, state, q)
    held = np.abs(error[len(grips.error) :])
    scale = mechanism.scale()
    # a Newton step leaves its square: until that is small, q is not that of the pose
    left = [one * one for one in grips.missed]
    residual = reduce(maximum, [*grips.residual, *held, *(one / scale[3] for one in left)])
    factors = factor(np.swapaxes(rows, 0, 1), scale)
    step = -least_squares(factors, error)
    longest = maximum(norm(step[3:]), norm(step[:3]) * scale[3])
    step = step * (LARGEST_TURN / maximum(longest, 0 * longest + LARGEST_TURN))
    outputs = {
        "position": state.position[:, 0] + step[:3],
        "rotation": turned_by(step[3:, np.newaxis], state.rotation)[:, :, 0],
        "step": reduce(maximum, left, longest),
        "residual": residual,
        "health": factors.health,
        "side": copysign(1 + 0 * longest, _side(mechanism, factors)),
    }
    return outputs | ({"chains": grips.chains} if len(grips.chains) else {})


def pose_step(mechanism: Mechanism, state: State, q: Components, limit: Components) -> Outputs:
    """`newton_step` with all that is asked of a pose once it is found.

    `left` is above 0 while the residual is above its limit () and the step not in doubt. `rotation` is
    the pose's own with the rounding of many products washed out, R (3 − RᵀR)/2; `astray` is above 0
    where a leg would have another q.
    """
    found = newton_step(mechanism, state, q)
    rotation = state.rotation[:, :, 0]
    square = [
        [(a * b).sum(axis=0) for b in rotation.swapaxes(0, 1)] for a in rotation.swapaxes(0, 1)
    ]
    washing = 1.5 * np.eye(3)[..., np.newaxis] - 0.5 * matrix(square)
    washed = matrix([[(row * washing[:, j]).sum(axis=0) for j in range(3)] for row in rotation])
    tips = state.position + mechanism.platform.arms(mechanism.points, state)
    outputs = {
        "left": minimum(found["residual"] - limit, found["health"] - DOUBTFUL),
        "next_position": found["position"],
        "next_rotation": found["rotation"],
        "position": state.position[:, 0],
        "rotation": washed,
        "residual": found["residual"],
        "health": found["health"],
        "astray": reduce(maximum, list(mechanism.legs.astray(q, tips))),
    }
    if "chains" in found:
        outputs |= {"next_chains": found["chains"], "chains": found["chains"]}
    return outputs


def _side(mechanism: Mechanism, factors: Factors) -> Components:
    """Signed as det J where it has one; directions of chains may turn round, so theirs say nothing."""
    directions = len(factors.reflectors[0][0])
    if directions > len(factors.per_diagonal) or mechanism.legs.coordinates:
        return factors.health
    signed: Components = reduce(np.multiply, factors.per_diagonal)
    return signed


def jacobian(mechanism: Mechanism, state: State, q: Components) -> Outputs:
    """J (directions, 6) of the step, its angular columns divided by the length scale."""
    rows, _, _ = gripped(mechanism, state, q)
    return {"jacobian": np.swapaxes(rows * mechanism.scale()[:, np.newaxis], 0, 1)}


def joint_step(mechanism: Mechanism, state: State) -> Outputs:
    """Joint coordinates of chain legs after a Newton step, and how long it was, rad or L."""
    legs = _legs_at_rest(mechanism, state)
    return {"chains": legs.chains, "residual": reduce(maximum, list(legs.closing))}


def leg_steps(mechanism: Mechanism, state: State) -> Outputs:
    """How long the Newton step of each leg is, (legs,), rad or L."""
    return {"missed": _legs_at_rest(mechanism, state).closing}


def _legs_at_rest(mechanism: Mechanism, state: State) -> MovingLeg:
    arm = mechanism.platform.arms(mechanism.points, state)
    still = 0 * arm
    nothing = 0 * state.position
    ports = Ports(
        state.position + arm, still, still, state.rotation, nothing, nothing, state.chains
    )
    return mechanism.legs.moving(ports)


def constraints(mechanism: Mechanism, state: State) -> Outputs:
    """What holds the platform: columns C (6, k), scaled, gaps and what Cᵀ ξ̇ must be, (k,).

    With joint coordinates of chain legs after a Newton step, and how long it was, rad or L.
    """
    platform, legs = coasting(mechanism, state)
    found = unheld(mechanism, platform, legs)
    none = np.zeros((6, 0, 1)) + 0 * state.position[0]
    missed = reduce(maximum, list(legs.closing), 0 * state.position[0, 0])
    outputs = {"columns": none, "gap": none[0], "second": none[0], "missed": missed}
    if found is not None:
        outputs["columns"] = platform.world(found.columns)
        outputs |= {"gap": found.gap, "second": found.second}
    return outputs | ({"chains": legs.chains} if mechanism.legs.coordinates else {})
