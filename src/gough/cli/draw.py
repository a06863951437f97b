"""`gough draw`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    RobotArgument,
    Units,
    load,
    motion_argument,
    named_numbers,
    need_turns,
    numbers,
    output_file,
    read_motion,
    refuse_columns,
)
from gough.cli.terminal import say_written
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.motion import Motion
    from gough.robot import Robot
    from gough.show.pictures.robot import View

SAMPLES = 201
"""Of the path of a paper's motion."""
FILMS = (".gif", ".webp", ".mp4")
PAGE = ".html"


def command(
    name: RobotArgument,
    motion: Annotated[str | None, motion_argument("draw its path and first pose")] = None,
    output: Annotated[
        Path,
        output_file(
            ".png, .svg, .pdf; .html to turn with the mouse; with --animate .gif, .webp, .mp4",
            (*PICTURES, *FILMS, PAGE),
        ),
    ] = Path("robot.png"),
    pose: Annotated[
        str,
        typer.Option(
            metavar="x=0.1,rz=10", help="at this pose: m, and degrees from home; others as at home"
        ),
    ] = "",
    view: Annotated[
        str,
        typer.Option(
            metavar="NAME|AZ,EL",
            help="seen from: front, right, back, left, top, or azimuth and elevation in degrees",
        ),
    ] = "",
    animate: Annotated[
        bool, typer.Option("--animate", help="a film of the motion: .gif, .webp or .mp4")
    ] = False,
    units: Units = "",
    columns: ColumnNames = "",
) -> None:
    """Draw a robot: at home, in a pose, along a motion; or film it.

    In 3-D: a picture, a film, or a page on which it turns.

    Example: gough draw sinatra-xi-staicu-2009 -o hexapod.svg
    """
    kind = output.suffix.lower()
    if animate and motion is None:
        raise InputError("--animate needs a motion behind the robot")
    if pose and motion is not None:
        raise InputError("--pose and a motion: give one of them")
    if kind == PAGE and view:
        raise InputError("--view is for pictures: a page turns with the mouse")
    if animate != (kind in FILMS) and kind != PAGE:
        wanted = f"ends in {', '.join(FILMS)}" if animate else "needs --animate and a motion"
        raise InputError(f"{output}: a film {wanted}")
    robot = load(name)
    states = _pose(robot, pose) if pose else None
    if motion is not None:
        states = read_motion(motion, None, robot, units, columns, usual=SAMPLES)
    else:
        refuse_columns(units, columns)
    seen = _view(view)
    if kind == PAGE:
        from gough.show.turnable import Turnable

        Turnable.of(robot, states).write(output)
    elif animate:
        from gough.show.pictures.animation import animate as film

        assert states is not None
        film(robot, states, output, view=seen)
    else:
        from gough.show.plots import draw, save

        save(draw(robot, states, view=seen), output)
    say_written(output)


def _pose(robot: Robot, text: str) -> Motion:
    """Home with some of the robot's coordinates changed."""
    from gough.show.layout import start_pose
    from gough.studio.pose import pose_of, values_of

    names = robot.coordinates
    values = values_of(robot, start_pose(robot))
    given = named_numbers("--pose", text, names)
    need_turns("--pose", text, (value for name, value in given.items() if name.startswith("r")))
    for name, value in given.items():
        values[list(names).index(name)] = value
    return pose_of(robot, values)


def _view(text: str) -> View | None:
    from gough.show.pictures.robot import VIEWS

    if not text:
        return None
    if text in VIEWS:
        return VIEWS[text]
    if not any(letter.isdigit() for letter in text):
        raise InputError(f"--view is {text!r}, needs {', '.join(VIEWS)} or two angles in degrees")
    azimuth, elevation = numbers("--view", text, 2)
    need_turns("--view", text, (azimuth, elevation))
    return azimuth, elevation
