"""Pinocchio on opened legs: forces by its inverse dynamics of serial chains, and closed loops.

A leg is a chain of three joints with tip velocity L θ̇; the platform is free, ξ = (v, ω), and the tip
moves with W ξ, W = [1, −r×]. Pinocchio's inverse dynamics (RNEA) of legs, H, and of the platform, F,
then give Jᵀ Γ = F + Σ (L⁻¹ W)ᵀ H, where J's rows are those of L⁻¹ W that belong to the drives.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array


class OpenedLeg(NamedTuple):
    """A leg as Pinocchio has it."""

    model: Any
    data: Any
    tip: int
    drive: int
    """The joint that is driven."""
    rotor: float
    """Inertia of the drive, felt along its coordinate."""


def forces(robot: gough.Robot, motion: gough.Motion) -> Array:
    """Actuator forces (n, 6), no friction, of a robot with PUS or UPS legs."""
    pin: Any = importlib.import_module("pinocchio")
    kind: Any = robot.description.legs
    build = _on_slider if hasattr(kind, "rail_origin") else _telescope
    legs = [build(pin, robot, i) for i in range(6)]
    points = robot.description.platform_points[..., 0].T
    free = pin.Model()
    free.gravity.linear = robot.description.gravity
    free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    _carry(pin, free, 1, robot.description.platform, 0)
    data = free.createData()

    guesses = robot.inverse_kinematics(motion).joints
    found = np.empty((len(motion), 6))
    for k in range(len(motion)):
        R, omega = motion.rotation[k], motion.angular_velocity[k]
        to_body = np.kron(np.eye(2), R.T)
        twist = np.concatenate([motion.velocity[k], omega])
        rate = np.concatenate([motion.acceleration[k], motion.angular_acceleration[k]])
        spatial = to_body @ rate
        spatial[:3] -= np.cross(R.T @ omega, R.T @ motion.velocity[k])
        place = pin.SE3ToXYZQUAT(pin.SE3(R, motion.position[k]))
        wanted = to_body.T @ pin.rnea(free, data, place, to_body @ twist, spatial)
        rows = []
        for i, leg in enumerate(legs):
            arm = R @ points[i]
            W = np.hstack([np.eye(3), -pin.skew(arm)])
            turning = np.cross(omega, np.cross(omega, arm))
            load, map_ = _leg(
                pin, leg, guesses[k, i], motion.position[k] + arm, W @ twist, W @ rate + turning, W
            )
            wanted = wanted + map_.T @ load
            rows.append(map_[leg.drive])
        found[k] = np.linalg.solve(np.array(rows).T, wanted)
    return found


def _leg(
    pin: Any, leg: OpenedLeg, theta: Array, place: Array, velocity: Array, rate: Array, W: Array
) -> tuple[Array, Array]:
    """What the leg's joints ask for, and how their rates follow the platform's, L⁻¹ W."""
    model, data, tip, world = leg.model, leg.data, leg.tip, pin.LOCAL_WORLD_ALIGNED
    for _ in range(2):  # Newton: the tip must be where the platform is
        L = pin.computeFrameJacobian(model, data, theta, tip, world)[:3]
        pin.framesForwardKinematics(model, data, theta)
        theta = theta + np.linalg.solve(L, place - data.oMf[tip].translation)
    L = pin.computeFrameJacobian(model, data, theta, tip, world)[:3]
    theta_d = np.linalg.solve(L, velocity)
    pin.forwardKinematics(model, data, theta, theta_d, np.zeros(3))
    drift = pin.getFrameClassicalAcceleration(model, data, tip, world).linear
    theta_dd = np.linalg.solve(L, rate - drift)
    load = pin.rnea(model, data, theta, theta_d, theta_dd).copy()
    load[leg.drive] += leg.rotor * theta_dd[leg.drive]
    return load, np.linalg.solve(L, W)


def _on_slider(pin: Any, robot: gough.Robot, i: int) -> OpenedLeg:
    """A PUS leg: slider along the rail, φ1 about the axis, φ2 about the cross's y, the link's −y."""
    legs: Any = robot.description.legs
    model = pin.Model()
    model.gravity.linear = robot.description.gravity
    axis, reference = legs.axis[:, i, 0], legs.reference[:, i, 0]
    base = np.column_stack([reference, np.cross(axis, reference), axis])
    rail = pin.JointModelPrismaticUnaligned(legs.rail_direction[:, i, 0])
    slider = model.addJoint(0, rail, pin.SE3(np.eye(3), legs.rail_origin[:, i, 0]), "q")
    cross = model.addJoint(slider, pin.JointModelRZ(), pin.SE3(base, np.zeros(3)), "φ1")
    half_turn = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    second = pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0]))
    link = model.addJoint(cross, second, half_turn, "φ2")
    for joint, body in ((slider, legs.slider), (cross, legs.cross), (link, legs.link)):
        _carry(pin, model, joint, body, i)
    end = pin.SE3(np.eye(3), np.array([0.0, 0.0, float(legs.length[i, 0])]))
    return _opened(pin, model, link, end, 0, float(legs.rotor_mass[i, 0]))


def _telescope(pin: Any, robot: gough.Robot, i: int) -> OpenedLeg:
    """A UPS leg: q1 about the axis, q2 about z2, q3 along z3; Khalil & Guegan 2004, Table I."""
    legs: Any = robot.description.legs
    model = pin.Model()
    model.gravity.linear = robot.description.gravity
    axis, reference = legs.axis[:, i, 0], legs.reference[:, i, 0]
    start = np.column_stack([reference, np.cross(axis, reference), axis])
    quarter = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    cross = model.addJoint(0, pin.JointModelRZ(), pin.SE3(start, legs.base[:, i, 0]), "q1")
    cylinder = model.addJoint(cross, pin.JointModelRZ(), pin.SE3(quarter, np.zeros(3)), "q2")
    rod = model.addJoint(cylinder, pin.JointModelPZ(), pin.SE3(quarter, np.zeros(3)), "q3")
    for joint, body in ((cross, legs.cross), (cylinder, legs.cylinder), (rod, legs.rod)):
        _carry(pin, model, joint, body, i)
    return _opened(pin, model, rod, pin.SE3.Identity(), 2, float(legs.rotor_mass[i, 0]))


def _opened(pin: Any, model: Any, last: int, end: Any, drive: int, rotor: float) -> OpenedLeg:
    tip = model.addFrame(pin.Frame("tip", last, 0, end, pin.FrameType.OP_FRAME))
    return OpenedLeg(model, model.createData(), tip, drive, rotor)


def _carry(pin: Any, model: Any, joint: int, body: Any, i: int) -> None:
    """Append a body by mass, first moments and tensor about its frame's origin, if it has mass."""
    mass, tensor = float(body.mass[i, 0]), body.inertia[..., i, 0]
    if mass:
        order = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])
        ten = [mass, *body.first_moment[:, i, 0], *tensor[order]]
        own = pin.Inertia.FromDynamicParameters(np.array(ten))
        model.appendBodyToJoint(joint, own, pin.SE3.Identity())
