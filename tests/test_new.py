"""`gough new`: every family loads, holds and moves; the other files run; questions on a terminal."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from cases.command import refused, run
from gough.data.motion_files import read_motion
from gough.description.drafts import FAMILIES, Answers, draft
from gough.errors import InputError
from gough.simulation.config import read_config
from gough.studies.plan import read_plan

MATHWORKS = (
    "--base-radius 3 --base-angle 5 --platform-radius 1 --platform-angle 20 --height 2 "
    "--cylinder-radius 0.05 --cylinder-inner-radius 0.03 --density 7747.196738"
)
"""The Stewart platform of MathWorks' case study: 76e3/9.81 kg/m³, telescopes of 3/4 of a leg."""


def test_the_stewart_platform_of_mathworks(tmp_path):
    """In under 20 lines, with the masses that its own script computes from the same sizes."""
    assert run("new", "hexapod", "-o", "mw.toml", *MATHWORKS.split(), cwd=tmp_path).returncode == 0
    assert len((tmp_path / "mw.toml").read_text("utf-8").splitlines()) < 20
    robot = gough.load(tmp_path / "mw.toml")
    legs = robot.description.legs
    masses = [legs.cylinder.mass[0, 0], legs.rod.mass[0, 0], robot.platform.mass]
    assert_allclose(masses, [92.1107, 51.8123, 1216.9268], atol=5e-5)
    angles = np.deg2rad([-2.5, 2.5, 117.5, 122.5, 237.5, 242.5])
    base = 3 * np.stack([np.cos(angles), np.sin(angles), 0 * angles])
    assert_allclose(legs.base[..., 0], base, atol=1e-9)
    assert_allclose(robot.inverse_kinematics(robot.home).q, 3.153800683985283, atol=1e-9)
    assert "would be" not in refused("new", "hexapod", "-o", "mw.toml", cwd=tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_stands_at_home(family):
    """In the middle of its stroke, on the branch its file says, with what its questions say."""
    for given in ({}, {"height": -0.45, "base_radius": 0.31, "platform_radius": 0.2}):
        answers = Answers(given)
        robot = gough.Robot.from_text(draft(family, "mine", answers))
        q = robot.inverse_kinematics(robot.home).q
        middle = (robot.limits.shortest + robot.limits.longest) / 2
        assert_allclose(q, middle, atol=1e-6)
        assert robot.missing == ()
        assert robot.check(robot.home).ok
        assert {"base_radius", "platform_radius", "height", "stroke", "density"} <= {
            one.name for one in answers.asked
        }


def test_what_makes_no_robot_is_refused(tmp_path):
    def wrong(family, **given):
        with pytest.raises(InputError) as caught:
            draft(family, "mine", Answers(given))
        return str(caught.value)

    assert "base_radius is -1 m, must be above 0" in wrong("hexapod", base_radius=-1)
    assert "less than" in wrong("hexapod", stroke=0.7)
    assert "a rod of radius" in wrong("hexapod", rod_radius=1.0)
    assert "120° each" in wrong("rotary", base_angle=130)
    assert "nearest is crank_length" in wrong("delta", crank_lenght=1)
    assert "nearest is 'hexapod'" in wrong("hexpod")
    assert "across their rails" in wrong("linear-delta", rail_angle=0, platform_radius=0.3)
    assert "base_radius is 1e-10 m, must be 1e-09 to 1e+06 m" in wrong("tripod", base_radius=1e-10)
    assert "slider_mass is 1e+07 kg, must be" in wrong("hexaslide", slider_mass=1e7)
    assert "--base-radius" in refused("new", "hexapod", "-o", "a.toml", "--base-radius", "x")
    assert not (tmp_path / "a.toml").exists()


@pytest.mark.parametrize(("motion", "said"), [
    ("", "the name must end in .csv or .nc"),
    ("nowhere.csv", "nowhere.csv: No such file"),
    ("kim-ryu-2002/circle", "the nearest is 'kim-ryu-2002/circle-"),
    ("robot.toml", "is a robot file, not a motion"),
])  # fmt: skip
def test_a_file_about_a_motion_needs_one_that_can_be_read(motion, said, tmp_path):
    (tmp_path / "robot.toml").write_text(draft("hexapod", "mine", Answers()))
    for words in (
        ["study", "robot.toml", motion],
        ["simulation", "robot.toml", "--motion", motion],
    ):
        assert said in refused("new", *words, "-o", "z.toml", cwd=tmp_path)
        assert not (tmp_path / "z.toml").exists()


def test_cranks_in_line_with_their_links_at_home(tmp_path):
    """A dead point is told by the sheet; a robot at one loads without words of another library."""
    answer = run("new", "delta", "-o", "flat.toml", "--height", "1e-4", cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, ""), answer
    assert "perpendicular to its crank's motion" in run("show", "flat.toml", cwd=tmp_path).stdout


def test_questions_on_a_terminal(tmp_path, monkeypatch):
    """A wrong answer is asked again; Enter takes the default, which follows from answers before."""
    typed = io.StringIO("1.5\n\n-1\n0.75\n" + 10 * "\n")
    typed.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", typed)
    answer = run("new", "hexapod", "-o", "asked.toml", cwd=tmp_path)
    assert answer.returncode == 0, answer
    assert "platform_radius is -1 m, must be above 0" in answer.stderr
    robot = gough.load(tmp_path / "asked.toml")
    assert_allclose(np.linalg.norm(robot.description.legs.base[..., 0], axis=0), 1.5)
    assert robot.file.platform.radius == 0.75
    assert (
        robot.file.platform.thickness == 0.037
    )  # a twentieth, to two digits: 0.0375 rounds to even


def test_the_other_files_run(tmp_path):
    for words in (
        "delta -o robot.toml --height -0.6",
        "motion robot.toml -o path.csv",
        "log robot.toml -o log.csv",
        "simulation robot.toml -o run.toml --motion path.csv",
        "study robot.toml path.csv -o study.toml",
    ):
        answer = run("new", *words.split(), cwd=tmp_path)
        assert (answer.returncode, answer.stderr) == (0, ""), answer
        assert "next: gough" in answer.stdout
    robot = gough.load(tmp_path / "robot.toml")
    motion = read_motion(tmp_path / "path.csv", robot)
    rates = gough.Motion.from_samples(motion.time, motion.position)
    assert_allclose(motion.velocity, rates.velocity, atol=1e-4)
    assert_allclose(motion.acceleration[20:-20], rates.acceleration[20:-20], atol=1e-2)
    setup = read_config(tmp_path / "run.toml")
    assert setup.robot.name == "robot"
    assert read_plan(tmp_path / "study.toml").points == 5
    answer = run("pose", "robot.toml", "log.csv", "-o", "seen.csv", cwd=tmp_path)
    assert answer.returncode == 0, answer
    seen = read_motion(tmp_path / "seen.csv", robot)
    assert_allclose(seen.position, motion.position, atol=1e-9)
