"""A robot's programs as C source: functions from programs, and those that call them.

How a program becomes statements says `gough.engine.emit.c`.
"""

from __future__ import annotations

import math

from gough.engine.emit.c import (
    HELPERS,
    STRICT_NUMBERS,
    ConstantNumbers,
    Statements,
    Tables,
    element,
)
from gough.engine.program import HOISTED, Program
from gough.exchange.c.callers import callers, shared
from gough.exchange.c.package import (
    LOADS,
    OPTIONAL,
    Function,
    Package,
    computed,
    parameters,
    signature,
    used_fields,
)


def source_text(package: Package) -> str:
    """The .c file."""
    numbers, tables = ConstantNumbers(package.real), Tables(package.real)
    functions = shared(package)
    for function in package.functions:
        functions.append(_definition(package, function, numbers, tables))
        functions += [caller.text for caller in callers(package, function)]
    code = "\n".join(functions)
    helpers = [
        text.format(real=package.real) for name, text in HELPERS.items() if f"{name}(" in code
    ]
    return "\n".join(
        [
            f"/* {package.mark} */",
            f'#include <math.h>\n#include <stddef.h>\n\n#include "{package.prefix}.h"\n',
            STRICT_NUMBERS,
            numbers.text(),
            *([tables.text()] if tables.places else []),
            *helpers,
            code,
        ]
    )


def _definition(
    package: Package, function: Function, numbers: ConstantNumbers, tables: Tables
) -> str:
    """One function: read, compute, write the answer last, so that it may share memory with inputs."""

    def refer(field: str, index: int) -> str:
        if field == HOISTED and index in function.changing:
            return f"own[{function.changing[index]}]"
        if field == HOISTED:
            return numbers.place(float(function.hoisted[index]))
        if field in package.state:
            return element(f"state->{field}", package.state[field], index)
        if field == "loads":
            return f"loads->{LOADS[index // package.legs]}[{index % package.legs}]"
        return f"{field}[{index}]"

    def refer_mode(field: str, mode: str) -> str:
        return f"state->{field}[{mode}]" if field in package.state else f"{field}[{mode}]"

    written = Statements(
        function.program,
        refer,
        package.real,
        [tables.place(one) for one in function.tables],
        [tables.place(one) for one in function.matrices],
        refer_mode,
    )
    used = used_fields(function.program)
    start = [*written.declarations(), f"    {package.real} unsound = 0;"]
    for name, shape in function.inputs.items():
        if name not in used:
            start.append(f"    (void){name};")
        elif name in OPTIONAL:
            zero = f"    static const {package.real} no_{name}[{math.prod(shape)}] = {{0}};"
            start = [zero, *start, f"    if ({name} == NULL)", f"        {name} = no_{name};"]
    if not used & set(package.state):
        start.append("    (void)state;")
    if package.own and not function.changing:
        start.append("    (void)own;")
    return "\n".join(
        [
            signature(package, function.name, parameters(package, function)),
            "{",
            *start,
            *written.lines,
            *_answer(function.program, written),
            *_soundness(function.program),
            "    return answer->margin > 0 && unsound <= 0 ? GOUGH_HEALTHY : GOUGH_DOUBTFUL;\n}\n",
        ]
    )


def _answer(program: Program, written: Statements) -> list[str]:
    """Statements that write the answer."""
    lines, in_modes = [], []
    for name, output in program.outputs.items():
        if output.varying:
            for i, place in enumerate(output.places):
                there = element(name, output.shape[:-1], i) if output.shape[:-1] else name
                in_modes.append(f"    answer->{there}[k] = {written.of_mode(place)};")
        else:
            lines += [
                f"    answer->{element(name, output.shape, i)} = {written.values[place]};"
                for i, place in enumerate(output.places)
            ]
    return lines + (written.each_mode(in_modes) if in_modes else [])


def _soundness(program: Program) -> list[str]:
    """Statements after which `unsound` is 0, or NaN where a number of the answer is not finite.

    The margin does not say so in every case: comparisons with NaN may take the other number.
    """
    lines, in_modes = [], []
    for name, places in computed(program).items():
        output = program.outputs[name]
        shape = output.shape[:-1] if output.varying else output.shape
        members = [element(name, shape, i) if shape else name for i in places]
        if output.varying:
            in_modes += [f"    unsound += 0 * answer->{one}[k];" for one in members]
        else:
            lines += [f"    unsound += 0 * answer->{one};" for one in members]
    if not in_modes:
        return lines
    start = f"    for (k = 0; k < {program.modes}; k++) {{"
    return [*lines, start, *(f"    {line}" for line in in_modes), "    }"]
