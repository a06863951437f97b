"""Computed torque of a flexible robot on estimated elastic coordinates: a Kalman filter on the encoders.

Encoders tell the actuators' q, six numbers or so; the platform has 6 + N coordinates and as many rates.
The model, driven with the forces that were commanded, predicts them over a period (Runge and Kutta's
step), and what the encoders say otherwise corrects them:

    x̂ ← f(x̂, Γ),    x̂ ← x̂ + L (q_m − q(x̂)),    x = (δp, δθ, δq_e, δv, δω, δq̇_e)

L is the steady gain of Kalman's filter, of the model linearised at poses along the reference:

    L = P Cᵀ (C P Cᵀ + R)⁻¹,    P = A (P − L C P) Aᵀ + Q,    C = [J 0]

R holds the encoder's error e², Q what forces that the model does not know do in a period, σ² B Bᵀ along
the actuators and, on the modes, as much as would bend the platform by its sag in as many periods as its
slowest mode takes. Accelerometers, if there are any, read q̈ = C A x + C B Γ: rows more of the same.
SI units, world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy import linalg

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.derivatives import linearize
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.motion import Motion
from gough.simulation.actuators import Actuators
from gough.simulation.attitude import turned_rows
from gough.simulation.controllers import ComputedTorque, Controller, Measured, Memory, gain
from gough.simulation.integrators import runge_kutta
from gough.simulation.plant import ELASTIC, MOVING, Plant, PlantState
from gough.simulation.sensors import Reading

ESTIMATED = (*MOVING, *ELASTIC)
"""Fields of a state that are estimated."""
POSES = 9
"""Poses along a reference at which gains are computed."""
STABLE = 1.0
"""Largest step of the prediction, over the period of the fastest mode in radians."""
MOST_STEPS = 1000
"""Of the prediction in a period."""
SIZES = (1e-12, 1e12)
"""Least and largest of encoder, disturbance and accelerometer: beyond, the gains have no digits left."""


@dataclass(frozen=True, eq=False)
class ObservedTorque(Controller):
    """`ComputedTorque` in the platform's space, of a state that a Kalman filter estimates.

    `frequency` w (rad/s) and `ratio` ζ as there. `encoder` (m, rad): how exact encoders are.
    `disturbance`: forces that the model does not know, of those that hold it. `accelerometer` (m/s²,
    rad/s²): how exact accelerometers along q are, if the sensors have them. Nothing but q (and q̈) is
    taken from the plant; the robot must start at rest in its static deflection.
    """

    remembers: ClassVar[bool] = True
    recorded: ClassVar[tuple[str, ...]] = tuple(f"estimated_{name}" for name in ESTIMATED)
    frequency: float
    ratio: float = 1.0
    encoder: float = 1e-6
    disturbance: float = 0.01
    accelerometer: float | None = None
    model: Model | None = None
    gains_along: tuple[Array, Array] | None = field(default=None, repr=False)
    """Times (poses,) and L (poses, states, readings) at them, once the reference is known."""

    def __post_init__(self) -> None:
        for name in ("encoder", "disturbance", "accelerometer"):
            given = getattr(self, name)
            if given is None and name == "accelerometer":
                continue
            value = float(gain(name, given, 1)[0, 0])
            if not SIZES[0] <= value <= SIZES[1]:
                raise InputError(
                    f"observer: {name} is {value:g}, must be {SIZES[0]:g} to {SIZES[1]:g}"
                )

    @property
    def torque(self) -> ComputedTorque:
        """The law, of whatever state it is told."""
        return ComputedTorque(self.frequency, self.ratio, self.model)

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """The reference, and its times."""
        assert reference.time is not None
        times = np.broadcast_to(reference.time, reference.shape)[..., np.newaxis]
        return self.torque.goals(plant, reference) | {"time": times}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """w² and 2ζw."""
        return self.torque.gains(plant)

    def prepared(
        self, plant: ModelCalls, reference: Callable[[Array], Motion], times: Array
    ) -> Controller:
        """With gains along the reference, of its first row."""
        model = self.robot(plant)
        if not isinstance(model, Model):
            raise InputError("an observer of variants needs a model of its own")
        places = np.unique(np.linspace(0, len(times) - 1, POSES).astype(int))
        poses = reference(times[places])[:, 0]
        period = float(times[1] - times[0])
        found = [self._gain(model, poses[i], period) for i in range(len(places))]
        return replace(self, gains_along=(times[places], np.stack(found)))

    def _gain(self, model: Model, pose: Motion, period: float) -> Array:
        """L of the module's text at a pose, by the discrete algebraic Riccati equation."""
        still = Motion(pose.position, pose.rotation)
        rest = static_deflection(model, still) if model.modes else still
        forces = model.inverse_dynamics(rest, friction=False).forces
        near = linearize(model, rest, forces, friction=False)
        own = own_directions(model, rest)
        J = model.jacobian(rest) @ own
        half = len(near.A) // 2
        C = np.concatenate([J, np.zeros_like(J)], axis=1)
        size = np.sqrt(np.mean(forces**2)) or 1.0
        pushed = near.B * self.disturbance * size
        noise = [self.encoder**2] * len(J)
        if self.accelerometer is not None:
            C = np.concatenate([C, J @ near.A[half:]])
            noise += [self.accelerometer**2] * len(J)
        if model.modes:
            shaken = np.zeros((2 * half, model.modes))
            sag = np.abs(rest.elastic).max() or 1.0
            slowest = np.sqrt(np.abs(np.linalg.eigvals(near.A)[np.newaxis]).min())
            shaken[2 * half - model.modes :] = np.eye(model.modes) * sag * slowest**2
            pushed = np.concatenate([pushed, shaken * self.disturbance], axis=1)
        rates = np.block(
            [[near.A, pushed], [np.zeros((pushed.shape[1], 2 * half + pushed.shape[1]))]]
        )
        try:
            with np.errstate(all="ignore"):
                whole = linalg.expm(period * rates)
                A, G = whole[: 2 * half, : 2 * half], whole[: 2 * half, 2 * half :]
                scale = np.sqrt(np.maximum(np.diag(G @ G.T), 1e-300))  # states in their own sizes
                a, c = A / scale[:, np.newaxis] * scale, C * scale / np.sqrt(noise)[:, np.newaxis]
                g = G / scale[:, np.newaxis]
                P = linalg.solve_discrete_are(a.T, c.T, g @ g.T, np.eye(len(c)))
                L = P @ c.T @ np.linalg.inv(c @ P @ c.T + np.eye(len(c)))
        except ValueError:  # what is infinite, and LinAlgError
            raise InputError(
                f"observer: no gains for encoder {self.encoder:g}, disturbance {self.disturbance:g} "
                f"and a period of {period:g} s"
            ) from None
        lift = linalg.block_diag(own, own)
        return np.asarray(lift @ (L * scale[:, np.newaxis] / np.sqrt(noise)))

    def remembered(self, plant: ModelCalls, start: Motion, period: float) -> Memory:
        """The start at rest, sagging as the model does."""
        model = self.robot(plant)
        rows = len(start)
        still = Motion(start.position, start.rotation)
        rest = static_deflection(model, still) if model.modes else still
        fields = {name: getattr(start, name) for name in MOVING}
        fields |= {"elastic": rest.elastic, "elastic_velocity": 0 * rest.elastic}
        return {
            **{f"estimated_{name}": np.array(value) for name, value in fields.items()},
            "chains": model.chains_of(rest).reshape(rows, -1),
            "command": np.full((rows, plant.actuator_count), np.nan),
            "period": np.full(rows, period),
        }

    def command(
        self, plant: ModelCalls, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> tuple[Array, Memory]:
        """Γ of the estimate, which the model predicts and the encoders correct."""
        model, rows = self.robot(plant), len(measured.q)
        body = Plant(model, Actuators(), False, None)
        state = PlantState(
            **{name: memory[f"estimated_{name}"] for name in ESTIMATED},
            chains=memory["chains"],
            works=np.zeros((rows, 3)),
            drive=np.zeros((rows, 0)),
            motors=np.zeros((rows, 0)),
        )
        period = float(memory["period"][0])
        if np.all(np.isfinite(memory["command"])):
            state = self._predicted(body, state, memory["command"], period)
        state = self._corrected(body, state, measured, float(np.ravel(goals["time"])[0]), memory)
        now = body.watch(state)
        seen = Reading(now.q, now.qd, *(getattr(state, name) for name in MOVING))
        told = Measured(measured.time, seen, state.chains, state.elastic, state.elastic_velocity)
        known = {name: value for name, value in goals.items() if name != "time"}
        forces, _ = self.torque.command(plant, told, known, {})
        kept = {f"estimated_{name}": getattr(state, name) for name in ESTIMATED}
        rest = {"chains": state.chains, "command": forces, "period": memory["period"]}
        return forces, {**kept, **rest}

    def _predicted(self, body: Plant, state: PlantState, held: Array, period: float) -> PlantState:
        """The state a period later under held forces, in steps that its fastest mode allows."""
        modal = body.robot.modal
        fastest = 0.0
        if modal is not None and modal.modes:
            squares = linalg.eigvals(modal.stiffness, modal.modal_mass).real
            fastest = float(np.sqrt(max(squares.max(), 0.0)))
        steps = max(1, int(np.ceil(min(period * fastest / STABLE, 2.0 * MOST_STEPS))))
        if steps > MOST_STEPS:
            raise InputError(
                f"observer: a period of {period:g} s is too long for modes of {fastest:.3g} rad/s; "
                f"at most {MOST_STEPS * STABLE / fastest:.3g} s"
            )
        for _ in range(steps):
            state, _ = runge_kutta(
                lambda time, now, gibbs: body.rates(time, now, gibbs, held),
                state,
                0.0,
                period / steps,
            )
            state = body.settled(state)
        return state

    def _corrected(
        self, body: Plant, state: PlantState, measured: Measured, time: float, memory: Memory
    ) -> PlantState:
        """x̂ + L (q_m − q(x̂)) with the gain of the nearest pose along the reference."""
        assert self.gains_along is not None
        times, gains = self.gains_along
        L = gains[int(np.argmin(np.abs(times - time)))]
        off = measured.q - body.watch(state).q
        if self.accelerometer is not None:
            apart = np.zeros_like(off)  # before the first command there is nothing to compare
            if np.all(np.isfinite(memory["command"])):
                if measured.qdd is None:
                    raise InputError(
                        "observer: accelerometer needs sensors with acceleration_noise"
                    )
                apart = measured.qdd - body.accelerations(state, memory["command"])
            off = np.concatenate([off, apart], axis=1)
        change = off @ L.T
        half = change.shape[1] // 2
        return body.settled(
            replace(
                state,
                position=state.position + change[:, :3],
                rotation=turned_rows(0.5 * change[:, 3:6], state.rotation),
                velocity=state.velocity + change[:, half : half + 3],
                angular_velocity=state.angular_velocity + change[:, half + 3 : half + 6],
                elastic=state.elastic + change[:, 6:half],
                elastic_velocity=state.elastic_velocity + change[:, half + 6 :],
            )
        )
