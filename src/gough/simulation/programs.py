"""The closed loop as programs: what the plant does, what sensors read; controllers are in `laws`.

Pure functions of a robot's numbers, a state and further inputs, samples on the last axis, as in
`mechanics.programs`: they run on NumPy batches and, compiled, one after the other in the engine's loop.
Platforms are rigid or flexible. World axes, SI units.
"""

from __future__ import annotations

from functools import cache, reduce

import numpy as np

from gough.engine.functions import RESIDUAL, FixedPoint, Function, at_fixed_point
from gough.mechanics import equation, programs
from gough.mechanics.friction import Loads, magnitudes
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.settling import brought_back, closed
from gough.mechanics.state import CHAINS, State
from gough.mechanics.vectors import Components, dot, maximum, minimum, or_one
from gough.simulation import layout
from gough.simulation.actuators import at_speed, within
from gough.simulation.attitude import gibbs_rate, orthonormal, turned
from gough.simulation.laws import law_inputs
from gough.simulation.moves import Moves
from gough.simulation.sensors import Reading, reading, rounded

LOADS_TOLERANCE = 1e-11
"""Disagreement of friction loads, as a share of all of them, at which a stage goes on."""
MOST_PASSES = 60
WORKS = ("actuator_work", "wrench_work", "loss")
"""Integrals that a simulation carries, J: ∫ Σ Γ q̇ dt, ∫ wrench·ξ dt, ∫ friction power dt."""


def watch(mechanism: Mechanism, state: State) -> Outputs:
    """What is looked at after every step: q, q̇ and how far the robot is from singular.

    `conditioning` is that of the actuators along what the platform is allowed: `Moves.conditioning`.
    Signed, it passes through zero where the robot is singular.
    """
    platform, legs = equation.coasting(mechanism, state)
    nearness = Moves.of(mechanism, platform, legs).conditioning
    return {"q": legs.q, "qd": legs.qd, "conditioning": nearness}


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


def sense(
    mechanism: Mechanism,
    state: State,
    noise: Components,
    steps: Components,
    motors: Components | None = None,
    before: Components | None = None,
    filtering: Components | None = None,
) -> Outputs:
    """Readings of sensors; noise (2, actuators) of q and q̇, `Sensors.steps` (4,).

    `before` (2, actuators) are q and q̇ of the last readings, from which q̇ is found with
    `Sensors.filtering` (2,); `kept` is what the next readings have before them.

    With `motors`, as in `rates`, encoders are on the rotors of compliant drives and read θ and θ̇.
    """
    platform, legs = equation.coasting(mechanism, state)
    place, rate = legs.q, legs.qd
    if motors is not None:
        place, rate = legs.q + motors[: len(legs.q)], motors[len(legs.q) :]
    q = rounded(place + noise[0], steps[0], steps[1])
    qd = rounded(rate + noise[1], steps[2], steps[3])
    if before is not None and filtering is not None:
        qd = before[1] + filtering[1] * (filtering[0] * (q - before[0]) - before[1])
    true = Reading(legs.q, legs.qd, *(value[..., 0, :] for value in state[:4]))
    moves = Moves.of(mechanism, platform, legs)
    found = reading(true, q, qd, moves.twist(q - true.q), moves.twist(qd - true.qd))._asdict()
    return found if before is None else {**found, "kept": np.stack([q, qd])}


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
    motors: Components | None = None,
    springs: Components | None = None,
) -> Outputs:
    """Time derivatives of a simulation's state: (v, ġ, v̇, ω̇, works, drive forces, joints of chains).

    `drive` (actuators,) are the lagging drives' forces; without, drives follow the command at once.
    `motors` (2 actuators,) are elongations e = θ − q and rates θ̇ of the rotors of compliant drives,
    `springs` (4, actuators) k, d, I of each and 1 (0 of a rigid drive, which has k = d = 0, I = 1):

        f = k e + d ė,    ė = θ̇ − q̇,    I θ̈ = Γ − f

    and the leg gets f in place of Γ, whose work is Γ θ̇; d ė² is lost.
    The works' are Σ Γ q̇, wrench·(v, ω) and the friction power −(f_s q̇ + m_u·ω_l + m_p·(ω_l − ω)).
    Of a flexible platform `elastic` is q̈_e, which is no part of the rates, and the works' have
    φ·q̇_e of the wrench's modal force φ and the power q̇_eᵀ D q̇_e of the damping in them.
    """
    platform, legs = equation.coasting(mechanism, state)
    wanted = command if force_limit is None else within(command, force_limit)
    applied = wanted if drive is None else drive
    speed, passed, behind = legs.qd, applied, None
    if motors is not None and springs is not None:
        k, d, inertia, soft = springs
        stretched, turning = motors[: len(k)], motors[len(k) :]
        speed = legs.qd + soft * (turning - legs.qd)
    if speed_limit is not None:
        applied = at_speed(applied, speed, speed_limit)
        passed = applied
    if motors is not None and springs is not None:
        longer = speed - legs.qd
        pull = k * stretched + d * longer
        passed = applied + soft * (pull - applied)
        behind = np.concatenate([longer, soft * (applied - pull) / inertia])
    push = 0 * _six(state) if wrench is None else wrench
    feel = None if loads is None else Loads(loads[0], loads[1], loads[2])
    found = equation.direct(mechanism, state, passed, push, feel)
    velocity, omega = state.velocity[:, 0], state.angular_velocity[:, 0]
    works = [
        (applied * speed).sum(axis=0),
        dot(push[:3], velocity) + dot(push[3:], omega) + platform.modal_power(push),
        0 * velocity[0] + platform.damping_power(),
    ]
    if behind is not None:
        works[2] = works[2] + (d * longer * longer).sum(axis=0)
    if feel is not None:
        rubbing = legs.rubbing(platform.tips.angular_velocity, feel)
        works[2] = works[2] + rubbing.loss.sum(axis=0)
    parts = [velocity, gibbs_rate(gibbs, omega), found.acceleration, np.stack(works)]
    if drive is not None:
        parts.append((wanted - drive) / lag)
    if mechanism.legs.coordinates:
        parts.append(legs.chain_rates)
    if behind is not None:
        parts.append(behind)
    # stages are off what the platform is allowed by what the step leaves: that is no trouble
    margin = programs.margin(mechanism, found.platform, found.legs, None, found.health)
    outputs = {"rate": np.concatenate(parts), "applied": applied, "margin": margin}
    if mechanism.platform.mode_count:
        outputs["elastic"] = found.elastic
    if loads is not None:
        vectors = found.legs.load_vectors(found.reactions)
        outputs |= {"caused": magnitudes(vectors), "vectors": vectors}
    return outputs


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
    motors: Components | None = None,
    springs: Components | None = None,
) -> Outputs:
    """Rates of a stage of Runge and Kutta's method: at y = start + a h k, k those of the one before.

    The state, `drive` and `motors` are the step's start; `ahead` () is a h. The rotation goes by
    Rodrigues' vector from the start (Munthe-Kaas). Elastic coordinates are the stage's own, by
    `along_modes`. `residual`: disagreement of the friction loads.
    """
    change = ahead * before
    places = _places(state, drive, motors)
    moved = closed(mechanism, _moved(state, change, places.chains))
    pulled = None if drive is None else drive + change[places.drives]
    turned_on = None if motors is None else motors + change[places.motors]
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
        turned_on,
        springs,
    )
    names = ("rate", "applied", "margin", "elastic")
    outputs = {name: found[name] for name in names if name in found}
    if loads is not None:
        largest = reduce(maximum, [one for kind in found["caused"] for one in kind])
        apart = [one for kind in abs(found["caused"] - loads) for one in kind]
        outputs["caused"] = found["caused"]
        outputs["residual"] = reduce(maximum, apart) / or_one(largest)
    return outputs


@cache
def settled_stage(legs: int) -> Function:
    """`stage` under loads that agree with the friction they cause, from given ones; and these loads."""

    def step(mechanism: Mechanism, state: State, **inputs: Components) -> Outputs:
        found = stage(mechanism, state, **inputs)
        del found[RESIDUAL]
        return {**found, "loads": found["caused"]}

    return at_fixed_point(
        FixedPoint(step, "loads", "caused", (3, legs), LOADS_TOLERANCE, MOST_PASSES)
    )


def along_modes(
    mechanism: Mechanism, state: State, ahead: Components, further: Components
) -> Outputs:
    """x + a y + b z of each mode, in the places of elastic coordinates, rates and accelerations."""
    x, y, z = state.elastic, state.elastic_velocity, state.elastic_acceleration
    return {"moved": x + ahead * y + further * z}


def stage_state(
    mechanism: Mechanism,
    state: State,
    before: Components,
    ahead: Components,
    drive: Components | None = None,
) -> Outputs:
    """Pose and twist of a stage, and joints of chains, for a controller that acts without pause."""
    places = _places(state, drive)
    moved = closed(mechanism, _moved(state, ahead * before, places.chains))
    names = ("position", "rotation", "velocity", "angular_velocity")
    found = {name: getattr(moved, name)[..., 0, :] for name in names}
    return found | ({CHAINS: moved.chains} if mechanism.legs.coordinates else {})


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
    motors: Components | None = None,
) -> Outputs:
    """The end of a step, y + h (k1 + 2 k2 + 2 k3 + k4)/6, and the worst of the stages' margins."""
    change = step / 6 * (rate_1 + 2 * (rate_2 + rate_3) + rate_4)
    places = _places(state, drive, motors)
    moved = _moved(state, change, places.chains)
    outputs = {
        "position": moved.position[:, 0],
        "rotation": orthonormal(moved.rotation[:, :, 0]),
        "velocity": moved.velocity[:, 0],
        "angular_velocity": moved.angular_velocity[:, 0],
        "works": works + change[layout.WORKS],
        "worst_margin": reduce(minimum, (margin_1, margin_2, margin_3, margin_4)),
    }
    if drive is not None:
        outputs["drive"] = drive + change[places.drives]
    if motors is not None:
        outputs["motors"] = motors + change[places.motors]
    if mechanism.legs.coordinates:
        outputs[CHAINS] = moved.chains
    return outputs


def settle(mechanism: Mechanism, state: State) -> Outputs:
    """The state a step leaves brought back to what the robot can be in: `brought_back`.

    Joints of chains are where the platform is.
    """
    near = closed(mechanism, state)
    platform, legs = equation.coasting(mechanism, near)
    position, rotation, twist = brought_back(mechanism, platform, legs)
    outputs = {
        "position": position,
        "rotation": rotation,
        "velocity": twist[:3],
        "angular_velocity": twist[3:],
    }
    return outputs | ({CHAINS: legs.chains} if mechanism.legs.coordinates else {})


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
    motors: Components | None = None,
    **others: Components,
) -> Outputs:
    """The fourth stage and the end of the step as one program; `before` is k3, `ahead` the step."""
    found = stage(mechanism, state, before, ahead, command, drive=drive, motors=motors, **others)
    rates = (rate_1, rate_2, before, found["rate"])
    margins = (margin_1, margin_2, margin_3, found["margin"])
    return finish(mechanism, state, works, ahead, *rates, *margins, drive, motors)


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


def _places(
    state: State, drive: Components | None, motors: Components | None = None
) -> layout.Places:
    """Where drives, joints of chains and motors are among the rates."""
    counts = (0 if one is None else len(one) for one in (drive, motors))
    return layout.behind(next(counts), len(state.chains), next(counts))


def _moved(state: State, change: Components, chains: slice) -> State:
    """The state at y + change."""
    return state._replace(
        position=state.position + change[layout.POSITION, np.newaxis],
        rotation=turned(change[layout.GIBBS], state.rotation[:, :, 0])[:, :, np.newaxis],
        velocity=state.velocity + change[layout.VELOCITY, np.newaxis],
        angular_velocity=state.angular_velocity + change[layout.ANGULAR_VELOCITY, np.newaxis],
        chains=state.chains + change[chains],
    )


def _six(state: State) -> Components:
    """A wrench's shape."""
    return np.concatenate([state.velocity, state.angular_velocity])[:, 0]
