"""Paths: lines, turns about pivots, arcs, splines, blends, rests; and their files."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from gough.errors import FileError, InputError
from gough.planning import Path
from gough.planning.course import Rest, Stretch
from gough.planning.path_files import read_path


def test_rates_are_derivatives_and_joints_are_smooth(kim):
    poses = gough.Motion(
        np.add(kim.home.position, [[0.05, 0, 0], [0.05, 0.05, 0.05]]),
        Rotation.from_rotvec([[0, 0, 0.1], [0.1, 0, 0]]),
    )
    path = (
        Path(kim)
        .line([0.1, 0, 0], blend=0.005)
        .move([0, 0.05, 0], [0, 0, 0.2], about=[0, 0, 0.1], frame="tool", blend=0.01)
        .arc([-0.05, 0, 0], [0, 0, 1], 2.0, turn=[0.1, 0, 0], blend=0.004)
        .spline(poses)
    )
    (stretch,) = path.course()
    first, last = stretch.guide.ends
    s = np.linspace(first + 1e-5, last - 1e-5, 4001)
    joints = np.cumsum([piece.length for piece in stretch.guide.pieces])
    s = s[np.abs(s[:, None] - joints).min(axis=1) > 2e-6]  # third derivatives jump there
    now, after, before = (stretch.guide.state(s + shift) for shift in (0, 1e-6, -1e-6))
    for name, rate in (("position", "velocity"), ("velocity", "acceleration")):
        slope = (getattr(after, name) - getattr(before, name)) / 2e-6
        np.testing.assert_allclose(slope, getattr(now, rate), rtol=1e-5, atol=2e-5)
    slope = (after.angular_velocity - before.angular_velocity) / 2e-6
    np.testing.assert_allclose(slope, now.angular_acceleration, rtol=1e-5, atol=2e-5)
    spin = (after.rotation - before.rotation) @ np.swapaxes(now.rotation, 1, 2) / 2e-6
    np.testing.assert_allclose(spin[:, [2, 0, 1], [1, 2, 0]], now.angular_velocity, atol=1e-6)
    jump = np.abs(np.diff(now.acceleration, axis=0)).max()  # continuous: small from point to point
    assert jump < 0.05 * np.abs(now.acceleration).max()
    end = path._end()
    np.testing.assert_allclose(end.position, poses.position[-1])


def test_a_pivot_stays_where_it_is(kim):
    pivot = np.array([0.02, 0, 0.1])
    poses = Path(kim).turn([0.2, 0.1, 0], about=pivot).poses(50)
    where = poses.position + poses.rotation @ pivot
    stays = np.broadcast_to(kim.home.position + kim.home.rotation @ pivot, where.shape)
    np.testing.assert_allclose(where, stays, atol=1e-13)
    tool = Path(kim).turn([0, 0.3, 0]).line([0, 0, 0.1], frame="tool").poses(3)
    along = Rotation.from_rotvec([0, 0.3, 0]).apply([0, 0, 0.1])
    np.testing.assert_allclose(tool.position[-1] - kim.home.position, along, atol=1e-14)


def test_tolerances_are_kept_and_zero_stops(kim):
    home, turns = kim.home.position, [[0, 0, 0], [0, 0, 0.1], [0.1, 0, 0.1]]
    wished = gough.Motion(
        np.add(home, [[0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0.05]]), Rotation.from_rotvec(turns)
    )
    path = Path(kim).through(wished, [0.01, 0.002, 0.0])
    poses = path.poses(4001)
    for pose, slack in zip(wished, (0.01, 0.002, 1e-9), strict=True):
        turn = Rotation.from_matrix(poses.rotation @ pose.rotation.T).magnitude()
        off = np.hypot(
            np.linalg.norm(poses.position - pose.position, axis=1), kim.length_scale * turn
        )
        assert off.min() <= slack
        assert slack < 1e-8 or off.min() > 0.3 * slack  # the tolerance is made use of
    assert len(path.course()) == 1
    stopping = Path(kim).through(wished, [0.0, 0.002, 0.0]).rest(0.5).line([0, 0, 0.01])
    kinds = [type(part) for part in stopping.course()]
    assert kinds == [Stretch, Stretch, Rest, Stretch]


def test_files_say_the_same(kim, tmp_path):
    text = """
    [[pieces]]
    line = [0.1, 0, 0]
    blend = 0.005
    [[pieces]]
    turn = [0, 0, 0.2]
    about = [0, 0, 0.1]
    frame = "tool"
    [[pieces]]
    center = [-0.05, 0, 0]
    axis = [0, 0, 1]
    angle = 1.5
    [[pieces]]
    rest = 0.5
    [[pieces]]
    through = [[0, 0, 0.6, 0, 0, 0.1], [0, 0, 0.65, 0, 0, 0]]
    tolerance = 0.01
    [[pieces]]
    spline = [[0, 0.05, 0.65, 0, 0, 0]]
    """
    (tmp_path / "path.toml").write_text(text)
    path = (
        Path(kim).line([0.1, 0, 0], blend=0.005).turn([0, 0, 0.2], about=[0, 0, 0.1], frame="tool")
    )
    path = path.arc([-0.05, 0, 0], [0, 0, 1], 1.5).rest(0.5)
    ends = gough.Motion([[0, 0, 0.6], [0, 0, 0.65]], Rotation.from_rotvec([[0, 0, 0.1], [0, 0, 0]]))
    path = path.through(ends, 0.01).spline(gough.Motion([[0, 0.05, 0.65]]))
    found = read_path(tmp_path / "path.toml", kim)
    np.testing.assert_allclose(found.poses(99).position, path.poses(99).position, atol=1e-12)
    for line, words in (
        ("lines = [1, 0, 0]", "lines"),
        ("line = [1, 0]", "needs 3"),
        ("blend = 1.0", "needs one of"),
        ("line = [0, 0, 0]", "goes nowhere"),
        ("center = [0, 0, 1]", "axis"),
        ("rest = -1.0", "positive"),
    ):
        (tmp_path / "bad.toml").write_text(f"[[pieces]]\n{line}\n")
        with pytest.raises(FileError, match=words):
            read_path(tmp_path / "bad.toml", kim)


def test_mistakes_are_named(kim):
    with pytest.raises(InputError, match="frame"):
        Path(kim).line([1, 0, 0], frame="base")
    with pytest.raises(InputError, match="blend"):
        Path(kim).line([1, 0, 0], blend=-1)
    with pytest.raises(InputError, match="three finite"):
        Path(kim).line([1, 0])
    with pytest.raises(InputError, match="axis of an arc"):
        Path(kim).arc([1, 0, 0], [0, 0, 0], 1.0)
    with pytest.raises(InputError, match="same"):
        Path(kim).spline(gough.Motion([kim.home.position]))
    with pytest.raises(InputError, match="no moves"):
        Path(kim).rest(1).poses(3)
