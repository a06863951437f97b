"""A rigid body by its ten inertial parameters, and what it takes to move it, in its own axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.vectors import Components, cross, dot, matvec


class Body(NamedTuple):
    """Mass M (kg), first moments MX MY MZ (kg m), inertia tensor about the frame's origin (kg m²).

    Moments and tensor are in the axes of the body's own frame; XY = −∫ x y dm.
    """

    mass: Components
    first_moment: Components
    inertia: Components


class Spin(NamedTuple):
    """Rotation of a frame, on the frame's own axes."""

    omega: Components
    """Angular velocity, rad/s."""
    omega_dot: Components
    """Angular acceleration, rad/s²."""

    def field(self) -> Components:
        """U = ω̂ω̂ + ω̇̂ (3, 3, ...): a point at r is accelerated by U r relative to the origin."""
        (x, y, z), (dx, dy, dz) = self.omega, self.omega_dot
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        return np.stack(
            [
                np.stack([-(yy + zz), xy - dz, xz + dy]),
                np.stack([xy + dz, -(xx + zz), yz - dx]),
                np.stack([xz - dy, yz + dx, -(xx + yy)]),
            ]
        )


def force(body: Body, spin: Spin, acceleration: Components) -> Components:
    """F = M a + ω̇×MS + ω×(ω×MS), with a the acceleration of the frame's origin less gravity.

    Khalil & Guegan 2004, Eq. 24, gravity moved into the acceleration; body axes.
    """
    result: Components = body.mass * acceleration + matvec(spin.field(), body.first_moment)
    return result


def moment(body: Body, spin: Spin, acceleration: Components) -> Components:
    """N = I ω̇ + ω×(I ω) + MS×a about the frame's origin, body axes (the same equation)."""
    result: Components = (
        matvec(body.inertia, spin.omega_dot)
        + gyroscopic(body.inertia, spin.omega)
        + cross(body.first_moment, acceleration)
    )
    return result


def gyroscopic(inertia: Components, omega: Components) -> Components:
    """ω×(I ω), written on the products of ω's components so that differences of I are constants."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    x, y, z = omega
    x_y, x_z, y_z = x * y, x * z, y * z
    return np.stack(
        [
            (zz - yy) * y_z + yz * (y * y - z * z) + xz * x_y - xy * x_z,
            (xx - zz) * x_z + xz * (z * z - x * x) + xy * y_z - yz * x_y,
            (yy - xx) * x_y + xy * (x * x - y * y) + yz * x_z - xz * y_z,
        ]
    )


def turned(body: Body, rotation: list[list[int]]) -> Body:
    """The same body in another frame at the same origin: `rotation` maps to the new axes.

    Only for signed permutations of axes, so that no parameter is rounded.
    """

    def turn(vector: Components) -> Components:
        return np.stack([dot(np.array(row), vector) for row in rotation])

    inertia = turn(np.stack([turn(row) for row in body.inertia]))  # Q I Qᵀ
    return Body(body.mass, turn(body.first_moment), inertia)
