"""`gough singularities`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Json,
    RobotArgument,
    Units,
    file_to_write,
    load,
    motion_argument,
    output_file,
    read_motion,
    refuse_columns,
    samples_option,
    tell_undeformed,
)
from gough.cli.results import in_parts
from gough.cli.terminal import out, print_json, say_written
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.clearance import Clearance
    from gough.analysis.singularities import Singularity
    from gough.motion import Motion
    from gough.robot import Robot

SAMPLES = 201
"""Of a paper's motion."""
PART = 50
"""Samples of a motion between two steps of the progress bar."""


def command(
    name: RobotArgument,
    motion: Annotated[
        str | None, motion_argument("motion file or a paper's; default: home")
    ] = None,
    output: Annotated[
        Path | None, output_file("picture: slices of the locus, or along MOTION", PICTURES)
    ] = None,
    surface: Annotated[
        Path | None,
        file_to_write("picture of the locus as a surface at home's orientation", kinds=PICTURES),
    ] = None,
    length: Annotated[
        float | None, typer.Option(help="characteristic length, m; default: the platform's")
    ] = None,
    samples: Annotated[
        int | None, samples_option(f"samples of a paper's motion; default: {SAMPLES}")
    ] = None,
    units: Units = "",
    columns: ColumnNames = "",
    json: Json = False,
) -> None:
    """How near singularities are, at home or along a motion.

    And where they are: as slices, or as a surface.

    Example: gough singularities kim-ryu-2002 kim-ryu-2002/circle-40rpm -o nearness.png
    """
    from gough.analysis.clearance import clearance, joined
    from gough.analysis.singularities import singularity
    from gough.show.sheets.singularities import print_singularity, singularity_numbers

    robot = load(name, output, surface)
    if motion is None:
        refuse_columns(units, columns, samples)
        states = robot.home
    else:
        states = read_motion(motion, samples, robot, units, columns, usual=SAMPLES)
    tell_undeformed(robot)
    measures = singularity(robot, states, length=length)
    near = None
    if robot.actuator_count == robot.mobility:
        near = joined(in_parts("distance", partial(clearance, robot, length=length), states, PART))
    if json:
        print_json(singularity_numbers(robot, measures, near))
    else:
        print_singularity(robot, states, measures, near, out)
    if output is not None:
        from gough.show.plots import save

        save(_picture(robot, states, measures, near, length), output)
        say_written(output, json)
    if surface is not None:
        from gough.analysis.locus import around_home
        from gough.analysis.locus import surface as locus
        from gough.show.pictures.singularities import surface_picture
        from gough.show.plots import save

        save(surface_picture(robot, locus(robot, around_home(robot), length=length)), surface)
        say_written(surface, json)


def _picture(
    robot: Robot,
    states: Motion,
    measures: Singularity,
    near: Clearance | None,
    length: float | None,
) -> Any:
    """The measures along a motion, or of one pose slices of the locus through it."""
    from gough.analysis.locus import around_home, slice_at
    from gough.analysis.own_space import OwnSpace
    from gough.show.pictures.singularities import course, slice_pictures

    if states.shape:
        if near is None:
            raise InputError(
                "pictures of the distance to singularities are there for as many actuators as freedoms"
            )
        return course(states, measures, near)
    points = 41 if robot.mechanism.legs.coordinates or robot.mobility < 6 else 201
    box = around_home(robot)
    space = OwnSpace.of(robot)
    if len(box) == 2:
        return slice_pictures(robot, [slice_at(robot, "", 0.0, box, length=length, points=points)])
    slices = []
    for fixed in (2, 1):
        bounds = [side for i, side in enumerate(box) if i != fixed]
        at = float(space.middle[fixed])
        slices.append(slice_at(robot, space.names[fixed], at, bounds, length=length, points=points))
    return slice_pictures(robot, slices)
