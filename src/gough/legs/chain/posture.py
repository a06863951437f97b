"""Where the bodies of chain legs are, and how they move, from their joint coordinates.

All is written in world axes with the robot at home, where every coordinate reads 0: a joint's axis a_j
and point c_j as they are there. Body j has turned by Q_j = Q_{j−1} Rot(a_j, θ_j) since; its frame's
origin is P_j = P_{j−1} + Q_{j−1} (c_j − c_{j−1}), and z_j θ_j further of a prismatic joint, with z_j =
Q_{j−1} a_j. A spherical joint turns by a unit quaternion; its three rates are about axes of the body
before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components, cross, matrix, matvec, stacked

REVOLUTE, PRISMATIC, SPHERICAL = "revolute", "prismatic", "spherical"
COORDINATES = {REVOLUTE: 1, PRISMATIC: 1, SPHERICAL: 4}
"""Numbers that tell where a joint is."""
RATES = {REVOLUTE: 1, PRISMATIC: 1, SPHERICAL: 3}
"""Numbers that tell how it moves."""

SINE = (
    1.0,
    -1 / 6,
    1 / 120,
    -1 / 5040,
    1 / 362880,
    -1 / 39916800,
    1 / 6227020800,
    -1 / 1307674368000,
)
COSINE = (
    1.0,
    -1 / 2,
    1 / 24,
    -1 / 720,
    1 / 40320,
    -1 / 3628800,
    1 / 479001600,
    -1 / 87178291200,
    1 / 20922789888000,
)
TURN = (6.28125, 1.9353071795863774e-3, 3.5763118637017e-17)
"""2π in parts; whole multiples of the first are exact."""


def sine_cosine(angle: Components) -> tuple[Components, Components]:
    """sin θ and cos θ in plain arithmetic, which vector units do: to 1e-15.

    θ less whole turns, then the series of a quarter of it, doubled twice.
    """
    whole = np.rint(angle * (1 / (2 * np.pi)))
    rest = angle
    for part in TURN:
        rest = rest - whole * part
    x = rest * 0.25
    square = x * x
    sine, cosine = _series(SINE, square) * x, _series(COSINE, square)
    for _ in range(2):
        sine, cosine = 2 * sine * cosine, 1 - 2 * sine * sine
    return sine, cosine


def _series(terms: tuple[float, ...], square: Components) -> Components:
    total = terms[-1] + 0 * square
    for term in reversed(terms[:-1]):
        total = total * square + term
    return total


def about_axis(axis: Components, angle: Components) -> Components:
    """Rot(a, θ) = cos θ 1 + sin θ â + (1 − cos θ) a aᵀ, (3, 3, legs, samples)."""
    sine, cosine = sine_cosine(angle)
    x, y, z = axis
    rest = 1 - cosine
    sx, sy, sz = sine * x, sine * y, sine * z
    xy, xz, yz = rest * (x * y), rest * (x * z), rest * (y * z)
    return matrix(
        [
            [cosine + rest * (x * x), xy - sz, xz + sy],
            [xy + sz, cosine + rest * (y * y), yz - sx],
            [xz - sy, yz + sx, cosine + rest * (z * z)],
        ]
    )


def of_quaternion(quaternion: Components) -> Components:
    """The rotation (3, 3, ...) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def product(a: Components, b: Components) -> Components:
    """A B of (3, 3, ...) matrices."""
    return np.stack([matvec(a, column) for column in np.swapaxes(b, 0, 1)], axis=1)


class PlacedJoint(NamedTuple):
    """A joint where it is, and the body that it carries; world axes."""

    kind: str
    axes: tuple[Components, ...]
    """Of its rates, (3, legs, samples) each."""
    origin: Components
    """P_j, of the body's frame, (3, legs, samples), m."""
    arm: Components
    """From the origin before, (3, legs, samples), m."""
    turned: Components
    """Q_j of the body since home, (3, 3, legs, samples)."""


class Posture(NamedTuple):
    """Chain legs where they are."""

    joints: tuple[PlacedJoint, ...]
    port: Components
    """The last joint's point, (3, legs, samples), m."""
    last_arm: Components
    """It from the last body's origin, (3, legs, samples), m."""

    def columns(self, turning: bool) -> list[Components]:
        """Twist of the port, (3 or 6, legs, samples), of each rate; the angular part with `turning`."""
        found = []
        for joint in self.joints:
            for axis in joint.axes:
                if joint.kind == PRISMATIC:
                    linear, angular = axis, 0 * axis
                else:
                    linear, angular = cross(axis, self.port - joint.origin), axis
                found.append(
                    np.concatenate(np.broadcast_arrays(linear, angular)) if turning else linear
                )
        return found


def place(
    kinds: tuple[str, ...],
    axes: tuple[Components, ...],
    points: tuple[Components, ...],
    port: Components,
    coordinates: list[Components],
) -> Posture:
    """The legs at joint coordinates, (legs, samples) each; of spherical joints (4, legs, samples)."""
    like = 0 * (coordinates[0][0] if kinds[0] == SPHERICAL else coordinates[0])
    unit = np.eye(3)[..., np.newaxis, np.newaxis] + like
    turned, origin, at = unit, points[0] + like, points[0]
    first = True
    joints: list[PlacedJoint] = []
    for kind, axis, point, value in zip(kinds, axes, points, coordinates, strict=True):
        step = point - at
        arm = step + like if first else matvec(turned, step)
        if kind == SPHERICAL:
            moved: tuple[Components, ...] = (turned[:, 0], turned[:, 1], turned[:, 2])
            turn = of_quaternion(value)
        else:
            moved = (axis + like if first else matvec(turned, axis),)
            if kind == PRISMATIC:
                arm = arm + moved[0] * value
        origin = origin + arm
        if kind == REVOLUTE:
            turn = about_axis(axis, value)
        if kind != PRISMATIC:
            turned = turn if first else product(turned, turn)
            first = False
        joints.append(PlacedJoint(kind, moved, origin, arm, turned))
        at = point
    last = matvec(turned, port - at) if not first else port - at + like
    return Posture(tuple(joints), origin + last, last)


def advanced(kind: str, value: Components, step: Components) -> Components:
    """A joint's coordinates moved on by its rates times a step, (rates, legs, samples).

    A quaternion q becomes (1, δ/2) q made unit: Cayley's rotation by δ, axes of the body before.
    """
    if kind != SPHERICAL:
        result: Components = value + step[0]
        return result
    w, x, y, z = value
    turned = zip((w, x, y, z), quaternion_rate(value, list(step)), strict=True)
    found = stacked(*(one + change for one, change in turned))
    unit: Components = found / np.sqrt((found * found).sum(axis=0))
    return unit


def quaternion_rate(value: Components, rates: list[Components]) -> list[Components]:
    """q̇ = ½ (0, u) q of a quaternion (4, legs, samples), u on axes of the body before."""
    w, x, y, z = value
    a, b, c = (0.5 * rate for rate in rates)
    return [
        -a * x - b * y - c * z,
        a * w + b * z - c * y,
        b * w + c * x - a * z,
        c * w + a * y - b * x,
    ]
