"""What controllers command, as programs: pure functions as in `gough.simulation.programs`.

The state is the measured one; q and q̇ are the measured legs' where a law asks for them. World axes, SI.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.engine.functions import Function
from gough.mechanics import equation
from gough.mechanics.equation import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.solves import factor, least_squares
from gough.mechanics.state import State
from gough.mechanics.vectors import Components
from gough.simulation.attitude import rotation_error


def law_inputs(law: Function | None) -> tuple[str, ...]:
    """Names of a law's inputs behind mechanism and state."""
    code: Any = law.__code__  # type: ignore[union-attr]
    return tuple(code.co_varnames[2 : code.co_argcount])


def given_forces(mechanism: Mechanism, state: State, feedforward: Components) -> Outputs:
    """Γ as given."""
    return {"command": feedforward}


def leg_law(
    mechanism: Mechanism,
    state: State,
    q: Components,
    qd: Components,
    goal_q: Components,
    goal_qd: Components,
    stiffness: Components,
    damping: Components,
    feedforward: Components,
) -> Outputs:
    """Γ = K (q_r − q) + D (q̇_r − q̇) + feedforward."""
    return {"command": stiffness * (goal_q - q) + damping * (goal_qd - qd) + feedforward}


def leg_law_with_gravity(
    mechanism: Mechanism,
    state: State,
    q: Components,
    qd: Components,
    goal_q: Components,
    goal_qd: Components,
    stiffness: Components,
    damping: Components,
    feedforward: Components,
) -> Outputs:
    """`leg_law` and the forces that hold the model still in the measured pose."""
    zero = 0 * state.velocity
    still = state.coasting()._replace(
        velocity=zero, angular_velocity=zero, elastic_velocity=0 * state.elastic_velocity
    )
    held = _inverse(mechanism, still)
    law = leg_law(mechanism, state, q, qd, goal_q, goal_qd, stiffness, damping, feedforward)
    return {"command": law["command"] + held}


def platform_law(
    mechanism: Mechanism,
    state: State,
    goal_position: Components,
    goal_rotation: Components,
    goal_velocity: Components,
    goal_angular_velocity: Components,
    stiffness: Components,
    damping: Components,
    feedforward: Components,
) -> Outputs:
    """Computed torque on the platform: the model's inverse dynamics of `wanted_acceleration`.

    The state is the measured one, its acceleration the reference's.
    """
    wanted = wanted_acceleration(
        state,
        goal_position,
        goal_rotation,
        goal_velocity,
        goal_angular_velocity,
        stiffness,
        damping,
    )
    return {"command": _inverse(mechanism, state.accelerated(wanted)) + feedforward}


def wanted_acceleration(
    state: State,
    goal_position: Components,
    goal_rotation: Components,
    goal_velocity: Components,
    goal_angular_velocity: Components,
    stiffness: Components,
    damping: Components,
) -> Components:
    """(v̇, ω̇) of a computed torque controller of the platform, (6, samples).

    v̇ = v̇_r + D (v_r − v) + K (p_r − p),    ω̇ = ω̇_r + D (ω_r − ω) + K e,    e = 2 sin(φ/2) n

    of the turn φ about n that is left to go; K in 1/s², D in 1/s.
    """
    position, rotation, velocity, omega, linear, angular = (one[..., 0, :] for one in state[:6])
    apart = np.concatenate([goal_position - position, rotation_error(goal_rotation, rotation)])
    slower = np.concatenate([goal_velocity - velocity, goal_angular_velocity - omega])
    wanted: Components = np.concatenate([linear, angular]) + damping * slower + stiffness * apart
    return wanted


def leg_acceleration_law(
    mechanism: Mechanism,
    state: State,
    q: Components,
    qd: Components,
    goal_q: Components,
    goal_qd: Components,
    goal_qdd: Components,
    stiffness: Components,
    damping: Components,
    feedforward: Components,
) -> Outputs:
    """Computed torque on the legs: q̈ = q̈_r + D (q̇_r − q̇) + K (q_r − q), ξ̇ = J⁺ (q̈ − J̇ ξ).

    Γ is the model's inverse dynamics of ξ̇ in the measured state; K in 1/s², D in 1/s.
    """
    platform, legs = equation.unforced(mechanism, state)
    rows = np.moveaxis(platform.world_rows(legs.w), 0, 1)
    wanted = goal_qdd + damping * (goal_qd - qd) + stiffness * (goal_q - q)
    twist_rate = least_squares(factor(rows, equation.scale(mechanism)), wanted - legs.qdd)
    return {"command": _inverse(mechanism, state.accelerated(twist_rate)) + feedforward}


def _inverse(mechanism: Mechanism, state: State) -> Components:
    """Γ for the state's acceleration, (legs, samples), without friction or wrench."""
    nothing = 0 * np.concatenate([state.velocity, state.angular_velocity])[:, 0]
    return equation.inverse(mechanism, state, nothing).forces
