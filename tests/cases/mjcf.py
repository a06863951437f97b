"""MJCF of small robots, written as people write it, for tests of what comes in."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from oracles.arrays import Array

HEAD = '<mujoco model="{name}"><compiler angle="radian" autolimits="true"/>{more}<worldbody>'


def words(values: Array) -> str:
    return " ".join(repr(float(one)) for one in values)


def around(radius: float, angle: float, height: float = 0.0) -> Array:
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


def quaternion(rotation: Array) -> str:
    return words(Rotation.from_matrix(rotation).as_quat(scalar_first=True))


def frame_along(n: Array, across: Array) -> Array:
    """Axes with z along n and x near a direction."""
    y = np.cross(n, across)
    y = y / np.linalg.norm(y)
    return np.stack([np.cross(y, n), y, n], axis=1)


def stewart(
    more: str = "",
    base: str = "hinges",
    anchors: str = "sites",
    extra: str = "",
    damping: float = 2.0,
) -> str:
    """Six telescopes under a floating platform; at their feet two hinges, or a ball."""
    bodies, loops, sites, drives = [], [], [], []
    angles = np.radians([10, 50, 130, 170, 250, 290])
    for i, angle in enumerate(angles):
        foot = around(0.6, angle)
        tip = around(
            0.35,
            np.radians(
                60 * round((np.degrees(angle) - 30) / 120) * 2 + 30 + (-25 if i % 2 == 0 else 25)
            ),
            0.8,
        )
        length = float(np.linalg.norm(tip - foot))
        turn = frame_along((tip - foot) / length, np.array([1.0, 0.2, 0.1]))
        joints = (
            f'<joint name="u{i}" type="hinge" axis="1 0 0" damping="0.3"/>'
            f'<joint name="v{i}" type="hinge" axis="0 1 0" damping="0.3"/>'
        )
        if base == "ball":
            joints = f'<joint name="b{i}" type="ball"/>'
        bodies.append(
            f'<body name="lower{i}" pos="{words(foot)}" quat="{quaternion(turn)}">{joints}'
            f'<inertial pos="0 0 0.15" mass="1.5" diaginertia="0.02 0.02 0.001"/>'
            f'<body name="upper{i}" pos="0 0 {length / 2}">'
            f'<joint name="leg{i}" type="slide" axis="0 0 1" range="-0.2 0.25" armature="3" '
            f'damping="{damping}" frictionloss="1.5"/>'
            f'<inertial pos="0 0 0.2" mass="0.7" diaginertia="0.01 0.01 0.0004"/>'
            f'<site name="end{i}" pos="0 0 {length / 2}"/></body></body>'
        )
        sites.append(f'<site name="tip{i}" pos="{words(tip - [0, 0, 0.8])}"/>')
        loops.append(
            f'<connect site1="end{i}" site2="tip{i}"/>'
            if anchors == "sites"
            else f'<connect body1="upper{i}" body2="plate" anchor="0 0 {length / 2}"/>'
        )
        drives.append(f'<motor joint="leg{i}" gear="2" ctrlrange="-40 40"/>')
    return (
        HEAD.format(name="stewart", more=more)
        + '<body name="plate" pos="0 0 0.8"><freejoint/>'
        + '<inertial pos="0.01 0.02 0.03" mass="9" fullinertia="0.3 0.28 0.5 0.01 -0.02 0.005"/>'
        + '<site name="tool" pos="0 0 0.1" euler="0.1 0.2 0.3"/>'
        + "".join(sites)
        + extra
        + "</body>"
        + "".join(bodies)
        + f"</worldbody><equality>{''.join(loops)}</equality><actuator>{''.join(drives)}</actuator>"
        + "</mujoco>"
    )


def delta(width: float = 0.1, pairs: bool = True) -> str:
    """A Delta robot of arms and pairs of rods with balls at both ends; its fork stays on a turntable."""
    arms, loops, sites = [], [], []
    arm, rod = 0.3, np.array([-0.1, 0.0, -0.7])
    slender = quaternion(frame_along(rod / np.linalg.norm(rod), np.array([0.0, 1.0, 0.0])))
    for i, angle in enumerate(np.radians([0, 120, 240])):
        turn = Rotation.from_euler("z", angle).as_matrix()
        rods = []
        for side, y in (("a", width / 2), ("b", -width / 2)):
            place = np.array([arm, y, 0.0])
            rods.append(
                f'<body name="rod{i}{side}" pos="{words(place)}">'
                f'<joint name="elbow{i}{side}" type="ball"/>'
                f'<inertial pos="{words(rod / 2)}" quat="{slender}" mass="0.2" '
                'diaginertia="0.008 0.008 1e-9"/>'
                f'<site name="end{i}{side}" pos="{words(rod)}"/></body>'
            )
            tip = turn @ (np.array([0.2, 0.0, 0.0]) + place + rod) - [0, 0, -0.7]
            sites.append(f'<site name="tip{i}{side}" pos="{words(tip)}"/>')
            loops.append(f'<connect site1="end{i}{side}" site2="tip{i}{side}"/>')
        arms.append(
            f'<body name="arm{i}" pos="{words(turn @ [0.2, 0.0, 0.0])}" quat="{quaternion(turn)}">'
            f'<joint name="motor{i}" type="hinge" axis="0 1 0" armature="0.05" damping="0.1"/>'
            f'<inertial pos="0.14 0 0" mass="0.8" diaginertia="0.001 0.02 0.02"/>{"".join(rods)}</body>'
        )
    drives = "".join(f'<position joint="motor{i}" kp="9" forcerange="-7 7"/>' for i in range(3))
    return (
        HEAD.format(name="delta", more="")
        + '<body name="frame" pos="0 0 1"><joint name="table" type="hinge" axis="0 0 1"/>'
        + '<inertial pos="0 0 0" mass="20" diaginertia="1 1 1"/>'
        + "".join(arms)
        + '</body><body name="plate" pos="0 0 0.3"><freejoint/>'
        + '<inertial pos="0 0 0" mass="1.2" diaginertia="0.01 0.01 0.02"/><site name="centre"/>'
        + "".join(sites)
        + '<body name="gripper" pos="0.05 0 -0.1"><joint name="grip" type="slide" axis="1 0 0"/>'
        + '<inertial pos="0 0 0" mass="0.3" diaginertia="0.001 0.002 0.003"/></body></body>'
        + f"</worldbody><equality>{''.join(loops)}</equality><actuator>{drives}</actuator></mujoco>"
    )
