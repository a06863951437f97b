"""Single precision: floats agree with doubles, doubles judge, the error says how far floats are off."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gough
from cases.errors import refusal
from gough.engine.emit.llvm import lanes
from gough.engine.graph import Graph
from gough.engine.operations import OPERATIONS
from gough.engine.program import PARAMETERS, assemble
from gough.engine.run import cache as disk
from gough.engine.run.compiled import BoundKernel, in_all_lanes
from gough.engine.run.evaluate import hoisted
from gough.errors import InputError, ReachError
from gough.show.speed import states


@pytest.fixture(scope="module")
def robot() -> gough.Robot:
    return gough.load("kim-ryu-2002")


def asked(robot: gough.Robot, motion: gough.Motion, **more: Any) -> gough.results.Actuation:
    return robot.inverse_dynamics(motion, friction=False, **more)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
def test_floats_agree_with_doubles(robot: gough.Robot, shape: tuple[int, ...]) -> None:
    motion = states(robot, 6)[np.arange(np.prod(shape, dtype=int)).reshape(shape)]
    exact, found = asked(robot, motion), asked(robot, motion, precision="single")
    for name in ("forces", "power"):
        one, other = getattr(found, name), getattr(exact, name)
        assert one.shape == other.shape
        assert one.dtype == np.float64
        assert np.all(np.abs(one - other) <= 1e-5 * np.abs(other).max(initial=0.0))
    assert exact.error == 0
    assert pickle.loads(pickle.dumps(found)).error == found.error
    assert (0 < found.error < 1e-5) if found.forces.size else (found.error == 0)


@pytest.mark.parametrize("name", ["long-khalil-martinet-2014", "pollen-reachy-mini-2025"])
def test_other_kinds_of_legs(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gough.errors.ImpossibleBodyWarning)
        robot = gough.load(name).rigid
    motion = states(robot, 40)
    exact, found = asked(robot, motion).forces, asked(robot, motion, precision="single")
    off = np.abs(found.forces - exact).max(axis=1) / np.abs(exact).max(axis=1)
    assert 0 < found.error < 1e-5
    assert np.all(off <= found.error)  # 64 at most are compared: here all


def test_every_operation_has_floats() -> None:
    """Beside NumPy's, in more groups than one and one that is not full; numbers of the robot too."""
    graph, rng = Graph(), np.random.default_rng(0)
    symbols = graph.inputs("state", (2,))
    scale = graph.input(PARAMETERS, 0)
    of_two = {name for name, one in OPERATIONS.items() if one.llvm.__code__.co_argcount == 3}
    made = [
        graph.make(name, *(one.number for one in symbols[: 2 if name in of_two else 1])) * scale
        for name in OPERATIONS
    ]
    program = assemble(graph, {"out": np.array(made)}, {"state": (2,)})
    rows = 2 * lanes(single=True) + 3
    given = np.array(rng.uniform(0.5, 2, (rows, 2)) * [1, -1], np.float32).astype(float)
    factor = float(np.float32(1.7))
    description = {
        "width": lanes(single=True),
        "single": True,
        "prologue": [list(step) for step in program.prologue],
        "hoisted": program.hoisted,
        "fields": program.fields,
        "outputs": {"out": (len(made),)},
    }
    kernel = disk._load(description, disk._compile(program, single=True))
    numbers = hoisted(program.prologue, program.hoisted, np.array([[factor]]))[0]
    found = BoundKernel(kernel, in_all_lanes(kernel, numbers)).run(rows, {"state": given})["out"]
    for k, (name, one) in enumerate(OPERATIONS.items()):
        expected = factor * one.numpy(*given.T[: 2 if name in of_two else 1])
        assert np.allclose(found[:, k], expected, rtol=3e-7, atol=0, equal_nan=True), name
        assert name == "rint" or not np.array_equal(found[:, k], expected, equal_nan=True), name


def test_direct_dynamics_gives_the_acceleration_back(robot: gough.Robot) -> None:
    motion = states(robot, 100)
    forces = asked(robot, motion).forces
    found = robot.direct_dynamics(motion, forces, friction=False, precision="single")
    assert np.abs(found.linear - motion.acceleration).max() < 1e-4
    assert np.abs(found.angular - motion.angular_acceleration).max() < 1e-3
    assert 0 < found.error < 1e-3


def test_a_state_does_not_depend_on_its_batch(robot: gough.Robot) -> None:
    motion = states(robot, 8192 + 77)
    whole = asked(robot, motion, precision="single", threads=2).forces
    assert np.array_equal(asked(robot, motion, precision="single", threads=1).forces, whole)
    assert np.array_equal(asked(robot, motion[5:70], precision="single").forces, whole[5:70])
    assert np.array_equal(asked(robot, motion[8200], precision="single").forces, whole[8200])


def test_doubles_judge(robot: gough.Robot) -> None:
    """Out of reach, near the edge of it, beyond what floats hold, no numbers: as without floats."""
    rng = np.random.default_rng(2)
    motion = gough.Motion(robot.home.position + rng.uniform(-0.9, 0.9, (300, 3)))
    position, velocity = np.array(motion.position), np.zeros((300, 3))
    position[7], velocity[8:10] = np.nan, [[1e25, 0, 0], [0, 1e14, 0]]
    motion = gough.Motion(position, velocity=velocity)
    exact = asked(robot, motion, on_error="nan").forces
    found = asked(robot, motion, on_error="nan", precision="single")
    lost = np.isnan(exact).any(axis=1)
    assert 20 < lost.sum() < 280
    assert np.array_equal(np.isnan(found.forces).any(axis=1), lost)
    assert np.array_equal(found.forces[8:10], exact[8:10])  # their squares are no floats
    off = np.abs(found.forces - exact).max(axis=1) / np.abs(exact).max(axis=1)
    assert np.nanmax(off) < 1e-2
    with pytest.raises(ReachError) as plain:
        asked(robot, motion[10:])
    with pytest.raises(ReachError) as floats:
        asked(robot, motion[10:], precision="single")
    assert str(floats.value) == str(plain.value)


def test_the_error_is_that_of_the_worst_conditioned_state(robot: gough.Robot) -> None:
    """A state near the edge of its reach, anywhere in a batch, is among those that are compared."""
    calm = gough.Motion(np.tile(robot.home.position, (500, 1)))
    small = asked(robot, calm, precision="single").error
    position = np.array(calm.position)
    edge = _edge(robot)
    position[123] = edge
    worst = gough.Motion(position)
    found = asked(robot, worst, precision="single")
    exact = asked(robot, worst[123]).forces
    off = np.abs(found.forces[123] - exact).max() / np.abs(exact).max()
    assert found.error >= off > 0
    assert found.error >= small


def _edge(robot: gough.Robot) -> np.ndarray[Any, Any]:
    """A position whose margin is a few times what floats are trusted with."""
    home, low, high = np.asarray(robot.home.position), 0.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        at = gough.Motion(home + np.array([middle, 0, 0]))
        good = not np.isnan(asked(robot, at, on_error="nan").forces).any()
        low, high = (middle, high) if good else (low, middle)
    return home + np.array([0.9 * low, 0, 0])


@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (lambda: gough.load("long-khalil-martinet-2014"), "a rigid platform"),
        (lambda: gough.load("alikoc-delta-2023"), "6 directions, not 3"),
        (lambda: gough.load("shyam-heliostat-2017"), "6 directions, not 3"),
    ],
)
def test_what_floats_cannot_do_is_said(make: Callable[[], gough.Robot], needed: str) -> None:
    with pytest.raises(InputError, match=f"precision='single' needs .*{needed}"):
        make().inverse_dynamics(make().home, friction=False, precision="single")


def test_friction_needs_doubles(robot: gough.Robot) -> None:
    assert robot.rubs
    with refusal(InputError, "friction", "False"):
        robot.inverse_dynamics(robot.home, precision="single")


def test_other_words_are_refused(robot: gough.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("half", 32, None):
        with refusal(InputError, "precision", "double", "single"):
            asked(robot, robot.home, precision=word)
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    with refusal(InputError, "programs", "compiled"):
        asked(gough.load("kim-ryu-2002"), robot.home, precision="single")


def test_variants_have_doubles_alone(robot: gough.Robot) -> None:
    variants = gough.Variants([robot, robot])
    with refusal(InputError, "robot", "many"):
        variants.inverse_dynamics(robot.home, friction=False, precision="single")
