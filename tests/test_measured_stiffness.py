"""Stiffness of drives from loads and deflections, and from natural frequencies."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.errors import refusal
from gough.analysis.measured_stiffness import (
    FrequencyTests,
    LoadTests,
    drive_changes,
    measured_stiffness,
)
from gough.analysis.stiffness import stiffness
from gough.errors import InputError


@pytest.fixture(scope="module")
def robot():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def true(robot):
    return 1e7 * np.array([1.0, 0.7, 1.4, 0.9, 1.1, 2.0])


def measured_on(robot, true):
    """Poses, loads, deflections and frequencies of the robot with these drives."""
    rng, count = np.random.default_rng(1), 10
    turn = Rotation.from_rotvec(0.15 * rng.uniform(-1, 1, (count, 3))).as_matrix()
    place = robot.home.position + 0.2 * robot.length_scale * rng.uniform(-1, 1, (count, 3))
    poses = gough.Motion(place, turn @ robot.home.rotation)
    load = rng.normal(size=(count, 6)) * [500, 500, 500, 50, 50, 50]
    soft = robot.edited(drive_changes(robot, true))
    moved = stiffness(soft, poses).deflection(load[:, :3], load[:, 3:])
    hertz = soft.natural_frequencies(poses, "locked").frequencies
    return poses, load, moved, hertz


def test_exact_tests_give_the_exact_stiffness(robot, true):
    poses, load, moved, hertz = measured_on(robot, true)
    for given in (
        {"loads": LoadTests(poses, load, moved[:, :3])},
        {"loads": LoadTests(poses, load, moved)},
        {"frequencies": FrequencyTests(poses, hertz[:, :3])},
        {
            "loads": LoadTests(poses, load, moved),
            "frequencies": FrequencyTests(poses, hertz[:, :2]),
        },
    ):
        found = measured_stiffness(robot, **given)
        np.testing.assert_allclose(found.stiffness, true, rtol=1e-9)
        assert found.unseen == ()
    written = found.adopted(robot)
    np.testing.assert_allclose(written.drives.stiffness, true, rtol=1e-9)
    assert "# " in written.text or written.text.count("\n") > 10


def test_noise_is_as_large_as_the_deviations_say(robot, true):
    poses, load, moved, hertz = measured_on(robot, true)
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noisy = moved + np.repeat([2e-6, 5e-6], 3) * rng.normal(size=moved.shape)
        tones = hertz[:, :3] * (1 + 0.005 * rng.normal(size=(len(hertz), 3)))
        found = measured_stiffness(
            robot, LoadTests(poses, load, noisy), FrequencyTests(poses, tones)
        )
        errors.append((found.stiffness - true) / found.deviations)
    assert 0.75 < np.sqrt(np.mean(np.square(errors))) < 1.3


def test_what_tests_do_not_tell(robot):
    same = np.full(6, 1e7)
    poses, load, moved, _ = measured_on(robot, same)
    only = LoadTests(poses[:1], load[:1], moved[:1, :3])
    with refusal(InputError, 3, 6):
        measured_stiffness(robot, only)
    found = measured_stiffness(robot, only, equal=True)
    np.testing.assert_allclose(found.stiffness, same, rtol=1e-9)
    twice = LoadTests(poses[[0, 0, 0]], load[[0, 0, 0]], moved[[0, 0, 0], :3])
    assert measured_stiffness(robot, twice).unseen != ()
    with refusal(InputError, "loads"):
        measured_stiffness(robot)


@pytest.mark.second_tier_from(1)
def test_chains_and_held_platforms():
    robot = gough.load("ferrandiz-3ups-rpu-2021")
    true = 1e6 * np.array([1.0, 2.0, 0.5, 1.5])
    rng = np.random.default_rng(2)
    poses = robot.motion([0.15, 0.68, 0, 0] + 0.03 * rng.uniform(-1, 1, (8, 4)))
    load = 300 * rng.normal(size=(8, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    soft = robot.edited(drive_changes(robot, true))
    moved = stiffness(soft, poses).deflection(load[:, :3], load[:, 3:])
    found = measured_stiffness(robot, LoadTests(poses, load, moved[:, :3]))
    np.testing.assert_allclose(found.stiffness, true, rtol=1e-8)


def test_the_command(robot, true, tmp_path):
    poses, load, moved, hertz = measured_on(robot, true)
    vectors = Rotation.from_matrix(poses.rotation).as_rotvec(degrees=True)
    pose = np.c_[1e3 * poses.position, vectors]
    head = "x_mm,y_mm,z_mm,rx [deg],ry [deg],rz [deg]"
    np.savetxt(
        tmp_path / "loads.csv", np.c_[pose, load, 1e6 * moved[:, :3]], "%.12g", ",", comments="",
        header=f"{head},fx,fy,fz,mx,my,mz,dx [um],dy [um],dz [um]",
    )  # fmt: skip
    np.savetxt(
        tmp_path / "tones.csv", np.c_[pose, hertz[:, :2]], "%.12g", ",", comments="",
        header=f"{head},f1 [Hz],f2 [Hz]",
    )  # fmt: skip
    result = run(
        *("stiffness", "kim-ryu-2002", "--measured", "loads.csv", "--measured", "tones.csv"),
        *("--save", "found.toml", "--json"),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    np.testing.assert_allclose(json.loads(result.stdout)["stiffness"], true, rtol=1e-5)
    found = gough.load(tmp_path / "found.toml")
    np.testing.assert_allclose(found.drives.stiffness, true, rtol=1e-5)
    plain = run("stiffness", "kim-ryu-2002", "--measured", "loads.csv", cwd=tmp_path)
    assert "left unexplained" in plain.stdout
    for words, wrong in (
        ("--measured finds", ["--measured", "loads.csv", "--stiffness", "1e7"]),
        ("needs --stiffness", []),
        ("goes with|go with", ["--stiffness", "1e7", "--equal-legs"]),
    ):
        bad = run("stiffness", "kim-ryu-2002", *wrong, cwd=tmp_path)
        assert bad.returncode == 2
        assert any(word in bad.stderr for word in words.split("|"))
