"""The robots and states the closed forms are tried on; the paper has no example of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.base.arrays import Array

ROBOT = "long-khalil-martinet-2014"
STATES = 12
POSES = 10_000


def general_robot(seed: int = 4) -> dict[str, Any]:
    """A random Gough-Stewart robot file: general links, platform frame as in the paper's Fig. 2.

    The frame's origin is P_1, x_p points to P_2 and P_6 lies in the (x_p, y_p) plane.
    """
    rng = np.random.default_rng(seed)
    i = np.arange(6)

    def ring(radius: float, pairing: float) -> Array:
        angle = np.pi * i / 3 + pairing * (-1.0) ** i
        points = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(6)])
        return points + rng.uniform(-0.05, 0.05, (6, 3))

    def body(mass: float, size: float) -> dict[str, float]:
        center, spread = rng.uniform(-size, size, 3), rng.normal(size=(3, 3)) * size / 2
        second = mass * (spread @ spread.T + np.outer(center, center))
        tensor = np.trace(second) * np.eye(3) - second
        names = {"XX": (0, 0), "XY": (0, 1), "XZ": (0, 2), "YY": (1, 1), "YZ": (1, 2), "ZZ": (2, 2)}
        values = {name: tensor[place] for name, place in names.items()}
        return values | dict(zip(("MX", "MY", "MZ", "M"), (*mass * center, mass), strict=True))

    base, upper = ring(1.0, 0.4), ring(0.5, -0.4) + np.array([0.0, 0.0, 1.0])
    x = upper[1] - upper[0]
    z = np.cross(x, upper[5] - upper[0])
    frame = np.column_stack([one / np.linalg.norm(one) for one in (x, np.cross(z, x), z)])
    platform = (upper - upper[0]) @ frame
    platform[np.abs(platform) < 1e-15] = 0.0
    axis = np.cross(rng.normal(size=(6, 3)), upper - base) + 0.3 * rng.normal(size=(6, 3))
    legs: dict[str, Any] = {
        "kind": "UPS", "base": base, "platform": platform, "axis": axis,
        "rotor_mass": rng.uniform(1, 5, 6),
    }  # fmt: skip
    for name, mass in (("cross", 1.0), ("cylinder", 4.0), ("rod", 2.0)):
        legs[name] = [body(mass * rng.uniform(0.5, 1.5), 0.2) for _ in i]
    turn = Rotation.from_matrix(frame).as_rotvec()
    home = {"position": upper[0], "rotation_vector": turn}
    return {
        "format": 1, "name": "general 6-UPS", "home": home, "legs": legs,
        "platform": body(12.0, 0.2),
    }  # fmt: skip


def without_legs(robot: gough.Robot) -> gough.Robot:
    """The same robot with legs and rotors of no mass."""
    empty: dict[str, Any] = {f"legs.{name}": {} for name in ("cross", "cylinder", "rod")}
    return robot.edited(empty | {"legs.rotor_mass": 0.0})


def random_states(robot: gough.Robot, count: int, seed: int = 1) -> gough.Motion:
    """States near home: ±0.1 m, ±0.2 rad, rates and accelerations of order 1."""
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (count, 3)))
    home = robot.home
    rotation = turn * Rotation.from_matrix(home.rotation)
    position = home.position + rng.uniform(-0.1, 0.1, (count, 3))
    return gough.Motion(position, rotation, *rng.normal(size=(4, count, 3)))


def turned_poses(robot: gough.Robot, angle: Array, seed: int = 3) -> gough.Motion:
    """Random positions within ±0.2 m of home, turned by `angle` about random axes."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(len(angle), 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    position = robot.home.position + rng.uniform(-0.2, 0.2, (len(angle), 3))
    return gough.Motion(position, Rotation.from_rotvec(axis * angle[:, None]))
