"""Chain leg: joints in a row from the base to the platform, whatever they are.

Its port is a point where the last joint is spherical, else a body. With J the port's twist by the rates
u of the joints (`Posture.columns`, angular parts times the length scale L), the loop is closed where
the platform's port and the chain's end agree; Newton: u ← J⁺ gap. The coordinates that come in are near
theirs (`gough.model.chains` solves for them), one step more makes them exact, and with them every
derivative by the pose. Rates and accelerations follow exactly,

    θ̇ = K v,    θ̈ = K (v̇ − J̇ θ̇),    K = J⁺ = R⁻¹ Q₁ᵀ of J = Q R

and by virtual work what the joints ask for is felt at the port as Kᵀ τ: w are the rows of K of actuated
joints, A = Kᵀ M K. Where J has fewer columns than rows the rest of Q are the directions n in which the
leg cannot follow, with n·v̇ = n·J̇ θ̇.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from gough.legs.chain.dynamics import outward
from gough.legs.chain.moving import MovingChain
from gough.legs.chain.posture import COORDINATES, PRISMATIC, RATES, Posture, advanced, place
from gough.mechanics.body import Body, turned_body
from gough.mechanics.friction import Friction
from gough.mechanics.leg import EDGE, Grips, Health, Ports
from gough.mechanics.mobility import turn_between
from gough.mechanics.solves import complement, factor, least_squares
from gough.mechanics.vectors import Components, matvec, maximum, norm, or_one, stacked

NEAR = 1e-6
"""Longest closing step, rad or L, that one Newton step makes exact."""
FRICTION_LAWS = ("viscous", "coulomb")
"""Of a joint with one coordinate."""
AXES = 3
"""Numbers of `MovingLeg.joints` per leg."""


@dataclass(frozen=True)
class Chain:
    """Legs of the same joints, all in world axes with the robot at home: (3, legs, 1)."""

    joints: tuple[str, ...]
    """Elementary ones from the base on: "revolute", "prismatic", "spherical"; a universal joint is two
    revolute ones with a massless body between, a spherical one at the end is the port itself."""
    actuated: tuple[bool, ...]
    body_port: bool
    """The last joint is none that is spherical: six numbers at the port."""
    axes: tuple[Components, ...]
    """Unit; zeros of a spherical joint."""
    points: tuple[Components, ...]
    """Origins of the bodies' frames, m."""
    bodies: tuple[Body, ...]
    """About these points; zeros where the platform itself is carried."""
    port: Components
    """The last joint's point, m."""
    home: tuple[Components, ...]
    """What the coordinates read at home, (legs, 1)."""
    rotor_inertia: tuple[Components, ...]
    """(legs, 1), kg m², or kg of a prismatic joint."""
    viscous: tuple[Components, ...]
    coulomb: tuple[Components, ...]
    width: tuple[Components, ...]
    home_position: Components
    """Of the platform, (3, 1, 1)."""
    home_rotation: Components
    """(3, 3, 1, 1)."""
    length_scale: Components
    """L of the robot, (1,), m."""
    file_joints: tuple[int, ...]
    """Of each joint in the robot file its last elementary one; −1 of the port."""
    turn: Components
    """Axes of the legs' frames in the world, (3, 3, legs, 1)."""
    rounding: int = 1
    """See `Mechanism.rounding`."""

    JOINTS: ClassVar[tuple[str, ...]] = ("θ1", "θ2", "θ3")
    LOAD_FRICTION: ClassVar[tuple[str, ...]] = ()
    HEALTH: ClassVar[tuple[Health, ...]] = (
        Health(
            EDGE,
            True,
            "its joints can move while the platform rests (smallest over largest column of its "
            "Jacobian {value:.3g}, limit {limit:.2g})",
        ),
        Health(
            0.0,
            False,
            "its joints do not reach the platform: Newton's last step is too long "
            f"({NEAR:g} rad or length scales less it is {{value:.3g}}, limit {{limit:g}})",
        ),
    )

    @property
    def BODIES(self) -> tuple[str, ...]:
        """What each joint of the file but the last carries."""
        return tuple(f"body{i + 1}" for i in range(len(self.file_joints) - 1))

    @property
    def LINEAR_FRICTION(self) -> tuple[str, ...]:
        """Of each revolute or prismatic joint of the file, numbered from 1."""
        return tuple(f"joint{i + 1} {law}" for i in self.single for law in FRICTION_LAWS)

    @property
    def single(self) -> dict[int, int]:
        """Elementary joint of each joint of the file that has one coordinate, both from 0."""
        before = (-1, *self.file_joints)
        return {
            i: one
            for i, one in enumerate(self.file_joints)
            if one - before[i] == 1 and RATES[self.joints[one]] == 1
        }

    @property
    def count(self) -> int:
        """Number of legs."""
        return int(self.port.shape[1])

    @property
    def holders(self) -> tuple[int, ...]:
        """The leg of each actuator: legs in order, joints in a leg in order."""
        each = sum(self.actuated)
        return tuple(leg for leg in range(self.count) for _ in range(each))

    @property
    def coordinates(self) -> int:
        """Numbers that tell where all joints are."""
        return self.count * sum(COORDINATES[kind] for kind in self.joints)

    def at_home(self) -> Components:
        """These numbers at home, (coordinates,)."""
        each = [[1.0, 0, 0, 0] if COORDINATES[kind] == 4 else [0.0] for kind in self.joints]
        return np.repeat(np.concatenate(each), self.count)

    def scattered(self, q: Components, size: float, rng: Generator) -> Components:
        """Coordinates anywhere, (coordinates, samples), but for those of actuators, which are at q."""
        shape = (self.count, q.shape[-1])
        driven = iter(np.swapaxes(q.reshape(self.count, -1, q.shape[-1]), 0, 1))
        found: list[Components] = []
        for kind, actuated, home in zip(self.joints, self.actuated, self.home, strict=True):
            if actuated:
                found.append(next(driven) - home)
            elif COORDINATES[kind] == 4:
                turn = rng.normal(size=(4, *shape))
                found += list(turn / norm(turn))
            else:
                most = size if kind == PRISMATIC else np.pi
                found.append(rng.uniform(-most, most, shape))
        return np.concatenate(found)

    @property
    def rotor(self) -> Components:
        """Of the actuators, (actuators, 1)."""
        return self._of_actuators(list(self.rotor_inertia))

    @property
    def friction(self) -> Friction:
        """All friction of a leg's joints as if it were its motor's; no load counts, (legs, 1)."""
        none = np.zeros((self.count, 1))
        sums = {
            "motor_viscous": none + sum(self.viscous),
            "motor_coulomb": none + sum(self.coulomb),
            "width": none + sum(self.width),
        }
        return Friction(**{**dict.fromkeys(Friction._fields, none), **sums})

    def named_bodies(self) -> dict[str, Body]:
        """What joints carry, in the axes that are the legs' frames' at home."""
        back = np.swapaxes(self.turn, 0, 1)
        pairs = zip(self.BODIES, self.file_joints, strict=False)
        return {name: turned_body(back, self.bodies[one]) for name, one in pairs}

    def with_bodies(self, bodies: dict[str, Body]) -> Self:
        """The same legs whose joints carry other bodies."""
        own = list(self.bodies)
        for name, one in zip(self.BODIES, self.file_joints, strict=False):
            own[one] = turned_body(self.turn, bodies[name])
        return self.replace(bodies=tuple(own))

    def linear_friction(self) -> dict[str, Components]:
        """Viscous and Coulomb friction of the joints."""
        laws = {law: getattr(self, law) for law in FRICTION_LAWS}
        return {
            f"joint{i + 1} {law}": values[one]
            for i, one in self.single.items()
            for law, values in laws.items()
        }

    def with_linear_friction(self, coefficients: dict[str, Components]) -> Self:
        """The same legs with other friction."""
        changed = {law: list(getattr(self, law)) for law in FRICTION_LAWS}
        for i, one in self.single.items():
            for law, values in changed.items():
                values[one] = coefficients[f"joint{i + 1} {law}"]
        return self.replace(**{law: tuple(values) for law, values in changed.items()})

    def with_rotor(self, rotor: Components) -> Self:
        """The same legs with other drive inertias (actuators, 1)."""
        per_leg = rotor.reshape(self.count, sum(self.actuated), rotor.shape[-1])
        each = iter(np.swapaxes(per_leg, 0, 1))
        return self.replace(
            rotor_inertia=tuple(
                next(each) if driven else one
                for driven, one in zip(self.actuated, self.rotor_inertia, strict=True)
            )
        )

    def replace(self, **numbers: Any) -> Self:
        """The same legs with other numbers."""
        return replace(self, **numbers)

    def with_length_scale(self, length: Components) -> Self:
        """The same legs in a robot of length scale L (1,) or (samples,), m."""
        return self.replace(length_scale=length)

    def coarser(self, rounding: int) -> Self:
        """The same legs, whose joints may be that much farther off."""
        return self.replace(rounding=rounding)

    def _of_actuators(self, each: list[Components]) -> Components:
        """Values of the elementary joints (legs, ...) of those that are actuated, (actuators, ...)."""
        chosen = [value for value, driven in zip(each, self.actuated, strict=True) if driven]
        if not chosen:
            return np.zeros((0, 1))
        found = np.stack(np.broadcast_arrays(*chosen), axis=1)
        return found.reshape(self.count * len(chosen), *found.shape[2:])

    def split(self, chains: Components) -> list[Components]:
        """Coordinates (coordinates, samples) joint by joint: (legs, samples) or (4, legs, samples)."""
        whole = chains.reshape(len(chains) // self.count, self.count, chains.shape[-1])
        found, start = [], 0
        for kind in self.joints:
            size = COORDINATES[kind]
            found.append(whole[start : start + size] if size > 1 else whole[start])
            start += size
        return found

    def placed(self, values: list[Components]) -> Posture:
        """The legs at joint coordinates."""
        return place(self.joints, self.axes, self.points, self.port, values)

    def origin(self, posture: Posture) -> Components:
        """Where the platform's origin is with the last joint carrying it, (3, legs, samples), m."""
        turned = posture.joints[-1].turned
        return posture.port + matvec(turned, self.home_position - self.port)

    def scale(self) -> list[Components]:
        """What the components of a twist at the port are multiplied by: 1, and L of angular ones."""
        return [np.ones(1)] * 3 + [self.length_scale] * (3 if self.body_port else 0)

    def gap(self, posture: Posture, ports: Ports) -> Components:
        """From the chain's end to the platform's port, (3 or 6, legs, samples); angles as 2 tan(α/2)."""
        off = ports.position - posture.port
        if not self.body_port:
            return off
        home = self.home_rotation
        turned = np.stack(
            [sum(ports.rotation[:, k] * home[j, k] for k in range(3)) for j in range(3)],
            axis=1,
        )  # R R_homeᵀ
        angle = turn_between(posture.joints[-1].turned, turned)
        return np.concatenate(np.broadcast_arrays(off, angle))

    def moving(self, ports: Ports) -> MovingChain:
        """Joints, rates and accelerations from the port's."""
        values = self.split(ports.chains)
        near = self.placed(values)
        scale = self.scale()
        step = least_squares(
            factor(_scaled(near.columns(self.body_port), scale)),
            _times(self.gap(near, ports), scale),
        )
        values = self._advanced(values, step)
        posture = self.placed(values)
        factors = factor(_scaled(posture.columns(self.body_port), scale))
        follow = self._follow(factors, scale)
        velocity, acceleration = ports.velocity, ports.acceleration
        if self.body_port:
            like = 0 * velocity
            velocity = np.concatenate([velocity, ports.angular_velocity + like])
            acceleration = np.concatenate([acceleration, ports.angular_acceleration + like])
        rates = _product(follow, velocity)
        still = outward(posture, rates, [0 * one for one in rates])
        bias = still.port
        if self.body_port:
            bias = np.concatenate([bias, still.bodies[-1].spin.omega_dot])
        accelerations = _product(follow, acceleration - bias)
        motion = outward(posture, rates, accelerations)
        longest = _length(step, self.joints, self.length_scale)
        q, qd, qdd = (self.of_rates(each) for each in (self._read(values), rates, accelerations))
        last = motion.bodies[-1].spin
        base = posture.joints[0].origin
        reach = posture.port - base
        return MovingChain(
            leg=self,
            q=q,
            qd=qd,
            qdd=qdd,
            joints=_first(self._read(values), q),
            joint_rates=_first(rates, q),
            joint_accelerations=_first(accelerations, q),
            w=self._w(follow),
            direction=reach / or_one(norm(reach)),
            link_angular_velocity=last.omega,
            link_angular_acceleration=last.omega_dot,
            health=stacked(factors.health, NEAR * self.rounding - longest),
            ports=ports,
            posture=posture,
            follow=follow,
            rates=rates,
            accelerations=accelerations,
            motion=motion,
            bias=bias,
            unfollowed=np.zeros((len(scale), 0, 1, 1))
            if self.rates == len(scale)
            else complement(factors),
            missed=longest,
            values=values,
        )

    @property
    def rates(self) -> int:
        """Rates of one leg."""
        return sum(RATES[kind] for kind in self.joints)

    def driven_rates(self) -> list[int]:
        """Which of the rates are actuated."""
        found, place_ = [], 0
        for kind, driven in zip(self.joints, self.actuated, strict=True):
            if driven:
                found.append(place_)
            place_ += RATES[kind]
        return found

    def _read(self, values: list[Components]) -> list[Components]:
        """Coordinates as told, one per rate; of a spherical joint 2 × its quaternion's vector."""
        found: list[Components] = []
        for kind, value, home in zip(self.joints, values, self.home, strict=True):
            found += [2 * one for one in value[1:]] if RATES[kind] == 3 else [value + home]
        return found

    def of_rates(self, each: list[Components]) -> Components:
        """Of values per rate, (legs, samples), those of the actuators, (actuators, samples)."""
        chosen = [each[i] for i in self.driven_rates()]
        if not chosen:
            empty: Components = 0 * each[0][:0]
            return empty
        found = np.stack(np.broadcast_arrays(*chosen), axis=1)
        return found.reshape(self.count * len(chosen), found.shape[-1])

    def _advanced(self, values: list[Components], step: Components) -> list[Components]:
        found, start = [], 0
        for kind, value in zip(self.joints, values, strict=True):
            found.append(advanced(kind, value, step[start : start + RATES[kind]]))
            start += RATES[kind]
        return found

    def _follow(self, factors: Any, scale: list[Components]) -> list[list[Components]]:
        """K (rates, 3 or 6) of θ̇ = K v, (legs, samples) each."""
        like = 0 * factors.per_diagonal[0]
        units = np.eye(len(scale))
        columns = [
            least_squares(factors, np.stack([one + like for one in unit])) * size
            for unit, size in zip(units, scale, strict=True)
        ]
        return [[column[i] for column in columns] for i in range(self.rates)]

    def _w(self, follow: list[list[Components]]) -> Components:
        """Rows of K of the actuators, (3 or 6, actuators, samples)."""
        rows = [stacked(*follow[i]) for i in self.driven_rates()]
        if not rows:
            return np.zeros((len(follow[0]), 0, 1))
        found = np.stack(rows, axis=2)  # (port, legs, joints, samples)
        return found.reshape(found.shape[0], self.count * len(rows), found.shape[-1])

    def grips(self, ports: Ports, q: Components) -> Grips:
        """How the legs at fixed q hold the platform: w where an actuator holds it, and n."""
        found = self.moving(ports)
        rows, holders, error = found.w, self.holders, found.q - q
        held = found.holding()
        if held is not None:
            like = 0 * held.gap[:1]
            rows = np.concatenate([rows + like, held.n], axis=1)
            holders = (*holders, *held.holders)
            error = np.concatenate([error + like, held.gap])
        return Grips(rows, holders, error, np.abs(error), found.chains, found.missed)

    def sizes(self, q: Components) -> Components:
        """How far a leg reaches at home, (legs, samples), m."""
        reach = norm(self.port - self.points[0])
        nowhere = 1 - reach / or_one(reach)
        size: Components = reach + self.length_scale * nowhere + 0 * q.sum(axis=0)
        return size

    def astray(self, q: Components, tip: Components) -> Components:
        """Nowhere: a chain is where its joints are."""
        lean: Components = 0 * tip[0] - 1
        return lean


def _scaled(columns: list[Components], scale: list[Components]) -> Components:
    """J (3 or 6, rates, legs, samples), rows scaled."""
    whole = np.stack(np.broadcast_arrays(*columns), axis=1)
    return np.stack([row * size for row, size in zip(whole, scale, strict=True)])


def _times(vector: Components, scale: list[Components]) -> Components:
    return stacked(*(one * size for one, size in zip(vector, scale, strict=True)))


def _product(rows: list[list[Components]], vector: Components) -> list[Components]:
    """K v, (legs, samples) per rate."""
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows]


def _first(each: list[Components], like: Components) -> Components:
    """The first AXES of values per rate, NaN where there are fewer."""
    padded = [*each[:AXES], *[each[0] * 0 + np.nan] * (AXES - len(each))]
    return stacked(*padded)


def _length(step: Components, joints: tuple[str, ...], length_scale: Components) -> Components:
    """Longest part of a step, rad, and in length scales of prismatic joints, (legs, samples)."""
    kinds = [kind for kind in joints for _ in range(RATES[kind])]
    longest: Components = 0 * step[0]
    for kind, one in zip(kinds, step, strict=True):
        longest = maximum(longest, abs(one) / length_scale if kind == PRISMATIC else abs(one))
    return longest
