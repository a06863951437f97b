"""Adaptive control: a controller that learns its robot's masses while it moves it.

Slotine & Li (1987, Int. J. Robotics Research 6) in the actuators' coordinates q, of which a robot with
as many actuators as directions has enough. With a reference rate q̇_s = q̇_r + Λ (q_r − q) and
s = q̇_s − q̇,

    Γ = Y(q, q̇, q̇_s, q̈_s) X̂ + λ M₀(q) s,      X̂˙ = P (g Yᵀ s + Wᵀ R⁻¹ e)

Y is the regressor with a reference rate apart from the rate: Y X = M q̈_s + C(q, q̇) q̇_s + G, with
C by Christoffel's symbols, for which Ṁ − 2 C is skew. C q̇_s is bilinear and symmetric in both rates, so
that it is had from the plain regressor W(q, q̇, q̈) of any robot, by polarisation:

    Y = W(q, (q̇ + q̇_s)/2, q̈_s) − W(q, (q̇ − q̇_s)/2, 0) + W(q, 0, 0)

With V = ½ sᵀ M s + X̃ᵀ P⁻¹ X̃/(2 g), X̃ = X̂ − X, the first part of X̂˙ alone gives V̇ = −λ sᵀ M₀ s for a
constant P. The second part, e = (Γ − W X̂) of the interval before, is composite adaptation (Slotine & Li
1989): least squares, which make the parameters themselves converge. P starts at P₀, what is known of X
beforehand; what the motion shows is forgotten in a time T,  Ṗ = (P − P P₀⁻¹ P)/T − P Wᵀ R⁻¹ W P, and R
is the size of the errors e of late.

X are the standard parameters, so that what is learnt are the base parameters G X with the gain G P Gᵀ;
bodies stay ones that matter can make: where uᵀ L(X̂) u < 0, L a body's pseudo-inertia matrix and u one of
its eigenvectors, X̂ goes to the nearest point of uᵀ L u ≥ 0 in the metric of P⁻¹, which never enlarges V.
SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.errors import InputError
from gough.mechanics.state import CHAINS, RIGID_FIELDS
from gough.model.calls import ModelCalls
from gough.model.model import Model
from gough.model.slopes import matrices
from gough.motion import Motion
from gough.parameters.regressor import (
    columns,
    refuse_load_friction,
    regressor_row,
    regressor_row_with_friction,
    standard_parameters,
)
from gough.simulation import laws
from gough.simulation.attitude import orthonormal
from gough.simulation.controllers import NOTHING, Controller, Measured, Memory, gain
from gough.simulation.real_bodies import RealBodies
from gough.simulation.sensors import Reading

FALL = 9.81
"""m/s², rad/s²."""
SMALLEST_BODY = 0.1
"""Radius of gyration, in length scales, that a body is taken to have at least: what it may turn out."""
MEMORY = 3.0
"""Times of the low-pass over which the errors of prediction are averaged: so noisy are forces taken."""
DOUBTS = (1e-9, 1e6)
"""Least and largest doubt: its square is added to and divided by."""
REST = 1e-6
"""Of the forces that hold the robot: what a prediction of them is never trusted beyond."""


@dataclass(frozen=True, eq=False)
class AdaptiveControl(Controller):
    """Slotine & Li's law with composite adaptation of the inertial parameters; see the module.

    `frequency` w (rad/s) and `ratio` ζ ≥ 1: without errors of the model e obeys ë + 2ζw ė + w² e = 0 in
    every actuator. `doubt`: how wrong the model's masses may be, of themselves. `patience` T (s): in
    which what was learnt is doubted again. `friction` learns the friction, too, that is linear in its
    coefficients. The model starts as the robot it is given; the forces must be those that are commanded.
    """

    remembers: ClassVar[bool] = True
    recorded: ClassVar[tuple[str, ...]] = ("parameters",)
    frequency: float
    ratio: float = 1.0
    doubt: float = 0.3
    patience: float = 10.0
    model: Model | None = None
    friction: bool = False

    def __post_init__(self) -> None:
        for name, least in (("frequency", 0.0), ("ratio", 1.0), ("doubt", 0.0), ("patience", 0.0)):
            value = float(gain(name, getattr(self, name), 1)[0, 0])
            if value < least or (value == least and name != "ratio"):
                words = "at least" if name == "ratio" else "more than"
                raise InputError(
                    f"adaptive control: {name} is {value:g}, must be {words} {least:g}"
                )
        if not DOUBTS[0] <= (doubt := float(self.doubt)) <= DOUBTS[1]:
            raise InputError(
                f"adaptive control: doubt is {doubt:g}, must be {DOUBTS[0]:g} to {DOUBTS[1]:g}"
            )

    def learner(self, plant: ModelCalls) -> Learner:
        """What it knows of its model."""
        model = self.robot(plant)
        if not isinstance(model, Model):
            raise InputError("adaptive control of variants needs a model to start from")
        model.need_rigid("adaptive control")
        if model.actuator_count != model.mobility:
            raise InputError(
                f"adaptive control needs as many actuators as directions; {model.name} has "
                f"{model.actuator_count} and moves in {model.mobility}"
            )
        if self.friction:
            refuse_load_friction(model)
        return Learner.of(model, self.friction)

    def prepared(
        self, plant: ModelCalls, reference: Callable[[Array], Motion], times: Array
    ) -> Controller:
        """Refuse what it cannot control."""
        patience, period = float(self.patience), float(times[1] - times[0])
        if patience < period:  # the covariance would grow without end
            raise InputError(
                f"adaptive control: patience is {patience:g} s, must be at least the period, "
                f"{period:g} s"
            )
        self.learner(plant)
        return self

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """q_r, q̇_r and q̈_r."""
        legs = self.robot(plant).inverse_kinematics(reference)
        return {"goal_q": legs.q, "goal_qd": legs.qd, "goal_qdd": legs.qdd}

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """Λ and λ, the roots of x² − 2ζw x + w², (1, 1) each."""
        w, ratio = float(self.frequency), float(self.ratio)
        apart = w * np.sqrt(ratio**2 - 1)
        return {
            "pull": np.full((1, 1), ratio * w - apart),
            "brake": np.full((1, 1), ratio * w + apart),
        }

    def remembered(self, plant: ModelCalls, start: Motion, period: float) -> Memory:
        """The model's own parameters, doubted, and nothing measured yet."""
        learner = self.learner(plant)
        rows, count, size = len(start), plant.actuator_count, len(learner.standard)
        spread = np.diag((self.doubt * learner.widths) ** 2)
        chains = self.robot(plant).chains_of(start).reshape(rows, -1)
        return {
            "parameters": np.tile(learner.standard, (rows, 1)),
            "covariance": np.tile(spread, (rows, 1, 1)),
            "noise": np.full(rows, np.nan),
            "rows": np.zeros((rows, count, size)),
            "forces": np.zeros((rows, count)),
            "period": np.full(rows, period),
            "rate": self._rate(learner, start, chains),
            "command": np.full((rows, count), np.nan),
            "position": start.position,
            "rotation": start.rotation,
            "twist": np.zeros((rows, 6)),
            CHAINS: chains,
        }

    def command(
        self, plant: ModelCalls, measured: Measured, goals: dict[str, Array], memory: Memory
    ) -> tuple[Array, Memory]:
        """Γ, and what was learnt from the interval before."""
        learner = self.learner(plant)
        period = float(memory["period"][0])
        apart, slower = goals["goal_q"] - measured.q, goals["goal_qd"] - measured.qd
        rate = goals["goal_qd"] + goals["pull"] * apart
        wanted = goals["goal_qdd"] + goals["pull"] * slower
        s = rate - measured.qd
        zero = np.zeros_like(s)
        brake = goals["brake"] * s
        both = ((rate + measured.qd) / 2, wanted), ((measured.qd - rate) / 2, zero)
        first, second, still, push = learner.regressors(
            measured, [*both, (zero, zero), (zero, brake)]
        )
        Y = first - second + still
        hold = (push - still) @ learner.standard
        X, P = memory["parameters"], memory["covariance"]
        X = X + period * memory["rate"][:, np.newaxis] * np.einsum("rij,raj,ra->ri", P, Y, s)
        told = np.isfinite(memory["command"][:, :1])
        if np.all(told):
            X, P, seen = self._learnt(learner, measured, memory, X, P, Y)
        else:
            seen = {name: memory[name] for name in ("rows", "forces", "noise")}
        X = learner.bodies.projected(X, P)
        P = P + period / float(self.patience) * (P - P @ (learner.certain / self.doubt**2 * P))
        forces = np.einsum("raj,rj->ra", Y, X) + hold
        twist = np.concatenate([measured.reading.velocity, measured.reading.angular_velocity], 1)
        now = {
            "position": measured.reading.position,
            "rotation": measured.reading.rotation,
            "twist": twist,
            CHAINS: measured.chains,
        }
        learnt = {"parameters": X, "covariance": P, "command": forces}
        return forces, {**memory, **seen, **learnt, **now}

    def _rate(self, learner: Learner, start: Motion, chains: Array) -> Array:
        """g (rows,) = w² m/(4 f²): errors of the model are learnt in four times 1/w.

        m are masses that actuators feel at the start, f² the forces that doubt is worth, all of them
        accelerating as a weight falls.
        """
        rows, count = len(start), learner.model.actuator_count
        zero = np.zeros((rows, count))
        fields = (start.position, start.rotation, 0 * start.position, 0 * start.position)
        rest = Measured(0.0, Reading(zero, zero, *fields), chains, zero[:, :0], zero[:, :0])
        each = [(zero, np.tile(one, (rows, 1))) for one in np.eye(count)]
        still, fall, *single = learner.regressors(rest, [(zero, zero), (zero, zero + FALL), *each])
        mass = sum(((one - still) @ learner.standard)[:, i] for i, one in enumerate(single)) / count
        worth = np.mean(((fall * self.doubt * learner.widths) ** 2).sum(axis=2), axis=1)
        return np.asarray(float(self.frequency) ** 2 * mass / (4 * np.where(worth > 0, worth, 1.0)))

    def _learnt(
        self,
        learner: Learner,
        measured: Measured,
        memory: Memory,
        X: Array,
        P: Array,
        Y: Array,
    ) -> tuple[Array, Array, Memory]:
        """Least squares on the interval before: its mean acceleration took the command held in it.

        Both sides of Γ = W X go through the same low-pass, of the loop's own frequency.
        """
        period = float(memory["period"][0])
        share = min(1.0, period * float(self.frequency))
        W = learner.between(measured, memory, period)
        W = memory["rows"] + share * (W - memory["rows"])
        forces = memory["forces"] + share * (memory["command"] - memory["forces"])
        error = forces - np.einsum("raj,rj->ra", W, X)
        size = np.mean((error / learner.sizes) ** 2, axis=1)
        known = np.where(np.isfinite(memory["noise"]), memory["noise"], size)
        R = np.maximum(known, REST**2)[:, np.newaxis] * learner.sizes**2 * (2 / share)
        WP = W @ P
        inner = WP @ np.swapaxes(W, 1, 2) + R[..., np.newaxis] * np.eye(R.shape[1])
        K = np.swapaxes(np.linalg.solve(inner, WP), 1, 2)
        X = X + np.einsum("rja,ra->rj", K, error)
        P = P - K @ WP
        P = (P + np.swapaxes(P, 1, 2)) / 2
        noise = known + share / MEMORY * (size - known)
        return X, P, {"rows": W, "forces": forces, "noise": noise}


@dataclass(frozen=True, eq=False)
class Learner:
    """A model's regressor at states of the actuators, and what is known of its parameters."""

    model: Model
    friction: bool
    standard: Array
    """X₀ (parameters,)."""
    widths: Array
    """(parameters,): how far a parameter that is wholly unknown may be from X₀."""
    certain: Array
    """(parameters, 1): 1/width²; 0 of parameters that stay as they are."""
    bodies: RealBodies
    sizes: Array
    """(actuators,): of forces that hold the model at home, by units, N or N m."""

    @classmethod
    def of(cls, model: Model, friction: bool) -> Learner:
        """Of a model at home; kept, as it is asked for at every sample."""
        key = (id(model), friction)
        known = _LEARNERS.get(key)
        if known is None or known.model is not model:
            standard = standard_parameters(model, friction)
            widths = parameter_widths(model, standard, friction)
            bodies = RealBodies.of(model, standard, friction)
            moves = widths > 0
            certain = np.where(moves, 1 / np.where(moves, widths, 1.0) ** 2, 0.0)[:, np.newaxis]
            known = cls(model, friction, standard, widths, certain, bodies, force_sizes(model))
            _LEARNERS.clear()
            _LEARNERS[key] = known
        return known

    def regressors(self, measured: Measured, asked: list[tuple[Array, Array]]) -> list[Array]:
        """W (rows, actuators, parameters) in the measured pose at rates and accelerations of q."""
        reading, rows = measured.reading, len(measured.q)
        many = len(asked)
        rates = np.concatenate([one[0] for one in asked])
        faster = np.concatenate([one[1] for one in asked])
        fields = {name: np.tile(NOTHING, (many * rows, 1)) for name in RIGID_FIELDS}
        fields["position"] = np.tile(reading.position, (many, 1))
        fields["rotation"] = np.tile(reading.rotation, (many, 1, 1))
        fields[CHAINS] = np.tile(measured.chains, (many, 1))
        twist = self._run(laws.twist_of_rates, fields, {"rates": rates})["twist"]
        fields |= {"velocity": twist[:, :3], "angular_velocity": twist[:, 3:]}
        given = self._run(laws.acceleration_of_rates, fields, {"accelerations": faster})
        whole = given["acceleration"]
        fields |= {"acceleration": whole[:, :3], "angular_acceleration": whole[:, 3:]}
        return np.split(self._regressor(fields), many)

    def between(self, measured: Measured, before: Memory, period: float) -> Array:
        """W in the middle between the last sample and this one, with the mean acceleration."""
        reading = measured.reading
        twist = np.concatenate([reading.velocity, reading.angular_velocity], axis=1)
        middle, mean = (twist + before["twist"]) / 2, (twist - before["twist"]) / period
        turned = np.moveaxis((reading.rotation + before["rotation"]) / 2, 0, -1)
        fields = {
            "position": (reading.position + before["position"]) / 2,
            "rotation": np.moveaxis(orthonormal(turned), -1, 0),
            "velocity": middle[:, :3],
            "angular_velocity": middle[:, 3:],
            "acceleration": mean[:, :3],
            "angular_acceleration": mean[:, 3:],
            CHAINS: (measured.chains + before[CHAINS]) / 2,
        }
        return self._regressor(fields)

    def _run(self, program: Function, fields: Memory, inputs: Memory) -> Memory:
        own = {name: one for name, one in fields.items() if one.size}
        rows = len(next(iter(inputs.values())))
        return self.model.executor(program, rows, {**own, **inputs})

    def _regressor(self, fields: Memory) -> Array:
        own = {name: one for name, one in fields.items() if one.size}
        row = regressor_row_with_friction if self.friction else regressor_row
        units = {"weights": np.eye(self.model.actuator_count)}
        return matrices(self.model, row, len(fields["position"]), own, units)["row"]


_LEARNERS: dict[tuple[int, bool], Learner] = {}


def force_sizes(robot: Model) -> Array:
    """(actuators,): rms of the forces that hold the robot at home, of actuators of the same units."""
    forces = robot.inverse_dynamics(robot.home, friction=False).forces
    turns = np.array([one.units.turns for one in robot.actuators])
    sizes = np.ones_like(forces)
    for which in (turns, ~turns):
        if which.any():
            sizes[which] = np.sqrt(np.mean(forces[which] ** 2)) or 1.0
    return sizes


def parameter_widths(robot: Model, standard: ArrayLike, friction: bool) -> Array:
    """(parameters,): the size of each parameter, from the mass of its body and its radius of gyration.

    Mass m, first moments m r, inertias m r², with r² = ½ tr I/m and r at least SMALLEST_BODY length
    scales; 0 of bodies without mass, which stay without. Rotors and friction: themselves.
    """
    values = np.asarray(standard, dtype=np.float64)
    found = columns(robot, friction)
    widths = np.abs(values)
    for place in range(len(found) - 9):
        names = [one.name for one in found[place : place + 10]]
        if not (names[0].endswith(" XX") and names[9].endswith(" M")):
            continue
        ten = values[place : place + 10]
        mass = abs(ten[9])
        if not mass:
            widths[place : place + 10] = 0.0
            continue
        radius = np.sqrt(abs(ten[0] + ten[3] + ten[5]) / (2 * mass))
        radius = max(radius, SMALLEST_BODY * robot.length_scale)
        widths[place : place + 6] = mass * radius**2
        widths[place + 6 : place + 9] = mass * radius
        widths[place + 9] = mass
    return widths
