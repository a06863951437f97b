"""Reads a robot-file dictionary into legs and rigid bodies.

A key under `[legs]` holds one value for all legs or a list with one a leg: an array of the key's
own rank is the former, of one rank more the latter. A body table may be a list of tables, one a
leg.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Robot = dict[str, Any]
State = dict[str, Array]

BODY_NAMES = {"UPS": ("cross", "cylinder", "rod"), "PUS": ("slider", "cross", "link")}
TEN_PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


@dataclass(frozen=True)
class Body:
    """A rigid body by its ten standard parameters, about its frame's origin, in its frame's axes.

    mass m (kg), first_moment ∫ r dm (kg m), inertia ∫ (r·r I − r rᵀ) dm (kg m²).
    """

    mass: float
    first_moment: Array
    inertia: Array

    def __add__(self, other: Body) -> Body:
        """Both bodies welded together, frames coinciding."""
        return Body(
            self.mass + other.mass,
            self.first_moment + other.first_moment,
            self.inertia + other.inertia,
        )


@dataclass(frozen=True)
class Leg:
    """One leg; unused entries are 0.

    origin: B_i (UPS) or the universal joint's centre at q = 0 (PUS), world.
    rail: unit direction of growing q, world (PUS). length: universal to spherical joint (PUS).
    branch: the sign in q = a·d ± √…, −1 for "minus" (PUS). platform_point: P_i, platform axes.
    axis, reference: first universal axis and zero of the first angle, unit and perpendicular.
    bodies: the three moving bodies from base to platform, in the order of `BODY_NAMES`.
    """

    kind: str
    origin: Array
    rail: Array
    length: float
    branch: float
    platform_point: Array
    axis: Array
    reference: Array
    rotor_mass: float
    bodies: tuple[Body, Body, Body]


def unit(vector: Array) -> Array:
    """The vector made unit length."""
    return vector / np.linalg.norm(vector)


def cross(a: Array, b: Array) -> Array:
    """a × b of two vectors; several times faster than NumPy's on single ones."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def gravity(robot: Robot) -> Array:
    """Acceleration of gravity, world axes, m/s²."""
    return np.array(robot.get("gravity", [0.0, 0.0, -9.81]), dtype=float)


def leg_value(value: Any, leg: int, rank: int) -> Array:
    """The leg's own value of a key whose single value has the given rank."""
    array = np.asarray(value, dtype=float)
    return array if array.ndim == rank else array[leg]


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


def slider_coordinate(leg: Leg, tip: Array) -> float:
    """PUS: q = a·d ∓ √((a·d)² − d·d + length²), d = tip − rail origin; metres."""
    d = tip - leg.origin
    along = leg.rail @ d
    return float(along + leg.branch * np.sqrt(along**2 - d @ d + leg.length**2))


def read_leg(robot: Robot, i: int) -> Leg:
    """Leg i of the robot, defaults filled in."""
    table = robot["legs"]
    kind = table["kind"]
    rail, length, branch = np.zeros(3), 0.0, 0.0
    if kind == "PUS":
        rail = unit(leg_value(table["rail_direction"], i, 1))
        length = float(leg_value(table["length"], i, 0))
        name = table.get("branch", "minus")
        branch = -1.0 if (name if isinstance(name, str) else name[i]) == "minus" else 1.0
    origin = leg_value(table["base" if kind == "UPS" else "rail_origin"], i, 1)
    point = leg_value(table["platform"], i, 1)
    bodies = tuple(read_body(table.get(name, {}), i) for name in BODY_NAMES[kind])
    rotor_mass = float(leg_value(table.get("rotor_mass", 0.0), i, 0))

    def leg_with(axis: Array, reference: Array) -> Leg:
        return Leg(kind, origin, rail, length, branch, point, axis, reference, rotor_mass, bodies)

    if "axis" in table:
        axis = unit(leg_value(table["axis"], i, 1))
    else:
        axis = _default_axis(robot, leg_with(np.zeros(3), np.zeros(3)))
    if "reference" in table:
        reference = leg_value(table["reference"], i, 1)
    else:
        reference = np.eye(3)[np.argmin(np.abs(axis))]
    return leg_with(axis, unit(reference - axis * (axis @ reference)))


def read_legs(robot: Robot) -> list[Leg]:
    """Every leg of the robot."""
    return [read_leg(robot, i) for i in range(number_of_legs(robot))]


def _default_axis(robot: Robot, leg: Leg) -> Array:
    """unit(z × leg direction at home)."""
    home = robot["home"]
    rotation = Rotation.from_rotvec(home.get("rotation_vector", [0.0, 0.0, 0.0])).as_matrix()
    tip = np.array(home.get("position", [0.0, 0.0, 0.0])) + rotation @ leg.platform_point
    anchor = leg.origin
    if leg.kind == "PUS":
        anchor = anchor + slider_coordinate(leg, tip) * leg.rail
    return unit(cross(np.array([0.0, 0.0, 1.0]), tip - anchor))
