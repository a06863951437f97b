"""The transmission index is a cosine: the same at every size, and of a leg written in two ways.

The truth: a pressure angle does not know a unit; of a four-bar it is read off the drawing.
"""

import numpy as np
import pytest

import gough
from cases.command import run
from cases.robots import rotary_hexapod
from gough import Motion, Robot
from gough.analysis.singularities import singularity

pytestmark = pytest.mark.usefixtures("on_numpy")


def legs_rrs(size):
    """3-RRS: motors on a ring, axes along it, cranks out, links in."""
    joints = [[], [], []]
    axes = []
    for angle in np.deg2rad([0.0, 120.0, 240.0]):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        axes.append(np.cross([0, 0, 1.0], out).tolist())
        joints[0].append((size * 0.3 * out).tolist())
        joints[1].append((size * (0.45 * out + [0, 0, 0.05])).tolist())
        joints[2].append((size * (0.2 * out + [0, 0, 0.4])).tolist())
    table = [
        {"type": "revolute", "point": joints[0], "axis": axes, "actuated": True},
        {"type": "revolute", "point": joints[1], "axis": axes},
        {"type": "spherical", "point": joints[2]},
    ]
    home = {"position": [0.0, 0.0, 0.4 * size]}
    legs = [{"kind": "chain", "joints": table}]
    return Robot.from_dict({"format": 1, "name": "3-RRS", "home": home, "legs": legs}), joints, axes


def test_a_robot_of_any_size_has_the_same_index():
    found = []
    for size in (0.1, 1.0, 10.0):
        robot, joints, axes = legs_rrs(size)
        measures = singularity(robot, robot.home)
        found.append(float(measures.transmission))
        # by symmetry a leg pushes along its link, and its crank alone moves the tip about its axis
        motor, elbow, tip, axis = (np.array(one)[0] for one in (*joints, axes))
        push = (tip - elbow) / np.linalg.norm(tip - elbow)
        way = np.cross(axis, tip - motor)
        cosine = abs(push @ way) / np.linalg.norm(way)
        assert measures.transmission == pytest.approx(min(cosine, measures.output.min()), rel=1e-9)
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    assert 0 < found[0] < 1


def test_rotary_legs_and_the_same_as_chains_agree():
    data = rotary_hexapod()
    robot = Robot.from_dict(data)
    legs = robot.inverse_kinematics(robot.home)
    parts = robot.description.legs
    tips = robot.home.position + np.array(data["legs"]["platform"])
    elbows = tips - parts.length * legs.direction
    axis = np.array(data["legs"]["motor_axis"])
    across = np.cross(legs.direction, axis)
    table = [
        {"type": "revolute", "point": data["legs"]["motor"], "axis": axis.tolist()},
        {
            "type": "universal",
            "point": elbows.tolist(),
            "axis": axis.tolist(),
            "axis2": across.tolist(),
        },
        {"type": "spherical", "point": tips.tolist()},
    ]
    table[0]["actuated"] = True
    chains = Robot.from_dict(
        {
            "format": 1,
            "name": "c",
            "home": data["home"],
            "legs": [{"kind": "chain", "joints": table}],
        }
    )
    rng = np.random.default_rng(0)
    places = robot.home.position + rng.uniform(-0.02, 0.02, (5, 3))
    for name in ("transmission", "output", "serial"):
        one, other = (getattr(singularity(r, Motion(places)), name) for r in (robot, chains))
        np.testing.assert_allclose(one, other, rtol=1e-8)


def test_the_sheet_speaks_of_joints_that_there_are(tmp_path):
    robot, _, _ = legs_rrs(1.0)
    path = tmp_path / "rrs.toml"
    path.write_text(robot.text, "utf-8")
    shown = run("singularities", path).stdout
    assert "universal" not in shown
    assert "joints of chains" in shown
    assert "m/rad" in shown
    assert "universal joints" in run("singularities", "kim-ryu-2002").stdout
    assert gough.load(path).leg_count == 3
