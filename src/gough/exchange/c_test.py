"""The test program that goes with exported C: states, gough's own answers, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.emit import c
from gough.mechanics.state import RIGID_FIELDS


class Vectors(NamedTuple):
    """Test states and what gough itself answers."""

    inputs: dict[str, Array]
    """(states, ...) of every input; the state's fields and others."""
    answers: dict[str, dict[str, Array]]
    """(states, ...) by function and output."""
    tolerances: dict[str, float]
    slow: dict[str, Array]
    """(states,) by friction loop: plain passes are not enough there."""


def test_program(package: c.Package, vectors: Vectors) -> str:
    """The test program: states, answers, and how far the C functions are from them."""
    p, real = package.prefix, package.real
    count = len(vectors.inputs["position"])
    tests, calls = [], []
    for function in package.functions:
        outputs = c.shapes(function.program.outputs)
        tests.append(_one_test(package, vectors, function.name, function.inputs, outputs, False))
        calls.append(function.name)
        if function.looped:
            inputs = {n: s for n, s in function.inputs.items() if n != "loads"}
            outputs = c.loop_outputs(function)
            tests.append(_one_test(package, vectors, function.looped, inputs, outputs, True))
            calls.append(function.looped)
    arrays = [_states_text(package, vectors.inputs)]
    wanted = dict.fromkeys(name for f in package.functions for name in f.inputs)
    for name in wanted:
        kind = f"{p}_loads" if name == "loads" else real
        size = "" if name == "loads" else f"[{vectors.inputs[name][0].size}]"
        rows = ",\n".join(_braces(row, real) for row in vectors.inputs[name])
        arrays.append(f"static const {kind} {name}_of[COUNT]{size} = {{\n{rows}\n}};\n")
    runs = "\n".join(f"    failures += test_{name}(&worst);" for name in calls)
    return "\n".join(
        [
            f"/* {package.mark} */",
            c.comment([f"Compares the functions of {p}.c with what gough itself answers."]),
            f'#include <math.h>\n#include <stdio.h>\n\n#include "{p}.h"\n\n#define COUNT {count}\n',
            *arrays,
            TEST_HELPER.format(real=real),
            *tests,
            _refusal(package),
            f"int main(void)\n{{\n    double worst = 0;\n    int failures = 0;\n{runs}\n"
            "    failures += test_refusal();\n"
            '    printf("largest relative error %.3g\\n", worst);\n'
            "    return failures != 0;\n}\n",
        ]
    )


TEST_HELPER = """\
/* Largest error over the size of what is expected; huge where a number is none. */
static double error_of(const {real} *found, const {real} *expected, int count, double size)
{{
    double largest = 0;
    int i;
    for (i = 0; i < count; i++) {{
        double error = fabs((double)found[i] - (double)expected[i]) / size;
        if (!(error <= HUGE_VAL))
            return HUGE_VAL;
        if (error > largest)
            largest = error;
    }}
    return largest;
}}

static int verdict(const char *name, double error, double tolerance, int refused, double *worst)
{{
    int failed = refused || !(error <= tolerance);
    if (error > *worst)
        *worst = error;
    printf("%-40s error %.2e, tolerance %.2e%s%s\\n", name, error, tolerance,
        refused ? ", healthy states refused" : "", failed ? ": FAILED" : "");
    return failed;
}}
"""


def _one_test(
    package: c.Package,
    vectors: Vectors,
    name: str,
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Mapping[str, tuple[int, ...]],
    looped: bool,
) -> str:
    """Expected outputs of one function, and the C function that compares them."""
    p, real = package.prefix, package.real
    answers = vectors.answers[name]
    slow = vectors.slow.get(name, np.zeros(len(answers["margin"]), dtype=bool))
    sizes = {one: float(np.abs(answers[one][~slow]).max(initial=0.0)) for one in outputs}
    arrays, checks = [], []
    for one, shape in outputs.items():
        size = math.prod(shape)
        rows = ",\n".join(_braces(np.ravel(row), real) for row in answers[one])
        arrays.append(f"static const {real} {name}_{one}[COUNT][{size}] = {{\n{rows}\n}};\n")
        # an output that is nearly 0 throughout is as exact as the larger ones beside it
        scale = max(sizes[one], 1e-3 * max(sizes.values())) or 1.0
        start = c.element(f"answer.{one}", shape, 0)
        checks.append(
            f"        error = fmax(error, error_of(&{start}, {name}_{one}[i], {size}, {scale!r}));"
        )
    skip = ""
    if slow.any():
        marks = ", ".join(str(int(one)) for one in slow)
        arrays.append(
            f"/* Friction settles too slowly. */\nstatic const int {name}_slow[COUNT] = {{{marks}}};\n"
        )
        skip = f"        if ({name}_slow[i])\n            continue;\n"
    given = "".join(f", &{one}_of[i]" if one == "loads" else f", {one}_of[i]" for one in inputs)
    given += f", {p.upper()}_PASSES" if looped else ""
    listed = "\n".join(arrays)
    compared = "\n".join(checks)
    return f"""\
{listed}
static int test_{name}(double *worst)
{{
    double error = 0;
    int i, refused = 0;
    for (i = 0; i < COUNT; i++) {{
        {p}_{name}_answer answer;
{skip}        refused += {p}_{name}(&states[i]{given}, &answer) != GOUGH_HEALTHY;
{compared}
    }}
    return verdict("{name}", error, {vectors.tolerances[name]!r}, refused, worst);
}}
"""


def _refusal(package: c.Package) -> str:
    """A state that is not a number must be refused."""
    first = package.functions[0]
    given = "".join(", NULL" if n in c.OPTIONAL else f", {n}_of[0]" for n in first.inputs)
    return f"""\
static int test_refusal(void)
{{
    {package.prefix}_state state = states[0];
    {package.prefix}_{first.name}_answer answer;
    state.position[0] = NAN;
    if ({package.prefix}_{first.name}(&state{given}, &answer) == GOUGH_DOUBTFUL)
        return 0;
    printf("a state that is not a number is not refused: FAILED\\n");
    return 1;
}}
"""


def _states_text(package: c.Package, inputs: Mapping[str, Array]) -> str:
    rows = []
    for i in range(len(inputs["position"])):
        fields = ",\n     ".join(_braces(inputs[name][i], package.real) for name in RIGID_FIELDS)
        rows.append(f"    {{{fields}}}")
    body = ",\n".join(rows)
    return f"static const {package.prefix}_state states[COUNT] = {{\n{body}\n}};\n"


def _braces(value: Array, real: str) -> str:
    """A C initialiser."""
    if value.ndim > 1:
        return "{" + ", ".join(_braces(row, real) for row in value) + "}"
    return "{" + ", ".join(c.literal(float(x), real).strip("()") for x in value) + "}"
