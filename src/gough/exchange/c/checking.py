"""The test program that goes with exported C: states, gough's own answers, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, condition
from gough.engine.emit.c import comment, element, literal
from gough.engine.functions import Function
from gough.engine.run.execute import Executor
from gough.errors import InputError, MissingDataError
from gough.exchange.c.callers import SHRINKS, SMALL, callers
from gough.exchange.c.package import OPTIONAL, STEP, TIMES, UNDER_LOADS, Limits, Package, shapes
from gough.exchange.programs import CLOSING, FINDING, PROGRAMS, in_precision, mass_times
from gough.mechanics import programs as models
from gough.mechanics.friction import Friction
from gough.mechanics.state import CHAINS, RIGID_FIELDS
from gough.model import friction_loop
from gough.model.deflection import largest_shapes
from gough.model.diagnosis import SYSTEMS
from gough.model.execution import numpy_executor
from gough.model.freedom import COORDINATES
from gough.model.friction_loop import with_friction
from gough.model.model import Model
from gough.motion import Motion

EPSILON = {"double": 2.0**-52, "float": 2.0**-23}
ROUNDING = 200
"""Rounding errors that an answer may have collected, before the condition number multiplies them."""
STATES = 6
"""Test states: home and some around it."""
NEARER = 0.9
"""How far from home, beside the test states, the poses are that forward kinematics looks for."""


class Vectors(NamedTuple):
    """Test states and what gough itself answers."""

    inputs: dict[str, Array]
    """(states, ...) of every input; the state's fields and others."""
    answers: dict[str, dict[str, Array]]
    """(states, ...) by function and output."""
    tolerances: dict[str, float]
    slow: dict[str, Array]
    """(states,) by loop: it does not come to its end there within the passes or steps to recommend."""


def test_vectors(robot: Model, package: Package, states: Motion | None) -> Vectors:
    """Inputs that the C numbers can hold exactly, and the answers to these."""
    run = numpy_executor(in_precision(robot, package.real))
    kind = np.float64 if package.real == "double" else np.float32
    fields, q = _states(robot, package) if states is None else _given(robot, states)
    if not all(np.all(margin > 0) for margin in _margins(robot, package, fields, q)):
        raise InputError("states: the robot has no good answer in some of them")

    def exact(values: Array) -> Array:
        return values.astype(kind).astype(np.float64)

    inputs = {name: exact(value) for name, value in fields.items()}
    count, legs = len(inputs["position"]), robot.leg_count
    rng = np.random.default_rng(1)
    wanted = {name for one in package.functions for name in one.inputs}
    inputs["q"] = exact(q)
    if "elastic_along" in wanted:
        inputs["along"] = exact(rng.normal(size=(count, 6)))
        inputs["elastic_along"] = exact(rng.normal(size=(count, robot.modes)))
    if "wrench" in wanted:
        mass = float(np.sum(robot.mechanism.platform.body.mass)) or 1.0
        wrench = mass * rng.normal(size=(count, 6))
        wrench[0] = 0
        inputs["wrench"] = exact(wrench)
        state = {name: inputs[name] for name in (*fields, "wrench")}
        actuators = robot.actuator_count
        needed = run(models.inverse_dynamics, count, state)["forces"]
        largest = np.abs(needed).max(axis=1, keepdims=True)
        inputs["forces"] = exact(needed + 0.2 * largest * rng.normal(size=(count, actuators)))
        inputs["preload"] = exact(0.2 * largest * rng.normal(size=(count, actuators)))
        inputs["loads"] = exact(largest[..., np.newaxis] * rng.uniform(size=(count, 3, legs)))
    answers: dict[str, dict[str, Array]] = {}
    tolerances: dict[str, float] = {}
    slow: dict[str, Array] = {}
    state = {name: inputs[name] for name in fields}
    for function in package.functions:
        given = state | {one: inputs[one] for one in function.inputs}
        name = function.name
        for end in (UNDER_LOADS, TIMES, STEP):
            name = name.removesuffix(end)
        program = mass_times if function.name.endswith(TIMES) else PROGRAMS[name]
        answers[function.name] = run(program, count, given)
        if name in CLOSING:  # how far the joints were off is rounding
            answers[name] = {CHAINS: answers[name][CHAINS]}
        tolerances[function.name] = _tolerance(robot, name, count, state, package.real)
        for caller in callers(package, function):
            tolerances[caller.name] = tolerances[function.name]
            if function.name.endswith(TIMES):
                blocks = run(models.mass_matrix, count, state)
                healthy = blocks.pop("margin")
                whole = robot.mechanism.platform.whole_mass(**blocks)
                answers[caller.name] = {"mass_matrix": whole, "margin": healthy}
            elif function.name.endswith(UNDER_LOADS):
                del given["loads"]
                friction = robot.mechanism.legs.friction
                answers[caller.name] = with_friction(run, program, count, given, friction)[0]
                slow[caller.name] = _slow(run, program, given, friction)
            else:
                answers[caller.name], slow[caller.name] = _found(run, given, package.limits)
                off = package.limits.pose * float(answers[function.name]["size"].max())
                tolerances[caller.name] *= 1 + off / (ROUNDING * EPSILON[package.real])
    return Vectors(inputs, answers, tolerances, slow)


def _found(
    run: Executor, given: Mapping[str, Array], limits: Limits
) -> tuple[dict[str, Array], Array]:
    """Poses by Newton's steps, and where these are not enough."""
    near, count = dict(given), len(given["position"])
    moved = [one for one in ("position", "rotation", CHAINS) if one in given]
    first = step = run(PROGRAMS["forward_kinematics"], count, near)
    sure = np.ones(count, dtype=bool)
    for _ in range(limits.most_steps - 2):
        near |= {one: step[one] for one in moved}
        before, step = step["length"], run(PROGRAMS["forward_kinematics"], count, near)
        shrinks = (step["length"] <= SHRINKS * before) | (step["length"] <= SMALL)
        sure &= shrinks | (CHAINS not in given)
    met = step["residual"] <= 0.5 * limits.pose * step["size"]
    if limits.stationary:
        met |= (step["length"] <= limits.stationary) & (step["residual"] <= limits.rounded)
    answer = {one: near[one] for one in ("position", "rotation")}
    healthy = (step["margin"] > 0) & (step["side"] == first["side"])
    return answer, np.asarray(~(met & healthy & sure))


def _slow(
    run: Executor, function: Function, given: Mapping[str, Array], rubbing: Friction
) -> Array:
    """States where plain passes do not surely settle: there gough goes on with Newton, C gives up."""
    count = len(given["position"])
    loads = np.zeros((count, 3, len(rubbing.width)))
    change = np.full(count, np.inf)
    for _ in range(friction_loop.MOST_PASSES - 3):
        new = run(function, count, {**given, "loads": loads})["caused"]
        change = np.abs(new - loads).max(axis=(1, 2)) / np.abs(new).max(axis=(1, 2), initial=1e-300)
        loads = new
    return np.asarray(~(change <= friction_loop.TOLERANCE))


def _given(robot: Model, motion: Motion) -> tuple[dict[str, Array], Array]:
    """A motion's fields as rows, and the q that forward kinematics is asked for: those there."""
    fields = _fields(robot, motion)
    return fields, _coordinates(robot, fields)


def _coordinates(robot: Model, fields: Mapping[str, Array]) -> Array:
    run, count = numpy_executor(robot.mechanism), len(fields["position"])
    return run(models.inverse_kinematics, count, fields)["q"]


def _fields(robot: Model, motion: Motion) -> dict[str, Array]:
    """A motion's fields as rows, elastic ones where the platform has modes."""
    count = math.prod(motion.shape)
    if not count:
        raise InputError("states: the motion has no samples")
    flat = motion.reshape(count)
    fields = {name: np.array(getattr(flat, name)) for name in RIGID_FIELDS}
    if robot.modes:
        for name, (value, core) in robot.elastic_inputs(flat).items():
            fields[name] = np.broadcast_to(value, (count, *core)).copy()
    if robot.mechanism.legs.coordinates:
        fields[CHAINS] = robot.chains_of(motion).reshape(count, -1).copy()
    return fields


def _states(robot: Model, package: Package) -> tuple[dict[str, Array], Array]:
    """Home and states around it, ever nearer until all programs are healthy there, and q near by."""
    if robot.description.home is None:
        raise MissingDataError(f"{robot.name} has no home pose to test the C code at; give states=")
    rng = np.random.default_rng(0)
    draws = rng.uniform(-1, 1, size=(6, STATES, 3))
    draws[:, 0] = 0
    length = robot.length_scale
    bent = np.zeros((3, STATES, 0))
    if robot.modes:
        bent = length / largest_shapes(robot) * rng.uniform(-1, 1, (3, STATES, robot.modes))
        bent[:, 0] = 0
    size = 0.5
    for _ in range(12):
        fields = _fields(robot, _around(robot, size, draws, bent))
        q = _coordinates(robot, _fields(robot, _around(robot, NEARER * size, draws, bent)))
        if all(np.all(margin > 0) for margin in _margins(robot, package, fields, q)):
            return fields, q
        size /= 2
    raise MissingDataError(
        f"{robot.name}: the home pose is not one to test the C code at (a leg is out of reach or "
        "the pose is singular); give states="
    )


def _around(robot: Model, size: float, draws: Array, bent: Array) -> Motion:
    """States around home that the platform can be in; `size` scales how far from it."""
    home, length = robot.home, robot.length_scale
    elastic = {
        "elastic": 0.02 * size * bent[0],
        "elastic_velocity": bent[1],
        "elastic_acceleration": 5 * bent[2],
    }
    if robot.mobility == 6:
        return Motion(
            home.position + 0.5 * size * length * draws[0],
            Rotation.from_rotvec(size * draws[1]).as_matrix() @ home.rotation,
            length * draws[2],
            draws[3],
            5 * length * draws[4],
            5 * draws[5],
            **elastic,
        )
    given = [COORDINATES.index(name) for name in robot.coordinates]
    units = np.repeat([length, 1.0], 3)[given]
    start = np.concatenate([home.position, np.zeros(3)])[given]
    shift, rate, second = (
        np.concatenate([draws[2 * k], draws[2 * k + 1]], axis=-1)[:, given] * units
        for k in range(3)
    )
    found = robot.motion(start + 0.5 * size * shift, rate, 5 * second)
    return found.replace(**elastic) if robot.modes else found


def _margins(robot: Model, package: Package, fields: Mapping[str, Array], q: Array) -> list[Array]:
    """Margins of every program that the package has."""
    run, count = numpy_executor(in_precision(robot, package.real)), len(fields["position"])
    margins = []
    for function in package.functions:
        if not function.name.endswith((UNDER_LOADS, TIMES)):
            given = {n: np.zeros((1, *shape)) for n, shape in function.inputs.items()}
            given |= {"q": q} if "q" in given else {}
            program = PROGRAMS[function.name.removesuffix(STEP)]
            margins.append(run(program, count, {**fields, **given})["margin"])
    return margins


def _tolerance(robot: Model, name: str, count: int, state: Mapping[str, Array], real: str) -> float:
    """How far C may be from gough, relative: rounding times the condition of what is solved."""
    worst = 0.0
    if name in FINDING:
        return _tolerance(robot, "inverse_dynamics", count, state, real)
    if name in SYSTEMS:
        run = numpy_executor(robot.mechanism)
        found = run(models.diagnosis, count, state)
        worst = float(np.max(condition(found[SYSTEMS[name][0]])))
    return float(ROUNDING * EPSILON[real] * (10 + worst))


def test_program(package: Package, vectors: Vectors) -> str:
    """The test program: states, answers, and how far the C functions are from them."""
    p, real = package.prefix, package.real
    count = len(vectors.inputs["position"])
    tests, calls = [], []
    for function in package.functions:
        outputs = shapes(function.program.outputs)
        tests.append(_one_test(package, vectors, function.name, tuple(function.inputs), outputs))
        calls.append(function.name)
        for one in callers(package, function):
            tests.append(_one_test(package, vectors, one.name, one.passed, one.outputs, one.cap))
            calls.append(one.name)
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
            comment([f"Compares the functions of {p}.c with what gough itself answers."]),
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
        if (expected[i] != expected[i] && found[i] != found[i])
            continue; /* a joint that the leg does not have */
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
    package: Package,
    vectors: Vectors,
    name: str,
    inputs: tuple[str, ...],
    outputs: Mapping[str, tuple[int, ...]],
    cap: str = "",
) -> str:
    """Expected outputs of one function, and the C function that compares them."""
    p, real = package.prefix, package.real
    answers = {one: vectors.answers[name][one] for one in outputs if one in vectors.answers[name]}
    slow = vectors.slow.get(name, np.zeros(len(vectors.inputs["position"]), dtype=bool))
    sizes = {one: float(np.nanmax(np.abs(answers[one][~slow]), initial=0.0)) for one in answers}
    arrays, checks = [], []
    for one in answers:
        shape = outputs[one]
        size = math.prod(shape)
        rows = ",\n".join(_braces(np.ravel(row), real) for row in answers[one])
        arrays.append(f"static const {real} {name}_{one}[COUNT][{size}] = {{\n{rows}\n}};\n")
        # an output that is nearly 0 throughout is as exact as the larger ones beside it
        scale = max(sizes[one], 1e-3 * max(sizes.values())) or 1.0
        start = element(f"answer.{one}", shape, 0)
        checks.append(
            f"        error = fmax(error, error_of(&{start}, {name}_{one}[i], {size}, {scale!r}));"
        )
    skip = ""
    if slow.any():
        marks = ", ".join(str(int(one)) for one in slow)
        arrays.append(
            "/* Takes too many passes or steps. */\n"
            f"static const int {name}_slow[COUNT] = {{{marks}}};\n"
        )
        skip = f"        if ({name}_slow[i])\n            continue;\n"
    given = "".join(f", &{one}_of[i]" if one == "loads" else f", {one}_of[i]" for one in inputs)
    given += f", {cap}" if cap else ""
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


def _refusal(package: Package) -> str:
    """A state that is not a number must be refused."""
    first = package.functions[0]
    given = "".join(", NULL" if n in OPTIONAL else f", {n}_of[0]" for n in first.inputs)
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


def _states_text(package: Package, inputs: Mapping[str, Array]) -> str:
    rows = []
    for i in range(len(inputs["position"])):
        fields = ",\n     ".join(_braces(inputs[name][i], package.real) for name in package.state)
        rows.append(f"    {{{fields}}}")
    body = ",\n".join(rows)
    return f"static const {package.prefix}_state states[COUNT] = {{\n{body}\n}};\n"


def _braces(value: Array, real: str) -> str:
    """A C initialiser."""
    if value.ndim > 1:
        return "{" + ", ".join(_braces(row, real) for row in value) + "}"
    return "{" + ", ".join(literal(float(x), real).strip("()") for x in value) + "}"
