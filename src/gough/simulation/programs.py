"""The closed loop as programs: what the plant does, what sensors read; controllers are in `laws`.

Pure functions of a robot's numbers, a state and further inputs, samples on the last axis, as in
`mechanics.programs`: they run on NumPy batches and, compiled, one after the other in the engine's loop.
Platforms are rigid or flexible. World axes, SI units.
"""

from __future__ import annotations

from functools import cache, reduce

import numpy as np

from gough.engine.functions import Function
from gough.mechanics import equation, programs
from gough.mechanics.equation import Mechanism
from gough.mechanics.friction import Loads
from gough.mechanics.programs import Outputs
from gough.mechanics.solves import factor
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, copysign, dot, maximum, minimum, or_one
from gough.simulation import layout
from gough.simulation.actuators import at_speed, within
from gough.simulation.attitude import gibbs_rate, orthonormal, turned
from gough.simulation.laws import law_inputs
from gough.simulation.sensors import Reading, reading, rounded

WORKS = ("actuator_work", "wrench_work", "loss")
"""Integrals that a simulation carries, J: ∫ Σ Γ q̇ dt, ∫ wrench·ξ dt, ∫ friction power dt."""


def watch(mechanism: Mechanism, state: State) -> Outputs:
    """What is looked at after every step: q, q̇ and how far the robot is from singular.

    `conditioning` is min |R_kk|/max |R_kk| of J = Q R, signed as det J: it passes through zero where
    a robot of six legs is singular.
    """
    platform, legs = equation.coasting(mechanism, state)
    rows = np.moveaxis(platform.world_rows(legs.w), 0, 1)
    nearness = conditioning(rows, equation.scale(mechanism))
    return {"q": legs.q, "qd": legs.qd, "conditioning": nearness}


def conditioning(jacobian: Components, scale: Components) -> Components:
    """min |R_kk|/max |R_kk| of J (legs, 6, samples) = Q R, columns scaled; of six legs signed."""
    factors = factor(jacobian, scale)
    if len(jacobian) > 6:
        return factors.health
    signed: Components = copysign(factors.health, reduce(np.multiply, factors.per_diagonal))
    return signed


@cache
def watching(law: Function) -> Function:
    """A law and `watch` of its own robot as one program: they share the legs and J = Q R."""

    def both(mechanism: Mechanism, state: State, **inputs: Components) -> Outputs:
        seen = watch(mechanism, state)
        measured = {name: seen[name] for name in ("q", "qd") if name in law_inputs(law)}
        return {**law(mechanism, state, **inputs, **measured), **seen}

    return both


@cache
def acting(law: Function) -> Function:
    """`watching` and the first stage of a step, at the state that the law sees, as one program."""
    watched = watching(law)

    def first(mechanism: Mechanism, state: State, **inputs: Components) -> Outputs:
        own = {name: inputs.pop(name) for name in law_inputs(law) if name in inputs}
        seen = watched(mechanism, state, **own)
        found = rates(mechanism, state, 0 * state.position[:, 0], seen["command"], **inputs)
        return {**found, **seen}

    return first


def sense(mechanism: Mechanism, state: State, noise: Components, steps: Components) -> Outputs:
    """Readings of sensors; noise (2, legs) in m and m/s, `Sensors.steps` (4,)."""
    platform, legs = equation.coasting(mechanism, state)
    q = rounded(legs.q + noise[0], steps[0], steps[1])
    qd = rounded(legs.qd + noise[1], steps[2], steps[3])
    true = Reading(legs.q, legs.qd, *(value[..., 0, :] for value in state[:4]))
    rows = np.moveaxis(platform.world_rows(legs.w), 0, 1)
    return reading(true, q, qd, rows, equation.scale(mechanism))._asdict()


def rates(
    mechanism: Mechanism,
    state: State,
    gibbs: Components,
    command: Components,
    wrench: Components | None = None,
    force_limit: Components | None = None,
    speed_limit: Components | None = None,
    loads: Components | None = None,
    drive: Components | None = None,
    lag: Components | None = None,
) -> Outputs:
    """Time derivatives of a simulation's state: (v, ġ, v̇, ω̇, works, drive forces).

    `drive` (legs,) are the lagging drives' forces; without, drives follow the command at once.
    The works' are Σ Γ q̇, wrench·(v, ω) and the friction power −(f_s q̇ + m_u·ω_l + m_p·(ω_l − ω)).
    Of a flexible platform `elastic` is q̈_e, which is no part of the rates, and the works' have
    φ·q̇_e of the wrench's modal force φ and the power q̇_eᵀ D q̇_e of the damping in them.
    """
    platform, legs = equation.coasting(mechanism, state)
    wanted = command if force_limit is None else within(command, force_limit)
    applied = wanted if drive is None else drive
    if speed_limit is not None:
        applied = at_speed(applied, legs.qd, speed_limit)
    push = 0 * _six(state) if wrench is None else wrench
    found = programs.direct_dynamics(mechanism, state, applied, push, loads)
    velocity, omega = state.velocity[:, 0], state.angular_velocity[:, 0]
    works = [
        (applied * legs.qd).sum(axis=0),
        dot(push[:3], velocity) + dot(push[3:], omega) + platform.modal_power(push),
        0 * velocity[0] + platform.damping_power(),
    ]
    if loads is not None:
        feel = Loads(loads[0], loads[1], loads[2])
        rubbing = legs.rubbing(platform.tips.angular_velocity, feel)
        works[2] = works[2] + rubbing.loss.sum(axis=0)
    parts = [velocity, gibbs_rate(gibbs, omega), found["linear"], found["angular"], np.stack(works)]
    if drive is not None:
        parts.append((wanted - drive) / lag)
    outputs = {"rate": np.concatenate(parts), "applied": applied, "margin": found["margin"]}
    others = ("caused", "vectors", "elastic")
    return outputs | {name: found[name] for name in others if name in found}


def stage(
    mechanism: Mechanism,
    state: State,
    before: Components,
    ahead: Components,
    command: Components,
    wrench: Components | None = None,
    force_limit: Components | None = None,
    speed_limit: Components | None = None,
    loads: Components | None = None,
    drive: Components | None = None,
    lag: Components | None = None,
) -> Outputs:
    """Rates of a stage of Runge and Kutta's method: at y = start + a h k, k those of the one before.

    The state, and `drive`, are the step's start; `ahead` () is a h. The rotation goes by Rodrigues'
    vector from the start (Munthe-Kaas). Elastic coordinates are the stage's own, by `along_modes`.
    `residual`: disagreement of the friction loads.
    """
    change = ahead * before
    moved = _moved(state, change)
    pulled = None if drive is None else drive + change[layout.BEHIND]
    found = rates(
        mechanism,
        moved,
        change[layout.GIBBS],
        command,
        wrench,
        force_limit,
        speed_limit,
        loads,
        pulled,
        lag,
    )
    names = ("rate", "applied", "margin", "elastic")
    outputs = {name: found[name] for name in names if name in found}
    if loads is not None:
        largest = reduce(maximum, [one for kind in found["caused"] for one in kind])
        apart = [one for kind in abs(found["caused"] - loads) for one in kind]
        outputs["caused"] = found["caused"]
        outputs["residual"] = reduce(maximum, apart) / or_one(largest)
    return outputs


def along_modes(
    mechanism: Mechanism, state: State, ahead: Components, further: Components
) -> Outputs:
    """x + a y + b z of each mode, in the places of elastic coordinates, rates and accelerations."""
    x, y, z = state.elastic, state.elastic_velocity, state.elastic_acceleration
    return {"moved": x + ahead * y + further * z}


def stage_state(
    mechanism: Mechanism, state: State, before: Components, ahead: Components
) -> Outputs:
    """Pose and twist of a stage, for a controller that acts without pause."""
    moved = _moved(state, ahead * before)
    names = ("position", "rotation", "velocity", "angular_velocity")
    return {name: getattr(moved, name)[..., 0, :] for name in names}


def finish(
    mechanism: Mechanism,
    state: State,
    works: Components,
    step: Components,
    rate_1: Components,
    rate_2: Components,
    rate_3: Components,
    rate_4: Components,
    margin_1: Components,
    margin_2: Components,
    margin_3: Components,
    margin_4: Components,
    drive: Components | None = None,
) -> Outputs:
    """The end of a step, y + h (k1 + 2 k2 + 2 k3 + k4)/6, and the worst of the stages' margins."""
    change = step / 6 * (rate_1 + 2 * (rate_2 + rate_3) + rate_4)
    moved = _moved(state, change)
    outputs = {
        "position": moved.position[:, 0],
        "rotation": orthonormal(moved.rotation[:, :, 0]),
        "velocity": moved.velocity[:, 0],
        "angular_velocity": moved.angular_velocity[:, 0],
        "works": works + change[layout.WORKS],
        "worst_margin": reduce(minimum, (margin_1, margin_2, margin_3, margin_4)),
    }
    if drive is not None:
        outputs["drive"] = drive + change[layout.BEHIND]
    return outputs


def last(
    mechanism: Mechanism,
    state: State,
    before: Components,
    ahead: Components,
    command: Components,
    works: Components,
    rate_1: Components,
    rate_2: Components,
    margin_1: Components,
    margin_2: Components,
    margin_3: Components,
    drive: Components | None = None,
    **others: Components,
) -> Outputs:
    """The fourth stage and the end of the step as one program; `before` is k3, `ahead` the step."""
    found = stage(mechanism, state, before, ahead, command, drive=drive, **others)
    rates = (rate_1, rate_2, before, found["rate"])
    margins = (margin_1, margin_2, margin_3, found["margin"])
    return finish(mechanism, state, works, ahead, *rates, *margins, drive)


def worst_residual(
    mechanism: Mechanism,
    state: State,
    residual_1: Components,
    residual_2: Components,
    residual_3: Components,
    residual_4: Components,
) -> Outputs:
    """The largest disagreement of friction loads in a step's stages."""
    return {"unsettled": reduce(maximum, (residual_1, residual_2, residual_3, residual_4))}


def _moved(state: State, change: Components) -> State:
    """The state at y + change."""
    return state._replace(
        position=state.position + change[layout.POSITION, np.newaxis],
        rotation=turned(change[layout.GIBBS], state.rotation[:, :, 0])[:, :, np.newaxis],
        velocity=state.velocity + change[layout.VELOCITY, np.newaxis],
        angular_velocity=state.angular_velocity + change[layout.ANGULAR_VELOCITY, np.newaxis],
    )


def _six(state: State) -> Components:
    """A wrench's shape."""
    return np.concatenate([state.velocity, state.angular_velocity])[:, 0]
