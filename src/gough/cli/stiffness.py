"""`gough stiffness`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Json,
    RobotArgument,
    Units,
    file_to_write,
    load,
    named_numbers,
    need_turns,
    numbers,
    output_file,
    plane,
)
from gough.cli.terminal import note, out, print_json, progress_bar, say_written, warn
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.accuracy import Tolerances
    from gough.data.columns import Columns
    from gough.motion import Motion
    from gough.robot import Robot

POINTS = 31


def command(
    name: RobotArgument,
    actuator: Annotated[
        float | None,
        typer.Option(
            "--stiffness",
            help="of what holds each rotor along q (servo), N/m, N m/rad; [legs.drive] is behind the "
            "rotor, in series; default: rotors locked",
        ),
    ] = None,
    leg: Annotated[
        float | None, typer.Option("--leg-stiffness", help="of each leg along itself, N/m")
    ] = None,
    pose: Annotated[
        str | None,
        typer.Option(help="x,y,z in m and rotation vector rx,ry,rz in degrees; default: home"),
    ] = None,
    load_: Annotated[
        str | None, typer.Option("--load", help="fx,fy,fz,mx,my,mz at the tool, N and N m")
    ] = None,
    preload: Annotated[
        bool, typer.Option(help="with the forces that hold the weight; needs masses")
    ] = True,
    errors: Annotated[
        str | None,
        typer.Option(help="standard deviations such as leg=1e-5,base=2e-5 (m, rad): accuracy"),
    ] = None,
    slice_: Annotated[
        str | None, typer.Option("--slice", help="plane of the map, such as z=0.8")
    ] = None,
    points: Annotated[int, typer.Option(help="points of the map per side", min=2)] = POINTS,
    output: Annotated[
        Path | None, output_file("map of a plane: .png, .svg, .pdf", PICTURES)
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="TESTS",
            help="find the drives' stiffness: loads and deflections, or frequencies",
        ),
    ] = None,
    equal: Annotated[
        bool, typer.Option("--equal-legs", help="of --measured: one stiffness for all drives")
    ] = False,
    save: Annotated[
        Path | None, file_to_write("robot file with what --measured found", kinds=(".toml",))
    ] = None,
    units: Units = "",
    columns: ColumnNames = "",
    json: Json = False,
) -> None:
    """How stiff and how exact the tool is; frequencies, errors.

    Compliance, principal axes, natural frequencies, deflection under a load, accuracy.

    With --measured the stiffness of the drives from tests of the machine.

    Example: gough stiffness kim-ryu-2002 --stiffness 1e7 --errors leg=1e-5,base=2e-5 -o map.png
    """
    import numpy as np

    from gough.analysis.accuracy import accuracy
    from gough.analysis.stiffness import held_by, stiffness
    from gough.data.columns import Columns
    from gough.show.sheets.stiffness import print_stiffness, stiffness_numbers

    robot = load(name)
    if measured:
        others = {
            "--stiffness": actuator is not None, "--leg-stiffness": leg is not None, "-o": output,
            "--pose": pose, "--load": load_, "--no-preload": not preload, "--errors": errors,
            "--slice": slice_, "--points": points != POINTS,
        }  # fmt: skip
        unused = [word for word, value in others.items() if value]
        if unused:
            raise InputError(f"--measured finds stiffnesses: leave {', '.join(unused)} out")
        _measured(robot, measured, equal, save, Columns.of(units, columns), json)
        return
    if save is not None or equal or units or columns:
        raise InputError("--save, --equal-legs, --units and --map go with --measured")
    if output is None and (slice_ is not None or points != POINTS):
        raise InputError("--slice and --points are about the map: they go with -o")
    if actuator is None and leg is None and not robot.drives.compliant and not robot.bends:
        raise InputError(
            f"needs --stiffness: {robot.name} has no [legs.drive] or [legs.beams] that says it"
        )
    held = np.inf if actuator is None else actuator
    swinging = actuator is not None or leg is not None
    level = None if slice_ is None else plane("--slice", slice_)
    spread = None if errors is None else _tolerances(errors)
    load_at = None if load_ is None else np.array(numbers("--load", load_, 6))
    place = _pose(robot, pose)
    links = np.inf if leg is None else leg
    found = stiffness(robot, place, held, links, preload=preload)
    rings = None
    if preload:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rings = robot.natural_frequencies(place, held_by(robot, place, held, links))
        for one in caught:
            warn(str(one.message))
    exact = None if spread is None else accuracy(robot, place, spread)
    if load_at is not None:
        found.deflection(load_at[:3], load_at[3:])  # one that is none is refused before all else
    if output is not None:
        _draw(robot, held, links, level, place, points, preload, output)
    if json:
        print_json(stiffness_numbers(robot, found, rings, load_at, exact, swinging))
    else:
        print_stiffness(robot, found, rings, load_at, exact, out, swinging)
    if not found.stable:
        warn("this pose does not hold itself against its load")
    if output is not None:
        say_written(output, json)


def _measured(
    robot: Robot,
    tests: list[Path],
    equal: bool,
    save: Path | None,
    columns: Columns,
    json: bool,
) -> None:
    """Drives' stiffness from tests, printed and written."""
    from gough.analysis.measured_stiffness import FrequencyTests, LoadTests, measured_stiffness
    from gough.data.stiffness_tests import read_stiffness_tests
    from gough.show.sheets.stiffness import measured_numbers, print_measured

    loads = frequencies = None
    for path in tests:
        poses, found = read_stiffness_tests(robot, path, columns=columns, say=note)
        if ("load" in found and loads) or ("frequencies" in found and frequencies):
            raise InputError(f"{path}: a second file of the same kind of tests; put both in one")
        if "load" in found:
            loads = LoadTests(poses, found["load"], found["deflection"])
        else:
            frequencies = FrequencyTests(poses, found["frequencies"])
    result = measured_stiffness(robot, loads, frequencies, equal=equal)
    if json:
        print_json(measured_numbers(robot, result))
    else:
        print_measured(robot, result, out)
    if save is not None:
        result.adopted(robot).save(save)
        say_written(save, json)


def _tolerances(text: str) -> Tolerances:
    """Standard deviations from name=value pairs with commas."""
    from dataclasses import fields

    from gough.analysis.accuracy import Tolerances

    known = [item.name for item in fields(Tolerances)]
    return Tolerances(**named_numbers("--errors", text, known))


def _pose(robot: Robot, text: str | None) -> Motion:
    from scipy.spatial.transform import Rotation

    from gough.motion import Motion

    if text is None:
        return robot.home
    values = numbers("--pose", text, 6)
    need_turns("--pose", text, values[3:])
    return Motion(values[:3], Rotation.from_rotvec(values[3:], degrees=True))


def _draw(
    robot: Robot,
    actuator: float,
    leg: float,
    level: tuple[str, float] | None,
    place: Motion,
    points: int,
    preload: bool,
    output: Path,
) -> None:
    """The map, behind a progress bar."""
    from gough.analysis.stiffness_map import stiffness_map
    from gough.show.pictures.stiffness import stiffness_picture
    from gough.show.plots import KINDS, save

    if output.suffix.lower() not in KINDS:
        raise InputError(f"{output}: the name of a picture must end in {', '.join(KINDS)}")
    across, at = ("z", float(place.position[2])) if level is None else level
    with warnings.catch_warnings(), progress_bar() as progress:
        warnings.simplefilter("ignore")  # the map shows where poses do not hold themselves
        bar = progress.add_task("map", total=1.0)
        found = stiffness_map(
            robot, actuator, leg, across=across, at=at, rotation=place.rotation, points=points,
            preload=preload, progress=lambda part: progress.update(bar, completed=part),
        )  # fmt: skip
    save(stiffness_picture(robot, found), output)
