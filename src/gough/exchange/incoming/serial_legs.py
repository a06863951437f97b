"""From the way of a leg through a network to a serial leg: spherical joints, idle ones, what is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gough.base.arrays import Array
from gough.exchange.incoming.network import Network, NetworkJoint
from gough.legs.serial import (
    NOTHING,
    SAME,
    Placement,
    SerialJoint,
    SerialLeg,
    plain,
)

DUMMY = 1e-5
"""Mass, in parts of the leg's heaviest body, of links that only stand between two hinges.

They may have a hundred times that part of its inertia."""
LEAST_SINE = 0.1
"""Between a rod and the axis of the joint before it, for that to be the first universal axis."""


def serial_leg(
    found: Network,
    way: Sequence[tuple[NetworkJoint, int]],
    platform: Placement,
    told: list[str],
) -> SerialLeg:
    """A leg from base to platform; what it says and a robot file cannot goes to `told`."""
    joints = []
    for place, (link, start) in enumerate(way):
        carried = found.bodies[link.other(start)]
        last = place == len(way) - 1
        joint = link.joint
        joints.append(
            SerialJoint(
                name=joint.name,
                type=joint.type,
                point=joint.point,
                axis=link.axis_from(start),
                home=link.reads,
                actuated=joint.actuated,
                rotor_inertia=joint.rotor_inertia,
                viscous=joint.viscous,
                coulomb=joint.coulomb,
                stroke=joint.stroke,
                force=joint.force,
                speed=joint.speed,
                body=NOTHING if last else carried.inertia,
                meshes=() if last else tuple(carried.meshes),
                other_friction=joint.other_friction,
            )
        )
    whole = SerialLeg(tuple(joints), platform)
    single = _without_doubles(_possible(whole, told), told)
    return _without_idle(_with_balls(single, told), told)


def _possible(leg: SerialLeg, told: list[str]) -> SerialLeg:
    """Without what no robot file has: inertia of passive drives, friction and limits of balls."""
    joints = []
    for joint in leg.joints:
        if joint.rotor_inertia and not joint.actuated:
            told.append(
                f"left out: armature of passive joints, {joint.rotor_inertia:g} (kg m² or kg)"
            )
            joint = joint._replace(rotor_inertia=0.0)
        if joint.type == "spherical":
            if joint.coulomb:
                told.append(f"left out: frictionloss of spherical joints, {joint.coulomb:g} N m")
            if joint.stroke:
                told.append("left out: ranges of spherical joints")
            joint = joint._replace(coulomb=0.0, stroke=None, speed=None, force=None)
        joints.append(joint)
    return leg._replace(joints=tuple(joints))


def _without_doubles(leg: SerialLeg, told: list[str]) -> SerialLeg:
    """Two passive hinges on one axis as one: what is between them, which only spins, stays behind."""
    joints: list[SerialJoint] = []
    for joint in leg.joints:
        if not joints or not _same_hinge(joints[-1], joint, leg.size):
            joints.append(joint)
            continue
        idle = joints.pop()
        if not idle.body.is_nothing:
            told.append(
                f"left out: the spin of what is between the hinges {idle.name!r} and {joint.name!r}"
            )
        if joints:
            before = joints[-1]
            joints[-1] = before._replace(
                body=before.body.plus(idle.body), meshes=before.meshes + idle.meshes
            )
        joints.append(joint)
    return leg._replace(joints=tuple(joints))


def _same_hinge(first: SerialJoint, second: SerialJoint, size: float) -> bool:
    """Whether two joints are passive hinges on one axis."""
    hinges = first.type == second.type == "revolute"
    if not hinges or not plain(first, second) or first.viscous or second.viscous:
        return False
    apart = np.cross(second.point - first.point, first.axis)
    turned = np.cross(first.axis, second.axis)
    return bool(np.linalg.norm(turned) <= SAME and np.linalg.norm(apart) <= SAME * size)


def _with_balls(leg: SerialLeg, told: list[str]) -> SerialLeg:
    """Three passive hinges whose axes meet in a point, nothing between them, are a spherical joint.

    Hinges with friction stay what they are, unless the leg has another ball: then they would be idle.
    """
    centres = _meetings(leg)
    balls = len(centres) + sum(one.type == "spherical" for one in leg.joints)
    joints: list[SerialJoint] = []
    place = 0
    while place < len(leg.joints):
        three = leg.joints[place : place + 3]
        rubs = any(one.viscous or one.coulomb for one in three)
        if place not in centres or (rubs and balls < 2):
            joints.append(leg.joints[place])
            place += 1
            continue
        if rubs:
            told.append("left out: friction of hinges that make a spherical joint")
        if any(one.stroke or one.speed for one in three):
            told.append("left out: ranges and speeds of hinges that make a spherical joint")
        inner = three[0].body.plus(three[1].body)
        ball = three[2]._replace(type="spherical", point=centres[place], axis=np.zeros(3), home=0.0)
        ball = ball._replace(stroke=None, force=None, speed=None, viscous=0.0, coulomb=0.0)
        if place + 3 < len(leg.joints):
            ball = ball._replace(body=inner.plus(ball.body))
        elif joints:
            joints[-1] = joints[-1]._replace(body=joints[-1].body.plus(inner))
        joints.append(ball)
        place += 3
    return leg._replace(joints=tuple(joints))


def _meetings(leg: SerialLeg) -> dict[int, Array]:
    """Where three passive hinges meet that can turn a body in any way, by the place of the first."""
    heaviest = max(one.body.mass for one in leg.joints)
    found: dict[int, Array] = {}
    place = 0
    while place + 3 <= len(leg.joints):
        centre = _meeting(leg.joints[place : place + 3], leg.size, heaviest)
        if centre is not None:
            found[place] = centre
        place += 1 if centre is None else 3
    return found


def _meeting(joints: Sequence[SerialJoint], size: float, heaviest: float) -> Array | None:
    """The point in which the axes of three hinges meet; None if they do not, or if they carry much."""
    if any(one.type != "revolute" or one.actuated for one in joints):
        return None
    if any(one.body.mass > DUMMY * heaviest or one.meshes for one in joints[:2]):
        return None
    if any(np.abs(one.body.tensor).max() > 100 * DUMMY * heaviest * size**2 for one in joints[:2]):
        return None
    axes = np.array([one.axis for one in joints])
    if abs(np.linalg.det(axes)) < 1e-3:
        return None
    across = [np.eye(3) - np.outer(axis, axis) for axis in axes]
    rows = np.concatenate(across)
    points = np.concatenate([p @ one.point for p, one in zip(across, joints, strict=True)])
    centre = np.linalg.lstsq(rows, points, rcond=None)[0]
    off = [np.linalg.norm(p @ (centre - one.point)) for p, one in zip(across, joints, strict=True)]
    return np.asarray(centre) if max(off) <= SAME * size else None


def _without_idle(leg: SerialLeg, told: list[str]) -> SerialLeg:
    """The first of two spherical joints made universal: what is between them spins about their line.

    Its first axis is that of the hinge before it where this is well across the rod, else any axis
    across; the second is across both.
    """
    balls = [i for i, joint in enumerate(leg.joints) if joint.type == "spherical"]
    if len(balls) != 2:
        return leg
    first, second = balls
    ball = leg.joints[first]
    along = leg.joints[second].point - ball.point
    length = np.linalg.norm(along)
    if length <= SAME * leg.size:
        return leg
    n = along / length
    axis = _across(leg, first, n)
    other = np.cross(n, axis)
    other = other / np.linalg.norm(other)
    told.append(
        "left out: the spin of rods between two spherical joints, the first of which is universal here"
    )
    between = NOTHING
    for joint in leg.joints[first:second]:
        between = between.plus(joint.body)
    off = float(np.linalg.norm(np.cross(between.center - ball.point, n))) if between.mass else 0.0
    if off > 1e-3 * length:
        told.append(
            f"rods whose centre of mass is {off:.2g} m beside the line of their joints do not swing "
            "about it here"
        )
    hinges = (
        ball._replace(type="revolute", axis=axis, body=NOTHING, meshes=()),
        ball._replace(type="revolute", axis=other),
    )
    return leg._replace(joints=(*leg.joints[:first], *hinges, *leg.joints[first + 1 :]))


def _across(leg: SerialLeg, ball: int, n: Array) -> Array:
    """A first universal axis for a ball that carries a rod along n."""
    before = leg.joints[ball - 1] if ball else None
    if (
        before is not None
        and before.type == "revolute"
        and np.linalg.norm(np.cross(before.axis, n)) > LEAST_SINE
    ):
        return before.axis
    vertical = np.cross([0.0, 0.0, 1.0], n)
    if np.linalg.norm(vertical) <= LEAST_SINE:
        vertical = np.cross([1.0, 0.0, 0.0], n)
    return np.asarray(vertical / np.linalg.norm(vertical))
