"""`gough new`: a file to start from, a command of its own for each sort."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.base.words import counted
from gough.cli.arguments import (
    LEAST_SAMPLES,
    MotionArgument,
    RobotArgument,
    load,
    load_rigid,
    output_file,
    read_motion,
)
from gough.cli.help import Command, CommandGroup
from gough.cli.terminal import err, say, warn
from gough.description.drafts import FAMILIES, Answers, Question, checked, draft
from gough.errors import FileError, InputError

if TYPE_CHECKING:
    from gough.motion import Motion
    from gough.robot import Robot

SECONDS, RATE = 4.0, 100
"""Duration of a motion to start from, and samples a second."""

command = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="A file to start from: robot, motion, simulation, study, log.",
)
NewRobot = Annotated[Path, output_file("robot file to write", (".toml",))]
NewFile = Annotated[Path, output_file("file to write, .toml", (".toml",))]
NewTable = Annotated[Path, output_file("file to write, .csv or .nc", (".csv", ".nc"))]


@command.callback()
def _several() -> None: ...


def _family(family: str) -> Callable[..., None]:
    """The command of a family of robots; its options are what its draft asks for."""

    def write(output: Path, **options: float | None) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        asking = not given and sys.stdin is not None and sys.stdin.isatty()
        if asking:
            say("Numbers in m and degrees; Enter takes what is in brackets.", err)
        _robot(family, Answers(given, _asked if asking else None), output)

    words = str(FAMILIES[family].__doc__)
    write.__name__ = family
    write.__doc__ = f"""{words}

    On a terminal it asks for what it needs; with any option it asks nothing and takes the defaults.

    Example: gough new {family} -o my.toml
    """
    options = {one.name: _option(one) for one in _questions(family)}
    write.__annotations__ = {"output": NewRobot, **options, "return": None}
    write.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # typer reads it
        [
            inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, annotation=NewRobot),
            *(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=one
                )
                for name, one in options.items()
            ),
        ]
    )
    return write


def _questions(family: str) -> list[Question]:
    answers = Answers()
    FAMILIES[family](answers)
    return answers.asked


def _option(question: Question) -> Any:
    """The option that answers a question."""
    default = question.follows or f"{question.default:g}"
    unit = {"deg": "DEG", "kg": "KG", "kg/m³": "KG/M³"}.get(question.unit, "M")
    words = f"{question.words}  [default: {default}]"
    return Annotated[float | None, typer.Option(metavar=unit, help=words, show_default=False)]


for _name in FAMILIES:
    command.command(_name, cls=Command)(_family(_name))


def _asked(question: Question) -> float:
    """What somebody at a terminal answers."""
    text = f"{question.name.replace('_', ' ')} ({question.unit}), {question.words}"
    while True:
        value = typer.prompt(text, default=float(f"{question.default:.6g}"), type=float, err=True)
        try:
            return checked(question, value)
        except InputError as error:
            say(str(error), err)


def _robot(family: str, answers: Answers, output: Path) -> None:
    """Write a robot file that can be loaded, and say what is in it."""
    import warnings

    from gough.robot import Robot

    text = draft(family, output.stem, answers)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = Robot.from_text(text, str(output), output.absolute().parent)
    for one in caught:
        warn(str(one.message))
    _write(output, text)
    legs = robot.leg_count
    mass = robot.platform.mass
    say(
        f"{output}: {counted(legs, 'leg')}, a platform of {mass:.6g} kg; change what you like in it"
    )
    say(f"next: gough show {output}; gough draw {output} -o {output.with_suffix('.png')}")


def _write(output: Path, text: str) -> None:
    """Write a file that is not there yet: somebody's own numbers are in one that is."""
    from gough.base.files import replacing

    _not_there(output)
    with replacing(output) as temporary:
        Path(temporary).write_text(text, "utf-8")


def _not_there(output: Path) -> None:
    if output.exists():
        raise FileError(f"{output}: is there already; choose another name")


def _beside(name: str, output: Path) -> str:
    """A robot or motion as a file beside it names it: by catalogue name, or by relative path."""
    return os.path.relpath(name, output.absolute().parent) if Path(name).exists() else name


@command.command(cls=Command)
def motion(name: RobotArgument, output: NewTable) -> None:
    """A small smooth motion about home, in every direction the robot has.

    Example: gough new motion my.toml -o path.csv
    """
    from gough.data.motion_files import write_motion

    _not_there(output)
    found = small_motion(load(name))
    write_motion(found, output)
    say(f"{output}: {counted(len(found), 'sample')} over {SECONDS:g} s")
    say(f"next: gough forces {name} {output} -o forces.csv")


@command.command(cls=Command)
def log(name: RobotArgument, output: NewTable) -> None:
    """A log as gough reads it: this robot's columns and units, filled by its model.

    Replace the numbers by those of your machine; docs/measurements.md says which other units and
    names are read.

    Example: gough new log my.toml -o log.csv
    """
    from gough.data.logs import Log, write_log

    _not_there(output)
    robot = load_rigid(name)
    found = small_motion(robot)
    legs, units = robot.inverse_kinematics(found), tuple(one.units for one in robot.actuators)
    forces = robot.inverse_dynamics(found).forces
    assert found.time is not None
    write_log(Log(found.time, legs.q, forces, units=units), output)
    say(f"{output}: {counted(len(found), 'sample')} of time, q and forces")
    say(f"next: gough pose {name} {output} -o motion.csv; gough identify {name} {output}")


@command.command(cls=Command)
def simulation(
    name: RobotArgument,
    output: NewFile,
    motion: Annotated[
        str | None, typer.Option(help="motion file or paper's motion; default: hold the home pose")
    ] = None,
) -> None:
    """A simulation: robot, motion, controller.

    Example: gough new simulation my.toml -o run.toml --motion path.csv
    """
    from gough.data.motion_names import MOTIONS

    robot = load(name)
    wanted = "hold = true  # the home pose; or name = a paper's motion, or file = a motion file"
    if motion is not None:
        read_motion(motion, None, robot, usual=LEAST_SAMPLES)
        key = "name" if motion in MOTIONS else "file"
        wanted = f"{key} = {_quoted(_beside(motion, output))}  # or hold = true: the home pose"
    first = robot.coordinates[0]
    shift, turn = ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    (turn if first.startswith("r") else shift)["xyz".index(first[-1])] = 0.001
    duration = "duration = 1.0  # s\n" if motion is None else ""
    _write(
        output,
        f"""\
# gough simulate {output.name}
robot = {_quoted(_beside(name, output))}  # a catalogue name, or a robot file beside this one
{duration}
[motion]
{wanted}

[controller]
kind = "computed torque"  # or legs pd, gravity pd, feed forward, …: docs/simulation.md
frequency = 30.0  # of the closed loop, rad/s
ratio = 1.0  # its damping ratio
model_changes = {{}}  # what the controller believes otherwise: {{ "platform.mass" = 12.0 }}

[start]  # off the reference, so that there is something to see
shift = {shift}  # m
turn = {turn}  # rotation vector, rad
""",
    )
    say(f"{output}: {robot.name} under computed torque")
    say(f"next: gough simulate {output}")


@command.command(cls=Command)
def study(name: RobotArgument, motion: MotionArgument, output: NewFile) -> None:
    """A study: what of a robot file is varied, and what is measured.

    Example: gough new study my.toml path.csv -o study.toml
    """
    robot = load(name)
    read_motion(motion, None, robot, usual=LEAST_SAMPLES)
    key, value, unit = _number_to_vary(robot)
    low, high = sorted((0.8 * value, 1.2 * value))
    _write(
        output,
        f"""\
# gough study {output.name}
robot = {_quoted(_beside(name, output))}  # a catalogue name, or a robot file beside this one
motions = [{_quoted(_beside(motion, output))}]  # motion files, or papers' motions by name
measures = ["peak_force", "stroke", "condition"]  # docs/studies.md has them all

[sampling]
kind = "grid"  # or random, latin hypercube with points = 1000

[variables]  # any number of the robot file; "legs.base[2][z]" is one of leg 2
"{key}" = {{ from = {low:.6g}, to = {high:.6g}, steps = 5, unit = "{unit}" }}

[results]  # formulas over measures and variables
work = "peak_force * stroke"
""",
    )
    say(f"{output}: {key} from {low:.4g} to {high:.4g} {unit} in 5 steps")
    say(f"next: gough study {output}")


def _quoted(text: str) -> str:
    """A string of TOML."""
    import tomlkit

    return tomlkit.string(text).as_string()


def _number_to_vary(robot: Robot) -> tuple[str, float, str]:
    """The platform's density or mass where the file has one, else gravity: key, value, unit."""
    table = robot.file.platform
    units: Mapping[str, str] = {"density": "kg/m3", "mass": "kg"}
    for key, unit in units.items():
        if table is not None and key in table.model_fields_set:
            return f"platform.{key}", float(getattr(table, key)), unit
    down = float(robot.description.gravity[2]) or -9.81
    return "gravity[z]", down, "m/s2"


def small_motion(robot: Robot) -> Motion:
    """From rest to rest about home, each of the robot's coordinates with a frequency of its own.

    u_i = u_home + a sin(2π i φ), φ = 10 τ³ − 15 τ⁴ + 6 τ⁵ with τ = t/T; a is a hundredth of the robot's
    reach, or 0.02 rad.
    """
    import numpy as np

    time = np.linspace(0.0, SECONDS, round(RATE * SECONDS) + 1)
    tau = time[:, np.newaxis] / SECONDS
    phase = tau**3 * (10 - 15 * tau + 6 * tau**2)
    rate = 30 * tau**2 * (1 - tau) ** 2 / SECONDS
    change = 60 * tau * (1 - tau) * (1 - 2 * tau) / SECONDS**2
    names = robot.coordinates
    turns = np.array([one.startswith("r") for one in names])
    start = np.where(turns, 0.0, robot.home.position[["xyz".index(one[-1]) for one in names]])
    size = np.where(turns, 0.02, 0.01 * robot.reach)
    k = 2 * np.pi * np.arange(1, len(names) + 1)
    wave, slope = size * np.sin(k * phase), size * k * np.cos(k * phase)
    return robot.motion(
        start + wave, slope * rate, slope * change - k**2 * wave * rate**2, time=time
    )
