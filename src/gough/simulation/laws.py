"""What controllers command, as programs: pure functions as in `gough.simulation.programs`.

The state is the measured one; q and q̇ are the measured ones where a law asks for them. World axes, SI.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.engine.functions import Function
from gough.mechanics import equation
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import State
from gough.mechanics.vectors import Components
from gough.simulation.attitude import rotation_error
from gough.simulation.moves import Moves


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

    The state is the measured one, its acceleration the reference's. What the platform cannot do of the
    wanted acceleration is left out.
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
    if mechanism.mobile < 6:
        wanted = Moves.of(mechanism, *equation.coasting(mechanism, state)).possible(wanted)
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
    """Computed torque on the actuators: q̈ = q̈_r + D (q̇_r − q̇) + K (q_r − q), ξ̇ = J⁺ (q̈ − J̇ ξ).

    Where the platform is held, ξ̇ = a + J⁺ (q̈ − J̇ ξ − J a) along what it is allowed, with the least
    acceleration a that keeps its twist allowed.
    Γ is the model's inverse dynamics of ξ̇ in the measured state; K in 1/s², D in 1/s.
    """
    wanted = goal_qdd + damping * (goal_qd - qd) + stiffness * (goal_q - q)
    twist_rate = acceleration_of_rates(mechanism, state, wanted)["acceleration"]
    return {"command": _inverse(mechanism, state.accelerated(twist_rate)) + feedforward}


def yielding_leg_law(
    mechanism: Mechanism,
    state: State,
    q: Components,
    qd: Components,
    goal_q: Components,
    goal_qd: Components,
    stiffness: Components,
    damping: Components,
    feedforward: Components,
    softness: Components,
    leak: Components,
    yielded: Components,
    felt: Components,
    period: Components,
) -> Outputs:
    """Integral force feedback: `leg_law` about q_r + δ, δ ← δ − h (a δ + g (f − Γ_r)); see `damping`.

    f is what the leg felt in the period before.
    """
    change = leak * yielded + softness * (felt - feedforward)
    here = yielded - period * change
    law = leg_law(mechanism, state, q, qd, goal_q + here, goal_qd, stiffness, damping, feedforward)
    command = law["command"]
    return {"command": command, "next_yielded": here, "next_felt": command, "next_period": period}


def twist_of_rates(mechanism: Mechanism, state: State, rates: Components) -> Outputs:
    """The allowed twist (6, samples), world axes, at which actuators have these rates."""
    return {"twist": Moves.of(mechanism, *equation.coasting(mechanism, state)).twist(rates)}


def acceleration_of_rates(mechanism: Mechanism, state: State, accelerations: Components) -> Outputs:
    """(v̇, ω̇) at which actuators accelerate so: ξ̇ = J⁺ (q̈ − J̇ ξ); see `leg_acceleration_law`."""
    platform, legs = equation.unforced(mechanism, state)
    moves = Moves.of(mechanism, platform, legs)
    if mechanism.mobile < 6:
        bound = moves.bound()
        rows = platform.world_rows(legs.w, legs.leg.holders)
        along = legs.qdd + (rows * bound[:, np.newaxis]).sum(axis=0)
        return {"acceleration": bound + moves.twist(accelerations - along)}
    return {"acceleration": moves.twist(accelerations - legs.qdd)}


def _inverse(mechanism: Mechanism, state: State) -> Components:
    """Γ for the state's acceleration, (actuators, samples), without friction or wrench."""
    nothing = 0 * np.concatenate([state.velocity, state.angular_velocity])[:, 0]
    return equation.inverse(mechanism, state, nothing).forces
