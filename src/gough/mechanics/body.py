"""A rigid body by its ten inertial parameters, and what it takes to move it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components, cross, dot, matrix, matvec, stacked


class Body(NamedTuple):
    """Mass M (kg), first moments MX MY MZ (kg m), inertia tensor about the frame's origin (kg m²).

    Moments and tensor are in the axes of the body's own frame; XY = −∫ x y dm.
    """

    mass: Components
    first_moment: Components
    inertia: Components


class Frame(NamedTuple):
    """Where a body's frame is and how it moves, world axes.

    The component axis is first, as in all equations; `gough.model.frames` has it last.
    """

    origin: Components
    """m."""
    axes: Components
    """(3, 3, ...), columns x, y, z."""
    velocity: Components
    """Of the origin, m/s."""
    omega: Components
    """Angular velocity, rad/s."""


class Spin(NamedTuple):
    """Rotation of a frame; all on the same axes."""

    omega: Components
    """Angular velocity, rad/s."""
    omega_dot: Components
    """Angular acceleration, rad/s²."""
    field: Components
    """U = ω̂ω̂ + ω̇̂ (3, 3, ...), 1/s²: a point at r is accelerated by U r relative to the origin."""


def spinning(omega: Components, omega_dot: Components) -> Spin:
    """A rotation with its acceleration field."""
    (x, y, z), (dx, dy, dz) = omega, omega_dot
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = [
        [-(yy + zz), xy - dz, xz + dy],
        [xy + dz, -(xx + zz), yz - dx],
        [xz - dy, yz + dx, -(xx + yy)],
    ]
    return Spin(omega, omega_dot, matrix(rows))


def force(
    mass: Components, first_moment: Components, spin: Spin, acceleration: Components
) -> Components:
    """F = M a + U S = M a + ω̇×S + ω×(ω×S), with a the acceleration of the frame's origin less gravity.

    Khalil & Guegan 2004, Eq. 24, gravity moved into the acceleration.
    """
    result: Components = mass * acceleration + matvec(spin.field, first_moment)
    return result


def moment(body: Body, spin: Spin, acceleration: Components) -> Components:
    """N = I ω̇ + ω×(I ω) + S×a about the frame's origin (the same equation)."""
    turning = turning_moment(body.inertia, spin.omega, spin.omega_dot)
    return turning + cross(body.first_moment, acceleration)


def turning_moment(inertia: Components, omega: Components, omega_dot: Components) -> Components:
    """I ω̇ + ω×(I ω)."""
    return matvec(inertia, omega_dot) + cross(omega, matvec(inertia, omega))


def second_moments(inertia: Components) -> Components:
    """J = ∫ r rᵀ dm = ½ tr(I) 1 − I (3, 3, ...), kg m²."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    rows = [
        [0.5 * ((yy - xx) + zz), -xy, -xz],
        [-xy, 0.5 * ((xx - yy) + zz), -yz],
        [-xz, -yz, 0.5 * ((xx - zz) + yy)],
    ]
    return matrix(rows)


def inertia_of(second: Components) -> Components:
    """I = tr(J) 1 − J (3, 3, ...) of second moments J, kg m²."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = second
    return matrix([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])


def field_moment(second: Components, field: Components) -> Components:
    """I ω̇ + ω×(I ω) = Σ k×(U J k) over the axes k, from J = ∫ r rᵀ dm and the acceleration field U."""
    (jxx, jxy, jxz), (_, jyy, jyz), (_, _, jzz) = second
    (uxx, uxy, uxz), (uyx, uyy, uyz), (uzx, uzy, uzz) = field
    return stacked(
        jxy * uzx - jxz * uyx + jyy * uzy - jzz * uyz + jyz * (uzz - uyy),
        jyz * uxy - jxy * uzy + jzz * uxz - jxx * uzx + jxz * (uxx - uzz),
        jxz * uyz - jyz * uxz + jxx * uyx - jyy * uxy + jxy * (uyy - uxx),
    )


def turned(body: Body, rotation: list[list[int]]) -> Body:
    """The same body in another frame at the same origin: `rotation` maps to the new axes.

    Only for signed permutations of axes, so that no parameter is rounded.
    """

    def turn(vector: Components) -> Components:
        return np.stack([dot(np.array(row), vector) for row in rotation])

    inertia = turn(np.stack([turn(row) for row in body.inertia]))  # Q I Qᵀ
    return Body(body.mass, turn(body.first_moment), inertia)


def turned_body(rotation: Components, body: Body) -> Body:
    """The same bodies on other axes: M, R S, R I Rᵀ with R (3, 3, bodies, samples)."""
    half = np.stack([matvec(rotation, column) for column in np.swapaxes(body.inertia, 0, 1)])
    inertia = np.stack([matvec(rotation, row) for row in np.swapaxes(half, 0, 1)])
    return Body(body.mass, matvec(rotation, body.first_moment), inertia)
