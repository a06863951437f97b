"""Random programs with loops over modes: compiled they are what NumPy makes of them."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gough.engine.emit.llvm import lanes
from gough.engine.functions import VARIANT, Fields, FixedPoint, at_fixed_point, symbolic
from gough.engine.program import NotStraightError
from gough.engine.run import cache as disk
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.engine.run.variants import CompiledVariants
from gough.engine.trace import trace

MODES, MEMBERS = 3, 4


@dataclass(frozen=True)
class Tables:
    """Numbers of modes."""

    mode_axes = 1
    values: np.ndarray


@dataclass(frozen=True)
class Matrices:
    """Numbers of pairs of modes."""

    mode_axes = 2
    values: np.ndarray


SHAPES = {"x": (3,), "elastic": (MODES,), "elastic_rate": (MODES,)}
FIELDS = Fields(SHAPES, dict, "elastic")


def numbers(rng, members=1):
    return (
        rng.uniform(0.5, 1.5, (4, members)),
        Tables(rng.uniform(-1, 1, (2, MODES, members))),
        Matrices(rng.uniform(-1, 1, (2, MODES, MODES, members))),
    )


def random_function(seed):
    """Some outputs with modes and some without, of a random program."""

    @symbolic
    def program(numbers, state, w):
        rng = np.random.default_rng(seed)
        parameters, tables, matrices = numbers
        nodes = [
            one for array in (*state.values(), w, parameters, tables.values) for one in array.flat
        ]
        pairs = list(matrices.values.flat)

        def any_node():
            return nodes[rng.integers(len(nodes))]

        def summed(a, b):
            return a.over_modes() - b

        def coupled(a, b):
            return pairs[rng.integers(2)].coupled_with(a) + b

        made = [
            lambda a, b: a + b,
            lambda a, b: a - b,
            lambda a, b: a * b,
            lambda a, b: a * b - any_node(),
            lambda a, b: -(a * b + any_node()),
            lambda a, b: a / (b * b + 1.0),
            lambda a, b: -a,
            lambda a, b: a.minimum(b) * 0.5,
            lambda a, b: (a * a + b * b + 1.0).sqrt(),
            lambda a, b: (-a).over_modes() * 0.1,
            summed,
            coupled,
        ]
        for _ in range(40):
            a, b = any_node(), any_node()
            nodes.append(made[rng.integers(len(made))](a, b) * 0.5)
        graph = nodes[0].graph
        varying = [one for one in nodes if graph.varying[one.number]]
        straight = [one for one in nodes if not graph.varying[one.number]]
        with_modes = [varying[-1], -varying[-2], straight[-1], varying[rng.integers(len(varying))]]
        plain = [*straight[-3:], -straight[-1], straight[rng.integers(len(straight))]]
        return {
            "plain": np.array(plain, dtype=object)[:, np.newaxis],
            "modal": np.array(with_modes, dtype=object)[:, np.newaxis, np.newaxis],
            "total": np.array([[varying[-1].over_modes()]], dtype=object),
        }

    return program


def fixed_point(curved):
    """u = |p + Σ_k t_k (C e + u₀ t′ + u₁ e′)_k|: of modes all is affine in u, or, curved, it is not."""

    @symbolic
    def step(numbers, state, u):
        parameters, tables, matrices = numbers
        first, second = tables.values[:, 0, 0]
        e, rate = (state[name].item() for name in ("elastic", "elastic_rate"))
        bent = matrices.values.flat[0].coupled_with(e * u[1, 0]) + u[0, 0] * second
        if curved:
            bent = abs(bent)
        image = [abs(p - 0.1 * (first * bent).over_modes()) for p in parameters[:2, 0]]
        return {
            "g": np.array(image, dtype=object)[:, np.newaxis],
            "modal": np.array([[[bent + rate]]], dtype=object),
            "sum": np.array([[u[0, 0] + (rate * u[1, 0]).over_modes()]], dtype=object),
        }

    return at_fixed_point(FixedPoint(step, "u", "g", (2,), 1e-14, 100))


def inputs(rng, rows):
    given = {name: rng.uniform(-1, 1, (rows, *shape)) for name, shape in SHAPES.items()}
    return given | {"w": rng.uniform(-1, 1, (rows, 2))}


def assert_agree(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].shape == value.shape
        assert_allclose(found[name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.second_tier_from(7)
@pytest.mark.parametrize("seed", [*range(20), 189])
def test_a_compiled_program_is_the_program(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    rng = np.random.default_rng([seed, 1])
    function, tree, rows = random_function(seed), numbers(rng), 2 * lanes() + 3
    given = inputs(rng, rows)
    run = CompiledExecutor(tree, FIELDS)
    found = run(function, rows, given)
    assert_agree(found, NumPyExecutor(tree, FIELDS)(function, rows, given))
    for some in (slice(0, 1), slice(5, 5 + lanes()), slice(rows - 3, rows)):
        part = run(function, some.stop - some.start, {n: v[some] for n, v in given.items()})
        for name, value in part.items():
            assert_array_equal(value, found[name][some])  # whatever the batch


@pytest.mark.second_tier_from(4)
@pytest.mark.parametrize("seed", range(10))
def test_many_members_are_the_same_one_by_one(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    rng = np.random.default_rng([seed, 2])
    function, tree, rows = random_function(seed), numbers(rng, MEMBERS), 2 * lanes() + 3
    given = inputs(rng, rows) | {VARIANT: rng.integers(0, MEMBERS, rows)}
    found = CompiledVariants(tree, FIELDS)(function, rows, given)
    assert_agree(found, NumPyExecutor(tree, FIELDS)(function, rows, given))


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_passes_of_a_fixed_point_do_not_go_through_modes(width, curved, tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path))
    monkeypatch.setattr(disk, "lanes", lambda single=False: width)
    rng, rows, function = np.random.default_rng(4), 11, fixed_point(curved)
    one, many = numbers(rng), numbers(rng, MEMBERS)
    given = {name: value for name, value in inputs(rng, rows).items() if name != "w"}
    program = partial(trace, function, one, FIELDS, {})
    if curved:
        with pytest.raises(NotStraightError):
            program()
    else:
        assert (
            2 < program().repeated.section < len(program().sections) - 3
        )  # loops before and after
    expected = NumPyExecutor(one, FIELDS)(function, rows, given)
    assert expected["residual"].max() < 1e-13
    del expected["residual"]
    found = CompiledExecutor(one, FIELDS)(function, rows, given)
    assert found.pop("residual").max() < 1e-13
    assert_agree(found, expected)
    which = {VARIANT: rng.integers(MEMBERS, size=rows).astype(float)}
    found, expected = (
        run(many, FIELDS)(function, rows, given | which)
        for run in (CompiledVariants, NumPyExecutor)
    )
    assert_allclose(found["modal"], expected["modal"], rtol=1e-12, atol=1e-12)
