"""Active damping of flexible robots, and the feed-forward that needs none: laws on the legs alone.

All of them are Γ = K (q_r − q) + D (q̇_r − q̇) + Γ_r, tuned by frequencies of which the model makes gains:
K = w² m and D = 2ζw m, m the masses that the actuators feel at the start, 1/m the diagonal of J M⁻¹ Jᵀ.

- Direct velocity feedback: D is the one at which the model's modes are damped best.
- Integral force feedback: the legs yield to what they feel, δ̇ = −a δ − g (f − Γ_r), and q_r + δ takes
  the place of q_r. The power f δ̇ = −g f² is lost whatever the structure (Preumont, Vibration Control
  of Active Structures, 2011). With K it is a spring K in series with a damper 1/g, parallel to a soft
  spring: it damps most at w_d = g K, and a = w_d/10 keeps legs stiff at rest.
- Stable inversion: q_r, q̇_r and Γ_r are those of the elastic motion that makes an output of the flexible
  robot follow the reference, bounded where the zero dynamics are unstable (`Model.elastic_motion`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.errors import InputError
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.elastic_motion import elastic_motion
from gough.model.model import Model
from gough.model.outputs import Output
from gough.model.own_directions import own_directions
from gough.motion import Motion
from gough.results import LegMotion
from gough.simulation import laws
from gough.simulation.controllers import Controller, Memory, gain
from gough.simulation.linear import linear_model

SAMPLES = 4001
"""Of a reference at most, of which the elastic motion is found."""
RATIOS = np.geomspace(0.01, 10.0, 61)
"""Damping ratios of the legs that direct velocity feedback chooses from."""
LEAK = 0.1
"""a over g K of integral force feedback."""


class Along(NamedTuple):
    """What legs do along a reference, (n, actuators) at times (n,), and the masses that they feel."""

    times: Array
    q: Array
    qd: Array
    forces: Array
    masses: Array
    """(actuators,), kg or kg m²."""


@dataclass(frozen=True, eq=False)
class LegTuned(Controller):
    """What laws share whose gains are the model's: frequencies and ratios in place of stiffnesses."""

    program: ClassVar[Function | None] = staticmethod(laws.leg_law)
    frequency: float
    ratio: float = 0.7
    model: Model | None = None
    along: Along | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("frequency", "ratio"):
            gain(name, getattr(self, name), 1)

    def prepared(
        self, plant: ModelCalls, reference: Callable[[Array], Motion], times: Array
    ) -> Controller:
        """With the legs' own reference and the masses that they feel at its start."""
        model = self.robot(plant)
        if not isinstance(model, Model):
            raise InputError(f"{type(self).__name__} of variants needs a model of its own")
        taken = np.linspace(times[0], times[-1], min(len(times), SAMPLES))
        asked = reference(taken)
        if asked.shape[1] != 1:
            raise InputError(f"{type(self).__name__} follows one reference, not {asked.shape[1]}")
        legs, forces = self.followed(model, asked[:, 0])
        masses = felt_masses(model, asked[0, 0])
        return replace(self, along=Along(taken, legs.q, legs.qd, forces, masses))

    def followed(self, model: Model, reference: Motion) -> tuple[LegMotion, Array]:
        """Legs and forces (n, actuators) along a reference (n,), as if the platform only sagged.

        Forces: those that hold it sagging at rest, and what the rigid robot needs more while it moves.
        """
        still, body = Motion(reference.position, reference.rotation), model.rigid
        more = body.inverse_dynamics(reference, friction=False).forces
        if not model.modes:
            return body.inverse_kinematics(reference), more
        rest = static_deflection(model, still)
        held = model.inverse_dynamics(rest, friction=False).forces
        moving = reference.replace(elastic=rest.elastic)
        forces = held + more - body.inverse_dynamics(still, friction=False).forces
        return model.inverse_kinematics(moving), forces

    def goals(self, plant: ModelCalls, reference: Motion) -> dict[str, Array]:
        """q_r, q̇_r and Γ_r at the reference's times."""
        assert self.along is not None
        assert reference.time is not None
        times = np.broadcast_to(reference.time, reference.shape)[:, :1]
        values = (self.along.q, self.along.qd, self.along.forces)
        found = [CubicSpline(self.along.times, one)(times) for one in values]
        return dict(zip(("goal_q", "goal_qd", "feedforward"), found, strict=True))

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """K and D, (1, actuators)."""
        assert self.along is not None
        w, masses = float(self.frequency), self.along.masses[np.newaxis]
        return {"stiffness": w * w * masses, "damping": 2 * float(self.ratio) * w * masses}


@dataclass(frozen=True, eq=False)
class StableInversion(LegTuned):
    """Feed-forward of a flexible robot: the forces and legs that make an `output` follow the reference.

    "terminal" (the material at the platform frame's origin), "frame" or "legs". `frequency` w (rad/s)
    and `ratio` ζ of the legs' springs about that motion.
    """

    output: Output = "terminal"

    def followed(self, model: Model, reference: Motion) -> tuple[LegMotion, Array]:
        """Those of the elastic motion of the reference; of a rigid model of the reference itself."""
        motion = elastic_motion(model, reference, self.output) if model.modes else reference
        forces = model.inverse_dynamics(motion, friction=False).forces
        return model.inverse_kinematics(motion), forces


@dataclass(frozen=True, eq=False)
class VelocityFeedback(LegTuned):
    """Direct velocity feedback: legs of frequency w (rad/s), damped as is best for the model's modes."""

    ratio: float = field(default=0.7, init=False)

    def prepared(
        self, plant: ModelCalls, reference: Callable[[Array], Motion], times: Array
    ) -> Controller:
        """With the ratio at which the least damped mode is damped most."""
        known = super().prepared(plant, reference, times)
        assert isinstance(known, VelocityFeedback)
        assert known.along is not None
        model = known.robot(plant)
        assert isinstance(model, Model)
        pose = reference(times[:1])[0, 0]
        best = best_ratio(
            model, Motion(pose.position, pose.rotation), known.along.masses, self.frequency
        )
        found = replace(known)
        object.__setattr__(found, "ratio", best)
        return found


@dataclass(frozen=True, eq=False)
class ForceFeedback(LegTuned):
    """Integral force feedback: legs of frequency w (rad/s) and ratio ζ that yield to what they feel.

    `damped` w_d (rad/s): the frequency that it damps most, g K. The force is what the drive passes on to
    the leg, at the sample before.
    """

    program: ClassVar[Function | None] = staticmethod(laws.yielding_leg_law)
    remembers: ClassVar[bool] = True
    recorded: ClassVar[tuple[str, ...]] = ("yielded",)
    damped: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not float(gain("damped", self.damped, 1)[0, 0]) > 0:
            raise InputError("force feedback: damped, the frequency to damp, must be more than 0")

    def gains(self, plant: ModelCalls) -> dict[str, Array]:
        """K, D, and δ's change in a period by w_d/K and a."""
        own = super().gains(plant)
        soft = np.where(own["stiffness"] > 0, own["stiffness"], 1.0)
        leak = np.full((1, plant.actuator_count), LEAK * float(self.damped))
        return own | {"softness": float(self.damped) / soft, "leak": leak}

    def remembered(self, plant: ModelCalls, start: Motion, period: float) -> Memory:
        """Legs that have not yielded, under the reference's own forces."""
        assert self.along is not None
        rows, count = len(start), plant.actuator_count
        return {
            "yielded": np.zeros((rows, count)),
            "felt": np.tile(self.along.forces[0], (rows, 1)),
            "period": np.full((rows, 1), period),
        }


def felt_masses(model: Model, pose: Motion) -> Array:
    """m (actuators,), kg or kg m²: 1/m is the diagonal of J M⁻¹ Jᵀ along what the platform is allowed.

    Springs w² m along q give the robot natural frequencies whose mean square is w². Of a flexible
    platform as if it were rigid.
    """
    rest = Motion(pose.position, pose.rotation)
    body = model.rigid
    own = own_directions(body, rest)
    J, M = body.jacobian(rest) @ own, own.T @ body.mass_matrix(rest) @ own
    return np.asarray(1 / np.diagonal(J @ np.linalg.solve(M, J.T)))


def best_ratio(model: Model, pose: Motion, masses: Array, frequency: float) -> float:
    """The damping ratio of legs of a frequency (rad/s) at which the least damped mode is damped most."""
    least = []
    for ratio in RATIOS:
        near = linear_model(
            model, pose, stiffness=frequency**2 * masses, damping=2 * ratio * frequency * masses
        )
        least.append(float(near.modes().damping.min()))
    return float(RATIOS[int(np.argmax(least))])
