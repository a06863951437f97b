"""The classical washout for real time: portable C99 that does a sample per call.

The C in `sources/` is the same for every robot; what is written for one is its numbers, and a test
program that compares displacements and poses with those of `Washout` here.
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.base.c_folder import MAKEFILE, write_folder
from gough.base.version import VERSION
from gough.cueing.limiting import gravity_of
from gough.cueing.vehicle import Vehicle
from gough.cueing.washout import LEAST, MOST, Washout
from gough.engine.emit.c import plain, sanitised
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model

MARK = "written by gough export washout"
COMPARED = 64
"""Samples that the test program compares."""
LONG = 12.0
"""Duration of its record, s."""
SHORTEST = 1e-4
"""Step between calls, s: the test program's record is made here, sample by sample."""
TOLERANCE = {"double": 1e-9, "float": 1e-4}
"""Of the test program, in shares of the largest of each kind."""
WAVES = np.array(
    [
        [1.5, 1.9, 0.4], [-0.8, 1.1, 1.3], [0.6, 4.3, 0.2],
        [0.10, 0.9, 1.7], [-0.06, 1.7, 0.6], [0.08, 0.5, 2.1],
    ]
)  # fmt: skip
"""The test's vehicle: amplitude (m/s² or rad/s), frequency (rad/s) and phase of ax to wz."""


def export_washout(
    robot: Model,
    folder: str | os.PathLike[str],
    washout: Washout | None = None,
    *,
    step: float = 0.01,
    gain: float = 1.0,
    real: str = "double",
) -> Path:
    """Write a washout for a robot as portable C99 with header, test program, Makefile and README.

    A washout knows no limits: take the `gain` that `cue` finds for the hardest record.

    Args:
        robot: whose home, gravity and own coordinates count.
        folder: new, or one of an earlier export for the same robot.
        washout: `Washout()` if left out.
        step: between calls, s.
        gain: of all displacements, above 0.
        real: "double" or "float".

    Returns:
        The folder.

    Example:
        >>> folder = export_washout(gough.load("kim-ryu-2002"), "washout", Washout(tilt=0.2))
        >>> sorted(path.suffix for path in folder.iterdir())
        ['', '.c', '.c', '.c', '.h', '.h', '.txt']

    """
    if real not in TOLERANCE:
        raise InputError(f"real is 'double' or 'float', not {real!r}")
    if not LEAST <= gain <= MOST:
        raise InputError(f"gain is {gain}, must be {LEAST:g} to {MOST:g}")
    if not SHORTEST <= step <= LONG / COMPARED:
        raise InputError(f"step is {step} s, must be {SHORTEST:g} to {LONG / COMPARED:g} s")
    robot = robot.rigid
    if not np.any(gravity_of(robot)):
        raise InputError(f"{robot.name} has no gravity: tilting it gives no cue")
    washout = washout or Washout()
    name = f"gough_{sanitised(robot.name)}_washout"
    mark = f"{MARK} for {name}; do not edit"
    source = resources.files("gough.cueing") / "sources"
    contents = {
        file: _in(real, (source / file).read_text("ascii").replace(f"{MARK}; do not edit", mark))
        for file in ("gough_washout.h", "gough_washout.c")
    }
    contents |= {
        f"{name}.h": _header(name, mark),
        f"{name}.c": _numbers(robot, washout, step, gain, name, mark),
        f"test_{name}.c": _in(real, _test(robot, washout, step, gain, name, mark, real)),
        "Makefile": MAKEFILE.format(mark=mark, name=name, objects=f"gough_washout.o {name}.o"),
        "README.txt": _readme(robot, washout, step, gain, name, mark),
    }
    target = Path(folder)
    write_folder(target, contents, mark)
    return target


def _in(real: str, text: str) -> str:
    """The C text in a precision."""
    if real == "double":
        return text
    for function in ("sqrt", "sin", "cos", "fabs"):
        text = text.replace(f"{function}(", f"{function}f(")
    return text.replace("typedef double gough_real", "typedef float gough_real")


def _list(values: Array) -> str:
    """A C initialiser of an array of any rank."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 0:
        return f"(gough_real){float(values)!r}"
    return "{" + ", ".join(_list(one) for one in values) + "}"


def _header(name: str, mark: str) -> str:
    capital = name.upper()
    return f"""\
/* {mark} */
#ifndef {capital}_H
#define {capital}_H

#include "gough_washout.h"

extern const gough_washout {name};

#endif
"""


def _numbers(robot: Model, washout: Washout, step: float, gain: float, name: str, mark: str) -> str:
    own = np.isin(COORDINATES, robot.coordinates).astype(float)
    given = [np.asarray(one) for one in (step, gain)]
    given += [gravity_of(robot), own, robot.home.position, robot.home.rotation]
    lines = [_list(one) for one in given]
    for one in (washout.moving(step), washout.turning(step)):
        inner = ",\n     ".join(_list(part) for part in one)
        lines.append(f"{{{inner}}}")
    lines += [_list(np.asarray(one)) for one in washout.tilting()]
    return f"""\
/* {mark} */
#include "{name}.h"

const gough_washout {name} = {{
    {_joined(lines)}
}};
"""


def _joined(lines: list[str]) -> str:
    return ",\n    ".join(lines)


def _test(
    robot: Model, washout: Washout, step: float, gain: float, name: str, mark: str, real: str
) -> str:
    """A record by formula, of which some samples are compared."""
    count = int(LONG / step) + 1
    t = np.arange(count) * step
    waves = WAVES[:, 0] * np.sin(WAVES[:, 1] * t[:, np.newaxis] + WAVES[:, 2])
    moved = washout.cue(robot, Vehicle(t, waves[:, :3], waves[:, 3:]), robot.limits)
    some = np.unique(np.linspace(0, count - 1, COMPARED).astype(int))
    places = [COORDINATES.index(one) for one in robot.coordinates]
    wanted = np.zeros((3, len(some), 6))
    for row, part in zip(wanted, (moved.value, moved.rate, moved.second), strict=True):
        row[:, places] = gain * part[some]
    poses = "0" if robot.mobility < 6 else "1"
    motion = moved.motion(robot, gain)[some] if robot.mobility == 6 else robot.home.reshape(1)
    turn = np.concatenate([motion.angular_velocity, motion.angular_acceleration], axis=1)
    size = np.abs(wanted).max(axis=1, keepdims=True).max(axis=2, keepdims=True)
    return f"""\
/* {mark} */
#include "{name}.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define SAMPLES {count}
#define COMPARED {len(some)}

static const int sample[COMPARED] = {{{", ".join(map(str, some))}}};
static const gough_real wave[6][3] = {_list(WAVES)};
static const gough_real wanted[3][COMPARED][6] = {_list(wanted)};
static const gough_real size[3] = {_list(np.where(size > 0, size, 1.0).ravel())};
static const int poses = {poses};
static const gough_real place[{len(motion)}][3] = {_list(motion.position)};
static const gough_real turned[{len(motion)}][3][3] = {_list(motion.rotation)};
static const gough_real turn[{len(turn)}][6] = {_list(turn)};

static gough_real largest(gough_real a, gough_real b)
{{
    return a >= b ? a : b; /* b where that is not a number */
}}

int main(void)
{{
    gough_washout_memory memory;
    gough_washout_answer answer;
    gough_washout_pose pose;
    gough_real in[6], force[3], off = 0;
    int i, j, k, next = 0;
    clock_t begin = clock();
    double took;
    gough_washout_begin(&memory);
    for (i = 0; i < SAMPLES; i++) {{
        for (k = 0; k < 6; k++)
            in[k] = wave[k][0]
                * sin(wave[k][1] * ((gough_real)i * {name}.step) + wave[k][2]);
        gough_washout_force(&{name}, &memory, in, in + 3, force);
        gough_washout_next(&{name}, &memory, force, in + 3, &answer);
        gough_washout_place(&{name}, &answer, &pose);
        if (i != sample[next])
            continue;
        for (k = 0; k < 6; k++) {{
            off = largest(off, fabs(answer.value[k] - wanted[0][next][k]) / size[0]);
            off = largest(off, fabs(answer.rate[k] - wanted[1][next][k]) / size[1]);
            off = largest(off, fabs(answer.second[k] - wanted[2][next][k]) / size[2]);
        }}
        for (j = 0; poses && j < 3; j++) {{
            off = largest(off, fabs(pose.position[j] - place[next][j]));
            off = largest(off, fabs(pose.angular_velocity[j] - turn[next][j]) / size[1]);
            off = largest(off, fabs(pose.angular_acceleration[j] - turn[next][3 + j]) / size[2]);
            for (k = 0; k < 3; k++)
                off = largest(off, fabs(pose.rotation[j][k] - turned[next][j][k]));
        }}
        next++;
    }}
    took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%d samples, %d compared: largest error %.1e (tolerance {TOLERANCE[real]:.0e})\\n",
        SAMPLES, next, (double)off);
    printf("%.3g us per sample, %.3g x real time\\n", 1e6 * took / SAMPLES,
        took > 0 ? (double)SAMPLES * (double){name}.step / took : 0.0);
    return next == COMPARED && off <= (gough_real){TOLERANCE[real]!r} ? 0 : 1;
}}
"""


def _readme(robot: Model, washout: Washout, step: float, gain: float, name: str, mark: str) -> str:
    own = ", ".join(robot.coordinates)
    return f"""\
{mark}

Classical washout for {plain(robot.name)}, which moves by {own}. Made by gough {VERSION}.

Break frequencies: translation {washout.translation:g} Hz, rotation {washout.rotation:g} Hz, \
tilt {washout.tilt:g} Hz; damping {washout.damping:g}.
Tilts at {washout.tilt_rate:g} deg/s at most, times the gain. A call every {step:g} s. Gain {gain:g}.

    gough_washout.h, .c     the functions, the same for every robot
    {name}.h, .c     the numbers
    test_{name}.c    compares them with answers of gough itself, and says how fast it is
    Makefile                make builds, make test runs the test program

Use, every {step:g} s:

    #include "{name}.h"

    gough_washout_begin(&memory);   /* once */

    gough_washout_force(&{name}, &memory, acceleration, rates, force);
    gough_washout_next(&{name}, &memory, force, rates, &answer);
    gough_washout_place(&{name}, &answer, &pose);

The pose has the fields of a robot's state in C (gough export c): copy them, and inverse kinematics
gives the legs. Filters know no limits of the legs: the gain is what keeps them (gough cue finds it for
a record); compare what legs are asked for with their limits before you send it to them.
"""
