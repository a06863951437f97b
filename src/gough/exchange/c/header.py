"""The header that goes with exported C: structs, signatures and what they mean."""

from __future__ import annotations

from gough.engine.emit.c import comment
from gough.exchange.c.callers import callers, macros, rubs
from gough.exchange.c.counts import worst_case
from gough.exchange.c.package import (
    LOADS,
    Function,
    Package,
    checks,
    parameters,
    shapes,
    signature,
    struct,
)


def header_text(package: Package) -> str:
    """The .h file: the API and its documentation."""
    guard = f"{package.capital}_H"
    parts = [
        f"/* {package.mark} */",
        comment(
            [
                *package.title,
                "",
                "SI units, radians, right-handed frames. World frame 0; a point x of the platform "
                "is at position + rotation x. The twist is the velocity of the platform frame's "
                "origin and the angular velocity, both in world axes; the accelerations are their "
                "time derivatives. An actuator force is positive where it pushes towards larger q. "
                "A wrench is force (3) and moment (3) on the platform at its frame's origin, world "
                "axes. Matrices are row-major: matrix[row][column].",
                "",
                "Every function takes one state and returns GOUGH_HEALTHY where its answer is good. "
                "GOUGH_DOUBTFUL says that answer->margin is not > 0 (it may be not a number), or that a "
                "number of the answer is not finite: a leg "
                "out of reach or singular, a singular pose, a solve in doubt, or input that is not "
                "finite; do not use the answer then. The rotation is taken as given: it must be a "
                "rotation. Limits of the robot (strokes, forces) are not looked at. Functions keep "
                "nothing between calls: any number of threads may call them.",
            ]
        ),
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n',
        macros(package),
    ]
    sizes = f"\n#define {package.capital}_LEGS {package.legs}\n"
    sizes += f"#define {package.capital}_ACTUATORS {package.actuators}\n"
    modes = package.state.get("elastic", (0,))[0]
    sizes += f"#define {package.capital}_MODES {modes}\n" if modes else ""
    parts += [
        sizes,
        "/* Where the platform is and how it moves. */\n" + struct(package, "state", package.state),
    ]
    if rubs(package):
        parts.append(
            "/* Load magnitudes that friction feels. */\n"
            + struct(package, "loads", {name: (package.legs,) for name in LOADS})
        )
    for function in package.functions:
        parts += _declarations(package, function)
    parts.append("#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
    return "\n".join(parts)


def _declarations(package: Package, function: Function) -> list[str]:
    inputs = {n: f"{n}: {package.notes[n]}" for n in function.inputs if n in package.notes}
    work = function.program.tally() + checks(function.program)
    parts = [
        struct(package, f"{function.name}_answer", shapes(function.program.outputs)),
        comment([function.summary, *inputs.values(), worst_case(work)]),
        signature(package, function.name, parameters(package, function)) + ";\n",
    ]
    for caller in callers(package, function):
        counted = f"    /* {caller.counted.capitalize()} made. */\n    int {caller.counted};"
        most = f" with {caller.cap}" if caller.cap else ""
        total = worst_case(work, caller.calls, caller.also).replace(":", f"{most}:", 1)
        parts += [
            struct(
                package,
                f"{caller.name}_answer",
                caller.outputs,
                counted if caller.counted else "",
            ),
            comment([caller.summary, *(inputs[n] for n in caller.passed if n in inputs), total]),
            signature(package, caller.name, caller.given) + ";\n",
        ]
    return parts
