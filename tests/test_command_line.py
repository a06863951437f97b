"""The command line as a user meets it: answers on stdout, trouble in one line with exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import xarray

import gough
from gough.motion_files import write_motion
from gough.paper_motions import MOTIONS, paper_motion


def run(*arguments, cwd):
    command = [sys.executable, "-c", "from gough.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_list_names_every_robot_and_motion(tmp_path):
    result = run("list", cwd=tmp_path)
    assert result.returncode == 0
    for name in (*gough.catalogue(), *MOTIONS):
        assert name in result.stdout


@pytest.mark.parametrize("name", gough.catalogue())
def test_show_prints_a_sheet(name, tmp_path):
    result = run("show", name, cwd=tmp_path)
    assert result.returncode == 0
    assert "condition number" in result.stdout
    assert "…" not in result.stdout  # nothing cut off at 80 columns
    warned = result.stderr.count("no real body has these inertial parameters")
    assert warned == (3 if name == "long-khalil-martinet-2014" else 0)


@pytest.mark.parametrize("suffix", [".csv", ".nc"])
def test_kinematics_of_a_motion_file(tmp_path, suffix):
    robot = gough.load("kim-ryu-2002")
    motion = paper_motion("kim-ryu-2002/circle-40rpm").sample(11)
    write_motion(motion, tmp_path / f"path{suffix}")
    result = run("kinematics", robot.name, f"path{suffix}", "-o", f"legs{suffix}", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    q = robot.inverse_kinematics(motion).q
    if suffix == ".nc":
        with xarray.open_dataset(tmp_path / "legs.nc", engine="scipy") as found:
            np.testing.assert_allclose(found["q"].values, q, rtol=0, atol=1e-14)
    else:
        table = np.genfromtxt(tmp_path / "legs.csv", delimiter=",", skip_header=1)
        np.testing.assert_allclose(table[:, 1:7], q, rtol=0, atol=1e-14)


def test_forces_contributions_and_reactions(tmp_path):
    motion = "kim-ryu-2002/circle-20rpm"
    result = run(
        "forces", "kim-ryu-2002", motion, "-o", "f.nc", "--contributions", "--reactions",
        "--samples", "21", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    forces = gough.load("kim-ryu-2002").inverse_dynamics(paper_motion(motion).sample(21)).forces
    with xarray.open_dataset(tmp_path / "f.nc", engine="scipy") as found:
        np.testing.assert_allclose(found["force"].values, forces, rtol=1e-12)
        parts = sum(found[name].values for name in found if name.startswith("force_"))
        np.testing.assert_allclose(parts, forces, rtol=1e-10)
        assert found["guide"].dims == ("time", "leg", "axis")
        assert found["guide"].attrs["units"] == "N"
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_without_friction_the_forces_are_smaller_at_the_start(tmp_path):
    for flag in ("--friction", "--no-friction"):
        name = f"f{flag}.csv"
        motion = "kim-ryu-2002/circle-20rpm"
        assert run("forces", "kim-ryu-2002", motion, "-o", name, flag, cwd=tmp_path).returncode == 0
    rubbing, smooth = (
        np.genfromtxt(tmp_path / f"f{flag}.csv", delimiter=",", skip_header=1)
        for flag in ("--friction", "--no-friction")
    )
    assert np.abs(rubbing[:, 1:7] - smooth[:, 1:7]).max() > 1.0


def test_limits_that_a_motion_exceeds_are_warnings(tmp_path):
    tight = gough.load("kim-ryu-2002").edited({"legs.limits.stroke": [0.2, 0.25]})
    tight.save(tmp_path / "tight.toml")
    result = run(
        "kinematics", "tight.toml", "kim-ryu-2002/circle-20rpm", "-o", "legs.csv", cwd=tmp_path
    )
    assert result.returncode == 0
    assert "stroke" in result.stderr
    assert "leg 1" in result.stderr


def test_draw_writes_a_picture(tmp_path):
    assert run("draw", "sinatra-xi-staicu-2009", "-o", "robot.svg", cwd=tmp_path).returncode == 0
    assert "<svg" in (tmp_path / "robot.svg").read_text()


def test_schema_is_the_published_one(tmp_path, pytestconfig):
    result = run("schema", cwd=tmp_path)
    published = pytestconfig.rootpath / "docs" / "robot.schema.json"
    assert json.loads(result.stdout) == json.loads(published.read_text("utf-8"))


def bad_files(folder):
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "words.toml").write_text("this is not TOML")
    (folder / "typo.toml").write_text(
        gough.load("kim-ryu-2002").text.replace("length =", "lenght =")
    )
    with (folder / "huge.toml").open("wb") as file:
        file.truncate(100_000_000)
    (folder / "path.csv").write_text("time [s],x [mm]\n0,1\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "kim-ryu-2003"], ["kim-ryu-2003", "kim-ryu-2002"]),
        (["show", "nowhere.toml"], ["nowhere.toml"]),
        (["show", "binary.toml"], ["binary.toml", "not a text file"]),
        (["show", "words.toml"], ["words.toml", "not TOML"]),
        (["show", "typo.toml"], ["lenght", "length"]),
        (["show", "huge.toml"], ["huge.toml", "100 MB"]),
        (["forces", "kim-ryu-2002", "path.csv", "-o", "f.csv"], ["path.csv", "mm"]),
        (["forces", "kim-ryu-2002", "no.csv", "-o", "f.csv"], ["no.csv"]),
        (["forces", "kim-ryu-2002", "kim/circle", "-o", "f.csv"], ["kim/circle", "kim-ryu-2002/"]),
        (["forces", "dietmaier-1998", "kim-ryu-2002/circle-20rpm", "-o", "f.csv"], ["masses"]),
        (["kinematics", "sinatra-xi-staicu-2009", "kim-ryu-2002/circle-20rpm", "-o", "f.csv"], ["leg"]),
        (["kinematics", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "f.xls"], [".csv"]),
        (["kinematics", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "no/f.csv"], ["no"]),
        (["draw", "kim-ryu-2002", "-o", "robot.bmp"], [".png"]),
        (["reproduce", "kim-2002"], ["kim-ryu-2002"]),
    ],
)  # fmt: skip
def test_trouble_is_one_line_and_exit_code_2(arguments, words, tmp_path):
    bad_files(tmp_path)
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0]


def test_help_teaches(tmp_path):
    assert "gough show kim-ryu-2002" in run("--help", cwd=tmp_path).stdout.replace("\n", " ")
    for command in (
        "list",
        "show",
        "kinematics",
        "forces",
        "draw",
        "reproduce",
        "ops",
        "doctor",
        "schema",
    ):
        assert "Example" in run(command, "--help", cwd=tmp_path).stdout


def test_importing_gough_imports_nothing_heavy(tmp_path):
    code = (
        "import sys, gough; print([m for m in ('numpy', 'scipy', 'pydantic') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
