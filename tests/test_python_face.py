"""What Python users meet: reprs, plots, data frames, rotations as they have them, equal robots."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from gough.errors import InputError
from gough.results import Actuation


@pytest.fixture(scope="module")
def robot():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def circle():
    return gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(11)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
def test_rotations_in_every_form(shape):
    turns = np.random.default_rng(3).uniform(-1, 1, (*shape, 3))
    exact = Rotation.from_rotvec(turns.reshape(-1, 3))
    matrices = exact.as_matrix().reshape(*shape, 3, 3)
    quaternion = exact.as_quat()[:, [3, 0, 1, 2]].reshape(*shape, 4)
    angles = exact.as_euler("ZYX").reshape(*shape, 3)
    place = np.zeros((*shape, 3))
    for form in (
        {"rotvec": turns},
        {"quaternion": 2 * quaternion},
        {"euler": ("ZYX", angles)},
        {"rotation": matrices},
    ):
        assert_allclose(gough.Motion(place, **form).rotation, matrices, atol=1e-14)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"rotvec": [0, 0]}, ("rotvec", "shape")),
        ({"quaternion": [0, 0, 0, 0]}, ("quaternion", "zero")),
        ({"quaternion": [1, 0, 0]}, ("quaternion", "shape")),
        ({"euler": [0, 0, 0]}, ("euler", "axes")),
        ({"euler": ("xyw", [0, 0, 0])}, ("euler",)),
        ({"euler": ("xyz", [0, 0])}, ("euler", "shape")),
        ({"rotvec": [0, 0, 0], "rotation": np.eye(3)}, ("rotation", "rotvec")),
    ],
)
def test_rotations_that_are_none(form, words):
    with refusal(InputError, *words):
        gough.Motion([0, 0, 0], **form)


def test_reprs_are_short(robot, circle):
    text = repr(circle)
    assert text == "Motion(shape=(11,), 1.5 s, x -0.1…0.1, y -0.09511…0.09511, z 0.8 m)"
    assert repr(gough.Motion([0, 0, 1], euler=("z", 0.5))) == (
        "Motion(shape=(), x 0, y 0, z 1 m, turned up to 28.6°)"
    )
    assert repr(gough.Motion(np.zeros((0, 3)))) == "Motion(shape=(0,))"
    assert repr(gough.Motion([np.nan, 0, 0])) == "Motion(shape=())"
    act = robot.inverse_dynamics(circle)
    assert repr(act) == "Actuation(forces (11, 6), power (11, 6), residual (11,))"
    page = circle._repr_html_()
    assert "angular velocity" not in page
    assert "-0.1 … 0.1" in page
    page = robot._repr_html_()
    assert "data:image/png;base64" in page
    assert "condition number" in page
    assert "<script" not in page


@pytest.mark.second_tier
def test_results_become_tables_and_pictures(robot, circle):
    act = robot.inverse_dynamics(circle)
    results = (
        act,
        robot.inverse_kinematics(circle),
        robot.reactions(circle),
        robot.direct_dynamics(circle, act.forces),
        robot.energy(circle),
        robot.contributions(circle),
    )
    for result in results:
        frame = result.to_dataframe()
        assert frame.index.name == "time [s]"
        assert len(frame) == 11
        assert result.to_dataset().sizes["time"] == 11
        assert result.plot().axes
    assert_allclose(act.to_dataframe()[[f"force{i} [N]" for i in range(1, 7)]], act.forces)
    frame = circle.to_dataframe()
    assert_allclose(frame[["x [m]", "y [m]", "z [m]"]], circle.position)
    assert circle.to_dataset()["velocity"].attrs["units"] == "m/s"
    assert circle.plot().axes
    assert robot.plot(circle).axes
    single = robot.inverse_dynamics(robot.home).to_dataframe()
    assert single.shape == (1, 12)
    again = pickle.loads(pickle.dumps(act))
    assert_allclose(again.forces, act.forces)
    with refusal(InputError, "robot"):
        again.to_dataset()
    with refusal(InputError, "robot"):
        Actuation(*np.zeros((4, 1, 6))).plot()


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    "name", ["alikoc-delta-2023", "shyam-heliostat-2017", "ferrandiz-3ups-rpu-2021"]
)
def test_any_robot_becomes_tables(name):
    robot = gough.load(name)
    home = robot.home
    for result in (robot.inverse_dynamics(home), robot.reactions(home), robot.energy(home)):
        assert len(result.to_dataframe()) == 1
    assert robot.name in robot._repr_html_()


def test_a_trajectory_is_not_a_motion(robot):
    circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40)
    for call in (robot.inverse_dynamics, robot.inverse_kinematics, robot.check, robot.room):
        with refusal(InputError, "call", "sample"):
            call(circle)
    assert not hasattr(circle, "position")
    with pytest.raises(AttributeError, match="nothing"):
        _ = circle.nothing
    assert_allclose(
        pickle.loads(pickle.dumps(circle)).sample(3).position, circle.sample(3).position
    )


def test_robots_are_equal_by_content(robot, tmp_path):
    same = gough.Robot.from_text("# a remark\n" + robot.text)
    other = robot.edited({"platform.mass": 12.0})
    assert robot == same
    assert hash(robot) == hash(same)
    assert robot != other
    assert robot != "kim-ryu-2002"
    assert {robot, same, other} == {robot, other}
    assert other.edited({"platform.mass": robot.file.platform.mass}) == robot
    sprung = robot.edited({"legs.drive.stiffness": 1e7, "legs.rotor_mass": 1.0})
    assert sprung.load_side != sprung


def test_the_namespace_shows_what_is_public():
    assert {*dir(gough)} == {*gough.__all__, "__version__"}
