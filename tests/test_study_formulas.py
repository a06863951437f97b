"""Formulas of studies: never executed, right, or refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cases.errors import refusal
from gough.errors import InputError
from gough.studies.formula import parse, parse_constraint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 ^ 3 ** 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("8 / 4 / 2", 1),
        ("1 - 2 - 3", -4),
        ("--x", 2),
        ("max(x, 3) + min(x, 1)", 4),
        ("atan2(1, 1) * 4 - pi", 0),
        ("sqrt(x * 8) + abs(-.5e1)", 9),
        ("cos(radians(60))", 0.5),
        (3, 3),
    ],
)
def test_formulas_say_what_arithmetic_says(text, value):
    formula = parse(text, ["x"])
    assert_allclose(formula({"x": np.float64(2)}), value, atol=1e-14)
    assert_allclose(formula({"x": np.full((3, 1), 2.0)}), np.full((3, 1), value), atol=1e-14) if (
        formula.names
    ) else None


HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0]",
    "x.real",
    "x[0]",
    "lambda: 1",
    "exec(1)",
    "open(x)",
    "x if x else 1",
    "x := 3",
    "f'{x}'",
    "1; 2",
    "x\n= 3",
    "#",
    "",
    "   ",
    "1 +",
    "* 2",
    "(1",
    "1)",
    "1 2",
    "sin x",
    "sin()",
    "sin(1, 2)",
    "1e999",
    "x < 1",
    "ſin(1)",
    "²",
    "１",
    "nan",
    "inf",
    "(" * 500 + ")" * 499,
    "-" * 900 + "1",
    "2^" * 300 + "2",
    "1+" * 5000 + "1",
    True,
    None,
    [1],
    float("nan"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(InputError):
        parse(text, ["x"])


def test_huge_powers_and_long_sums_are_just_numbers():
    assert np.isinf(parse("9^9^9^9", [])({}))
    assert parse("1+" * 499 + "1", [])({}) == 500
    assert np.isnan(parse("sqrt(0 - 1)", [])({}))


@settings(max_examples=150)
@given(
    st.text(alphabet="x1.e+-*/^(),<>= \tsincoprtqa_\"'[]{}λ\\#\0", max_size=60)
    | st.text(max_size=40)
)
def test_any_text_is_a_formula_or_a_clear_error(text):
    for reader in (parse, parse_constraint):
        try:
            made = reader(text, ["x"])
        except InputError:
            continue
        formula = made if reader is parse else made.excess
        assert formula({"x": np.ones(2)}).dtype == np.float64


@settings(max_examples=100)
@given(st.recursive(
    st.sampled_from(["x", "2.5", "0.125", "pi"]),
    lambda part: st.builds("({} {} {})".format, part, st.sampled_from("+-*"), part)
    | st.builds("-{}".format, part),
    max_leaves=12,
))  # fmt: skip
def test_formulas_agree_with_python(text):
    """Python's own reading of the same text, in the test only."""
    expected = eval(text, {"__builtins__": {}}, {"x": 1.75, "pi": np.pi})
    assert parse(text, ["x"])({"x": np.float64(1.75)}) == expected


@pytest.mark.parametrize(
    ("text", "good"), [("x < 3", [1, 0]), ("3 <= x", [0, 1]), ("x > 1 + 3", [0, 1])]
)
def test_constraints(text, good):
    excess = parse_constraint(text, ["x"]).excess({"x": np.array([2.0, 5.0])})
    assert_array_equal(excess <= 0, np.array(good, dtype=bool))
    with refusal(InputError, "comparison"):
        parse_constraint("x + 1", ["x"])
