"""Programs that are repeated inside their kernels: fixed points and iterations."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.families import draw
from gough.engine.functions import (
    VARIANT,
    Fields,
    FixedPoint,
    Iteration,
    at_fixed_point,
    iterated,
)
from gough.engine.run import cache as disk
from gough.engine.run import compiled
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.engine.run.variants import CompiledVariants
from gough.mechanics import programs
from gough.model import friction_loop
from gough.model.execution import fields_of, trace

SIZE = 4
FIELDS = Fields({"y": (SIZE,)}, dict)


@cache
def fixed_point(felt):
    """x = |y + A x| with x_k in no more than the first `felt` columns; A is the numbers' and small."""

    def step(numbers, state, x):
        (matrix,) = numbers
        total = [
            state["y"][k] + sum((matrix[k, j] * x[j] for j in range(felt)), start=0 * x[0])
            for k in range(SIZE)
        ]
        lengths = np.stack([abs(one) for one in total])
        return {"g": lengths, "sum": sum(x[1:], start=x[0]), "last": 2 * x[SIZE - 1]}

    return at_fixed_point(FixedPoint(step, "x", "g", (SIZE,), 1e-14, 200))


@cache
def square_root():
    """x ← (x + y/x)/2 of the first y, until x² is y to 1e-12."""

    def step(numbers, state, x):
        y = abs(state["y"][0])
        return {"next": 0.5 * (x + y / x), "off": abs(x * x - y) - 1e-12, "root": x}

    return iterated(Iteration(step, (("x", "next"),), "off", 60))


def numbers(members=1, seed=0):
    return (np.random.default_rng(seed).uniform(-0.2, 0.2, (SIZE, SIZE, members)),)


def states(rows):
    return {"y": np.random.default_rng(1).normal(size=(rows, SIZE))}


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("felt", [0, 2, SIZE])
def test_fixed_points_of_any_width_are_numpys(width, felt, monkeypatch, tmp_path):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "_kernels", {})
    monkeypatch.setattr(disk, "lanes", lambda single=False: width)
    given = states(21)
    found = CompiledExecutor(numbers(), FIELDS)(fixed_point(felt), 21, given)
    expected = NumPyExecutor(numbers(), FIELDS)(fixed_point(felt), 21, given)
    assert found.keys() == expected.keys() == {"sum", "last", "residual"}
    assert np.all(found["residual"] <= 1e-13)
    for name in ("sum", "last"):
        assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-13)


def test_a_fixed_point_may_begin_anywhere():
    run, given = CompiledExecutor(numbers(), FIELDS), states(9)
    near = run(fixed_point(SIZE), 9, {**given, "x": np.full((1, SIZE), 7.0)})
    assert_allclose(near["sum"], run(fixed_point(SIZE), 9, given)["sum"], rtol=1e-12)


def test_bits_of_what_is_repeated_do_not_depend_on_neighbours():
    run, given = CompiledExecutor(numbers(), FIELDS), states(37)
    given["y"][5] = np.nan
    given["y"][9] *= 1e6
    fields = {"x": np.ones(1)}
    for function, more in ((fixed_point(SIZE), {}), (square_root(), fields)):
        whole = run(function, 37, given | more)
        alone = run.bind(function, {name: value.shape[1:] for name, value in more.items()}, True)
        for rows in (slice(0, 1), slice(5, 6), slice(4, 11), slice(30, 37)):
            part = {"y": given["y"][rows]} | more
            count = len(part["y"])
            for found in (run(function, count, part), alone.run(count, part)):
                for name, value in found.items():
                    assert_array_equal(value, whole[name][rows], err_msg=name)
    assert np.isnan(run(fixed_point(SIZE), 37, given)["residual"]).sum() == 1


def test_an_iteration_goes_on_where_it_has_to():
    given = {**states(20), "x": np.ones(1)}
    found = CompiledExecutor(numbers(), FIELDS)(square_root(), 20, given)
    expected = NumPyExecutor(numbers(), FIELDS)(square_root(), 20, given)
    assert_allclose(found["root"], np.sqrt(np.abs(given["y"][:, 0])), rtol=1e-10)
    assert_array_equal(found["passes"], expected["passes"])
    assert len(set(found["passes"])) > 1


def test_members_of_variants_settle_each_for_itself():
    members, rows = 3, 12
    which = np.arange(rows) % members
    given = {**states(rows), VARIANT: which.astype(float)}
    found = CompiledVariants(numbers(members), FIELDS)(fixed_point(SIZE), rows, given)
    for k in range(members):
        own = (numbers(members)[0][..., k : k + 1],)
        one = CompiledExecutor(own, FIELDS)(fixed_point(SIZE), 4, {"y": given["y"][which == k]})
        assert_allclose(found["sum"][which == k], one["sum"], rtol=1e-12)


def test_guide_loads_of_inverse_dynamics_need_no_passes():
    """Actuators take what rubs along their own lines: only the couples' loads are repeated."""
    robot = gough.load("kim-ryu-2002")
    function = friction_loop.under_own_loads(programs.inverse_dynamics, 6)
    repeated = trace(function, robot.mechanism, {"wrench": (6,)}).repeated
    assert repeated is not None
    assert len(repeated.unknowns) == 12


def test_friction_that_feels_no_load_is_not_repeated():
    robot = gough.Robot.from_dict(draw("3-RPS", 0)[0])
    function = friction_loop.under_own_loads(programs.inverse_dynamics, robot.leg_count)
    program = trace(function, robot.mechanism, {"wrench": (6,)})
    assert program.repeated is None
    assert fields_of(robot.mechanism).shapes.keys() < program.fields.keys()
