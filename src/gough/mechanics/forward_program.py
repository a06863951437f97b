"""One Newton step of forward kinematics, as a program for the engine; see `gough.model.forward`."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gough.mechanics import equation
from gough.mechanics.equation import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.solves import factor, least_squares
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, cross, dot, maximum, norm

LARGEST_TURN = 0.5
"""Longest step, rad, and in metres as a share of the length scale: keeps Newton near the guess."""


def newton_step(mechanism: Mechanism, state: State, q: Components) -> Outputs:
    """The pose after a step, and the residual and the solve's health before it.

    Every leg is a rod d from A to P = p + r, of length l: g = (‖d‖ − l)(‖d‖ + l)/(2 l), which does
    not cancel as squares do. J (δp, δθ) = −g with rows (d/l, r×d/l); p ← p + δp, R ← C(δθ) R with
    Cayley's rotation C(θ) = 1 + (θ̂ + θ̂²/2)/(1 + ‖θ‖²/4), which is exp θ̂ but for third order.
    """
    arm = mechanism.platform.arms(mechanism.points, state)
    anchor, length, grip = mechanism.legs.locked(q)
    rod = state.position + arm - anchor
    size, per_length = norm(rod), 1 / length
    direction = rod * per_length
    error = (size - length) * (size + length) * (0.5 * per_length)
    residual = reduce(maximum, list(np.abs(error) / grip(direction)))
    rows = np.concatenate(np.broadcast_arrays(direction, cross(arm, direction)))
    scale = equation.scale(mechanism)
    factors = factor(np.moveaxis(rows, 0, 1), scale)
    step = -least_squares(factors, error)
    shift, turn = norm(step[:3]) * scale[3], norm(step[3:])
    step = step * (LARGEST_TURN / maximum(maximum(turn, shift), 0 * turn + LARGEST_TURN))
    theta = step[3:, np.newaxis]
    weight = 1 / (1 + 0.25 * dot(theta, theta))
    columns = []
    for column in np.moveaxis(state.rotation, 1, 0):
        turned = cross(theta, column)
        columns.append(column + weight * (turned + 0.5 * cross(theta, turned)))
    return {
        "position": state.position[:, 0] + step[:3],
        "rotation": np.stack(columns, axis=1)[:, :, 0],
        "residual": residual,
        "health": factors.health,
    }


def jacobian(mechanism: Mechanism, state: State, q: Components) -> Outputs:
    """J (legs, 6) of the rods' lengths, its angular columns divided by the length scale."""
    arm = mechanism.platform.arms(mechanism.points, state)
    anchor, length, _ = mechanism.legs.locked(q)
    direction = (state.position + arm - anchor) / length
    rows = np.concatenate(np.broadcast_arrays(direction, cross(arm, direction)))
    return {"jacobian": np.moveaxis(rows * equation.scale(mechanism)[:, np.newaxis], 0, 1)}
