"""A leg opened at its spherical joint, in joint coordinates and in the paper's link frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array

QUARTER = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""A quarter turn about x, from a link's frame to the next."""


def cross(a: Array, b: Array) -> Array:
    """a × b of two vectors, in a tenth of the time of NumPy's."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def about_z(angle: float) -> Array:
    """A turn about z."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def hat(r: Array) -> Array:
    """r̂ with r̂ u = r × u."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


class Link(NamedTuple):
    """A link's ten inertial parameters: M, MS and the tensor about its frame's origin."""

    M: float
    MS: Array
    I: Array  # noqa: E741


class Leg:
    """An opened leg in the frames of Table I: q1 about z1, q2 about z2, q3 along z3."""

    def __init__(self, robot: gough.Robot, i: int) -> None:
        parts: Any = robot.description.legs
        bodies = (parts.cross, parts.cylinder, parts.rod)
        self.links = [
            Link(float(b.mass[i, 0]), b.first_moment[:, i, 0], b.inertia[:, :, i, 0])
            for b in bodies
        ]
        self.rotor = float(parts.rotor_mass[i, 0])
        axis, reference = parts.axis[:, i, 0], parts.reference[:, i, 0]
        self.base = np.column_stack([reference, cross(axis, reference), axis])

    def frames(self, q: Array) -> list[Array]:
        """Rotations from frames 1, 2, 3 to the world."""
        first = self.base @ about_z(q[0])
        second = first @ QUARTER @ about_z(q[1])
        return [first, second, second @ QUARTER]

    def jacobian(self, q: Array) -> Array:
        """J_i of Eq. 15, turned into world axes by Eq. 17."""
        s, q3 = np.sin(q[1]), q[2]
        own = np.array([[0.0, q3, 0.0], [-q3 * s, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(self.frames(q)[2] @ own)

    def rates(self, q: Array, qd: Array, qdd: Array) -> list[tuple[Array, ...]]:
        """ω, ω̇, and velocity and acceleration of the frame's origin, for links 1, 2, 3."""
        z1, z2, z3 = (frame[:, 2] for frame in self.frames(q))
        w1, a1 = qd[0] * z1, qdd[0] * z1
        w2, a2 = w1 + qd[1] * z2, a1 + qdd[1] * z2 + cross(w1, qd[1] * z2)
        spin = cross(w2, z3)
        velocity = qd[2] * z3 + q[2] * spin
        acceleration = qdd[2] * z3 + 2 * qd[2] * spin
        acceleration += q[2] * (cross(a2, z3) + cross(w2, spin))
        still = np.zeros(3)
        return [(w1, a1, still, still), (w2, a2, still, still), (w2, a2, velocity, acceleration)]

    def dynamics(self, q: Array, qd: Array, qdd: Array, g: Array) -> Array:
        """H_i(q, q̇, q̈) of Eq. 20: torques and force in the three joints of the opened leg."""
        frames = self.frames(q)
        forces, moments = [], []
        for link, frame, rate in zip(self.links, frames, self.rates(q, qd, qdd), strict=True):
            w, wd, _, acceleration = rate
            MS, inertia, a = frame @ link.MS, frame @ link.I @ frame.T, acceleration - g
            forces.append(link.M * a + cross(wd, MS) + cross(w, cross(w, MS)))
            moments.append(inertia @ wd + cross(w, inertia @ w) + cross(MS, a))
        z1, z2, z3 = (frame[:, 2] for frame in frames)
        at_base = moments[1] + moments[2] + cross(q[2] * z3, forces[2])
        torques = [z1 @ (moments[0] + at_base), z2 @ at_base]
        return np.array([*torques, z3 @ forces[2] + self.rotor * qdd[2]])

    def energy(self, q: Array, qd: Array) -> float:
        """Kinetic energy of the links, Eq. 68, and of the rotor, J."""
        total = 0.5 * self.rotor * qd[2] ** 2
        for link, frame, rate in zip(
            self.links, self.frames(q), self.rates(q, qd, np.zeros(3)), strict=True
        ):
            w, _, v, _ = (frame.T @ one for one in rate)
            total += 0.5 * (w @ link.I @ w + link.M * v @ v + 2 * link.MS @ cross(v, w))
        return float(total)
