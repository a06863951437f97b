"""A rigid body by its ten inertial parameters, and what it takes to move it."""

from __future__ import annotations

from typing import NamedTuple

from gough.vectors import Components, cross, matvec, transposed_matvec


class Body(NamedTuple):
    """Mass M (kg), first moments MX MY MZ (kg m), inertia tensor about the frame's origin (kg m²).

    Moments and tensor are in the axes of the body's own frame; XY = −∫ x y dm.
    """

    mass: Components
    first_moment: Components
    inertia: Components


def newton_euler(
    body: Body,
    frame: Components,
    angular_velocity: Components,
    angular_acceleration: Components,
    acceleration: Components,
) -> tuple[Components, Components]:
    """Force, and moment about the frame's origin, that the body's motion and weight ask for.

    F = M a + ω̇×MS + ω×(ω×MS),  N = I ω̇ + ω×(I ω) + MS×a

    `frame` is the rotation from body to world axes, `acceleration` is that of the frame's origin less
    gravity, all in world axes (Khalil & Guegan 2004, Eq. 24, gravity moved into the acceleration).
    """
    moment = matvec(frame, body.first_moment)
    force = (
        body.mass * acceleration
        + cross(angular_acceleration, moment)
        + cross(angular_velocity, cross(angular_velocity, moment))
    )
    couple = (
        turn(body.inertia, frame, angular_acceleration)
        + cross(angular_velocity, turn(body.inertia, frame, angular_velocity))
        + cross(moment, acceleration)
    )
    return force, couple


def turn(inertia: Components, frame: Components, rate: Components) -> Components:
    """R I Rᵀ ω: a tensor given in body axes applied to a vector in world axes."""
    return matvec(frame, matvec(inertia, transposed_matvec(frame, rate)))
