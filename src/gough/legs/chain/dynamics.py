"""Newton and Euler along chain legs: from rates to accelerations, from bodies to joint forces.

Outward, with z the axes of joint j on the body before and u its rates,

    ω_j = ω_{j−1} + z u,    ω̇_j = ω̇_{j−1} + z u̇ + ω_{j−1}×z u      (revolute, spherical)
    a_j = a_{j−1} + U_{j−1} r_j (+ z u̇ + 2 ω_{j−1}×z u of a prismatic joint)

and inward F_j and the moment N_j about P_j of body j and all behind it; a joint's own force is z·N_j or
z·F_j. World axes, (3, legs, samples). Khalil & Dombre 2002, chapter 9, for any joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.legs.chain.posture import PRISMATIC, PlacedJoint, Posture
from gough.mechanics.body import Body, Spin, inertia_of, second_moments, spinning
from gough.mechanics.vectors import Components, cross, dot, matvec, stacked, transposed_matvec


class BodyMotion(NamedTuple):
    """How the body of a joint moves."""

    velocity: Components
    """Of its frame's origin, m/s."""
    acceleration: Components
    """m/s²."""
    spin: Spin


class Outward(NamedTuple):
    """Motion of all bodies and of the port."""

    bodies: tuple[BodyMotion, ...]
    port: Components
    """Acceleration of the port's point, (3, legs, samples)."""


def outward(posture: Posture, rates: list[Components], accelerations: list[Components]) -> Outward:
    """All motion from the rates u and u̇, (legs, samples) each, joint after joint."""
    nothing = 0 * posture.port
    velocity, acceleration = nothing, nothing
    spin = spinning(nothing, nothing)
    found: list[BodyMotion] = []
    place = 0
    for joint in posture.joints:
        count = len(joint.axes)
        rate = _along(joint, rates[place : place + count])
        faster = _along(joint, accelerations[place : place + count])
        place += count
        velocity = velocity + cross(spin.omega, joint.arm)
        acceleration = acceleration + matvec(spin.field, joint.arm)
        carried = cross(spin.omega, rate)
        if joint.kind == PRISMATIC:
            velocity = velocity + rate
            acceleration = acceleration + faster + 2 * carried
        else:
            spin = spinning(spin.omega + rate, spin.omega_dot + faster + carried)
        found.append(BodyMotion(velocity, acceleration, spin))
    return Outward(tuple(found), acceleration + matvec(spin.field, posture.last_arm))


def _along(joint: PlacedJoint, values: list[Components]) -> Components:
    parts = [axis * value for axis, value in zip(joint.axes, values, strict=True)]
    total: Components = sum(parts[1:], start=parts[0])
    return total


class Inward(NamedTuple):
    """What the bodies ask of the joints."""

    forces: tuple[Components, ...]
    """F_j on body j and all behind it, (3, legs, samples), N."""
    moments: tuple[Components, ...]
    """N_j about P_j, N m."""
    asked: list[Components]
    """Of each rate the force along, or moment about, its axis, (legs, samples)."""


def inward(
    posture: Posture,
    bodies: tuple[Body, ...],
    motion: Outward,
    gravity: Components,
    push: Components | None = None,
) -> Inward:
    """Forces in the joints; `push` (3 or 6, legs, samples) is what the legs push the platform with."""
    nothing = 0 * posture.port
    force, moment = nothing, nothing
    if push is not None:
        force = push[:3] + nothing
        moment = cross(posture.last_arm, force)
        if len(push) == 6:
            moment = moment + push[3:]
    forces: list[Components] = []
    moments: list[Components] = []
    asked: list[Components] = []
    arm = nothing
    for joint, body, moving in reversed(
        list(zip(posture.joints, bodies, motion.bodies, strict=True))
    ):
        moment = moment + cross(arm, force)
        felt = moving.acceleration - gravity
        first = matvec(joint.turned, body.first_moment)
        spin = moving.spin
        omega = transposed_matvec(joint.turned, spin.omega)
        omega_dot = transposed_matvec(joint.turned, spin.omega_dot)
        turning = matvec(body.inertia, omega_dot) + cross(omega, matvec(body.inertia, omega))
        force = force + body.mass * felt + matvec(spin.field, first)
        moment = moment + matvec(joint.turned, turning) + cross(first, felt)
        forces.append(force)
        moments.append(moment)
        pulled = force if joint.kind == PRISMATIC else moment
        asked[:0] = [dot(axis, pulled) for axis in joint.axes]
        arm = joint.arm
    return Inward(tuple(reversed(forces)), tuple(reversed(moments)), asked)


def mass_matrix(posture: Posture, bodies: tuple[Body, ...]) -> list[list[Components]]:
    """M (rates, rates) of the chain alone, (legs, samples) each: composite bodies, tip to base.

    With mass m, first moment S and J = ∫ r rᵀ of all bodies behind a joint about P_j, a unit rate of it
    takes F = z×S and N = I z (revolute), F = m z and N = S×z (prismatic).
    """
    nothing = 0 * posture.port
    mass, first, second = nothing[0], nothing, np.stack([nothing] * 3)
    arm = nothing
    columns: list[tuple[Components, Components, Components]] = []
    for joint, body in reversed(list(zip(posture.joints, bodies, strict=True))):
        turned = joint.turned
        second = second + _outer(arm, first) + _outer(first, arm) + _outer(mass * arm, arm)
        first = first + mass * arm + matvec(turned, body.first_moment)
        own = second_moments(body.inertia)
        half = np.stack([matvec(turned, row) for row in own])  # J Qᵀ
        second = second + np.stack([matvec(turned, column) for column in np.swapaxes(half, 0, 1)])
        mass = mass + body.mass
        inertia = inertia_of(second)
        found = []
        for axis in joint.axes:
            if joint.kind == PRISMATIC:
                found.append((mass * axis, cross(first, axis), joint.origin))
            else:
                found.append((cross(axis, first), matvec(inertia, axis), joint.origin))
        columns[:0] = found
        arm = joint.arm
    axes = [(joint, axis) for joint in posture.joints for axis in joint.axes]
    count = len(axes)
    rows: list[list[Components]] = [[nothing[0]] * count for _ in range(count)]
    for j in range(count):
        joint, axis = axes[j]
        for k in range(j, count):
            force, moment, origin = columns[k]
            if joint.kind == PRISMATIC:
                entry = dot(axis, force)
            else:
                entry = dot(axis, moment + cross(origin - joint.origin, force))
            rows[j][k] = rows[k][j] = entry
    return rows


def _outer(a: Components, b: Components) -> Components:
    """a bᵀ, (3, 3, ...)."""
    return np.stack([stacked(*(x * y for y in b)) for x in a])
