"""The graph: folding, sharing, order; traced expressions are the expressions."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import gough
from cases.common import repeatable_seeds, seeds
from gough.engine.emit.llvm import lanes
from gough.engine.graph import CONSTANT, INPUT, Graph
from gough.engine.program import HOISTED, PARAMETERS, assemble
from gough.engine.run import cache as disk
from gough.engine.run.compiled import BoundKernel, in_all_lanes
from gough.engine.run.evaluate import hoisted
from gough.mechanics import programs, vectors
from gough.model.execution import trace


def symbols(graph, count=3, field="state"):
    return graph.inputs(field, (count,))


def shown(symbol):
    """A node as text, inputs being x0, x1, …"""
    graph, number = symbol.graph, symbol.number
    if graph.operations[number] == CONSTANT:
        return f"{graph.leaves[number]:g}"
    if graph.operations[number] == INPUT:
        return f"x{graph.leaves[number][1]}"
    arguments = (shown(type(symbol)(graph, one)) for one in graph.arguments[number])
    return f"{graph.operations[number]}({', '.join(arguments)})"


FOLDED = {
    "0 + x": lambda x, y: 0 + x,
    "x + 0": lambda x, y: x + 0,
    "x - 0": lambda x, y: x - 0.0,
    "1 * x": lambda x, y: 1 * x,
    "x * 1": lambda x, y: x * 1,
    "x / 1": lambda x, y: x / 1,
    "0 - (0 - x)": lambda x, y: 0 - (0 - x),
    "0 - -x": lambda x, y: 0 - -x,
    "-1 * -x": lambda x, y: -1 * -x,
    "-x / -1": lambda x, y: -x / -1,
}


@pytest.mark.parametrize("rule", FOLDED)
def test_folding_to_the_symbol_itself(rule):
    x, y, _ = symbols(Graph())
    assert FOLDED[rule](x, y).number == x.number


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (lambda x, y: 0 * x, "0"),
        (lambda x, y: x * 0, "0"),
        (lambda x, y: 0 / x, "0"),
        (lambda x, y: x - x, "0"),
        (lambda x, y: x + -x, "0"),
        (lambda x, y: x * y - y * x, "0"),
        (lambda x, y: 0 - x, "neg(x0)"),
        (lambda x, y: -1 * x, "neg(x0)"),
        (lambda x, y: x / -1, "neg(x0)"),
        (lambda x, y: x + -y, "sub(x0, x1)"),
        (lambda x, y: -x + y, "sub(x1, x0)"),
        (lambda x, y: x - -y, "add(x0, x1)"),
        (lambda x, y: -(x - y), "sub(x1, x0)"),
        (lambda x, y: -x * -y, "mul(x0, x1)"),
        (lambda x, y: -x / y, "neg(div(x0, x1))"),
        (lambda x, y: abs(-x), "abs(x0)"),
        (lambda x, y: -x - y, "neg(add(x0, x1))"),
        (lambda x, y: (x * 0 + 2) * 3 - 5, "1"),
        (lambda x, y: (0 * x + 4).sqrt(), "2"),
        (lambda x, y: (0 * x).or_one(), "1"),
        (lambda x, y: (0 * x - 3).minimum(2), "-3"),
        (lambda x, y: (0 * x - 3).maximum(2), "2"),
        (lambda x, y: (0 * x + 3).copysign(-2), "-3"),
        (lambda x, y: (0 * x + 1).arctan2(1), f"{math.pi / 4:g}"),
        (lambda x, y: y * x, "mul(x0, x1)"),
        (lambda x, y: y.maximum(x), "max(x0, x1)"),
        (lambda x, y: y / x, "div(x1, x0)"),
        (lambda x, y: y.copysign(x), "copysign(x1, x0)"),
    ],
)
def test_folding_rules(expression, text):
    x, y, _ = symbols(Graph())
    assert shown(expression(x, y)) == text


@pytest.mark.parametrize(
    "expression",
    [
        lambda c: c / 0,
        lambda c: (c - 5).sqrt(),
        lambda c: (c / 0).minimum(1),
        lambda c: (c / 0).maximum(1),
        lambda c: (c * 0 + 1).minimum(c / 0),
    ],
)
def test_folding_never_hides_an_impossible_constant(expression):
    constant = Graph().constant(2.0)
    assert not math.isfinite(expression(constant).graph.leaves[expression(constant).number])


def test_the_same_operation_is_one_node():
    graph = Graph()
    x, y, z = symbols(graph)
    first = (x * y + z).sqrt() / (y * x + z)
    count = len(graph)
    second = (z + y * x).sqrt() / (z + x * y)
    assert first.number == second.number
    assert len(graph) == count


def test_dead_code_is_left_out_and_parameter_work_is_hoisted():
    graph = Graph()
    x, y, _ = symbols(graph)
    a, b, _ = symbols(graph, field=PARAMETERS)
    heavy = (a * a + b * b).sqrt()
    unused = (x + y) / (x - y) * (a - b)
    outputs = {"out": np.array([heavy * x + 2.0 * heavy, heavy, x, graph.constant(7.0)])}
    program = assemble(graph, outputs, {"state": (3,)})
    assert program.tally() == {"mul": 1, "add": 1}
    kinds = [step.operation for step in program.prologue if step.operation not in (CONSTANT, INPUT)]
    assert sorted(kinds) == ["add", "mul", "mul", "mul", "sqrt"]
    assert len(program.hoisted) == 2  # heavy and 2 heavy
    read = {step.leaf for step in program.body if step.operation == INPUT}
    assert read == {("state", 0), (HOISTED, 0), (HOISTED, 1)}
    assert unused.number not in graph.reachable(s.number for s in outputs["out"])
    assert program.outputs["out"].shape == (4,)
    assert_array_equal(compute(program, {"state": [[3.0, 4.0, 0.0]]}, [3.0, 4.0])[0]["out"][0],
                       [25.0, 5.0, 3.0, 7.0])  # fmt: skip


def test_arguments_come_before_what_needs_them():
    machine = gough.load("kim-ryu-2002").mechanism
    program = trace(programs.inverse_dynamics, machine, {"wrench": (6,)})
    for steps in (program.prologue, program.body):
        for place, step in enumerate(steps):
            assert all(argument < place for argument in step.arguments)
    everything = [step[:2] for step in program.body if step.operation not in (CONSTANT, INPUT)]
    assert len(set(everything)) == len(everything)  # nothing is computed twice
    needed = {place for output in program.outputs.values() for place in output.places}
    for place in range(len(program.body) - 1, -1, -1):
        assert place in needed  # nothing is computed in vain
        needed.update(program.body[place].arguments)
    assert set(program.hoisted) <= set(range(len(program.prologue)))


# Random expressions


BINARY = ("add", "sub", "mul", "div", "min", "max", "copysign", "atan2")
UNARY = ("neg", "abs", "sqrt", "or_one")
LEAVES = st.one_of(
    st.tuples(st.just("state"), st.integers(0, 3)),
    st.tuples(st.just(PARAMETERS), st.integers(0, 2)),
    st.tuples(st.just("number"), st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, -0.25])),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(BINARY), inner, inner), st.tuples(st.sampled_from(UNARY), inner)
    ),
    max_leaves=25,
)
NUMPY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "min": vectors.minimum, "max": vectors.maximum, "copysign": vectors.copysign,
    "atan2": np.arctan2, "abs": np.abs, "sqrt": np.sqrt, "or_one": vectors.or_one,
}  # fmt: skip


def run_expression(expression, inputs):
    """The expression on arrays: of numbers, or of symbols."""
    kind, *parts = expression
    if kind == "number":
        return np.full_like(inputs["state"][0], parts[0]) + 0 * inputs["state"][0]
    if kind in inputs:
        return inputs[kind][parts[0]]
    return NUMPY[kind](*(run_expression(part, inputs) for part in parts))


def bound(expression, inputs):
    """Values and, rounding being 1, first-order bounds of their errors; None where a branch is near."""
    kind, *parts = expression
    if kind == "number" or kind in inputs:
        value = run_expression(expression, inputs)
        return value, 0 * value
    arguments = [bound(part, inputs) for part in parts]
    if any(argument is None for argument in arguments):
        return None
    (a, da), (b, db) = arguments[0], arguments[-1]
    with np.errstate(all="ignore"):
        value = NUMPY[kind](*(argument[0] for argument in arguments))
    if not np.all(np.isfinite(value)) or np.any(np.abs(value) > 1e100):
        return None
    clear = np.abs(b) > 1e-3 * (1 + db)
    if kind in ("div", "copysign", "or_one", "sqrt") and not np.all(clear):
        return None
    if kind == "atan2" and not np.all(np.hypot(a, b) > 1e-3 * (1 + da + db)):
        return None
    if kind == "atan2" and np.any((np.abs(a) < 1e-3 * (1 + da)) & (b < 0)):
        return None  # on the cut
    with np.errstate(all="ignore"):
        error = {
            "add": da + db + np.abs(a) + np.abs(b),
            "sub": da + db + np.abs(a) + np.abs(b),
            "mul": np.abs(a) * db + np.abs(b) * da,
            "div": (da + np.abs(value) * db) / np.abs(b),
            "sqrt": da / (2 * value),
            "copysign": da,
            "atan2": (da + db) / np.hypot(a, b),
        }.get(kind, np.maximum(da, db))
    return value, error + 2 * np.abs(value)


def compute(program, inputs, parameters):
    """A program's outputs by name: interpreted by NumPy, and compiled."""
    known = np.asarray(parameters, dtype=float)[np.newaxis]
    numbers = hoisted(program.prologue, program.hoisted, known.T)[0]
    fields = {name: np.array(inputs[name], dtype=float) for name in program.fields}
    rows = len(next(iter(fields.values())))
    values = []
    for step in program.body:
        if step.operation == CONSTANT:
            values.append(np.full(rows, step.leaf))
        elif step.operation == INPUT:
            field, index = step.leaf
            known = (
                numbers[index] if field == HOISTED else fields[field].reshape(rows, -1)[:, index]
            )
            values.append(known * np.ones(rows))
        else:
            with np.errstate(all="ignore"):
                values.append(NUMPY[step.operation](*(values[a] for a in step.arguments)))
    interpreted = {}
    for name, output in program.outputs.items():
        stacked = np.stack([values[place] for place in output.places], axis=-1)
        interpreted[name] = stacked.reshape(rows, *output.shape)
    description = {
        "prologue": [list(step) for step in program.prologue],
        "hoisted": program.hoisted,
        "fields": program.fields,
        "outputs": {name: output.shape for name, output in program.outputs.items()},
    }
    kernel = disk._load(json.loads(json.dumps(description)), disk._compile(program))
    compiled = BoundKernel(kernel, in_all_lanes(kernel, numbers)).run(rows, fields)
    return interpreted, compiled


@settings(repeatable_seeds, max_examples=150)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3), seeds)
def test_a_traced_expression_is_the_expression(expressions, seed):
    rng = np.random.default_rng(seed)
    rows = 2 * lanes() + 1
    state = rng.uniform(0.5, 2, (4, rows)) * rng.choice([-1, 1], (4, rows))
    parameters = rng.uniform(0.5, 2, 3) * rng.choice([-1, 1], 3)
    inputs = {"state": state, PARAMETERS: parameters[:, np.newaxis] * np.ones(rows)}
    expected = [bound(one, inputs) for one in expressions]
    assume(all(one is not None for one in expected))
    graph = Graph()
    symbolic = {name: graph.inputs(name, (len(a), 1)) for name, a in inputs.items()}
    outputs = [run_expression(one, symbolic)[0] for one in expressions]
    program = assemble(graph, {"out": np.array(outputs)}, {"state": (4,)})
    interpreted, compiled = compute(program, {"state": state.T.copy()}, parameters)
    for k, (value, error) in enumerate(expected):
        assert_array_equal(interpreted["out"][:, k], value)  # folding rounds nothing
        assert np.all(np.abs(compiled["out"][:, k] - value) <= 4e-16 * error)


@pytest.mark.parametrize("operation", [*BINARY, *UNARY])
def test_every_operation_on_special_numbers(operation):
    """NaN, infinities and zeros come out compiled as NumPy has them; the sign of a zero may differ."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 2.5, -1e-300, 1e300])
    pairs = np.array([(a, b) for a in special for b in special])
    graph = Graph()
    symbolic = graph.inputs("state", (2, 1))
    used = symbolic if operation in BINARY else symbolic[:1]
    program = assemble(graph, {"out": NUMPY[operation](*used)}, {"state": (2,)})
    interpreted, compiled = compute(program, {"state": pairs}, np.zeros(0))
    with np.errstate(all="ignore"):
        direct = NUMPY[operation](*(pairs.T if operation in BINARY else pairs.T[:1]))
    assert_array_equal(interpreted["out"][:, 0], direct)
    assert_array_equal(compiled["out"][:, 0], direct)
