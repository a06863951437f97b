"""Joints of chains are those of the straight line from home, or there are none; truth in NumPy alone.

Spherical 3-RRR: each leg is a spherical linkage, its joints are stepped from home in small parts of the
line with the leg's own closure. Five-bar: two circles about each motor, in closed form.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from gough import Motion, Robot
from gough.base.arrays import Array
from gough.errors import ReachError

pytestmark = pytest.mark.usefixtures("on_numpy")
AXES = np.array([[np.sqrt(2), 0, -1], [0.5, np.sqrt(0.75), 0], [np.sqrt(2), 0, 1]])
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
TURNS = [0.0, 2 * np.pi / 3, -2 * np.pi / 3]
STEPS = 500


def spherical() -> Robot:
    joints = [
        {"type": "revolute", "point": (0.3 * axis).tolist(), "axis": axis.tolist()} for axis in AXES
    ]
    joints[0]["actuated"] = True
    turns = [[0.0, 0.0, turn] for turn in TURNS]
    leg = {"kind": "chain", "rotation_vector": turns, "joints": joints}
    return Robot.from_dict(
        {"format": 1, "name": "wrist", "home": {"position": [0, 0, 0]}, "legs": leg}
    )


def about(axes: Array, angle: Array) -> Array:
    return Rotation.from_rotvec(axes * angle[:, np.newaxis]).as_matrix()


def stepped(turn: Array) -> tuple[Array, Array]:
    """q (n, 3) at rotation vectors (n, 3), and the least |det| of a leg's axes on the way, (n,)."""
    q = np.zeros((len(turn), 3))
    least = np.full(len(turn), np.inf)
    for leg, about_z in enumerate(TURNS):
        axes = AXES @ Rotation.from_rotvec([0, 0, about_z]).as_matrix().T
        angles = np.zeros((len(turn), 3))
        for share in np.linspace(0, 1, STEPS + 1)[1:]:
            wanted = Rotation.from_rotvec(share * turn)
            for _ in range(3):
                first = about(axes[0], angles[:, 0])
                second = first @ about(axes[1], angles[:, 1])
                columns = np.stack(
                    [np.tile(axes[0], (len(turn), 1)), first @ axes[1], second @ axes[2]], axis=-1
                )
                now = Rotation.from_matrix(second @ about(axes[2], angles[:, 2]))
                off = (wanted * now.inv()).as_rotvec()
                least = np.minimum(least, np.abs(np.linalg.det(columns)))
                angles += (np.linalg.pinv(columns) @ off[..., np.newaxis])[..., 0]
        q[:, leg] = angles[:, 0]
    return q, least


def test_joints_are_those_of_the_straight_line_from_home_or_refused() -> None:
    robot = spherical()
    rng = np.random.default_rng(3)
    direction = rng.normal(size=(24, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    u = direction * rng.uniform(0.3, 3.1, (24, 1))
    u[:2] = [[1.886525, 1.590794, 1.84266], [-1.81585, 1.856846, 0.090708]]
    truth, least = stepped(u)
    clear, lost = least > 0.02, least < 1e-3
    assert clear.sum() > 9
    assert lost.sum() > 4
    motion = robot.motion(u, on_error="nan")
    bare = Motion(np.zeros(3), Rotation.from_rotvec(u))
    for one in (motion, bare, copy.copy(motion)):
        q = robot.inverse_kinematics(one, on_error="nan").q
        assert_allclose(q[clear], truth[clear], rtol=0, atol=1e-9)
        assert np.isnan(q[lost]).all()
        given = np.isfinite(q).all(axis=1)
        assert_allclose(q[given], truth[given], rtol=0, atol=1e-6)  # never a jump
    where = r"leg 2: its joints cannot be followed beyond 40% of the straight line in rx, ry, rz"
    with pytest.raises(ReachError, match=where + r".* robot\.motion\(u, guess="):
        robot.motion(u[0])
    with pytest.raises(ReachError, match=r"leg 2: .* beyond 40% of the straight line in pos"):
        robot.inverse_kinematics(bare[0])


def five_bar() -> Robot:
    def leg(x: float, side: float) -> dict[str, object]:
        joints = [
            {"type": "revolute", "axis": [0, 0, 1], "point": [x, 0, 0], "actuated": True},
            {"type": "revolute", "axis": [0, 0, 1], "point": [side * 0.4, 0.2, 0]},
        ]
        if side > 0:
            joints.append({"type": "revolute", "axis": [0, 0, 1], "point": [0, 0.5, 0]})
        return {"kind": "chain", "joints": joints}

    legs = [leg(-0.15, -1), leg(0.15, 1)]
    home = {"position": [0, 0.5, 0]}
    return Robot.from_dict({"format": 1, "name": "five-bar", "home": home, "legs": legs})


def crank(place: Array, motor: Array, elbow: Array, home: Array) -> Array:
    """Angle (n,) of a crank from home for tips (n, 2): the elbow stays on its side."""
    first, second = np.linalg.norm(elbow - motor), np.linalg.norm(home - elbow)

    def angle(tip: Array) -> Array:
        away = tip - motor
        far = np.linalg.norm(away, axis=-1)
        inner = np.arccos((far**2 + first**2 - second**2) / (2 * far * first))
        (a, b), (c, d) = home - motor, elbow - motor
        side = np.sign(a * d - b * c)
        return np.asarray(np.arctan2(away[..., 1], away[..., 0]) + side * inner)

    line = home + np.linspace(0, 1, STEPS)[:, np.newaxis, np.newaxis] * (place - home)
    return np.asarray(np.unwrap(angle(line), axis=0)[-1] - angle(home))


def test_a_pose_and_its_coordinates_have_the_same_joints_where_the_platform_must_turn() -> None:
    """The five-bar's platform is its second link: on the straight way in x, y it turns."""
    robot = five_bar()
    rng = np.random.default_rng(5)
    u = np.stack([rng.uniform(-0.4, 0.4, 60), rng.uniform(0.15, 0.75, 60)], axis=-1)
    home = np.array([0, 0.5])
    with np.errstate(invalid="ignore"):
        truth = np.stack(
            [
                crank(u, np.array([x, 0.0]), np.array([np.sign(x) * 0.4, 0.2]), home)
                for x in (-0.15, 0.15)
            ],
            axis=-1,
        )
    good = np.isfinite(truth).all(axis=1)
    assert good.sum() > 30
    assert (~good).sum() > 5
    motion = robot.motion(u, on_error="nan")
    assert np.array_equal(np.isfinite(motion.position).all(axis=1), good)
    q = robot.inverse_kinematics(motion, on_error="nan").q
    assert_allclose(q[good], truth[good], rtol=0, atol=1e-9)
    bare = Motion(motion.position[good], motion.rotation[good])
    assert_allclose(robot.inverse_kinematics(bare).q, truth[good], rtol=0, atol=1e-9)


def test_a_motion_carries_its_joints_into_slices_copies_and_pickles() -> None:
    """A crank that has gone around once and a half reads so in every part of the motion."""
    robot = five_bar_with_long_crank()
    time = np.linspace(0, 1, 151)
    motion = robot.motion(np.pi * 3 * time[:, np.newaxis], time=time)
    q = robot.inverse_kinematics(motion).q
    assert_allclose(q[:, 0], 3 * np.pi * time, rtol=0, atol=1e-9)
    parts = [
        motion[100:],
        copy.copy(motion)[100:],
        copy.deepcopy(motion[100:]),
        pickle.loads(pickle.dumps(motion))[100:],
        motion.replace(time=2 * time)[100:],
        motion[1:].reshape(3, 50)[1:].reshape(-1)[49:],
        Motion.concatenate([motion[100:125], motion[125:]]),
        Motion.stack(list(motion[100:])),
    ]
    for part in parts:
        assert_allclose(robot.inverse_kinematics(part).q, q[100:], rtol=0, atol=1e-12)
    heavier = robot.edited({"platform.mass": 3.0})
    assert_allclose(heavier.inverse_kinematics(motion[100:]).q, q[100:], rtol=0, atol=1e-12)
    moved = motion[100:].replace(position=motion.position[100:])  # a pose on its own again
    assert abs(robot.inverse_kinematics(moved[0]).q[0]) < np.pi + 1e-9


def five_bar_with_long_crank() -> Robot:
    """A platform that turns about z on two cranks in a row: q is its angle."""
    joints = [{"type": "revolute", "axis": [0, 0, 1], "point": [0, 0, 0], "actuated": True}]
    legs = [{"kind": "chain", "joints": joints}, {"kind": "chain", "joints": [dict(joints[0])]}]
    legs[1]["joints"][0].pop("actuated")  # type: ignore[index]
    home = {"position": [0.3, 0, 0]}
    return Robot.from_dict(
        {
            "format": 1,
            "name": "turntable",
            "home": home,
            "legs": legs,
            "platform": {"coordinates": ["rz"]},
        }
    )


def test_a_guess_that_the_platform_cannot_take_still_leads_to_the_pose() -> None:
    """A five-bar whose turn nobody guessed: joints begin as near as they come."""
    robot = five_bar()
    q = np.array([0.25, -0.3])
    motor, elbow = np.array([[-0.15, 0.0], [0.15, 0.0]]), np.array([[-0.4, 0.2], [0.4, 0.2]])
    cos, sin = np.cos(q), np.sin(q)
    turn = np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)
    first, second = motor + np.einsum("nij,nj->ni", turn, elbow - motor)
    length = np.linalg.norm(np.array([0, 0.5]) - elbow, axis=1)
    away = second - first
    far = np.linalg.norm(away)
    along = (length[0] ** 2 - length[1] ** 2 + far**2) / (2 * far)
    across = np.array([-away[1], away[0]]) / far
    tip = first + along * away / far + np.sqrt(length[0] ** 2 - along**2) * across
    for guess in (None, Motion([0.0, 0.45, 0]), Motion([0.05, 0.5, 0], rotvec=[0, 0, 0.8])):
        pose = robot.forward_kinematics(q, guess)
        assert_allclose(pose.position[:2], tip, rtol=0, atol=1e-9)
