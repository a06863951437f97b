"""The one table of operations: all that it says of an operation in all back ends is the same."""

import ctypes
import inspect
import itertools
import math
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gough.engine.emit import c, casadi
from gough.engine.graph import Graph
from gough.engine.operations import OPERATIONS
from gough.engine.passes.derivative import gradients, tangents
from gough.engine.program import assemble
from gough.engine.run import cache
from gough.engine.run.compiled import BoundKernel, in_all_lanes
from gough.engine.run.evaluate import evaluate, hoisted

COUNTS = {
    name: len(inspect.signature(one.slopes).parameters) - 1 for name, one in OPERATIONS.items()
}
SPECIAL = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.5,
    -2.5,
    0.4,
    3.0e15,
    -1e-300,
    1e300,
]
each_operation = pytest.mark.parametrize("name", OPERATIONS)
COMPILER = shutil.which("gcc") or shutil.which("cc")


def samples(name):
    """Every special number, or pair of such, (arguments, samples)."""
    return np.array(list(itertools.product(SPECIAL, repeat=COUNTS[name]))).T


def by_numpy(name, given):
    with np.errstate(all="ignore"):
        return np.asarray(OPERATIONS[name].numpy(*given), dtype=float)


def program_of(name):
    graph = Graph()
    symbols = graph.inputs("x", (COUNTS[name],))
    out = graph.make(name, *(one.number for one in symbols))
    outputs = {"y": np.array([out], dtype=object)}
    return assemble(graph, outputs, {"x": (COUNTS[name],)})


def assert_same(name, found, expected, note=""):
    """To the last bit; NumPy has an arctangent of its own."""
    if name == "atan2":
        assert_allclose(found, expected, rtol=4e-16, err_msg=note)
    else:
        assert_array_equal(found, expected, err_msg=note)


def plain(value):
    """Back ends may give a zero either sign, but for the numbers that tell of it."""
    return np.asarray(value) + 0.0


@each_operation
def test_the_value_of_a_constant(name):
    for given in samples(name).T:
        found = OPERATIONS[name].value(*given.tolist())
        by_zero = name == "div" and given[1] == 0
        expected = math.nan if by_zero else float(by_numpy(name, given))
        assert_same(name, found, expected)


@each_operation
def test_the_numpy_of_a_program(name):
    given = samples(name)
    found = evaluate(program_of(name), (), {"x": given})["y"][0]
    assert_array_equal(found, by_numpy(name, given))


@each_operation
def test_the_kernel(name):
    program, given = program_of(name), samples(name)
    description = {
        "prologue": [],
        "hoisted": [],
        "fields": program.fields,
        "outputs": {"y": (1,)},
    }
    kernel = cache._load(description, cache._compile(program))
    row = hoisted(program.prologue, program.hoisted, [])[0]
    bound = BoundKernel(kernel, in_all_lanes(kernel, row))
    found = bound.run(given.shape[1], {"x": given.T.copy()})["y"][:, 0]
    assert_same(name, plain(found), plain(by_numpy(name, given)))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or cc) on this machine")
@pytest.mark.skipif(sys.platform == "win32", reason="shared libraries built the POSIX way")
@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c(real, tmp_path):
    """One function with all operations, compiled."""
    kind, suffix = (np.float64, "") if real == "double" else (np.float32, "f")
    lines = [
        f"    y[{k}] = {one.c.format('x[0]', 'x[1]', f=suffix)};"
        for k, one in enumerate(OPERATIONS.values())
    ]
    helpers = "".join(text.format(real=real) for text in c.HELPERS.values())
    body = "\n".join(lines)
    source = tmp_path / "all.c"
    source.write_text(
        f"#include <math.h>\n{helpers}\nvoid all(const {real} *x, {real} *y)\n{{\n{body}\n}}\n"
    )
    library = tmp_path / "all.so"
    command = [COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
    command += ["-ffp-contract=off", "-shared", "-fPIC", source, "-o", library, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    function = ctypes.CDLL(str(library)).all
    for pair in itertools.product(SPECIAL, repeat=2):
        given = np.array(pair).clip(-3e38, 3e38).astype(kind) if real == "float" else np.array(pair)
        given = np.where(np.isinf(pair), pair, given).astype(kind)
        found = np.zeros(len(OPERATIONS), dtype=kind)
        function(given.ctypes.data_as(ctypes.c_void_p), found.ctypes.data_as(ctypes.c_void_p))
        for name, value in zip(OPERATIONS, found, strict=True):
            with np.errstate(all="ignore"):
                expected = OPERATIONS[name].numpy(*given[: COUNTS[name]])
            if real == "double":
                assert_same(name, value, expected, f"{name} {pair}")
            else:
                assert_allclose(value, expected, rtol=2e-7, err_msg=f"{name} {pair}")


@each_operation
def test_the_casadi(name):
    pytest.importorskip("casadi")
    given = samples(name)
    nothing = np.zeros((0, 0)), np.zeros((0, 0, 0))
    function = casadi.function(program_of(name), name, np.zeros(1), *nothing)
    found = [float(function(one)) for one in given.T]
    assert_allclose(plain(found), plain(by_numpy(name, given)), rtol=1e-15)


SLOPES = [0.7, -0.7, 1.9, -1.9, 12.3, -0.05]
"""Places where all operations have a derivative, and no two have the same size."""


def derivatives(name, given):
    """∂y/∂x of an operation, forward and backward, (arguments, samples) each."""
    graph = Graph()
    x = graph.inputs("x", (COUNTS[name],))
    y = np.array([graph.make(name, *(one.number for one in x))], dtype=object)
    one, zero = graph.constant(1.0), graph.constant(0.0)
    forward = [tangents(y, {b.number: one if a is b else zero for b in x})[0] for a in x]
    backward = gradients(y, np.array([one], dtype=object), x)
    outputs = {"forward": np.array(forward, dtype=object), "backward": backward}
    found = evaluate(assemble(graph, outputs, {"x": (len(x),)}), (), {"x": given})
    return found["forward"], found["backward"]


@each_operation
def test_the_derivative_against_finite_differences(name):
    given = np.array(list(itertools.permutations(SLOPES, COUNTS[name]))).T
    if name == "sqrt":
        given = np.abs(given)
    forward, backward = derivatives(name, given)
    assert_array_equal(forward, backward)
    for k in range(COUNTS[name]):
        step = np.zeros((COUNTS[name], 1))
        step[k] = 1e-6
        change = by_numpy(name, given + step) - by_numpy(name, given - step)
        assert_allclose(forward[k], change / 2e-6, rtol=1e-7, atol=1e-8)


JUMPS = {
    "sqrt": ([[0.0]], [[0.5]]),
    "abs": ([[0.0, -0.0]], [[1.0, -1.0]]),
    "copysign": ([[2.0, 2.0, -2.0], [0.0, -0.0, -0.0]], [[1.0, -1.0, 1.0], [0.0, 0.0, 0.0]]),
    "or_one": ([[0.0]], [[1.0]]),
    "rint": ([[0.5, 2.0]], [[0.0, 0.0]]),
}


@pytest.mark.parametrize("name", JUMPS)
def test_the_derivative_where_there_is_none(name):
    given, expected = (np.array(one) for one in JUMPS[name])
    for found in derivatives(name, given):
        assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["min", "max"])
def test_of_two_that_are_equal_one_is_taken(name):
    for found in derivatives(name, np.array([[1.0, -2.0], [1.0, -2.0]])):
        assert_array_equal(np.sort(found, axis=0), [[0.0, 0.0], [1.0, 1.0]])


@each_operation
def test_an_operation_is_commutative_where_it_says_so(name):
    if COUNTS[name] == 2:
        given = samples(name)
        same = np.array_equal(by_numpy(name, given), by_numpy(name, given[::-1]), equal_nan=True)
        assert same == OPERATIONS[name].commutative
