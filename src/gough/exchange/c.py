"""A robot's programs as portable C99 for controllers: source, header, test program, Makefile."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gough.base.files import replacing
from gough.base.version import VERSION
from gough.engine.emit.c import plain
from gough.errors import FileError, InputError
from gough.exchange import c_source
from gough.exchange.c_header import header_text
from gough.exchange.c_test import EPSILON, test_program, test_vectors
from gough.exchange.c_words import FLEXIBLE_SUMMARIES, LOADED, NOTES, SUMMARIES, TIMES
from gough.exchange.programs import DYNAMIC, FORCED, KINEMATIC, PROGRAMS, by_columns, traced
from gough.mechanics.state import shapes
from gough.model import friction_loop
from gough.model.model import Model
from gough.motion import Motion

FLOAT_TOLERANCE, FLOAT_WORST_RESIDUAL = 1e-5, 1e-4
"""The friction loop's in single precision."""


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
    if real not in EPSILON:
        raise InputError(f"real is 'double' or 'float', not {real!r}")
    package = _package(robot, programs, real, identifier)
    vectors = test_vectors(robot, package, states)
    prefix = package.prefix
    contents = {
        f"{prefix}.h": header_text(package),
        f"{prefix}.c": c_source.source_text(package),
        f"test_{prefix}.c": test_program(package, vectors),
        "Makefile": MAKEFILE.format(mark=package.mark, name=prefix),
        "README.txt": _readme(package),
    }
    target = Path(folder)
    _write(target, contents, package.mark)
    return target


def sanitised(name: str) -> str:
    """A name as part of a C identifier."""
    return re.sub(r"[^0-9A-Za-z]+", "_", plain(name)).strip("_").lower() or "robot"


def _package(
    robot: Model, names: Sequence[str] | None, real: str, identifier: str | None
) -> c_source.Package:
    if names is None:
        able = not robot.description.missing
        forced = FORCED if able and robot.leg_count >= 6 else {}
        names = list(KINEMATIC | forced | (DYNAMIC if able else {}))
    if isinstance(names, str) or not names:
        raise InputError(f"programs is a list of programs: {', '.join(PROGRAMS)}")
    functions = []
    summaries = SUMMARIES | (FLEXIBLE_SUMMARIES if robot.modes else {})
    for name in dict.fromkeys(names):
        if by_columns(robot, name):
            functions.append(_function(name + c_source.TIMES, robot, name, TIMES))
            continue
        functions.append(_function(name, robot, name, summaries.get(name, "")))
        if name in FORCED and not robot.mechanism.legs.friction.none:
            functions.append(_function(name + c_source.UNDER_LOADS, robot, name, LOADED, True))
    modes = f", platform of {robot.modes} modes" if robot.modes else ""
    title = [f"{robot.name}: {robot.leg_count} {robot.kind} legs{modes}, numbers of type {real}."]
    title += [f"Source: {robot.file.source}"] if robot.file.source else []
    title.append(f"Made by gough {VERSION}.")
    single = real == "float"
    return c_source.Package(
        sanitised(robot.name if identifier is None else identifier),
        title,
        robot.leg_count,
        shapes(robot.modes),
        real,
        functions,
        {**NOTES, **robot.leg_kind.units.c_notes, **robot.leg_kind.words.c_notes},
        friction_loop.MOST_PASSES,
        FLOAT_TOLERANCE if single else friction_loop.TOLERANCE,
        FLOAT_WORST_RESIDUAL if single else friction_loop.WORST_RESIDUAL,
    )


def _function(
    called: str, robot: Model, name: str, summary: str, loads: bool = False
) -> c_source.Function:
    program, hoisted, tables, matrices = traced(robot, name, loads)
    return c_source.Function(called, program, hoisted, summary, tables, matrices)


MAKEFILE = """\
# {mark}
# make builds, make test runs the test program.
CFLAGS ?= -O2
STRICT = -std=c99 -Wall -Wextra -Werror -pedantic

all: {name}.o test_{name}

{name}.o: {name}.c {name}.h
	$(CC) $(STRICT) $(CFLAGS) -c {name}.c -o $@

test_{name}: test_{name}.c {name}.o {name}.h
	$(CC) $(STRICT) $(CFLAGS) test_{name}.c {name}.o -o $@ $(LDFLAGS) -lm

test: test_{name}
	./test_{name}

clean:
	rm -f {name}.o test_{name}

.PHONY: all test clean
"""


def _readme(package: c_source.Package) -> str:
    p = package.prefix
    names = [n for f in package.functions for n in (f.name, f.looped, f.matrix) if n]
    first = package.functions[0]
    optional = "".join(", NULL" if n in c_source.OPTIONAL else f", {n}" for n in first.inputs)
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
call another one up to most_passes + 1 times.
"""


def _write(target: Path, contents: Mapping[str, str], mark: str) -> None:
    """All files at once into a new folder, or one by one into one that is there."""
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            holder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
            try:
                whole = holder / target.name
                whole.mkdir()
                for name, text in contents.items():
                    (whole / name).write_text(text, "ascii", newline="\n")
                whole.rename(target)
            finally:
                shutil.rmtree(holder, ignore_errors=True)
            return
        if not target.is_dir():
            raise FileError(f"{target}: not a folder")
        for name in contents:
            path = target / name
            if path.exists() and not _is_ours(path, mark):
                raise FileError(
                    f"{path}: not a file that gough wrote for this robot; choose another folder"
                )
        for name, text in contents.items():
            with replacing(target / name) as temporary:
                temporary.write_text(text, "ascii", newline="\n")
    except OSError as error:
        raise FileError(f"{target}: {error.strerror or error}") from None


def _is_ours(path: Path, mark: str) -> bool:
    """Whether an earlier export of the same robot wrote a file."""
    return path.is_file() and mark.encode() in path.read_bytes().partition(b"\n")[0]
