"""The equation of motion, linear in the parameters, for platforms that are rigid or bend.

    M ξ̇ + b + friction = Jᵀ Γ + (f, m, φ) = Y(motion) X + y0(motion),    ξ = (v, ω, q̇e)

6 + N rows, world axes. Actuator forces alone are not linear in the stiffness and damping of a platform
that bends, for q̈e is solved for together with them; with the elastic coordinates of the motion known,
the equation of motion is. Its parameters X are those of a rigid robot (`gough.parameters.regressor`),
the platform's ten being those of the undeformed body, and behind them the elements of K and D: the
diagonals where the modal body has nothing else, N (N + 1)/2 where they are symmetric.

Known, y0, is what the mode shapes and nodal masses say: s, P0, Π and m_ee (`platforms.flexible`).
They are linear parameters too, but 12 N + 9 N (N + 1)/2 of them from one drawing, and a qe that can be
measured presumes the shapes. What a finite-element model has wrong is stiffness (material, joints) and
damping (which it does not compute at all). Without modes y0 = 0 and Y = Jᵀ W.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.passes.derivative import gradients, symbolic
from gough.mechanics import elastic
from gough.mechanics import equation as dynamics
from gough.mechanics.body import Body
from gough.mechanics.equation import ELASTIC_FIELDS, RIGID_FIELDS, Mechanism, State
from gough.mechanics.friction import Loads
from gough.mechanics.modes import over_modes
from gough.mechanics.platforms import flexible, rigid
from gough.mechanics.programs import Outputs, numeric
from gough.mechanics.vectors import Components, cross, matvec
from gough.model import batch
from gough.model.batch import OnError
from gough.model.derivative_programs import graph_of
from gough.model.slopes import matrices
from gough.motion import Motion
from gough.parameters.regressor import (
    LINEAR_FRICTION,
    modal_elements,
    refuse_load_friction,
    rubbing_with,
    with_parameters,
)

if TYPE_CHECKING:
    from gough.robot import Robot

TIPS = ("tip_position", "tip_velocity", "tip_acceleration", "tip_angular_velocity")


class GeneralisedRegressor(NamedTuple):
    """Jᵀ Γ + (f, m, φ) = matrix X + known."""

    matrix: Array
    """Y (..., 6 + N, parameters)."""
    known: Array
    """y0 (..., 6 + N): N, N m and modal forces, from the platform's mode shapes and nodal masses."""


def generalised_regressor(
    robot: Robot, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> GeneralisedRegressor:
    """Y and y0 of the equation of motion; X as `standard_parameters`, wrench (f, m) and its φ apart.

    The motion's elastic coordinates, velocities and accelerations count. Each leg's columns are the
    derivative of the force (and friction couple) at its tip, by the engine; NumPy gathers them.
    """
    if friction:
        refuse_load_friction(robot)
    healthy = robot.bias(motion, on_error)
    given = robot.elastic_inputs(motion) | {"bias": (healthy, (6 + robot.modes,))}
    rows = batch.lay_out(motion, given)
    state = {name: rows.fields[name] for name in RIGID_FIELDS}
    bending = {name: rows.fields[name] for name in ELASTIC_FIELDS if robot.modes}
    tips = robot.executor(tip_motion, rows.rows, state | bending)
    program = tip_shares_with_friction if friction else tip_shares
    moved = {name: tips[name] for name in TIPS}
    share = matrices(robot.rigid, program, rows.rows, state | moved, {"weights": np.eye(6)})["row"]
    Y = _gathered(robot, friction, rows.fields["rotation"], tips["arm"], share)
    if robot.modes:
        Y = np.concatenate([Y, _elastic_columns(robot, rows.rows, bending)], axis=-1)
    out = {"matrix": Y, "known": tips["known"]}
    return GeneralisedRegressor(**batch.settle(rows, out, batch.not_finite(rows), on_error))


@numeric
def tip_motion(mechanism: Mechanism, state: State) -> Outputs:
    """What the tips do (3, legs), world axes, where they are from the frame, and y0 (6 + modes,)."""
    bends = mechanism.flexible is not None
    tips = elastic.place(mechanism, state)[0] if bends else rigid.tips(mechanism.points, *state[:4])
    acceleration = state.acceleration + cross(state.angular_acceleration, tips.arm) + tips.bias
    known = np.zeros((6, state.position.shape[-1]))
    if mechanism.flexible is not None:
        shapes = mechanism.flexible.tables.tip_shapes
        bending = over_modes(shapes, state.elastic_acceleration)
        acceleration = acceleration + matvec(state.rotation, bending)
        known = modal_demand(mechanism, state)
    turning = np.broadcast_to(tips.angular_velocity, tips.arm.shape)
    outputs = dict(zip(TIPS, (tips.position, tips.velocity, acceleration, turning), strict=True))
    return outputs | {"arm": tips.arm, "known": known}


def modal_demand(mechanism: Mechanism, state: State) -> Components:
    """y0 (6 + modes, samples): M ξ̇ + b of the mode shapes alone, world axes.

    The platform without its undeformed body, stiffness and damping: M_rr x + M_re q̈ + b_r and
    M_reᵀ x + m_ee q̈ + b_e (`platforms.flexible`) with what is linear or quadratic in shapes.
    """
    assert mechanism.flexible is not None
    pairs = mechanism.flexible.couplings
    pairs = pairs._replace(stiffness=0 * pairs.stiffness, damping=0 * pairs.damping)
    pushed, modal = flexible.demand(
        mechanism.flexible._replace(couplings=pairs),
        Body(*(0 * part for part in mechanism.platform)),
        state.rotation,
        state.angular_velocity,
        state.acceleration,
        state.angular_acceleration,
        mechanism.gravity,
        *state[6:],
    )
    return np.concatenate([pushed, modal])


@symbolic
def tip_shares(
    mechanism: Mechanism, state: State, weights: Components, **tips: Components
) -> Outputs:
    """Σ weight ∂(f, 0)/∂X of what each leg asks for at its tip, and ∂(wrench)/∂X of the platform's.

    (parameters,); weights (6,), the same for every leg, as no two legs share a parameter.
    """
    unknown = graph_of(state).inputs("standard", (31 * mechanism.points.shape[1] + 10, 1))
    return _shares(with_parameters(mechanism, unknown), state, weights, tips, unknown, None)


@symbolic
def tip_shares_with_friction(
    mechanism: Mechanism, state: State, weights: Components, **tips: Components
) -> Outputs:
    """The same with the linear friction parameters; (f, m), m the couple on the platform at the tip."""
    graph, count = graph_of(state), mechanism.points.shape[1]
    zeros = graph.constants(np.zeros((count, 1)))
    rubbing, unknown = rubbing_with(mechanism, graph)
    return _shares(rubbing, state, weights, tips, unknown, Loads(zeros, zeros, zeros))


def _shares(
    mechanism: Mechanism,
    state: State,
    weights: Components,
    tips: dict[str, Components],
    unknown: Components,
    loads: Loads | None,
) -> Outputs:
    position, velocity, acceleration, turning = (tips[name] for name in TIPS)
    legs = mechanism.equations.kinematics(mechanism.legs, position, velocity, acceleration)
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    rubbing = dynamics.rubbing_under(mechanism, turning, legs, loads)
    push = mechanism.equations.couple_at_tip(
        mechanism.legs, legs, rubbing.universal + rubbing.spherical
    )
    force = dynamics.at_tip(legs, load) - legs.w * rubbing.slider - push
    asked = np.concatenate([force, rubbing.spherical])[..., 0]
    weight = np.broadcast_to(weights, asked.shape)
    platform = dynamics.platform_demand(mechanism, state)[:, 0]
    outputs = np.concatenate([asked.ravel(), platform])
    return {
        "row": gradients(outputs, np.concatenate([weight.ravel(), weights[:, 0]]), unknown),
    }


def _gathered(robot: Robot, friction: bool, rotation: Array, arm: Array, share: Array) -> Array:
    """Σ W_i f_i of each column, (rows, 6 + modes, parameters), from (f, m) at its leg's tip.

    W_i f = (f, r_i×f + m, Φ_iᵀ Rᵀ f + Φ_riᵀ Rᵀ m); the platform's own columns are wrenches.
    """
    count = robot.leg_count
    rubs = len(LINEAR_FRICTION[robot.kind]) if friction else 0
    legs = np.arange(count)
    platform = np.full(
        10, count
    )  # a leg more, whose tip is at the frame's origin and does not bend
    leg = np.concatenate([legs.repeat(30), legs, platform, legs.repeat(rubs)])
    force, couple = share[:, :3], share[:, 3:]
    arms = np.concatenate([arm, np.zeros_like(arm[..., :1])], axis=-1)[..., leg]
    parts = [force, couple + np.cross(arms, force, axis=1)]
    if robot.mechanism.flexible is not None:
        tables = robot.mechanism.flexible.tables
        parts.append(_modal_work(tables.tip_shapes, leg, rotation, force))
        if friction:  # else legs have no couples, and the platform's own do not count
            parts[2] += _modal_work(tables.tip_rotations, leg, rotation, couple)
    return np.concatenate(parts, axis=1)


def _modal_work(shapes: Components, leg: Array, rotation: Array, load: Array) -> Array:
    """Φ_iᵀ Rᵀ f (rows, modes, parameters) of loads (rows, 3, parameters) at their legs' tips."""
    at_tips = np.concatenate([shapes[..., 0], np.zeros_like(shapes[:, :1, :, 0])], axis=1)
    local = np.swapaxes(rotation, -1, -2) @ load
    return np.asarray(np.einsum("cpk,ncp->nkp", at_tips[:, leg], local))


def _elastic_columns(robot: Robot, rows: int, bending: dict[str, Array]) -> Array:
    """(rows, 6 + modes, elements): K qe and D q̇e by the elements of K and D."""
    parts = []
    for name, elements in modal_elements(robot).items():
        field = "elastic" if name == "stiffness" else "elastic_velocity"
        values = np.broadcast_to(bending[field], (rows, robot.modes))
        columns = np.zeros((rows, 6 + robot.modes, len(elements.pairs)))
        for column, (i, j) in enumerate(elements.pairs):
            columns[:, 6 + i, column] = values[:, j]
            if elements.symmetric:
                columns[:, 6 + j, column] = values[:, i]
        parts.append(columns)
    return np.concatenate(parts, axis=-1)
