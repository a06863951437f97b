"""The robot by Pinocchio: every leg opened at its spherical joint, then closed by projection.

A leg is a chain of three joints θ with tip velocity v_P = L θ̇, a free-flyer is the platform with
ξ = (v, ω) in world axes and v_P = W ξ, W = [I, −r×]. With f the leg's force on the platform,

    leg        H θ̈ + c = e Γ + (friction) − Lᵀ f     e picks the actuated joint
    platform   M_p ξ̇ + b_p = Σ Wᵀ f + wrench          (friction: less the spherical couples)

H, c, L, M_p, b_p are Pinocchio's; the rotor mass is the actuated joint's armature.
All functions take ONE state. SI units, world axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .arrays import Array, Robot, State, cross, unit
from .friction_laws import FrictionLoads
from .legs import KINDS, Body, Leg
from .robot_parts import gravity, read_legs, read_platform


@dataclass(frozen=True)
class LegCoordinates:
    """Joint coordinates of all legs and the motion of their links.

    joints, rates, accelerations (legs, 3): UPS (q1, q2, q3), PUS (λ, φ1, φ2), RUS (q, φ1, φ2);
    q, qd, qdd (legs,).
    direction: unit, universal to spherical joint. link_angular_*: the link's (UPS cylinder's).
    """

    joints: Array
    rates: Array
    accelerations: Array
    q: Array
    qd: Array
    qdd: Array
    direction: Array
    link_angular_velocity: Array
    link_angular_acceleration: Array


@dataclass(frozen=True)
class TreeReactions:
    """Joint reactions (legs, 3), world axes.

    spherical: force of the leg on the platform. universal, universal_moment: of the cross on the
    body it carries, about the joint's centre. slide_force, slide_moment: of the rail on the slider
    about the universal joint's centre (PUS), of the cylinder on the rod about P (UPS), the force
    normal to q's direction.
    """

    spherical: Array
    universal: Array
    universal_moment: Array
    slide_force: Array
    slide_moment: Array


class OpenedLeg:
    """Pinocchio's model of one leg without its platform; `drive` is the actuated joint's place."""

    def __init__(self, leg: Leg, gravity_vector: Array) -> None:
        self.leg = leg
        self.drive = leg.kind.drive
        base_axes = np.column_stack([leg.reference, cross(leg.axis, leg.reference), leg.axis])
        joints, tip = leg.kind.tree(pin, leg, base_axes)
        self.model = pin.Model()
        self.model.gravity.linear = gravity_vector
        joint = 0
        for number, (joint_model, placement) in enumerate(joints):
            joint = self.model.addJoint(joint, joint_model, placement, f"joint {number + 1}")
            inertia = pinocchio_inertia(leg.bodies[number])
            self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        self.tip_frame = self.model.addFrame(
            pin.Frame("tip", joint, 0, pin.SE3(np.eye(3), tip), pin.FrameType.OP_FRAME)
        )
        armature = np.zeros(3)
        armature[self.drive] = leg.rotor_mass
        self.model.armature = armature
        self.data = self.model.createData()

    def tip_position(self, joints: Array) -> Array:
        """P for the given joint coordinates."""
        pin.framesForwardKinematics(self.model, self.data, joints)
        return self.data.oMf[self.tip_frame].translation.copy()

    def tip_jacobian(self, joints: Array) -> Array:
        """L (3, 3) with v_P = L θ̇, world axes."""
        frame = pin.LOCAL_WORLD_ALIGNED
        return pin.computeFrameJacobian(self.model, self.data, joints, self.tip_frame, frame)[:3]

    def guess(self, tip: Array) -> Array:
        """Joint coordinates near the tip, on the branch and in the ranges of the robot file."""
        leg = self.leg
        n, q = unit(tip - leg.kind.anchor(leg, tip)), leg.kind.q(leg, tip)
        axis, reference = leg.kind.universal_axes(leg, q)
        first = np.arctan2(n @ cross(axis, reference), n @ reference)
        from_axis = np.arccos(np.clip(axis @ n, -1, 1))
        return leg.kind.coordinates(q, first, from_axis)

    def joints_at(self, tip: Array) -> Array:
        """Newton's method on the forward kinematics."""
        joints = self.guess(tip)
        for _ in range(20):
            error = tip - self.tip_position(joints)
            joints = joints + np.linalg.solve(self.tip_jacobian(joints), error)
            if np.linalg.norm(error) < 1e-14:
                break
        angle = joints[self.leg.kind.passive[1]]
        if not (np.linalg.norm(tip - self.tip_position(joints)) < 1e-13 and 0 < angle < np.pi):
            raise ValueError("the leg does not reach its tip")
        return joints

    def follow(self, tip: Array, velocity: Array, acceleration: Array) -> tuple[Array, ...]:
        """Joint coordinates, rates and accelerations for a motion of the tip."""
        joints = self.joints_at(tip)
        jacobian = self.tip_jacobian(joints)
        rates = np.linalg.solve(jacobian, velocity)
        pin.forwardKinematics(self.model, self.data, joints, rates, np.zeros(3))
        drift = pin.getFrameClassicalAcceleration(
            self.model, self.data, self.tip_frame, pin.LOCAL_WORLD_ALIGNED
        ).linear
        return joints, rates, np.linalg.solve(jacobian, acceleration - drift)

    def load(self, joints: Array, rates: Array, accelerations: Array) -> Array:
        """H θ̈ + c, the generalised forces that move the opened leg."""
        return pin.rnea(self.model, self.data, joints, rates, accelerations).copy()

    def turning_jacobian(self, joints: Array) -> Array:
        """(3, 3): the link's angular velocity is this times θ̇, world axes."""
        frame = pin.LOCAL_WORLD_ALIGNED
        return pin.computeFrameJacobian(self.model, self.data, joints, self.tip_frame, frame)[3:]


class FreePlatform:
    """Pinocchio's free-flyer of the platform with its payload, in (v, ω) of world axes."""

    def __init__(self, robot: Robot, state: State) -> None:
        self.model = pin.Model()
        self.model.gravity.linear = gravity(robot)
        self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        inertia = pinocchio_inertia(read_platform(robot))
        self.model.appendBodyToJoint(1, inertia, pin.SE3.Identity())
        self.data = self.model.createData()
        rotation = state["rotation"]
        self.coordinates = pin.SE3ToXYZQUAT(pin.SE3(rotation, state["position"]))
        self.to_body = np.kron(np.eye(2), rotation.T)
        self.twist = self.to_body @ np.concatenate([state["velocity"], state["angular_velocity"]])

    def load(self, linear: Array, angular: Array) -> Array:
        """M_p ξ̇ + b_p, force and moment at the platform frame's origin, world axes (6,)."""
        spatial = self.to_body @ np.concatenate([linear, angular])
        spatial[:3] -= cross(self.twist[3:], self.twist[:3])
        wrench = pin.rnea(self.model, self.data, self.coordinates, self.twist, spatial)
        return self.to_body.T @ wrench

    def mass_matrix(self) -> Array:
        """M_p (6, 6), world axes."""
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates))
        return self.to_body.T @ (upper + np.triu(upper, 1).T) @ self.to_body

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy, J."""
        return (
            pin.computeKineticEnergy(self.model, self.data, self.coordinates, self.twist),
            pin.computePotentialEnergy(self.model, self.data, self.coordinates),
        )


def pinocchio_inertia(body: Body) -> pin.Inertia:
    """The body for Pinocchio, whose inertia is about the centre of mass."""
    if body.mass == 0.0:
        if np.any(body.first_moment):
            raise ValueError("Pinocchio cannot hold a first moment without a mass")
        return pin.Inertia(0.0, np.zeros(3), body.inertia)
    center = body.first_moment / body.mass
    steiner = body.mass * (center @ center * np.eye(3) - np.outer(center, center))
    return pin.Inertia(body.mass, center, body.inertia - steiner)


def opened_legs(robot: Robot) -> list[OpenedLeg]:
    """All legs, opened."""
    return [OpenedLeg(leg, gravity(robot)) for leg in read_legs(robot)]


def tip_map(leg: Leg, state: State) -> Array:
    """W (3, 6): v_P = W (v, ω)."""
    return np.hstack([np.eye(3), -pin.skew(state["rotation"] @ leg.platform_point)])


def _followed(opened: OpenedLeg, state: State) -> tuple[Array, ...]:
    """The leg's coordinates, rates, accelerations for a state of the platform."""
    w = tip_map(opened.leg, state)
    arm = state["rotation"] @ opened.leg.platform_point
    omega = state["angular_velocity"]
    twist = np.concatenate([state["velocity"], omega])
    twist_rate = np.concatenate([state["acceleration"], state["angular_acceleration"]])
    centripetal = cross(omega, cross(omega, arm))
    return opened.follow(state["position"] + arm, w @ twist, w @ twist_rate + centripetal)


def leg_coordinates(robot: Robot, motion: State) -> LegCoordinates:
    """Coordinates of all legs and motion of their links."""
    rows, links, drive = [], [], 0
    for opened in opened_legs(robot):
        joints, rates, accelerations = _followed(opened, motion)
        rows.append([joints, rates, accelerations])
        pin.forwardKinematics(opened.model, opened.data, joints, rates, accelerations)
        pin.updateFramePlacements(opened.model, opened.data)
        link = (opened.model, opened.data, opened.tip_frame, pin.LOCAL_WORLD_ALIGNED)
        links.append(
            [
                opened.data.oMf[opened.tip_frame].rotation[:, 2],
                pin.getFrameVelocity(*link).angular,
                pin.getFrameAcceleration(*link).angular,
            ]
        )
        drive = opened.drive
    joints, rates, accelerations = np.moveaxis(np.array(rows), 1, 0)
    direction, omega, alpha = np.moveaxis(np.array(links), 1, 0)
    q, qd, qdd = joints[:, drive], rates[:, drive], accelerations[:, drive]
    return LegCoordinates(joints, rates, accelerations, q, qd, qdd, direction, omega, alpha)


def jacobian(robot: Robot, motion: State) -> Array:
    """J (legs, 6): q̇ = J (v, ω)."""
    rows = []
    for opened in opened_legs(robot):
        leg_jacobian = opened.tip_jacobian(_followed(opened, motion)[0])
        rows.append(np.linalg.solve(leg_jacobian, tip_map(opened.leg, motion))[opened.drive])
    return np.array(rows)


def inverse_dynamics(
    robot: Robot, motion: State, wrench: Array | None = None, loads: FrictionLoads | None = None
) -> Array:
    """Actuator forces (legs,), N, towards larger q.

    wrench (6,): force and moment on the platform at its frame's origin. loads: friction acting on
    the legs, taken as given. Over six legs: the least ‖Γ‖.
    """
    return _forces(robot, motion, wrench, loads)[0]


def reactions(
    robot: Robot, motion: State, wrench: Array | None = None, loads: FrictionLoads | None = None
) -> TreeReactions:
    """Joint reactions by the inverse dynamics of the opened legs, loaded at their tips."""
    _, tip_forces = _forces(robot, motion, wrench, loads)
    nothing = np.zeros((len(tip_forces), 3))
    at_universal = nothing if loads is None else loads.universal
    at_spherical = nothing if loads is None else loads.spherical
    kind = KINDS[robot["legs"]["kind"]]
    carried, drive = kind.passive[1] + 1, kind.drive + 1  # Pinocchio counts the world as 0
    rows = []
    for i, opened in enumerate(opened_legs(robot)):
        coordinates = _followed(opened, motion)
        tip = opened.tip_position(coordinates[0])
        on_body = [pin.Force.Zero() for _ in range(4)]
        on_body[3] += pin.Force(-tip_forces[i], cross(tip, -tip_forces[i]) + at_spherical[i])
        on_body[carried] += pin.Force(np.zeros(3), at_universal[i])
        if kind.rubbed is not None:
            on_body[kind.rubbed + 1] -= pin.Force(np.zeros(3), at_universal[i])
        placements = [opened.data.oMi[k].copy() for k in range(4)]
        external = [at.actInv(force) for at, force in zip(placements, on_body, strict=True)]
        pin.rnea(opened.model, opened.data, *coordinates, external)
        # data.f[k]: what joint k exerts on its body, about and in the axes of the body's frame
        universal, driven = (
            [placements[k].rotation @ part for part in (own.linear, own.angular)]
            for k, own in ((carried, opened.data.f[carried]), (drive, opened.data.f[drive]))
        )
        along = placements[3].rotation[:, 2] if kind.drive == 2 else opened.leg.rail
        normal = driven[0] - along * (along @ driven[0])
        rows.append([*universal, normal, driven[1]])
    return TreeReactions(tip_forces, *np.moveaxis(np.array(rows), 1, 0))


def mass_matrix_and_bias(robot: Robot, motion: State) -> tuple[Array, Array]:
    """M (6, 6) and b (6,) of the whole robot: M ξ̇ + b = Jᵀ Γ + wrench, without friction."""
    rest = {**motion, "acceleration": np.zeros(3), "angular_acceleration": np.zeros(3)}
    platform = FreePlatform(robot, motion)
    mass, bias = platform.mass_matrix(), platform.load(np.zeros(3), np.zeros(3))
    for opened in opened_legs(robot):
        coordinates = _followed(opened, rest)
        joint_rate = np.linalg.solve(
            opened.tip_jacobian(coordinates[0]), tip_map(opened.leg, motion)
        )
        mass += joint_rate.T @ _joint_mass(opened, coordinates[0]) @ joint_rate
        bias += joint_rate.T @ opened.load(*coordinates)
    return mass, bias


def direct_dynamics(
    robot: Robot, motion: State, forces: Array, wrench: Array | None = None
) -> tuple[Array, Array]:
    """Platform acceleration (v̇, ω̇), without friction; the motion's accelerations are ignored."""
    mass, bias = mass_matrix_and_bias(robot, motion)
    external = np.zeros(6) if wrench is None else wrench
    rate = np.linalg.solve(mass, jacobian(robot, motion).T @ forces + external - bias)
    return rate[:3], rate[3:]


def energies(robot: Robot, motion: State) -> tuple[float, float]:
    """Kinetic energy (rotors included) and potential energy −g·Σ m r, J."""
    kinetic, potential = FreePlatform(robot, motion).energies()
    for opened in opened_legs(robot):
        joints, rates, _ = _followed(opened, motion)
        kinetic += 0.5 * rates @ _joint_mass(opened, joints) @ rates
        potential += pin.computePotentialEnergy(opened.model, opened.data, joints)
    return float(kinetic), float(potential)


def _joint_mass(opened: OpenedLeg, joints: Array) -> Array:
    """H (3, 3), rotor mass included."""
    upper = np.triu(pin.crba(opened.model, opened.data, joints))
    return upper + np.triu(upper, 1).T


def _forces(
    robot: Robot, motion: State, wrench: Array | None, loads: FrictionLoads | None
) -> tuple[Array, Array]:
    """Actuator forces (legs,) and the legs' forces on the platform (legs, 3)."""
    platform = FreePlatform(robot, motion)
    missing = platform.load(motion["acceleration"], motion["angular_acceleration"])
    missing = missing - (np.zeros(6) if wrench is None else wrench)
    columns, passive, drives = [], [], []
    for i, opened in enumerate(opened_legs(robot)):
        joints, rates, accelerations = _followed(opened, motion)
        w = tip_map(opened.leg, motion)
        on_joints = -opened.load(joints, rates, accelerations)
        if loads is not None:
            couple = loads.universal[i] + loads.spherical[i]
            turning = opened.turning_jacobian(joints)
            on_joints += turning.T @ couple
            if opened.leg.kind.rotary:  # the carrier turns: it has the universal couple's opposite
                on_joints[opened.drive] -= turning[:, opened.drive] @ loads.universal[i]
            on_joints[opened.drive] += loads.along_q[i]
            missing[3:] += loads.spherical[i]
        to_tip = np.linalg.inv(opened.tip_jacobian(joints)).T
        drives.append(to_tip[:, opened.drive])
        passive.append(to_tip @ on_joints)
        columns.append(w.T @ drives[-1])
        missing = missing - w.T @ passive[-1]
    if len(columns) < 6:
        raise ValueError("fewer than six legs cannot move a platform at will")
    forces = np.linalg.lstsq(np.column_stack(columns), missing)[0]
    return forces, np.array(passive) + forces[:, None] * np.array(drives)
