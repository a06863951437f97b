"""What commands are given: robots, motions, files to write, lists of numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from math import isfinite, radians
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.file_kinds import reading
from gough.cli.help import WRITTEN
from gough.cli.terminal import note, warn
from gough.errors import FileError, InputError

if TYPE_CHECKING:
    from gough.motion import Motion
    from gough.robot import Robot

LEAST_SAMPLES, MOST_SAMPLES = 2, 100_000_000
SAMPLES = 601
"""Of a paper's motion, where nothing else is asked for."""
PICTURES = (".png", ".svg", ".pdf")
TABLES = (".nc", ".csv")
PAGES = (".html", ".htm")


def robot_names(incomplete: str) -> list[str]:
    """Catalogue names for the shell; it completes paths by itself."""
    from gough.description.catalogue import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


def motion_names(incomplete: str) -> list[str]:
    """The papers' motions for the shell; it completes paths by itself."""
    from gough.data.motion_names import MOTIONS

    return [name for name in MOTIONS if name.startswith(incomplete)]


def file_to_write(what: str, *names: str, kinds: Sequence[str] = ()) -> Any:
    """An option that names a file to write; its own name is the parameter's if none is given.

    A folder that is not there, or an ending that is none of `kinds`, is refused before anything is
    computed.
    """

    def checked(ctx: typer.Context, param: typer.CallbackParam, path: Path | None) -> Path | None:
        from gough.base import files

        if path is not None:
            if files.in_a_folder(path).is_dir():
                raise FileError(f"{path}: a folder; a file is needed")
            if kinds and path.suffix.lower() not in kinds:
                raise FileError(f"{path}: the name must end in {', '.join(kinds)}")
            ctx.meta.setdefault(WRITTEN, []).append(param.name)
        return path

    return typer.Option(*names, help=what, callback=checked)


def output_file(what: str, kinds: Sequence[str] = ()) -> Any:
    """The option -o, --output: the file to write."""
    return file_to_write(what, "--output", "-o", kinds=kinds)


def output_folder(what: str) -> Any:
    """The option -o, --output: the folder to write into; "" is not the current one."""

    def named(text: str) -> Path:
        if not str(text):
            raise typer.BadParameter("empty; needs the name of a folder")
        return Path(text)

    return typer.Option("--output", "-o", metavar="FOLDER", help=what, parser=named)


def picture_beside(plot: Path | None, output: Path) -> Path:
    """The picture to write: as given, or beside the output; one that cannot be is refused."""
    picture = output.with_suffix(".png") if plot is None else plot
    if picture.is_dir():
        raise FileError(f"{picture}: a folder; a file is needed")
    return picture


def motion_argument(what: str) -> Any:
    """A motion by its name, which the shell completes."""
    return typer.Argument(metavar="MOTION", help=what, autocompletion=motion_names)


def samples_option(what: str) -> Any:
    """The option --samples: how many."""
    return typer.Option(metavar="N", help=what, min=LEAST_SAMPLES, max=MOST_SAMPLES)


RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="catalogue name or path to a robot file (TOML)",
        autocompletion=robot_names,
    ),
]
MotionArgument = Annotated[
    str, motion_argument("motion file (.csv, .nc) or a paper's motion by name")
]
Samples = Annotated[int | None, samples_option(f"samples of a paper's motion; default: {SAMPLES}")]
ResultFile = Annotated[Path, output_file("result file, .nc or .csv", TABLES)]
Units = Annotated[
    str, typer.Option(metavar="mm,deg,ms", help="units of columns that do not say theirs; else SI")
]
ColumnNames = Annotated[
    str,
    typer.Option(
        "--map", metavar="L1=q1,L2=q2", help="what the file's columns are; or a .toml that says so"
    ),
]
Friction = Annotated[bool, typer.Option(help="with the friction of the robot file")]
Commanded = Annotated[
    str,
    typer.Option(
        help="what follows the motion on a flexible platform: frame (floating), terminal, or legs"
    ),
]
FrictionParameters = Annotated[
    bool, typer.Option(help="viscous and constant Coulomb friction are parameters too")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="exit code 3 where limits of the robot file are exceeded")
]
Smooth = Annotated[
    bool,
    typer.Option(
        "--smooth", help="of rounded poses, the smoothest motion within the last digit of each"
    ),
]
Within = Annotated[
    float | None,
    typer.Option(metavar="M", help="as --smooth, within this distance of each pose; m"),
]
Json = Annotated[bool, typer.Option("--json", help="all numbers as JSON on standard output")]


def load(name: str, *written: Path | None) -> Robot:
    """A robot; what it warns of goes to stderr, a line each.

    Files to write that the robot was read from, or whose meshes they are, are refused at once.
    """
    from gough.base.files import refuse_inputs

    robot, warned = load_with_warnings(name)
    for path in written:
        if path is not None:
            refuse_inputs(path, robot.mesh_paths)
    for one in warned:
        warn(one)
    return robot


def load_with_warnings(name: str) -> tuple[Robot, list[str]]:
    """A robot, and what it warns of."""
    from gough.robot import load as load_robot

    sorts = ("robot file", "robot of another program")
    with warnings.catch_warnings(record=True) as caught, reading(name, *sorts):
        warnings.simplefilter("always")
        robot = load_robot(name)
    return robot, [str(one.message) for one in caught]


def load_rigid(name: str, *written: Path | None) -> Robot:
    """A robot for what knows rigid platforms only; says so where the platform is flexible."""
    robot = load(name, *written)
    if robot.modes:
        note(f"{robot.name} has a flexible platform, taken as rigid here")
    tell_rigid_legs(robot)
    return robot.rigid


def tell_rigid_legs(robot: Robot) -> None:
    """Say on stderr that legs which bend are taken as rigid."""
    if robot.bends:
        note(f"{robot.name} has legs that bend ([legs.beams]), taken as rigid here")


def tell_undeformed(robot: Robot, motion: Motion | None = None) -> None:
    """Say on stderr that a flexible platform is taken as undeformed, unless the motion deforms it."""
    if robot.modes and (motion is None or not motion.modes):
        note(f"{robot.name} has a flexible platform, taken as undeformed here")


def read_motion(
    name: str,
    samples: int | None,
    robot: Robot,
    units: str = "",
    names: str = "",
    usual: int = SAMPLES,
    smooth: bool | float = False,
) -> Motion:
    """A motion of a robot from a file, or a paper's by its name; says what it converted.

    A paper's has the samples asked for, or the usual ones; to ask a file for some is refused.
    """
    from gough.data.columns import Columns
    from gough.data.motion_names import MOTIONS
    from gough.data.paper_motions import motion_named

    columns = Columns.of(units, names)
    with reading(name, "motion"):
        found = motion_named(
            name, samples or usual, robot=robot, columns=columns, say=note, smooth=smooth
        )
    if samples is not None and name not in MOTIONS:
        raise InputError(f"--samples is about a paper's motion: {name} has samples of its own")
    return found


def smoothing(smooth: bool, within: float | None) -> bool | float:
    """Return how poses are smoothed: within a distance in m, within their last digit, or not at all."""
    return smooth if within is None else within


def refuse_columns(units: str, names: str, samples: int | None = None) -> None:
    """Refuse --units, --map and --samples where there is no motion that they could be about."""
    if units or names:
        raise InputError("--units and --map are about the columns of a motion file: none is given")
    if samples is not None:
        raise InputError("--samples is about a paper's motion: none is given")


def deflecting(robot: Robot, motion: Motion, commanded: str, friction: bool) -> Motion:
    """The motion as a flexible robot makes it; says on stderr how it was found, and what is rigid."""
    from gough.model.deflected import deflected, how_deflected
    from gough.model.outputs import OUTPUTS

    tell_rigid_legs(robot)
    if commanded not in OUTPUTS:
        raise InputError(f"--commanded is {', '.join(OUTPUTS)}, not {commanded!r}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if commanded == "frame":
            found = deflected(robot, motion, friction=friction)
        else:
            found = robot.elastic_motion(motion, commanded, friction=friction)
    how = how_deflected(motion, found)
    if how:
        note(f"{robot.name} has a flexible platform: {how}")
    for one in caught:
        warn(str(one.message))
    return found


def numbers(option: str, text: str, *counts: int) -> list[float]:
    """Finite numbers of an option with commas between them, as many as one of the counts says."""
    try:
        values = [float(part) for part in re.split(r"\s*,\s*|\s+", text.strip())]
    except ValueError:
        raise InputError(f"{option} is {text!r}, needs numbers with commas between them") from None
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise InputError(f"{option} has {len(values)} numbers, needs {wanted}")
    if not all(map(isfinite, values)):
        raise InputError(f"{option} is {text!r}, needs finite numbers")
    return values


def need_turns(option: str, text: str, degrees: Iterable[float]) -> None:
    """Refuse angles of an option beyond a whole turn."""
    if max(map(abs, degrees), default=0.0) > 360:
        raise InputError(f"{option} is {text!r}, needs angles of at most 360 degrees")


def per_actuator(option: str, text: str | None, count: int) -> Any:
    """One number for all actuators or one for each; None where nothing is given."""
    if text is None:
        return None
    values = numbers(option, text, *sorted({1, count}))
    return values[0] if len(values) == 1 else values


def named_numbers(option: str, text: str, names: Collection[str]) -> dict[str, float]:
    """Numbers of an option by name, with commas between them: leg=1e-5,base=2e-5."""
    found = {}
    for part in text.split(","):
        name, equals, value = part.replace(" ", "").partition("=")
        if name not in names or not equals:
            raise InputError(
                f"{option} has {part.strip()!r}, needs name=number, names out of {', '.join(names)}"
            )
        if name in found:
            raise InputError(f"{option} has {name} twice")
        (found[name],) = numbers(f"{option} {name}", value, 1)
    return found


def plane(option: str, text: str, degrees: bool = False) -> tuple[str, float]:
    """A plane across an axis, such as z=0.8: its axis and where it is, in m; from degrees in rad."""
    found = named_numbers(option, text, ("x", "y", "z", *(("rx", "ry", "rz") if degrees else ())))
    if len(found) != 1:
        raise InputError(f"{option} is {text!r}, needs one plane such as z=0.8")
    ((axis, at),) = found.items()
    return axis.removeprefix("r"), radians(at) if degrees else at
