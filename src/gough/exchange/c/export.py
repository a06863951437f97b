"""A robot's programs as portable C99 for controllers: source, header, test program, Makefile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gough.base.c_folder import MAKEFILE, write_folder
from gough.base.files import to_write
from gough.base.version import VERSION
from gough.engine.emit.c import plain, sanitised
from gough.errors import InputError
from gough.exchange.c.callers import callers
from gough.exchange.c.checking import EPSILON, test_program, test_vectors
from gough.exchange.c.header import header_text
from gough.exchange.c.package import OPTIONAL, STEP, TIMES, UNDER_LOADS, Function, Limits, Package
from gough.exchange.c.source import source_text
from gough.exchange.c.words import FLEXIBLE_SUMMARIES, LOADED, NOTES, PRODUCT, SUMMARIES
from gough.exchange.programs import (
    CLOSING,
    DYNAMIC,
    FINDING,
    FORCED,
    KINEMATIC,
    PROGRAMS,
    by_columns,
    can_force,
    traced,
)
from gough.mechanics.programs import OFF
from gough.mechanics.state import shapes
from gough.model import forward, friction_loop
from gough.model.model import Model
from gough.motion import Motion

FLOAT_TOLERANCE, FLOAT_WORST_RESIDUAL = 1e-5, 1e-4
"""The friction loop's in single precision."""
FLOAT_POSE_TOLERANCE, FLOAT_STATIONARY, FLOAT_ROUNDED = 1e-4, 1e-4, 1e-4
"""Forward kinematics' in single precision, before the last step, which squares them."""
MOST_STEPS = 12
"""Newton's steps of forward kinematics to recommend: from poses near by four do, from afar most end."""


def export_c(
    robot: Model,
    folder: str | os.PathLike[str],
    *,
    programs: Sequence[str] | None = None,
    real: str = "double",
    identifier: str | None = None,
    states: Motion | None = None,
) -> Path:
    """Write a robot's programs as portable C99 with header, test program, Makefile and README.

    `programs`: which of PROGRAMS; all that the robot file has data for if left out. `real` is "double"
    or "float". `identifier` replaces the robot's name in C. `states`: a batch of states for the
    test program; home and some around it if left out. Robots with friction also get
    `…_under_loads` and `…_with_friction`. Returns the folder.

    A new folder appears all at once, or not at all. In a folder that is there already, files of an
    earlier export of the same robot are replaced one by one; a file that gough did not write, or
    wrote for another robot, is never touched: then nothing is written.
    """
    if not isinstance(real, str) or real not in EPSILON:
        raise InputError(f"real is 'double' or 'float', not {real!r}")
    robot.need_rigid_drives("C code")
    package = _package(robot, programs, real, identifier)
    vectors = test_vectors(robot, package, states)
    prefix = package.prefix
    contents = {
        f"{prefix}.h": header_text(package),
        f"{prefix}.c": source_text(package),
        f"test_{prefix}.c": test_program(package, vectors),
        "Makefile": MAKEFILE.format(mark=package.mark, name=prefix, objects=f"{prefix}.o"),
        "README.txt": _readme(package),
    }
    target = to_write(folder)
    write_folder(target, contents, package.mark)
    return target


def _package(
    robot: Model, names: Sequence[str] | None, real: str, identifier: str | None
) -> Package:
    if names is None:
        able = not robot.description.missing
        forced = FORCED if able and can_force(robot) else {}
        closing = CLOSING if robot.mechanism.legs.coordinates else {}
        finding = FINDING if can_force(robot) else {}
        names = list(closing | KINEMATIC | finding | forced | (DYNAMIC if able else {}))
    if not isinstance(names, list | tuple) or not names:
        raise InputError(f"programs is a list of programs: {', '.join(PROGRAMS)}")
    functions = []
    summaries = SUMMARIES | (FLEXIBLE_SUMMARIES if robot.modes else {})
    for name in dict.fromkeys(names):
        if by_columns(robot, name):
            functions.append(_function(name + TIMES, robot, name, PRODUCT, real))
            continue
        called = name + STEP if name in FINDING else name
        functions.append(_function(called, robot, name, summaries.get(name, ""), real))
        if name in FORCED and not robot.mechanism.legs.friction.none:
            functions.append(_function(name + UNDER_LOADS, robot, name, LOADED, real, True))
    modes = f", platform of {robot.modes} modes" if robot.modes else ""
    title = [f"{robot.name}: {robot.leg_count} {robot.kind} legs{modes}, numbers of type {real}."]
    title += [f"Source: {robot.file.source}"] if robot.file.source else []
    title.append(f"Made by gough {VERSION}.")
    return Package(
        sanitised(robot.name if identifier is None else identifier),
        title,
        robot.leg_count,
        robot.actuator_count,
        shapes(robot.modes, robot.mechanism.legs.coordinates),
        real,
        functions,
        NOTES | _notes(robot),
        _limits(robot, real == "float"),
    )


def _limits(robot: Model, single: bool) -> Limits:
    """Where loops end in this precision: as those of gough, or as near as floats can."""
    nearest = robot.freedom.overconstrained
    return Limits(
        friction_loop.MOST_PASSES,
        FLOAT_TOLERANCE if single else friction_loop.TOLERANCE,
        FLOAT_WORST_RESIDUAL if single else friction_loop.WORST_RESIDUAL,
        MOST_STEPS,
        FLOAT_POSE_TOLERANCE if single else forward.TOLERANCE,
        (FLOAT_STATIONARY if single else forward.STATIONARY) if nearest else 0.0,
        (FLOAT_ROUNDED if single else OFF) * min(1.0, robot.length_scale) if nearest else 0.0,
    )


def _notes(robot: Model) -> dict[str, str]:
    """Return what kinds of legs and of actuators say of inputs and outputs; differences follow."""
    groups = robot.description.groups
    several = len({group.kind.name for group in groups}) > 1
    notes: dict[str, str] = {}
    for group in groups:
        prefix = f"{group.kind.name} legs: " if several else ""
        own = [
            (name, note, "") for one in group.actuators for name, note in one.units.c_notes.items()
        ]
        own += [(name, note, prefix) for name, note in group.kind.words.c_notes.items()]
        for name, note, begin in own:
            known = notes.get(name, "")
            notes[name] = known if note in known else f"{known} {begin}{note}".strip()
    return notes


def _function(
    called: str, robot: Model, name: str, summary: str, real: str, loads: bool = False
) -> Function:
    program, hoisted, tables, matrices = traced(robot, name, loads, real)
    return Function(called, program, hoisted, summary, tables, matrices)


def _readme(package: Package) -> str:
    p = package.prefix
    names = []
    for function in package.functions:
        names += [function.name, *(one.name for one in callers(package, function))]
    first = package.functions[0]
    optional = "".join(", NULL" if n in OPTIONAL else f", {n}" for n in first.inputs)
    listed = "\n".join(f"    {p}_{name}" for name in names)
    title = "\n".join(plain(line) for line in package.title)
    loops = ", and loops over the modes only" if "elastic" in package.state else " and no loops"
    return f"""\
{package.mark}

{title}

Portable C99: no allocation, no variables that outlive a call, nothing needed but math.h.

    {p}.h         the API: units, frames, shapes, sign conventions
    {p}.c         the functions
    test_{p}.c    compares them with answers of gough itself
    Makefile      make builds, make test runs the test program

Functions:

{listed}

Use:

    #include "{p}.h"

    {p}_state state = {{{{0}}}};
    {p}_{first.name}_answer answer;
    state.position[2] = 1; /* what is not set is zero */
    state.rotation[0][0] = state.rotation[1][1] = state.rotation[2][2] = 1;
    if ({p}_{first.name}(&state{optional}, &answer) != GOUGH_HEALTHY)
        stop();

Do not compile with -ffast-math or the like: a state out of reach shows as NaN, and such options
take NaN away. The source refuses them where it can.
The functions have no branches{loops}, so all calls take about the same time; those with friction
call another one up to most_passes + 1 times, forward kinematics another one up to
most_steps times.
The header says of each how many operations it takes at most.
"""
