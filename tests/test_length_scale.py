"""The length scale has a floor: joints that coincide but for rounding do not decide what is small.

The truth is geometry of the drawings: distances between the joints' points, and textbooks' mobilities.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.robots import rotary_hexapod
from gough import Motion, Robot, Variants
from gough.errors import ReachError

pytestmark = pytest.mark.usefixtures("on_numpy")
NOISE = [0.0, 1e-17, 1e-12, 1e-7, 3e-4]


def planar_3rrp(noise, size=1.0):
    """Three legs R R P in the plane, turned out of x, y, whose sliders' points are at the centre."""
    rng = np.random.default_rng(0)
    turn = Rotation.from_rotvec([0.4, -0.3, 0.2]).as_matrix()
    centre = turn @ [0.1, 0.05, 0.3]
    base, elbow, slide, point = [], [], [], []
    for angle in np.deg2rad([90.0, 210.0, 330.0]):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        base.append(centre + turn @ (0.5 * out))
        elbow.append(centre + turn @ (0.3 * out + 0.15 * np.cross([0, 0, 1.0], out)))
        slide.append(turn @ np.array([np.cos(angle + 0.9), np.sin(angle + 0.9), 0.0]))
        point.append(centre + turn @ (noise * np.append(rng.uniform(-1, 1, 2), 0.0)))
    base, elbow, point = (size * np.array(one) for one in (base, elbow, point))
    normal = turn[:, 2].tolist()
    joints = [
        {"type": "revolute", "point": base.tolist(), "axis": normal, "actuated": True},
        {"type": "revolute", "point": elbow.tolist(), "axis": normal},
        {"type": "prismatic", "point": point.tolist(), "axis": np.array(slide).tolist()},
    ]
    home = {"position": (size * centre).tolist()}
    data = {"format": 1, "name": "3-RRP", "home": home, "legs": [{"kind": "chain"}]}
    data["legs"][0]["joints"] = joints
    return data, np.concatenate([base, elbow, point])


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("size", [1e-2, 1.0, 100.0])
def test_a_planar_platform_whose_joints_coincide_has_three_freedoms(noise, size):
    data, joints = planar_3rrp(noise, size)
    robot = Robot.from_dict(data)
    assert robot.mobility == 3
    assert robot.length_scale == pytest.approx(0.02 * pdist(joints).max(), rel=1e-9)


@pytest.mark.parametrize("noise", NOISE)
def test_a_spherical_wrist_turns_about_three_axes(noise):
    """3-RRR whose axes meet: the points of the joints at the platform coincide."""
    rng = np.random.default_rng(1)
    axes, points = [], []
    for angle in np.deg2rad([0.0, 120.0, 240.0]):
        legs = [(angle, 0.9), (angle + 0.5, 1.4), (angle + 1.1, 0.7)]
        axes.append([[np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)] for a, b in legs])
        far = np.array([0.2, 0.2, 0.0])[:, None]
        points.append(far * np.array(axes[-1]) + noise * rng.uniform(-1, 1, 1) * np.array(axes[-1]))
    axes, points = np.array(axes), np.array(points)
    joints = [
        {
            "type": "revolute",
            "axis": axes[:, j].tolist(),
            "point": points[:, j].tolist(),
            "actuated": j == 0,
        }
        for j in range(3)
    ]
    legs = [{"kind": "chain", "joints": joints}]
    data = {"format": 1, "name": "wrist", "home": {"position": [0, 0, 0]}, "legs": legs}
    robot = Robot.from_dict(data)
    assert robot.mobility == 3
    assert robot.coordinates == ("rx", "ry", "rz")
    assert robot.length_scale == pytest.approx(0.02 * pdist(points.reshape(-1, 3)).max(), rel=1e-9)


@pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
def test_all_joints_of_legs_that_are_links_count(kind):
    """A platform that keeps its rotation, whose tips nearly coincide, by closed forms."""
    feet = rotary_hexapod()["legs"]["motor"][::2]
    tips = 1e-6 * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    home = np.array([0.0, 0.02, 0.42])
    places = home + tips
    legs = {"kind": kind, "platform": tips.tolist()}
    feet, d = np.array(feet), places - np.array(feet)
    if kind == "UPS":
        legs |= {"base": feet.tolist()}
        joints = [feet, places]
    elif kind == "PUS":
        rail, length = np.array([0.0, 0.0, 1.0]), 0.5
        legs |= {"rail_origin": feet.tolist(), "rail_direction": rail.tolist(), "length": length}
        legs |= {"axis": [0.3, 0.5, 0.2]}
        along = d @ rail
        q = along - np.sqrt(along**2 - np.sum(d * d, axis=1) + length**2)
        joints = [feet + q[:, None] * rail, places]
    else:
        rotary = rotary_hexapod()["legs"]
        crank, length = rotary["crank_length"], rotary["length"]
        zero, axis = (np.array(rotary[key])[::2] for key in ("crank_zero", "motor_axis"))
        legs |= {"motor": feet.tolist(), "motor_axis": axis.tolist(), "crank_zero": zero.tolist()}
        legs |= {"crank_length": crank, "length": length}
        first, second = np.sum(d * zero, axis=1), np.sum(d * np.cross(axis, zero), axis=1)
        wanted = (np.sum(d * d, axis=1) + crank**2 - length**2) / (2 * crank)
        q = np.arctan2(second, first) - np.arccos(wanted / np.hypot(first, second))
        arm = np.cos(q)[:, None] * zero + np.sin(q)[:, None] * np.cross(axis, zero)
        joints = [feet, feet + crank * arm, places]
    data = {"format": 1, "name": "point", "home": {"position": home.tolist()}, "legs": legs}
    data["platform"] = {"mobility": "translation"}
    robot = Robot.from_dict(data)
    assert robot.length_scale == pytest.approx(0.02 * pdist(np.concatenate(joints)).max(), rel=1e-9)
    if kind == "UPS":  # variants have length scales of their own
        base = [[1.5, 0.1, 0.0], [-0.2, 0.4, 0.0], [-0.2, -0.4, 0.0]]
        own = Robot.from_dict(data | {"legs": legs | {"base": base}})
        many = Variants.of(robot, {"legs.base": np.array([feet.tolist(), base])})
        expected = [robot.length_scale, own.length_scale]
        assert_allclose(many.mechanism.length_scale, expected, rtol=1e-12)


def test_a_floor_changes_no_robot_whose_joints_are_apart():
    for name in ("kim-ryu-2002", "shah-3rrr-2012", "pollen-reachy-mini-2025"):
        robot = gough.load(name)
        points = robot.description.platform_points[..., 0].T
        spread = np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
        assert robot.length_scale == pytest.approx(spread, rel=1e-12)


def test_a_planar_robot_reads_its_own_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    data, _ = planar_3rrp(0.0)
    for joint in data["legs"][0]["joints"][:2]:
        joint["body"] = {"mass": 1.0, "inertia": (0.01 * np.eye(3)).tolist()}
    data["platform"] = {"mass": 1.0, "inertia": (0.01 * np.eye(3)).tolist()}
    robot = Robot.from_dict(data)
    robot.export_mjcf(tmp_path / "planar.xml")
    answer = run("convert", "planar.xml", "-o", "again.toml", cwd=tmp_path)
    assert answer.returncode == 0, answer
    assert gough.load(tmp_path / "again.toml").mobility == 3


@pytest.mark.parametrize("noise", NOISE)
def test_coordinates_that_read_zero_are_found_at_home(noise):
    """Home of a chain reads 0, of which rounding leaves 1e-15: that is no share to be refused for."""
    robot = Robot.from_dict(planar_3rrp(noise)[0])
    assert_allclose(robot.inverse_kinematics(robot.home).q, 0.0, atol=1e-12)


def test_a_pose_out_of_reach_is_named_among_variants_of_several_scales():
    kim = gough.load("kim-ryu-2002")
    points = kim.description.platform_points[..., 0].T
    many = Variants.of(kim, {"legs.platform": np.array([points, 1.1 * points])})
    assert many.mechanism.length_scale.shape == (2,)
    poses = kim.home.position + np.array([[0.0, 0, 0], [0, 0, 5.0]])
    with pytest.raises(ReachError, match="out of reach"):
        many.inverse_kinematics(Motion(poses))
