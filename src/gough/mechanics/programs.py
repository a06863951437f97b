"""What can be asked of a robot, as pure functions of its numbers, a state and further inputs.

Each returns named arrays with samples on the last axis. The same functions run on NumPy batches and on
symbols, from which the engine makes compiled programs. `margin` > 0 says that the sample is healthy:
no leg at a singular or unreachable configuration, no doubt about a solve.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from types import ModuleType

import numpy as np

from gough.legs.link import LegKinematics
from gough.mechanics import elastic
from gough.mechanics import equation as dynamics
from gough.mechanics.equation import Mechanism, State
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.platforms import rigid
from gough.mechanics.solves import WORST_CONDITION, factor, least_norm
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


def numeric(function: Callable[..., Outputs]) -> Callable[..., Outputs]:
    """Mark a function as one for numbers only: it is not compiled."""
    function.numeric = True  # type: ignore[attr-defined]
    return function


def _equations(mechanism: Mechanism) -> ModuleType:
    """The one equation, for a platform that is rigid or bends."""
    return dynamics if mechanism.flexible is None else elastic


def inverse_kinematics(mechanism: Mechanism, state: State) -> Outputs:
    """All of `LegMotion`."""
    legs = _equations(mechanism).moving(mechanism, state)[1]
    outputs = {name: getattr(legs, name) for name in SCALARS}
    outputs |= {name: np.moveaxis(getattr(legs, name), 0, 1) for name in VECTORS}
    return outputs | {"margin": _margin(mechanism, legs)}


def jacobian(mechanism: Mechanism, state: State) -> Outputs:
    """J (legs, 6): q̇ = J (v, ω); of a platform that bends also (legs, modes): q̇ = J (v, ω) + J_e q̇e."""
    if mechanism.flexible is not None:
        columns, modal, legs = elastic.jacobian(mechanism, state)
        rows = np.moveaxis(columns, 0, 1)
        return {"jacobian": rows, "elastic": modal, "margin": _margin(mechanism, legs)}
    tips, legs = dynamics.moving(mechanism, state)
    rows = np.moveaxis(rigid.jacobian_rows(tips, legs.w), 0, 1)
    return {"jacobian": rows, "margin": _margin(mechanism, legs)}


def inverse_dynamics(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Components | None = None,
) -> Outputs:
    """Actuator forces and powers; with loads (3, legs) also the loads they cause."""
    found = _equations(mechanism).inverse(mechanism, state, wrench, preload, _loads(loads))
    outputs = {"forces": found.forces, "power": found.forces * found.legs.qd}
    if found.elastic is not None:
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
    found = _equations(mechanism).inverse(mechanism, state, wrench, preload, _loads(loads))
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
    found = _equations(mechanism).direct(mechanism, state, forces, wrench, _loads(loads))
    outputs = {"linear": found.acceleration[:3], "angular": found.acceleration[3:]}
    if found.elastic is not None:
        outputs["elastic"] = found.elastic
    return outputs | _rest(mechanism, found, loads)


def mass_matrix(mechanism: Mechanism, state: State) -> Outputs:
    """M (6, 6) of the whole robot."""
    legs = dynamics.moving(mechanism, dynamics.without_acceleration(state))[1]
    return {
        "mass_matrix": dynamics.mass_matrix(mechanism, state),
        "margin": _margin(mechanism, legs),
    }


@numeric
def flexible_mass_matrix(mechanism: Mechanism, state: State) -> Outputs:
    """M (6 + modes, 6 + modes) of the whole robot."""
    matrix, legs = elastic.mass_matrix(mechanism, state)
    return {"mass_matrix": matrix, "margin": _margin(mechanism, legs)}


def bias(mechanism: Mechanism, state: State) -> Outputs:
    """b (6,) of the whole robot, and of a platform that bends (modes,)."""
    if mechanism.flexible is not None:
        pushed, modal, legs = elastic.bias(mechanism, state)
        return {"bias": pushed, "elastic": modal, "margin": _margin(mechanism, legs)}
    legs = dynamics.moving(mechanism, dynamics.without_acceleration(state))[1]
    return {"bias": dynamics.robot_bias(mechanism, state), "margin": _margin(mechanism, legs)}


def condensed(mechanism: Mechanism, state: State) -> Outputs:
    """A (6, 6), c (6,) and T (6, legs) of a platform that bends."""
    found = elastic.condensed(mechanism, state)
    outputs = {"mass": found.mass, "bias": found.bias, "sharing": found.sharing}
    return outputs | {"margin": _margin(mechanism, found.legs)}


def energy(mechanism: Mechanism, state: State) -> Outputs:
    """Kinetic and potential energy of the whole robot."""
    if mechanism.flexible is not None:
        kinetic, potential, legs = elastic.energy(mechanism, state)
    else:
        legs = dynamics.moving(mechanism, dynamics.without_acceleration(state))[1]
        kinetic, potential = dynamics.energy(mechanism, state)
    return {"kinetic": kinetic, "potential": potential, "margin": _margin(mechanism, legs)}


def contributions(
    mechanism: Mechanism, state: State, wrench: Components, preload: Components | None = None
) -> Outputs:
    """Shares of the frictionless actuator forces; see `gough.model.contributions.Contributions`."""
    zero = 0 * state.velocity
    steady = dynamics.without_acceleration(state)
    resting = steady._replace(velocity=zero, angular_velocity=zero)
    platform, legs = dynamics.demand(mechanism, state)
    platform_steady, legs_steady = dynamics.demand(mechanism, steady)
    platform_resting, legs_resting = dynamics.demand(mechanism, resting)
    parts = {
        "gravity": platform_resting + legs_resting,
        "platform_inertia": platform - platform_steady,
        "leg_inertia": legs - legs_steady,
        "platform_coriolis": platform_steady - platform_resting,
        "leg_coriolis": legs_steady - legs_resting,
        "wrench": -wrench,
    }
    tips, moving = dynamics.moving(mechanism, state)
    jacobian = np.moveaxis(rigid.jacobian_rows(tips, moving.w), 0, 1)
    factors = factor(jacobian, dynamics.scale(mechanism))
    shares = {name: least_norm(factors, part) for name, part in parts.items()}
    shares["preload"] = 0 * wrench[0] * moving.q
    if preload is not None:
        balanced = (np.moveaxis(jacobian, 1, 0) * preload).sum(axis=1)
        shares["preload"] = preload - least_norm(factors, balanced)
    return shares | {"margin": _margin(mechanism, moving, factors.health)}


def diagnosis(mechanism: Mechanism, state: State) -> Outputs:
    """What is wrong with samples of no margin: each leg's health, J and M made comparable."""
    scale = dynamics.scale(mechanism)
    if mechanism.flexible is not None:
        found = elastic.condensed(mechanism, state)
        rows, matrix = found.sharing * scale[:, np.newaxis], found.mass
        matrix = matrix * scale * scale[:, np.newaxis]
        legs = found.legs
        return {"legs": legs.health, "jacobian": np.moveaxis(rows, 0, 1), "mass_matrix": matrix}
    tips, legs = dynamics.moving(mechanism, state)
    rows = rigid.jacobian_rows(tips, legs.w) * scale[:, np.newaxis]
    matrix = dynamics.mass_matrix(mechanism, state) * scale * scale[:, np.newaxis]
    return {"legs": legs.health, "jacobian": np.moveaxis(rows, 0, 1), "mass_matrix": matrix}


def _rest(
    mechanism: Mechanism, found: dynamics.Inverse | dynamics.Direct, loads: Components | None
) -> Outputs:
    outputs = {"margin": _margin(mechanism, found.legs, found.health)}
    if loads is not None:
        vectors = dynamics.load_vectors(mechanism, found.reactions)
        outputs |= {"caused": magnitudes(vectors), "vectors": vectors}
    return outputs


def _loads(loads: Components | None) -> Loads | None:
    return None if loads is None else Loads(loads[0], loads[1], loads[2])


def _margin(
    mechanism: Mechanism, legs: LegKinematics, health: Components | None = None
) -> Components:
    """Smallest distance of any health measure from its limit, (samples,)."""
    spare = [
        reduce(minimum, measure) - limit.limit
        for measure, limit in zip(legs.health, mechanism.equations.HEALTH, strict=True)
    ]
    if health is not None:
        spare.append(health - DOUBTFUL)
    smallest: Components = reduce(minimum, spare)
    return smallest
