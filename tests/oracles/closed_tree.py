"""A tree that Pinocchio has read from a file, with loops closed: how its platform accelerates.

M a + h = τ + Jᵀ λ,  J a = −J̇ v, solved as one system, in the least-squares sense where constraints
repeat each other. Loops are pairs of frames that coincide, in place only or in rotation too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from .arrays import Array, State

STEPS = 8
"""Poses between home and a state, along which joints are continued."""
WORLD = pin.LOCAL_WORLD_ALIGNED


@dataclass
class Loop:
    """Two frames, each on a joint, that coincide; `rigid`: in rotation too."""

    joints: tuple[int, int]
    placements: tuple[pin.SE3, pin.SE3]
    rigid: bool


class ClosedTree:
    """A model, its loops, the frame of its platform, and the velocity columns of its actuators."""

    def __init__(
        self, model: pin.Model, home: Array, loops: list[Loop], platform: int, columns: list[int]
    ) -> None:
        self.model, self.home, self.columns = model, home, columns
        self.data = model.createData()
        frames = {}
        for i, loop in enumerate(loops):
            for j in range(2):
                frame = pin.Frame(
                    f"loop {i} {j}", loop.joints[j], 0, loop.placements[j], pin.FrameType.OP_FRAME
                )
                frames[i, j] = model.addFrame(frame, False)
        self.pairs = [(frames[i, 0], frames[i, 1], loop.rigid) for i, loop in enumerate(loops)]
        self.data = model.createData()
        self.platform = platform

    def gap(self, q: Array) -> Array:
        """How far the loops are open."""
        pin.framesForwardKinematics(self.model, self.data, q)
        found = []
        for one, other, rigid in self.pairs:
            a, b = self.data.oMf[one], self.data.oMf[other]
            found.append(b.translation - a.translation)
            if rigid:
                found.append(pin.log3(b.rotation @ a.rotation.T))
        return np.concatenate(found)

    def jacobian(self, q: Array) -> Array:
        """J of the loops, and below it that of the platform."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        rows = []
        for one, other, rigid in self.pairs:
            pair = [pin.getFrameJacobian(self.model, self.data, f, WORLD) for f in (other, one)]
            rows.append((pair[0] - pair[1])[: 6 if rigid else 3])
        rows.append(pin.getFrameJacobian(self.model, self.data, self.platform, WORLD))
        return np.vstack(rows)

    def bias(self, q: Array, v: Array) -> Array:
        """J̇ v of the same rows."""
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.updateFramePlacements(self.model, self.data)

        def of(frame: int) -> Array:
            return pin.getFrameClassicalAcceleration(self.model, self.data, frame, WORLD).vector

        rows = [(of(other) - of(one))[: 6 if rigid else 3] for one, other, rigid in self.pairs]
        return np.concatenate([*rows, of(self.platform)])

    def posture(self, position: Array, rotation: Array) -> Array:
        """Coordinates with the platform there, continued from home."""
        pin.framesForwardKinematics(self.model, self.data, self.home)
        start = self.data.oMf[self.platform].copy()
        turns = Slerp([0, 1], Rotation.from_matrix([start.rotation, rotation]))
        q = self.home.copy()
        for part in np.linspace(0, 1, STEPS + 1)[1:]:
            place = start.translation + part * (position - start.translation)
            turn = turns(part).as_matrix()
            for _ in range(30):
                gap = self.gap(q)
                now = self.data.oMf[self.platform]
                error = np.concatenate(
                    [gap, now.translation - place, pin.log3(now.rotation @ turn.T)]
                )
                step = lstsq(self.jacobian(q), -error)
                q = pin.integrate(self.model, q, step)
                if np.abs(step).max() < 1e-13:
                    break
        assert np.abs(error).max() < 1e-11
        return q

    def direct_dynamics(self, state: State, forces: Array) -> Array:
        """(v̇, ω̇) of the platform, world axes, under forces of the actuators; no friction."""
        q = self.posture(np.asarray(state["position"]), np.asarray(state["rotation"]))
        rows = self.jacobian(q)
        loops = rows[:-6]
        twist = np.concatenate([state["velocity"], state["angular_velocity"]])
        known = np.zeros(len(rows))
        known[-6:] = twist
        v = lstsq(rows, known)
        assert np.abs(rows @ v - known).max() < 1e-10
        bias = self.bias(q, v)
        mass = pin.crba(self.model, self.data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        # CRBA of older releases leaves rotors out
        tau = np.zeros(self.model.nv)
        tau[self.columns] = forces
        h = pin.nonLinearEffects(self.model, self.data, q, v)
        size = self.model.nv
        whole = np.block([[mass, loops.T], [loops, np.zeros((len(loops),) * 2)]])
        found = lstsq(whole, np.concatenate([tau - h, -bias[:-6]]))
        return rows[-6:] @ found[:size] + bias[-6:]


def lstsq(matrix: Array, right: Array) -> Array:
    """The least solution that fits best, rows and columns scaled."""
    columns = np.linalg.norm(matrix, axis=0)
    columns[columns == 0] = 1.0
    scaled = matrix / columns
    return np.linalg.lstsq(scaled, right, rcond=1e-11)[0] / columns


def read_mjcf(path: str) -> ClosedTree:
    """MJCF by Pinocchio's own parser: connects and welds are its point and frame anchors."""
    model, points, frames = pin.buildModelAndConstraintsFromMJCF(path)
    loops = [
        Loop((c.joint1_id, c.joint2_id), (c.joint1_placement, c.joint2_placement), rigid)
        for group, rigid in ((points, False), (frames, True))
        for c in group
    ]
    home = model.referenceConfigurations["home"]
    return ClosedTree(model, home, loops, model.getFrameId("platform", pin.FrameType.BODY), [])


def read_urdf(path: str, sidecar: dict) -> ClosedTree:
    """URDF by Pinocchio's own parser; loops, motors, rotors and gravity from the YAML file beside it."""
    model = pin.buildModelFromUrdf(path)
    loops = []
    for pair, kind in zip(sidecar["closed_loop"], sidecar["type"], strict=True):
        frames = [model.frames[model.getFrameId(name, pin.FrameType.BODY)] for name in pair]
        joints = (frames[0].parentJoint, frames[1].parentJoint)
        loops.append(Loop(joints, (frames[0].placement, frames[1].placement), kind == "6d"))
    columns = [model.idx_vs[model.getJointId(name)] for name in sidecar["name_mot"]]
    model.gravity.linear = np.array(sidecar["gravity"])
    armature = np.zeros(model.nv)
    armature[columns] = sidecar["armature"]
    model.armature = armature
    platform = model.getFrameId("platform", pin.FrameType.BODY)
    return ClosedTree(model, pin.neutral(model), loops, platform, columns)
