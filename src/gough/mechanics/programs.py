"""What can be asked of a robot, as pure functions of its numbers, a state and further inputs.

Each returns named arrays with samples on the last axis. The same functions run on NumPy batches and on
symbols, from which the engine makes compiled programs. `margin` > 0 says that the sample is healthy:
no leg at a singular or unreachable configuration, no doubt about a solve.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from gough.mechanics import equation
from gough.mechanics.equation import Direct, Inverse, Mechanism
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.leg import MovingLeg
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, minimum

DOUBTFUL = 1 / np.sqrt(WORST_CONDITION)
"""Health of a solve below which its exact condition number is asked for."""

Outputs = dict[str, Components]
SCALARS = ("q", "qd", "qdd")
VECTORS = (
    "joints",
    "joint_rates",
    "joint_accelerations",
    "direction",
    "link_angular_velocity",
    "link_angular_acceleration",
)


def inverse_kinematics(mechanism: Mechanism, state: State) -> Outputs:
    """All of `LegMotion`."""
    legs = equation.moving(mechanism, state)[1]
    outputs = {name: getattr(legs, name) for name in SCALARS}
    outputs |= {name: np.moveaxis(getattr(legs, name), 0, 1) for name in VECTORS}
    return outputs | {"margin": margin(mechanism, legs)}


def leg_frames(mechanism: Mechanism, state: State) -> Outputs:
    """All of `Frame`, of each of the legs' bodies: (bodies, legs, 3), axes (bodies, legs, 3, 3)."""
    legs = equation.moving(mechanism, state)[1]
    frames = legs.frames()
    outputs = {"margin": margin(mechanism, legs)}
    for name in ("origin", "velocity", "omega"):
        vectors = [np.moveaxis(getattr(frame, name) + 0 * legs.direction, 0, 1) for frame in frames]
        outputs[name] = np.stack(vectors)
    axes = [np.moveaxis(frame.axes + 0 * legs.direction, 2, 0) for frame in frames]
    return outputs | {"axes": np.stack(axes)}


def jacobian(mechanism: Mechanism, state: State) -> Outputs:
    """J (legs, 6): q̇ = J (v, ω), and of a flexible platform (legs, modes): q̇ = J (v, ω) + J_e q̇e."""
    platform, legs = equation.unforced(mechanism, state)
    rows = np.moveaxis(platform.world_rows(legs.w), 0, 1)
    outputs = {"jacobian": rows, "margin": margin(mechanism, legs)}
    if mechanism.platform.mode_count:
        outputs["elastic"] = platform.along_modes(platform.own(legs.w))
    return outputs


def scaled_jacobian(mechanism: Mechanism, state: State) -> Outputs:
    """J (legs, 6), its angular columns divided by the length scale."""
    platform, legs = equation.unforced(mechanism, state)
    rows = platform.world_rows(legs.w) * equation.scale(mechanism)[:, np.newaxis]
    return {"jacobian": np.moveaxis(rows, 0, 1), "margin": margin(mechanism, legs)}


def inverse_dynamics(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Components | None = None,
) -> Outputs:
    """Actuator forces and powers; with loads (3, legs) also the loads they cause."""
    found = equation.inverse(mechanism, state, wrench, preload, _loads(loads))
    outputs = {"forces": found.forces, "power": found.forces * found.legs.qd}
    if mechanism.platform.mode_count:
        outputs["elastic_acceleration"] = found.elastic
    return outputs | _rest(mechanism, found, loads)


def reactions(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Components | None = None,
) -> Outputs:
    """Forces and moments in the joints."""
    found = equation.inverse(mechanism, state, wrench, preload, _loads(loads))
    outputs = {name: np.moveaxis(value, 0, 1) for name, value in found.reactions.items()}
    return outputs | _rest(mechanism, found, loads)


def direct_dynamics(
    mechanism: Mechanism,
    state: State,
    forces: Components,
    wrench: Components,
    loads: Components | None = None,
) -> Outputs:
    """Acceleration of the platform under actuator forces."""
    found = equation.direct(mechanism, state, forces, wrench, _loads(loads))
    outputs = {"linear": found.acceleration[:3], "angular": found.acceleration[3:]}
    if mechanism.platform.mode_count:
        outputs["elastic"] = found.elastic
    return outputs | _rest(mechanism, found, loads)


def mass_matrix(mechanism: Mechanism, state: State) -> Outputs:
    """M (6, 6) of the whole robot; of a flexible platform also (6, modes) and what its legs carry.

    `carried` are the legs' inertias A_i (3, 3, legs) in platform axes: M_ee = m_ee + Σ Φ_iᵀ A_i Φ_i.
    """
    whole, mixed, carried, legs = equation.mass(mechanism, state)
    outputs = {"mass_matrix": whole, "margin": margin(mechanism, legs)}
    if mechanism.platform.mode_count:
        outputs |= {"mixed": mixed, "carried": carried}
    return outputs


def bias(mechanism: Mechanism, state: State) -> Outputs:
    """b (6,) of the whole robot, and of a flexible platform (modes,)."""
    pushed, modal, legs = equation.bias(mechanism, state)
    outputs = {"bias": pushed, "margin": margin(mechanism, legs)}
    if mechanism.platform.mode_count:
        outputs["elastic"] = modal
    return outputs


def condensed(mechanism: Mechanism, state: State) -> Outputs:
    """A (6, 6), c (6,) and T (6, legs): the motion of the platform's frame alone."""
    found = equation.condensed(mechanism, state)
    outputs = {"mass": found.mass, "bias": found.bias, "sharing": found.sharing}
    return outputs | {"margin": margin(mechanism, found.legs)}


def energy(mechanism: Mechanism, state: State) -> Outputs:
    """Kinetic and potential energy of the whole robot."""
    kinetic, potential, legs = equation.energy(mechanism, state)
    return {"kinetic": kinetic, "potential": potential, "margin": margin(mechanism, legs)}


def diagnosis(mechanism: Mechanism, state: State) -> Outputs:
    """What is wrong with samples of no margin: each leg's health, T and A made comparable."""
    scale, found = equation.scale(mechanism), equation.condensed(mechanism, state)
    return {
        "legs": found.legs.health,
        "jacobian": np.moveaxis(found.sharing * scale[:, np.newaxis], 0, 1),
        "mass_matrix": found.mass * scale * scale[:, np.newaxis],
    }


def _rest(mechanism: Mechanism, found: Inverse | Direct, loads: Components | None) -> Outputs:
    outputs = {"margin": margin(mechanism, found.legs, found.health)}
    if loads is not None:
        vectors = found.legs.load_vectors(found.reactions)
        outputs |= {"caused": magnitudes(vectors), "vectors": vectors}
    return outputs


def _loads(loads: Components | None) -> Loads | None:
    return None if loads is None else Loads(loads[0], loads[1], loads[2])


def margin(mechanism: Mechanism, legs: MovingLeg, health: Components | None = None) -> Components:
    """Smallest distance of any health measure from its limit, (samples,)."""
    spare = [
        reduce(minimum, measure) - limit.limit
        for measure, limit in zip(legs.health, mechanism.legs.HEALTH, strict=True)
    ]
    if health is not None:
        spare.append(health - DOUBTFUL)
    smallest: Components = reduce(minimum, spare)
    return smallest
