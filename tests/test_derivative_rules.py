"""Rules of differentiation: forward and reverse, ties, stages, solves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients, substitute, tangents
from gough.engine.program import Step
from gough.engine.run.evaluate import values_of
from gough.mechanics.solves import factor, least_norm

# The rules


def number(symbols, values):
    """What symbols of inputs ("x", i) are for values x."""
    graph = symbols.flat[0].graph
    steps = [
        Step(*one) for one in zip(graph.operations, graph.arguments, graph.leaves, strict=True)
    ]
    inputs = {leaf[0]: np.asarray(values, dtype=float) for o, _, leaf in steps if o == "input"}
    found = values_of(steps, inputs)
    return np.array([found[symbol.number] for symbol in symbols.flat]).reshape(symbols.shape)


def everything(x):
    """Each operation at least once, nowhere near a kink for x = (0.7, −1.3, 2.1)."""
    a, b, c = x
    outputs = np.empty(8, dtype=object)
    outputs[:] = [
        a * b - b / c + (-a),
        (a * a + b * b).sqrt() * c,
        a.arctan2(b) * a,
        a.sin() * b,
        (a * b).cos() * a,
        a.copysign(b) * abs(b) + b.copysign(c),
        a.minimum(b) * c + a.maximum(c) * b,
        a / (b * b).or_one() + (a - a * 1.0).or_one(),
    ]
    return outputs


def test_forward_and_reverse_follow_finite_differences():
    graph = Graph()
    x = graph.inputs("x", (3,))
    y = everything(x)
    point = np.array([0.7, -1.3, 2.1])
    one = graph.constant(1.0)
    forward = np.stack([number(tangents(y, {s.number: one}), point) for s in x], axis=1)
    units = graph.constants(np.eye(len(y)))
    reverse = np.stack([number(gradients(y, unit, x), point) for unit in units])
    steps = [1e-6 * unit for unit in np.eye(3)]
    slope = [(number(y, point + step) - number(y, point - step)) / 2e-6 for step in steps]
    assert_allclose(forward, np.stack(slope, axis=1), atol=1e-9)
    assert_allclose(reverse, forward, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("function", "point", "slope"),
    [
        (lambda a, b: (a * a).sqrt(), (0.0, 0.0), (0, 0)),
        (lambda a, b: a / (a * a + b * b).sqrt().or_one(), (0.0, 0.0), (1, 0)),
        (lambda a, b: abs(a), (0.0, 0.0), (1, 0)),
        (lambda a, b: a.copysign(b), (2.0, -0.0), (-1, 0)),
        (lambda a, b: a.copysign(b), (-2.0, -3.0), (1, 0)),
        (lambda a, b: a.minimum(b), (1.0, 2.0), (1, 0)),
        (lambda a, b: a.maximum(b), (1.0, 2.0), (0, 1)),
        (lambda a, b: a.or_one(), (0.0, 0.0), (1, 0)),
    ],
)
def test_subgradients(function, point, slope):
    x = Graph().inputs("x", (2,))
    y = np.array([function(*x)])
    one = np.array([y[0].graph.constant(1.0)])
    assert_allclose(number(gradients(y, one, x), point), slope)
    change = [number(tangents(y, {s.number: one[0]}), point)[0] for s in x]
    assert_allclose(change, slope)


def test_a_tie_takes_one_of_the_two():
    x = Graph().inputs("x", (2,))
    for y in (x[0].minimum(x[1]), x[0].maximum(x[1])):
        one = np.array([y.graph.constant(1.0)])
        assert sorted(number(gradients(np.array([y]), one, x), (1.0, 1.0))) == [0, 1]


def test_stages_make_the_chain_rule():
    graph = Graph()
    x, held = graph.inputs("x", (2,)), graph.inputs("held", (1,))
    inner = np.array([x[0] * x[1]])
    outer = np.array([held[0] * held[0] + x[0]])
    one = graph.constants([1.0])
    slope = substitute(gradients(outer, one, held), held, inner)
    whole = gradients(outer, one, x) + slope * gradients(inner, one, x)
    assert_allclose(number(whole, (2.0, 3.0)), [1 + 2 * 6 * 3, 2 * 6 * 2])


def test_through_a_solve():
    """dx = −J⁻ᵀ dJᵀ x of Jᵀ x = b, through all of the Householder factorisation."""
    graph = Graph()
    symbols = graph.inputs("x", (4, 4))
    matrix, change = np.random.default_rng(0).normal(size=(2, 4, 4))
    right = np.arange(1.0, 5.0)
    solved = least_norm(
        factor(symbols[..., None], np.ones((4, 1))), graph.constants(right)[:, None]
    )
    flat = zip(symbols.flat, np.ravel(change), strict=True)
    seeds = {symbol.number: graph.constant(value) for symbol, value in flat}
    found = number(tangents(solved[:, 0], seeds), np.ravel(matrix))
    x = np.linalg.solve(matrix.T, right)
    assert_allclose(found, np.linalg.solve(matrix.T, -change.T @ x), 1e-11)
