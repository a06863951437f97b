"""A kind of leg from another package: the how-to's own, found by its entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gough
from gough.legs.register import KINDS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "leg-kind-in-a-package.md"
BLOCK = re.compile(r"^```(\w+)(?: ([\w.]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MORE = """
import numpy as np

import gough
from gough.legs.register import KINDS
from gough.parameters.grouping import grouped_parameters

assert list(KINDS)[-1] == "sprung-UPS"
robot = gough.load("lift.toml")
motion = gough.Motion([0.02, -0.05, 1.15], velocity=[0.3, 0, 0.2], acceleration=[1, 2, 3])
act = robot.inverse_dynamics(motion)
acc = robot.direct_dynamics(motion, act.forces)
assert np.allclose(acc.linear, motion.acceleration, rtol=0, atol=1e-10)
assert np.allclose(acc.angular, 0, atol=1e-10)

# derivatives see the spring
slopes = robot.inverse_dynamics_derivatives(motion)
step = 1e-6
moved = [gough.Motion(motion.position + [0, 0, d], velocity=motion.velocity,
                      acceleration=motion.acceleration) for d in (-step, step)]
low, high = (robot.inverse_dynamics(one).forces for one in moved)
assert np.allclose(slopes.pose[:, 2], (high - low) / (2 * step), rtol=1e-6, atol=1e-5)

stiff = robot.edited({"legs.spring_stiffness": 900.0})
many = robot.variants({"legs.spring_stiffness": np.full((1, 6), 900.0)})
assert np.allclose(many.inverse_dynamics(motion).forces, stiff.inverse_dynamics(motion).forces,
                   rtol=1e-12)
assert grouped_parameters(robot).rank == 94
posture = robot.forward_kinematics(robot.inverse_kinematics(motion).q)
assert np.allclose(posture.position, motion.position)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files, and what pip leaves of a package: its entry points."""
    folder = tmp_path_factory.mktemp("package")
    for _, name, text in BLOCK.findall(PAGE.read_text("utf-8")):
        if name:
            (folder / name).write_text(text, "utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    facts = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in groups
    ]
    (facts / "entry_points.txt").write_text("".join(lines))
    return folder


def ask(folder: Path, *words: str) -> str:
    """What Python says in a process of its own that finds the package."""
    source = Path(gough.__file__).parents[1]
    path = os.pathsep.join([str(folder), str(source)])
    told = subprocess.run(
        [sys.executable, "-W", "error", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def test_page_says_what_is_so(installed: Path) -> None:
    said = ask(installed, "lift.py")
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    (shown,) = (text for language, _, text in blocks if language == "text")
    assert said == shown


def test_models_take_it(installed: Path) -> None:
    ask(installed, "-c", MORE)


def test_command_line_takes_it(installed: Path) -> None:
    said = ask(installed, "-m", "gough", "show", "lift.toml")
    assert re.search(r"legs 1 to 6 +sprung-UPS: .*with a spring", said)


def test_others_do_not_see_it() -> None:
    """The package is there for those who have it installed."""
    assert "sprung-UPS" not in KINDS
