"""The same robot with every leg of kind UPS, PUS or RUS written as a chain.

A universal joint with a heavy cross is two revolute joints; a body is turned from its own frame into
the leg's frame at home, and placed at its joint's point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from ..arrays import Array, Robot
from .closure import Loops
from .tree import TreeLeg, groups, leg_count


def as_chains(robot: Robot, rng: Generator | None = None) -> Robot:
    """One group of chains for each group of legs; leg frames at random, or the world's."""
    loops = Loops(robot)
    pin.framesForwardKinematics(loops.model, loops.data, loops.home_posture.configuration)
    pin.computeJointJacobians(loops.model, loops.data, loops.home_posture.configuration)
    written, first = [], 0
    for group in groups(robot):
        legs = loops.tree.legs[first : first + leg_count(group)]
        first += len(legs)
        if group["kind"] == "chain":
            written.append(group)
            continue
        turns = np.zeros((len(legs), 3)) if rng is None else rng.normal(size=(len(legs), 3))
        places = np.zeros((len(legs), 3)) if rng is None else rng.normal(size=(len(legs), 3))
        frames = [
            pin.SE3(Rotation.from_rotvec(turn).as_matrix(), place)
            for turn, place in zip(turns, places, strict=True)
        ]
        written.append(
            {
                "kind": "chain",
                "position": places.tolist(),
                "rotation_vector": turns.tolist(),
                "joints": gathered(
                    [joints_of(loops, leg, at) for leg, at in zip(legs, frames, strict=True)]
                ),
            }
        )
    return {**robot, "legs": written}


def joints_of(loops: Loops, leg: TreeLeg, frame: pin.SE3) -> list[dict[str, Any]]:
    """The joints of one leg in the leg's frame, loops at home."""
    joints: list[dict[str, Any]] = []
    model, data, home = loops.model, loops.data, loops.home_posture
    for joint in leg.joints:
        own = data.oMi[joint]
        columns = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        column = columns[:, model.idx_vs[joint]]
        turns = np.linalg.norm(column[3:]) > 0.5
        inertia = frame.actInv(own).act(model.inertias[joint])
        point = frame.actInv(own.translation)
        table = {
            "type": "revolute" if turns else "prismatic",
            "point": point.tolist(),
            "axis": (frame.rotation.T @ (column[3:] if turns else column[:3])).tolist(),
            "body": {
                "mass": float(inertia.mass),
                "center_of_mass": (inertia.lever - point).tolist(),
                "inertia": inertia.inertia.tolist(),
            },
        }
        for driven, place, offset in leg.actuators:
            if driven == model.idx_vs[joint]:
                table["actuated"] = True
                table["home"] = float(home.configuration[place] + offset)
                table["rotor_inertia"] = float(loops.tree.armature[driven])
        joints.append(table)
    tip: Array = home.pose.act(leg.point)
    joints.append({"type": "spherical", "point": frame.actInv(tip).tolist()})
    return joints


def gathered(legs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Joints of several legs as one list, each value a list with one a leg."""
    joints = []
    for same in zip(*legs, strict=True):
        table: dict[str, Any] = {"type": same[0]["type"]}
        for key in same[0]:
            if key == "body":
                table[key] = {k: [own[key][k] for own in same] for k in same[0][key]}
            elif key != "type":
                table[key] = [own[key] for own in same]
        joints.append(table)
    return joints


def with_universal_ends(robot: Robot) -> Robot:
    """Chains revolute, revolute, revolute, spherical with a universal joint in the last one's
    place, its axes parallel to the two before: no leg lets the platform turn about the third
    direction, and `mobility` is left out."""
    legs = []
    for group in groups(robot):
        joints = list(group["joints"])
        _, first, second, last = joints
        end = {
            "type": "universal",
            "point": last["point"],
            "axis": second["axis"],
            "axis2": first["axis"],
        }
        legs.append({**group, "joints": [*joints[:-1], end]})
    platform = {key: value for key, value in robot["platform"].items() if key != "mobility"}
    return {**robot, "legs": legs, "platform": platform}
