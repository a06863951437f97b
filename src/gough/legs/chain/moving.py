"""Chain legs in motion: what they ask for at their ports, and what their joints carry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.legs.chain.dynamics import Outward, inward, mass_matrix
from gough.legs.chain.posture import RATES, Posture, quaternion_rate
from gough.mechanics.body import Frame
from gough.mechanics.friction import Loads
from gough.mechanics.leg import Holding, LegLoad, MovingLeg, Ports, Rubbing, jumping_speed
from gough.mechanics.vectors import Components, dot, matvec, minimum, or_one, stacked

if TYPE_CHECKING:
    from gough.legs.chain.equations import Chain


@dataclass(frozen=True)
class MovingChain(MovingLeg):
    """Chain legs from what their ports do."""

    leg: Chain
    ports: Ports
    posture: Posture
    follow: list[list[Components]]
    """K, (rates, 3 or 6)."""
    rates: list[Components]
    accelerations: list[Components]
    motion: Outward
    bias: Components
    """J̇ θ̇, (3 or 6, legs, samples)."""
    unfollowed: Components
    """n, (3 or 6, each, legs, samples), scaled."""
    missed: Components
    """Longest part of the closing step that was made, rad or L, (legs, samples)."""
    values: list[Components]
    """The joints' coordinates."""

    @property
    def chains(self) -> Components:
        """Coordinates of the joints, (coordinates, samples)."""
        rows = [row for value in self.values for row in (value if value.ndim == 3 else [value])]
        return np.concatenate(np.broadcast_arrays(*rows))

    @property
    def chain_rates(self) -> Components:
        """Their time derivatives; of a spherical joint's quaternion q̇ = ½ (0, u) q."""
        rows, start = [], 0
        for kind, value in zip(self.leg.joints, self.values, strict=True):
            rates = self.rates[start : start + RATES[kind]]
            rows += quaternion_rate(value, rates) if RATES[kind] == 3 else rates
            start += RATES[kind]
        return np.concatenate(np.broadcast_arrays(*rows))

    def slowest(self) -> Components:
        """Of all joints, since each has friction of its own."""
        laws = zip(
            self.rates, *map(self._per_rate, (self.leg.coulomb, self.leg.width)), strict=True
        )
        return reduce(minimum, [jumping_speed(*law) for law in laws])

    def levers(self) -> Components:
        """‖(v, L ω)‖ of the port for each actuated joint's rate, the others at rest."""
        scale = self.leg.scale()
        each = [
            sum(((part * size) ** 2 for part, size in zip(column, scale, strict=True)), start=0.0)
            for column in self.posture.columns(self.leg.body_port)
        ]
        return self.leg.of_rates([np.sqrt(one) for one in each])

    @property
    def closing(self) -> Components:
        """The same, for the loop around it."""
        return self.missed

    def rotation(self) -> tuple[Components, Components]:
        """Of the last body, world axes."""
        return self.link_angular_velocity, self.link_angular_acceleration

    def frames(self) -> tuple[Frame, ...]:
        """Of what each joint of the file but the last carries; axes at home are the leg's frame's."""
        found = []
        for one in self.leg.file_joints[:-1]:
            joint, body = self.posture.joints[one], self.motion.bodies[one]
            axes = np.stack(
                [matvec(joint.turned, column) for column in np.swapaxes(self.leg.turn, 0, 1)],
                axis=1,
            )
            found.append(Frame(joint.origin, axes, body.velocity, body.spin.omega))
        return tuple(found)

    def of_joint(self, leg: int, joint: int) -> tuple[Components, Components]:
        """Coordinate, with what it reads at home, and rate (samples,) of a joint with one of each."""
        place = self.leg.file_joints[joint]
        rate = sum(RATES[kind] for kind in self.leg.joints[:place])
        return self.values[place][leg] + self.leg.home[place][leg], self.rates[rate][leg]

    def holding(self) -> Holding | None:
        """Directions that the joints cannot follow."""
        each = self.unfollowed.shape[1]
        if not each:
            return None
        scale = self.leg.scale()
        n = _per_constraint(
            np.stack([row * size for row, size in zip(self.unfollowed, scale, strict=True)])
        )
        gap = self.leg.gap(self.posture, self.ports)
        holders = tuple(leg for leg in range(self.leg.count) for _ in range(each))
        places = list(holders)
        return Holding(
            n,
            holders,
            (n * gap[:, places]).sum(axis=0),
            (n * self.bias[:, places]).sum(axis=0),
        )

    def load(self, gravity: Components) -> LegLoad:
        """Kᵀ τ of passive joints, and τ of actuated ones, by Newton and Euler; rotors included."""
        asked = inward(self.posture, self.leg.bodies, self.motion, gravity).asked
        asked = [one + more for one, more in zip(asked, self._rotors(), strict=True)]
        return LegLoad(self._felt(asked), self.leg.of_rates(asked))

    def _rotors(self) -> list[Components]:
        return [
            rotor * rate
            for rotor, rate in zip(
                self._per_rate(self.leg.rotor_inertia), self.accelerations, strict=True
            )
        ]

    def _per_rate(self, each: tuple[Components, ...]) -> list[Components]:
        """Numbers of the joints, one per rate."""
        return [
            value
            for kind, value in zip(self.leg.joints, each, strict=True)
            for _ in range(RATES[kind])
        ]

    def _felt(self, asked: list[Components]) -> Components:
        """Kᵀ τ at the port of what passive joints ask for, (3 or 6, legs, samples)."""
        driven = self.leg.driven_rates()
        nothing = 0 * self.posture.port[0]
        totals = [
            sum(
                (
                    row[i] * one
                    for place_, (row, one) in enumerate(zip(self.follow, asked, strict=True))
                    if place_ not in driven
                ),
                start=nothing,
            )
            for i in range(len(self.follow[0]))
        ]
        return stacked(*totals)

    def inertia(self) -> Components:
        """A = Kᵀ M K, rotors included."""
        mass = mass_matrix(self.posture, self.leg.bodies)
        rotors = self._per_rate(self.leg.rotor_inertia)
        for i, rotor in enumerate(rotors):
            mass[i][i] = mass[i][i] + rotor
        K: list[Any] = [stacked(*row) for row in self.follow]
        half = [sum(m * k for m, k in zip(row, K, strict=True)) for row in mass]  # M K
        size = len(self.follow[0])
        entries = {}
        for i in range(size):
            for j in range(i + 1):
                entries[i, j] = sum(a[i] * b[j] for a, b in zip(K, half, strict=True))
        rows = [[entries[max(i, j), min(i, j)] for j in range(size)] for i in range(size)]
        return np.stack([stacked(*row) for row in rows])

    def friction_of_joints(self) -> list[Components]:
        """−c u − f u/√(u² + width²) of each rate, (legs, samples); 0 at rest."""
        laws = (self.leg.viscous, self.leg.coulomb, self.leg.width)
        found = []
        for rate, viscous, coulomb, width in zip(
            self.rates, *map(self._per_rate, laws), strict=True
        ):
            sense = rate / or_one(np.sqrt(rate * rate + width * width))
            found.append(-viscous * rate - coulomb * sense)
        return found

    def rubbing(self, angular_velocity: Components, loads: Loads | None) -> Rubbing:
        """Friction of the joints, which no load changes; none without loads."""
        rubs = [0 * rate for rate in self.rates]
        if loads is not None:
            rubs = self.friction_of_joints()
        nothing = 0 * self.posture.port
        lost = sum(
            (one * rate for one, rate in zip(rubs, self.rates, strict=True)), start=nothing[0]
        )
        return Rubbing(self.leg.of_rates(rubs), self._felt(rubs), nothing, nothing, -lost)

    def reactions(
        self, gravity: Components, push: Components, rubbing: Rubbing
    ) -> dict[str, Components]:
        """What each joint of the file passes on to the body it carries, its drive and friction included.

        `joint_force` (3, joints, legs, samples) and `joint_moment`, about the joint's point (the body's
        origin of a prismatic joint); `spherical` is the force on the platform, `platform_moment` the
        moment about the last joint's point.
        """
        found = inward(self.posture, self.leg.bodies, self.motion, gravity, push)
        none = 0 * self.posture.port
        couple = push[3:] + none if self.leg.body_port else none
        forces = [push[:3] + none if i < 0 else found.forces[i] for i in self.leg.file_joints]
        moments = [couple if i < 0 else found.moments[i] for i in self.leg.file_joints]
        return {
            "spherical": push[:3] + none,
            "platform_moment": couple,
            "joint_force": np.stack(np.broadcast_arrays(*forces), axis=1),
            "joint_moment": np.stack(np.broadcast_arrays(*moments), axis=1),
        }

    def load_vectors(self, reactions: dict[str, Components]) -> Components:
        """Zeros, (8, legs, samples): friction of these joints feels no load."""
        nothing = 0 * reactions["spherical"]
        return np.concatenate([nothing, nothing, nothing[:2]])

    def potential_energy(self, gravity: Components) -> Components:
        """U = −g·Σ_j (M_j P_j + Q_j S_j), (legs, samples), J."""
        lifted = 0 * self.posture.port
        for joint, body in zip(self.posture.joints, self.leg.bodies, strict=True):
            from_body = np.stack([dot(row, body.first_moment) for row in joint.turned])
            lifted = lifted + body.mass * joint.origin + from_body
        return -dot(gravity, lifted)


def _per_constraint(unfollowed: Components) -> Components:
    """(port, each, legs, samples) as (port, legs each, samples), legs in order."""
    swapped = np.swapaxes(unfollowed, 1, 2)
    size, legs, each, samples = swapped.shape
    return swapped.reshape(size, legs * each, samples)
