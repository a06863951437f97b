"""The whole robot for Pinocchio, as a competent user would set it up, one state at a time.

One model holds the six legs, opened at their spherical joints (tests/oracles/opened_tree.py), and the
platform as a free-flyer. Inverse dynamics is then: leg coordinates in closed form, all legs at once;
one `rnea`; the tips' forces; a 6×6 solve. Direct dynamics is one `constraintDynamics` whose six point
constraints close the legs again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from oracles.opened_tree import OpenedLeg
from oracles.robot_parts import Body, gravity, read_legs, read_platform

Array = np.ndarray[Any, Any]
NEXT, AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))


class Coordinates(NamedTuple):
    """Of the tree, in the order of Pinocchio's model; with what the tip forces need."""

    q: Array
    v: Array
    a: Array
    maps: Array
    """L⁻¹ (legs, 3, 3): θ̇ = L⁻¹ v_P."""
    arms: Array
    """P − C (legs, 3), world axes."""


class Tree:
    """Pinocchio's model of a robot file given as a dictionary."""

    def __init__(self, robot: dict[str, Any]) -> None:
        self.legs = read_legs(robot)
        self.is_ups = robot["legs"]["kind"] == "UPS"
        self.drive = 2 if self.is_ups else 0
        self.model = pin.Model()
        for number, leg in enumerate(self.legs):
            opened = OpenedLeg(replace(leg, bodies=(NOTHING,) * 3), gravity(robot)).model
            for joint in range(1, opened.njoints):
                opened.names[joint] += f" of leg {number + 1}"
                opened.inertias[joint] = _inertia(leg.bodies[joint - 1])
            for frame in range(1, opened.nframes):
                opened.frames[frame].name += f" of leg {number + 1}"
            self.model = pin.appendModel(self.model, opened, 0, pin.SE3.Identity())
        self.platform = self.model.addJoint(
            0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform"
        )
        self.model.inertias[self.platform] = _inertia(read_platform(robot))
        self.model.gravity.linear = gravity(robot)
        self.model.armature = self.actuation(np.array([leg.rotor_mass for leg in self.legs]))
        self.data = self.model.createData()
        self.constraints, self.constraint_data = self._closures()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        self.origins = np.array([leg.origin for leg in self.legs])
        self.points = np.array([leg.platform_point for leg in self.legs])
        self.rails = np.array([leg.rail for leg in self.legs])
        self.lengths = np.array([leg.length for leg in self.legs])
        self.branches = np.array([leg.branch for leg in self.legs])
        self.axes = np.array([leg.axis for leg in self.legs])
        self.zeros = np.array([leg.reference for leg in self.legs])
        self.sides = _cross(self.axes, self.zeros)

    def _closures(self) -> tuple[Any, Any]:
        models = pin.StdVec_RigidConstraintModel()
        for number, leg in enumerate(self.legs):
            tip = np.array([0.0, 0.0, leg.length])  # 0 for UPS: frame 3 sits at P
            models.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D,
                    self.model,
                    3 * number + 3,
                    pin.SE3(np.eye(3), tip),
                    self.platform,
                    pin.SE3(np.eye(3), leg.platform_point),
                    pin.ReferenceFrame.LOCAL,
                )
            )
        datas = pin.StdVec_RigidConstraintData()
        datas.extend([model.createData() for model in models])
        return models, datas

    def coordinates(self, state: dict[str, Array]) -> Coordinates:
        """Joint coordinates, rates and accelerations of the whole tree, in closed form."""
        rotation, omega = state["rotation"], state["angular_velocity"]
        spin = _skew(omega)
        arms = self.points @ rotation.T
        velocity = state["velocity"] + arms @ spin.T
        turning = _skew(state["angular_acceleration"]) + spin @ spin
        acceleration = state["acceleration"] + arms @ turning.T
        d = state["position"] + arms - self.origins
        if self.is_ups:
            slide = np.sqrt(np.vecdot(d, d))
            direction = d / slide[:, None]
        else:
            along = np.vecdot(self.rails, d)
            root = np.sqrt(along * along - np.vecdot(d, d) + self.lengths**2)
            slide = along + self.branches * root
            d = d - slide[:, None] * self.rails
            direction = d / self.lengths[:, None]
        first = np.arctan2(np.vecdot(self.sides, direction), np.vecdot(self.zeros, direction))
        from_axis = np.arccos(np.vecdot(self.axes, direction))
        second = _cross(self.axes, direction)
        second /= np.sqrt(np.vecdot(second, second))[:, None]  # the joint's second axis
        maps = np.empty((len(d), 3, 3))
        if self.is_ups:  # q2 = π − the angle from axis to leg: it turns about −second
            second = -second
            columns = (_cross(self.axes, d), _cross(second, d), direction)
            joints = np.array([first, np.pi - from_axis, slide])
        else:
            columns = (self.rails, _cross(self.axes, d), _cross(second, d))
            joints = np.array([slide, first, from_axis])
        maps[:, :, 0], maps[:, :, 1], maps[:, :, 2] = columns
        inverse = np.linalg.inv(maps)
        rates = (inverse @ velocity[:, :, None])[:, :, 0]
        passive = 0 if self.is_ups else 1
        turned = self.axes * rates[:, passive, None]
        tilted = second * rates[:, passive + 1, None]
        total = turned + tilted
        drift = _cross(_cross(turned, tilted), d) + _cross(total, _cross(total, d))
        if self.is_ups:
            drift += 2 * rates[:, 2, None] * _cross(total, direction)
        accelerations = (inverse @ (acceleration - drift)[:, :, None])[:, :, 0]
        to_body = rotation.T
        linear, angular = to_body @ state["velocity"], to_body @ omega
        spatial = to_body @ (state["acceleration"] - spin @ state["velocity"])
        turn_rate = to_body @ state["angular_acceleration"]
        return Coordinates(
            np.concatenate(
                [joints.T.ravel(), state["position"], pin.Quaternion(rotation).coeffs()]
            ),
            np.concatenate([rates.ravel(), linear, angular]),
            np.concatenate([accelerations.ravel(), spatial, turn_rate]),
            inverse,
            arms,
        )

    def inverse_dynamics(self, state: dict[str, Array]) -> Array:
        """Actuator forces (legs,), the whole way from the platform's motion."""
        at = self.coordinates(state)
        needed = pin.rnea(self.model, self.data, at.q, at.v, at.a)
        count = 3 * len(self.legs)
        tips = (needed[:count].reshape(-1, 1, 3) @ at.maps)[:, 0]
        rotation = state["rotation"]
        missing = np.concatenate(
            [
                rotation @ needed[count : count + 3] + tips.sum(0),
                rotation @ needed[count + 3 :] + _cross(at.arms, tips).sum(0),
            ]
        )
        pull = at.maps[:, self.drive]
        return np.linalg.solve(np.concatenate([pull, _cross(at.arms, pull)], axis=1).T, missing)

    def actuation(self, forces: Array) -> Array:
        """τ of the tree for actuator forces (legs,)."""
        tau = np.zeros(self.model.nv)
        tau[self.drive : 3 * len(self.legs) : 3] = forces
        return tau

    def constraint_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """Pinocchio's accelerations of the closed tree."""
        return pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.constraints, self.constraint_data
        )

    def direct_dynamics(self, state: dict[str, Array], forces: Array) -> Array:
        """(v̇, ω̇), the whole way from the platform's state."""
        at = self.coordinates(state)
        found = self.constraint_dynamics(at.q, at.v, self.actuation(forces))[-6:]
        rotation = state["rotation"]
        linear = found[:3] + _skew(at.v[-3:]) @ at.v[-6:-3]
        return np.concatenate([rotation @ linear, rotation @ found[3:]])


def _inertia(body: Body) -> pin.Inertia:
    """A body for Pinocchio, whose constructors refuse a paper's base parameters: no real body's."""
    center = body.first_moment / (body.mass or 1.0)
    inertia = pin.Inertia.Identity()
    inertia.mass, inertia.lever = body.mass, center
    steiner = body.mass * (center @ center * np.eye(3) - np.outer(center, center))
    inertia.inertia = body.inertia - steiner
    return inertia


def _cross(a: Array, b: Array) -> Array:
    """a × b of rows; ten times faster than NumPy's on six of them."""
    return a.take(NEXT, 1) * b.take(AFTER, 1) - a.take(AFTER, 1) * b.take(NEXT, 1)


def _skew(a: Array) -> Array:
    """The matrix of a ×."""
    x, y, z = a.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
