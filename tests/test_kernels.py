"""How kernels are made: fused operations, halves, registers, widths, results over inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cases.common import each_kind, repeatable_seeds, seeds
from gough import Motion, Robot
from gough.engine.graph import CONSTANT, INPUT, Graph
from gough.engine.passes.fused import FUSED, fuse
from gough.engine.passes.order import few_alive
from gough.engine.passes.pipeline import halves, woven
from gough.engine.passes.registers import Memory, Work, _Registers
from gough.engine.program import assemble
from gough.engine.run import cache, compiled, stepping
from gough.engine.run.compiled import BoundKernel, CompiledExecutor, in_all_lanes
from gough.mechanics import programs
from gough.mechanics.state import RIGID_FIELDS
from gough.model.execution import fields_of, numpy_executor, trace
from oracles.random_robot import random_motion, random_robot

LEAVES = (CONSTANT, INPUT)


def sample(kind, rows, seed=0):
    """A random robot, states of it and the fields of its inverse dynamics."""
    rng = np.random.default_rng([seed, len(kind)])
    data = random_robot(rng, kind, 6)
    motion = Motion(**random_motion(rng, data, (rows,)))
    fields = {name: np.ascontiguousarray(getattr(motion, name)) for name in RIGID_FIELDS}
    return Robot.from_dict(data), fields | {"wrench": 50 * rng.normal(size=(rows, 6))}


@pytest.mark.second_tier_from(3)
@each_kind
@pytest.mark.parametrize("width", [2, 4, 8])
def test_vectors_of_any_width_give_the_equations_results(kind, width, monkeypatch, tmp_path):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "_kernels", {})
    monkeypatch.setattr(cache, "lanes", lambda single=False: width)
    robot, fields = sample(kind, 3 * width + 1)
    run = CompiledExecutor(robot.mechanism, fields_of(robot.mechanism))
    for rows in (1, width - 1, width, width + 1, 2 * width, 3 * width + 1):
        some = {name: value[:rows] for name, value in fields.items()}
        expected = numpy_executor(robot.mechanism)(programs.inverse_dynamics, rows, some)
        for name, value in run(programs.inverse_dynamics, rows, some).items():
            scale = np.abs(expected[name]).max()
            assert_allclose(value, expected[name], rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("rows", [1, 3, 8, 21])
def test_results_may_take_the_place_of_inputs(rows):
    """The first two results are there before the input that they are written over is needed."""
    graph = Graph()
    (a, b), (c, d, e, f) = graph.inputs("first", (2,)), graph.inputs("second", (4,))
    slow = np.sqrt(np.sqrt(a * a + b * b))
    results = np.array([a + b, a * b, slow * (c + d), slow * (e + f)])
    program = assemble(graph, {"out": results}, {"first": (2,), "second": (4,)})
    kernel = cache._load(*cache._made(program, False, False, False))
    bound = BoundKernel(kernel, in_all_lanes(kernel, np.zeros(1)))
    rng = np.random.default_rng(rows)
    fields = {"first": rng.normal(size=(rows, 2)), "second": rng.normal(size=(rows, 4))}
    expected = bound.run(rows, fields)["out"]
    stepping.run(1, rows, [stepping.Call(bound, fields, {"out": fields["second"]})])
    assert_array_equal(fields["second"], expected)


def inverse_dynamics():
    robot, _ = sample("UPS", 1)
    return trace(programs.inverse_dynamics, robot.mechanism, {"wrench": (6,)})


def test_a_product_and_its_sum_are_one_operation():
    program = inverse_dynamics()
    steps, outputs, *_ = fuse(program)
    before, after = program.tally(), [step.operation for step in steps]
    fused = after.count(FUSED)
    assert fused > 500
    assert after.count("mul") + fused == before["mul"]
    assert after.count("add") + after.count("sub") + fused == before["add"] + before["sub"]
    assert {name: len(places) for name, places in outputs.items()} == {
        name: len(output.places) for name, output in program.outputs.items()
    }


def test_halves_are_the_whole_and_hand_over_all_that_crosses():
    steps, outputs, *_ = fuse(inverse_dynamics())
    lasting = {p for p, (o, _, leaf) in enumerate(steps) if o in LEAVES and not is_state(o, leaf)}
    first, second, handed = halves(steps, outputs, lasting)
    assert sorted(first + second) == [p for p, s in enumerate(steps) if s.operation not in LEAVES]
    assert min(len(first), len(second)) > 50
    here = lasting | {p for p, (o, _, leaf) in enumerate(steps) if is_state(o, leaf)}
    for place in first:
        assert here.issuperset(steps[place].arguments)
        here.add(place)
    here = lasting | set(handed)
    for place in second:
        assert here.issuperset(steps[place].arguments)
        here.add(place)
    assert here.issuperset(place for places in outputs.values() for place in places)
    assert sorted(place for place, _ in woven(first, second)) == sorted(first + second)


def is_state(operation, leaf):
    return operation == INPUT and leaf[0] != "hoisted"


@settings(repeatable_seeds, max_examples=60)
@given(seeds, st.integers(3, 9))
def test_registers_hold_what_is_computed_with(seed, registers):
    """Random work: every argument is at hand, never more values than there are registers."""
    rng = np.random.default_rng(seed)
    count, inputs = 80, 6
    arguments = {
        n: tuple(int(a) for a in rng.integers(0, n, size=rng.integers(1, 3)))
        for n in range(inputs, count)
    }
    order = few_alive(arguments)
    assert sorted(order) == list(arguments)
    at = {n: i for i, n in enumerate(order)}
    assert all(at[a] < at[n] for n in order for a in arguments[n] if a in at)
    slots, loaded, computed = {}, set(), set()

    def load(value):
        assert value < inputs or value in slots.values()  # and nothing else has taken its slot
        loaded.add(value)

    def keep(value, slot):
        assert value in computed
        slots[slot] = value

    def emit(n):
        last = {a for a in arguments[n] if not plan.uses[a]}  # their registers are free already
        assert (loaded | plan.held | last).issuperset(arguments[n])
        assert len(plan.held) < registers  # there is room for the result
        computed.add(n)
        loaded.clear()

    work = [Work((n,), arguments[n], lambda n=n: emit(n), arguments[n][:1]) for n in order]
    plan = _Registers(work, Memory(load, keep, range(inputs)), registers)
    assert plan.run() == len(slots)
    assert computed == set(order)
