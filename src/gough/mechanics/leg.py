"""What the equation sees of legs: one protocol for all kinds, `gough.legs` has the kinds themselves.

A leg is opened where it holds the platform, at its tip. All that the tip does fixes all that the leg
does: `Leg.moving` takes its position, velocity and acceleration and gives a `MovingLeg`, of which the
platform sees the actuated coordinate q, the direction w (q̇ = w·v), the inertia A and the load h. Arrays
have the component axis first, then legs, then samples; world axes, SI units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, Self

from gough.mechanics.body import Body, Frame
from gough.mechanics.friction import Friction, Loads
from gough.mechanics.vectors import Components, dot, matvec


class Health(NamedTuple):
    """A measure of a leg's configuration and the value it must exceed."""

    limit: float
    singular: bool
    """A singular configuration, or else a tip out of reach."""
    reason: str


class LegLoad(NamedTuple):
    """What the motion and weight of a leg ask for: A v̇ + h = sideways + along w at its tip."""

    sideways: Components
    """The part that the actuator does not take directly, N."""
    along: Components
    """The part that it does, N: the leg pushes with w (Γ − along) − sideways."""


class Rubbing(NamedTuple):
    """Friction of a leg as its platform and its actuator feel it."""

    along: Components
    """Force along q, N; N m of a rotary drive."""
    push: Components
    """Force at the tip that does the work of the couples on the link, N."""
    couple: Components
    """Couple on the link at the spherical joint, N m; its opposite acts on the platform."""
    universal: Components
    """Couple on the link at the universal joint, N m."""
    loss: Components
    """Power that friction takes, W; not negative."""


@dataclass(frozen=True)
class MovingLeg(ABC):
    """Legs of a kind whose tips move in a given way."""

    leg: Leg
    """Their numbers."""
    q: Components
    """Actuated coordinate."""
    qd: Components
    qdd: Components
    joints: Components
    """Joint coordinates in the papers' order."""
    joint_rates: Components
    joint_accelerations: Components
    w: Components
    """q̇ = w·v, and an actuator force Γ acts on the platform as w Γ."""
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

    @abstractmethod
    def load(self, gravity: Components) -> LegLoad:
        """A v̇ + h at the tips, in one go."""

    @abstractmethod
    def inertia(self) -> Components:
        """A (3, 3, legs, samples), kg."""

    @abstractmethod
    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """Friction under given loads on a platform that turns so at the tips; none without loads."""

    @abstractmethod
    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """Joint reactions by name, (3, legs, samples) each, once the leg pushes the platform so."""

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

    JOINTS: ClassVar[tuple[str, ...]]
    """Names of the joint coordinates."""
    BODIES: ClassVar[tuple[str, ...]]
    """Names of the bodies, which are attributes, each a `Body`."""
    LINEAR_FRICTION: ClassVar[tuple[str, ...]]
    """Friction that the forces are linear in; `screw_drag` is 2π screw_torque/screw_lead, N."""
    LOAD_FRICTION: ClassVar[tuple[str, ...]]
    """Friction that grows with the load in the joint, which friction itself changes: not linear."""
    HEALTH: ClassVar[tuple[Health, ...]]
    """What must not vanish."""

    @property
    def rotor(self) -> Components:
        """Drive inertia felt along q, (legs, 1), kg; kg m² of a rotary drive."""

    @property
    def friction(self) -> Friction:
        """Coefficients of friction."""

    def moving(self, tip: Components, velocity: Components, acceleration: Components) -> MovingLeg:
        """The legs whose tips are there and move so."""

    def locked(
        self, q: Components
    ) -> tuple[Components, Components, Callable[[Components], Components]]:
        """The leg at a fixed q as a rod: its fixed end, its length, and `grip`.

        `grip` tells from the rod's direction by how much its length would have to change with q.
        """

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other drive inertias (legs, 1)."""

    def on_other_branch(self, q: Components, rod: Components) -> Components:
        """Where a rod (3, legs, samples) of `locked` is one that the leg at that q cannot be."""

    def replace(self, **numbers: object) -> Self:
        """The same legs with other numbers."""


def at_tip(legs: MovingLeg, load: LegLoad) -> Components:
    """A v̇ + h of the legs, (3, legs, samples)."""
    total: Components = load.sideways + load.along * legs.w
    return total
