"""What can be asked of a robot, as pure functions of its numbers, a state and further inputs.

Each returns named arrays with samples on the last axis. The same functions run on NumPy batches and on
symbols, from which the engine makes compiled programs. `margin` > 0 says that the sample is healthy:
no leg at a singular or unreachable configuration, no doubt about a solve, and a pose, twist and
acceleration that the platform can have.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from gough.mechanics import equation
from gough.mechanics.driving import drive, holding
from gough.mechanics.equation import Direct, Inverse
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.held import Held
from gough.mechanics.leg import MovingLeg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import MovingPlatform, jacobian_rows
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, maximum, minimum, norm

DOUBTFUL = 1 / np.sqrt(WORST_CONDITION)
"""Smallest over largest of what holds, below which its exact singular values are asked for."""
UNSURE = 1e-6
"""Floor under a reciprocal condition number below which it is found out how far the answer can be told
(`gough.model.rounding`), of a robot near the world's origin. Above it a rounded system of equations
changes its solution by some 1e-9 at most."""
CAUTION = 4
"""How many times its limit a leg's measure must be, so that nothing is asked about rounding: what a leg
loses by itself may be lost once more in what is solved with it."""
DISTANT = 1e4
"""Remoteness from which it is found out how far answers can be told that take no solve."""
OFF = 1e-6
"""How far a pose may be off what the platform can reach, m and rad; as a share, a twist and an
acceleration off what it can do."""
STILL = 1e-9
"""How far off a twist, m/s, and an acceleration, m/s², may be in any case."""
DEPENDENT = 1e-7
"""Length of a unit column's remainder above which an exact count of directions is asked for."""

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
    platform, legs = equation.moving(mechanism, state)
    outputs = {name: getattr(legs, name) for name in SCALARS}
    outputs |= {name: np.swapaxes(getattr(legs, name), 0, 1) for name in VECTORS}
    return outputs | {"margin": checked(mechanism, platform, legs)}


def leg_frames(mechanism: Mechanism, state: State) -> Outputs:
    """All of `Frame` by group of legs that are alike: (legs, bodies, 3), axes (legs, bodies, 3, 3)."""
    platform, legs = equation.moving(mechanism, state)
    outputs: dict[str, Components] = {"margin": checked(mechanism, platform, legs)}
    for i, part in enumerate(legs.alike()):
        frames, like = part.frames(), 0 * part.direction
        if not frames:
            continue
        for name in ("origin", "velocity", "omega"):
            vectors = [np.swapaxes(getattr(frame, name) + like, 0, 1) for frame in frames]
            outputs[f"{name} of group {i}"] = np.stack(vectors, axis=1)
        axes = [np.moveaxis(frame.axes + like, 2, 0) for frame in frames]
        outputs[f"axes of group {i}"] = np.stack(axes, axis=1)
    return outputs


def jacobian(mechanism: Mechanism, state: State) -> Outputs:
    """J (actuators, 6): q̇ = J (v, ω), and of a flexible platform (actuators, modes) by q̇e."""
    platform, legs = equation.unforced(mechanism, state)
    rows = np.swapaxes(platform.world_rows(legs.w, legs.leg.holders), 0, 1)
    outputs = {"jacobian": rows, "margin": checked(mechanism, platform, legs)}
    if mechanism.platform.mode_count:
        outputs["elastic"] = platform.along_modes(platform.own(legs.w), legs.leg.holders)
    return outputs


def scaled_jacobian(mechanism: Mechanism, state: State) -> Outputs:
    """J (actuators, m) along orthonormal directions in which the platform can move, ω times L."""
    platform, legs = equation.unforced(mechanism, state)
    rows = platform.world_rows(legs.w, legs.leg.holders) * mechanism.scale()[:, np.newaxis]
    held = holding(mechanism, platform, legs)
    if held is not None:
        own = jacobian_rows(platform.tips, platform.own(legs.w), legs.leg.holders)
        each = np.swapaxes(own * mechanism.scale()[:, np.newaxis], 0, 1)
        free = [held.free(row) for row in each]
        rows = np.stack(np.broadcast_arrays(*free), axis=1) if free else rows[: mechanism.mobile]
    return {"jacobian": np.swapaxes(rows, 0, 1), "margin": checked(mechanism, platform, legs)}


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
    return outputs | _rest(mechanism, found, loads, True)


def resting(mechanism: Mechanism, state: State, wrench: Components, share: Components) -> Outputs:
    """What the modes (modes,) lack at rest under a share (1,) of gravity and wrench (f, m).

    b_e − J_eᵀ Γ − φ with Jᵀ Γ = b − (f, m): no mass is in it, so that it is smooth also where no
    forces move the frame at will.
    """
    lighter = mechanism._replace(gravity=share * mechanism.gravity)
    bias, modal, platform, legs = equation.bias(lighter, state)
    T = platform.world_rows(legs.w, legs.leg.holders)
    driving = drive(mechanism, T, holding(mechanism, platform, legs))
    forces = driving.least(bias - share * wrench)
    along = platform.along_modes(platform.own(legs.w), legs.leg.holders)
    _, acting = platform.outside(share * wrench, 0 * legs.direction)
    return {"lacking": modal - (along * forces[:, np.newaxis]).sum(axis=0) - acting}


def reactions(
    mechanism: Mechanism,
    state: State,
    wrench: Components,
    preload: Components | None = None,
    loads: Components | None = None,
) -> Outputs:
    """Forces and moments in the joints."""
    found = equation.inverse(mechanism, state, wrench, preload, _loads(loads))
    outputs = {name: by_leg(value) for name, value in found.reactions.items()}
    outputs["constraint"] = found.constraint + 0 * wrench
    outputs["certainty"] = _certainty(found)
    return outputs | _rest(mechanism, found, loads, True)


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
    return outputs | _rest(mechanism, found, loads, False)


def mass_matrix(mechanism: Mechanism, state: State) -> Outputs:
    """M (6, 6) of the whole robot; of a flexible platform also (6, modes) and what its legs carry.

    `carried` are the legs' inertias A_i (3, 3, legs) in platform axes: M_ee = m_ee + Σ Φ_iᵀ A_i Φ_i.
    """
    whole, mixed, carried, platform, legs = equation.mass(mechanism, state)
    outputs = {"mass_matrix": whole, "margin": checked(mechanism, platform, legs)}
    if mechanism.platform.mode_count:
        outputs |= {"mixed": mixed, "carried": carried}
    return outputs


def bias(mechanism: Mechanism, state: State) -> Outputs:
    """b (6,) of the whole robot, and of a flexible platform (modes,)."""
    pushed, modal, platform, legs = equation.bias(mechanism, state)
    outputs = {"bias": pushed, "margin": checked(mechanism, platform, legs)}
    if mechanism.platform.mode_count:
        outputs["elastic"] = modal
    return outputs


def condensed(mechanism: Mechanism, state: State) -> Outputs:
    """A (6, 6), c (6,) and T (6, legs): the motion of the platform's frame alone."""
    found = equation.condensed(mechanism, state)
    outputs = {"mass": found.mass, "bias": found.bias, "sharing": found.sharing}
    return outputs | {"margin": checked(mechanism, found.platform, found.legs)}


def energy(mechanism: Mechanism, state: State) -> Outputs:
    """Kinetic and potential energy of the whole robot."""
    kinetic, potential, platform, legs = equation.energy(mechanism, state)
    safe = checked(mechanism, platform, legs)
    return {"kinetic": kinetic, "potential": potential, "margin": safe}


def diagnosis(mechanism: Mechanism, state: State) -> Outputs:
    """What is wrong with samples of no margin: each leg's health, T and A made comparable.

    Of a platform that cannot move in all directions also C, what its columns ask for, the twist and the
    acceleration, scaled.
    """
    scale, found = mechanism.scale(), equation.condensed(mechanism, state)
    outputs = {
        "legs": found.legs.health,
        "jacobian": np.swapaxes(found.sharing * scale[:, np.newaxis], 0, 1),
        "mass_matrix": found.mass * scale * scale[:, np.newaxis],
    }
    held = holding(mechanism, found.platform, found.legs)
    if held is not None:
        outputs |= {
            "columns": held.columns,
            "gap": held.gap,
            "second": held.second,
            "twist": found.platform.own(state.twist) / scale,
            "twist_rate": found.platform.own(state.twist_rate) / scale,
        }
    return outputs


KINEMATICS = (inverse_kinematics, jacobian, scaled_jacobian, leg_frames)
"""Programs for which a flexible platform without elastic coordinates is undeformed."""


def _rest(
    mechanism: Mechanism,
    found: Inverse | Direct,
    loads: Components | None,
    accelerated: bool,
) -> Outputs:
    outputs = {
        "margin": margin(
            mechanism, found.platform, found.legs, found.held, found.health, accelerated
        )
    }
    if loads is not None:
        vectors = found.legs.load_vectors(found.reactions)
        outputs |= {"caused": magnitudes(vectors), "vectors": vectors}
    return outputs


def by_leg(vectors: Components) -> Components:
    """(legs, 3, samples) of (3, legs, samples); joint by joint (legs, joints, 3, samples)."""
    return np.moveaxis(vectors.T, 0, -1)


def _certainty(found: Inverse) -> Components:
    """How sure the reactions of each leg are, (legs, samples): 1 where no other ones are possible."""
    sure: Components = np.ones((found.legs.direction.shape[1], 1)) + 0 * found.legs.direction[0]
    if found.held is None:
        return sure
    each = found.held.certainty()
    for place, leg in enumerate(found.held.holders):
        if leg >= 0:
            sure[leg] = minimum(sure[leg], each[place])
    return sure


def _loads(loads: Components | None) -> Loads | None:
    return None if loads is None else Loads(loads[0], loads[1], loads[2])


def checked(mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg) -> Components:
    """`margin` of what takes no solve of the equation."""
    held = holding(mechanism, platform, legs)
    return margin(mechanism, platform, legs, held)


def margin(
    mechanism: Mechanism,
    platform: MovingPlatform,
    legs: MovingLeg,
    held: Held | None,
    health: Components | None = None,
    accelerated: bool = False,
) -> Components:
    """Smallest distance of any health measure from its limit, (samples,).

    A platform that cannot move in all directions must be where, and move as, it can: the pose's least
    correction within OFF, the held part of its twist and, where it counts, of its acceleration too.
    """
    away = remoteness(mechanism, platform)
    caution = maximum(CAUTION + 0 * away, np.sqrt(away)) if health is None else CAUTION
    spare = [
        reduce(minimum, measure) - limit.limit * (caution if limit.singular else 1)
        for measure, limit in zip(legs.health, mechanism.legs.HEALTH, strict=True)
    ]
    spare.append(1 - away / DISTANT if health is None else health - UNSURE * away)
    if held is not None:
        spare += off_limits(mechanism, platform, held, accelerated)
    smallest: Components = reduce(minimum, spare)
    return smallest


def remoteness(mechanism: Mechanism, platform: MovingPlatform) -> Components:
    """1 + ‖p‖₁/L + ‖c‖₁/L, (samples,): how much is lost where the legs' tips are subtracted.

    c, the mean of the platform's joints on its frame, p where the platform is.
    """
    per_length = mechanism.scale()[3]
    away = np.abs(mechanism.points.mean(axis=1)).sum(axis=0) * per_length
    position = platform.state.position[:, 0]
    total: Components = 1 + away + per_length * np.abs(position).sum(axis=0)
    return total


def off_limits(
    mechanism: Mechanism, platform: MovingPlatform, held: Held, accelerated: bool
) -> list[Components]:
    """Distances from their limits of what a held platform cannot be or do, (samples,) each."""
    state, scale = platform.state, mechanism.scale()
    size = 1 / scale[3]
    largest = maximum(1 + 0 * scale[3], scale[3])
    speed = norm(state.velocity)[0] + size * norm(state.angular_velocity)[0]
    off, still, dependent = (mechanism.rounding * one for one in (OFF, STILL, DEPENDENT))
    found = [
        held.health - DOUBTFUL,
        dependent - held.excess,
        off - largest * _length(held.least(held.gap)),
        off * speed + still - _length(held.taken(platform.own(state.twist) / scale)),
    ]
    if accelerated:
        rate = norm(state.acceleration)[0] + size * norm(state.angular_acceleration)[0]
        swing = norm(state.angular_velocity)[0] * speed
        asked = held.taken(held.least(held.second))
        missed = held.taken(platform.own(state.twist_rate) / scale) - asked
        found.append(off * (rate + swing) + still - _length(missed))
    return found


def _length(vector: Components) -> Components:
    total: Components = np.sqrt((vector * vector).sum(axis=0))
    return total
