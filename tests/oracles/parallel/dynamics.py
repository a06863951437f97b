"""Dynamics of any parallel robot: the opened tree, projected on what the closed loops allow.

    H η̇ + c = E Γ + friction + wrench + Gᵀ Λ        G η = 0,  G η̇ = −Ġ η

H, c are Pinocchio's, rotors its armature; Λ are the legs' wrenches on the platform and μ. With B the
platform's allowed twists and η = Z u, Z = (θ̇ of the twists, B), nothing of Λ is left in

    Zᵀ (H η̇ + c − friction) = Zᵀ E Γ + Bᵀ wrench.

Friction that depends on loads is repeated until they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import root

from ..arrays import Array, State
from .closure import Loops, Posture, rotation_vector_drift
from .friction import Rubbing, depends_on_load, load_magnitudes, rubbing
from .reactions import Reactions, holding, joint_wrenches


@dataclass(frozen=True)
class JointMotion:
    """Per actuator: readings, rates and accelerations; misfit: what the state's twist and
    accelerations miss of the closed loops (m, rad and seconds)."""

    q: Array
    qd: Array
    qdd: Array
    misfit: float


class Instant(NamedTuple):
    """A posture with η and η̇."""

    posture: Posture
    rates: Array
    change: Array


class ParallelOracle(Loops):
    """Any parallel robot, from its file as a dictionary."""

    def motion(self, u: Array, ud: Array | None = None, udd: Array | None = None) -> State:
        """The state with these coordinates, rates and second derivatives; the rest is solved."""
        posture = self.posture(np.asarray(u, dtype=float))
        nothing = np.zeros(self.mobility)
        matrix = np.vstack([self.rows(posture), self.readings(posture.pose)])
        none = np.zeros(len(matrix) - self.mobility)
        rates = lstsq(matrix, np.concatenate([none, nothing if ud is None else ud]))
        turning = np.zeros(6)
        turning[3:] = rotation_vector_drift(self.read(posture.pose)[3:], rates[self.moving[3:]])
        known = (nothing if udd is None else udd) - turning[self.chosen]
        change = lstsq(matrix, np.concatenate([-self.drift(posture, rates), known]))
        twist, twist_rate = rates[self.moving], change[self.moving]
        return {
            "position": posture.pose.translation.copy(),
            "rotation": posture.pose.rotation.copy(),
            "velocity": twist[:3],
            "angular_velocity": twist[3:],
            "acceleration": twist_rate[:3],
            "angular_acceleration": twist_rate[3:],
        }

    def joints(self, state: State) -> JointMotion:
        """q, q̇, q̈ per actuator."""
        posture = self.at(state)
        rates, misfit = self.rates(posture, twist_of(state))
        change, rest = self.accelerations(posture, rates, twist_rate_of(state))
        columns, places, offsets = self.actuators
        q = posture.configuration[places] + offsets
        return JointMotion(q, rates[columns], change[columns], max(misfit, rest))

    @property
    def actuators(self) -> tuple[list[int], list[int], Array]:
        """Per actuator: velocity column, place in the configuration, reading there at 0."""
        found = [actuator for leg in self.tree.legs for actuator in leg.actuators]
        return [a[0] for a in found], [a[1] for a in found], np.array([a[2] for a in found])

    def rates(self, posture: Posture, twist: Array) -> tuple[Array, float]:
        """η of a twist of the platform, and what closes badly."""
        eta = np.zeros(self.model.nv)
        eta[self.moving] = twist
        for leg, (own, platform) in zip(self.tree.legs, self.blocks(posture), strict=True):
            if leg.columns:
                eta[leg.columns] = lstsq(own, -platform @ twist)
        return eta, float(np.max(np.abs(self.rows(posture) @ eta), initial=0.0))

    def accelerations(
        self, posture: Posture, rates: Array, twist_rate: Array
    ) -> tuple[Array, float]:
        """η̇ of an acceleration of the platform, and what closes badly."""
        change, first = np.zeros(self.model.nv), 0
        change[self.moving] = twist_rate
        drift = self.drift(posture, rates)
        for leg, (own, platform) in zip(self.tree.legs, self.blocks(posture), strict=True):
            known = drift[first : first + leg.port] + platform @ twist_rate
            if leg.columns:
                change[leg.columns] = lstsq(own, -known)
            first += leg.port
        return change, float(np.max(np.abs(self.rows(posture) @ change + drift), initial=0.0))

    def paths(self, posture: Posture) -> Array:
        """Z (nv, m): η for the columns of `allowed`."""
        return np.column_stack([self.rates(posture, b)[0] for b in self.allowed(posture).T])

    def inertia(self, posture: Posture) -> Array:
        """H (nv, nv) in η."""
        upper = np.triu(pin.crba(self.model, self.data, posture.configuration))
        x = self.to_pinocchio(posture)
        return x.T @ (upper + np.triu(upper, 1).T) @ x

    def load(self, posture: Posture, rates: Array, change: Array) -> Array:
        """H η̇ + c (nv,), no friction."""
        x = self.to_pinocchio(posture)
        body = x @ rates
        spatial = x @ change + self.convective(body)
        return x.T @ pin.rnea(self.model, self.data, posture.configuration, body, spatial)

    def external(self, wrench: Array | None) -> Array:
        """(nv,): a wrench on the platform at its origin, world axes."""
        acting = np.zeros(self.model.nv)
        acting[self.moving] = np.zeros(6) if wrench is None else wrench
        return acting

    def jacobian(self, state: State) -> tuple[Array, Array]:
        """B (6, m) and J B (actuators, m)."""
        posture = self.at(state)
        return self.allowed(posture), self.paths(posture)[self.actuators[0]]

    def mass_matrix(self, state: State) -> tuple[Array, Array]:
        """B (6, m) and Bᵀ M B (m, m)."""
        posture = self.at(state)
        z = self.paths(posture)
        return self.allowed(posture), z.T @ self.inertia(posture) @ z

    def projected_load(self, state: State) -> tuple[Array, Array]:
        """B (6, m) and Bᵀ (M ξ̇ + b) (m,) at the state's acceleration, no friction."""
        posture = self.at(state)
        rates = self.rates(posture, twist_of(state))[0]
        change = self.accelerations(posture, rates, twist_rate_of(state))[0]
        return self.allowed(posture), self.paths(posture).T @ self.load(posture, rates, change)

    def unconstrained(self, state: State) -> tuple[Array, Array]:
        """M (6, 6) and b (6,) of a robot whose legs all follow any twist, `mobility` left aside."""
        posture = self.at(state)
        z = np.column_stack([self.rates(posture, b)[0] for b in np.eye(6)])
        closed = self.rows(posture)[: sum(leg.port for leg in self.tree.legs)] @ z
        if np.max(np.abs(closed)) > 1e-9:
            raise ValueError("a leg cannot follow every twist")
        rates = self.rates(posture, twist_of(state))[0]
        change = self.accelerations(posture, rates, np.zeros(6))[0]
        return z.T @ self.inertia(posture) @ z, z.T @ self.load(posture, rates, change)

    def inverse_dynamics(
        self, state: State, wrench: Array | None = None, friction: bool = True
    ) -> Array:
        """Γ per actuator; more of them than m: the least ‖Γ‖, friction held fixed."""
        return self._driven(state, wrench, friction)[0]

    def reactions(
        self, state: State, wrench: Array | None = None, friction: bool = True
    ) -> Reactions:
        """Wrenches on the platform and in the joints that give this motion."""
        forces, instant, acting = self._driven(state, wrench, friction)
        return self._reactions(forces, instant, wrench, acting)

    def direct_dynamics(
        self, state: State, forces: Array, wrench: Array | None = None, friction: bool = True
    ) -> tuple[Array, Array]:
        """v̇ and ω̇ under these actuator forces; the state's accelerations are ignored."""
        posture = self.at(state)
        rates = self.rates(posture, twist_of(state))[0]
        some = lstsq(self.rows(posture), -self.drift(posture, rates))
        given = self.external(wrench) - self.load(posture, rates, some)
        given[self.actuators[0]] += forces
        z = self.paths(posture)
        mass = z.T @ self.inertia(posture) @ z

        def solve(acting: Rubbing) -> tuple[Array, Instant]:
            change = some + z @ np.linalg.solve(mass, z.T @ (given + acting.along))
            return np.asarray(forces), Instant(posture, rates, change)

        _, instant, _ = self._consistent(solve, posture, rates, wrench, friction)
        twist_rate = instant.change[self.moving]
        return twist_rate[:3], twist_rate[3:]

    def _driven(
        self, state: State, wrench: Array | None, friction: bool
    ) -> tuple[Array, Instant, Rubbing]:
        """Γ of a motion, with friction that its loads make."""
        posture = self.at(state)
        rates, misfit = self.rates(posture, twist_of(state))
        change, rest = self.accelerations(posture, rates, twist_rate_of(state))
        if max(misfit, rest) > 1e-7:
            raise ValueError(f"the robot cannot move so: {misfit}, {rest}")
        missing = self.load(posture, rates, change) - self.external(wrench)
        z, columns = self.paths(posture), self.actuators[0]
        if len(columns) < self.mobility:
            raise ValueError(f"{len(columns)} actuators for {self.mobility} freedoms")

        def solve(acting: Rubbing) -> tuple[Array, Instant]:
            forces = lstsq(z[columns].T, z.T @ (missing - acting.along))
            return forces, Instant(posture, rates, change)

        return self._consistent(solve, posture, rates, wrench, friction)

    def _reactions(
        self, forces: Array, instant: Instant, wrench: Array | None, acting: Rubbing
    ) -> Reactions:
        """Reactions under given actuator forces, accelerations and friction."""
        missing = self.load(*instant) - self.external(wrench) - acting.along
        missing[self.actuators[0]] -= forces
        force, moment, constraint, unique = holding(self, instant.posture, missing)
        x = self.to_pinocchio(instant.posture)
        body = x @ instant.rates
        motion = (body, x @ instant.change + self.convective(body))
        joints = joint_wrenches(self, instant.posture, motion, (force, moment), acting.couples)
        return Reactions(force, moment, constraint, unique, joints)

    def _consistent(
        self,
        solve: Callable[[Rubbing], tuple[Array, Instant]],
        posture: Posture,
        rates: Array,
        wrench: Array | None,
        friction: bool,
    ) -> tuple[Array, Instant, Rubbing]:
        """Forces and accelerations with friction that agrees with the loads they make."""
        if not friction:
            nothing = Rubbing(np.zeros(self.model.nv))
            return *solve(nothing), nothing
        shape = (len(self.tree.legs), 3)
        loaded = depends_on_load(self)

        def following(magnitudes: Array) -> Array:
            """The load magnitudes that friction at these ones makes."""
            acting = rubbing(self, posture, rates, magnitudes.reshape(shape))
            found = self._reactions(*solve(acting), wrench, acting)
            if np.any(loaded & ~found.unique):
                raise ValueError("friction depends on loads that are not unique")
            return load_magnitudes(self, found).ravel()

        magnitudes = np.zeros(3 * shape[0])
        if np.any(loaded):
            magnitudes = following(magnitudes)
            for _ in range(20):
                magnitudes = following(magnitudes)
            if not agrees(magnitudes, following(magnitudes)):
                magnitudes = root(lambda s: following(s) - s, magnitudes, tol=1e-14).x
            if not agrees(magnitudes, following(magnitudes)):
                raise ArithmeticError("friction loads disagree")
        acting = rubbing(self, posture, rates, magnitudes.reshape(shape))
        return *solve(acting), acting

    def energies(self, state: State) -> tuple[float, float]:
        """Kinetic energy, rotors included, and potential energy −g·Σ m r, J."""
        posture = self.at(state)
        rates = self.rates(posture, twist_of(state))[0]
        kinetic = 0.5 * rates @ self.inertia(posture) @ rates
        potential = pin.computePotentialEnergy(self.model, self.data, posture.configuration)
        return float(kinetic), float(potential)

    def friction_power(self, state: State, wrench: Array | None = None) -> float:
        """What friction takes from the robot, W; positive."""
        _, instant, acting = self._driven(state, wrench, True)
        return float(-instant.rates @ acting.along)


def agrees(old: Array, new: Array) -> bool:
    """Whether load magnitudes reproduce themselves."""
    return bool(np.max(np.abs(new - old)) < 1e-12 * max(1.0, np.max(new)))


def twist_of(state: State) -> Array:
    """(v, ω)."""
    return np.concatenate([state["velocity"], state["angular_velocity"]])


def twist_rate_of(state: State) -> Array:
    """(v̇, ω̇)."""
    return np.concatenate([state["acceleration"], state["angular_acceleration"]])


def lstsq(matrix: Array, right: Array) -> Array:
    """The least solution that fits best."""
    return np.linalg.lstsq(matrix, right, rcond=1e-9)[0]
