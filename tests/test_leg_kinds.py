"""Kinds of legs: each owns itself, and one may come from another package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

import gough
from cases.common import each_kind
from gough.legs.register import KINDS
from oracles.random_robot import random_robot

SOURCES = Path(gough.__file__).parent
OTHER_PACKAGE = """
from dataclasses import replace
from typing import Literal

from gough.legs.ups import KIND as UPS
from gough.legs.ups.keys import UPSTable


class Table(UPSTable):
    kind: Literal["telescope"]


KIND = replace(UPS, name="telescope", keys=Table)
"""
ASK = """
import json, sys
import gough

found = {}
for data in json.load(sys.stdin):
    robot = gough.Robot.from_dict(data)
    forces = robot.inverse_dynamics(robot.home).forces
    found[robot.kind] = forces.tolist()
print(json.dumps(found))
"""


def test_a_kind_comes_from_another_package(tmp_path):
    (tmp_path / "other_legs.py").write_text(OTHER_PACKAGE)
    about = tmp_path / "other_legs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-legs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gough.legs]\ntelescope = other_legs:KIND\n")
    data = random_robot(np.random.default_rng(4), "UPS")
    plain = json.loads(json.dumps(data, default=np.ndarray.tolist))
    plain["home"] = {"position": [0, 0, 1.0]}
    other = {**plain, "legs": {**plain["legs"], "kind": "telescope"}}
    path = os.pathsep.join([str(tmp_path), str(SOURCES.parent)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK],
        input=json.dumps([plain, other]),
        env={**os.environ, "PYTHONPATH": path, "GOUGH_ENGINE": "numpy"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert_array_equal(found["telescope"], found["UPS"])
    assert np.abs(found["UPS"]).max() > 1


def test_what_is_no_kind_is_refused_by_name(tmp_path):
    (tmp_path / "no_legs.py").write_text("KIND = 3\n")
    about = tmp_path / "no_legs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: no-legs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gough.legs]\nnothing = no_legs:KIND\n")
    path = os.pathsep.join([str(tmp_path), str(SOURCES.parent)])
    done = subprocess.run(
        [sys.executable, "-c", "import gough; gough.load('kim-ryu-2002')"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "no_legs:KIND" in done.stderr.splitlines()[-1]


@each_kind
def test_a_kind_names_what_its_numbers_have(kind):
    numbers = KINDS[kind].numbers
    fields = set(numbers.__dataclass_fields__)
    assert set(numbers.BODIES) <= fields
    assert set(numbers.LINEAR_FRICTION).isdisjoint(numbers.LOAD_FRICTION)
    assert KINDS[kind].name == kind


def test_nothing_outside_legs_asks_which_kind_a_leg_is():
    names = "|".join(KINDS)
    asks = re.compile(
        rf"""\b(robot|model|legs|description|first)\.kind\s*(==|!=|\bin\b)|leg_kind(\.name)?\s*(==|!=)|isinstance\([^)]*\b({names})\b"""
        rf"""|["']({names})["']\s*:|\[["']({names})["']\]|hasattr\([^)]*legs"""
    )
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        if "legs" not in path.relative_to(SOURCES).parts
        for line in path.read_text().splitlines()
        if asks.search(line)
    ]
    assert not found
