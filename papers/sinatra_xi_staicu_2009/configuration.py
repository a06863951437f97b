"""Eqs. 1 to 8: the hexapod at its central configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array

L0, l0, l3 = 0.6, 0.3, 0.5
ALPHA0, GAMMA = np.pi / 36, np.pi / 4
SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
ALPHA1 = np.array([0, 2, 2, -2, -2, 0]) * np.pi / 3 + ALPHA0 * np.array([1, -1, 1, -1, 1, -1])
ALPHA2 = -SIGNS * (np.pi / 3 + ALPHA0)
ALPHA3 = SIGNS * (np.pi / 3 - 2 * ALPHA0)
"""Eq. 1, legs A to F."""


NAMES = "ABCDEF"
NEIGHBOURS = ("AF", "BC", "DE")
"""Legs whose guide-ways start side by side."""


class Geometry(NamedTuple):
    """Derived lengths (m) and angles (rad)."""

    l1: float
    beta0: float
    beta: float
    h: float


def geometry() -> Geometry:
    """The formulas above Eq. 1 with the data of Eq. 24."""
    long_base, long_platform = (2 * radius * np.sin(np.pi / 3 - ALPHA0) for radius in (L0, l0))
    l1 = (long_base - long_platform) / (2 * np.cos(GAMMA))
    beta0 = np.arcsin((L0 - l0) / l1)
    beta = np.arcsin(2 * l0 / l3 * np.sin(np.pi / 6 - ALPHA0))
    return Geometry(l1, beta0, beta, l1 * np.cos(beta0) + l3 * np.cos(beta))


def about_z(angle: float) -> Array:
    """a_α and a^φ of Eq. 3."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def loop_error(printed: bool) -> float:
    """By how much the loops of Eq. 7 miss closure at the central configuration, m."""
    l1, beta0, beta, h = geometry()
    c, s = np.cos(beta0), np.sin(beta0)
    tilt = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    theta1 = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    theta2, theta3 = (
        np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        np.diag([-1.0, -1.0, 1.0]),
    )
    u1, u2, u3 = np.eye(3)
    worst = 0.0
    for one, two, three in zip(ALPHA1, ALPHA2, ALPHA3, strict=True):
        a1, a2, a3 = about_z(one), about_z(two), about_z(three)
        a10 = tilt @ theta3 @ a1
        a21 = theta1 @ (a2.T if printed else a2) @ tilt.T
        a30 = about_z(beta) @ theta1 @ theta2 @ a21 @ a10
        rail = L0 * a1.T @ u1 + l1 * a10.T @ u3
        center = rail + l3 * a30.T @ u2 - l0 * a1.T @ a3.T @ u1
        worst = max(worst, float(np.linalg.norm(center - [0.0, 0.0, h])))
    return worst


def catalogue_error(robot: gough.Robot) -> float:
    """Largest difference of the robot file's joints and rails from Eqs. 1 to 8, m."""
    l1, beta0, _, h = geometry()
    radial = np.column_stack([np.cos(ALPHA1), np.sin(ALPHA1), np.zeros(6)])
    rail = -np.sin(beta0) * radial + [0.0, 0.0, np.cos(beta0)]
    tips = np.column_stack([np.cos(ALPHA1 + ALPHA3), np.sin(ALPHA1 + ALPHA3), np.zeros(6)])
    legs: Any = robot.file.legs
    wanted = [L0 * radial + l1 * rail, rail, l0 * tips, [0.0, 0.0, h]]
    found = [legs.rail_origin, legs.rail_direction, legs.platform, robot.home.position]
    return max(float(np.max(np.abs(a - b))) for a, b in zip(found, wanted, strict=True))


def meeting_point() -> tuple[Array, float]:
    """Where the guide-ways meet, (3,), m, and by how much they miss each other there, m.

    A guide-way is L_0 e_r + s a, a = −sin β_0 e_r + cos β_0 z: it reaches the axis at s = L_0/sin β_0,
    which is its end 2 l_1 since 2 l_0 = L_0.
    """
    l1, beta0, _, _ = geometry()
    radial = np.column_stack([np.cos(ALPHA1), np.sin(ALPHA1), np.zeros(6)])
    ends = L0 * radial + 2 * l1 * (-np.sin(beta0) * radial + [0.0, 0.0, np.cos(beta0)])
    middle = ends.mean(axis=0)
    return middle, float(np.linalg.norm(ends - middle, axis=1).max())


def nearest_joints(robot: gough.Robot, motion: gough.Motion) -> tuple[float, str]:
    """Least distance, m, of two universal joints along a motion, neighbours apart, and their legs."""
    legs: Any = robot.description.legs
    origin, rail = legs.rail_origin[..., 0].T, legs.rail_direction[..., 0].T
    joints = origin + robot.inverse_kinematics(motion).q[..., np.newaxis] * rail
    apart = np.linalg.norm(joints[:, :, np.newaxis] - joints[:, np.newaxis], axis=-1).min(axis=0)
    pairs = [
        (i, j) for i in range(6) for j in range(i) if f"{NAMES[j]}{NAMES[i]}" not in NEIGHBOURS
    ]
    i, j = min(pairs, key=lambda pair: apart[pair])
    return float(apart[i, j]), f"{NAMES[j]} and {NAMES[i]}"


def leg_limits(mass: float = 0.398, about: float = 0.0722) -> tuple[float, float]:
    """Most inertia about A_3 with the centre of mass in the middle, and where Ĵ_3 puts it at least.

    A leg of length l_3 with its centre of mass at c has at most m c l_3 about its joint: all of its mass
    at the two ends. So kg m² at c = l_3/2, and c/l_3.
    """
    return mass * l3**2 / 2, about / (mass * l3**2)
