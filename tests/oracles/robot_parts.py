"""Reads a robot-file dictionary into legs and rigid bodies.

A key under `[legs]` holds one value for all legs or a list with one per leg: an array of the key's
own rank is the former, of one rank more the latter. A body table may be a list of tables, one a
leg.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .arrays import Array, Robot, cross, leg_value, unit
from .legs import KINDS, Body, Leg

TEN_PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def gravity(robot: Robot) -> Array:
    """Acceleration of gravity, world axes, m/s²."""
    return np.array(robot.get("gravity", [0.0, 0.0, -9.81]), dtype=float)


def read_body(table: Any, leg: int = 0) -> Body:
    """A body from its table, or the leg's own body; what is missing is 0."""
    if isinstance(table, list):
        table = table[leg]
    if any(key in table for key in TEN_PARAMETERS):
        xx, xy, xz, yy, yz, zz, mx, my, mz, mass = (
            float(leg_value(table.get(key, 0.0), leg, 0)) for key in TEN_PARAMETERS
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return Body(mass, np.array([mx, my, mz]), tensor)
    mass = float(leg_value(table.get("mass", 0.0), leg, 0))
    center = leg_value(table.get("center_of_mass", np.zeros(3)), leg, 1)
    central = leg_value(table.get("inertia", np.zeros((3, 3))), leg, 2)
    steiner = mass * (center @ center * np.eye(3) - np.outer(center, center))
    return Body(mass, mass * center, central + steiner)


def read_platform(robot: Robot) -> Body:
    """The rigid platform with its payload, about the platform frame's origin."""
    table = robot.get("platform", {})
    body = read_body({key: value for key, value in table.items() if key != "payload"})
    for payload in table.get("payload", []):
        body = body + read_body(payload)
    return body


def number_of_legs(robot: Robot) -> int:
    """How many legs the robot has."""
    return len(robot["legs"]["platform"])


def read_leg(robot: Robot, i: int) -> Leg:
    """Leg i of the robot, defaults filled in."""
    table = robot["legs"]
    kind = KINDS[table["kind"]]
    origin, rail, length, branch = kind.read(table, i)
    point = leg_value(table["platform"], i, 1)
    bodies = tuple(read_body(table.get(name, {}), i) for name in kind.bodies)
    rotor_mass = float(leg_value(table.get(kind.rotor, 0.0), i, 0))
    crank = kind.read_crank(table, i, rail)

    def leg_with(axis: Array, reference: Array) -> Leg:
        placed = (kind, origin, rail, length, branch, point, axis, reference)
        return Leg(*placed, rotor_mass, bodies, *crank)

    if "axis" in table:
        axis = unit(leg_value(table["axis"], i, 1))
    else:
        axis = _default_axis(robot, leg_with(np.zeros(3), np.zeros(3)))
    if "reference" in table:
        reference = leg_value(table["reference"], i, 1)
    else:
        reference = kind.default_reference(leg_with(axis, axis), axis)
    return leg_with(axis, unit(reference - axis * (axis @ reference)))


def read_legs(robot: Robot) -> list[Leg]:
    """Every leg of the robot."""
    return [read_leg(robot, i) for i in range(number_of_legs(robot))]


def _default_axis(robot: Robot, leg: Leg) -> Array:
    """The kind's own, or unit(z × leg direction at home)."""
    own = leg.kind.default_axis(leg)
    if own is not None:
        return own
    home = robot["home"]
    rotation = Rotation.from_rotvec(home.get("rotation_vector", [0.0, 0.0, 0.0])).as_matrix()
    tip = np.array(home.get("position", [0.0, 0.0, 0.0])) + rotation @ leg.platform_point
    return unit(cross(np.array([0.0, 0.0, 1.0]), tip - leg.kind.anchor(leg, tip)))
