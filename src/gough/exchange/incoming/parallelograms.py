"""Two equal rods side by side between an arm and the platform: the legs of Delta robots.

Rods that are parallel and equally long stay so while the platform keeps its rotation, which two such
pairs on different arms hold: then both rods move alike, and one link between the middles of their
joints with the sum of their inertial parameters is the same.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import FileError
from gough.exchange.incoming.network import Network, NetworkJoint
from gough.legs.serial import SAME, Placement


class Rod(NamedTuple):
    """A body between two spherical joints."""

    body: int
    ends: tuple[NetworkJoint, NetworkJoint]

    def vector(self, start: int) -> Array:
        """From its joint on one body to the other, m."""
        first, second = self.ends
        along = second.joint.point - first.joint.point
        return along if start in first.bodies else -along

    def at(self, body: int) -> NetworkJoint:
        """Its joint on a body."""
        return self.ends[0] if body in self.ends[0].bodies else self.ends[1]


def join_parallelograms(found: Network, platform: int) -> bool:
    """Make each pair of rods on the platform one; whether there were any: then it only moves."""
    sides = []
    for first, second in combinations(_rods(found, platform), 2):
        arms = [_arm(rod, platform) for rod in (first, second)]
        if arms[0] != arms[1] or arms[0] == found.base or len(found.at(arms[0])) != 3:
            continue
        along = first.vector(platform)
        if np.linalg.norm(along - second.vector(platform)) > SAME * np.linalg.norm(along):
            continue
        side = second.at(platform).joint.point - first.at(platform).joint.point
        _keeps(found, arms[0], (first, second), side)
        sides.append(side / np.linalg.norm(side))
        _join(found, first, second)
    if sides and not any(np.linalg.norm(np.cross(a, b)) > SAME for a, b in combinations(sides, 2)):
        raise FileError(f"{found.name}: its parallelograms do not keep the platform from turning")
    if sides:
        found.held.append(
            f"{len(sides)} parallelograms are one link each, of the sum of their rods' masses; the "
            'platform has mobility = "translation"'
        )
    return bool(sides)


def _rods(found: Network, platform: int) -> list[Rod]:
    """The rods that hold the platform."""
    rods = []
    for body in found.bodies:
        ends = found.at(body)
        balls = len(ends) == 2 and all(one.joint.type == "spherical" for one in ends)
        if balls and any(platform in one.bodies for one in ends):
            rods.append(Rod(body, (ends[0], ends[1])))
    return rods


def _arm(rod: Rod, platform: int) -> int:
    """The body at a rod's other end."""
    others = [one.other(rod.body) for one in rod.ends]
    return others[0] if others[1] == platform else others[1]


def _keeps(found: Network, arm: int, rods: tuple[Rod, Rod], side: Array) -> None:
    """Refuse a parallelogram whose side turns with its arm: only a joint along it leaves it alone."""
    joint = next(one for one in found.at(arm) if one not in [rod.at(arm) for rod in rods])
    turns = joint.joint.type != "prismatic"
    off = np.linalg.norm(np.cross(joint.joint.axis, side)) > SAME * np.linalg.norm(side)
    if joint.joint.type == "spherical" or joint.other(arm) != found.base or (turns and off):
        raise FileError(
            f"{found.name}: the parallelogram on {found.bodies[arm].name!r} does not keep its side: "
            f"joint {joint.joint.name!r} is not along it"
        )


def _join(found: Network, first: Rod, second: Rod) -> None:
    """One rod in the middle of two: both are moved there, and their joints are one each."""
    bodies = found.bodies
    for rod, sign in ((first, 0.5), (second, -0.5)):
        apart = second.ends[0].joint.point - first.ends[0].joint.point
        if not set(first.ends[0].bodies) & set(second.ends[0].bodies):
            apart = second.ends[1].joint.point - first.ends[0].joint.point
        moved = Placement(sign * apart, np.eye(3))
        bodies[rod.body].inertia = bodies[rod.body].inertia.in_frame(moved)
    places = {id(one): (one, second.at(one.other(first.body))) for one in first.ends}
    found.joints = [
        _middle(*places[id(one)]) if id(one) in places else one
        for one in found.joints
        if one not in second.ends
    ]
    found.merge(first.body, second.body)


def _middle(one: NetworkJoint, other: NetworkJoint) -> NetworkJoint:
    """A joint between two, with the friction of both."""
    joint = one.joint._replace(
        point=(one.joint.point + other.joint.point) / 2,
        viscous=one.joint.viscous + other.joint.viscous,
    )
    return replace(one, joint=joint)
