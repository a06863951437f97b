"""The equation of motion, linear in the parameters, for rigid and flexible platforms.

    M ξ̇ + b + friction = Jᵀ Γ + (f, m, φ) = Y(motion) X + y0(motion),    ξ = (v, ω, q̇e)

6 + N rows, world axes. Actuator forces alone are not linear in the stiffness and damping of a flexible
platform, for q̈e is solved for together with them; with the elastic coordinates of the motion known,
the equation of motion is. Its parameters X are those of a rigid robot (`gough.parameters.regressor`),
the platform's ten being those of the undeformed body, and behind them the elements of K and D: the
diagonals where the modal body has nothing else, N (N + 1)/2 where they are symmetric.

Known, y0, is what the mode shapes and nodal masses say: s, P0, Π and m_ee (`platforms.flexible`).
They are linear parameters too, but 12 N + 9 N (N + 1)/2 of them from one drawing, and a qe that can be
measured presumes the shapes. What a finite-element model has wrong is stiffness (material, joints) and
damping (which it does not compute at all). Without modes y0 = 0 and Y = Jᵀ W.

Where legs or the robot file hold the platform the equation has their forces too,
Jᵀ Γ + (f, m) + C (λ, μ) = Y X: it is meant in the directions Ξ in which the platform can move, where
Ξᵀ C = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import symbolic
from gough.engine.passes.derivative import gradients
from gough.mechanics import equation
from gough.mechanics.friction import Loads
from gough.mechanics.leg import Ports
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import ELASTIC_FIELDS, RIGID_FIELDS, State
from gough.mechanics.vectors import Components
from gough.model import batch
from gough.model.batch import OnError, yes_or_no
from gough.model.derivative_programs import graph_of
from gough.model.model import Model
from gough.model.slopes import matrices
from gough.motion import Motion
from gough.parameters.layout import Layout
from gough.parameters.regressor import (
    modal_elements,
    no_loads,
    refuse_load_friction,
    regressor,
    rubbing_with,
    with_parameters,
)

TIPS = ("tip_position", "tip_velocity", "tip_acceleration", "tip_angular_velocity")


class GeneralisedRegressor(NamedTuple):
    """Jᵀ Γ + (f, m, φ) = matrix X + known."""

    matrix: Array
    """Y (..., 6 + N, parameters)."""
    known: Array
    """y0 (..., 6 + N): N, N m and modal forces, from the platform's mode shapes and nodal masses."""


class ForceRegressor(NamedTuple):
    """Γ = matrix X + known."""

    matrix: Array
    """W (..., actuators, parameters)."""
    known: Array
    """w0 (..., actuators), N; 0 on a rigid platform."""


def generalised_regressor(
    robot: Model, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> GeneralisedRegressor:
    """Y and y0 of the equation of motion; X as `standard_parameters`, wrench (f, m) and its φ apart.

    The motion's elastic coordinates, velocities and accelerations count. Each leg's columns are the
    derivative of the force (and friction couple) at its tip, by the engine; NumPy gathers them.
    """
    if yes_or_no("friction", friction):
        refuse_load_friction(robot)
    healthy = robot.bias(motion, on_error=on_error)
    joints = robot.chain_inputs(motion)
    given = robot.elastic_inputs(motion) | joints | {"bias": (healthy, (6 + robot.modes,))}
    rows = batch.lay_out(motion, given)
    state = {name: rows.fields[name] for name in (*RIGID_FIELDS, *joints)}
    elastic = {name: rows.fields[name] for name in ELASTIC_FIELDS if robot.modes}
    tips = robot.executor(tip_motion, rows.rows, state | elastic)
    program = tip_shares_with_friction if friction else tip_shares
    moved = {name: tips[name] for name in TIPS}
    share = matrices(robot.rigid, program, rows.rows, state | moved, {"weights": np.eye(6)})["row"]
    Y = _gathered(robot, friction, rows.fields["rotation"], tips["arm"], share)
    if robot.modes:
        Y = np.concatenate([Y, _elastic_columns(robot, rows.rows, elastic)], axis=-1)
    known = np.zeros((rows.rows, 6))
    if robot.modes:
        known = np.concatenate([tips["known"], tips["elastic"]], axis=-1)
    out = {"matrix": Y, "known": known}
    return GeneralisedRegressor(**batch.settle(rows, out, batch.not_finite(rows), on_error))


def force_regressor(
    robot: Model, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
) -> ForceRegressor:
    """W and w0 of the actuator forces alone, no wrench; X as `standard_parameters`.

    On a rigid platform W is `gough.parameters.regressor.regressor`. On a flexible one q̈e is solved for
    together with Γ, which is then not linear in X. Along a motion that has the elastic acceleration
    which belongs to it (measured, or that of `inverse_dynamics`) it is: all 6 + N rows of
    Jᵀ Γ = Y X + y0 hold and tell Γ = (Jᵀ)⁺ (Y X + y0), with more actuators than that the one of least
    norm. With any other elastic acceleration there are no such forces, and Γ is what comes nearest. To
    identify parameters take `generalised_regressor`, which keeps all rows.
    """
    if not robot.modes:
        matrix = regressor(robot, motion, friction, on_error=on_error)
        return ForceRegressor(matrix, np.zeros(matrix.shape[:-1]))
    Y, known = generalised_regressor(robot, motion, friction, on_error=on_error)
    jacobian = robot.jacobian(motion, on_error=on_error)
    share = np.linalg.pinv(np.nan_to_num(np.swapaxes(jacobian, -1, -2)))
    return ForceRegressor(share @ Y, (share @ known[..., np.newaxis])[..., 0])


def tip_motion(mechanism: Mechanism, state: State) -> Outputs:
    """What the tips do (3, legs), world axes, and where they are from the frame, own axes.

    Of a flexible platform also y0: (6,) of the rigid motion, world axes, and (modes,).
    """
    platform = equation.placed(mechanism, state)
    tips = platform.tips
    acceleration = platform.tip_acceleration(platform.elastic_at_tips())
    turning = tips.angular_velocity + 0 * tips.position
    parts = (tips.position, tips.velocity, acceleration, turning)
    outputs = dict(zip(TIPS, parts, strict=True)) | {"arm": platform.world(tips.arm)}
    if mechanism.platform.mode_count:
        known, modal = modal_demand(mechanism, state)
        outputs |= {"known": known, "elastic": modal}
    return outputs


def modal_demand(mechanism: Mechanism, state: State) -> tuple[Components, Components]:
    """y0: M ξ̇ + b of the mode shapes alone, (6, samples) in world axes and (modes, samples).

    The platform without its undeformed body, stiffness and damping.
    """
    shapes = mechanism.platform.shapes_alone()
    platform = shapes.moving(mechanism.points, mechanism.gravity, state)
    pushed, modal = platform.inertial()
    return platform.world(pushed), modal


@symbolic
def tip_shares(
    mechanism: Mechanism, state: State, weights: Components, **tips: Components
) -> Outputs:
    """Σ weight ∂(f, m)/∂X of what each leg asks for at its port, and ∂(wrench)/∂X of the platform's.

    (parameters,); weights (6,), the same for every leg, as no two legs share a parameter.
    """
    unknown = graph_of(state).inputs("standard", (Layout.of(mechanism.legs).size, 1))
    return _shares(with_parameters(mechanism, unknown), state, weights, tips, unknown, None)


@symbolic
def tip_shares_with_friction(
    mechanism: Mechanism, state: State, weights: Components, **tips: Components
) -> Outputs:
    """The same with the linear friction parameters; (f, m), m the couple on the platform at the tip."""
    graph = graph_of(state)
    rubbing, unknown = rubbing_with(mechanism, graph)
    return _shares(rubbing, state, weights, tips, unknown, no_loads(mechanism, graph))


def _shares(
    mechanism: Mechanism,
    state: State,
    weights: Components,
    tips: dict[str, Components],
    unknown: Components,
    loads: Loads | None,
) -> Outputs:
    position, velocity, acceleration, turning = (tips[name] for name in TIPS)
    faster = state.angular_acceleration
    ports = Ports(position, velocity, acceleration, state.rotation, turning, faster, state.chains)
    legs = mechanism.legs.moving(ports)
    rubbing = legs.rubbing(turning, loads)
    load = legs.load(mechanism.gravity)
    pushed = -equation.pushing(legs, load, rubbing, rubbing.along - load.along)
    force, couple = pushed[:3], rubbing.couple
    if len(pushed) > 3:  # ports that are bodies
        couple = couple + pushed[3:]
    asked = np.concatenate([force, couple])[..., 0]
    weight = np.broadcast_to(weights, asked.shape)
    platform = equation.placed(mechanism, state).inertial()[0][:, 0]
    outputs = np.concatenate([asked.ravel(), platform])
    return {
        "row": gradients(outputs, np.concatenate([weight.ravel(), weights[:, 0]]), unknown),
    }


def _gathered(robot: Model, friction: bool, rotation: Array, arm: Array, share: Array) -> Array:
    """Σ W_i f_i of each column, (rows, 6 + modes, parameters), from (f, m) at its leg's tip.

    W_i f = (f, r_i×f + m, Φ_iᵀ Rᵀ f + Φ_riᵀ Rᵀ m); the platform's own columns are wrenches.
    """
    # the platform is a leg more, whose tip is at the frame's origin and does not move with the modes
    leg = Layout.of(robot.mechanism.legs, friction).owners
    force, couple = share[:, :3], share[:, 3:]
    arms = np.concatenate([arm, np.zeros_like(arm[..., :1])], axis=-1)[..., leg]
    parts = [force, couple + np.cross(arms, force, axis=1)]
    body = robot.description.modal
    if body is not None and robot.modes:
        parts.append(_modal_work(body.tip_shapes, leg, rotation, force))
        if friction and body.tip_rotations is not None:  # the platform's own couples do not count
            parts[2] += _modal_work(body.tip_rotations, leg, rotation, couple)
    return np.concatenate(parts, axis=1)


def _modal_work(shapes: Array, leg: Array, rotation: Array, load: Array) -> Array:
    """Φ_iᵀ Rᵀ f (rows, modes, parameters) of loads (rows, 3, parameters) at their legs' tips."""
    at_tips = np.concatenate([shapes, np.zeros_like(shapes[:1])])
    local = np.swapaxes(rotation, -1, -2) @ load
    return np.asarray(np.einsum("pck,ncp->nkp", at_tips[leg], local))


def _elastic_columns(robot: Model, rows: int, elastic: dict[str, Array]) -> Array:
    """(rows, 6 + modes, elements): K qe and D q̇e by the elements of K and D."""
    parts = []
    for name, elements in modal_elements(robot).items():
        field = "elastic" if name == "stiffness" else "elastic_velocity"
        values = np.broadcast_to(elastic[field], (rows, robot.modes))
        columns = np.zeros((rows, 6 + robot.modes, len(elements.pairs)))
        for column, (i, j) in enumerate(elements.pairs):
            columns[:, 6 + i, column] = values[:, j]
            if elements.symmetric:
                columns[:, 6 + j, column] = values[:, i]
        parts.append(columns)
    return np.concatenate(parts, axis=-1)
