"""The header that goes with exported C: structs, signatures and what they mean."""

from __future__ import annotations

from gough.engine.emit.c import comment, literal
from gough.exchange.c_source import (
    LOADS,
    Function,
    Package,
    loop_outputs,
    loop_parameters,
    matrix_outputs,
    parameters,
    shapes,
    signature,
    struct,
)


def header_text(package: Package) -> str:
    """The .h file: the API and its documentation."""
    p, real = package.prefix, package.real
    guard = f"{p.upper()}_H"
    looped = any(f.looped for f in package.functions)
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
                "GOUGH_DOUBTFUL says that answer->margin is not > 0 (it may be not a number): a leg "
                "out of reach or singular, a singular pose, a solve in doubt, or input that is not "
                "finite; do not use the answer then. The rotation is taken as given: it must be a "
                "rotation. Limits of the robot (strokes, forces) are not looked at. Functions keep "
                "nothing between calls: any number of threads may call them.",
            ]
        ),
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n',
        "#define GOUGH_HEALTHY 0\n#define GOUGH_DOUBTFUL 1",
    ]
    if looped:
        parts[-1] += (
            "\n/* Friction found no loads that agree with it within the passes given. */\n"
            "#define GOUGH_NOT_CONVERGED 2\n\n"
            f"/* Passes of the friction loop to allow. */\n"
            f"#define {p.upper()}_PASSES {package.most_passes}\n"
            "/* Disagreement over largest load at which the loop stops, and above which there is no "
            "answer. */\n"
            f"#define {p.upper()}_TOLERANCE {literal(package.tolerance, real)}\n"
            f"#define {p.upper()}_WORST_RESIDUAL {literal(package.worst_residual, real)}"
        )
    sizes = f"#define {p.upper()}_LEGS {package.legs}\n"
    modes = package.state.get("elastic", (0,))[0]
    sizes += f"#define {p.upper()}_MODES {modes}\n" if modes else ""
    parts += [
        sizes,
        "/* Where the platform is and how it moves. */\n" + struct(package, "state", package.state),
    ]
    if looped:
        parts.append(
            "/* Load magnitudes that friction feels. */\n"
            + struct(package, "loads", {name: (package.legs,) for name in LOADS})
        )
    for function in package.functions:
        parts += _declarations(package, function)
    parts.append("#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
    return "\n".join(parts)


def _declarations(package: Package, function: Function) -> list[str]:
    inputs = [f"{name}: {package.notes[name]}" for name in function.inputs if name in package.notes]
    parts = [
        struct(package, f"{function.name}_answer", shapes(function.program.outputs)),
        comment([function.summary, *inputs]),
        signature(package, function.name, parameters(package, function)) + ";\n",
    ]
    if function.looped:
        outputs = loop_outputs(function) | {"residual": ()}
        passes = "    /* Passes made. */\n    int passes;"
        parts += [
            struct(package, f"{function.looped}_answer", outputs, passes),
            comment(
                [
                    f"The same with friction that agrees with its own loads: calls "
                    f"{function.name} until loads do not change, most_passes times at most "
                    f"({package.prefix.upper()}_PASSES is plenty unless friction nearly locks a "
                    "joint). Else GOUGH_NOT_CONVERGED.",
                    *(text for text in inputs if not text.startswith("loads")),
                ]
            ),
            signature(package, function.looped, loop_parameters(package, function)) + ";\n",
        ]
    if function.matrix:
        parts += [
            struct(package, f"{function.matrix}_answer", matrix_outputs(package, function)),
            comment([package.notes[f"{function.matrix}()"]]),
            signature(package, function.matrix, [f"const {package.prefix}_state *state"]) + ";\n",
        ]
    return parts
