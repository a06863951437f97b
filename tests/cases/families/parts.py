"""What random robots are put together from: joints, groups of legs, the file around them.

Legs are drawn in the world as they stand at home. A chain is written into the file in a leg frame of
its own, at random; with `frame` the whole robot stands somewhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from oracles.arrays import Array, Robot, cross, oblique, unit
from oracles.legs import KINDS
from oracles.parallel.as_chains import gathered
from oracles.parallel.tree import groups
from oracles.random_robot import friction_table, real_body

Joint = dict[str, Any]
Z = np.array([0.0, 0.0, 1.0])
HERE = pin.SE3.Identity()


def noise(rng: Generator, size: float) -> Array:
    """A small vector."""
    return rng.uniform(-size, size, 3)


def around(rng: Generator, count: int) -> list[tuple[Array, Array]]:
    """Outward and tangential directions of legs around z."""
    angles = 2 * np.pi * np.arange(count) / count + rng.uniform(-0.1, 0.1, count)
    outward = [np.array([np.cos(a), np.sin(a), 0.0]) for a in angles]
    return [(e, cross(Z, e)) for e in outward]


def somewhere(rng: Generator) -> pin.SE3:
    """A place and direction for a whole robot."""
    return pin.SE3(Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), noise(rng, 1.0))


def revolute(point: Array, axis: Array, actuated: bool = False) -> Joint:
    return {"type": "revolute", "point": point, "axis": axis, "actuated": actuated}


def prismatic(point: Array, axis: Array, actuated: bool = False) -> Joint:
    return {"type": "prismatic", "point": point, "axis": axis, "actuated": actuated}


def universal(point: Array, axis: Array, axis2: Array) -> Joint:
    return {"type": "universal", "point": point, "axis": axis, "axis2": axis2}


def spherical(point: Array) -> Joint:
    return {"type": "spherical", "point": point}


def chains(rng: Generator, legs: list[list[Joint]], frame: pin.SE3 = HERE) -> dict[str, Any]:
    """A group of chains with bodies, rotors, readings at home and friction drawn at random."""
    rubbing = bool(rng.integers(2))
    places, turns, written = [], [], []
    for joints in legs:
        turns.append(rng.normal(size=3))
        places.append(rng.normal(size=3))
        own = pin.SE3(Rotation.from_rotvec(turns[-1]).as_matrix(), places[-1])
        own = own.inverse() * frame
        written.append(
            [furnished(rng, j, own, rubbing, j is joints[-1], len(joints)) for j in joints]
        )
    group: dict[str, Any] = {"kind": "chain"}
    if len(legs) == 1:
        group |= {"position": places[0].tolist(), "rotation_vector": turns[0].tolist()}
        return group | {"joints": written[0]}
    group |= {
        "position": [p.tolist() for p in places],
        "rotation_vector": [t.tolist() for t in turns],
    }
    return group | {"joints": gathered(written)}


def furnished(
    rng: Generator, joint: Joint, frame: pin.SE3, rubbing: bool, last: bool, count: int
) -> Joint:
    """A joint in its leg's frame, with what the file says of it; lighter bodies in longer legs."""
    table: Joint = {"type": joint["type"], "point": frame.act(joint["point"]).tolist()}
    for key in ("axis", "axis2"):
        if key in joint:
            length = rng.uniform(0.5, 2.0)
            table[key] = (length * frame.rotation @ joint[key]).tolist()
    if joint["type"] in ("revolute", "prismatic"):
        if joint["actuated"]:
            turns = joint["type"] == "revolute"
            table["actuated"] = True
            table["home"] = float(rng.uniform(-1, 1))
            table["rotor_inertia"] = float(rng.uniform(0.02, 0.2) if turns else rng.uniform(1, 3))
        if rubbing:
            table["viscous"] = float(rng.uniform(0.1, 1.0))
            table["coulomb"] = float(rng.uniform(0.1, 1.0))
            table["width"] = float(rng.uniform(0.05, 0.2))
    if not last:
        table["body"] = real_body(rng, 6.0 / count, 0.15)
    return table


def closed_group(
    rng: Generator, kind: str, geometry: dict[str, Any], platform: Array, own_axes: bool = True
) -> dict[str, Any]:
    """A group of legs of kind UPS, PUS or RUS; without their own axes those of the defaults."""
    count, legs_of = len(platform), KINDS[kind]
    table: dict[str, Any] = {"kind": kind, "platform": platform.tolist()} | geometry
    if own_axes:
        table["reference"] = rng.normal(size=(count, 3)).tolist()
    table[legs_of.rotor] = rng.uniform(0.05, 0.5, count).tolist()
    for name in legs_of.bodies:
        table[name] = [real_body(rng, 2.0, 0.15) for _ in range(count)]
    return table


def random_group(
    rng: Generator, kind: str, lower: Array, upper: Array, home: pin.SE3
) -> dict[str, Any]:
    """Legs from `lower` to `upper` (legs, 3) at home, world axes, the rest drawn at random."""
    spans = upper - lower
    geometry, _ = KINDS[kind].random_geometry(rng, lower, spans, False)
    geometry["axis"] = [oblique(rng, unit(span), 0.0, 0.5).tolist() for span in spans]
    return closed_group(rng, kind, geometry, np.array([home.actInv(point) for point in upper]))


def pose(rng: Generator, position: Array, turn: float = 0.3) -> pin.SE3:
    """A platform frame near a point, turned a little."""
    rotation = Rotation.from_rotvec(noise(rng, turn)).as_matrix()
    return pin.SE3(rotation, np.asarray(position) + noise(rng, 0.05))


def robot_file(
    rng: Generator, name: str, legs: Any, home: pin.SE3, mobility: str | None = None
) -> Robot:
    """The file around the legs, with a platform, a payload and gravity drawn at random."""
    platform: dict[str, Any] = real_body(rng, 6.0, 0.1)
    platform["payload"] = [real_body(rng, 2.0, 0.1)]
    if mobility is not None:
        platform["mobility"] = mobility
    return {
        "format": 1,
        "name": name,
        "source": "random numbers",
        "gravity": (9.81 * unit(rng.normal(size=3))).tolist(),
        "home": {
            "position": home.translation.tolist(),
            "rotation_vector": Rotation.from_matrix(home.rotation).as_rotvec().tolist(),
        },
        "legs": legs,
        "platform": platform,
    }


def with_friction(rng: Generator, robot: Robot, width: float | None = None) -> Robot:
    """The robot with every friction term in its legs of kind UPS, PUS, RUS."""
    legs = []
    for group in groups(robot):
        own = dict(group)
        if own["kind"] != "chain":
            kind = KINDS[own["kind"]]
            own["friction"] = friction_table(rng, kind, len(own["platform"]), width)
        legs.append(own)
    return {**robot, "legs": legs}
