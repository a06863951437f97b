"""From the keys of chains to numbers: everything in world axes with the robot at home."""

from __future__ import annotations

from dataclasses import fields
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit
from gough.legs.chain.equations import Chain
from gough.legs.chain.idle import idle_joints
from gough.legs.chain.keys import ONE_COORDINATE, ChainTable, JointTable
from gough.legs.chain.pin import Pin
from gough.legs.keys import DriveTable
from gough.legs.reading import (
    Actuator,
    Drives,
    LegReader,
    Limits,
    PassiveLimits,
    drives_of,
    perpendicular,
)
from gough.legs.units import LINEAR, ROTARY, LegUnits
from gough.mechanics.body import Body
from gough.mechanics.groups import joined
from gough.mechanics.leg import Leg
from gough.mechanics.vectors import Components

OFF_PERPENDICULAR = 1e-6
"""By how much, rad, the axes of a universal joint may be off a right angle."""
ROUNDING = 4e-16
"""A component of a unit vector so near 0 or ±1 is that: it makes the equations shorter."""


class Link(NamedTuple):
    """One elementary joint and what it carries, world axes at home; (3, legs, 1) or (legs, 1)."""

    joint: str
    axis: Components
    point: Components
    body: Body
    actuated: Array
    """(legs,) booleans."""
    home: Components
    rotor_inertia: Components
    viscous: Components
    coulomb: Components
    width: Components


class ChainReader(LegReader):
    """A group of chains of a robot file."""

    table: ChainTable

    def at(self, joint: int, key: str = "") -> str:
        """The dotted key of a joint or of one of its keys."""
        return f"{self.where}.joints.{joint}{'.' if key else ''}{key}"

    def scalars_of(self, joint: int, key: str) -> Array:
        """(legs,) of a joint's key."""
        return self.per_leg(key, 0, self.table.joints[joint], self.at(joint))

    def refuse(self, joint: int, key: str, bad: Array, words: str) -> None:
        """Refuse a value of the first leg where `bad` (legs,) is true."""
        if np.any(bad):
            leg = self.number(int(np.argmax(bad)))
            raise self.fail(f"{self.at(joint, key)} of leg {leg} {words}")

    def not_negative_of(self, joint: int, key: str) -> Components:
        """(legs, 1) of a joint's key, 0 or above."""
        values = self.scalars_of(joint, key)
        self.refuse(joint, key, values < 0, "is negative")
        return values[:, np.newaxis].copy()

    def positive_of(self, joint: int, key: str) -> Array:
        """(legs,) of a joint's key, above 0; infinite where it is not given."""
        if getattr(self.table.joints[joint], key) is None:
            return np.full(self.count, np.inf)
        values = self.scalars_of(joint, key)
        self.refuse(joint, key, values <= 0, "is not positive")
        return values

    def vectors_of(self, joint: int, key: str) -> Components:
        """(3, legs, 1) of a joint's key, leg's frame."""
        values = self.per_leg(key, 1, self.table.joints[joint], self.at(joint))
        return values.T[:, :, np.newaxis].copy()

    def unit_of(self, joint: int, key: str) -> Components:
        """(3, legs, 1) of a joint's key, leg's frame, made unit."""
        vectors = self.vectors_of(joint, key)
        largest = np.abs(vectors).max(axis=0)
        self.refuse(joint, key, largest[:, 0] == 0, "has zero length")
        return unit(vectors, axis=0)

    def actuated_of(self, joint: int) -> Array:
        """(legs,) booleans."""
        value = self.table.joints[joint].actuated
        values = value if isinstance(value, list) else [value] * self.count
        if len(values) != self.count:
            raise self.fail(
                f"{self.at(joint, 'actuated')} has values for {len(values)} legs, {self.counted}"
            )
        return np.array(values, dtype=bool)

    def stroke_of(self, joint: int) -> tuple[Array, Array]:
        """Shortest and longest coordinate, (legs,) each; infinite where the file has none."""
        table = self.table.joints[joint]
        if table.stroke is None:
            return np.full(self.count, -np.inf), np.full(self.count, np.inf)
        shortest, longest = self.per_leg("stroke", 1, table, self.at(joint)).T
        self.refuse(joint, "stroke", shortest >= longest, "needs [min, max] with min < max")
        return shortest, longest

    def turn(self) -> Array:
        """Rotation of each leg's frame, (legs, 3, 3)."""
        vectors = self.per_leg("rotation_vector", 1)
        return np.asarray(Rotation.from_rotvec(vectors.copy()).as_matrix())

    def turned(self, vectors: Components) -> Components:
        """Vectors (3, legs, 1) of the legs' frames in world axes."""
        return np.asarray(np.einsum("lij,jlk->ilk", self.turn(), vectors))

    def placed(self, points: Components) -> Components:
        """Points (3, legs, 1) of the legs' frames in the world."""
        return self.vectors("position") + self.turned(points)

    def point_of(self, joint: int) -> Components:
        """(3, legs, 1), world; of a prismatic joint without one that of the joint before."""
        if self.table.joints[joint].point is not None:
            return self.placed(self.vectors_of(joint, "point"))
        return self.vectors("position") if joint == 0 else self.point_of(joint - 1)

    def pose(self) -> tuple[Array, Array]:
        """Position (3,) and rotation (3, 3) of the platform at home."""
        if self.home is None:
            raise self.fail(
                f"{self.where}: chains are given as they stand at home: home is missing"
            )
        return self.home

    def platform_points(self) -> Array:
        """The ports in the platform frame: R_homeᵀ (port − p_home), (3, legs, 1)."""
        position, rotation = self.pose()
        port = self.point_of(len(self.table.joints) - 1)
        return np.asarray(
            np.einsum("ji,jlk->ilk", rotation, port - position[:, np.newaxis, np.newaxis])
        )

    def held_by(self) -> str:
        """The type of the last joint."""
        return self.table.joints[-1].type

    def actuators(self, units: LegUnits = LINEAR) -> tuple[Actuator, ...]:
        """In the order of legs, then of joints in a leg."""
        return tuple(
            Actuator(self.first + leg, _units(self.table.joints[joint]))
            for leg, joint in self._actuated()
        )

    def limits(self) -> Limits:
        """Limits of each actuator; angles of legs have none."""
        places = self._actuated()
        strokes = [self.stroke_of(i) for i in range(len(self.table.joints))]
        forces = [self.positive_of(i, "force") for i in range(len(self.table.joints))]
        speeds = [self.positive_of(i, "speed") for i in range(len(self.table.joints))]
        unlimited = np.full(self.count, np.inf)
        return Limits(
            shortest=np.array([strokes[joint][0][leg] for leg, joint in places]),
            longest=np.array([strokes[joint][1][leg] for leg, joint in places]),
            force=np.array([forces[joint][leg] for leg, joint in places]),
            speed=np.array([speeds[joint][leg] for leg, joint in places]),
            universal_angle=unlimited,
            spherical_angle=unlimited,
        )

    def drives(self) -> Drives:
        """What gives way between each actuator and its joint."""
        found = []
        for i, joint in enumerate(self.table.joints):
            if joint.drive is not None:
                self.refuse(i, "drive", ~self.actuated_of(i), "is that of a joint not actuated")
            found.append(drives_of(self, joint.drive or DriveTable(), self.at(i, "drive")))
        places = self._actuated()
        return Drives(
            *(
                np.array([part[joint][leg] for leg, joint in places])
                for part in zip(*found, strict=True)
            )
        )

    def passive(self) -> tuple[PassiveLimits, ...]:
        """Of joints that no actuator moves and that have a stroke or a speed, by leg, then joint."""
        found, actuated = [], set(self._actuated())
        for i, joint in enumerate(self.table.joints):
            shortest, longest = self.stroke_of(i)
            speed = self.positive_of(i, "speed")
            found += [
                PassiveLimits(
                    self.first + leg,
                    i,
                    float(shortest[leg]),
                    float(longest[leg]),
                    float(speed[leg]),
                    _units(joint),
                )
                for leg in range(self.count)
                if (leg, i) not in actuated
                and (joint.stroke is not None or joint.speed is not None)
            ]
        return tuple(sorted(found, key=lambda one: (one.leg, one.joint)))

    def refuse_idle(self, chain: Chain) -> None:
        """Refuse legs with joints that can move while the platform rests, and say what to change."""
        ends = [end for end in chain.file_joints if end >= 0]
        for leg, idle in enumerate(idle_joints(chain)):
            if not idle:
                continue
            joints = sorted({int(np.searchsorted(ends, one)) for one in idle})
            free = [one for one in joints if self.table.joints[one].type == "spherical"]
            advice = "leave one of them out" if len(joints) > 1 else "leave it out"
            if free:
                advice = f"make {self.at(free[0])} universal"
            raise self.fail(
                f"{', '.join(map(self.at, joints))} of leg {self.number(leg)} can move while "
                f"the platform rests: {advice}"
            )

    def _actuated(self) -> list[tuple[int, int]]:
        """Leg, from 0 in the group, and joint of each actuator."""
        driven = [self.actuated_of(joint) for joint in range(len(self.table.joints))]
        return [
            (leg, joint)
            for leg in range(self.count)
            for joint, one in enumerate(driven)
            if one[leg]
        ]


def read(reader: ChainReader) -> Leg:
    """The numbers of chains; legs that differ in what is actuated are groups one after the other.

    L of the robot is 1 in them until `Leg.with_length_scale`.
    """
    each = [_links(reader, i) for i in range(len(reader.table.joints))]
    links = [one for some in each for one in some]
    ends = np.cumsum([len(some) for some in each]) - 1
    if not links:
        return Pin(reader.point_of(0), np.ones(1))
    position, rotation = reader.pose()
    driven = np.array([one.actuated for one in links], dtype=bool).reshape(len(links), reader.count)
    whole = Chain(
        joints=tuple(one.joint for one in links),
        actuated=(),
        body_port=reader.held_by() != "spherical",
        axes=tuple(one.axis for one in links),
        points=tuple(one.point for one in links),
        bodies=tuple(one.body for one in links),
        port=reader.point_of(len(reader.table.joints) - 1),
        home=tuple(one.home for one in links),
        rotor_inertia=tuple(one.rotor_inertia for one in links),
        viscous=tuple(one.viscous for one in links),
        coulomb=tuple(one.coulomb for one in links),
        width=tuple(one.width for one in links),
        home_position=position.reshape(3, 1, 1).copy(),
        home_rotation=rotation.reshape(3, 3, 1, 1).copy(),
        length_scale=np.ones(1),
        turn=_exact(np.moveaxis(reader.turn(), 0, -1)[..., np.newaxis]),
        file_joints=tuple(int(end) if some else -1 for end, some in zip(ends, each, strict=True)),
    )
    reader.refuse_idle(whole)
    alike = groupby(range(reader.count), key=lambda leg: tuple(map(bool, driven[:, leg])))
    return joined([_some(whole, list(legs), actuated) for actuated, legs in alike])


def _links(reader: ChainReader, joint: int) -> list[Link]:
    """The elementary joints that a joint is: none of a last spherical one, two of a universal one."""
    table, last = reader.table.joints[joint], joint == len(reader.table.joints) - 1
    if last and table.body is not None:
        raise reader.fail(
            f"{reader.at(joint, 'body')}: the last joint carries the platform, whose mass is "
            "[platform]'s"
        )
    body = _massless(reader.count) if last else _body(reader, joint)
    point, nothing = reader.point_of(joint), np.zeros((reader.count, 1))
    if table.type == "universal":
        first, second = _universal_axes(reader, joint)
        still = np.zeros(reader.count, dtype=bool)
        rest = (still, nothing, nothing, nothing, nothing, nothing)
        cross = Link("revolute", first, point, _massless(reader.count), *rest)
        return [cross, Link("revolute", second, point, body, *rest)]
    if table.type == "spherical" and last:
        return []
    actuated = reader.actuated_of(joint)
    rotor = reader.not_negative_of(joint, "rotor_inertia")
    idle = ~actuated & (rotor[:, 0] != 0)
    reader.refuse(joint, "rotor_inertia", idle, "is that of a joint that is not actuated")
    axis = np.zeros((3, reader.count, 1))
    if table.type in ONE_COORDINATE:
        axis = _exact(reader.turned(reader.unit_of(joint, "axis")))
    return [
        Link(
            table.type,
            axis,
            point,
            body,
            actuated,
            reader.scalars_of(joint, "home")[:, np.newaxis].copy(),
            rotor,
            reader.not_negative_of(joint, "viscous"),
            reader.not_negative_of(joint, "coulomb"),
            reader.not_negative_of(joint, "width"),
        )
    ]


def _universal_axes(reader: ChainReader, joint: int) -> tuple[Components, Components]:
    """Both axes of a universal joint, world; the second made perpendicular to the first."""
    first, given = reader.unit_of(joint, "axis"), reader.unit_of(joint, "axis2")
    cosine = np.sum(first * given, axis=0)[:, 0]
    off = np.abs(np.arcsin(np.clip(cosine, -1.0, 1.0)))
    bad = off > OFF_PERPENDICULAR
    words = (
        f"is {off[np.argmax(bad)]:.3g} rad off perpendicular to its axis; "
        f"limit {OFF_PERPENDICULAR:g}"
    )
    reader.refuse(joint, "axis2", bad, words)
    first = _exact(reader.turned(first))
    second, _ = perpendicular(_exact(reader.turned(given)), first)
    return first, second


def _body(reader: ChainReader, joint: int) -> Body:
    """What a joint carries, about the joint's point, world axes at home: M, R MS, R I Rᵀ."""
    where = reader.at(joint, "body")
    mass, moment, inertia = reader.inertias(reader.table.joints[joint].body, where)
    reader.warn(mass, moment, inertia, where)
    turn = reader.turn()
    world = turn @ inertia @ np.swapaxes(turn, -1, -2)
    return Body(
        mass[:, np.newaxis].copy(),
        reader.turned(moment.T[..., np.newaxis]),
        np.moveaxis((world + np.swapaxes(world, -1, -2)) / 2, 0, -1)[..., np.newaxis].copy(),
    )


def _massless(count: int) -> Body:
    return Body(np.zeros((count, 1)), np.zeros((3, count, 1)), np.zeros((3, 3, count, 1)))


def _exact(vectors: Components) -> Components:
    """Unit vectors whose components near 0 and ±1 are that."""
    whole = np.rint(vectors)
    return np.where(np.abs(vectors - whole) <= ROUNDING, whole, vectors)


def _units(joint: JointTable) -> LegUnits:
    return LINEAR if joint.type == "prismatic" else ROTARY


def _some(chain: Chain, legs: list[int], actuated: tuple[bool, ...]) -> Chain:
    """The chains of some legs, whose joints are actuated so."""

    def body(one: Body) -> Body:
        return Body(one.mass[legs], one.first_moment[:, legs], one.inertia[:, :, legs])

    scalars = ("home", "rotor_inertia", "viscous", "coulomb", "width")
    kept = {one.name: getattr(chain, one.name) for one in fields(chain)}
    return Chain(
        **kept
        | {key: tuple(values[legs] for values in kept[key]) for key in scalars}
        | {key: tuple(values[:, legs] for values in kept[key]) for key in ("axes", "points")}
        | {
            "bodies": tuple(map(body, chain.bodies)),
            "port": chain.port[:, legs],
            "turn": chain.turn[:, :, legs],
            "actuated": actuated,
        }
    )
