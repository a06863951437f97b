"""What the equation sees of legs: one protocol for all kinds, `gough.legs` has the kinds themselves.

A leg is opened where it holds the platform, at its port: a point (the leg ends in a spherical joint, 3
numbers) or a body (any other last joint, 6 numbers: a point and a rotation). All that the port does
fixes all that the leg does: `Leg.moving` takes its motion and gives a `MovingLeg`, of which the
platform sees the actuated coordinates q, the directions w (q̇ = wᵀ v), the directions n in which the
leg cannot follow (nᵀ v = 0, held by λ), the inertia A and the load h: it pushes with f = w Γ + n λ − A
v̇ − h. Arrays have the component axis first, then legs (or actuators, or constraints), then samples;
world axes, SI units. Where a leg's port is a body, forces have 6 components: force, and moment about
the port's point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.random import Generator

from gough.mechanics.body import Body, Frame
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.vectors import Components, dot, matvec, norm, or_one

TOLD = 1e-8
"""Relative error that answers near a leg's singularities stay below."""
_ROUNDING = 100 * np.finfo(float).eps
"""What may be lost on the way to a leg's direction, of its length."""
EDGE = float(np.sqrt(_ROUNDING / TOLD))
"""Least cosine between a link and what drives it: its square comes from a difference, so that rounding
changes it, and all that is divided by it, by a share of rounding/cosine². About 1e-6 of a link's length
from the edge of reach."""
PARALLEL = float(_ROUNDING / TOLD)
"""Least sine between a link and its first universal axis: it is off by a share of rounding/sine."""


class Health(NamedTuple):
    """A measure of a leg's configuration and the value it must exceed."""

    limit: float
    singular: bool
    """A singular configuration, or else a tip out of reach."""
    reason: str


class Ports(NamedTuple):
    """How the legs' ports move, world axes."""

    position: Components
    """(3, legs, samples), m."""
    velocity: Components
    acceleration: Components
    rotation: Components
    """Of the platform, (3, 3, 1, samples)."""
    angular_velocity: Components
    """Of the platform, (3, 1 or legs, samples), rad/s."""
    angular_acceleration: Components
    """(3, 1, samples), rad/s²."""
    chains: Components
    """Joint coordinates of chain legs near which theirs are, (coordinates, samples)."""


def points_moving(position: Components, velocity: Components, acceleration: Components) -> Ports:
    """Ports that are points, (3, legs, samples) each."""
    nothing = np.zeros((3, 1, 1))
    turned = np.eye(3).reshape(3, 3, 1, 1)
    return Ports(position, velocity, acceleration, turned, nothing, nothing, np.zeros((0, 1)))


class Holding(NamedTuple):
    """Directions n in which legs cannot follow: nᵀ v = 0 at the port, held by unknown forces λ.

    Each n is a unit force there: ‖force‖² + ‖moment‖²/L² = 1, and those of a leg are orthogonal so.
    """

    n: Components
    """(3 or 6, constraints, samples)."""
    holders: tuple[int, ...]
    """The leg, from 0, that each belongs to."""
    gap: Components
    """By how much the platform is off along n, (constraints, samples), m."""
    second: Components
    """What nᵀ v̇ must be, (constraints, samples), m/s²."""


class Grips(NamedTuple):
    """Directions in which legs with locked actuators hold the platform, and how far it is off."""

    rows: Components
    """(3 or 6, directions, samples): rowsᵀ δv = −error takes the platform there, in first order."""
    holders: tuple[int, ...]
    """The leg, from 0, that each belongs to."""
    error: Components
    """(directions, samples)."""
    residual: Components
    """The same as an error of q, not negative: m, of a crank as far as its tip
    goes; of chains as q is."""
    chains: Components
    """Joint coordinates of chain legs there, (coordinates, samples)."""
    missed: Components = np.zeros((0, 1))
    """Length of the Newton step that chain legs' joints took, (legs, samples), rad or length scales."""


class LegLoad(NamedTuple):
    """What the motion and weight of legs ask for: A v̇ + h = sideways + Σ along w at their ports."""

    sideways: Components
    """The part that actuators do not take directly, (3 or 6, legs, samples), N, N m."""
    along: Components
    """The part that they do, (actuators, samples): legs push with w (Γ − along) − sideways."""


class Rubbing(NamedTuple):
    """Friction of a leg as its platform and its actuator feel it."""

    along: Components
    """Force along q, (actuators, samples), N; N m of a rotary drive."""
    push: Components
    """Force at the port that does the work of the couples on the link, N; (3 or 6, legs, samples)."""
    couple: Components
    """Couple on the link at the spherical joint, N m; its opposite acts on the platform."""
    universal: Components
    """Couple on the link at the universal joint, N m."""
    loss: Components
    """Power that friction takes, W; not negative."""


@dataclass(frozen=True)
class MovingLeg(ABC):
    """Legs whose ports move in a given way."""

    leg: Leg
    """Their numbers."""
    q: Components
    """Actuated coordinates, (actuators, samples)."""
    qd: Components
    qdd: Components
    joints: Components
    """Joint coordinates in the papers' order."""
    joint_rates: Components
    joint_accelerations: Components
    w: Components
    """q̇ = wᵀ v, and an actuator force Γ acts on the platform as w Γ; (3 or 6, actuators, samples)."""
    direction: Components
    """Unit vector from the universal to the spherical joint."""
    link_angular_velocity: Components
    link_angular_acceleration: Components
    health: Components
    """Measures that must stay above `Leg.HEALTH`, (measures, legs, samples)."""

    @abstractmethod
    def rotation(self) -> tuple[Components, Components]:
        """Angular velocity and acceleration of the link on the axes the leg computes with."""

    def joint_rate(self) -> Components:
        """Angular velocity of the link relative to what carries its universal joint, world axes.

        That of the link itself, but where the carrier turns.
        """
        return self.link_angular_velocity

    @abstractmethod
    def frames(self) -> tuple[Frame, ...]:
        """The frames of its bodies, in the order of `Leg.BODIES`; (3, legs, samples) each."""

    def alike(self) -> tuple[MovingLeg, ...]:
        """The same legs as groups that are alike: one where they all are."""
        return (self,)

    @property
    def chains(self) -> Components:
        """Joint coordinates of chain legs, (coordinates, samples); of others none."""
        return np.zeros((0, 1))

    @property
    def chain_rates(self) -> Components:
        """Time derivatives of `chains`, (coordinates, samples)."""
        return np.zeros((0, 1))

    def slowest(self) -> Components:
        """Speed of the slowest joint of the drive whose friction jumps at rest, (legs, samples).

        Where none jumps, 1 is added: 0 says that a joint stands still where friction has no derivative.
        """
        laws = self.leg.friction
        return jumping_speed(self.qd, laws.drive_jump, laws.width)

    def levers(self) -> Components:
        """How fast each actuator alone, its leg's other joints locked, moves the port for q̇ = 1.

        (actuators, samples): 1 of what slides, m of what turns; of a body's port ‖(v, L ω)‖.
        """
        return 1 + 0 * self.q

    @property
    def closing(self) -> Components:
        """How far those of `Ports.chains` were from them, rad or length scales, (legs, samples)."""
        return np.zeros((0, 1))

    def of_joint(self, leg: int, joint: int) -> tuple[Components, Components]:
        """Coordinate and rate (samples,) of a leg's joint, both counted from 0, as the file has them."""
        raise NotImplementedError(f"{type(self).__name__} has no joints with keys of their own")

    def holding(self) -> Holding | None:
        """What the legs do not let the platform do; nothing by default."""
        return None

    @abstractmethod
    def load(self, gravity: Components) -> LegLoad:
        """A v̇ + h at the ports, in one go."""

    @abstractmethod
    def inertia(self) -> Components:
        """A (3, 3, legs, samples), kg; of body ports (6, 6, legs, samples)."""

    @abstractmethod
    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """Friction under given loads on a platform that turns so at the tips; none without loads."""

    @abstractmethod
    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Joint reactions by name, (3, legs, samples) each, once the legs push the platform so.

        `push` is f, (3 or 6, legs, samples).
        """

    @abstractmethod
    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """F_A, F_B, u·N, v·N that friction depends on, (8, legs, samples), N."""

    def potential_energy(self, gravity: Components) -> Components:
        """U = −g·Σ_j (M_j o_j + R_j MS_j) of each leg, J, from the world's origin; j its bodies."""
        lifted = 0 * self.direction
        for name, frame in zip(self.leg.BODIES, self.frames(), strict=True):
            body: Body = getattr(self.leg, name)
            lifted = lifted + body.mass * frame.origin + matvec(frame.axes, body.first_moment)
        return -dot(gravity, lifted)


class Leg(Protocol):
    """The numbers of all legs of a kind, component axis first: (3, legs, 1)."""

    @property
    def JOINTS(self) -> tuple[str, ...]:
        """Names of the joint coordinates."""

    @property
    def BODIES(self) -> tuple[str, ...]:
        """Names of the bodies, which are attributes, each a `Body`."""

    @property
    def LINEAR_FRICTION(self) -> tuple[str, ...]:
        """Friction that the forces are linear in; `screw_drag` is 2π screw_torque/screw_lead, N."""

    @property
    def LOAD_FRICTION(self) -> tuple[str, ...]:
        """Friction that grows with the load in the joint, which friction itself changes: not linear."""

    @property
    def HEALTH(self) -> tuple[Health, ...]:
        """What must not vanish."""

    @property
    def holders(self) -> tuple[int, ...]:
        """The leg, from 0, that each actuator is in."""

    @property
    def count(self) -> int:
        """Number of legs."""

    @property
    def coordinates(self) -> int:
        """How many of `Ports.chains` these legs have."""

    def at_home(self) -> Components:
        """These coordinates at home, (coordinates,)."""

    def scattered(self, q: Components, size: float, rng: Generator) -> Components:
        """These coordinates anywhere, (coordinates, samples), but for actuators, which are at q.

        Joints turn to any angle and slide by up to `size`, m.
        """

    @property
    def rotor(self) -> Components:
        """Drive inertia felt along q, (actuators, 1), kg; kg m² of a rotary drive."""

    @property
    def friction(self) -> Friction:
        """Coefficients of friction."""

    def moving(self, ports: Ports) -> MovingLeg:
        """The legs whose ports are there and move so."""

    def grips(self, ports: Ports, q: Components) -> Grips:
        """How the legs, their actuators locked at q (actuators, samples), hold the platform."""

    def sizes(self, q: Components) -> Components:
        """How long the legs are at q, (legs, samples), m: what is not positive cannot be."""

    def astray(self, q: Components, tip: Components) -> Components:
        """> 0 where tips (3, legs, samples) that fit q are not those of the leg's branch."""

    def named_bodies(self) -> dict[str, Body]:
        """The bodies that the robot file gives, by name, in the axes of their own frames."""

    def linear_friction(self) -> dict[str, Components]:
        """Coefficients (legs, 1) of the friction that forces are linear in, by name."""

    def with_bodies(self, bodies: dict[str, Body]) -> Self:
        """The same legs with other bodies, by name."""

    def with_linear_friction(self, coefficients: dict[str, Components]) -> Self:
        """The same legs with other such friction, and with none that grows with loads."""

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other drive inertias (actuators, 1)."""

    def replace(self, **numbers: object) -> Self:
        """The same legs with other numbers."""

    def coarser(self, rounding: int) -> Self:
        """The same legs for numbers of less precision: see `Mechanism.rounding`."""

    def with_length_scale(self, length: Components) -> Self:
        """The same legs in a robot of length scale L (1,) or (samples,), m."""


class Driven(ABC):
    """Legs with one actuator each that follow their ports, points, wherever these go."""

    BODIES: ClassVar[tuple[str, ...]]
    LINEAR_FRICTION: ClassVar[tuple[str, ...]]
    friction: Friction
    """Coefficients, (legs, 1) each."""

    @abstractmethod
    def replace(self, **numbers: Any) -> Self:
        """The same legs with other numbers."""

    def coarser(self, rounding: int) -> Self:
        """The same: their joints have closed forms."""
        return self

    def with_length_scale(self, length: Components) -> Self:
        """The same: their closed forms do without a length scale."""
        return self

    def named_bodies(self) -> dict[str, Body]:
        """Its bodies by name."""
        return {name: getattr(self, name) for name in self.BODIES}

    def linear_friction(self) -> dict[str, Components]:
        """Coefficients (legs, 1) by name."""
        return {name: getattr(self.friction, name) for name in self.LINEAR_FRICTION}

    def with_bodies(self, bodies: dict[str, Body]) -> Self:
        """The same legs with other bodies."""
        return self.replace(**bodies)

    def with_linear_friction(self, coefficients: dict[str, Components]) -> Self:
        """The same legs with other linear friction and no other."""
        none = dict.fromkeys(Friction._fields, np.zeros((self.count, 1)))
        rubs = Friction(**{**none, **coefficients, "width": self.friction.width})
        return self.replace(friction=rubs)

    @property
    @abstractmethod
    def rotor(self) -> Components:
        """Drive inertia felt along q, (legs, 1)."""

    @property
    def count(self) -> int:
        """Number of legs."""
        return len(self.rotor)

    @property
    def holders(self) -> tuple[int, ...]:
        """Each leg has its own."""
        return tuple(range(self.count))

    @property
    def coordinates(self) -> int:
        """None: their joints have closed forms."""
        return 0

    def at_home(self) -> Components:
        """Nothing."""
        return np.zeros(0)

    def scattered(self, q: Components, size: float, rng: Generator) -> Components:
        """Nothing."""
        return np.zeros((0, q.shape[-1]))

    @abstractmethod
    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod: its fixed end, its length, and `grip`.

        `grip` tells from the rod's direction by how much its length would have to change with q, m, of a
        crank with its tip.
        """

    @abstractmethod
    def leaning(self, q: Components, rod: Components) -> Components:
        """How far a rod (3, legs, samples) of `locked` leans to where the leg's other branch is, m.

        > 0: the leg at that q cannot be it.
        """

    def grips(self, ports: Ports, q: Components) -> Grips:
        """A rod d from A to P of length l: g = (‖d‖ − l)(‖d‖ + l)/(2 l) along d/l.

        It does not cancel as squares do.
        """
        anchor, length, grip = self.locked(q)
        rod = ports.position - anchor
        size, per_length = norm(rod), 1 / length
        direction = rod * per_length
        error = (size - length) * (size + length) * (0.5 * per_length)
        residual = np.abs(error) / grip(direction)
        return Grips(direction, self.holders, error, residual, np.zeros((0, 1)))

    def sizes(self, q: Components) -> Components:
        """Lengths of the rods."""
        size: Components = self.locked(q)[1] + 0 * q
        return size

    def astray(self, q: Components, tip: Components) -> Components:
        """> 0 where a rod is one that the leg at that q cannot be."""
        return self.leaning(q, tip - self.locked(q)[0])


def jumping_speed(rate: Components, jump: Components, width: Components) -> Components:
    """|rate| of joints with Coulomb friction `jump` and no `width`; of others 1 more."""
    sharp = jump / or_one(jump) * (1 - width / or_one(width))
    speed: Components = abs(rate) + 1 - sharp
    return speed


def at_port(legs: MovingLeg, load: LegLoad) -> Components:
    """A v̇ + h of the legs, (3 or 6, legs, samples)."""
    along = per_leg(load.along * legs.w, legs.leg.holders, load.sideways)
    total: Components = load.sideways + along
    return total


def per_leg(values: Components, holders: tuple[int, ...], like: Components) -> Components:
    """Sums over the actuators, or constraints, of each leg: (..., legs, samples) as `like` is."""
    count = like.shape[-2]
    if holders == tuple(range(count)):
        return values
    nothing = 0 * like[..., 0, :]
    sums = [
        sum((values[..., i, :] for i, one in enumerate(holders) if one == leg), start=nothing)
        for leg in range(count)
    ]
    return np.stack(np.broadcast_arrays(*sums), axis=-2)
