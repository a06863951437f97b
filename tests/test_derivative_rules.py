"""Rules of differentiation: forward and reverse, ties, stages, solves, sums over modes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.closeness import assert_near
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients, substitute, tangents
from gough.engine.program import Step, assemble
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


# Sums and couplings over modes


MODES = 4


class OverModes:
    """A random program of shared values and values of modes, with sums and couplings of all of them."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.graph = graph = Graph(MODES)
        self.fields = {"a": (2,), "elastic": (MODES,), "elastic_velocity": (MODES,)}
        self.inputs = [*graph.inputs("a", (2,)), *(graph.mode(name) for name in MODE_NAMES)]
        nodes = [*self.inputs, graph.table(0), graph.constant(0.5)]
        for _ in range(14):
            first, second = (nodes[i] for i in rng.integers(len(nodes), size=2))
            nodes.append(
                [
                    lambda a, b: a + b,
                    lambda a, b: a * b,
                    lambda a, b: a / (b * b + 1.0),
                    lambda a, b: (a * a + b * b + 1.0).sqrt(),
                    lambda a, b: a.over_modes() - b,
                    lambda a, b: a.coupled_by(int(rng.integers(-2, 2))) + b,
                ][rng.integers(6)](first, second)
            )
        one = nodes[-1] + nodes[-2]
        self.outputs = np.array([one.over_modes(), nodes[-3] + 0 * self.inputs[2]], dtype=object)
        self.tables = rng.uniform(-1, 1, (1, MODES))
        some = rng.uniform(-1, 1, (2, MODES, MODES))
        self.matrices = np.concatenate([some, np.swapaxes(some, 1, 2)[::-1]])
        self.rng = rng

    def number(self, outputs, values, **seeds):
        """Outputs, those of modes (modes,), for values of the inputs' fields."""
        named = {str(i): np.array([one]) for i, one in enumerate(outputs)}
        fields = self.fields | {name: np.shape(value) for name, value in seeds.items()}
        program = assemble(self.graph, named, fields, MODES)
        given = {name: np.reshape(value, (-1, 1)) for name, value in (values | seeds).items()}
        tables, matrices = self.tables[list(program.tables)], self.matrices[list(program.matrices)]
        assert program.prologue == () or program.hoisted == ()
        found = values_of(program.body, given, tables[..., np.newaxis], matrices[..., np.newaxis])
        sizes = (MODES if output.varying else 1 for output in program.outputs.values())
        places = (output.places[0] for output in program.outputs.values())
        pairs = zip(places, sizes, strict=True)
        return [np.broadcast_to(np.ravel(found[place]), (size,)) for place, size in pairs]

    def some(self):
        return {name: self.rng.uniform(-1, 1, shape) for name, shape in self.fields.items()}


MODE_NAMES = ("elastic", "elastic_velocity")


@pytest.mark.parametrize("seed", range(40))
def test_sums_and_couplings_of_modes(seed):
    """Forward follows finite differences, and w·(J s) = (Jᵀ w)·s for reverse."""
    case = OverModes(seed)
    graph, x, change = case.graph, case.some(), case.some()
    seeds = [*graph.inputs("da", (2,)), graph.mode("elastic_d0"), graph.mode("elastic_d1")]
    parts = dict(zip(("da", "elastic_d0", "elastic_d1"), change.values(), strict=True))
    pairs = zip(case.inputs, seeds, strict=True)
    moved = tangents(case.outputs, {one.number: seed for one, seed in pairs})
    forward = case.number(moved, x, **parts)
    ahead, back = (
        case.number(case.outputs, {name: x[name] + step * change[name] for name in x})
        for step in (1e-6, -1e-6)
    )
    for found, high, low in zip(forward, ahead, back, strict=True):
        expected = (high - low) / 2e-6
        assert_near(np.broadcast_to(found, expected.shape), expected, 1e-8)
    weights = [graph.input("w", 0), graph.mode("elastic_w")]
    given = {"w": case.rng.normal(size=1), "elastic_w": case.rng.normal(size=MODES)}
    if not graph.varying[case.outputs[1].number]:
        weights[1], given["elastic_w"] = weights[1].over_modes(), given["elastic_w"]
    back = case.number(
        gradients(case.outputs, np.array(weights), np.array(case.inputs)), x, **given
    )
    pulled = [back[0] * change["a"][0], back[1] * change["a"][1]]
    pulled += [one * change[name] for one, name in zip(back[2:], MODE_NAMES, strict=True)]
    pushed = np.sum(given["w"] * forward[0]) + np.sum(given["elastic_w"] * forward[1])
    size = sum(np.abs(one).sum() for one in pulled)
    assert pushed == pytest.approx(sum(np.sum(one) for one in pulled), abs=1e-12 * max(size, 1))


def test_stages_over_modes():
    """d/dx of Σ_k (C h)_k² with h = x² put in after differentiation."""
    graph = Graph(MODES)
    x, held = graph.mode("elastic"), graph.mode("elastic_held")
    coupling = held.coupled_by(1)
    outer = np.array([(coupling * coupling).over_modes()])
    slope = gradients(outer, graph.constants([1.0]), np.array([held]))
    (put_in,) = substitute(slope, np.array([held]), np.array([x * x]))
    case = OverModes(0)
    case.graph = graph
    values = case.some()
    (found,) = case.number([put_in * x * 2.0], values)
    C, q = case.matrices[1], values["elastic"]
    assert_allclose(found, 2 * C.T @ (C @ q**2) * 2 * q, rtol=1e-13)
