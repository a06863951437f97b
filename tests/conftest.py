"""What all tests share: the order they run in, and what is costly to set up."""

from __future__ import annotations

import gc
import os
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

import gough
from cases.common import KIM, LONG, WITH_MASSES
from cases.derivatives import ROBOTS, Case
from cases.plates import HEXAGON, LONG_MATERIAL, TIPS
from gough.description.modal.body import ModalBody
from gough.description.modal.plate import plate_body

LONGEST = {
    "test_analysis_any_robot",
    "test_docs",
    "test_dynamics",
    "test_elastic_motion",
    "test_examples",
    "test_flexible",
    "test_laws",
    "test_flexible_export",
    "test_hostile_files",
    "test_identification",
    "test_parameters_any_robot",
    "test_simulation_loops",
    "test_studio_browser",
}
"""Files of tests that take longest: half a minute of processor time and more, or as long a wait."""


SEEDS = ("inverse_kinematics", "jacobian", "inverse_dynamics", "reactions", "mass_matrix", "energy")
"""What many files ask the robots of the catalogue for: compiled before the first test."""
SEEDED_FROM = 1000
"""Tests of a run from which on that is worth while."""
WHOLE = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.second_tier", re.MULTILINE)
"""Marks all tests of a file."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the tier that runs: to import them takes time."""
    tier = config.option.markexpr
    if collection_path.suffix != ".py" or tier not in ("second_tier", "not second_tier"):
        return None
    text = collection_path.read_text("utf-8")
    other = WHOLE.search(text) if tier == "not second_tier" else "second_tier" not in text
    return True if other else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests their tier, and put the files that take longest first.

    Else one process waits at the end for the other.
    """
    seen: Counter[str] = Counter()
    for item in items:
        marker, name = item.get_closest_marker("second_tier_from"), item.nodeid.partition("[")[0]
        seen[name] += 1
        if marker is not None and seen[name] > marker.args[0]:
            item.add_marker("second_tier")
    items.sort(key=lambda item: item.path.stem not in LONGEST)


def pytest_configure() -> None:
    """All processes of a run have one folder of kernels, which tests of a cold start leave aside.

    A kernel is kept for the content of all that it depends on, so another run finds what still holds.
    """
    os.environ.setdefault("GOUGH_CACHE", str(Path(__file__).parents[1] / ".kernels"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile what many files ask for, each process its share of it, and free the garbage.

    What is there before the first test stays: garbage is not looked for in it again and again.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and len(session.items) > SEEDED_FROM:
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        asked = [(name, call) for name in WITH_MASSES for call in SEEDS]
        with warnings.catch_warnings(action="ignore"):
            for name, call in asked[number::count]:
                robot = gough.load(name).rigid
                getattr(robot, call)(robot.home)
    gc.collect()
    gc.freeze()


@pytest.fixture
def on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots made in the test run on NumPy, unless they are told to be compiled."""
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")


@pytest.fixture
def compiled(on_numpy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots made in the test are compiled, also where the other tests of the file run on NumPy."""
    monkeypatch.setenv("GOUGH_ENGINE", "llvm")


@pytest.fixture(scope="session")
def long_plate() -> ModalBody:
    """Long, Khalil & Martinet's platform."""
    return plate_body(HEXAGON, LONG_MATERIAL, TIPS, 10, damping_ratio=0.4)


@pytest.fixture(scope="session")
def kim() -> gough.Robot:
    """Kim & Ryu's robot, six legs on rails."""
    return gough.load(KIM)


@pytest.fixture(scope="session")
def long() -> gough.Robot:
    """Long, Khalil & Martinet's robot, with its flexible platform."""
    with warnings.catch_warnings(action="ignore"):
        return gough.load(LONG)


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    """Robots in states at which derivatives are taken, by name."""
    return {name: Case(name) for name in ROBOTS}
