"""An independent program in the place of DADS: Pinocchio on the opened legs."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

import gough
from gough.base.arrays import Array

from .hexaslide import numbers


def pinocchio_forces(robot: gough.Robot, motion: gough.Motion) -> Array:
    """Actuator forces (n, 6), no friction, by Pinocchio on the opened legs.

    A leg is a chain slider-cross-link with tip velocity L θ̇; the platform is free, ξ = (v, ω),
    and the tip moves with W ξ, W = [1, −r×]. Pinocchio's inverse dynamics (RNEA) of legs, H, and of
    the platform, F, then give Jᵀ Γ = F + Σ (L⁻¹ W)ᵀ H, where J's rows are the first of L⁻¹ W.
    """
    pin: Any = importlib.import_module("pinocchio")
    this = numbers(robot)
    parts: Any = robot.description.legs
    world = pin.LOCAL_WORLD_ALIGNED
    legs = []
    for i in range(6):
        axis, reference = this.alpha[i], parts.reference[:, i, 0]
        base = np.column_stack([reference, np.cross(axis, reference), axis])
        model = pin.Model()
        model.gravity.linear = this.gravity
        slider = model.addJoint(
            0, pin.JointModelPrismaticUnaligned(this.a[i]), pin.SE3(np.eye(3), this.A0[i]), "λ"
        )
        model.appendBodyToJoint(
            slider, pin.Inertia(this.slider_mass, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity()
        )
        cross = model.addJoint(slider, pin.JointModelRZ(), pin.SE3(base, np.zeros(3)), "φ1")
        # φ2 turns about the cross's y, which is the link's −y
        half_turn = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
        link = model.addJoint(
            cross, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), half_turn, "φ2"
        )
        middle = np.array([0.0, 0.0, this.length / 2])
        model.appendBodyToJoint(
            link, pin.Inertia(this.link_mass, middle, this.link_inertia), pin.SE3.Identity()
        )
        at_tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, this.length]))
        tip = model.addFrame(pin.Frame("tip", link, 0, at_tip, pin.FrameType.OP_FRAME))
        legs.append((model, model.createData(), tip))
    free = pin.Model()
    free.gravity.linear = this.gravity
    free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    free.appendBodyToJoint(1, pin.Inertia(this.mass, this.CG, this.inertia), pin.SE3.Identity())
    data = free.createData()

    guesses = robot.inverse_kinematics(motion).joints
    forces = np.empty((len(motion), 6))
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
        for i, (model, own, tip) in enumerate(legs):
            arm = R @ this.CB[i]
            W = np.hstack([np.eye(3), -pin.skew(arm)])
            theta = guesses[k, i]
            for _ in range(2):  # Newton: the tip must be where the platform is
                L = pin.computeFrameJacobian(model, own, theta, tip, world)[:3]
                pin.framesForwardKinematics(model, own, theta)
                missing = motion.position[k] + arm - own.oMf[tip].translation
                theta = theta + np.linalg.solve(L, missing)
            L = pin.computeFrameJacobian(model, own, theta, tip, world)[:3]
            theta_d = np.linalg.solve(L, W @ twist)
            pin.forwardKinematics(model, own, theta, theta_d, np.zeros(3))
            drift = pin.getFrameClassicalAcceleration(model, own, tip, world).linear
            centripetal = np.cross(omega, np.cross(omega, arm))
            theta_dd = np.linalg.solve(L, W @ rate + centripetal - drift)
            map_ = np.linalg.solve(L, W)
            wanted = wanted + map_.T @ pin.rnea(model, own, theta, theta_d, theta_dd)
            rows.append(map_[0])
        forces[k] = np.linalg.solve(np.array(rows).T, wanted)
    return forces


def reference(robot: gough.Robot, motion: gough.Motion) -> tuple[str, Array]:
    """Frictionless actuator forces by an independent program, and its name."""
    if importlib.util.find_spec("pinocchio") is None:
        return "gough's exact model", robot.inverse_dynamics(motion, friction=False).forces
    return "Pinocchio", pinocchio_forces(robot, motion)
