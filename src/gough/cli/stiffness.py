"""`gough stiffness`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import (
    Json,
    RobotArgument,
    load,
    named_numbers,
    numbers,
    output_file,
    plane,
)
from gough.cli.terminal import out, print_json, progress_bar, say_written, warn
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.accuracy import Tolerances
    from gough.motion import Motion
    from gough.robot import Robot


def command(
    name: RobotArgument,
    actuator: Annotated[float, typer.Option("--stiffness", help="of each actuator along q, N/m")],
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
    points: Annotated[int, typer.Option(help="points of the map per side", min=2)] = 31,
    output: Annotated[Path | None, output_file("map of a plane: .png, .svg, .pdf")] = None,
    json: Json = False,
) -> None:
    """How stiff and how exact the tool is; frequencies, errors.

    Compliance, principal axes, natural frequencies, deflection under a load, accuracy.

    Example: gough stiffness kim-ryu-2002 --stiffness 1e7 --errors leg=1e-5,base=2e-5 -o map.png
    """
    import numpy as np

    from gough.analysis.accuracy import accuracy
    from gough.analysis.stiffness import stiffness
    from gough.show.sheets.stiffness import print_stiffness, stiffness_numbers

    robot = load(name)
    level = None if slice_ is None else plane("--slice", slice_)
    spread = None if errors is None else _tolerances(errors)
    load_at = None if load_ is None else np.array(numbers("--load", load_, 6))
    place = _pose(robot, pose)
    links = np.inf if leg is None else leg
    found = stiffness(robot, place, actuator, links, preload=preload)
    hertz = None
    if preload:
        hertz = robot.natural_frequencies(place, found.along).frequencies[:6]
    exact = None if spread is None else accuracy(robot, place, spread)
    if json:
        print_json(stiffness_numbers(robot, found, hertz, load_at, exact))
    else:
        print_stiffness(robot, found, hertz, load_at, exact, out)
    if not found.stable:
        warn("this pose does not hold itself against its load")
    if output is not None:
        _draw(robot, actuator, links, level, place, points, preload, output)
        say_written(output, json)


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
    with progress_bar() as progress:
        bar = progress.add_task("map", total=1.0)
        found = stiffness_map(
            robot, actuator, leg, across=across, at=at, rotation=place.rotation, points=points,
            preload=preload, progress=lambda part: progress.update(bar, completed=part),
        )  # fmt: skip
    save(stiffness_picture(robot, found), output)
