"""A leg that is one spherical joint: a point of the platform that stays where it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from gough.legs.chain.posture import Posture
from gough.mechanics.body import Body, Frame
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.leg import Grips, Health, Holding, LegLoad, MovingLeg, Ports, Rubbing
from gough.mechanics.vectors import Components


@dataclass(frozen=True)
class Pin:
    """Such legs: no joint but the port, nothing that moves."""

    port: Components
    """The joint's centre, (3, legs, 1), m, world."""
    length_scale: Components
    """L of the robot, (1,), m."""

    joints: ClassVar[tuple[str, ...]] = ()
    """No elementary ones."""
    axes: ClassVar[tuple[Components, ...]] = ()
    body_port: ClassVar[bool] = False
    single: ClassVar[dict[int, int]] = {}
    """No joint with one coordinate."""
    JOINTS: ClassVar[tuple[str, ...]] = ("θ1", "θ2", "θ3")
    BODIES: ClassVar[tuple[str, ...]] = ()
    LINEAR_FRICTION: ClassVar[tuple[str, ...]] = ()
    LOAD_FRICTION: ClassVar[tuple[str, ...]] = ()
    HEALTH: ClassVar[tuple[Health, ...]] = (Health(0.0, True, "it is never singular"),)
    actuated: ClassVar[tuple[bool, ...]] = ()
    home: ClassVar[tuple[Components, ...]] = ()
    file_joints: ClassVar[tuple[int, ...]] = (-1,)
    """The port is its only joint, as `Chain` has it."""

    @property
    def count(self) -> int:
        """Number of legs."""
        return int(self.port.shape[1])

    @property
    def holders(self) -> tuple[int, ...]:
        """No actuators."""
        return ()

    @property
    def coordinates(self) -> int:
        """None."""
        return 0

    def at_home(self) -> Components:
        """Nothing."""
        return np.zeros(0)

    def scattered(self, q: Components, size: float, rng: Generator) -> Components:
        """Nothing."""
        return np.zeros((0, q.shape[-1]))

    @property
    def rotor(self) -> Components:
        """None, (0, 1)."""
        return np.zeros((0, 1))

    @property
    def friction(self) -> Friction:
        """None."""
        return Friction(*[np.zeros((self.count, 1))] * len(Friction._fields))

    def named_bodies(self) -> dict[str, Body]:
        """None."""
        return {}

    def linear_friction(self) -> dict[str, Components]:
        """None."""
        return {}

    def with_bodies(self, bodies: dict[str, Body]) -> Self:
        """The same."""
        return self

    def with_linear_friction(self, coefficients: dict[str, Components]) -> Self:
        """The same."""
        return self

    def with_rotor(self, rotor: Components) -> Self:
        """The same."""
        return self

    def replace(self, **numbers: Any) -> Self:
        """The same legs with other numbers."""
        return replace(self, **numbers)

    def with_length_scale(self, length: Components) -> Self:
        """The same legs in a robot of length scale L (1,) or (samples,), m."""
        return self.replace(length_scale=length)

    def coarser(self, rounding: int) -> Self:
        """The same."""
        return self

    def split(self, chains: Components) -> list[Components]:
        """No joint has a coordinate."""
        return []

    def placed(self, values: list[Components]) -> Posture:
        """Where it always is."""
        return Posture((), self.port, 0 * self.port)

    def origin(self, posture: Posture) -> Components:
        """Of the platform, which turns about it: not known, the joint itself."""
        return self.port

    def moving(self, ports: Ports) -> MovingPin:
        """The legs whose ports should be where the joints are."""
        none = 0 * ports.position
        nothing = np.nan + none
        empty = none[0, :0]
        return MovingPin(
            leg=self,
            q=empty,
            qd=empty,
            qdd=empty,
            joints=nothing,
            joint_rates=nothing,
            joint_accelerations=nothing,
            w=none[:, :0],
            direction=none,
            link_angular_velocity=none,
            link_angular_acceleration=none,
            health=1 + none[:1],
            ports=ports,
        )

    def grips(self, ports: Ports, q: Components) -> Grips:
        """The platform is held at the point in all three directions."""
        held = self.moving(ports).holding()
        return Grips(held.n, held.holders, held.gap, np.abs(held.gap), np.zeros((0, 1)))

    def sizes(self, q: Components) -> Components:
        """The length scale, (legs, samples): such legs have no length of their own."""
        size: Components = np.full((self.count, 1), self.length_scale) + 0 * q.sum(axis=0)
        return size

    def astray(self, q: Components, tip: Components) -> Components:
        """Nowhere."""
        lean: Components = 0 * tip[0] - 1
        return lean


@dataclass(frozen=True)
class MovingPin(MovingLeg):
    """Pins on a platform in motion."""

    leg: Pin
    ports: Ports

    def slowest(self) -> Components:
        """Nothing rubs."""
        none: Components = self.direction[0]
        return np.asarray(1 + none)

    def rotation(self) -> tuple[Components, Components]:
        """None."""
        return self.link_angular_velocity, self.link_angular_acceleration

    def frames(self) -> tuple[Frame, ...]:
        """No bodies."""
        return ()

    def holding(self) -> Holding:
        """v = 0: three directions per leg."""
        each, like = self.leg.count, 0 * self.ports.position[0, :1]
        n = np.tile(np.eye(3), each)[..., np.newaxis] + like
        gap = np.swapaxes(self.ports.position - self.leg.port, 0, 1)
        flat = gap.reshape(3 * each, gap.shape[-1])
        return Holding(n, tuple(leg for leg in range(each) for _ in range(3)), flat, 0 * flat)

    def load(self, gravity: Components) -> LegLoad:
        """Nothing."""
        return LegLoad(self.direction, self.q)

    def inertia(self) -> Components:
        """Nothing."""
        return np.stack([self.direction] * 3)

    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """None."""
        none = self.direction
        return Rubbing(self.q, none, none, none, none[0])

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """The force on the platform, which is the joint's."""
        force = push[:3] + self.direction
        return {
            "spherical": force,
            "platform_moment": self.direction,
            "joint_force": force[:, np.newaxis],
            "joint_moment": self.direction[:, np.newaxis],
        }

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """Zeros, (8, legs, samples)."""
        return np.concatenate([self.direction, self.direction, self.direction[:2]])

    def potential_energy(self, gravity: Components) -> Components:
        """None."""
        none: Components = self.direction[0]
        return none
