"""A robot's equations for other programs: C source for controllers, CasADi functions for optimisers.

Both come from the same traced programs that gough itself runs.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.base.arrays import Array
from gough.base.files import replacing
from gough.engine.emit import c
from gough.engine.program import Program
from gough.engine.run.execute import Executor, Function, NumPyExecutor, with_friction
from gough.engine.run.prologue import evaluate
from gough.engine.trace import parameters, trace
from gough.errors import FileError, InputError, MissingDataError
from gough.exchange.c_test import Vectors, test_program
from gough.mechanics import friction
from gough.mechanics import programs as models
from gough.mechanics.equation import RIGID_FIELDS
from gough.model import forward
from gough.model.diagnosis import SYSTEMS
from gough.motion import Motion

if TYPE_CHECKING:
    from gough.robot import Robot

KINEMATIC: dict[str, Function] = {
    "inverse_kinematics": models.inverse_kinematics,
    "jacobian": models.jacobian,
}
DYNAMIC: dict[str, Function] = {
    "mass_matrix": models.mass_matrix,
    "bias": models.bias,
    "energy": models.energy,
}
FORCED: dict[str, Function] = {
    "inverse_dynamics": models.inverse_dynamics,
    "reactions": models.reactions,
    "direct_dynamics": models.direct_dynamics,
}
PROGRAMS = KINEMATIC | FORCED | DYNAMIC
"""What can be exported. Dynamics needs masses, forces need six legs or more."""

SUMMARIES = {
    "inverse_kinematics": "What each leg does while the platform moves.",
    "jacobian": "J: qd = J (velocity, angular_velocity). Depends on the pose alone.",
    "inverse_dynamics": "Actuator forces and powers that a motion takes, without friction; over "
    "six legs those of least norm.",
    "reactions": "Forces and moments in the joints, without friction.",
    "direct_dynamics": "Acceleration of the platform under actuator forces, without friction. The "
    "state's accelerations do not count.",
    "mass_matrix": "M of the whole robot, legs and drives included: M (linear, angular "
    "acceleration) + b = J^T forces + wrench. Depends on the pose alone.",
    "bias": "b of the same equation: Coriolis, centrifugal and gravity terms. The state's "
    "accelerations do not count.",
    "energy": "Energy of the whole robot. The state's accelerations do not count.",
}
LOADED = (
    "The same with the joints rubbing as they do under given loads; also gives the loads caused."
)
NOTES = {
    "position": "m: origin of the platform frame, world axes.",
    "rotation": "From platform to world axes; columns are the platform's axes.",
    "velocity": "m/s: of the platform frame's origin, world axes.",
    "angular_velocity": "rad/s: of the platform, world axes.",
    "acceleration": "m/s^2: of the platform frame's origin, world axes.",
    "angular_acceleration": "rad/s^2: of the platform, world axes.",
    "wrench": "force (N) and moment (N m) on the platform at its frame's origin, world axes; NULL: "
    "none.",
    "preload": "N: actuator forces of which the part that balances itself is added; NULL: none.",
    "loads": "load magnitudes, N; 0 leaves viscous friction and screw drag.",
    "forces": "N: actuator forces; positive pushes towards larger q.",
    "power": "W: force times qd.",
    "margin": "Healthy where > 0: least distance of a health measure from its limit.",
    "q": "m: actuated coordinates.",
    "qd": "m/s: their rates.",
    "qdd": "m/s^2: their accelerations.",
    "joint_rates": "m/s, rad/s.",
    "joint_accelerations": "m/s^2, rad/s^2.",
    "direction": "Unit vectors from universal to spherical joint, world axes.",
    "link_angular_velocity": "rad/s: world axes.",
    "link_angular_acceleration": "rad/s^2: world axes.",
    "jacobian": "A row a leg: by velocity (no unit), by angular velocity (m).",
    "linear": "m/s^2: acceleration of the platform frame's origin, world axes.",
    "angular": "rad/s^2: angular acceleration, world axes.",
    "mass_matrix": "kg, kg m, kg m^2.",
    "bias": "N, N m.",
    "kinetic": "J.",
    "potential": "J: from the world's origin.",
    "spherical": "N: force of the leg on the platform, world axes.",
    "universal_moment": "N m: couple of the universal joint on the body it carries, about the joint's "
    "centre, less the joint's friction couple.",
    "guide": "N: force of the rail on the slider, normal to the rail.",
    "guide_moment": "N m: couple of the rail on the slider about the universal joint.",
    "sliding_force": "N: force of the cylinder on the rod, actuator force included.",
    "sliding_moment": "N m: couple of the cylinder on the rod about the tip.",
    "caused": "N: the load magnitudes that these loads cause, rows as in the struct of loads.",
    "vectors": "N: F_A (3 rows) and F_B (3) in universal and spherical joint, world axes, and the "
    "guide's two normal forces u.N and v.N; a column a leg.",
    "residual": "Largest disagreement of the loads over the largest load.",
    "loads.universal": "|F_A|: size of the force in the universal joint.",
    "loads.spherical": "|F_B|: size of the force in the spherical joint.",
    "loads.guide": "|u.N| + |v.N|: forces on the guide along its two normals (no meaning for UPS).",
}
KIND_NOTES = {
    "UPS": {
        "joints": "rad, rad, m: (q1, q2, q3) of each leg.",
        "universal": "N: force of the cross on the cylinder, world axes.",
    },
    "PUS": {
        "joints": "m, rad, rad: (lambda, phi1, phi2) of each leg.",
        "universal": "N: force of the cross on the link, world axes.",
    },
}
EPSILON = {"double": 2.0**-52, "float": 2.0**-23}
ROUNDING = 200
"""Rounding errors that an answer may have collected, before the condition number multiplies them."""
FLOAT_TOLERANCE, FLOAT_WORST_RESIDUAL = 1e-5, 1e-4
"""The friction loop's in single precision."""
STATES = 6
"""Test states: home and some around it."""


def traced(robot: Robot, name: str, loads: bool = False) -> tuple[Program, Array]:
    """A program of a robot and its hoisted numbers.

    With `loads` the joints rub as they do under load magnitudes (3, legs), a further input; the
    outputs `caused` (3, legs) and `vectors` (8, legs) then hold the loads caused and what is behind
    them (`gough.mechanics.friction`).
    """
    if name not in PROGRAMS:
        raise InputError(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    robot.need_rigid("an exported program")
    if loads and name not in FORCED:
        raise InputError(f"{name} does not depend on friction")
    lacking = ", ".join(f"[{one}]" for one in robot.description.missing)
    if lacking and name not in KINEMATIC:
        raise MissingDataError(f"{robot.name}: {name} needs the masses of {lacking}")
    legs = robot.leg_count
    inputs: dict[str, tuple[int, ...]] = {}
    if name in FORCED:
        if legs < 6:
            raise InputError(f"{robot.name} has {legs} legs; {name} needs six or more")
        if name == "direct_dynamics":
            inputs["forces"] = (legs,)
        inputs["wrench"] = (6,)
        if legs > 6 and name != "direct_dynamics":
            inputs["preload"] = (legs,)
        if loads:
            inputs["loads"] = (3, legs)
    program = trace(PROGRAMS[name], robot.mechanism, inputs)
    hoisted = evaluate(program.prologue, program.hoisted, parameters(robot.mechanism))
    return program, hoisted


def to_casadi(robot: Robot, name: str, *, loads: bool = False) -> Any:
    """A program as a `casadi.Function` of SX symbols (extra `casadi`).

    Inputs are the state's fields position (3), rotation (3, 3), velocity, angular_velocity,
    acceleration, angular_acceleration, then wrench (6), forces (legs), preload (legs; over six legs)
    as the program has them; outputs have the names of the robot's answers, and `margin`, which is
    > 0 where the answer is good. There is no friction unless `loads` adds the input loads (3, legs):
    ‖F_A‖, ‖F_B‖ and |u·N| + |v·N| of each leg, and the output caused (3, legs), equal to loads where
    friction agrees with the loads it depends on.
    """
    from gough.engine.emit import casadi

    casadi.require()
    program, hoisted = traced(robot, name, loads)
    return casadi.function(program, name, hoisted)


def export_c(
    robot: Robot,
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
    vectors = _test_vectors(robot, package, states)
    prefix = package.prefix
    contents = {
        f"{prefix}.h": c.header_text(package),
        f"{prefix}.c": c.source_text(package),
        f"test_{prefix}.c": test_program(package, vectors),
        "Makefile": MAKEFILE.format(mark=package.mark, name=prefix),
        "README.txt": _readme(package),
    }
    target = Path(folder)
    _write(target, contents, package.mark)
    return target


def sanitised(name: str) -> str:
    """A name as part of a C identifier."""
    return re.sub(r"[^0-9A-Za-z]+", "_", c.plain(name)).strip("_").lower() or "robot"


def _package(
    robot: Robot, names: Sequence[str] | None, real: str, identifier: str | None
) -> c.Package:
    if names is None:
        able = not robot.description.missing
        forced = FORCED if able and robot.leg_count >= 6 else {}
        names = list(KINEMATIC | forced | (DYNAMIC if able else {}))
    if isinstance(names, str) or not names:
        raise InputError(f"programs is a list of programs: {', '.join(PROGRAMS)}")
    functions = []
    for name in dict.fromkeys(names):
        functions.append(c.Function(name, *traced(robot, name), SUMMARIES[name]))
        if name in FORCED and not robot.mechanism.friction.none:
            loaded = traced(robot, name, loads=True)
            functions.append(c.Function(name + c.UNDER_LOADS, *loaded, LOADED))
    title = [f"{robot.name}: {robot.leg_count} {robot.kind} legs, numbers of type {real}."]
    title += [f"Source: {robot.file.source}"] if robot.file.source else []
    title.append(f"Made by gough {gough.__version__}.")
    single = real == "float"
    return c.Package(
        sanitised(robot.name if identifier is None else identifier),
        title,
        robot.leg_count,
        real,
        functions,
        NOTES | KIND_NOTES[robot.kind],
        friction.MOST_PASSES,
        FLOAT_TOLERANCE if single else friction.TOLERANCE,
        FLOAT_WORST_RESIDUAL if single else friction.WORST_RESIDUAL,
    )


def _test_vectors(robot: Robot, package: c.Package, states: Motion | None) -> Vectors:
    """Inputs that the C numbers can hold exactly, and the answers to these."""
    run = NumPyExecutor(robot.mechanism)
    kind = np.float64 if package.real == "double" else np.float32
    fields = _states(robot, package) if states is None else _fields(states)
    if not all(np.all(margin > 0) for margin in _margins(robot, package, fields)):
        raise InputError("states: the robot has no good answer in some of them")

    def exact(values: Array) -> Array:
        return values.astype(kind).astype(np.float64)

    inputs = {name: exact(value) for name, value in fields.items()}
    count, legs = len(inputs["position"]), robot.leg_count
    rng = np.random.default_rng(1)
    wanted = {name for one in package.functions for name in one.inputs}
    if wanted:
        mass = float(np.sum(robot.mechanism.platform.mass)) or 1.0
        wrench = mass * rng.normal(size=(count, 6))
        wrench[0] = 0
        inputs["wrench"] = exact(wrench)
        needed = run(models.inverse_dynamics, count, inputs)["forces"]
        largest = np.abs(needed).max(axis=1, keepdims=True)
        inputs["forces"] = exact(needed + 0.2 * largest * rng.normal(size=(count, legs)))
        inputs["preload"] = exact(0.2 * largest * rng.normal(size=(count, legs)))
        inputs["loads"] = exact(largest[..., np.newaxis] * rng.uniform(size=(count, 3, legs)))
    answers: dict[str, dict[str, Array]] = {}
    tolerances: dict[str, float] = {}
    slow: dict[str, Array] = {}
    state = {name: inputs[name] for name in RIGID_FIELDS}
    for function in package.functions:
        name = function.name.removesuffix(c.UNDER_LOADS)
        given = state | {one: inputs[one] for one in function.inputs}
        answers[function.name] = run(PROGRAMS[name], count, given)
        tolerances[function.name] = _tolerance(robot, name, count, state, package.real)
        if function.looped:
            del given["loads"]
            answers[function.looped] = with_friction(
                run, PROGRAMS[name], count, given, robot.mechanism.friction
            )[0]
            tolerances[function.looped] = tolerances[function.name]
            slow[function.looped] = _slow(run, PROGRAMS[name], given, robot.mechanism.friction)
    return Vectors(inputs, answers, tolerances, slow)


def _slow(
    run: Executor, function: Function, given: Mapping[str, Array], rubbing: friction.Friction
) -> Array:
    """States where plain passes do not surely settle: there gough goes on with Newton, C gives up."""
    count = len(given["position"])
    loads = np.zeros((count, 3, len(rubbing.width)))
    change = np.full(count, np.inf)
    for _ in range(friction.MOST_PASSES - 3):
        new = run(function, count, {**given, "loads": loads})["caused"]
        change = np.abs(new - loads).max(axis=(1, 2)) / np.abs(new).max(axis=(1, 2), initial=1e-300)
        loads = new
    return np.asarray(~(change <= friction.TOLERANCE))


def _fields(motion: Motion) -> dict[str, Array]:
    """A motion's fields as rows."""
    count = math.prod(motion.shape)
    if not count:
        raise InputError("states: the motion has no samples")
    flat = motion.reshape(count)
    return {name: np.array(getattr(flat, name)) for name in RIGID_FIELDS}


def _states(robot: Robot, package: c.Package) -> dict[str, Array]:
    """Home and states around it, ever nearer until all programs are healthy there."""
    if robot.description.home is None:
        raise MissingDataError(f"{robot.name} has no home pose to test the C code at; give states=")
    rng = np.random.default_rng(0)
    draws = rng.uniform(-1, 1, size=(6, STATES, 3))
    draws[:, 0] = 0
    length = robot.length_scale
    size = 0.5
    home = robot.home
    for _ in range(12):
        fields = _fields(
            Motion(
                home.position + 0.5 * size * length * draws[0],
                Rotation.from_rotvec(size * draws[1]).as_matrix() @ home.rotation,
                length * draws[2],
                draws[3],
                5 * length * draws[4],
                5 * draws[5],
            )
        )
        if all(np.all(margin > 0) for margin in _margins(robot, package, fields)):
            return fields
        size /= 2
    raise MissingDataError(
        f"{robot.name}: the home pose is not one to test the C code at (a leg is out of reach or "
        "the pose is singular); give states="
    )


def _margins(robot: Robot, package: c.Package, fields: Mapping[str, Array]) -> list[Array]:
    """Margins of every program that the package has."""
    run, count = NumPyExecutor(robot.mechanism), len(fields["position"])
    margins = []
    for function in package.functions:
        if not function.looped:
            given = {n: np.zeros((1, *shape)) for n, shape in function.inputs.items()}
            margins.append(run(PROGRAMS[function.name], count, {**fields, **given})["margin"])
    return margins


def _tolerance(robot: Robot, name: str, count: int, state: Mapping[str, Array], real: str) -> float:
    """How far C may be from gough, relative: rounding times the condition of what is solved."""
    condition = 0.0
    if name in SYSTEMS:
        run = NumPyExecutor(robot.mechanism)
        found = run(models.diagnosis, count, state)
        condition = float(np.max(forward.condition(found[SYSTEMS[name][0]])))
    return float(ROUNDING * EPSILON[real] * (10 + condition))


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


def _readme(package: c.Package) -> str:
    p = package.prefix
    names = [n for f in package.functions for n in (f.name, f.looped) if n]
    first = package.functions[0]
    optional = "".join(", NULL" if n in c.OPTIONAL else f", {n}" for n in first.inputs)
    listed = "\n".join(f"    {p}_{name}" for name in names)
    title = "\n".join(c.plain(line) for line in package.title)
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
The functions are straight-line code, so all calls take about the same time; those with friction
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
