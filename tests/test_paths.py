"""Paths: lines, turns about pivots, arcs, splines, blends, rests; and their files."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from gough.analysis.locus import determinant_along
from gough.base.rotations import exponential
from gough.errors import FileError, InputError, LimitError
from gough.planning import Path, retime
from gough.planning.course import Rest, Stretch
from gough.planning.path_files import read_path
from gough.planning.whole_path import exceeding, singular


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
    with refusal(InputError, "frame"):
        Path(kim).line([1, 0, 0], frame="base")
    with refusal(InputError, "blend"):
        Path(kim).line([1, 0, 0], blend=-1)
    with refusal(InputError, "three", "finite"):
        Path(kim).line([1, 0])
    with refusal(InputError, "axis", "arc"):
        Path(kim).arc([1, 0, 0], [0, 0, 0], 1.0)
    with pytest.raises(InputError, match="same"):
        Path(kim).spline(gough.Motion([kim.home.position]))
    with pytest.raises(InputError, match="no moves"):
        Path(kim).rest(1).poses(3)


def test_a_stroke_is_exceeded_between_samples(kim):
    """An arc on which a slider goes a picometre too far: samples see nothing, bounds do."""

    def arc(height):
        start = gough.Motion(np.add(kim.home.position, [0.013, 0, height]))
        return Path(kim, start).arc([-0.013, 0, -0.015], [0, 1, 0], -1.3)

    def farthest(height):
        (stretch,) = arc(height).course()
        s = np.linspace(stretch.begin, stretch.end, 101)
        top = int(np.argmax(kim.inverse_kinematics(stretch.guide.state(s)).q.max(axis=1)))
        found = minimize_scalar(
            lambda at: -kim.inverse_kinematics(stretch.guide.state(np.array([at]))).q.max(),
            bounds=(s[top - 1], s[top + 1]), method="bounded", options={"xatol": 1e-9},
        )  # fmt: skip
        return -found.fun - 0.7

    limit = brentq(farthest, 0.3, 0.45, xtol=1e-15)
    for over in (1e-12, -1e-12):
        path = arc(limit + over)
        (stretch,) = path.course()
        poses = stretch.guide.state(np.linspace(stretch.begin, stretch.end, 4001))
        assert kim.check(gough.Motion(poses.position, poses.rotation)).ok
        assert bool(exceeding(kim, stretch).size) == (over > 0)
    path = arc(limit + 1e-12)
    with refusal(LimitError, "stroke"):
        retime(kim, path, speed=1.0)


class Grazing:
    """A turn about x that comes back, while the platform moves on along y."""

    ends = (-1.0, 1.0)

    def __init__(self, home, angle):
        self.home, self.angle = home, angle

    def state(self, s):
        none, one = np.zeros_like(s), np.ones_like(s)
        turn = np.stack([self.angle - 0.1 * s**2, none, none], axis=1)
        R, w, dw = exponential(
            turn,
            np.stack([-0.2 * s, none, none], axis=1),
            np.stack([-0.2 * one, none, none], axis=1),
        )
        along = np.stack([none, 0.01 * one, none], axis=1)
        position = self.home.position + along * s[:, np.newaxis]
        return gough.Motion(position, R @ self.home.rotation, along, w, 0 * along, dw, time=s)

    def rates(self, s):
        motion = self.state(s)
        return (
            np.concatenate([motion.velocity, motion.angular_velocity], axis=1),
            np.concatenate([motion.acceleration, motion.angular_acceleration], axis=1),
        )

    def where(self, s):
        return f"{s}"


@pytest.mark.second_tier
def test_a_singularity_is_met_between_samples(kim):
    """The path crosses det = 0 and comes back within a thousandth of a sample."""
    home = kim.home

    def least(angle):
        middle, width = 0.0, 1.0
        for _ in range(4):
            s = middle + width * np.linspace(-1, 1, 81)
            value = determinant_along(kim, Grazing(home, angle).state(s), 1.0)
            middle, width = s[np.argmin(value)], width / 30
        return float(value.min())

    angle = brentq(least, 0.5, 1.3, xtol=1e-14)
    for over, met in ((1e-10, True), (-1e-5, False)):
        stretch = Stretch(Grazing(home, angle + over), -1.0, 1.0)
        samples = Grazing(home, angle + over).state(np.linspace(-1, 1, 4001))
        assert len({*np.sign(determinant_along(kim, samples, 1.0))}) == 1
        assert bool(singular(kim, stretch).size) == met


@pytest.mark.second_tier
def test_paths_end_where_nobody_could_wait_for_their_timing(monkeypatch):
    robot = gough.load("kim-ryu-2002")
    place = robot.home.position + 1e-3 * np.arange(1, 5002)[:, np.newaxis]
    poses = gough.Motion(place, np.broadcast_to(robot.home.rotation, (5001, 3, 3)))
    with refusal(InputError, 5001, 5000):
        Path(robot).spline(poses)
    with refusal(InputError, 1000):
        Path(robot).through(poses, 1e-5)
    wavy = gough.Motion(
        robot.home.position + 1e-3 * np.random.default_rng(3).normal(size=(60, 3)),
        np.broadcast_to(robot.home.rotation, (60, 3, 3)),
    )
    monkeypatch.setattr("gough.planning.profile.MOST_KNOTS", 200)
    with refusal(InputError, "round", "times"):
        retime(robot, Path(robot).spline(wavy), speed=0.5, force=1000, cells=40)
