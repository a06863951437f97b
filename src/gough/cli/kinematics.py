"""`gough kinematics`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gough.base.words import counted
from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    Smooth,
    Strict,
    Units,
    Within,
    file_to_write,
    load,
    read_motion,
    smoothing,
    tell_undeformed,
)
from gough.cli.results import (
    end_strictly,
    in_parts,
    joined,
    violations,
    warn_of_limits,
    write_result,
)
from gough.cli.terminal import print_json, say, say_written


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    samples: Samples = None,
    units: Units = "",
    columns: ColumnNames = "",
    smooth: Smooth = False,
    within: Within = None,
    leg_radius: Annotated[
        float | None,
        typer.Option(metavar="M", help="say which parts come nearest, legs as thick as that"),
    ] = None,
    plot: Annotated[
        Path | None, file_to_write("picture of how near they come, over time", kinds=PICTURES)
    ] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """What every leg does along a motion: coordinates and joints.

    Coordinates, rates and accelerations, and the angles of its joints.

    Example: gough kinematics kim-ryu-2002 kim-ryu-2002/circle-40rpm -o legs.csv
    """
    from gough.analysis.closest import ReportWithParts
    from gough.data.datasets import leg_dataset
    from gough.errors import InputError
    from gough.show.pictures.closest import distance_curves
    from gough.show.style import save

    robot = load(name)
    states = read_motion(motion, samples, robot, units, columns, smooth=smoothing(smooth, within))
    tell_undeformed(robot, states)
    if plot is not None and leg_radius is None:
        raise InputError("--plot shows how near parts come to each other: give --leg-radius, too")
    legs = joined(in_parts("kinematics", robot.inverse_kinematics, states))
    checked = robot.check(states, leg_radius=leg_radius)
    near = checked.closest if isinstance(checked, ReportWithParts) else None
    picture = None if near is None or plot is None else distance_curves(near, robot.name)
    write_result(leg_dataset(robot, states, legs), checked, output)
    if picture is not None and plot is not None:
        save(picture, plot)
    warn_of_limits(checked)
    count = states.shape[0] if states.shape else 1
    if json:
        numbers = {"output": str(output), "samples": count} | violations(checked)
        if near is not None:
            time = None if near.time is None else float(near.time[near.where[:-1]])
            numbers["closest"] = {"pair": near.pair, "distance": near.distance, "time": time}
        print_json(numbers)
    else:
        say(f"{output}: {counted(count, 'sample')}")
        if near is not None:
            say(str(near))
        if plot is not None:
            say_written(plot)
    end_strictly(checked, strict)
