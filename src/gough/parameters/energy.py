"""Energy functions h: a robot's total energy is linear in its inertial parameters, H = E + U = h X.

Khalil & Guegan 2004, Eq. 39 and Appendix A. A parameter whose h is constant has no effect on the forces;
one whose h is a fixed combination of others' is grouped with them (Eqs. 40–42). They need kinematics
alone, no forces: a second way to the base parameters, and the only one for an open leg.
"""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.body import Frame
from gough.model.frames import leg_frames
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.layout import TEN


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

    h X is `Robot.energy`, kinetic and potential together. A leg's own columns are those of the leg
    opened where it holds the platform.
    """
    robot.need_rigid("the sum of rigid bodies' energies")
    robot.need_rigid_drives("the sum of rigid bodies' energies")
    qd = robot.inverse_kinematics(motion).qd
    gravity = robot.mechanism.gravity[:, 0, 0]
    parts = [
        np.stack([energy_functions(frame, gravity) for frame in frames], axis=-2).reshape(
            *motion.shape, TEN * len(frames) * legs.count
        )
        for legs, frames in leg_frames(robot, motion)
        if frames
    ]
    platform = Frame(motion.position, motion.rotation, motion.velocity, motion.angular_velocity)
    return np.concatenate([*parts, 0.5 * qd**2, energy_functions(platform, gravity)], axis=-1)


def _on_axes(axes: Array, vector: Array) -> tuple[Array, Array, Array]:
    x, y, z = np.moveaxis(np.einsum("...ij,...i->...j", axes, vector), -1, 0)
    return x, y, z
