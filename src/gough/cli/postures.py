"""`gough postures`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import (
    PICTURES,
    Json,
    RobotArgument,
    load,
    numbers,
    output_file,
    tell_undeformed,
)
from gough.cli.terminal import out, print_json, say_written


def command(
    name: RobotArgument,
    output: Annotated[Path | None, output_file("picture: .png, .svg, .pdf", PICTURES)] = None,
    q: Annotated[
        str | None,
        typer.Option(
            "--q", help="actuated coordinates, m or rad, with commas; default: those of home"
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="random search in place of all solutions, as of held platforms and most chains",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Every posture for one set of leg coordinates, certified.

    Of chains that are neither planar nor spherical, and of held platforms, those that a search finds.

    Example: gough postures dietmaier-1998 -o postures.png
    """
    import numpy as np

    from gough.analysis.postures import postures
    from gough.show.sheets.postures import posture_numbers, print_postures

    robot = load(name)
    tell_undeformed(robot)
    if q is None:
        coordinates = robot.inverse_kinematics(robot.home).q
    else:
        coordinates = np.array(numbers("--q", q, robot.actuator_count))
    found = postures(robot, coordinates, method="quick" if quick else None)
    if output is not None:  # first: not every robot can be drawn
        from gough.show.pictures.postures import posture_sheet
        from gough.show.plots import save

        save(posture_sheet(robot, found.every, coordinates), output)
    if json:
        print_json(posture_numbers(robot, coordinates, found))
    else:
        print_postures(robot, found, out)
    if output is not None:
        say_written(output, json)
