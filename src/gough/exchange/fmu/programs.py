"""What an FMU asks of a robot, as functions that the engine traces: motion from forces, and back."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gough.mechanics import equation, programs
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.settling import brought_back, closed
from gough.mechanics.state import CHAINS, State
from gough.mechanics.vectors import Components, maximum, norm


def dynamics(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None = None,
) -> Outputs:
    """Acceleration of the platform under actuator forces, q and q̇, and rates of chains' joints."""
    return _direct(mechanism, state, forces, wrench, loads)[0]


def dynamics_with_reactions(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None = None,
) -> Outputs:
    """The same, and the forces and moments in the joints."""
    outputs, found = _direct(mechanism, state, forces, wrench, loads)
    reactions = {name: programs.by_leg(value) for name, value in found.reactions.items()}
    return {**reactions, **outputs}


def _direct(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None,
) -> tuple[Outputs, equation.Direct]:
    found = equation.direct(mechanism, state, forces, wrench, _loads(loads))
    outputs = {
        "linear": found.acceleration[:3],
        "angular": found.acceleration[3:],
        "q": found.legs.q,
        "qd": found.legs.qd,
    }
    if mechanism.legs.coordinates:
        outputs["chain_rates"] = found.legs.chain_rates
    # states between steps are off what the platform is allowed by what steps leave: no trouble
    margin = programs.margin(mechanism, found.platform, found.legs, None, found.health)
    outputs = {**outputs, "margin": margin, **_caused(found, loads)}
    if mechanism.platform.mode_count:
        outputs = {"elastic": found.elastic, **outputs}
    return outputs, found


def inverse(
    mechanism: Mechanism, state: State, wrench: Components, loads: Components | None = None
) -> Outputs:
    """Actuator forces and powers that a motion takes, q and q̇; of a flexible platform q̈e too."""
    found = equation.inverse(mechanism, state, wrench, None, _loads(loads))
    outputs = {
        "forces": found.forces,
        "power": found.forces * found.legs.qd,
        "q": found.legs.q,
        "qd": found.legs.qd,
    }
    margin = programs.margin(
        mechanism, found.platform, found.legs, found.held, found.health, accelerated=True
    )
    outputs = {**outputs, "margin": margin, **_caused(found, loads)}
    if mechanism.platform.mode_count:
        outputs = {"elastic_acceleration": found.elastic, **outputs}
    return outputs


def settle(mechanism: Mechanism, state: State) -> Outputs:
    """The nearest state that the robot can be in, after a step; `off`: how far this is, rad or L."""
    near = closed(mechanism, state)
    platform, legs = equation.coasting(mechanism, near)
    position, rotation, twist = brought_back(mechanism, platform, legs)
    shift = norm(position - state.position[:, 0]) / mechanism.length_scale
    turn = norm((rotation - state.rotation[:, :, 0]).reshape(9, -1))
    outputs = {
        "position": position,
        "rotation": rotation,
        "velocity": twist[:3],
        "angular_velocity": twist[3:],
        "off": reduce(maximum, [shift, turn, *legs.closing]),
        "margin": programs.margin(mechanism, platform, legs, None),
    }
    return outputs | ({CHAINS: legs.chains} if mechanism.legs.coordinates else {})


def _loads(loads: Components | None) -> Loads | None:
    return None if loads is None else Loads(loads[0], loads[1], loads[2])


def _caused(found: equation.Direct | equation.Inverse, loads: Components | None) -> Outputs:
    if loads is None:
        return {}
    vectors = found.legs.load_vectors(found.reactions)
    return {"caused": magnitudes(vectors), "vectors": np.asarray(vectors)}
