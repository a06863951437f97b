"""A robot of any legs as one Pinocchio tree: every leg opened at the platform, which flies freely.

A leg of kind UPS, PUS or RUS, and a chain whose last joint is spherical, is opened there and holds a
point of the platform. A chain that ends in another joint keeps it, with a massless body behind, and
holds the platform as a body: its tip frame and a frame of the platform coincide. All coordinates of
a chain are 0 at home; what an actuator reads is that plus the file's `home`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..arrays import Array, Robot, leg_value, unit
from ..friction_laws import coefficients
from ..opened_tree import OpenedLeg, pinocchio_inertia
from ..robot_parts import gravity, read_body, read_leg, read_platform

VECTORS = (
    "base", "platform", "axis", "reference", "rail_origin", "rail_direction", "motor", "motor_axis",
    "crank_zero", "position", "rotation_vector",
)  # fmt: skip
SCALARS = ("length", "crank_length", "rotor_mass", "rotor_inertia")
JOINT_RANKS = {
    "point": 1, "axis": 1, "axis2": 1, "actuated": 0, "home": 0, "rotor_inertia": 0, "viscous": 0,
    "coulomb": 0, "width": 0, "stroke": 1, "force": 0, "speed": 0,
}  # fmt: skip
BODY_RANKS = {"mass": 0, "center_of_mass": 1, "inertia": 2} | dict.fromkeys(
    ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"), 0
)


@dataclass
class TreeLeg:
    """Where one leg is in the tree.

    columns: its velocity coordinates. port: 3 rows of closure for a point, 6 for a body. tip,
    held: Pinocchio's frames on the leg and on the platform that coincide. actuators: (velocity
    column, place in the configuration, reading there at 0). friction: of a chain's joints,
    (column, viscous, coulomb, width). closed: the leg's closed form, None for chains, with its
    friction coefficients.
    """

    columns: list[int]
    port: int
    tip: int
    held: int
    actuators: list[tuple[int, int, float]]
    joints: list[int]
    point: Array
    friction: list[tuple[int, float, float, float]] = field(default_factory=list)
    closed: OpenedLeg | None = None
    coefficients: dict[str, float] = field(default_factory=dict)


class Tree:
    """Pinocchio's model of all legs and the platform, and where they are in it."""

    def __init__(self, robot: Robot) -> None:
        self.model = pin.Model()
        self.model.gravity.linear = gravity(robot)
        self.home = home_pose(robot)
        self.platform = self.model.addJoint(
            0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform"
        )
        inertia = pinocchio_inertia(read_platform(robot))
        self.model.appendBodyToJoint(self.platform, inertia, pin.SE3.Identity())
        self.armature: dict[int, float] = {}
        self.legs: list[TreeLeg] = []
        for group in groups(robot):
            for i in range(leg_count(group)):
                if group["kind"] == "chain":
                    self.legs.append(self._chain(group, i))
                else:
                    self.legs.append(self._closed_form({**robot, "legs": group}, i))
        armature = np.zeros(self.model.nv)
        for column, inertia in self.armature.items():
            armature[column] = inertia
        self.model.armature = armature
        self.data = self.model.createData()

    @property
    def chains(self) -> bool:
        """Whether a leg is a chain, whose coordinates are found by continuation from home."""
        return any(leg.closed is None for leg in self.legs)

    def _frame(self, joint: int, placement: pin.SE3) -> int:
        name = f"frame {self.model.nframes}"
        return self.model.addFrame(pin.Frame(name, joint, 0, placement, pin.FrameType.OP_FRAME))

    def _joint(self, parent: int, kind: Any, placement: pin.SE3, columns: list[int]) -> int:
        joint = self.model.addJoint(parent, kind, placement, f"joint {self.model.njoints}")
        first = self.model.idx_vs[joint]
        columns.extend(range(first, first + self.model.nvs[joint]))
        return joint

    def _closed_form(self, robot: Robot, i: int) -> TreeLeg:
        """A leg of kind UPS, PUS or RUS in the frames of the robot file."""
        leg = read_leg(robot, i)
        opened = OpenedLeg(leg, gravity(robot))
        columns: list[int] = []
        joints, parent = [], 0
        base_axes = np.column_stack([leg.reference, np.cross(leg.axis, leg.reference), leg.axis])
        placed, tip = leg.kind.tree(pin, leg, base_axes)
        for (kind, placement), body in zip(placed, leg.bodies, strict=True):
            parent = self._joint(parent, kind, placement, columns)
            self.model.appendBodyToJoint(parent, pinocchio_inertia(body), pin.SE3.Identity())
            joints.append(parent)
        drive = joints[leg.kind.drive]
        column = self.model.idx_vs[drive]
        self.armature[column] = leg.rotor_mass
        return TreeLeg(
            columns,
            3,
            self._frame(parent, pin.SE3(np.eye(3), tip)),
            self._frame(self.platform, pin.SE3(np.eye(3), leg.platform_point)),
            [(column, self.model.idx_qs[drive], 0.0)],
            joints,
            leg.platform_point,
            closed=opened,
            coefficients=coefficients(robot, i),
        )

    def _chain(self, group: dict[str, Any], i: int) -> TreeLeg:
        """A chain: bodies' frames at their joints' points, at home with the axes of the leg's."""
        if self.home is None:
            raise ValueError("chains need home")
        turn = Rotation.from_rotvec(leg_value(group.get("rotation_vector", np.zeros(3)), i, 1))
        base = pin.SE3(turn.as_matrix(), leg_value(group.get("position", np.zeros(3)), i, 1))
        columns: list[int] = []
        actuators, friction, joints = [], [], []
        parent, at = 0, np.zeros(3)  # the body so far, and its frame's origin in the leg's frame
        described = [own_joint(table, i) for table in group["joints"]]

        def placed(point: Array) -> pin.SE3:
            step = pin.SE3(np.eye(3), point - at)
            return base * step if parent == 0 else step

        for number, joint in enumerate(described):
            last = number == len(described) - 1
            point = np.asarray(joint.get("point", at), dtype=float)
            placement = placed(point)
            if not (last and joint["type"] == "spherical"):
                for kind in joint_models(joint):
                    parent = self._joint(parent, kind, placement, columns)
                    placement = pin.SE3.Identity()
                joints.append(parent)
                if not last:
                    body = pinocchio_inertia(read_body(joint.get("body", {})))
                    self.model.appendBodyToJoint(parent, body, pin.SE3.Identity())
            if joint["type"] in ("revolute", "prismatic"):
                column, place = self.model.idx_vs[parent], self.model.idx_qs[parent]
                rubbing = (joint.get(key, 0.0) for key in ("viscous", "coulomb", "width"))
                friction.append((column, *rubbing))
                if joint.get("actuated", False):
                    actuators.append((column, place, joint.get("home", 0.0)))
                    self.armature[column] = joint.get("rotor_inertia", 0.0)
            at = point
        spherical = described[-1]["type"] == "spherical"
        tip = self._frame(parent, placement)
        held = self.home.actInv(base * pin.SE3(np.eye(3), at))
        return TreeLeg(
            columns,
            3 if spherical else 6,
            tip,
            self._frame(self.platform, held),
            actuators,
            joints,
            held.translation,
            friction,
        )


def joint_models(joint: dict[str, Any]) -> list[Any]:
    """Pinocchio's joints of one joint of a chain, axes in the leg's frame."""
    if joint["type"] == "spherical":
        return [pin.JointModelSpherical()]
    axis = unit(np.asarray(joint["axis"], dtype=float))
    if joint["type"] == "prismatic":
        return [pin.JointModelPrismaticUnaligned(axis)]
    if joint["type"] == "revolute":
        return [pin.JointModelRevoluteUnaligned(axis)]
    second = np.asarray(joint["axis2"], dtype=float)
    second = unit(second - axis * (axis @ second))
    return [pin.JointModelRevoluteUnaligned(axis), pin.JointModelRevoluteUnaligned(second)]


def home_pose(robot: Robot) -> pin.SE3 | None:
    """The platform at home."""
    if "home" not in robot:
        return None
    turn = Rotation.from_rotvec(robot["home"].get("rotation_vector", [0.0, 0.0, 0.0]))
    place = np.array(robot["home"].get("position", [0.0, 0.0, 0.0]), dtype=float)
    return pin.SE3(turn.as_matrix(), place)


def groups(robot: Robot) -> list[dict[str, Any]]:
    """The groups of legs, in order."""
    legs = robot["legs"]
    return [legs] if isinstance(legs, dict) else legs


def leg_count(group: dict[str, Any]) -> int:
    """How many legs a group has: the length of its lists with one a leg, else one."""
    ranks = dict.fromkeys(VECTORS, 1) | dict.fromkeys(SCALARS, 0)
    found = [len(group[key]) for key in group if key in ranks and listed(group[key], ranks[key])]
    for joint in group.get("joints", []):
        found += [len(joint[k]) for k in joint if listed(joint[k], JOINT_RANKS.get(k, 9))]
        body = joint.get("body", {})
        if isinstance(body, list):
            found.append(len(body))
        else:
            found += [len(body[key]) for key in body if listed(body[key], BODY_RANKS[key])]
    if len(set(found)) > 1:
        raise ValueError(f"lists with one a leg of {sorted(set(found))} values")
    return found[0] if found else 1


def listed(value: Any, rank: int) -> bool:
    """Whether a value is a list with one a leg."""
    return isinstance(value, list) and np.ndim(value) > rank


def own_joint(table: dict[str, Any], i: int) -> dict[str, Any]:
    """A joint of leg i."""
    own = {key: v[i] if listed(v, JOINT_RANKS.get(key, 9)) else v for key, v in table.items()}
    body = own.get("body", {})
    if isinstance(body, list):
        own["body"] = body[i]
    else:
        own["body"] = {k: v[i] if listed(v, BODY_RANKS[k]) else v for k, v in body.items()}
    return own
