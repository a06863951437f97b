"""`gough kinematics`."""

from __future__ import annotations

from typing import Annotated

import typer

from gough.base.words import counted
from gough.cli.arguments import (
    ColumnNames,
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    Strict,
    Units,
    load,
    read_motion,
)
from gough.cli.results import (
    end_strictly,
    in_parts,
    joined,
    violations,
    warn_of_limits,
    write_result,
)
from gough.cli.terminal import print_json, say, warn


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    samples: Samples = 601,
    units: Units = "",
    columns: ColumnNames = "",
    leg_radius: Annotated[
        float | None,
        typer.Option(metavar="M", help="say which parts come nearest, legs as thick as that"),
    ] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """What every leg does along a motion: coordinates and joints.

    Coordinates, rates and accelerations, and the angles of its joints.

    Example: gough kinematics kim-ryu-2002 kim-ryu-2002/circle-40rpm -o legs.csv
    """
    from gough.analysis.closest import closest
    from gough.data.datasets import leg_dataset

    robot = load(name)
    states = read_motion(motion, samples, robot, units, columns)
    near = None if leg_radius is None else closest(robot, states, leg_radius=leg_radius)
    legs = joined(in_parts("kinematics", robot.inverse_kinematics, states))
    checked = robot.check(states)
    write_result(leg_dataset(robot, states, legs), checked, output)
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
            (say if near.clear else warn)(str(near))
    end_strictly(checked, strict)
