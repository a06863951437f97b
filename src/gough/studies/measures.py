"""What a study measures of a robot: one table of names, to which further analyses add a line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gough.analysis.own_workspace import own_workspace, provable
from gough.analysis.stiffness import tool_map
from gough.analysis.workspace import workspace
from gough.base.arrays import Array
from gough.mechanics.body import Body
from gough.mechanics.groups import LegGroups
from gough.model.deflected import deflected
from gough.model.model import Model
from gough.model.standing import free_directions
from gough.motion import Motion
from gough.sizing.demand import Demand, MotorDemand, demand, motor_demand, stacked
from gough.sizing.drive import Drive
from gough.variants import Variants

VOLUME_TOLERANCE = 0.02
"""Of a workspace, relative."""


@dataclass(frozen=True)
class Case:
    """Robots (n,) and the motions that they are measured over; what models say is computed once.

    Robots without an answer have NaN. Curves are (n, samples, legs), one array a motion.
    """

    robots: Variants | Model
    """Many of one shape, or a single one (n = 1)."""
    motions: Sequence[Motion]
    friction: bool = True
    wrench: Array | None = None
    drive: Drive | None = None
    """Its numbers (n, 1, 1)."""

    def ask(self, model: str, motion: Motion, on_error: str = "nan", **inputs: Any) -> Any:
        """A model's answer (n, samples, ...)."""
        if isinstance(self.robots, Variants):
            return getattr(self.robots[:, np.newaxis], model)(motion, on_error=on_error, **inputs)
        return getattr(self.robots, model)(motion[np.newaxis], on_error=on_error, **inputs)

    def free(self, motion: Motion) -> Array:
        """What the platforms can do, (n or 1, samples, 6, m): (v, ω) per (v, L ω)."""
        robots = self.robots[:, np.newaxis] if isinstance(self.robots, Variants) else self.robots
        if robots.mobility == 6:
            return np.eye(6)
        length = np.atleast_1d(robots.mechanism.length_scale)[:, np.newaxis, np.newaxis, np.newaxis]
        moved = motion if isinstance(self.robots, Variants) else motion[np.newaxis]
        scale = np.concatenate(
            [np.ones((len(length), 1, 3, 1)), np.tile(1 / length, (1, 1, 3, 1))], 2
        )
        if isinstance(robots, Variants) and len(length) > 1:
            scale = scale[robots.index[:, 0]]
        return np.asarray(free_directions(robots, moved) * scale)

    @property
    def dynamics(self) -> dict[str, Any]:
        """Inputs of the dynamic models."""
        return {"wrench": self.wrench, "friction": self.friction}

    @cached_property
    def deflected(self) -> list[Motion]:
        """The motions, of a flexible robot with masses as it deflects along them."""
        if not isinstance(self.robots, Model) or self.robots.missing:
            return list(self.motions)
        return [
            deflected(self.robots, motion, self.wrench, self.friction, on_error="nan")
            for motion in self.motions
        ]

    @cached_property
    def legs(self) -> list[Any]:
        """`LegMotion` of each motion."""
        return [self.ask("inverse_kinematics", motion) for motion in self.deflected]

    @cached_property
    def forces(self) -> list[Array]:
        """Γ of each motion."""
        return [
            self.ask("inverse_dynamics", motion, **self.dynamics).forces
            for motion in self.deflected
        ]

    @cached_property
    def demands(self) -> Demand:
        """(motions, n, legs)."""
        parts = zip(self.motions, self.legs, self.forces, strict=True)
        found: Demand = stacked(
            Demand, [demand(_time(m), legs.q, legs.qd, force) for m, legs, force in parts]
        )
        return found

    @cached_property
    def motors(self) -> MotorDemand:
        """(motions, n, legs)."""
        assert self.drive is not None
        rotor = np.moveaxis(self.robots.mechanism.legs.rotor, -1, 0)[:, np.newaxis]  # (n, 1, legs)
        parts = zip(self.motions, self.legs, self.forces, strict=True)
        found: MotorDemand = stacked(
            MotorDemand,
            [
                motor_demand(_time(m), self.drive.motor(force, legs.qd, legs.qdd, rotor))
                for m, legs, force in parts
            ],
        )
        return found

    @cached_property
    def condition(self) -> Array:
        """Condition number of the Jacobian (motions, n), worst over each motion."""
        found = [self.ask("condition_number", motion).max(axis=1) for motion in self.motions]
        return np.stack(found)

    @cached_property
    def mass(self) -> Array:
        """Of all bodies of the robot file, payload included (n,), kg."""
        mechanism = self.robots.mechanism
        legs = mechanism.legs
        whole = np.sum(mechanism.platform.body.mass, axis=0)
        for group in legs.groups if isinstance(legs, LegGroups) else (legs,):
            for name in group.BODIES:
                body: Body = getattr(group, name)
                share = np.broadcast_to(body.mass, (group.count, body.mass.shape[-1]))
                whole = whole + np.sum(share, axis=0)
        return np.asarray(whole)


class Measure(NamedTuple):
    """A number of a robot."""

    unit: str
    """As `LegUnits.of` reads it."""
    meaning: str
    of: Callable[[Case], Array]
    """(n,), or (1,) where all robots have the same; NaN for robots without an answer."""
    needs: str = ""
    """What it needs beside geometry: "masses", "drive"; "alone": one robot at a time."""


def _worst(name: str, part: str = "demands") -> Callable[[Case], Array]:
    """The largest over motions and legs."""
    return lambda case: np.asarray(getattr(getattr(case, part), name).max(axis=(0, 2)))


def _total(name: str, part: str = "demands") -> Callable[[Case], Array]:
    """The sum over motions and legs."""
    return lambda case: np.asarray(getattr(getattr(case, part), name).sum(axis=(0, 2)))


def _coordinates(case: Case) -> tuple[Array, Array]:
    """Least and largest q (n, legs) over all motions."""
    low = np.stack([legs.q.min(axis=1) for legs in case.legs]).min(axis=0)
    return low, np.stack([legs.q.max(axis=1) for legs in case.legs]).max(axis=0)


def _stroke(case: Case) -> Array:
    low, high = _coordinates(case)
    return np.asarray((high - low).max(axis=1))


def _speed(case: Case) -> Array:
    found = np.stack([np.abs(legs.qd).max(axis=(1, 2)) for legs in case.legs])
    return np.asarray(found.max(axis=0))


def _stiffness(case: Case) -> Array:
    """Least stiffness of the tool against a force in any direction, all actuators having 1 N/m.

    C = S (Jᵀ J)⁻¹ Sᵀ = B Bᵀ with B = S J⁺ and S = [1, −[R t]×]: 1/‖B‖², without the preload that
    `gough.analysis.stiffness` knows; J and S on what the platform can do.
    """
    robots = case.robots
    robot = robots.broadcast_to(robots.shape) if isinstance(robots, Variants) else robots
    least = []
    for motion in case.motions:
        Z = case.free(motion)
        S = tool_map(robot, motion)[..., :3, :6] @ Z
        J = case.ask("jacobian", motion)[..., :6] @ Z
        sound = np.isfinite(J).all(axis=(-1, -2)) & np.isfinite(S).all(axis=(-1, -2))
        J = np.where(sound[..., np.newaxis, np.newaxis], J, np.eye(*J.shape[-2:]))
        S = np.where(sound[..., np.newaxis, np.newaxis], S, 0.0)
        with np.errstate(divide="ignore"):
            largest = np.linalg.norm(S @ np.linalg.pinv(J), ord=2, axis=(-2, -1))
        least.append(np.where(sound, 1 / largest**2, np.nan).min(axis=1))
    return np.asarray(np.stack(least).min(axis=0))


def _volume(case: Case) -> Array:
    assert isinstance(case.robots, Model)
    if not provable(case.robots):
        return np.array([own_workspace(case.robots).volume])
    return np.array([workspace(case.robots, tolerance=VOLUME_TOLERANCE).volume])


MEASURES: dict[str, Measure] = {
    "stroke": Measure("[q]", "longest way of a leg", _stroke),
    "shortest": Measure(
        "[q]", "least q of any leg", lambda case: _coordinates(case)[0].min(axis=1)
    ),
    "longest": Measure(
        "[q]", "largest q of any leg", lambda case: _coordinates(case)[1].max(axis=1)
    ),
    "peak_speed": Measure("[q]/s", "largest speed of a leg", _speed),
    "condition": Measure("1", "worst condition number", lambda case: case.condition.max(axis=0)),
    "stiffness": Measure("1", "least of the tool, over that of one actuator", _stiffness),
    "workspace": Measure(
        "m³",
        "volume at home's orientation, to 2 %; without proofs, sampled in own coordinates",
        _volume,
        "alone",
    ),
    "mass": Measure("kg", "of all bodies", lambda case: case.mass, "masses"),
    "peak_force": Measure("[force]", "largest actuator force", _worst("peak_force"), "masses"),
    "rms_force": Measure(
        "[force]", "largest rms force of an actuator", _worst("rms_force"), "masses"
    ),
    "peak_power": Measure("W", "largest power of an actuator", _worst("peak_power"), "masses"),
    "peak_regenerated": Measure("W", "largest power back", _worst("peak_regenerated"), "masses"),
    "energy": Measure("J", "put in by all actuators", _total("energy"), "masses"),
    "regenerated": Measure("J", "given back to all actuators", _total("regenerated"), "masses"),
    "peak_torque": Measure("N m", "of a motor", _worst("peak_torque", "motors"), "drive"),
    "rms_torque": Measure("N m", "largest of a motor", _worst("rms_torque", "motors"), "drive"),
    "peak_motor_speed": Measure("rpm", "of a motor", _worst("peak_motor_speed", "motors"), "drive"),
    "peak_motor_power": Measure("W", "of a motor", _worst("peak_motor_power", "motors"), "drive"),
    "motor_energy": Measure("J", "put in by all motors", _total("motor_energy", "motors"), "drive"),
}
"""All measures by name, the worst (energies: the sum) over legs and motions."""


def _time(motion: Motion) -> Array:
    assert motion.time is not None
    return motion.time
