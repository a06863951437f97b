"""Energy functions h: a robot's total energy is linear in its inertial parameters, H = E + U = h X.

Khalil & Guegan 2004, Eq. 39 and Appendix A. A parameter whose h is constant has no effect on the forces;
one whose h is a fixed combination of others' is grouped with them (Eqs. 40–42). They need kinematics
alone, no forces: a second way to the base parameters, and the only one for an open leg.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.model.model import Model
from gough.motion import Motion


class Frame(NamedTuple):
    """Where a body's frame is and how it moves, (..., 3) in world axes."""

    origin: Array
    axes: Array
    """(..., 3, 3), columns x, y, z."""
    velocity: Array
    omega: Array


def energy_functions(frame: Frame, gravity: Array) -> Array:
    """h (..., 10) of a body's XX XY XZ YY YZ ZZ MX MY MZ M, with H = h X.

    Khalil & Guegan 2004, Eq. 73, with ω and V of the frame on its own axes s, n, a, and its origin p:

        XX ½ω1²   XY ω1ω2   XZ ω1ω3   YY ½ω2²   YZ ω2ω3   ZZ ½ω3²
        MX ω3V2 − ω2V3 − g·s   MY ω1V3 − ω3V1 − g·n   MZ ω2V1 − ω1V2 − g·a   M ½V·V − g·p
    """
    w1, w2, w3 = _on_axes(frame.axes, frame.omega)
    moments = np.stack(np.broadcast_arrays(*_on_axes(frame.axes, frame.velocity)), axis=-1)
    turned = np.cross(moments, np.stack([w1, w2, w3], axis=-1))
    lifted = np.stack(_on_axes(frame.axes, gravity), axis=-1)
    mass = 0.5 * np.sum(frame.velocity**2, axis=-1) - frame.origin @ gravity
    squares = [w1 * w1 / 2, w1 * w2, w1 * w3, w2 * w2 / 2, w2 * w3, w3 * w3 / 2]
    return np.concatenate(
        [np.stack(squares, axis=-1), turned - lifted, mass[..., np.newaxis]], axis=-1
    )


def robot_energy_functions(robot: Model, motion: Motion) -> Array:
    """h (..., parameters) of a whole robot, columns as `parameter_names`; a rotor's is ½ q̇².

    h X is `Robot.energy`, kinetic and potential together. A leg's own thirty columns are those of the
    leg opened at its spherical joint.
    """
    robot.need_rigid("the sum of rigid bodies' energies")
    legs = robot.inverse_kinematics(motion)
    gravity = robot.mechanism.gravity[:, 0, 0]
    frames = leg_frames(robot, motion)
    bodies = np.stack([energy_functions(frame, gravity) for frame in frames], axis=-2)
    platform = Frame(motion.position, motion.rotation, motion.velocity, motion.angular_velocity)
    parts = (
        bodies.reshape(*motion.shape, 30 * robot.leg_count),
        0.5 * legs.qd**2,
        energy_functions(platform, gravity),
    )
    return np.concatenate(parts, axis=-1)


def leg_frames(robot: Model, motion: Motion) -> list[Frame]:
    """The frames of a leg's bodies in the order of the robot file, (..., legs, 3) each."""
    return _ups_frames(robot, motion) if robot.kind == "UPS" else _pus_frames(robot, motion)


def _on_axes(axes: Array, vector: Array) -> tuple[Array, Array, Array]:
    x, y, z = np.moveaxis(np.einsum("...ij,...i->...j", axes, vector), -1, 0)
    return x, y, z


def _joint_axes(axis: Array, direction: Array) -> tuple[Array, Array]:
    """Axes (..., legs, 3, 3) of cross and link.

    Cross: z along axis, x towards the link. Link: z along itself, y along link × axis.
    """
    y = np.cross(direction, axis)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    axis = np.broadcast_to(axis, direction.shape)
    link = np.stack([np.cross(y, direction), y, direction], axis=-1)
    return np.stack([np.cross(-y, axis), -y, axis], axis=-1), link


def _ups_frames(robot: Model, motion: Motion) -> list[Frame]:
    """Frames 1, 2, 3 of the papers: 1 and 2 at B, 3 at the tip P; x2 = x3, y2 = −z3, z2 = y3."""
    legs, parts = robot.inverse_kinematics(motion), robot.mechanism.legs
    axis, base = parts.axis[..., 0].T, parts.base[..., 0].T
    if robot.modes:
        bent = robot.deformation(motion)
        tip, speed = bent.position, bent.velocity
    else:
        arm = np.einsum("...ij,kj->...ki", motion.rotation, robot.mechanism.points[..., 0].T)
        tip = motion.position[..., np.newaxis, :] + arm
        speed = motion.velocity[..., np.newaxis, :] + np.cross(
            motion.angular_velocity[..., np.newaxis, :], arm
        )
    cross, rod = _joint_axes(axis, legs.direction)
    cylinder = np.stack([rod[..., 0], -rod[..., 2], rod[..., 1]], axis=-1)
    omega, still = legs.link_angular_velocity, np.zeros_like(speed)
    turning = legs.joint_rates[..., :1] * axis
    fixed = np.broadcast_to(base, tip.shape)
    return [
        Frame(fixed, cross, still, turning),
        Frame(fixed, cylinder, still, omega),
        Frame(tip, rod, speed, omega),
    ]


def _pus_frames(robot: Model, motion: Motion) -> list[Frame]:
    """Slider, cross and link, all at the universal joint; the slider's on world axes."""
    legs, parts = robot.inverse_kinematics(motion), robot.mechanism.legs
    axis, rail = parts.axis[..., 0].T, parts.rail_direction[..., 0].T
    joint = parts.rail_origin[..., 0].T + legs.q[..., np.newaxis] * rail
    speed = legs.qd[..., np.newaxis] * rail
    cross, link = _joint_axes(axis, legs.direction)
    return [
        Frame(joint, np.broadcast_to(np.eye(3), cross.shape), speed, np.zeros_like(speed)),
        Frame(joint, cross, speed, legs.joint_rates[..., 1:2] * axis),
        Frame(joint, link, speed, legs.link_angular_velocity),
    ]
