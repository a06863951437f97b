"""What a set of motions demands of every actuator: peaks, rms, energy, and the motor's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.errors import InputError
from gough.legs.units import LegUnits
from gough.model.deflected import deflected
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.motion import Motion, not_a_motion
from gough.sizing import integrals
from gough.sizing.drive import RPM, Drive, Motor


@dataclass(frozen=True)
class Demand:
    """Of each leg over a motion, (..., legs): between samples curves count as straight.

    q and Γ are in the actuators' units: m and N, or rad and N m.
    """

    shortest: Array
    """min q."""
    longest: Array
    """max q."""
    peak_speed: Array
    """max |q̇|."""
    peak_force: Array
    """max |Γ|."""
    peak_push: Array
    """max Γ, towards larger q; 0 if the actuator never pushes."""
    peak_pull: Array
    """max −Γ; 0 if the actuator never pulls."""
    rms_force: Array
    """√(1/T ∫ Γ² dt)."""
    peak_power: Array
    """max Γ q̇, W."""
    peak_regenerated: Array
    """max −Γ q̇, W; 0 if the load never drives the actuator."""
    energy: Array
    """∫ max(Γ q̇, 0) dt, J: put in."""
    regenerated: Array
    """∫ max(−Γ q̇, 0) dt, J: given back."""

    @property
    def stroke(self) -> Array:
        """longest − shortest."""
        return np.asarray(self.longest - self.shortest)


@dataclass(frozen=True)
class MotorDemand:
    """Of each motor over a motion, (..., legs); see `gough.sizing.Drive`."""

    peak_thrust: Array
    """max |F| in the screw, N, or behind the gear, N m."""
    peak_torque: Array
    """max |τ|, N m."""
    rms_torque: Array
    """√(1/T ∫ τ² dt), N m."""
    peak_motor_speed: Array
    """max |Ω|, rpm."""
    mean_motor_speed: Array
    """1/T ∫ |Ω| dt, rpm."""
    peak_motor_power: Array
    """max τ Ω, W."""
    motor_energy: Array
    """∫ max(τ Ω, 0) dt, J."""
    motor_regenerated: Array
    """∫ max(−τ Ω, 0) dt, J: what brake resistors or the supply must take, before motor losses."""


@dataclass(frozen=True, repr=False)
class Sizing(Showing):
    """Demands of a set of motions, (motions, legs)."""

    robot: str
    units: LegUnits
    """Of its actuators."""
    names: tuple[str, ...]
    duration: Array
    """Of each motion, s (motions,)."""
    legs: Demand
    drive: Drive | None = None
    motors: MotorDemand | None = None
    inertia_ratio: Array | None = None
    """Largest load inertia over rotor inertia (motions, legs), both at the motor; None if a J is 0."""
    operating: tuple[Motor, ...] = ()
    """The motors along each motion."""

    def numbers(self) -> dict[str, Array]:
        """All demands by name, (motions, legs)."""
        found = {"stroke": self.legs.stroke}
        for part in (self.legs, self.motors):
            if part is not None:
                found |= {one.name: getattr(part, one.name) for one in fields(part)}
        if self.inertia_ratio is not None:
            found["inertia_ratio"] = self.inertia_ratio
        return found

    def worst(self) -> dict[str, float]:
        """The worst leg and motion of each number; energies are of all legs and motions together."""
        found = {}
        for name, value in self.numbers().items():
            if name in ADDED:
                found[name] = float(np.sum(value))
            else:
                found[name] = float(np.min(value) if name == "shortest" else np.max(value))
        found["stroke"] = float(np.max(self.legs.longest.max(0) - self.legs.shortest.min(0)))
        return found


ADDED = ("energy", "regenerated", "motor_energy", "motor_regenerated")
"""Numbers that add up over legs and motions; all others take the worst."""


def demand(time: Array, q: Array, rate: Array, forces: Array) -> Demand:
    """Demands of curves (..., n, legs) at times (..., n)."""
    power = forces * rate
    size = np.abs(forces)
    return Demand(
        q.min(axis=-2),
        q.max(axis=-2),
        np.abs(rate).max(axis=-2),
        size.max(axis=-2),
        np.maximum(forces.max(axis=-2), 0.0),
        np.maximum((-forces).max(axis=-2), 0.0),
        np.sqrt(integrals.mean_square(time, forces)),
        power.max(axis=-2),
        np.maximum((-power).max(axis=-2), 0.0),
        integrals.positive(time, power),
        integrals.positive(time, -power),
    )


def motor_demand(time: Array, motor: Motor) -> MotorDemand:
    """Demands of a motor's curves (..., n, legs) at times (..., n)."""
    return MotorDemand(
        np.abs(motor.thrust).max(axis=-2),
        np.abs(motor.torque).max(axis=-2),
        np.sqrt(integrals.mean_square(time, motor.torque)),
        RPM * np.abs(motor.speed).max(axis=-2),
        RPM * integrals.mean_size(time, motor.speed),
        motor.power.max(axis=-2),
        integrals.positive(time, motor.power),
        integrals.positive(time, -motor.power),
    )


def apparent_mass(jacobian: Array, mass_matrix: Array) -> Array:
    """Mass (..., actuators), kg, that an actuator feels while the others hold their accelerations at 0.

    Of one that turns it is an inertia, kg m². Γ = M_q q̈ + …, M_q = J⁻ᵀ M J⁻¹ (for more actuators than
    freedoms the pseudo-inverse); its diagonal, the robot file's rotors included. J and M are by
    the robot's own coordinates.
    """
    inverse = np.linalg.pinv(jacobian)
    return np.asarray(np.einsum("...ki,...kl,...li->...i", inverse, mass_matrix, inverse))


def size(
    robot: Model,
    motions: Motion | Sequence[Motion] | Mapping[str, Motion],
    drive: Drive | None = None,
    *,
    wrench: ArrayLike | None = None,
    friction: bool = True,
) -> Sizing:
    """What motions demand of the actuators and, with a drive, of the motors.

    A motion has shape (..., n) with time along its last axis; leading axes are motions of their own.
    `wrench` (..., 6) acts in all of them. A flexible platform has the motion's elastic coordinates, or
    those that `robot.elastic_motion` finds.
    """
    if drive is not None:
        drive.need_suitable(robot.units)
    names, parts = _named(motions)
    mass = np.broadcast_to(robot.mechanism.legs.rotor[..., 0], robot.actuator_count)
    demands, motors, ratios, operating = [], [], [], []
    for given in parts:
        motion = deflected(robot, given, wrench, friction)
        legs = robot.inverse_kinematics(motion)
        forces = robot.inverse_dynamics(motion, wrench, friction).forces
        assert motion.time is not None
        demands.append(demand(motion.time, legs.q, legs.qd, forces))
        if drive is not None:
            motor = drive.motor(forces, legs.qd, legs.qdd, mass)
            operating.append(motor)
            motors.append(motor_demand(motion.time, motor))
            if not robot.modes and np.all(drive.inertia(mass) > 0):
                own = own_directions(robot, motion)
                inner = np.swapaxes(own, -1, -2) @ robot.mass_matrix(motion) @ own
                felt = apparent_mass(robot.jacobian(motion) @ own, inner) - mass
                ratio = felt.max(axis=0) * drive.arm**2 / drive.inertia(mass)
                ratios.append(np.broadcast_to(ratio, robot.actuator_count))
    return Sizing(
        robot.name,
        robot.units,
        tuple(names),
        np.array([motion.time[-1] - motion.time[0] for motion in parts if motion.time is not None]),
        stacked(Demand, demands),
        drive,
        stacked(MotorDemand, motors) if motors else None,
        np.stack(ratios) if ratios else None,
        tuple(operating),
    )


def _named(
    motions: Motion | Sequence[Motion] | Mapping[str, Motion],
) -> tuple[list[str], list[Motion]]:
    """Timed motions (n,), one per name."""
    if isinstance(motions, Motion):
        motions = [motions]
    if isinstance(motions, Mapping):
        given = list(motions.items())
    else:
        given = [(f"motion {i + 1}", one) for i, one in enumerate(motions)]
    if not given:
        raise InputError("sizing needs one motion or more")
    names: list[str] = []
    parts: list[Motion] = []
    for name, motion in given:
        check_timed(name, motion)
        flat = motion if len(motion.shape) == 1 else motion.reshape(-1, motion.shape[-1])
        several = [flat] if len(flat.shape) == 1 else list(flat)
        names += [name] if len(several) == 1 else [f"{name}, {i + 1}" for i in range(len(several))]
        parts += several
    if not parts:
        raise InputError("sizing needs one motion or more: the batch is empty")
    return names, parts


def check_timed(name: str, motion: Motion) -> None:
    """Refuse what has no duration."""
    if not isinstance(motion, Motion):
        raise InputError(f"{name}: {not_a_motion(motion)}")
    if motion.time is None or not motion.shape or motion.shape[-1] < 2:
        raise InputError(
            f"{name}: rms and energy need a motion over time, two samples or more with their times; "
            f"has batch shape {motion.shape}" + (" without time" if motion.time is None else "")
        )
    steps = np.diff(motion.time, axis=-1)
    if not (np.all(steps >= 0) and np.all(motion.time[..., -1] > motion.time[..., 0])):
        raise InputError(f"{name}: its times do not grow")


def stacked(kind: Any, found: Sequence[Any]) -> Any:
    """Demands of several motions as one, motions first."""
    return kind(
        **{one.name: np.stack([getattr(part, one.name) for part in found]) for one in fields(kind)}
    )
