"""C functions that call others: friction that agrees with its loads, whole matrices, poses found.

Each is written around one function that comes from a program, which it calls a known number of times.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from gough.engine.emit.c import element, literal
from gough.exchange.c.package import (
    LOADS,
    STEP,
    TIMES,
    UNDER_LOADS,
    Function,
    Package,
    parameters,
    shapes,
    signature,
)

BEHIND = ("caused", "vectors")
"""Outputs that serve the friction loop only."""
WITH_FRICTION = "_with_friction"
SHRINKS, SMALL = 0.5, 0.01
"""Newton's step as a share of the one before, and one of no doubt, rad or length scales, up to which
joints of chain legs stay on their branch."""
WASH = {"add": 27 + 9, "mul": 54 + 9}
"""Operations of R (3 - R^T R)/2."""


class Caller(NamedTuple):
    """A function that calls another."""

    name: str
    given: list[str]
    """C's parameters, without the answer."""
    passed: tuple[str, ...]
    """Inputs beside the state, by name."""
    cap: str
    """The macro that says how often it calls at most; empty where that is fixed."""
    outputs: dict[str, tuple[int, ...]]
    counted: str
    """A whole number in the answer; empty where there is none."""
    summary: str
    text: str
    """Its definition."""
    calls: int
    """How often it calls at most, the cap as recommended."""
    also: Counter[str]
    """Operations of its own."""


def callers(package: Package, function: Function) -> Iterator[Caller]:
    """The functions around one, if any."""
    if function.name.endswith(UNDER_LOADS):
        yield _friction(package, function)
    if function.name.endswith(TIMES):
        yield _matrix(package, function)
    if function.name.endswith(STEP):
        yield _pose(package, function)


def rubs(package: Package) -> bool:
    """Whether there is a friction loop."""
    return any(one.name.endswith(UNDER_LOADS) for one in package.functions)


def finds(package: Package) -> bool:
    """Whether there is forward kinematics."""
    return any(one.name.endswith(STEP) for one in package.functions)


def macros(package: Package) -> str:
    """Status codes and numbers of the loops, for the header."""
    p, real, limits = package.capital, package.real, package.limits
    text = "#define GOUGH_HEALTHY 0\n#define GOUGH_DOUBTFUL 1"
    if rubs(package) or finds(package):
        text += (
            "\n/* No answer within the passes or steps given: friction found no loads that agree with "
            "it,\n * or Newton's method no pose. */\n#define GOUGH_NOT_CONVERGED 2\n"
        )
    if rubs(package):
        text += f"""
/* Passes of the friction loop to allow. */
#define {p}_PASSES {limits.most_passes}
/* Disagreement over largest load at which the loop stops, and above which there is no answer. */
#define {p}_TOLERANCE {literal(limits.friction, real)}
#define {p}_WORST_RESIDUAL {literal(limits.worst_friction, real)}
"""
    if finds(package):
        text += f"""
/* Newton's steps of forward kinematics to allow. */
#define {p}_STEPS {limits.most_steps}
/* Error of q over the longest leg at which a pose is found. */
#define {p}_POSE_TOLERANCE {literal(limits.pose, real)}
"""
    if finds(package) and limits.stationary:
        text += f"""\
/* The robot is over-constrained, its constraints agree only as well as its numbers: a pose is also found
 * where a step is this short (rad, length scales) and q off by no more than this (m, rad). */
#define {p}_STATIONARY {literal(limits.stationary, real)}
#define {p}_ROUNDED {literal(limits.rounded, real)}
"""
    return text.rstrip("\n")


def shared(package: Package) -> list[str]:
    """Definitions that several callers need."""
    return [_load_functions(package)] if rubs(package) else []


def _load_functions(package: Package) -> str:
    p, real, f = package.prefix, package.real, "f" if package.real == "float" else ""
    legs = f"{package.capital}_LEGS"
    changes = "\n".join(
        f"        change = larger(change, fabs{f}(now->{n}[i] - before->{n}[i]));\n"
        f"        largest = larger(largest, now->{n}[i]);"
        for n in LOADS
    )
    copies = "\n".join(f"        loads->{n}[i] = caused[{k}][i];" for k, n in enumerate(LOADS))
    return f"""\
static void keep({real} caused[3][{legs}], {p}_loads *loads)
{{
    int i;
    for (i = 0; i < {legs}; i++) {{
{copies}
    }}
}}

/* Largest change of loads over the largest load. */
static {real} disagreement(const {p}_loads *now, const {p}_loads *before)
{{
    {real} change = 0, largest = 0;
    int i;
    for (i = 0; i < {legs}; i++) {{
{changes}
    }}
    return change / or_one(largest);
}}
"""


def _friction(package: Package, function: Function) -> Caller:
    """Plain passes until the loads agree with the friction they cause."""
    p, name = package.prefix, function.name
    looped = name.removesuffix(UNDER_LOADS) + WITH_FRICTION
    passed = tuple(one for one in function.inputs if one != "loads")
    given = [one for one in parameters(package, function) if not one.endswith("*loads")]
    given.append("int most_passes")
    kept = {n: s for n, s in shapes(function.program.outputs).items() if n not in BEHIND}
    copies = "\n".join(
        f"    answer->{element(n, shape, i)} = pass.{element(n, shape, i)};"
        for n, shape in kept.items()
        for i in range(math.prod(shape))
    )
    arguments = ", ".join((*(["own"] if package.own else []), "state", *passed))
    text = f"""\
{signature(package, looped, given)}
{{
    {p}_loads before = {{{{0}}, {{0}}, {{0}}}}, now;
    {p}_{name}_answer pass;
    {package.real} residual;
    int status, passes = 0;
    (void){p}_{name}({arguments}, &before, &pass);
    keep(pass.caused, &now);
    do {{
        before = now;
        status = {p}_{name}({arguments}, &before, &pass);
        keep(pass.caused, &now);
        residual = disagreement(&now, &before);
        passes++;
    }} while (residual > {package.capital}_TOLERANCE && passes < most_passes);
{copies}
    answer->residual = residual;
    answer->passes = passes;
    if (status != GOUGH_HEALTHY)
        return status;
    return residual <= {package.capital}_WORST_RESIDUAL ? GOUGH_HEALTHY : GOUGH_NOT_CONVERGED;
}}
"""
    calls, compared = package.limits.most_passes + 1, len(LOADS) * package.legs
    each = {"sub": compared, "abs": compared, "max": 2 * compared, "div": 1}
    return Caller(
        looped,
        given,
        passed,
        f"{package.capital}_PASSES",
        kept | {"residual": ()},
        "passes",
        f"The same with friction that agrees with its own loads: calls {name} until loads do not "
        f"change, most_passes times at most ({package.capital}_PASSES is plenty unless friction nearly "
        "locks a joint). Else GOUGH_NOT_CONVERGED.",
        text,
        calls,
        Counter({one: (calls - 1) * count for one, count in each.items()}),
    )


def _matrix(package: Package, function: Function) -> Caller:
    """A matrix from its products with unit vectors."""
    p, name = package.prefix, function.name
    matrix = name.removesuffix(TIMES)
    (first, second), (above, below) = function.inputs, list(function.program.outputs)[:2]
    modes = f"{package.capital}_MODES"
    given = [f"const {p}_state *state"]
    size = sum(math.prod(shape) for shape in function.inputs.values())
    text = f"""\
{signature(package, matrix, given)}
{{
    {package.real} {first}[6] = {{0}}, {second}[{modes}] = {{0}};
    {p}_{name}_answer column;
    int i, j, status = GOUGH_HEALTHY;
    for (j = 0; j < 6 + {modes}; j++) {{
        for (i = 0; i < 6; i++)
            {first}[i] = i == j;
        for (i = 0; i < {modes}; i++)
            {second}[i] = i + 6 == j;
        if ({p}_{name}(state, {first}, {second}, &column) != GOUGH_HEALTHY)
            status = GOUGH_DOUBTFUL;
        for (i = 0; i < 6; i++)
            answer->{matrix}[i][j] = column.{above}[i];
        for (i = 0; i < {modes}; i++)
            answer->{matrix}[i + 6][j] = column.{below}[i];
    }}
    answer->margin = column.margin;
    return status;
}}
"""
    outputs: dict[str, tuple[int, ...]] = {matrix: (size, size), "margin": ()}
    summary = package.notes[f"{matrix}()"]
    return Caller(matrix, given, (), "", outputs, "", summary, text, size, Counter())


def _pose(package: Package, function: Function) -> Caller:
    """Forward kinematics: Newton's steps from a pose near by until the legs have the wanted q."""
    p, name, limits = package.prefix, function.name, package.limits
    called = name.removesuffix(STEP)
    moved = [one for one in ("position", "rotation", "chains") if one in package.state]
    given = [*parameters(package, function), "int most_steps"]
    kept = {one: package.state[one] for one in moved}
    met = f"step.residual <= {package.capital}_POSE_TOLERANCE * step.size"
    if limits.stationary:
        met += f"""
            || (step.length <= {package.capital}_STATIONARY
                && step.residual <= {package.capital}_ROUNDED)"""
    joints = copied = shrinks = ""
    if "chains" in kept:
        half, short = literal(SHRINKS, package.real), literal(SMALL, package.real)
        shrinks = f"""
        /* joints stay on their branch where steps shrink */
        sure = sure && (!steps || step.length <= {half} * before || step.length <= {short});
        before = step.length;"""
        each = f"for (i = 0; i < {kept['chains'][0]}; i++)\n    "
        joints = f"        {each}        near.chains[i] = step.chains[i];\n"
        copied = f"    {each}    answer->chains[i] = near.chains[i];\n"
    text = f"""\
{signature(package, called, given)}
{{
    {p}_state near = *state;
    {p}_{name}_answer step;
    {package.real} square[3][3], side = 0{", before = 0" if shrinks else ""};
    int i, j, status, steps = 0, found, sure = 1;
    do {{
        status = {p}_{name}(&near, q, &step);
        found = {met};
        side = steps ? side : step.side;{shrinks}
        for (i = 0; i < 3; i++) {{
            near.position[i] = step.position[i];
            for (j = 0; j < 3; j++)
                near.rotation[i][j] = step.rotation[i][j];
        }}
{joints}        steps++;
    }} while (!found && step.length >= 0 && steps < most_steps);
    /* what many products have rounded comes out of the rotation: R (3 - R^T R)/2 */
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            square[i][j] = near.rotation[0][i] * near.rotation[0][j]
                + near.rotation[1][i] * near.rotation[1][j]
                + near.rotation[2][i] * near.rotation[2][j];
    for (i = 0; i < 3; i++) {{
        answer->position[i] = near.position[i];
        for (j = 0; j < 3; j++)
            answer->rotation[i][j] = {literal(0.5, package.real)} * (3 * near.rotation[i][j]
                - near.rotation[i][0] * square[0][j] - near.rotation[i][1] * square[1][j]
                - near.rotation[i][2] * square[2][j]);
    }}
{copied}    answer->residual = step.residual;
    answer->margin = step.margin;
    answer->steps = steps;
    if (!found)
        return GOUGH_NOT_CONVERGED;
    return side == step.side && sure ? status : GOUGH_DOUBTFUL;
}}
"""
    return Caller(
        called,
        given,
        tuple(function.inputs),
        f"{package.capital}_STEPS",
        kept | {"residual": (), "margin": ()},
        "steps",
        "Forward kinematics: the pose in which the legs have the coordinates q, by Newton's method from "
        "a pose near by, the state's; its velocities and accelerations do not count. Give the pose of "
        f"the cycle before. Calls {name} most_steps times at most, once at least; "
        f"{package.capital}_STEPS is enough wherever there is such a pose not far from the state's. "
        "GOUGH_NOT_CONVERGED: none was found. GOUGH_DOUBTFUL: it is singular, on the other branch of a "
        "leg, beyond a singular pose, joints of chain legs may have changed their branch, or input is "
        "not finite. More than one pose may have the same q: "
        "far from the state's, it may be another.",
        text,
        limits.most_steps,
        Counter(WASH),
    )
