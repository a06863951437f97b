"""Flexible platforms in robot files, and `gough modes`."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.command import refused, run
from cases.errors import refusal
from cases.plates import TABLE_2, TIPS, arrays, ignore_coupling, omega, robot_with
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import write_npz
from gough.errors import FileError, GoughError
from gough.show import plots
from gough.show.pictures.modes import mode_sheet

PLATE = {"radius": 0.5, "sides": 6, "thickness": 0.015, "density": 7500, "young": 2e10, "modes": 4}


SHORT = {key: value for key, value in PLATE.items() if key != "young"}


def test_a_plate_in_a_robot_file(tmp_path):
    robot = robot_with({"plate": PLATE | {"damping_ratio": [0.1, 0.2, 0.3, 0.4]}})
    body = robot.description.modal
    assert_allclose(omega(body)[:3] / TABLE_2[:3], 1, atol=0.008)
    assert_allclose(np.diagonal(body.damping) / (2 * omega(body)), [0.1, 0.2, 0.3, 0.4])
    assert robot.description.platform.mass.item() == body.mass
    assert_array_equal(robot.description.platform.inertia[..., 0, 0], body.inertia)
    assert robot.description.platform.first_moment.shape == (3, 1, 1)
    thicker = robot.edited({"platform.plate.thickness": 0.03, "platform.plate.damping_ratio": 0})
    assert_allclose(thicker.description.modal.frequencies, 2 * body.frequencies, rtol=1e-9)
    robot.save(tmp_path / "plate.toml")
    assert_array_equal(gough.load(tmp_path / "plate.toml").description.modal.shapes, body.shapes)
    assert gough.load("kim-ryu-2002").description.modal is None


def test_an_npz_in_a_robot_file(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    body = ModalBody(**arrays(tip_positions=TIPS))
    write_npz(body, tmp_path / "body.npz")
    robot = robot_with({"modes": {"file": "body.npz"}}, tmp_path)
    assert_array_equal(robot.description.modal.shapes, body.shapes)
    assert robot.edited({"gravity": [0, 0, 0]}).description.modal.modes == 3
    for place in (tmp_path / "robot.toml", tmp_path / "deep" / "robot.toml"):
        robot.save(place)
        assert gough.load(place).description.modal.mass == body.mass
    monkeypatch.chdir(tmp_path)
    assert robot_with({"modes": {"file": "body.npz"}}).description.modal.modes == 3
    absolute = robot_with({"modes": {"file": str(tmp_path / "body.npz")}}, "/")
    assert absolute.description.modal.modes == 3


def test_bad_flexible_platforms_say_what_is_wrong(tmp_path):
    moved = TIPS.copy()
    moved[2, 1] += 2e-9
    write_npz(ModalBody(**arrays(tip_positions=moved)), tmp_path / "moved.npz")
    write_npz(ModalBody(**arrays(tip_positions=TIPS[:5], tip_shapes=np.zeros((5, 3, 3)))),
              tmp_path / "five.npz")  # fmt: skip
    for message, platform in {
        "has mass as well as plate": {"mass": 3.0, "plate": PLATE},
        "has payload as well as modes": {"payload": [{"mass": 1.0}], "modes": {"file": "a.npz"}},
        "has both plate and modes": {"plate": PLATE, "modes": {"file": "a.npz"}},
        "unknown key platform.plate.radios; the nearest known key is radius": {
            "plate": PLATE | {"radios": 1}
        },
        "missing key platform.plate.young": {"plate": SHORT},
        "needs either radius and sides, or outline": {"plate": PLATE | {"sides": None}},
        "has radius as well as an outline": {
            "plate": PLATE | {"outline": [[0, 0], [1, 0], [0, 1]]}
        },
        "tip of leg 1 at (-0.25, -0.433013) is": {"plate": PLATE | {"radius": 0.4}},
        "missing.npz: No such file": {"modes": {"file": "missing.npz"}},
        "must end in .npz, .op2 or .frd": {"modes": {"file": "body.mat"}},
        "geometry does not go with an .npz": {"modes": {"file": "a.npz", "geometry": "b"}},
        "an .op2 file needs geometry = '….bdf'": {"modes": {"file": "a.op2"}},
        "the tip of leg 3 in": {"modes": {"file": "moved.npz"}},
        "has 5 tips, the robot has 6 legs": {"modes": {"file": "five.npz"}},
    }.items():
        with pytest.raises(FileError) as caught:
            robot_with(platform, tmp_path)
        assert message in str(caught.value)


def test_gough_modes(tmp_path):
    robot = robot_with({"plate": PLATE | {"damping_ratio": 0.1}})
    robot.save(tmp_path / "robot.toml")
    picture = tmp_path / "modes.png"
    code, text, _ = run("modes", tmp_path / "robot.toml", "-o", picture)
    assert code == 0
    assert "30.126" in text
    assert picture.stat().st_size > 20_000
    code, text, _ = run("modes", tmp_path / "robot.toml", "--json")
    numbers = json.loads(text)
    assert_array_equal(numbers["frequencies"], robot.description.modal.frequencies)
    assert [row["mode"] for row in numbers["modes"]] == [1, 2, 3, 4]
    assert_allclose([row["damping_ratio"] for row in numbers["modes"]], 0.1)
    assert "rigid platform" in refused("modes", "kim-ryu-2002")


@ignore_coupling
@pytest.mark.parametrize("modes", [1, 7])
def test_pictures_of_bodies_without_faces(tmp_path, modes):
    plots.save(mode_sheet(ModalBody(**arrays(modes=modes)), "arm"), tmp_path / "modes.svg")
    assert (tmp_path / "modes.svg").stat().st_size > 10_000
    with refusal(GoughError, "modes"):
        mode_sheet(ModalBody(**arrays(modes=0)), "arm")
