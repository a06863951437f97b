"""A leg, and what the oracles ask of its kind.

Every kind here is three bodies on three joints, two of them a universal joint's with axes z (held by
what carries the joint) and y = z × x, x being the leg's direction n made perpendicular to z; the tip P
is held by a spherical joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Array


@dataclass(frozen=True)
class Body:
    """A rigid body by its ten standard parameters, about its frame's origin, in its frame's axes.

    mass m (kg), first_moment ∫ r dm (kg m), inertia ∫ (r·r I − r rᵀ) dm (kg m²).
    """

    mass: float
    first_moment: Array
    inertia: Array

    def __add__(self, other: Body) -> Body:
        """Both bodies welded together, frames coinciding."""
        return Body(
            self.mass + other.mass,
            self.first_moment + other.first_moment,
            self.inertia + other.inertia,
        )


@dataclass(frozen=True)
class Leg:
    """One leg; unused entries are 0.

    origin: B_i (UPS), the universal joint's centre at q = 0 (PUS) or the motor (RUS), world.
    rail: unit direction of growing q (PUS) or axis of the motor (RUS), world.
    length: universal to spherical joint (PUS, RUS). crank_length, crank_zero: motor to universal
    joint, and where it points at q = 0 (RUS).
    branch: the sign in q = a·d ± √…, −1 for "minus" (PUS). platform_point: P_i, platform axes.
    axis, reference: first universal axis and zero of the first angle, unit and perpendicular; of
    an axis that turns with q as it is at q = 0.
    bodies: the three moving bodies from base to platform, in the order of the kind's `bodies`.
    """

    kind: LegKind
    origin: Array
    rail: Array
    length: float
    branch: float
    platform_point: Array
    axis: Array
    reference: Array
    rotor_mass: float
    bodies: tuple[Body, Body, Body]
    crank_length: float = 0.0
    crank_zero: Array = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True)
class BodyMotion:
    """Position of a body's frame, and the motion its Newton-Euler equations need."""

    origin: Array
    rotation: Array
    acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array


class Reach(NamedTuple):
    """A leg between its universal joint's centre A and its tip: A, Ä, n, ṅ, n̈ and q, q̇, q̈."""

    anchor: Array
    anchor_acceleration: Array
    n: Array
    n_dot: Array
    n_ddot: Array
    q: float
    qd: float
    qdd: float


class Swing(NamedTuple):
    """The body behind the universal joint: the joint's axes and angles, its motion, its cross's."""

    y: Array
    z: Array
    first_angle: float
    axis_to_link: float
    omega: Array
    alpha: Array
    cross: BodyMotion


class Joints(NamedTuple):
    """Joint coordinates, rates, accelerations (3,), the joints' axes (3, 3) and the bodies' motion."""

    joints: Array
    rates: Array
    accelerations: Array
    axes: Array
    bodies: tuple[BodyMotion, BodyMotion, BodyMotion]


class LegKind(Protocol):
    """What the oracles ask of a kind of leg."""

    name: str
    bodies: tuple[str, str, str]
    """Their names in the robot file, from base to platform."""
    drive: int
    """Which joint is driven."""
    passive: tuple[int, int]
    """Which two joints are the universal joint's; the second carries the body behind it."""
    rubbed: int | None
    """The body on which the opposite of the universal friction couple acts; None: the base."""
    guided: bool
    """The driven joint is a guide on the base."""
    rotary: bool
    """The driven joint turns."""
    rotor: str
    """Key of the drive's inertia."""
    most_coulomb: float
    """Largest Coulomb friction of random robots' drives: newtons, newton metres, or a number."""

    def random_geometry(
        self, rng: np.random.Generator, lower: Array, spans: Array, near_singular: bool
    ) -> tuple[dict[str, Any], Array]:
        """The file's keys for legs from `lower` (legs, 3) over `spans` at home, and their q there."""

    def read(self, table: dict[str, Any], i: int) -> tuple[Array, Array, float, float]:
        """Origin, rail, length, branch of leg i."""

    def read_crank(self, table: dict[str, Any], i: int, rail: Array) -> tuple[float, Array]:
        """Length of leg i's crank and where it points at q = 0; zeros without one."""

    def default_axis(self, leg: Leg) -> Array | None:
        """The universal axis that the file leaves out; None: unit(z × leg direction at home)."""

    def default_reference(self, leg: Leg, axis: Array) -> Array:
        """The reference that the file leaves out."""

    def universal_axes(self, leg: Leg, q: float) -> tuple[Array, Array]:
        """First universal axis and reference at q."""

    def carrier(self, leg: Leg, qd: float, qdd: float) -> tuple[Array, Array]:
        """Angular velocity and acceleration of what carries the universal joint."""

    def q(self, leg: Leg, tip: Array) -> float:
        """The actuated coordinate for a tip, m or rad."""

    def anchor(self, leg: Leg, tip: Array) -> Array:
        """The universal joint's centre for a tip."""

    def reach(self, leg: Leg, tip: Array, velocity: Array, acceleration: Array) -> Reach:
        """The leg for a motion of its tip."""

    def joints(
        self, leg: Leg, reach: Reach, swing: Swing, tip: Array, acceleration: Array
    ) -> Joints:
        """Coordinates in the papers' order, and the bodies."""

    def coordinates(self, q: float, first_angle: float, axis_to_link: float) -> Array:
        """(3,) in the papers' order."""

    def guide_load(self, leg: Leg, guide: Array) -> float:
        """|u·N| + |v·N| of a guide force N; 0 without a guide on the base."""

    def coulomb_load(self, at_guide: float) -> float:
        """What `slider_coulomb` is multiplied by."""

    def tree(self, pin: Any, leg: Leg, base_axes: Array) -> tuple[list[tuple[Any, Any]], Array]:
        """Pinocchio's joints with their placements, and the tip in the last one's frame."""

    def frames(self, ca: Any, leg: Leg, tip: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """q and the bodies' frames (origin, axes as columns) for a symbolic tip, world."""
